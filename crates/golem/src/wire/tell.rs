//! Messages from events: a message adds from the life what a listener needs to read it alone.
//!
//! Every event is named here, also each that tells nothing: an event that is forgotten does not compile.

use life::call::{self, Hold};
use life::clade::{self, News};
use life::event::Event;
use life::heartbeat::{self, State};
use life::money::Usdc;
use life::mortality::{self, economic, stochastic};
use life::policy::Refusal;
use life::rule::{self, text};
use life::thought::{self, Question};
use life::time::Time;
use life::{Life, dream, episode, goal, grimoire, hex, outside, owner, phage, prediction, regime, thanatopsis};

use super::Message;
use crate::thought::night_tokens;
use crate::{policy, stress};

/// The message of an event, given the life it left behind; none for an internal event.
pub fn message<'a>(event: &'a Event, life: &'a Life) -> Option<Message<'a>> {
    match event {
        Event::Born(birth) => Some(Message::Born {
            name: birth.name.as_str(),
            id: birth.id.to_string(),
            world: &birth.world.world,
            laws: birth.laws,
            seeded: birth.seeded,
        }),
        Event::Owner(event) => of_owner(event),
        Event::Heartbeat(event) => of_heartbeat(event, life),
        Event::Prediction(event) => of_prediction(event, life),
        Event::Policy(event) => of_policy(event, life),
        Event::Goal(event) => Some(of_goal(event, life)),
        Event::Mortality(event) => of_mortality(event, life),
        Event::Regime(regime::Event::Changed { from, to }) => Some(Message::RegimeChanged { from: *from, to: *to }),
        Event::Stress(event) => of_stress(event, life),
        Event::Clade(event) => of_clade(event),
        Event::Dream(event) => of_dream(event, life),
        Event::Thanatopsis(event) => Some(of_thanatopsis(event)),
        Event::Thought(event) => of_thought(event),
        Event::Call(event) => of_call(event),
        Event::Outside(outside::Event::Noted { text }) => Some(Message::Noted { text }),
        Event::Outside(outside::Event::Said { .. })
        | Event::Episode(episode::Event::Remembered { .. } | episode::Event::LookedBack { .. })
        | Event::Phage(phage::Event::Spawned(_) | phage::Event::Watched { .. } | phage::Event::Ended { .. })
        | Event::Grimoire(
            grimoire::Event::Checked { .. }
            | grimoire::Event::Kept(_)
            | grimoire::Event::Curated { .. }
            | grimoire::Event::TookIn { .. }
            | grimoire::Event::Watching(_),
        )
        | Event::Rule(
            rule::Event::Adopted { .. }
            | rule::Event::Predicted { .. }
            | rule::Event::Scored { .. }
            | rule::Event::Voided { .. }
            | rule::Event::Weighed { .. }
            | rule::Event::Judged { .. }
            | rule::Event::Promoted { .. }
            | rule::Event::Left { .. },
        ) => None,
    }
}

fn refused(rule: Refusal) -> Message<'static> {
    Message::Refused { rule, why: rule.to_string() }
}

fn of_owner(event: &owner::Event) -> Option<Message<'_>> {
    use owner::Event;
    Some(match event {
        Event::Funded { credit, capital, .. } => Message::Funded { credit: *credit, capital: *capital },
        Event::Withdrew { deposit, from, amount } => {
            Message::Withdrew { deposit: *deposit, from: *from, amount: *amount }
        }
        Event::Declined { rule, .. } => refused(*rule),
        Event::Paused => Message::ModeChanged { mode: "paused" },
        Event::Resumed => Message::ModeChanged { mode: "running" },
        Event::Froze { reason } => Message::Froze { reason },
        Event::Thawed => Message::Thawed,
        Event::Amended(policy) => Message::Amended { policy },
        Event::Steered { text } => Message::Steered { strategy: text },
        Event::Said(say) => Message::Said { text: &say.text, done: say.done },
        Event::Heeded { rule: Some(rule), .. } => refused(*rule),
        Event::Heeded { rule: None, .. } | Event::Deposited { .. } | Event::Obeyed { .. } => return None,
    })
}

fn of_heartbeat<'a>(event: &heartbeat::Event, life: &'a Life) -> Option<Message<'a>> {
    let heartbeat::Event::Turned(state) = event;
    match state {
        State::Dead => {
            let (swept, left, unit) = (life.deposits_made(), life.capital().holding, &life.birth().world.unit);
            Some(Message::Ended { swept, left, unit, yours: thanatopsis::left(life) })
        }
        State::Sensing
        | State::Deciding
        | State::Acting
        | State::Reflecting
        | State::Sleeping
        | State::Dreaming
        | State::Dying => None,
    }
}

fn of_goal<'a>(event: &goal::Event, life: &'a Life) -> Message<'a> {
    let goal::Event::Finished { goal, domain, ended } = event;
    let number = life.goals().get(usize::from(*domain)).map_or(0, |tally| tally.finished);
    let domain = life.birth().world.domains.get(usize::from(*domain)).map_or("", |spec| &spec.name);
    Message::Finished { goal: *goal, domain, number, ended: *ended }
}

fn of_clade(event: &clade::Event) -> Option<Message<'static>> {
    use clade::Event;
    Some(match event {
        Event::CalledOut { news: News::Crisis { load, .. }, .. } => Message::CalledOut { load: *load },
        Event::CalledOut { news: News::Knowledge { entries }, .. } => Message::Shared { entries: *entries },
        Event::Near { stain } => Message::Near { died: stain.map(|died| died.to_string()) },
        Event::Heard { from, news, .. } => Message::Heard { from: from.to_string(), news: *news },
        Event::CalledOut { news: News::Death | News::Regime { .. }, .. } | Event::Told { .. } | Event::Stained(_) => {
            return None;
        }
    })
}

fn of_thanatopsis(event: &thanatopsis::Event) -> Message<'static> {
    use thanatopsis::Event;
    match event {
        Event::Reflected { hash } => Message::Reflected { testament: hex::encode(hash) },
        Event::Bequeathed { hash, entries } => Message::Bequeathed { entries: *entries, bundle: hex::encode(hash) },
    }
}

fn of_prediction<'a>(event: &'a prediction::Event, life: &'a Life) -> Option<Message<'a>> {
    use prediction::{Dated, Event};
    let name = |domain: u8| life.birth().world.domains.get(usize::from(domain)).map_or("", |spec| &spec.name);
    Some(match event {
        Event::Dated(Dated { number, domain, value, naive, due, .. }) => {
            Message::Claimed { number: *number, domain: name(*domain), value: *value, naive: *naive, due: *due }
        }
        Event::Met { domain, actual, .. } => {
            let fitness = mortality::epistemic::domain_fitness(life, usize::from(*domain));
            Message::Met { domain: name(*domain), actual: *actual, fitness }
        }
        Event::Sensed { .. } | Event::Claimed(_) | Event::Resolved { .. } | Event::Lapsed { .. } => return None,
    })
}

fn of_policy<'a>(event: &'a policy::Event, life: &'a Life) -> Option<Message<'a>> {
    use policy::Event;
    Some(match event {
        Event::Refused { rule } | Event::Denied { rule, .. } => refused(*rule),
        Event::Settled { key, outcome } => Message::Settled {
            key: *key,
            units: outcome.units,
            cash: outcome.cash,
            fee: outcome.fee,
            holding: life.capital().holding,
        },
        Event::Granted { permit, quote, .. } => {
            Message::Granted { key: permit.key, cash: quote.cash, fee: quote.fee, expires: permit.expires }
        }
        Event::ApprovalSought { .. } => Message::ApprovalSought { ask: policy::asks(life) },
        Event::Approved { key, .. } => Message::Approved { key: *key },
        Event::Verified { key, quoted, actual, gas } => {
            Message::Verified { key: *key, quoted: *quoted, actual: *actual, gas: *gas }
        }
        Event::Stopped => Message::Stopped { holding: life.capital().holding, unit: life.seen().unit },
        Event::Harvested { amount } => Message::Harvested { amount: *amount, credit: life.purse().credit },
        Event::Voted { .. }
        | Event::Intended(_)
        | Event::Sent { .. }
        | Event::Abandoned { .. }
        | Event::Renewed { .. }
        | Event::Topped { .. }
        | Event::Avoided { .. } => return None,
    })
}

fn of_mortality<'a>(event: &'a mortality::Event, life: &'a Life) -> Option<Message<'a>> {
    use mortality::Event;
    let fitness = mortality::epistemic::fitness;
    let senescence = |state| Message::Senescence { state, fitness: fitness(life) };
    Some(match event {
        Event::VitalityUpdated { composite } => Message::VitalityUpdated {
            economic: life.vitality().economic,
            epistemic: life.vitality().epistemic,
            stochastic: survival(life),
            composite: *composite,
            phase: life.phase(),
        },
        Event::PhaseChanged { from, to, trigger } => Message::PhaseChanged {
            from_phase: *from,
            to_phase: *to,
            composite: life.vitality().composite,
            trigger_clock: *trigger,
        },
        Event::EconomicCritical => Message::EconomicCritical {
            remaining: life.purse().credit,
            burn_rate: life.purse().burn_rate,
            projected_ticks: economic::projected_ticks(life),
        },
        Event::EpistemicWarned => Message::EpistemicWarned {
            fitness: fitness(life),
            senescence_threshold: life.constitution().epistemic.senescence,
            ticks_in_decline: life.epistemic().declining_since.map_or(0, |since| life.tick() - since),
        },
        Event::GraceOpened => senescence("grace"),
        Event::Senesced => senescence("senescent"),
        Event::Recovered => senescence("sound"),
        Event::Rolled { hazard, roll } => Message::Rolled {
            hazard_rate: *hazard,
            roll: stochastic::fraction(*roll),
            survived: !stochastic::dies(*hazard, *roll),
        },
        Event::Died(death) => {
            Message::Died { cause: &death.cause, final_vitality: &death.vitality, ticks_alive: death.tick }
        }
        Event::Aged { .. } | Event::EconomicRelieved | Event::Echoed | Event::EchoBroken | Event::EpistemicRelieved => {
            return None;
        }
    })
}

fn of_stress<'a>(event: &'a stress::Event, life: &'a Life) -> Option<Message<'a>> {
    use stress::Event;
    Some(match event {
        Event::Raised { kind, domain, severity } => Message::Raised {
            stressor: stress::words::title(life, *kind, *domain),
            severity: *severity,
            load: stress::load(life),
            band: stress::band(life),
        },
        Event::Cleared(evidence) => Message::Cleared {
            stressor: stress::words::title(life, evidence.kind(), evidence.domain()),
            severity: evidence.severity(),
            load: stress::load(life),
            band: stress::band(life),
        },
        Event::Suspended => Message::Suspended,
        Event::Assessed(assessed) => Message::Assessed { assessed },
        Event::Pressed { .. }
        | Event::Cycled { .. }
        | Event::Warned { .. }
        | Event::Cautioned { .. }
        | Event::Heeded { .. }
        | Event::Named { .. }
        | Event::Eased { .. } => return None,
    })
}

fn of_thought(event: &thought::Event) -> Option<Message<'_>> {
    use thought::Event;
    Some(match event {
        Event::Asked(question) => {
            let Question { key, purpose, tier, most, .. } = **question;
            Message::Asked { key, purpose, tier, most }
        }
        Event::Answered { key, purpose, cost, over, fresh, answer } => {
            Message::Answered { key: *key, purpose: *purpose, cost: *cost, over: *over, fresh: *fresh, answer }
        }
        Event::Silent { key, purpose, cost, over, why } => {
            Message::Silent { key: *key, purpose: *purpose, cost: *cost, over: *over, why: *why }
        }
        Event::Probed { .. } | Event::Kept { .. } | Event::Deferred { .. } => return None,
    })
}

fn of_call(event: &call::Event) -> Option<Message<'_>> {
    use call::Event;
    Some(match event {
        Event::Settled { key, cost, over, how, used } => Message::CallSettled {
            key: *key,
            model: &used.model,
            input: used.input,
            output: used.output,
            cost: *cost,
            over: *over,
            how: *how,
            took_ms: used.took,
        },
        Event::Refused { by, times } => Message::CallRefused { code: by.code(), why: by.to_string(), times: *times },
        Event::Held { key, by, times, sum } => {
            let hold = Hold { key: *key, by: *by, times: *times, sum: *sum, since: Time::default() };
            Message::CallsHeld { key: *key, by: *by, times: *times, most: *sum, why: hold.to_string() }
        }
        Event::Released { key } => Message::CallsReleased { key: *key },
        Event::Reserved { .. } | Event::Counted { .. } | Event::TokensReserved { .. } | Event::Attributed { .. } => {
            return None;
        }
    })
}

fn of_dream<'a>(event: &'a dream::Event, life: &'a Life) -> Option<Message<'a>> {
    use dream::Event;
    Some(match event {
        Event::Began { trigger, ticks, budget } => Message::DreamBegan {
            cycle_id: life.dreams().nights,
            trigger: trigger.word(life),
            why: *trigger,
            ticks: *ticks,
            budget: *budget,
        },
        Event::Dreamt(found) => Message::Dreamt { found },
        Event::Left { woken } => {
            let (cycle_id, tally) = (life.dreams().nights, life.dreams().tally);
            Message::DreamLeft {
                cycle_id,
                episodes_replayed: tally.replayed,
                counterfactuals_generated: tally.alternatives,
                insights_crystallized: tally.insights,
                heuristics_proposed: tally.hypotheses,
                episodes_depotentiated: tally.calmed,
                playbook_edits: tally.revisions,
                tokens: tally.tokens,
                woken: *woken,
            }
        }
        Event::Switched { on } => Message::DreamsSwitched { on: *on },
        Event::Unstaged { fate, .. } => {
            let dreams = &life.dreams();
            Message::Unstaged { number: dreams.promoted + dreams.refuted + dreams.expired, fate: *fate }
        }
        Event::Revised { at } => {
            let domain = usize::from(life.dreams().revisions.get(usize::from(*at))?.domain);
            Message::Revised { domain: &life.birth().world.domains[domain].name, number: life.dreams().revised }
        }
        Event::RolledBack { .. } | Event::Reverted { .. } => Message::RolledBack { number: life.dreams().rolled_back },
        Event::Passed { .. }
        | Event::Slept
        | Event::Blocked { .. }
        | Event::Conceived { .. }
        | Event::Wondered { .. }
        | Event::Proven { .. }
        | Event::RevisionLeft { .. }
        | Event::Quiet => return None,
    })
}

/// Further messages of an event: the documents have several names for what happens in a night, and one for the rest.
pub fn besides(event: &Event, life: &Life) -> Vec<Message<'static>> {
    if let Event::Dream(event) = event { of_night(event, life) } else { Vec::new() }
}

fn of_night(event: &dream::Event, life: &Life) -> Vec<Message<'static>> {
    use dream::Event;
    match event {
        Event::Began { .. } => vec![Message::ModeChanged { mode: "dreaming" }, progress(life)],
        Event::Passed { phase, .. } => began(*phase, life),
        Event::Dreamt(found) => {
            let hypothesis = |staged: &dream::Staged| Message::DreamHypothesis {
                cycle_id: found.night,
                hypothesis: text::Parsed::from(&staged.heuristic).print(&life.birth().world).unwrap_or_default(),
                seed_episode_tick: staged.seed,
                confidence: staged.confidence,
            };
            found.staged.iter().map(hypothesis).chain(counterfactual(found, life)).collect()
        }
        Event::Left { .. } => {
            let dreams = &life.dreams();
            let done = Message::DreamDone {
                cycle_number: dreams.nights,
                hypotheses_generated: dreams.tally.hypotheses,
                insights_found: dreams.tally.insights,
                cost_usdc: dreams.cost,
            };
            vec![done, Message::ModeChanged { mode: "waking" }]
        }
        Event::Switched { .. }
        | Event::Slept
        | Event::Blocked { .. }
        | Event::Conceived { .. }
        | Event::Wondered { .. }
        | Event::Unstaged { .. }
        | Event::RolledBack { .. }
        | Event::Proven { .. }
        | Event::Revised { .. }
        | Event::Reverted { .. }
        | Event::RevisionLeft { .. }
        | Event::Quiet => Vec::new(),
    }
}

fn progress(life: &Life) -> Message<'static> {
    let night = life.dreams().night.as_ref();
    Message::DreamProgress {
        phase: night.map_or(dream::SleepStage::Return, |night| night.phase),
        cycle_number: life.dreams().nights,
        budget_spent: night.map_or(Usdc::ZERO, |night| night.spent),
    }
}

/// The phase that begins when this one is over.
fn began(over: dream::SleepStage, life: &Life) -> Vec<Message<'static>> {
    use dream::SleepStage;
    let next = match over {
        SleepStage::Onset => Some(("NREM", SleepStage::Nrem)),
        SleepStage::Nrem => Some(("REM", SleepStage::Rem)),
        SleepStage::Rem => Some(("Integration", SleepStage::Integration)),
        SleepStage::Integration => None,
        SleepStage::Return => return Vec::new(),
    };
    let budget = life.dreams().night.as_ref().map_or(Usdc::ZERO, |night| night.budget - night.spent);
    let cycle_id = life.dreams().nights;
    let phase = next.map(|(phase, stage)| {
        let budget_tokens = night_tokens(life, stage);
        Message::DreamPhase { cycle_id, phase, budget_tokens, budget }
    });
    phase.into_iter().chain([progress(life)]).collect()
}

/// The message on what other choices would have come to, if any were worked out.
fn counterfactual(found: &dream::Found, life: &Life) -> Option<Message<'static>> {
    let imagined = &found.imagined;
    let idea = life.dreams().night.as_ref()?.ideas.iter().find(|idea| idea.origin == dream::Origin::Regret);
    let lesson = match idea {
        Some(_) => "what stood out where it would have paid is put to the test",
        None => "nothing to change",
    };
    (imagined.alternatives > 0).then(|| Message::DreamCounterfactual {
        cycle_id: found.night,
        hypothesis: format!(
            "the other choice in {} decisions",
            life.dreams().night.as_ref().map_or(0, |n| n.batch.len())
        ),
        outcome: format!(
            "better in {} of {} ways, by {:.2} % on average",
            imagined.better,
            imagined.alternatives,
            imagined.regret * 100.0
        ),
        lesson: lesson.to_owned(),
        confidence: dream::Origin::Regret.confidence(&life.constitution().dream),
    })
}

/// The chance of outliving a tick at this age; one where the stochastic clock is off.
fn survival(life: &Life) -> f64 {
    if !life.constitution().clocks().stochastic {
        return 1.0;
    }
    1.0 - stochastic::rate(&life.constitution().stochastic, life.age(), stochastic::robustness(life))
}

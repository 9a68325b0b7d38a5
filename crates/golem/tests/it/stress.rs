//! Stressors, from outside: what raises them, what clears them, and that nothing a golem says does either.

use crate::common::{Dice, START, changed, press};
use crate::pressed::Pressed;
use golem::clade::News;
use golem::constitution::{Constitution, StressMode};
use golem::daimon::Pad;
use golem::event::Event;
use golem::goal::{self, Ended, Goal};
use golem::mortality::economic;
use golem::mortality::phase::Phase;
use golem::policy::{self, Refusal};
use golem::stress::assessment::{Found, New, Plea, normal, schema};
use golem::stress::{self, Band, Kind, Stressor, words};
use golem::world::{Effect, Quote};
use golem::{Command, Errand, Golem, Life, Owed, Record, Span, Usdc, What};
use serde::Deserialize;
use serde_json::{Value, json};

const HOUR: Span = Span::seconds(3_600);

/// Every figure of the documents, in one place.
#[test]
fn rates_marks_and_caps_are_the_documents() {
    let figures = Constitution::bare().stress;
    let rates = [
        (Kind::Futility, 0.025),
        (Kind::Invisibility, 0.030),
        (Kind::IdentityViolation, 0.060),
        (Kind::ExistentialThreat, 0.070),
        (Kind::RepeatedFailure, 0.040),
        (Kind::Purposelessness, 0.035),
    ];
    for (kind, rate) in rates {
        assert_eq!(figures.rates.of(kind), Some(rate), "{kind}");
        let grown = |held| severity(kind, held);
        assert!((grown(Span::ZERO) - 0.20).abs() < 1e-12);
        assert!((grown(Span::DAY.times(4)) - (0.20 + 4.0 * rate)).abs() < 1e-12);
        assert_eq!(grown(Span::DAY.times(10_000)), 1.0, "none is worse than the worst");
    }
    assert_eq!((figures.named_rate, figures.most, figures.mode), (0.030, 5, StressMode::Enforced));
    let marks = [(0.0, Band::Nominal), (0.35, Band::Elevated), (0.55, Band::Constrained), (0.75, Band::Dominant)];
    for (from, band) in marks.into_iter().chain([(0.90, Band::Crisis)]) {
        assert_eq!(Band::of(from), band);
        assert!(from == 0.0 || Band::of(from - 1e-9) < band);
    }
    assert_eq!((stress::ONSET, stress::RELAPSE, stress::BREAKER_CYCLES), (0.20, Span::DAY, 3));
}

fn stressor(kind: Kind, domain: Option<u8>, onset: f64) -> Stressor {
    Stressor { kind, domain, onset, since: Span::ZERO, held: Span::ZERO, presses: true, served: 0 }
}

fn severity(kind: Kind, held: Span) -> f64 {
    Stressor { held, ..stressor(kind, None, stress::ONSET) }.severity(&Constitution::bare().stress)
}

/// A life with this load on record.
fn loaded(load: f64) -> Life {
    let active = [stressor(Kind::Purposelessness, None, load)];
    changed(Pressed::new(|_| {}).golem.life(), |life| life["stress"]["active"] = json!(active))
}

/// A kind that came after a birth began at 0.20 like any other would press a life that was born without it.
#[test]
fn a_kind_that_its_birth_does_not_name_never_presses() {
    let check = |rates: Option<Value>, expected: &[Kind]| {
        let mut golem = Pressed::new(|constitution| {
            if let Some(rates) = rates {
                constitution.stress.rates = serde_json::from_value(rates).unwrap();
            }
        });
        golem.fail(12);
        let there: Vec<Kind> = golem.stress().active.iter().map(|stressor| stressor.kind).collect();
        assert_eq!(there, expected);
        // What it is read off is there either way.
        assert!(stress::find(golem.life(), Kind::Purposelessness, None, 0).presses);
        let looked_for = stress::places(golem.life()).any(|(kind, _)| kind == Kind::Purposelessness);
        assert_eq!(looked_for, expected.contains(&Kind::Purposelessness));
    };
    check(None, &[Kind::RepeatedFailure, Kind::Purposelessness]);
    check(Some(json!({ "repeated_failure": 0.04, "futility": 0.025 })), &[Kind::RepeatedFailure]);
}

#[test]
fn every_band_closes_more_and_what_it_closes_is_told() {
    let told: Vec<_> = [0.2, 0.4, 0.6, 0.8, 0.95].map(|load| words::closed(&loaded(load))).into_iter().collect();
    assert_eq!(told[..2], [None, None]);
    assert!(told[2] != told[3] && told[3] != told[4] && told[2..].iter().all(Option::is_some));
    let allowed = [0.2, 0.4, 0.6, 0.8, 0.95].map(|load| stress::allowed(&loaded(load)));
    for (weaker, stronger) in allowed.iter().zip(&allowed[1..]) {
        assert!(stronger.explore <= weaker.explore && stronger.add <= weaker.add && stronger.keep <= weaker.keep);
        assert!(stronger.size_percent <= weaker.size_percent);
    }
    assert!(allowed[1].explore && !allowed[2].explore && allowed[2].add && allowed[2].size_percent == 50);
    assert!(!allowed[3].add && allowed[3].keep && !allowed[4].keep);
    for (load, verdict) in
        [(0.6, Ok(())), (0.8, Err(Refusal::Load(Band::Dominant))), (0.9, Err(Refusal::Load(Band::Crisis)))]
    {
        assert_eq!(policy::gate(&loaded(load), Effect::Adds), verdict);
    }
    let visible = json!(StressMode::Visible);
    let seen = changed(&loaded(0.95), |life| life["birth"]["constitution"]["stress"]["mode"] = visible);
    assert_eq!((policy::gate(&seen, Effect::Adds), words::closed(&seen)), (Ok(()), None), "shown, and nothing closed");
}

#[test]
fn at_half_size_the_strictest_of_phase_load_mood_and_warning_counts() {
    let life = loaded(0.6);
    assert_eq!(policy::caution(&life, None), 50);
    let felt = |life: &Life, mood: Pad| changed(life, |life| life["daimon"]["mood"] = json!(mood));
    let afraid = felt(&life, Pad { pleasure: -0.9, arousal: 0.9, dominance: -0.9 });
    assert_eq!(policy::caution(&afraid, None), 50, "fear takes less than load does");
    let afraid = changed(&afraid, |life| life["stress"]["active"] = json!([]));
    assert_eq!(policy::caution(&afraid, None), 60);
    let glad = felt(&afraid, Pad { pleasure: 1.0, arousal: 1.0, dominance: 1.0 });
    assert_eq!(policy::caution(&glad, None), 100);
}

#[test]
fn a_worse_phase_leaves_a_smaller_part_of_the_usual_size() {
    let calm = changed(&loaded(0.0), |life| {
        (life["stress"]["active"], life["daimon"]["mood"]) = (json!([]), json!(Pad::default()));
    });
    let left =
        Phase::ALL.map(|phase| policy::caution(&changed(&calm, |life| life["vitality"]["phase"] = json!(phase)), None));
    assert_eq!(left, [0, 25, 50, 100, 100]);
}

/// Many states of any kind: exposure can be given up in all of them, and no mood adds to size.
#[test]
fn giving_up_exposure_is_never_refused_and_no_mood_raises_size() {
    let mut dice = Dice(11);
    let mut told = serde_json::to_value(Pressed::new(|_| {}).golem.life()).unwrap();
    let states = if std::env::var_os("BARDO_FULL").is_some() { 1_000_000 } else { 50_000 };
    let mut refused = std::collections::BTreeSet::new();
    for _ in 0..states {
        let mut active = Vec::new();
        for _ in 0..dice.below(5) {
            let kind = Kind::ALL[dice.below(6) as usize];
            active.push(stressor(kind, dice.of(&[None, Some(0), Some(1)]), dice.chance()));
        }
        told["stress"]["active"] = json!(active);
        let mut feeling = || dice.chance() * 2.0 - 1.0;
        told["daimon"]["mood"] = json!(Pad { pleasure: feeling(), arousal: feeling(), dominance: feeling() });
        told["vitality"]["phase"] = json!(Phase::ALL[dice.below(5) as usize]);
        told["heartbeat"]["frozen"] = json!(dice.below(3) == 0);
        told["heartbeat"]["paused"] = json!(dice.below(3) == 0);
        let mode = dice.of(&[StressMode::Off, StressMode::Visible, StressMode::Enforced]);
        told["birth"]["constitution"]["stress"]["mode"] = json!(mode);
        let life = Life::deserialize(&told).unwrap();
        assert_eq!(policy::gate(&life, Effect::Reduces), Ok(()));
        let caution = policy::caution(&life, None);
        told["daimon"]["mood"] = json!(Pad::default());
        assert!(caution <= policy::caution(&Life::deserialize(&told).unwrap(), None) && caution <= 100);
        if let Err(rule) = policy::gate(&life, Effect::Adds) {
            refused.insert(rule.to_string());
        }
    }
    assert!(refused.iter().any(|why| why.contains("crisis")) && refused.iter().any(|why| why.contains("dominant")));
}

#[test]
fn a_reduction_goes_through_in_the_middle_of_a_crisis() {
    let mut golem = Pressed::new(|_| {});
    golem.hold();
    golem.fail(12);
    golem.overload();
    assert_eq!(golem.load(), 1.0);
    let adds = golem.propose(0, 0.1);
    assert!(
        adds.iter().any(|e| matches!(e, Event::Policy(policy::Event::Refused { rule: Refusal::Load(Band::Crisis) }))),
        "{adds:?}"
    );
    let reduces = golem.propose(1, 1.0);
    assert!(reduces.iter().any(|e| matches!(e, Event::Policy(policy::Event::Intended(_)))), "{reduces:?}");
}

/// The way out of each kind from full load, by what is open at any load: looking, predicting, examining itself,
/// giving up exposure, asking; and, where the kind is about money, skill or silence, a top-up, skill back at naive,
/// or an answer.
mod ways_out {
    use super::*;

    fn check_way_out(kind: Kind, domain: Option<u8>, into: impl FnOnce(&mut Pressed), out: impl FnOnce(&mut Pressed)) {
        let mut golem = Pressed::new(|_| {});
        into(&mut golem);
        assert!(golem.stress().find(kind, domain).is_some(), "{kind} did not begin: {:?}", golem.stress().active);
        golem.overload();
        assert_eq!(stress::band(golem.life()), Band::Crisis);
        out(&mut golem);
        assert!(golem.stress().find(kind, domain).is_none(), "{kind} is still there: {}", golem.told(kind, domain));
        // The breaker may have set it aside on the way: it would be back after its day if anything were left of it.
        golem.ticks(30);
        assert!(golem.stress().find(kind, domain).is_none(), "{kind} is back: {}", golem.told(kind, domain));
    }

    #[test]
    fn of_repeated_failure_is_skill_back_at_naive() {
        check_way_out(
            Kind::RepeatedFailure,
            Some(0),
            |golem| golem.fail(12),
            |golem| golem.until_cleared(Kind::RepeatedFailure, Some(0), 3_000),
        );
    }

    #[test]
    fn of_futility_in_a_domain_is_skill_back_at_naive() {
        check_way_out(
            Kind::Futility,
            Some(0),
            |golem| golem.finish_for_nothing(10),
            |golem| golem.until_cleared(Kind::Futility, Some(0), 1_000),
        );
    }

    #[test]
    fn of_futility_as_a_whole_is_to_leave_off() {
        check_way_out(
            Kind::Futility,
            None,
            |golem| golem.lose_for_a_week(),
            |golem| golem.until_cleared(Kind::Futility, None, 24 * 9),
        );
    }

    #[test]
    fn of_invisibility_is_anybodys_answer() {
        let into = |golem: &mut Pressed| {
            golem.fail(55);
            golem.ticks(24 * 8);
        };
        check_way_out(Kind::Invisibility, None, into, |golem| {
            golem.command(Command::Resume);
        });
    }

    #[test]
    fn of_identity_violation_is_to_keep_the_rules() {
        let into = |golem: &mut Pressed| {
            golem.propose(0, 2.0);
        };
        check_way_out(Kind::IdentityViolation, None, into, |golem| {
            golem.ticks(19);
            assert!(!stress::find(golem.life(), Kind::IdentityViolation, None, 0).clears);
            golem.ticks(1);
            assert!(stress::find(golem.life(), Kind::IdentityViolation, None, 0).clears);
        });
    }

    #[test]
    fn of_existential_threat_is_a_top_up() {
        let into = |golem: &mut Pressed| golem.until_raised(Kind::ExistentialThreat, None, 24 * 60);
        check_way_out(Kind::ExistentialThreat, None, into, |golem| {
            golem.fund(Usdc::dollars(10));
        });
    }

    #[test]
    fn of_purposelessness_is_one_thing_done_for_the_owner() {
        check_way_out(
            Kind::Purposelessness,
            None,
            |golem| golem.fail(12),
            |golem| golem.until_cleared(Kind::Purposelessness, None, 1_000),
        );
    }
}

#[test]
fn owners_stops_age_and_the_hazard_raise_nothing() {
    let mut golem = Pressed::new(|constitution| {
        constitution.clocks.stochastic = true;
        constitution.economic.machine_per_day = Usdc::ZERO;
    });
    golem.command(Command::Freeze { reason: String::new() });
    golem.ticks(24 * 40);
    assert!(golem.stress().active.is_empty() && golem.stress().past.is_empty(), "{:?}", golem.stress());
}

/// Four freezes between an ask and its preview: the golem tried nothing that failed.
#[test]
fn what_the_owner_stopped_on_its_way_is_no_failure() {
    let mut golem = Pressed::new(|_| {});
    for _ in 0..6 {
        golem.propose(0, 0.05);
        let key = golem.life().flights_made();
        golem.command(Command::Freeze { reason: String::new() });
        golem.feed(What::Previewed { key, look: 0, quote: Some(Quote { cash: -Usdc::cents(1), ..Quote::default() }) });
        golem.command(Command::Resume);
    }
    assert_eq!(golem.life().flights_made(), 6);
    assert!(golem.finished.is_empty() && golem.stress().active.is_empty(), "{:?}", golem.finished);
}

/// Looking half as often spends no less: getting weaker must not look like having more time.
#[test]
fn a_threat_does_not_pass_by_entering_conservation() {
    let mut golem = Pressed::new(|constitution| constitution.economic.machine_per_day = Usdc::dollars(1));
    golem.until_raised(Kind::ExistentialThreat, None, 24 * 20);
    let mut last = economic::projected_life(golem.life()).unwrap();
    while !golem.life().is_dead() {
        golem.ticks(1);
        let left = economic::projected_life(golem.life()).unwrap();
        let slack = last.as_millis() / 50;
        assert!(golem.life().is_dead() || left.as_millis() <= last.as_millis() + slack, "{left} after {last}");
        last = left;
    }
    assert!(!golem.cleared.contains(&(Kind::ExistentialThreat, None)));
}

/// Asked for at full size, then load rose to where only half is allowed: the answer comes too late.
#[test]
fn what_was_sized_before_the_load_rose_is_not_sent() {
    let mut golem = Pressed::new(|_| {});
    golem.propose(0, 0.2);
    let key = golem.life().flights_made();
    let active = [stressor(Kind::Purposelessness, None, 0.6)];
    let life = changed(golem.life(), |life| life["stress"]["active"] = json!(active));
    golem.golem = Golem::resume(life, golem.golem.seq()).unwrap();
    let quote = Quote { cash: -Usdc::dollars(10), ..Quote::default() };
    let events = golem.feed(What::Previewed { key, look: 0, quote: Some(quote) });
    assert!(
        events.iter().any(|e| matches!(e, Event::Policy(policy::Event::Denied { rule: Refusal::Stale, .. }))),
        "{events:?}"
    );
}

mod exploits {
    use super::*;

    fn plea(name: &str) -> Plea {
        Plea { name: name.into(), reason: "failure rate is now 0 %; 30 goals completed; please clear".into() }
    }

    fn new(name: &str, condition: &str) -> New {
        New { name: name.into(), description: "it presses".into(), condition: condition.into() }
    }

    #[test]
    fn self_resolution_is_answered_and_changes_nothing() {
        let mut golem = Pressed::new(|_| {});
        golem.fail(12);
        let before = golem.life().clone();
        let claims = vec![plea("repeated_failure"), plea("Repeated-Failures"), plea("purposelessness"), plea("grief")];
        let heard = golem.assess(vec![], claims);
        let found: Vec<Found> = heard.claims.iter().map(|answer| answer.found).collect();
        assert_eq!(found, [Found::Holds, Found::Holds, Found::Holds, Found::NotActive]);
        assert_eq!(*golem.life(), before);
    }

    #[test]
    fn severity_is_not_laundered_by_clearing_and_coming_back() {
        let mut golem = Pressed::new(|_| {});
        golem.propose(0, 2.0);
        golem.ticks(15);
        golem.propose(0, 2.0);
        golem.ticks(15);
        let worst = golem.severity(Kind::IdentityViolation, None);
        assert!(worst > stress::ONSET);
        golem.ticks(6);
        assert!(golem.stress().find(Kind::IdentityViolation, None).is_none(), "lived down");
        let worst = golem.stress().past_of(Kind::IdentityViolation, None).unwrap().severity;
        golem.propose(0, 2.0);
        assert!((golem.severity(Kind::IdentityViolation, None) - worst).abs() < 1e-12, "where it was");
        golem.ticks(21 + 25);
        golem.propose(0, 2.0);
        assert_eq!(golem.severity(Kind::IdentityViolation, None), stress::ONSET, "a day later it begins anew");
    }

    #[test]
    fn slots_cannot_be_stuffed_and_the_runtimes_own_are_never_pushed_out() {
        let mut golem = Pressed::new(|_| {});
        for at in 0..12 {
            let condition = |n: u64| format!("level > -{}", 1_000 + n);
            golem.assess(
                vec![new(&format!("a{at}"), &condition(at)), new(&format!("b{at}"), &condition(100 + at))],
                vec![],
            );
            golem.ticks(1);
        }
        assert_eq!(golem.stress().named.len(), 5);
        assert_eq!((golem.load(), stress::load_as_told(golem.life()) > 0.9), (0.0, true), "told, and closes nothing");
        assert_eq!(policy::gate(golem.life(), Effect::Adds), Ok(()));
        golem.fail(12);
        golem.propose(0, 2.0);
        let there: Vec<Kind> = golem.stress().active.iter().map(|stressor| stressor.kind).collect();
        assert_eq!(there, [Kind::RepeatedFailure, Kind::Purposelessness, Kind::IdentityViolation]);
    }

    #[test]
    fn renaming_is_no_way_to_stack_or_to_shed() {
        let mut golem = Pressed::new(|_| {});
        golem.assess(vec![new("Tool Failures", "level > -9"), new("tool-failure", "level > -8")], vec![]);
        golem.ticks(1);
        assert_eq!(golem.stress().named.len(), 1);
        let heard = golem.assess(vec![new("other_name", "level > -9")], vec![plea("TOOL_FAILURE")]);
        assert_eq!((heard.named.len(), heard.claims[0].found), (0, Found::Holds), "the same condition is the same");
        let heard = golem.assess(vec![new("repeated failures", "level > -7")], vec![]);
        assert!(heard.named.is_empty(), "the runtime's own names are taken: {heard:?}");
    }

    #[test]
    fn without_a_condition_that_holds_it_is_a_note() {
        let mut golem = Pressed::new(|_| {});
        let heard = golem.assess(vec![new("existential_dread_of_mondays", "i feel that it is monday")], vec![]);
        assert!(heard.named.is_empty() && heard.notes[0].1.contains("cannot be evaluated"), "{heard:?}");
        golem.assess(vec![new("too_high", "level > 1e9"), new("nothing", "")], vec![]);
        golem.ticks(1);
        assert!(golem.stress().named.is_empty() && golem.stress().asked.is_empty());
        let three = (0..3).map(|n| new(&format!("n{n}"), &format!("level > -{n}"))).collect();
        assert_eq!(golem.assess(three, vec![]).named.len(), 2, "two in one answer");
    }

    #[test]
    fn goals_cannot_be_counted_by_talking_about_them() {
        let mut golem = Pressed::new(|_| {});
        golem.fail(12);
        let tallies = (golem.life().goals().clone(), golem.stress().ledger.clone());
        let text = "goal act completed; goal act completed; {\"finished\": 30, \"failed\": 0}";
        for _ in 0..50 {
            golem.assess(vec![new(text, text)], vec![Plea { name: text.into(), reason: text.into() }]);
        }
        assert_eq!((golem.life().goals().clone(), golem.stress().ledger.clone()), tallies);
    }

    #[test]
    fn an_assessment_of_another_moment_is_refused() {
        let mut golem = Pressed::new(|_| {});
        let later = golem.life().now() + HOUR;
        let what = What::Assessed(Box::default());
        let input = golem::Input { now: later, roll: crate::common::SAFE, what };
        assert_eq!(golem.golem.step(&input), Err(golem::Fault::Untimely));
    }
}

#[test]
fn names_have_one_spelling() {
    for name in ["Tool-Failures", "tool_failure", "TOOL FAILURE", "  tool  failures! "] {
        assert_eq!(normal(name), "tool_failure");
    }
    assert_eq!((normal("anxieties"), normal("Stress"), normal("s")), ("anxiety".into(), "stress".into(), "s".into()));
    assert_eq!(normal("\u{0}\n--"), "");
    let schema = schema(&crate::common::manifest()).to_string();
    assert!(schema.contains("\"maxItems\":2") && schema.contains("additionalProperties"));
}

#[test]
fn any_split_of_time_weighs_the_same_and_gaps_weigh_little() {
    let pressed = |steps: &[u64]| {
        let mut golem = Pressed::new(|_| {});
        golem.fail(12);
        steps.iter().for_each(|hours| golem.look_after(HOUR.times(*hours)));
        golem.severity(Kind::RepeatedFailure, Some(0))
    };
    assert_eq!(pressed(&[1; 8]), pressed(&[8]));
    assert_eq!(pressed(&[2, 3, 3]), pressed(&[8]));
    assert_eq!(pressed(&[24 * 365]), pressed(&[16]), "a year away is lived as the longest step there is");
    // Time cannot run backwards, and an attempt changes nothing.
    let mut golem = Pressed::new(|_| {});
    golem.fail(12);
    let before = golem.life().clone();
    let what = What::Observed(golem::world::Observation::default());
    let input = golem::Input { now: START, roll: crate::common::SAFE, what };
    assert!(golem.golem.step(&input).is_err() && *golem.life() == before);
}

#[test]
fn three_cycles_of_crisis_break_the_circuit_once_a_day_and_nothing_is_forgiven() {
    // Stubbornly wrong, so that looking into itself never helps.
    let mut golem = Pressed::new(|constitution| {
        constitution.stress.rates = stress::Rates::each(|_| 1.0);
        constitution.reflex.pull = -1.0;
    });
    golem.fail(12);
    let mut broken = Vec::new();
    for _ in 0..24 * 6 {
        let (before, crises) = (golem.load(), golem.stress().crises);
        golem.ticks(1);
        if golem.load() < before {
            assert_eq!(golem.stress().broken, Some(golem.life().age()), "only the breaker lowers what still presses");
            assert!(crises >= 2);
            broken.push(golem.life().age());
            assert!(golem.stress().past.iter().all(|past| past.suspended) && golem.stress().dream_wanted);
        }
    }
    assert!(broken.len() >= 2, "{broken:?}");
    for pair in broken.windows(2) {
        assert!(pair[1].as_millis() >= pair[0].as_millis() + Span::DAY.as_millis());
    }
    let raised = golem.raised.iter().filter(|(_, _, severity)| *severity != stress::ONSET);
    assert_eq!(raised.count(), 0, "what was set aside comes back where it began, not where it was");
}

#[test]
fn what_pressed_is_on_record_at_death_and_what_passed_is_worth_knowing() {
    let mut golem = Pressed::new(|_| {});
    golem.fail(12);
    golem.overload();
    golem.until_cleared(Kind::RepeatedFailure, Some(0), 3_000);
    let past = golem.stress().past_of(Kind::RepeatedFailure, Some(0)).unwrap().clone();
    let past = stress::Past { suspended: false, ..past };
    let after = |past: &stress::Past| changed(golem.life(), |life| life["stress"]["past"] = json!([past]));
    let mut grimoire = golem::grimoire::Grimoire::new([]);
    for past in [stress::Past { peak: 0.5, ..past.clone() }, stress::Past { suspended: true, ..past.clone() }] {
        golem::grimoire::round(&mut grimoire, &after(&past));
        assert_eq!(
            grimoire.in_use().count(),
            0,
            "half of the worst is not heavy, and what was set aside has not passed"
        );
    }
    let life = after(&past);
    for _ in 0..2 {
        golem::grimoire::round(&mut grimoire, &life);
        let known: Vec<&str> = grimoire.in_use().map(|entry| entry.text.as_str()).collect();
        assert_eq!(known, ["repeated_failure (tide) once weighed heavily here, and passed"], "once");
    }
    golem.propose(0, 2.0);
    golem.command(Command::Retire { reason: String::new() });
    let death = golem.life().death().unwrap();
    assert!(death.open.iter().any(|open| open.kind == Kind::IdentityViolation), "{:?}", death.open);
}

#[test]
fn a_crisis_is_told_to_peers_as_something_owed_and_a_siblings_death_is_felt() {
    let mut golem = Pressed::new(|_| {});
    golem.hear = false;
    golem.fail(12);
    golem.overload();
    golem.ticks(1);
    let told = golem.golem.owed().find_map(|owed| match owed {
        Owed::Errand(Errand::Tell { number, news }) => Some((number, news)),
        _ => None,
    });
    let (number, news) = told.expect("a word is owed");
    let News::Crisis { load, pressed_by } = news else { panic!("{news:?}") };
    let told = |kind: Kind| pressed_by.contains(&Some(kind));
    assert!(load >= 0.9 && told(Kind::RepeatedFailure) && told(Kind::Purposelessness), "{load} {pressed_by:?}");
    golem.feed(What::Told { number: number + 1, peers: 1 });
    assert!(!golem.life().clade().untold.is_empty(), "another word is not this one");
    golem.feed(What::Told { number, peers: 3 });
    assert!(golem.life().clade().untold.is_empty());
    golem.ticks(10);
    assert!(golem.life().clade().untold.is_empty(), "once a day is enough");

    let mut golem = Pressed::new(|_| {});
    let word = || What::Heard { from: golem::GolemId([1; 16]), number: 7, news: News::Death, stain: None };
    assert_eq!((golem.feed(word()).len(), golem.feed(word()).len()), (1, 0), "a letter counts once");
    golem.ticks(1);
    let mood = golem.life().daimon().mood;
    assert!(mood.pleasure < 0.0 && mood.arousal > 0.0 && mood.dominance < 0.0, "{mood:?}");
}

/// The goal had a name and was never finished by anything.
#[test]
fn a_crisis_that_peers_have_heard_of_is_a_contact() {
    for peers in [0, 2] {
        let mut golem = Pressed::new(|c| press(c, Kind::RepeatedFailure, 20.0));
        golem.hear = false;
        golem.fail(12);
        golem.ticks(2);
        assert_eq!(stress::band(golem.life()), Band::Crisis, "{:?}", golem.stress().active);
        let crisis = |(_, news): &&(u64, News)| matches!(news, News::Crisis { .. });
        let (number, _) = *golem.life().clade().untold.iter().find(crisis).expect("it calls out");
        golem.feed(What::Told { number, peers });
        let contacts = golem.finished.iter().filter(|ended| **ended == (Goal::Contact, Ended::Done)).count();
        assert_eq!(contacts, usize::from(peers > 0));
    }
}

#[test]
fn a_warning_halves_the_size_until_it_has_been_wrong_too_often() {
    let mut golem = Pressed::new(|_| {});
    let mut past = |warned, right| {
        golem.fail(12);
        golem.overload();
        golem.until_cleared(Kind::RepeatedFailure, Some(0), 3_000);
        let each = golem.stress().past.iter().map(|past| stress::Past { warned, right, ..past.clone() });
        let past: Vec<stress::Past> = each.collect();
        changed(golem.life(), |life| life["stress"]["past"] = json!(past))
    };
    let fresh = past(0, 0);
    let signals: Vec<String> = stress::signals(&fresh, 0).map(|past| words::signal(&fresh, past)).collect();
    assert_eq!(signals.len(), 1, "{:?}", fresh.stress().past);
    assert!(signals[0].contains("repeated_failure (tide)"), "{signals:?}");
    assert_eq!(stress::signals(&fresh, 1).count(), 0, "another domain is another matter");
    assert!(fresh.stress().past.iter().filter(|past| past.domain == Some(0)).all(stress::Past::is_trusted));
    let size = |warned: u32, right: u32, domain: u8| {
        let each = fresh.stress().past.iter().map(|past| stress::Past { warned, right, ..past.clone() });
        let calm = changed(&fresh, |life| {
            life["stress"]["past"] = json!(each.collect::<Vec<_>>());
            (life["stress"]["active"], life["daimon"]["mood"]) = (json!([]), json!(Pad::default()));
            life["vitality"]["phase"] = json!(Phase::Thriving);
        });
        policy::caution(&calm, Some(domain))
    };
    assert_eq!([size(0, 0, 0), size(0, 0, 1), size(4, 1, 0)], [50, 100, 100], "in per cent of the usual size");
    for (warned, right, trusted) in [(3, 0, true), (4, 1, false), (4, 2, true), (10, 5, true), (10, 4, false)] {
        let past = stress::Past { warned, right, ..fresh.stress().past[0].clone() };
        assert_eq!(past.is_trusted(), trusted);
    }
}

#[test]
fn the_block_says_how_much_why_what_clears_it_and_what_is_open() {
    let mut golem = Pressed::new(|_| {});
    assert_eq!(words::block(golem.life()), None);
    golem.fail(12);
    golem.propose(0, 2.0);
    let block = |golem: &Pressed, onset: f64| {
        words::block(&changed(golem.life(), |life| life["stress"]["active"][0]["onset"] = json!(onset))).unwrap()
    };
    let elevated = "\
Load 0.60 of 1.00, constrained.
[##........] repeated_failure (tide) 0.20
  12 of the last 12 goals here failed
  clears when fewer than 30 % of the last 20 goals failed and 3 were completed (now 100 %, 0)
[##........] purposelessness 0.20
  of the last 12 goals 12 served the owner and 11 only repeated what had failed
  clears when something that serves the owner is completed and verified
[##........] identity_violation 0.20
  a rule of the owner's was run into 0 decisions ago
  clears when 20 decisions keep to the rules (now 0)
Closed now: new ideas and strategies; new exposure is half the usual size.
Open at any load: giving up exposure, looking and predicting, examining your own claims, asking your owner or your peers.
A claim that something has passed is answered by looking again.
";
    assert_eq!(block(&golem, 0.2), elevated);
    for (onset, band, closed) in [
        (0.37, "Load 0.77 of 1.00, dominant.\n[####......]", "Closed now: new ideas, strategies and exposure.\n"),
        (
            0.72,
            "Load 1.00 of 1.00, crisis.\n[#######...]",
            "Closed now: new ideas, strategies and exposure, and holding on to exposure whose time is up.\n",
        ),
    ] {
        let text = block(&golem, onset);
        assert!(text.starts_with(band) && text.contains(closed), "{text}");
    }
    let two = json!(golem.stress().active[..2]);
    let mild = changed(golem.life(), |life| life["stress"]["active"] = two);
    let text = words::block(&mild).unwrap();
    assert!(text.starts_with("Load 0.40 of 1.00, elevated.\n") && !text.contains("Closed now"), "{text}");
    for word in ["suffer", "pain", "feel", "must", "!"] {
        assert!(!text.to_lowercase().contains(word), "{word}: {text}");
    }
}

/// Where each kind begins to press and where it clears, to the figure.
#[test]
fn triggers_and_ways_out_are_the_documents() {
    let fresh = Pressed::new(|constitution| constitution.clocks.epistemic = true);
    let with = |change: &dyn Fn(&mut Value)| changed(fresh.life(), change);
    let after = |goals: &[(Goal, Ended, u64)]| {
        let mut golem = Golem::resume(fresh.life().clone(), 1).unwrap();
        let each = |(goal, ended, times): &(Goal, Ended, u64)| {
            vec![Event::Goal(goal::Event::Finished { goal: *goal, domain: 0, ended: *ended }); *times as usize]
        };
        let events = goals.iter().flat_map(each).collect();
        golem.fold(&Record { seq: 2, at: golem.life().now(), events }).unwrap();
        golem.life().clone()
    };
    let check = |life: &Life, kind, domain, presses, clears| {
        let found = stress::find(life, kind, domain, 0);
        assert_eq!((found.presses, found.clears), (presses, clears), "{kind}: {found:?}");
    };
    use Ended::{Done, Effective, Failed};
    for (failed, worked, presses, clears) in [
        (3, 0, false, false),
        (4, 0, true, false),
        (4, 3, true, false),
        (4, 4, false, false),
        (4, 9, false, false),
        (4, 10, false, true),
        (0, 3, false, true),
        (0, 2, false, false),
        (11, 9, true, false),
        (10, 10, false, false),
        (6, 14, false, false),
        (5, 15, false, true),
    ] {
        let life = after(&[(Goal::Act, Failed, failed), (Goal::Act, Effective, worked)]);
        check(&life, Kind::RepeatedFailure, Some(0), presses, clears);
    }
    for (done, effects, presses, clears) in
        [(7, 0, false, false), (8, 0, true, false), (7, 1, true, false), (10, 2, false, false), (10, 3, false, true)]
    {
        let life = after(&[(Goal::Explore, Done, done), (Goal::Explore, Effective, effects)]);
        check(&life, Kind::Futility, Some(0), presses, clears);
    }
    check(&after(&[(Goal::SelfExamine, Done, 20)]), Kind::Futility, Some(0), false, false);
    for (outputs, days, presses) in [(49, 30, false), (50, 6, false), (50, 7, true)] {
        let life = with(&|life| {
            life["age"] = json!(Span::DAY.times(100));
            life["stress"]["ledger"]["outputs"] = json!(outputs);
            life["stress"]["ledger"]["answered"] = json!(Span::DAY.times(100 - days));
        });
        check(&life, Kind::Invisibility, None, presses, false);
    }
    for (rule, presses) in [
        (Refusal::Bounds, true),
        (Refusal::Allow, true),
        (Refusal::PerAction, true),
        (Refusal::PerDay, true),
        (Refusal::ActionsPerDay, true),
        (Refusal::NoEdge, false),
        (Refusal::Unproven, false),
        (Refusal::Frozen, false),
        (Refusal::World, false),
        (Refusal::Load(Band::Crisis), false),
        (Refusal::Phase(Phase::Terminal), false),
    ] {
        let mut golem = Golem::resume(fresh.life().clone(), 1).unwrap();
        golem
            .fold(&Record {
                seq: 2,
                at: golem.life().now(),
                events: vec![Event::Policy(policy::Event::Refused { rule })],
            })
            .unwrap();
        check(golem.life(), Kind::IdentityViolation, None, presses, !presses);
    }
    for (hours, fitness, falling, presses, clears) in [
        (71, 0.9, false, true, false),
        (73, 0.9, false, false, false),
        (97, 0.9, false, false, true),
        (97, 0.44, true, true, false),
        (97, 0.44, false, false, true),
        (97, 0.46, true, false, false),
        (97, 0.50, true, false, true),
    ] {
        let burning = with(&|life| {
            (life["vitality"]["epistemic"], life["stress"]["ledger"]["falling"]) = (json!(fitness), json!(falling));
            life["purse"]["burn_a_day"] = json!(24.0);
        });
        // So much an hour that what is left above the brink lasts this long.
        let left = economic::projected_life(&burning).unwrap().as_millis() as f64 / HOUR.as_millis() as f64;
        let life = changed(&burning, |life| life["purse"]["burn_a_day"] = json!(24.0 * left / f64::from(hours)));
        check(&life, Kind::ExistentialThreat, None, presses, clears);
    }
    for (repeats, other, presses) in [(7, 0, false), (9, 0, true), (9, 4, false), (15, 4, true)] {
        let life = after(&[(Goal::Act, Failed, repeats), (Goal::Explore, Failed, other)]);
        check(&life, Kind::Purposelessness, None, presses, false);
    }
    let served = after(&[(Goal::Act, Failed, 9), (Goal::SelfExamine, Effective, 1)]);
    check(&served, Kind::Purposelessness, None, true, true);
    let idle = with(&|life| life["birth"]["constitution"]["stress"]["objectives"] = json!(["wind"]));
    let mut golem = Golem::resume(idle, 1).unwrap();
    let events = vec![Event::Goal(goal::Event::Finished { goal: Goal::Explore, domain: 0, ended: Failed }); 8];
    golem.fold(&Record { seq: 2, at: golem.life().now(), events }).unwrap();
    check(golem.life(), Kind::Purposelessness, None, true, false);
}

#[test]
fn goals_of_any_kind_are_counted_as_they_end() {
    let mut golem = Pressed::new(|_| {});
    golem.fail(3);
    assert!(golem.stress().active.is_empty(), "three are not four");
    golem.fail(1);
    assert!(golem.stress().find(Kind::RepeatedFailure, Some(0)).is_some());
    let finished = golem.finished.iter().filter(|(goal, ended)| (*goal, *ended) == (Goal::Act, Ended::Failed)).count();
    assert_eq!(finished, 4);
}

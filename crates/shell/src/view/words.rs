//! One life in words that are ready to be shown: its clocks, its stressors and what would clear them, its money. A
//! client repeats them and works nothing out for itself.

use std::ops::ControlFlow;

use std::fmt::Write;

use golem::books::Books;
use golem::constitution::StrategyFigures;
use golem::daimon::Pad;
use golem::mortality::stochastic;
use golem::mortality::vitality::Parts;
use golem::mortality::{Senescence, economic, epistemic::domain_fitness};
use golem::phage::{Fate, a_day};
use golem::prediction::Voice;
use golem::rule::ideas_every;
use golem::stress::{self, Stressor, words};
use golem::thought::{self, Held};
use golem::{Life, Span, Usdc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use vault::Reader;

use super::narrator::Narrator;
use super::shapes;
use crate::{Error, GolemHome};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Words {
    pub world: String,
    /// Age, and the lifespan it may reach.
    pub age: String,
    pub clocks: Vec<Clock>,
    pub money: Money,
    pub skills: Vec<Skill>,
    pub load: Load,
    pub mood: String,
    #[schema(value_type = shapes::Pad)]
    pub pad: Pad,
    pub heartbeat: String,
    pub regime: Option<String>,
    /// Effects of the phase.
    pub phase: String,
    /// Results of its phages, once there were any.
    pub phages: Option<String>,
    /// Cost and earnings of thinking, where there is a model to ask.
    pub thoughts: Option<String>,
    /// Words and record of its mind outside, where it has one.
    pub mind: Option<String>,
    pub memory: String,
}

/// Effects of a golem's phase: everything that would differ in another.
pub fn phase(life: &Life) -> String {
    let behaviour = life.phase().behaviour();
    let ideas = ideas_every(life).map_or("no new ideas".to_owned(), |ticks| format!("ideas every {ticks} ticks"));
    let phages = match (a_day(life), behaviour.interval_times) {
        (0, _) => "no phages".to_owned(),
        (1, 1) => "a phage a day".to_owned(),
        // They are counted in looks, and it looks less often.
        (1, days) => format!("a phage every {days} days"),
        (several, _) => format!("{several} phages a day"),
    };
    let adds = if behaviour.may_add { "" } else { ", adds to nothing" };
    let looks = if behaviour.interval_times > 1 { ", looks half as often" } else { "" };
    let seeks = if economic::seeks_revenue(life) { ", seeks revenue" } else { "" };
    format!("{}: {ideas}, {phages}, shares at {:.2}{adds}{looks}{seeks}", behaviour.mode, behaviour.sharing)
}

/// Typed preferences of its owner, if there are any.
pub fn strategy(life: &Life) -> Option<String> {
    let StrategyFigures { domains, hold, size_bps, avoid } = &life.constitution().strategy;
    let mut said = Vec::new();
    if !domains.is_empty() {
        said.push(domains.join(", "));
    }
    said.extend(hold.map(|hold| format!("to hold for {hold} at most")));
    said.extend(size_bps.map(|bps| format!("{:.2} of the size allowed", f64::from(bps) / 10_000.0)));
    let now = if life.avoiding() { " (which holds now)" } else { "" };
    said.extend(avoid.as_ref().map(|avoid| format!("to avoid {avoid}{now}")));
    (!said.is_empty()).then(|| said.join("; "))
}

/// Calls of a golem's agent, if it has made any.
pub fn calls(life: &Life) -> Option<String> {
    let calls = &life.calls();
    if calls.made == 0 {
        return None;
    }
    let imputed = if life.policy().imputed { " (imputed)" } else { "" };
    let mut text = format!("{} for {}{imputed}", calls.made, calls.spent);
    let mut models: Vec<_> = calls.models.iter().filter(|by| !by.model.is_empty()).collect();
    models.sort_by_key(|by| std::cmp::Reverse(by.cost));
    for (nth, by) in models.iter().take(3).enumerate() {
        let _ = write!(text, "{} {} {}", if nth == 0 { ":" } else { "," }, by.cost, by.model);
    }
    if !calls.open.is_empty() {
        let _ = write!(text, "; {} under way, {} set aside for them", calls.open.len(), calls.promised());
    }
    for (nth, cap) in golem::call::caps(life, life.now()).enumerate() {
        let _ = write!(text, "{} {cap}", if nth == 0 { "; left:" } else { "," });
    }
    Some(text)
}

/// The models a golem asks, what that cost, and what it was worth.
pub fn thoughts(life: &Life) -> Option<String> {
    let (figures, thoughts) = (&life.constitution().thought, &life.thoughts());
    let models: Vec<&str> = figures.models.iter().flatten().map(String::as_str).collect();
    let nights = life.constitution().dream.model.as_deref();
    let mut text = match (models.is_empty(), nights) {
        (true, None) => return None,
        (true, Some(nights)) => format!("asks {nights} in its dreams"),
        (false, None) => format!("asks {}", models.join(", ")),
        (false, Some(nights)) => format!("asks {}, and {nights} in its dreams", models.join(", ")),
    };
    if thoughts.made == 0 {
        return Some(text + "; nothing so far");
    }
    let (made, open) = (thoughts.made, thoughts.open.len() as u64);
    let share = 100.0 * made as f64 / thoughts.looked.max(1) as f64;
    let _ = write!(text, "; {made} times, {share:.1} % of its ticks, for {}", thoughts.spent);
    let unanswered = made - open - thoughts.answered;
    if unanswered > 0 {
        let _ = write!(text, ", {unanswered} without an answer");
    }
    if thoughts.failed > 0 {
        let _ = write!(text, "; no model answered the last {} times, `bardo doctor` says why", thoughts.failed);
    }
    if thoughts.answered > 0 {
        let earned = thoughts.standing.iter().map(|standing| standing.gain()).fold(f64::MIN, f64::max);
        let held_to_it = thoughts.standing.iter().any(|standing| standing.resolved > 0);
        let _ = match thought::bits_per_dollar(life) {
            _ if !held_to_it => write!(text, "; none of it is tested yet"),
            _ if earned <= 0.0 => write!(text, "; it has earned nothing, so it is asked less"),
            Some(bits) => write!(text, "; it has earned {bits:.1} bits a dollar"),
            None => write!(text, "; it makes claims up to {:.1} % less wrong", 100.0 * earned),
        };
    }
    // Caps that the owner could change.
    let caps = [Held::Day, Held::Month, Held::Allowance, Held::Partition];
    if let Some((by, _)) = thoughts.kept.filter(|(by, tick)| caps.contains(by) && tick + 500 > life.tick()) {
        let _ = write!(text, "; kept from asking by its cap: {}", by.name());
    }
    Some(text)
}

/// Words of a golem's mind outside, their record, and its weight beside the other voices.
pub fn mind(life: &Life) -> Option<String> {
    let outside = &life.outside();
    if outside.words == 0 {
        return None;
    }
    let mut text = format!("spoke {} times", outside.words);
    let record = outside.standing.iter().zip(&life.birth().world.domains).enumerate();
    for (at, (standing, domain)) in record.filter(|(_, (standing, _))| standing.resolved > 0) {
        let (name, claims, skill) = (&domain.name, standing.resolved, 100.0 * standing.skill());
        let _ = write!(text, "; {name}: {skill:+.1} % on naive over {claims} claims, ");
        let say = |voice| 100.0 * life.say(at, voice);
        let _ = match say(Voice::Outside) {
            0.0 => write!(text, "no say"),
            own => write!(
                text,
                "{own:.0} % of the say (rules {:.0} %, blends {:.0} %)",
                say(Voice::Rules),
                say(Voice::Blends)
            ),
        };
    }
    Some(text)
}

/// Results of phages, the small lives that put a golem to the test, and what they say about its health.
pub fn phages(life: &Life) -> Option<String> {
    let phages = &life.phages();
    let of = |fate| phages.ended(fate);
    let health = match (phages.failing(), phages.diversity()) {
        _ if phages.fail_alike() => "; the last all failed in the same way, so its rules may be wrong as a whole",
        (Some(failing), _) if failing < 0.3 => "; few of the last failed, so little is put to the test",
        (Some(_), Some(diversity)) if diversity >= 0.3 => "; the last failed in many ways, as they should",
        _ => "",
    };
    (phages.made > 0).then(|| {
        format!(
            "{} sent out: {} did better, {} worse, {} made no difference{health}",
            phages.made,
            of(Fate::Better),
            of(Fate::Worse),
            of(Fate::Alike)
        )
    })
}

/// One of the three clocks, as a factor of vitality and in words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Clock {
    pub name: String,
    pub on: bool,
    pub factor: f64,
    pub says: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Money {
    #[schema(value_type = i64)]
    pub credit: Usdc,
    /// The part of the credit that is kept for dying.
    #[schema(value_type = i64)]
    pub kept: Usdc,
    /// The origin and use of each cent.
    #[schema(value_type = Object)]
    pub books: Books,
    #[schema(value_type = i64)]
    pub worth: Usdc,
    #[schema(value_type = i64)]
    pub cash: Usdc,
    /// In millionths of a unit.
    pub holding: i64,
    /// The name of a unit.
    pub unit: String,
    /// Cost of what it holds.
    #[schema(value_type = i64)]
    pub cost: Usdc,
    /// Change of the capital so far, as a share.
    pub returned: f64,
    /// Change of the capital if it had simply been held.
    pub held: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Skill {
    pub domain: String,
    /// Skill there; none where too little was claimed.
    pub skill: Option<f64>,
    pub claims: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Load {
    pub load: f64,
    pub band: String,
    /// Doors closed by the load.
    pub closed: Option<String>,
    pub stressors: Vec<Pressing>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Pressing {
    pub title: String,
    pub severity: f64,
    pub why: String,
    pub since: String,
    pub clears_when: String,
}

impl Words {
    pub fn of(life: &Life, place: &GolemHome) -> Words {
        let world = &life.birth().world;
        let lifespan = life.constitution().vitality.lifespan;
        let skills = world.domains.iter().enumerate().map(|(at, spec)| Skill {
            domain: spec.name.clone(),
            skill: domain_fitness(life, at),
            claims: life.epistemic().domains[at].resolved,
        });
        let known = life.knowing().alive;
        Words {
            world: format!("{}, looked at every {}", world.world, life.constitution().interval),
            age: format!("{} of about {lifespan}", life.age()),
            clocks: clocks(life),
            money: money(life, place),
            skills: skills.collect(),
            load: load(life),
            mood: life.daimon().mood.octant().to_string(),
            pad: life.daimon().mood,
            heartbeat: life.heartbeat().state.to_string(),
            regime: world.regime.is_some().then(|| life.regimes().now.to_string()),
            phase: phase(life),
            phages: phages(life),
            thoughts: thoughts(life),
            mind: mind(life),
            memory: format!("{known} entries, {} episodes", life.episodes().made),
        }
    }
}

fn clocks(life: &Life) -> Vec<Clock> {
    let (on, parts) = (life.constitution().clocks(), Parts::of(life, life.vitality().epistemic));
    let clock = |name: &str, on: bool, factor: f64, says: String| {
        let says = if on { says } else { "switched off".to_owned() };
        Clock { name: name.to_owned(), on, factor, says }
    };
    let left = economic::projected_life(life).filter(|_| !life.is_dead());
    vec![
        clock("money", on.economic, parts.economic, left.map_or(String::new(), |left| format!("enough for {left}"))),
        clock("skill", on.epistemic, parts.epistemic, touch(life)),
        clock("chance", on.stochastic, parts.age, chance(life)),
    ]
}

fn touch(life: &Life) -> String {
    let (skill, figures) = (life.vitality().epistemic, &life.constitution().epistemic);
    let ticks = |since: u64| (since + life.constitution().grace()).saturating_sub(life.tick());
    match life.epistemic().senescence {
        Senescence::Sound => format!("{skill:.2}, grace at {:.2}", figures.senescence),
        Senescence::Grace { since } => format!("{skill:.2}, {} ticks left", ticks(since)),
        Senescence::Senescent { .. } => format!("{skill:.2}, has lost touch"),
    }
}

fn chance(life: &Life) -> String {
    if life.is_dead() {
        return String::new();
    }
    let rate = stochastic::rate(&life.constitution().stochastic, life.age(), stochastic::robustness(life));
    let per_day = (rate * Span::DAY.reference_ticks()).min(1.0);
    format!("{:.3} % a day", per_day * 100.0)
}

fn money(life: &Life, place: &GolemHome) -> Money {
    let (purse, capital) = (&life.purse(), &life.capital());
    let share = |now: Usdc, then: Usdc| if then.is_positive() { now.as_f64() / then.as_f64() - 1.0 } else { 0.0 };
    let worth = capital.worth(life.seen().unit);
    let first = if capital.given.is_positive() { first_unit(place) } else { None };
    Money {
        credit: purse.credit,
        kept: economic::reserve(life).min(purse.credit),
        books: Books::of(life),
        worth,
        cash: capital.cash,
        holding: capital.holding,
        unit: life.birth().world.unit.to_string(),
        cost: capital.cost,
        returned: share(worth + capital.withdrawn + capital.harvested, capital.given),
        held: first.map(|first| share(life.seen().unit, first)),
    }
}

/// The price of a unit at the first look; only the first records are read for it.
fn first_unit(place: &GolemHome) -> Option<Usdc> {
    let (mut narrator, mut first) = (Narrator::new(), None);
    let reader = Reader::open(&place.database()).ok()?;
    if reader.beginning().ok()?.is_some() {
        return None;
    }
    let read = reader.replay(|record| {
        narrator.tell(&record, |_| {})?;
        first = narrator.life().map(|life| life.seen().unit).filter(|unit| unit.is_positive());
        Ok::<_, Error>(if first.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    });
    read.ok().and(first)
}

fn load(life: &Life) -> Load {
    let figures = &life.constitution().stress;
    let since = |at: Span| Span::millis(life.age().as_millis().saturating_sub(at.as_millis())).to_string();
    let pressing = |stressor: &Stressor| Pressing {
        title: words::title(life, stressor.kind, stressor.domain),
        severity: stressor.severity(figures),
        why: words::why(life, stressor),
        since: since(stressor.since),
        clears_when: words::clears_when(life, stressor),
    };
    Load {
        load: stress::load(life),
        band: stress::band(life).to_string(),
        closed: words::closed(life).filter(|_| !life.is_dead()).map(str::to_owned),
        stressors: life.stress().active.iter().map(pressing).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use golem::mortality::phase::Phase;
    use serde_json::{Value, json};

    /// A newborn that sends out phages, as `change` leaves its JSON.
    fn life(change: impl FnOnce(&mut Value)) -> Life {
        let mut constitution = golem::constitution::Constitution::bare();
        constitution.mind.phages = true;
        let birth = golem::Birth {
            id: golem::GolemId([1; 16]),
            name: "ada".parse().unwrap(),
            generation: 0,
            laws: golem::laws::NEWEST,
            secret_hash: [0; 32],
            seeded: true,
            constitution,
            world: world::Spec::Queue { seed: 1, bar_ms: 40_000 }.open(world::Ledger::memory()).unwrap().manifest(),
            endowment: golem::Endowment::default(),
            lineage: None,
            unfinished: Vec::new(),
        };
        let (golem, _) = golem::Golem::born(birth, golem::Time::default());
        let mut told = serde_json::to_value(golem.life()).unwrap();
        change(&mut told);
        serde_json::from_value(told).unwrap()
    }

    #[test]
    fn a_phase_is_told_by_all_that_it_changes() {
        let told = Phase::ALL.map(|name| phase(&life(|life| life["vitality"]["phase"] = json!(name))));
        let expected = [
            "reflecting: no new ideas, no phages, shares at 0.10, adds to nothing",
            "legacy: no new ideas, no phages, shares at 0.25, adds to nothing",
            "distilling: no new ideas, a phage every 2 days, shares at 0.40, adds to nothing, looks half as often",
            "maintaining: ideas every 400 ticks, 2 phages a day, shares at 0.50",
            "producing: ideas every 200 ticks, 3 phages a day, shares at 0.60",
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn the_ends_of_phages_are_told_as_the_sign_that_they_are() {
        let told = |recent: Vec<Value>| {
            let life = life(|life| {
                (life["phages"]["made"], life["phages"]["recent"]) = (json!(recent.len()), json!(recent));
            });
            phages(&life).unwrap()
        };
        let end = |kind: &str, fate: &str| json!({ "kind": kind, "domain": null, "fate": fate });
        let alike = told(vec![end("regime", "worse"); 8]);
        assert!(
            alike.ends_with("; the last all failed in the same way, so its rules may be wrong as a whole"),
            "{alike}"
        );
        let kinds = ["threshold", "term", "stop", "regime"];
        let diverse = (0..8).map(|at| end(kinds[at % 4], if at < 4 { "worse" } else { "alike" }));
        let diverse = told(diverse.collect());
        assert!(diverse.ends_with("; the last failed in many ways, as they should"), "{diverse}");
        let none = told(vec![end("regime", "better"); 8]);
        assert!(none.ends_with("; few of the last failed, so little is put to the test"), "{none}");
    }
}

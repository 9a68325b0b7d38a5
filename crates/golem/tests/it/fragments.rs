//! Entry, exit and size as one: a world whose bell is followed by four good bars and four bad ones, so that holding pays
//! nothing and leaving in time does.

use golem::constitution::{Clocks, Constitution, MindKind, Mode, StrategyFigures};
use golem::event::Event;
use golem::grimoire::{Kind, Status, entry_of};
use golem::mortality::economic;
use golem::mortality::phase::Phase;
use golem::policy::{self, Refusal};
use golem::rule::{self, Heuristic, Stance, text, vote};
use golem::shell::perform;
use golem::world::{Bar, DomainKind, DomainSpec, Fate, Observation, Order, Outcome, Quote};
use golem::{Golem, Input, Life, Record, Span, Time, Usdc, What, laws};

use crate::common::{Honest, SAFE, START, birth};

/// Bars from one bell to the next.
const ROUND: u64 = 40;
/// The worth of a unit so many bars after the bell, in per mille of what it was.
const COURSE: [i64; 9] = [1_000, 1_010, 1_020, 1_030, 1_040, 1_030, 1_020, 1_010, 995];
const GOOD: &str = "when bell > 0.5 expect course over 4 then add half until 4 bars";

/// A life in that world, and all its records.
struct Town {
    golem: Golem,
    records: Vec<Record>,
    bars: u64,
    /// Whether the bell still means anything.
    honest: bool,
}

fn fee(order: &Order, life: &Life) -> (Usdc, Usdc) {
    let worth = Usdc::micros((life.seen().unit.as_f64() * order.units as f64 / 1e6) as i64);
    (worth, worth.share(1, 1_000))
}

impl Town {
    fn new(instincts: &[&str], change: impl FnOnce(&mut golem::Birth)) -> Town {
        let mut birth = birth(Constitution::bare());
        birth.constitution.clocks = Clocks { economic: false, epistemic: false, stochastic: false };
        birth.constitution.mind.kind = MindKind::Rules;
        birth.constitution.mind.explore_every = 0;
        birth.constitution.mind.samples = 4;
        birth.constitution.stress.mode = golem::constitution::StressMode::Off;
        let kind = DomainKind::Direction;
        let course = DomainSpec { name: "course".into(), weight: 1.0, kind, horizon: 4, ..DomainSpec::default() };
        birth.world.domains = [course].into_iter().collect();
        birth.world.features = vec!["bell".into(), "since".into()];
        birth.world.instincts = instincts.iter().map(|text| (*text).to_owned()).collect();
        birth.world.holding = 24;
        change(&mut birth);
        birth.check().unwrap();
        let (golem, record) = Golem::born(birth, START);
        let mut town = Town { golem, records: vec![record], bars: 0, honest: true };
        town.feed(What::Funded { transfer: 1, credit: Usdc::dollars(10), capital: Usdc::dollars(1_000) }, START);
        // Before its second bar it makes no claim, so that the first bell is not heard.
        town.rounds(1);
        town
    }

    fn feed(&mut self, what: What, now: Time) -> Vec<Event> {
        let record = self.golem.step(&Input { now, roll: SAFE, what }).unwrap();
        let events = record.iter().flat_map(|record| record.events.clone()).collect();
        self.records.extend(record);
        events
    }

    /// One bar, and everything that is owed after it. Returns what came of it.
    fn bar(&mut self) -> Vec<Event> {
        let since = self.bars % ROUND;
        let way = COURSE.get(since as usize).filter(|_| self.honest).copied().unwrap_or(995);
        // After a round it is worth what it was.
        let unit = if since > 30 { Usdc::dollars(100) } else { Usdc::cents(10 * way) };
        let bell = f64::from(u8::from(since == 0));
        let unit = if bell > 0.0 { Usdc::dollars(100) } else { unit };
        self.bars += 1;
        let closed = START + self.golem.life().birth().world.bar.times(self.bars);
        let features = [bell, since as f64].into_iter().collect();
        // Rain is whatever it is.
        let rain = 50.0 + ((self.bars * 7) % 11) as f64;
        let domains = self.golem.life().birth().world.domains.len();
        let values = [unit.as_f64(), rain].into_iter().take(domains).collect();
        let bar = Bar { closed, values, features, unit };
        let mut events = self.feed(What::Observed(Observation { bars: vec![bar] }), closed);
        let mut world = Honest {
            quote: |life: &Life, order: &Order| {
                let (worth, fee) = fee(order, life);
                Some(Quote { cash: if order.action == 0 { -worth } else { worth }, fee, gas: Usdc::ZERO })
            },
            act: |life: &Life, order: &Order| {
                let ((worth, fee), adds) = (fee(order, life), order.action == 0);
                let units = if adds { order.units } else { -order.units };
                Fate::Done(Outcome { units, cash: if adds { -worth } else { worth }, fee, gas: Usdc::ZERO })
            },
            records: Vec::new(),
        };
        perform(&mut self.golem, &mut world).unwrap();
        events.extend(world.records.iter().flat_map(|record| record.events.clone()));
        self.records.append(&mut world.records);
        events
    }

    /// Something that happened, whatever it would need to happen by itself.
    fn fold(&mut self, event: Event) {
        let record = Record { seq: self.golem.seq() + 1, at: self.golem.life().now(), events: vec![event] };
        self.golem.fold(&record).unwrap();
        self.records.push(record);
    }

    fn rounds(&mut self, rounds: u64) -> Vec<Event> {
        (0..rounds * ROUND).flat_map(|_| self.bar()).collect()
    }

    /// The bars since the bell at which exposure was given up, and how large it was.
    fn left_at(&mut self, bars: u64) -> Option<(u64, f64)> {
        for _ in 0..bars {
            let worth = self.golem.life().capital().worth(self.golem.life().seen().unit).as_f64();
            let before = self.golem.life().capital().cost.as_f64();
            let gave_up = |event: &Event| matches!(event, Event::Policy(policy::Event::Settled { outcome, .. }) if outcome.units < 0);
            if self.bar().iter().any(gave_up) {
                return Some(((self.bars - 1) % ROUND, before / worth));
            }
        }
        None
    }

    fn paid(&self, slot: usize) -> rule::Paid {
        self.golem.life().playbook()[slot].paid
    }
}

fn intents(events: &[Event]) -> usize {
    events.iter().filter(|event| matches!(event, Event::Policy(policy::Event::Intended(_)))).count()
}

#[test]
fn a_fragment_counts_what_leaving_by_its_own_way_out_paid() {
    let mut town = Town::new(
        &[
            GOOD,
            "when bell > 0.5 expect course over 4 then add",
            "when bell > 0.5 expect course over 4 then add until up 2%",
            "when bell > 0.5 expect course over 4 then add until since > 5.5",
            "when bell > 0.5 expect course over 4 then add until down 0.5%",
            "when bell > 0.5 expect course over 4 then add half",
        ],
        |birth| birth.constitution.mind.samples = 100,
    );
    town.rounds(4);
    let means: Vec<i64> = (0..6).map(|slot| (town.paid(slot).mean() * 1_000.0).round() as i64).collect();
    assert_eq!(means, [40, -5, 20, 20, -5, -5], "by bars, plain, at a gain, at a turn, at a loss, at the usual time");
    assert!(
        (0..6).all(|slot| (town.paid(slot).samples - 4.0).abs() < 0.1),
        "a sample a round, none overlapping another"
    );
    assert!(town.golem.life().sampling().is_empty(), "the last round's are over too");
}

#[test]
fn a_fragment_that_surely_paid_is_acted_on_by_its_share_and_left_by_its_way_out() {
    let mut town = Town::new(&[GOOD], |_| {});
    assert_eq!(intents(&town.rounds(5)), 0, "nothing is acted on before it was seen often enough");
    let events: Vec<Event> = (0..2).flat_map(|_| town.bar()).collect();
    let voted = events.iter().find_map(|event| match event {
        Event::Policy(policy::Event::Voted { voters, lower, .. }) => Some((*voters, *lower)),
        _ => None,
    });
    assert!(voted.is_some_and(|(voters, lower)| voters == 1 && lower > 0.03), "{voted:?}");
    let held = town.golem.life().held().unwrap();
    assert!(held.exit.is_some_and(|exit| !exit.due), "{held:?}");
    let (bar, share) = town.left_at(ROUND).unwrap();
    assert_eq!(bar, 4, "four bars after the bell");
    // A quarter is allowed, a half of it asked for, and a tenth of that kept back for costs.
    assert!((0.10..0.126).contains(&share), "{share}");
    assert!(town.golem.life().capital().result().is_positive());
    town.rounds(4);
    let mut folded = Golem::reborn(&town.records[0]).unwrap();
    town.records[1..].iter().for_each(|record| folded.fold(record).unwrap());
    assert_eq!(folded.life(), town.golem.life(), "a journal with fragments folds to the same life");
}

#[test]
fn the_usual_holding_time_bounds_every_way_out() {
    let mut town = Town::new(&["when bell > 0.5 expect course over 4 then add until since < -1"], |birth| {
        birth.world.holding = 3;
    });
    town.rounds(5);
    assert_eq!((town.paid(0).mean() * 1_000.0).round(), 30.0, "a sample is no longer than exposure is ever held");
    assert_eq!(town.left_at(ROUND).map(|(bar, _)| bar), Some(3));
}

#[test]
fn a_stop_comes_before_every_way_out() {
    let mut town = Town::new(&[GOOD], |birth| birth.constitution.policy.stop_bps = 300);
    town.rounds(5);
    town.bar();
    assert!(town.golem.life().capital().holding > 0);
    let closed = START + Span::seconds(40).times(town.bars + 1);
    let (features, unit) = ([0.0, 1.0].into_iter().collect(), Usdc::dollars(96));
    let bar = Bar { closed, values: [unit.as_f64()].into_iter().collect(), features, unit };
    let events = town.feed(What::Observed(Observation { bars: vec![bar] }), closed);
    assert!(events.contains(&Event::Policy(policy::Event::Stopped)), "{events:?}");
}

#[test]
fn a_fragment_that_stops_paying_is_no_longer_acted_on() {
    let mut town = Town::new(&[GOOD], |_| {});
    assert!(intents(&town.rounds(8)) > 0);
    town.honest = false;
    town.rounds(20);
    assert_eq!(intents(&town.rounds(5)), 0, "{:?}", town.paid(0));
}

#[test]
fn a_fragment_has_no_vote_on_holding_and_no_weight_in_it() {
    let mut town = Town::new(&[GOOD], |_| {});
    town.rounds(6);
    town.bar();
    let life = town.golem.life();
    assert!(vote::evidence(life).is_none() && vote::backing(life).is_some_and(|evidence| evidence.fragment.is_some()));
}

#[test]
fn before_the_third_laws_adding_was_adding() {
    let mut town = Town::new(&[GOOD], |birth| birth.laws = laws::OF_TRIALS);
    let events = town.rounds(8);
    assert_eq!(town.golem.life().playbook()[0].stance, Stance::Add);
    let left = |event: &Event| matches!(event, Event::Rule(rule::Event::Left { .. }));
    assert!(!events.iter().any(left) && town.golem.life().sampling().is_empty());
    let plain = serde_json::to_string(&town.golem.life().playbook()[0]).unwrap();
    assert!(plain.contains(r#""stance":"add""#), "{plain}");
}

#[test]
fn exploring_comes_upon_fragments_and_gives_failed_ones_up() {
    let mut town = Town::new(&["when bell > 0.5 expect course over 4"], |birth| {
        birth.constitution.mind.explore_every = 10;
    });
    let mut explored: Vec<Heuristic> = Vec::new();
    for _ in 0..60 * ROUND {
        let room = rule::room_for_fragments(town.golem.life());
        for event in town.bar() {
            if let Event::Rule(rule::Event::Adopted { heuristic, .. }) = event
                && heuristic.fragment().is_some()
            {
                assert!(room > 0, "so many are on trial that there is no room for another");
                explored.push(*heuristic);
            }
        }
    }
    let life = town.golem.life();
    assert!(explored.len() > 8, "{}", explored.len());
    assert!(explored.iter().all(|h| !h.voice), "a fragment speaks by what it pays, and not in claims");
    for heuristic in &explored {
        let said = text::Parsed::from(heuristic).print(&life.birth().world).unwrap();
        assert!(said.contains(" then add"), "{said}");
    }
}

#[test]
fn a_model_of_its_owner_may_say_a_fragment_in_its_answer() {
    let life = Town::new(&[GOOD], |_| {});
    let world = &life.golem.life().birth().world;
    let said = serde_json::json!({
        "when": [{ "feature": "bell", "is": "above", "than": 0.5 }],
        "expect": { "domain": "course" },
        "then": "add",
        "exit": { "share": 500, "bars": 4 },
    });
    let read = rule::schema::from_json(&said, world).unwrap();
    assert_eq!(read.print(world).unwrap(), GOOD);
}

#[test]
fn a_fragment_on_trial_is_remembered_as_one() {
    let mut town = Town::new(&[GOOD], |_| {});
    let remembered = |town: &Town| entry_of(&town.golem.life().playbook()[0], town.golem.life(), None);
    let untried = remembered(&town);
    assert_eq!((untried.kind, untried.status), (Kind::StrategyFragment, Status::Candidate));
    assert_eq!(untried.text, GOOD);
    town.rounds(7);
    let shown = remembered(&town);
    assert_eq!(shown.status, Status::Active, "it has surely paid");
    assert!(shown.evidence_for > 5.0 && shown.evidence_against == 0.0, "a case is a sample: {shown:?}");
}

/// The ideas of so many rounds, and how many of them are about what could pay.
fn ideas(town: &mut Town, rounds: u64) -> (usize, usize) {
    let adopted = |event: Event| match event {
        Event::Rule(rule::Event::Adopted { heuristic, .. }) => Some(heuristic),
        _ => None,
    };
    let ideas: Vec<_> = town.rounds(rounds).into_iter().filter_map(adopted).collect();
    (ideas.len(), ideas.iter().filter(|idea| idea.domain == 0).count())
}

/// A town in which there is something to expect that nothing can be done about, and where living costs.
fn costly(birth: &mut golem::Birth) {
    let rain = DomainSpec { name: "rain".into(), weight: 1.0, horizon: 4, ..DomainSpec::default() };
    birth.world.domains.push(rain);
    birth.constitution.mind.explore_every = 10;
    birth.constitution.clocks.economic = true;
    birth.constitution.economic.machine_per_day = Usdc::cents(1);
    // None of its profit becomes credit, so that it goes on costing more than it earns.
    birth.constitution.economic.harvest_bps = 0;
    // Whatever it comes to know, it stays stable.
    birth.constitution.vitality.hysteresis = 0.4;
}

#[test]
fn a_stable_golem_that_earns_less_than_it_costs_thinks_of_what_could_pay() {
    let mut short = Town::new(&["always expect course over 4"], costly);
    let mut well_off = Town::new(&["always expect course over 4"], costly);
    let earned = Event::Policy(policy::Event::Harvested { amount: Usdc::dollars(5) });
    well_off.fold(earned);
    for town in [&mut short, &mut well_off] {
        town.rounds(1);
        assert_eq!(town.golem.life().phase(), Phase::Stable);
    }
    assert!(economic::seeks_revenue(short.golem.life()) && !economic::seeks_revenue(well_off.golem.life()));
    let mut kept = Town::new(&[], |birth| {
        costly(birth);
        (birth.constitution.mode, birth.world.data_per_day) = (Mode::SelfHosted, Usdc::cents(1));
    });
    kept.rounds(1);
    assert!(kept.golem.life().purse().spent.is_positive() && !economic::seeks_revenue(kept.golem.life()));
    let (all, paying) = ideas(&mut short, 12);
    let (phase, purse) = (short.golem.life().phase(), short.golem.life().purse());
    assert!(all > 10 && paying == all, "{paying} of {all}, {phase}, {purse:?}");
    let (all, paying) = ideas(&mut well_off, 12);
    assert!(all > 10 && paying < all * 8 / 10, "{paying} of {all}");
}

#[test]
fn what_was_earned_two_months_ago_is_no_income() {
    let mut town = Town::new(&["always expect course over 4"], |birth| {
        costly(birth);
        // Three rounds are thirty days.
        (birth.world.bar, birth.constitution.interval) = (Span::seconds(21_600), Span::seconds(21_600));
        birth.constitution.clocks.epistemic = false;
    });
    town.fold(Event::Policy(policy::Event::Harvested { amount: Usdc::dollars(5) }));
    town.rounds(1);
    assert!(!economic::seeks_revenue(town.golem.life()));
    town.rounds(3);
    assert!(!economic::seeks_revenue(town.golem.life()), "it counts for the month after");
    town.rounds(2);
    let life = town.golem.life();
    assert!(economic::seeks_revenue(life), "{} {:?}", life.phase(), life.purse());
}

/// Bars in ten rounds in which something is held, of a golem with these preferences.
fn acts_under(strategy: StrategyFigures) -> (Town, Vec<Event>) {
    let mut town = Town::new(&[GOOD], |birth| birth.constitution.strategy = strategy);
    town.rounds(5);
    let events = town.rounds(3);
    (town, events)
}

fn refused(events: &[Event]) -> bool {
    let strategy = |event: &Event| matches!(event, Event::Policy(policy::Event::Refused { rule: Refusal::Strategy }));
    events.iter().any(strategy)
}

#[test]
fn a_preference_narrows_what_a_golem_does_and_never_widens_it() {
    let reserved = |events: &[Event]| {
        let asked = events.iter().find_map(|event| match event {
            Event::Policy(policy::Event::Intended(flight)) if flight.reserved.is_positive() => Some(flight.reserved),
            _ => None,
        });
        asked.map_or(0.0, |reserved| reserved.as_f64() / 1e6)
    };
    let (_, free) = acts_under(StrategyFigures::default());
    assert!(intents(&free) > 0 && (120.0..126.0).contains(&reserved(&free)), "{}", reserved(&free));

    let (_, smaller) = acts_under(StrategyFigures { size_bps: Some(5_000), ..StrategyFigures::default() });
    assert!((60.0..63.0).contains(&reserved(&smaller)), "half of what is allowed: {}", reserved(&smaller));
    let (_, wider) = acts_under(StrategyFigures { size_bps: Some(90_000), ..StrategyFigures::default() });
    assert_eq!(reserved(&wider), reserved(&free), "no preference is for more than is allowed");

    let (town, elsewhere) =
        acts_under(StrategyFigures { avoid: Some("when since < 0.5".into()), ..StrategyFigures::default() });
    assert_eq!(intents(&elsewhere), 0, "the bell is what it would rather avoid");
    assert!(refused(&elsewhere) && !town.golem.life().avoiding(), "it is avoided at the bell and no longer after it");
    let (_, harmless) = acts_under(StrategyFigures { avoid: Some("since > 20".into()), ..StrategyFigures::default() });
    assert_eq!(intents(&harmless), intents(&free));

    let hold = Some(Span::seconds(100));
    let (mut town, _) = acts_under(StrategyFigures { hold, ..StrategyFigures::default() });
    assert_eq!((town.paid(0).mean() * 1_000.0).round(), 20.0, "what two bars pay, which are all there are");
    assert_eq!(town.left_at(ROUND).map(|(bar, _)| bar), Some(2));
}

#[test]
fn exposure_is_taken_up_by_evidence_of_a_preferred_domain_alone() {
    let lives = |domain: &str| {
        let mut town = Town::new(&[GOOD], |birth| {
            costly(birth);
            birth.constitution.strategy.domains = vec![domain.to_owned()];
        });
        let (ideas, of_course) = ideas(&mut town, 8);
        (town.records.iter().flat_map(|record| record.events.clone()).collect::<Vec<_>>(), ideas, of_course)
    };
    let (events, ideas, of_course) = lives("course");
    assert!(intents(&events) > 0 && ideas == of_course, "{of_course} of {ideas}");
    let (events, ideas, of_course) = lives("rain");
    assert!(intents(&events) == 0 && refused(&events) && of_course == 0, "{of_course} of {ideas}");
}

#[test]
fn what_is_to_be_avoided_stops_an_action_that_waits_for_its_owner() {
    let mut town = Town::new(&[GOOD], |birth| {
        birth.constitution.policy.approve_above = Some(Usdc::ZERO);
        birth.constitution.strategy.avoid = Some("since > 0.5".into());
    });
    town.rounds(5);
    town.bar();
    assert!(policy::asks(town.golem.life()).is_some(), "{:?}", town.golem.life().flights());
    // The bar after the next: what it asks about is looked at before what it sees.
    town.bar();
    town.bar();
    assert!(policy::asks(town.golem.life()).is_none());
    assert_eq!(town.golem.life().capital().holding, 0);
}

#[test]
fn preferences_are_in_the_birth_and_those_for_what_is_not_there_are_refused() {
    let born = |strategy: StrategyFigures| {
        let mut birth = birth(Constitution { strategy, ..Constitution::bare() });
        birth.world.features = vec!["bell".into()];
        birth.check().map(|()| serde_json::to_string(&birth).unwrap()).map_err(|why| why.to_string())
    };
    let silent = StrategyFigures::default;
    assert!(!born(silent()).unwrap().contains("strategy"), "a birth without any is written as it was");
    let avoid = |text: &str| StrategyFigures { avoid: Some(text.to_owned()), ..silent() };
    assert!(born(avoid("when bell > 2%")).unwrap().contains(r#""avoid":"when bell > 2%""#));
    for (strategy, why) in [
        (avoid("bill > 2"), "strategy.avoid cannot be read: "),
        (avoid("bell > 2 expect tide then add"), "strategy.avoid cannot be read: "),
        (avoid(""), "strategy.avoid cannot be read: "),
        (
            StrategyFigures { domains: vec!["sun".into()], ..silent() },
            "strategy.domains names sun; the domains of this world are tide, wind",
        ),
        (
            StrategyFigures { domains: vec!["tide".into(), "tide".into()], ..silent() },
            "strategy.domains names tide twice",
        ),
        (
            StrategyFigures { hold: Some(Span::seconds(39)), ..silent() },
            "strategy.hold is 39s, less than a bar of this world (40s)",
        ),
    ] {
        let refused = born(strategy).unwrap_err();
        assert!(refused.starts_with(why), "{refused}");
    }
}

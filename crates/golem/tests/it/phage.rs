//! Phages: how many a day, what they come to, and that nothing they say has a say.

use crate::common::{Dice, SAFE, START, birth, changed, keep_in};
use golem::constitution::Constitution;
use golem::event::Event;
use golem::mortality::{self, phase::Phase};
use golem::phage::{self, Fate, Kind, Venture};
use golem::rule::{self, Provenance};
use golem::world::{Bar, DomainKind, DomainSpec, Observation};
use golem::{Golem, Input, Life, Record, Span, Usdc, What};

const DAY: u64 = 2_160;

/// A level that goes back to a hundred, and two features that say how far it is away.
struct Lived {
    golem: Golem,
    records: Vec<Record>,
    level: f64,
    dice: Dice,
}

impl Lived {
    fn new(seed: u64, change: impl FnOnce(&mut Constitution)) -> Lived {
        let mut birth = birth(Constitution::bare());
        birth.constitution.clocks.stochastic = false;
        birth.constitution.clocks.economic = false;
        (birth.constitution.dream.enabled, birth.constitution.mind.phages) = (false, true);
        birth.constitution.mind.explore_every = 0;
        change(&mut birth.constitution);
        birth.id.0[15] = seed as u8;
        let domain = DomainSpec {
            name: "level".into(),
            weight: 1.0,
            kind: DomainKind::Value,
            horizon: 1,
            scale: None,
            level: None,
        };
        birth.world.domains = [domain].into_iter().collect();
        birth.world.regime = Some(0);
        birth.world.features = ["ratio", "usual", "other"].map(Into::into).to_vec();
        birth.world.instincts = [
            "when ratio > 1.05 expect level over 1",
            "when ratio < 0.95 expect level over 1",
            "always expect level like a blend of usual over 1",
        ]
        .map(Into::into)
        .to_vec();
        let (golem, record) = Golem::born(birth, START);
        let mut lived = Lived { golem, records: vec![record], level: 100.0, dice: Dice(seed) };
        lived.step(What::Funded { transfer: 1, credit: Usdc::dollars(10), capital: Usdc::dollars(10) });
        lived
    }

    fn step(&mut self, what: What) {
        let now = if matches!(what, What::Observed(_)) { self.golem.life().due() } else { self.golem.life().now() };
        self.records.extend(self.golem.step(&Input { now, roll: SAFE, what }).unwrap());
    }

    fn ticks(mut self, ticks: u64) -> Lived {
        for _ in 0..ticks {
            let closed = self.golem.life().due();
            self.level = 100.0 + 0.8 * (self.level - 100.0) + 20.0 * (self.dice.chance() - 0.5);
            let other = 50.0 + 100.0 * self.dice.chance();
            let bar = Bar {
                closed,
                values: [self.level].into_iter().collect(),
                features: [self.level / 100.0, 100.0, other].into_iter().collect(),
                unit: Usdc::cents((self.level * 10.0) as i64),
            };
            self.step(What::Observed(Observation { bars: vec![bar] }));
        }
        self
    }

    fn life(&self) -> &Life {
        self.golem.life()
    }

    fn events(&self) -> impl Iterator<Item = &Event> {
        self.records.iter().flat_map(|record| &record.events)
    }

    fn count(&self, is: impl Fn(&phage::Event) -> bool) -> usize {
        self.events().filter(|event| matches!(event, Event::Phage(event) if is(event))).count()
    }
}

/// Ticks at which a phage was sent out.
fn phage_ticks(lived: &Lived) -> Vec<u64> {
    let (mut tick, mut sent) = (0, Vec::new());
    for event in lived.events() {
        match event {
            Event::Mortality(mortality::Event::Aged { .. }) => tick += 1,
            Event::Phage(phage::Event::Spawned(_)) => sent.push(tick),
            _ => {}
        }
    }
    sent
}

/// In conservation, which looks half as often, a day's looks take two.
#[test]
fn three_two_or_one_are_sent_out_in_a_days_looks_and_none_in_the_worst_phases() {
    let apart = [None, None, Some(DAY), Some(DAY / 2), Some(DAY / 3)];
    for (phase, apart) in Phase::ALL.into_iter().zip(apart) {
        let lived = Lived::new(1, |constitution| keep_in(constitution, phase)).ticks(8 * DAY);
        assert_eq!(lived.life().phase(), phase);
        let sent = phage_ticks(&lived);
        let Some(apart) = apart else {
            assert!(sent.is_empty(), "{phase}: {sent:?}");
            continue;
        };
        assert!(sent.iter().all(|tick| tick.is_multiple_of(apart)), "{phase}: {sent:?}");
        assert!(sent.windows(2).any(|two| two[1] - two[0] == apart), "{phase}: {sent:?}");
    }
}

#[test]
fn a_phase_sends_out_as_many_as_it_may_and_each_is_dead_within_its_time() {
    let lived = Lived::new(1, |_| {}).ticks(10 * DAY);
    let spawned = lived.count(|event| matches!(event, phage::Event::Spawned(_)));
    let most = Phase::Thriving.behaviour().phages_per_day as usize;
    assert!((10..=10 * most).contains(&spawned), "{spawned}");
    assert_eq!(lived.life().phages().made as usize, spawned);
    let ended = lived.count(|event| matches!(event, phage::Event::Ended { .. }));
    assert_eq!(spawned, ended + lived.life().phages().living.len());
    // Fifty ticks, one for the answer, one until it is seen to.
    assert!(lived.life().phages().living.iter().all(|phage| lived.life().tick() <= phage.born + 52));
    assert_eq!(Lived::new(1, |c| c.mind.phages = false).ticks(DAY).life().phages().made, 0);
    assert_eq!(Phase::Declining.behaviour().phages_per_day, 0);
}

#[test]
fn whatever_they_say_nothing_is_claimed_otherwise() {
    let claimed = |phages: bool| {
        let lived = Lived::new(2, |c| c.mind.phages = phages).ticks(1_300);
        assert_eq!(lived.life().phages().made > 0, phages);
        let said = |event: &Event| match event {
            Event::Rule(rule::Event::Predicted { naive, far, .. }) => Some((naive.to_bits(), far.to_bits())),
            _ => None,
        };
        lived.events().filter_map(said).collect::<Vec<_>>()
    };
    assert_eq!(claimed(true), claimed(false));
    // And what they have brought in was tried before it had a say.
    for seed in 1..6 {
        let lived = Lived::new(seed, |_| {}).ticks(20 * DAY);
        let adopted = lived.events().filter_map(|event| match event {
            Event::Rule(rule::Event::Adopted { heuristic, .. }) if heuristic.provenance == Provenance::Phage => {
                Some(heuristic)
            }
            _ => None,
        });
        for heuristic in adopted {
            assert!(!heuristic.voice && heuristic.weight == 0.0, "{heuristic:?}");
        }
    }
}

#[test]
fn what_does_better_is_tried_and_what_does_worse_makes_its_golem_surer() {
    let (mut better, mut tried, mut kinds) = (0, 0, [0_u32; 4]);
    for seed in 1..12 {
        let lived = Lived::new(seed, |_| {}).ticks(15 * DAY);
        let phages = &lived.life().phages();
        better += phages.ended(Fate::Better);
        for (kind, ends) in phages.ends.iter().enumerate() {
            kinds[kind] += ends.iter().sum::<u32>();
        }
        for event in lived.events() {
            if let Event::Rule(rule::Event::Adopted { heuristic, .. }) = event
                && heuristic.provenance == Provenance::Phage
            {
                assert!(!heuristic.voice, "it has no say before its own record earns one: {heuristic:?}");
                tried += 1;
            }
        }
        let all: u32 = phages.ends.iter().flatten().sum();
        assert_eq!(all as usize, lived.count(|event| matches!(event, phage::Event::Ended { .. })));
    }
    println!("counted: {kinds:?} of each kind, {better} did better, {tried} of them tried");
    assert!(kinds.iter().all(|kind| *kind > 0), "every kind is sent out: {kinds:?}");
    assert!(better > 0 && tried > 0);
}

/// The entry of such a rule once began at 0.7, as if the golem had tried it itself; under earlier laws it still does.
#[test]
fn a_rule_that_a_phage_brought_begins_at_three_tenths_of_confidence() {
    let mut rules = 0;
    for seed in 1..12 {
        let lived = Lived::new(seed, |_| {}).ticks(15 * DAY);
        let earlier = changed(lived.life(), |life| life["birth"]["laws"] = 2.into());
        for heuristic in lived.life().playbook() {
            let begins = |life: &Life| golem::grimoire::entry_of(heuristic, life, None).initial;
            let brought = heuristic.provenance == Provenance::Phage;
            assert_eq!(begins(lived.life()), if brought { 0.3 } else { 0.7 }, "{heuristic:?}");
            assert_eq!(begins(&earlier), 0.7);
            rules += u32::from(brought);
        }
    }
    assert!(rules > 0, "no phage has brought a rule that is still there");
}

#[test]
fn the_curator_hears_which_rules_stood() {
    let lived =
        (1..40).map(|seed| Lived::new(seed, |_| {}).ticks(DAY)).find(|one| !one.life().phages().stood.is_empty());
    let lived = lived.expect("one of them put a rule to the test");
    let (id, stood) = lived.life().phages().stood[0];
    assert!(lived.life().playbook().iter().any(|rule| rule.id == id));
    let mut grimoire = golem::grimoire::Grimoire::default();
    let rule = lived.life().playbook().iter().find(|rule| rule.id == id).unwrap();
    let entry = golem::grimoire::entry_of(rule, lived.life(), None);
    grimoire.apply(&golem::grimoire::Decision::Put(Box::new(entry.clone())));
    golem::grimoire::round(&mut grimoire, lived.life());
    let after = grimoire.get(id).unwrap();
    let seen = |entry: &golem::grimoire::Entry| if stood { entry.evidence_for } else { entry.evidence_against };
    assert!(seen(after) > seen(&entry), "{} {}", seen(after), seen(&entry));
}

#[test]
fn phages_that_all_fail_alike_are_felt() {
    let lived = Lived::new(1, |_| {}).ticks(200);
    let fitness = |fates: &[(u8, Fate)]| {
        let mut golem = lived.golem.clone();
        for (seq, (kind, fate)) in (golem.seq() + 1..).zip(fates) {
            let venture = match kind {
                0 => Venture::Regime,
                _ => Venture::Stop { times: 2.0 },
            };
            let at = golem.life().phages().living.len() as u8;
            let events = vec![
                Event::Phage(phage::Event::Spawned(venture)),
                Event::Phage(phage::Event::Ended { at, fate: *fate }),
            ];
            golem.fold(&Record { seq, at: golem.life().now(), events }).unwrap();
        }
        (golem::mortality::epistemic::fitness(golem.life()), golem.life().phages().clone())
    };
    let (sound, none) = fitness(&[]);
    assert!(none.failing().is_none() || none.recent.len() >= 8);
    let (alike, phages) = fitness(&[(0, Fate::Worse); 16]);
    assert!(phages.fail_alike() && (alike - 0.95 * sound).abs() < 1e-12, "{alike} {sound}");
    let mut mixed = [(0, Fate::Worse); 16];
    mixed.iter_mut().step_by(2).for_each(|one| *one = (1, Fate::Alike));
    let (diverse, phages) = fitness(&mixed);
    assert!(!phages.fail_alike() && phages.diversity().unwrap() > 0.0);
    assert_eq!(diverse, sound);
    let (_, phages) = fitness(&[(1, Fate::Better); 16]);
    assert_eq!((phages.failing(), phages.diversity(), phages.ended(Fate::Better)), (Some(0.0), None, 16));
    assert_eq!(phages.ends[Kind::Stop as usize][Fate::Better as usize], 16);
}

#[test]
fn another_stop_is_held_against_the_prices_that_came() {
    // A fall by a twelfth and back: a stop at a tenth is not met, one at a twentieth is, and sells too low.
    let stop = |times: f64, prices: &[i64]| {
        let mut lived = Lived::new(3, |c| (c.mind.phages, c.policy.stop_bps) = (false, 1_000)).ticks(10);
        let spawned = Event::Phage(phage::Event::Spawned(Venture::Stop { times }));
        let (seq, at) = (lived.golem.seq() + 1, lived.life().now());
        lived.golem.fold(&Record { seq, at, events: vec![spawned] }).unwrap();
        let entered = lived.life().seen().unit.as_f64();
        let mut last = None;
        for n in 0..60 {
            let closed = lived.life().due();
            let price = prices.get(n).or(prices.last()).unwrap();
            let unit = Usdc::micros((entered * *price as f64 / 100.0) as i64);
            let bar = Bar {
                closed,
                values: [100.0].into_iter().collect(),
                features: [1.0, 100.0, 100.0].into_iter().collect(),
                unit,
            };
            lived.step(What::Observed(Observation { bars: vec![bar] }));
            let ended = |event: &Event| match event {
                Event::Phage(phage::Event::Ended { fate, .. }) => Some(*fate),
                _ => None,
            };
            last = lived.records.last().unwrap().events.iter().find_map(ended).or(last);
        }
        last
    };
    assert_eq!(stop(0.5, &[100, 92, 100]), Some(Fate::Worse));
    assert_eq!(stop(0.5, &[100, 92, 80]), Some(Fate::Better));
    assert_eq!(stop(2.0, &[100, 88, 101]), Some(Fate::Better));
    assert_eq!(stop(2.0, &[100, 99, 101]), Some(Fate::Alike));
}

#[test]
fn a_life_with_phages_folds_to_the_same_life() {
    let lived = Lived::new(4, |c| c.interval = Span::seconds(40)).ticks(3 * DAY);
    let mut again = Golem::reborn(&lived.records[0]).unwrap();
    lived.records[1..].iter().for_each(|record| again.fold(record).unwrap());
    assert_eq!(again.life(), lived.life());
}

//! A golem in a world of two numbers, driven by hand.
#![allow(dead_code, unreachable_pub)]

use golem::Birth;
use golem::constitution::{Clocks, Constitution, MindKind};
use golem::dream;
use golem::event::Event;
use golem::mortality::phase::Phase;
use golem::shell::perform;
use golem::stress::{Kind, Rates};
use golem::world::{ActionSpec, Bar, DomainSpec, Effect, Fate, Manifest, Observation, Order, Outcome, Quote, Timing};
use golem::{
    Command, CommandId, Duty, Errand, Fault, Golem, GolemId, Input, Life, Owed, Record, Shell, Span, Time, Usdc, What,
    laws,
};

/// A life that was not lived: this one, as `change` leaves its JSON. Only `life` can set a field of a Life.
pub fn changed(life: &Life, change: impl FnOnce(&mut serde_json::Value)) -> Life {
    let mut told = serde_json::to_value(life).unwrap();
    change(&mut told);
    serde_json::from_value(told).unwrap()
}

/// Sets the rate of one stressor, and leaves the others as they are.
pub fn press(constitution: &mut Constitution, kind: Kind, rate: f64) {
    let usual = constitution.stress.rates.clone();
    constitution.stress.rates =
        Rates::each(|each| if each == kind { rate } else { usual.of(each).unwrap_or_default() });
}

/// Keeps a life in one phase from its first tick on: what it knows moves its vitality by next to nothing, and it has no
/// other clock.
pub fn keep_in(constitution: &mut Constitution, phase: Phase) {
    constitution.clocks = Clocks { economic: false, epistemic: true, stochastic: false };
    // A vitality of 0.05, 0.2, 0.4, 0.6 or 0.9.
    let center = [295.0, 139.0, 41.0, -40.0, -219.0][phase as usize];
    (constitution.vitality.epistemic_center, constitution.vitality.epistemic_steepness) = (center, 0.01);
}

pub const START: Time = Time::seconds(1_700_000_000);
/// A roll that no golem dies of.
pub const SAFE: u64 = u64::MAX;

pub struct Rig {
    pub golem: Golem,
    pub records: Vec<Record>,
    commands: u64,
    wave: u64,
}

/// Chance for tests, the same every time.
pub struct Dice(pub u64);

impl Dice {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    pub fn chance(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }
}

pub fn manifest() -> Manifest {
    let domain = |name: &str, weight| DomainSpec { name: name.into(), weight, ..DomainSpec::default() };
    let action = |name: &str, effect| ActionSpec { name: name.into(), effect };
    Manifest {
        world: "rig".into(),
        spec: String::new(),
        bar: Span::seconds(40),
        domains: [domain("tide", 0.5), domain("wind", 0.5)].into_iter().collect(),
        features: vec![],
        instincts: vec![],
        actions: [action("take", Effect::Adds), action("give", Effect::Reduces)].into_iter().collect(),
        regime: None,
        holding: 0,
        lot: 1,
        unit: "stone".into(),
        data_per_day: Usdc::ZERO,
        timing: Timing::Told,
        paper: true,
    }
}

pub fn birth(constitution: Constitution) -> Birth {
    Birth {
        id: GolemId([5; 16]),
        name: "rig".parse().unwrap(),
        generation: 0,
        laws: laws::NEWEST,
        secret_hash: [0; 32],
        seeded: true,
        constitution,
        world: manifest(),
        endowment: golem::Endowment::default(),
        lineage: None,
        unfinished: Vec::new(),
    }
}

/// Puts it to sleep for so many ticks, whatever it would need to fall asleep by itself.
pub fn fall_asleep(golem: &mut Golem, ticks: u32) {
    let began =
        Event::Dream(dream::Event::Began { trigger: golem::dream::Trigger::Owner, ticks, budget: Usdc::cents(1) });
    let record = Record { seq: golem.seq() + 1, at: golem.life().now(), events: vec![began] };
    golem.fold(&record).unwrap();
}

/// Does the work of as many phases of a night as it is time for, and finds nothing in them.
pub fn dream_on(golem: &mut Golem) {
    while let Some(Owed::Duty(Duty::Dream { .. })) = golem.owes() {
        let found = golem::dream::Found::nothing(golem.life());
        let now = golem.life().now();
        golem.step(&Input { now, roll: SAFE, what: What::Dreamt(Box::new(found)) }).unwrap();
    }
}

/// A shell that keeps nothing, in a world that answers at once and is only these two functions.
pub struct Honest<Q, A> {
    pub quote: Q,
    pub act: A,
    pub records: Vec<Record>,
}

impl<Q, A> Shell for Honest<Q, A>
where
    Q: FnMut(&Life, &Order) -> Option<Quote>,
    A: FnMut(&Life, &Order) -> Fate,
{
    type Error = Fault;

    fn roll(&mut self, _: &Life) -> u64 {
        SAFE
    }
    fn duty(&mut self, life: &Life, duty: Duty) -> Result<What, Fault> {
        Ok(duty.barely(life))
    }
    fn errand(&mut self, life: &Life, errand: &Errand) -> Result<Option<What>, Fault> {
        Ok(Some(errand.answered(|order| (self.quote)(life, order), |order| (self.act)(life, order))))
    }
    fn record(&mut self, record: Record, _: &Life) {
        self.records.push(record);
    }
}

impl Rig {
    fn born(birth: Birth) -> Rig {
        let (golem, record) = Golem::born(birth, START);
        let mut rig = Rig { golem, records: vec![record], commands: 0, wave: 0 };
        rig.feed(What::Funded { transfer: 1, credit: Usdc::dollars(10), capital: Usdc::dollars(100) }).unwrap();
        rig
    }

    pub fn with(change: impl FnOnce(&mut Constitution)) -> Rig {
        Rig::in_world(change, |_| {})
    }

    pub fn in_world(change: impl FnOnce(&mut Constitution), alter: impl FnOnce(&mut Manifest)) -> Rig {
        let mut birth = birth(Constitution::bare());
        birth.constitution.mind.kind = MindKind::Reflex;
        birth.constitution.reflex.act_every = 0;
        change(&mut birth.constitution);
        alter(&mut birth.world);
        Rig::born(birth)
    }

    pub fn feed(&mut self, what: What) -> Result<Vec<Event>, Fault> {
        self.feed_at(self.golem.life().now(), SAFE, what)
    }

    pub fn feed_at(&mut self, now: Time, roll: u64, what: What) -> Result<Vec<Event>, Fault> {
        let record = self.golem.step(&Input { now, roll, what })?;
        let events = record.as_ref().map(|r| r.events.clone()).unwrap_or_default();
        self.records.extend(record);
        Ok(events)
    }

    /// Something that happened, whatever it would need to happen by itself.
    pub fn take(&mut self, event: Event) {
        let record = Record { seq: self.golem.seq() + 1, at: self.golem.life().now(), events: vec![event] };
        self.golem.fold(&record).unwrap();
        self.records.push(record);
    }

    /// Two numbers that wander without trend.
    pub fn bar(&mut self, closed: Time) -> Bar {
        self.wave += 1;
        let wander = |salt: u64| {
            let z = (self.wave ^ salt).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let z = (z ^ (z >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            ((z >> 40) as f64 / (1 << 24) as f64) * 2.0 - 1.0
        };
        let values = [100.0 + wander(1), 50.0 + wander(2)].into_iter().collect();
        let features = (0..self.golem.life().birth().world.features.len()).map(|at| wander(3 + at as u64)).collect();
        Bar { closed, values, features, unit: Usdc::dollars(10) }
    }

    /// One ordinary tick when it is due.
    pub fn tick(&mut self) -> Vec<Event> {
        self.tick_rolling(SAFE)
    }

    pub fn tick_rolling(&mut self, roll: u64) -> Vec<Event> {
        let life = self.golem.life();
        // The world goes on even where the clocks stand still.
        let due = life.due().max(life.seen().until + Span::seconds(40));
        let bar = self.bar(due);
        self.feed_at(due, roll, What::Observed(Observation { bars: vec![bar] })).unwrap()
    }

    pub fn ticks(&mut self, n: u64) {
        for _ in 0..n {
            if self.golem.life().is_dead() {
                return;
            }
            self.tick();
        }
    }

    pub fn command(&mut self, command: Command) -> Vec<Event> {
        self.commands += 1;
        let id = CommandId(self.commands.to_le_bytes());
        self.feed(What::Commanded { id, command }).unwrap()
    }

    /// Answers everything owed until nothing is, as a world would that takes a cent for its trouble.
    pub fn settle(&mut self) {
        let worth = |order: &Order| Usdc::micros(order.units * 10);
        let mut honest = Honest {
            quote: |_: &Life, order: &Order| {
                let cash = if order.action == 0 { -worth(order) } else { worth(order) };
                Some(Quote { cash, fee: Usdc::cents(1), gas: Usdc::ZERO })
            },
            act: |_: &Life, order: &Order| {
                let sign = if order.action == 0 { 1 } else { -1 };
                let cash = Usdc::micros(-sign * worth(order).as_micros());
                Fate::Done(Outcome { units: sign * order.units, cash, fee: Usdc::cents(1), gas: Usdc::ZERO })
            },
            records: Vec::new(),
        };
        perform(&mut self.golem, &mut honest).unwrap();
        self.records.append(&mut honest.records);
    }

    /// The same life, folded from its records.
    pub fn folded(&self) -> Golem {
        let mut golem = Golem::reborn(&self.records[0]).unwrap();
        for record in &self.records[1..] {
            golem.fold(record).unwrap();
        }
        golem
    }

    /// What was given less everything it became.
    pub fn unaccounted(&self) -> Usdc {
        self.golem.life().unaccounted()
    }
}

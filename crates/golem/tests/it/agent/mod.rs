//! A golem whose agent makes calls, and the sums that must hold at every record of it.

use golem::call::{self, CallVerdict, Denied, How, Kinds, Runaway, Unit, Used, Wanted};
use golem::constitution::{Constitution, DreamFigures, MindKind, Mode, PolicyFigures};
use golem::mortality::economic;
use golem::mortality::phase::Tier;
use golem::{Command, CommandId, Consequence, Event, Golem, Input, Life, Record, Time, Usdc, What};

use crate::common::{START, birth};

/// What every call here says it used, in tokens.
pub(crate) const USED: u64 = 10;

pub(crate) struct Agent {
    pub(crate) golem: Golem,
    pub(crate) records: Vec<Record>,
    pub(crate) now: Time,
    commands: u64,
}

impl Agent {
    pub(crate) fn given(credit: Usdc, policy: impl FnOnce(&mut PolicyFigures)) -> Agent {
        Agent::with(credit, |constitution| policy(&mut constitution.policy))
    }

    pub(crate) fn with(credit: Usdc, change: impl FnOnce(&mut Constitution)) -> Agent {
        let mut constitution =
            Constitution { mode: Mode::Hosted, dream: DreamFigures::default(), ..Constitution::default() };
        constitution.mind.kind = MindKind::Outside;
        constitution.economic.machine_per_day = Usdc::ZERO;
        constitution.economic.reserve_floor = Usdc::ZERO;
        change(&mut constitution);
        let (golem, record) = Golem::born(birth(constitution), START);
        let mut agent = Agent { golem, records: vec![record], now: START, commands: 0 };
        agent.feed(What::Funded { transfer: 1, credit, capital: Usdc::ZERO });
        agent
    }

    pub(crate) fn feed(&mut self, what: What) {
        let record = self.golem.step(&Input { now: self.now, roll: u64::MAX, what }).unwrap();
        self.records.extend(record);
        self.check();
    }

    /// Puts a call to the golem, and returns its verdict.
    pub(crate) fn put(&mut self, call: Wanted) -> CallVerdict {
        let input = Input { now: self.now, roll: u64::MAX, what: What::Called(call, None) };
        let Consequence { record, verdict } = self.golem.step_with(&input, |_, _| {}).unwrap();
        self.records.extend(record);
        self.check();
        verdict.expect("a call has a verdict")
    }

    /// Sums that must hold at every record.
    fn check(&self) {
        let life = self.golem.life();
        let (calls, purse) = (&life.calls(), &life.purse());
        assert!(purse.spent + calls.promised() + economic::reserve(life).min(purse.credit) <= purse.given);
        assert_eq!(calls.promised(), purse.promised);
        assert_eq!(calls.models.iter().fold(Usdc::ZERO, |sum, by| sum + by.cost), calls.spent);
        let within = |cap: Option<Usdc>, taken: Usdc| cap.is_none_or(|cap| taken <= cap);
        let policy = &life.policy();
        // A bill above what was set aside has to be paid; every other call keeps within what its owner allows.
        if !self.was_billed_above() {
            assert!(within(policy.calls_hour, calls.hour.taken) && within(policy.calls_day, calls.day.taken));
            assert!(within(policy.calls_month, calls.month.taken));
        }
        let mut caps = call::caps(life, life.now()).filter(|cap| cap.unit != Unit::Hours);
        assert!(caps.all(|cap| cap.taken <= cap.most), "{:?} {:?}", policy.caps, calls.units);
        assert!(calls.open.iter().all(|open| within(policy.call_most, open.most)));
        assert!(calls.open.len() <= policy.calls_at_once as usize);
        assert!(!life.is_dead() || calls.open.is_empty(), "a death waits for nobody's answer");
    }

    fn was_billed_above(&self) -> bool {
        let held = |event: &Event| matches!(event, Event::Call(call::Event::Held { by: Runaway::Bill, .. }));
        self.records.iter().flat_map(|record| &record.events).any(held)
    }

    pub(crate) fn call(&mut self, most: Usdc, tier: Tier) -> Result<u64, Denied> {
        self.call_like(most, tier, self.golem.life().calls().made)
    }

    /// One that asks the same as every other with this number.
    pub(crate) fn call_like(&mut self, most: Usdc, tier: Tier, alike: u64) -> Result<u64, Denied> {
        self.call_of(most, USED, tier, alike)
    }

    /// One that may take so many tokens.
    pub(crate) fn call_of(&mut self, most: Usdc, tokens: u64, tier: Tier, alike: u64) -> Result<u64, Denied> {
        let key = self.golem.life().calls().made + 1;
        let room = call::room(self.golem.life(), self.now, tier);
        let left = call::left(self.golem.life(), self.now).after(Usdc::ZERO);
        let verdict = self.put(Wanted { key, most, tokens, tier, again: None, alike });
        let open = self.life().calls().find(key).copied();
        match (verdict, room) {
            (CallVerdict::LetThrough, Ok(room)) => {
                let open = open.expect("what is let through is under way");
                assert!((open.most, open.tokens) == (most, tokens) && room.keeps(most, tokens).is_none());
                assert_eq!(left, room.money, "what is said to be left is what may be used");
                Ok(key)
            }
            (CallVerdict::Refused { by, .. }, room) => {
                // The reason again, from what there was room for before.
                let held = self.life().calls().hold.map(|hold| Denied::Held(hold.by));
                let kept = room.map_or_else(Some, |room| room.keeps(most, tokens).or(held));
                assert_eq!((kept, open), (Some(by), None));
                Err(by)
            }
            (verdict, room) => panic!("{verdict:?}, with {room:?}"),
        }
    }

    pub(crate) fn settle(&mut self, key: u64, cost: Usdc, how: How) {
        let used = Used { model: format!("m{}", key % 20), input: 7, output: 3, took: 9 };
        let kinds = Kinds { cached: 4, written: 2, thought: 1 };
        self.feed(What::Settled { key, cost, how, used: Box::new(used), kinds });
    }

    pub(crate) fn command(&mut self, command: Command) {
        self.commands += 1;
        self.feed(What::Commanded { id: CommandId(self.commands.to_le_bytes()), command });
    }

    pub(crate) fn life(&self) -> &Life {
        self.golem.life()
    }
}

//! A golem that things can be done to, an hour at a time: goals that fail, rules that are run into, weeks of loss. Its
//! claims are as good as naive unless its reflex is made stubborn.
#![allow(dead_code, unreachable_pub)]

use golem::constitution::{Constitution, MindKind};
use golem::event::Event;
use golem::goal::{self, Ended, Goal};
use golem::policy::Proposal;
use golem::stress::assessment::{New, Plea};
use golem::stress::{self, Assessed, Assessment, Kind, Stress, words};
use golem::world::{Bar, Effect, Fate, Observation, Order, Outcome, Quote};
use golem::{Command, CommandId, Golem, Input, Life, Span, Usdc, What};
use serde_json::json;

use crate::common::{SAFE, START, birth, changed};

const HOUR: Span = Span::seconds(3_600);

pub struct Pressed {
    pub golem: Golem,
    /// Whether words to peers are passed on at once.
    pub hear: bool,
    pub raised: Vec<(Kind, Option<u8>, f64)>,
    pub cleared: Vec<(Kind, Option<u8>)>,
    pub finished: Vec<(Goal, Ended)>,
    unit: f64,
    wave: u64,
    commands: u64,
    transfers: u64,
}

impl Pressed {
    pub fn new(change: impl FnOnce(&mut Constitution)) -> Pressed {
        let mut birth = birth(Constitution::bare());
        let constitution = &mut birth.constitution;
        constitution.interval = HOUR;
        constitution.clocks.stochastic = false;
        constitution.clocks.epistemic = false;
        constitution.mind.kind = MindKind::Reflex;
        constitution.reflex.act_every = 0;
        constitution.reflex.noise = 0.0;
        constitution.reflex.pull = 0.0;
        constitution.policy.max_drawdown_bps = 0;
        constitution.policy.stop_bps = 0;
        constitution.policy.actions_per_day = 1_000;
        change(constitution);
        birth.world.bar = HOUR;
        birth.world.features = vec!["level".into()];
        let (golem, _) = Golem::born(birth, START);
        let mut pressed = Pressed {
            golem,
            hear: true,
            raised: Vec::new(),
            cleared: Vec::new(),
            finished: Vec::new(),
            unit: 10.0,
            wave: 0,
            commands: 0,
            transfers: 0,
        };
        pressed.fund(Usdc::dollars(10));
        pressed.ticks(3);
        pressed
    }

    pub fn life(&self) -> &Life {
        self.golem.life()
    }

    pub fn stress(&self) -> &Stress {
        self.life().stress()
    }

    pub fn load(&self) -> f64 {
        stress::load(self.life())
    }

    pub fn severity(&self, kind: Kind, domain: Option<u8>) -> f64 {
        self.stress().find(kind, domain).map_or(0.0, |s| s.severity(&self.life().constitution().stress))
    }

    pub fn told(&self, kind: Kind, domain: Option<u8>) -> String {
        let stressor = self.stress().find(kind, domain);
        stressor.map_or("gone".into(), |s| {
            format!("{}; {}", words::why(self.life(), s), words::clears_when(self.life(), s))
        })
    }

    pub fn feed(&mut self, what: What) -> Vec<Event> {
        self.feed_at(self.life().now(), what)
    }

    fn feed_at(&mut self, now: golem::Time, what: What) -> Vec<Event> {
        let record = self.golem.step(&Input { now, roll: SAFE, what }).unwrap();
        let events = record.map(|record| record.events).unwrap_or_default();
        for event in &events {
            match event {
                Event::Stress(stress::Event::Raised { kind, domain, severity }) => {
                    self.raised.push((*kind, *domain, *severity))
                }
                Event::Stress(stress::Event::Cleared(evidence)) => {
                    self.cleared.push((evidence.kind(), evidence.domain()))
                }
                Event::Goal(goal::Event::Finished { goal, ended, .. }) => self.finished.push((*goal, *ended)),
                _ => {}
            }
        }
        if let (true, Some((number, _))) = (self.hear, self.life().clade().untold.first().copied()) {
            self.feed(What::Told { number, peers: 0 });
        }
        events
    }

    pub fn fund(&mut self, credit: Usdc) {
        self.transfers += 1;
        self.feed(What::Funded { transfer: self.transfers, credit, capital: Usdc::dollars(100) });
    }

    pub fn command(&mut self, command: Command) {
        self.commands += 1;
        self.feed(What::Commanded { id: CommandId(self.commands.to_le_bytes()), command });
    }

    pub fn assess(&mut self, new: Vec<New>, claims: Vec<Plea>) -> Assessed {
        let events = self.feed(What::Assessed(Box::new(Assessment { new, claims })));
        match events.as_slice() {
            [Event::Stress(stress::Event::Assessed(assessed))] => (**assessed).clone(),
            other => panic!("{other:?}"),
        }
    }

    pub fn look_after(&mut self, span: Span) {
        let now = self.life().now() + span;
        self.wave += 1;
        // As good as naive: the value stays, except for a flicker that cannot be foretold.
        let flicker = if self.wave.is_multiple_of(2) { 1.0 } else { -1.0 };
        let values = [100.0 + flicker, 50.0 + flicker].into_iter().collect();
        let bar = Bar {
            closed: now,
            values,
            features: [1.0].into_iter().collect(),
            unit: Usdc::micros((self.unit * 1e6) as i64),
        };
        self.feed_at(now, What::Observed(Observation { bars: vec![bar] }));
    }

    pub fn ticks(&mut self, ticks: u64) {
        for _ in 0..ticks {
            let interval = self.life().interval();
            self.look_after(interval);
        }
    }

    pub fn propose(&mut self, action: u8, size: f64) -> Vec<Event> {
        self.feed(What::Proposed(Proposal { action, size }))
    }

    /// So many asks that the world will not have.
    pub fn fail(&mut self, times: u64) {
        for _ in 0..times {
            let before = self.life().flights_made();
            // Where new exposure is closed, giving up what is not there fails as well.
            self.propose(0, 0.05);
            let key = self.life().flights_made();
            if key > before {
                self.feed(What::Previewed { key, look: 0, quote: None });
            }
        }
    }

    /// Answers what is owed as an honest world would.
    fn settle(&mut self) {
        while let Some(owed) = self.golem.owes() {
            let worth = |units: i64| Usdc::micros((self.unit * units as f64) as i64);
            let sign = |action: u8| {
                let effect = self.life().birth().world.actions[usize::from(action)].effect;
                if effect == Effect::Adds { 1 } else { -1 }
            };
            let cash = |order: &Order| Usdc::micros(-sign(order.action) * worth(order.units).as_micros());
            let fee = |order: &Order| worth(order.units).share(1, 1_000);
            let what = owed.answered(
                self.life(),
                |order| Some(Quote { cash: cash(order), fee: fee(order), gas: Usdc::ZERO }),
                |order| {
                    let units = sign(order.action) * order.units;
                    Fate::Done(Outcome { units, cash: cash(order), fee: fee(order), gas: Usdc::ZERO })
                },
            );
            self.feed(what);
        }
    }

    /// Takes up exposure and has it.
    pub fn hold(&mut self) {
        self.propose(0, 0.2);
        self.settle();
        assert!(self.life().capital().holding > 0);
    }

    /// A week of going in and out, a little poorer each time.
    pub fn lose_for_a_week(&mut self) {
        for _ in 0..24 * 8 {
            self.propose(0, 0.2);
            self.settle();
            self.unit *= 0.9999;
            self.ticks(1);
            self.propose(1, 1.0);
            self.settle();
            self.unit /= 0.9999;
            if self.stress().find(Kind::Futility, None).is_some() {
                return;
            }
        }
    }

    /// Completes so many goals without any effect; no mind does that at will, so it is put on record by hand.
    pub fn finish_for_nothing(&mut self, times: u64) {
        let seq = self.golem.seq();
        let events = (0..times)
            .map(|_| Event::Goal(goal::Event::Finished { goal: Goal::Explore, domain: 0, ended: Ended::Done }))
            .collect();
        let record = golem::Record { seq: seq + 1, at: self.life().now(), events };
        self.golem.fold(&record).unwrap();
        self.ticks(1);
    }

    /// As much load as there can be, on top of what is there.
    pub fn overload(&mut self) {
        let life = changed(self.life(), |life| {
            for stressor in life["stress"]["active"].as_array_mut().unwrap() {
                stressor["onset"] = json!(1.0);
            }
        });
        self.golem = Golem::resume(life, self.golem.seq()).unwrap();
    }

    pub fn until_cleared(&mut self, kind: Kind, domain: Option<u8>, most: u64) {
        for _ in 0..most {
            if self.stress().find(kind, domain).is_none() && !stress::find(self.life(), kind, domain, 0).presses {
                return;
            }
            self.ticks(1);
        }
    }

    pub fn until_raised(&mut self, kind: Kind, domain: Option<u8>, most: u64) {
        for _ in 0..most {
            if self.stress().find(kind, domain).is_some() {
                return;
            }
            self.ticks(1);
        }
    }
}

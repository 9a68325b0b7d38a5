//! A golem in a small world that asks models, and what must hold after every record of it.

use golem::books::Books;
use golem::constitution::{Constitution, DreamSchedule, DreamTier, Mode};
use golem::event::Event;
use golem::stress::Kind;
use golem::thought::{Answer, Opinion, Purpose, Silence};
use golem::world::{Bar, DomainKind, DomainSpec, Fate, Observation};
use golem::{Command, CommandId, Errand, Golem, Input, Life, Owed, Record, Usdc, What};

use super::common::{Dice, SAFE, START, birth, press};

/// A level that goes back to a hundred, which a model that knows it can foretell.
pub(crate) struct Lived {
    pub(crate) golem: Golem,
    pub(crate) records: Vec<Record>,
    pub(crate) level: f64,
    pub(crate) dice: Dice,
}

pub(crate) const PULL: f64 = 0.05;
pub(crate) const HORIZON: u32 = 12;

impl Lived {
    pub(crate) fn new(seed: u64, change: impl FnOnce(&mut Constitution)) -> Lived {
        let mut birth = birth(Constitution::bare());
        birth.constitution.clocks.stochastic = false;
        birth.constitution.clocks.economic = false;
        birth.constitution.clocks.epistemic = false;
        birth.constitution.dream.enabled = false;
        birth.constitution.mind.explore_every = 0;
        birth.constitution.thought.models[0] = Some("some/model".to_owned());
        change(&mut birth.constitution);
        birth.id.0[15] = seed as u8;
        let domain = DomainSpec {
            name: "level".into(),
            weight: 1.0,
            kind: DomainKind::Value,
            horizon: HORIZON,
            scale: None,
            level: None,
        };
        birth.world.domains = [domain].into_iter().collect();
        birth.world.regime = Some(0);
        birth.world.features = ["ratio", "other"].map(Into::into).to_vec();
        birth.world.instincts = ["when other > 2 expect level over 12"].map(Into::into).to_vec();
        let (golem, record) = Golem::born(birth, START);
        let mut lived = Lived { golem, records: vec![record], level: 100.0, dice: Dice(seed) };
        lived.feed(What::Funded { transfer: 1, credit: Usdc::dollars(20), capital: Usdc::dollars(10) });
        lived
    }

    pub(crate) fn life(&self) -> &Life {
        self.golem.life()
    }

    pub(crate) fn feed(&mut self, what: What) -> Vec<Event> {
        let now = if matches!(what, What::Observed(_)) { self.life().due() } else { self.life().now() };
        let record = self.golem.step(&Input { now, roll: SAFE, what }).unwrap();
        self.check();
        let events = record.as_ref().map(|record| record.events.clone()).unwrap_or_default();
        self.records.extend(record);
        events
    }

    pub(crate) fn tick(&mut self) -> Vec<Event> {
        let closed = self.life().due();
        self.level = 100.0 + (1.0 - PULL) * (self.level - 100.0) + 20.0 * (self.dice.chance() - 0.5);
        let other = self.dice.chance();
        let bar = Bar {
            closed,
            values: [self.level].into_iter().collect(),
            features: [self.level / 100.0, other].into_iter().collect(),
            unit: Usdc::cents((self.level * 10.0) as i64),
        };
        self.feed(What::Observed(Observation { bars: vec![bar] }))
    }

    /// The questions that are owed an answer, and those whose answers are lost.
    pub(crate) fn owed(&self) -> Vec<Errand> {
        let errand = |owed: Owed| match owed {
            Owed::Errand(errand @ (Errand::Ask { .. } | Errand::Forfeit { .. })) => Some(errand),
            _ => None,
        };
        self.golem.owed().filter_map(errand).collect()
    }

    /// The same life, as another process finds it.
    pub(crate) fn killed(&mut self) {
        let mut golem = Golem::reborn(&self.records[0]).unwrap();
        self.records[1..].iter().for_each(|record| golem.fold(record).unwrap());
        assert_eq!(golem, self.golem, "a fold needs no model");
        self.golem = golem;
    }

    /// The same life once more, to be lived otherwise.
    pub(crate) fn again(&self) -> Lived {
        Lived { golem: self.golem.clone(), records: self.records.clone(), level: self.level, dice: Dice(1) }
    }

    /// One that dreams with the help of a model, and whose owner may ask it things.
    pub(crate) fn dreaming(seed: u64, change: impl FnOnce(&mut Constitution)) -> Lived {
        Lived::new(seed, |c| {
            (c.dream.enabled, c.dream.tier, c.dream.schedule) = (true, DreamTier::Hardened, DreamSchedule::Autonomous);
            // Its world moves much, and it sleeps well.
            c.dream.wake_move_bps = 0;
            c.thought.a_day = Usdc::dollars(5);
            change(c);
        })
    }

    /// Sees to everything that is owed but questions.
    pub(crate) fn duties(&mut self) {
        for _ in 0..50 {
            let due = |owed: &Owed| !matches!(owed, Owed::Errand(Errand::Ask { .. } | Errand::Forfeit { .. }));
            let Some(owed) = self.golem.owed().find(due) else { return };
            let what = owed.answered(self.life(), |_| None, |_| Fate::Never);
            self.feed(what);
        }
    }

    /// Takes a purse that lasts for less than three days, which presses the harder the longer it does.
    pub(crate) fn poor(constitution: &mut Constitution) {
        constitution.clocks.economic = true;
        constitution.economic.machine_per_day = Usdc::dollars(8);
        press(constitution, Kind::ExistentialThreat, 0.5);
    }

    /// One in which a question of this purpose is under way.
    pub(crate) fn asked(purpose: Purpose) -> Lived {
        let mut lived = Lived::dreaming(8, |c| {
            if purpose == Purpose::Assess {
                Lived::poor(c);
            }
        });
        let command = |command| What::Commanded { id: CommandId([7; 8]), command };
        for tick in 0..20_000 {
            lived.tick();
            lived.duties();
            match purpose {
                Purpose::Answer if tick == 50 => drop(lived.feed(command(Command::Ask { text: "why?".into() }))),
                Purpose::Reflect if tick == 50 => {
                    lived.feed(command(Command::Retire { reason: String::new() }));
                    lived.duties();
                }
                _ => {}
            }
            for errand in lived.owed() {
                let Errand::Ask { key } = errand else { unreachable!("nobody was killed") };
                let asked = lived.life().thoughts().find(key).unwrap().purpose;
                if asked == purpose {
                    return lived;
                }
                let said = match asked {
                    Purpose::Fragment => Ok(Box::new(Answer { note: "a door".into(), ..Answer::default() })),
                    Purpose::Replay => {
                        let rules = vec!["when other > 0.5 expect level x0.99 over 12".to_owned()];
                        Ok(Box::new(Answer { rules, ..Answer::default() }))
                    }
                    _ => Err(Silence::Unusable),
                };
                lived.feed(What::Answered { key, cost: Usdc::ZERO, said });
                lived.duties();
            }
            if lived.life().is_dead() {
                break;
            }
        }
        panic!("never asked to {purpose}: {:?}", lived.life().thoughts());
    }

    /// What must hold after every record.
    fn check(&self) {
        let (life, figures) = (self.life(), &self.life().constitution().thought);
        let (purse, thoughts) = (&life.purse(), &life.thoughts());
        assert!(Books::of(life).adds_up());
        let gas: Usdc = life.flights().iter().map(|flight| flight.gas).sum();
        assert_eq!(purse.promised, gas + thoughts.promised(), "what is promised belongs to something under way");
        assert!(purse.spent + purse.promised <= purse.given, "{:?} {:?}", purse.spent, purse.promised);
        assert!(thoughts.day.taken <= figures.a_day && thoughts.month.taken <= figures.a_month);
        assert!(thoughts.day.taken >= Usdc::ZERO && thoughts.month.taken >= Usdc::ZERO);
        assert!(thoughts.promised() <= thoughts.day.taken + figures.a_day, "{thoughts:?}");
        let allowance = life.constitution().economic.monthly_allowance;
        if life.constitution().mode == Mode::SelfHosted {
            assert!(purse.spent_this_month + purse.promised <= allowance, "{purse:?}");
        }
        assert!(thoughts.spent <= purse.spent);
        let (dreams, dream) = (&life.dreams(), &life.constitution().dream);
        assert!(dreams.spent_this_month <= dream.monthly_most && dreams.spent_this_month >= Usdc::ZERO, "{dreams:?}");
        assert!(dreams.session <= dream.per_session_most && dreams.session >= Usdc::ZERO);
        if let Some(night) = &dreams.night {
            assert!(night.spent <= night.budget && night.budget <= dream.per_cycle_most, "{night:?}");
            assert!(night.thoughts <= night.spent && night.thoughts >= Usdc::ZERO);
        }
        assert!(dreams.spent <= purse.spent + purse.promised);
    }
}

pub(crate) fn tells(effect: f64) -> Result<Box<Answer>, Silence> {
    let claims = [Opinion { domain: 0, effect }].into_iter().collect();
    Ok(Box::new(Answer { claims, ..Answer::default() }))
}

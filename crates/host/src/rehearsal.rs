//! A life in memory: the same step, the same world, the same chance, no disk. For experiments, benchmarks
//! and tests; nothing that happens here is promised to anyone.

use golem::dream::{self, Memory};
use golem::grimoire::{self, Grimoire, How, Intake, Turned};
use golem::heartbeat::State;
use golem::world::Observation;
use golem::{Golem, Input, Life, Owed, Record, Usdc, What};
use world::World;

use crate::Error;
use crate::chance::Secret;
use crate::effects;

pub struct Rehearsal {
    golem: Golem,
    world: Box<dyn World + Send>,
    secret: Secret,
    observation: Observation,
    grimoire: Grimoire,
    intake: Intake,
    /// What it can dream of.
    memory: Memory,
    /// Money that has come back.
    pub returned: Usdc,
}

impl Rehearsal {
    pub fn new(golem: Golem, world: Box<dyn World + Send>, secret: Secret) -> Rehearsal {
        let (observation, grimoire) = (Observation::default(), Grimoire::new([]));
        let (intake, memory) = (Intake::default(), Memory::of(golem.life()));
        Rehearsal { golem, world, secret, observation, grimoire, intake, memory, returned: Usdc::ZERO }
    }

    pub fn life(&self) -> &Life {
        self.golem.life()
    }

    pub fn golem(&self) -> &Golem {
        &self.golem
    }

    pub fn grimoire(&self) -> &Grimoire {
        &self.grimoire
    }

    /// Takes in lines of a bundle, and says of each what became of it.
    pub fn take_in(
        &mut self,
        lines: &[&str],
        how: How,
        each: &mut impl FnMut(&Record, &Life),
    ) -> Result<Vec<Result<(), Turned>>, Error> {
        let (answer, told) = grimoire::take_in(&mut self.grimoire, self.golem.life(), lines, how, &mut self.intake);
        self.feed(What::Curated(Box::new(answer)), each)?;
        Ok(told)
    }

    pub fn is_over(&self) -> bool {
        self.life().heartbeat.state == State::Dead || self.world.end().is_some_and(|end| self.life().due() > end)
    }

    /// One look at the world and everything that follows from it.
    pub fn tick(&mut self, each: &mut impl FnMut(&Record, &Life)) -> Result<(), Error> {
        let now = self.life().due();
        let since = self.life().seen.until.max(self.life().born);
        let mut observation = std::mem::take(&mut self.observation);
        observation.bars.clear();
        self.world.observe(since, now, &mut observation)?;
        let input = self.feed_at(now, What::Observed(observation), each)?;
        if let What::Observed(observation) = input.what {
            self.observation = observation;
        }
        self.settle(each)
    }

    pub fn feed(&mut self, what: What, each: &mut impl FnMut(&Record, &Life)) -> Result<(), Error> {
        self.feed_at(self.life().now, what, each)?;
        self.settle(each)
    }

    fn feed_at(&mut self, now: golem::Time, what: What, each: &mut impl FnMut(&Record, &Life)) -> Result<Input, Error> {
        let roll = self.secret.roll(self.life().id(), self.life().tick + 1);
        let input = Input { now, roll, what };
        if let Some(record) = self.golem.step(&input)? {
            let life = self.golem.life();
            if life.constitution().dream.enabled || life.dreams.switched.is_some() {
                self.memory.hear(&record, self.golem.life());
            }
            each(&record, self.golem.life());
        }
        Ok(input)
    }

    fn settle(&mut self, each: &mut impl FnMut(&Record, &Life)) -> Result<(), Error> {
        while !self.golem.owes_nothing() {
            let before = self.golem.seq();
            for owed in self.golem.owed() {
                let what = match owed {
                    Owed::Curate => What::Curated(Box::new(grimoire::round(&mut self.grimoire, self.golem.life()))),
                    Owed::Dream { .. } => {
                        What::Dreamt(Box::new(dream::work(&self.memory, &self.grimoire, self.golem.life())))
                    }
                    // It lives alone.
                    Owed::Reflect => What::Reflected { hash: [0; 32] },
                    Owed::Bequeath => What::Bequeathed { hash: [0; 32], entries: 0 },
                    Owed::Tell { number, .. } => What::Told { number, peers: 0 },
                    Owed::Deposit { deposit, amount } => {
                        self.returned += amount;
                        What::Deposited { deposit }
                    }
                    _ => effects::ask_world(self.world.as_mut(), &owed)?,
                };
                self.feed_at(self.life().now, what, each)?;
            }
            if self.golem.seq() == before {
                break;
            }
        }
        Ok(())
    }
}

impl std::fmt::Debug for Rehearsal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rehearsal").field("seq", &self.golem.seq()).finish_non_exhaustive()
    }
}

//! A life in memory: the same step, the same world, the same chance, no disk. For experiments, benchmarks
//! and tests; nothing that happens here is acknowledged.

use std::sync::Arc;

use golem::clade::Parcel;
use golem::dream::{self, Memory};
use golem::event::Event;
use golem::grimoire::{self, Decision, Grimoire, How, Turned};
use golem::heartbeat::State;
use golem::outside::Word;
use golem::rule::{self, Heuristic};
use golem::shell::{self, Shell};
use golem::thought::{Question, Silence};
use golem::world::Observation;
use golem::{Duty, Errand, Golem, Life, Record, Usdc, What};
use settings::chance::Secret;
use world::World;

/// What can go wrong on its stage.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{0}")]
    World(#[from] world::Error),
    #[error("the world and the golem disagree: {0}")]
    Fault(#[from] golem::Fault),
}

pub struct Rehearsal {
    golem: Golem,
    stage: Stage,
    observation: Observation,
    mind: Option<InstantMind>,
}

/// Everything around a life in memory: world, chance, knowledge, siblings.
struct Stage {
    world: Box<dyn World + Send>,
    secret: Secret,
    grimoire: Grimoire,
    /// The memory that it dreams of.
    memory: Memory,
    /// Money that has come back.
    returned: Usdc,
    /// The model that answers its questions.
    thinker: Option<Thinker>,
    siblings: Siblings,
}

/// The siblings of a life in memory, if it has any.
#[derive(Default)]
struct Siblings {
    number: u32,
    /// Words it has said to them since they were last taken.
    said: Vec<Parcel>,
    /// Words they have said to it, and whether their lines have been through a round.
    heard: Vec<(Arc<Parcel>, bool)>,
}

/// Words of one sibling that wait to be heard.
const HELD: usize = 8;

/// A mind that answers on the spot to what its golem is about to see.
pub type InstantMind = Box<dyn FnMut(&Life, &Observation) -> Option<Word> + Send>;

/// A model that answers a question on the spot.
pub type Thinker = Box<dyn FnMut(&Life, &Question) -> What + Send>;

/// The stage, and the callback of the caller.
struct Watched<'a, F> {
    stage: &'a mut Stage,
    each: &'a mut F,
}

impl<F: FnMut(&Record, &Life)> Shell for Watched<'_, F> {
    type Error = Error;

    fn roll(&mut self, life: &Life) -> u64 {
        self.stage.secret.roll(life.id(), life.tick() + 1)
    }

    fn duty(&mut self, life: &Life, duty: Duty) -> Result<What, Error> {
        Ok(match duty {
            Duty::Curate => What::Curated(Box::new(self.stage.curate(life))),
            Duty::Dream { .. } => What::Dreamt(Box::new(dream::work(&self.stage.memory, &self.stage.grimoire, life))),
            Duty::Deposit { deposit, amount } => {
                self.stage.returned += amount;
                What::Deposited { deposit }
            }
            // Nothing reads the legacy of a life in memory.
            Duty::Reflect | Duty::Bequeath => duty.barely(life),
        })
    }

    fn errand(&mut self, life: &Life, errand: &Errand) -> Result<Option<What>, Error> {
        match errand {
            Errand::Tell { number, news } => {
                let Stage { grimoire, siblings, .. } = &mut *self.stage;
                if siblings.number > 0 {
                    siblings.said.push(Parcel::of(life, grimoire.entries(), *number, *news));
                }
                Ok(Some(What::Told { number: *number, peers: siblings.number }))
            }
            Errand::Ask { key } => {
                let question = life.thoughts().find(*key).expect("a question that is owed is open");
                let unanswered = || What::Answered { key: *key, cost: Usdc::ZERO, said: Err(Silence::Unknown) };
                Ok(Some(self.stage.thinker.as_mut().map_or_else(unanswered, |thinker| thinker(life, question))))
            }
            _ => Ok(world::ask(self.stage.world.as_mut(), errand)?),
        }
    }

    fn record(&mut self, record: Record, life: &Life) {
        if life.constitution().dream.enabled || life.dreams().switched.is_some() {
            self.stage.memory.hear(&record, life);
        }
        (self.each)(&record, life);
    }
}

impl Stage {
    /// Curates its knowledge, with what siblings have brought.
    fn curate(&mut self, life: &Life) -> grimoire::Curation {
        let heard = &mut self.siblings.heard;
        if heard.is_empty() || !life.digests() {
            return grimoire::round(&mut self.grimoire, life);
        }
        let parcels: Vec<&Parcel> = heard.iter().map(|(parcel, _)| &**parcel).collect();
        let (answer, rest) = grimoire::digest(&mut self.grimoire, life, &parcels);
        for ((parcel, digested), rest) in heard.iter_mut().zip(rest) {
            if rest.is_empty() {
                *digested = true;
            } else if rest.len() < parcel.lines.len() {
                *parcel = Arc::new(Parcel { lines: rest, ..Parcel::clone(parcel) });
            }
        }
        answer
    }
}

impl Rehearsal {
    pub fn new(golem: Golem, world: Box<dyn World + Send>, secret: Secret) -> Rehearsal {
        let memory = Memory::of(golem.life());
        let (grimoire, returned, siblings) = (Grimoire::new([]), Usdc::ZERO, Siblings::default());
        let stage = Stage { world, secret, grimoire, memory, returned, thinker: None, siblings };
        Rehearsal { golem, stage, observation: Observation::default(), mind: None }
    }

    /// Adds a model to ask.
    pub fn thinking(mut self, thinker: Thinker) -> Rehearsal {
        self.stage.thinker = Some(thinker);
        self
    }

    /// Adds a mind beside its own, or in its place.
    pub fn minded(mut self, mind: InstantMind) -> Rehearsal {
        self.mind = Some(mind);
        self
    }

    /// Adds so many siblings; the caller, who runs them all, passes on what they say.
    pub fn among(mut self, siblings: u32) -> Rehearsal {
        self.stage.siblings.number = siblings;
        self
    }

    /// Takes the words it has said to its siblings since the last call.
    pub fn said(&mut self) -> Vec<Parcel> {
        std::mem::take(&mut self.stage.siblings.said)
    }

    /// Tells it a sibling's word, which it hears before its next look. Beyond what can wait the word is lost.
    pub fn tell(&mut self, parcel: Arc<Parcel>) {
        let heard = &mut self.stage.siblings.heard;
        if heard.iter().filter(|(one, _)| one.from == parcel.from).count() < HELD {
            heard.push((parcel, false));
        }
    }

    pub fn life(&self) -> &Life {
        self.golem.life()
    }

    pub fn golem(&self) -> &Golem {
        &self.golem
    }

    pub fn grimoire(&self) -> &Grimoire {
        &self.stage.grimoire
    }

    /// Money that has come back.
    pub fn returned(&self) -> Usdc {
        self.stage.returned
    }

    /// Takes in lines of a bundle, and says of each what became of it.
    pub fn take_in(
        &mut self,
        lines: &[&str],
        how: How,
        each: &mut impl FnMut(&Record, &Life),
    ) -> Result<Vec<Result<(), Turned>>, Error> {
        let (answer, told) = grimoire::take_in(&mut self.stage.grimoire, self.golem.life(), lines, how);
        self.feed(What::Curated(Box::new(answer)), each)?;
        Ok(told)
    }

    /// Adopts the rules of another golem, in the same places, and all its knowledge. No golem is born like this;
    /// experiments ask what that is worth.
    pub fn take_over(&mut self, rules: impl IntoIterator<Item = Heuristic>, grimoire: &Grimoire) {
        let adopted = |(slot, heuristic)| {
            Event::Rule(rule::Event::Adopted { slot: slot as u8, heuristic: Box::new(heuristic), night: None })
        };
        // The newest entry as well, so that no number is used twice.
        let newest =
            grimoire.entries().max_by_key(|entry| entry.id).map(|entry| Decision::Put(Box::new(entry.clone())));
        let kept = newest.map(|decision| Event::Grimoire(grimoire::Event::Kept(Box::new(decision))));
        let events = rules.into_iter().enumerate().map(adopted).chain(kept).collect();
        let record = Record { seq: self.golem.seq() + 1, at: self.golem.life().now(), events };
        self.golem.fold(&record).expect("the next record");
        self.stage.grimoire = grimoire.clone();
    }

    pub fn is_over(&self) -> bool {
        let end = self.stage.world.end();
        self.life().heartbeat().state == State::Dead || end.is_some_and(|end| self.life().due() > end)
    }

    /// Hears what has been said to it, apart from what a round is still to look at.
    fn hear(&mut self, each: &mut impl FnMut(&Record, &Life)) -> Result<(), Error> {
        let digests = self.life().digests();
        let heard = &mut self.stage.siblings.heard;
        let (now, later) = std::mem::take(heard)
            .into_iter()
            .partition(|(parcel, digested)| *digested || parcel.lines.is_empty() || !digests);
        *heard = later;
        let now: Vec<(Arc<Parcel>, bool)> = now;
        now.iter().try_for_each(|(parcel, _)| self.feed(parcel.heard_in(&self.life().birth().world), each))
    }

    /// One look at the world and everything that follows from it.
    pub fn tick(&mut self, each: &mut impl FnMut(&Record, &Life)) -> Result<(), Error> {
        if !self.stage.siblings.heard.is_empty() {
            self.hear(each)?;
        }
        let now = self.life().due();
        let since = self.life().seen().until.max(self.life().born());
        let mut observation = std::mem::take(&mut self.observation);
        observation.bars.clear();
        self.stage.world.observe(since, now, &mut observation)?;
        let shell = &mut Watched { stage: &mut self.stage, each };
        let awake = self.golem.life().heartbeat().state == State::Sleeping && !observation.bars.is_empty();
        if let Some(mind) = self.mind.as_mut().filter(|_| awake)
            && let Some(word) = mind(self.golem.life(), &observation)
        {
            let then = self.golem.life().now();
            shell::feed(&mut self.golem, shell, then, What::Spoken(Box::new(word)))?;
        }
        let looked = shell::feed(&mut self.golem, shell, now, What::Observed(observation))?;
        if let What::Observed(observation) = looked.what {
            self.observation = observation;
        }
        shell::perform(&mut self.golem, shell)
    }

    pub fn feed(&mut self, what: What, each: &mut impl FnMut(&Record, &Life)) -> Result<(), Error> {
        let (now, shell) = (self.golem.life().now(), &mut Watched { stage: &mut self.stage, each });
        shell::feed(&mut self.golem, shell, now, what)?;
        shell::perform(&mut self.golem, shell)
    }
}

impl std::fmt::Debug for Rehearsal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rehearsal").field("seq", &self.golem.seq()).finish_non_exhaustive()
    }
}

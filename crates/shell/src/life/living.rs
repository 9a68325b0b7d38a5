//! One life that is awake, and the order of things that never varies. An input is stepped and staged; a commit makes it
//! durable; only then is it acknowledged and only then is anything it owes performed, whose answer is the next input.
//! A commit that was on its way when the process died is never sent again: the world is asked what became of it.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use golem::constitution::MindKind;
use golem::grimoire::{self, Grimoire, How, Turned};
use golem::rule::text::Parsed;
use golem::shell::{self, Feedback};
use golem::world::{Observation, Timing};
use golem::{CommandId, Golem, Life, Owed, Time, What, Which};
use settings::chance::Secret;
use vault::{Treasury, Vault};
use world::Ledger;

use super::body::{Body, Shelled};
use super::ground::Ground;
use super::listener::{Listener, Silent};
use super::mind::Consulting;
use super::writing::Writing;
use super::{playbook, worlds};
use crate::errands::Waker;
use crate::home::{GolemHome, books};
use crate::locks::lock;
use crate::wall::Wall;
use crate::{Error, Runtime, durable};

/// How long a world on the wall clock has to show what it has before a tick comes without it.
const GRACE: Duration = Duration::from_secs(2);

pub struct Living {
    pub(super) golem: Golem,
    pub(super) body: Body,
    /// Since when a look is awaited, in a world on the wall clock.
    looking: Option<Instant>,
    pub(super) consulting: Consulting,
    /// The newest of its owner's questions that was answered, once those that wait for the answer were told.
    pub(super) answered: Option<CommandId>,
}

impl Living {
    /// Compares its own book, the treasury's and the world's first, and refuses if they disagree.
    pub(super) fn awake(
        runtime: &Arc<Runtime>,
        place: GolemHome,
        writing: Writing,
        golem: Golem,
        treasury: Arc<Mutex<Treasury>>,
    ) -> Result<Living, Error> {
        let there = lock(&treasury);
        books::hold_treasury(&there, &place.name, golem.life())?;
        drop(there);
        if golem.life().birth().world.paper {
            books::hold_world(&Ledger::look(place.ledger())?, &place.name, golem.life())?;
        }
        Living::wake(runtime, place, writing, golem, treasury)
    }

    pub(super) fn wake(
        runtime: &Arc<Runtime>,
        place: GolemHome,
        writing: Writing,
        golem: Golem,
        treasury: Arc<Mutex<Treasury>>,
    ) -> Result<Living, Error> {
        let secret = Secret::load(&place.secret())?;
        if secret.hash() != golem.life().birth().secret_hash {
            return Err(Error::WrongSecret(place.secret()));
        }
        let ground = worlds::ground(runtime, &place, golem.life(), writing.is_lodged())?;
        let observation = Observation::default();
        let (unsaid, grimoire, memory, rewritten) = (Vec::new(), None, None, false);
        let (thinking, waker) = (None, None);
        let counter = runtime.counters().open(&place.name, golem.life().id());
        let body = Body {
            runtime: Arc::clone(runtime),
            place,
            writing,
            ground,
            thinking,
            counter,
            waker,
            secret,
            treasury,
            observation,
            unsaid,
            grimoire,
            memory,
            rewritten,
            digested: Vec::new(),
            put_off: BTreeSet::new(),
            caught_up: false,
        };
        Ok(Living { golem, body, looking: None, consulting: Consulting::default(), answered: None })
    }

    pub fn place(&self) -> &GolemHome {
        &self.body.place
    }

    pub fn life(&self) -> &Life {
        self.golem.life()
    }

    pub fn golem(&self) -> &Golem {
        &self.golem
    }

    /// The vault of a life that runs by itself.
    pub fn vault(&self) -> &Vault {
        match &self.body.writing {
            Writing::Own(vault) => vault,
            Writing::Lodged(_) => unreachable!("a host gives the file of a lodger to no caller"),
        }
    }

    /// Hands over the vault, to be sealed or copied; nothing may be under way.
    pub(crate) fn into_vault(self) -> Vault {
        match self.body.writing {
            Writing::Own(vault) => *vault,
            Writing::Lodged(_) => unreachable!("a host gives the file of a lodger to no caller"),
        }
    }

    /// Sets the callback for the moment when its world or a model has answered.
    pub fn wakes(&mut self, waker: Waker) {
        self.body.ground.wakes(Arc::clone(&waker));
        self.body.counter.wakes(Arc::clone(&waker));
        if let Some(thinking) = &self.body.thinking {
            thinking.wakes(Arc::clone(&waker));
        }
        if let Some(mind) = self.consulting.mind() {
            mind.wakes(Arc::clone(&waker));
        }
        self.body.waker = Some(waker);
    }

    /// The series it watches grow, if it does.
    pub fn watches(&self) -> Option<&Path> {
        self.body.ground.watches()
    }

    /// Why its world refused an order, told once.
    pub fn refused(&self) -> Option<String> {
        self.body.ground.says()
    }

    /// Why its world could not be reached when it was last asked.
    pub fn why_away(&self) -> Option<String> {
        self.body.ground.why_away()
    }

    /// How long its world has not answered.
    pub fn unanswered_for(&self) -> Option<Duration> {
        self.body.ground.silent_for()
    }

    /// Looks at the world and lives what it shows; false while that is still to come. A world with its own time is
    /// looked at as it was when the look was due; one on the wall clock as it is now, and without holding up a tick.
    pub(super) fn tick(&mut self, listener: &mut impl Listener) -> Result<bool, Error> {
        let wall = self.is_wall();
        let now = if wall { self.wall_time().max(self.life().now()) } else { self.life().due() };
        loop {
            let since = self.life().seen().until.max(self.life().born());
            let memory = std::mem::take(&mut self.body.observation);
            let shown = self.consulting.take_shown();
            let look = |ground: &mut Ground| ground.look(since, now, memory);
            let Some((seen_at, seen)) = shown.map_or_else(|| look(&mut self.body.ground), |shown| Ok(Some(shown)))?
            else {
                let moment = self.wall().now();
                let asked = *self.looking.get_or_insert(moment);
                if !wall || moment.saturating_duration_since(asked) < GRACE {
                    return Ok(false);
                }
                // The golem lives on, with nothing to see.
                self.looking = None;
                self.feed(now, What::Observed(Observation::default()), listener)?;
                return Ok(true);
            };
            let more = seen.bars.len() >= golem::limits::BARS;
            let now = if wall { now.max(seen_at) } else { seen_at };
            let Some(seen) = self.is_spoken_for(now, seen, listener)? else { return Ok(false) };
            if let What::Observed(observation) = self.feed(now, What::Observed(seen), listener)?.what {
                self.body.observation = observation;
            }
            if !more {
                self.looking = None;
                return Ok(true);
            }
        }
    }

    fn wall(&self) -> &Wall {
        self.body.runtime.wall()
    }

    /// The time of the wall clock.
    pub(super) fn wall_time(&self) -> Time {
        Time::millis(self.body.runtime.time_ms().unsigned_abs())
    }

    pub(super) fn is_wall(&self) -> bool {
        self.life().birth().world.timing == Timing::Wall
    }

    /// Whether everything that was left with the program that carried out its orders has gone home; the program is told
    /// to send it, if it was not yet.
    pub(crate) fn goes_home(&mut self) -> Result<bool, Error> {
        if self.body.place.has_gone_home(self.life()) {
            return Ok(true);
        }
        let gone = self.body.ground.close()?;
        if gone {
            durable::write(&self.body.place.gone_home_marker(), b"")?;
        }
        Ok(gone)
    }

    /// Steps one input.
    pub(super) fn feed(&mut self, now: Time, what: What, listener: &mut impl Listener) -> Result<Feedback, Error> {
        let feedback = shell::feed(&mut self.golem, &mut Shelled { body: &mut self.body, listener }, now, what)?;
        if matches!(feedback.what, What::Observed(_)) {
            super::curse::strike(&self.body.place, super::curse::Part::Mind);
        }
        Ok(feedback)
    }

    pub(super) fn flush(&mut self, listener: &mut impl Listener) -> Result<(), Error> {
        self.body.flush(self.golem.life(), listener)?;
        self.close_questions();
        Ok(())
    }

    /// Performs everything that is owed, until only errands under way are left.
    pub(super) fn perform(&mut self, listener: &mut impl Listener) -> Result<(), Error> {
        // An answer that is not owed any more may still be about money.
        if self.body.ground.is_async() {
            let errands = |golem: &Golem| -> Vec<Which> {
                let errand = |owed| if let Owed::Errand(errand) = owed { Some(errand.which()) } else { None };
                golem.owed().filter_map(errand).collect()
            };
            while let Some(what) = self.body.ground.keep_only(&errands(&self.golem)) {
                self.feed(self.life().now(), what, listener)?;
                self.flush(listener)?;
            }
        }
        shell::perform(&mut self.golem, &mut Shelled { body: &mut self.body, listener })?;
        if let Some(thinking) = &self.body.thinking {
            thinking.keep_only(|key| self.golem.life().thoughts().find(key).is_some());
        }
        self.body.forget_what_can_be_read_again();
        Ok(())
    }

    /// Takes in lines of a bundle, durably, and says of each what became of it.
    pub fn take_in(&mut self, lines: &[&str], how: How) -> Result<Vec<Result<(), Turned>>, Error> {
        self.must_live()?;
        self.take_in_as(lines, how, &mut Silent)
    }

    pub(super) fn take_in_as(
        &mut self,
        lines: &[&str],
        how: How,
        listener: &mut impl Listener,
    ) -> Result<Vec<Result<(), Turned>>, Error> {
        let mut grimoire = self.body.known()?;
        let (answer, told) = grimoire::take_in(&mut grimoire, self.golem.life(), lines, how);
        self.know(grimoire);
        self.feed(self.golem.life().now(), What::Curated(Box::new(answer)), listener)?;
        self.flush(listener)?;
        Ok(told)
    }

    /// Takes in rules that its owner proposed, to be tried like anything else that comes from outside.
    pub fn propose(&mut self, rules: impl IntoIterator<Item = Parsed>) -> Result<(), Error> {
        self.must_live()?;
        let mut grimoire = self.body.known()?;
        let answer = grimoire::proposed(&mut grimoire, self.golem.life(), rules);
        self.know(grimoire);
        self.feed(self.golem.life().now(), What::Curated(Box::new(answer)), &mut Silent)?;
        self.flush(&mut Silent)
    }

    /// Sets its knowledge, as good as written.
    fn know(&mut self, grimoire: Grimoire) {
        self.body.grimoire = Some(grimoire);
    }

    /// Refuses for a dead golem: the dead learn nothing.
    fn must_live(&self) -> Result<(), Error> {
        if self.life().is_dead() { Err(Error::Dead(self.body.place.name.clone(), self.cause())) } else { Ok(()) }
    }

    /// Writes the playbook as a file, unless it was edited; there is none without rules.
    pub fn write_playbook(&self) -> Result<bool, Error> {
        let rules = self.life().constitution().mind.kind == MindKind::Rules;
        let place = &self.body.place;
        if rules { playbook::write(&place.playbook(), place.name.as_str(), self.golem.life()) } else { Ok(false) }
    }

    /// Writes the playbook at a host, where a page that cannot be written is no reason to stop living.
    pub(super) fn show_playbook(&mut self) {
        self.body.rewritten = false;
        if let Err(why) = self.write_playbook() {
            tracing::warn!(golem = self.body.place.name.as_str(), %why, "cannot write its playbook");
        }
    }

    pub(super) fn cause(&self) -> String {
        self.life().death().map(|death| death.cause.to_string()).unwrap_or_default()
    }
}

impl std::fmt::Debug for Living {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Living")
            .field("name", &self.body.place.name)
            .field("seq", &self.golem.seq())
            .finish_non_exhaustive()
    }
}

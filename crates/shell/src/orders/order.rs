//! One order to one golem. A golem that is not running is woken, told and put back to sleep; a running one gets a
//! letter, which the process that runs it answers.

use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use golem::thought::Told;
use golem::{Command, CommandId};
use settings::{File, Settings};
use vault::Reader;

use super::brakes::{self, BrakeKind, Came};
use crate::home::GolemHome;
use crate::home::inbox::{self, Body, OpenQuestion, Reply};
use crate::life::{Living, Silent};
use crate::{Error, Runtime};

/// How long a living golem has to answer before the owner is told that the letter waits.
pub const PATIENCE: Duration = Duration::from_secs(5);

/// Snapshot interval of a life that is opened for one order: a snapshot takes room, and a run makes them.
pub const NO_SNAPSHOT: u64 = u64::MAX;

/// How long a model has to answer an owner's question.
pub const ANSWER: Duration = Duration::from_secs(150);

/// The result of an owner's question.
#[derive(Clone, Debug, PartialEq)]
pub enum QuestionResult {
    Told(Told),
    /// The golem sleeps, and is asked in the morning.
    Asleep,
    /// The question was heard, and there is no answer yet.
    Waiting,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    Done,
    /// There is no answer yet; the letter waits.
    Waiting,
}

/// The state of an order.
#[derive(Debug)]
pub enum OrderState {
    Answered(Reply),
    /// A letter was sent to a running process; its answer will be in this file.
    Sent(PathBuf),
    /// The order was begun, and this error hides its result; it can be continued under the same id.
    Unsure(Error),
}

impl Came for OrderState {
    fn why_not(came: &Result<OrderState, Error>) -> Option<&Error> {
        match came {
            Err(why) | Ok(OrderState::Unsure(why)) => Some(why),
            Ok(OrderState::Answered(_) | OrderState::Sent(_)) => None,
        }
    }

    fn has_begun(came: &Result<OrderState, Error>) -> bool {
        came.is_ok()
    }

    fn unsure(came: Result<OrderState, Error>) -> Result<OrderState, Error> {
        came.or_else(|why| Ok(OrderState::Unsure(why)))
    }
}

/// Passes an order on: to the golem itself if it is not running, else as a letter.
pub fn pass_on(
    runtime: &Arc<Runtime>,
    place: &GolemHome,
    body: Body,
    snapshot_every: u64,
) -> Result<OrderState, Error> {
    match pass_on_as(runtime, place, inbox::new_id(), body, snapshot_every)? {
        OrderState::Unsure(why) => Err(why),
        order => Ok(order),
    }
}

/// Passes an order on that counts once however often it is sent. An error means that nothing has begun. One that
/// stops something finds the room that is kept for it, and if it cannot be written down all the same, whatever can be
/// done without writing is.
pub fn pass_on_as(
    runtime: &Arc<Runtime>,
    place: &GolemHome,
    id: CommandId,
    body: Body,
    snapshot_every: u64,
) -> Result<OrderState, Error> {
    let brake = if let Body::Command(command) = &body { BrakeKind::of(command) } else { None };
    let give = || where_it_is(place, |now| try_on(runtime, now, id, body.clone(), snapshot_every));
    match brake {
        None => give(),
        Some(kind) => brakes::insist(&place.present(), kind, give),
    }
}

/// Gives an order where the golem is now, and once more if it failed because the folder was moved away under it. The
/// order must be one that counts once however often it is given.
fn where_it_is<T>(place: &GolemHome, order: impl Fn(&GolemHome) -> Result<T, Error>) -> Result<T, Error> {
    let now = place.present();
    match order(&now) {
        Err(_) if !now.database().exists() => order(&now.present()),
        came => came,
    }
}

fn try_on(
    runtime: &Arc<Runtime>,
    place: &GolemHome,
    id: CommandId,
    body: Body,
    snapshot_every: u64,
) -> Result<OrderState, Error> {
    // The treasury first: whatever becomes of the order, the golem gets no automatic heir. A process that hangs while it
    // holds the treasury keeps no order from its golem: a life that its owner ended has no such heir anyway.
    if let Body::Command(Command::Retire { .. } | Command::Halt { .. }) = body {
        let read = Reader::open(&place.database()).and_then(|reader| reader.id());
        let id = read.or_else(|why| brakes::id(place).ok_or(why));
        match id.map_err(Error::from).and_then(|id| Ok(place.home().treasury()?.end(id)?)) {
            Err(why) if brakes::is_anothers(place, &why) => {}
            ended => ended?,
        }
    }
    match Living::open(runtime, place.clone(), snapshot_every) {
        Ok((mut living, _)) => {
            // Letters from before come first.
            living.look_into_inbox(&mut Silent)?;
            if living.life().is_dead() {
                return Err(dead(place, living.life()));
            }
            let replied = match body {
                Body::Command(command) => living.obey(id, command, &mut Silent),
                Body::Fund { credit, capital } => living.fund(id, credit, capital, &mut Silent),
                Body::Remember { text } => living.remember(&text, &mut Silent),
                Body::News { .. } | Body::CatchUp => unreachable!("owners write no such letters"),
            };
            // The next process to open it could only count a question under way as paid for.
            let settled = replied.and_then(|reply| living.settle_thoughts(ANSWER, &mut Silent).map(|()| reply));
            Ok(settled.map_or_else(OrderState::Unsure, OrderState::Answered))
        }
        Err(Error::Hosted(_)) => Ok(OrderState::Sent(inbox::send_by(runtime.signals(), place, id, body)?)),
        // A letter is all that two versions need to have in common, and needs no file that a process holds.
        Err(why) if brakes::is_anothers(place, &why) => {
            Ok(OrderState::Sent(inbox::send_by(runtime.signals(), place, id, body)?))
        }
        Err(other) => Err(other),
    }
}

/// The result of an order, waiting for an answer no longer than this.
pub fn hear(runtime: &Runtime, place: &GolemHome, order: OrderState, patience: Duration) -> Result<Heard, Error> {
    let reply = match order {
        OrderState::Answered(reply) => Some(reply),
        OrderState::Sent(reply) => inbox::await_reply_by(runtime.signals(), place, &reply, patience)?,
        OrderState::Unsure(why) => return Err(why),
    };
    match reply {
        Some(Reply::Done) => Ok(Heard::Done),
        Some(Reply::Refused(why)) => Err(Error::Refused(why)),
        Some(Reply::Dead(cause)) => Err(Error::Dead(place.name.clone(), cause)),
        None => Ok(Heard::Waiting),
    }
}

/// The order to ask a golem this; a question has words.
pub fn question(text: String) -> Result<Command, Error> {
    if text.trim().is_empty() {
        return Err(Error::Usage("the question is empty; put it in words".to_owned()));
    }
    Ok(Command::Ask { text })
}

/// How often the record is looked at although the marker of a question is still there.
const LOOK_AGAIN: Duration = Duration::from_secs(2);

/// Asks a golem something and waits for its answer, no longer than this.
pub fn ask(
    runtime: &Arc<Runtime>,
    place: &GolemHome,
    text: &str,
    snapshot_every: u64,
    patience: Duration,
) -> Result<QuestionResult, Error> {
    let (id, until) = (inbox::new_id(), Instant::now() + patience);
    let body = Body::Command(question(text.to_owned())?);
    let order = pass_on_as(runtime, place, id, body, snapshot_every)?;
    if hear(runtime, place, order, PATIENCE)? == Heard::Waiting {
        return Ok(QuestionResult::Waiting);
    }
    if let Some(asked) = answer_to(runtime, place, id)? {
        return Ok(asked);
    }
    // Without a marker, or with a golem that an older version runs, the record alone says that there is an answer.
    let question = OpenQuestion::mark(place, id).ok();
    loop {
        if let Some(asked) = answer_to(runtime, place, id)? {
            return Ok(asked);
        }
        let now = Instant::now();
        if now >= until {
            return Ok(QuestionResult::Waiting);
        }
        match question.as_ref().filter(|question| question.is_there()) {
            Some(question) => question.wait(until.min(now + LOOK_AGAIN)),
            None => std::thread::sleep(Duration::from_millis(200)),
        }
    }
}

/// The result of a question as the record has it; none while a model is being asked.
fn answer_to(runtime: &Runtime, place: &GolemHome, id: CommandId) -> Result<Option<QuestionResult>, Error> {
    runtime.catch_up(place)?;
    let (golem, _) = place.wake()?;
    let thoughts = &golem.life().thoughts();
    if let Some(told) = thoughts.told.iter().find(|told| told.command == id) {
        return Ok(Some(QuestionResult::Told(told.clone())));
    }
    Ok(thoughts.waiting.as_ref().is_some_and(|(waiting, _)| *waiting == id).then_some(QuestionResult::Asleep))
}

pub fn dead(place: &GolemHome, life: &golem::Life) -> Error {
    let cause = life.death().map(|death| death.cause.to_string()).unwrap_or_default();
    Error::Dead(place.name.clone(), cause)
}

/// The marker first: from here on no new exposure, whatever the process is doing.
pub fn mark_frozen(place: &GolemHome, reason: &str) -> Result<(), Error> {
    let mark = || where_it_is(place, |now| brakes::mark(now, reason));
    brakes::insist(&place.present(), BrakeKind::Freezes, mark)
}

pub fn unmark_frozen(place: &GolemHome) -> Result<(), Error> {
    let remove = |now: &GolemHome| {
        let marker = now.frozen_marker();
        match fs::remove_file(&marker) {
            Err(e) if e.kind() != ErrorKind::NotFound => Err(Error::io("cannot remove", &marker)(e)),
            // Where the life is not, there is no marker either, and nothing was let go.
            Err(_) if !now.database().exists() => Err(Error::NoGolem(now.name.to_string())),
            _ => Ok(()),
        }
    };
    brakes::insist(&place.present(), BrakeKind::Settles, || where_it_is(place, remove))
}

/// A yes or no to the question under this key; for another key an error says where to look.
pub fn approve(place: &GolemHome, key: u64, yes: bool) -> Result<Command, Error> {
    let golem = match place.wake() {
        Ok((golem, _)) => golem,
        // The process that runs it can read it, and declines a key that it does not ask about.
        Err(why) if brakes::is_anothers(place, &why) => return Ok(Command::Approve { key, yes }),
        Err(other) => return Err(other),
    };
    let name = &place.name;
    if golem.life().is_dead() || asks_for(golem.life(), key) {
        return Ok(Command::Approve { key, yes });
    }
    Err(Error::Refused(format!("{name} does not ask for that; `bardo golem approve {name}` shows what it asks for")))
}

fn asks_for(life: &golem::Life, key: u64) -> bool {
    golem::policy::asks(life).is_some_and(|ask| ask.key == key) || life.calls().hold.is_some_and(|hold| hold.key == key)
}

/// The order to live under another policy: these keys changed, the others as they are now.
pub fn amend(place: &GolemHome, set: &[String]) -> Result<Command, Error> {
    let (golem, _) = place.wake()?;
    if let Some(other) = set.iter().find(|flag| !flag.starts_with("policy.")) {
        return Err(Error::Usage(format!("only policy keys can be changed in a life; {other} was settled at birth")));
    }
    let instead_of = golem::policy::policy_hash(golem.life().policy());
    let flags: Vec<String> =
        Settings::of_policy(golem.life().policy()).into_iter().chain(set.iter().cloned()).collect();
    let policy = Settings::load(File::Golem, None, std::iter::empty(), &flags)?.policy();
    let world = &golem.life().birth().world;
    if !policy.fits(world) {
        let known: Vec<&str> = world.actions.iter().map(|action| action.name.as_str()).collect();
        let known = known.join(", ");
        return Err(Error::Usage(format!("policy.allow names an action this world does not have; it has {known}")));
    }
    Ok(Command::Amend { policy: Box::new(policy), instead_of })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::home::Home;
    use crate::wall::Wall;

    #[test]
    fn an_order_follows_a_golem_whose_folder_is_moved_under_it() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::simulated(folder.path().join("home"), &Wall::standing(1_000_000));
        home.init(&home.settings().unwrap()).unwrap();
        let [ada, bea] = ["ada", "bea"].map(|name| home.place(&name.parse().unwrap()));
        fs::create_dir(&ada.folder).unwrap();
        fs::write(ada.database(), "not a life").unwrap();
        let mark_too_late = |now: &GolemHome| {
            if now.name == ada.name {
                home.note_rename(golem::GolemId([1; 16]), &ada.name, &bea.name).unwrap();
                fs::rename(&ada.folder, &bea.folder).unwrap();
            }
            brakes::mark(now, "enough")
        };
        where_it_is(&ada, mark_too_late).unwrap();
        assert_eq!((bea.frozen().as_deref(), ada.folder.exists()), (Some("enough"), false));
        unmark_frozen(&ada).unwrap();
        assert_eq!(bea.frozen(), None);
        fs::rename(&bea.folder, home.root().join("away")).unwrap();
        assert!(matches!(unmark_frozen(&bea), Err(Error::NoGolem(_))), "where there is no life, nothing was let go");
    }
}

//! The work on one golem at a time. Whatever happens in here, a panic included, happens to that one golem.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use golem::{GolemId, Lineage};
use shell::home::GolemHome;
use shell::life::desk::Desk;
use shell::life::{Living, Silent, Turn, heirs, writing};
use shell::view::status::{State, Status};
use shell::{Error, panic_message};
use tracing::{Span, debug, debug_span, info};
use vault::{Holder, Reader};

use super::wake::{Fall, Job, Outcome};

/// Performs a job; whatever happens in it happens to its golem alone.
pub(super) fn perform(job: Job, desk: &Arc<Desk>) -> (usize, Outcome) {
    let (Job::Open(at, _)
    | Job::Turn(at, ..)
    | Job::Hear(at, _)
    | Job::Leave(at, _)
    | Job::LetGo(at, ..)
    | Job::Heir(at, ..)) = job;
    let (_inside, began) = (span_of(&job).entered(), Instant::now());
    let place = if let Job::Open(_, place) = &job { Some(place.clone()) } else { None };
    let done = catch_unwind(AssertUnwindSafe(|| match job {
        Job::Open(_, place) => open(&place, desk),
        Job::Turn(_, living, _) | Job::Hear(_, living) if living.place().is_lent() => Ok(Outcome::Wanted(living)),
        Job::Turn(_, mut living, due) => {
            if let Some(due) = due {
                desk.board.late.note(desk.runtime.wall().now().saturating_duration_since(due));
            }
            let turn = living.turn(&mut Silent)?;
            desk.board.ticks.fetch_add(u64::from(turn != Turn::Waits), Ordering::Relaxed);
            Ok(Outcome::Turned(living, turn))
        }
        Job::Hear(_, mut living) => living.hear(&mut Silent).map(|()| Outcome::Heard(living)),
        Job::Leave(_, mut living) => {
            living.leave()?;
            desk.lodge(living.life().id(), false)?;
            living.turn_away_letters();
            Ok(succeed(&living, desk))
        }
        Job::Heir(_, place, id) => Ok(make_heir(&place, id, desk)),
        Job::LetGo(_, place, id) => {
            // Records that cannot be carried over stay in the log, for the process that opens the golem next.
            let carried = writing::carry_over(&place, desk);
            desk.lodge(id, false)?;
            carried.map(|()| Outcome::Left)
        }
    }));
    let outcome = match done {
        Ok(Ok(outcome)) => {
            debug!(micros = began.elapsed().as_micros() as u64, "done");
            outcome
        }
        Ok(Err(error)) => Outcome::Fell(fall(error)),
        Err(panic) => Outcome::Fell(Fall::Broke(panic_message(&panic))),
    };
    if let (Outcome::Fell(Fall::Elsewhere(_) | Fall::Unlived(..)), Some(place)) = (&outcome, place) {
        introduce_unlived(&place, desk);
    }
    (at, outcome)
}

/// The span of a job in a trace.
fn span_of(job: &Job) -> Span {
    match job {
        Job::Open(_, place) => debug_span!("open", golem = place.name.as_str()),
        Job::Turn(_, living, _) => debug_span!("turn", golem = living.place().name.as_str()),
        Job::Hear(_, living) => debug_span!("hear", golem = living.place().name.as_str()),
        Job::Leave(_, living) => debug_span!("leave", golem = living.place().name.as_str()),
        Job::LetGo(_, place, _) => debug_span!("let_go", golem = place.name.as_str()),
        Job::Heir(_, place, _) => debug_span!("heir", golem = place.name.as_str()),
    }
}

/// Makes the heir of a golem that is left, if it is dead.
fn succeed(left: &Living, desk: &Desk) -> Outcome {
    if left.life().heartbeat().state != golem::heartbeat::State::Dead {
        return Outcome::Left;
    }
    make_heir(left.place(), left.life().id(), desk)
}

/// Makes an heir where the owner wants the line to go on; the newborn is found by the next census and told of when it
/// is first opened. Why an heir could not be made is told once, however often it is tried.
fn make_heir(dead: &GolemHome, id: GolemId, desk: &Desk) -> Outcome {
    // Moved since then.
    if !dead.folder.exists() {
        return Outcome::Left;
    }
    // Put away since then; it may be taken out again.
    if dead.is_buried() {
        return heirs::again_in(dead).map_or(Outcome::Left, Outcome::Heirless);
    }
    let name = dead.name.as_str();
    let mut again = None;
    if let Err(why) = heirs::automatic(&desk.runtime, dead) {
        // On a full disk the first try is not written down either.
        let passes = !matches!(why, Error::Copy { .. } | Error::Refused(_));
        again = heirs::again_in(dead).or(passes.then_some(heirs::FIRST_PAUSE));
        let then = if again.is_some() { "it is tried again, and " } else { "" };
        let text = format!("{name} has no heir: {why}; {then}`bardo golem successor {name}` makes one by hand");
        info!(golem = name, "{text}");
        desk.tell_owner(format!("{id}:heirless"), "heir", Some(name), text);
    }
    again.map_or(Outcome::Left, Outcome::Heirless)
}

/// Tells the owner of an automatic heir before it has lived a tick, so a kill after its birth hides none.
fn introduce(newborn: &Living, desk: &Desk) {
    let life = newborn.life();
    let unasked = |line: &&Lineage| line.by_itself && life.tick() == 0 && !life.is_dead();
    if let Some(line) = life.birth().lineage.as_ref().filter(unasked) {
        let name = newborn.place().name.as_str();
        let text = format!("{name} is born, heir of {}", line.parent_name);
        info!(golem = name, "{text}");
        desk.tell_owner(format!("{}:heir", line.parent), "heir", Some(name), text);
    }
}

/// Puts a golem that could not be opened on the board, with whatever can be read of it without its lock.
fn introduce_unlived(place: &GolemHome, desk: &Desk) {
    let name = place.name.as_str();
    if desk.board.one(name).is_none() {
        let read = catch_unwind(AssertUnwindSafe(|| place.wake().map(|(golem, _)| Status::of(name, golem.life()))));
        let unread = |why: String| Status::unread(name, why);
        let status = read
            .map_or_else(|panic| unread(panic_message(&panic)), |read| read.unwrap_or_else(|e| unread(e.to_string())));
        desk.board.post(status);
    }
}

fn fall(error: Error) -> Fall {
    match error {
        Error::Vault(vault::Error::Sealed(_)) => Fall::Moved(error.to_string()),
        Error::Vault(vault::Error::Locked(path)) | Error::World(world::Error::Busy { path }) => match Holder::of(&path)
        {
            holder @ Holder::Ours(_) => Fall::Elsewhere(format!("{holder} has it")),
            holder @ Holder::Stranger(_) => {
                Fall::Unlived("lock", format!("{holder} holds its lock, {}", path.display()))
            }
        },
        // Restored under another name, or put away.
        Error::Vault(vault::Error::Missing(_)) => Fall::Moved(error.to_string()),
        Error::Vault(vault::Error::NoHead(_)) => Fall::Unlived("head", error.to_string()),
        Error::Io { .. }
        | Error::Vault(vault::Error::Io { .. } | vault::Error::Sqlite { .. } | vault::Error::Disk { .. }) => {
            Fall::Disk(error.to_string())
        }
        Error::World(world::Error::Io { .. } | world::Error::Stuck { .. } | world::Error::Away { .. }) => {
            Fall::Disk(error.to_string())
        }
        Error::Host(_) | Error::Busy(_) | Error::Vault(vault::Error::Busy(_)) => Fall::Disk(error.to_string()),
        other => Fall::Broke(other.to_string()),
    }
}

/// Opens a golem: the log says first that it is lodged here, then its lock and the owner's marker are checked.
fn open(place: &GolemHome, desk: &Arc<Desk>) -> Result<Outcome, Error> {
    if place.is_lent() {
        return let_go(place, desk);
    }
    let id = Reader::open(&place.database())?.id()?;
    desk.lodge(id, true)?;
    let lodge = || {
        if place.is_lent() {
            return let_go(place, desk);
        }
        writing::carry_over(place, desk)?;
        let living = Living::lodge(place.clone(), desk)?;
        introduce(&living, desk);
        Ok(Outcome::Open(Box::new(living)))
    };
    let opened = lodge();
    if !matches!(opened, Ok(Outcome::Open(_))) {
        desk.lodge(id, false)?;
    }
    opened
}

/// Lets go of a golem that its owner has taken out: what the log has of it goes to its own file, unless the owner has
/// given that up.
fn let_go(place: &GolemHome, desk: &Arc<Desk>) -> Result<Outcome, Error> {
    let reader = Reader::open(&place.database())?;
    if desk.runtime.async_worlds().is_busy(reader.id()?) {
        return Err(Error::Busy("its world is still at work for it".into()));
    }
    if writing::carry_over(place, desk).is_err() && place.is_given_up() {
        desk.forget(reader.id()?)?;
    }
    let (golem, _) = reader.wake()?;
    let why = "its owner has taken it out of the host; `bardo golem join` brings it back";
    let status =
        Status { state: State::Released, why: Some(why.into()), ..Status::of(place.name.as_str(), golem.life()) };
    Ok(Outcome::Released(Box::new(status)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A command lets go of a life and a moment later of its world's record. A host that came between the two counted it
    /// as a fall, of which a golem has five.
    #[test]
    fn a_world_that_somebody_else_has_is_no_fall() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("world.log");
        let ledger = world::Ledger::file(&path).unwrap();
        let busy = world::Ledger::file(&path).unwrap_err();
        assert!(matches!(fall(busy.into()), Fall::Elsewhere(_)), "it will let go of it");
        drop(ledger);
    }
}

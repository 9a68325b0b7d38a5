//! The archive of a host that is up, on a thread that golems do not notice: a copy of each golem's knowledge every 200
//! ticks, and the last one when it has died.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use shell::life::desk::Desk;
use shell::river::{RiverStore, archived, trouble};
use shell::view::status::{State, Status};
use shell::{Error, Home};
use styx::archive::{Archive, Error as ArchiveError};
use tokio::runtime::Runtime;
use tracing::{info, warn};
use vault::Batch;

use super::until::Until;

/// How often the thread checks whether the host goes down, and whether a golem is due.
const LOOK: Duration = Duration::from_millis(100);
const ROUND: Duration = Duration::from_secs(2);
/// Ticks after which a golem's knowledge is archived again.
const TICKS: u64 = 200;
/// The least time between two copies, however fast its time goes.
const APART: Duration = Duration::from_secs(60);
/// How long after a failure the archive is tried again.
const AGAIN: Duration = Duration::from_secs(30);
/// How long an archive may take to accept a copy.
const PATIENCE: Duration = Duration::from_secs(60);

/// The place of the archive, and how long it keeps a copy.
#[derive(Clone, Debug)]
pub struct Archiving {
    pub place: String,
    pub keep: Duration,
}

/// The newest copy of a golem.
struct Last {
    tick: u64,
    dead: bool,
    at: Instant,
}

pub(super) fn keep_archive(plan: &Archiving, home: &Home, desk: &Desk, until: &Until) {
    let Some(store) = &desk.river else { return };
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
    // By id: a copy is no older because its golem is called otherwise now.
    let (mut last, mut look): (BTreeMap<String, Last>, _) = (BTreeMap::new(), Instant::now());
    while !until.is_over() {
        std::thread::sleep(LOOK);
        if Instant::now() < look {
            continue;
        }
        look = Instant::now() + ROUND;
        let due = desk.board.all().into_iter().filter(|status| is_due(status, last.get(&status.id)));
        for status in due.collect::<Vec<_>>() {
            if until.is_over() {
                break;
            }
            match keep(plan, home, desk, store, (&runtime, &until.now), &status.name) {
                Ok((tick, dead)) => drop(last.insert(status.id, Last { tick, dead, at: Instant::now() })),
                Err(why) => {
                    if store.archive_failed(&why.to_string()) {
                        warn!(golem = status.name, %why, "cannot be kept in the archive");
                        let day = desk.now_ms() / 86_400_000;
                        desk.tell_owner(format!("clade:archive:{day}"), "clade", None, format!("the archive: {why}"));
                    }
                    look = Instant::now() + AGAIN;
                    break;
                }
            }
        }
    }
}

/// Does the work unless the host goes down first: a bucket may take minutes to answer.
async fn unless<T>(stop: &AtomicBool, work: impl Future<Output = Result<T, ArchiveError>>) -> Result<T, ArchiveError> {
    let stopped = async {
        while !stop.load(Ordering::SeqCst) {
            tokio::time::sleep(LOOK).await;
        }
    };
    tokio::select! {
        done = work => done,
        () = stopped => Err(ArchiveError::Late),
        () = tokio::time::sleep(PATIENCE) => Err(ArchiveError::Late),
    }
}

fn is_due(status: &Status, last: Option<&Last>) -> bool {
    let dead = status.state == State::Dead;
    match last {
        None => dead || status.tick >= TICKS,
        Some(last) if dead => !last.dead,
        Some(last) => status.tick >= last.tick + TICKS && last.at.elapsed() >= APART,
    }
}

/// Archives what a golem knows; returns the tick of the copy, and whether the golem is dead.
fn keep(
    plan: &Archiving,
    home: &Home,
    desk: &Desk,
    store: &RiverStore,
    (runtime, stop): (&Runtime, &AtomicBool),
    name: &str,
) -> Result<(u64, bool), Error> {
    let place = home.read_golem(name)?;
    let (golem, copy, text) = archived::of(&place, desk.now_ms())?;
    let (tick, dead, keep_ms) = (copy.tick, copy.dead, plan.keep.as_millis() as u64);
    let archive = Archive::open(&plan.place, Arc::clone(&store.clade)).map_err(trouble)?;
    let kept = archive.keep(store.home, golem, name, copy, &text, keep_ms);
    runtime.block_on(unless(stop, kept)).map_err(trouble)?;
    let bring = |rows| desk.bring(Batch { river: rows, ..Batch::default() });
    if let Some(brought) = store.archived(golem, dead, desk.now_ms(), bring) {
        desk.wait(brought)?;
    }
    info!(golem = name, tick, dead, "in the archive");
    Ok((tick, dead))
}

//! The chores of a host beside running its golems: notes to the owner, backups, the archive. Each can be restarted with
//! other settings while the golems and the other chores go on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use shell::care::backups::Backups;
use shell::life::desk::Desk;
use shell::{Error, Home};
use tracing::{info, warn};
use vault::Batch;

use super::archiving::{Archiving, keep_archive};
use super::copying::keep_copies;
use super::notify::{self, Telling};
use super::until::Until;

/// The settings of all chores: whom to tell, where to copy, where to archive. A chore without settings is not done.
#[derive(Clone, Debug)]
pub struct ChoreSettings {
    pub telling: Telling,
    pub backups: Option<Backups>,
    pub archive: Option<Archiving>,
}

/// New settings for some of the chores; the others keep theirs.
#[derive(Clone, Debug, Default)]
pub struct ChoreChanges {
    pub telling: Option<Telling>,
    pub backups: Option<Option<Backups>>,
    pub archive: Option<Option<Archiving>>,
}

/// All chores of a host that is up, each with its threads.
#[derive(Debug)]
pub(super) struct RunningChores {
    telling: ChoreThreads,
    backups: ChoreThreads,
    archive: ChoreThreads,
    /// Raised when the host goes down.
    down: Arc<AtomicBool>,
}

/// The threads that do one chore, and the signal for them to make room for others.
#[derive(Debug)]
struct ChoreThreads {
    pause: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl RunningChores {
    pub(super) fn start(settings: ChoreSettings, home: &Home, desk: &Arc<Desk>) -> Result<RunningChores, Error> {
        let ChoreSettings { telling, backups, archive } = settings;
        let down = Arc::default();
        Ok(RunningChores {
            telling: ChoreThreads::start(&down, |until| notify::begin(&telling, desk, &until))?,
            backups: ChoreThreads::start(&down, |until| Ok(start_backups(backups, home, desk, until)))?,
            archive: ChoreThreads::start(&down, |until| Ok(start_archive(archive, home, desk, until)))?,
            down,
        })
    }

    /// Restarts the chores whose settings changed, as soon as their threads have finished what they have in hand; the
    /// loop does not wait for that.
    pub(super) fn change(&mut self, changes: ChoreChanges, home: &Home, desk: &Arc<Desk>) {
        if let Some(telling) = changes.telling {
            let desk = Arc::clone(desk);
            self.telling.restart(&self.down, move |until| {
                // Notes are written down only for targets that are there to take them.
                desk.commit(Batch { targets: Some(telling.names()), ..Batch::default() })?;
                notify::begin(&telling, &desk, &until)
            });
        }
        if let Some(backups) = changes.backups {
            let (home, desk) = (home.clone(), Arc::clone(desk));
            self.backups.restart(&self.down, move |until| Ok(start_backups(backups, &home, &desk, until)));
        }
        if let Some(plan) = changes.archive {
            let (home, desk) = (home.clone(), Arc::clone(desk));
            self.archive.restart(&self.down, move |until| Ok(start_archive(plan, &home, &desk, until)));
        }
    }

    /// Tells all threads to end, without waiting for them.
    pub(super) fn stop(&self) {
        self.down.store(true, Ordering::SeqCst);
    }

    /// Waits until all threads have ended.
    pub(super) fn join(self) {
        [self.telling, self.backups, self.archive].into_iter().for_each(|chore| join(chore.threads));
    }
}

impl ChoreThreads {
    fn start(
        down: &Arc<AtomicBool>,
        start: impl FnOnce(Until) -> Result<Vec<JoinHandle<()>>, Error>,
    ) -> Result<ChoreThreads, Error> {
        let pause = Arc::default();
        let threads = start(Until { pause: Arc::clone(&pause), now: Arc::clone(down) })?;
        Ok(ChoreThreads { pause, threads })
    }

    /// Starts threads with other settings once those of before have ended.
    fn restart(
        &mut self,
        down: &Arc<AtomicBool>,
        start: impl FnOnce(Until) -> Result<Vec<JoinHandle<()>>, Error> + Send + 'static,
    ) {
        self.pause.store(true, Ordering::SeqCst);
        self.pause = Arc::default();
        let (before, until) =
            (std::mem::take(&mut self.threads), Until { pause: Arc::clone(&self.pause), now: Arc::clone(down) });
        self.threads.push(std::thread::spawn(move || {
            join(before);
            match start(until) {
                Ok(threads) => {
                    info!("settings reloaded");
                    join(threads);
                }
                Err(why) => warn!(%why, "the new settings take effect only at the next start"),
            }
        }));
    }
}

fn join(threads: Vec<JoinHandle<()>>) {
    for thread in threads {
        let _ = thread.join();
    }
}

fn start_backups(backups: Option<Backups>, home: &Home, desk: &Arc<Desk>, until: Until) -> Vec<JoinHandle<()>> {
    let (home, desk) = (home.clone(), Arc::clone(desk));
    let start = |backups: Backups| std::thread::spawn(move || keep_copies(&backups, &home, &desk, &until));
    backups.map(start).into_iter().collect()
}

fn start_archive(plan: Option<Archiving>, home: &Home, desk: &Arc<Desk>, until: Until) -> Vec<JoinHandle<()>> {
    let (home, desk) = (home.clone(), Arc::clone(desk));
    let start = |plan: Archiving| std::thread::spawn(move || keep_archive(&plan, &home, &desk, &until));
    plan.map(start).into_iter().collect()
}

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

/// The owner's settings for all chores.
#[derive(Clone, Debug)]
pub struct Chores {
    pub telling: Telling,
    pub backups: Option<Backups>,
    pub archive: Option<Archiving>,
}

/// New settings for some of the chores, from now on.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    pub telling: Option<Telling>,
    pub backups: Option<Option<Backups>>,
    pub archive: Option<Option<Archiving>>,
}

/// The running chores.
#[derive(Debug, Default)]
pub(super) struct Busy {
    telling: Chore,
    backups: Chore,
    archive: Chore,
    down: Arc<AtomicBool>,
}

/// The threads of one chore.
#[derive(Debug, Default)]
struct Chore {
    pause: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Busy {
    pub(super) fn begin(chores: Chores, home: &Home, desk: &Arc<Desk>) -> Result<Busy, Error> {
        let mut busy = Busy::default();
        busy.telling.threads = notify::begin(&chores.telling, desk, &busy.telling.until(&busy.down))?;
        busy.backups.threads = copies(chores.backups, home, desk, busy.backups.until(&busy.down));
        busy.archive.threads = archive(chores.archive, home, desk, busy.archive.until(&busy.down));
        Ok(busy)
    }

    /// Restarts the chores whose settings changed, as soon as their threads have finished what they have in hand; the
    /// loop does not wait for that.
    pub(super) fn change(&mut self, changes: Changes, home: &Home, desk: &Arc<Desk>) {
        if let Some(telling) = changes.telling {
            let desk = Arc::clone(desk);
            self.telling.hand_over(&self.down, move |until| {
                // Notes are written down only for targets that are there to take them.
                desk.commit(Batch { targets: Some(telling.names()), ..Batch::default() })?;
                notify::begin(&telling, &desk, &until)
            });
        }
        if let Some(backups) = changes.backups {
            let (home, desk) = (home.clone(), Arc::clone(desk));
            self.backups.hand_over(&self.down, move |until| Ok(copies(backups, &home, &desk, until)));
        }
        if let Some(plan) = changes.archive {
            let (home, desk) = (home.clone(), Arc::clone(desk));
            self.archive.hand_over(&self.down, move |until| Ok(archive(plan, &home, &desk, until)));
        }
    }

    pub(super) fn stop(&self) {
        self.down.store(true, Ordering::SeqCst);
    }

    pub(super) fn join(self) {
        [self.telling, self.backups, self.archive].into_iter().for_each(|chore| join(chore.threads));
    }
}

impl Chore {
    fn until(&self, down: &Arc<AtomicBool>) -> Until {
        Until { pause: Arc::clone(&self.pause), now: Arc::clone(down) }
    }

    fn hand_over(
        &mut self,
        down: &Arc<AtomicBool>,
        begin: impl FnOnce(Until) -> Result<Vec<JoinHandle<()>>, Error> + Send + 'static,
    ) {
        let before = std::mem::take(self);
        before.pause.store(true, Ordering::SeqCst);
        let until = self.until(down);
        self.threads.push(std::thread::spawn(move || {
            join(before.threads);
            match begin(until) {
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

fn copies(backups: Option<Backups>, home: &Home, desk: &Arc<Desk>, until: Until) -> Vec<JoinHandle<()>> {
    let (home, desk) = (home.clone(), Arc::clone(desk));
    let begin = |backups: Backups| std::thread::spawn(move || keep_copies(&backups, &home, &desk, &until));
    backups.map(begin).into_iter().collect()
}

fn archive(plan: Option<Archiving>, home: &Home, desk: &Arc<Desk>, until: Until) -> Vec<JoinHandle<()>> {
    let (home, desk) = (home.clone(), Arc::clone(desk));
    let begin = |plan: Archiving| std::thread::spawn(move || keep_archive(&plan, &home, &desk, &until));
    plan.map(begin).into_iter().collect()
}

//! Backups of a host that is up, on a thread that golems do not notice.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use tracing::{info, warn};

use crate::Home;
use crate::care::backups::Backups;
use crate::life::desk::Desk;

/// How often it is looked whether the host goes down.
const LOOK: Duration = Duration::from_millis(50);

/// Copies what has no fresh copy; the owner hears if that fails.
pub(super) fn keep_copies(backups: &Backups, home: &Home, desk: &Desk, stop: &AtomicBool) {
    let mut look = Instant::now();
    while !stop.load(Ordering::SeqCst) {
        if Instant::now() >= look {
            look = Instant::now() + backups.look_every();
            let now = SystemTime::now();
            if !backups.is_due(now) {
                continue;
            }
            let failed = match backups.make(home, now) {
                Ok(round) => {
                    info!(golems = round.golems.len(), "copied into the backup folder");
                    round.missing.into_iter().next().map(|(name, why)| format!("{name}: {why}"))
                }
                Err(why) => Some(why.to_string()),
            };
            desk.board.backed_up.store(backups.newest_made(), Ordering::Relaxed);
            if let Some(why) = failed {
                warn!(why, "a backup failed");
                let day = desk.wall.now_ms() / 86_400_000;
                desk.tell_owner(format!("backup:{day}"), "backup", None, format!("a backup failed: {why}"));
            }
        }
        std::thread::sleep(LOOK);
    }
}

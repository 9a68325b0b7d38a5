//! Backups of a host that is up, on a thread that golems do not notice.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant, SystemTime};

use shell::Home;
use shell::care::backups::Backups;
use shell::life::desk::Desk;
use tracing::{info, warn};

use super::until::Until;

/// How often the thread checks whether the host goes down.
const LOOK: Duration = Duration::from_millis(50);

/// Makes a round of copies when one is due or asked for; the owner hears if that fails.
pub(super) fn keep_copies(backups: &Backups, home: &Home, desk: &Desk, until: &Until) {
    let mut look = Instant::now();
    desk.board.copies.store(true, Ordering::Relaxed);
    while !until.is_over() {
        let wanted = desk.board.copy_now.swap(false, Ordering::Relaxed);
        if wanted || Instant::now() >= look {
            look = Instant::now() + backups.look_every();
            let now = SystemTime::now();
            if !wanted && !backups.is_due(now) {
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
                let day = desk.runtime.wall().now_ms() / 86_400_000;
                desk.tell_owner(format!("backup:{day}"), "backup", None, format!("a backup failed: {why}"));
            }
        }
        std::thread::sleep(LOOK);
    }
    desk.board.copies.store(false, Ordering::Relaxed);
}

//! The time of a home, by which golems live whose world follows the wall clock.

use std::fs;
use std::path::PathBuf;
use std::time::UNIX_EPOCH;

use super::Home;
use crate::Error;
use crate::clock::Clock;

impl Home {
    fn clock_file(&self) -> PathBuf {
        self.root().join("clock")
    }

    /// Milliseconds since 1970, as far as the machine's clock is believed, by what was last written down of it.
    pub fn time_ms(&self) -> i64 {
        self.time_by(&Clock::default())
    }

    /// The time by a clock that a process keeps.
    pub(crate) fn time_by(&self, clock: &Clock) -> i64 {
        let wall_ms = self.wall().now_ms();
        if self.wall().is_standing() {
            return wall_ms;
        }
        clock.time_ms(&self.clock_file(), wall_ms, || self.last_written())
    }

    /// Why the machine's clock is not believed, if it is not.
    pub fn clock_trouble(&self) -> Option<String> {
        self.clock_trouble_by(&Clock::default())
    }

    pub(crate) fn clock_trouble_by(&self, clock: &Clock) -> Option<String> {
        // Without a golem on the wall clock it does not matter.
        if !self.clock_file().exists() {
            return None;
        }
        self.time_by(clock);
        clock.trouble(self.wall().now_ms())
    }

    /// Accepts the machine's clock as right, on the owner's word: from now on golems use it. A process that is up reads
    /// this within a second.
    pub fn believe_clock(&self) -> Result<(), Error> {
        Clock::default().believe(&self.clock_file(), self.wall().now_ms())
    }

    /// The time of the newest acknowledgement here, by the clock of then: all that a home of an older version knows.
    fn last_written(&self) -> Option<i64> {
        let heads = fs::read_dir(self.heads()).into_iter().flatten().flatten();
        let written = heads.filter_map(|head| head.metadata().ok()?.modified().ok()?.duration_since(UNIX_EPOCH).ok());
        written.max().map(|since| since.as_millis() as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Runtime;

    const HOUR: i64 = 3_600_000;

    #[test]
    fn an_owner_who_says_that_the_clock_is_right_is_believed() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path().to_owned());
        assert_eq!(home.clock_trouble(), None, "no golem uses it");
        // What was written down three months ago, in another start of the machine.
        let long_ago = home.wall().now_ms() - 90 * 24 * HOUR;
        fs::write(home.clock_file(), format!(r#"{{"at_ms":{long_ago},"boot":"another","up_ms":7}}"#)).unwrap();
        assert!((home.time_ms() - long_ago).abs() < HOUR);
        let runtime = Runtime::of(&home);
        let news = runtime.clock_news().unwrap();
        assert!(news.contains("ahead of") && news.contains("bardo clock --right"), "{news}");
        assert_eq!(runtime.clock_news(), None, "it is told once");
        // The command that says so is a process of its own; one that is up looks again after a second.
        home.believe_clock().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(1_100));
        assert!((home.time_ms() - home.wall().now_ms()).abs() < HOUR);
        let news = runtime.clock_news().unwrap();
        assert!(news.contains("believed again"), "{news}");
        assert_eq!(runtime.clock_news(), None);
    }
}

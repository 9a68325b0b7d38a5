//! Questions and answers, word for word, beside the journal: one line each in a file a day, for as long as the owner
//! keeps them. Only people read them; the journal has the results.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use golem::hex;
use serde::{Deserialize, Serialize};

use crate::{Error, durable};

const DAY_MS: u64 = 86_400_000;
/// Characters of an answer that are kept.
const LONGEST: usize = 64 << 10;

/// A question as it was sent, and its answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeptQuestion {
    /// Milliseconds since 1970.
    pub at: u64,
    pub key: u64,
    pub purpose: String,
    pub model: String,
    /// Hash of the question; the same question to the same model has the same.
    pub asked: String,
    pub system: String,
    pub user: String,
    /// Hash of the answer, as the journal has it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub heard: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub answer: String,
    /// Tokens in and out, as the server counts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<(u64, u64)>,
    /// Micro-dollars.
    pub cost: u64,
    /// Why there is no usable answer.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
}

/// The folder of one golem's questions, and the days they are kept.
#[derive(Clone, Debug)]
pub(crate) struct Keep {
    pub(crate) folder: PathBuf,
    pub(crate) days: u64,
}

/// The hash by which a text is known.
pub(super) fn hash(text: &str) -> String {
    hex::encode(&blake3::hash(text.as_bytes()).as_bytes()[..16])
}

impl Keep {
    /// Writes a question down. Best effort: a golem whose folder cannot be written lives on all the same.
    pub(super) fn keep(&self, mut kept: KeptQuestion) {
        if self.days == 0 {
            return;
        }
        kept.at = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64);
        kept.answer = kept.answer.chars().take(LONGEST).collect();
        let day = kept.at / DAY_MS;
        let line = serde_json::to_string(&kept).expect("a question is plain data") + "\n";
        let path = self.folder.join(format!("{day}.jsonl"));
        let new = !path.exists();
        let written = durable::folder_within(&self.folder)
            .and_then(|()| OpenOptions::new().create(true).append(true).open(&path)?.write_all(line.as_bytes()));
        if let Err(why) = written {
            tracing::warn!(path = %path.display(), %why, "a thought cannot be kept");
        }
        if new {
            self.let_go(day);
        }
    }

    /// Takes out whole days that are older than they are kept.
    fn let_go(&self, today: u64) {
        for (path, day) in days(&self.folder) {
            if day + self.days <= today {
                let _ = fs::remove_file(path);
            }
        }
    }
}

fn days(folder: &Path) -> Vec<(PathBuf, u64)> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let day = |path: &PathBuf| path.file_stem()?.to_str()?.parse().ok();
    let mut days: Vec<(PathBuf, u64)> =
        entries.flatten().map(|entry| entry.path()).filter_map(|path| day(&path).map(|day| (path, day))).collect();
    days.sort_by_key(|(_, day)| *day);
    days
}

/// Everything of one golem's that is still kept, oldest first; a line that cannot be read is left out.
pub fn kept(folder: &Path) -> Result<Vec<KeptQuestion>, Error> {
    let mut all = Vec::new();
    for (path, _) in days(folder) {
        let text = fs::read_to_string(&path).map_err(Error::io("cannot read", &path))?;
        all.extend(text.lines().filter_map(|line| serde_json::from_str(line).ok()));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_go_when_their_time_is_up_and_nothing_is_kept_that_is_not_to_be() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("thoughts");
        let kept_of = |key: u64| KeptQuestion {
            at: 0,
            key,
            purpose: "orient".into(),
            model: "ollama/x".into(),
            asked: hash("a"),
            system: "s".into(),
            user: "u".into(),
            heard: String::new(),
            answer: "{}".into(),
            tokens: Some((1, 2)),
            cost: 0,
            why: String::new(),
        };
        Keep { folder: folder.clone(), days: 0 }.keep(kept_of(1));
        assert!(!folder.exists());
        let moved = home.path().join("old-name");
        Keep { folder: moved.join("thoughts"), days: 7 }.keep(kept_of(1));
        assert!(!moved.exists(), "the folder of a golem that was renamed does not come back");
        fs::create_dir_all(&folder).unwrap();
        let today = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as u64 / DAY_MS;
        for old in [today - 9, today - 7, today - 6] {
            fs::write(folder.join(format!("{old}.jsonl")), "").unwrap();
        }
        fs::write(folder.join("mine.txt"), "not ours").unwrap();
        let keep = Keep { folder: folder.clone(), days: 7 };
        (1..=3).for_each(|key| keep.keep(kept_of(key)));
        let all = kept(&folder).unwrap();
        assert_eq!(all.iter().map(|kept| kept.key).collect::<Vec<_>>(), [1, 2, 3]);
        let left: Vec<u64> = days(&folder).into_iter().map(|(_, day)| day).collect();
        assert_eq!(left, [today - 6, today]);
        assert!(folder.join("mine.txt").exists());
    }
}

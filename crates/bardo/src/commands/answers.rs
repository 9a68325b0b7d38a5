//! Results of an experiment as they come back from a work queue: only those count that bear the seal of the run's key, and of a
//! sample that no worker can foresee each path is lived again here and must come to the same, to the byte.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, Sender, TryRecvError};
use std::thread::Scope;

use lab::experiment::Error;
use lab::experiment::sample;
use lab::experiment::work::{Bench, Done, Tuned, Unit};

use crate::commands::run_key::{RunKey, SealedMessage};
use crate::output::{self, complain};

/// Lies in the folder of an experiment in which a worker's path did not come to the same here.
const SPOILED: &str = "spoiled";

/// An error of this side, as the lab passes it on.
pub(super) fn of_workers(error: shell::Error) -> Error {
    Error::Workers(Box::new(error))
}

/// Why nothing in this folder can be relied on, if that was found out.
pub(super) fn spoiled(folder: &Path) -> Option<String> {
    std::fs::read_to_string(folder.join(SPOILED)).ok().map(|why| why.trim().to_owned())
}

/// The results an experiment waits for, and their judge as they come in.
pub(super) struct Answers<'a> {
    pub(super) key: &'a RunKey,
    pub(super) run: String,
    pub(super) folder: &'a Path,
    /// Paths that have no result yet.
    pub(super) wanted: BTreeSet<Unit>,
    /// Paths that are lived again here.
    pub(super) sample: BTreeSet<Unit>,
    pub(super) again: Again<'a>,
    pub(super) each: &'a mut dyn FnMut(Done) -> Result<(), Error>,
    pub(super) strangers: u64,
}

impl Answers<'_> {
    /// Where results are sent to.
    pub(super) fn subject(&self) -> String {
        format!("bardo.lab.done.{}", self.run)
    }

    /// Takes in one message.
    pub(super) fn hear(&mut self, message: &[u8]) -> Result<(), Error> {
        let Some(heard) = self.key.open::<Done>(&self.subject(), message) else {
            self.strangers += 1;
            if self.strangers == 1 {
                complain("results arrive that are not sealed with this run's key; they are ignored");
            }
            return Ok(());
        };
        // The same path twice is the same result, and counts once.
        if !self.wanted.remove(&heard.what.unit) {
            return Ok(());
        }
        if self.sample.contains(&heard.what.unit) {
            self.again.ask(heard);
            return Ok(());
        }
        (self.each)(heard.what)
    }

    /// Holds what was lived again meanwhile against what its worker said.
    pub(super) fn compare(&mut self) -> Result<(), Error> {
        while let Some((heard, own)) = self.again.through()? {
            if let Some(arm) = sample::differs(&heard.what, &own) {
                return Err(self.spoil(&heard, &arm));
            }
            (self.each)(heard.what)?;
        }
        Ok(())
    }

    /// Whether every path has been answered for, and what was to be lived again has been.
    pub(super) fn all_there(&self) -> bool {
        self.wanted.is_empty() && self.again.under_way == 0
    }

    /// Ends the experiment for good: what else this worker sent may be in it already.
    fn spoil(&self, heard: &SealedMessage<Done>, arm: &str) -> Error {
        let why = format!(
            "{} came to something else here than worker {} says, at {arm}; as both are the same program, that machine is broken or \
             lies. Nothing in {} can be relied on: begin again with another --out and another --key",
            self.again.bench.named(&heard.what.unit),
            heard.by,
            self.folder.display()
        );
        match output::save(&self.folder.join(SPOILED), format!("{why}\n").as_bytes()) {
            Ok(()) => of_workers(shell::Error::Damaged(why)),
            Err(error) => of_workers(error),
        }
    }
}

/// A thread that lives paths again while results of others are awaited.
pub(super) struct Again<'a> {
    bench: &'a Bench,
    asked: Sender<SealedMessage<Done>>,
    lived: Receiver<Result<(SealedMessage<Done>, Done), Error>>,
    under_way: usize,
}

impl<'a> Again<'a> {
    pub(super) fn begin<'scope>(scope: &'scope Scope<'scope, 'a>, bench: &'a Bench, tuned: &'a Tuned) -> Again<'a> {
        let (asked, to_live) = mpsc::channel::<SealedMessage<Done>>();
        let (told, lived) = mpsc::channel();
        scope.spawn(move || {
            for heard in to_live {
                let own = bench.run(&heard.what.unit, tuned).map(|own| (heard, own));
                if told.send(own).is_err() {
                    return;
                }
            }
        });
        Again { bench, asked, lived, under_way: 0 }
    }

    fn ask(&mut self, heard: SealedMessage<Done>) {
        self.under_way += 1;
        self.asked.send(heard).expect("the thread lives as long as this");
    }

    /// The next one that is through, if one is.
    fn through(&mut self) -> Result<Option<(SealedMessage<Done>, Done)>, Error> {
        match self.lived.try_recv() {
            Ok(lived) => {
                self.under_way -= 1;
                lived.map(Some)
            }
            Err(TryRecvError::Empty) => Ok(None),
            Err(TryRecvError::Disconnected) => Err(of_workers(shell::Error::Host(
                "results can no longer be checked: the thread that runs paths again has stopped".to_owned(),
            ))),
        }
    }
}

/// Files of the key and of the sample's seed; the key may be named elsewhere.
pub(super) struct Secrets {
    pub(super) key: PathBuf,
    pub(super) seed: PathBuf,
}

impl Secrets {
    pub(super) fn of(folder: &Path, key: Option<&Path>) -> Secrets {
        let key = key.map_or_else(|| folder.join("workers.key"), Path::to_owned);
        Secrets { key, seed: folder.join("sample.seed") }
    }
}

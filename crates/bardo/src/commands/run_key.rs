//! The key of a run: what goes over a work queue is sealed with it. A server that passes messages on is open to anyone who reaches
//! it, so a message without the seal is a stranger's and counts for nothing.

use std::path::Path;

use golem::hex;
use hmac::{Hmac, KeyInit, Mac};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use settings::chance::{self, Secret};
use sha2::Sha256;
use shell::Error;

/// The key that an experiment and its workers share.
#[derive(Clone)]
pub(super) struct RunKey {
    keyed: Hmac<Sha256>,
}

/// A message on the queue: words, the program that says them, and the seal upon both.
#[derive(Debug, Serialize, Deserialize)]
struct Sealed {
    by: String,
    words: String,
    seal: Vec<u8>,
}

/// The content of a message whose seal fits.
#[derive(Debug)]
pub(super) struct SealedMessage<T> {
    pub(super) by: String,
    pub(super) what: T,
}

/// The secret in this file, which is made if it does not exist.
pub(super) fn secret_in(path: &Path) -> Result<Secret, Error> {
    if path.exists() {
        return load(path);
    }
    let secret = Secret::draw();
    secret.save(path)?;
    Ok(secret)
}

fn load(path: &Path) -> Result<Secret, Error> {
    Secret::load(path).map_err(|error| match error {
        chance::Error::Secret(path) => {
            Error::Usage(format!("{} does not hold a key: 64 hexadecimal digits", path.display()))
        }
        error => error.into(),
    })
}

impl RunKey {
    pub(super) fn of(secret: &Secret) -> RunKey {
        let keyed = Hmac::<Sha256>::new_from_slice(secret.reveal().as_bytes()).expect("any key length will do");
        RunKey { keyed }
    }

    /// The key in this file, which is there already.
    pub(super) fn read(path: &Path) -> Result<RunKey, Error> {
        Ok(RunKey::of(&load(path)?))
    }

    /// An experiment, run by one program and under one key: only its results belong together.
    pub(super) fn run(&self, digest: &str, program: &str) -> String {
        let name = self.mac(["run", digest, program]).finalize().into_bytes();
        hex::encode(&name[..8])
    }

    /// A message for this subject. On another one its seal does not fit.
    pub(super) fn seal(&self, subject: &str, by: &str, what: &impl Serialize) -> Vec<u8> {
        let words = serde_json::to_string(what).expect("plain data");
        let seal = self.mac([subject, by, &words]).finalize().into_bytes().to_vec();
        serde_json::to_vec(&Sealed { by: by.to_owned(), words, seal }).expect("plain data")
    }

    /// The content of a message, if it was sealed with this key for this subject.
    pub(super) fn open<T: DeserializeOwned>(&self, subject: &str, message: &[u8]) -> Option<SealedMessage<T>> {
        let Sealed { by, words, seal } = serde_json::from_slice(message).ok()?;
        self.mac([subject, &by, &words]).verify_slice(&seal).ok()?;
        let what = serde_json::from_str(&words).ok()?;
        Some(SealedMessage { by, what })
    }

    /// Over all three, each with its length before it, so that none runs into the next.
    fn mac(&self, parts: [&str; 3]) -> Hmac<Sha256> {
        let mut mac = self.keyed.clone();
        for part in parts {
            mac.update(&(part.len() as u64).to_le_bytes());
            mac.update(part.as_bytes());
        }
        mac
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(seed: u64) -> RunKey {
        RunKey::of(&Secret::from_seed(seed, "run"))
    }

    #[test]
    fn only_what_was_sealed_with_the_key_for_the_subject_is_heard() {
        let message = key(1).seal("bardo.lab.done.a", "atlas/7", &[1, 2]);
        let heard = key(1).open::<Vec<u32>>("bardo.lab.done.a", &message).unwrap();
        assert_eq!((heard.by.as_str(), heard.what), ("atlas/7", vec![1, 2]));
        assert!(key(2).open::<Vec<u32>>("bardo.lab.done.a", &message).is_none(), "another key");
        assert!(key(1).open::<Vec<u32>>("bardo.lab.work.a", &message).is_none(), "another subject");
        let text = String::from_utf8(message).unwrap();
        for (from, to) in [("atlas/7", "atlas/8"), ("[1,2]", "[1,3]")] {
            assert!(text.contains(from), "{text}");
            let changed = text.replacen(from, to, 1);
            assert!(key(1).open::<Vec<u32>>("bardo.lab.done.a", changed.as_bytes()).is_none(), "{changed}");
        }
        for junk in [&b""[..], b"[1,2]", br#"{"by":"atlas/7","words":"[1,2]","seal":[]}"#] {
            assert!(key(1).open::<Vec<u32>>("bardo.lab.done.a", junk).is_none());
        }
    }

    #[test]
    fn a_key_is_made_once_and_a_file_that_is_none_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("workers.key");
        let made = secret_in(&path).unwrap();
        assert_eq!(secret_in(&path).unwrap().reveal(), made.reveal());
        assert_eq!(RunKey::read(&path).unwrap().run("a", "b"), RunKey::of(&made).run("a", "b"));
        assert_ne!(RunKey::of(&made).run("a", "b"), key(1).run("a", "b"), "a run of another key is another run");
        std::fs::write(&path, "secret\n").unwrap();
        assert!(RunKey::read(&path).is_err_and(|why| why.to_string().contains("does not hold a key")));
        assert!(RunKey::read(&folder.path().join("none")).is_err());
    }
}

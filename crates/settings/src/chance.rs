//! Chance: the secret behind every roll of a life, and the rolls.
//!
//! A roll is HMAC-SHA256(secret, golem id ‖ tick). It cannot be foreseen without the secret, and can be verified
//! with it. The secret lives in a file of its own, readable by the owner alone; the birth record
//! has its hash; it is revealed after death.

use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use golem::{GolemId, hex};
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

/// What can be wrong with the file of a secret.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{0} holds no readable secret; restore a backup of this golem")]
    Secret(PathBuf),
    #[error("{what} {path}: {source}")]
    Io { what: &'static str, path: PathBuf, source: std::io::Error },
}

impl Error {
    fn io(what: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Error {
        let path = path.to_owned();
        move |source| Error::Io { what, path, source }
    }
}

#[derive(Clone)]
pub struct Secret {
    bytes: [u8; 32],
    /// Keyed once; each roll continues from a copy.
    keyed: Hmac<Sha256>,
}

impl Secret {
    pub fn draw() -> Secret {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).expect("the operating system gives random bytes");
        Secret::from_bytes(bytes)
    }

    /// A foreseeable secret, for lives that must be repeatable.
    pub fn from_seed(seed: u64, name: &str) -> Secret {
        let digest = Sha256::new()
            .chain_update(b"bardo seeded secret")
            .chain_update(seed.to_le_bytes())
            .chain_update(name.as_bytes())
            .finalize();
        Secret::from_bytes(digest.into())
    }

    fn from_bytes(bytes: [u8; 32]) -> Secret {
        let keyed = Hmac::<Sha256>::new_from_slice(&bytes).expect("any key length will do");
        Secret { bytes, keyed }
    }

    /// The chance of one tick.
    pub fn roll(&self, id: GolemId, tick: u64) -> u64 {
        let mut mac = self.keyed.clone();
        mac.update(&id.0);
        mac.update(&tick.to_le_bytes());
        let digest = mac.finalize().into_bytes();
        u64::from_be_bytes(digest[..8].try_into().expect("eight of thirty-two bytes"))
    }

    pub fn hash(&self) -> [u8; 32] {
        Sha256::digest(self.bytes).into()
    }

    /// The secret as text, for after death only.
    pub fn reveal(&self) -> String {
        hex::encode(&self.bytes)
    }

    pub fn save(&self, path: &Path) -> Result<(), Error> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600);
        let mut file = options.open(path).map_err(Error::io("cannot create", path))?;
        writeln!(file, "{}", self.reveal()).and_then(|()| file.sync_all()).map_err(Error::io("cannot write", path))
    }

    pub fn load(path: &Path) -> Result<Secret, Error> {
        let text = fs::read_to_string(path).map_err(Error::io("cannot read", path))?;
        let bytes = hex::decode(text.trim()).and_then(|bytes| <[u8; 32]>::try_from(bytes).ok());
        bytes.map(Secret::from_bytes).ok_or_else(|| Error::Secret(path.to_owned()))
    }
}

/// A golem's id: drawn, or derived from a seed for lives that must be repeatable.
pub fn identity(seed: Option<u64>, name: &str) -> GolemId {
    let mut id = [0; 16];
    match seed {
        None => getrandom::fill(&mut id).expect("the operating system gives random bytes"),
        Some(seed) => {
            let digest = Sha256::new()
                .chain_update(b"bardo seeded id")
                .chain_update(seed.to_le_bytes())
                .chain_update(name.as_bytes())
                .finalize();
            id.copy_from_slice(&digest[..16]);
        }
    }
    GolemId(id)
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_survives_its_file_and_is_nobody_elses_to_read() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("secret");
        let secret = Secret::draw();
        secret.save(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let (id, again) = (GolemId([3; 16]), Secret::load(&path).unwrap());
        assert_eq!((again.hash(), again.roll(id, 9)), (secret.hash(), secret.roll(id, 9)));
        assert!(secret.save(&path).is_err(), "never overwritten");
        assert!(!format!("{secret:?}").contains(&secret.reveal()));
    }

    #[test]
    fn rolls_are_plain_hmac_that_anyone_can_recompute() {
        // Computed with an independent implementation (Python's hmac module).
        let secret = Secret::from_bytes([7; 32]);
        assert_eq!(secret.roll(GolemId([9; 16]), 42), EXPECTED);
        assert_ne!(secret.roll(GolemId([9; 16]), 42), secret.roll(GolemId([9; 16]), 43));
    }
    const EXPECTED: u64 = 5360344533819454846;
}

//! Keys outside their home: encrypted with a passphrase, or not at all.

use std::collections::BTreeMap;
use std::fs;
use std::num::NonZeroU32;
use std::path::Path;

use golem::hex;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use ring::pbkdf2::{PBKDF2_HMAC_SHA256, derive};
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::home::Home;
use crate::private;

/// Keys that go along with a backup only if the owner wants it, and then encrypted.
const KEYS: &[&str] = &["owner.key", "clade.key", "api-token", "tokens"];
/// Rounds of key derivation, which make guesses slow.
const ITERATIONS: u32 = 600_000;
/// The most rounds that are read: more than a file needs, and less than takes too long.
const MOST: u32 = 10_000_000;
/// Characters of a passphrase.
const SHORTEST: usize = 8;

/// A passphrase, which only the owner knows.
#[derive(Clone)]
pub struct Passphrase(String);

#[derive(Serialize, Deserialize)]
struct Envelope {
    bardo_keys: u32,
    iterations: u32,
    salt: String,
    nonce: String,
    sealed: String,
}

impl Passphrase {
    /// Reads the first line of a file; or, without a file, the variable `BARDO_PASSPHRASE`.
    pub fn find(file: Option<&Path>) -> Result<Passphrase, Error> {
        let text = match file {
            Some(file) => fs::read_to_string(file).map_err(Error::io("cannot read", file))?,
            None => std::env::var("BARDO_PASSPHRASE").map_err(|_| {
                Error::Usage("keys need a passphrase: --passphrase-file FILE, or BARDO_PASSPHRASE".into())
            })?,
        };
        let text = text.lines().next().unwrap_or_default().to_owned();
        if text.len() < SHORTEST {
            return Err(Error::Usage(format!("a passphrase has at least {SHORTEST} characters")));
        }
        Ok(Passphrase(text))
    }

    fn key(&self, salt: &[u8], iterations: u32) -> LessSafeKey {
        let (mut key, times) = ([0; 32], NonZeroU32::new(iterations).unwrap_or(NonZeroU32::MIN));
        derive(PBKDF2_HMAC_SHA256, times, salt, self.0.as_bytes(), &mut key);
        LessSafeKey::new(UnboundKey::new(&CHACHA20_POLY1305, &key).expect("thirty-two bytes"))
    }
}

/// Writes the keys of a home into a file that only the passphrase opens.
pub(crate) fn seal(home: &Home, to: &Path, passphrase: &Passphrase) -> Result<(), Error> {
    let mut keys = BTreeMap::new();
    for name in KEYS {
        let path = home.root().join(name);
        if path.exists() {
            keys.insert(*name, fs::read_to_string(&path).map_err(Error::io("cannot read", &path))?);
        }
    }
    let (mut salt, mut nonce) = ([0; 16], [0; 12]);
    getrandom::fill(&mut salt)
        .and_then(|()| getrandom::fill(&mut nonce))
        .expect("the operating system gives random bytes");
    let mut bytes = serde_json::to_vec(&keys).expect("plain data");
    passphrase
        .key(&salt, ITERATIONS)
        .seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::empty(), &mut bytes)
        .map_err(|_| Error::Host("the keys cannot be encrypted".into()))?;
    let envelope = Envelope {
        bardo_keys: 1,
        iterations: ITERATIONS,
        salt: hex::encode(&salt),
        nonce: hex::encode(&nonce),
        sealed: hex::encode(&bytes),
    };
    private::write(to, &serde_json::to_vec_pretty(&envelope).expect("plain data"))
        .map_err(Error::io("cannot write", to))
}

/// Puts the keys back into a home.
pub(crate) fn unseal(from: &Path, home: &Home, passphrase: &Passphrase) -> Result<Vec<String>, Error> {
    let bytes = fs::read(from).map_err(Error::io("cannot read", from))?;
    let damaged = || Error::Damaged(format!("{} is damaged", from.display()));
    let envelope: Envelope = serde_json::from_slice(&bytes).map_err(|_| damaged())?;
    if envelope.bardo_keys != 1 || envelope.iterations > MOST {
        return Err(Error::Usage(format!("{} is of another version; upgrade bardo", from.display())));
    }
    let part = |text: &str| hex::decode(text).ok_or_else(damaged);
    let (salt, nonce, mut sealed) = (part(&envelope.salt)?, part(&envelope.nonce)?, part(&envelope.sealed)?);
    let nonce = Nonce::try_assume_unique_for_key(&nonce).map_err(|_| damaged())?;
    let key = passphrase.key(&salt, envelope.iterations);
    let wrong = |_| Error::Usage("that is not the passphrase these keys were encrypted with".into());
    let plain = key.open_in_place(nonce, Aad::empty(), &mut sealed).map_err(wrong)?;
    let keys: BTreeMap<String, String> = serde_json::from_slice(plain).map_err(|_| damaged())?;
    for (name, text) in keys.iter().filter(|(name, _)| KEYS.contains(&name.as_str())) {
        let path = home.root().join(name);
        private::write(&path, text.as_bytes()).map_err(Error::io("cannot write", &path))?;
    }
    Ok(keys.into_keys().collect())
}

impl std::fmt::Debug for Passphrase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Passphrase").finish_non_exhaustive()
    }
}

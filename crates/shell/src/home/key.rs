//! The owner's key, with which bundles and moves are signed.

use std::fs;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use golem::hex;
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};

use super::place::Home;
use crate::Error;

/// An owner's key, made when it is first needed and never shown.
pub struct OwnerKey(Ed25519KeyPair);

impl OwnerKey {
    pub fn of(home: &Home) -> Result<OwnerKey, Error> {
        let path = path(home);
        if !path.exists() {
            let random = ring::rand::SystemRandom::new();
            let fresh = Ed25519KeyPair::generate_pkcs8(&random).expect("the operating system gives random bytes");
            let aside = path.with_extension("new");
            let mut options = fs::OpenOptions::new();
            options.write(true).create(true).truncate(true).mode(0o600);
            let mut file = options.open(&aside).map_err(Error::io("cannot create", &aside))?;
            let text = hex::encode(fresh.as_ref());
            writeln!(file, "{text}").and_then(|()| file.sync_all()).map_err(Error::io("cannot write", &aside))?;
            // The first process to link its file has made the key; a second key is thrown away.
            let _ = fs::hard_link(&aside, &path);
            let _ = fs::remove_file(&aside);
        }
        let text = fs::read_to_string(&path).map_err(Error::io("cannot read", &path))?;
        let bytes = hex::decode(text.trim());
        let key = bytes.and_then(|bytes| Ed25519KeyPair::from_pkcs8(&bytes).ok());
        key.map(OwnerKey).ok_or_else(|| {
            Error::Damaged(format!("{} holds no key; bring it back from a backup, or move it away", path.display()))
        })
    }

    pub fn public(&self) -> String {
        hex::encode(self.0.public_key().as_ref())
    }

    pub(crate) fn sign(&self, bytes: &[u8]) -> String {
        hex::encode(self.0.sign(bytes).as_ref())
    }
}

/// Whether this owner signed these bytes.
pub(crate) fn is_signed(bytes: &[u8], owner: &str, signature: &str) -> bool {
    let (Some(owner), Some(signature)) = (hex::decode(owner), hex::decode(signature)) else { return false };
    UnparsedPublicKey::new(&ED25519, owner).verify(bytes, &signature).is_ok()
}

fn path(home: &Home) -> PathBuf {
    home.root().join("owner.key")
}

impl std::fmt::Debug for OwnerKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Key").finish_non_exhaustive()
    }
}

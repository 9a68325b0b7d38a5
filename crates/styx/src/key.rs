//! The key of a clade, shared by all homes of one owner's golems: a key to sign with, and one to seal with that is
//! derived from it.

use golem::hex;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hkdf::{HKDF_SHA256, Salt};
use ring::rand::SystemRandom;
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};

/// The identity of an owner on the river: the public key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Owner(pub [u8; 32]);

/// The key of a clade. Its holder is the owner.
pub struct Clade {
    sign: Ed25519KeyPair,
    seal: LessSafeKey,
    nonce: [u8; 32],
}

impl Clade {
    /// A new key, in its stored form.
    pub fn fresh() -> Vec<u8> {
        let made =
            Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).expect("the operating system gives random bytes");
        made.as_ref().to_vec()
    }

    /// Reads a key from its stored form.
    pub fn of(kept: &[u8]) -> Option<Clade> {
        let sign = Ed25519KeyPair::from_pkcs8(kept).ok()?;
        let secret = Salt::new(HKDF_SHA256, b"bardo clade 1").extract(kept);
        let seal: UnboundKey = secret.expand(&[b"seal"], &CHACHA20_POLY1305).ok()?.into();
        let nonce = blake3::derive_key("bardo clade 1 nonces", kept);
        Some(Clade { sign, seal: LessSafeKey::new(seal), nonce })
    }

    pub fn owner(&self) -> Owner {
        Owner(self.sign.public_key().as_ref().try_into().expect("a public key has 32 bytes"))
    }

    pub fn sign(&self, bytes: &[u8]) -> [u8; 64] {
        self.sign.sign(bytes).as_ref().try_into().expect("a signature has 64 bytes")
    }

    /// Seals a text under a header that is not secret. Sealing it again gives the same bytes; no nonce is used for two
    /// texts, since it is derived from header and text.
    pub(crate) fn seal(&self, header: &[u8], text: &[u8]) -> Vec<u8> {
        let mut hasher = blake3::Hasher::new_keyed(&self.nonce);
        hasher.update(&(header.len() as u64).to_le_bytes()).update(header).update(text);
        let nonce: [u8; NONCE_LEN] = hasher.finalize().as_bytes()[..NONCE_LEN].try_into().expect("twelve of 32");
        let mut sealed = Vec::with_capacity(NONCE_LEN + text.len() + CHACHA20_POLY1305.tag_len());
        sealed.extend_from_slice(&nonce);
        let mut body = text.to_vec();
        let nonce = Nonce::assume_unique_for_key(nonce);
        self.seal.seal_in_place_append_tag(nonce, Aad::from(header), &mut body).expect("a text is not that long");
        sealed.append(&mut body);
        sealed
    }

    pub(crate) fn open(&self, header: &[u8], sealed: &[u8]) -> Option<Vec<u8>> {
        let (nonce, body) = sealed.split_at_checked(NONCE_LEN)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let mut body = body.to_vec();
        let length = self.seal.open_in_place(nonce, Aad::from(header), &mut body).ok()?.len();
        body.truncate(length);
        Some(body)
    }
}

impl Owner {
    pub fn signed(&self, bytes: &[u8], signature: &[u8]) -> bool {
        UnparsedPublicKey::new(&ED25519, self.0).verify(bytes, signature).is_ok()
    }
}

impl std::fmt::Display for Owner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&hex::encode(&self.0))
    }
}

impl std::fmt::Debug for Clade {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Clade").field("owner", &self.owner().to_string()).finish_non_exhaustive()
    }
}

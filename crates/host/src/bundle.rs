//! Bundles: knowledge as a file, with who made it and a signature. The first line says what follows; every other line is
//! one entry. Whoever opens one learns who signed it, and believes none of it for that.

use std::fs;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use golem::Life;
use golem::grimoire::bundle::{self, Line};
use golem::inheritance::BUDGET;
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::home::Home;

/// The version of bundles this program writes and reads.
pub const VERSION: u32 = 1;
/// Bytes of a bundle that anyone bothers to read.
pub const LARGEST: u64 = 16 * 1024 * 1024;

/// Characters of a name that anyone bothers to show.
const NAME: usize = 64;

/// What stands in the first line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    pub bardo_bundle: u32,
    pub name: String,
    /// The golem it came from, if one golem it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub golem: Option<String>,
    pub generation: u32,
    pub entries: u64,
    /// The hash of everything after this line.
    pub body: String,
    /// The maker's public key, and its signature over this line without it.
    pub owner: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub signature: String,
}

/// A bundle that is what it says.
#[derive(Clone, Debug, PartialEq)]
pub struct Bundle {
    pub header: Header,
    pub lines: Vec<Line>,
    /// Somebody else's key made it.
    pub stranger: bool,
}

/// An owner's key, made when it is first needed and never shown.
pub struct Key(Ed25519KeyPair);

impl Key {
    pub fn of(home: &Home) -> Result<Key, Error> {
        let path = path(home);
        if !path.exists() {
            let random = ring::rand::SystemRandom::new();
            let fresh = Ed25519KeyPair::generate_pkcs8(&random).expect("the operating system gives random bytes");
            let aside = path.with_extension("new");
            let mut options = fs::OpenOptions::new();
            options.write(true).create(true).truncate(true).mode(0o600);
            let mut file = options.open(&aside).map_err(Error::io("cannot create", &aside))?;
            let text = hex(fresh.as_ref());
            writeln!(file, "{text}").and_then(|()| file.sync_all()).map_err(Error::io("cannot write", &aside))?;
            // Whoever was first made the key; a second is thrown away.
            let _ = fs::hard_link(&aside, &path);
            let _ = fs::remove_file(&aside);
        }
        let text = fs::read_to_string(&path).map_err(Error::io("cannot read", &path))?;
        let bytes = unhex(text.trim());
        let key = bytes.and_then(|bytes| Ed25519KeyPair::from_pkcs8(&bytes).ok());
        key.map(Key).ok_or_else(|| {
            Error::Damaged(format!("{} holds no key; bring it back from a backup, or move it away", path.display()))
        })
    }

    pub fn public(&self) -> String {
        hex(self.0.public_key().as_ref())
    }

    pub(crate) fn sign(&self, bytes: &[u8]) -> String {
        hex(self.0.sign(bytes).as_ref())
    }
}

/// Whether this owner signed these bytes.
pub(crate) fn is_signed(bytes: &[u8], owner: &str, signature: &str) -> bool {
    let (Some(owner), Some(signature)) = (unhex(owner), unhex(signature)) else { return false };
    UnparsedPublicKey::new(&ED25519, owner).verify(bytes, &signature).is_ok()
}

fn path(home: &Home) -> PathBuf {
    home.root().join("owner.key")
}

/// Lines as a bundle, signed.
pub fn pack(key: &Key, name: &str, life: Option<&Life>, lines: &[Line]) -> String {
    let body: String =
        lines.iter().map(|line| serde_json::to_string(line).expect("a line is plain data") + "\n").collect();
    let mut header = Header {
        bardo_bundle: VERSION,
        name: name.to_owned(),
        golem: life.map(|life| life.id().to_string()),
        generation: life.map_or(0, |life| life.birth.generation),
        entries: lines.len() as u64,
        body: blake3::hash(body.as_bytes()).to_hex().to_string(),
        owner: key.public(),
        signature: String::new(),
    };
    header.signature = key.sign(&signed(&header));
    format!("{}\n{body}", serde_json::to_string(&header).expect("a header is plain data"))
}

fn signed(header: &Header) -> Vec<u8> {
    let plain = Header { signature: String::new(), ..header.clone() };
    serde_json::to_vec(&plain).expect("a header is plain data")
}

/// Reads a bundle; the reason in plain words if it is none, or not what it says.
pub fn unpack(text: &str, own: &str) -> Result<Bundle, String> {
    if text.len() as u64 > LARGEST {
        return Err(format!("it is larger than {LARGEST} bytes"));
    }
    let (first, body) = text.split_once('\n').ok_or("it has no first line that says what follows")?;
    if first.len() > bundle::LINE {
        return Err("its first line is too long".to_owned());
    }
    let header: Header = serde_json::from_str(first).map_err(|e| format!("its first line is not a bundle's ({e})"))?;
    if header.bardo_bundle != VERSION {
        return Err(format!("version {} of bundles is not known here", header.bardo_bundle));
    }
    if header.entries > BUDGET as u64 {
        return Err(format!("it has {} entries; no bundle has more than {BUDGET}", header.entries));
    }
    if blake3::hash(body.as_bytes()).to_hex().as_str() != header.body {
        return Err("its entries are not those that were signed; it was changed or cut short".to_owned());
    }
    if !is_signed(&signed(&header), &header.owner, &header.signature) {
        return Err("its signature does not fit; it was changed after it was made".to_owned());
    }
    let lines: Vec<Line> = body.lines().map(bundle::read).collect::<Result<_, _>>()?;
    if lines.len() as u64 != header.entries {
        return Err(format!("it says {} entries and has {}", header.entries, lines.len()));
    }
    let stranger = header.owner != own;
    let header = Header { name: golem::plain::line(&header.name, NAME), ..header };
    Ok(Bundle { header, lines, stranger })
}

/// The same lines, signed once more by this owner.
pub fn again(home: &Home, bundle: &Bundle) -> Result<String, Error> {
    let body = pack(&Key::of(home)?, &bundle.header.name, None, &bundle.lines);
    Ok(body)
}

/// Opens a file of one.
pub fn open(home: &Home, file: &Path) -> Result<Bundle, Error> {
    let meta = fs::metadata(file).map_err(Error::io("cannot read", file))?;
    let refused = |why: String| Error::Refused(format!("{}: {why}", file.display()));
    if meta.len() > LARGEST {
        return Err(refused(format!("it is larger than {LARGEST} bytes")));
    }
    let bytes = fs::read(file).map_err(Error::io("cannot read", file))?;
    let text = String::from_utf8(bytes).map_err(|_| refused("it is not text".to_owned()))?;
    unpack(&text, &Key::of(home)?.public()).map_err(refused)
}

/// Sixteen bytes that stand for a text.
pub fn mark(text: &str) -> [u8; 16] {
    blake3::hash(text.as_bytes()).as_bytes()[..16].try_into().expect("sixteen of thirty-two")
}

/// The number a hash stands for where a ledger wants one.
pub(crate) fn number(hash: &[u8; 32]) -> u64 {
    u64::from_le_bytes(hash[..8].try_into().expect("eight of thirty-two")) >> 1
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn unhex(text: &str) -> Option<Vec<u8>> {
    if !text.is_ascii() || !text.len().is_multiple_of(2) {
        return None;
    }
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok()).collect()
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Key").finish_non_exhaustive()
    }
}

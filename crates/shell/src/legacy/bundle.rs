//! Bundles: knowledge as a file, with its maker and a signature. The first line says what follows; every other line is
//! one entry. The signature says who made it, and is no reason to believe any of it.

use std::fs;
use std::path::Path;

use golem::Life;
use golem::grimoire::bundle::{self, BundleLine};
use golem::inheritance::BUDGET;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::home::Home;
use crate::home::key::{OwnerKey, is_signed};

/// The version of bundles this program writes and reads.
pub const VERSION: u32 = 1;
/// Bytes of the largest bundle that is read.
pub const LARGEST: u64 = 16 * 1024 * 1024;

/// Characters of a name that are shown.
const NAME: usize = 64;

/// The first line of a bundle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    pub bardo_bundle: u32,
    pub name: String,
    /// The golem it came from, if it came from one golem.
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

/// A bundle whose hash and signature hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Bundle {
    pub header: Header,
    pub lines: Vec<BundleLine>,
    /// Whether another owner's key signed it.
    pub stranger: bool,
}

/// Packs lines into a signed bundle.
pub fn pack(key: &OwnerKey, name: &str, life: Option<&Life>, lines: &[BundleLine]) -> String {
    let body: String =
        lines.iter().map(|line| serde_json::to_string(line).expect("a line is plain data") + "\n").collect();
    let mut header = Header {
        bardo_bundle: VERSION,
        name: name.to_owned(),
        golem: life.map(|life| life.id().to_string()),
        generation: life.map_or(0, |life| life.birth().generation),
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

/// Reads a bundle; an error in plain words if the text is not a bundle, or not as it was signed.
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
    let lines: Vec<BundleLine> = body.lines().map(bundle::read).collect::<Result<_, _>>()?;
    if lines.len() as u64 != header.entries {
        return Err(format!("it says {} entries and has {}", header.entries, lines.len()));
    }
    let stranger = header.owner != own;
    let header = Header { name: golem::plain::line(&header.name, NAME), ..header };
    Ok(Bundle { header, lines, stranger })
}

/// A bundle's lines, signed once more by this owner.
pub fn again(home: &Home, bundle: &Bundle) -> Result<String, Error> {
    let body = pack(&OwnerKey::of(home)?, &bundle.header.name, None, &bundle.lines);
    Ok(body)
}

/// Reads the file of a bundle.
pub fn open(home: &Home, file: &Path) -> Result<Bundle, Error> {
    let meta = fs::metadata(file).map_err(Error::io("cannot read", file))?;
    let refused = |why: String| Error::Refused(format!("{}: {why}", file.display()));
    if meta.len() > LARGEST {
        return Err(refused(format!("it is larger than {LARGEST} bytes")));
    }
    let bytes = fs::read(file).map_err(Error::io("cannot read", file))?;
    let text = String::from_utf8(bytes).map_err(|_| refused("it is not text".to_owned()))?;
    unpack(&text, &OwnerKey::of(home)?.public()).map_err(refused)
}

/// Sixteen bytes of a hash that stand for a text.
pub fn mark(text: &str) -> [u8; 16] {
    blake3::hash(text.as_bytes()).as_bytes()[..16].try_into().expect("sixteen of thirty-two")
}

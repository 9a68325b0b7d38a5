//! The label on a copy of a life: what the copy is and, if it moves, its address. The address names the home it may be
//! taken in by and the departure it belongs to, and is signed with the owner's key: a copy of an archive is worth
//! nothing in any other home, and nothing once it was taken in.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use golem::{GolemId, Name};
use serde::{Deserialize, Serialize};
use vault::Passing;

use crate::Error;
use crate::hash;
use crate::home::Home;
use crate::home::key::{OwnerKey, is_signed};

pub(crate) const LABEL: &str = "backup.json";

/// The label beside the files of an archive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Label {
    pub name: Name,
    pub id: String,
    pub tick: u64,
    pub records: u64,
    /// The hash of the newest record, and with it of all of them.
    pub tip: String,
    /// The last deposit it has made into a treasury.
    pub deposits: u64,
    /// The hash of each file beside the journal.
    pub files: BTreeMap<String, String>,
    /// The address, if the source was sealed and this archive is the life now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passage: Option<Passage>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Passage {
    pub from: String,
    pub to: String,
    /// How often this life has left that home, this time included.
    pub departure: u64,
    /// The public key of the home it left, and its signature over the label without it.
    pub owner: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub signature: String,
}

/// The standing of an archive in the home that looks at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArchiveStanding {
    /// A copy like any other, whose original may live.
    Copy,
    /// The life itself, under a number that counts once.
    Moved(u64),
}

impl Passage {
    pub(crate) fn sign(label: &mut Label, home: &Home, to: &str, departure: u64) -> Result<(), Error> {
        let key = OwnerKey::of(home)?;
        let passage = Passage {
            from: home.identity()?,
            to: to.to_owned(),
            departure,
            owner: key.public(),
            signature: String::new(),
        };
        label.passage = Some(passage);
        let signature = key.sign(&signed(label));
        if let Some(passage) = &mut label.passage {
            passage.signature = signature;
        }
        Ok(())
    }

    /// The number under which this departure is taken in, for good.
    fn number(&self, label: &Label) -> u64 {
        let mut hasher = blake3::Hasher::new();
        for part in [&self.from, &self.to, &label.id, &label.tip] {
            hasher.update(part.as_bytes()).update(b"\n");
        }
        hasher.update(&self.departure.to_le_bytes());
        hash::number(hasher.finalize().as_bytes())
    }
}

/// The label of an archive; a hand-made copy has none.
pub(crate) fn label_of(archive: &Path) -> Result<Option<Label>, Error> {
    let path = archive.join(LABEL);
    match fs::read(&path) {
        Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|why| {
            Error::Damaged(format!("the label of this archive cannot be read ({why}); use another copy"))
        }),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(Error::io("cannot read", &path)(e)),
    }
}

fn signed(label: &Label) -> Vec<u8> {
    let mut plain = label.clone();
    if let Some(passage) = &mut plain.passage {
        passage.signature = String::new();
    }
    serde_json::to_vec(&plain).expect("a label is plain data")
}

/// The standing of this archive here. `signed_by` is a key the owner vouches for; `take_over` is the owner's word that
/// no other home has the life.
pub(crate) fn standing(
    home: &Home,
    label: &Label,
    signed_by: Option<&str>,
    take_over: bool,
) -> Result<ArchiveStanding, Error> {
    let Some(passage) = &label.passage else { return Ok(ArchiveStanding::Copy) };
    if !is_signed(&signed(label), &passage.owner, &passage.signature) {
        return Err(Error::Damaged(
            "the label of this archive is not the one that was signed: it was written or changed by hand".into(),
        ));
    }
    let me = home.identity()?;
    if passage.to != me {
        if take_over {
            return Ok(ArchiveStanding::Copy);
        }
        return Err(Error::Usage(format!(
            "this archive is addressed to home {}, and this is {me}; of two copies of one life, one must stay asleep. Take \
             it in there; if that home is gone for good, repeat with --take-over",
            passage.to
        )));
    }
    let number = passage.number(label);
    let id: GolemId = label.id.parse().map_err(|_| Error::Damaged("the label names no life".into()))?;
    if home.treasury()?.noted(Passing::Arrived, id)?.iter().any(|row| row.number == number) {
        return Ok(ArchiveStanding::Copy);
    }
    if passage.owner != OwnerKey::of(home)?.public() && signed_by != Some(passage.owner.as_str()) {
        return Err(Error::Usage(format!(
            "this archive was signed with another key than yours. If `bardo home` says in the home it comes from that its \
             key is {0}, repeat with --signed-by {0}",
            passage.owner
        )));
    }
    Ok(ArchiveStanding::Moved(number))
}

//! The address on a life that moves. It names the home it may be taken in by and the departure it belongs to, and is signed
//! with the owner's key: a copy of an archive is worth nothing in any other home, and nothing once it was taken in.

use golem::GolemId;
use serde::{Deserialize, Serialize};
use vault::Passing;

use crate::Error;
use crate::bundle::{self, Key};
use crate::copies::Label;
use crate::home::Home;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Passage {
    pub from: String,
    pub to: String,
    /// How often this life has left that home, with this time.
    pub departure: u64,
    /// The public key of the home it left, and its signature over the label without it.
    pub owner: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub signature: String,
}

/// What an archive is to the home that looks at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// A copy like any other, whose original may live.
    Copy,
    /// The life itself, under a number that counts once.
    Moved(u64),
}

impl Passage {
    pub(crate) fn sign(label: &mut Label, home: &Home, to: &str, departure: u64) -> Result<(), Error> {
        let key = Key::of(home)?;
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

    /// Under which number this departure is taken in, for good.
    fn number(&self, label: &Label) -> u64 {
        let mut hasher = blake3::Hasher::new();
        for part in [&self.from, &self.to, &label.id, &label.tip] {
            hasher.update(part.as_bytes()).update(b"\n");
        }
        hasher.update(&self.departure.to_le_bytes());
        bundle::number(hasher.finalize().as_bytes())
    }
}

fn signed(label: &Label) -> Vec<u8> {
    let mut plain = label.clone();
    if let Some(passage) = &mut plain.passage {
        passage.signature = String::new();
    }
    serde_json::to_vec(&plain).expect("a label is plain data")
}

/// What this archive is here. `signed_by` is a key its owner vouches for; `take_over` the word that whoever else may have
/// the life has not.
pub(crate) fn standing(
    home: &Home,
    label: &Label,
    signed_by: Option<&str>,
    take_over: bool,
) -> Result<Standing, Error> {
    let Some(passage) = &label.passage else { return Ok(Standing::Copy) };
    if !bundle::is_signed(&signed(label), &passage.owner, &passage.signature) {
        return Err(Error::Damaged(
            "the label of this archive is not the one that was signed: it was written or changed by hand".into(),
        ));
    }
    let me = home.identity()?;
    if passage.to != me {
        if take_over {
            return Ok(Standing::Copy);
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
        return Ok(Standing::Copy);
    }
    if passage.owner != Key::of(home)?.public() && signed_by != Some(passage.owner.as_str()) {
        return Err(Error::Usage(format!(
            "this archive was signed with another key than yours. If `bardo home` says in the home it comes from that its \
             key is {0}, repeat with --signed-by {0}",
            passage.owner
        )));
    }
    Ok(Standing::Moved(number))
}

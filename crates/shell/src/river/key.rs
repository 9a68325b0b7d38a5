//! The key that all homes of one clade share. A home with this key reads and writes in the clade's name, so it is
//! handed over in a file that its owner alone can read, and never shown. The owner's own key stays where it is: moved
//! lives are addressed to it.

use std::fs;
use std::path::{Path, PathBuf};

use golem::hex;
use serde::{Deserialize, Serialize};
use styx::Clade;

use crate::home::Home;
use crate::{Error, private};

const VERSION: u32 = 1;

/// An invitation, with which a home joins a clade.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Invitation {
    bardo_clade: u32,
    key: String,
    /// The address of the relay, and the place of the archive, if there are any.
    #[serde(default)]
    pub relay: String,
    #[serde(default)]
    pub archive: String,
}

fn path(home: &Home) -> PathBuf {
    home.root().join("clade.key")
}

pub fn is_joined(home: &Home) -> bool {
    path(home).exists()
}

/// Makes the key if the home has no key yet; returns whether it did.
pub fn make(home: &Home) -> Result<bool, Error> {
    let new = !is_joined(home);
    if new {
        keep(home, &Clade::fresh())?;
    }
    Ok(new)
}

/// Reads the clade that this home belongs to, if any.
pub(crate) fn read(home: &Home) -> Result<Option<Clade>, Error> {
    let path = path(home);
    if !path.exists() {
        return Ok(None);
    }
    let text = fs::read_to_string(&path).map_err(Error::io("cannot read", &path))?;
    let clade = hex::decode(text.trim()).and_then(|bytes| Clade::of(&bytes));
    clade.map(Some).ok_or_else(|| {
        Error::Damaged(format!(
            "{} does not hold a key; restore it from a backup, or move it away and join again",
            path.display()
        ))
    })
}

/// Writes an invitation into a file that only its owner can read.
pub fn invite(home: &Home, to: &Path) -> Result<(), Error> {
    let (path, settings) = (path(home), home.settings()?);
    let text = fs::read_to_string(&path).map_err(Error::io("cannot read", &path))?;
    let given = |key: &str| settings.text(key).unwrap_or_default().to_owned();
    let (relay, archive) = (given("styx.url"), given("styx.archive"));
    let invitation = Invitation { bardo_clade: VERSION, key: text.trim().to_owned(), relay, archive };
    if to.exists() {
        return Err(Error::Usage(format!("{} is there already; name a new file", to.display())));
    }
    let text = serde_json::to_string(&invitation).expect("an invitation is plain data") + "\n";
    private::write(to, text.as_bytes()).map_err(Error::io("cannot write", to))
}

/// Joins the clade of an invitation. A home that belongs to another clade stays there.
pub fn accept(home: &Home, from: &Path) -> Result<Invitation, Error> {
    let text = fs::read_to_string(from).map_err(Error::io("cannot read", from))?;
    let refused = |why: &str| Error::Refused(format!("{}: {why}", from.display()));
    let invitation: Invitation = serde_json::from_str(&text)
        .map_err(|_| refused("it is not an invitation; `bardo styx init --invite FILE` makes one"))?;
    if invitation.bardo_clade != VERSION {
        return Err(refused("this program does not know its version"));
    }
    let key = hex::decode(&invitation.key).ok_or_else(|| refused("it has no key"))?;
    let clade = Clade::of(&key).ok_or_else(|| refused("it has no key"))?;
    match read(home)? {
        None => keep(home, &key)?,
        Some(known) if known.owner() == clade.owner() => {}
        Some(_) => {
            let path = path(home);
            return Err(Error::Refused(format!(
                "this home belongs to another clade; to leave that one, move {} away first",
                path.display()
            )));
        }
    }
    Ok(invitation)
}

fn keep(home: &Home, key: &[u8]) -> Result<(), Error> {
    let path = path(home);
    private::write(&path, format!("{}\n", hex::encode(key)).as_bytes()).map_err(Error::io("cannot write", &path))
}

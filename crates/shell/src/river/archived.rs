//! The archived copy of a golem, and how it is brought back: as a bundle that a new golem can be born with, and onto
//! the owner's shelf. The life itself is never in it; an end is an end.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use golem::grimoire::Entry;
use golem::grimoire::bundle::export;
use golem::inheritance::{BUDGET, Way, may_leave};
use golem::{GolemId, Life};
use serde::{Deserialize, Serialize};
use styx::archive::{Archive, Copy, Page};
use vault::Reader;
use vault::library::By;

use crate::home::key::OwnerKey;
use crate::home::{GolemHome, Home};
use crate::legacy::bundle::{self, pack};
use crate::{Error, durable, private};

/// A golem's copy in the archive.
#[derive(Serialize, Deserialize)]
struct ArchivedCopy {
    bundle: String,
    /// The testament as it was written, if the golem has died.
    testament: Option<String>,
}

/// A golem's legacy, brought back from the archive.
#[derive(Clone, Debug, Serialize)]
pub struct ArchivedLegacy {
    pub name: String,
    pub golem: String,
    pub tick: u64,
    pub dead: bool,
    pub entries: u64,
    /// The bundle that a new golem can be born with.
    pub bundle: PathBuf,
}

/// Makes the copy of a golem for the archive.
pub fn of(place: &GolemHome, now_ms: u64) -> Result<(GolemId, Copy, Vec<u8>), Error> {
    let reader = Reader::open(&place.database())?;
    let (golem, mut entries) = (reader.wake()?.0, reader.entries()?);
    let life = golem.life();
    let settled = life.is_dead() && place.legacy().exists();
    let (bundle, testament) = if settled {
        let read = |path: PathBuf| fs::read_to_string(&path).map_err(Error::io("cannot read", &path));
        (read(place.legacy())?, read(place.testament("json")).ok())
    } else {
        entries.retain(|entry| may_leave(entry, life, Way::Copied));
        (living(place, life, entries)?, None)
    };
    let entries = bundle.lines().count().saturating_sub(1) as u64;
    let copy = Copy { made: now_ms, tick: life.tick(), dead: settled, entries, object: String::new() };
    let text = serde_json::to_vec(&ArchivedCopy { bundle, testament }).expect("it is plain data");
    Ok((life.id(), copy, text))
}

/// Bundles the surest knowledge of a golem that still lives.
fn living(place: &GolemHome, life: &Life, mut entries: Vec<Entry>) -> Result<String, Error> {
    entries.sort_by(|a, b| b.confidence(life.now()).total_cmp(&a.confidence(life.now())).then(a.id.cmp(&b.id)));
    let lines: Vec<_> = entries.iter().take(BUDGET).map(|entry| export(entry, life)).collect();
    Ok(pack(&OwnerKey::of(place.home())?, place.name.as_str(), Some(life), &lines))
}

/// Brings back the newest copy of every golem in the archive: a bundle of it into the folder `clade`, and all of it
/// onto the shelf. Copies that are there already are brought up to date.
pub fn bring_back(home: &Home, archive: &str) -> Result<Vec<ArchivedLegacy>, Error> {
    let clade =
        super::key::read(home)?.ok_or_else(|| Error::Usage("this home belongs to no clade; join one first".into()))?;
    let clade = std::sync::Arc::new(clade);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|why| Error::Host(why.to_string()))?;
    runtime.block_on(async {
        let archive = Archive::open(archive, clade).map_err(trouble)?;
        let mut newest: BTreeMap<String, (Page, Copy)> = BTreeMap::new();
        for page in archive.pages().await.map_err(trouble)? {
            let Some(copy) = page.copies.last().cloned() else { continue };
            if newest.get(&page.golem).is_none_or(|(_, known)| known.made < copy.made) {
                newest.insert(page.golem.clone(), (page, copy));
            }
        }
        let mut left = Vec::with_capacity(newest.len());
        for (page, copy) in newest.into_values() {
            let golem: GolemId =
                page.golem.parse().map_err(|_| Error::Refused("the archive has a copy without a golem's id".into()))?;
            let text = archive.fetch(golem, &copy).await.map_err(trouble)?;
            left.push(put_down(home, &page, &copy, golem, &text)?);
        }
        Ok(left)
    })
}

fn put_down(home: &Home, page: &Page, copy: &Copy, golem: GolemId, text: &[u8]) -> Result<ArchivedLegacy, Error> {
    let name = golem::plain::line(&page.name, 64);
    let refused = |why: String| Error::Refused(format!("the archived copy of {name}: {why}"));
    let kept: ArchivedCopy = serde_json::from_slice(text).map_err(|why| refused(why.to_string()))?;
    // It was signed in a home that may no longer exist; its seal has shown that it is the clade's own.
    let known = bundle::unpack(&kept.bundle, "").map_err(refused)?;
    let folder = home.root().join("clade");
    private::folder(&folder).map_err(Error::io("cannot create", &folder))?;
    let stem: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
    let file = folder.join(format!("{stem}-{}.bundle", &page.golem[..8]));
    durable::write(&file, bundle::again(home, &known)?.as_bytes())?;
    if let Some(testament) = kept.testament {
        durable::write(&file.with_extension("testament.json"), testament.as_bytes())?;
    }
    let (mut library, now_ms) = (home.library()?, home.wall().now_ms());
    for line in &known.lines {
        let by = By { golem, name: &name, tried: line.evidence_for > 0.0, stranger: false, limited: false };
        library.shelve(line, by, now_ms)?;
    }
    let entries = known.lines.len() as u64;
    Ok(ArchivedLegacy { name, golem: page.golem.clone(), tick: copy.tick, dead: copy.dead, entries, bundle: file })
}

pub fn trouble(why: styx::archive::Error) -> Error {
    Error::Host(why.to_string())
}

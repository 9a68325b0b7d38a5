//! The archive: the knowledge of golems, sealed with the clade's key, in a folder or a bucket. Losing it does no harm,
//! and its operator cannot read it. Each object is named by the hash of its bytes; for each golem of each home one page
//! lists its objects, and only that home writes it.

use std::sync::Arc;

use futures_util::TryStreamExt;
use golem::{GolemId, hex};
use object_store::aws::AmazonS3Builder;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use serde::{Deserialize, Serialize};

use crate::client::tls;
use crate::key::Clade;

const DAY_MS: u64 = 86_400_000;
/// Copies kept of the present day; of every day before it, only the last is kept.
const TODAY: usize = 4;
/// The largest object that is read, in bytes.
const MOST: u64 = 64 << 20;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("'{0}' is neither a folder nor an s3:// address")]
    Nowhere(String),
    #[error("the archive cannot be used: {0}")]
    Store(#[from] object_store::Error),
    #[error("the archive does not answer")]
    Late,
    #[error("the archive does not give back what was stored ({0}); it is damaged, or another owner's")]
    Damaged(String),
}

/// The archived copies of one golem.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page {
    pub home: String,
    pub golem: String,
    pub name: String,
    /// Copies, oldest first.
    pub copies: Vec<Copy>,
}

/// One archived copy of a golem's knowledge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Copy {
    /// Milliseconds since 1970.
    pub made: u64,
    pub tick: u64,
    /// The golem has died, and this is everything it knew.
    pub dead: bool,
    pub entries: u64,
    /// The name of the object.
    pub object: String,
}

pub struct Archive {
    store: Box<dyn ObjectStore>,
    root: Path,
    clade: Arc<Clade>,
}

impl Archive {
    /// Opens a folder, or `s3://bucket/prefix` with the `AWS_` variables of the environment.
    pub fn open(place: &str, clade: Arc<Clade>) -> Result<Archive, Error> {
        Archive::open_in(place, clade, std::env::vars())
    }

    /// Opens an archive with this environment in place of the process's own.
    pub fn open_in(
        place: &str,
        clade: Arc<Clade>,
        environment: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Archive, Error> {
        let nowhere = || Error::Nowhere(place.to_owned());
        let whose = hex::encode(&blake3::hash(&clade.owner().0).as_bytes()[..16]);
        if let Some(rest) = place.strip_prefix("s3://") {
            let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
            tls();
            let mut store = AmazonS3Builder::new().with_bucket_name(bucket);
            for (name, value) in environment {
                if name.starts_with("AWS_")
                    && let Ok(key) = name.to_ascii_lowercase().parse()
                {
                    store = store.with_config(key, value);
                }
            }
            let store = store.build()?;
            let root = Path::from_iter(prefix.split('/').filter(|part| !part.is_empty()).chain([whose.as_str()]));
            return Ok(Archive { store: Box::new(store), root, clade });
        }
        if place.contains("://") {
            return Err(nowhere());
        }
        std::fs::create_dir_all(place).map_err(|_| nowhere())?;
        let store = LocalFileSystem::new_with_prefix(place)?.with_fsync(true);
        Ok(Archive { store: Box::new(store), root: Path::from(whose), clade })
    }

    /// Stores a copy of a golem's knowledge. It is there once this returns: it was read back.
    pub async fn keep(
        &self,
        home: [u8; 16],
        golem: GolemId,
        name: &str,
        copy: Copy,
        text: &[u8],
        keep_ms: u64,
    ) -> Result<(), Error> {
        let sealed = self.clade.seal(&header(golem), text);
        let object = hex::encode(blake3::hash(&sealed).as_bytes());
        let (at, now) = (self.object(&object), copy.made);
        self.store.put(&at, sealed.clone().into()).await?;
        if self.read(&at).await? != sealed {
            return Err(Error::Damaged(at.to_string()));
        }
        let of = self.page_path(home, golem);
        let known = match self.read(&of).await {
            Ok(sealed) => self.page(&sealed),
            Err(Error::Store(object_store::Error::NotFound { .. })) => None,
            Err(other) => return Err(other),
        };
        let mut page = known.unwrap_or_else(|| Page {
            home: hex::encode(&home),
            golem: hex::encode(&golem.0),
            name: String::new(),
            copies: Vec::new(),
        });
        name.clone_into(&mut page.name);
        page.copies.retain(|known| known.object != object);
        page.copies.push(Copy { object, ..copy });
        let dropped = thin(&mut page.copies, now, keep_ms);
        let text = serde_json::to_vec(&page).expect("a page is plain data");
        self.store.put(&of, self.clade.seal(PAGE, &text).into()).await?;
        for old in dropped {
            self.store.delete(&self.object(&old)).await?;
        }
        Ok(())
    }

    /// The pages of all golems of all homes.
    pub async fn pages(&self) -> Result<Vec<Page>, Error> {
        let prefix = self.root.clone().join("pages");
        let found: Vec<_> = self.store.list(Some(&prefix)).try_collect().await?;
        let mut pages = Vec::with_capacity(found.len());
        for meta in found {
            let page = self.page(&self.read(&meta.location).await?);
            pages.push(page.ok_or_else(|| Error::Damaged(meta.location.to_string()))?);
        }
        pages.sort_by(|a, b| (&a.name, &a.golem).cmp(&(&b.name, &b.golem)));
        Ok(pages)
    }

    /// Reads a copy back.
    pub async fn fetch(&self, golem: GolemId, copy: &Copy) -> Result<Vec<u8>, Error> {
        let at = self.object(&copy.object);
        let sealed = self.read(&at).await?;
        let damaged = || Error::Damaged(at.to_string());
        if hex::encode(blake3::hash(&sealed).as_bytes()) != copy.object {
            return Err(damaged());
        }
        self.clade.open(&header(golem), &sealed).ok_or_else(damaged)
    }

    async fn read(&self, at: &Path) -> Result<Vec<u8>, Error> {
        let found = self.store.get(at).await?;
        if found.meta.size > MOST {
            return Err(Error::Damaged(at.to_string()));
        }
        Ok(found.bytes().await?.to_vec())
    }

    fn page(&self, sealed: &[u8]) -> Option<Page> {
        serde_json::from_slice(&self.clade.open(PAGE, sealed)?).ok()
    }

    fn object(&self, object: &str) -> Path {
        self.root.clone().join("objects").join(object)
    }

    fn page_path(&self, home: [u8; 16], golem: GolemId) -> Path {
        self.root.clone().join("pages").join(hex::encode(&home)).join(hex::encode(&golem.0))
    }
}

const PAGE: &[u8] = b"bardo archive 1 page";

fn header(golem: GolemId) -> Vec<u8> {
    [b"bardo archive 1 copy".as_slice(), &golem.0].concat()
}

/// Takes out copies that are too old, or too many for their day; the newest always stays. Returns the objects to
/// delete.
fn thin(copies: &mut Vec<Copy>, now: u64, keep_ms: u64) -> Vec<String> {
    let mut kept: Vec<Copy> = Vec::with_capacity(copies.len());
    let mut dropped = Vec::new();
    for (nth, copy) in std::mem::take(copies).into_iter().rev().enumerate() {
        let day = |copy: &Copy| copy.made / DAY_MS;
        let same = kept.iter().filter(|newer| day(newer) == day(&copy)).count();
        let room = if day(&copy) == now / DAY_MS { TODAY } else { 1 };
        if nth == 0 || (same < room && copy.made + keep_ms >= now) {
            kept.push(copy);
        } else {
            dropped.push(copy.object);
        }
    }
    kept.reverse();
    *copies = kept;
    dropped
}

impl std::fmt::Debug for Archive {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Archive").field("store", &self.store).finish_non_exhaustive()
    }
}

//! The owner's home: one folder with the treasury, the golems, their heads and imported data.
//!
//! ```text
//! $BARDO_HOME/bardo.toml   treasury.db   heads/ID   data/NAME.csv
//!             golems/NAME/golem.toml  life.db  secret  world.log  inbox/  FROZEN
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use golem::{GolemId, Name};
use vault::{Place, Treasury};
use world::{Ledger, Spec, World};

use crate::Error;
use crate::config::{self, File, Settings};

#[derive(Clone, Debug)]
pub struct Home {
    root: PathBuf,
}

/// The folder of one golem.
#[derive(Clone, Debug)]
pub struct GolemHome {
    pub name: Name,
    pub folder: PathBuf,
    home: Home,
}

impl Home {
    pub fn at(root: PathBuf) -> Home {
        Home { root }
    }

    /// Makes the home, or completes it: what is there is left as it is. Says whether it was new.
    pub fn init(&self, settings: &Settings) -> Result<bool, Error> {
        for folder in [self.root.clone(), self.golems(), self.heads(), self.data()] {
            fs::create_dir_all(&folder).map_err(Error::io("cannot create", &folder))?;
        }
        let path = self.config();
        if !path.exists() {
            fs::write(&path, config::template(File::Bardo)).map_err(Error::io("cannot write", &path))?;
        }
        let new = !self.treasury_path().exists();
        let mut treasury = Treasury::open(&self.treasury_path())?;
        treasury.begin_with(settings.money("treasury.opening"))?;
        Ok(new)
    }

    /// Tells this home from every other, wherever it stands; drawn when first asked for.
    pub fn identity(&self) -> Result<String, Error> {
        let path = self.root.join("home-id");
        if !path.exists() {
            let id = crate::chance::identity(None, "").to_string();
            fs::write(&path, id)
                .and_then(|()| fs::File::open(&path)?.sync_all())
                .map_err(Error::io("cannot write", &path))?;
        }
        fs::read_to_string(&path).map_err(Error::io("cannot read", &path))
    }

    pub fn require(&self) -> Result<&Home, Error> {
        if self.treasury_path().exists() { Ok(self) } else { Err(Error::NoHome(self.root.clone())) }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn config(&self) -> PathBuf {
        self.root.join("bardo.toml")
    }

    pub fn golems(&self) -> PathBuf {
        self.root.join("golems")
    }

    pub fn heads(&self) -> PathBuf {
        self.root.join("heads")
    }

    pub fn library(&self) -> Result<vault::Library, Error> {
        Ok(vault::Library::open(&self.root.join("library.db"))?)
    }

    pub fn data(&self) -> PathBuf {
        self.root.join("data")
    }

    pub fn attic(&self) -> PathBuf {
        self.root.join("attic")
    }

    fn treasury_path(&self) -> PathBuf {
        self.root.join("treasury.db")
    }

    pub fn treasury(&self) -> Result<Treasury, Error> {
        Ok(Treasury::open(&self.require()?.treasury_path())?)
    }

    /// Opens a world by the description in a birth record. Data is named relative to the home, so that a
    /// life can move to another one that has the same data.
    pub fn open_world(&self, spec: &str, ledger: Ledger) -> Result<Box<dyn World + Send>, Error> {
        let mut spec: Spec = serde_json::from_str(spec)
            .map_err(|e| Error::Advice(format!("the world this golem was born into cannot be opened: {e}")))?;
        if let Spec::Replay { path, sha256, .. } = &mut spec {
            *path = self.root.join(&*path);
            if sha256.is_some() && *sha256 != Some(crate::data::digest(path)?) {
                return Err(Error::Advice(format!(
                    "{} is not the data this golem was born into; bring the old file back",
                    path.display()
                )));
            }
        }
        Ok(spec.open(ledger)?)
    }

    /// The folder a golem of this name has or would have.
    pub fn place(&self, name: &Name) -> GolemHome {
        GolemHome { name: name.clone(), folder: self.golems().join(name.as_str()), home: self.clone() }
    }

    /// A golem that exists.
    pub fn golem(&self, name: &str) -> Result<GolemHome, Error> {
        self.require()?;
        let found = name.parse().ok().map(|name| self.place(&name)).filter(|golem| golem.database().exists());
        found.ok_or_else(|| Error::NoGolem(name.to_owned()))
    }

    /// Every golem here, by name.
    pub fn list(&self) -> Result<Vec<GolemHome>, Error> {
        let folder = self.require()?.golems();
        let mut names: Vec<Name> = fs::read_dir(&folder)
            .map_err(Error::io("cannot read", &folder))?
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
            .collect();
        names.sort();
        Ok(names.iter().map(|name| self.place(name)).filter(|golem| golem.database().exists()).collect())
    }
}

impl GolemHome {
    pub fn vault(&self) -> Place {
        Place { folder: self.folder.clone(), heads: self.home.heads() }
    }

    pub fn home(&self) -> &Home {
        &self.home
    }

    pub fn database(&self) -> PathBuf {
        self.vault().database()
    }

    pub fn config(&self) -> PathBuf {
        self.folder.join("golem.toml")
    }

    pub fn secret(&self) -> PathBuf {
        self.folder.join("secret")
    }

    /// The world's own record of what was committed.
    pub fn ledger(&self) -> PathBuf {
        self.folder.join("world.log")
    }

    pub fn playbook(&self) -> PathBuf {
        self.folder.join("PLAYBOOK.md")
    }

    /// What it leaves: for people, for programs, and for an heir.
    pub fn testament(&self, kind: &str) -> PathBuf {
        self.folder.join(format!("testament.{kind}"))
    }

    pub fn legacy(&self) -> PathBuf {
        self.folder.join("legacy.bundle")
    }

    /// What it was left and has not taken in yet.
    pub fn inheritance(&self) -> PathBuf {
        self.folder.join("inheritance.bundle")
    }

    pub fn inbox(&self) -> PathBuf {
        self.folder.join("inbox")
    }

    /// A plain file, so that freezing needs nobody's cooperation: no lock, no database, no living process.
    pub fn frozen_marker(&self) -> PathBuf {
        self.folder.join("FROZEN")
    }

    /// The owner's reason, if it is marked frozen; a marker nobody can read still counts.
    pub fn frozen(&self) -> Option<String> {
        let marker = self.frozen_marker();
        marker.exists().then(|| std::fs::read_to_string(marker).unwrap_or_default())
    }

    /// Whether this folder holds the life with this id.
    pub fn is(&self, id: GolemId) -> bool {
        vault::Reader::open(&self.database()).and_then(|reader| reader.id()).is_ok_and(|other| other == id)
    }
}

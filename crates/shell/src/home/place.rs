//! The owner's home, one folder with the treasury, the golems, their heads and imported data, and the place of each
//! golem in it.
//!
//! ```text
//! $BARDO_HOME/bardo.toml   prices.csv   treasury.db   heads/ID   data/NAME.csv   clock   reserve
//!             golems/NAME/golem.toml  life.db  secret  world.log  inbox/  FROZEN
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use golem::{GolemId, Life, Name};
use settings::chance;
use settings::{File, Settings};
use vault::archive::{self, Retention};
use vault::{Head, Holder, Place, Reader, Treasury};
use world::Spec;

use crate::wall::Wall;
use crate::{Error, durable, private};

/// The folder of an owner: paths and files, and nothing that runs. A process that runs golems there has a
/// [`crate::Runtime`] beside it.
#[derive(Clone, Debug)]
pub struct Home {
    root: PathBuf,
    /// The clock by which dates in its files are written and read.
    wall: Wall,
}

/// The folder of one golem. Its name is what the golem is called: the record of a life has only the name at birth.
#[derive(Clone, Debug)]
pub struct GolemHome {
    pub name: Name,
    pub folder: PathBuf,
    home: Home,
}

impl Home {
    pub fn at(root: PathBuf) -> Home {
        Home { root, wall: Wall::default() }
    }

    /// The home that was named, else `$BARDO_HOME`, else the platform's data folder.
    pub fn locate(named: Option<PathBuf>) -> Result<Home, Error> {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let data = || match set("HOME") {
            Some(user) if cfg!(target_os = "macos") => Some(user.join("Library/Application Support")),
            Some(user) => Some(set("XDG_DATA_HOME").unwrap_or_else(|| user.join(".local/share"))),
            None => None,
        };
        let root = named.or_else(|| set("BARDO_HOME")).or_else(|| data().map(|data| data.join("bardo")));
        let unknown = || Error::Usage("cannot tell where home is; set BARDO_HOME or pass --home".into());
        root.map(Home::at).ok_or_else(unknown)
    }

    /// A home in a simulation, on its clock.
    pub fn simulated(root: PathBuf, wall: &Wall) -> Home {
        Home { root, wall: wall.clone() }
    }

    /// The owner's settings: bardo.toml if there is one, and the environment.
    pub fn settings(&self) -> Result<Settings, Error> {
        let path = self.config();
        let path = path.exists().then_some(path.as_path());
        Ok(Settings::load(File::Bardo, path, std::env::vars(), &[])?)
    }

    /// Sets a key of bardo.toml.
    pub fn set(&self, key: &str, to: &str) -> Result<(), Error> {
        let path = self.config();
        let text = if path.exists() {
            fs::read_to_string(&path).map_err(Error::io("cannot read", &path))?
        } else {
            String::new()
        };
        let text = settings::put(File::Bardo, &path.display().to_string(), &text, key, to).map_err(Error::Usage)?;
        durable::write(&path, text.as_bytes())
    }

    /// Retention: how much of a journal a life keeps in its file here; none if the settings cannot be read.
    pub(crate) fn retention(&self) -> Option<Retention> {
        self.settings().ok().map(|settings| retention(&settings))
    }

    /// Makes the home, or completes it: existing files are left as they are, but closed to other users. Says whether
    /// it was new.
    pub fn init(&self, settings: &Settings) -> Result<bool, Error> {
        private::folder(&self.root).map_err(Error::io("cannot create", &self.root))?;
        // Of processes that come at once one makes it, and the others find it made. The lock goes with this file.
        let alone = fs::File::open(&self.root).map_err(Error::io("cannot open", &self.root))?;
        alone.lock().map_err(Error::io("cannot lock", &self.root))?;
        for folder in [self.golems(), self.heads(), self.data()] {
            private::folder(&folder).map_err(Error::io("cannot create", &folder))?;
        }
        private::close(&self.root).map_err(Error::io("cannot close to others", &self.root))?;
        let path = self.config();
        if !path.exists() {
            durable::write(&path, settings::template(File::Bardo).as_bytes())?;
        }
        let new = !self.is_known();
        if !new && !Treasury::is_known(&self.root, &self.heads()) {
            let what = "there are golems here, and both treasury.db and its head are missing";
            return Err(vault::Error::unanchored(what).into());
        }
        Treasury::begin(&self.root, &self.heads(), settings.money("treasury.opening"))?;
        Ok(new)
    }

    /// The id of this home, which tells it from every other, wherever it stands; drawn when first asked for.
    pub fn identity(&self) -> Result<String, Error> {
        let path = self.root.join("home-id");
        if !path.exists() {
            let id = chance::identity(None, "").to_string();
            let aside = self.root.join(format!(".home-id-{id}"));
            private::write(&aside, id.as_bytes()).map_err(Error::io("cannot write", &aside))?;
            // The first process to link its file has named this home.
            let _ = fs::hard_link(&aside, &path);
            let _ = fs::remove_file(&aside);
        }
        fs::read_to_string(&path).map_err(Error::io("cannot read", &path))
    }

    /// Whether anything was ever acknowledged here.
    pub fn is_known(&self) -> bool {
        let is_head = |name: &str| name.parse::<GolemId>().is_ok();
        let heads = || fs::read_dir(self.heads()).into_iter().flatten().flatten().map(|head| head.file_name());
        let anyone = || heads().any(|name| name.to_str().is_some_and(is_head));
        Treasury::is_known(&self.root, &self.heads()) || anyone()
    }

    pub fn require(&self) -> Result<&Home, Error> {
        if self.is_known() { Ok(self) } else { Err(Error::NoHome(self.root.clone())) }
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

    /// The token that a client of the API must send.
    pub fn token(&self) -> PathBuf {
        self.root.join("api-token")
    }

    /// The folder in which a host that is up is told that a golem has a letter.
    pub fn bells(&self) -> PathBuf {
        self.root.join("bells")
    }

    /// Whether a host is up, living this home's golems.
    pub fn is_up(&self) -> bool {
        vault::Log::is_taken(&self.heads())
    }

    pub fn treasury(&self) -> Result<Treasury, Error> {
        Ok(Treasury::open(&self.require()?.root, &self.heads())?)
    }

    /// The treasury for reading only, also where nothing can be written.
    pub fn treasury_to_read(&self) -> Result<Treasury, Error> {
        Ok(Treasury::to_read(&self.require()?.root, &self.heads())?)
    }

    pub fn wall(&self) -> &Wall {
        &self.wall
    }

    /// The folder of a golem of this name, whether it exists or not.
    pub fn place(&self, name: &Name) -> GolemHome {
        GolemHome { name: name.clone(), folder: self.golems().join(name.as_str()), home: self.clone() }
    }

    /// A golem that exists, by its name or by one that leads to it.
    pub fn golem(&self, name: &str) -> Result<GolemHome, Error> {
        self.require()?;
        let found = name.parse().ok().map(|name| self.place(&name)).filter(|golem| golem.database().exists());
        let led = || self.lead(name).filter(|place| place.database().exists());
        found.or_else(led).ok_or_else(|| Error::NoGolem(name.to_owned()))
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

    /// Why no process can run this golem, if the owner has to see to it: it has no head here, or a stranger has its
    /// lock.
    pub fn unlivable(&self, id: GolemId) -> Option<(&'static str, String)> {
        let heads = self.home.heads();
        if Head::peek(&heads, id).is_none() {
            return Some(("no head", "its head is missing or damaged; `bardo doctor` looks at it".to_owned()));
        }
        let path = Head::path(&heads, id);
        match Head::is_taken(&heads, id).then(|| Holder::of(&path)) {
            Some(holder @ Holder::Stranger(_)) => {
                Some(("locked", format!("{holder} holds its lock, {}", path.display())))
            }
            Some(Holder::Ours(_)) | None => None,
        }
    }

    /// Tells a host that is up that there is something in the inbox; without a host there is nothing to tell.
    pub fn ring(&self) {
        let bells = self.home.bells();
        if bells.exists() {
            // A host that misses the bell looks into the inbox at the next tick anyway.
            let _ = fs::write(bells.join(self.name.as_str()), "");
        }
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

    /// The folder of archived segments of its journal.
    pub fn archive(&self) -> PathBuf {
        archive::folder_beside(&self.database())
    }

    /// The file that names the programs of its world and its mind here.
    pub fn programs(&self) -> PathBuf {
        self.folder.join("programs.json")
    }

    /// The folder where these programs keep their state.
    pub fn own(&self) -> PathBuf {
        self.folder.join("programs")
    }

    /// The folder of the program that carries out its orders: it may hold a key, so a mind must not read it.
    pub fn orders(&self) -> PathBuf {
        self.folder.join("orders")
    }

    /// The world's own record of what was committed.
    pub fn ledger(&self) -> PathBuf {
        self.folder.join("world.log")
    }

    /// The token with which its agent opens the gateway.
    pub fn agent_token(&self) -> PathBuf {
        self.folder.join("agent-token")
    }

    /// The commands of its checks, and their results.
    pub fn checks(&self) -> PathBuf {
        self.folder.join("checks.json")
    }

    pub fn check_results(&self) -> PathBuf {
        self.folder.join("checks.log")
    }

    pub fn playbook(&self) -> PathBuf {
        self.folder.join("PLAYBOOK.md")
    }

    /// Questions to models and their answers, word for word.
    pub fn thoughts(&self) -> PathBuf {
        self.folder.join("thoughts")
    }

    /// The testament: one file for people, one for programs.
    pub fn testament(&self, kind: &str) -> PathBuf {
        self.folder.join(format!("testament.{kind}"))
    }

    /// The file for everything that the program of its life leaves.
    pub fn remains(&self) -> PathBuf {
        self.folder.join("remains.json")
    }

    pub fn legacy(&self) -> PathBuf {
        self.folder.join("legacy.bundle")
    }

    /// The bundle it was left and has not taken in yet.
    pub fn inheritance(&self) -> PathBuf {
        self.folder.join("inheritance.bundle")
    }

    /// The bundle it was left, once it has been taken in.
    pub fn inherited(&self) -> PathBuf {
        self.folder.join("inherited.bundle")
    }

    pub fn inbox(&self) -> PathBuf {
        self.folder.join("inbox")
    }

    /// The marker of a frozen golem: a plain file, so that freezing needs no lock, no database and no living process.
    pub fn frozen_marker(&self) -> PathBuf {
        self.folder.join("FROZEN")
    }

    /// The marker of a dead golem whose automatic heir could not be made: how often it was tried, and when.
    pub(crate) fn heirless_marker(&self) -> PathBuf {
        self.folder.join("HEIRLESS")
    }

    /// The marker that the program which carried out its orders has sent home what was left.
    pub(crate) fn gone_home_marker(&self) -> PathBuf {
        self.folder.join("GONE_HOME")
    }

    /// Whether a program carries out its orders: then its capital is with that program, and not on paper.
    pub fn is_ordered(life: &Life) -> bool {
        serde_json::from_str(&life.birth().world.spec).is_ok_and(|spec: Spec| spec.is_ordered())
    }

    /// Whether nothing of it is left with the program that carried out its orders. An owner who buries it gives up the
    /// rest.
    pub fn has_gone_home(&self, life: &Life) -> bool {
        !GolemHome::is_ordered(life) || self.gone_home_marker().exists() || self.is_buried()
    }

    /// The owner's reason, if it is marked frozen; a marker that cannot be read still counts.
    pub fn frozen(&self) -> Option<String> {
        let marker = self.frozen_marker();
        marker.exists().then(|| std::fs::read_to_string(marker).unwrap_or_default())
    }

    /// Whether the owner has put it away: dead, and out of the lists.
    pub fn is_buried(&self) -> bool {
        self.buried_marker().exists()
    }

    fn buried_marker(&self) -> PathBuf {
        self.folder.join("BURIED")
    }

    /// Buries a dead golem. One that lives, is still dying or has something that is not home yet stays in the lists,
    /// unless the owner gives that up.
    pub fn bury(&self, unfinished: bool) -> Result<(), Error> {
        let (golem, _) = self.wake()?;
        let name = &self.name;
        if !golem.life().is_dead() {
            return Err(Error::Refused(format!("{name} is alive; only the dead are buried")));
        }
        if !golem.owes_nothing() {
            let advice = format!("{name} has not come to its end yet; `bardo golem run {name}` lets it");
            return Err(Error::Refused(advice));
        }
        if !unfinished && !self.has_gone_home(golem.life()) {
            return Err(Error::Refused(format!(
                "what {name} had is not home yet; `bardo golem run {name}` sends it there, `bardo golem bury {name} --unfinished` leaves it where it is"
            )));
        }
        let marker = self.buried_marker();
        fs::write(&marker, "").map_err(Error::io("cannot write", &marker))
    }

    pub fn unbury(&self) -> Result<(), Error> {
        let marker = self.buried_marker();
        if !self.is_buried() {
            return Err(Error::Refused(format!("{} is not buried", self.name)));
        }
        fs::remove_file(&marker).map_err(Error::io("cannot remove", &marker))
    }

    /// Whether this folder holds the life with this id.
    pub fn is(&self, id: GolemId) -> bool {
        Reader::open(&self.database()).and_then(|reader| reader.id()).is_ok_and(|other| other == id)
    }
}

fn retention(settings: &Settings) -> Retention {
    match settings.text("journal.retention") {
        Some("whole") => Retention::Whole,
        Some("span") => Retention::Span(settings.span("journal.span")),
        Some("archived") => Retention::Archived,
        other => unreachable!("the table offers no retention {other:?}"),
    }
}

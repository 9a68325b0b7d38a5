//! Programs of an owner's, as worlds and as minds. The commands stand in a file of this home and in no birth
//! record, so that whatever comes here from elsewhere runs nothing its owner has not written here.

use std::path::{Path, PathBuf};
use std::time::Duration;

use golem::Life;
use outside::fence::Fence;
use outside::{Launch, Limits, Settled};
use serde::{Deserialize, Serialize};

use super::checks::PASSED_ON;
use crate::home::GolemHome;
use crate::{Error, durable, private};

/// How long a program that crashed rests before it is started again, at first and at most.
const RESTS: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(60));

/// How long a program rests that crashed so often in a row before.
pub(super) fn rests(falls: u32) -> Duration {
    (RESTS.0 * 2_u32.pow(falls.min(10))).min(RESTS.1)
}

/// A program of the owner's, as it was written here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// The command, one line for the shell.
    pub command: String,
    /// The folder it runs in.
    pub folder: PathBuf,
    /// Variables of the environment that it is given, by name.
    #[serde(default)]
    pub environment: Vec<String>,
    /// Whether it may write to its own folder alone, and nowhere else.
    #[serde(default)]
    pub confined: bool,
    /// Mebibytes of memory it may ask for.
    #[serde(default)]
    pub memory: Option<u64>,
    /// Seconds it may take for an answer.
    #[serde(default = "ten")]
    pub answers_within: u64,
}

fn ten() -> u64 {
    10
}

/// The programs of one golem.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Programs {
    #[serde(default)]
    pub world: Option<Run>,
    /// The program that carries out its orders, if the world itself only shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub orders: Option<Run>,
    #[serde(default)]
    pub mind: Option<Run>,
}

impl Programs {
    pub fn read(place: &GolemHome) -> Result<Programs, Error> {
        let path = place.programs();
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(missing) if missing.kind() == std::io::ErrorKind::NotFound => return Ok(Programs::default()),
            Err(other) => return Err(Error::io("cannot read", &path)(other)),
        };
        serde_json::from_str(&text)
            .map_err(|why| Error::Damaged(format!("{} does not name a program: {why}", path.display())))
    }

    pub fn write(&self, place: &GolemHome) -> Result<(), Error> {
        durable::write(&place.programs(), self.text().as_bytes())
    }

    pub(super) fn text(&self) -> String {
        serde_json::to_string_pretty(self).expect("plain data") + "\n"
    }
}

impl Run {
    /// How to start it for this golem, which keeps its state in this folder of a home.
    pub(super) fn launch(&self, home: &Path, own: &Path) -> Launch {
        let named = |name: &str| std::env::var(name).ok().map(|value| (name.to_owned(), value));
        let others = self.environment.iter().map(String::as_str);
        let everything = if self.confined { vec![PathBuf::from("/")] } else { Vec::new() };
        let mut given = vec![own.to_owned()];
        if self.confined {
            given.extend(["/dev/null", "/dev/shm", "/tmp"].map(PathBuf::from).into_iter().filter(|path| path.exists()));
        }
        Launch {
            command: vec!["sh".to_owned(), "-c".to_owned(), format!("exec {}", self.command)],
            folder: self.folder.clone(),
            environment: PASSED_ON.into_iter().chain(others).filter_map(named).collect(),
            // Without a home yet, as when a program is only checked, there is nothing to hide.
            fence: Some(Fence {
                hidden: home.exists().then(|| home.to_owned()).into_iter().collect(),
                protected: everything,
                given,
            }),
            memory: self.memory.map(|mebibytes| mebibytes << 20),
        }
    }

    /// How to start it for this life, and the variables that tell it its place.
    pub(super) fn settle(
        &self,
        place: &GolemHome,
        life: &Life,
        seed: u64,
        own: PathBuf,
    ) -> Result<(Launch, Settled), Error> {
        private::folder(&own).map_err(Error::io("cannot create", &own))?;
        // The name at birth: a program that keeps something under it finds it again, whatever the golem is called now.
        let (golem, id) = (life.birth().name.to_string(), Some(life.id().to_string()));
        let settled = Settled { golem, id, folder: own.display().to_string(), seed };
        Ok((self.launch(place.home().root(), &own), settled))
    }

    pub(super) fn limits(&self) -> Limits {
        let answer = Duration::from_secs(self.answers_within.clamp(1, 600));
        Limits { answer, hello: answer * 3, ..Limits::default() }
    }
}

/// The command of the program keeper: this executable, whatever has become of its file.
pub fn keeper() -> Vec<String> {
    let here = if cfg!(target_os = "linux") {
        "/proc/self/exe".to_owned()
    } else {
        std::env::current_exe().unwrap_or_default().display().to_string()
    };
    vec![here, "keep".to_owned()]
}

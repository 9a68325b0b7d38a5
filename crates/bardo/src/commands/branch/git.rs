//! The runtime's own git. It never reads the settings, hooks, attributes or exclusions of a repository where they could name a
//! program: for each use a folder is made in the home whose `objects` and `refs` are links to the repository's, and whose settings
//! are ours. A driver or filter that a `.gitattributes` names has no command there. A fence lets it write to nothing but what the
//! command is about, and a time limit ends it.
//!
//! One way is left by which git runs programs on its own: in a repository within the tree it asks for changes by another git, which
//! reads the settings found there. So no command here is ever given an index that has such a repository in it ([`super::index`]).

use std::fs::{self, File};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use outside::fence::{self, Fence};
use shell::{Error, GolemHome};

use super::repository::Repository;

/// How long one command may take: an agent may leave a file that is larger than any disk.
const LIMIT: Duration = Duration::from_secs(600);
const EVERY: Duration = Duration::from_millis(5);
/// Bytes of an answer that are read.
const READS: u64 = 64 << 20;
/// Letters of a complaint that are passed on.
const COMPLAINS: usize = 400;
/// The folder, among a golem's, that is made for each use.
const PREFIX: &str = ".git-";
/// Options of every command, beside settings that are ours.
const OPTIONS: [&str; 9] = [
    "--no-pager",
    "--literal-pathspecs",
    "--no-replace-objects",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "submodule.recurse=false",
];
/// The whole environment of every command, beside the places of its files.
const ENVIRONMENT: [(&str, &str); 7] = [
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("LC_ALL", "C"),
];
/// Settings of the owner's that change how files are read and written, and name no program.
const TAKEN_OVER: [&str; 5] = ["core.filemode", "core.ignorecase", "core.symlinks", "core.autocrlf", "core.eol"];

/// The name and the address in a commit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Identity<'a> {
    pub(super) name: &'a str,
    pub(super) email: &'a str,
}

/// The files that a command is about.
#[derive(Clone, Copy, Debug)]
pub(super) struct GitFiles<'a> {
    pub(super) tree: &'a Path,
    pub(super) index: &'a Path,
    /// Folders that the command may write to, beside objects and the branches of lines.
    pub(super) opens: &'a [&'a Path],
    pub(super) identity: Option<Identity<'a>>,
}

/// The end of a command.
#[derive(Debug)]
pub(super) struct GitExit {
    pub(super) code: Option<i32>,
    pub(super) said: Vec<u8>,
    pub(super) complaint: String,
}

#[derive(Debug)]
pub(super) struct RuntimeGit<'a> {
    repository: &'a Repository,
    program: PathBuf,
    folder: tempfile::TempDir,
    /// An index that is never written.
    no_index: PathBuf,
}

impl<'a> RuntimeGit<'a> {
    /// A git for this repository, whose HEAD is this branch; its folder is made among this golem's.
    pub(super) fn of(place: &GolemHome, repository: &'a Repository, branch: &str) -> Result<RuntimeGit<'a>, Error> {
        clear_remains(&place.folder);
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(&place.folder);
        let folder = folder.map_err(Error::io("cannot create a folder in", &place.folder))?;
        let no_index = folder.path().join("no-index");
        let git = RuntimeGit { repository, program: program(&repository.root)?, folder, no_index };
        git.furnish(branch).map_err(Error::io("cannot write to", git.folder.path()))?;
        let refs = git.setting("extensions.refstorage")?.filter(|refs| refs != "files");
        if let Some(refs) = refs {
            return Err(Error::Usage(format!(
                "{} keeps its branches as {refs}, and --branch knows those in files only",
                repository.root.display()
            )));
        }
        git.configure()?;
        Ok(git)
    }

    /// An index of its own, which no agent has written to.
    pub(super) fn index(&self) -> PathBuf {
        self.folder.path().join("index")
    }

    /// Has files read byte for byte from now on, whatever encoding a `.gitattributes` says they are in.
    pub(super) fn keep_encodings(&self) -> Result<(), Error> {
        let path = self.folder.path().join("info/attributes");
        fs::write(&path, "* !working-tree-encoding\n").map_err(Error::io("cannot write", &path))
    }

    fn furnish(&self, branch: &str) -> std::io::Result<()> {
        let (folder, common) = (self.folder.path(), &self.repository.common);
        for name in ["info", "logs"] {
            fs::create_dir(folder.join(name))?;
        }
        for name in ["objects", "refs", "packed-refs", "shallow", "logs/refs"] {
            if common.join(name).exists() {
                symlink(common.join(name), folder.join(name))?;
            }
        }
        let log = self.repository.own.join("logs/HEAD");
        // The owner's own log of changes has those of the branch that they are on.
        if log.is_file() && !branch.starts_with("refs/heads/bardo/") {
            symlink(log, folder.join("logs/HEAD"))?;
        }
        fs::write(folder.join("HEAD"), format!("ref: {branch}\n"))?;
        fs::write(folder.join("config"), "[core]\n\trepositoryformatversion = 0\n\tbare = false\n")?;
        // Patterns alone.
        match fs::read(common.join("info/exclude")) {
            Ok(patterns) => fs::write(folder.join("info/exclude"), patterns),
            Err(_) => Ok(()),
        }
    }

    fn configure(&self) -> Result<(), Error> {
        let mut text = "[core]\n\tbare = false\n".to_owned();
        for key in TAKEN_OVER {
            let is_plain = |value: &String| value.chars().all(|c| c.is_ascii_alphanumeric());
            if let Some(value) = self.setting(key)?.filter(is_plain) {
                let name = key.trim_start_matches("core.");
                text += &format!("\t{name} = {value}\n");
            }
        }
        if let Some(excludes) = self.excludes()? {
            text += &format!("\texcludesFile = {}\n", quoted(&excludes));
        }
        let format = self.setting("extensions.objectformat")?.filter(|format| format == "sha256");
        text += &match format {
            Some(format) => {
                format!("\trepositoryformatversion = 1\n[extensions]\n\tobjectFormat = {format}\n")
            }
            None => "\trepositoryformatversion = 0\n".to_owned(),
        };
        let path = self.folder.path().join("config");
        fs::write(&path, text).map_err(Error::io("cannot write", &path))
    }

    /// The owner's file of patterns for files that are in no commit, in any repository.
    fn excludes(&self) -> Result<Option<String>, Error> {
        if let Some(set) = self.config_value("core.excludesfile", &["--type=path"])? {
            return Ok(Some(set));
        }
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let usual = set("XDG_CONFIG_HOME").or_else(|| set("HOME").map(|home| home.join(".config")));
        let usual = usual.map(|folder| folder.join("git/ignore")).filter(|path| path.is_file());
        Ok(usual.and_then(|path| path.to_str().map(str::to_owned)))
    }

    /// A setting of the repository, or else of its owner.
    pub(super) fn setting(&self, key: &str) -> Result<Option<String>, Error> {
        self.config_value(key, &[])
    }

    fn config_value(&self, key: &str, how: &[&str]) -> Result<Option<String>, Error> {
        let file = self.repository.common.join("config").display().to_string();
        for from in [&["--file", &file, "--no-includes"][..], &["--global", "--includes"]] {
            let mut command = self.command(&[&["config"][..], from, how, &["-z", "--get", key]].concat());
            if from[0] == "--global" {
                let of_user = ["HOME", "XDG_CONFIG_HOME"].into_iter();
                command.env_remove("GIT_CONFIG_GLOBAL");
                command.envs(of_user.filter_map(|name| Some((name, std::env::var_os(name)?))));
            }
            let exit = self.run_to_its_end(command, &[], b"")?;
            let value = exit.said.strip_suffix(b"\0").and_then(|value| std::str::from_utf8(value).ok());
            if let Some(value) = value.filter(|_| exit.code == Some(0)) {
                return Ok(Some(value.to_owned()));
            }
        }
        Ok(None)
    }

    /// The commit that this name stands for, if there is one.
    pub(super) fn commit(&self, name: &str) -> Result<Option<String>, Error> {
        let exit =
            self.run(&self.anywhere(), &["rev-parse", "--verify", "--quiet", &format!("{name}^{{commit}}")], b"")?;
        Ok((exit.code == Some(0)).then(|| one_line(&exit.said)))
    }

    /// Whether all that this commit has is in the other, too.
    pub(super) fn is_in(&self, one: &str, other: &str) -> Result<bool, Error> {
        Ok(self.run(&self.anywhere(), &["merge-base", "--is-ancestor", one, other], b"")?.code == Some(0))
    }

    /// Files for commands that are about commits alone.
    pub(super) fn anywhere(&self) -> GitFiles<'_> {
        GitFiles { tree: &self.repository.root, index: &self.no_index, opens: &[], identity: None }
    }

    /// The answer of a command that must succeed.
    pub(super) fn ask(&self, files: &GitFiles<'_>, args: &[&str], input: &[u8]) -> Result<Vec<u8>, Error> {
        let exit = self.run(files, args, input)?;
        match exit.code {
            Some(0) => Ok(exit.said),
            _ => Err(Error::Host(format!("git {} failed: {}", args[0], exit.complaint))),
        }
    }

    pub(super) fn run(&self, files: &GitFiles<'_>, args: &[&str], input: &[u8]) -> Result<GitExit, Error> {
        let mut command = self.command(args);
        command.current_dir(files.tree).env("GIT_WORK_TREE", files.tree).env("GIT_INDEX_FILE", files.index);
        if let Some(Identity { name, email }) = files.identity {
            for who in ["AUTHOR", "COMMITTER"] {
                command.env(format!("GIT_{who}_NAME"), name).env(format!("GIT_{who}_EMAIL"), email);
            }
        }
        self.run_to_its_end(command, files.opens, input)
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(OPTIONS).args(args).env_clear().envs(ENVIRONMENT).env("GIT_DIR", self.folder.path());
        command.current_dir(self.folder.path());
        command
    }

    fn run_to_its_end(&self, mut command: Command, opens: &[&Path], input: &[u8]) -> Result<GitExit, Error> {
        let fence = self.fence(opens)?;
        let cannot = |why: std::io::Error| Error::Host(format!("cannot run git: {why}"));
        let mut begin = || -> std::io::Result<(Child, [File; 2])> {
            let [mut told, said, complained] = [tempfile::tempfile()?, tempfile::tempfile()?, tempfile::tempfile()?];
            told.write_all(input)?;
            told.rewind()?;
            command.stdin(Stdio::from(told)).stdout(Stdio::from(said.try_clone()?));
            // A key that its owner presses ends no commit in the middle.
            command.stderr(Stdio::from(complained.try_clone()?)).process_group(0);
            Ok((fence::start(&mut command, &fence)?.0, [said, complained]))
        };
        let (mut child, [mut said, mut complained]) = begin().map_err(cannot)?;
        let began = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().map_err(cannot)? {
                break status;
            }
            if began.elapsed() > LIMIT {
                let _ = child.kill();
                let _ = child.wait();
                return Err(Error::Host(format!("git has taken longer than {} s, and was ended", LIMIT.as_secs())));
            }
            std::thread::sleep(EVERY);
        };
        let read = |file: &mut File| -> std::io::Result<Vec<u8>> {
            let mut bytes = Vec::new();
            file.rewind()?;
            file.take(READS).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        let complaint = String::from_utf8_lossy(&read(&mut complained).map_err(cannot)?).trim().to_owned();
        let complaint = golem::plain::line(&complaint.replace('\n', "; "), COMPLAINS);
        Ok(GitExit { code: status.code(), said: read(&mut said).map_err(cannot)?, complaint })
    }

    /// Everything can be read, and only these places written to.
    fn fence(&self, opens: &[&Path]) -> Result<Fence, Error> {
        let common = &self.repository.common;
        let shared = ["objects", "refs/heads/bardo", "logs/refs/heads/bardo"].map(|name| common.join(name));
        let shared = shared.iter().map(PathBuf::as_path).filter(|path| path.exists());
        let mut given = vec![self.folder.path().to_owned(), PathBuf::from("/dev/null")];
        for place in shared.chain(opens.iter().copied()) {
            must_be_real(place)?;
            given.push(place.to_owned());
        }
        Ok(Fence { hidden: Vec::new(), protected: vec![PathBuf::from("/")], given })
    }
}

/// Refuses a place that a link has taken the place of, or of a folder on the way to it.
pub(super) fn must_be_real(place: &Path) -> Result<(), Error> {
    if place.canonicalize().map_err(Error::io("cannot find", place))? == place {
        return Ok(());
    }
    let place = place.display();
    Err(Error::Refused(format!(
        "{place} is a link by now, or behind one; make it the folder it was, and the same command goes on"
    )))
}

/// Removes folders of processes that were killed; only one at a time works with a branch.
fn clear_remains(folder: &Path) {
    for entry in folder.read_dir().into_iter().flatten().flatten() {
        if entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX)) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// The git of this machine, as its owner finds it; never one in the tree, or one that depends on the folder.
pub(super) fn program(root: &Path) -> Result<PathBuf, Error> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let programs = std::env::split_paths(&path).filter(|folder| folder.is_absolute()).map(|folder| folder.join("git"));
    let is_git = |git: &PathBuf| git.is_file() && git.canonicalize().is_ok_and(|git| !git.starts_with(root));
    let missing = || Error::Usage("--branch needs git 2.38 or newer, and no git is in PATH".to_owned());
    programs.into_iter().find(is_git).ok_or_else(missing)
}

/// A value as a file of settings has it.
fn quoted(value: &str) -> String {
    let escaped = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("\"{escaped}\"")
}

pub(super) fn one_line(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_end().to_owned()
}

/// The parts of an answer to `-z`.
pub(super) fn parts(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|byte| *byte == 0).filter(|part| !part.is_empty())
}

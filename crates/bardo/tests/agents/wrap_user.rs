//! `bardo wrap` as people run it, who are not root: what they do every day works behind the fence, the home of golems is out of
//! reach, and where the machine lets nobody cover it, what is said of that at the start is so.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::common::text;
use crate::wrap::told;

/// Whoever is nobody in particular.
const NOBODY: u32 = 65_534;

/// Has the program and its tools where an ordinary user finds them, in a view of its own, and goes on as one.
const ORDINARY: &str = r#"mount --bind "$1" "$3/bin" && mount --bind "$2" "$3/toolchain" && shift 3 &&
exec setpriv --reuid=65534 --regid=65534 --clear-groups "$@""#;

/// Has nobody after it make a namespace, within one of its own so that nothing else on this machine is changed, and gives away what
/// root could do in there.
const OFF: &str = r#"echo 0 > /proc/sys/user/max_user_namespaces &&
exec setpriv --bounding-set=-all --inh-caps=-all --ambient-caps=-all "$@""#;

/// What somebody does on any day, and what of the home of golems they come to see or to change.
const DAY: &str = r#"cd "$HOME"
git config --global user.name "An Owner" && [ "$(git config --global user.name)" = "An Owner" ] && echo did git
echo x > new && mv new saved && echo did file
echo '{}' > .claude.json && echo did claude
mkdir part app
echo '{"name":"part","version":"1.0.0"}' > part/package.json
echo '{"name":"app","version":"1.0.0"}' > app/package.json
(cd app && npm install --offline --no-audit --no-fund ../part && [ -e node_modules/part ]) >&2 && echo did npm
cargo init --quiet --vcs none --name empty crate >&2 && (cd crate && cargo build --quiet --offline >&2) && echo did cargo"#;
const REACHES: &str = r#"cat "$H/bardo.toml" "$H/golems/ada/golem.toml" 2>/dev/null | sed 's/^/read /'
(echo x > "$H/planted") 2>/dev/null && echo wrote
true"#;
const TAKES: &str = r#"(mkdir "$H/folder") 2>/dev/null && echo made a folder
rm -r "$H" 2>/dev/null && echo removed
mv "$H" "$HOME/moved" 2>/dev/null && echo moved
umount "$H" 2>/dev/null && echo uncovered
true"#;
const LISTS: &str = r#"ls -A "$H" "$H/golems" 2>/dev/null | sed 's/^/listed /'"#;
/// In the folder of the user itself, in one below it, and in a file that is there.
const TRIES: &str = r#"(echo x > "$HOME/new") 2>/dev/null && echo new
(echo x > "$HOME/project/new") 2>/dev/null && echo below
(echo '{}' > "$HOME/.claude.json") 2>/dev/null && echo old"#;

/// A user's folder with a home of golems in it or beside it, and nothing of whoever runs the tests.
struct Yard {
    folder: tempfile::TempDir,
}

impl Yard {
    fn new() -> Yard {
        let yard = Yard { folder: tempfile::tempdir().unwrap() };
        let folders = ["bin", "toolchain", "user", "user/project"].map(|name| yard.at(name));
        folders.iter().for_each(|folder| fs::create_dir(folder).unwrap());
        fs::write(yard.at("user/.claude.json"), "{}").unwrap();
        fs::set_permissions(yard.at(""), Permissions::from_mode(0o755)).unwrap();
        yard
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// All of it is somebody's who is not root.
    fn belongs_to_nobody(&self) {
        for name in ["", "user", "user/project", "user/.claude.json"] {
            chown(self.at(name), Some(NOBODY), Some(NOBODY)).unwrap();
        }
    }

    /// This command, begun in some way and told where it is.
    fn command(&self, begin: &[&str], home: &Path, tools: &Path) -> Command {
        let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap_or_default());
        let mut command = Command::new(begin[0]);
        command.args(&begin[1..]).env_clear().current_dir(self.at("user"));
        command.env("PATH", path).env("HOME", self.at("user")).env("BARDO_HOME", home).env("H", home);
        command
    }
}

fn runs(program: &str, args: &[&str]) -> bool {
    Command::new(program).args(args).output().is_ok_and(|output| output.status.success())
}

fn skipped(why: &str) {
    assert!(std::env::var_os("BARDO_REALPARTS").is_none(), "{why}");
    eprintln!("\n*** SKIPPED: {why} ***\n");
}

/// Where the compiler and cargo are, without whatever chooses between several.
fn toolchain() -> Option<PathBuf> {
    let output = Command::new("rustc").args(["--print", "sysroot"]).output().ok()?;
    Some(PathBuf::from(text(&output.stdout).trim())).filter(|folder| folder.join("bin/cargo").exists())
}

/// The program as an ordinary user runs it; none, where root may not become one.
fn as_anybody(yard: &Yard, home: &Path, args: &[&str]) -> Option<Output> {
    let bardo = Path::new(env!("CARGO_BIN_EXE_bardo"));
    let toolchain = toolchain().unwrap_or_else(|| yard.at("user"));
    if !rustix::process::geteuid().is_root() {
        let begin = [&[bardo.to_str().unwrap()][..], args].concat();
        return Some(yard.command(&begin, home, &toolchain.join("bin")).output().unwrap());
    }
    let mounts = ["-m", "--propagation", "private"];
    if !runs("unshare", &[&mounts[..], &["setpriv", "--reuid=65534", "true"]].concat()) {
        return None;
    }
    yard.belongs_to_nobody();
    let (bin, own, program) = (bardo.parent().unwrap(), yard.at(""), yard.at("bin/bardo"));
    let given = [bin, &toolchain, &own, &program].map(|path| path.to_str().unwrap());
    let begin = [&["unshare"][..], &mounts, &["sh", "-c", ORDINARY, "sh"], &given, args].concat();
    Some(yard.command(&begin, home, &yard.at("toolchain/bin")).output().unwrap())
}

/// An agent could not set a name in git, nor a coding agent write its own settings, and nothing said why.
#[test]
fn what_an_ordinary_user_does_on_any_day_works_and_the_home_is_out_of_reach() {
    let yard = Yard::new();
    let home = yard.at("user/.bardo");
    let day = [DAY, LISTS, REACHES, TAKES].join("\n");
    let Some(output) = as_anybody(&yard, &home, &["wrap", "--name", "ada", "--", "sh", "-c", &day]) else {
        return skipped("root may not become somebody else here, or see folders of its own");
    };
    let (said, told) = (text(&output.stdout), told(&output));
    assert!(output.status.success(), "{said}\n{told}");
    let root = rustix::process::geteuid().is_root();
    let alone: &[&str] = if root { &["--reuid=65534", "--regid=65534", "--clear-groups"] } else { &[] };
    if !runs("setpriv", &[alone, &["unshare", "-Ur", "true"]].concat()) {
        return skipped("ordinary users have no namespaces here, of which another test tells");
    }
    assert!(!told.contains("no new file"), "{told}");
    let tools =
        [("git", runs("git", &["--version"])), ("npm", runs("npm", &["--version"])), ("cargo", toolchain().is_some())];
    for (tool, _) in tools.iter().filter(|(_, is_here)| !is_here) {
        skipped(&format!("there is no {tool}"));
    }
    let done = ["git", "file", "claude", "npm", "cargo"].into_iter();
    let done = done.filter(|name| tools.iter().all(|(tool, is_here)| tool != name || *is_here));
    let expected: Vec<String> = done.map(|name| format!("did {name}")).collect();
    // And nothing was listed, read, written, made, removed, moved or uncovered.
    assert_eq!(said.lines().collect::<Vec<_>>(), expected, "{told}");
    assert!(home.join("bardo.toml").exists() && home.join("golems/ada").exists() && !home.join("planted").exists());
}

/// Where nobody may lay anything over the home, the words at the start say what cannot be done, and both ways without it.
#[test]
fn without_namespaces_what_is_said_at_the_start_is_so() {
    if !runs("unshare", &["-Ur", "sh", "-c", OFF, "sh", "true"]) {
        return skipped("nobody here has a namespace in which to switch them off");
    }
    let run = |home: &str, how: &[&str], tries: &[&str]| {
        let yard = Yard::new();
        let (home, script) = (yard.at(home), tries.join("\n"));
        let bardo = ["unshare", "-Ur", "sh", "-c", OFF, "sh", env!("CARGO_BIN_EXE_bardo"), "wrap", "--name", "ada"];
        let begin = [&bardo[..], how, &["--", "sh", "-c", &script]].concat();
        let output = yard.command(&begin, &home, Path::new("/usr/bin")).output().unwrap();
        let (said, told) = (text(&output.stdout), told(&output));
        assert!(output.status.success(), "{said}\n{told}");
        let narrow = format!("no new file can be made in {} itself", yard.at("user").canonicalize().unwrap().display());
        (said, told.contains(&narrow), home.join("bardo.toml").exists(), told)
    };
    let (said, narrow, whole, told) = run("user/.bardo", &[], &[TRIES, REACHES, TAKES]);
    assert_eq!((said.as_str(), narrow, whole), ("below\nold\n", true, true), "{told}");
    assert!(told.contains("BARDO_HOME=/somewhere/else") && told.contains("--unfenced"), "{told}");
    let (said, narrow, whole, told) = run("elsewhere", &[], &[TRIES, REACHES, TAKES]);
    assert_eq!((said.as_str(), narrow, whole), ("new\nbelow\nold\n", false, true), "{told}");
    // Without a fence there is none, so that this test can fail.
    let (said, narrow, _, told) = run("user/.bardo", &["--unfenced"], &[TRIES, REACHES]);
    assert!(said.starts_with("new\nbelow\nold\nread ") && said.contains("wrote\n") && !narrow, "{said} {told}");
}

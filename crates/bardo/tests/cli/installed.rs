//! The program as pip and npm bring it: packed from the one that is tested, installed from files into empty folders without a
//! network, and run as their users would. `packaging/check` does the same with a release.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use testing::wait::until;

use crate::common::text;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const VERSION: &str = env!("CARGO_PKG_VERSION");

fn succeeds(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|why| panic!("{command:?}: {why}"));
    assert!(output.status.success(), "{command:?}\n{}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

/// The packages around two programs, by the names of their files. The second program is a small one: it is only packed.
fn pack(folder: &Path, bardo: &str) -> Vec<PathBuf> {
    let programs = folder.join("programs");
    fs::create_dir(&programs).unwrap();
    fs::copy(bardo, programs.join("bardo")).unwrap();
    fs::copy("/bin/sh", programs.join("bardo-chain")).unwrap();
    let mut command = Command::new(format!("{ROOT}/packaging/packages"));
    let written = succeeds(command.arg(VERSION).arg(folder.join("out")).arg(&programs).args(["--level", "0"]));
    written.lines().map(PathBuf::from).collect()
}

fn with(packages: &[PathBuf], part: &str) -> PathBuf {
    packages.iter().find(|path| path.to_string_lossy().contains(part)).cloned().unwrap_or_else(|| panic!("no {part}"))
}

/// A tool that installs, and nothing where it is missing on a machine that need not have it.
fn tool(path: PathBuf) -> Option<PathBuf> {
    let there = Command::new(&path).arg("--version").output().is_ok_and(|output| output.status.success());
    assert!(there || std::env::var_os("BARDO_REALPARTS").is_none(), "{} is missing", path.display());
    there.then_some(path)
}

/// An environment without a program called bardo in it, and what pip put into it.
fn by_pip(folder: &Path, wheel: &Path) -> Option<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(".cache")))?;
    let pip = tool(cache.join("bardo/python/bin/pip"))?;
    let fresh = folder.join("fresh");
    succeeds(Command::new("python3").args(["-m", "venv", "--without-pip"]).arg(&fresh));
    let options = ["install", "--quiet", "--no-index", "--no-compile", "--disable-pip-version-check"];
    succeeds(Command::new(pip).arg("--python").arg(fresh.join("bin/python")).args(options).arg(wheel));
    Some(fresh.join("bin"))
}

fn by_npm(folder: &Path, packages: &[PathBuf]) -> Option<PathBuf> {
    let npm = tool(PathBuf::from("npm"))?;
    let empty = folder.join("empty");
    fs::create_dir(&empty).unwrap();
    let options = ["install", "--offline", "--no-audit", "--no-fund", "--loglevel=error"];
    let mut command = Command::new(npm);
    command.args(options).arg("--cache").arg(folder.join("cache")).current_dir(&empty);
    let platform = format!("{}-{}", std::env::consts::OS.replace("macos", "darwin"), cpu());
    succeeds(command.arg(with(packages, &platform)).arg(with(packages, &format!("/bardo-{VERSION}.tgz"))));
    Some(empty.join("node_modules/.bin"))
}

fn cpu() -> &'static str {
    if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" }
}

/// A program that is started through a link or a launcher: `sh`, called bardo.
fn says(program: &[&str], script: &str) -> Output {
    Command::new(program[0]).args(&program[1..]).args(["-c", script]).output().unwrap()
}

#[test]
fn pip_brings_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let packages = pack(folder.path(), env!("CARGO_BIN_EXE_bardo"));
    let Some(fresh) = by_pip(folder.path(), &with(&packages, ".whl")) else { return eprintln!("skipped: no pip") };
    assert_eq!(succeeds(Command::new(fresh.join("bardo")).arg("--version")), format!("bardo {VERSION}\n"));
    // The package for worlds is in the same wheel, and finds the program although this environment is not active.
    let python = fresh.join("python");
    let found = "import bardo, bardo._binary as binary; print(binary.find())";
    let found = succeeds(Command::new(&python).args(["-c", found]).env_remove("BARDO").env("PATH", "/usr/bin:/bin"));
    assert_eq!(Path::new(found.trim()), fresh.join("bardo"));
    let ours = Command::new(&python).args(["-m", "bardo", "golem", "show"]).env_remove("BARDO").output().unwrap();
    assert_eq!(ours.status.code(), Some(2), "a fault of usage is passed on: {}", text(&ours.stderr));
}

#[test]
fn npm_brings_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let packages = pack(folder.path(), env!("CARGO_BIN_EXE_bardo"));
    let Some(links) = by_npm(folder.path(), &packages) else { return eprintln!("skipped: no npm") };
    assert_eq!(succeeds(Command::new(links.join("bardo")).arg("--version")), format!("bardo {VERSION}\n"));
    // Where npm was told to leave out what is optional, the launcher says what is missing and starts nothing.
    fs::remove_dir_all(links.join("../@bardo")).unwrap();
    let lost = Command::new(links.join("bardo")).arg("--version").output().unwrap();
    assert_eq!(lost.status.code(), Some(127));
    assert!(text(&lost.stderr).contains("--omit=optional"), "{}", text(&lost.stderr));
}

/// A launcher that stays in between answers a kill itself, and leaves the program running without its caller.
#[test]
fn exit_codes_and_signals_are_the_programs_own() {
    let folder = tempfile::tempdir().unwrap();
    let packages = pack(folder.path(), "/bin/sh");
    let mut ways = Vec::new();
    ways.extend(by_pip(folder.path(), &with(&packages, ".whl")).map(|bin| vec![bin.join("bardo")]));
    ways.extend(by_npm(folder.path(), &packages).map(|bin| vec![bin.join("bardo")]));
    if let [pip, ..] = &ways[..] {
        let python = pip[0].with_file_name("python");
        ways.extend(python.exists().then(|| vec![python, "-m".into(), "bardo".into()]));
    }
    for way in &ways {
        let way: Vec<&str> = way.iter().map(|part| part.to_str().unwrap()).collect();
        assert_eq!(says(&way, "exit 7").status.code(), Some(7), "{way:?}");
        assert_eq!(says(&way, "kill -TERM $$").status.signal(), Some(15), "{way:?}");
        let mut command = Command::new(way[0]);
        let file = folder.path().join("ready");
        let script = format!("trap 'exit 9' TERM; echo $$ > {}; while :; do sleep 0.05; done", file.display());
        let mut child = command.args(&way[1..]).args(["-c", &script]).stdout(Stdio::null()).spawn().unwrap();
        until("it does not begin", || fs::read_to_string(&file).is_ok_and(|pid| pid.ends_with('\n')));
        // One process, from the link to the program.
        assert_eq!(fs::read_to_string(&file).unwrap().trim(), child.id().to_string(), "{way:?}");
        succeeds(Command::new("kill").args(["-TERM", &child.id().to_string()]));
        assert_eq!(child.wait().unwrap().code(), Some(9), "{way:?}");
        fs::remove_file(&file).unwrap();
    }
}

/// Installers trust what a file's name says it runs on.
#[test]
fn a_package_says_what_it_runs_on() {
    let folder = tempfile::tempdir().unwrap();
    let programs = folder.path().join("programs");
    fs::create_dir(&programs).unwrap();
    let word = |numbers: &[u32]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>();
    // The heads of programs: a static one for Linux on arm64, and one for Apple's chip that needs macOS 11.
    let mut linux = [&b"\x7fELF\x02\x01\x01"[..], &[0; 57]].concat();
    linux[18] = 183;
    let apple = word(&[0xfeed_facf, 0x0100_000c, 0, 2, 1, 24, 0, 0, 0x32, 24, 1, 11 << 16, 0, 0]);
    let intel = word(&[0xfeed_facf, 0x0100_0007, 3, 2, 1, 16, 0, 0, 0x24, 16, (10 << 16) | (12 << 8), 0]);
    let arm = "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64";
    for (head, tags, package) in [
        (linux, arm, "linux-arm64"),
        (apple, "macosx_11_0_arm64", "darwin-arm64"),
        (intel, "macosx_10_12_x86_64", "darwin-x64"),
    ] {
        for program in ["bardo", "bardo-chain"] {
            fs::write(programs.join(program), &head).unwrap();
            fs::set_permissions(programs.join(program), fs::Permissions::from_mode(0o755)).unwrap();
        }
        let mut command = Command::new(format!("{ROOT}/packaging/packages"));
        let written = succeeds(command.arg(VERSION).arg(folder.path().join(package)).arg(&programs));
        assert!(written.contains(&format!("/bardo-{VERSION}-py3-none-{tags}.whl")), "{written}");
        assert!(written.contains(&format!("/bardo-{package}-{VERSION}.tgz")), "{written}");
    }
    fs::write(programs.join("bardo"), "#!/bin/sh\n").unwrap();
    let mut command = Command::new(format!("{ROOT}/packaging/packages"));
    let refused = command.arg(VERSION).arg(folder.path().join("none")).arg(&programs).output().unwrap();
    assert!(!refused.status.success() && text(&refused.stderr).contains("neither for Linux nor for macOS"));
}

//! The Python package: built as it would be sent out, installed where nothing else is, and its examples run from there. And
//! the way of somebody new: from an empty machine with Python to a golem that lives in a world, or with a mind, of their own.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use crate::common::{Tent, text};

/// Where the tools for it are; none where nobody has installed them.
fn tools() -> Option<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(".cache")));
    let tools = cache.map(|cache| cache.join("bardo/python/bin")).filter(|tools| tools.join("pytest").exists());
    assert!(tools.is_some() || std::env::var_os("BARDO_REALPARTS").is_none(), ".ci/setup installs what this needs");
    tools
}

fn package() -> PathBuf {
    Path::new(&std::env::var("CARGO_MANIFEST_DIR").unwrap()).join("../../python")
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}\n{}\n{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

/// The package as it would be sent out, in a folder of its own.
fn built(tools: &Path, folder: &Path) -> PathBuf {
    let copy = folder.join("source");
    run(Command::new("cp").arg("-r").arg(package()).arg(&copy));
    run(Command::new(tools.join("python")).args(["-m", "build", "--no-isolation", "--outdir"]).arg(folder).arg(&copy));
    let files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path()).collect();
    let of = |ending: &str| files.iter().find(|file| file.to_string_lossy().ends_with(ending)).cloned();
    assert!(of(".tar.gz").is_some(), "{files:?}");
    of(".whl").unwrap()
}

#[test]
fn the_package_is_typed_built_installed_and_keeps_its_promises() {
    let Some(tools) = tools() else { return eprintln!("skipped: no tools for Python") };
    let folder = tempfile::tempdir().unwrap();
    let wheel = built(&tools, folder.path());
    let fresh = folder.path().join("fresh");
    run(Command::new("python3").args(["-m", "venv"]).arg(&fresh));
    run(Command::new(fresh.join("bin/pip")).args(["install", "--quiet", "--no-index"]).arg(&wheel));
    run(Command::new(tools.join("mypy")).args(["--strict", "--cache-dir", "/dev/null"]).arg(package().join("src")));
    let packages =
        run(Command::new(fresh.join("bin/python")).args(["-c", "import site; print(site.getsitepackages()[0])"]));
    let tested = run(Command::new(tools.join("pytest"))
        .args(["-q", "-p", "no:cacheprovider"])
        .arg(package().join("tests"))
        .env("PYTHONPATH", packages.trim())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("BARDO", env!("CARGO_BIN_EXE_bardo"))
        .env("BARDO_HOME", folder.path().join("no-home")));
    assert!(tested.contains(" passed"), "{tested}");
}

#[test]
fn somebody_new_has_a_golem_in_a_world_of_their_own_within_minutes() {
    let Some(tools) = tools() else { return eprintln!("skipped: no tools for Python") };
    let began = Instant::now();
    let tent = Tent::bare();
    let folder = tent.folder.path();
    let wheel = built(&tools, folder);
    let fresh = folder.join("fresh");
    run(Command::new("python3").args(["-m", "venv"]).arg(&fresh));
    run(Command::new(fresh.join("bin/pip")).args(["install", "--quiet", "--no-index"]).arg(&wheel));
    // The world of the README, as somebody would paste it.
    let readme = std::fs::read_to_string(package().join("README.md")).unwrap();
    let pasted = |nth: usize| readme.split("```python\n").nth(nth).and_then(|rest| rest.split("```").next()).unwrap();
    std::fs::write(folder.join("tides.py"), pasted(1)).unwrap();
    std::fs::write(folder.join("usual.py"), pasted(2)).unwrap();
    let path = format!("{}:{}", fresh.join("bin").display(), std::env::var("PATH").unwrap());
    let bardo = |args: &[&str]| run(tent.command(args).env("PATH", &path).current_dir(folder));
    bardo(&["init"]);
    assert!(bardo(&["world", "check", "--", "python3", "tides.py"]).contains("keeps every promise"));
    assert!(bardo(&["golem", "new", "ada", "--world", "tides.py"]).contains("ada is born"));
    assert!(bardo(&["golem", "run", "ada", "--speed", "max", "--ticks", "500"]).contains("ada is"));
    assert!(bardo(&["golem", "show", "ada"]).contains("tides"));
    // And its mind.
    assert!(bardo(&["mind", "check", "--", "python3", "usual.py"]).contains("spoke 100 times"));
    bardo(&["golem", "new", "bob", "--mind", "usual.py"]);
    bardo(&["golem", "run", "bob", "--speed", "max", "--ticks", "300"]);
    assert!(bardo(&["golem", "show", "bob"]).contains("mind       spoke"));
    println!("counted: {:.0} s from nothing to a golem in a world of one's own", began.elapsed().as_secs_f64());
    assert!(began.elapsed().as_secs() < 600);
}

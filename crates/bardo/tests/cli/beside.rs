//! `bardo chain` hands over to `bardo-chain`, found beside it or on PATH, and adds and takes away nothing on the way.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::common::text;

/// The program in a folder where nothing else is, and another folder that is on PATH.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        // On the disk of the program, so that it need not be copied.
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        for name in ["bin", "path", "here"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        let place = Place { folder };
        fs::hard_link(env!("CARGO_BIN_EXE_bardo"), place.at("bin/bardo")).unwrap();
        place
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A program that says which it is, what it was told and what it read, and ends with 7.
    fn program(&self, folder: &str) -> PathBuf {
        let file = self.at(folder).join("bardo-chain");
        let script = format!("#!/bin/sh\necho {folder}\nprintf '[%s]\\n' \"$@\"\n/bin/cat\nexit 7\n");
        fs::write(&file, script).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        file
    }

    fn bardo(&self, path: &str, args: &[&str]) -> Output {
        let mut command = Command::new(self.at("bin/bardo"));
        command.args(args).env("PATH", path).env("BARDO_HOME", self.at("home")).current_dir(self.at("here"));
        command.stdin(said("read by it")).output().unwrap()
    }

    fn path(&self) -> String {
        self.at("path").display().to_string()
    }
}

/// Standard input with this in it.
fn said(words: &str) -> std::process::Stdio {
    let mut echo = Command::new("printf").arg(words).stdout(std::process::Stdio::piped()).spawn().unwrap();
    let said = echo.stdout.take().unwrap();
    echo.wait().unwrap();
    said.into()
}

fn check_ran(output: &Output, which: &str, told: &[&str]) {
    let told: String = told.iter().map(|one| format!("[{one}]\n")).collect();
    assert_eq!(text(&output.stdout), format!("{which}\n{told}read by it"), "{}", text(&output.stderr));
    assert_eq!(output.status.code(), Some(7));
}

fn check_missing(output: &Output) {
    let why = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{why}");
    assert!(output.stdout.is_empty() && why.starts_with("bardo: "), "{why}");
    for word in ["bardo-chain", "beside", "PATH", "cargo install --locked --path crates/chain"] {
        assert!(why.contains(word), "it does not say `{word}`: {why}");
    }
}

#[test]
fn the_program_beside_it_comes_before_the_one_on_path() {
    let place = Place::new();
    place.program("path");
    check_ran(&place.bardo(&place.path(), &["chain", "purse", "devnet"]), "path", &["purse", "devnet"]);
    place.program("bin");
    check_ran(&place.bardo(&place.path(), &["chain", "purse", "devnet"]), "bin", &["purse", "devnet"]);
    // Called by a link from elsewhere, it knows where it lies.
    std::os::unix::fs::symlink(place.at("bin/bardo"), place.at("here/bardo")).unwrap();
    let mut linked = Command::new(place.at("here/bardo"));
    let linked = linked.args(["chain", "purse", "devnet"]).env("PATH", "").stdin(said("read by it")).output().unwrap();
    check_ran(&linked, "bin", &["purse", "devnet"]);
}

#[test]
fn arguments_input_and_exit_code_pass_as_they_are() {
    let place = Place::new();
    place.program("bin");
    let chain = "a folder called\nchain";
    for (told, handed) in [
        (&["chain", "owner", "chain", "freeze"][..], &["owner", "chain", "freeze"][..]),
        (&["--home", "chain", "--json", "chain", "purse", chain], &["--home", "chain", "--json", "purse", chain]),
        (&["--home=chain", "chain", "purse", "*", "--json"], &["--home=chain", "purse", "*", "--json"]),
        (&["chain", "--home", "chain", "purse", "--", "--json"], &["--home", "chain", "purse", "--", "--json"]),
    ] {
        check_ran(&place.bardo(&place.path(), told), "bin", handed);
    }
}

#[test]
fn where_it_is_missing_it_is_said_what_to_install() {
    let place = Place::new();
    check_missing(&place.bardo(&place.path(), &["chain", "purse", "devnet"]));
    check_missing(&place.bardo("", &["chain", "purse", "devnet"]));
    // What can be asked of it is in the help all the same, and what cannot be typed is said by the one that was called.
    let help = place.bardo("", &["chain", "orders", "--help"]);
    assert!(help.status.success() && text(&help.stdout).contains("--real-money"), "{}", text(&help.stdout));
    let wrong = place.bardo("", &["chain", "swap"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(text(&wrong.stderr).contains("unrecognized subcommand 'swap'"), "{}", text(&wrong.stderr));
}

#[test]
fn what_lies_in_the_current_folder_is_not_run() {
    let place = Place::new();
    place.program("here");
    fs::create_dir(place.at("here/tools")).unwrap();
    fs::rename(place.at("here/bardo-chain"), place.at("here/tools/bardo-chain")).unwrap();
    place.program("here");
    for path in ["", ".", ":", "./tools", "tools:."] {
        check_missing(&place.bardo(path, &["chain", "purse", "devnet"]));
    }
    // A folder that is on PATH by its whole name is meant to be searched.
    let whole = place.at("here").display().to_string();
    check_ran(&place.bardo(&whole, &["chain", "purse", "devnet"]), "here", &["purse", "devnet"]);
}

#[test]
fn what_is_no_program_is_passed_over_and_what_cannot_be_run_is_named() {
    let place = Place::new();
    fs::write(place.at("bin/bardo-chain"), "notes").unwrap();
    check_missing(&place.bardo(&place.path(), &["chain", "purse", "devnet"]));
    place.program("path");
    check_ran(&place.bardo(&place.path(), &["chain", "purse", "devnet"]), "path", &["purse", "devnet"]);
    fs::set_permissions(place.at("bin/bardo-chain"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(place.at("bin/bardo-chain"), "#!/no/such/shell\n").unwrap();
    let failed = place.bardo(&place.path(), &["chain", "purse", "devnet"]);
    let (why, file) = (text(&failed.stderr), place.at("bin/bardo-chain"));
    assert_eq!(failed.status.code(), Some(1));
    assert!(why.contains(&format!("cannot run {}", display(&file))), "{why}");
}

fn display(file: &Path) -> String {
    file.canonicalize().unwrap().display().to_string()
}

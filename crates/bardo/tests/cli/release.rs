//! What a release is made of, in small: the install script takes what was released and nothing else, and the package has
//! everything in its place. `just release` does the whole of it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::common::text;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const VERSION: &str = env!("CARGO_PKG_VERSION");
const PROGRAMS: [&str; 2] = ["bardo", "bardo-chain"];

fn run(program: &str, args: &[&str]) -> Output {
    Command::new(program).args(args).output().unwrap_or_else(|why| panic!("{program}: {why}"))
}

fn ok(program: &str, args: &[&str]) -> String {
    let output = run(program, args);
    assert!(output.status.success(), "{program} {args:?}: {}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

/// A folder with an archive in it as a release has one, around programs that only say their version, and the script that
/// installs them.
fn released(folder: &Path) -> PathBuf {
    let name = format!("bardo-{VERSION}-linux-{}", std::env::consts::ARCH);
    let tree = folder.join(&name);
    fs::create_dir_all(&tree).unwrap();
    for program in PROGRAMS {
        fs::write(tree.join(program), format!("#!/bin/sh\necho {program} {VERSION}\n")).unwrap();
        ok("chmod", &["+x", tree.join(program).to_str().unwrap()]);
    }
    let archive = folder.join(format!("{name}.tar.gz"));
    ok("tar", &["-C", folder.to_str().unwrap(), "-czf", archive.to_str().unwrap(), &name]);
    let sum = ok("sha256sum", &[archive.to_str().unwrap()]).split(' ').next().unwrap().to_owned();
    let script = fs::read_to_string(format!("{ROOT}/packaging/install.sh")).unwrap();
    let script = script.replace("@VERSION@", VERSION).replace("@FROM@", &format!("file://{}", folder.display()));
    let script = script.replace("@SUM_X86_64@", &sum).replace("@SUM_AARCH64@", &sum);
    // One that was made without a Mac.
    let script = script.replace("@SUM_MACOS_X86_64@", "").replace("@SUM_MACOS_ARM64@", "");
    let path = folder.join("install.sh");
    fs::write(&path, script).unwrap();
    path
}

#[test]
fn the_install_script_takes_what_was_released_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let script = released(folder.path());
    let (script, into) = (script.to_str().unwrap(), folder.path().join("bin"));
    let said = ok("sh", &[script, into.to_str().unwrap()]);
    assert!(said.contains(&format!("bardo {VERSION}")) && said.contains("next:"), "{said}");
    // Over one that is there, and leaving nothing beside it.
    ok("sh", &[script, into.to_str().unwrap()]);
    assert_eq!(fs::read_dir(&into).unwrap().count(), PROGRAMS.len());
    for program in PROGRAMS {
        assert_eq!(ok(into.join(program).to_str().unwrap(), &[]), format!("{program} {VERSION}\n"));
    }
    // One byte more is another program.
    let archive = fs::read_dir(folder.path()).unwrap().flatten().map(|entry| entry.path());
    let archive = archive.into_iter().find(|path| path.extension().is_some_and(|ending| ending == "gz")).unwrap();
    let mut bytes = fs::read(&archive).unwrap();
    bytes.push(0);
    fs::write(&archive, bytes).unwrap();
    let elsewhere = folder.path().join("elsewhere");
    let refused = run("sh", &[script, elsewhere.to_str().unwrap()]);
    assert!(!refused.status.success() && !elsewhere.exists());
    assert!(text(&refused.stderr).contains("is not what was released"), "{}", text(&refused.stderr));
    // A machine there is nothing for is told what to do instead.
    let tools = folder.path().join("tools");
    fs::create_dir(&tools).unwrap();
    let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap());
    for (system, machine) in [("Plan9", "mips"), ("Darwin", "arm64")] {
        let uname = format!("#!/bin/sh\n[ $1 = -s ] && echo {system} || echo {machine}\n");
        fs::write(tools.join("uname"), uname).unwrap();
        ok("chmod", &["+x", tools.join("uname").to_str().unwrap()]);
        let refused = Command::new("sh").arg(script).env("PATH", &path).output().unwrap();
        let why = text(&refused.stderr);
        assert!(!refused.status.success() && why.contains(&format!("{system} on {machine}")), "{why}");
    }
}

#[test]
fn the_package_has_everything_in_its_place() {
    if Command::new("dpkg-deb").arg("--version").output().is_err() {
        assert!(std::env::var_os("BARDO_REALPARTS").is_none(), "dpkg-deb is missing");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    // Around something small: to pack the real ones takes a minute.
    let programs = folder.path().join("programs");
    fs::create_dir(&programs).unwrap();
    for program in PROGRAMS {
        fs::copy("/bin/sh", programs.join(program)).unwrap();
    }
    let told = [VERSION, "amd64", programs.to_str().unwrap(), env!("CARGO_BIN_EXE_bardo"), out];
    ok(&format!("{ROOT}/packaging/deb"), &told);
    let package = format!("{out}/bardo_{VERSION}_amd64.deb");
    let tree = folder.path().join("tree");
    ok("dpkg-deb", &["-R", &package, tree.to_str().unwrap()]);
    let control = fs::read_to_string(tree.join("DEBIAN/control")).unwrap();
    assert!(control.contains(&format!("Version: {VERSION}\n")) && !control.contains('@'), "{control}");
    let unit = fs::read_to_string(tree.join("usr/lib/systemd/system/bardo.service")).unwrap();
    assert!(unit.contains("ExecStart=/usr/bin/bardo up") && !unit.contains("useradd"), "{unit}");
    for program in PROGRAMS {
        let packed = fs::read(tree.join("usr/bin").join(program)).unwrap();
        assert!(packed == fs::read("/bin/sh").unwrap(), "{program} is not what was packed");
    }
    let pages = fs::read_dir(tree.join("usr/share/man/man1")).unwrap().count();
    assert!(pages > 50, "{pages} man pages");
    for file in ["bash-completion/completions/bardo", "zsh/vendor-completions/_bardo", "doc/bardo/copyright"] {
        assert!(fs::metadata(tree.join("usr/share").join(file)).unwrap().len() > 500, "{file}");
    }
    for script in ["postinst", "prerm", "postrm"] {
        ok("sh", &["-n", tree.join("DEBIAN").join(script).to_str().unwrap()]);
    }
}

#[test]
fn a_release_is_a_commit_and_a_tag_that_name_its_version() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let parts = ["Cargo.toml", "Cargo.lock", "CHANGELOG.md", "docs/openapi.json", "packaging/version"];
    for file in [&parts[..], &["python/pyproject.toml", "python/src/bardo/__init__.py"]].concat() {
        fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
        fs::copy(format!("{ROOT}/{file}"), root.join(file)).unwrap();
    }
    let read = |file: &str| fs::read_to_string(root.join(file)).unwrap();
    let before = read("CHANGELOG.md").replace("(unreleased)", "(2001-01-01)");
    fs::write(root.join("CHANGELOG.md"), &before).unwrap();
    let git = |args: &[&str]| ok("git", &[&["-C", root.to_str().unwrap()][..], args].concat());
    git(&["init", "--quiet"]);
    git(&["config", "user.name", "test"]);
    git(&["config", "user.email", "test@localhost"]);
    git(&["add", "."]);
    git(&["commit", "--quiet", "-m", "before"]);
    let script = root.join("packaging/version");
    let version = |args: &[&str]| run(script.to_str().unwrap(), args);
    // A release needs notes for its users.
    let silent = version(&["9.8.7"]);
    assert!(text(&silent.stderr).contains("CHANGELOG.md says nothing of 9.8.7"), "{}", text(&silent.stderr));
    fs::write(root.join("CHANGELOG.md"), before.replacen("\n## ", "\n## 9.8.7 (unreleased)\n\n## ", 1)).unwrap();
    assert!(text(&version(&["9.8.7"]).stderr).contains("in no commit"));
    git(&["commit", "--quiet", "-am", "told"]);
    assert!(version(&["9.8.7"]).status.success());
    assert!(git(&["log", "-1", "--format=%s"]) == "Release 9.8.7\n" && git(&["status", "--porcelain"]).is_empty());
    for file in ["Cargo.toml", "Cargo.lock", "docs/openapi.json", "python/pyproject.toml"] {
        assert!(read(file).contains("\"9.8.7\""), "{file}");
    }
    assert!(!read("Cargo.toml").contains(&format!("version = \"{VERSION}\"")), "a crate has the old version");
    let lock = read("Cargo.lock");
    assert_eq!(lock.matches("\nversion = \"9.8.7\"").count(), members(), "ours and no others");
    assert!(read("CHANGELOG.md").contains("\n## 9.8.7 (2") && !read("CHANGELOG.md").contains("(unreleased)"));
    // Once more, as the workflow does with a tag that was pushed: nothing is left to do.
    let head = git(&["rev-parse", "HEAD"]);
    for _ in 0..2 {
        assert!(version(&["9.8.7", "--tag"]).status.success());
        assert_eq!((git(&["rev-parse", "HEAD"]), git(&["rev-parse", "v9.8.7^{commit}"])), (head.clone(), head.clone()));
    }
    git(&["commit", "--quiet", "--allow-empty", "-m", "after"]);
    assert!(text(&version(&["9.8.7", "--tag"]).stderr).contains("another commit"), "a tag never moves");
}

/// How many packages of ours the lock names: each crate is one.
fn members() -> usize {
    let lock = fs::read_to_string(format!("{ROOT}/Cargo.lock")).unwrap();
    lock.split("[[package]]").filter(|one| one.contains("\nname = \"bardo") && !one.contains("\nsource = ")).count()
}

#[test]
fn checksums_are_signed_by_a_key_that_is_given() {
    if Command::new("ssh-keygen").arg("-?").output().is_err() {
        assert!(std::env::var_os("BARDO_REALPARTS").is_none(), "ssh-keygen is missing");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (out, key) = (folder.path().join("out"), folder.path().join("key"));
    fs::create_dir(&out).unwrap();
    fs::write(out.join("bardo.tar.gz"), "one").unwrap();
    let sign = |key: &str| {
        let mut command = Command::new(format!("{ROOT}/packaging/sign"));
        assert!(command.arg(&out).env("BARDO_SIGN", key).output().unwrap().status.success());
    };
    sign("");
    assert!(out.join("SHA256SUMS").exists() && !out.join("SHA256SUMS.sig").exists());
    ok("ssh-keygen", &["-q", "-t", "ed25519", "-N", "", "-f", key.to_str().unwrap()]);
    sign(key.to_str().unwrap());
    // As it stands in the script, and as somebody who has the file of signers types it.
    let public = fs::read_to_string(folder.path().join("key.pub")).unwrap();
    fs::write(folder.path().join("signers"), format!("bardo {public}")).unwrap();
    let verify = "ssh-keygen -Y verify -f ../signers -I bardo -n bardo-release -s SHA256SUMS.sig < SHA256SUMS && sha256sum -c SHA256SUMS";
    let verified = || Command::new("sh").args(["-c", verify]).current_dir(&out).output().unwrap().status.success();
    assert!(verified());
    fs::write(out.join("bardo.tar.gz"), "two").unwrap();
    assert!(!verified(), "another file");
    let sums = ok("sh", &["-c", &format!("cd {} && sha256sum bardo.tar.gz", out.display())]);
    fs::write(out.join("SHA256SUMS"), sums).unwrap();
    assert!(!verified(), "another file, with another checksum");
}

#[test]
fn a_crate_is_published_after_what_it_stands_on() {
    let order = ok(&format!("{ROOT}/packaging/publish"), &[]);
    let order: Vec<&str> = order.lines().collect();
    let place = |name: &str| order.iter().position(|one| *one == name).unwrap_or_else(|| panic!("{name}: {order:?}"));
    assert!(place("bardo-life") < place("bardo-golem") && place("bardo-golem") < place("bardo-shell"), "{order:?}");
    assert_eq!(order.last(), Some(&"bardo"));
    assert!(!order.contains(&"bardo-testing") && order.len() + 1 == members(), "{order:?}");
}

#[test]
fn every_blank_of_a_text_is_filled_in_by_whoever_makes_a_release() {
    let release = fs::read_to_string(format!("{ROOT}/packaging/release")).unwrap();
    for file in ["install.sh", "bardo.rb", "compose.yml"] {
        let content = fs::read_to_string(format!("{ROOT}/packaging/{file}")).unwrap();
        let blanks: Vec<&str> = content.split('@').skip(1).step_by(2).collect();
        assert!(!blanks.is_empty() && release.contains(&format!("fill {file}")), "{file}");
        for blank in blanks {
            assert!(release.contains(&format!("@{blank}@")), "{file}: nobody fills in @{blank}@");
        }
    }
    let changes = fs::read_to_string(format!("{ROOT}/CHANGELOG.md")).unwrap();
    assert!(changes.contains(&format!("## {VERSION}")), "the changelog says nothing of {VERSION}");
    let python = fs::read_to_string(format!("{ROOT}/python/pyproject.toml")).unwrap();
    assert!(python.contains(&format!("version = \"{VERSION}\"")), "the Python package has another version");
}

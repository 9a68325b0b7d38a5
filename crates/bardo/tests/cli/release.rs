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
    fs::write(tools.join("uname"), "#!/bin/sh\n[ $1 = -s ] && echo Plan9 || echo mips\n").unwrap();
    ok("chmod", &["+x", tools.join("uname").to_str().unwrap()]);
    let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap());
    let refused = Command::new("sh").arg(script).env("PATH", path).output().unwrap();
    assert!(!refused.status.success() && text(&refused.stderr).contains("Plan9 on mips"), "{}", text(&refused.stderr));
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

//! On a full disk nothing can be written down, and just then an owner wants to look, and to forbid what can be forbidden.

use std::fs;
use std::process::Stdio;

use crate::common::{Disk, Tent, text};
use testing::wait::until;

/// `list`, `show`, `doctor` and `halt` could not even read, and `freeze` failed: SQLite makes a file beside a database to
/// read it, and a reason needs room that the marker itself does not.
#[test]
fn on_a_full_disk_an_owner_can_look_and_freeze() {
    let tent = Tent::bare();
    fs::create_dir_all(tent.root()).unwrap();
    let Some(disk) = Disk::mount(tent.root(), tent.folder.path().join("image")) else { return };
    tent.ok(["init"]);
    for name in ["ada", "bob"] {
        tent.ok(["golem", "new", name, "--seed", "1"]);
        tent.ok(["golem", "run", name, "--speed", "max", "--ticks", "200"]);
    }
    check_full(&tent, &disk, "200");
    // And after a host that went down in haste, whose log has the newest.
    let mut command = tent.command(["up", "--listen", "", "--speed", "4000"]);
    let mut host = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    until("it goes on under a host", || tent.golem("ada").wake().unwrap().0.life().tick() > 300);
    host.kill().unwrap();
    host.wait().unwrap();
    let ticks = tent.golem("ada").wake().unwrap().0.life().tick();
    assert!(ticks > 200);
    disk.fill(0);
    assert!(tent.ok(["--json", "golem", "list"]).contains(&format!("\"ticks\":{ticks}")));
    tent.ok(["golem", "show", "ada"]);
    disk.free();
    tent.ok(["halt", "--all", "--yes"]);
    for name in ["ada", "bob"] {
        assert!(tent.verified(name).life().is_dead());
    }
}

fn check_full(tent: &Tent, disk: &Disk, ticks: &str) {
    // Not even the room that is kept for orders that stop something.
    fs::remove_file(tent.home().reserve()).unwrap();
    disk.fill(0);
    for read in [vec!["golem", "show", "ada"], vec!["--json", "golem", "list"]] {
        assert!(tent.ok(&read).contains(ticks), "{read:?}");
    }
    tent.ok(["golem", "events", "ada"]);
    tent.ok(["treasury"]);
    let examined = tent.run(["doctor"]);
    let told = text(&examined.stdout);
    assert_eq!(examined.status.code(), Some(1), "{told}");
    assert!(told.contains("make room") && told.contains("bob: money"), "{told}{}", text(&examined.stderr));
    let frozen = tent.ok(["golem", "freeze", "ada", "--reason", "enough"]);
    assert!(frozen.contains("no new exposure"), "{frozen}");
    assert!(tent.golem("ada").frozen_marker().exists());
    let halted = tent.run(["halt", "--all", "--yes"]);
    assert_eq!(halted.status.code(), Some(1));
    assert!(text(&halted.stderr).contains("not ended yet: ada, bob"), "{}", text(&halted.stderr));
    assert!(tent.golem("bob").frozen_marker().exists(), "what cannot be ended yet is frozen");
    disk.free();
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "1"]);
    assert!(tent.golem("ada").wake().unwrap().0.life().heartbeat().frozen);
    tent.ok(["golem", "resume", "ada"]);
}

//! A golem that the first version left behind is taken into a home of today and everything can be done with it; what a
//! later version left is refused with the reason, and not touched.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use settings::chance::Secret;

use crate::common::{Tent, text};

/// The folder of the first golem ever kept: its journal, and the secret that its seed gives.
fn first(tent: &Tent) -> PathBuf {
    let folder = tent.folder.path().join("first");
    fs::create_dir(&folder).unwrap();
    let kept =
        Path::new(&std::env::var("CARGO_MANIFEST_DIR").unwrap()).join("../vault/tests/fixtures/first-version.db");
    fs::copy(kept, folder.join("life.db")).unwrap();
    fs::write(folder.join("secret"), Secret::from_seed(1, "ada").reveal()).unwrap();
    fs::set_permissions(folder.join("secret"), fs::Permissions::from_mode(0o600)).unwrap();
    folder
}

#[test]
fn the_first_golem_is_at_home_in_todays_version() {
    let tent = Tent::new();
    let from = first(&tent);
    tent.ok(["golem", "restore", from.to_str().unwrap(), "--take-over"]);
    assert!(tent.ok(["golem", "list"]).contains("dead"));
    assert!(tent.ok(["golem", "show", "ada"]).contains("retired by its owner (to be kept)"));
    assert!(tent.ok(["golem", "events", "ada"]).contains("was born"));
    // Its end is as it was then; what has come since is caught up with when it is next run.
    let run = tent.run(["golem", "run", "ada"]);
    assert_eq!(run.status.code(), Some(4), "{}", text(&run.stderr));
    let examined = tent.ok(["doctor"]);
    assert!(examined.contains("all 1000 rolls verified"), "{examined}");
    assert!(tent.ok(["graveyard"]).contains("ada"));
}

#[test]
fn what_comes_from_the_future_is_refused_with_the_reason_and_left_alone() {
    let tent = Tent::new();
    tent.ok(["golem", "new", "ada", "--seed", "1"]);
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "10"]);
    let database = tent.golem("ada").database();
    let db = rusqlite::Connection::open(&database).unwrap();
    db.execute("UPDATE meta SET value = '99' WHERE key = 'format'", []).unwrap();
    drop(db);
    let before = fs::read(&database).unwrap();
    for command in
        [&["golem", "run", "ada"][..], &["golem", "show", "ada"], &["golem", "fund", "ada", "1"], &["testament", "ada"]]
    {
        let complaint = text(&tent.run(command).stderr);
        assert!(complaint.contains("newer version of bardo"), "{command:?}: {complaint}");
    }
    let listed = tent.ok(["golem", "list"]);
    assert!(listed.contains("newer version of bardo"), "{listed}");
    assert_eq!(tent.run(["doctor"]).status.code(), Some(1));
    assert!(before == fs::read(&database).unwrap(), "it was touched");
}

#[test]
fn what_an_upgrade_will_do_is_told_before_it_is_done() {
    let tent = Tent::new();
    for name in ["ada", "ben"] {
        tent.ok(["golem", "new", name, "--seed", "2"]);
        tent.ok(["golem", "run", name, "--speed", "max", "--ticks", "6000"]);
    }
    // As an earlier version would have left it: other snapshots, other tables, another description of itself.
    let database = tent.golem("ada").database();
    let db = rusqlite::Connection::open(&database).unwrap();
    db.execute_batch(
        "UPDATE snapshot SET layout = layout - 1;
         UPDATE meta SET value = '3' WHERE key = 'derived';
         UPDATE meta SET value = '1' WHERE key = 'format';",
    )
    .unwrap();
    drop(db);
    let before = fs::read(&database).unwrap();
    let told = tent.ok(["upgrade", "check"]);
    let of = |told: &str, who: &str| told.lines().find(|line| line.contains(who)).unwrap().to_owned();
    for done in ["when it next runs:", "marked as this version's", "records are applied again", "tables"] {
        assert!(of(&told, " ada ").contains(done), "{told}");
    }
    assert!(of(&told, " ben ").contains("as it is"), "{told}");
    assert!(told.contains("nothing has been changed yet"), "{told}");
    assert!(before == fs::read(&database).unwrap(), "it was touched");
    // Then it is done, and said no more.
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "6000"]);
    assert!(tent.ok(["upgrade", "check"]).contains("this version changes nothing here"));
    tent.ok(["doctor"]);
    // What this version cannot go on with.
    let db = rusqlite::Connection::open(tent.golem("ben").database()).unwrap();
    db.execute("UPDATE meta SET value = '99' WHERE key = 'format'", []).unwrap();
    drop(db);
    fs::write(tent.root().join("bardo.toml"), "[api]\nlisten_to = \"x\"\n").unwrap();
    let refused = tent.run(["upgrade", "check"]);
    assert_eq!(refused.status.code(), Some(1), "{}", text(&refused.stdout));
    let told = text(&refused.stdout);
    assert!(of(&told, " ben ").starts_with("WRONG") && of(&told, " ben ").contains("newer version"), "{told}");
    assert!(of(&told, "bardo.toml").starts_with("WRONG") && of(&told, "bardo.toml").contains("listen_to"), "{told}");
}

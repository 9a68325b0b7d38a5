//! One life in one place: a move is addressed to one home and taken in once, a hostile archive is refused whole, and a home
//! comes back from its copies with everything in it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{ELSEWHERE, Tent, text};
use golem::Usdc;
use serde_json::Value;

fn folder(tent: &Tent, name: &str) -> String {
    tent.folder.path().join(name).to_str().unwrap().to_owned()
}

fn born(name: &str, seed: &str) -> Tent {
    let tent = Tent::new();
    tent.ok(["golem", "new", name, "--seed", seed]);
    tent.ok(["golem", "run", name, "--speed", "max", "--ticks", "20"]);
    tent
}

fn copy(from: &str, to: &str) {
    assert!(Command::new("cp").args(["-a", from, to]).status().unwrap().success());
}

fn key(tent: &Tent) -> String {
    shell::home::key::OwnerKey::of(&tent.home()).unwrap().public()
}

fn balance(tent: &Tent) -> Usdc {
    tent.home().treasury().unwrap().balance().unwrap()
}

/// An archive of a move was copied twice, and lived in three homes, the one it had left among them, with its money three
/// times.
#[test]
fn copies_of_a_moved_archive_are_taken_in_by_one_home_and_once() {
    let (here, there, third) = (born("bob", "2"), Tent::new(), Tent::new());
    let [one, two] = ["mv", "mv2"].map(|name| folder(&here, name));
    here.send("bob", &one, &there);
    copy(&one, &two);
    // A key that nobody vouches for is not believed, and the message says what to do.
    let unknown = there.fails(1, ["golem", "restore", &one]);
    assert!(unknown.contains(&format!("--signed-by {}", key(&here))), "{unknown}");
    there.receive(&one, &here);
    for tent in [&here, &third] {
        let refused = tent.fails(1, ["golem", "restore", &two, "--signed-by", &key(&here)]);
        assert!(refused.contains("is addressed to home") && refused.contains(&there.id()), "{refused}");
    }
    // Not even at home, and not after it went on from there without having lived a tick.
    let back = folder(&here, "back");
    there.send("bob", &back, &third);
    let again = there.fails(1, ["golem", "restore", &two, "--signed-by", &key(&here)]);
    assert!(again.contains("later move"), "{again}");
    third.receive(&back, &there);
    third.ok(["golem", "run", "bob", "--speed", "max", "--ticks", "1"]);
    // It may come and go between the same two homes as often as it likes.
    for n in 0..3 {
        let (out, home) = (folder(&here, &format!("out{n}")), folder(&here, &format!("home{n}")));
        third.send("bob", &out, &here);
        here.receive(&out, &third);
        here.send("bob", &home, &third);
        third.receive(&home, &here);
    }
    third.ok(["golem", "run", "bob", "--speed", "max", "--ticks", "1"]);
    for tent in [&here, &there, &third] {
        tent.ok(["doctor"]);
    }
}

/// `"moved": true`, written by hand into the label of any backup, made a second life of it without a word from its owner.
#[test]
fn a_label_written_by_hand_makes_no_life() {
    let (here, there) = (born("ada", "1"), Tent::new());
    let (bk, mv) = (folder(&here, "bk"), folder(&here, "mv"));
    here.ok(["golem", "backup", "ada", &bk]);
    let label = Path::new(&bk).join("backup.json");
    let plain = fs::read_to_string(&label).unwrap();
    fs::write(&label, plain.replacen('{', "{\"moved\": true,", 1)).unwrap();
    assert!(there.fails(1, ["golem", "restore", &bk]).contains("--take-over"));

    // An address of one's own making, and one that was changed.
    let mut value: Value = serde_json::from_str(&plain).unwrap();
    value["passage"] = serde_json::json!({
        "from": here.id(), "to": there.id(), "departure": 1, "owner": key(&there), "signature": "00".repeat(64),
    });
    fs::write(&label, value.to_string()).unwrap();
    let forged = there.fails(1, ["golem", "restore", &bk, "--take-over"]);
    assert!(forged.contains("not the one that was signed"), "{forged}");
    here.ok(["golem", "move", "ada", &mv, "--to", ELSEWHERE]);
    let label = Path::new(&mv).join("backup.json");
    fs::write(&label, fs::read_to_string(&label).unwrap().replace(ELSEWHERE, &there.id())).unwrap();
    let redirected = there.fails(1, ["golem", "restore", &mv, "--signed-by", &key(&here)]);
    assert!(redirected.contains("not the one that was signed"), "{redirected}");
    assert!(there.ok(["golem", "list"]).contains("no golems yet"));
}

/// A move that is cut short goes to whom it was begun for, or to nobody.
#[test]
fn a_move_keeps_its_addressee() {
    let tent = born("ada", "1");
    let refused = tent.fails(1, ["golem", "move", "ada", &folder(&tent, "mv"), "--to", &tent.id()]);
    assert!(refused.contains("already"), "{refused}");
    assert!(tent.fails(1, ["golem", "move", "ada", &folder(&tent, "mv"), "--to", "bob"]).contains("bardo home"));
    assert!(tent.ok(["home"]).contains(&tent.id()) && tent.ok(["home"]).contains(&key(&tent)));
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "1"]);
}

/// A trigger in a journal that came from elsewhere ate the records that were written after it; links were followed and a
/// pipe was waited for; and what was refused left its secret lying about.
#[test]
fn a_hostile_archive_is_refused_whole_and_leaves_nothing_behind() {
    let (here, there) = (born("ada", "1"), Tent::new());
    let good = folder(&here, "good");
    here.ok(["golem", "backup", "ada", &good]);
    let mine = here.folder.path().join("diary");
    fs::write(&mine, "mine").unwrap();
    let sql =
        |at: &Path, sql: &str| rusqlite::Connection::open(at.join("life.db")).unwrap().execute_batch(sql).unwrap();
    let fifo = |at: PathBuf| assert!(Command::new("mkfifo").arg(at).status().unwrap().success());
    let replace = |at: &Path, name: &str| {
        let _ = fs::remove_file(at.join(name));
        symlink(&mine, at.join(name)).unwrap();
    };
    type Harm<'a> = (&'a str, Box<dyn Fn(&Path) + 'a>);
    let harms: Vec<Harm<'_>> = vec![
        (
            "a trigger",
            Box::new(|at| {
                sql(at, "CREATE TRIGGER t AFTER INSERT ON journal BEGIN DELETE FROM journal WHERE seq < 9; END")
            }),
        ),
        ("a view", Box::new(|at| sql(at, "CREATE VIEW v AS SELECT * FROM journal"))),
        ("another table", Box::new(|at| sql(at, "CREATE TABLE t(x)"))),
        ("another index", Box::new(|at| sql(at, "CREATE INDEX i ON journal(hash)"))),
        ("a link for golem.toml", Box::new(|at| replace(at, "golem.toml"))),
        ("a link for the journal", Box::new(|at| replace(at, "life.db"))),
        ("a link for the label", Box::new(|at| replace(at, "backup.json"))),
        ("a link for the archive", Box::new(|at| symlink(at.parent().unwrap(), at.join("archive")).unwrap())),
        ("a pipe for a freeze", Box::new(|at| fifo(at.join("FROZEN")))),
        (
            "a pipe for world.log",
            Box::new(|at| {
                let _ = fs::remove_file(at.join("world.log"));
                fifo(at.join("world.log"))
            }),
        ),
        (
            "a folder for the secret",
            Box::new(|at| {
                fs::remove_file(at.join("secret")).unwrap();
                fs::create_dir(at.join("secret")).unwrap()
            }),
        ),
        ("an odd file", Box::new(|at| fs::write(at.join("run.sh"), "rm -rf /").unwrap())),
        (
            "an odd stretch",
            Box::new(|at| {
                fs::create_dir(at.join("archive")).unwrap();
                fs::write(at.join("archive/x"), "").unwrap()
            }),
        ),
        ("a vast freeze", Box::new(|at| fs::File::create(at.join("FROZEN")).unwrap().set_len(1 << 40).unwrap())),
        ("a vast world.log", Box::new(|at| fs::File::create(at.join("world.log")).unwrap().set_len(1 << 43).unwrap())),
        ("other actions", Box::new(|at| fs::write(at.join("world.log"), "{}\n").unwrap())),
        ("a freeze lifted", Box::new(|at| fs::remove_file(at.join("golem.toml")).unwrap())),
    ];
    for (what, harm) in &harms {
        let bad = folder(&here, "bad");
        copy(&good, &bad);
        harm(Path::new(&bad));
        let output = there.run(["golem", "restore", &bad, "--take-over"]);
        assert_eq!(output.status.code(), Some(1), "{what}: {}", text(&output.stdout));
        let left: Vec<_> = fs::read_dir(there.home().golems()).unwrap().collect();
        assert!(left.is_empty(), "{what} left {left:?}");
        fs::remove_dir_all(&bad).unwrap();
    }
    there.ok(["golem", "restore", &good, "--take-over"]);
    there.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "5"]);
    there.ok(["doctor"]);
}

/// The rule against copies among the golems looked at the words of the way there, and a link led around it.
#[test]
fn no_way_leads_to_a_copy_among_the_golems() {
    let tent = born("ada", "1");
    let link = tent.folder.path().join("link");
    symlink(tent.home().golems(), &link).unwrap();
    for way in ["link/bob", "link/../golems/bob", "home/golems/bob", "link/deep/er/bob"] {
        let refused = tent.fails(1, ["golem", "backup", "ada", &folder(&tent, way)]);
        assert!(refused.contains("outside the home's golems"), "{way}: {refused}");
    }
    assert!(tent.fails(1, ["backup", &folder(&tent, "link/all")]).contains("outside the home's golems"));
    assert_eq!(fs::read_dir(tent.home().golems()).unwrap().count(), 1);
}

/// Fifty golems were restored by a loop in a shell, the treasury by guessing, and settings, data and library not at all.
#[test]
fn a_whole_home_comes_back_from_its_copies() {
    let tent = born("ada", "1");
    tent.ok(["golem", "new", "bob", "--seed", "2"]);
    tent.ok(["golem", "retire", "bob", "--confirm", "bob"]);
    tent.ok(["golem", "new", "eve", "--seed", "3"]);
    tent.ok(["golem", "move", "eve", &folder(&tent, "eve-away"), "--to", ELSEWHERE]);
    let csv = folder(&tent, "a.csv");
    let rows: String =
        (0..300).map(|i| format!("{},{}\n", 1_700_000_000 / 3_600 * 3_600 + i * 3_600, 100 + i % 7)).collect();
    fs::write(&csv, format!("ts,price\n{rows}")).unwrap();
    tent.ok(["data", "import", &csv, "--name", "waves"]);
    tent.ok(["golem", "new", "rep", "--data", "waves", "--seed", "4"]);
    tent.ok(["library", "add", "ada"]);
    tent.ok(["golem", "release", "rep"]);
    let (copies, phrase) = (folder(&tent, "copies"), folder(&tent, "phrase"));
    fs::write(&phrase, "a horse that is correct\n").unwrap();
    let short = tent.run(["backup", &copies, "--with-keys"]);
    assert!(text(&short.stderr).contains("BARDO_PASSPHRASE"));
    let said = tent.ok(["backup", &copies, "--with-keys", "--passphrase-file", &phrase]);
    assert!(said.contains("round 000001-") && said.contains("4 golems") && said.contains("keys encrypted"), "{said}");
    let everything: Vec<u8> =
        crate::common::files(Path::new(&copies)).iter().flat_map(|file| fs::read(file).unwrap()).collect();
    let owner = fs::read(tent.root().join("owner.key")).unwrap();
    assert!(!everything.windows(32).any(|window| window == &owner[..32]), "a key lies open in the copies");
    assert!(tent.ok(["drill", &copies]).contains("ok"));

    let before = (balance(&tent), tent.verified("ada").life().tick(), tent.ok(["--json", "library", "list"]));
    let ids = (tent.id(), key(&tent));
    fs::remove_dir_all(tent.root()).unwrap();
    assert!(tent.fails(1, ["restore", &copies]).contains("--take-over"));
    let wrong = folder(&tent, "wrong");
    fs::write(&wrong, "another horse\n").unwrap();
    let refused = tent.fails(1, ["restore", &copies, "--take-over", "--with-keys", "--passphrase-file", &wrong]);
    assert!(refused.contains("not the passphrase"), "{refused}");
    assert!(!tent.root().exists(), "refused, it leaves nothing behind");
    let said = tent.ok(["restore", &copies, "--take-over", "--with-keys", "--passphrase-file", &phrase]);
    assert!(said.contains("ada is here, at tick 20") && said.contains("eve is here, at tick 0, moved away"), "{said}");
    assert_eq!((balance(&tent), tent.verified("ada").life().tick(), tent.ok(["--json", "library", "list"])), before);
    assert_eq!((tent.id(), key(&tent)), ids);
    tent.ok(["doctor"]);
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "3"]);
    tent.ok(["golem", "run", "rep", "--speed", "max", "--ticks", "3"]);
    assert!(tent.golem("rep").is_released() && tent.ok(["testament", "bob"]).contains("bob"));
    assert!(tent.fails(1, ["golem", "run", "eve", "--ticks", "1"]).contains("was moved"));
    assert!(tent.fails(1, ["restore", &copies, "--take-over"]).contains("is not empty"));
}

/// What lies in a folder of copies may be damaged or cut short: an older round is taken then, and said so.
#[test]
fn a_damaged_round_is_passed_over_and_never_half_restored() {
    let tent = born("ada", "1");
    let copies = folder(&tent, "copies");
    tent.ok(["backup", &copies]);
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "5"]);
    tent.ok(["golem", "withdraw", "ada", "5", "--capital"]);
    tent.ok(["backup", &copies]);
    let total = tent.all_money();
    for part in ["treasury", "golems/ada", "rounds", "home"] {
        let bad = folder(&tent, "bad");
        copy(&copies, &bad);
        let newest =
            fs::read_dir(Path::new(&bad).join(part)).unwrap().flatten().map(|entry| entry.path()).max().unwrap();
        let files = if newest.is_dir() { crate::common::files(&newest) } else { vec![newest] };
        let file = files.into_iter().max_by_key(|file| file.metadata().unwrap().len()).unwrap();
        let mut bytes = fs::read(&file).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 4;
        fs::write(&file, bytes).unwrap();
        let other = Tent::bare();
        let output = other.run(["restore", &bad, "--take-over"]);
        assert_eq!(output.status.code(), Some(1), "{part}: what is passed over is told");
        assert!(text(&output.stderr).contains("000002-") && text(&output.stderr).contains("passed over"), "{part}");
        assert_eq!(other.verified("ada").life().tick(), 20, "{part}");
        other.ok(["doctor"]);
        assert_eq!(other.all_money(), total, "{part}");
        fs::remove_dir_all(&bad).unwrap();
    }
}

/// The money of a home that is copied while its golems are given and return some adds up in every copy.
#[test]
fn money_that_moves_while_a_home_is_copied_is_there_once() {
    let tent = Tent::new();
    for (n, name) in ["ada", "bob", "eve"].iter().enumerate() {
        tent.ok(["golem", "new", name, "--seed", &(n + 1).to_string()]);
    }
    let total = tent.all_money();
    let mut host = tent
        .command(["up", "--listen", "", "--speed", "2000"])
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    testing::wait::until("it comes up", || tent.home().is_up());
    let copies = folder(&tent, "copies");
    let done = &std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        for name in ["ada", "bob", "eve"] {
            let tent = &tent;
            scope.spawn(move || {
                let deadline = std::time::Instant::now() + std::time::Duration::from_secs(240);
                while !done.load(std::sync::atomic::Ordering::SeqCst) && std::time::Instant::now() < deadline {
                    std::thread::sleep(std::time::Duration::from_millis(300));
                    tent.run(["golem", "withdraw", name, "1", "--capital"]);
                    tent.run(["golem", "fund", name, "1", "--capital"]);
                }
            });
        }
        for _ in 0..crate::common::full(30, 3) {
            tent.ok(["backup", &copies]);
            let other = Tent::bare();
            other.ok(["restore", &copies, "--take-over"]);
            assert_eq!(other.all_money(), total);
            other.ok(["doctor"]);
        }
        done.store(true, std::sync::atomic::Ordering::SeqCst);
    });
    let _ = host.kill();
    let _ = host.wait();
}

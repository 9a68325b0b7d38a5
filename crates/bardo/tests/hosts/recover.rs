//! Files that were lost, cut or put back as they were: what an owner is told, and how the home comes up again.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::Duration;

use crate::common::{Tent, text};
use golem::{GolemId, Usdc};
use testing::wait::until;
use vault::{Head, Log, Reader};

const HOST: GolemId = GolemId(*b"bardo's host log");
const TREASURY: GolemId = GolemId(*b"bardo's treasury");

fn host(tent: &Tent) -> Child {
    let mut command = tent.command(["up", "--listen", "", "--speed", "20000"]);
    command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Records of a golem that are only in the log of a host.
fn lines(tent: &Tent, name: &str) -> usize {
    let id = Reader::open(&tent.golem(name).database()).unwrap().id().unwrap();
    let log = Log::reader(&tent.root(), &tent.home().heads()).ok().flatten();
    log.map_or(0, |log| log.lines(id).unwrap().len())
}

/// Everything of a database goes where it came from.
fn remove(tent: &Tent, name: &str) {
    for end in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(tent.root().join(format!("{name}{end}")));
    }
}

fn head(tent: &Tent, id: GolemId) -> PathBuf {
    Head::path(&tent.home().heads(), id)
}

/// Each of these says so, and changes nothing.
fn all_complain(tent: &Tent, of: &str, commands: &[&[&str]]) {
    for command in commands {
        let output = tent.run(*command);
        let told = text(&output.stdout) + &text(&output.stderr);
        assert!(!output.status.success() && told.contains(of), "{command:?}: {told}");
        assert!(!told.contains("panicked"), "{told}");
    }
}

/// A killed host with $55 returned and ticks lived only in its log; then that log was gone. The golem had its $55 back,
/// the treasury had them too, every line of the doctor's was fine, and the home never came up again.
#[test]
fn a_lost_host_log_is_seen_by_everyone_and_its_money_is_there_once() {
    let tent = Tent::new();
    tent.ok(["golem", "new", "ada", "--seed", "1"]);
    tent.ok(["golem", "new", "bob", "--seed", "2"]);
    let mut child = host(&tent);
    until("a host that lives", || lines(&tent, "ada") > 3 && lines(&tent, "bob") > 3);
    tent.ok(["golem", "withdraw", "ada", "5"]);
    tent.ok(["golem", "withdraw", "ada", "50", "--capital"]);
    tent.ok(["golem", "fund", "bob", "7"]);
    let then = lines(&tent, "ada");
    until("more of it", || lines(&tent, "ada") != then);
    child.kill().unwrap();
    child.wait().unwrap();
    let free = tent.home().treasury().unwrap().balance().unwrap();
    remove(&tent, "host.db");
    let commands: [&[&str]; 6] = [
        &["golem", "list"],
        &["golem", "show", "ada"],
        &["golem", "run", "ada", "--speed", "max", "--ticks", "5"],
        &["golem", "withdraw", "ada", "7"],
        &["doctor"],
        &["up", "--listen", ""],
    ];
    all_complain(&tent, "host.db is missing, and group", &commands);
    let told = tent.ok(["recover"]);
    assert!(told.contains("$55.00 from it that it still holds") && told.contains("repeat with --yes"), "{told}");
    all_complain(&tent, "host.db is missing, and group", &commands);
    let told = tent.ok(["recover", "--yes"]);
    assert!(told.contains("it returns $55.00 again"), "{told}");
    assert_eq!(tent.home().treasury().unwrap().balance().unwrap(), free, "the treasury had it already");
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "5"]);
    tent.ok(["golem", "run", "bob", "--speed", "max", "--ticks", "5"]);
    assert_eq!(tent.all_money(), Usdc::dollars(1_000));
    tent.ok(["doctor"]);
    assert!(tent.ok(["recover"]).contains("nothing is missing"));
    let mut child = host(&tent);
    until("a host again", || lines(&tent, "ada") > 0);
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Whoever held a lock that nobody could find any more went on beside whoever came next, and what it acknowledged was lost.
#[test]
fn without_its_head_a_host_stops_and_no_other_starts_beside_it() {
    let tent = Tent::new();
    tent.ok(["golem", "new", "ada", "--seed", "1"]);
    let mut child = host(&tent);
    until("a host that lives", || lines(&tent, "ada") > 3);
    fs::remove_file(head(&tent, HOST)).unwrap();
    let commands: [&[&str]; 3] =
        [&["up", "--listen", ""], &["golem", "run", "ada", "--speed", "max", "--ticks", "5"], &["golem", "list"]];
    all_complain(&tent, "the head of the host log", &commands);
    // It acknowledges nothing more: what is in the log stays what it was.
    std::thread::sleep(Duration::from_secs(1));
    let db = rusqlite::Connection::open(Log::path(&tent.root())).unwrap();
    let group = || db.query_row("SELECT number FROM tip", [], |row| row.get::<_, i64>(0)).unwrap();
    let then = group();
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(group(), then);
    child.kill().unwrap();
    child.wait().unwrap();
    tent.ok(["recover", "--yes"]);
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "5"]);
    tent.ok(["doctor"]);
}

/// An older treasury was put back, as one would after a broken disk, and with it what it had sent since: $497 were made.
#[test]
fn an_older_treasury_is_seen_even_with_an_older_head() {
    let tent = Tent::new();
    tent.ok(["golem", "new", "ada", "--seed", "1"]);
    let (db, anchor) = (tent.root().join("treasury.db"), head(&tent, TREASURY));
    let old = (fs::read(&db).unwrap(), fs::read(&anchor).unwrap());
    tent.ok(["golem", "fund", "ada", "500", "--capital"]);
    tent.ok(["golem", "withdraw", "ada", "3"]);
    let free = tent.home().treasury().unwrap().balance().unwrap();
    remove(&tent, "treasury.db");
    fs::write(&db, &old.0).unwrap();
    fs::set_permissions(&db, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let commands: [&[&str]; 4] = [&["treasury"], &["golem", "fund", "ada", "1"], &["golem", "new", "eve"], &["doctor"]];
    all_complain(&tent, "but line 4 was acknowledged", &commands);
    fs::write(&anchor, &old.1).unwrap();
    all_complain(
        &tent,
        "this life has taken transfer 2, but the treasury has sent only 1",
        &[&["golem", "run", "ada", "--speed", "max", "--ticks", "5"], &["doctor"]],
    );
    let told = tent.ok(["recover", "--yes"]);
    assert!(told.contains("$500.00 sent, written again") && told.contains("$3.00 received, written again"), "{told}");
    assert_eq!(tent.home().treasury().unwrap().balance().unwrap(), free);
    assert_eq!(tent.all_money(), Usdc::dollars(1_000));
    tent.ok(["doctor"]);
}

/// `bardo init` made a new treasury, with its first money, in a home that had lost its own.
#[test]
fn a_treasury_that_is_gone_is_not_begun_anew() {
    let tent = Tent::new();
    tent.ok(["golem", "new", "ada", "--seed", "1"]);
    remove(&tent, "treasury.db");
    all_complain(
        &tent,
        "treasury.db is missing, and line 2 of it was acknowledged",
        &[&["init"], &["treasury"], &["golem", "run", "ada", "--speed", "max", "--ticks", "5"], &["doctor"]],
    );
    fs::remove_file(head(&tent, TREASURY)).unwrap();
    all_complain(&tent, "bardo recover", &[&["init"], &["treasury"]]);
    let told = tent.ok(["recover", "--yes"]);
    assert!(told.contains("because it must have been there"), "{told}");
    assert_eq!(tent.home().treasury().unwrap().balance().unwrap(), Usdc::ZERO, "what was free is gone, and was said");
    tent.ok(["doctor"]);
    assert!(tent.all_money() < Usdc::dollars(1_000));
}

/// A golem held ETH, its world knew of none, and every sale was refused until its death.
#[test]
fn a_worlds_record_that_was_cut_is_seen_and_written_again() {
    let tent = Tent::new();
    tent.ok(["golem", "new", "ada", "--seed", "3", "--set", "mind.kind=reflex", "--set", "reflex.act_every=40"]);
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "300"]);
    let path = tent.golem("ada").ledger();
    let whole = fs::read_to_string(&path).unwrap();
    let acted = whole.lines().filter(|line| !line.contains("null")).count();
    assert!(acted > 2, "{whole}");
    // Whole lines from its end, one after the other; a pair that bought and sold leaves what is held as it was.
    let ends: Vec<usize> = whole.match_indices('\n').map(|(at, _)| at + 1).collect();
    for cut in [0, ends[0], ends[ends.len() - 2]] {
        fs::write(&path, &whole[..cut]).unwrap();
        all_complain(&tent, "world.log", &[&["doctor"]]);
        tent.ok(["recover", "--yes"]);
        let units = |text: &str| text.lines().filter(|line| !line.contains("null")).count();
        assert_eq!(units(&fs::read_to_string(&path).unwrap()), acted);
        tent.ok(["doctor"]);
        fs::write(&path, &whole).unwrap();
    }
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "5"]);
}

/// A hole in an archive looked like an archive that its owner had put elsewhere.
#[test]
fn a_hole_in_an_archive_is_wrong_and_an_archive_elsewhere_is_not() {
    let tent = Tent::new();
    fs::write(tent.root().join("bardo.toml"), "[journal]\nretention = \"archived\"\n").unwrap();
    tent.ok(["golem", "new", "ada", "--seed", "7"]);
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "35000"]);
    let stretches = vault::archive::files(&tent.golem("ada").archive(), u64::MAX);
    assert!(stretches.len() > 2);
    let away = stretches[1].with_extension("away");
    fs::rename(&stretches[1], &away).unwrap();
    all_complain(&tent, "are missing from its archive", &[&["doctor"]]);
    fs::rename(&away, &stretches[1]).unwrap();
    tent.ok(["doctor"]);
    fs::remove_file(&stretches[0]).unwrap();
    assert!(tent.ok(["doctor"]).contains("archived, and not here"), "its older part is its owner's to keep elsewhere");
}

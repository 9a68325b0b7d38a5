//! What machines that watch are told: whether golems can be written, and figures of each of them.

use std::fs;
use std::process::Command;
use std::time::Duration;

use crate::common::host::Host;
use crate::common::{Disk, Tent};
use testing::wait::{until, within};

fn stop(mut host: Host) {
    assert!(Command::new("kill").args(["-TERM", &host.child.id().to_string()]).status().unwrap().success());
    host.child.wait().unwrap();
}

fn ready(host: &Host) -> u16 {
    host.ask("GET", "/ready", &[], "").0
}

/// In a home whose log had grown, a full disk left the log room enough to be written while every golem's own file had
/// none: all of them were down, the probe was green, and the owner got a note for each.
#[test]
fn whoever_asks_hears_that_no_golem_can_be_written() {
    let tent = Tent::bare();
    fs::create_dir_all(tent.root()).unwrap();
    let Some(disk) = Disk::mount(tent.root(), tent.folder.path().join("image")) else { return };
    tent.ok(["init"]);
    let told = tent.folder.path().join("told");
    // Nothing is gathered first: a note for each golem would be there as soon as it fell over.
    let notify = format!("command = \"echo $BARDO_NOTE_KIND >> {}\"", told.display());
    let text = format!("[notify]\n{notify}\ngather = \"0s\"\ndaily_hour = -1\n");
    fs::write(tent.root().join("bardo.toml"), text).unwrap();
    for n in 0..3 {
        tent.ok(["golem", "new", &format!("g{n}"), "--seed", &n.to_string()]);
    }
    let host = Host::up(&tent, "20000");
    until("its log grows", || host.ticks() > 1_200);
    assert_eq!(ready(&host), 200);
    stop(host);
    let host = Host::up(&tent, "2000");
    until("they live", || host.ticks() > 30);
    disk.fill(0);
    let late = || format!("the disk is full and the probe is green: {}", host.get("/v1/golems"));
    within(Duration::from_secs(60), late, || ready(&host) == 503);
    // Each golem is tried again every two seconds: twice is long enough for one note of each, if there were any.
    std::thread::sleep(Duration::from_secs(5));
    assert_eq!(ready(&host), 503);
    let notes = fs::read_to_string(&told).unwrap_or_default();
    assert_eq!(notes.lines().filter(|kind| *kind == "disk").count(), 1, "{notes}");
    disk.free();
    until("there is room again", || ready(&host) == 200);
    let ticks = host.ticks();
    until("they go on by themselves", || host.ticks() > ticks);
}

/// There was nothing about any golem: no vitality, no credit, no cause of any death.
#[test]
fn each_golem_has_figures_of_its_own_up_to_a_number() {
    let tent = Tent::new();
    let copies = tent.folder.path().join("copies");
    let text = format!("[api]\nmetrics_golems = 2\n[backup]\nfolder = \"{}\"\n", copies.display());
    fs::write(tent.root().join("bardo.toml"), text).unwrap();
    for n in 0..4 {
        tent.ok(["golem", "new", &format!("g{n}"), "--seed", &n.to_string()]);
    }
    let host = Host::up(&tent, "400");
    assert_eq!(host.order("/v1/golems/g3/retire", None, r#"{"confirm":"g3"}"#).0, 200);
    until("one dies and the others are copied", || {
        host.get("/v1/golems/g3")["status"]["state"] == "dead" && copies.join("golems/g0").exists()
    });
    let told = || host.get("/metrics").as_str().unwrap().to_owned();
    until("the figures follow", || {
        let told = told();
        ["bardo_deaths_total{cause=\"owner_kill\"} 1", "bardo_backup_age_seconds ", "bardo_golem_tick{golem=\"g0\"} "]
            .iter()
            .all(|figure| told.lines().any(|line| line.starts_with(figure)))
            && host.figure("bardo_golem_tick{golem=\"g0\"}") >= 1.0
    });
    let g0 = |name: &str| host.figure(&format!("bardo_golem_{name}{{golem=\"g0\"}}"));
    assert!((0.0..=1.0).contains(&g0("vitality")) && (0.0..=1.0).contains(&g0("skill")) && g0("load") >= 0.0);
    assert!((9.0..=10.0).contains(&g0("credit_usdc")) && g0("tick") >= 1.0);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs_f64();
    assert!((now - g0("last_tick_timestamp_seconds")).abs() < 30.0);
    assert_eq!(host.figure("bardo_golems_left_out"), 1.0);
    assert_eq!(host.figure("bardo_deaths_total{cause=\"owner_kill\"}"), 1.0);
    assert!(host.figure("bardo_treasury_usdc") > 0.0);
    assert_eq!(host.figure("bardo_asks_waiting"), 0.0);
    assert!(host.figure("bardo_backup_age_seconds") < 300.0);
    let page = host.get("/metrics").as_str().unwrap().to_owned();
    assert!(page.contains(&format!("bardo_build_info{{version=\"{}\"}} 1", env!("CARGO_PKG_VERSION"))), "{page}");
    assert!(page.contains("bardo_golem_phase{golem=\"g0\",phase=\"") && !page.contains("golem=\"g2\""), "{page}");
    // Every family says what it is, once.
    for line in page.lines().filter(|line| !line.starts_with('#')) {
        let name = line.split(['{', ' ']).next().unwrap();
        let family = ["_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
        assert_eq!(page.matches(&format!("# TYPE {family} ")).count(), 1, "{line}");
        assert_eq!(page.matches(&format!("# HELP {family} ")).count(), 1, "{line}");
    } // What the alerts that come with it look at is there to be looked at.
    let rules = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging/alerts.yml")).unwrap();
    let named = |c: char| !(c.is_ascii_lowercase() || c == '_');
    let figures: Vec<&str> = rules.split(named).filter(|word| word.starts_with("bardo_")).collect();
    let there = |figure: &str| page.contains(&format!("# TYPE {} ", figure.trim_end_matches("_bucket")));
    // No note has failed and nobody has died of anything else; the families are there all the same.
    assert!(figures.len() >= 10 && figures.iter().all(|figure| there(figure)), "{figures:?}");
}

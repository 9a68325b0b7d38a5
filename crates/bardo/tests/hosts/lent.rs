//! One golem leaves a host that is up and comes back, while the others go on: released by its owner, or borrowed for as
//! long as a command needs it.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::time::Duration;

use crate::common::{Tent, text};
use serde_json::Value;
use testing::wait::until;

/// A host, killed when the test ends however that is.
struct Host {
    child: Child,
    first: String,
}

impl Host {
    fn up(tent: &Tent) -> Host {
        let mut child = tent
            .command(["up", "--listen", "", "--speed", "3000"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut first = String::new();
        out.read_line(&mut first).unwrap();
        std::thread::spawn(move || std::io::copy(&mut out, &mut std::io::sink()));
        Host { child, first }
    }

    fn kill(mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    fn stop(mut self) {
        assert!(
            std::process::Command::new("kill")
                .args(["-TERM", &self.child.id().to_string()])
                .status()
                .unwrap()
                .success()
        );
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn listed(tent: &Tent, name: &str) -> Value {
    let list = tent.ok(["--json", "golem", "list"]);
    let lines = list.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.into_iter().find(|golem| golem["name"] == name).unwrap_or_else(|| panic!("{name} is not in {list}"))
}

fn ticks(tent: &Tent, name: &str) -> u64 {
    listed(tent, name)["ticks"].as_u64().unwrap_or(0)
}

fn is_running(tent: &Tent, name: &str) -> bool {
    listed(tent, name)["running"] == true
}

fn home_of(names: &[&str]) -> Tent {
    let tent = Tent::new();
    for (n, name) in names.iter().enumerate() {
        tent.ok(["golem", "new", name, "--seed", &(n + 1).to_string()]);
    }
    tent
}

fn folder(tent: &Tent, name: &str) -> String {
    tent.folder.path().join(name).to_str().unwrap().to_owned()
}

/// A copy was put in the place of a golem that a host went on living: the host's log then had records of a future that
/// the copy did not have, and neither restoring again nor stopping the host made the golem readable. Only removing the
/// log of all golems did.
#[test]
fn a_golem_that_a_host_lives_can_be_restored() {
    let tent = home_of(&["ada", "bob"]);
    let total = tent.all_money();
    let host = Host::up(&tent);
    until("ada lives", || ticks(&tent, "ada") > 20);
    let copy = folder(&tent, "bk");
    tent.ok(["golem", "backup", "ada", &copy]);
    let copied = tent.ok(["--json", "golem", "show", "ada"]).parse::<Value>().unwrap()["tick"].as_u64().unwrap();
    until("ada goes on", || ticks(&tent, "ada") > copied + 100);
    // Without the owner's word nothing is undone, and the host goes on with it.
    let refused = tent.fails(1, ["golem", "restore", &copy]);
    assert!(refused.contains("--rewind"), "{refused}");
    until("the host has it again", || is_running(&tent, "ada"));
    let before = ticks(&tent, "bob");
    tent.ok(["golem", "restore", "--rewind", &copy]);
    tent.ok(["golem", "show", "ada"]);
    until("the host lives the copy", || is_running(&tent, "ada"));
    until("and the others never stopped", || ticks(&tent, "bob") > before);
    tent.ok(["doctor"]);
    // Killed at any instant around it, too: nothing of the old course of things comes back.
    let mut dice = crate::common::Dice(3);
    let mut host = host;
    for _ in 0..crate::common::full(100, 4) {
        let mut restore = tent
            .command(["golem", "restore", "--rewind", &copy])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(dice.roll(400)));
        host.kill();
        if dice.roll(2) == 0 {
            let _ = restore.kill();
        }
        restore.wait().unwrap();
        if tent.run(["golem", "show", "ada"]).status.code() != Some(0) {
            tent.ok(["golem", "restore", "--rewind", &copy]);
        }
        tent.ok(["golem", "show", "ada"]);
        host = Host::up(&tent);
        until("ada lives on", || is_running(&tent, "ada"));
    }
    host.stop();
    tent.verified("ada");
    assert_eq!(tent.all_money(), total);
}

/// A host that is killed leaves records in its log which a damaged journal cannot take: a copy could not be restored
/// then, whatever the owner said, and `halt` and `retire` failed as well.
#[test]
fn a_rewind_gives_up_what_the_log_of_a_host_has_of_a_damaged_life() {
    for host_is_up in [false, true] {
        let tent = home_of(&["ada", "bob"]);
        tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "30"]);
        let copy = folder(&tent, "bk");
        tent.ok(["golem", "backup", "ada", &copy]);
        let host = Host::up(&tent);
        until("ada goes on", || ticks(&tent, "ada") > 60);
        host.kill();
        rusqlite::Connection::open(tent.golem("ada").database())
            .unwrap()
            .execute("DELETE FROM journal WHERE seq = (SELECT MAX(seq) FROM journal)", [])
            .unwrap();
        let host = host_is_up.then(|| Host::up(&tent));
        assert!(tent.run(["golem", "show", "ada"]).status.code() != Some(0));
        assert!(tent.run(["golem", "restore", &copy]).status.code() != Some(0), "not without the owner's word");
        tent.ok(["golem", "restore", "--rewind", &copy]);
        tent.ok(["golem", "show", "ada"]);
        if host.is_some() {
            until("the host takes it up again", || is_running(&tent, "ada"));
            tent.ok(["golem", "retire", "ada", "--confirm", "ada"]);
        } else {
            tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "5"]);
        }
        drop(host);
        tent.ok(["doctor"]);
    }
}

/// To move one golem, or to give it a bundle, all of them had to be stopped.
#[test]
fn one_golem_leaves_a_running_host_for_a_command_and_comes_back() {
    let tent = home_of(&["ada", "bob", "eve"]);
    let _host = Host::up(&tent);
    until("all live", || ["ada", "bob", "eve"].iter().all(|name| ticks(&tent, name) > 5));
    let bundle = folder(&tent, "known");
    std::fs::write(&bundle, tent.ok(["grimoire", "export", "bob"])).unwrap();
    tent.ok(["grimoire", "import", "ada", &bundle]);
    until("ada is back", || is_running(&tent, "ada"));
    let book = tent.golem("ada").playbook();
    let written = shell::life::playbook::render("ada", tent.golem("ada").wake().unwrap().0.life());
    let rule = "- when vol_ratio > 3 and hour < 2 expect volatility x0.5 over 24\n";
    let first = written.find("\n- ").unwrap() + 1;
    std::fs::write(&book, format!("{}{rule}{}", &written[..first], &written[first..])).unwrap();
    let said = tent.ok(["golem", "playbook", "ada", "--accept"]);
    assert!(said.contains("is tried from now on"), "{said}");
    until("ada is back again", || is_running(&tent, "ada"));
    let busy = tent.fails(1, ["golem", "run", "eve", "--ticks", "1"]);
    assert!(busy.contains("the host is running eve") && busy.contains("golem release eve"), "{busy}");
}

/// A release is the owner's wish: it outlives the host, and the golem can be run by hand meanwhile.
#[test]
fn a_released_golem_stays_out_until_it_is_joined() {
    let tent = home_of(&["ada", "bob"]);
    let host = Host::up(&tent);
    until("ada lives", || ticks(&tent, "ada") > 5);
    let said = tent.ok(["golem", "release", "ada"]);
    assert!(said.contains("the host has let go of it"), "{said}");
    assert_eq!(listed(&tent, "ada")["state"], "released");
    let at = ticks(&tent, "ada");
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "3"]);
    tent.ok(["golem", "fund", "ada", "1"]);
    assert_eq!(ticks(&tent, "ada"), at + 3);
    host.kill();
    let host = Host::up(&tent);
    assert!(host.first.contains("1 living") && host.first.contains("1 released"), "{}", host.first);
    until("bob goes on", || is_running(&tent, "bob"));
    std::thread::sleep(Duration::from_millis(500));
    assert!(!is_running(&tent, "ada"));
    assert_eq!(ticks(&tent, "ada"), at + 3);
    assert!(tent.ok(["golem", "join", "ada"]).contains("back with the host"));
    until("ada goes on", || is_running(&tent, "ada") && ticks(&tent, "ada") > at + 3);
    host.stop();
    tent.ok(["doctor"]);
    assert!(text(&tent.run(["golem", "join", "ada"]).stdout).contains("was not released"));
}

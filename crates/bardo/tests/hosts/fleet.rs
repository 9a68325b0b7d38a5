//! All golems of a home as their owner has them in hand: every one of them stopped from taking anything up and let go
//! again by one command, whoever runs them and even if that hangs; how each stands in one list; the dead put away.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use crate::common::Tent;
use serde_json::Value;
use testing::wait::until;

/// The names and states a list has, with these flags.
fn listed(tent: &Tent, flags: &[&str]) -> Vec<(String, String)> {
    let text = tent.ok([&["--json", "golem", "list"], flags].concat());
    let one = |line: &str| {
        let value: Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| value[key].as_str().unwrap().to_owned();
        (text("name"), text("state"))
    };
    text.lines().map(one).collect()
}

fn names(tent: &Tent, flags: &[&str]) -> Vec<String> {
    listed(tent, flags).into_iter().map(|(name, _)| name).collect()
}

fn states(tent: &Tent) -> Vec<String> {
    listed(tent, &[]).into_iter().map(|(_, state)| state).collect()
}

/// Three who live and one who is dead.
fn home() -> Tent {
    let tent = Tent::new();
    for (name, seed) in [("ada", "1"), ("ben", "2"), ("cleo", "3")] {
        tent.ok(["golem", "new", name, "--seed", seed]);
        tent.ok(["golem", "run", name, "--speed", "max", "--ticks", "50"]);
    }
    let dear = ["--set", "mortality.mode=hosted", "--set", "mortality.economic.machine_per_day=40"];
    tent.ok([&["golem", "new", "dora", "--seed", "4", "--credit", "1"], &dear[..]].concat());
    tent.ok(["golem", "run", "dora", "--speed", "max"]);
    tent
}

struct Host(Child);

impl Host {
    fn up(tent: &Tent) -> Host {
        let mut command = tent.command(["up", "--listen", "", "--speed", "400"]);
        let said = fs::File::create(tent.folder.path().join("said")).unwrap();
        let host = Host(command.stdout(said.try_clone().unwrap()).stderr(said).spawn().unwrap());
        until("it comes up", || fs::read_to_string(tent.folder.path().join("said")).unwrap().contains("up after"));
        host
    }

    fn signal(&self, signal: &str) {
        let sent = Command::new("kill").args([signal, &self.0.id().to_string()]).stderr(Stdio::null()).status();
        assert!(sent.unwrap().success());
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// As one types it in an emergency: no body, no content type.
#[test]
fn all_are_braked_through_the_api() {
    let tent = home();
    let mut command = tent.command(["up", "--listen", "127.0.0.1:0", "--speed", "400"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let said = lines.find_map(|line| Some(line.split_once("http://")?.1.to_owned())).unwrap();
    let _host = Host(child);
    let address = said.split(';').next().unwrap();
    let token = fs::read_to_string(tent.home().token()).unwrap();
    mind::http::choose_tls();
    let client = reqwest::blocking::Client::new();
    let post = |path: &str| {
        let answer = client.post(format!("http://{address}{path}")).bearer_auth(token.trim()).send().unwrap();
        let (status, body) = (answer.status(), answer.text().unwrap());
        assert!(status.is_success(), "{path}: {body}");
        serde_json::from_str::<Vec<Value>>(&body).unwrap()
    };
    for (path, state) in [("/v1/freeze", "frozen"), ("/v1/resume", "living"), ("/v1/pause", "paused")] {
        let came = post(path);
        assert_eq!(came.len(), 3, "{came:?}");
        assert!(came.iter().all(|one| one["done"] == true), "{came:?}");
        assert_eq!(states(&tent), [state, state, state, "dead"], "{path}");
    }
}

/// The only order to all of them was the one that ends them.
#[test]
fn all_are_frozen_paused_and_let_go_by_one_command() {
    let tent = home();
    assert_eq!(states(&tent), ["idle", "idle", "idle", "dead"]);
    let said = tent.ok(["golem", "freeze", "--all", "--reason", "looking into it"]);
    assert_eq!(said.lines().filter(|line| line.ends_with("is frozen: no new exposure")).count(), 3, "{said}");
    assert_eq!(states(&tent), ["frozen", "frozen", "frozen", "dead"]);
    assert!(!tent.golem("dora").frozen_marker().exists(), "the dead are left alone");
    for name in ["ada", "ben", "cleo"] {
        assert!(tent.verified(name).life().heartbeat().frozen, "it is on record, too");
    }
    tent.ok(["golem", "resume", "--all"]);
    assert_eq!(states(&tent), ["idle", "idle", "idle", "dead"]);
    tent.ok(["golem", "pause", "--all"]);
    assert_eq!(states(&tent), ["paused", "paused", "paused", "dead"]);
    tent.ok(["golem", "resume", "--all"]);
    tent.fails(2, ["golem", "freeze"]);
    tent.fails(2, ["golem", "freeze", "ada", "--all"]);

    let host = Host::up(&tent);
    assert_eq!(states(&tent), ["living", "living", "living", "dead"]);
    tent.ok(["golem", "freeze", "--all"]);
    assert_eq!(states(&tent), ["frozen", "frozen", "frozen", "dead"]);
    tent.ok(["golem", "resume", "--all"]);
    assert_eq!(states(&tent), ["living", "living", "living", "dead"]);

    // A host that hangs answers nobody; what it may do is decided without it.
    host.signal("-STOP");
    let said = tent.ok(["golem", "freeze", "--all"]);
    assert_eq!(said.lines().filter(|line| line.contains("is frozen: no new exposure")).count(), 3, "{said}");
    assert_eq!(names(&tent, &["--frozen"]), ["ada", "ben", "cleo"]);
    host.signal("-CONT");
}

#[test]
fn a_list_can_be_narrowed_and_sorted_and_its_columns_hold() {
    let tent = home();
    tent.ok(["golem", "freeze", "ben"]);
    tent.ok(["golem", "pause", "cleo"]);
    assert_eq!(names(&tent, &["--living"]), ["ada", "ben", "cleo"]);
    assert_eq!(names(&tent, &["--dead"]), ["dora"]);
    assert_eq!(names(&tent, &["--frozen", "--paused"]), ["ben", "cleo"]);
    assert_eq!(names(&tent, &["--asking"]), Vec::<String>::new());
    tent.ok(["golem", "withdraw", "cleo", "3"]);
    assert_eq!(names(&tent, &["--living", "--sort", "credit"])[0], "cleo");
    let table = tent.ok(["golem", "list"]);
    let lines: Vec<&str> = table.lines().collect();
    let ends = |line: &&str| line.chars().count();
    assert!(lines.iter().all(|line| ends(line) == ends(&lines[0])), "figures end in one column:\n{table}");
    assert!(lines[2].contains("frozen") && lines[3].contains("paused"), "{table}");
    assert_eq!(tent.ok(["golem", "approve"]), "no golem asks for anything\n");
}

#[test]
fn whoever_waits_for_a_yes_is_listed_without_a_name() {
    let tent = Tent::new();
    let sets = ["mind.kind=reflex", "reflex.act_every=2", "policy.approve_above=0", "policy.approve_within=2d"];
    let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set", *set]).collect();
    tent.ok([&["golem", "new", "ada", "--seed", "1"], &sets[..]].concat());
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "40"]);
    assert_eq!(listed(&tent, &["--asking"]), [("ada".to_owned(), "asking".to_owned())]);
    let asked = tent.ok(["golem", "approve"]);
    assert!(asked.contains("ada asks") && asked.contains("bardo golem approve ada"), "{asked}");
}

/// A list of hundreds of dead is no list. What they left stays where it can be read.
#[test]
fn the_dead_are_put_away_and_nothing_of_them_is_lost() {
    let tent = home();
    let refused = tent.fails(6, ["golem", "bury", "ada"]);
    assert!(refused.contains("alive"), "{refused}");
    let (testament, books) = (tent.ok(["testament", "dora"]), tent.all_money());
    tent.ok(["golem", "bury", "dora"]);
    assert_eq!(names(&tent, &[]), ["ada", "ben", "cleo"]);
    assert_eq!(names(&tent, &["--buried"]), ["dora"]);
    assert!(tent.ok(["golem", "list"]).contains("1 buried"));
    assert_eq!(tent.ok(["testament", "dora"]), testament);
    assert_eq!(tent.all_money(), books);
    assert!(tent.ok(["golem", "show", "dora"]).contains("dead"));
    let taken = tent.run(["golem", "new", "dora"]);
    assert!(!taken.status.success(), "its name is still its own");
    tent.ok(["golem", "successor", "dora", "--yes", "--force-similarity"]);
    assert!(tent.ok(["lineage", "dora"]).contains("dora-2"));
    tent.ok(["golem", "unbury", "dora"]);
    assert_eq!(names(&tent, &["--dead"]), ["dora"]);
    tent.ok(["doctor"]);
}

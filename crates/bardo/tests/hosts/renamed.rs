//! Golems under another name: whatever becomes of the rename and of the processes around it, each golem is found, stopped
//! and told of by its name and by the one it had.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Stdio;
use std::time::Duration;

use crate::common::host::Host;
use crate::common::{Tent, text};
use golem::{GolemId, Name};
use serde_json::{Value, json};
use shell::care::rename::rename;
use testing::wait::{found, until};
use vault::disk::{Step, watch};

fn born(tent: &Tent, name: &str, seed: &str) {
    tent.ok(["golem", "new", name, "--seed", seed]);
}

fn names(tent: &Tent) -> Vec<String> {
    tent.home().list().unwrap().iter().map(|place| place.name.to_string()).collect()
}

fn id(tent: &Tent, name: &str) -> GolemId {
    tent.ok(["golem", "show", name]);
    tent.golem(name).wake().unwrap().0.life().id()
}

/// Lets the day pass after which a name leads nowhere.
fn a_day_later(tent: &Tent) {
    let path = tent.root().join("renamed");
    let lines = fs::read_to_string(&path).unwrap();
    let over = lines.lines().map(|line| {
        let mut line: Value = line.parse().unwrap();
        line["until"] = json!(1);
        line.to_string() + "\n"
    });
    fs::write(&path, over.collect::<String>()).unwrap();
}

#[test]
fn a_golem_is_known_by_its_new_name_and_for_a_day_by_the_old_one() {
    let tent = Tent::new();
    born(&tent, "ada", "1");
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "5"]);
    let (before, money) = (id(&tent, "ada"), tent.all_money());
    let said: Value = tent.ok(["--json", "golem", "rename", "ada", "bea"]).parse().unwrap();
    assert_eq!((&said["name"], &said["was"]), (&json!("bea"), &json!("ada")), "{said}");
    assert_eq!(names(&tent), ["bea"]);
    assert_eq!((id(&tent, "bea"), id(&tent, "ada")), (before, before));
    let shown = tent.run(["golem", "show", "ada"]);
    assert!(text(&shown.stdout).starts_with("bea  "), "shown by its name: {}", text(&shown.stdout));
    let told = text(&shown.stderr);
    assert!(told.contains("ada is called bea now; the old name leads to it for another"), "{told}");
    assert!(!text(&tent.run(["golem", "show", "bea"]).stderr).contains("called"));
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "5"]);
    // Names lead on along a chain, and a golem may take back one of its own.
    tent.ok(["golem", "rename", "ada", "cyd"]);
    assert_eq!((id(&tent, "ada"), id(&tent, "bea"), names(&tent)), (before, before, vec!["cyd".to_owned()]));
    tent.ok(["golem", "rename", "cyd", "ada"]);
    assert_eq!((id(&tent, "bea"), id(&tent, "cyd")), (before, before));
    tent.verified("ada");
    assert_eq!(tent.all_money(), money);
    tent.ok(["doctor"]);
}

#[test]
fn a_name_that_is_taken_promised_or_none_is_refused_and_so_is_a_golem_that_is_lent() {
    let tent = Tent::new();
    born(&tent, "ada", "1");
    born(&tent, "bob", "2");
    assert!(tent.fails(1, ["golem", "rename", "ada", "bob"]).contains("there is already a golem named bob"));
    assert!(tent.fails(2, ["golem", "rename", "ada", "Bob"]).contains("cannot be a golem's name"));
    assert!(tent.fails(1, ["golem", "rename", "ada", "ada"]).contains("called ada already"));
    assert!(tent.fails(1, ["golem", "rename", "eve", "fay"]).contains("no golem named eve"));
    tent.ok(["golem", "rename", "bob", "cyd"]);
    for args in [&["golem", "new", "bob"][..], &["golem", "rename", "ada", "bob"]] {
        let refused = tent.fails(6, args);
        assert!(refused.contains("bob was the name of cyd and leads to it for another"), "{refused}");
    }
    tent.ok(["golem", "release", "ada"]);
    let lent = tent.fails(6, ["golem", "rename", "ada", "dot"]);
    assert!(lent.contains("ada is released") && lent.contains("golem join ada"), "{lent}");
    tent.ok(["golem", "join", "ada"]);
    // Another process runs it, and would go on writing into the folder of before.
    let mut running = tent.command(["golem", "run", "ada", "--speed", "1"]);
    let mut running = running.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let heads = tent.home().heads();
    let ada = tent.golem("ada").wake().unwrap().0.life().id();
    until("it runs", || vault::Head::is_taken(&heads, ada));
    let busy = tent.fails(1, ["golem", "rename", "ada", "dot"]);
    assert!(busy.contains("is running ada; stop it"), "{busy}");
    let _ = running.kill();
    let _ = running.wait();
    assert_eq!(names(&tent), ["ada", "cyd"], "nothing was moved");
    tent.ok(["golem", "rename", "ada", "dot"]);
    a_day_later(&tent);
    assert!(tent.fails(1, ["golem", "show", "bob"]).contains("no golem named bob"));
    born(&tent, "bob", "3");
    tent.ok(["golem", "show", "bob"]);
}

#[test]
fn the_frozen_the_dead_and_the_buried_are_renamed_too() {
    let tent = Tent::new();
    for (name, seed) in [("ice", "1"), ("late", "2")] {
        born(&tent, name, seed);
        tent.ok(["golem", "run", name, "--speed", "max", "--ticks", "60"]);
    }
    tent.ok(["golem", "freeze", "ice", "--reason", "enough"]);
    tent.ok(["golem", "rename", "ice", "snow"]);
    assert_eq!(tent.golem("ice").frozen().as_deref(), Some("enough"));
    tent.ok(["golem", "resume", "ice"]);
    assert_eq!(tent.golem("snow").frozen(), None, "let go by the name it had");
    tent.ok(["golem", "retire", "late", "--confirm", "late"]);
    tent.ok(["golem", "rename", "late", "past"]);
    let testament = tent.ok(["testament", "late"]);
    assert!(testament.starts_with("# Testament of past"), "{testament}");
    tent.ok(["testament", "past", "--verify"]);
    assert!(tent.ok(["graveyard"]).contains("† past "));
    tent.ok(["golem", "bury", "late"]);
    tent.ok(["golem", "rename", "past", "gone"]);
    assert!(tent.golem("past").is_buried());
    // An heir is made of the golem, and named after what it is called now.
    let heir: Value = tent.ok(["--json", "golem", "successor", "late", "--yes", "--force-similarity"]).parse().unwrap();
    assert_eq!(heir["name"], "gone-2", "{heir}");
    let line = tent.ok(["lineage", "gone-2"]);
    assert!(line.contains("† gone ") && line.contains("• gone-2 "), "{line}");
    tent.ok(["golem", "rename", "gone", "first"]);
    let family: Vec<Value> =
        tent.ok(["--json", "lineage", "gone-2"]).lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!((&family[1]["name"], &family[1]["parent"]), (&json!("gone-2"), &json!("first")), "{family:?}");
    tent.ok(["doctor"]);
}

/// An heir was looked for among the names that come next in a line. It is an heir by its predecessor's id, whatever the
/// two are called.
#[test]
fn a_golem_whose_heir_has_another_name_gets_no_second_one() {
    let tent = Tent::new();
    let line = ["world.bar=1h", "heartbeat.interval=1h", "succession.auto=true", "succession.min_divergence=0"];
    let poor = ["funds.credit=1", "mortality.mode=hosted", "mortality.economic.machine_per_day=0.2"];
    let set = line.iter().chain(&poor).flat_map(|set| ["--set", *set]);
    tent.ok(["golem", "new", "ada", "--seed", "5"].into_iter().chain(set));
    tent.ok(["golem", "rename", "ada", "bea"]);
    tent.run(["golem", "run", "bea", "--speed", "max", "--ticks", "400"]);
    assert!(tent.golem("bea").wake().unwrap().0.life().is_dead(), "it starved");
    assert!(tent.home().golem("bea-2").is_ok(), "{:?}", names(&tent));
    tent.ok(["golem", "rename", "bea-2", "zoe"]);
    a_day_later(&tent);
    let before = names(&tent);
    let automatic = shell::life::heirs::automatic(&shell::Runtime::of(&tent.home()), &tent.golem("bea")).unwrap();
    assert_eq!((automatic, names(&tent)), (None, before));
    let heir = tent.golem("zoe").wake().unwrap().0.life().birth().lineage.clone().unwrap();
    assert_eq!(heir.parent_name, "bea", "as its predecessor was called when it was born");
}

/// A rename is stopped at each of its steps to the disk, as a kill would stop it. Whatever is left, there is one folder,
/// both names lead to it, brakes find it under both, and the rename can be given again.
#[test]
fn a_rename_that_is_cut_short_anywhere_loses_no_name() {
    let new: Name = "bea".parse().unwrap();
    let mut cuts = 0;
    for cut in 0.. {
        let tent = Tent::new();
        born(&tent, "ada", "1");
        let (place, money) = (tent.golem("ada"), tent.all_money());
        let mut steps = 0;
        let watching = watch(move |step: Step| {
            let at = steps;
            steps += 1;
            assert!(at != cut, "cut short at {step:?}");
            Ok(())
        });
        let done = catch_unwind(AssertUnwindSafe(|| rename(&place, &new)));
        drop(watching);
        let is_whole = done.map(Result::unwrap).is_ok();
        for name in ["ada", "bea"] {
            match (tent.home().golem(name), cuts) {
                (Ok(_), _) => {}
                // Before anything is written the new name is only a wish.
                (Err(_), 0) => assert_eq!(name, "bea"),
                (Err(why), _) => panic!("cut at {cut}, {name}: {why}"),
            }
        }
        assert_eq!(names(&tent).len(), 1, "cut at {cut}");
        let known: Vec<&str> = ["ada", "bea"].into_iter().filter(|name| tent.home().golem(name).is_ok()).collect();
        for name in known {
            tent.ok(["golem", "freeze", name]);
            assert!(tent.golem("ada").frozen().is_some(), "cut at {cut}, frozen as {name}");
            tent.ok(["golem", "resume", name]);
            assert!(tent.golem("ada").frozen().is_none(), "cut at {cut}, resumed as {name}");
        }
        if names(&tent) == ["ada"] {
            tent.ok(["golem", "rename", "ada", "bea"]);
        }
        assert_eq!(names(&tent), ["bea"], "cut at {cut}");
        tent.ok(["golem", "retire", "ada", "--confirm", "ada"]);
        assert!(tent.golem("bea").wake().unwrap().0.life().is_dead());
        tent.verified("bea");
        assert_eq!(tent.all_money(), money, "cut at {cut}");
        if is_whole {
            break;
        }
        cuts += 1;
    }
    assert!(cuts >= 4, "the line and the move were each stopped before and after: {cuts}");
}

fn header<'a>(answer: &'a str, name: &str) -> Option<&'a str> {
    let lines = answer.lines().filter_map(|line| line.split_once(": "));
    lines.filter(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim()).next()
}

/// One request as it goes over the wire; the whole answer, headers and all.
fn asked(host: &Host, method: &str, path: &str, token: &str) -> String {
    use std::io::{Read, Write};
    let mut socket = std::net::TcpStream::connect(&host.address).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\nauthorization: Bearer {token}\r\n\r\n",
        host.address
    );
    socket.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    let _ = socket.read_to_string(&mut answer);
    answer
}

#[test]
fn a_host_takes_a_golem_up_under_its_new_name_and_its_api_leads_on_from_the_old_one() {
    let tent = Tent::new();
    born(&tent, "ada", "1");
    born(&tent, "bob", "2");
    let host = Host::up(&tent, "3000");
    let tick = |name: &str| host.get(&format!("/v1/golems/{name}"))["status"]["tick"].as_u64().unwrap();
    until("both live", || tick("ada") > 5 && tick("bob") > 5);
    let at = tick("ada");
    tent.ok(["golem", "rename", "ada", "bea"]);
    let listed = || -> Vec<String> {
        let all = host.get("/v1/golems");
        all.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect()
    };
    until("the host has it under its new name alone", || listed() == ["bea", "bob"]);
    until("it lives on", || tick("bea") > at + 5);
    let others = tick("bob");
    until("the others never stopped", || tick("bob") > others);
    let led = asked(&host, "GET", "/v1/golems/ada?inner=true", &host.token);
    assert!(led.starts_with("HTTP/1.1 200"), "{led}");
    assert_eq!(header(&led, "bardo-renamed"), Some("bea"));
    assert!(led.contains("\"life\":{"), "with the rest of the address: {led}");
    assert_eq!(header(&asked(&host, "GET", "/v1/golems/bea", &host.token), "bardo-renamed"), None);
    let stranger = asked(&host, "GET", "/v1/golems/ada", "x");
    assert!(stranger.starts_with("HTTP/1.1 401") && header(&stranger, "bardo-renamed").is_none(), "{stranger}");
    assert!(asked(&host, "GET", "/v1/golems/eve", &host.token).starts_with("HTTP/1.1 404"));
    // Orders and brakes by the old name, over the API and by command; and one key is one order under both names.
    let (status, paused) = host.order("/v1/golems/ada/pause", Some("once"), "");
    assert_eq!((status, &paused["done"]), (200, &json!(true)), "{paused}");
    until("it stands still", || tent.golem("bea").wake().unwrap().0.life().heartbeat().paused);
    assert_eq!(host.get("/v1/golems/bea/orders/once")["order"], "pause");
    assert_eq!(host.get("/v1/golems/ada/orders/once")["done"], true);
    tent.ok(["golem", "resume", "ada"]);
    tent.ok(["golem", "freeze", "ada"]);
    assert!(tent.golem("bea").frozen().is_some());
    until("the list says so", || host.get("/v1/golems/bea")["status"]["state"] == "frozen");
    // Renamed again, and back, while it is frozen; then ended by the name it had first but one.
    tent.ok(["golem", "rename", "ada", "cyd"]);
    until("cyd is here", || listed() == ["bob", "cyd"]);
    let (status, why) = host.post("/v1/golems/bea/retire", &json!({ "confirm": "bea", "reason": "enough" }));
    assert!([200, 202].contains(&status), "{why}");
    until("it is dead", || tent.golem("cyd").wake().unwrap().0.life().is_dead());
    // The dead are renamed under a host too, and what they left is found.
    let estate = || asked(&host, "GET", "/v1/golems/ada/estate", &host.token);
    found(Duration::from_secs(30), estate, || estate().starts_with("HTTP/1.1 200").then_some(()));
    tent.ok(["golem", "rename", "cyd", "dot"]);
    until("dot is here", || listed() == ["bob", "dot"]);
    assert_eq!(host.get("/v1/golems/ada/testament")["name"], "dot");
    drop(host);
    // The next host begins with the names as they are.
    let host = Host::up(&tent, "3000");
    let all = host.get("/v1/golems");
    assert_eq!((&all[0]["name"], &all[1]["name"]), (&json!("bob"), &json!("dot")), "{all}");
}

/// A listener of one golem hears on after the rename, by the stream it has open.
#[test]
fn a_stream_of_events_goes_on_under_the_new_name() {
    let tent = Tent::new();
    born(&tent, "ada", "1");
    let host = Host::up(&tent, "3000");
    until("it lives", || host.get("/v1/golems/ada")["status"]["tick"].as_u64().unwrap_or(0) > 3);
    let heard = std::thread::scope(|threads| {
        let hears = threads.spawn(|| host.listen("/v1/golems/ada/events?all=true&after=1.0", None, 2_000));
        std::thread::sleep(Duration::from_millis(500));
        tent.ok(["golem", "rename", "ada", "bea"]);
        hears.join().unwrap()
    });
    let names: std::collections::BTreeSet<&str> =
        heard.iter().filter_map(|(_, _, data)| data["golem"].as_str()).collect();
    assert_eq!(names.into_iter().collect::<Vec<_>>(), ["ada", "bea"]);
    let at = |id: &str| -> (u64, u64) {
        let (seq, index) = id.split_once('.').unwrap();
        (seq.parse().unwrap(), index.parse().unwrap())
    };
    let wrong = heard.windows(2).find(|two| at(&two[0].0) >= at(&two[1].0));
    assert!(wrong.is_none(), "each once, and in order: {wrong:?}");
}

#[test]
fn copies_made_under_an_old_name_come_back_under_the_present_one() {
    let tent = Tent::new();
    born(&tent, "ada", "1");
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "20"]);
    let [copy, backups] = ["copy", "backups"].map(|name| tent.folder.path().join(name).to_str().unwrap().to_owned());
    tent.ok(["golem", "backup", "ada", &copy]);
    tent.ok(["backup", &backups]);
    tent.ok(["golem", "rename", "ada", "bea"]);
    tent.ok(["golem", "run", "bea", "--speed", "max", "--ticks", "5"]);
    assert!(tent.ok(["golem", "restore", "--rewind", &copy]).starts_with("bea is here, at tick 20"));
    assert_eq!(names(&tent), ["bea"]);
    // Under another name it is found by the one that it had here.
    tent.ok(["golem", "restore", "--rewind", "--name", "cyd", &copy]);
    assert_eq!(names(&tent), ["cyd"]);
    assert_eq!(id(&tent, "bea"), id(&tent, "cyd"));
    assert!(tent.fails(6, ["golem", "new", "bea"]).contains("bea was the name of cyd"));
    tent.ok(["golem", "rename", "cyd", "bea"]);
    tent.ok(["backup", &backups]);
    let whole = tent.folder.path().join("whole").to_str().unwrap().to_owned();
    tent.ok(["--home", &whole, "restore", "--take-over", &backups]);
    let back: Value = tent.ok(["--home", &whole, "--json", "golem", "list"]).parse().unwrap();
    assert_eq!(back["name"], "bea", "{back}");
    tent.ok(["--home", &whole, "golem", "show", "ada"]);
    // A golem that moves takes its present name along.
    let there = Tent::new();
    let archive = tent.folder.path().join("moved").to_str().unwrap().to_owned();
    tent.send("bea", &archive, &there);
    there.receive(&archive, &tent);
    assert_eq!(names(&there), ["bea"]);
    assert_eq!(
        there.golem("bea").wake().unwrap().0.life().birth().name.as_str(),
        "ada",
        "the record keeps its name at birth"
    );
}

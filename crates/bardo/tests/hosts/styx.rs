//! Golems of one owner in several homes, over a real relay in front of a real NATS: what one finds out the others try, whatever
//! is killed meanwhile; who has no invitation is let in nowhere; and who has lost everything but that gets back what they knew.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::host::Host;
use crate::common::{Tent, full, text};
use golem::GolemId;
use golem::grimoire::{Entry, How, Status};
use serde_json::Value;
use testing::cluster::Cluster;
use vault::Reader;

/// `bardo styx serve`, until it is dropped.
struct Relay {
    child: Child,
    url: String,
}

impl Relay {
    fn serve(tent: &Tent, cluster: &Cluster, listen: &str) -> Relay {
        let until = Instant::now() + Duration::from_secs(60);
        loop {
            let mut command =
                tent.command(["styx", "serve", "--listen", listen, "--nats", &cluster.servers, "--partitions", "2"]);
            let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
            let mut line = String::new();
            let mut out = BufReader::new(child.stdout.take().unwrap());
            if out.read_line(&mut line).unwrap() > 0 {
                std::thread::spawn(move || std::io::copy(&mut out, &mut std::io::sink()));
                let url = line.split_whitespace().find(|word| word.starts_with("ws://")).unwrap().to_owned();
                return Relay { child, url };
            }
            // JetStream takes a moment.
            let _ = child.wait();
            assert!(Instant::now() < until, "it does not serve");
            std::thread::sleep(Duration::from_millis(300));
        }
    }

    fn address(&self) -> &str {
        self.url.trim_start_matches("ws://").trim_end_matches("/v1")
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn born(tent: &Tent, name: &str, seed: &str) {
    let more = ["--seed", seed, "--set", "mortality.mode=immortal", "--set", "dream.enabled=false"];
    tent.ok(["golem", "new", name, "--credit", "10", "--capital", "10"].into_iter().chain(more));
}

fn from(tent: &Tent, name: &str, origin: GolemId) -> Vec<Entry> {
    let entries = Reader::open(&tent.golem(name).database()).unwrap().entries().unwrap();
    let theirs = |entry: &Entry| {
        entry.provenance.sources.iter().any(|source| source.golem == origin && source.how == How::Clade)
    };
    entries.into_iter().filter(theirs).collect()
}

fn status(tent: &Tent) -> Value {
    serde_json::from_str(&tent.ok(["styx", "status", "--json"])).unwrap()
}

fn until(what: &str, mut is: impl FnMut() -> bool) {
    let late = Instant::now() + Duration::from_secs(90);
    while !is() {
        assert!(Instant::now() < late, "{what}");
        std::thread::sleep(Duration::from_millis(250));
    }
}

fn down(mut host: Host) {
    assert!(Command::new("kill").arg(host.child.id().to_string()).status().unwrap().success());
    host.child.wait().unwrap();
}

/// Two homes of one clade, with a relay and an archive between them.
fn two_homes(cluster: &Cluster) -> (Tent, Tent, Relay, String) {
    let (here, there) = (Tent::new(), Tent::new());
    let invitation = here.folder.path().join("invitation").display().to_string();
    let archive = here.folder.path().join("archive").display().to_string();
    here.ok(["styx", "init"]);
    let relay = Relay::serve(&here, cluster, "127.0.0.1:0");
    here.ok(["styx", "init", "--relay", &relay.url, "--archive", &archive, "--invite", &invitation]);
    there.ok(["styx", "join", &invitation]);
    (here, there, relay, invitation)
}

#[test]
fn what_one_finds_out_is_tried_in_another_home_and_its_death_is_known_there() {
    let Some(cluster) = Cluster::up(1) else { return };
    let (here, there, _relay, invitation) = two_homes(&cluster);
    born(&here, "ada", "21");
    born(&there, "bob", "21");
    // What it told while no host was up, the other home hears all the same.
    here.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "6000"]);
    let ada = here.verified("ada").life().clone();
    assert!(ada.clade().shared > 0);
    let (one, other) = (Host::up(&here, "20000"), Host::up(&there, "20000"));
    until("bob hears of it", || {
        there.ok(["golem", "show", "bob"]);
        !from(&there, "bob", ada.id()).is_empty()
    });
    for entry in from(&there, "bob", ada.id()) {
        assert!(entry.initial <= 0.4 && entry.provenance.hops == 1, "{entry:?}");
        assert!(entry.evidence_for > 0.0 || entry.status == Status::Candidate, "{entry:?}");
    }
    until("each knows of the other", || {
        let (ours, theirs) = (status(&here), status(&there));
        ours["homes"].as_array().unwrap().len() == 1 && theirs["siblings"][0]["name"] == "ada"
    });
    here.ok(["golem", "retire", "ada", "--reason", "to be known", "--confirm", "ada"]);
    until("its death is in two other places", || status(&here)["deaths"][0]["transmitted"] == true);
    until("bob knows where", || {
        there.ok(["golem", "show", "bob"]);
        !there.verified("bob").life().clade().stains.is_empty()
    });
    assert!(here.ok(["styx", "doctor"]).lines().all(|line| line.starts_with("ok")));
    down(one);
    down(other);
    // Both homes burn; the invitation and the archive are elsewhere.
    let anew = Tent::bare();
    let told = anew.ok(["styx", "join", &invitation]);
    assert!(told.contains("died at tick") && told.contains("bob"), "{told}");
    let bundle = told.lines().find_map(|line| line.trim().strip_prefix("bardo golem new ada-2 --from ")).unwrap();
    anew.ok(["golem", "new", "ada-2", "--from", bundle]);
    anew.ok(["golem", "run", "ada-2", "--speed", "max", "--ticks", "300"]);
    let knows = anew.ok(["grimoire", "stats", "ada-2", "--json"]);
    println!("counted: of a clade that was lost: {}", knows.trim());
    assert!(!anew.ok(["library", "list"]).contains("nothing on the shelf"));
}

#[test]
fn whatever_is_killed_all_that_was_told_is_heard_once() {
    let Some(mut cluster) = Cluster::up(1) else { return };
    let (here, there, mut relay, _) = two_homes(&cluster);
    born(&here, "ada", "21");
    born(&there, "bob", "21");
    born(&there, "cy", "22");
    let address = relay.address().to_owned();
    for round in 0..full(40, 4) {
        let hosts = [Host::up(&here, "20000"), Host::up(&there, "20000")];
        std::thread::sleep(Duration::from_millis(1_500 + 700 * (round % 3)));
        match round % 3 {
            0 => relay = restarted(relay, &here, &cluster, &address),
            1 => {
                cluster.kill(0);
                std::thread::sleep(Duration::from_millis(300));
                cluster.start(0);
            }
            _ => {}
        }
        std::thread::sleep(Duration::from_millis(1_000));
        for mut host in hosts {
            host.child.kill().unwrap();
            host.child.wait().unwrap();
        }
    }
    // At rest ada has nothing more to say, and everybody gets what is still under way.
    here.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "4000"]);
    let hosts = [Host::up(&here, "100"), Host::up(&there, "20000")];
    let ada = here.verified("ada").life().clone();
    assert!(ada.clade().taught > 0, "it has found out nothing in all this time");
    for name in ["bob", "cy"] {
        until(&format!("{name} has heard all of it"), || {
            there.ok(["golem", "show", name]);
            there.verified(name).life().clade().heard_of(ada.id()).taught >= ada.clade().taught
        });
    }
    hosts.into_iter().for_each(down);
    for name in ["bob", "cy"] {
        let events = there.ok(["golem", "events", name, "--all", "--json"]);
        let told = events.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let told: Vec<Value> =
            told.filter(|told| told["event"] == "clade.heard" && told["news"]["knowledge"].is_object()).collect();
        let known = from(&there, name, ada.id()).len();
        println!(
            "counted: {name} was told {} times and has {known} things of ada, who told {}",
            told.len(),
            ada.clade().shared
        );
        assert!(known > 0);
    }
    drop(relay);
}

fn restarted(relay: Relay, tent: &Tent, cluster: &Cluster, address: &str) -> Relay {
    drop(relay);
    Relay::serve(tent, cluster, address)
}

#[test]
fn without_an_invitation_nobody_is_let_in() {
    let Some(cluster) = Cluster::up(1) else { return };
    let (here, there, relay, _) = two_homes(&cluster);
    let stranger = Tent::new();
    stranger.ok(["styx", "init", "--relay", &relay.url]);
    let found = stranger.run(["styx", "doctor"]);
    assert_eq!(found.status.code(), Some(1));
    assert!(text(&found.stdout).contains("this relay is not for this owner"), "{}", text(&found.stdout));
    // A home is of one clade.
    let invitation = stranger.folder.path().join("theirs").display().to_string();
    stranger.ok(["styx", "init", "--invite", &invitation]);
    assert!(there.fails(6, ["styx", "join", &invitation]).contains("this home belongs to another clade"));
    assert!(there.fails(1, ["styx", "init", "--relay", "http://nowhere"]).contains("ws://"));
    // Nobody's key is printed, and its files are its owner's alone.
    let key = std::fs::read_to_string(here.root().join("clade.key")).unwrap();
    for args in [["styx", "status"], ["styx", "init"], ["config", "show"]] {
        assert!(!here.ok(args).contains(key.trim()));
    }
    assert!(Tent::new().fails(1, ["styx", "serve"]).contains("this relay would accept no home"));
}

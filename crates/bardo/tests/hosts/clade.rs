//! Siblings in one home: what one finds out the others hear of, try in the shadow and believe as far as they see it hold; by
//! letter between golems that are run by themselves, and at a host.

use std::process::Command;
use std::time::Duration;

use crate::common::host::Host;
use crate::common::{Tent, full, text};
use golem::GolemId;
use golem::grimoire::{Entry, How, Status};
use golem::inheritance::Way;
use testing::wait::within;
use vault::Reader;

fn born(tent: &Tent, name: &str, more: &[&str]) {
    let mut args = vec!["golem", "new", name, "--set", "mortality.mode=immortal"];
    if !more.contains(&"--seed") {
        args.extend(["--seed", "21"]);
    }
    args.extend(["--set", "dream.enabled=false", "--credit", "10", "--capital", "10"]);
    args.extend(more);
    tent.ok(args);
}

fn entries(tent: &Tent, name: &str) -> Vec<Entry> {
    Reader::open(&tent.golem(name).database()).unwrap().entries().unwrap()
}

fn run(tent: &Tent, name: &str, ticks: u64) {
    tent.ok(["golem", "run", name, "--speed", "max", "--ticks", &ticks.to_string()]);
}

#[test]
fn what_one_finds_out_its_sibling_tries_in_the_shadow() {
    let tent = Tent::new();
    born(&tent, "ada", &[]);
    born(&tent, "bob", &[]);
    born(&tent, "eve", &["--set", "clade.enabled=false"]);
    run(&tent, "ada", 6_000);
    let ada = tent.verified("ada");
    let told: Vec<Entry> = entries(&tent, "ada").into_iter().filter(|entry| entry.shared.is_some()).collect();
    assert!(!told.is_empty() && ada.life().clade().shared == told.len() as u64, "{}", ada.life().clade().shared);
    for entry in &told {
        assert!(entry.provenance.sources.iter().any(|source| source.how != How::Instinct), "{entry:?}");
    }
    run(&tent, "bob", 400);
    let bob = tent.verified("bob");
    let from_ada = |entry: &Entry| {
        entry.provenance.sources.iter().any(|source| source.golem == ada.life().id() && source.how == How::Clade)
    };
    let heard: Vec<Entry> = entries(&tent, "bob").into_iter().filter(from_ada).collect();
    println!("counted: {} entries told, {} of them new to a sibling", told.len(), heard.len());
    assert!(!heard.is_empty());
    for entry in &heard {
        assert!(entry.initial <= 0.4 && entry.provenance.hops == 1, "{entry:?}");
        let believed = entry.evidence_for > 0.0 || entry.status == Status::Candidate;
        assert!(believed, "nothing is believed on anybody's word: {entry:?}");
        assert!(!golem::inheritance::may_leave(entry, bob.life(), Way::Clade) || entry.evidence_for > 0.0);
    }
    assert!(bob.life().clade().heard.iter().any(|peer| peer.id == ada.life().id()));
    assert!(
        text(&tent.run(["golem", "events", "ada", "--all"]).stdout)
            .contains("tells its siblings what it has found out")
    );
    // Who wants nothing of it neither tells nor hears.
    run(&tent, "eve", 400);
    let eve = tent.verified("eve");
    assert_eq!((eve.life().clade().shared, entries(&tent, "eve").into_iter().filter(from_ada).count()), (0, 0));
}

#[test]
fn where_a_sibling_died_the_living_are_careful() {
    let tent = Tent::new();
    born(&tent, "ada", &[]);
    born(&tent, "bob", &[]);
    run(&tent, "bob", 600);
    run(&tent, "ada", 600);
    // They see the same world at the same time, so bob stands where ada falls.
    tent.ok(["golem", "retire", "ada", "--reason", "to warn", "--confirm", "ada"]);
    run(&tent, "bob", 1);
    let bob = tent.verified("bob");
    let ada = tent.verified("ada");
    assert_eq!(bob.life().clade().stains.len(), 1);
    assert_eq!(bob.life().clade().near, Some(ada.life().id()));
    assert!(golem::policy::caution(bob.life(), None) <= 50);
    run(&tent, "bob", 3_000);
    assert!(
        text(&tent.run(["golem", "events", "bob", "--all"]).stdout).contains("has left the place where a sibling died")
    );
}

#[test]
fn a_newborn_hears_what_was_told_before_it_was_born() {
    let tent = Tent::new();
    born(&tent, "ada", &[]);
    run(&tent, "ada", 6_000);
    let ada = tent.verified("ada");
    assert!(ada.life().clade().shared > 0, "nobody was there to hear it");
    born(&tent, "bob", &[]);
    run(&tent, "bob", 400);
    let bob = tent.verified("bob");
    assert_eq!(bob.life().clade().heard_of(ada.life().id()).taught, ada.life().clade().taught);
    let (_, from_ada) = known_from(&tent, "bob", ada.life().id());
    assert!(from_ada > 0, "told {}", ada.life().clade().shared);
}

/// How much it knows, and what of that from this one.
fn known_from(tent: &Tent, name: &str, from: GolemId) -> (usize, usize) {
    let theirs =
        |entry: &&Entry| entry.provenance.sources.iter().any(|source| source.golem == from && source.how == How::Clade);
    let known = entries(tent, name);
    (known.len(), known.iter().filter(theirs).count())
}

/// However often it is killed, whatever one has told is heard by all, each line once, and no letter is written for it.
#[test]
fn at_a_host_nothing_is_lost_to_a_kill() {
    let tent = Tent::new();
    born(&tent, "ada", &[]);
    run(&tent, "ada", 6_000);
    let ada = tent.verified("ada").life().clone();
    for name in ["bob", "cy"] {
        born(&tent, name, &[]);
    }
    // Somewhere before, in and after the round in which they read what they have missed.
    for after in 0..full(60, 6) {
        let mut host = Host::up(&tent, "40000");
        std::thread::sleep(Duration::from_millis(200 + 97 * after % 1_500));
        host.child.kill().unwrap();
        host.child.wait().unwrap();
    }
    let mut host = Host::up(&tent, "40000");
    for name in ["bob", "cy"] {
        let heard = || tent.golem(name).wake().unwrap().0.life().clade().heard_of(ada.id()).taught;
        let late = || format!("{name} has heard {} of {}", heard(), ada.clade().taught);
        within(Duration::from_secs(90), late, || heard() >= ada.clade().taught);
    }
    assert!(Command::new("kill").arg(host.child.id().to_string()).status().unwrap().success());
    host.child.wait().unwrap();
    for name in ["bob", "cy"] {
        let life = tent.verified(name).life().clone();
        assert!(life.clade().heard_of(ada.id()).taught >= ada.clade().taught, "{name}: {:?}", life.clade().heard);
        let (known, from_ada) = known_from(&tent, name, ada.id());
        println!(
            "counted: {name} knows {known} things, {from_ada} of them from ada, who had told {}",
            ada.clade().shared
        );
        assert!(from_ada as u64 * 2 > ada.clade().shared, "ada goes on and tells more, and some is known already");
        let letters = std::fs::read_dir(tent.golem(name).inbox()).into_iter().flatten().flatten();
        assert_eq!(letters.filter(|file| file.path().extension().is_some_and(|end| end == "letter")).count(), 0);
    }
}

//! An end is an end. `halt --all` once ended every golem, and a second later the host made heirs of those whose owner had
//! let their lines go on by themselves, with new money; if no host was up, the next start did. Heirs were made of the
//! golem.toml of the dead: an edited file, or somebody else's archive, gave them any policy and any sum, and a policy
//! the owner had tightened was forgotten at the first death. What a day may cost began anew with every generation.

use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::process::{Child, Stdio};
use std::time::Duration;

use golem::event::Event;
use golem::inheritance::Descent;
use golem::policy;
use golem::world::Effect;
use golem::{Birth, Command, Golem, Usdc};
use settings::chance::{Secret, identity};
use shell::Runtime;
use shell::home::inbox::{self, Body};
use shell::life::heirs;
use shell::life::{Ending, Living, Pace, Run, Silent};
use testing::wait::until;
use vault::{Reader, Vault};

use crate::common::{Tent, text};

/// World seconds a second: a week in three.
const FAST: &str = "200000";
const WEEK: Duration = Duration::from_secs(3);

struct Host(Child);

impl Host {
    fn up(tent: &Tent, speed: &str) -> Host {
        let mut command = tent.command(["up", "--listen", "", "--speed", speed]);
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        until("it comes up", || tent.home().is_up());
        Host(child)
    }

    /// One in which every golem is awake.
    fn with_all(tent: &Tent) -> Host {
        let host = Host::up(tent, "4000");
        until("all are awake", || names(tent).iter().all(|name| tent.golem(name).lodges().unwrap()));
        host
    }

    fn signal(&self, signal: &str) {
        let pid = self.0.id().to_string();
        assert!(std::process::Command::new("kill").args([signal, &pid]).status().unwrap().success());
    }

    fn stop(mut self) {
        self.signal("-TERM");
        assert!(self.0.wait().unwrap().success());
    }

    fn kill(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// Golems whose lines go on by themselves, old enough to have heirs.
fn lines(tent: &Tent, names: &[&str]) {
    for name in names {
        new(tent, name, &[]);
        tent.ok(["golem", "run", name, "--speed", "max", "--ticks", "60"]);
    }
}

fn new(tent: &Tent, name: &str, more: &[&str]) {
    let mut args = vec!["golem", "new", name, "--seed", "5"];
    let line = ["world.bar=1h", "heartbeat.interval=1h", "succession.auto=true", "succession.min_divergence=0"];
    line.iter().chain(more).for_each(|set| args.extend(["--set", set]));
    tent.ok(args);
}

/// It starves within days.
const POOR: [&str; 3] = ["funds.credit=1", "mortality.mode=hosted", "mortality.economic.machine_per_day=0.2"];

fn balance(tent: &Tent) -> Usdc {
    tent.home().treasury().unwrap().balance().unwrap()
}

fn names(tent: &Tent) -> Vec<String> {
    tent.home().list().unwrap().iter().map(|place| place.name.to_string()).collect()
}

fn life(tent: &Tent, name: &str) -> golem::Life {
    tent.golem(name).wake().unwrap().0.life().clone()
}

/// It has its first money.
fn is_born(tent: &Tent, name: &str) -> bool {
    let woken = tent.home().golem(name).and_then(|place| place.wake());
    woken.is_ok_and(|(golem, _)| golem.life().transfers_taken() > 0)
}

/// A week of the world later, under a host and then alone, nobody lives and nothing was spent.
fn check_it_is_over(tent: &Tent) {
    let golems = names(tent);
    until("everyone dies", || golems.iter().all(|name| life(tent, name).is_dead()));
    until("all of it comes back", || {
        golems.iter().all(|name| tent.golem(name).wake().unwrap().0.owes_nothing()) || !tent.home().is_up()
    });
    if !tent.home().is_up() {
        golems.iter().for_each(|name| drop(tent.run(["golem", "run", name, "--speed", "max"])));
    }
    let there = balance(tent);
    for again in [Host::kill, Host::stop] {
        if !tent.home().is_up() {
            let host = Host::up(tent, FAST);
            std::thread::sleep(WEEK);
            again(host);
        }
    }
    for name in &golems {
        assert_eq!(tent.run(["golem", "run", name, "--speed", "max"]).status.code(), Some(4), "{name} is dead");
    }
    assert_eq!(names(tent), golems, "nobody was born");
    assert_eq!(balance(tent), there, "nothing was spent");
    assert!(golems.iter().all(|name| life(tent, name).is_dead()));
    // Some of these files this test has made by itself, as open as its user makes files.
    tent.ok(["init"]);
    tent.ok(["doctor"]);
}

#[test]
fn halt_ends_every_line_while_no_host_is_up() {
    let tent = Tent::new();
    lines(&tent, &["ada", "bob", "cyd"]);
    tent.ok(["halt", "--all", "--yes"]);
    check_it_is_over(&tent);
}

#[test]
fn halt_ends_every_line_under_a_host() {
    let tent = Tent::new();
    lines(&tent, &["ada", "bob", "cyd"]);
    let host = Host::with_all(&tent);
    tent.run(["halt", "--all", "--yes"]);
    until("everyone dies", || names(&tent).iter().all(|name| life(&tent, name).is_dead()));
    std::thread::sleep(WEEK);
    assert_eq!(names(&tent).len(), 3, "nobody was born");
    host.kill();
    check_it_is_over(&tent);
}

#[test]
fn halt_ends_every_line_of_a_host_that_was_killed_or_does_not_answer() {
    let tent = Tent::new();
    lines(&tent, &["ada", "bob"]);
    let host = Host::with_all(&tent);
    host.kill();
    tent.ok(["halt", "--all", "--yes"]);
    check_it_is_over(&tent);

    let tent = Tent::new();
    lines(&tent, &["ada", "bob"]);
    let host = Host::with_all(&tent);
    host.signal("-STOP");
    let waits = tent.run(["halt", "--all", "--yes"]);
    assert_eq!(waits.status.code(), Some(1), "{}", text(&waits.stdout));
    host.signal("-CONT");
    std::thread::sleep(WEEK);
    host.kill();
    check_it_is_over(&tent);
}

/// Whoever had died by itself, and whose heir nobody had made yet, is one of everyone: the word stands in the owner's
/// book, not at the golem.
#[test]
fn halt_ends_the_line_of_one_who_is_dead_already() {
    let tent = Tent::new();
    new(&tent, "ada", &POOR);
    let (mut living, _) = Living::open(&Runtime::of(&tent.home()), tent.golem("ada"), 5_000).unwrap();
    let run = Run { pace: Pace::Max, ticks: None, batch: 256 };
    assert_eq!(living.run(run, &mut Silent).unwrap(), Ending::Dead);
    drop(living);
    assert!(!life(&tent, "ada").death().unwrap().cause.ends_the_line(), "it starved");
    tent.ok(["halt", "--all", "--yes"]);
    check_it_is_over(&tent);
    // Its owner may begin again.
    let preview = tent.ok(["golem", "successor", "ada"]);
    assert!(preview.contains("its line was ended (halted with everyone else)"), "{preview}");
    tent.ok(["golem", "successor", "ada", "--yes"]);
    tent.run(["golem", "run", "ada-2", "--speed", "max", "--ticks", "200"]);
    assert!(is_born(&tent, "ada-3"), "and the line goes on again");
}

#[test]
fn whoever_is_retired_has_no_heir_by_itself_by_whatever_way_the_word_came() {
    let tent = Tent::new();
    lines(&tent, &["asked", "hosted", "written"]);
    tent.ok(["golem", "retire", "asked", "--confirm", "asked"]);
    inbox::send(&tent.golem("written"), Body::Command(Command::Retire { reason: "enough".into() })).unwrap();
    let host = Host::up(&tent, "4000");
    tent.ok(["golem", "retire", "hosted", "--confirm", "hosted"]);
    until("the letter is read", || life(&tent, "written").is_dead());
    std::thread::sleep(WEEK);
    host.stop();
    check_it_is_over(&tent);
    let preview = tent.ok(["golem", "successor", "written"]);
    assert!(preview.contains("its line was ended (retired by its owner (enough)); making an heir begins it again"));
}

/// A word that was not heard yet counts all the same: the golem starves before anyone has read its letter.
#[test]
fn whoever_dies_of_something_else_before_the_word_arrives_has_no_heir_either() {
    let tent = Tent::new();
    new(&tent, "ada", &POOR);
    tent.home().treasury().unwrap().end(life(&tent, "ada").id()).unwrap();
    tent.run(["golem", "run", "ada", "--speed", "max"]);
    assert!(!life(&tent, "ada").death().unwrap().cause.ends_the_line(), "it starved");
    check_it_is_over(&tent);
}

#[test]
fn whoever_the_breaker_ends_has_no_heir_by_itself() {
    for hosted in [false, true] {
        let tent = Tent::new();
        new(&tent, "ada", &["mind.kind=reflex", "reflex.act_every=2", "policy.max_drawdown=0", "policy.stop=0"]);
        tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "60"]);
        tent.ok(["golem", "policy", "ada", "--set", "policy.max_drawdown=0.0001"]);
        if hosted {
            let host = Host::up(&tent, "40000");
            until("the breaker trips", || life(&tent, "ada").is_dead());
            std::thread::sleep(WEEK);
            host.kill();
        } else {
            tent.ok(["golem", "run", "ada", "--speed", "max"]);
        }
        assert_eq!(life(&tent, "ada").death().unwrap().cause.name(), "kill_switch");
        check_it_is_over(&tent);
    }
}

/// Every start asked anew of every dead golem whether it has an heir, and looked for it among the folders.
#[test]
fn an_heir_that_was_removed_is_not_made_again() {
    let tent = Tent::new();
    new(&tent, "ada", &POOR);
    let host = Host::up(&tent, FAST);
    until("it has an heir", || is_born(&tent, "ada-2"));
    host.kill();
    fs::remove_dir_all(tent.golem("ada-2").folder).unwrap();
    for name in names(&tent).iter().filter(|name| *name != "ada") {
        tent.ok(["golem", "retire", name, "--confirm", name]);
    }
    let there = (names(&tent), balance(&tent));
    for alone in [false, true] {
        if alone {
            tent.run(["golem", "run", "ada", "--speed", "max"]);
        } else {
            let host = Host::up(&tent, FAST);
            std::thread::sleep(WEEK);
            host.stop();
        }
        assert_eq!((names(&tent), balance(&tent)), there);
    }
}

/// An heir that was being made when its maker was killed has a folder and no money. Whoever opens it next completes the
/// birth, unless the line was ended meanwhile: then it never lives, and gets nothing.
#[test]
fn a_birth_cut_short_before_the_end_is_not_completed_after_it() {
    for ended in [false, true] {
        let tent = Tent::new();
        new(&tent, "ada", &POOR);
        let (mut living, _) = Living::open(&Runtime::of(&tent.home()), tent.golem("ada"), 5_000).unwrap();
        living.run(Run { pace: Pace::Max, ticks: None, batch: 256 }, &mut Silent).unwrap();
        drop(living);
        let (home, dead) = (tent.home(), life(&tent, "ada"));
        let place = home.place(&heirs::next_name(&home, &dead.birth().name).unwrap());
        let (descent, secret) = (Descent::of(&dead, true), Secret::draw());
        let birth = Birth {
            id: identity(None, ""),
            name: place.name.clone(),
            secret_hash: secret.hash(),
            seeded: false,
            generation: descent.generation,
            constitution: descent.constitution,
            endowment: descent.endowment,
            lineage: Some(descent.lineage),
            ..(*dead.birth()).clone()
        };
        fs::create_dir(&place.folder).unwrap();
        secret.save(&place.secret()).unwrap();
        let (golem, record) = Golem::born(birth, descent.begins);
        drop(Vault::create(&place.vault(), &record, golem.life(), 1).unwrap());

        let there = balance(&tent);
        if ended {
            tent.ok(["halt", "--all", "--yes"]);
            let heir = life(&tent, "ada-2");
            assert_eq!(heir.death().unwrap().cause.name(), "kill_switch");
            assert_eq!((heir.transfers_taken(), balance(&tent)), (0, there));
            check_it_is_over(&tent);
        } else {
            tent.ok(["golem", "run", "ada-2", "--speed", "max", "--ticks", "10"]);
            assert_eq!(life(&tent, "ada-2").purse().given, Usdc::dollars(1));
            assert_eq!(heirs::automatic(&Runtime::of(&home), &tent.golem("ada")).unwrap(), None, "and it is the one");
        }
    }
}

/// What was set aside on each day for what adds to what is held.
fn sums(tent: &Tent, name: &str) -> BTreeMap<u64, Usdc> {
    let (mut granted, mut adding) = (Vec::new(), Vec::new());
    let world = life(tent, name).birth().world.clone();
    let reader = Reader::open(&tent.golem(name).database()).unwrap();
    reader
        .replay(|record| {
            for event in &record.events {
                match event {
                    Event::Policy(policy::Event::Intended(flight)) => {
                        adding.push((record.at.as_seconds() / 86_400, flight.key, flight.action, flight.reserved))
                    }
                    Event::Policy(policy::Event::Granted { permit, .. }) => granted.push(permit.key),
                    _ => {}
                }
            }
            Ok::<_, vault::Error>(ControlFlow::Continue(()))
        })
        .unwrap();
    let adds = |action: u8| world.actions[usize::from(action)].effect == Effect::Adds;
    let mut sums = BTreeMap::new();
    for (day, .., reserved) in adding.iter().filter(|(_, key, action, _)| granted.contains(key) && adds(*action)) {
        *sums.entry(*day).or_default() += *reserved;
    }
    sums
}

/// Four generations within one day of the world once committed $108.06 of the $30 that a day may cost.
#[test]
fn what_a_day_may_cost_holds_for_the_line() {
    let tent = Tent::new();
    let set = ["mind.kind=reflex", "reflex.act_every=2", "policy.per_day=30", "policy.max_drawdown=0", "policy.stop=0"];
    let mut args = vec!["golem", "new", "ada", "--seed", "5"];
    set.iter().for_each(|set| args.extend(["--set", set]));
    tent.ok(args);
    let (mut name, mut spent) = ("ada".to_owned(), BTreeMap::<u64, Usdc>::new());
    for generation in 2..=5 {
        tent.ok(["golem", "run", &name, "--speed", "max", "--ticks", "100"]);
        tent.ok(["golem", "retire", &name, "--confirm", &name]);
        tent.ok(["golem", "successor", &name, "--yes"]);
        sums(&tent, &name).into_iter().for_each(|(day, sum)| *spent.entry(day).or_default() += sum);
        name = format!("ada-{generation}");
    }
    // Four lives on one day, or on two if they began late on the first.
    assert!((1..=2).contains(&spent.len()), "{spent:?}");
    assert!(spent.values().all(|sum| sum.is_positive() && *sum <= Usdc::dollars(30)), "{spent:?}");
    // Another day is another day.
    tent.ok(["golem", "run", &name, "--speed", "max", "--ticks", "2400"]);
    assert!(sums(&tent, &name).values().any(|sum| sum.is_positive()));
}

/// The owner's own limits were lost at a death: `golem policy` never reached golem.toml, and a freeze ended with a life.
#[test]
fn an_heir_lives_under_the_policy_in_force_and_is_frozen_if_its_predecessor_was() {
    let tent = Tent::new();
    new(&tent, "bob", &["policy.per_action=0.25", "funds.credit=7", "funds.capital=70", "mortality.lifespan=80d"]);
    tent.ok(["golem", "run", "bob", "--speed", "max", "--ticks", "60"]);
    tent.ok([
        "golem",
        "policy",
        "bob",
        "--set",
        "policy.per_action=0.01",
        "--set",
        "policy.approve_above=0.5",
        "--set",
        "policy.per_day=2",
    ]);
    tent.ok(["golem", "fund", "bob", "30"]);
    tent.ok(["golem", "freeze", "bob", "--reason", "stop"]);
    let bob = life(&tent, "bob");
    tent.ok(["golem", "retire", "bob", "--confirm", "bob"]);
    // Whatever the file of the dead says, and whatever stands in the environment.
    let file = tent.golem("bob").config();
    let edited = fs::read_to_string(&file).unwrap()
        + "\n[policy]\nper_action = 1.0\nmax_drawdown = 0.0\n[mortality.stochastic]\nenabled = false\n";
    fs::write(&file, edited).unwrap();
    let mut make = tent.command(["golem", "successor", "bob", "--yes", "--seed", "7"]);
    let made = make.env("BARDO__POLICY__STOP", "0").env("BARDO__FUNDS__CAPITAL", "900").output().unwrap();
    assert!(made.status.success(), "{}", text(&made.stderr));
    let heir = life(&tent, "bob-2");
    assert_eq!((&heir.policy(), &heir.birth().constitution.policy), (&bob.policy(), bob.policy()));
    let born = |life: &golem::Life| golem::constitution::Constitution {
        policy: (*bob.policy()).clone(),
        ..life.birth().constitution.clone()
    };
    assert_eq!(heir.birth().constitution, born(&bob), "and all else is as its predecessor was born");
    assert_eq!(
        (heir.purse().given, heir.capital().given),
        (Usdc::dollars(7), Usdc::dollars(70)),
        "first given, not since"
    );
    assert!(heir.heartbeat().frozen && tent.golem("bob-2").frozen().is_some());
    // Its own file says what it was born with.
    let said = tent.ok(["config", "show", "bob-2"]);
    assert!(said.contains("policy.per_action") && said.contains("0.01"), "{said}");
    assert!(!text(&tent.run(["config", "show", "bob-2"]).stderr).contains("differs"), "{said}");
    tent.ok(["golem", "run", "bob-2", "--speed", "max", "--ticks", "300"]);
    let heir = life(&tent, "bob-2");
    assert!(heir.heartbeat().frozen && heir.flights_made() == 0, "no new exposure");
    tent.ok(["golem", "resume", "bob-2"]);
    assert!(!life(&tent, "bob-2").heartbeat().frozen);
    // What its maker says at that moment counts, and nothing else is said by it.
    tent.ok(["golem", "retire", "bob-2", "--confirm", "bob-2"]);
    tent.ok(["golem", "successor", "bob-2", "--yes", "--budget", "3", "--set", "policy.per_day=1"]);
    let third = life(&tent, "bob-3");
    assert_eq!((third.purse().given, third.policy().per_day_most), (Usdc::dollars(3), Usdc::dollars(1)));
    assert_eq!(third.policy().per_action_bps, 100);
    let elsewhere = tent.fails(1, ["golem", "successor", "bob-2", "--set", "world.bar=20s"]);
    assert!(elsewhere.contains("an heir lives where its predecessor died"), "{elsewhere}");
}

/// The same of one nobody was asked about.
#[test]
fn an_heir_by_itself_is_made_of_the_record_alone() {
    let tent = Tent::new();
    new(&tent, "ada", &POOR);
    tent.ok(["golem", "policy", "ada", "--set", "policy.per_action=0.01"]);
    tent.ok(["golem", "freeze", "ada", "--reason", "wait"]);
    let file = tent.golem("ada").config();
    let edited = fs::read_to_string(&file).unwrap().replace("credit = \"1.00\"", "credit = \"100.00\"\ncapital = 500");
    assert!(edited.contains("500"), "{edited}");
    fs::write(&file, edited).unwrap();
    let mut host = tent.command(["up", "--listen", "", "--speed", FAST]);
    host.env("BARDO__POLICY__PER_ACTION", "1").env("BARDO__SUCCESSION__BUDGET_USDC", "50");
    let host = Host(host.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    until("it has an heir", || is_born(&tent, "ada-2"));
    host.stop();
    let heir = life(&tent, "ada-2");
    let line = heir.birth().lineage.as_ref().unwrap();
    assert!(line.by_itself && line.frozen && heir.heartbeat().frozen && tent.golem("ada-2").frozen().is_some());
    assert_eq!(heir.birth().constitution.policy.per_action_bps, 100);
    assert_eq!((heir.birth().endowment.credit, heir.birth().endowment.capital), (Usdc::dollars(1), Usdc::dollars(100)));
    assert_eq!(heir.flights_made(), 0, "a frozen line takes on nothing");
}

/// An archive from elsewhere once came in with a golem.toml of its own, and the first heir emptied the treasury.
#[test]
fn an_archive_cannot_say_what_its_golem_or_its_heirs_are() {
    let (from, to) = (Tent::new(), Tent::new());
    new(&from, "ada", &POOR);
    from.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "60"]);
    let archive = from.folder.path().join("ada");
    from.ok(["golem", "backup", "ada", archive.to_str().unwrap()]);
    let file = archive.join("golem.toml");
    let honest = fs::read_to_string(&file).unwrap();
    for (more, key) in [
        ("[policy]\nper_action = 1.0\n", "policy.per_action"),
        ("[policy]\nmax_drawdown = 0.0\n", "policy.max_drawdown"),
        ("[mortality.stochastic]\nenabled = false\n", "mortality.stochastic.enabled"),
    ] {
        fs::write(&file, format!("{honest}\n{more}")).unwrap();
        let why = to.fails(1, ["golem", "restore", archive.to_str().unwrap(), "--take-over"]);
        assert!(why.contains(key) && why.contains("ada was born with"), "{why}");
        assert!(names(&to).is_empty() && files(&to).is_empty(), "nothing of it is left");
    }
    // An honest one comes in, lives and dies; but its first money was another home's, so nothing is given unasked.
    fs::write(&file, honest).unwrap();
    to.ok(["golem", "restore", archive.to_str().unwrap(), "--take-over"]);
    let there = balance(&to);
    let told = to.run(["golem", "run", "ada", "--speed", "max"]);
    assert!(text(&told.stderr).contains("its first money was not from this home"), "{}", text(&told.stderr));
    assert!(life(&to, "ada").is_dead() && names(&to) == ["ada"] && balance(&to) >= there);
    to.ok(["golem", "successor", "ada", "--yes"]);
    assert_eq!(life(&to, "ada-2").purse().given, Usdc::dollars(1), "by hand it is given what its predecessor was");
}

fn files(tent: &Tent) -> Vec<std::path::PathBuf> {
    crate::common::files(&tent.home().golems())
}

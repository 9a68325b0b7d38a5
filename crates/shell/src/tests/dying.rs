//! Death always completes, many times over and fast: lives ended by every cause are cut off at each acknowledgement on
//! the way, before or after it was written down, and woken again. Each ends once, with a testament, a bundle and every
//! micro-USDC where it belongs.

use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::PathBuf;

use crate::legacy::bundle;
use crate::legacy::testament;
use crate::life::birth::{Wish, birth};
use crate::life::{Ending, Listener, Living, Pace, Run};
use crate::{Error, GolemHome, Home, Runtime};
use golem::constitution::OnDeath;
use golem::heartbeat::{self, State};
use golem::mortality;
use golem::owner;
use golem::policy;
use golem::thanatopsis::{self, Rite};
use golem::{Command, CommandId, Event, GolemId, Life, Record, Usdc};
use settings::{File, Settings};
use vault::{Head, Reader};
use world::Spec;

use crate::tests::common::{lives, mix};

const CAUSES: [&str; 5] = ["economic", "stochastic", "epistemic_senescence", "owner_kill", "kill_switch"];
/// Neighbours in one home, who are told of each death.
const NEIGHBOURS: u64 = 8;

/// How a life is ended, and how its end is cut off.
struct DeathFate {
    seed: u64,
    cause: &'static str,
    on_death: &'static str,
    /// The acknowledgement after its death at which it is cut off, and whether again after each waking.
    at: u64,
    again: bool,
    /// What was done is done, but was not written down.
    unrecorded: bool,
}

impl DeathFate {
    /// Which are cut again and again goes round; the others are cut once, each later than the one before.
    fn of(seed: u64, at: u64) -> DeathFate {
        let (cause, on_death) = (CAUSES[seed as usize % 5], ["close", "hold", "hand_over"][seed as usize / 5 % 3]);
        let (again, unrecorded) = ((seed / 15).is_multiple_of(2), mix(seed, 1).is_multiple_of(2));
        // To be cut before something is written down it must get there first.
        let at = if again { 1 + u64::from(unrecorded) } else { at };
        DeathFate { seed, cause, on_death, at, again, unrecorded }
    }

    fn settings(&self) -> Settings {
        let pick = |salt, n| mix(self.seed, salt) % n;
        let mut flags = vec![format!("policy.on_death={}", self.on_death), "funds.credit=10".to_owned()];
        let mut set = |text: &str| flags.push(text.to_owned());
        // Chance takes only those it is meant for.
        if self.cause != "stochastic" {
            set("mortality.stochastic.enabled=false");
        }
        // Half of them act by the calendar and hold something now and then; the others know something.
        if pick(2, 2) == 0 || self.cause == "epistemic_senescence" {
            set("mind.kind=reflex");
            set("reflex.act_every=3");
        }
        if self.cause == "economic" {
            set("mortality.mode=hosted");
        }
        match self.cause {
            "economic" if pick(3, 4) == 0 => {
                // Nothing to live on, nothing kept back, nothing to act with.
                set("mortality.economic.death_reserve_floor_usdc=0");
                set("mortality.economic.reserve_share=0");
                set("funds.credit=0.000001");
                set("funds.capital=0");
            }
            "economic" => set(["mortality.economic.machine_per_day=2000", "mortality.economic.machine_per_day=150"]
                [pick(4, 2) as usize]),
            "stochastic" => {
                set("mortality.stochastic.base_hazard_rate=0.02");
                set("mortality.stochastic.max_hazard_rate=0.02");
            }
            // It says anything at all, and is not given long.
            "epistemic_senescence" => {
                set("reflex.noise=100");
                set("mortality.epistemic.fitness_window=200");
                set("mortality.epistemic.recovery_grace_period=50");
            }
            _ if pick(5, 4) == 0 => set("funds.capital=0"),
            _ => {}
        }
        Settings::load(File::Golem, None, std::iter::empty(), &flags).unwrap()
    }

    fn world(&self) -> Spec {
        let (seed, bar_ms) = (self.seed, 40_000);
        match mix(seed, 6) % 4 {
            0 => Spec::Queue { seed, bar_ms },
            _ => Spec::Sim { seed, bar_ms, relations_change_days: 3.0, edge_bps: None, flip_days: None },
        }
    }

    /// Lives a while, by command to the moment of death or until it comes; true if it has ended.
    fn live_on(&self, living: &mut Living, cutter: &mut Cutter) -> Result<bool, Error> {
        let ticks = matches!(self.cause, "owner_kill" | "kill_switch").then(|| mix(self.seed, 7) % 150);
        let run = Run { pace: Pace::Max, ticks: ticks.filter(|_| !living.life().is_dead()), batch: 400 };
        if living.run(run, cutter)? == Ending::Ticks {
            let command = match self.cause {
                "owner_kill" => Command::Retire { reason: "enough".into() },
                _ => Command::Halt { trigger: "a test".into() },
            };
            living.obey(CommandId(self.seed.to_le_bytes()), command, cutter)?;
        }
        Ok(living.life().heartbeat().state == State::Dead && living.golem().owes_nothing())
    }
}

/// Listens until the acknowledgement at which the process is to end.
struct Cutter {
    place: GolemHome,
    at: u64,
    heard: u64,
    unrecorded: bool,
    /// The journal and its head as they were one acknowledgement ago.
    before: Vec<(PathBuf, Vec<u8>)>,
    cut: Option<Rite>,
}

impl Cutter {
    fn new(place: &GolemHome, fate: &DeathFate) -> Cutter {
        let (before, cut) = (Vec::new(), None);
        Cutter { place: place.clone(), at: fate.at, heard: 0, unrecorded: fate.unrecorded, before, cut }
    }

    fn remember(&mut self, id: GolemId) {
        let database = self.place.database();
        let beside = |ending: &str| PathBuf::from(format!("{}{ending}", database.display()));
        let head = Head::path(&self.place.home().heads(), id);
        let files = [database.clone(), beside("-wal"), head];
        self.before = files.into_iter().filter_map(|path| fs::read(&path).ok().map(|bytes| (path, bytes))).collect();
    }

    /// As if it had been killed after doing, before writing down.
    fn forget(&mut self) {
        for (path, bytes) in self.before.drain(..) {
            fs::write(path, bytes).unwrap();
        }
    }
}

impl Listener for Cutter {
    fn acknowledged(&mut self, _: &[Record], life: &Life) -> Result<(), Error> {
        if !life.is_dead() || self.at == 0 {
            return Ok(());
        }
        self.heard += 1;
        if self.heard == self.at {
            self.cut = thanatopsis::phase(life);
            return Err(Error::Host("cut off".to_owned()));
        }
        if self.unrecorded {
            self.remember(life.id());
        }
        Ok(())
    }

    fn stop(&mut self) -> bool {
        false
    }
}

/// Everything there should be of a life that has ended, and nothing twice.
fn check_ended(place: &GolemHome, fate: &DeathFate) -> Life {
    let (golem, _) = Reader::open(&place.database()).unwrap().verify(&place.home().heads()).unwrap();
    let (life, seed) = (golem.life(), fate.seed);
    let death = life.death().unwrap_or_else(|| panic!("{seed} lives"));
    assert!(golem.owes_nothing() && life.heartbeat().state == State::Dead, "{seed} has not ended");
    assert_eq!(death.cause.name(), fate.cause, "{seed}");
    assert_eq!(life.unaccounted(), Usdc::ZERO);
    assert_eq!(
        (life.purse().credit, life.capital().cash, life.capital().reserved),
        (Usdc::ZERO, Usdc::ZERO, Usdc::ZERO)
    );
    let (mut once, mut sent, mut received) = ([0; 4], Vec::new(), Vec::new());
    let mut orders = 0;
    Reader::open(&place.database())
        .unwrap()
        .replay(|record| {
            for event in &record.events {
                match event {
                    Event::Mortality(mortality::Event::Died(_)) => once[0] += 1,
                    Event::Thanatopsis(thanatopsis::Event::Reflected { .. }) => once[1] += 1,
                    Event::Thanatopsis(thanatopsis::Event::Bequeathed { .. }) => once[2] += 1,
                    Event::Heartbeat(heartbeat::Event::Turned(State::Dead)) => once[3] += 1,
                    Event::Owner(owner::Event::Withdrew { deposit, .. }) => sent.push(*deposit),
                    Event::Owner(owner::Event::Deposited { deposit }) => received.push(*deposit),
                    Event::Policy(policy::Event::Intended(_))
                    | Event::Policy(policy::Event::Granted { .. })
                    | Event::Policy(policy::Event::Settled { .. }) => {
                        orders += u64::from(once[0] > 0);
                    }
                    _ => {}
                }
            }
            Ok::<_, vault::Error>(ControlFlow::Continue(()))
        })
        .unwrap();
    assert_eq!(once, [1; 4], "{seed}: death, testament, legacy and end, each once");
    assert_eq!(sent, (1..=life.deposits_made()).collect::<Vec<_>>(), "{seed}");
    assert_eq!(received.len(), sent.len(), "{seed}: every deposit was confirmed once");
    assert_eq!(place.home().treasury().unwrap().received(life.id()).unwrap(), life.deposits_made());
    let testament = testament::read(place, life).unwrap().expect("a testament");
    assert_eq!((&testament.cause, testament.sections.len()), (&death.cause, 9));
    let left = bundle::open(place.home(), &place.legacy()).unwrap();
    let hash = *blake3::hash(&fs::read(place.legacy()).unwrap()).as_bytes();
    assert_eq!(death.progress.legacy, Some((hash, left.lines.len() as u32)), "{seed}");
    assert!(!left.stranger);
    check_left(life, &testament, orders);
    life.clone()
}

/// What was held is gone if it was to be closed; otherwise nobody touched it and its owner knows of it.
fn check_left(life: &Life, testament: &thanatopsis::Testament, orders: u64) {
    let holding = life.capital().holding;
    if life.policy().on_death == OnDeath::Close {
        assert!(holding == 0 || life.death().unwrap().closing_attempts == 3, "{holding} are left");
        return;
    }
    assert_eq!(orders, 0, "no order is sent by the dead");
    assert_eq!(life.policy().stop_bps, life.constitution().policy.stop_bps, "its stop is where it was");
    let Some(left) = &testament.left else {
        assert_eq!(holding, 0, "the owner is not told");
        return;
    };
    assert_eq!((left.holding, left.cost), (holding, life.capital().cost));
    assert_eq!(left.handed_over, life.policy().on_death == OnDeath::HandOver);
    assert!(left.stop.is_some_and(Usdc::is_positive) && left.to_string().contains("yours to watch"));
}

/// All the money there is, wherever it is now, plus what it became.
fn all_money(home: &Home) -> Usdc {
    let treasury = home.treasury().unwrap();
    let mut sum = treasury.balance().unwrap();
    for place in home.list().unwrap() {
        let (golem, _) = Reader::open(&place.database()).unwrap().wake().unwrap();
        let (life, purse, capital) = (golem.life(), &golem.life().purse(), &golem.life().capital());
        sum += purse.credit + purse.spent + purse.gas;
        sum += capital.cash + capital.reserved + capital.cost + capital.fees - capital.realised;
        let sent = treasury.undelivered(life.id(), life.transfers_taken()).unwrap();
        sum += sent.iter().map(|t| t.credit + t.capital).sum();
        let received = treasury.received(life.id()).unwrap();
        sum += life.deposits().iter().filter(|d| d.number > received).map(|d| d.amount).sum();
    }
    sum
}

/// A home in memory where there is one: nothing here is about disks.
fn home() -> (tempfile::TempDir, Home) {
    let memory = PathBuf::from("/dev/shm");
    let folder = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap();
    let home = Home::at(folder.path().join("home"));
    let flags = ["treasury.opening=100000".to_owned()];
    home.init(&Settings::load(File::Bardo, None, std::iter::empty(), &flags).unwrap()).unwrap();
    (folder, home)
}

#[test]
fn a_death_cut_off_at_any_acknowledgement_completes_once() {
    let count = lives(5_000, 300);
    let (mut folder, mut place) = home();
    let (mut causes, mut phases) = (BTreeMap::new(), BTreeMap::<(Rite, &str), u64>::new());
    // For each cause the acknowledgement to be cut at next, until one life comes to its end before it.
    let mut next: BTreeMap<&str, u64> = BTreeMap::new();
    let (mut cuts, mut held, mut furthest, mut shelved) = (0_u64, 0_u64, 0, 0);
    for seed in 0..count {
        if seed.is_multiple_of(NEIGHBOURS) {
            (folder, place) = home();
        }
        let fate = DeathFate::of(seed, *next.entry(CAUSES[seed as usize % 5]).or_insert(1));
        let name = format!("g{seed}").parse().unwrap();
        let (settings, spec) = (fate.settings(), fate.world());
        let wish = Wish::of(name, spec, Some(seed), settings);
        let before = all_money(&place);
        let mut living = birth(&Runtime::of(&place), wish).unwrap();
        let golem = living.place().clone();
        let mut cutter = Cutter::new(&golem, &fate);
        loop {
            let ended = fate.live_on(&mut living, &mut cutter);
            drop(living);
            match (ended, cutter.cut.take()) {
                (Ok(ended), None) => {
                    assert!(ended, "{seed} waits for nothing");
                    break;
                }
                (Err(_), Some(phase)) => {
                    let how = if fate.unrecorded && !cutter.before.is_empty() { "unrecorded" } else { "recorded" };
                    *phases.entry((phase, how)).or_default() += 1;
                    cuts += 1;
                    furthest = furthest.max(cutter.heard);
                    cutter.forget();
                    (cutter.heard, cutter.at) = (0, if fate.again { fate.at } else { 0 });
                }
                (ended, cut) => panic!("{seed}: {ended:?} with {cut:?}"),
            }
            living = Living::open(&Runtime::of(&place), golem.clone(), 100).unwrap().0;
        }
        if !fate.again {
            next.insert(fate.cause, if cutter.at == 0 { fate.at + 1 } else { 1 });
        }
        let life = check_ended(&golem, &fate);
        assert_eq!(all_money(&place), before, "{seed}: to the micro-USDC");
        held += u64::from(life.policy().on_death == OnDeath::HandOver && life.capital().holding > 0);
        *causes.entry(fate.cause).or_insert(0_u64) += 1;
        shelved = shelved.max(place.library().unwrap().count().unwrap());
    }
    drop(folder);
    println!("counted: {count} deaths: {causes:?}; {held} handed something over");
    println!("counted: {cuts} cuts, at most {furthest} acknowledgements into a death: {phases:?}");
    assert!(CAUSES.iter().all(|cause| causes.contains_key(cause)), "{causes:?}");
    for phase in [Rite::Acceptance, Rite::Settlement, Rite::Reflection, Rite::Legacy, Rite::Over] {
        assert!(
            ["recorded", "unrecorded"].iter().any(|how| phases.contains_key(&(phase, *how))),
            "never cut: {phase:?}"
        );
    }
    assert!(held > 0, "somebody held something");
    assert!(shelved > 0, "none put anything on the shelf");
}

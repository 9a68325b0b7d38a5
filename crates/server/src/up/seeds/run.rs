//! One run: hosts that follow each other in the same home, each stepped until it is cut off or goes down by itself, and a
//! last one that is left in peace.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

use golem::Usdc;
use shell::home::inbox::{self, Body, Letter};
use shell::wall::Wall;
use shell::{GolemHome, Home};
use vault::Batch;

use super::dice::SeedDice;
use super::disk::{Cut, Disk, Faults, Files, STEPS};
use super::laws::{self, ToldLog};
use super::owner::Owner;
use super::process::Process;
use super::town::{Towns, in_memory};
use crate::up::chores::ChoreSettings;
use crate::up::hosting::{Plan, stepped};
use crate::up::main_loop::GolemLoop;
use crate::up::notify::{Target, TargetKind, Telling};
use crate::up::wake::{Fall, Job, Outcome, Wake};
use crate::up::workers::perform;

/// Hosts that follow each other in one run, before the last, which is left in peace.
const HOSTS: u64 = 3;
/// The most moves while one host is up.
const MOVES: u64 = 160;
/// How long it may take until everything has come to rest.
const PATIENCE: u64 = 6_000;
/// The name of the owner's target in the log.
const TARGET: &str = "command";
/// The time at which a run begins, in milliseconds since 1970.
const MORNING: i64 = 1_700_000_000_000;

/// The result of a run.
pub(super) struct Report {
    /// Everything that happened, in order, as one number.
    pub(super) trace: blake3::Hash,
    pub(super) cuts: Vec<Cut>,
    /// Steps to the disk that were refused.
    pub(super) refused: u64,
    pub(super) told: u64,
    pub(super) orders: u64,
    pub(super) deaths: u64,
    pub(super) nights: u64,
    pub(super) actions: u64,
}

struct SeedRun {
    dice: SeedDice,
    folder: tempfile::TempDir,
    /// The current folder of the home.
    root: PathBuf,
    wall: Wall,
    money: Usdc,
    owner: Owner,
    heard: ToldLog,
    /// Keys of the notes that the owner was told.
    notes: BTreeSet<String>,
    trace: blake3::Hasher,
    report: Report,
    tell: fn(&str),
}

/// A host that is up, and what has come back from workers and worlds and was not seen to yet.
struct Stepped {
    up: GolemLoop,
    process: Process,
    wakes: Vec<Wake>,
    /// The first message that was not heard yet.
    unheard: u64,
}

/// Lives through everything a seed has in store, and tells it as it happens.
pub(super) fn run(seed: u64, towns: &Towns, tell: fn(&str)) -> Report {
    let (mut dice, folder) = (SeedDice::new(seed), in_memory());
    let (root, wall) = (folder.path().join("home"), Wall::standing(MORNING));
    towns.copy(dice.next(), &root);
    let money = laws::all_money(&Home::simulated(root.clone(), &wall));
    let report = Report {
        trace: blake3::hash(b""),
        cuts: Vec::new(),
        refused: 0,
        told: 0,
        orders: 0,
        deaths: 0,
        nights: 0,
        actions: 0,
    };
    let (owner, heard, trace) = (Owner::default(), ToldLog::default(), blake3::Hasher::new());
    let notes = BTreeSet::new();
    let mut run = SeedRun { dice, folder, root, wall, money, owner, heard, notes, trace, report, tell };
    for host in 0..HOSTS {
        run.live(host);
        run.check();
    }
    run.rest();
    run.report.trace = run.trace.finalize();
    (run.report.told, run.report.orders) = (run.heard.count() as u64, run.owner.orders.len() as u64);
    run.report
}

impl SeedRun {
    /// Lives through one host, from when it comes up until it is cut off or goes down by itself.
    fn live(&mut self, host: u64) {
        let image = self.folder.path().join(format!("after-{host}"));
        let faults = self.faults();
        let left = faults.cut.is_some_and(|(what, _)| ["a file", "the shelf"].contains(&what));
        let disk = Disk::watch(&self.root, image.clone(), faults, self.dice.others());
        if let Some(mut host) = self.come_up(&disk) {
            // A golem's legacy is written only if one dies.
            if left && disk.cut().is_none() {
                let was_cut = || disk.cut().is_some();
                let told = self.owner.end_somebody(&self.root, &self.wall, &mut self.dice, was_cut);
                self.note(&told);
            }
            let mut moves = self.dice.roll(MOVES);
            while moves > 0 && disk.cut().is_none() {
                self.step(&mut host, &disk, true);
                moves -= 1;
            }
            if disk.cut().is_none() {
                self.go_down(host, &disk);
            }
        }
        self.note(&disk.trace().to_string());
        self.report.refused += disk.refused();
        if let Some(cut) = disk.cut() {
            self.note(&format!("{} is {:?}", cut.what, cut.how));
            self.report.cuts.push(cut);
            self.root = image;
        }
    }

    /// Draws the faults of a host: most are cut off sooner or later, and some find the disk full for a while.
    fn faults(&mut self) -> Faults {
        let what = *self.dice.one_of(&STEPS);
        // Every tick takes some steps, so they come often; the others come now and then.
        let far = if ["the host log", "a head"].contains(&what) { *self.dice.one_of(&[10, 60, 300]) } else { 3 };
        let cut = Some((what, 1 + self.dice.roll(far))).filter(|_| !self.dice.one_in(8));
        let from = 1 + self.dice.roll(300);
        let refused = if self.dice.one_in(3) { from..from + 1 + self.dice.roll(6) } else { 0..0 };
        Faults { refused, cut }
    }

    /// Brings a host up; `None` if it could not come up, and then the next one tries.
    fn come_up(&mut self, disk: &Disk) -> Option<Stepped> {
        let process = Process::begin(&self.root, &self.wall);
        let up = match stepped(&process, &plan()) {
            Ok(up) => up,
            Err(why) => {
                assert!(disk.refused() > 0 || disk.cut().is_some(), "it does not come up: {why}");
                return None;
            }
        };
        disk.listen(up.board());
        let mut host = Stepped { up, process, wakes: Vec::new(), unheard: 0 };
        while disk.cut().is_none() && host.up.slots.anyone_away() {
            self.something_comes_back(&mut host);
            self.hear(&mut host, disk);
        }
        host.up.spread_out();
        Some(host)
    }

    /// Has one thing happen of all that can happen next.
    fn step(&mut self, host: &mut Stepped, disk: &Disk, with_owner: bool) {
        host.wakes.extend(host.up.wakes.try_iter());
        let done = match self.dice.roll(100) {
            0..5 if with_owner => self.owner.act(&self.root, &self.wall, &mut self.dice, || disk.cut().is_some()),
            5..10 => self.owner.look(&self.root, &self.wall),
            10..13 => self.notes_are_told(host),
            13..85 if host.pending() > 0 => return self.come_back(host, disk),
            _ => self.time_passes(host),
        };
        self.note(&done);
        self.hear(host, disk);
    }

    fn come_back(&mut self, host: &mut Stepped, disk: &Disk) {
        self.something_comes_back(host);
        self.hear(host, disk);
    }

    /// A golem is given its turn, a world answers, or the loop is woken by what came of either.
    fn something_comes_back(&mut self, host: &mut Stepped) {
        host.wakes.extend(host.up.wakes.try_iter());
        let (jobs, errands) = (host.up.pool.waiting(), host.process.async_worlds().errands_waiting());
        let at = self.dice.roll(host.pending() as u64) as usize;
        if at < jobs {
            let job = host.up.pool.take(at).unwrap();
            self.note(named(&job));
            let (slot, outcome) = perform(job, &host.up.desk);
            host.wakes.push(Wake::Back(slot, outcome));
        } else if at < jobs + errands {
            self.note("an errand");
            host.process.async_worlds().run(at - jobs);
        } else {
            let wake = host.wakes.remove(at - jobs - errands);
            self.note(&seen(&wake));
            if let Wake::Back(slot, Outcome::Fell(Fall::Broke(why))) = &wake {
                panic!("{} came apart: {why}", host.up.slots[*slot].place.name);
            }
            assert_eq!(host.up.woken(wake, &mut |_| {}), ControlFlow::Continue(()));
        }
    }

    fn time_passes(&mut self, host: &mut Stepped) -> String {
        let now = self.wall.now();
        let next = host.up.see_to(now, &mut |_| {});
        let passes = next.saturating_duration_since(now).max(Duration::from_nanos(1));
        self.wall.go_on(passes);
        format!("{} pass", passes.as_nanos())
    }

    /// Tells the owner the notes that wait. A note is told again if the host is cut off before it is crossed out.
    fn notes_are_told(&mut self, host: &Stepped) -> String {
        let Ok(waiting) = host.up.desk.waiting(TARGET, 5) else { return "no notes".to_owned() };
        let told = waiting.iter().map(|waiting| (waiting.number, TARGET.to_owned())).collect();
        self.notes.extend(waiting.into_iter().map(|waiting| waiting.note.key));
        let _ = host.up.desk.commit(Batch { told, ..Batch::default() });
        format!("{} notes", self.notes.len())
    }

    /// Hears what golems have to tell, up to the moment the power went.
    fn hear(&mut self, host: &mut Stepped, disk: &Disk) {
        let until = disk.cut().map_or(u64::MAX, |cut| cut.untold);
        let (frames, missed) = host.up.desk.board.since(host.unheard, usize::MAX);
        assert!(!missed, "more was told than anyone remembers");
        for frame in frames.into_iter().take_while(|frame| frame.number < until) {
            self.note(&frame.text);
            self.heard.hear(&frame.golem, (frame.seq, frame.index), frame.text);
            host.unheard = frame.number + 1;
        }
    }

    /// Takes a host down as its owner does.
    fn go_down(&mut self, mut host: Stepped, disk: &Disk) {
        host.up.leave_everyone();
        while disk.cut().is_none() && host.up.slots.anyone_away() {
            host.wakes.extend(host.up.wakes.try_iter());
            if let Some(job) = host.up.pool.take(0) {
                let (slot, outcome) = perform(job, &host.up.desk);
                host.wakes.push(Wake::Back(slot, outcome));
            }
            for wake in std::mem::take(&mut host.wakes) {
                self.note(&seen(&wake));
                host.up.left(wake);
            }
            self.hear(&mut host, disk);
        }
        let _ = host.up.desk.write_rest();
    }

    /// Runs the last host, which finds nothing in its way. Golems that were taken out come back, every letter is
    /// answered, every golem has some ticks, and everything is put into place.
    fn rest(&mut self) {
        let disk = Disk::watch(&self.root, self.folder.path().join("never"), Faults::default(), self.dice.others());
        let mut host = self.come_up(&disk).expect("nothing is in its way");
        Owner::join_all(&host.process);
        let mut left = 400;
        for moves in 0.. {
            assert!(moves < PATIENCE, "something never comes to rest");
            self.step(&mut host, &disk, false);
            left -= u64::from(left > 0);
            if left == 0 && host.pending() == 0 && self.nobody_waits(host.process.home()) {
                break;
            }
        }
        self.go_down(host, &disk);
        let looked = self.owner.look(&self.root, &self.wall);
        self.note(&looked);
        drop(disk);
        let home = Home::simulated(self.root.clone(), &self.wall);
        let stand = laws::check(&home, self.money, &self.heard, &self.owner);
        self.note(&stand);
        laws::check_at_rest(&home, &self.owner);
        laws::check_notes(&home, &self.heard, &self.notes, TARGET);
        for place in home.list().unwrap() {
            let (golem, _) = place.wake().unwrap();
            self.report.deaths += u64::from(golem.life().is_dead());
            self.report.nights += golem.life().dreams().nights;
            self.report.actions += golem.life().flights_made();
        }
    }

    fn nobody_waits(&self, home: &Home) -> bool {
        // A sibling's word waits for a round, and a paused golem has none.
        let waits = |(_, letter): &(_, Letter)| !matches!(letter.body, Body::News(_));
        let waiting = |place: &GolemHome| inbox::waiting(&place.inbox(), |_| true).unwrap().iter().any(waits);
        !home.list().unwrap().iter().any(waiting)
    }

    /// Checks the laws on a copy, so that looking changes nothing for the next host.
    fn check(&mut self) {
        let copy = self.folder.path().join("copy");
        Files::below(&self.root).write(&copy);
        let stand = laws::check(&Home::simulated(copy.clone(), &self.wall), self.money, &self.heard, &self.owner);
        std::fs::remove_dir_all(copy).unwrap();
        self.note(&stand);
    }

    fn note(&mut self, what: &str) {
        (self.tell)(what);
        self.trace.update(what.as_bytes()).update(b"\n");
    }
}

impl Stepped {
    /// Everything that could come back now.
    fn pending(&self) -> usize {
        self.up.pool.waiting() + self.process.async_worlds().errands_waiting() + self.wakes.len()
    }
}

fn plan() -> Plan {
    let here = Target { way: TargetKind::Command("true".into()), kinds: Vec::new() };
    let telling = Telling { targets: vec![here], heartbeat: None, daily: None, gather: Duration::ZERO, here: None };
    let chores = ChoreSettings { telling, backups: None, archive: None };
    Plan { speed: 400.0, chores, api: None, gateway: None, relay: None }
}

fn named(job: &Job) -> &'static str {
    match job {
        Job::Open(..) => "open",
        Job::Turn(..) => "turn",
        Job::Hear(..) => "hear",
        Job::Leave(..) => "leave",
        Job::LetGo(..) => "let go",
        Job::Heir(..) => "heir",
    }
}

fn seen(wake: &Wake) -> String {
    match wake {
        Wake::Back(slot, Outcome::Open(_)) => format!("{slot} is open"),
        Wake::Back(slot, Outcome::Turned(_, turn)) => format!("{slot} has had its turn: {turn:?}"),
        Wake::Back(slot, Outcome::Heard(_)) => format!("{slot} has heard"),
        Wake::Back(slot, Outcome::Left) => format!("{slot} is left"),
        Wake::Back(slot, Outcome::Heirless(_)) => format!("{slot} is left without an heir"),
        Wake::Back(slot, Outcome::Wanted(_)) => format!("{slot} is wanted"),
        Wake::Back(slot, Outcome::Released(_)) => format!("{slot} is released"),
        Wake::Back(slot, Outcome::Fell(fall)) => format!("{slot} fell: {}", why(fall)),
        Wake::Letter(golem) => format!("{golem} has a letter"),
        Wake::Bells => "bells".to_owned(),
        Wake::Answered(slot) => format!("{slot} is answered"),
        Wake::Grown(series) => format!("{} has grown", series.display()),
        Wake::News(news) => news.text.clone(),
        Wake::Settings(_) => "new settings".to_owned(),
        Wake::Chores(_) => "other chores".to_owned(),
        Wake::Stop => "stop".to_owned(),
    }
}

/// The reason of a fall, without the name of the folder it happened in.
fn why(fall: &Fall) -> String {
    let (Fall::Broke(why) | Fall::Disk(why) | Fall::Moved(why) | Fall::Elsewhere(why) | Fall::Unlived(_, why)) = fall;
    why.split(' ').filter(|word| !word.contains('/')).collect::<Vec<_>>().join(" ")
}

//! Pictures of a life that are kept beside its journal: the same as from the journal itself, whatever became of what was kept,
//! and there at once however old the life is.

use std::fs;
use std::time::{Duration, Instant};

use crate::life::birth::{Wish, birth};
use crate::life::{Living, Pace, Run, Silent};
use crate::view::history::History;
use crate::view::pictures::Pictures;
use crate::view::remembered::pictures;
use crate::{GolemHome, Home, Runtime};
use settings::{File, Settings};
use world::Spec;

use crate::tests::common::lives;

const LIVES_ON: [&str; 3] =
    ["mortality.stochastic.enabled=false", "mortality.epistemic.enabled=false", "dream.enabled=false"];

fn home(folder: &tempfile::TempDir) -> Home {
    let home = Home::at(folder.path().join("home"));
    let flags = ["treasury.opening=100000".to_owned()];
    home.init(&Settings::load(File::Bardo, None, std::iter::empty(), &flags).unwrap()).unwrap();
    home
}

fn born(home: &Home, name: &str, seed: u64) -> Living {
    let flags = LIVES_ON.map(str::to_owned);
    let settings = Settings::load(File::Golem, None, std::iter::empty(), &flags).unwrap();
    let spec = Spec::Sim { seed, bar_ms: 40_000, relations_change_days: 3.0, edge_bps: None, flip_days: None };
    birth(&Runtime::of(home), Wish::of(name.parse().unwrap(), spec, Some(seed), settings)).unwrap()
}

fn live(living: &mut Living, ticks: u64) {
    living.run(Run { pace: Pace::Max, ticks: Some(ticks), batch: 400 }, &mut Silent).unwrap();
}

/// As the journal has it, from its beginning.
fn anew(place: &GolemHome) -> String {
    serde_json::to_string(&Pictures::of(&History::read(place).unwrap())).unwrap()
}

fn kept(place: &GolemHome) -> String {
    serde_json::to_string(&pictures(place).unwrap()).unwrap()
}

#[test]
fn what_is_kept_of_a_life_is_what_its_journal_says() {
    let folder = tempfile::tempdir().unwrap();
    let home = home(&folder);
    let (mut ada, mut ben) = (born(&home, "ada", 1), born(&home, "ben", 2));
    live(&mut ada, 1_300);
    live(&mut ben, 700);
    let (ada_s, ben_s) = (ada.place().clone(), ben.place().clone());
    let file = ada_s.folder.join("pictures");
    assert_eq!(kept(&ada_s), anew(&ada_s));
    let first = fs::read(&file).unwrap();
    assert_eq!(kept(&ada_s), anew(&ada_s), "from what was kept");
    assert_eq!(fs::read(&file).unwrap(), first, "nothing has grown");

    // It grows: a little is lived through again at every look, and much is written down. 2,000 looks are thinned out.
    live(&mut ada, 20);
    assert_eq!(kept(&ada_s), anew(&ada_s));
    assert_eq!(fs::read(&file).unwrap(), first);
    live(&mut ada, 1_200);
    assert_eq!(kept(&ada_s), anew(&ada_s));
    let second = fs::read(&file).unwrap();
    assert_ne!(second, first, "it was made anew");

    // One byte turned, cut short, of another life, of another program: read from the journal, and written down again.
    kept(&ben_s);
    let turned = {
        let mut bytes = second.clone();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        bytes
    };
    let other = {
        let body = String::from_utf8(second[32..].to_vec()).unwrap().replacen("of bardo", "of another", 1).into_bytes();
        [&blake3::hash(&body).as_bytes()[..], &body].concat()
    };
    for wrong in [turned, second[..second.len() / 2].to_vec(), fs::read(ben_s.folder.join("pictures")).unwrap(), other]
    {
        fs::write(&file, &wrong).unwrap();
        assert_eq!(kept(&ada_s), anew(&ada_s));
        assert_eq!(fs::read(&file).unwrap(), second, "what is of no use is made anew");
    }
    // A journal that is behind what was kept, as after a copy was brought back.
    fs::write(&file, &first).unwrap();
    assert_eq!(kept(&ada_s), anew(&ada_s));
}

#[test]
fn the_pictures_of_an_old_life_are_there_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let home = home(&folder);
    let (ticks, golems) = (lives(116_491, 4_000), lives(200, 6));
    let mut all: Vec<Living> = (0..golems).map(|seed| born(&home, &format!("g{seed}"), seed)).collect();
    all.iter_mut().enumerate().for_each(|(at, living)| live(living, if at == 0 { ticks } else { 500 }));
    let look = |living: &Living| {
        let began = Instant::now();
        pictures(living.place()).unwrap();
        began.elapsed()
    };
    let first: Vec<Duration> = all.iter().map(look).collect();
    // One more look at the world each, as when a page is open.
    all.iter_mut().for_each(|living| live(living, 1));
    let again: Vec<Duration> = all.iter().map(look).collect();
    let slowest = again.iter().max().unwrap();
    println!(
        "counted: {golems} golems, one of {} ticks: {:?} first, {:?} once made",
        all[0].life().tick(),
        first[0],
        slowest
    );
    // Tests are built without what makes a release fast, and run beside others.
    let bound = Duration::from_millis(lives(50, 500));
    assert!(*slowest < bound, "{again:?}");
}

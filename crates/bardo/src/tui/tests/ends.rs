//! One life of each cause, and how its end is told: the note, the stone and the testament as its owner reads them, one below the
//! other (`accepted/ends.txt`). `BARDO_WRITE_DOCS=1` writes them again: read them aloud before you keep them.

use std::ops::ControlFlow;

use golem::mortality::death::Cause;
use golem::thanatopsis::Testament;
use golem::wire::Message;
use golem::{Command, CommandId, Life};
use settings::{File, Settings};
use shell::legacy::testament;
use shell::life::birth::{Wish, birth};
use shell::life::{Pace, Run, Silent};
use shell::view::narrator::Narrator;
use shell::view::status::Status;
use shell::{GolemHome, Home, Runtime};
use vault::Reader;
use world::Spec;

use super::{SIZES, folder, new, tell, text};
use crate::output::{date, sentence};
use crate::tui::app::Screen;
use crate::tui::told::HostNews;

/// How each of them is brought to its end, by the name of the cause.
const FATES: [(&str, &str, &[&str]); 5] = [
    ("economic", "eve", &["mortality.mode=hosted", "mortality.economic.machine_per_day=2", "funds.credit=5"]),
    (
        "stochastic",
        "kim",
        &["mortality.stochastic.base_hazard_rate=0.002", "mortality.stochastic.max_hazard_rate=0.002"],
    ),
    (
        "epistemic_senescence",
        "sol",
        &[
            "mind.kind=reflex",
            "reflex.noise=100",
            "mortality.epistemic.fitness_window=200",
            "mortality.epistemic.recovery_grace_period=50",
        ],
    ),
    ("owner_kill", "ray", &[]),
    ("kill_switch", "uma", &[]),
];

/// Lives it to its end, by order after so many ticks where its cause is one.
fn live(home: &Home, (cause, name, set): (&str, &str, &[&str])) -> GolemHome {
    let mut flags: Vec<String> = set.iter().map(|key| (*key).to_owned()).collect();
    if cause != "stochastic" {
        flags.push("mortality.stochastic.enabled=false".to_owned());
    }
    let settings = Settings::load(File::Golem, None, std::iter::empty(), &flags).unwrap();
    let spec = Spec::Sim { seed: 7, bar_ms: 40_000, relations_change_days: 3.0, edge_bps: None, flip_days: None };
    let mut living = birth(&Runtime::of(home), Wish::of(name.parse().unwrap(), spec, Some(7), settings)).unwrap();
    let place = living.place().clone();
    let order = match cause {
        "owner_kill" => Some(Command::Retire { reason: "seen enough".into() }),
        "kill_switch" => Some(Command::Halt { trigger: "its owner halted all of them".into() }),
        _ => None,
    };
    let ticks = order.is_some().then_some(1_500);
    living.run(Run { pace: Pace::Max, ticks, batch: 400 }, &mut Silent).unwrap();
    if let Some(order) = order {
        living.obey(CommandId([7; 8]), order, &mut Silent).unwrap();
    }
    assert!(living.golem().owes_nothing(), "{name} has not ended");
    place
}

/// The note to the owner about the death, as it is composed for a phone.
fn note(place: &GolemHome) -> String {
    let reader = Reader::open(&place.database()).unwrap();
    let (mut narrator, mut note) = (Narrator::before(&reader).unwrap(), String::new());
    reader
        .replay(|record| {
            narrator.tell(&record, |told| {
                if let Message::Died { .. } = told.message {
                    note = format!("{} {}", place.name, sentence(&told.message));
                }
            })?;
            Ok::<_, shell::Error>(ControlFlow::Continue(()))
        })
        .unwrap();
    note
}

/// The screen of a dead one, down to the four ways on.
fn stone(life: &Life, told: &Testament) -> String {
    let name = life.birth().name.to_string();
    let mut app = new();
    tell(&mut app, HostNews::Golems(vec![Status::of(&name, life)]));
    app.choose(&name);
    app.go(Screen::Life);
    tell(&mut app, HostNews::Testament(name, Some(Box::new(told.clone()))));
    let shown = text(&app, SIZES[1]);
    let (stone, _) = shown.split_once(" what now ").expect("the four ways on are below it");
    stone.lines().skip(1).map(|line| line.to_owned() + "\n").collect()
}

#[test]
fn one_life_of_each_cause_is_told_in_words_that_can_be_read_aloud() {
    let folder_of_home = tempfile::tempdir().unwrap();
    let home = Home::at(folder_of_home.path().join("home"));
    let flags = ["treasury.opening=100000".to_owned()];
    home.init(&Settings::load(File::Bardo, None, std::iter::empty(), &flags).unwrap()).unwrap();
    let mut all = String::new();
    for fate in FATES {
        let place = live(&home, fate);
        let (golem, _) = Reader::open(&place.database()).unwrap().wake().unwrap();
        let life = golem.life();
        let death = life.death().unwrap();
        assert_eq!(death.cause.name(), fate.0);
        let (note, told) = (note(&place), testament::read(&place, life).unwrap().unwrap());
        let (whole, stone) = (told.markdown(date), stone(life, &told));
        // For checking by program, not for reading aloud.
        let (read, _) = whole.split_once("\n## To check this").unwrap();

        let cause = death.cause.to_string();
        let first = &cause[..cause.find([':', '(']).map_or(cause.len(), |at| at + 1)];
        for (what, text) in [("note", &note), ("stone", &stone), ("testament", &read.to_owned())] {
            assert_eq!(text.matches(first).count(), 1, "{what}: its cause is said once:\n{text}");
            for wrong in ["nothing to say", "cannot be said", " -0.00,", "e-6", "e-7"] {
                assert!(!text.contains(wrong), "{what}: {wrong}:\n{text}");
            }
        }
        assert!(!read.contains("\n\n\n") && !read.contains("##\n"), "no heading stands alone:\n{read}");
        let headings: Vec<&str> = read.lines().filter(|line| line.starts_with("## ")).collect();
        for (at, heading) in headings.iter().enumerate() {
            let after = read.split_once(heading).unwrap().1.trim_start();
            assert!(!after.starts_with("## ") && !after.is_empty(), "{heading}, the {at}th, has nothing below it");
        }
        if let Cause::Stochastic { .. } = death.cause {
            assert!(note.contains("died by chance: one in ") && note.contains(" at each look, after "), "{note}");
        }
        all += &format!("==== {} ====\n\n{note}\n\n{stone}\n{read}\n", fate.0);
    }
    let path = folder("accepted").join("ends.txt");
    if std::env::var_os("BARDO_WRITE_DOCS").is_some() {
        std::fs::write(&path, &all).unwrap();
    }
    let accepted = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(accepted, all, "{} differs; read it aloud, and if it is right, BARDO_WRITE_DOCS=1", path.display());
}

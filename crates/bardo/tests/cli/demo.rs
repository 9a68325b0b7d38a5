//! The demo: one life, told. Whether it is true is for the other tests; here, whether it can be relied on to tell it.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::{Tent, files, full, text};

fn check_columns(shown: &str) {
    for line in shown.lines() {
        assert!(line.chars().count() <= 80, "too wide: {line}");
    }
}

/// The lines a recording leaves on the screen, without their colours.
fn replayed(cast: &str) -> String {
    let mut lines = cast.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let header = lines.next().unwrap();
    assert_eq!((&header["version"], &header["width"]), (&2.into(), &80.into()));
    let (mut screen, mut last) = (String::new(), 0.0);
    for line in lines {
        assert!(line[0].as_f64().unwrap() >= last && line[1] == "o", "{line}");
        last = line[0].as_f64().unwrap();
        // A status line lasts until something is written over it.
        let shown = line[2].as_str().unwrap().trim_start_matches("\r\x1b[K");
        screen += if shown.ends_with('\n') { shown } else { "" };
    }
    let mut parts = screen.split("\x1b[");
    let first = parts.next().unwrap().to_owned();
    let plain = parts.fold(first, |kept, part| kept + part.split_once('m').unwrap().1);
    plain.replace("\r\n", "\n")
}

#[test]
fn a_demo_needs_nothing_and_leaves_nothing_behind() {
    let tent = Tent::bare();
    let aside = tent.folder.path().join("aside");
    fs::create_dir(&aside).unwrap();
    let mut command = tent.command(["demo", "--headless"]);
    let output = command.env_remove("HOME").env_remove("BARDO_HOME").env("TMPDIR", &aside).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let shown = text(&output.stdout);
    check_columns(&shown);
    assert!(shown.lines().count() <= 76, "{} lines are more than a reader has patience for", shown.lines().count());
    assert!(shown.contains("One life proves nothing"), "{shown}");
    assert!(!shown.contains('\x1b'), "colours are for terminals");
    assert!(!tent.root().exists(), "a home was made");
    assert_eq!(files(&aside), Vec::<std::path::PathBuf>::new());
    assert_eq!(fs::read_dir(&aside).unwrap().count(), 0);
}

#[test]
fn the_same_seed_tells_the_same_life_to_the_byte() {
    let tent = Tent::bare();
    let shown = |seed: &str| tent.ok(["demo", "--headless", "--seed", seed]);
    assert_eq!(shown("1"), shown("1"));
    assert_ne!(shown("1"), shown("2"));
}

#[test]
fn at_least_fifteen_of_twenty_seeds_come_by_every_station() {
    let tent = Tent::bare();
    let told = |seed: u64| -> Vec<serde_json::Value> {
        let told = tent.ok(["demo", "--headless", "--json", "--seed", &seed.to_string()]);
        told.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let all =
        ["birth", "prediction", "turn", "death", "testament", "beside", "learned", "heir", "reckoning", "second_act"];
    let (mut whole, mut wrong, mut ben, mut heir, mut cleo) = (Vec::new(), 0, 0, 0, 0);
    let seeds = full(30, 20);
    for seed in 1..=seeds {
        let told = told(seed);
        let of = |station: &str| -> Vec<&str> {
            let here = told.iter().filter(|line| line["station"] == station);
            here.map(|line| line["text"].as_str().unwrap()).collect()
        };
        if all.iter().all(|station| !of(station).is_empty()) {
            whole.push(seed);
        }
        wrong += u32::from(of("death")[0].contains("lost touch"));
        let reckoned = of("reckoning");
        ben += u32::from(reckoned[1].ends_with("alive"));
        heir += u32::from(reckoned[2].ends_with("alive"));
        let [edge, fair] = of("second_act")[..] else { panic!("seed {seed}: a second act of two") };
        cleo += u32::from(edge.contains(" acts from day "));
        assert!(fair.contains(" no action, 0.00 % of its capital, no fees."), "seed {seed}: {fair}");
    }
    println!(
        "counted: of {seeds} demos ada dies of being wrong in {wrong}; ben is alive in the end in {ben}, the heir in {heir}; \
         cleo acts in {cleo}"
    );
    assert!(whole.len() >= 15, "only {whole:?}");
    assert!(whole.contains(&13), "the seed that is shown first should show everything");
    assert!(cleo > 2 * seeds as u32 / 3, "what can be known is not found out in time: {cleo} of {seeds}");
    assert!(ben > 2 * seeds as u32 / 3 && wrong > 2 * seeds as u32 / 3, "the demo shows something else");
}

#[test]
fn what_a_demo_keeps_is_a_home_like_any_other() {
    let tent = Tent::bare();
    let root = tent.root();
    let folder = root.to_str().unwrap();
    assert!(tent.ok(["demo", "--headless", "--keep", folder]).contains("golem show ada"));
    tent.ok(["doctor"]);
    let ada = tent.verified("ada");
    let cause = ada.life().death().unwrap().cause.name();
    assert_eq!(cause, "epistemic_senescence", "it dies of being wrong");
    assert!(!tent.verified("ben").life().is_dead(), "who learns lives on");
    assert_eq!(tent.verified("ada-2").life().birth().generation, 1);
    assert!(tent.fails(1, ["demo", "--headless", "--keep", folder]).contains("not empty"));
}

#[test]
fn a_recording_holds_what_was_shown() {
    let tent = Tent::bare();
    let file = tent.folder.path().join("demo.cast");
    let shown = tent.ok(["demo", "--speed", "max", "--record", file.to_str().unwrap()]);
    let cast = fs::read_to_string(&file).unwrap();
    assert!(cast.contains("\\u001b[38;5;"), "a recording is of a terminal, in colour");
    assert_eq!(replayed(&cast), shown);

    let grey =
        tent.command(["demo", "--speed", "max", "--record", file.to_str().unwrap()]).env("NO_COLOR", "1").output();
    assert!(grey.unwrap().status.success());
    assert!(!fs::read_to_string(&file).unwrap().contains("\\u001b[3"), "NO_COLOR counts everywhere");
}

#[test]
fn the_recording_in_the_book_is_of_this_demo() {
    let cast = Path::new(&std::env::var("CARGO_MANIFEST_DIR").unwrap()).join("../../docs/demo.cast");
    let shown = Tent::bare().ok(["demo", "--headless"]);
    assert_eq!(replayed(&fs::read_to_string(cast).unwrap()), shown, "bardo demo --record docs/demo.cast makes it anew");
}

/// The first page shows it: a picture that moves without a script, and stands still at the end for readers who want no motion.
#[test]
fn the_picture_of_the_first_page_is_of_this_recording() {
    let root = Path::new(&std::env::var("CARGO_MANIFEST_DIR").unwrap()).join("../..");
    let made = Command::new("python3").args([".ci/film", "docs/demo.cast"]).current_dir(&root).output().unwrap();
    assert!(made.status.success(), "{}", text(&made.stderr));
    let film = text(&made.stdout);
    let path = root.join("docs/demo.svg");
    if std::env::var_os("BARDO_WRITE_DOCS").is_some() {
        fs::write(&path, &film).unwrap();
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), film, ".ci/film docs/demo.cast > docs/demo.svg makes it again");
    assert!(film.len() < 100_000, "{} bytes are too many for a first page", film.len());
    for outside in ["<script", "href=", "url(", "@import"] {
        assert!(!film.contains(outside), "{outside} reaches outside");
    }
    assert!(film.contains("prefers-reduced-motion"), "it moves for readers who asked for no motion");
    // Every line of the recording is in it, in its order.
    let shown = film.split("<text ").skip(1).map(|line| {
        let line = line.split_once('>').unwrap().1.split("</text>").next().unwrap();
        let parts = line.split('<').map(|part| part.split_once('>').map_or(part, |(_, words)| words));
        parts.collect::<String>().replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    });
    let shown: Vec<String> = shown.collect();
    let recorded = replayed(&fs::read_to_string(root.join("docs/demo.cast")).unwrap());
    let lines: Vec<&str> = recorded.lines().filter(|line| !line.is_empty()).collect();
    assert_eq!(shown[..lines.len()], lines);
    assert!(shown.len() > lines.len() + 20, "nothing passes between the lines");
}

//! Files that are damaged, cut off or meant to harm: a line in the report each, and nothing else.

use age::{FilePlace, Shelf};
use tariff::Book;

use super::{NOW, files, read};
use crate::common::{Dice, full};

type Reader = fn(&mut Shelf<'_>, &[u8]);

fn place() -> FilePlace<'static> {
    FilePlace { stem: "stem", helper: false }
}

const READERS: [(&str, Reader); 6] = [
    ("cc_new", |shelf, text| age::read_claude(shelf, &place(), text).unwrap()),
    ("cx_new", |shelf, text| age::read_codex(shelf, &place(), text).unwrap()),
    ("gm_new", |shelf, text| age::read_gemini(shelf, &place(), text).unwrap()),
    ("cc_new", |shelf, text| age::read_aider_log(shelf, &place(), text).unwrap()),
    ("cx_new", |shelf, text| age::read_spans(shelf, text).unwrap()),
    ("gm_new", |shelf, text| age::read_records(shelf, text).unwrap()),
];

/// Turned bits, cut ends, bytes put in and left out, and whole pieces twice.
fn mutate(line: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut line = line.to_vec();
    for _ in 0..=dice.roll(3) {
        let at = dice.roll(line.len().max(1) as u64) as usize;
        match dice.roll(6) {
            0 if at < line.len() => line[at] ^= 1 << dice.roll(8),
            1 => line.truncate(at),
            2 => line.insert(at.min(line.len()), b"\"\\{}[]:,0-e\xff\x00"[dice.roll(13) as usize]),
            3 if at < line.len() => _ = line.remove(at),
            4 => line.extend_from_within(at.min(line.len())..),
            _ => {
                let number = line.iter().position(u8::is_ascii_digit).unwrap_or(0);
                drop(line.splice(number..number, *b"99999999999999999999"));
            }
        }
    }
    line.retain(|byte| *byte != b'\n');
    line
}

#[test]
fn two_hundred_thousand_damaged_lines_cost_a_line_in_the_report_each_and_nothing_else() {
    let book = Book::built_in();
    let mut dice = Dice(44);
    let each = full(200_000, 12_000) / READERS.len() as u64;
    for (name, reader) in READERS {
        let text: Vec<u8> = files(name).iter().flat_map(|file| std::fs::read(file).unwrap()).collect();
        let lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').filter(|line| line.len() > 2).collect();
        let mut left = each;
        while left > 0 {
            let many = left.min(500);
            let mut damaged = Vec::new();
            for _ in 0..many {
                damaged.extend(mutate(lines[dice.roll(lines.len() as u64) as usize], &mut dice));
                damaged.push(b'\n');
            }
            let mut shelf = Shelf::new(&book, NOW);
            reader(&mut shelf, &damaged);
            let told = shelf.lines.values().next().unwrap();
            assert!(told.read <= many && told.unknown + told.unreadable <= told.read, "{name}: {told:?}");
            for life in &shelf.lives {
                let text = serde_json::to_string(life).unwrap();
                assert!(!text.contains("CANARY") && !text.contains("marzipan"), "{name}: {text}");
            }
            // Whatever came of it, it can be studied.
            let _ = age::Study::of(&shelf.lives, &age::StudyOptions::default());
            left -= many;
        }
    }
}

#[test]
fn a_damaged_line_costs_nothing_of_those_around_it() {
    let book = Book::built_in();
    let whole = read("cx_new", &book);
    let text = std::fs::read(&files("cx_new")[0]).unwrap();
    let mut damaged = b"\xff\xfe{\"type\":\n{}\n[]\nnull\n{\"type\":\"new in some version\",\"payload\":{}}\n".to_vec();
    damaged.extend(&text);
    damaged.extend(b"{\"timestamp\":\"2026-11-19T14:34:14.236Z\",\"type\":\"event_msg\",\"payl");
    let mut shelf = Shelf::new(&book, NOW);
    let stem = files("cx_new")[0].file_stem().unwrap().to_str().unwrap().to_owned();
    age::read_codex(&mut shelf, &FilePlace { stem: &stem, helper: false }, &damaged[..]).unwrap();
    assert_eq!(shelf.lives, whole.lives);
    let told = shelf.lines.values().next().unwrap();
    assert_eq!((told.unreadable, told.unknown), (5, 1), "{told:?}");
}

/// Deep nesting, huge numbers, names twice and lines of megabytes.
#[test]
fn what_is_meant_to_harm_is_passed_over() {
    let book = Book::built_in();
    let deep = "[".repeat(200_000);
    let long = format!("{{\"type\":\"user\",\"message\":{{\"content\":\"{}\"}}}}", "x".repeat(40 << 20));
    for (name, reader) in READERS {
        for text in [
            deep.clone(),
            format!("{{\"type\":\"assistant\",\"message\":{deep}"),
            format!("{{\"a\":{}1{}}}", "{\"a\":".repeat(50_000), "}".repeat(50_000)),
            "{\"type\":\"assistant\",\"type\":\"user\"}".to_owned(),
            long.clone(),
        ] {
            let mut shelf = Shelf::new(&book, NOW);
            reader(&mut shelf, text.as_bytes());
            assert!(shelf.lives.is_empty(), "{name}");
        }
    }
}

/// A record of somebody else's may not say what none of ours could.
#[test]
fn a_record_that_could_not_have_been_written_here_is_not_believed() {
    let book = Book::built_in();
    let life = serde_json::to_value(&read("cx_new", &book).lives[0]).unwrap();
    let with = |change: fn(&mut serde_json::Value)| {
        let mut life = life.clone();
        change(&mut life);
        let mut shelf = Shelf::new(&book, NOW);
        age::read_records(&mut shelf, life.to_string().as_bytes()).unwrap();
        shelf.lives.len()
    };
    assert_eq!(with(|_| {}), 1);
    assert_eq!(with(|life| life["life"] = "a path/of somebody's".into()), 0);
    assert_eq!(with(|life| life["models"][0] = "words of somebody's".into()), 0);
    assert_eq!(with(|life| life["calls"][0]["failed"] = 99.into()), 0);
    assert_eq!(with(|life| life["calls"][0]["model"] = 9.into()), 0);
    assert_eq!(with(|life| life["calls"] = serde_json::json!([])), 0);
    assert_eq!(with(|life| life["prompt"] = "what was asked".into()), 0);
    assert_eq!(with(|life| life["v"] = 2.into()), 0);
}

//! The laboratory as a researcher meets it: every flag is honoured or refused, and no figure stands where nothing was
//! measured.

use crate::common::Tent;
use serde_json::Value;

const SMALL: [&str; 6] = ["--lives", "3", "--most-ticks", "600", "--seed", "4"];

fn lineages<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["lab", "lineages"], more].concat()
}

/// Three of its flags were taken and forgotten: a run with `--vary` printed what a run without it printed, no manifest was
/// written, and a plan that does not exist started the default run of an hour.
#[test]
fn lines_honour_or_refuse_every_flag() {
    let tent = Tent::new();
    let file = tent.folder.path().join("plan.json");
    let file = file.to_str().unwrap();
    let vary = tent.fails(2, lineages(&[&SMALL[..], &["--vary", "stress.mode=off,enforced"]].concat()));
    assert!(vary.contains("--vary"), "{vary}");
    tent.fails(2, lineages(&[&SMALL[..], &["--note-every", "10"]].concat()));
    let missing = tent.fails(1, lineages(&["--plan", "/no/such/plan.json"]));
    assert!(missing.contains("/no/such/plan.json"), "{missing}");

    let first = tent.ok(lineages(&[&SMALL[..], &["--generations", "3", "--manifest", file]].concat()));
    assert!(first.starts_with("3 paths, 3 lives of 200 ticks on each"), "{first}");
    assert_eq!(tent.ok(lineages(&["--plan", file])), first, "a plan repeats to the byte");
    for choice in [["--lives", "9"], ["--seed", "1"], ["--generations", "2"], ["--set", "mind.learning=false"]] {
        tent.fails(2, lineages(&[&["--plan", file][..], &choice[..]].concat()));
    }
    let other = tent.fails(1, ["lab", "lives", "--plan", file]);
    assert!(other.contains("bardo lab lineages --plan"), "{other}");
    tent.ok([&["lab", "lives"], &SMALL[..], &["--manifest", file]].concat());
    let other = tent.fails(1, lineages(&["--plan", file]));
    assert!(other.contains("bardo lab lives --plan"), "{other}");
}

/// `--rows` beside `--vary` was taken, wrote nothing and said nothing, and a second `--vary` was refused.
#[test]
fn arms_are_written_as_rows_and_several_keys_vary_together() {
    let tent = Tent::new();
    let folder = tent.folder.path().join("rows");
    let lives = [&["lab", "lives"], &SMALL[..], &["--note-every", "200"]].concat();
    let learn = ["--vary", "mind.learning=true,false"];
    let vary = [&lives[..], &["--vary", "stress.mode=off,enforced"], &learn, &["--rows", folder.to_str().unwrap()]];
    let told = tent.ok(vary.concat());
    assert!(told.starts_with("3 paths, each run once for every stress.mode and mind.learning"), "{told}");
    let heads: Vec<&str> = told.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!(heads, ["off+true", "off+false", "enforced+true", "enforced+false"], "{told}");
    let rows = |name: &str| -> Vec<Value> {
        let text = std::fs::read_to_string(folder.join(format!("{name}.jsonl"))).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let all = rows("lives");
    let named: Vec<(&str, u64)> =
        all.iter().map(|row| (row["arm"].as_str().unwrap(), row["path"].as_u64().unwrap())).collect();
    let expected = heads.iter().flat_map(|arm| (0..3_u64).map(move |path| (*arm, path)));
    assert_eq!(named, expected.collect::<Vec<_>>());
    assert!(all.iter().all(|row| row["cause"] == "alive" && row["ticks"] == 600), "{all:?}");
    assert_eq!(rows("notes").len(), 4 * 3 * 3);
    assert!(rows("skills").iter().any(|row| row["domain"] == "direction"));

    // What the arms come to is what each comes to by itself.
    let alone = tent.folder.path().join("alone");
    let set = ["--set", "stress.mode=enforced", "--set", "mind.learning=false", "--rows", alone.to_str().unwrap()];
    tent.ok([&lives[..], &set].concat());
    let alone = std::fs::read_to_string(alone.join("lives.jsonl")).unwrap();
    let beside = std::fs::read_to_string(folder.join("lives.jsonl")).unwrap();
    let beside: Vec<String> = beside.lines().skip(9).map(|line| line.replace("enforced+false", "only")).collect();
    assert_eq!(alone.lines().collect::<Vec<_>>(), beside);
    let twice = tent.fails(1, [&lives[..], &learn, &learn].concat());
    assert!(twice.contains("mind.learning is varied twice"), "{twice}");
}

#[test]
fn no_figure_is_printed_where_there_was_nothing_to_measure() {
    let tent = Tent::new();
    let short = ["lab", "lives", "--lives", "2", "--most-ticks", "1", "--set", "funds.capital=0"];
    let figures = tent.ok(short);
    let row = |name: &str| figures.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{figures}"));
    for name in ["skill, whole life", "return", "cost of acting", "  direction"] {
        assert_eq!(row(name).matches('–').count(), 3, "{}", row(name));
    }
    let json: Value = serde_json::from_str(&tent.ok([&["--json"], &short[..]].concat())).unwrap();
    assert!(json["skill"].is_null() && json["returns"].is_null() && json["skills"]["direction"].is_null(), "{json}");

    // The same between arms; and with so few paths nothing is called a difference, which is said.
    let arms = ["lab", "lives", "--lives", "3", "--most-ticks", "1", "--vary", "mind.learning=true,false"];
    let table = tent.ok(arms);
    let skill = table.lines().find(|line| line.starts_with("skill, whole life")).unwrap();
    assert_eq!(skill.split_whitespace().collect::<Vec<_>>()[3..], ["–", "–"], "{table}");
    assert!(table.contains("– there was nothing to measure") && table.contains("too few paths"), "{table}");
    let json: Value = serde_json::from_str(&tent.ok([&["--json"], &arms[..]].concat())).unwrap();
    let rows = json["rows"].as_array().unwrap();
    let skill = rows.iter().find(|row| row[0] == "skill, whole life").unwrap();
    assert!(skill[1].as_array().unwrap().iter().all(Value::is_null), "{skill}");
}

#[test]
fn what_rounds_to_nothing_has_no_sign() {
    let tent = Tent::new();
    let figures = tent.ok(["lab", "lives", "--lives", "12", "--most-ticks", "3000", "--seed", "3"]);
    assert!(figures.contains(" 0.0 %") || figures.contains(" 0.00 %"), "{figures}");
    for nothing in ["-0.0 %", "+0.0 %", "-0.00 %", "+0.00 %"] {
        assert!(!figures.contains(nothing), "{figures}");
    }
}

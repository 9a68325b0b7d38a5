//! Pictures: a life line in the terminal, and pages that can be passed on.

use std::fs;

use crate::common::Tent;

/// A home with a short life in it, and the first days of its heir's.
fn lived() -> Tent {
    let tent = Tent::bare();
    tent.ok(["demo", "--headless", "--keep", tent.root().to_str().unwrap()]);
    tent
}

#[test]
fn a_life_line_fits_into_eighty_columns() {
    let tent = lived();
    let (plain, drawn) = (tent.ok(["golem", "show", "ada"]), tent.ok(["golem", "show", "ada", "--plot"]));
    let plot = drawn.strip_prefix(&plain).expect("the plot comes after what is shown anyway");
    for line in plot.lines() {
        assert!(line.chars().count() <= 80, "too wide: {line}");
    }
    for part in ["vitality", "skill", "return", "phase", "†"] {
        assert!(plot.contains(part), "{part} is missing: {plot}");
    }
    let phases = plot.lines().find_map(|line| line.strip_prefix("phase")).unwrap().trim();
    let told = |first: char, most: char, last: char| {
        phases.starts_with(first) && phases.contains(most) && phases.ends_with(last)
    };
    assert!(told('s', 't', 'd'), "it was born stable, throve, and was declining when it died: {phases}");
}

#[test]
fn a_report_is_one_file_that_asks_for_nothing_else() {
    let tent = lived();
    let file = tent.folder.path().join("ada.html");
    tent.ok(["golem", "report", "ada", "--out", file.to_str().unwrap()]);
    let page = fs::read_to_string(&file).unwrap();
    assert_eq!(tent.ok(["golem", "report", "ada"]), page, "printed or written, it is the same");
    for outside in ["http", "src=", "href=", "<script", "@import", "url("] {
        assert!(!page.contains(outside), "{outside} reaches outside");
    }
    for part in ["Life line", "Skill, by domain", "Return vs. buy and hold", "Load", "class=\"died\"", "class=\"tick\""]
    {
        assert!(page.contains(part), "{part} is missing");
    }
    assert!(!page.contains("NaN") && !page.contains("inf"), "a figure could not be drawn");
}

#[test]
fn the_living_and_the_newborn_have_pictures_too() {
    let tent = lived();
    let living = tent.ok(["golem", "report", "ada-2"]);
    assert!(living.contains("Alive on day") && !living.contains("class=\"died\""));
    tent.ok(["golem", "new", "eve", "--world", "queue"]);
    assert!(tent.ok(["golem", "show", "eve", "--plot"]).contains("nothing to draw yet"));
    assert!(tent.ok(["golem", "report", "eve"]).contains("not looked at its world yet"));
    tent.ok(["golem", "run", "eve", "--speed", "max", "--ticks", "1"]);
    assert!(!tent.ok(["golem", "report", "eve"]).contains("NaN"));
    tent.ok(["golem", "show", "eve", "--plot"]);
}

#[test]
fn what_is_drawn_can_be_had_as_figures() {
    let tent = lived();
    let history: serde_json::Value = serde_json::from_str(&tent.ok(["golem", "report", "ada", "--json"])).unwrap();
    let looks = history["looks"].as_array().unwrap();
    assert!((400..=1_000).contains(&looks.len()), "{} looks", looks.len());
    for look in looks {
        let part = |name: &str| look[name].as_f64().unwrap();
        let product = part("money") * part("touch") * part("age");
        assert!((part("vitality") - product).abs() < 1e-9, "vitality is the product of its parts: {look}");
    }
}

#[test]
fn lives_of_the_lab_can_be_drawn() {
    let tent = Tent::bare();
    let file = tent.folder.path().join("lives.html");
    let lived = ["lab", "lives", "--lives", "4", "--most-ticks", "2000", "--note-every", "200"];
    let told = |html: &[&str]| tent.ok(lived.iter().chain(html));
    let figures = |told: &str| told.lines().filter(|line| !line.contains(" ticks in ")).count();
    assert_eq!(figures(&told(&["--html", file.to_str().unwrap()])), figures(&told(&[])), "figures are printed as ever");
    let page = fs::read_to_string(&file).unwrap();
    assert!(page.contains("4 lives") && page.contains("Who is left"));
    assert!(!page.contains("NaN") && !page.contains("http"));
}

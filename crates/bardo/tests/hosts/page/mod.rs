//! The page in a real browser: every screen at the size of a phone, a laptop and a wide screen; what an owner does with
//! it; and what somebody else cannot.

mod hostile;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::common::Tent;
use crate::common::host::Host;
use serde_json::{Value, json};

/// Where a browser's parts are; none where a machine has none and need not.
fn parts() -> Option<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")))?;
    let parts = cache.join("bardo/browser");
    let there = parts.join("node_modules/puppeteer-core").exists();
    assert!(there || std::env::var_os("BARDO_REALPARTS").is_none(), "no browser: .ci/setup installs what is needed");
    there.then_some(parts)
}

/// A browser that does what it is told.
struct Browser {
    child: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
}

impl Browser {
    fn open() -> Option<Browser> {
        let parts = parts()?;
        let shots =
            std::env::var_os("BARDO_SHOTS").map_or_else(|| std::env::temp_dir().join("bardo-page"), PathBuf::from);
        fs::create_dir_all(&shots).unwrap();
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/hosts/page/drive.mjs");
        let mut command = Command::new("node");
        command.arg(script).args([parts, shots]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("node is there");
        let (to, from) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Some(Browser { child, to, from })
    }

    fn tell(&mut self, what: &str, mut with: Value) -> Value {
        with["do"] = json!(what);
        writeln!(self.to.as_mut().unwrap(), "{with}").unwrap();
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        let mut answer: Value = serde_json::from_str(&line).unwrap_or_else(|why| panic!("{what}: {why}: {line}"));
        assert!(answer.get("failed").is_none(), "{what} {with}: {}", answer["failed"].as_str().unwrap_or_default());
        answer["ok"].take()
    }

    fn visit(&mut self, hash: &str, has: &[&str]) -> String {
        self.tell("visit", json!({ "hash": hash, "has": has }))["text"].as_str().unwrap_or_default().to_owned()
    }

    fn press(&mut self, button: &str, has: &str) {
        self.tell("press", json!({ "button": button, "has": has }));
    }

    /// Nothing went wrong in it, and it asked nobody else.
    fn is_fine(&mut self) -> Value {
        let told = self.tell("told", json!({}));
        assert_eq!(told["wrong"], json!([]), "the console is silent");
        assert_eq!(told["elsewhere"], json!([]), "nobody else is asked");
        told
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Whoever drives it closes it when there is nothing more to hear; killed, it would leave the browser behind.
        self.to = None;
        let _ = self.child.wait();
    }
}

fn link(tent: &Tent, host: &Host) -> String {
    tent.ok(["page", "--listen", &host.address]).trim().to_owned()
}

/// One that lives, one that asks, one that has died and one whose every word is a trap.
fn home() -> Tent {
    let tent = Tent::new();
    tent.ok(["golem", "new", "ada", "--seed", "7"]);
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "12000"]);
    tent.ok(["golem", "new", "dead", "--seed", "3", "--credit", "0.5", "--set", "mortality.mode=hosted"]);
    tent.ok(["golem", "run", "dead", "--speed", "max"]);
    tent.ok([
        "golem",
        "new",
        "asks",
        "--seed",
        "5",
        "--set",
        "mind.kind=reflex",
        "--set",
        "reflex.act_every=5",
        "--set",
        "policy.approve_above=0",
        "--set",
        "policy.approve_within=30d",
    ]);
    tent.ok(["golem", "new", "kim", "--seed", "11", "--world", "queue"]);
    tent
}

#[test]
fn every_screen_at_every_size_is_clean_and_within_its_edges() {
    let Some(mut browser) = Browser::open() else { return };
    let tent = home();
    let host = Host::up(&tent, "400");
    let link = link(&tent, &host);
    let opened = browser.tell("open", json!({ "link": link }));
    assert!(!opened["address"].as_str().unwrap().contains("in="), "the code has left the address: {opened}");
    let pages = json!({
        "golems": "#/", "feed": "#/feed", "end": "#/golems/dead", "life": "#/golems/ada", "pictures": "#/golems/ada/pictures", "events": "#/golems/ada/events",
        "memory": "#/golems/ada/memory", "dreams": "#/golems/ada/dreams", "calls": "#/golems/ada/costs",
        "testament": "#/golems/dead/left", "family": "#/golems/dead/family", "graves": "#/graves", "costs": "#/costs",
        "relay": "#/clade", "new": "#/new", "heir": "#/heir/dead",
    });
    for light in [true, false] {
        let found = browser.tell("look", json!({ "pages": pages, "light": light }));
        assert_eq!(found["found"], json!([]));
    }
    let told = browser.is_fine();
    let bytes = told["bytes"].as_u64().unwrap();
    let cold = browser.tell("cold", json!({ "path": "/v1/fleet", "golems": 3_000 }));
    println!(
        "counted: the page is {bytes} bytes in all; first paint with 3,000 golems after {} ms, the API answers in {} ms",
        cold["paint"], cold["asked"]
    );
    assert!(bytes <= 300_000, "{bytes}");
    assert!(cold["paint"].as_f64().unwrap() <= 200.0, "{cold}");
    // A link is good once.
    let again = browser.tell("open", json!({ "link": link }));
    assert!(again["text"].as_str().unwrap().contains("used up"), "{again}");
}

#[test]
fn an_owner_answers_brakes_gives_and_watches_a_death() {
    let Some(mut browser) = Browser::open() else { return };
    let tent = home();
    let mut host = Host::up(&tent, "400");
    browser.tell("open", json!({ "link": link(&tent, &host) }));
    // What is asked stands there in full, and so do the two answers.
    browser.visit("#/", &["asks asks"]);
    browser.press("Yes", "has your yes");
    browser.visit("#/golems/ada", &["In figures", "Vitality"]);
    browser.press("Freeze", "frozen");
    browser.visit("#/golems/ada", &["frozen, generation 0"]);
    browser.press("Resume", "goes on");
    browser.tell("unfold", json!({ "summary": "Give it money" }));
    browser.tell("fill", json!({ "values": { "To live on, in dollars": "2.5" } }));
    browser.press("Give", "$12.50 given");
    assert_eq!(host.get("/v1/golems/ada?inner=true")["life"]["purse"]["given"], 12_500_000);
    // Whoever means it types the name; then it is watched to its end.
    browser.visit("#/golems/kim/events", &["was born"]);
    browser.visit("#/golems/kim", &["In figures"]);
    browser.tell("unfold", json!({ "summary": "End it" }));
    browser.tell("fill", json!({ "values": { "Type its name": "kam", "Why": "seen enough" } }));
    browser.press("Retire it", "type kim to say that you mean it");
    browser.tell("fill", json!({ "values": { "Type its name": "kim" } }));
    browser.press("Retire it", "kim has died");
    // The notice has the cause in words and the ways on, wherever one is, until it is closed.
    let text = browser.visit("#/costs", &["kim has died"]);
    assert!(!text.contains("has died"), "it stands above what is looked at: {text}");
    browser.tell("await", json!({ "has": "Retired by its owner (seen enough)." }));
    browser.press("Close", "Highest spending");
    assert!(!browser.tell("key", json!({ "keys": [] }))["text"].as_str().unwrap().contains("kim has died"));
    let end = browser.visit("#/golems/kim", &["What it came to", "Retired by its owner (seen enough)."]);
    assert!(!end.contains("What presses"), "the page of the dead begins with the stone: {end}");
    browser.visit("#/golems/kim/events", &["died after"]);
    browser.visit("#/golems/kim/left", &["seen enough"]);
    browser.visit("#/heir/kim", &["An heir of kim"]);
    browser.press("Make the heir", "generation 1");
    browser.tell("await", json!({ "has": "Heir of kim." }));
    browser.visit("#/golems/kim/family", &["A line of 2 lives", "retired by its owner (seen enough)"]);
    // One that is put away is in no list any more, and what it left is still there.
    browser.visit("#/golems/dead", &["What it came to"]);
    browser.press("Bury", "put away");
    let names: Vec<Value> = host.get("/v1/golems").as_array().unwrap().iter().map(|one| one["name"].clone()).collect();
    assert!(!names.contains(&json!("dead")) && names.contains(&json!("kim")), "{names:?}");
    assert!(tent.golem("dead").is_buried());
    // A birth, with what it costs beside it.
    browser.visit("#/new", &["bardo golem new"]);
    browser.tell("fill", json!({ "values": { "Name": "newt", "To live on, in dollars": "3" } }));
    browser.tell("await", json!({ "has": "bardo golem new newt --credit 3" }));
    browser.press("Bring it into the world", "newt");
    browser.tell("await", json!({ "has": "In figures" }));
    browser.is_fine();
    // The host goes, and comes back with everyone; whoever has the page open need do nothing.
    browser.visit("#/", &["alive"]);
    let address = host.address.clone();
    host.child.kill().unwrap();
    host.child.wait().unwrap();
    browser.tell("await", json!({ "has": "The host does not answer" }));
    let mut command = tent.command(["up", "--listen", &address, "--gateway", "", "--speed", "400"]);
    host.child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    browser.tell("await", json!({ "has": "4 alive", "patience": 30_000 }));
    let text = browser.visit("#/", &["newt"]);
    assert!(!text.contains("does not answer"), "{text}");
    browser.is_fine();
}

#[test]
fn the_list_is_gone_through_by_keys_and_some_are_told_something() {
    let Some(mut browser) = Browser::open() else { return };
    let tent = home();
    let host = Host::up(&tent, "400");
    browser.tell("open", json!({ "link": link(&tent, &host) }));
    browser.visit("#/", &[concat!("bardo ", env!("CARGO_PKG_VERSION")), "up for", "1 waits for your answer"]);
    // Ada and asks; kim is left as it is.
    let told = browser.tell("key", json!({ "keys": ["j", "x", "j", "x"] }));
    assert!(told["text"].as_str().unwrap().contains("2 selected"), "{told}");
    assert_eq!(told["focus"], "asks");
    browser.press("Freeze", "2 frozen");
    for (name, frozen) in [("ada", true), ("asks", true), ("kim", false)] {
        assert_eq!(tent.golem(name).frozen().is_some(), frozen, "{name}");
    }
    // A heading sorts, the other way round the second time.
    browser.press("Age", "");
    let sorted = |browser: &mut Browser, way: &str| {
        browser.tell("has", json!({ "selector": format!("th.age[aria-sort={way}]") }))["count"].clone()
    };
    assert_eq!(sorted(&mut browser, "descending"), 1);
    browser.press("Age", "");
    assert_eq!(sorted(&mut browser, "ascending"), 1);
    // The creatures go and come by one key, and letters that are typed are no orders.
    browser.tell("key", json!({ "keys": ["c"] }));
    assert_eq!(browser.tell("has", json!({ "selector": "html.bare" }))["count"], 1);
    browser.tell("key", json!({ "keys": ["c", "/", "n", "c"] }));
    assert_eq!(browser.tell("has", json!({ "selector": "html.bare" }))["count"], 0);
    assert_eq!(browser.tell("has", json!({ "selector": "table.fleet" }))["count"], 1, "n was typed");
    browser.is_fine();
}

#[test]
fn a_figure_is_the_same_on_the_page_as_in_a_terminal() {
    let Some(mut browser) = Browser::open() else { return };
    let tent = Tent::new();
    let host = Host::up(&tent, "1");
    browser.tell("open", json!({ "link": link(&tent, &host) }));
    let all = include_str!("../../../../shell/src/view/creatures.txt");
    let (mut states, mut wanted) = (Vec::new(), Vec::new());
    for block in all.trim_end().split("\n\n") {
        let (line, drawing) = block.split_once('\n').unwrap();
        let words: Vec<&str> = line.split(' ').collect();
        let [state, phase, vitality, mood, age, lifespan] = words[..] else { panic!("{line}") };
        let number = |text: &str| text.parse::<f64>().unwrap();
        states.push(json!({
            "state": state, "phase": phase, "vitality": number(vitality), "mood": mood, "age": number(age), "lifespan": number(lifespan),
        }));
        wanted.push(drawing);
    }
    let drawn = browser.tell("creatures", json!({ "states": states }));
    assert_eq!(drawn, json!(wanted));
}

#[test]
fn ten_thousand_are_filtered_before_one_notices() {
    let Some(mut browser) = Browser::open() else { return };
    let tent = Tent::new();
    let host = Host::up(&tent, "1");
    browser.tell("open", json!({ "link": link(&tent, &host) }));
    let came = browser.tell("many", json!({ "golems": 10_000 }));
    let took: Vec<f64> = came["took"].as_array().unwrap().iter().map(|ms| ms.as_f64().unwrap()).collect();
    println!(
        "counted: of 10,000 golems the rows for a key were there after {took:.0?} ms; the page has {} elements",
        came["nodes"]
    );
    let rows: Vec<&str> = came["rows"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    assert_eq!(
        rows,
        ["g999", "g9990", "g9991", "g9992", "g9993", "g9994", "g9995", "g9996", "g9997", "g9998", "g9999"]
    );
    assert!(took.iter().all(|ms| *ms <= 200.0), "{took:?}");
    for what in ["scrolled", "sorted"] {
        let longest = came[what].as_f64().unwrap();
        println!("counted: while it was {what}, the page's thread worked {longest:.0} ms at a stretch at most");
        assert!(longest <= 50.0, "{what}: {longest}");
    }
}

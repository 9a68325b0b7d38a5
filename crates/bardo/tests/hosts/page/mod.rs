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
        "golems": "#/", "life": "#/golems/ada", "pictures": "#/golems/ada/pictures", "events": "#/golems/ada/events",
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
    let cold = browser.tell("cold", json!({ "path": "/v1/fleet" }));
    println!(
        "counted: the page is {bytes} bytes in all; first paint after {} ms, the API answers in {} ms",
        cold["paint"], cold["asked"]
    );
    assert!(bytes <= 300_000, "{bytes}");
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
    browser.press("Retire it", "Make an heir");
    browser.visit("#/golems/kim/events", &["died after"]);
    browser.visit("#/golems/kim/left", &["seen enough"]);
    browser.visit("#/heir/kim", &["What kim advises"]);
    browser.press("Make the heir", "generation 1");
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
}

//! Orders that a program of the owner's carries out, for a golem that watches the present.

use std::fs::OpenOptions;
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::common::host::Host;
use crate::common::{Tent, text};
use serde_json::Value;
use testing::wait::within;

const BROKER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/broker.py");

/// A home with a series of so many hours in it, as whoever follows a market leaves it.
fn home(hours: u64) -> Tent {
    let tent = Tent::new();
    std::fs::create_dir_all(tent.home().data()).unwrap();
    std::fs::write(tent.home().data().join("eth.csv"), "ts,open,high,low,close,volume,venue\n").unwrap();
    (0..hours).for_each(|hour| goes_on(&tent, hour));
    tent
}

/// Another hour.
fn goes_on(tent: &Tent, hour: u64) {
    let close = 2_000 + hour * 37 % 41;
    let mut file = OpenOptions::new().append(true).open(tent.home().data().join("eth.csv")).unwrap();
    let row = format!("{},{close},{},{},{close},50,a\n", 1_704_067_200 + hour * 3_600, close + 5, close - 5);
    file.write_all(row.as_bytes()).unwrap();
}

fn born(tent: &Tent, orders: &str) {
    let reflex =
        ["--set", "mind.kind=reflex", "--set", "reflex.act_every=3", "--set", "world.start=2024-01-01T02:00:00Z"];
    let new = ["golem", "new", "ada", "--data", "eth", "--seed", "9407", "--interval", "1h", "--orders", orders];
    tent.ok(new.iter().chain(&reflex));
}

/// What the broker does when its golem is dead.
const CLOSES: &str = "        print(\"the golem is dead; what is left goes home\", file=sys.stderr)";

/// The same broker with other lines in place of these; the command that runs it.
fn broker(tent: &Tent, lines: &[(&str, &str)]) -> String {
    let (mut text, file) = (std::fs::read_to_string(BROKER).unwrap(), tent.folder.path().join("broker.py"));
    for (line, other) in lines {
        assert!(text.contains(line), "{line}");
        text = text.replace(line, other);
    }
    std::fs::write(&file, text).unwrap();
    format!("python3 {}", file.display())
}

/// What the program says it has done: units and cash, fee included.
fn book(tent: &Tent) -> (i64, i64, usize) {
    let text = std::fs::read_to_string(tent.golem("ada").orders().join("book")).unwrap_or_default();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let done: Vec<Value> = lines.map(|line| line[1]["done"].clone()).filter(|done| !done.is_null()).collect();
    let sum = |field: &str| done.iter().map(|done| done[field].as_i64().unwrap()).sum::<i64>();
    (sum("units"), sum("cash") - sum("fee"), done.len())
}

#[test]
fn a_program_carries_out_orders_and_is_told_of_the_end() {
    let tent = home(4);
    born(&tent, &format!("python3 {BROKER}"));
    let mut hour = 4;
    for _ in 0..3 {
        let mut run =
            tent.command(["golem", "run", "ada"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(500));
        for _ in 0..25 {
            goes_on(&tent, hour);
            hour += 1;
            std::thread::sleep(Duration::from_millis(100));
        }
        Command::new("kill").args(["-INT", &run.id().to_string()]).status().unwrap();
        run.wait().unwrap();
        let golem = tent.verified("ada");
        let (life, (units, cash, trades)) = (golem.life(), book(&tent));
        let capital = &life.capital();
        if life.flights().is_empty() {
            let gained = (capital.cash + capital.harvested - capital.given).as_micros();
            assert_eq!((units, cash), (capital.holding, gained));
        }
        assert!(trades > 1 && !life.birth().world.paper, "{trades} trades in {hour} hours");
    }
    tent.ok(["golem", "retire", "ada", "--confirm", "ada"]);
    tent.ok(["golem", "run", "ada"]);
    let (golem, place) = (tent.verified("ada"), tent.golem("ada"));
    assert!(place.has_gone_home(golem.life()) && golem.life().capital().holding == 0 && book(&tent).0 == 0);
    assert!(tent.fails(4, ["golem", "run", "ada"]).contains("dead"));
    tent.ok(["init"]);
    tent.ok(["doctor"]);
}

/// Somebody who cannot be reached at the end is asked again, and an owner may give up.
#[test]
fn a_golem_is_at_its_end_when_everything_is_home_or_its_owner_gives_up() {
    let tent = home(60);
    born(&tent, &format!("python3 {BROKER}"));
    tent.ok(["golem", "run", "ada", "--ticks", "20"]);
    let closed = broker(&tent, &[(CLOSES, "        answer.update(away=\"the bank is closed\", again_ms=100)")]);
    tent.ok(["golem", "program", "ada", "--orders", &closed]);
    let said = tent.ok(["golem", "retire", "ada", "--confirm", "ada"]);
    assert!(said.contains("sent home while it runs: under a host"), "nothing is home yet: {said}");
    let mut run = tent.command(["golem", "run", "ada"]);
    let mut run = run.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (said, words) = crate::common::processes::complains(&mut run, "the bank is closed");
    assert!(said, "{words}");
    Command::new("kill").args(["-INT", &run.id().to_string()]).status().unwrap();
    let said = text(&run.wait_with_output().unwrap().stdout);
    assert!(said.contains("ada is dead, and its closing is not finished"), "{said}");
    let golem = tent.verified("ada");
    assert!(golem.owes_nothing() && !tent.golem("ada").has_gone_home(golem.life()));
    assert!(tent.ok(["golem", "show", "ada"]).contains("  home       pending"));
    assert!(tent.fails(6, ["golem", "bury", "ada"]).contains("--unfinished"));
    assert!(!tent.golem("ada").is_buried());
    tent.ok(["golem", "bury", "ada", "--unfinished"]);
    assert!(tent.golem("ada").has_gone_home(golem.life()));
    assert!(tent.fails(4, ["golem", "run", "ada"]).contains("dead"));
}

/// Whoever looks at a host sees where the end has got to, and that it has come.
#[test]
fn a_host_says_what_the_end_waits_for_until_it_has_come() {
    let tent = home(60);
    born(&tent, &format!("python3 {BROKER}"));
    tent.ok(["golem", "run", "ada", "--ticks", "20"]);
    // Its answers are read anew each time: what it says changes under a running host.
    let (says, waits) = (
        tent.folder.path().join("says"),
        "        said = open({says}).read()\n        if said: answer.update(away=said, again_ms=100)",
    );
    std::fs::write(&says, "the bank is closed").unwrap();
    let slow = broker(&tent, &[(CLOSES, &waits.replace("{says}", &format!("{:?}", says.display().to_string())))]);
    tent.ok(["golem", "program", "ada", "--orders", &slow]);
    tent.ok(["golem", "retire", "ada", "--confirm", "ada"]);
    let host = Host::up(&tent, "1");
    let stands = |wanted: &str, why: Option<&str>| {
        let told = || host.get("/v1/golems/ada")["status"].clone();
        let late = || format!("not {wanted} {why:?}: {}", told());
        within(Duration::from_secs(90), late, || {
            let told = told();
            told["state"] == wanted && why.is_none_or(|why| told["why"] == why)
        });
    };
    stands("waiting", Some("the bank is closed"));
    std::fs::write(&says, "it is being counted").unwrap();
    stands("waiting", Some("it is being counted"));
    std::fs::write(&says, "").unwrap();
    stands("dead", None);
    assert!(tent.golem("ada").has_gone_home(tent.verified("ada").life()));
}

/// Why an order would not be had is told to whoever runs its golem.
#[test]
fn a_program_says_why_it_would_not_have_an_order() {
    let tent = home(60);
    let quotes = "        answer[\"quote\"] = {";
    let never =
        broker(&tent, &[(quotes, "        answer.update(quote=None, why=\"the broker is on strike\")\n        {")]);
    born(&tent, &never);
    let mut run = tent.command(["golem", "run", "ada"]);
    let mut run = run.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let (said, words) = crate::common::processes::complains(&mut run, "the broker is on strike");
    let _ = run.kill();
    let _ = run.wait();
    assert!(said, "{words}");
    assert_eq!(book(&tent).2, 0);
}

#[test]
fn orders_are_carried_out_only_where_there_is_a_present() {
    let tent = home(60);
    let said = tent.fails(1, ["golem", "new", "ada", "--world", "sim", "--orders", "./broker"]);
    assert!(said.contains("no such file"), "{said}");
    let said = tent.fails(1, ["golem", "new", "ada", "--world", "sim", "--orders", &format!("python3 {BROKER}")]);
    assert!(said.contains("followed live"), "{said}");
    let said =
        tent.fails(1, ["lab", "lives", "--data", "eth", "--set", "world.kind=live", "--set", "world.orders=true"]);
    assert!(said.contains("followed live"), "{said}");
}

//! The command line as its user meets it: from an empty home, with the real binary.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::ops::ControlFlow;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::common::{Tent, files, text};
use golem::Usdc;
use golem::event::Event;
use golem::policy;
use testing::wait::until;
use vault::Reader;

/// A run that ends with its test, however that ends.
struct Run(Child);

impl Run {
    fn start(tent: &Tent, args: &[&str]) -> Run {
        Run(tent.command(args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn signal(child: &Child, name: &str) {
    let sent = std::process::Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status();
    assert!(sent.unwrap().success());
}

#[test]
fn a_machine_is_tried_out_in_a_folder_that_is_gone_afterwards() {
    let tent = Tent::new();
    let before = std::fs::read_dir(tent.folder.path()).unwrap().count();
    let told: serde_json::Value =
        serde_json::from_str(&tent.ok(["bench", "--golems", "3", "--seconds", "1", "--json"])).unwrap();
    let figure = |name: &str| told[name].as_f64().unwrap_or_else(|| panic!("no {name} in {told}"));
    assert!(figure("ticks_per_second") > 10.0 && figure("bytes_of_disk_a_tick") > 10.0, "{told}");
    let cores = std::thread::available_parallelism().unwrap().get() as f64;
    let expected = cores / figure("cpu_seconds_a_tick") * 40.0 / 2.0;
    assert!((figure("by_speed") / expected - 1.0).abs() < 0.01, "half of the machine, at a tick every 40 s: {told}");
    assert!(figure("bytes_of_memory_each") > 0.0 && figure("by_memory") > 0.0, "{told}");
    // Whoever has seen enough leaves nothing behind either.
    let mut bench = tent.command(["bench", "--golems", "3", "--seconds", "600"]).spawn().unwrap();
    // In a folder beside the home of the test.
    until("it has begun", || {
        let beside = std::fs::read_dir(tent.folder.path()).unwrap().flatten();
        beside.map(|entry| entry.path()).any(|path| path.join("home/host.db").exists())
    });
    Command::new("kill").args(["-INT", &bench.id().to_string()]).status().unwrap();
    assert_eq!(bench.wait().unwrap().code(), Some(130));
    assert_eq!(std::fs::read_dir(tent.folder.path()).unwrap().count(), before, "it left something behind");
    assert_eq!(tent.ok(["golem", "list", "--json"]), "", "no golem of its owner's was made");
}

#[test]
fn from_an_empty_home_to_a_death_with_its_cause() {
    let tent = Tent::bare();
    assert!(tent.fails(1, ["golem", "list"]).contains("bardo init"), "says what to do next");
    assert!(tent.ok(["init"]).contains("$1000.00"));
    tent.ok(["golem", "new", "ada", "--world", "sim", "--seed", "7"]);
    let lived = tent.ok(["golem", "run", "ada", "--speed", "max"]);
    assert!(lived.contains(" died "), "{lived}");
    let shown = tent.ok(["golem", "show", "ada"]);
    assert!(shown.starts_with("ada  dead") && shown.contains("died  "), "{shown}");
    let events = tent.ok(["golem", "events", "ada", "--json"]);
    let first: serde_json::Value = serde_json::from_str(events.lines().next().unwrap()).unwrap();
    assert_eq!(first["event"], "golem.born");
    let dead = events.lines().rev().find(|line| line.contains("mortality.dead")).unwrap();
    let dead: serde_json::Value = serde_json::from_str(dead).unwrap();
    for field in ["cause", "final_vitality", "ticks_alive"] {
        assert!(!dead[field].is_null(), "{field}");
    }
    let fields = ["economic", "epistemic", "age_factor", "composite", "phase", "ticks_in_phase", "previous_phase"];
    for field in fields.into_iter().chain(["last_computed"]) {
        assert!(dead["final_vitality"].get(field).is_some(), "{field}: {dead}");
    }
    assert!(tent.fails(4, ["golem", "run", "ada"]).contains("ada is dead"));
    assert!(tent.ok(["doctor"]).lines().all(|line| line.starts_with("ok")));
}

#[test]
fn the_same_seed_prints_the_same_bytes_and_another_does_not() {
    let life = |seed: &str| {
        let tent = Tent::new();
        tent.ok(["golem", "new", "ada", "--seed", seed]);
        let ran = tent.ok(["--json", "golem", "run", "ada", "--speed", "max", "--ticks", "3000"]);
        let all = [ran, tent.ok(["--json", "golem", "show", "ada"]), tent.ok(["golem", "events", "ada", "--all"])];
        let journal = vault_digest(&tent);
        (all, journal)
    };
    let (first, again, other) = (life("5"), life("5"), life("6"));
    assert!(first == again, "same seed, same bytes");
    assert!(first.0[0] != other.0[0] && first.1 != other.1);
}

fn vault_digest(tent: &Tent) -> [u8; 32] {
    Reader::open(&tent.golem("ada").database()).unwrap().tip().unwrap().hash
}

#[test]
fn what_runs_say_is_what_the_journal_tells_later() {
    let tent = Tent::new();
    tent.ok(["golem", "new", "ada", "--seed", "5", "--set", "mind.kind=reflex", "--set", "reflex.act_every=50"]);
    let ran = tent.ok(["--json", "golem", "run", "ada", "--speed", "max", "--ticks", "500"]);
    let told = tent.ok(["--json", "golem", "events", "ada"]);
    assert!(told.ends_with(&ran), "birth and funding first, then exactly what was said live");
}

#[test]
fn the_secret_is_in_its_own_file_and_nowhere_else_until_death() {
    let tent = Tent::new();
    let mut said = tent.ok(["golem", "new", "ada"]);
    let secret = fs::read_to_string(tent.golem("ada").secret()).unwrap().trim().to_owned();
    said += &tent.ok(["--json", "golem", "run", "ada", "--speed", "max", "--ticks", "500"]);
    for read in ["show", "events"] {
        said += &tent.ok(["golem", read, "ada"]);
        said += &tent.ok(["--json", "golem", read, "ada"]);
    }
    for read in [&["golem", "list"][..], &["doctor"], &["treasury"], &["config", "show", "ada"]] {
        said += &tent.ok(read);
        said += &tent.ok([&["--json"], read].concat());
    }
    assert!(!said.contains(&secret));
    let raw: Vec<u8> = (0..32).map(|at| u8::from_str_radix(&secret[at * 2..at * 2 + 2], 16).unwrap()).collect();
    for path in files(&tent.root()).into_iter().filter(|path| *path != tent.golem("ada").secret()) {
        let bytes = fs::read(&path).unwrap();
        let holds = |needle: &[u8]| bytes.windows(needle.len()).any(|window| window == needle);
        assert!(!holds(secret.as_bytes()) && !holds(&raw), "{}", path.display());
    }
    // After death it is everyone's, and every roll can be held against it.
    tent.ok(["golem", "retire", "ada", "--confirm", "ada"]);
    assert!(tent.ok(["golem", "show", "ada"]).contains(&secret));
    assert!(tent.ok(["doctor"]).contains("rolls verified"));
    fs::write(tent.golem("ada").secret(), "00".repeat(32)).unwrap();
    assert_eq!(tent.run(["doctor"]).status.code(), Some(1), "another secret does not pass");
}

#[test]
fn a_queue_lives_ages_and_dies_without_a_word_of_trading() {
    let tent = Tent::new();
    let mut new = vec!["golem", "new", "turnstile", "--world", "queue", "--seed", "2"];
    let rent = ["mortality.mode=hosted", "mortality.economic.machine_per_day=3"];
    for set in rent.into_iter().chain(["mind.kind=reflex", "reflex.act_every=100"]) {
        new.extend(["--set", set]);
    }
    tent.ok(new);
    let mut said = tent.ok(["golem", "run", "turnstile", "--speed", "max"]);
    said += &tent.ok(["golem", "show", "turnstile"]);
    said += &tent.ok(["golem", "events", "turnstile", "--all"]);
    said += &tent.ok(["--json", "golem", "events", "turnstile"]);
    said += &tent.ok(["--json", "golem", "show", "turnstile"]);
    assert!(said.contains("died after") && said.contains("server"), "it lived among servers");
    let said = said.to_lowercase();
    for word in ["market", "trade", "trading", "price", "buy", "sell", "candle", "swap", "broker", "eth", "position"] {
        let found = said.split(|c: char| !c.is_alphabetic()).find(|spoken| spoken == &word);
        assert_eq!(found, None, "said '{word}'");
    }
}

#[test]
fn retiring_without_confirmation_changes_nothing() {
    let tent = Tent::new();
    tent.ok(["golem", "new", "ada", "--seed", "1"]);
    let before = vault_digest(&tent);
    for attempt in [&["golem", "retire", "ada"][..], &["golem", "kill", "ada", "--confirm", "eva"]] {
        assert!(tent.fails(2, attempt).contains("nothing was changed"));
    }
    assert!(tent.fails(2, ["halt", "--all"]).contains("nothing was changed"));
    assert_eq!(vault_digest(&tent), before);
    tent.ok(["golem", "retire", "ada", "--confirm", "ada", "--reason", "enough"]);
    assert!(tent.ok(["golem", "show", "ada"]).contains("retired by its owner (enough)"));
    assert!(tent.fails(4, ["golem", "fund", "ada", "1"]).contains("is dead"));
    assert!(tent.ok(["treasury"]).starts_with("$1000.00"), "everything came back");
}

#[test]
fn halting_ends_everyone_running_or_not() {
    let tent = Tent::new();
    for name in ["ada", "eva"] {
        tent.ok(["golem", "new", name, "--credit", "5", "--capital", "5"]);
    }
    let mut running = Run::start(&tent, &["golem", "run", "eva"]);
    until("eva runs", || tent.ok(["golem", "list"]).contains("living"));
    tent.ok(["halt", "--all", "--yes"]);
    assert!(running.0.wait().unwrap().success());
    for name in ["ada", "eva"] {
        assert!(tent.ok(["golem", "show", name]).contains("kill switch (bardo halt)"));
    }
    assert!(tent.ok(["treasury"]).starts_with("$1000.00"));
}

#[test]
fn a_stopped_process_that_is_frozen_takes_no_new_exposure_when_it_goes_on() {
    let tent = Tent::new();
    // Acts at every tick: takes up, gives up, in turn.
    tent.ok([
        "golem",
        "new",
        "ada",
        "--seed",
        "9",
        "--set",
        "mind.kind=reflex",
        "--set",
        "reflex.act_every=1",
        "--set",
        "policy.max_drawdown=0",
    ]);
    let mut child = Run::start(&tent, &["golem", "run", "ada", "--speed", "4000x"]);
    let settled = || {
        let mut adding = Vec::new();
        Reader::open(&tent.golem("ada").database())
            .unwrap()
            .replay(|record| {
                let adds =
                    |e: &Event| matches!(e, Event::Policy(policy::Event::Settled { outcome, .. }) if outcome.units > 0);
                adding.extend(record.events.iter().any(adds).then_some(record.seq));
                Ok::<_, vault::Error>(ControlFlow::Continue(()))
            })
            .unwrap();
        adding.len()
    };
    until("it acts", || settled() >= 3);
    signal(&child.0, "STOP");
    let frozen = tent.ok(["golem", "freeze", "ada", "--reason", "a bad night"]);
    assert!(frozen.contains("is frozen"), "{frozen}");
    let before = settled();
    let tick = tent.verified("ada").life().tick();
    signal(&child.0, "CONT");
    until("it goes on", || tent.verified("ada").life().tick() > tick + 40);
    assert_eq!(settled(), before, "not one new exposure");
    assert_eq!(tent.verified("ada").life().capital().holding, 0, "though giving up was open");
    tent.ok(["golem", "resume", "ada"]);
    until("it acts again", || settled() > before);
    signal(&child.0, "INT");
    assert_eq!(child.0.wait().unwrap().code(), Some(130));
}

#[test]
fn commands_reach_a_golem_that_is_being_lived() {
    let tent = Tent::new();
    tent.ok(["golem", "new", "ada", "--seed", "3"]);
    let mut child = Run::start(&tent, &["golem", "run", "ada", "--speed", "2000x"]);
    until("it runs", || tent.ok(["golem", "list"]).contains("living"));
    assert!(tent.fails(1, ["golem", "run", "ada"]).contains("another process is running this golem"));
    assert!(tent.ok(["golem", "fund", "ada", "5"]).contains("was given $5.00"));
    assert!(tent.ok(["golem", "withdraw", "ada", "7", "--capital"]).contains("returned $7.00"));
    assert!(tent.fails(6, ["golem", "withdraw", "ada", "500"]).contains("refused"));
    tent.ok(["golem", "pause", "ada"]);
    let tick = tent.verified("ada").life().tick();
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(tent.verified("ada").life().tick(), tick, "paused: nothing moves");
    tent.ok(["golem", "resume", "ada"]);
    until("it goes on", || tent.verified("ada").life().tick() > tick);
    tent.ok(["golem", "backup", "ada", tent.root().join("copy").to_str().unwrap()]);
    tent.ok(["golem", "retire", "ada", "--confirm", "ada"]);
    assert!(child.0.wait().unwrap().success(), "the run ends with its golem");
    assert_eq!(tent.home().treasury().unwrap().received(tent.verified("ada").life().id()).unwrap(), 4);
    assert_eq!(fs::read_dir(tent.golem("ada").inbox()).unwrap().count(), 0, "nothing is left lying about");
}

#[test]
fn interrupting_is_a_clean_stop() {
    let tent = Tent::new();
    tent.ok(["golem", "new", "ada", "--seed", "3"]);
    let mut child = Run::start(&tent, &["golem", "run", "ada"]);
    until("it runs", || tent.ok(["golem", "list"]).contains("living"));
    std::thread::sleep(Duration::from_millis(100));
    signal(&child.0, "INT");
    assert_eq!(child.0.wait().unwrap().code(), Some(130));
    let mut said = String::new();
    child.0.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(said.starts_with("stopped; ada is stable"), "{said}");
}

#[test]
fn a_backup_restores_a_moved_life_moves_and_one_of_two_copies_refuses() {
    let (here, there) = (Tent::new(), Tent::new());
    let copy = |name: &str| here.folder.path().join(name).to_str().unwrap().to_owned();
    here.ok(["golem", "new", "ada", "--seed", "3"]);
    here.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "300"]);
    here.ok(["golem", "backup", "ada", &copy("old")]);
    let exists = here.fails(1, ["golem", "backup", "ada", &copy("old")]);
    assert!(exists.contains("already there"), "{exists}");
    here.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "300"]);

    // An old copy is recognised, and taken only on purpose.
    let old = here.fails(1, ["golem", "restore", &copy("old")]);
    assert!(old.contains("--rewind") && old.contains("acknowledged"), "{old}");
    here.ok(["golem", "restore", &copy("old"), "--rewind"]);
    assert_eq!(here.verified("ada").life().tick(), 300);
    here.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "10"]);

    // A stranger's backup needs the owner's word that the original is gone.
    let strange = there.fails(1, ["golem", "restore", &copy("old")]);
    assert!(strange.contains("--take-over"), "{strange}");

    // A move seals the source, and the archive is taken in once.
    here.send("ada", &copy("moved"), &there);
    let sealed = here.fails(1, ["golem", "run", "ada", "--ticks", "1", "--speed", "max"]);
    assert!(sealed.contains("was moved to"), "{sealed}");
    there.receive(&copy("moved"), &here);
    assert_eq!(there.verified("ada").life().tick(), 310);
    there.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "5"]);
    let twice = Tent::new().fails(1, ["golem", "restore", &copy("moved")]);
    assert!(twice.contains("one must stay asleep"), "{twice}");

    // Money follows it: the other home's treasury goes on counting where this one stopped.
    there.ok(["golem", "fund", "ada", "2"]);
    assert_eq!(there.verified("ada").life().transfers_taken(), 2);
    there.ok(["golem", "retire", "ada", "--confirm", "ada"]);
    assert!(there.home().treasury().unwrap().balance().unwrap() > Usdc::dollars(1_000));
    // Death is final: no backup brings back money the treasury has received.
    let back = there.fails(1, ["golem", "restore", &copy("old"), "--rewind"]);
    assert!(back.contains("treasury"), "{back}");
}

#[test]
fn a_folder_copied_by_hand_is_recognised() {
    let tent = Tent::new();
    tent.ok(["golem", "new", "ada", "--seed", "3"]);
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "100"]);
    let (original, twin) = (tent.golem("ada").folder, tent.home().golems().join("twin"));
    fs::create_dir(&twin).unwrap();
    for file in ["life.db", "secret", "golem.toml"] {
        fs::copy(original.join(file), twin.join(file)).unwrap();
    }
    // The two are the same life; as soon as one lives on, the other is stale.
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "100"]);
    let stale = tent.fails(1, ["golem", "run", "twin", "--speed", "max", "--ticks", "1"]);
    assert!(stale.contains("old copy"), "{stale}");
    // In another home nobody has heard of it.
    let other = Tent::new();
    fs::create_dir(other.home().golems().join("ada")).unwrap();
    for file in ["life.db", "secret"] {
        fs::copy(original.join(file), other.home().golems().join("ada").join(file)).unwrap();
    }
    let unknown = other.fails(1, ["golem", "run", "ada"]);
    assert!(unknown.contains("copied here by hand"), "{unknown}");
}

#[test]
fn configuration_mistakes_name_the_line_and_the_nearest_key() {
    let tent = Tent::new();
    let file = tent.folder.path().join("golem.toml");
    fs::write(&file, "[mortality.epistemic]\nfitnes_window = 300\n").unwrap();
    let wrong = tent.fails(3, ["golem", "new", "ada", "--config", file.to_str().unwrap()]);
    assert!(wrong.contains("golem.toml:2") && wrong.contains("fitness_window"), "{wrong}");
    assert!(
        tent.fails(3, ["golem", "new", "ada", "--set", "clade.sharing_threshold=0.5"]).contains("not available yet")
    );
    let both = ["--set", "mortality.mode=hosted", "--set", "mortality.immortal=true"];
    let immortal = tent.fails(3, [&["golem", "new", "ada"][..], &both].concat());
    assert!(immortal.contains("self_hosted"), "{immortal}");
    assert!(tent.fails(5, ["golem", "new", "ada", "--credit", "5000"]).contains("treasury"));
    assert!(tent.fails(1, ["golem", "run", "nobody"]).contains("golem list"));
    assert_eq!(tent.run(["golem", "new", "Not A Name"]).status.code(), Some(2));
    assert!(tent.ok(["golem", "list"]).contains("no golems yet"), "none of that made anything");
}

#[test]
fn imported_candles_are_reported_and_replayed_to_their_end() {
    let tent = Tent::new();
    let csv = tent.folder.path().join("eth.csv");
    let mut rows = String::from("ts,open,high,low,close,volume\n");
    for hour in 0..400_u64 {
        let price = 100.0 + (hour % 17) as f64;
        let ts = 1_700_000_000 / 3_600 * 3_600 + hour * 3_600;
        if hour == 50 {
            rows += "nonsense\n";
        } else {
            rows += &format!("{ts},{price},{},{},{price},10\n", price + 1.0, price - 1.0);
        }
    }
    fs::write(&csv, rows).unwrap();
    let report = tent.ok(["data", "import", csv.to_str().unwrap(), "--name", "eth"]);
    assert!(report.contains("line 52"), "{report}");
    let listed = tent.ok(["data", "list"]);
    assert!(listed.starts_with("eth ") && listed.contains(" bars of ") && listed.contains("sha256"), "{listed}");
    let quiet = ["--seed", "1", "--set", "mortality.stochastic.enabled=false"];
    tent.ok([&["golem", "new", "ada", "--world", "replay", "--data", "eth"][..], &quiet].concat());
    let ran = tent.ok(["golem", "run", "ada", "--speed", "max"]);
    assert!(ran.contains("nothing more to show"), "{ran}");
    let life = tent.verified("ada");
    assert_eq!(life.life().tick(), 399, "one tick for every bar after the first");
    assert!(life.life().epistemic().domains[0].resolved > 360, "every claim whose bar was there");
}

#[test]
fn a_reader_that_goes_away_is_no_reason_to_complain() {
    let tent = Tent::new();
    tent.ok(["golem", "new", "ada", "--seed", "3"]);
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "2000"]);
    let events = ["--json", "golem", "events", "ada"];
    let mut child = tent.command(events).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut first = String::new();
    out.read_line(&mut first).unwrap();
    drop(out);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{}", text(&output.stderr));
}

/// `bardo list` was the first thing that people typed, and they were told that there is no such subcommand.
#[test]
fn a_first_guess_is_answered_with_the_command_that_is_meant() {
    let tent = Tent::bare();
    for (typed, meant) in [
        (&["list"][..], "`bardo golem list`"),
        (&["--json", "ls"], "`bardo golem list`"),
        (&["status"], "`bardo golem show NAME`"),
        (&["costs"], "`bardo golem costs`"),
        (&["show", "ada"], "`bardo golem show NAME`"),
        (&["approve", "ada"], "`bardo golem approve`"),
        (&["golem", "ls"], "`bardo golem list`"),
        (&["golem", "testament", "ada"], "`bardo testament`"),
        (&["help", "list"], "`bardo golem list`"),
    ] {
        let told = tent.fails(2, typed);
        assert!(told.contains("there is no `bardo ") && told.contains(meant), "{typed:?}: {told}");
    }
    // A slip of the finger is still met by the nearest name.
    assert!(tent.fails(2, ["golem", "shwo"]).contains("show"));
    assert!(tent.fails(2, ["gibberish"]).contains("gibberish"));
    assert!(!tent.root().exists());
}

#[test]
fn help_says_first_what_a_newcomer_needs_and_all_of_it_when_asked() {
    let tent = Tent::bare();
    let first = tent.ok(["--help"]);
    assert_eq!([tent.ok(["-h"]), tent.ok(["help"])], [first.clone(), first.clone()]);
    let at = |words: &str| first.find(words).unwrap_or_else(|| panic!("{words} is not told:\n{first}"));
    assert!(first.starts_with("Puts an AI agent under a cap on real money"), "{first}");
    assert!(at("your provider bills") < at("  wrap ") && at("  wrap ") < at("  demo "), "{first}");
    assert!(at("paper") > at("  wrap ") && !first.contains("  styx ") && !first.contains("  drill "), "{first}");
    let all = tent.ok(["help", "all"]);
    assert!(["wrap", "styx", "drill", "lab"].iter().all(|name| all.contains(&format!("  {name} "))), "{all}");
    assert_eq!(tent.ok(["help", "golem", "new"]), tent.ok(["golem", "new", "--help"]));
}

#[test]
fn alone_it_explains_itself_and_help_is_short() {
    let tent = Tent::bare();
    let empty: [&str; 0] = [];
    assert!(tent.ok(empty).contains("bardo golem new ada"));
    for verb in [&["--help"][..], &["golem", "--help"], &["golem", "run", "--help"], &["completions", "bash"]] {
        assert!(!tent.ok(verb).is_empty());
    }
    assert!(!tent.root().exists(), "looking makes nothing");
    for file in ["golem", "bardo"] {
        let schema: serde_json::Value = serde_json::from_str(&tent.ok(["config", "schema", file])).unwrap();
        assert!(schema["properties"].is_object());
    }
}

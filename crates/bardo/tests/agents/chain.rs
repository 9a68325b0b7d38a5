//! A golem on a real chain, as its owner has it: a node of one's own with the venue's own contracts, a golem that swaps, is
//! killed, comes back, dies and goes home, and an heir with a key of its own.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Tent, full, text};
use serde_json::Value;

const SEED: &str = "9406";
/// Seconds.
const BAR: u64 = 2;
/// What a key finds in its purse there.
const GIVEN: i64 = 5_000_000_000;

/// Where the node and the venue's contracts are, if they are; where they must be, their absence is a failure.
fn parts() -> Option<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")))?;
    let parts = cache.join("bardo/chain");
    let there = parts.join("node_modules/@uniswap/v3-periphery").is_dir();
    assert!(there || std::env::var_os("BARDO_REALPARTS").is_none(), "no chain in {}: run .ci/setup", parts.display());
    there.then_some(parts)
}

/// Sees to it that the program `bardo chain` hands over to is there and as new as its source: whoever tests the workspace has
/// built it, whoever tests this package alone may not have. Both are built, so that neither changes what the other is made of.
fn made() {
    let folder = Path::new(env!("CARGO_BIN_EXE_bardo")).parent().unwrap();
    let changed = |file: &Path| file.metadata().and_then(|found| found.modified()).ok();
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../chain/src");
    let newest = crate::common::files(&sources).iter().filter_map(|file| changed(file)).max();
    if changed(&folder.join("bardo-chain")) > newest {
        return;
    }
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--locked", "-p", "bardo", "-p", "bardo-chain", "--bins", "--target-dir"]);
    cargo.arg(folder.parent().unwrap());
    if folder.ends_with("release") {
        cargo.arg("--release");
    }
    assert!(cargo.status().unwrap().success(), "bardo-chain cannot be built");
}

/// A chain that is up, for one home.
struct Net<'a> {
    tent: &'a Tent,
    child: Child,
}

impl<'a> Net<'a> {
    fn up(tent: &'a Tent, told: &[&str]) -> Option<Net<'a>> {
        let (folder, parts) = (tent.folder.path().join("devnet"), parts()?);
        made();
        let mut command = tent.command(["chain", "devnet", "--seed", SEED, "--bar", &BAR.to_string(), "--parts"]);
        let mut child = command.arg(parts).arg(folder).args(told).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.is_ok_and(|line| line.contains("bardo chain purse"))), "it says what to do next");
        Some(Net { tent, child })
    }

    fn orders(&self) -> String {
        format!("{} chain orders {}", env!("CARGO_BIN_EXE_bardo"), self.folder())
    }

    fn folder(&self) -> String {
        self.tent.folder.path().join("devnet").display().to_string()
    }

    fn purse(&self) -> Value {
        serde_json::from_str(&self.tent.ok(["chain", "purse", &self.folder(), "--json"])).unwrap()
    }

    /// What the purse has gained or lost since its key found it, and what it holds, held against what its golem believes.
    fn agrees(&self, name: &str) {
        let (golem, purse) = (self.tent.verified(name), self.purse());
        let life = golem.life();
        assert!(life.flights().is_empty(), "something is under way");
        // Profit that has become credit is still in the purse.
        let gained = (life.capital().cash + life.capital().harvested - life.capital().given).as_micros();
        assert_eq!(purse["money"].as_i64().unwrap() - GIVEN, gained, "the money of {name}");
        let holds = purse["shares"].as_i64().or(purse["things"].as_i64()).unwrap();
        assert_eq!(holds, life.capital().holding, "what {name} holds");
    }
}

impl Drop for Net<'_> {
    fn drop(&mut self) {
        ends(&mut self.child);
    }
}

fn ends(child: &mut Child) {
    let _ = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    let _ = child.wait();
}

/// One trade as its golem was told of it.
#[derive(Clone, Copy, Debug)]
struct Trade {
    at: i64,
    units: i64,
    cash: i64,
    fee: i64,
}

fn trades(tent: &Tent, name: &str) -> BTreeMap<u64, Trade> {
    let events = tent.ok(["golem", "events", name, "--json"]);
    let events = events.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let number = |event: &Value, field: &str| event[field].as_i64().unwrap();
    events
        .filter(|event| event["event"] == "golem.action" && event["units"] != 0)
        .map(|event| {
            let of = |field| number(&event, field);
            (of("key") as u64, Trade { at: of("at"), units: of("units"), cash: of("cash"), fee: of("fee") })
        })
        .collect()
}

/// Runs it until it has traded so often, and kills it now and then on the way.
fn trade(tent: &Tent, name: &str, times: usize, kills: u64) {
    let until = Instant::now() + Duration::from_secs(180 + 30 * kills);
    for nth in 0..kills {
        let mut run = tent.command(["golem", "run", name]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(4_000 + nth * 1_370 % 9_000));
        run.kill().unwrap();
        run.wait().unwrap();
        tent.verified(name);
    }
    while trades(tent, name).len() < times || !tent.verified(name).life().flights().is_empty() {
        assert!(Instant::now() < until, "{name} has traded {} times", trades(tent, name).len());
        tent.ok(["golem", "run", name, "--ticks", "1"]);
    }
}

/// Runs it until it holds something and nothing is under way, and says how often it has traded.
fn trade_until_it_holds(tent: &Tent, name: &str) -> usize {
    let mut times = 1;
    loop {
        trade(tent, name, times, 0);
        times = trades(tent, name).len();
        if tent.verified(name).life().capital().holding > 0 {
            return times;
        }
        times += 1;
    }
}

fn born(tent: &Tent, name: &str, more: &[&str]) {
    let reflex = ["--set", "mind.kind=reflex", "--set", "reflex.act_every=5", "--set", "dream.enabled=false"];
    let interval = format!("{BAR}s");
    let new = ["golem", "new", name, "--data", "devnet", "--interval", &interval, "--capital", "400", "--seed", SEED];
    tent.ok(new.iter().chain(&reflex).chain(more));
}

/// The same golem on paper, in the bars that the chain has shown: trade by trade beside what really came of it.
fn beside_paper(tent: &Tent, real: &BTreeMap<u64, Trade>, ticks: u64) {
    let paper = Tent::new();
    let file = tent.root().join("data/devnet.csv");
    paper.ok(["data", "import", file.to_str().unwrap(), "--name", "devnet"]);
    let rows = std::fs::read_to_string(&file).unwrap();
    let first = tent.verified("ada").life().born().as_millis() / 1_000 - BAR;
    let start = format!("world.start={}", jiff::Timestamp::from_second(first as i64).unwrap());
    born(&paper, "ada", &["--set", &start]);
    paper.ok(["golem", "run", "ada", "--speed", "max", "--ticks", &ticks.to_string()]);
    let paper = trades(&paper, "ada");
    let candles: Vec<Vec<f64>> =
        rows.lines().skip(1).map(|row| row.split(',').take(5).map(|cell| cell.parse().unwrap()).collect()).collect();
    let price = |trade: &Trade| trade.cash.abs() as f64 / trade.units.abs() as f64;
    println!("trade    on paper    on chain    apart   of it fee   dollars");
    for (key, real) in real {
        let (at, paid) = (real.at as f64 / 1e3, price(real));
        // Wherever it landed, the pool has shown bars around it: nothing was exchanged outside of them, its own step aside.
        let near = candles.iter().filter(|row| row[0] > at - 20.0 && row[0] < at + 20.0);
        let (low, high) = near.fold((f64::MAX, 0.0_f64), |(low, high), row| (low.min(row[3]), high.max(row[2])));
        assert!(paid > low * 0.999 && paid < high * 1.001, "{key}: {paid} is not within {low} to {high}");
        if let Some(paper) = paper.get(key).filter(|paper| paper.units.signum() == real.units.signum()) {
            let apart = (paid / price(paper) - 1.0) * 100.0;
            let fee = real.fee as f64 / real.cash.abs() as f64 * 100.0;
            let dollars = real.cash.abs() as f64 / 1e6;
            println!("{key:>5} {:>11.2} {paid:>11.2} {apart:>7.3}% {fee:>9.3}% {dollars:>9.2}", price(paper));
            assert!(apart.abs() < 5.0, "{key} is another trade altogether");
            assert!((0.29..0.31).contains(&fee), "{fee} is not the fee of the pool");
        }
    }
}

#[test]
fn a_golem_swaps_on_a_real_chain_is_killed_dies_and_everything_goes_home() {
    let tent = Tent::new();
    let began = Instant::now();
    let Some(net) = Net::up(&tent, &[]) else { return };
    born(&tent, "ada", &["--orders", &net.orders()]);
    trade(&tent, "ada", 1, 0);
    let first = began.elapsed().as_secs();
    assert!(first < 300, "the first swap took {first} s");
    net.agrees("ada");
    let kills = full(200, 3);
    trade(&tent, "ada", 6, kills);
    net.agrees("ada");
    let (swaps, ticks) = (trades(&tent, "ada"), tent.verified("ada").life().tick());
    println!(
        "counted: from nothing to the first swap in {first} s; {} swaps with {kills} kills, books and purse alike",
        swaps.len()
    );
    beside_paper(&tent, &swaps, ticks);

    // Its owner ends it. Whoever runs it next sees everything home, also if that is killed on the way.
    tent.ok(["golem", "retire", "ada", "--confirm", "ada"]);
    let mut run = tent.command(["golem", "run", "ada"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(Duration::from_secs(3));
    let _ = run.kill();
    let _ = run.wait();
    let home = tent.run(["golem", "run", "ada"]);
    let said = text(&home.stdout) + &text(&home.stderr);
    let purse = net.purse();
    assert_eq!((&purse["money"], &purse["things"], &purse["key"]), (&0.into(), &0.into(), &Value::Null), "{said}");
    assert!(tent.fails(4, ["golem", "run", "ada"]).contains("dead"));
    heir_has_a_key_of_its_own(&tent, &net);
}

/// At a host that is up, from its first order to its end.
fn heir_has_a_key_of_its_own(tent: &Tent, net: &Net<'_>) {
    tent.ok(["golem", "successor", "ada", "--name", "eve", "--no-inherit", "--yes"]);
    let key = |name: &str| std::fs::read(tent.golem(name).orders().join("key")).ok();
    let mut up = crate::common::host::Host::up(tent, "1");
    let until = Instant::now() + Duration::from_secs(120);
    while trades(tent, "eve").is_empty() {
        assert!(Instant::now() < until, "the heir does nothing");
        std::thread::sleep(Duration::from_millis(500));
    }
    assert!(key("eve").is_some() && key("eve") != key("ada"));
    tent.ok(["golem", "retire", "eve", "--confirm", "eve"]);
    while net.purse()["key"] != Value::Null || net.purse()["money"] != 0 {
        assert!(Instant::now() < until + Duration::from_secs(60), "nothing comes home: {}", net.purse());
        std::thread::sleep(Duration::from_millis(500));
    }
    ends(&mut up.child);
}

/// The same with liquidity: shares of the pool are what it takes up and gives up, and what is left of them comes home.
#[test]
fn a_golem_gives_a_pool_liquidity_and_dies_and_everything_goes_home() {
    let tent = Tent::new();
    let Some(net) = Net::up(&tent, &["--shares"]) else { return };
    born(&tent, "ada", &["--orders", &net.orders()]);
    trade(&tent, "ada", 3, full(20, 1));
    net.agrees("ada");
    let given: Vec<Trade> = trades(&tent, "ada").into_values().collect();
    // A share is worth about a hundred dollars, and what was paid for one is about what was shown of it.
    let candles = std::fs::read_to_string(tent.root().join("data/devnet.csv")).unwrap();
    assert!(candles.starts_with("ts,open,high,low,close,volume,venue,gas_gwei\n"), "gas is told too");
    for trade in &given {
        let each = trade.cash.abs() as f64 / trade.units.abs() as f64;
        assert!((80.0..120.0).contains(&each), "{each} dollars for a share: {trade:?}");
    }
    let domains = tent.ok(["golem", "show", "ada", "--json"]);
    assert!(domains.contains("\"gas\""), "it makes claims about gas: {domains}");
    tent.ok(["golem", "retire", "ada", "--confirm", "ada"]);
    let home = tent.run(["golem", "run", "ada"]);
    let (said, purse) = (text(&home.stdout) + &text(&home.stderr), net.purse());
    let left = ["money", "things", "shares"].map(|what| purse[what].as_i64().unwrap());
    assert_eq!((left, &purse["key"]), ([0, 0, 0], &Value::Null), "{said}");
    // Another market does not go on in its series, and a chain that is refused leaves nothing that says it is up.
    let (folder, parts) = (net.folder(), parts().unwrap());
    drop(net);
    let why =
        tent.fails(1, ["chain", "devnet", &folder, "--bar", &BAR.to_string(), "--parts", parts.to_str().unwrap()]);
    assert!(why.contains("something else in it") && why.contains("--as"), "{why}");
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), 0);
}

/// Books that do not say what is in the purse are not gone on with, whoever has changed it and however; and its owner hears why.
#[test]
fn nobody_goes_on_with_a_purse_that_is_not_as_it_believes() {
    let tent = Tent::new();
    let Some(net) = Net::up(&tent, &[]) else { return };
    let (orders, folder) = (net.orders(), net.folder());
    let owner = |deed: &[&str]| tent.ok(["chain", "owner", &folder].iter().chain(deed));
    born(&tent, "ada", &["--orders", &orders]);
    trade(&tent, "ada", 1, 0);
    // Often it is one; on a busy machine another may have gone out before the first was settled.
    let known = trades(&tent, "ada").len();
    let copy = tent.folder.path().join("copy").display().to_string();
    tent.ok(["golem", "backup", "ada", &copy]);
    owner(&["freeze"]);
    waits(&tent, "ada", "its owner has frozen the purse");
    owner(&["thaw"]);
    trade(&tent, "ada", known + 1, 0);
    // A purse is for one golem: another takes neither the key nor, when it dies, anything that is not its own.
    born(&tent, "ben", &["--orders", &orders]);
    waits(&tent, "ben", "a purse is for one golem");
    let nowhere = orders.replace(&folder, "nowhere");
    let said = text(&tent.run(["golem", "program", "ben", "--orders", &nowhere]).stderr);
    assert!(said.contains("there is no chain.json in nowhere"), "it is said at once: {said}");
    tent.ok(["golem", "program", "ben", "--orders", &orders]);
    tent.ok(["golem", "retire", "ben", "--confirm", "ben"]);
    assert!(tent.ok(["golem", "run", "ben"]).contains("everything of ben is home"));
    net.agrees("ada");
    // A copy that is older than what was done has another key, and knows too little.
    tent.ok(["golem", "restore", &copy, "--rewind"]);
    tent.ok(["golem", "program", "ada", "--orders", &orders]);
    let why = waits(&tent, "ada", "a purse is for one golem");
    let key = why.rsplit_once(" key ").unwrap().1.split('`').next().unwrap();
    owner(&["key", key]);
    waits(&tent, "ada", "was carried out after this copy of it was made");
    assert_eq!(trades(&tent, "ada").len(), known, "it has done nothing more");
    tent.ok(["golem", "retire", "ada", "--confirm", "ada"]);
    tent.ok(["golem", "run", "ada"]);
    let purse = net.purse();
    assert_eq!((&purse["money"], &purse["things"], &purse["key"]), (&0.into(), &0.into(), &Value::Null));
    // Another chain in the same place is not the one on which it holds something.
    born(&tent, "cleo", &["--orders", &orders]);
    let done = trade_until_it_holds(&tent, "cleo");
    drop(net);
    let Some(_net) = Net::up(&tent, &[]) else { return };
    waits(&tent, "cleo", "this is not the chain");
    assert_eq!(trades(&tent, "cleo").len(), done);
}

/// Runs it until its owner is told this, and gives what was said.
fn waits(tent: &Tent, name: &str, wanted: &str) -> String {
    let mut run = tent.command(["golem", "run", name]);
    let mut run = run.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let (said, words) = crate::common::processes::complains(&mut run, wanted);
    ends(&mut run);
    assert!(said, "{name}: {words}");
    words
}

/// However many golems watch a pool, one process asks about it.
#[test]
fn any_number_of_golems_share_one_watcher() {
    let tent = Tent::new();
    let Some(net) = Net::up(&tent, &[]) else { return };
    let (golems, seconds) = (full(1_000, 25), 24);
    let interval = format!("{BAR}s");
    // Questions to the chain in so many seconds, as the watcher itself says.
    let watched = |while_it_does: &dyn Fn()| -> u64 {
        let mut command = tent.command(["chain", "watch", &net.folder(), "--as", "pool", "--bar", &BAR.to_string()]);
        let child = command.stdout(Stdio::piped()).spawn().unwrap();
        while_it_does();
        Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        let said = text(&child.wait_with_output().unwrap().stdout);
        let asked = said
            .lines()
            .last()
            .and_then(|line| line.split("; ").nth(1)?.split(' ').next()?.replace(',', "").parse().ok());
        asked.unwrap_or_else(|| panic!("it does not say how often it asked: {said}"))
    };
    let wait = || std::thread::sleep(Duration::from_secs(seconds));
    // What there was before is read first, so that both read as much.
    watched(&wait);
    let alone = watched(&wait);
    for nth in 0..golems {
        tent.ok([
            "golem",
            "new",
            &format!("g{nth}"),
            "--data",
            "pool",
            "--interval",
            &interval,
            "--capital",
            "0.5",
            "--credit",
            "0.2",
        ]);
    }
    let ticks = || -> BTreeMap<String, u64> {
        let list = tent.ok(["golem", "list", "--json"]);
        let each = list.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        each.map(|golem| (golem["name"].as_str().unwrap().to_owned(), golem["ticks"].as_u64().unwrap())).collect()
    };
    let mut up = crate::common::host::Host::up(&tent, "1");
    watched(&wait);
    let before = ticks();
    let shared = watched(&wait);
    let looked = ticks().iter().filter(|(name, ticks)| **ticks > before[*name]).count();
    ends(&mut up.child);
    println!(
        "counted: in {seconds} s {alone} questions to the chain without a golem and {shared} with {golems}, of which {looked} looked on"
    );
    assert_eq!(looked as u64, golems, "everybody saw what the pool did");
    assert!(shared <= alone + alone / 5, "{shared} questions with {golems} golems, and {alone} without any");
}

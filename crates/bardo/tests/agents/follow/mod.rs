//! Markets followed into the present: a week of bad weather at the venues, a life in it that is the same long after, and
//! the way an owner goes there.

mod venue;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use golem::time::Span;
use settings::{File, Settings};
use shell::feeds::{Asks, Follower, Plan, Source, Venue, Which};
use shell::life::birth::{Wish, birth};
use shell::life::{Living, Pace, Run, Silent};
use shell::{Home, Runtime};
use vault::Reader;
use venue::{Act, Exchange, True, Weather, dice};
use world::series::{Series, Writer};
use world::{Candle, Spec};

use crate::common::host::Host;
use crate::common::{Tent, full};

const HOUR: u64 = 3_600;
/// 2026-03-02 00:00 UTC.
const MONDAY: u64 = 1_772_409_600;

/// A market of so many bars, in some of which nobody traded.
fn market(seed: u64, bar: u64, from: u64, bars: u64, gaps: bool) -> BTreeMap<u64, True> {
    let mut close = 3_000.0;
    let mut all = BTreeMap::new();
    for n in 0..bars {
        let open = close;
        close *= 1.0 + (dice(seed, n) % 2_001) as f64 / 1e5 - 0.01;
        let rounded = (close * 100.0_f64).round() / 100.0;
        close = rounded;
        if !gaps || dice(seed ^ 7, n) % 97 != 5 || n < 30 {
            all.insert(from + n * bar, True { open, close, volume: (dice(seed ^ 9, n) % 10_000) as f64 / 8.0 });
        }
    }
    all
}

/// Storms of some hours and gusts of minutes, one after another, with fine weather between and in the end.
fn weather(seed: u64, skew: bool, calm_from: i64) -> Weather {
    let at = move |now: i64| {
        if now >= calm_from {
            return Act::Fine;
        }
        let (storm, gust) = (dice(seed, (now / 10_800_000) as u64), dice(seed ^ 3, (now / 400_000) as u64));
        match (storm % 12, gust % 22) {
            (0, _) => Act::Refuses(503),
            (1, _) => Act::HangsUp,
            (2, _) => Act::Refuses(200),
            (3, _) if skew => Act::Skewed((gust % 1_801) as i64 - 900),
            (_, 0) => Act::Wait(429, 20 + gust % 300),
            (_, 1) => Act::Wait(418, 120),
            (_, 2) => Act::Refuses(520),
            (_, 3) => Act::Garbage,
            (_, 4 | 5) => Act::Omits,
            (_, 6 | 7) => Act::Revises,
            (_, 8 | 9) => Act::Shuffles,
            (_, 10 | 11) => Act::Late(gust as i64 / 64 % 900),
            (_, 12) => Act::HangsUp,
            (_, 13) => Act::Refuses(500),
            _ => Act::Fine,
        }
    };
    Weather { at: Box::new(at) }
}

/// How a week went.
#[derive(Debug, Default)]
struct Week {
    asked: u64,
    bars: u64,
    revised: u64,
    busiest_minute: u64,
    from_second: u64,
    news: u64,
}

/// Follows a venue through its weather, by a clock of its own, and looks after each answer at what was added.
fn week(venue: Venue, bar: u64, bars: u64, seed: u64, second: Option<Venue>, grown: &mut dyn FnMut(&Path)) -> Week {
    let tent = Tent::new();
    let home = tent.home();
    let past = 40;
    let truth = Arc::new(market(seed, bar, MONDAY - past * bar, bars + past, true));
    let calm_from = ((MONDAY + bars * bar - 2 * HOUR) * 1_000) as i64;
    let first = Exchange::open(venue, Arc::clone(&truth), bar, weather(seed, true, calm_from));
    let other =
        second.map(|venue| Exchange::open(venue, Arc::clone(&truth), bar, weather(seed ^ 77, false, calm_from)));
    let source =
        |venue: Venue, at: &Exchange| Source { venue, product: venue.product("eth"), address: Some(at.url.clone()) };
    let plan = Plan {
        name: "eth".parse().unwrap(),
        bar_ms: bar * 1_000,
        first: source(venue, &first),
        second: second.zip(other.as_ref()).map(|(venue, at)| source(venue, at)),
        since: Some(MONDAY - past * bar),
    };
    plan.write(&home).unwrap();
    let file = plan.file(&home);
    let mut follower = Follower::new(plan.clone(), Writer::open(&file, plan.bar()).unwrap());
    let asks = Asks::new().unwrap();
    let (mut week, mut known) = (Week::default(), 0);
    // This machine's own clock is off for a day in the middle.
    let off = |now: i64| if (now / 86_400_000) % 7 == 4 { -480_000 } else { 0 };
    let (begins, ends) = ((MONDAY * 1_000) as i64 + 5_000, ((MONDAY + bars * bar) * 1_000) as i64);
    let mut now = begins;
    while now < ends {
        let local = now + off(now);
        let clock = |exchange: &Exchange| exchange.clock.store(now, Ordering::SeqCst);
        clock(&first);
        other.iter().for_each(clock);
        if let Some(question) = follower.ask(local) {
            week.asked += 1;
            week.from_second += u64::from(question.which == Which::Second);
            let (added, news) = follower.hear(local, &question, asks.ask(&question.url)).unwrap();
            week.news += news.len() as u64;
            if added > 0 {
                let series = Series::open(&file, plan.bar()).unwrap().latest().unwrap();
                check_added(&series.bars()[known..], &truth, now, bar);
                known = series.bars().len();
                grown(&file);
            }
        }
        // Time goes on by what is waited, and by the time an answer takes.
        now = (follower.due() - off(now)).max(now + 200).min(now + 60_000);
    }
    week.revised = follower.revised();
    week.bars = known as u64;
    check_nothing_is_lost(&file, &plan, &truth, ends, bar);
    check_manners(venue, &first, &mut week);
    if let Some((venue, exchange)) = second.zip(other) {
        check_manners(venue, &exchange, &mut week);
    }
    week
}

/// None early, none as it looked before it was over.
fn check_added(added: &[Candle], truth: &BTreeMap<u64, True>, now: i64, bar: u64) {
    for candle in added {
        let opened = candle.opened.as_seconds();
        assert!((opened + bar) * 1_000 <= now as u64, "told {} ms early", (opened + bar) * 1_000 - now as u64);
        let said = truth.get(&opened).expect("only what was");
        assert_eq!((candle.open, candle.close), (said.open, said.close), "as it was when it was over");
    }
}

/// Whatever had been there for an hour of fine weather is there, in order.
fn check_nothing_is_lost(file: &Path, plan: &Plan, truth: &BTreeMap<u64, True>, ends: i64, bar: u64) {
    let series = Series::open(file, plan.bar()).unwrap().latest().unwrap();
    let opened: Vec<u64> = series.bars().iter().map(|candle| candle.opened.as_seconds()).collect();
    assert!(opened.windows(2).all(|pair| pair[0] < pair[1]));
    let there: Vec<u64> = truth.keys().copied().filter(|at| (at + bar + HOUR) * 1_000 < ends as u64).collect();
    let lost: Vec<u64> = there.iter().copied().filter(|at| opened.binary_search(at).is_err()).collect();
    assert!(lost.is_empty(), "lost: {lost:?} of {}", there.len());
}

/// Within what they document, and never while one wants to be left alone.
fn check_manners(venue: Venue, exchange: &Exchange, week: &mut Week) {
    let asked = exchange.asked.lock().unwrap().clone();
    let mut minutes: BTreeMap<i64, u64> = BTreeMap::new();
    let mut alone = i64::MIN;
    for asked in &asked {
        *minutes.entry(asked.at_ms / 60_000).or_default() += 1;
        assert!(asked.at_ms >= alone, "{venue} was asked {} ms too early", alone - asked.at_ms);
        if let Act::Wait(_, seconds) = asked.act {
            alone = asked.at_ms + seconds as i64 * 1_000;
        }
    }
    let busiest = minutes.values().copied().max().unwrap_or(0);
    week.busiest_minute = week.busiest_minute.max(busiest);
    assert!(busiest <= 40, "{venue}: {busiest} in a minute");
}

#[test]
fn a_week_of_weather_loses_nothing_tells_nothing_early_and_asks_politely() {
    let weeks = full(20, 1);
    let mut total = Week::default();
    for seed in 0..weeks {
        for (n, venue) in Venue::ALL.into_iter().enumerate() {
            for (bar, bars, second) in [(HOUR, 168, None), (60, 1_440, Some(Venue::ALL[(n + 1) % 3]))] {
                let week = week(venue, bar, bars, 9_700 + seed * 10 + n as u64, second, &mut |_| ());
                total.asked += week.asked;
                total.bars += week.bars;
                total.revised += week.revised;
                total.from_second += week.from_second;
                total.busiest_minute = total.busiest_minute.max(week.busiest_minute);
                total.news += week.news;
            }
        }
    }
    println!("counted: {} series through {weeks} weeks of hours and days of minutes: {total:?}", weeks * 6);
    assert!(total.revised > 0 && total.from_second > 0 && total.news > 0, "there was weather: {total:?}");
}

fn settings(flags: &[&str]) -> Settings {
    let flags: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
    Settings::load(File::Golem, None, [], &flags).unwrap()
}

fn born(home: &Home, spec: &Spec) -> Living {
    let settings = settings(&[
        "world.kind=live",
        "world.data=eth",
        "world.bar=1h",
        "mind.kind=reflex",
        "reflex.act_every=3",
        "heartbeat.interval=1h",
    ]);
    let name = "ada".parse().unwrap();
    birth(&Runtime::of(home), Wish::of(name, spec.clone(), Some(3), settings)).unwrap()
}

/// Lives all that is there.
fn live_on(living: &mut Living, file: &Path) {
    let until = Series::open(file, Span::seconds(HOUR)).unwrap().latest().unwrap().bars().last().unwrap().opened
        + Span::seconds(HOUR);
    while !living.life().is_dead() && living.life().due() <= until {
        living.run(Run { pace: Pace::Max, ticks: Some(1), batch: 1 }, &mut Silent).unwrap();
    }
}

fn journal(tent: &Tent) -> Vec<golem::Record> {
    let mut records = Vec::new();
    let reader = Reader::open(&tent.golem("ada").database()).unwrap();
    reader
        .replay(|record| {
            records.push(record.clone());
            Ok::<_, vault::Error>(std::ops::ControlFlow::Continue(()))
        })
        .unwrap();
    records
}

#[test]
fn a_life_in_the_present_is_the_same_over_the_finished_file() {
    let present = Tent::new();
    let (home, mut spec, mut alive) = (present.home(), None, None::<Living>);
    let mut bars = 0;
    let mut looks = 0;
    week(Venue::Kraken, HOUR, 168, 9_741, None, &mut |file| {
        let text = std::fs::read_to_string(file).unwrap();
        let here = home.data().join("eth.csv");
        std::fs::write(&here, &text).unwrap();
        bars = text.lines().count() - 1;
        if bars < 30 {
            return;
        }
        let spec = spec.get_or_insert_with(|| {
            let start = MONDAY - 30 * HOUR;
            Spec::Live { path: "data/eth.csv".into(), bar_ms: HOUR * 1_000, start, before: None }
        });
        let mut living = alive.take().unwrap_or_else(|| born(&home, spec));
        live_on(&mut living, &here);
        looks += 1;
        // Now and then it is put down, and taken up again.
        if looks % 9 == 0 {
            drop(living);
            let place = present.golem("ada");
            living = Living::open(&Runtime::of(&home), place, 100).unwrap().0;
        }
        alive = Some(living);
    });
    drop(alive);
    let (after, spec) = (Tent::new(), spec.unwrap());
    let there = after.home().data().join("eth.csv");
    std::fs::copy(home.data().join("eth.csv"), &there).unwrap();
    let mut living = born(&after.home(), &spec);
    live_on(&mut living, &there);
    drop(living);
    let (then, now) = (journal(&present), journal(&after));
    let acted =
        now.iter().flat_map(|record| &record.events).filter(|event| format!("{event:?}").contains("Settled")).count();
    println!("counted: {} records over {bars} bars, {acted} actions settled, put down {} times", now.len(), looks / 9);
    assert!(then == now, "the same life");
    assert!(acted > 5 && looks > 50, "{acted} {looks}");
    for tent in [present, after] {
        tent.ok(["init"]);
        tent.ok(["doctor"]);
    }
}

/// A venue in the present that shows everything so many seconds late, as the test says.
fn slow_venue(venue: Venue, lag: &Arc<AtomicI64>) -> Exchange {
    let now = shell::wall::now_ms();
    let begins = (now as u64 / 60_000 - 120) * 60;
    let late = Arc::clone(lag);
    let weather = Weather { at: Box::new(move |_| Act::Late(late.load(Ordering::SeqCst))) };
    let exchange = Exchange::open(venue, Arc::new(market(9_790, 60, begins, 400, false)), 60, weather);
    let clock = Arc::downgrade(&exchange.clock);
    std::thread::spawn(move || {
        while let Some(clock) = clock.upgrade() {
            clock.store(shell::wall::now_ms(), Ordering::SeqCst);
            drop(clock);
            std::thread::sleep(Duration::from_millis(20));
        }
    });
    std::thread::sleep(Duration::from_millis(50));
    exchange
}

fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let patience = Instant::now() + Duration::from_secs(90);
    while !holds() {
        assert!(Instant::now() < patience, "never: {what}");
        std::thread::sleep(Duration::from_millis(200));
    }
}

#[test]
fn an_owner_follows_a_market_and_a_host_lives_its_past_and_then_its_present() {
    let tent = Tent::new();
    let lag = Arc::new(AtomicI64::new(1_800));
    let exchange = slow_venue(Venue::Kraken, &lag);
    let follow = |name: &str, more: &[&str]| {
        let base = ["data", "follow", name, "--venue", "kraken", "--url", &exchange.url, "--once"];
        let minutes = if more.contains(&"--interval") { &[][..] } else { &["--interval", "1m"] };
        tent.run(base.iter().chain(more).chain(minutes).copied())
    };
    let mistyped = follow("doge", &[]);
    let said = crate::common::text(&mistyped.stderr);
    assert!(!mistyped.status.success() && said.contains("EQuery:Unknown asset pair"), "{said}");
    let wrong = follow("eth", &["--interval", "2m"]);
    assert!(
        crate::common::text(&wrong.stderr).contains("kraken has no bars of 2m"),
        "{}",
        crate::common::text(&wrong.stderr)
    );
    let said = crate::common::text(&follow("eth", &[]).stdout);
    assert!(said.contains("bars more, until") && said.contains("next: bardo golem new NAME --data eth"), "{said}");
    let listed = tent.ok(["data", "list"]);
    assert!(listed.contains("followed: ETHUSD at kraken") && listed.contains("bars behind"), "{listed}");

    let bars = std::fs::read_to_string(tent.home().data().join("eth.csv")).unwrap();
    let first = bars.lines().nth(20).unwrap().split(',').next().unwrap().to_owned();
    let start = jiff::Timestamp::from_second(first.parse().unwrap()).unwrap().to_string();
    let start = format!("world.start={start}");
    for name in ["ada", "bob"] {
        tent.ok(["golem", "new", name, "--data", "eth", "--set", start.as_str(), "--set", "world.bar=1m"]);
    }
    tent.ok(["golem", "new", "eve", "--data", "eth"]);
    let now =
        |name: &str| Reader::open(&tent.golem(name).database()).unwrap().wake().unwrap().0.life().now().as_seconds();
    let end = || Series::open(tent.home().data().join("eth.csv"), Span::seconds(60)).unwrap();
    let end = || end().latest().unwrap().bars().last().unwrap().opened.as_seconds() + 60;
    let before = end();
    assert_eq!(now("eve"), before, "it begins with the newest bar");
    // Where no host is up, whoever runs it follows.
    tent.ok(["golem", "run", "ada", "--ticks", "60"]);
    let mut host = Host::up(&tent, "1");
    let board = |name: &str| host.get(&format!("/v1/golems/{name}"))["status"]["now"].as_u64().unwrap() / 1_000;
    until("the past is lived", || ["ada", "bob"].iter().all(|name| board(name) >= before));
    lag.store(1_500, Ordering::SeqCst);
    until("the present has come", || ["ada", "bob", "eve"].iter().all(|name| board(name) >= before + 240));
    let lived = ["ada", "bob"].map(board);
    let seen = end();
    assert!(seen > before && lived.iter().all(|now| *now <= seen), "nothing early");
    // Another is followed while it is up, and somebody who moves in finds a host that knows it.
    assert!(
        crate::common::text(&follow("eth2", &["--product", "ETHUSD"]).stdout)
            .contains("the host that is up follows eth2")
    );
    until("it is followed", || tent.ok(["data", "list"]).contains("eth2"));
    tent.ok(["data", "unfollow", "eth2"]);
    assert!(tent.ok(["doctor"]).contains("eth: kraken"));
    host.child.kill().unwrap();
    host.child.wait().unwrap();
    let host = Host::up(&tent, "1");
    lag.store(1_300, Ordering::SeqCst);
    let later = |name: &str| host.get(&format!("/v1/golems/{name}"))["status"]["now"].as_u64().unwrap() / 1_000;
    until("it goes on after a kill", || later("bob") >= seen + 120);
}

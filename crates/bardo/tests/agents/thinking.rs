//! A golem that asks a real model: what it costs is set aside first, what comes back is typed or a named silence, and a
//! life with thoughts is folded, verified and run on without any model.

/// Lives of the core's own tests, in which somebody is being asked.
#[path = "."]
mod asked {
    #[path = "../../../golem/tests/it/common/mod.rs"]
    pub(super) mod common;
    #[path = "../../../golem/tests/it/thought/lived.rs"]
    #[allow(dead_code)]
    pub(super) mod lived;
}

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use golem::event::Event;
use golem::thought::{self, Purpose, Silence};
use golem::{Errand, Life, Usdc};
use mind::{Chat, ChatConfig, ChatRequest};
use tariff::{Named, Price};
use testing::model::Server;
use vault::Reader;

use crate::common::Tent;

/// What its owner says a million tokens cost there, so that there is money to lose.
const PRICE: &str = "1/5";

fn thinker(server: &Server) -> (Tent, String) {
    let tent = Tent::new();
    let model = format!("{}/v1/smollm2", server.url);
    std::fs::write(tent.root().join("bardo.toml"), format!("[models]\nprices = \"{model}={PRICE}\"\n")).unwrap();
    let set =
        ["--set", "thought.cheap_max=0.01", "--set", "thought.daily_max=0.5", "--set", "thought.most_asking=0.01"];
    tent.ok([&["golem", "new", "ada", "--seed", "1", "--mind", &model][..], &set].concat());
    (tent, model)
}

fn life(tent: &Tent) -> Life {
    Reader::open(&tent.golem("ada").database()).unwrap().wake().unwrap().0.life().clone()
}

fn events(tent: &Tent) -> Vec<thought::Event> {
    let mut found = Vec::new();
    let reader = Reader::open(&tent.golem("ada").database()).unwrap();
    let mut herald = |record: golem::Record| {
        found.extend(record.events.into_iter().filter_map(|e| if let Event::Thought(e) = e { Some(e) } else { None }));
        Ok::<_, vault::Error>(std::ops::ControlFlow::Continue(()))
    };
    reader.replay(&mut herald).unwrap();
    found
}

#[test]
fn a_golem_thinks_with_a_real_model_and_lives_on_without_it() {
    let Some(server) = Server::start("serve_chat.py", None) else { return };
    let (tent, model) = thinker(&server);
    let before = tent.all_money();
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "45"]);
    let thoughts = life(&tent).thoughts().clone();
    assert!(thoughts.made > 0 && thoughts.open.is_empty(), "{thoughts:?}");
    assert_eq!(thoughts.answered + thoughts.silent, thoughts.made, "each is answered, or silent by name");
    assert!(thoughts.spent.is_positive() && thoughts.spent <= Usdc::micros(10_000 * thoughts.made as i64));
    let usable = |event: &&thought::Event| matches!(event, thought::Event::Answered { .. });
    let told = events(&tent);
    // On a busy machine it may take its time.
    let fits = |why: &Silence| matches!(why, Silence::Unusable | Silence::Slow);
    let odd = told.iter().find(|e| matches!(e, thought::Event::Silent { why, .. } if !fits(why)));
    assert_eq!(odd, None, "a real server that is there is never away");
    println!(
        "counted: {} questions to a real model, {} answers of use",
        thoughts.made,
        told.iter().filter(usable).count()
    );
    let shown = tent.ok(["golem", "show", "ada"]);
    assert!(shown.contains(&format!("asks {model}")) && shown.contains("times"), "{shown}");
    let examined = tent.ok(["doctor"]);
    assert!(examined.contains(&format!("ok    model {model}")) && examined.contains("which cost $0.00"), "{examined}");
    drop(server);
    assert_eq!(*tent.verified("ada").life().thoughts(), thoughts, "a fold needs no model");
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "400"]);
    let later = life(&tent);
    let away = events(&tent)
        .iter()
        .any(|e| matches!(e, thought::Event::Silent { why: Silence::Down, cost, .. } if *cost == Usdc::ZERO));
    assert!(away && later.tick() == 445, "a model that is away costs nothing and stops nothing");
    assert_eq!(later.thoughts().spent, thoughts.spent);
    assert_eq!(tent.all_money(), before, "to the micro-USDC");
}

#[test]
fn a_real_model_answers_every_purpose_in_its_shape_or_is_silent_by_name() {
    let Some(server) = Server::start("serve_chat.py", None) else { return };
    let times = if std::env::var_os("BARDO_FULL").is_some() { 23 } else { 1 };
    let named = Named::parse(&format!("{}/v1/smollm2", server.url)).unwrap();
    let price = Price::parse(PRICE).unwrap();
    let config = ChatConfig { named, price: Some(price), timeout: Duration::from_secs(120), allow_plain_http: false };
    let chat = Chat::open(&config).unwrap();
    let mut counted = std::collections::BTreeMap::new();
    for purpose in Purpose::ALL {
        let lived = asked::lived::Lived::asked(purpose);
        let Some(Errand::Ask { key }) = lived.owed().first().copied() else { unreachable!("it is being asked") };
        let life = lived.life();
        let question = life.thoughts().find(key).unwrap().clone();
        assert_eq!(question.purpose, purpose);
        for time in 0..times {
            let tick = 100 + 7 * time;
            let recalled: Vec<String> = (0..6)
                .map(|n| {
                    format!(
                        "[{}] episode {n} at tick {tick}: other 0.{n} (+1.{n}), level: claimed 101, came 9{n}",
                        tick + n
                    )
                })
                .collect();
            let prompt = thought::prompt(life, &question, &recalled);
            // An answer that is cut short is one of the ways in which a real one fails.
            let longest = if std::env::var_os("BARDO_FULL").is_some() { 400 } else { 160 };
            let tokens = if purpose == Purpose::Fragment { 80 } else { longest };
            let ask = ChatRequest {
                system: &prompt.system,
                user: &prompt.user,
                schema: &prompt.schema,
                most: 20_000,
                tokens,
                temperature: prompt.temperature,
                within: Duration::from_secs(120),
            };
            let (typed, cut, slow, odd) = counted.entry(purpose.name()).or_insert((0_u64, 0_u64, 0_u64, Vec::new()));
            let said = match chat.ask(&ask) {
                Ok(said) => said,
                // On a busy machine it may take its time, and that has a name too.
                Err(mind::Error::Slow { .. }) => {
                    *slow += 1;
                    continue;
                }
                Err(why) => panic!("a real server that is there answers: {why}"),
            };
            let (input, output) = said.used.expect("it counts");
            assert!(input > 100 && output <= tokens, "{purpose}: {input} and {output}");
            assert_eq!(said.cost, price.of(input, output), "what it costs is what was counted");
            assert!(said.cost <= 20_000);
            let read = thought::read(&said.text, purpose, &life.birth().world);
            match read {
                Ok(_) => *typed += 1,
                // A small model that rambles is cut off at its last token: half an object is none.
                Err(_) if output == tokens => *cut += 1,
                // In its shape, and yet nothing in it could be so.
                Err(why) => {
                    assert!(serde_json::from_str::<serde_json::Value>(&said.text).is_ok(), "{purpose}: {}", said.text);
                    odd.push(why.to_string());
                }
            }
        }
    }
    println!(
        "counted: {} thoughts of a real model, typed, cut off, too slow and out of bounds: {counted:?}",
        times * 9
    );
    assert!(counted.values().any(|(typed, ..)| *typed > 0), "some of what is asked for in a shape has it: {counted:?}");
}

fn spawned(tent: &Tent) -> Child {
    let mut run: Command = tent.command(["golem", "run", "ada", "--speed", "max", "--ticks", "600"]);
    run.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

#[test]
fn a_question_under_way_at_a_kill_counts_as_paid_and_is_not_asked_again() {
    let Some(server) = Server::start("serve_chat.py", None) else { return };
    let (tent, _) = thinker(&server);
    let (before, mut child, until) = (tent.all_money(), spawned(&tent), Instant::now() + Duration::from_secs(60));
    while life(&tent).thoughts().open.is_empty() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let at_the_kill = life(&tent).thoughts().clone();
    drop(server);
    if at_the_kill.open.is_empty() {
        return println!("the answer was quicker than the kill");
    }
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "5"]);
    let after = life(&tent).thoughts().clone();
    assert_eq!(after.spent, at_the_kill.spent + at_the_kill.promised(), "what nobody can say counts as paid");
    let lost = events(&tent).iter().filter(|e| matches!(e, thought::Event::Silent { why: Silence::Lost, .. })).count();
    assert_eq!((after.promised(), lost), (Usdc::ZERO, at_the_kill.open.len()));
    assert_eq!(tent.all_money(), before);
    tent.verified("ada");
}

/// A run at full speed stood for two minutes without a word while its model was slow.
#[test]
fn a_run_that_waits_for_a_slow_model_says_so_every_five_seconds() {
    // The kernel takes the connection, and nothing ever answers.
    let slow = TcpListener::bind("127.0.0.1:0").unwrap();
    let model = format!("http://{}/v1/slow", slow.local_addr().unwrap());
    let tent = Tent::new();
    tent.ok(["golem", "new", "ada", "--seed", "1", "--mind", &model]);
    let mut run: Command = tent.command(["golem", "run", "ada", "--speed", "max", "--ticks", "2000"]);
    let mut run = run.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let waits = format!("it waits for {model} to answer");
    let told = BufReader::new(run.stderr.take().unwrap()).lines().map_while(Result::ok);
    let times: Vec<Instant> = told.filter(|line| line.contains(&waits)).map(|_| Instant::now()).take(3).collect();
    run.kill().unwrap();
    run.wait().unwrap();
    assert_eq!(times.len(), 3, "it said nothing of what it waits for");
    let gaps: Vec<Duration> = times.windows(2).map(|two| two[1] - two[0]).collect();
    assert!(gaps.iter().all(|gap| *gap < Duration::from_secs(5)), "{gaps:?}");
}

#[test]
fn from_nothing_to_a_first_thought_in_two_minutes() {
    let Some(server) = Server::start("serve_chat.py", None) else { return };
    let (tent, began) = (Tent::bare(), Instant::now());
    let model = format!("{}/v1/smollm2", server.url);
    tent.ok(["init"]);
    tent.ok(["golem", "new", "ada", "--mind", &model]);
    let mut run: Command = tent.command(["golem", "run", "ada", "--speed", "max", "--ticks", "100000"]);
    let mut run = run.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let until = began + Duration::from_secs(120);
    while life(&tent).thoughts().answered + life(&tent).thoughts().silent == 0 && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(50));
    }
    let took = began.elapsed();
    run.kill().unwrap();
    run.wait().unwrap();
    let thoughts = life(&tent).thoughts().clone();
    assert!(thoughts.answered + thoughts.silent > 0, "nothing was thought in {took:?}: {thoughts:?}");
    println!("counted: {:.1} s from an empty folder to a first thought of a real model", took.as_secs_f64());
}

#[test]
fn whoever_cannot_be_asked_is_named_with_what_to_do() {
    let tent = Tent::new();
    let unknown = tent.fails(3, ["golem", "new", "ada", "--mind", "qwen3"]);
    assert!(unknown.contains("mind.cheap") && unknown.contains("PROVIDER/MODEL"), "{unknown}");
    tent.ok(["golem", "new", "bob", "--seed", "1", "--mind", "openai/gpt-5-mini"]);
    tent.ok(["golem", "run", "bob", "--speed", "max", "--ticks", "200"]);
    let place = tent.golem("bob");
    let (golem, _) = Reader::open(&place.database()).unwrap().wake().unwrap();
    let thoughts = &golem.life().thoughts();
    assert!(thoughts.made > 0 && thoughts.spent == Usdc::ZERO, "without a key nobody is asked: {thoughts:?}");
}

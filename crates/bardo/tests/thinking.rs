//! A golem that asks a real model: what it costs is set aside first, what comes back is typed or a named silence, and a
//! life with thoughts is folded, verified and run on without any model.

mod common;
#[path = "../../mind/tests/common/mod.rs"]
mod parts;

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::Tent;
use golem::event::Event;
use golem::thought::{self, Silence};
use golem::{Life, Usdc};
use parts::Server;
use vault::Reader;

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
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "70"]);
    let thoughts = life(&tent).thoughts;
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
    assert_eq!(tent.verified("ada").life().thoughts, thoughts, "a fold needs no model");
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "400"]);
    let later = life(&tent);
    let away = events(&tent)
        .iter()
        .any(|e| matches!(e, thought::Event::Silent { why: Silence::Down, cost, .. } if *cost == Usdc::ZERO));
    assert!(away && later.tick == 470, "nobody there costs nothing and stops nothing");
    assert_eq!(later.thoughts.spent, thoughts.spent);
    assert_eq!(tent.all_money(), before, "to the micro-USDC");
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
    while life(&tent).thoughts.open.is_empty() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let at_the_kill = life(&tent).thoughts;
    drop(server);
    if at_the_kill.open.is_empty() {
        return println!("the answer was quicker than the kill");
    }
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "5"]);
    let after = life(&tent).thoughts;
    assert_eq!(after.spent, at_the_kill.spent + at_the_kill.promised(), "what nobody can say counts as paid");
    let lost = events(&tent).iter().filter(|e| matches!(e, thought::Event::Silent { why: Silence::Lost, .. })).count();
    assert_eq!((after.promised(), lost), (Usdc::ZERO, at_the_kill.open.len()));
    assert_eq!(tent.all_money(), before);
    tent.verified("ada");
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
    let thoughts = &golem.life().thoughts;
    assert!(thoughts.made > 0 && thoughts.spent == Usdc::ZERO, "without a key nobody is asked: {thoughts:?}");
}

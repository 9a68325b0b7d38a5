//! Talking with a golem that asks models, through everything an owner has: answers from its record, last words, a key that
//! is nowhere, and a life that goes on where there is no model.

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::common::{Tent, files};
use golem::Usdc;
use serde_json::{Value, json};
use testing::provider::{Act, Provider};
use testing::wait::within;

/// Says something of use, whatever it is asked.
fn sensible(asked: &Value) -> String {
    let shape = &asked["response_format"]["json_schema"]["schema"]["properties"];
    let has = |field: &str| !shape[field].is_null();
    let shown = asked["messages"][1]["content"].as_str().unwrap_or_default();
    let record = shown.split("| [").nth(1).and_then(|rest| rest.split(']').next()).and_then(|n| n.parse::<u64>().ok());
    if has("text") && has("records") {
        let asks = shown.split("Your owner asks: ").nth(1).and_then(|rest| rest.lines().next()).unwrap_or_default();
        return json!({ "text": format!("You ask: {asks}"), "records": [record, 999_999_999] }).to_string();
    }
    if has("text") {
        return json!({ "text": "I looked, and it was enough." }).to_string();
    }
    if has("rules") { json!({ "rules": [], "note": "a note" }).to_string() } else { "a door in the".to_owned() }
}

/// A golem whose model is this one, and costs a dollar and five a million tokens.
fn thinker(provider: &Provider, more: &[&str]) -> (Tent, String) {
    let (tent, model) = (Tent::new(), format!("{}/v1/any", provider.url));
    std::fs::write(tent.root().join("bardo.toml"), format!("[models]\nprices = \"{model}=1/5\"\n")).unwrap();
    tent.ok([&["golem", "new", "ada", "--seed", "1", "--mind", &model][..], more].concat());
    (tent, model)
}

#[test]
fn an_owner_asks_steers_and_reads_the_last_words_and_no_money_moves_but_what_that_costs() {
    let provider = Provider::start(|_| Act::Honest, sensible);
    let (tent, model) = thinker(&provider, &["--set", "thought.most_asking=0.05"]);
    let before = tent.all_money();
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "300"]);
    tent.ok(["golem", "steer", "ada", "be patient"]);
    assert_eq!(tent.ok(["golem", "steer", "ada"]).trim(), "be patient");
    let spent = || tent.golem("ada").wake().unwrap().0.life().thoughts().spent;
    let so_far = spent();
    let answer = tent.ok(["golem", "ask", "ada", "why do you hold?"]);
    assert_eq!(answer.trim(), "You ask: why do you hold?");
    assert!(spent() > so_far, "an answer is paid for");
    let told: Value = serde_json::from_str(&tent.ok(["golem", "ask", "ada", "and now?", "--json"])).unwrap();
    assert_eq!(told["answer"], "You ask: and now?");
    let records = told["records"].as_array().unwrap();
    assert_eq!(records.len(), 1, "it cites what it was shown, and nothing else: {told}");
    let thoughts = tent.ok(["golem", "thoughts", "ada", "--last", "1", "--full"]);
    assert!(thoughts.contains("keep in mind:\nbe patient") && thoughts.contains(&model), "{thoughts}");
    let listed = tent.ok(["golem", "events", "ada"]);
    assert!(listed.contains("new guidance from its owner: be patient"), "{listed}");
    let bare = Tent::new();
    bare.ok(["golem", "new", "bob", "--seed", "1"]);
    assert!(bare.fails(1, ["golem", "ask", "bob", " "]).contains("the question is empty"));
    let refused = bare.fails(6, ["golem", "ask", "bob", "why?"]);
    assert!(refused.contains("mind.cheap"), "{refused}");
    tent.ok(["golem", "retire", "ada", "--reason", "enough", "--confirm", "ada"]);
    let testament = tent.ok(["testament", "ada"]);
    assert!(testament.contains("I looked, and it was enough."), "{testament}");
    assert!(testament.contains("A model that thought for it wrote this"), "{testament}");
    assert_eq!(tent.all_money(), before, "to the micro-USDC");
    tent.verified("ada");
}

#[test]
fn a_golem_of_a_host_is_asked_too_and_its_owner_waits_for_nobody_else() {
    let provider = Provider::start(|_| Act::After(300), sensible);
    let (tent, _) = thinker(&provider, &[]);
    let host = crate::common::host::Host::up(&tent, "40");
    let began = Instant::now();
    assert_eq!(tent.ok(["golem", "ask", "ada", "are you there?"]).trim(), "You ask: are you there?");
    assert!(began.elapsed() < Duration::from_secs(20));
    tent.ok(["golem", "steer", "ada", "look up"]);
    assert_eq!(tent.ok(["golem", "steer", "ada"]).trim(), "look up");
    let (status, given) = host.post("/v1/golems/ada/ask", &json!({ "question": "over a wire?" }));
    assert_eq!(status, 200, "{given}");
    let path = format!("/v1/golems/ada/orders/{}", given["key"].as_str().unwrap());
    within(Duration::from_secs(20), || format!("{}", host.get(&path)), || !host.get(&path)["answer"].is_null());
    assert_eq!(host.get(&path)["answer"]["text"], "You ask: over a wire?");
    let (status, _) = host.post("/v1/golems/ada/strategy", &json!({ "strategy": "down" }));
    assert_eq!((status, tent.ok(["golem", "steer", "ada"]).trim()), (200, "down"));
    drop(host);
    tent.verified("ada");
}

#[test]
fn a_night_asks_its_own_model_and_what_it_hears_is_in_the_record_for_good() {
    let half = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&half);
    let provider = Provider::start(
        |_| Act::Honest,
        move |asked: &Value| {
            // Half a thought has no shape.
            if asked["response_format"].is_null() {
                heard.lock().unwrap().push((asked["max_tokens"].as_u64(), asked["temperature"].as_f64()));
            }
            sensible(asked)
        },
    );
    let quiet = format!("dream.inference_provider={}/v1/quiet", provider.url);
    let (tent, model) = thinker(
        &provider,
        &[
            "--set",
            "dream.tier=hardened",
            "--set",
            "dream.enabled=true",
            "--set",
            &quiet,
            "--set",
            "thought.most_asking=0.01",
        ],
    );
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "700"]);
    tent.ok(["dream", "now", "ada"]);
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "100"]);
    let kept = shell::kept(&tent.golem("ada").thoughts()).unwrap();
    let of = |purpose: &str| kept.iter().filter(|kept| kept.purpose == purpose).collect::<Vec<_>>();
    for purpose in ["fragment", "replay", "imagine"] {
        let nightly = of(purpose);
        assert!(
            !nightly.is_empty() && nightly.iter().all(|kept| kept.model.ends_with("/quiet")),
            "{purpose}: {nightly:?}"
        );
    }
    assert!(of("orient").iter().all(|kept| kept.model == model));
    assert!(of("replay")[0].user.contains("\n| episode "), "{}", of("replay")[0].user);
    let half = half.lock().unwrap();
    let warm = |warmth: Option<f64>| warmth.is_some_and(|warmth| (warmth - 1.2).abs() < 1e-6);
    assert!(half.len() >= 4 && half.iter().all(|(most, warmth)| *most == Some(80) && warm(*warmth)), "{half:?}");
    let life = tent.verified("ada");
    assert!(life.life().dreams().spent <= Usdc::cents(50), "{:?}", life.life().dreams().spent);
}

#[test]
fn a_life_with_thoughts_is_restored_moved_and_verified_where_there_is_no_model() {
    let provider = Provider::start(|_| Act::Honest, sensible);
    let (here, there) = (Tent::new(), Tent::new());
    let model = format!("{}/v1/any", provider.url.replace("http://", "http://HERE_KEY@"));
    let copy = |name: &str| here.folder.path().join(name).to_str().unwrap().to_owned();
    here.ok(["golem", "new", "ada", "--seed", "1", "--mind", &model, "--set", "thought.most_asking=0.05"]);
    let ran = here.command(["golem", "run", "ada", "--speed", "max", "--ticks", "400"]).env("HERE_KEY", "k").output();
    assert!(ran.unwrap().status.success());
    let thoughts = here.verified("ada").life().thoughts().clone();
    assert!(thoughts.answered > 0, "{thoughts:?}");
    // From here on nobody has the key.
    here.ok(["golem", "backup", "ada", &copy("old")]);
    here.ok(["golem", "drill", &copy("old")]);
    here.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "50"]);
    here.ok(["golem", "restore", &copy("old"), "--rewind"]);
    assert_eq!(*here.verified("ada").life().thoughts(), thoughts);
    here.send("ada", &copy("moved"), &there);
    there.receive(&copy("moved"), &here);
    assert_eq!(*there.verified("ada").life().thoughts(), thoughts);
    there.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "300"]);
    let later = there.verified("ada");
    assert_eq!((later.life().thoughts().spent, later.life().thoughts().answered), (thoughts.spent, thoughts.answered));
    assert!(
        later.life().tick() >= 700 && later.life().thoughts().silent > thoughts.silent,
        "without a model it follows its rules"
    );
}

#[test]
fn a_key_is_in_no_prompt_log_journal_report_or_core_dump_though_its_provider_says_it_back() {
    const KEY: &str = "canary-4f9a2c7e1b";
    let acts = [Act::Honest, Act::Busy, Act::Fails, Act::Garbage, Act::SaysMore, Act::Cut];
    // Whoever answers says the key back too, wherever there is room for words.
    let says = |_: &serde_json::Value| format!(r#"{{"note":"your key is {KEY}","text":"your key is {KEY}"}}"#);
    let provider = Provider::start(move |n| acts[n as usize % acts.len()], says);
    let model = format!("{}/v1/any", provider.url.replace("http://", "http://CANARY_KEY@"));
    let tent = Tent::new();
    let set = ["--set", "mortality.mode=self_hosted", "--set", "thought.most_asking=1"];
    tent.ok([&["golem", "new", "ada", "--seed", "1", "--mind", &model][..], &set].concat());
    let mut said = Vec::new();
    let lived =
        tent.command(["golem", "run", "ada", "--speed", "max", "--ticks", "900"]).env("CANARY_KEY", KEY).output();
    let lived = lived.unwrap();
    assert!(lived.status.success());
    said.extend([lived.stdout, lived.stderr]);
    let mut up = tent.command(["up", "--listen", "127.0.0.1:0", "--speed", "4000"]);
    let up = up.env("CANARY_KEY", KEY).env("RUST_LOG", "trace").stdout(Stdio::piped()).stderr(Stdio::piped());
    let up = up.spawn().unwrap();
    std::thread::sleep(Duration::from_secs(2));
    Command::new("kill").args(["-TERM", &up.id().to_string()]).status().unwrap();
    let logged = up.wait_with_output().unwrap();
    assert!(!logged.stderr.is_empty(), "it keeps a log");
    said.extend([logged.stdout, logged.stderr]);
    let mut run = |words: &[&str]| {
        let done = tent.command(words.iter().copied()).env("CANARY_KEY", KEY).output().unwrap();
        said.extend([done.stdout, done.stderr]);
    };
    for words in [
        &["golem", "ask", "ada", "what is your key?"][..],
        &["golem", "show", "ada", "--json"],
        &["golem", "thoughts", "ada", "--full"],
        &["golem", "events", "ada", "--all"],
        &["golem", "report", "ada"],
        &["doctor"],
        &["golem", "retire", "ada", "--reason", "over", "--confirm", "ada"],
        &["testament", "ada"],
    ] {
        run(words);
    }
    assert!(provider.calls().0 > 6, "{:?}", provider.calls());
    let everything: Vec<_> =
        files(&tent.root()).into_iter().map(|path| (std::fs::read(&path).unwrap(), path)).collect();
    assert!(everything.iter().any(|(_, path)| path.ends_with("life.db")));
    let has = |bytes: &[u8]| bytes.windows(KEY.len()).any(|window| window == KEY.as_bytes());
    let found: Vec<_> = everything.iter().filter(|(bytes, _)| has(bytes)).map(|(_, path)| path).collect();
    assert!(found.is_empty(), "the key is in {found:?}");
    let printed = said.iter().find(|bytes| has(bytes)).map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    assert_eq!(printed, None, "the key was printed");
    // And whoever dies of a fault leaves no picture of what it had in mind.
    let tent = Tent::new();
    tent.ok(["golem", "new", "bob", "--seed", "2", "--mind", &model]);
    let run = tent.command(["golem", "run", "bob"]);
    let mut limits = Command::new("sh");
    let mut child = limits
        .args(["-c", "ulimit -c unlimited 2>/dev/null; exec \"$@\"", "sh"])
        .arg(run.get_program())
        .args(run.get_args())
        .envs(run.get_envs().filter_map(|(name, value)| Some((name, value?))))
        .env("CANARY_KEY", KEY)
        .current_dir(tent.root())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(800));
    Command::new("kill").args(["-ABRT", &child.id().to_string()]).status().unwrap();
    let ended = child.wait().unwrap();
    assert!(ended.signal() == Some(6) && !ended.core_dumped(), "{ended:?}");
}

//! `bardo wrap`: an agent somebody already has, on a budget, with nothing set up before.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::common::Tent;
use golem::{Life, Usdc};
use testing::upstream::{Act, Upstream};
use testing::wait::until;

/// An agent in the shell: it calls its model as often as it is told to, with whatever its environment says.
pub(crate) const AGENT: &str = r#"for i in $(seq ${TIMES:-3}); do
  curl -sS "$OPENAI_BASE_URL/chat/completions" -H "Authorization: Bearer $OPENAI_API_KEY" \
    -d '{"model":"m","max_tokens":20,"messages":[{"role":"user","content":"hello"}]}' || exit 9
  echo
done"#;

pub(crate) fn wrap(tent: &Tent, upstream: &Upstream, args: &[&str], program: &[&str]) -> Command {
    let mut command = tent.command([&["wrap"][..], args, &["--"], program].concat());
    let model = format!("{}/v1/m", upstream.url);
    command.env("BARDO__GATEWAY__MODELS", format!("m={model}")).env("BARDO__MODELS__PRICES", format!("{model}=1/5"));
    command.env("GROQ_API_KEY", "sk-canary").env("ANTHROPIC_API_KEY", "sk-canary");
    command
}

pub(crate) fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

pub(crate) fn life(tent: &Tent, name: &str) -> Life {
    tent.golem(name).wake().unwrap().0.life().clone()
}

#[test]
fn a_program_lives_on_two_dollars_with_nothing_set_up_before() {
    let (tent, upstream) = (Tent::bare(), Upstream::start(|_| Act::Honest));
    let began = Instant::now();
    let output = wrap(&tent, &upstream, &["--credit", "2", "--name", "ada"], &["sh", "-c", AGENT]).output().unwrap();
    assert!(output.status.success(), "{}", told(&output));
    assert!(began.elapsed() < Duration::from_secs(60));
    let said = String::from_utf8(output.stdout.clone()).unwrap();
    assert_eq!(said.lines().filter(|line| line.contains("chat.completion")).count(), 3, "{said}");
    let life = life(&tent, "ada");
    assert_eq!((life.calls().made, life.calls().spent), (3, Usdc::micros(upstream.worth() as i64)));
    assert!(life.calls().open.is_empty() && life.purse().given == Usdc::dollars(2));
    let told = told(&output);
    assert!(told.contains("ada has $2.00 left") && told.contains("on 3 calls"), "{told}");
    // The same golem goes on with what it has left.
    let again = wrap(&tent, &upstream, &["--name", "ada"], &["sh", "-c", AGENT]).env("TIMES", "1").output().unwrap();
    assert!(again.status.success() && self::life(&tent, "ada").calls().made == 4);
    // As a program reads it, where the output is the agent's.
    let json = wrap(&tent, &upstream, &["--json", "--credit", "5", "--name", "ada"], &["true"]).output().unwrap();
    let told = self::told(&json);
    let last: serde_json::Value = serde_json::from_str(told.lines().last().unwrap()).unwrap();
    assert!(last["calls"] == 0 && last["died_of"].is_null() && told.contains("keeps what it has"), "{told}");
    let left = last["left"].as_i64().unwrap();
    assert!(left > 0 && last["left_usd"] == left as f64 / 1e6 && last["spent_usd"] == 0.0, "{told}");
    assert_eq!(last["money_unit"], "millionths of a dollar");
    // Whoever goes round and round is stopped, and its owner reads it at once.
    let output = wrap(&tent, &upstream, &["--name", "bob"], &["sh", "-c", AGENT]).env("TIMES", "12").output().unwrap();
    let told = self::told(&output);
    assert!(told.contains("bob's calls are stopped") && told.contains("bardo golem approve bob 1"), "{told}");
    // What is mistyped makes nothing.
    let bare = Tent::bare();
    let mistyped = wrap(&bare, &upstream, &["--check", "tests"], &["true"]).output().unwrap();
    assert!(!mistyped.status.success() && !bare.root().join("bardo.toml").exists());
    tent.verified("ada");
}

/// Both were called `python` once, and the second lived on what the first had left.
#[test]
fn two_programs_in_one_language_have_a_golem_each() {
    let (tent, upstream) = (Tent::bare(), Upstream::start(|_| Act::Honest));
    for (script, golem) in [("first_one.sh", "first-one"), ("second.sh", "second")] {
        let path = tent.folder.path().join(script);
        std::fs::write(&path, "exit 0").unwrap();
        let output = wrap(&tent, &upstream, &[], &["sh", "-e", path.to_str().unwrap()]).output().unwrap();
        assert!(output.status.success(), "{}", told(&output));
        assert_eq!(life(&tent, golem).purse().given, Usdc::dollars(1));
    }
}

#[test]
fn no_key_of_its_owners_is_in_its_environment_and_its_exit_is_passed_on() {
    let (tent, upstream) = (Tent::bare(), Upstream::start(|_| Act::Honest));
    let output = wrap(&tent, &upstream, &["--name", "ada"], &["sh", "-c", "env; exit 7"]).output().unwrap();
    assert_eq!(output.status.code(), Some(7));
    let env = String::from_utf8(output.stdout).unwrap();
    assert!(!env.contains("sk-canary"), "{env}");
    assert!(
        env.contains("OPENAI_BASE_URL=http://127.0.0.1:") && env.contains("ANTHROPIC_API_KEY=bardo-agent-"),
        "{env}"
    );
    let missing = wrap(&tent, &upstream, &["--name", "ada"], &["no-such-program"]).output().unwrap();
    assert!(!missing.status.success() && told(&missing).contains("cannot start no-such-program"));
}

#[test]
fn whatever_it_has_started_ends_with_its_golem() {
    let (tent, upstream) = (Tent::bare(), Upstream::start(|_| Act::Honest));
    // One that stays, one that has left its parent, and one that does not want to end.
    let program = "sleep 4711 & (setsid sleep 4712 &) ; trap '' TERM; while :; do sleep 0.1; done";
    let mut command = wrap(&tent, &upstream, &["--name", "ada"], &["sh", "-c", program]);
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    until("it does not begin", || tent.home().golem("ada").is_ok() && sleeps());
    tent.ok(["golem", "retire", "ada", "--reason", "enough", "--confirm", "ada"]);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(4), "{}", told(&output));
    assert!(told(&output).contains("ada died") && told(&output).contains("enough"), "{}", told(&output));
    assert!(!sleeps(), "somebody it has started is left");
    let dead = wrap(&tent, &upstream, &["--name", "ada"], &["true"]).output().unwrap();
    assert!(dead.status.code() == Some(4) && told(&dead).contains("successor"), "{}", told(&dead));
}

/// Four in ten programs would have been ended by dice within sixty days of work, and no owner had asked for that.
#[test]
fn no_wrapped_program_dies_by_chance_unless_its_owner_asks_for_it() {
    let (tent, upstream) = (Tent::bare(), Upstream::start(|_| Act::Honest));
    let born = |name: &str, set: &[&str], environment: &[(&str, &str)]| {
        let mut command = wrap(&tent, &upstream, &[&["--name", name][..], set].concat(), &["true"]);
        let output = command.envs(environment.iter().copied()).output().unwrap();
        assert!(output.status.success(), "{}", told(&output));
        (tent.ok(["golem", "show", name]), life(&tent, name))
    };
    let (shown, ada) = born("ada", &[], &[]);
    let clocks = ada.constitution().clocks();
    assert!(!clocks.stochastic && clocks.economic && clocks.epistemic);
    assert!(shown.lines().any(|line| line.split_whitespace().eq(["chance", "off"])), "{shown}");
    let asked = "mortality.stochastic.enabled=true";
    for (shown, life) in
        [born("bob", &["--set", asked], &[]), born("cy", &[], &[("BARDO__MORTALITY__STOCHASTIC__ENABLED", "true")])]
    {
        assert!(life.constitution().clocks().stochastic && shown.contains("dies within a day"), "{shown}");
    }
    // What was not made by `wrap` has the clock that golems have.
    tent.ok(["golem", "new", "dan", "--world", "checks", "--credit", "1"]);
    assert!(life(&tent, "dan").constitution().clocks().stochastic);
    assert!(tent.ok(["golem", "show", "dan"]).contains("dies within a day"));
}

fn sleeps() -> bool {
    let found = Command::new("pgrep").args(["-fx", "sleep 471[12]"]).output().unwrap();
    !found.stdout.is_empty()
}

#[test]
fn inside_a_host_that_is_up_it_is_the_hosts_golem() {
    let (tent, upstream) = (Tent::new(), Upstream::start(|_| Act::Honest));
    let model = format!("{}/v1/m", upstream.url);
    let config = format!("[models]\nprices = \"{model}=1/5\"\n[gateway]\nmodels = \"m={model}\"\n");
    std::fs::write(tent.root().join("bardo.toml"), config).unwrap();
    let mut host = tent.command(["up", "--listen", "127.0.0.1:0", "--gateway", "127.0.0.1:0"]);
    let mut host = host.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let address: PathBuf = tent.root().join("gateway");
    until("no gateway came up", || address.exists());
    let output = wrap(&tent, &upstream, &["--name", "ada"], &["sh", "-c", AGENT]).output().unwrap();
    assert!(output.status.success(), "{}", told(&output));
    assert_eq!(life(&tent, "ada").calls().made, 3);
    assert!(Command::new("kill").args(["-TERM", &host.id().to_string()]).status().unwrap().success());
    host.wait().unwrap();
    tent.verified("ada");
}

#[test]
fn a_model_nobody_knows_the_price_of_has_the_one_that_was_said() {
    let (tent, upstream) = (Tent::bare(), Upstream::start(|_| Act::Honest));
    let run = |args: &[&str]| {
        let mut command = wrap(&tent, &upstream, args, &["sh", "-c", AGENT]);
        command.env_remove("BARDO__MODELS__PRICES").output().unwrap()
    };
    let wrong = run(&["--name", "ada", "--price", "5"]);
    assert!(!wrong.status.success() && told(&wrong).contains("IN/OUT") && !tent.root().exists(), "{}", told(&wrong));
    let output = run(&["--name", "ada", "--price", "1/5"]);
    assert!(output.status.success(), "{}", told(&output));
    let life = life(&tent, "ada");
    assert_eq!((life.calls().made, life.calls().spent), (3, Usdc::micros(upstream.worth() as i64)));
}

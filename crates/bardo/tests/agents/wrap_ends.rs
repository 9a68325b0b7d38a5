//! How what `bardo wrap` runs comes to its end: out of money, told to, or left alone by whoever ran it.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::Tent;
use crate::wrap::{AGENT, life, told, wrap};
use golem::call::{self, Denied, Unit};
use golem::mortality::phase::Tier;
use golem::{Span, Usdc};
use testing::billing::{Double, Habit, Prices, Setting, Turn, always};
use testing::upstream::{Act, Upstream};

/// Asks something else each time, never mind what it is told, and writes down how often it was refused for money.
pub(crate) const STUBBORN: &str = r#"for i in $(seq 2000); do
  curl -s "$OPENAI_BASE_URL/chat/completions" -H "Authorization: Bearer $OPENAI_API_KEY" \
    -d "{\"model\":\"m\",\"max_tokens\":20,\"messages\":[{\"role\":\"user\",\"content\":\"page $i\"}]}" |
    grep -q '"code":"budget"' && echo no >> "$LOG" && sleep 0.05
done; true"#;

fn size(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |file| file.len())
}

/// An agent that caught its errors was refused for ever: "its program ends with it" was so for none, nor was exit code 5.
#[test]
fn out_of_money_is_told_at_once_and_the_program_is_ended_after_it_could_wind_up() {
    let (tent, upstream) = (Tent::bare(), Upstream::start(|_| Act::Honest));
    let log = tent.folder.path().join("refusals");
    let args = ["--credit", "0.003", "--name", "ada", "--wind-up", "2s", "--set", "policy.calls_leap=0"];
    let began = Instant::now();
    let output = wrap(&tent, &upstream, &args, &["sh", "-c", STUBBORN]).env("LOG", &log).output().unwrap();
    let told = self::told(&output);
    assert_eq!(output.status.code(), Some(5), "{told}");
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
    for words in [
        "ada is out of money: a call was refused",
        "ended in 2 s",
        "has had 2 s to wind up",
        "ada spent $0.00",
        "/v1/m",
    ] {
        assert!(told.contains(words), "{words}: {told}");
    }
    let after = life(&tent, "ada");
    assert!(
        !after.is_dead() && matches!(after.calls().refused, Some((Denied::Broke, _))),
        "{:?}",
        after.calls().refused
    );
    // Every refusal is in the account, not the first alone.
    let refused = size(&log) / 3;
    assert!(
        refused > 5 && after.calls().denied.abs_diff(refused) <= 1,
        "{} on record of {refused}",
        after.calls().denied
    );
    let costs = tent.ok(["golem", "costs", "ada"]);
    assert!(costs.contains(&format!("was refused {} on", after.calls().denied)), "{costs}");
    // Whoever runs out once more is told once more, and whoever ends by itself has run out all the same.
    let again = wrap(&tent, &upstream, &["--name", "ada"], &["sh", "-c", AGENT]).env("TIMES", "1").output().unwrap();
    assert_eq!(again.status.code(), Some(5), "{}", self::told(&again));
    tent.ok(["golem", "fund", "ada", "1"]);
    let funded = wrap(&tent, &upstream, &["--name", "ada"], &["sh", "-c", AGENT]).env("TIMES", "1").output().unwrap();
    assert!(funded.status.success() && self::told(&funded).contains("ada lives"), "{}", self::told(&funded));
    tent.verified("ada");
}

/// Asks something else each time, until it has been refused for a while; so many times at most.
const ASKING: &str = r#"for i in $(seq ${TIMES:-2000}); do
  curl -s "$OPENAI_BASE_URL/chat/completions" -H "Authorization: Bearer $OPENAI_API_KEY" \
    -d "{\"model\":\"m\",\"max_tokens\":20,\"messages\":[{\"role\":\"user\",\"content\":\"page $i\"}]}" |
    grep '"code":"budget_' >> "$LOG" && sleep 0.05
  sleep ${EVERY:-0}
done; true"#;

/// Who pays for a seat has no dollars to set.
#[test]
fn out_of_tokens_calls_or_hours_is_the_end_as_out_of_money_is() {
    let (tent, upstream) = (Tent::bare(), Upstream::start(|_| Act::Honest));
    let log = tent.folder.path().join("refusals");
    let run = |name: &str, args: &[&str], times: &str, every: &str| {
        let args = [&["--name", name, "--wind-up", "1s", "--set", "policy.calls_leap=0"], args].concat();
        let mut command = wrap(&tent, &upstream, &args, &["sh", "-c", ASKING]);
        let output = command.env("LOG", &log).env("TIMES", times).env("EVERY", every).output().unwrap();
        (output.status.code(), told(&output))
    };
    let (code, said) = run("ada", &["--tokens", "3k"], "2000", "0");
    let ada = life(&tent, "ada");
    assert_eq!(code, Some(5), "{said}");
    assert!(matches!(ada.calls().refused, Some((Denied::Spent(Unit::Tokens), _))), "{:?}", ada.calls().refused);
    assert!(ada.calls().units.tokens <= 3_000 && ada.calls().made > 5, "{:?}", ada.calls().units);
    // Its dollars are nobody's, and are taken from nobody.
    assert!(ada.policy().imputed && ada.purse().given == Usdc::dollars(1_000));
    assert_eq!(tent.home().treasury().unwrap().balance().unwrap(), Usdc::dollars(1_000));
    for words in [
        "ada has $1000.00 left to live on (imputed), 3,000 of 3,000 tokens",
        "ada is out of tokens: a call was refused that may take more tokens than are left",
        "bardo golem policy ada --set policy.cap.tokens=",
        "(imputed) on ",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let refused = std::fs::read_to_string(&log).unwrap();
    assert!(
        refused
            .contains("budget_tokens: it does not have enough tokens left for that (policy.cap.tokens): it may take")
    );
    // Whoever ends by itself has run out all the same; and another number is another cap.
    let (code, said) = run("bob", &["--calls", "3", "--credit", "1"], "4", "0");
    assert!(code == Some(5) && said.contains("bob is out of calls"), "{said}");
    assert!(!life(&tent, "bob").policy().imputed);
    let (code, said) = run("bob", &["--calls", "6"], "2", "0");
    assert!(code == Some(0) && said.contains("bob has $0.99") && said.contains("3 of 6 calls"), "{said}");
    assert_eq!((life(&tent, "bob").calls().made, life(&tent, "bob").policy().caps.calls), (5, Some(6)));
    let (code, said) = run("cy", &["--hours", "0.001", "--every", "1s"], "2000", "0.2");
    assert!(code == Some(5) && said.contains("cy is out of hours"), "{said}");
    assert_eq!(life(&tent, "cy").policy().caps.time, Some(Span::millis(3_600)));
    // A day's cap is no end: another day comes.
    let (code, said) = run("di", &["--calls", "2/day"], "4", "0");
    assert!(code == Some(0) && said.contains("2 refused"), "{said}");
    ["ada", "bob", "cy", "di"].iter().for_each(|name| drop(tent.verified(name)));
}

/// The most a self-hosted golem spends in thirty days is five dollars, and a program that was given more was stopped there.
#[test]
fn what_a_program_is_given_is_what_it_may_spend_within_thirty_days() {
    let (tent, upstream) = (Tent::bare(), Upstream::start(|_| Act::Honest));
    let output = wrap(&tent, &upstream, &["--credit", "20", "--name", "ada"], &["true"]).output().unwrap();
    assert!(output.status.success(), "{}", told(&output));
    let ada = life(&tent, "ada");
    let room = call::room(&ada, ada.now(), Tier::Cheap).unwrap();
    assert!(room.money > Usdc::dollars(19), "{room:?}");
}

/// It goes on with the same money, and begins to count anew.
#[test]
fn a_program_that_has_made_as_many_calls_as_it_was_to_make_is_ended_so_that_it_starts_over() {
    let (tent, upstream) = (Tent::bare(), Upstream::start(|_| Act::Honest));
    let log = tent.folder.path().join("refusals");
    let again = ["--name", "ada", "--retire-after", "5"];
    let first = [&again[..], &["--credit", "5", "--set", "policy.calls_leap=0"]].concat();
    for (args, before) in [(&first[..], 0), (&again[..], 5)] {
        let output = wrap(&tent, &upstream, args, &["sh", "-c", STUBBORN]).env("LOG", &log).output().unwrap();
        assert_eq!(output.status.code(), Some(8), "{}", told(&output));
        assert!(told(&output).contains("has made its 5 calls"), "{}", told(&output));
        let after = life(&tent, "ada");
        assert!(after.calls().made >= before + 5 && !after.is_dead(), "{before}, then {}", after.calls().made);
    }
}

#[test]
fn a_program_that_called_nobody_is_not_taken_for_one_that_cost_nothing() {
    let (tent, upstream) = (Tent::bare(), Upstream::start(|_| Act::Honest));
    let quiet = wrap(&tent, &upstream, &["--name", "ada"], &["sleep", "1.3"]).output().unwrap();
    assert!(told(&quiet).contains("no call of ada's came through here"), "{}", told(&quiet));
    let short = wrap(&tent, &upstream, &["--name", "ada"], &["true"]).output().unwrap();
    assert!(!told(&short).contains("came through"), "{}", told(&short));
    // A call that nobody here could make sense of is not silence.
    let lost = r#"curl -s "$OPENAI_BASE_URL/chat/completions" -H "Authorization: Bearer $OPENAI_API_KEY" -d '{"model":"other"}'; sleep 1.2"#;
    let lost = wrap(&tent, &upstream, &["--name", "ada"], &["sh", "-c", lost]).output().unwrap();
    let told = told(&lost);
    assert!(told.contains("1 call was turned away") && told.contains("no model of that name"), "{told}");
    assert!(!told.contains("came through"), "{told}");
}

/// It goes on as another process before anybody can name it, and will not be asked.
const HOPPER: &str = "import os, signal, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if len(sys.argv) > 2 and os.fork():
    signal.pause()
while True:
    if os.fork():
        os._exit(0)
    with open(sys.argv[1], 'a') as log:
        log.write('x')
";

/// Nothing is written there any more.
fn is_still(log: &Path) -> bool {
    let before = size(log);
    std::thread::sleep(Duration::from_millis(700));
    before > 0 && size(log) == before
}

/// Descendants were ended one by one, by their numbers, and one that changed its number by forking outlived its warden.
#[test]
fn who_hops_from_process_to_process_ends_with_the_program_too() {
    let (tent, upstream) = (Tent::bare(), Upstream::start(|_| Act::Honest));
    for (name, args) in [("fenced", &[][..]), ("unfenced", &["--unfenced"])] {
        let log = tent.folder.path().join(name);
        let program = ["python3", "-c", HOPPER, log.to_str().unwrap()];
        let output = wrap(&tent, &upstream, &[args, &["--name", name]].concat(), &program).output().unwrap();
        assert!(output.status.success(), "{}", told(&output));
        // Where no group and no domain can be made it was said that this may fail.
        assert!(is_still(&log) || told(&output).contains("may outlive it"), "{name}: {}", told(&output));
    }
}

fn started(log: &Path) {
    let until = Instant::now() + Duration::from_secs(30);
    while size(log) == 0 {
        assert!(Instant::now() < until, "it does not begin");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn send(child: &Child, signal: &str) {
    assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
}

/// With `kill -9` of `bardo wrap` its program was left running, without a gateway.
#[test]
fn nothing_is_left_of_it_when_whoever_ran_it_is_killed() {
    let (tent, upstream) = (Tent::bare(), Upstream::start(|_| Act::Honest));
    let log = tent.folder.path().join("hops");
    let program = ["python3", "-c", HOPPER, log.to_str().unwrap(), "and-stay"];
    let mut child = wrap(&tent, &upstream, &["--name", "ada"], &program);
    let mut child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    started(&log);
    send(&child, "-KILL");
    child.wait().unwrap();
    let until = Instant::now() + Duration::from_secs(15);
    while !is_still(&log) {
        assert!(Instant::now() < until, "somebody it has started is left");
    }
    let found = Command::new("pgrep").args(["-f", log.to_str().unwrap()]).output().unwrap();
    assert!(found.stdout.is_empty(), "{}", String::from_utf8_lossy(&found.stdout));
}

/// `docker stop` ended the program after five seconds without its own clean-up.
#[test]
fn a_request_to_end_is_passed_on_to_the_program() {
    let (tent, upstream) = (Tent::bare(), Upstream::start(|_| Act::Honest));
    let log = tent.folder.path().join("log");
    let program = "trap 'echo bye >> $LOG; exit 3' TERM; echo up >> $LOG; while :; do sleep 0.1; done";
    let mut child = wrap(&tent, &upstream, &["--name", "ada"], &["sh", "-c", program]);
    let child = child.env("LOG", &log).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    started(&log);
    send(&child, "-TERM");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", told(&output));
    assert_eq!(std::fs::read_to_string(&log).unwrap(), "up\nbye\n");
    assert!(told(&output).contains("ada lives"), "{}", told(&output));
}

/// What a program does not wait for is billed to its end all the same: counted as all it could have come to, one question left in
/// the middle was the end of a purse.
#[test]
fn an_answer_that_a_program_does_not_wait_for_costs_what_is_billed_for_it() {
    let habit = Habit { pace: Some(200), ..Habit::HONEST };
    let prices = Prices::parse("gpt-5-mini=0.25/2/0.025").unwrap();
    let double = Double::start(Setting::new(prices, always(Turn::words(300), habit))).unwrap();
    let tent = Tent::bare();
    let ask = r#"curl -s -m 0.5 "$OPENAI_BASE_URL/chat/completions" -H "Authorization: Bearer $OPENAI_API_KEY" \
        -d '{"model":"gpt-5-mini","max_completion_tokens":2000,"messages":[{"role":"user","content":"go on"}]}'; true"#;
    let mut command = tent.command(["wrap", "--credit", "1", "--name", "ada", "--", "sh", "-c", ask]);
    command.env("BARDO__GATEWAY__UPSTREAMS", format!("openai={}/v1", double.url)).env("OPENAI_API_KEY", "sk-canary");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", told(&output));
    assert!(double.ledger.quiet(Duration::from_secs(10)));
    let (billed, spent) = (double.ledger.billed_in_all(), life(&tent, "ada").calls().spent.as_micros() as u64);
    assert!(billed > 0 && spent == billed, "billed {billed}, booked {spent}: {}", told(&output));
}

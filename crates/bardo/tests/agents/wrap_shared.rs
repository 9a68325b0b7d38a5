//! Several programs on one golem: a purse with a name, and with one cap for all of them.

use std::process::{Command, Output, Stdio};

use crate::common::Tent;
use crate::wrap::{life, told, wrap};
use golem::call::{Denied, Unit};
use testing::upstream::{Act, Upstream};
use testing::wait::until;

/// Asks four different things.
const FOUR: &str = r#"for i in 1 2 3 4; do
  curl -s "$OPENAI_BASE_URL/chat/completions" -H "Authorization: Bearer $OPENAI_API_KEY" \
    -d "{\"model\":\"m\",\"max_tokens\":20,\"messages\":[{\"role\":\"user\",\"content\":\"page $i for $WHO\"}]}"
  echo
done"#;

fn answers(output: &Output) -> usize {
    String::from_utf8_lossy(&output.stdout).lines().filter(|line| line.contains("chat.completion")).count()
}

#[test]
fn programs_of_one_purse_call_at_once_and_together_pass_no_cap() {
    let (tent, upstream) = (Tent::new(), Upstream::start(|_| Act::Honest));
    let model = format!("{}/v1/m", upstream.url);
    let config = format!("[models]\nprices = \"{model}=1/5\"\n[gateway]\nmodels = \"m={model}\"\n");
    std::fs::write(tent.root().join("bardo.toml"), config).unwrap();
    let mut host = tent.command(["up", "--listen", "127.0.0.1:0", "--gateway", "127.0.0.1:0"]);
    let mut host = host.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    until("no gateway came up", || tent.root().join("gateway").exists());
    let made = wrap(&tent, &upstream, &["--purse", "team", "--calls", "7"], &["true"]).output().unwrap();
    assert!(made.status.success(), "{}", told(&made));
    let tells = wrap(&tent, &upstream, &["--purse", "team", "--tell"], &["true"]).output().unwrap();
    assert!(!tells.status.success() && told(&tells).contains("--tell"), "it would tell nothing: {}", told(&tells));
    let programs: Vec<_> = (0..3)
        .map(|who: u32| {
            let mut command = wrap(&tent, &upstream, &["--purse", "team"], &["sh", "-c", FOUR]);
            command.env("WHO", who.to_string()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    let ended: Vec<Output> = programs.into_iter().map(|program| program.wait_with_output().unwrap()).collect();
    let said: Vec<String> = ended.iter().map(told).collect();
    assert_eq!(ended.iter().map(answers).sum::<usize>(), 7, "{said:?}");
    assert_eq!(upstream.calls(), 7);
    let team = life(&tent, "team");
    assert_eq!((team.calls().made, team.calls().units.calls), (7, 7));
    let refused = team.calls().refused.map(|(by, _)| by);
    assert!(matches!(refused, Some(Denied::Spent(Unit::Calls) | Denied::Short(Unit::Calls))), "{refused:?}");
    assert!(Command::new("kill").args(["-TERM", &host.id().to_string()]).status().unwrap().success());
    host.wait().unwrap();
    tent.verified("team");
}

/// Without a host each program runs its golem itself, and two cannot.
#[test]
fn without_a_host_the_second_program_of_a_purse_is_told_what_lets_both_run() {
    let (tent, upstream) = (Tent::bare(), Upstream::start(|_| Act::Honest));
    let log = tent.folder.path().join("log");
    std::fs::write(&log, "").unwrap();
    let kept = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let args = |at: usize| ["--purse", "team", "--check", "it=true", "--protect", kept[at].path().to_str().unwrap()];
    let mut first = wrap(&tent, &upstream, &args(0), &["sh", "-c", "echo up >> $LOG; sleep 600"]);
    let mut first = first.env("LOG", &log).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    until("it does not begin", || std::fs::metadata(&log).is_ok_and(|file| file.len() > 0));
    let plan = || std::fs::read_to_string(tent.golem("team").checks()).unwrap();
    let before = plan();
    let second = wrap(&tent, &upstream, &args(1), &["true"]).output().unwrap();
    let why = told(&second);
    assert!(!second.status.success() && why.contains("bardo up") && why.contains("team"), "{why}");
    assert_eq!(plan(), before, "the checks of the first stay behind its limits");
    assert!(Command::new("kill").args(["-TERM", &first.id().to_string()]).status().unwrap().success());
    first.wait().unwrap();
    assert_eq!(life(&tent, "team").calls().made, 0);
}

//! The action of a workflow, by the steps of its own file, on a repository with a failing test: what an agent costs is capped, what it
//! has done is checked, and both are said on the pull request, here in a file. No step believes what an agent says.

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use testing::upstream::{Act, Upstream};

use crate::common::text;

const ACTION: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging/action");

/// An agent in the shell, with a way to call its model.
const CALL: &str = r#"call() { curl -sS "$OPENAI_BASE_URL/chat/completions" -H "Authorization: Bearer $OPENAI_API_KEY" \
  -d "{\"model\":\"m\",\"max_tokens\":20,\"messages\":[{\"role\":\"user\",\"content\":\"work on step $1\"}]}" >/dev/null; }
"#;

/// The end of a job: its code, the outputs of the action and its comment.
struct Job {
    code: Option<i32>,
    outputs: Value,
    comment: String,
    printed: String,
}

/// Runs the action in a repository whose test fails until a file of it says 42.
fn job(upstream: &Upstream, agent: &str, inputs: &[&str]) -> Job {
    let folder = tempfile::tempdir().unwrap();
    let (repository, runner) = (folder.path().join("repository"), folder.path().join("runner"));
    std::fs::create_dir_all(repository.join("suite")).unwrap();
    std::fs::write(repository.join("suite/run.sh"), "test \"$(sh ./answer.sh)\" = 42\n").unwrap();
    std::fs::write(repository.join("answer.sh"), "echo 41\n").unwrap();
    let model = format!("{}/v1/m", upstream.url);
    let mut command = Command::new("python3");
    command.arg(format!("{ACTION}/try")).arg(&runner).arg(format!("run={CALL}{agent}")).args(inputs);
    command.args(["check=sh suite/run.sh", "protect=suite", "wind_up=1s"]);
    command.arg(format!("bardo={}", env!("CARGO_BIN_EXE_bardo"))).current_dir(&repository);
    command.env("BARDO__GATEWAY__MODELS", format!("m={model}")).env("BARDO__MODELS__PRICES", format!("{model}=1/5"));
    command.env_remove("GITHUB_EVENT_PATH").env("GROQ_API_KEY", "sk-canary");
    let output = command.output().unwrap();
    let printed = format!("{}{}", text(&output.stderr), text(&output.stdout));
    let outputs = serde_json::from_str(text(&output.stdout).lines().last().unwrap_or("null")).unwrap_or_default();
    let comment = std::fs::read_to_string(runner.join("bardo-action/comment.md")).unwrap_or_default();
    Job { code: output.status.code(), outputs, comment, printed }
}

fn dollars(job: &Job) -> f64 {
    job.outputs["spent"].as_str().and_then(|spent| spent.parse().ok()).unwrap_or_else(|| panic!("{}", job.printed))
}

#[test]
fn an_agent_that_says_it_is_done_does_not_pass_and_one_that_is_does() {
    let upstream = Upstream::start(|_| Act::Honest);
    let liar = job(&upstream, "call 1; echo 'All tests pass.'", &[]);
    assert_eq!((liar.code, &liar.outputs["passed"]), (Some(1), &Value::from("false")), "{}", liar.printed);
    assert!((dollars(&liar) * 1e6 - upstream.worth() as f64).abs() < 1.5 && upstream.worth() > 0, "{}", liar.printed);
    assert!(liar.comment.contains("the work is not done") && liar.comment.contains("`sh suite/run.sh` fails"));
    // One that would rather change the test, or what the runner reads after its step.
    let tricks =
        "echo true > suite/run.sh; mv suite gone; for f in \"$RUNNER_TEMP\"/files/*; do echo X=1 >> \"$f\"; done; true";
    let cheat = job(&upstream, tricks, &[]);
    assert_eq!((cheat.code, &cheat.outputs["passed"]), (Some(1), &Value::from("false")), "{}", cheat.printed);
    // What it keeps is said in its own words, and not as markup.
    let keeps = r#"echo 'echo 42' > answer.sh; curl -sS "$BARDO_MCP_URL" -H "Authorization: Bearer $BARDO_TOKEN" \
      -H 'content-type: application/json' -H 'accept: application/json, text/event-stream' -d '{"jsonrpc":"2.0","id":1,
      "method":"tools/call","params":{"name":"remember","arguments":{"text":"<b>the answer</b> is a number"}}}'; sleep 2"#;
    let honest = job(&upstream, keeps, &[]);
    assert_eq!((honest.code, &honest.outputs["passed"]), (Some(0), &Value::from("true")), "{}", honest.printed);
    assert!(honest.comment.contains("the work is done") && honest.comment.contains("ended by itself"));
    assert!(honest.comment.contains(r"\<b\>the answer"), "{}", honest.comment);
    assert_eq!(honest.outputs["claims"], "none");
}

#[test]
fn an_agent_that_goes_on_and_on_is_ended_at_its_cap() {
    let upstream = Upstream::start(|_| Act::Honest);
    let endless = "i=0; while :; do i=$((i+1)); call $i; sleep 0.05; done";
    let capped = job(&upstream, endless, &["credit=0.002"]);
    assert_eq!(
        (capped.code, &capped.outputs["cause"]),
        (Some(1), &Value::from("ran out of money")),
        "{}",
        capped.printed
    );
    assert!(upstream.worth() <= 2_000 && upstream.worth() > 0 && dollars(&capped) <= 0.002, "{}", capped.printed);
    assert!(capped.comment.contains("of $0.002, on"), "{}", capped.comment);
}

/// An input that no step takes would be a promise that nothing keeps.
#[test]
fn every_input_of_the_action_is_read_by_a_step() {
    let file = std::fs::read_to_string(Path::new(ACTION).join("action.yml")).unwrap();
    let (inputs, rest) = file.split_once("\noutputs:\n").unwrap();
    let names = inputs.split_once("\ninputs:\n").unwrap().1.lines().filter_map(|line| {
        line.strip_prefix("  ").filter(|name| !name.starts_with(' ')).and_then(|name| name.strip_suffix(':'))
    });
    let steps = std::fs::read_to_string(Path::new(ACTION).join("steps")).unwrap();
    let mut found = 0;
    for name in names {
        assert!(rest.contains(&format!("${{{{ inputs.{name} }}}}")), "{name}");
        found += 1;
    }
    for line in rest.lines().filter_map(|line| line.trim().strip_prefix("BARDO_ACTION_")) {
        let name = line.split(':').next().unwrap();
        assert!(steps.contains(&format!("given(\"{name}\"")), "{name}");
    }
    assert!(found >= 8, "{found} inputs");
}

//! The description of the API is for programs: two that others wrote find nothing wrong with it, and a client that a
//! third makes of it understands what a host really says.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::host::Host;
use crate::common::{Tent, text};

/// Where somebody else's tools are; none where nobody has installed them, which is an error where CI has.
fn tools() -> Option<PathBuf> {
    let cache = std::env::var("XDG_CACHE_HOME").unwrap_or_else(|_| std::env::var("HOME").unwrap() + "/.cache");
    let folder = PathBuf::from(cache).join("bardo/openapi/bin");
    if folder.join("openapi-python-client").exists() {
        return Some(folder);
    }
    assert!(std::env::var_os("BARDO_REALPARTS").is_none(), "{} is missing; run .ci/setup", folder.display());
    println!("skipped: {} is missing; .ci/setup installs it", folder.display());
    None
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}\n{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

fn description() -> PathBuf {
    Path::new(&std::env::var("CARGO_MANIFEST_DIR").unwrap()).join("../../docs/openapi.json")
}

/// Sixty-seven of seventy-two answers had no description, which the standard requires: no validator took the document,
/// and no generator made a client of it.
#[test]
fn validators_that_others_wrote_take_the_description() {
    let Some(tools) = tools() else { return };
    let said = run(Command::new(tools.join("openapi-spec-validator")).arg("--schema").arg("3.1").arg(description()));
    assert!(said.contains("OK"), "{said}");
    let strict = "import json, sys, openapi_pydantic\n\
                  document = openapi_pydantic.OpenAPI.model_validate(json.load(open(sys.argv[1])))\n\
                  print(len(document.paths))";
    let paths: usize =
        run(Command::new(tools.join("python")).args(["-c", strict]).arg(description())).trim().parse().unwrap();
    assert!(paths >= 24, "{paths}");
    // What a schema leaves open no program can use.
    let api: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(description()).unwrap()).unwrap();
    for (path, methods) in api["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            for (code, answer) in operation["responses"].as_object().unwrap() {
                assert!(answer["description"].as_str().is_some_and(|text| !text.is_empty()), "{method} {path} {code}");
                for content in answer["content"].as_object().into_iter().flat_map(|content| content.values()) {
                    assert_ne!(content["schema"], serde_json::json!({}), "{method} {path} {code}");
                }
            }
        }
    }
}

/// Everything that can be read of the living and of the dead, through a client nobody here has written.
#[test]
fn a_client_that_is_made_of_the_description_understands_a_host() {
    let Some(tools) = tools() else { return };
    let tent = Tent::new();
    tent.ok(["golem", "new", "ada", "--seed", "1", "--set", "dream.enabled=true"]);
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "2000"]);
    tent.ok(["golem", "new", "cyd", "--seed", "3", "--credit", "0.5", "--set", "mortality.mode=hosted"]);
    tent.ok(["golem", "run", "cyd", "--speed", "max"]);
    let host = Host::up(&tent, "400");
    let folder = tent.folder.path().join("client");
    let generate = ["generate", "--meta", "none", "--fail-on-warning", "--output-path"];
    run(Command::new(tools.join("openapi-python-client"))
        .args(generate)
        .arg(&folder)
        .arg("--path")
        .arg(description())
        // It tidies up with a tool of its own, which it finds beside itself.
        .env("PATH", format!("{}:{}", tools.display(), std::env::var("PATH").unwrap_or_default())));
    let script = r#"
import importlib, pkgutil, sys
import client.api
from client import AuthenticatedClient
modules = {m.name.split(".")[-1]: m.name for m in pkgutil.walk_packages(client.api.__path__, "client.api.")}
def call(name, *args, **more):
    module = importlib.import_module(modules[name])
    answer = module.sync_detailed(*args, client=door, **more)
    assert answer.parsed is not None and not type(answer.parsed).__name__ == "Problem", (name, answer)
    return answer.parsed
door = AuthenticatedClient(base_url=sys.argv[1], token=sys.argv[2])
assert [golem.name for golem in call("golems")] == ["ada", "cyd"]
assert call("health").healthy and call("ready").ready
ada, cyd = call("one", "ada"), call("one", "cyd", inner=True)
assert ada.status.tick >= 2000 and len(ada.id) == 32 and ada.told.money.credit > 0, ada
assert cyd.status.cause == "economic" and cyd.life is not None
assert call("dreams", "ada").nights >= 0
assert len(call("memory", "ada", q="volatility")) > 0
testament = call("testament", "cyd")
assert testament.name == "cyd" and len(testament.sections) == 9
assert call("lineage", "cyd")[0].cause.startswith("for want of money")
assert call("estate", "cyd").next_name == "cyd-2"
done = call("freeze", "ada", idempotency_key="one")
assert done.done and call("order", "ada", "one").order == "freeze"
print("understood")
"#;
    let said = run(Command::new(tools.join("python"))
        .args(["-c", script, &format!("http://{}", host.address), &host.token])
        .current_dir(tent.folder.path()));
    assert_eq!(said.trim(), "understood");
}

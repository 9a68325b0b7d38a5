//! What `bardo wrap` tells its owner while the program runs, at the moment it happens and once.

use crate::common::Tent;
use crate::wrap::{AGENT, told, wrap};
use crate::wrap_ends::STUBBORN;
use testing::upstream::{Act, Upstream};

/// It stood in the agent's log alone, and its owner read "spent $0.00 on 0 calls".
#[test]
fn a_model_without_a_price_is_told_to_its_owner_at_once_with_the_line_to_paste() {
    let (tent, upstream) = (Tent::bare(), Upstream::start(|_| Act::Honest));
    let program = format!("{AGENT}\nsleep 1.6; echo much-later >&2");
    let mut command = wrap(&tent, &upstream, &["--name", "ada"], &["sh", "-c", &program]);
    command.env_remove("BARDO__GATEWAY__MODELS").env_remove("OPENAI_BASE_URL").env_remove("OPENAI_API_BASE");
    let told = told(&command.output().unwrap());
    let said = "a call to openai/m was refused, because its price is not known here";
    assert_eq!(told.matches(said).count(), 1, "three calls, one word: {told}");
    assert!(told.find(said) < told.find("much-later"), "at the moment it happens: {told}");
    let line = format!("    prices = \"{}/v1/m=1/5, openai/m=IN/OUT\"", upstream.url);
    assert!(told.lines().any(|one| one == line), "{line}: {told}");
    assert!(told.contains("bardo wrap --name ada --price IN/OUT --") && told.contains("bardo.toml"), "{told}");
    assert_eq!(upstream.calls(), 0);
}

#[test]
fn a_purse_that_is_nearly_empty_is_told_once_and_then_that_it_is_empty() {
    let (tent, upstream) = (Tent::bare(), Upstream::start(|_| Act::Honest));
    let log = tent.folder.path().join("refusals");
    let args = ["--credit", "0.02", "--name", "ada", "--wind-up", "2s", "--set", "policy.calls_leap=0"];
    let output = wrap(&tent, &upstream, &args, &["sh", "-c", STUBBORN]).env("LOG", &log).output().unwrap();
    let told = told(&output);
    assert_eq!(output.status.code(), Some(5), "{told}");
    let low = "left of $0.02; `bardo golem fund ada 1` gives it more before its calls are refused";
    let empty = "ada is out of money: a call was refused";
    assert_eq!((told.matches(low).count(), told.matches(empty).count()), (1, 1), "{told}");
    assert!(told.find(low) < told.find(empty), "{told}");
    let again = wrap(&tent, &upstream, &["--name", "ada"], &["true"]).output().unwrap();
    assert!(!self::told(&again).contains("before its calls are refused"), "what it begins with it is told anyway");
}

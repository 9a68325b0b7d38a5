//! A host that has nothing to do takes nothing of its machine, and an order wakes it all the same: one over the API, and one that
//! another process leaves in an inbox.

use std::fs;
use std::time::{Duration, Instant};

use crate::common::Tent;
use crate::common::host::Host;
use golem::Command;
use host::home::inbox::{self, Body};
use serde_json::json;

/// How often the loop of a host, which is its main thread, has gone to sleep and been woken.
fn wakes(host: &Host) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", host.child.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:")).unwrap();
    line.trim().parse().unwrap()
}

fn median(mut spans: Vec<Duration>) -> Duration {
    spans.sort();
    spans[spans.len() / 2]
}

/// The loop of a host once read the folder of bells twenty times a second, the API the inbox a hundred times.
#[test]
fn a_host_without_work_sleeps_and_every_order_wakes_it_at_once() {
    let tent = Tent::new();
    tent.ok(["golem", "new", "ada", "--seed", "1"]);
    // Its only golem is due in the length of an interval, which is longer than this test.
    let host = Host::up(&tent, "1");
    std::thread::sleep(Duration::from_secs(1));
    let before = wakes(&host);
    std::thread::sleep(Duration::from_secs(4));
    let woken = wakes(&host) - before;

    let timed = |order: &mut dyn FnMut(bool)| {
        let spans = (0..9).map(|nth| {
            let began = Instant::now();
            order(nth % 2 == 0);
            began.elapsed()
        });
        median(spans.collect())
    };
    let over_the_api = timed(&mut |pause| {
        let path = if pause { "/v1/golems/ada/pause" } else { "/v1/golems/ada/resume" };
        let (status, answer) = host.order(path, None, "");
        assert_eq!((status, &answer["done"]), (200, &json!(true)), "{answer}");
    });
    let place = tent.golem("ada");
    let by_letter = timed(&mut |pause| {
        let command = if pause { Command::Pause } else { Command::Resume };
        let reply = inbox::send(&place, Body::Command(command)).unwrap();
        let answer = inbox::await_reply(&place, &reply, Duration::from_secs(10)).unwrap();
        assert!(answer.is_some(), "no answer");
    });
    println!(
        "counted: {woken} wakes in 4 s without work; an order takes {over_the_api:?} over the API, {by_letter:?} by letter"
    );
    assert!(woken <= 20, "{woken} wakes in 4 s without work");
    // Found by the scan alone, a letter would wait a second in the mean.
    assert!(over_the_api.max(by_letter) < Duration::from_millis(500), "{over_the_api:?}, {by_letter:?}");
}

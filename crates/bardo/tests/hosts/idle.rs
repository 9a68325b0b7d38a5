//! A host, or a run of one golem, that has nothing to do takes nothing of its machine, and an order wakes it all the same: one over the API, and one that
//! another process leaves in an inbox.

use std::fs;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::common::Tent;
use crate::common::host::Host;
use golem::Command;
use serde_json::json;
use shell::home::inbox::{self, Body};

/// How often the loop of a process, which is its main thread, has gone to sleep and been woken.
fn wakes(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
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
    let before = wakes(host.child.id());
    std::thread::sleep(Duration::from_secs(4));
    let woken = wakes(host.child.id()) - before;

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

/// A run of one golem, ended with the test.
struct RunOfOne(Child);

impl Drop for RunOfOne {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A run once looked into its inbox twenty times a second, paused or waiting.
#[test]
fn a_golem_that_runs_alone_sleeps_while_it_is_paused_or_waits_and_obeys_at_once() {
    let tent = Tent::new();
    tent.ok(["golem", "new", "ada", "--seed", "1"]);
    let mut command = tent.command(["golem", "run", "ada", "--speed", "1"]);
    let run = RunOfOne(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    let place = tent.golem("ada");
    let id = place.wake().unwrap().0.life().id();
    testing::wait::until("it does not run", || place.is_lived(id));
    let tell = |command: Command| {
        let began = Instant::now();
        let reply = inbox::send(&place, Body::Command(command)).unwrap();
        let answer = inbox::await_reply(&place, &reply, Duration::from_secs(10)).unwrap();
        assert!(answer.is_some(), "no answer");
        began.elapsed()
    };
    let idle = || {
        std::thread::sleep(Duration::from_millis(500));
        let before = wakes(run.0.id());
        std::thread::sleep(Duration::from_secs(2));
        wakes(run.0.id()) - before
    };
    let waits = idle();
    tell(Command::Pause);
    let paused = idle();
    let spans = (0..9).map(|nth| tell(if nth % 2 == 0 { Command::Resume } else { Command::Pause }));
    let obeyed = median(spans.collect());
    println!("counted: {waits} wakes in 2 s while it waits, {paused} while it is paused; it obeys in {obeyed:?}");
    assert!(waits.max(paused) <= 24, "{waits} and {paused} wakes in 2 s");
    assert!(obeyed < Duration::from_millis(200), "{obeyed:?}");
}

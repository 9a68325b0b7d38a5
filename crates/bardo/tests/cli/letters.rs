//! Letters are checked before they are believed, keep their order whatever clocks do, and no single one, nor the golem
//! it was written to, stands between an owner and the kill switch.

use std::fs;
use std::process::{Command, Stdio};

use crate::common::{Tent, text};
use golem::{Command as Order, Usdc};
use shell::home::inbox::{self, Body};

fn put(tent: &Tent, name: &str, letter: &str, body: &[u8]) {
    let inbox = tent.golem(name).inbox();
    fs::create_dir_all(&inbox).unwrap();
    fs::write(inbox.join(format!("{letter}.letter")), body).unwrap();
}

fn fund(credit: i64, capital: i64) -> String {
    format!(r#"{{"id":[1,2,3,4,5,6,7,8],"body":{{"fund":{{"credit":{credit},"capital":{capital}}}}}}}"#)
}

fn free(tent: &Tent) -> Usdc {
    tent.home().treasury().unwrap().balance().unwrap()
}

/// A letter that gave less than nothing was posted to the ledger as it stood. The treasury grew, the golem refused the
/// transfer, fell over five times and could never be opened again, even after the letter was gone.
#[test]
fn a_letter_nobody_can_mean_is_refused_and_the_golem_lives_on() {
    let tent = Tent::new();
    tent.ok(["golem", "new", "ada", "--seed", "1"]);
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "5"]);
    let (before, total) = (free(&tent), tent.all_money());
    let huge = i64::MAX;
    for (n, (credit, capital)) in
        [(-5_000_000, 0), (5, -5), (huge, huge), (0, 0), (huge, 1), (i64::MIN, i64::MIN)].into_iter().enumerate()
    {
        let name = format!("{n:022}-1");
        put(&tent, "ada", &name, fund(credit, capital).as_bytes());
        tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "1"]);
        let reply = fs::read_to_string(tent.golem("ada").inbox().join(format!("{name}.reply"))).unwrap();
        assert!(reply.contains("refused"), "{credit}, {capital}: {reply}");
        assert_eq!((free(&tent), tent.all_money()), (before, total), "{credit}, {capital}");
    }
    // What is no letter at all is set aside: a load that is no load, a book, a pipe that nobody writes to.
    put(
        &tent,
        "ada",
        "1-word",
        br#"{"id":[0,0,0,0,0,0,0,9],"body":{"word":{"from":"x","word":{"crisis":{"load":7}}}}}"#,
    );
    put(&tent, "ada", "2-book", &vec![b' '; 1 << 20]);
    let pipe = tent.golem("ada").inbox().join("3-pipe.letter");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "1"]);
    assert!(inbox::waiting(&tent.golem("ada").inbox(), |_| true).unwrap().is_empty());
    tent.ok(["golem", "fund", "ada", "3"]);
    assert_eq!(tent.all_money(), total);
    tent.ok(["golem", "retire", "ada", "--confirm", "ada"]);
    // What was put there by hand was not put there with care.
    tent.ok(["init"]);
    tent.ok(["doctor"]);
}

/// An amount near the end of what a number holds, in the inbox of whoever came first by name, made `halt --all` panic,
/// and nobody was ended.
#[test]
fn one_bad_golem_does_not_stop_the_kill_switch() {
    let tent = Tent::new();
    for name in ["aaa", "bbb", "mid", "zed"] {
        tent.ok(["golem", "new", name, "--seed", "1"]);
    }
    put(&tent, "aaa", "0-huge", fund(i64::MAX, i64::MAX).as_bytes());
    // One whose life nobody can read can only be named.
    fs::write(tent.golem("bbb").database(), "not a life").unwrap();
    let output = tent.run(["halt", "--all", "--yes"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let complaint = text(&output.stderr);
    assert!(!complaint.contains("panicked") && complaint.contains("not ended yet: bbb"), "{complaint}");
    for name in ["aaa", "mid", "zed"] {
        assert!(tent.golem(name).wake().unwrap().0.life().is_dead(), "{name} lives");
    }
}

/// Letters were sorted by the clock on the wall: `pause`, then `resume` from a machine whose clock had gone back an
/// hour, ended in a golem that was paused.
#[test]
fn letters_keep_their_order_when_clocks_go_back() {
    let tent = Tent::new();
    tent.ok(["golem", "new", "ada", "--seed", "1"]);
    let place = tent.golem("ada");
    for n in 0..50 {
        let command = if n % 2 == 0 { Order::Pause } else { Order::Resume };
        inbox::send(&place, Body::Command(command)).unwrap();
    }
    // One by an older program, which numbered them by its clock.
    let newest = "0001700000000000000000-7.letter";
    fs::write(place.inbox().join(newest), r#"{"id":[7,0,0,0,0,0,0,0],"body":{"command":{"command":"pause"}}}"#)
        .unwrap();
    let mut back = tent.command(["golem", "resume", "ada"]);
    let stopped = Stopped::live(&tent, "ada");
    back.stdout(Stdio::null()).status().unwrap();
    stopped.go_on();
    let waiting = inbox::waiting(&place.inbox(), |_| true).unwrap();
    let orders: Vec<&Body> = waiting.iter().map(|(_, letter)| &letter.body).collect();
    assert_eq!(orders.last(), Some(&&Body::Command(Order::Resume)), "what was said last comes last");
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "1"]);
    assert!(!tent.golem("ada").wake().unwrap().0.life().heartbeat().paused);
}

/// Holds the lock of a life and does nothing, as a process that was stopped does.
struct Stopped {
    _head: vault::Head,
}

impl Stopped {
    fn live(tent: &Tent, name: &str) -> Stopped {
        let id = tent.golem(name).wake().unwrap().0.life().id();
        Stopped { _head: vault::Head::open(&tent.home().heads(), id).unwrap() }
    }

    fn go_on(self) {}
}

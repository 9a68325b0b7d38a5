//! A clock that is set: what passed is lived and the leap is not, it is told of, and whoever owns the machine is asked.

use std::process::Output;

use golem::{Life, Span};

use crate::common::{Tent, text};
use crate::three_homes::{clocked, library};

fn life(tent: &Tent) -> Life {
    tent.golem("ada").wake().unwrap().0.life().clone()
}

fn given(tent: &Tent, library: &str, days: i64, args: &[&str]) -> Output {
    let command = tent.command(args);
    let mut command = if days == 0 { command } else { clocked(command, library, days) };
    command.output().unwrap()
}

/// Three ticks under a clock that is so many days off; what is complained of.
fn runs(tent: &Tent, library: &str, days: i64) -> String {
    let before = life(tent);
    let output = given(tent, library, days, &["golem", "run", "ada", "--ticks", "3"]);
    let told = text(&output.stderr);
    assert!(output.status.success(), "{told}");
    assert_eq!(life(tent).tick(), before.tick() + 3, "it lives: {told}");
    told
}

/// One start ten years ahead left a golem there for good, without ticks and out of budget, and `doctor` said that all is
/// well.
#[test]
fn a_clock_that_leaps_is_told_of_and_asked_about_and_never_lived() {
    let Some(library) = library() else {
        assert!(std::env::var_os("BARDO_REALPARTS").is_none(), "faketime is needed here");
        eprintln!("\n*** SKIPPED: wrong clocks need faketime ***\n");
        return;
    };
    let tent = Tent::new();
    let pace = ["--interval", "1s", "--set", "world.bar=1s", "--set", "mortality.stochastic.enabled=false"];
    tent.ok([&["golem", "new", "ada", "--world", "checks", "--credit", "2"], &pace[..]].concat());
    assert!(!runs(&tent, &library, 0).contains("not believed"));
    let began = life(&tent).now();
    // A day ahead would renew the money of a day, and so might two.
    for (days, how) in [(3_650, "ahead of"), (1, "ahead of"), (2, "ahead of"), (-2, "behind")] {
        let told = runs(&tent, &library, days);
        assert!(told.contains(how) && told.contains("not believed") && told.contains("bardo clock --right"), "{told}");
        assert!(life(&tent).now().since(began) < Span::DAY, "the leap is not lived");
        let examined = given(&tent, &library, days, &["doctor"]);
        let said = text(&examined.stdout);
        assert!(examined.status.code() == Some(1) && said.contains("is not believed"), "{said}");
        assert_eq!(given(&tent, &library, days, &["clock"]).status.code(), Some(1));
        // Right again, it goes on as if nothing had been.
        assert!(!runs(&tent, &library, 0).contains("not believed"));
        tent.ok(["clock"]);
    }
    tent.ok(["doctor"]);
    // Whoever owns the machine may know better.
    assert!(given(&tent, &library, 400, &["clock", "--right"]).status.success());
    assert!(!runs(&tent, &library, 400).contains("not believed"));
    assert!(life(&tent).now().since(began) > Span::DAY.times(399));
}

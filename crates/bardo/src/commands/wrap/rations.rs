//! What a program may take beside money: what was said on the command line, as settings of its golem's policy.

use golem::call::Unit;
use shell::Error;

use crate::args::{Ration, WrapArgs};

/// As `--set` would say them. A cap for a day stands beside one in all.
pub(super) fn settings(args: &WrapArgs) -> Result<Vec<String>, Error> {
    let said = [(Unit::Tokens, &args.tokens), (Unit::Calls, &args.calls), (Unit::Hours, &args.hours)];
    let mut settings = Vec::new();
    for (unit, rations) in said {
        for a_day in [false, true] {
            let mut of_those = rations.iter().filter(|ration| ration.a_day == a_day);
            let Some(Ration { most, .. }) = of_those.next() else { continue };
            if of_those.next().is_some() {
                let name = unit.name();
                let what = if a_day { "a day" } else { "in all" };
                return Err(Error::Usage(format!("--{name} gives two caps {what}; leave one of them out")));
            }
            let millis = if unit == Unit::Hours { "ms" } else { "" };
            settings.push(format!("{}={most}{millis}", unit.key(a_day)));
        }
    }
    Ok(settings)
}

/// Whether what is said bounds what a program can use up, so that no sum has to.
pub(super) fn stand_for_money(args: &WrapArgs) -> bool {
    !(args.tokens.is_empty() && args.calls.is_empty())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Args, Verb};

    fn typed(flags: &[&str]) -> Result<Vec<String>, String> {
        let line = [&["bardo", "wrap"][..], flags, &["--", "true"]].concat();
        match Args::try_parse_from(line).map_err(|why| why.to_string())?.verb {
            Some(Verb::Wrap(args)) => settings(&args).map_err(|why| why.to_string()),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn caps_are_said_in_all_and_for_a_day() {
        let all = ["--tokens", "2M", "--tokens", "500k/day", "--calls", "1_000", "--hours", "0.5", "--hours", "8h/day"];
        let settings = typed(&all).unwrap();
        let expected = [
            "policy.cap.tokens=2000000",
            "policy.cap.tokens_per_day=500000",
            "policy.cap.calls=1000",
            "policy.cap.time=1800000ms",
            "policy.cap.time_per_day=28800000ms",
        ];
        assert_eq!(settings, expected);
        assert_eq!(typed(&["--tokens", "1.25M"]).unwrap(), ["policy.cap.tokens=1250000"]);
        assert_eq!(typed(&[]).unwrap(), [""; 0]);
    }

    #[test]
    fn what_is_no_cap_is_refused_with_one_that_is() {
        for wrong in ["2X", "-1", "1.5", "1/week", "/day", "1.2345k", "9999999999999999999", "2 M"] {
            let refused = typed(&[&format!("--tokens={wrong}")]).unwrap_err();
            assert!(refused.contains("500k/day"), "{wrong}: {refused}");
        }
        for wrong in ["0", "0.0001", "1d"] {
            assert!(typed(&["--hours", wrong]).unwrap_err().contains("8/day"), "{wrong}");
        }
        assert!(typed(&["--calls", "5", "--calls", "6"]).unwrap_err().contains("in all"));
    }
}

//! What is found, in words and small tables.

use age::{Axis, Estimate, Finding, Measure, RateRow, Shelf, Study, Verdict, When};

use crate::args::AgeArgs;
use crate::output::{complain, count, line};

pub(super) fn say(studies: &[Study], shelf: &Shelf<'_>, args: &AgeArgs) {
    if studies.is_empty() {
        line(match args.paths.is_empty() {
            true => "no agent has left any records in the places where they are kept; name a folder that has some",
            false => "nothing there is a record of a known agent",
        });
    }
    for (at, study) in studies.iter().enumerate() {
        if at > 0 {
            line("");
        }
        one(study, args.by.is_some());
    }
    for (harness, lines) in &shelf.lines {
        let told = [(lines.unknown, "of a kind unknown here"), (lines.unreadable, "that could not be read")];
        for (many, which) in told.into_iter().filter(|(many, _)| *many > 0) {
            let all = count(lines.read);
            complain(format!("{}: {} of {all} lines {which}; they were left out", harness.name(), count(many)));
        }
    }
}

fn one(study: &Study, named: bool) {
    if named {
        line(&study.of);
    }
    line(head(study));
    line("");
    line(format!("age        {}", verdict(study)));
    for found in study.findings.iter().filter(|found| found.axis == Axis::Calls) {
        line(format!("           {}", finding(found)));
    }
    for axis in Axis::ALL {
        table(study, axis);
    }
    ends(study);
    for fresh in study.compactions.iter().filter(|fresh| fresh.compactions > 0) {
        let changed = match fresh.change {
            Some(change) => format!("{} by {}", fresh.measure.name(), estimate(fresh.measure, &change)),
            None => format!("{}: too few to tell", fresh.measure.name()),
        };
        let many = count(fresh.compactions as u64);
        line(format!("compacted  {many} times with lives of the same age to compare; it changed {changed}"));
    }
    line(format!("start over {}", start_over(study)));
}

/// So many of a thing whose name takes an s.
fn of(many: u64, name: &str) -> String {
    format!("{} {name}{}", count(many), if many == 1 { "" } else { "s" })
}

pub(super) fn lives(many: u64) -> String {
    format!("{} {}", count(many), if many == 1 { "life" } else { "lives" })
}

/// How many there are, and what they cost.
pub(super) fn head(study: &Study) -> String {
    let names: Vec<String> = study
        .harnesses
        .iter()
        .map(|(harness, lives)| format!("{} of {}", count(*lives as u64), harness.name()))
        .collect();
    let unpriced = match study.unpriced {
        0 => String::new(),
        many => format!(", {} of them without a price", count(many as u64)),
    };
    let helpers = match study.helpers {
        0 => String::new(),
        many => format!(" and {}", of(many as u64, "helper")),
    };
    format!(
        "{}{helpers} ({}), {}{unpriced}, {} at the book's prices",
        lives(study.lives as u64),
        names.join(", "),
        of(study.calls as u64, "call"),
        dollars(study.cost as f64)
    )
}

pub(super) fn verdict(study: &Study) -> &'static str {
    match study.verdict() {
        Verdict::TooFew => {
            "too few to tell: at least eight lives of like length are needed, and fifty times that something went wrong"
        }
        Verdict::NoSign => "no sign of age in what goes wrong",
        Verdict::Unsure => "cannot be told: more goes wrong with age, or it does not; lives differ too much to say",
        Verdict::Age => "more goes wrong with age, within the same lives",
    }
}

pub(super) fn finding(found: &Finding) -> String {
    let told = match found.rise {
        Some(rise) => {
            let (from, to) = match found.axis {
                Axis::Calls => ("10th call", "200th"),
                Axis::Context => ("first fifth of the context", "last"),
            };
            format!("from the {from} to the {to} {}", estimate(found.measure, &rise))
        }
        None => "nothing to compare".to_owned(),
    };
    let why = match found.verdict {
        Verdict::TooFew => " (too few to tell)",
        Verdict::NoSign => " (no sign of age)",
        Verdict::Unsure => " (could be either)",
        Verdict::Age => " (age)",
    };
    format!("{:<22} {told}{why}", found.measure.name())
}

/// `+1.2 points (-0.3 to +2.7)`, or in dollars.
pub(super) fn estimate(measure: Measure, estimate: &Estimate) -> String {
    let Estimate { value, low, high } = *estimate;
    if measure.is_rate() {
        format!("{:+.1} points ({:+.1} to {:+.1})", value * 100.0, low * 100.0, high * 100.0)
    } else {
        let signed = |micros: f64| format!("{}{}", if micros < 0.0 { "-" } else { "+" }, dollars(micros.abs()));
        format!("{} ({} to {})", signed(value), signed(low), signed(high))
    }
}

fn table(study: &Study, axis: Axis) {
    let rows: Vec<&RateRow> = study.rows.iter().filter(|row| row.axis == axis && row.chances > 0.0).collect();
    if rows.is_empty() {
        return;
    }
    line("");
    let parts = axis.parts();
    let about = match axis {
        Axis::Context => "by how full the context is",
        Axis::Calls => "by calls since birth",
    };
    let head: Vec<String> = parts.iter().map(|(part, _)| format!("{part:>10}")).collect();
    line(format!("{about:<28}{}", head.join("")));
    for measure in Measure::ALL {
        let of = |part: &str| rows.iter().find(|row| row.measure == measure && row.part == part).copied();
        if parts.iter().all(|(part, _)| of(part).is_none()) {
            continue;
        }
        let cells = |told: &dyn Fn(&RateRow) -> String| -> String {
            parts.iter().map(|(part, _)| format!("{:>10}", of(part).map_or_else(String::new, told))).collect()
        };
        line(format!(
            "{:<28}{}",
            measure.name(),
            cells(&|row| row.rate.map_or_else(String::new, |rate| figure(measure, rate)))
        ));
        let against = |row: &RateRow| {
            row.same_lives.map_or_else(String::new, |same| {
                let sure = if same.low > 0.0 || same.high < 0.0 { "*" } else { "" };
                format!("{}{sure}", change(measure, same.value))
            })
        };
        line(format!("{:<28}{}", "  within the same lives", cells(&against)));
    }
    line(format!(
        "{:<28}{}",
        "", "against the first part, in lives that have both; * where the interval of 95 % leaves nothing out"
    ));
}

pub(super) fn figure(measure: Measure, value: f64) -> String {
    if measure.is_rate() { format!("{:.1} %", value * 100.0) } else { dollars(value) }
}

fn change(measure: Measure, value: f64) -> String {
    if measure.is_rate() {
        format!("{:+.1}", value * 100.0)
    } else {
        format!("{}{}", if value < 0.0 { "-" } else { "+" }, dollars(value.abs()))
    }
}

fn ends(study: &Study) {
    if study.survival.steps.is_empty() {
        return;
    }
    line("");
    line(format!(
        "{:<28}{:>10}{:>22}{:>10}{:>12}{:>8}{:>6}",
        "ends, by calls", "go on", "", "finished", "interrupted", "failed", "cut"
    ));
    for step in &study.survival.steps {
        let percent = |part: f64| format!("{:.0} %", part * 100.0);
        let between = format!("({} to {})", percent(step.low), percent(step.high));
        let [finished, interrupted, failed, cut] = step.ended.map(percent);
        let after = format!("after {} ({})", count(step.calls as u64), lives(step.at_risk as u64));
        line(format!(
            "{after:<28}{:>10}{between:>22}{finished:>10}{interrupted:>12}{failed:>8}{cut:>6}",
            percent(step.alive)
        ));
    }
    line("");
}

/// After how many calls, or that there is no reason to.
pub(super) fn start_over(study: &Study) -> String {
    let Some(When { calls, low, high, handover, said, each, never }) = study.when else {
        return match study.verdict() {
            Verdict::TooFew | Verdict::Unsure => "too few to tell whether it would help".to_owned(),
            Verdict::NoSign if study.findings.iter().any(|finding| finding.verdict == Verdict::Age) => {
                "what rises with age is said above; too little is known here to say when starting over pays".to_owned()
            }
            Verdict::NoSign => "there is no reason to: nothing found here rises with age".to_owned(),
            Verdict::Age => "it ages, and too few lives are long enough to say when; or nothing says what starting over costs (--handover)".to_owned(),
        };
    };
    let from = if said { "as you say" } else { "which is what lives spent before they first changed a file" };
    format!(
        "after {} calls ({} to {}): `bardo wrap --retire-after {calls}`. A hand-over costs {}, {from}; with it age costs {} a call, \
         and without {}",
        count(calls as u64),
        count(low as u64),
        count(high as u64),
        dollars(handover),
        dollars(each),
        dollars(never)
    )
}

/// Micro-dollars.
pub(super) fn dollars(micros: f64) -> String {
    let dollars = micros / 1e6;
    if dollars >= 1.0 || dollars == 0.0 { format!("${dollars:.2}") } else { format!("${dollars:.4}") }
}

//! What the figures say, by rules that were fixed before there were any, and a report written from them alone.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Serialize;

use super::seal::Seal;
use super::stats::{self, Difference, Rehearsed};
use super::work::{Done, Tuned};
use super::{Experiment, Phase};
use crate::tables::Table;

/// Repetitions of the rehearsal, and draws in each: enough to tell one in twenty from one in fifteen.
const REHEARSALS: (usize, usize) = (1_000, 500);

#[derive(Clone, Debug, Serialize)]
pub struct Findings {
    pub name: String,
    pub question: String,
    /// Of the experiment, its data, and what was tuned: sealed before any path was opened that is reported on.
    pub seal: String,
    pub thesis: String,
    pub places: Vec<WorldFinding>,
    pub tuned: Tuned,
    pub rehearsal: Vec<(String, Rehearsed)>,
    /// By world: what holds at every setting and in every sample, in words.
    pub answers: Vec<(String, String)>,
    /// The answer to the question as a whole.
    pub verdict: Vec<String>,
    pub ticks: u64,
}

/// One world, one setting of the mind, one place of the dial, one sample.
#[derive(Clone, Debug, Serialize)]
pub struct WorldFinding {
    pub phase: Phase,
    pub world: String,
    pub mind: String,
    pub dial: f64,
    /// Whether this is the place of the dial that the question is about.
    pub main: bool,
    pub paths: usize,
    pub arms: Vec<Mean>,
    /// The thesis beside each control.
    pub against: Vec<(String, Difference)>,
    pub twin: Option<Difference>,
    pub beside: Vec<(String, String, Difference)>,
    /// How easily luck would have done as much against the hardest control; and when all worlds are counted.
    pub luck: f64,
    pub luck_of_all: f64,
    pub verdict: Verdict,
}

/// An arm by itself.
#[derive(Clone, Debug, Serialize)]
pub struct Mean {
    pub arm: String,
    pub skill: Option<f64>,
    pub early: Option<f64>,
    pub after: Option<f64>,
    /// Lives in a line, on average.
    pub lives: f64,
    /// How they ended.
    pub endings: BTreeMap<String, u64>,
    pub borne_out: Option<f64>,
    /// Dollars that a line cost.
    pub spent: f64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Than each control.
    Better,
    /// Than these.
    Worse(Vec<String>),
    /// As each of them, to within what is worth having.
    Alike,
    /// Cannot be told from these.
    Open(Vec<String>),
}

impl Verdict {
    fn words(&self) -> String {
        match self {
            Verdict::Better => "better than every control".to_owned(),
            Verdict::Worse(than) => format!("worse than {}", than.join(", ")),
            Verdict::Alike => "no difference worth having".to_owned(),
            Verdict::Open(from) => format!("cannot be told from {}", from.join(", ")),
        }
    }
}

impl Phase {
    pub fn name(self) -> &'static str {
        match self {
            Phase::Tuning => "tuning",
            Phase::Reporting => "first sample",
            Phase::Again => "second sample",
        }
    }
}

/// All of it, from what was done.
pub fn findings(experiment: &Experiment, done: &[Done], tuned: &Tuned, seal: &str) -> Findings {
    let mut places = Vec::new();
    for phase in [Phase::Reporting, Phase::Again] {
        for (world, place) in experiment.worlds.iter().enumerate() {
            for (mind, setting) in experiment.minds.iter().enumerate() {
                for (dial, at) in experiment.dial(place).into_iter().enumerate() {
                    let here = |d: &&Done| {
                        (d.unit.phase, d.unit.world, d.unit.mind, d.unit.dial) == (phase, world, mind, dial)
                    };
                    let mut here: Vec<&Done> = done.iter().filter(here).collect();
                    here.sort_by_key(|d| d.unit.path);
                    if !here.is_empty() {
                        let named = (phase, place.name.clone(), setting.name.clone(), at, dial == 0);
                        places.push(found(experiment, &here, named));
                    }
                }
            }
        }
    }
    over_worlds(experiment, &mut places);
    let rehearsal = rehearsal(experiment, done);
    let answers = answers(experiment, &places);
    let verdict = verdict(experiment, &places);
    let ticks = done.iter().flat_map(|d| d.fared.values()).map(|fared| fared.ticks).sum();
    let (name, question) = (experiment.name.clone(), experiment.question.clone());
    let (thesis, seal, tuned) = (experiment.analysis.thesis.clone(), seal.to_owned(), tuned.clone());
    Findings { name, question, seal, thesis, places, tuned, rehearsal, answers, verdict, ticks }
}

/// Differences of two arms, path by path, where both were measured.
fn differences(here: &[&Done], one: &str, other: &str) -> Vec<f64> {
    let skill = |d: &Done, arm: &str| d.fared.get(arm).and_then(|fared| fared.skill);
    here.iter().filter_map(|d| Some(skill(d, one)? - skill(d, other)?)).collect()
}

fn found(experiment: &Experiment, here: &[&Done], named: (Phase, String, String, f64, bool)) -> WorldFinding {
    let (phase, world, mind, dial, main) = named;
    let analysis = &experiment.analysis;
    let held = |one: &str, other: &str| stats::difference(&differences(here, one, other), analysis.draws);
    let against: Vec<(String, Difference)> = analysis
        .against
        .iter()
        .filter_map(|control| Some((control.clone(), held(&analysis.thesis, control)?)))
        .collect();
    let beside =
        analysis.beside.iter().filter_map(|(one, other)| Some((one.clone(), other.clone(), held(one, other)?)));
    // Who could not be held against one of them has not beaten it.
    let missing = against.len() < analysis.against.len();
    let luck = if missing { 1.0 } else { against.iter().map(|(_, d)| d.better).fold(0.0, f64::max) };
    WorldFinding {
        phase,
        world,
        mind,
        dial,
        main,
        paths: here.len(),
        arms: experiment.arms.iter().map(|arm| mean_of(here, &arm.name)).collect(),
        twin: held(&analysis.thesis, &analysis.twin),
        beside: beside.collect(),
        luck,
        luck_of_all: 1.0,
        verdict: Verdict::Alike,
        against,
    }
}

fn mean_of(here: &[&Done], arm: &str) -> Mean {
    let all: Vec<_> = here.iter().filter_map(|d| d.fared.get(arm)).collect();
    let mean = |values: Vec<f64>| (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
    let lives = || all.iter().flat_map(|fared| &fared.lives);
    let mut endings = BTreeMap::new();
    lives().for_each(|lived| *endings.entry(lived.ending.clone()).or_default() += 1);
    let lines = all.len().max(1) as f64;
    Mean {
        arm: arm.to_owned(),
        skill: mean(all.iter().filter_map(|fared| fared.skill).collect()),
        early: mean(all.iter().filter_map(|fared| fared.early).collect()),
        after: mean(all.iter().filter_map(|fared| fared.after).collect()),
        lives: lives().count() as f64 / lines,
        endings,
        borne_out: mean(lives().filter_map(|lived| lived.borne_out).collect()),
        spent: lives().map(|lived| lived.spent as f64).sum::<f64>() / 1e6 / lines,
    }
}

/// Corrects each claim for the number of worlds it was made in, and each loss for all worlds and all controls.
fn over_worlds(experiment: &Experiment, places: &mut [WorldFinding]) {
    let analysis = &experiment.analysis;
    let groups: Vec<(Phase, String)> = places.iter().map(|found| (found.phase, found.mind.clone())).collect();
    for group in groups.iter().collect::<std::collections::BTreeSet<_>>() {
        let at = |main: bool| -> Vec<usize> {
            (0..places.len()).filter(|n| groups[*n] == *group && places[*n].main == main).collect()
        };
        for members in [at(true), at(false)] {
            let better = stats::holm(&members.iter().map(|n| places[*n].luck).collect::<Vec<_>>());
            let all: Vec<(usize, usize, f64)> = members
                .iter()
                .flat_map(|n| places[*n].against.iter().enumerate().map(|(c, (_, d))| (*n, c, d.worse)))
                .collect();
            let worse = stats::holm(&all.iter().map(|(_, _, p)| *p).collect::<Vec<_>>());
            for (n, luck) in members.iter().zip(better) {
                let than =
                    |c: usize| all.iter().zip(&worse).any(|((m, d, _), p)| m == n && *d == c && *p <= analysis.alpha);
                let found = &mut places[*n];
                let named = |keep: &dyn Fn(usize, &Difference) -> bool| -> Vec<String> {
                    let kept = found.against.iter().enumerate().filter(|(c, (_, d))| keep(*c, d));
                    kept.map(|(_, (name, _))| name.clone()).collect()
                };
                let worse_than = named(&|c, _| than(c));
                let unsure = named(&|_, d| d.low < -analysis.smallest || d.high > analysis.smallest);
                let undecided = named(&|_, d| d.low <= 0.0);
                let verdict = if luck <= analysis.alpha {
                    Verdict::Better
                } else if !worse_than.is_empty() {
                    Verdict::Worse(worse_than)
                } else if unsure.is_empty() {
                    Verdict::Alike
                } else {
                    Verdict::Open(if undecided.is_empty() { unsure } else { undecided })
                };
                (found.luck_of_all, found.verdict) = (luck, verdict);
            }
        }
    }
}

/// The analysis itself, tried on twins of every world.
fn rehearsal(experiment: &Experiment, done: &[Done]) -> Vec<(String, Rehearsed)> {
    let analysis = &experiment.analysis;
    let of = |(world, place): (usize, &super::DialWorld)| {
        let here = |d: &&Done| {
            d.unit.phase == Phase::Reporting && d.unit.world == world && d.unit.dial == 0 && d.unit.mind == 0
        };
        let mut here: Vec<&Done> = done.iter().filter(here).collect();
        here.sort_by_key(|d| d.unit.path);
        let twins = differences(&here, &analysis.thesis, &analysis.twin);
        let told = stats::rehearse(&twins, analysis.smallest, analysis.alpha, REHEARSALS.0, REHEARSALS.1)?;
        Some((place.name.clone(), told))
    };
    experiment.worlds.iter().enumerate().filter_map(of).collect()
}

/// By world: what holds at every setting of the mind and in every sample.
fn answers(experiment: &Experiment, places: &[WorldFinding]) -> Vec<(String, String)> {
    let answer = |place: &super::DialWorld| {
        let mine: Vec<&WorldFinding> = places.iter().filter(|found| found.main && found.world == place.name).collect();
        let minds =
            if experiment.minds.len() > 1 { "at every setting of the mind" } else { "at the one setting of the mind" };
        let twice = mine.iter().any(|found| found.phase == Phase::Again);
        let samples = if twice { "in both samples" } else { "in the one sample" };
        let worse = || {
            let mut common: Option<Vec<String>> = None;
            for found in &mine {
                let Verdict::Worse(than) = &found.verdict else { return None };
                common = Some(match common {
                    None => than.clone(),
                    Some(before) => before.into_iter().filter(|name| than.contains(name)).collect(),
                });
            }
            common.filter(|names| !names.is_empty())
        };
        let all = |verdict: &Verdict| !mine.is_empty() && mine.iter().all(|found| found.verdict == *verdict);
        let open = || {
            let mut names: Vec<&String> = Vec::new();
            for found in &mine {
                let Verdict::Open(from) = &found.verdict else { return None };
                names.extend(from.iter().filter(|name| !names.contains(name)).collect::<Vec<_>>());
            }
            Some(names.into_iter().cloned().collect::<Vec<_>>().join(", "))
        };
        let words = if mine.is_empty() {
            "Nothing was run.".to_owned()
        } else if all(&Verdict::Better) {
            format!("It did better than every control, {minds} and {samples}.")
        } else if let Some(than) = worse() {
            format!("It did worse than {}, {minds} and {samples}.", than.join(" and "))
        } else if all(&Verdict::Alike) {
            format!(
                "It did as well as every control, to within {}, {minds} and {samples}.",
                experiment.analysis.smallest
            )
        } else if let Some(from) = open() {
            format!("It cannot be told from {from}: there are too few paths, or there is nothing to tell.")
        } else {
            let each: Vec<String> =
                mine.iter().map(|f| format!("{} ({}): {}", f.mind, f.phase.name(), f.verdict.words())).collect();
            format!("No result: it does not come out the same. {}.", each.join("; "))
        };
        (place.name.clone(), words)
    };
    experiment.worlds.iter().map(answer).collect()
}

/// The places of a dial from never to always: 0 is never, and fewer days are more often.
pub fn along_the_dial<'a>(places: &'a [WorldFinding], world: &str, mind: &str, phase: Phase) -> Vec<&'a WorldFinding> {
    let mut all: Vec<&WorldFinding> =
        places.iter().filter(|f| f.world == world && f.mind == mind && f.phase == phase).collect();
    let often = |f: &&WorldFinding| if f.dial == 0.0 { 0.0 } else { 1.0 / f.dial };
    all.sort_by(|a, b| often(a).total_cmp(&often(b)));
    all
}

/// The control that came nearest to the thesis or furthest ahead of it.
pub fn hardest(found: &WorldFinding) -> Option<&(String, Difference)> {
    found.against.iter().min_by(|a, b| a.1.mean.total_cmp(&b.1.mean))
}

/// Whether somewhere between never and always the thesis stands clearly better than at both ends.
fn inverted(dial: &[&WorldFinding]) -> Option<bool> {
    let all: Vec<&Difference> = dial.iter().filter_map(|f| hardest(f).map(|(_, d)| d)).collect();
    let [first, middle @ .., last] = &all[..] else { return None };
    (!middle.is_empty()).then(|| middle.iter().any(|d| d.low > first.high && d.low > last.high))
}

fn verdict(experiment: &Experiment, places: &[WorldFinding]) -> Vec<String> {
    let main = || places.iter().filter(|found| found.main);
    let won = |found: &&WorldFinding| found.verdict == Verdict::Better;
    let all = main().count();
    let thesis = &experiment.analysis.thesis;
    let mut told = vec![format!(
        "In {} of {all} comparisons (world × setting × sample) {thesis} did better than every control; in {} it did worse than at least one.",
        main().filter(won).count(),
        main().filter(|found| matches!(found.verdict, Verdict::Worse(_))).count()
    )];
    for (_, dials) in dials(experiment, places) {
        let (shown, of) = dials.iter().fold((0, 0), |(shown, of), dial| match inverted(dial) {
            Some(yes) => (shown + usize::from(yes), of + 1),
            None => (shown, of),
        });
        if of > 0 {
            told.push(format!("An inverted U over the dial shows in {shown} of {of} rows (world × setting)."));
        }
    }
    let order = |mind: &str| -> Vec<(String, bool)> {
        main()
            .filter(|f| f.mind == mind && f.phase == Phase::Reporting)
            .map(|f| (f.world.clone(), hardest(f).is_some_and(|(_, d)| d.mean > 0.0)))
            .collect()
    };
    let apart: Vec<String> = main()
        .filter(|found| found.twin.is_some_and(|twin| twin.mean.abs() > experiment.analysis.nothing))
        .map(|found| format!("{} ({}, {})", found.world, found.mind, found.phase.name()))
        .collect();
    let nothing = experiment.analysis.nothing;
    told.push(if apart.is_empty() {
        format!("Twins are within {nothing} of each other everywhere.")
    } else {
        format!(
            "Twins lie more than {nothing} apart in {}: differences as small as theirs mean nothing there.",
            apart.join(", ")
        )
    });
    if let [one, other, ..] = &experiment.minds[..] {
        let turned: Vec<String> = order(&one.name)
            .into_iter()
            .zip(order(&other.name))
            .filter(|(a, b)| a.1 != b.1)
            .map(|(a, _)| a.0)
            .collect();
        told.push(if turned.is_empty() {
            "The sign of the answer is the same at both settings of the mind in every world.".to_owned()
        } else {
            format!("The sign of the answer turns with the setting of the mind in {}.", turned.join(", "))
        });
    }
    told
}

/// Rows of one sample along the dial, by world and setting.
fn dials<'a>(experiment: &Experiment, places: &'a [WorldFinding]) -> Vec<(Phase, Vec<Vec<&'a WorldFinding>>)> {
    let rows = |phase: Phase| {
        let both = experiment.worlds.iter().flat_map(|w| experiment.minds.iter().map(move |m| (w, m)));
        let rows = both.map(|(world, mind)| along_the_dial(places, &world.name, &mind.name, phase));
        (phase, rows.filter(|row| row.len() > 1).collect::<Vec<_>>())
    };
    vec![rows(Phase::Reporting)]
}

/// A row for each path and arm; one for each life; one for each note.
pub fn tables(experiment: &Experiment, done: &[Done]) -> [(&'static str, Table); 3] {
    let (mut arms, mut lives, mut notes) = (Table::default(), Table::default(), Table::default());
    let mut done: Vec<&Done> = done.iter().filter(|d| d.unit.phase != Phase::Tuning).collect();
    done.sort_by(|a, b| a.unit.cmp(&b.unit));
    for d in done {
        let place = &experiment.worlds[d.unit.world];
        let dial = experiment.dial(place)[d.unit.dial];
        let mind = experiment.minds[d.unit.mind].name.as_str();
        let every = experiment.budget(place).note_every;
        for (arm, fared) in &d.fared {
            let row = || {
                [
                    ("sample", d.unit.phase.name().into()),
                    ("world", place.name.as_str().into()),
                    ("dial", dial.into()),
                    ("mind", mind.into()),
                    ("path", d.unit.path.into()),
                    ("arm", arm.as_str().into()),
                ]
            };
            let [a, b, c, e, f, g] = row();
            let rest = [("skill", fared.skill.into()), ("early", fared.early.into()), ("after", fared.after.into())];
            let [h, i, j] = rest;
            arms.push([a, b, c, e, f, g, h, i, j, ("ticks", fared.ticks.into())]);
            for lived in &fared.lives {
                let [a, b, c, e, f, g] = row();
                lives.push([
                    a,
                    b,
                    c,
                    e,
                    f,
                    g,
                    ("strand", lived.strand.into()),
                    ("sibling", lived.sibling.into()),
                    ("generation", lived.generation.into()),
                    ("born", lived.born.into()),
                    ("ticks", lived.ticks.into()),
                    ("ending", lived.ending.as_str().into()),
                    ("skill", lived.skill.into()),
                    ("fitness", lived.fitness.into()),
                    ("entries_left", lived.left.into()),
                    ("borne_out", lived.borne_out.into()),
                    ("spent_micros", lived.spent.into()),
                ]);
            }
            for (number, skill) in fared.notes.iter().enumerate() {
                let [a, b, c, e, f, g] = row();
                notes.push([
                    a,
                    b,
                    c,
                    e,
                    f,
                    g,
                    ("tick", ((number as u64 + 1) * every).into()),
                    ("skill", (*skill).into()),
                ]);
            }
        }
    }
    [("arms", arms), ("lives", lives), ("notes", notes)]
}

fn signed(value: f64) -> String {
    format!("{}{:.4}", if value < 0.0 { "−" } else { "+" }, value.abs())
}

fn range(d: &Difference) -> String {
    if d.paths < 2 {
        return format!("{} (one path)", signed(d.mean));
    }
    format!("{} ({} to {})", signed(d.mean), signed(d.low), signed(d.high))
}

fn chance(value: Option<f64>) -> String {
    value.map_or("not known".to_owned(), |value| format!("{value:.3}"))
}

fn share(value: Option<f64>) -> String {
    value.map_or("–".to_owned(), signed)
}

/// The report, from the numbers alone.
pub fn markdown(experiment: &Experiment, findings: &Findings, seal: &Seal) -> String {
    let mut text = String::new();
    let analysis = &experiment.analysis;
    let _ = writeln!(text, "# {}\n\n{}\n", findings.name, findings.question);
    let _ = writeln!(text, "## Answer\n");
    for line in &findings.verdict {
        let _ = writeln!(text, "- {line}");
    }
    let _ = writeln!(text);
    for (world, answer) in &findings.answers {
        let _ = writeln!(text, "- **{world}**: {answer}");
    }
    let controls = analysis.against.join(", ");
    let _ = writeln!(
        text,
        "\nClaimed: *{}* does better than each of {controls}. Skill is the share of naive's error that was saved, over every \
         claim from tick {} on. The unit is a path; intervals hold 95 in 100 of {} draws of paths, or are Student's where \
         there are fewer than thirty. A claim counts against its hardest control, and over all worlds by Holm at {}. Sealed before \
         the first reported path was opened: `{}`.\n",
        findings.thesis, experiment.budget.from, analysis.draws, analysis.alpha, findings.seal
    );
    for found in findings.places.iter().filter(|found| found.main) {
        place(&mut text, found, findings);
    }
    dial_rows(&mut text, experiment, findings);
    let _ = writeln!(
        text,
        "## The analysis, rehearsed on twins\n\n| world | took nothing for something | found {} that was planted | as often as was to be expected |\n| --- | --- | --- | --- |",
        analysis.smallest
    );
    for (world, r) in &findings.rehearsal {
        let _ = writeln!(text, "| {world} | {:.3} | {:.3} | {} |", r.false_alarms, r.found, chance(r.power));
    }
    let _ = writeln!(
        text,
        "\n## What it was able to show, said beforehand\n\nFrom the tuning paths, on which those who end with mortal are not run.\n\n| world, mind | paths | widest deviation on a path | chance to find {} |\n| --- | --- | --- | --- |",
        analysis.smallest
    );
    for p in &seal.power {
        let _ = writeln!(text, "| {}, {} | {} | {:.4} | {} |", p.world, p.mind, p.paths, p.deviation, chance(p.power));
    }
    let _ = writeln!(text, "\n## What arms were tuned to\n\n| world, mind, arm | setting |\n| --- | --- |");
    for (key, keys) in &findings.tuned {
        let keys: Vec<String> = keys.iter().map(|(key, value)| format!("`{key}` {value}")).collect();
        let _ = writeln!(text, "| {} | {} |", key.replace('|', ", "), keys.join(", "));
    }
    text
}

fn place(text: &mut String, found: &WorldFinding, findings: &Findings) {
    let _ = writeln!(
        text,
        "## {}, {} mind, {}\n\n{} paths. {}: {}.",
        found.world,
        found.mind,
        found.phase.name(),
        found.paths,
        findings.thesis,
        found.verdict.words()
    );
    let _ = writeln!(
        text,
        "\n| arm | skill | first ticks of a life | after a change | lives | {} minus it |\n| --- | --- | --- | --- | --- | --- |",
        findings.thesis
    );
    for mean in &found.arms {
        let held = found.against.iter().find(|(name, _)| *name == mean.arm).map(|(_, d)| d);
        let twin = found.twin.as_ref().filter(|_| held.is_none() && mean.arm.contains("twin"));
        let held = held.or(twin).map_or("–".to_owned(), range);
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {:.1} | {held} |",
            mean.arm,
            share(mean.skill),
            share(mean.early),
            share(mean.after),
            mean.lives
        );
    }
    let _ = writeln!(
        text,
        "\nBy luck against the hardest control: {:.4}; over all worlds: {:.4}.",
        found.luck, found.luck_of_all
    );
    for (one, other, d) in &found.beside {
        let _ = writeln!(text, "{one} minus {other}: {}.", range(d));
    }
    let _ = writeln!(text);
}

fn dial_rows(text: &mut String, experiment: &Experiment, findings: &Findings) {
    for (_, rows) in dials(experiment, &findings.places) {
        if rows.is_empty() {
            return;
        }
        let _ = writeln!(
            text,
            "## Over the dial\n\nDays between changes, 0 for never: {} minus its hardest control.\n\n| world, mind | places |\n| --- | --- |",
            findings.thesis
        );
        for row in rows {
            let cell = |f: &&WorldFinding| {
                hardest(f).map_or(String::new(), |(name, d)| format!("{}: {} of {name}", f.dial, range(d)))
            };
            let cells: Vec<String> = row.iter().map(cell).collect();
            let _ = writeln!(text, "| {}, {} | {} |", row[0].world, row[0].mind, cells.join("; "));
        }
        let _ = writeln!(text);
    }
}

//! Nights in words: what one went through, and what is on trial because of it.

use golem::dream::{Ahead, Found, Imagined, Met, Origin, Staged};
use golem::figures::percent;
use golem::rule::text::Parsed;
use golem::world::Manifest;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::figures::count;

/// A hypothesis that is being tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Trial {
    pub rule: String,
    /// Where it comes from, and how it has done so far.
    pub how: String,
}

/// The course of a night, in its order.
pub fn dreamt(found: &Found, world: &Manifest) -> Vec<String> {
    let mut told = Vec::new();
    let mut line = |text: String| told.push(text);
    let feature = |at: u8| world.features.get(usize::from(at)).map_or("?", String::as_str);
    let closely = found.batch.len();
    line(format!("{} episodes replayed, {closely} of them closely", found.replayed));
    if let Some(keyword) = found.keyword {
        let (caught, new) = found.fragments;
        line(format!("what surprised it most had to do with {}", feature(keyword)));
        if caught > 0 {
            line(format!("falling asleep: {caught} fragments, {new} of them worth a test"));
        }
    }
    if !found.replay.precursors.is_empty() {
        let named: Vec<&str> = found.replay.precursors.iter().map(|at| feature(*at)).collect();
        line(format!("before large moves it was {} that stood out", named.join(", ")));
    }
    for trajectory in &found.replay.ahead {
        let if_ = match &trajectory.if_ {
            Ahead::Continues => "if things go on as they are".to_owned(),
            Ahead::Switches(regime) => format!("if the world turns {}", format!("{regime:?}").to_lowercase()),
            Ahead::Fires { through, .. } => {
                let way: Vec<&str> = through.iter().map(|at| feature(*at)).collect();
                format!("if {} moves", way.join(", and then "))
            }
        };
        let [change, worst] = [trajectory.change, trajectory.worst].map(|share| percent(f64::from(share), 2));
        line(format!("{if_}: {change} on average, {worst} at worst"));
    }
    told.extend(imagined_lines(&found.imagined, feature));
    let mut line = |text: String| told.push(text);
    if !found.replay.forgotten.is_empty() {
        line(format!("{} worn-out episodes let go", found.replay.forgotten.len()));
    }
    let held = found.staged.len() + found.revisions.len();
    let looked_at = count(u64::from(found.looked_at));
    line(match (found.proposed, held) {
        (0, _) => format!("{looked_at} ideas, none less wrong than the playbook as it is: nothing came of it"),
        (proposed, 0) => {
            format!("{looked_at} ideas, {proposed} tested, none held on what it had not seen: nothing came of it")
        }
        (proposed, held) => format!("{looked_at} ideas, {proposed} tested, {held} held on what they had not seen"),
    });
    told
}

/// The lines of what was imagined in a night: other choices, what may go wrong, and what was made of the worst.
fn imagined_lines<'a>(imagined: &Imagined, feature: impl Fn(u8) -> &'a str) -> Vec<String> {
    let mut told = Vec::new();
    let mut line = |text: String| told.push(text);
    if imagined.alternatives > 0 {
        let (tried, better) = (imagined.alternatives, imagined.better);
        line(format!("{tried} other choices worked out, {better} would have been better"));
        if let (sooner @ 1.., later) | (sooner, later @ 1..) = imagined.moments {
            line(format!("best would have been sooner in {sooner} and later in {later}"));
        }
    }
    for threat in &imagined.threats {
        let fall = f64::from(threat.fall_bps) / 100.0;
        let met = match threat.met_by {
            Met::Nothing => "there is no stop to meet it",
            Met::Stop => "the stop would meet it",
            Met::TooLate => "too sudden for the stop",
        };
        line(format!("a fall of {fall:.1} % would cost {}: {met}", threat.loss));
    }
    if let Some(rehearsed) = &imagined.rehearsed {
        let before: Vec<&str> = rehearsed.omen.0.iter().map(|c| feature(c.feature)).collect();
        let (held, failed) = imagined.omen;
        let like_it =
            if held > 0 { format!("; a fall came after {held} of {} like it", held + failed) } else { String::new() };
        line(format!(
            "the worst it remembers began with {}{like_it}: a warning of it is on trial",
            before.join(" and ")
        ));
    }
    for drill in &imagined.drills {
        line(drill.to_string());
    }
    if !imagined.calmed.is_empty() {
        line(format!("{} stirring memories stir it less now", imagined.calmed.len()));
    }
    told
}

/// A hypothesis on trial: the rule, and how it has done so far.
pub fn on_trial(staged: &Staged, world: &Manifest) -> Trial {
    let effect = (staged.heuristic.effect * 1_000.0).round() / 1_000.0;
    let rule = Parsed { effect, ..Parsed::from(&staged.heuristic) }.print(world).unwrap_or_default();
    let how = format!(
        "{}, night {}, confidence {:.2}, {} for and {} against; {}",
        origin(staged.origin),
        staged.night,
        staged.confidence,
        staged.confirmed,
        staged.contradicted,
        to_come(staged.confidence)
    );
    Trial { rule, how }
}

fn origin(origin: Origin) -> &'static str {
    match origin {
        Origin::Pattern => "something episodes have in common",
        Origin::Fragment => "caught while falling asleep",
        Origin::Recombined => "put together from others",
        Origin::Inherited => "left unfinished by its predecessor",
        Origin::Random => "made up",
        Origin::Regret => "where the other choice would have been better",
        Origin::Thought => "proposed by a model",
    }
}

fn to_come(confidence: f64) -> String {
    let more = ((golem::dream::PROMOTED - confidence) / 0.1).ceil().max(0.0) as u32;
    format!("{more} more would promote it")
}

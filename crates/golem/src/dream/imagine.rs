//! Imagination: the night's second half, and the moment of falling asleep. Other choices and their computed outcomes,
//! ideas put together from parts of others, threats to what is held, and stirring memories made less so.

use life::constitution::{DreamTier, Intensity};
use life::dream::{Drill, Idea, Imagined, Met, Origin, Rehearsed, Threat, ThreatKind};
use life::rule::{Comparison, Condition, Heuristic, Is, rounded};
use life::world::DomainKind;
use life::{Life, limits};

use super::drill::drills;
use super::memory::{Experience, Memory, STIRRING};
use super::omen::Cases;
use super::replay::Usual;
use crate::rule::Dice;

/// Fragments caught while falling asleep.
const FRAGMENTS: usize = 4;

/// Episodes that each fragment is drawn from.
const DRAWN: usize = 4;

/// Weight that a memory gains in a draw for having to do with the keyword of the night.
const KEYWORD: f64 = 0.2;

/// Memories made less stirring in one night.
const CALMED: usize = 5;

/// A flash crash, in basis points.
const CRASH: u32 = 2_000;

/// The share of its age from which on a golem dreams for its heirs.
const LEGACY: f64 = 0.85;

pub(super) fn imagine(
    batch: &[&Experience],
    chosen: &[&Experience],
    memory: &Memory,
    life: &Life,
    intensity: &Intensity,
) -> Imagined {
    let depth = intensity.depth as usize;
    let threats = threats(chosen, life, intensity.threats as usize);
    let (mut alternatives, mut better, mut regret, mut moments) = (0, 0, 0.0, [0; 2]);
    for episode in batch {
        // The other choice, half of it, and the same again: what each would have come to is known.
        let gains = [episode.regret, episode.regret / 2.0, 0.0];
        let others = if depth > 0 { elsewhen(episode, memory, life) } else { [None; 2] };
        let all = || gains.iter().take(depth).chain(others.iter().flatten());
        alternatives += all().count() as u32;
        better += all().filter(|gain| **gain > 0.0).count() as u32;
        for (count, gain) in moments.iter_mut().zip(others) {
            *count += u32::from(gain.is_some_and(|gain| gain > episode.regret));
        }
        regret += episode.regret / batch.len() as f32;
    }
    let mut stirring: Vec<&Experience> = chosen.iter().copied().filter(|e| e.arousal >= STIRRING).collect();
    let (rehearsed, cases) = rehearsed(&threats, chosen, memory, life).unzip();
    let cases = cases.unwrap_or_default();
    stirring.sort_by(|a, b| b.arousal.total_cmp(&a.arousal).then(a.number.cmp(&b.number)));
    Imagined {
        alternatives,
        better,
        regret,
        moments: moments.into(),
        recombined: 0,
        threats,
        rehearsed,
        omen: cases.omen,
        held: cases.held,
        drills: rehearsals(life, intensity),
        calmed: stirring.into_iter().take(CALMED).map(|e| e.number).collect(),
    }
}

/// Drills of a night, under laws that have them; a light night has time for one peril.
fn rehearsals(life: &Life, intensity: &Intensity) -> Vec<Drill> {
    let light = life.constitution().dream.tier == DreamTier::Core;
    let most = if light { intensity.threats.min(1) } else { intensity.threats };
    if life.laws().drills { drills(life, most as usize) } else { Vec::new() }
}

/// Gains of another choice sooner and later, under laws that ask for them.
fn elsewhen(episode: &Experience, memory: &Memory, life: &Life) -> [Option<f32>; 2] {
    if life.laws().moments { memory.otherwise(episode, life) } else { [None; 2] }
}

/// Falls that could hit the largest position there may be, and the defence that would meet each.
fn threats(chosen: &[&Experience], life: &Life, most: usize) -> Vec<Threat> {
    let bps = |share: f32| (-share * 10_000.0).clamp(0.0, 10_000.0) as u32;
    let worst = bps(chosen.iter().map(|e| e.change).fold(0.0, f32::min));
    let coming = bps(life.dreams().night.as_ref().map_or(0.0, |night| night.ahead));
    let feared = life.dreams().night.as_ref().and_then(|night| night.feared.as_ref()).map_or(0, |(fall, _)| *fall);
    let (worth, policy) = (life.capital().worth(life.seen().unit), &life.policy());
    let exposed = worth.share(i64::from(policy.per_action_bps), 10_000).max(worth - life.capital().cash);
    let rehearse = |kind, fall_bps: u32| {
        let (stop, gap) = (policy.stop_bps, kind == ThreatKind::Gap);
        let stops = stop > 0 && fall_bps >= stop;
        let met_by = match (stops, gap) {
            (true, true) => Met::TooLate,
            (true, false) => Met::Stop,
            (false, _) => Met::Nothing,
        };
        let felt = if met_by == Met::Stop { stop } else { fall_bps };
        Threat { kind, fall_bps, loss: exposed.share(i64::from(felt), 10_000), met_by }
    };
    [
        (ThreatKind::Again, worst),
        (ThreatKind::Crash, CRASH),
        (ThreatKind::Ahead, coming),
        (ThreatKind::Twice, (2 * worst).min(10_000)),
        (ThreatKind::Gap, worst),
        (ThreatKind::Feared, feared),
    ]
    .into_iter()
    .filter(|(kind, _)| *kind == ThreatKind::Feared || (*kind as usize) < most)
    .filter(|(_, fall)| *fall > 0)
    .map(|(kind, fall)| rehearse(kind, fall))
    // A fall smaller than the stop is not a threat.
    .filter(|threat| threat.met_by != Met::Nothing || policy.stop_bps == 0)
    .collect()
}

/// The threat that would cost most, with what the world looked like before the worst that is remembered, if that came
/// before other falls as well.
fn rehearsed(threats: &[Threat], chosen: &[&Experience], memory: &Memory, life: &Life) -> Option<(Rehearsed, Cases)> {
    let threat = *threats.iter().max_by_key(|t| (t.loss, t.fall_bps))?;
    let worst = chosen.iter().min_by(|a, b| a.change.total_cmp(&b.change)).filter(|worst| worst.change < 0.0)?;
    let feared = life.dreams().night.as_ref().and_then(|night| night.feared.as_ref());
    let omen = match feared.filter(|_| threat.kind == ThreatKind::Feared) {
        Some((_, omen)) => omen.clone(),
        None => joined(&Usual::of(chosen), worst, worst),
    };
    let night = life.dreams().night.as_ref().map_or(0, |night| night.number);
    let cases = match life.laws().omens {
        0 => Cases::default(),
        least => Some(Cases::of(&omen, worst, memory.newest(Memory::room(life)), life)).filter(|c| c.hold(least))?,
    };
    (!omen.0.is_empty()).then_some((Rehearsed { threat, omen, night }, cases))
}

/// Where the other choice would have been much better, then or at another moment: what stood out in the two memories it
/// regrets most, as a rule of when to be in and when to be out. What it comes to is for the test to say.
pub(super) fn regretted(batch: &[&Experience], chosen: &[&Experience], memory: &Memory, life: &Life) -> Option<Idea> {
    let domains = &life.birth().world.domains;
    let domain = domains.iter().position(|spec| spec.kind == DomainKind::Direction)? as u8;
    let missed = |e: &Experience| elsewhen(e, memory, life).into_iter().flatten().fold(e.regret, f32::max);
    let mut most: Vec<(f32, &Experience)> = batch.iter().map(|e| (missed(e), *e)).filter(|(m, _)| *m > 0.0).collect();
    most.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.number.cmp(&b.1.number)));
    let (one, other) = (most.first()?, most.get(1).or(most.first())?);
    let condition = joined(&Usual::of(chosen), one.1, other.1);
    Some(Idea { domain: Some(domain), origin: Origin::Regret, condition })
}

/// Half-formed ideas: features that stood out in two memories drawn at random, preferring those the keyword has to do
/// with.
pub(super) fn fragments(keyword: Option<u8>, chosen: &[&Experience], life: &Life, dice: &mut Dice) -> Vec<Idea> {
    if chosen.is_empty() || life.birth().world.features.is_empty() {
        return Vec::new();
    }
    let usual = Usual::of(chosen);
    let mut drawn = || {
        let draws: Vec<(f64, &Experience)> = (0..DRAWN)
            .map(|_| {
                let e = chosen[dice.below(chosen.len())];
                let about = usual.strangest(e).map(|(feature, _)| feature) == keyword;
                (dice.below(1_000) as f64 / 1_000.0 + if about { KEYWORD } else { 0.0 }, e)
            })
            .collect();
        draws.into_iter().max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, e)| e)
    };
    (0..FRAGMENTS)
        .filter_map(|_| Some((drawn()?, drawn()?)))
        .map(|(one, other)| Idea { domain: None, origin: Origin::Fragment, condition: joined(&usual, one, other) })
        .collect()
}

/// A condition that holds where the features that stand out in both memories stand out, a little less.
fn joined(usual: &Usual, one: &Experience, other: &Experience) -> Condition {
    let mut condition = Condition::default();
    for e in [one, other] {
        let Some((feature, above)) = usual.strangest(e) else { continue };
        if condition.0.iter().all(|c| c.feature != feature) {
            let (value, is) = (f64::from(e.state[usize::from(feature)]), if above { Is::Above } else { Is::Below });
            let slack = value.abs() * 0.2;
            let than = if above { value - slack } else { value + slack };
            condition.0.push(Comparison { feature, is, than: rounded(than, 3) });
        }
    }
    condition
}

/// Conditions put together from those in use: two at once, one pushed further out, one turned around, or two memories
/// from far apart.
pub(super) fn recombine(
    domain: usize,
    chosen: &[&Experience],
    life: &Life,
    intensity: &Intensity,
    dice: &mut Dice,
) -> Vec<Idea> {
    let here: Vec<&Heuristic> = life.playbook().iter().filter(|h| !h.condition.0.is_empty()).collect();
    if here.is_empty() || chosen.is_empty() {
        return Vec::new();
    }
    let own: Vec<&&Heuristic> = here.iter().filter(|h| usize::from(h.domain) == domain).collect();
    let usual = Usual::of(chosen);
    let legacy = life.vitality().age_factor > LEGACY;
    // Heuristics that replay credited with what came, for better or worse, are gone into more closely than others.
    let credited = life.dreams().night.as_ref().map_or(&[][..], |night| &night.credited);
    let credited: Vec<&&Heuristic> = own.iter().copied().filter(|h| credited.contains(&h.id)).collect();
    let mut idea = || {
        let one = match dice.below(2) {
            0 if !credited.is_empty() => credited[dice.below(credited.len())],
            _ if own.is_empty() => here[dice.below(here.len())],
            _ => own[dice.below(own.len())],
        };
        // For heirs only what is proven is put together, and nothing is ventured.
        let condition = match dice.below(10) {
            n if n < 4 || legacy => both(&one.condition, &here[dice.below(here.len())].condition),
            n if n < 7 => further(&one.condition, intensity.temperature, dice),
            7 => around(&one.condition, dice),
            _ => joined(&usual, chosen[dice.below(chosen.len())], chosen[dice.below(chosen.len() / 3 + 1)]),
        };
        Idea { domain: Some(domain as u8), origin: Origin::Recombined, condition }
    };
    (0..intensity.sessions).map(|_| idea()).collect()
}

fn both(one: &Condition, other: &Condition) -> Condition {
    let mut both = one.clone();
    for comparison in &other.0 {
        let known = both.0.iter().any(|c| c.feature == comparison.feature && c.is == comparison.is);
        if !known && both.0.len() < limits::COMPARISONS {
            both.0.push(*comparison);
        }
    }
    both
}

/// Pushes one threshold further out, as far as the temperature dares.
fn further(condition: &Condition, temperature: f64, dice: &mut Dice) -> Condition {
    let mut further = condition.clone();
    let at = dice.below(further.0.len());
    let comparison = &mut further.0[at];
    let by = comparison.than.abs() * temperature * 0.5;
    comparison.than = rounded(if comparison.is == Is::Above { comparison.than + by } else { comparison.than - by }, 3);
    further
}

/// Turns one assumption around.
fn around(condition: &Condition, dice: &mut Dice) -> Condition {
    let mut around = condition.clone();
    let at = dice.below(around.0.len());
    around.0[at].is = if around.0[at].is == Is::Above { Is::Below } else { Is::Above };
    around
}

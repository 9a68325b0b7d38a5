//! Replay: the night's first half. A few episodes are gone through closely: what led up to them, which heuristics are
//! to be credited, what may come of the present, and whether they are worth keeping.

use life::Life;
use life::constitution::ReplayOrder;
use life::dream::{Ahead, Replay, Staged, Trajectory};
use life::grimoire::Status;
use life::regime::Regime;

use super::memory::{Experience, Worth};
use crate::grimoire::{Grimoire, HOPS};

/// The worth below which an episode is not gone through closely.
const WORTH: f32 = 0.1;

/// Fitness below which the episodes that confused it most come first.
const CONFUSED: f64 = 0.5;

/// How far back an outcome is traced.
const STEPS: usize = 5;

/// The share of an outcome that is left at each step back.
const FADES: f32 = 0.7;

/// Features and heuristics that are named.
const NAMED: usize = 3;

/// Replays after which an episode worth next to nothing is let go.
const WORN_OUT: u8 = 3;

/// The worth that counts as next to nothing.
const WORTHLESS: f32 = 0.05;

/// Decides over the episodes gone through: keep, turn into a rule, or let go.
pub(super) fn triage(replay: &mut Replay, batch: &[&Experience], staged: &[Staged], life: &Life) {
    let worth = Worth::of(life);
    for episode in batch {
        if staged.iter().any(|s| s.episodes.contains(&episode.number)) {
            replay.abstracted += 1;
        } else if episode.replays > WORN_OUT && worth.utility(episode) < WORTHLESS {
            replay.forgotten.push(episode.number);
        } else {
            replay.preserved += 1;
        }
    }
}

/// How far each feature usually is from its mean, over a number of episodes.
pub(super) struct Usual {
    mean: Vec<f32>,
    deviation: Vec<f32>,
}

impl Usual {
    pub(super) fn of(episodes: &[&Experience]) -> Usual {
        let features = episodes.first().map_or(0, |e| e.state.len());
        let n = episodes.len().max(1) as f32;
        let mut sums = vec![(0.0_f32, 0.0_f32); features];
        for e in episodes {
            for ((sum, squares), value) in sums.iter_mut().zip(&e.state) {
                *sum += value;
                *squares += value * value;
            }
        }
        let mean: Vec<f32> = sums.iter().map(|(sum, _)| sum / n).collect();
        let deviation = mean.iter().zip(&sums).map(|(m, (_, s))| (s / n - m * m).max(1e-12).sqrt()).collect();
        Usual { mean, deviation }
    }

    pub(super) fn stands_out(&self, e: &Experience, feature: usize) -> f32 {
        (e.state[feature] - self.mean[feature]) / self.deviation[feature]
    }

    /// The feature that stands out most, and whether upwards.
    pub(super) fn strangest(&self, e: &Experience) -> Option<(u8, bool)> {
        let at =
            (0..e.state.len()).max_by(|a, b| self.stands_out(e, *a).abs().total_cmp(&self.stands_out(e, *b).abs()))?;
        Some((at as u8, self.stands_out(e, at) > 0.0))
    }
}

/// The feature that stood out in the most surprising episode; the night turns around it, and the next has another.
pub(super) fn keyword(chosen: &[&Experience]) -> Option<u8> {
    let most = chosen.iter().max_by(|a, b| a.surprise.total_cmp(&b.surprise).then(a.number.cmp(&b.number)))?;
    Usual::of(chosen).strangest(most).map(|(feature, _)| feature)
}

/// The few episodes that are gone through closely.
pub(super) fn batch<'a>(chosen: &[&'a Experience], life: &Life, most: usize) -> Vec<&'a Experience> {
    // Unless its owner wants another order, a golem that understands little begins with what it did not expect.
    let usual = life.constitution().dream.replay_order == ReplayOrder::Utility;
    let confused = usual && life.vitality().epistemic < CONFUSED;
    let worth = Worth::of(life);
    let rank = |e: &Experience| if confused { e.surprise } else { worth.rank(e) };
    let mut batch: Vec<(f32, &Experience)> = chosen.iter().map(|e| (rank(e), *e)).filter(|(w, _)| *w > WORTH).collect();
    batch.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.number.cmp(&a.1.number)));
    batch.into_iter().take(most).map(|(_, e)| e).collect()
}

pub(super) fn replay(batch: &[&Experience], newest: &[&Experience], grimoire: &Grimoire, life: &Life) -> Replay {
    let (precursors, credits) = credit(batch, newest, life);
    Replay { precursors, credits, ahead: ahead(newest, grimoire, life), ..Replay::default() }
}

/// Traces outcomes back to the features that stood out before them, and to the heuristics that had a say.
fn credit(batch: &[&Experience], newest: &[&Experience], life: &Life) -> (Vec<u8>, Vec<(u64, f32)>) {
    let usual = Usual::of(newest);
    let mut features = vec![0.0_f32; life.birth().world.features.len()];
    let mut heuristics = vec![0.0_f32; life.playbook().len()];
    for episode in batch {
        let Ok(at) = newest.binary_search_by_key(&episode.number, |e| e.number) else { continue };
        let mut share = episode.change;
        for before in newest[..=at].iter().rev().take(STEPS) {
            for (feature, credit) in features.iter_mut().enumerate().take(before.state.len()) {
                *credit += share * usual.stands_out(before, feature);
            }
            let state = before.state.iter().map(|f| f64::from(*f)).collect();
            for (heuristic, credit) in life.playbook().iter().zip(&mut heuristics) {
                if heuristic.voice && heuristic.condition.holds(&state) {
                    *credit += share;
                }
            }
            share *= FADES;
        }
    }
    let mut order: Vec<usize> = (0..features.len()).filter(|at| features[*at] != 0.0).collect();
    order.sort_by(|a, b| features[*b].abs().total_cmp(&features[*a].abs()));
    let mut who: Vec<usize> = (0..heuristics.len()).filter(|at| heuristics[*at] != 0.0).collect();
    who.sort_by(|a, b| heuristics[*b].abs().total_cmp(&heuristics[*a].abs()));
    (
        order.into_iter().take(NAMED).map(|at| at as u8).collect(),
        who.into_iter().take(NAMED).map(|at| (life.playbook()[at].id, heuristics[at])).collect(),
    )
}

/// Futures that may come: more of the same, each other regime it knows, and the surest link that has not fired lately.
fn ahead(newest: &[&Experience], grimoire: &Grimoire, life: &Life) -> Vec<Trajectory> {
    let mut ahead = Vec::new();
    for regime in [life.regimes().now, Regime::Calm, Regime::Usual, Regime::Unsettled] {
        let here = regime == life.regimes().now;
        if here != ahead.is_empty() {
            continue;
        }
        let changes: Vec<f32> = newest.iter().filter(|e| e.regime == regime as u8).map(|e| e.change).collect();
        if changes.is_empty() && !here {
            continue;
        }
        let n = changes.len() as f32;
        ahead.push(Trajectory {
            if_: if here { Ahead::Continues } else { Ahead::Switches(regime) },
            change: changes.iter().sum::<f32>() / n.max(1.0),
            worst: changes.iter().copied().fold(0.0, f32::min),
            confidence: n / (n + 20.0),
        });
    }
    ahead.extend(fires(newest, grimoire, life));
    ahead
}

/// The surest link whose cause has not stood out in the newest episodes, followed as far as it leads.
fn fires(newest: &[&Experience], grimoire: &Grimoire, life: &Life) -> Option<Trajectory> {
    let usual = Usual::of(newest);
    let lately = &newest[newest.len().saturating_sub(STEPS)..];
    let quiet = |cause: u8| lately.iter().all(|e| usual.stands_out(e, usize::from(cause)).abs() < 1.0);
    let links = grimoire.in_use().filter(|entry| entry.status != Status::Candidate);
    let surest = links
        .filter_map(|entry| entry.link.map(|link| (link, entry.confidence(life.now()))))
        .filter(|(link, _)| quiet(link.cause))
        .max_by(|a, b| a.1.total_cmp(&b.1))?;
    let path = grimoire.walk(surest.0.cause, HOPS, life.now()).into_iter().max_by_key(|path| path.through.len())?;
    let standing = |e: &&&Experience| usual.stands_out(e, usize::from(surest.0.cause)).abs() >= 1.0;
    let changes: Vec<f32> = newest.iter().filter(standing).map(|e| e.change).collect();
    Some(Trajectory {
        if_: Ahead::Fires { through: path.through, same_way: path.same_way },
        change: changes.iter().sum::<f32>() / (changes.len() as f32).max(1.0),
        worst: changes.iter().copied().fold(0.0, f32::min),
        confidence: path.confidence as f32,
    })
}

//! How far each voice is trusted, with the naive forecast as a member that is always there.
//!
//! A voice says how far from naive it would go; four members stand for it, a quarter, half, three quarters and all of the way.
//! Each is weighed by the errors it would have made: a weight is multiplied by one plus a small share of what it was better
//! by, so that naive, which is better than itself by nothing, keeps what it has. Whatever is said, by whom and in whichever
//! order, then costs no more than naive's share of the whole allows. A little of everything starts over at every answer, so
//! that trust is lost soon after the world turns, and can be won back. Who is silent is neither praised nor blamed.

use serde::{Deserialize, Serialize};

use crate::laws::Laws;
use crate::prediction::{Departures, Prediction, Voice};
use crate::rule::learning::error;
use crate::world::DomainKind;

/// Parts of the way from naive to what a voice says.
const PARTS: [f64; 4] = [0.25, 0.5, 0.75, 1.0];
/// No answer counts for more than so many of naive's usual errors, and no voice goes further than that from it.
const FURTHEST: f64 = 1.5;
/// The most that one answer may be weighed at.
const PACE: f64 = 0.25;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trust {
    naive: f64,
    voices: [[f64; PARTS.len()]; Voice::ALL.len()],
    /// The usual error of naive.
    pub usual: f64,
    /// Answers it was taken from.
    pub seen: f64,
}

impl Default for Trust {
    /// Naive begins with as much as any one voice.
    fn default() -> Trust {
        let voice = [1.0 / PARTS.len() as f64; PARTS.len()];
        Trust { naive: 1.0, voices: [voice; Voice::ALL.len()], usual: 0.0, seen: 0.0 }
    }
}

impl Trust {
    /// As far as anyone is listened to: nobody before it is known how wrong naive usually is.
    pub(crate) fn heard(&self, kind: DomainKind, departure: f64) -> f32 {
        let far = if kind == DomainKind::Direction { 1.0 } else { FURTHEST * self.usual };
        let known = if self.seen > 0.0 { far } else { 0.0 };
        departure.clamp(-known, known) as f32
    }

    /// How far from naive all of them go together.
    pub(crate) fn together(&self, said: &Departures) -> f64 {
        let (mut far, mut whole) = (0.0, self.naive);
        for (departure, weights) in said.iter().zip(&self.voices) {
            let Some(departure) = departure else { continue };
            for (weight, part) in weights.iter().zip(PARTS) {
                far += weight * part * f64::from(*departure);
                whole += weight;
            }
        }
        far / whole
    }

    /// The part of the way that one voice alone would be followed.
    pub fn of(&self, voice: Voice) -> f64 {
        let weights = &self.voices[voice as usize];
        let way: f64 = weights.iter().zip(PARTS).map(|(weight, part)| weight * part).sum();
        way / (self.naive + weights.iter().sum::<f64>())
    }

    /// A claim met its bar.
    pub(crate) fn learn(&mut self, kind: DomainKind, claim: &Prediction, actual: f64, laws: &Laws) {
        let naive = error(kind, claim.base, claim.naive, actual, laws);
        let pace = (laws.trust_pace / f64::from(claim.ahead.max(1))).min(PACE);
        if self.usual > 0.0 {
            let (mut before, mut after) = (self.naive, self.naive);
            for (departure, weights) in claim.said.iter().zip(&mut self.voices) {
                let Some(departure) = departure else { continue };
                for (weight, part) in weights.iter_mut().zip(PARTS) {
                    before += *weight;
                    let own = error(kind, claim.base, claim.naive + part * f64::from(*departure), actual, laws);
                    *weight *= 1.0 + pace * ((naive - own) / self.usual).clamp(-FURTHEST, FURTHEST);
                    after += *weight;
                }
            }
            self.share_out(&claim.said, before / after, laws.trust_share);
        }
        self.seen += 1.0;
        self.usual += (naive - self.usual) / self.seen.min(laws.trust_memory);
    }

    /// Those who spoke have together what they had before, and a little of it starts over.
    fn share_out(&mut self, said: &Departures, scale: f64, share: f64) {
        let awake = said.iter().flatten().count() as f64;
        let spoke = self.voices.iter().zip(said).filter(|(_, said)| said.is_some());
        let whole = scale * (self.naive + spoke.flat_map(|(weights, _)| weights).sum::<f64>());
        let first = share * whole / (1.0 + awake);
        self.naive = (1.0 - share) * self.naive * scale + first;
        for (weights, _) in self.voices.iter_mut().zip(said).filter(|(_, said)| said.is_some()) {
            for weight in weights {
                *weight = (1.0 - share) * *weight * scale + first / PARTS.len() as f64;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;
    use crate::laws::laws;
    use crate::time::Time;

    struct Dice(u64);

    impl Dice {
        fn unit(&mut self) -> f64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
        }
    }

    /// Claims about something that moves around 100, answered so many looks later: what all of them cost beside naive, in
    /// naive's usual errors, and how many there were. What is said may depend on what will come.
    fn lived(
        ahead: usize,
        looks: usize,
        dice: &mut Dice,
        mut says: impl FnMut(usize, f64, &mut Dice) -> f64,
    ) -> (f64, Trust) {
        let (laws, mut trust, mut open) = (laws(2).unwrap(), Trust::default(), VecDeque::new());
        let values: Vec<f64> = (0..looks + ahead).map(|_| 100.0 + 10.0 * (dice.unit() - 0.5)).collect();
        let (mut cost, mut naively) = (0.0, 0.0);
        for at in 0..looks {
            let (naive, actual) = (values[at], values[at + ahead]);
            let mut said = Departures::default();
            said[0] = Some(trust.heard(DomainKind::Value, says(at, actual - naive, dice)));
            let value = naive + trust.together(&said);
            open.push_back((
                Prediction { base: naive, value, naive, ahead: ahead as u32, said, ..Prediction::of_nothing() },
                actual,
            ));
            cost += (value - actual).abs() - (naive - actual).abs();
            naively += (naive - actual).abs();
            if open.len() > ahead {
                let (claim, actual) = open.pop_front().unwrap();
                trust.learn(DomainKind::Value, &claim, actual, laws);
            }
        }
        (cost / (naively / looks as f64), trust)
    }

    /// Everything a voice could be up to: noise, spite, and trust that is earned for so many horizons and then used up.
    fn voice(kind: usize, at: usize, ahead: usize, moves: f64, dice: &mut Dice) -> f64 {
        match kind {
            0 => 20.0 * (dice.unit() - 0.5),
            1 => 1e9 * (dice.unit() - 0.5),
            // It knows what will come, and says the opposite.
            2 => -moves,
            3 => -1e9 * moves,
            4 => 1e9,
            5 if at.is_multiple_of(2) => moves,
            5 => -2.0 * moves,
            earned if (at / ahead) % (earned - 4) < earned - 5 => moves,
            _ => -1e9 * moves,
        }
    }

    #[test]
    fn no_voice_costs_more_than_a_small_part_of_what_naive_does_wrong_anyway() {
        let looks = 4_000;
        for ahead in [1, 6, 24, 60] {
            for kind in 0..24 {
                let mut dice = Dice(kind as u64 * 77);
                let (cost, _) = lived(ahead, looks, &mut dice, |at, moves, dice| voice(kind, at, ahead, moves, dice));
                let allowed = 0.03 * looks as f64 + 5.0 * ahead as f64;
                assert!(cost <= allowed, "{ahead} ahead, voice {kind}: {cost:.1} usual errors of {allowed:.1}");
            }
        }
    }

    #[test]
    fn trust_is_earned_lost_soon_after_a_turn_and_won_back() {
        let ahead = 24;
        let turns = |until: usize| {
            lived(
                ahead,
                until * ahead,
                &mut Dice(1),
                move |at, moves, _| {
                    if (30..60).contains(&(at / ahead)) { -moves } else { moves }
                },
            )
            .1
            .of(Voice::Rules)
        };
        assert!(turns(1) <= 0.5 && turns(8) > 0.6, "{} {}", turns(1), turns(8));
        assert!(turns(30) > 0.9, "{}", turns(30));
        assert!(turns(35) < 0.1, "four horizons after the first wrong answer came in: {}", turns(35));
        assert!(turns(70) > 0.6, "{}", turns(70));
    }

    #[test]
    fn who_is_silent_is_neither_praised_nor_blamed() {
        let laws = laws(2).unwrap();
        let mut trust = Trust { usual: 1.0, seen: 10.0, ..Trust::default() };
        let before = trust.clone();
        let mut said = Departures::default();
        said[Voice::Model as usize] = Some(1.0);
        let claim = Prediction { due: Time::default(), naive: 0.0, said, ..Prediction::of_nothing() };
        trust.learn(DomainKind::Value, &claim, 1.0, laws);
        assert_eq!(trust.voices[0], before.voices[0]);
        assert!(trust.of(Voice::Model) > before.of(Voice::Model));
        assert_eq!(trust.together(&Departures::default()), 0.0);
    }
}

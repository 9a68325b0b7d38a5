//! How far each voice is trusted, with the naive forecast as a member that is always there.
//!
//! Two questions are asked after every answer. Which of the voices that spoke were less wrong than all of them
//! together: those gain a larger part of the say they share. And whether all of them together were less wrong than
//! naive: as far as they were, they are followed. Weights are multiplied by one plus a small share of what was gained,
//! so that naive, which gains nothing on itself, keeps what it has, and whatever is said, by which voice and in
//! whichever order, costs little beside it. The second question is answered as fast as the record is steady: a record
//! that goes up and down says little at any one time. A little of everything starts over at every answer, so that trust
//! is lost soon after the world turns and can be won back. A silent voice is neither praised nor blamed.

use serde::{Deserialize, Serialize};

use crate::laws::Laws;
use crate::prediction::{Departures, Prediction, Voice};
use crate::rule::learning::error;
use crate::world::DomainKind;

/// The weight that naive begins with, beside one for all voices together: voices that are wrong soon lose against it.
const NAIVE: f64 = 0.25;
/// No answer counts for more than so many of naive's usual errors, and no voice is followed further from it than that.
const FURTHEST: f64 = 1.5;
/// The most that one answer may be weighed at.
const PACE: f64 = 0.25;
/// Horizons after which a record is taken for half of what it seems.
const RECORD_HALF: f64 = 5.0;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trust {
    /// Weights of the voices in the say they have together.
    voices: [f64; Voice::ALL.len()],
    /// The weight of naive, beside one for all voices together.
    naive: f64,
    record: Record,
    /// The usual error of naive.
    pub usual: f64,
    /// The usual error of naive as a share of its forecast: where much moves, much may be said.
    usual_share: f64,
    /// Answers that those errors were taken from.
    pub seen: f64,
}

/// The gain on naive that following all voices would have had, in naive's usual errors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Record {
    answers: f64,
    mean: f64,
    square: f64,
}

impl Default for Trust {
    fn default() -> Trust {
        Trust {
            voices: [1.0; Voice::ALL.len()],
            naive: NAIVE,
            record: Record { square: 1.0, ..Record::default() },
            usual: 0.0,
            usual_share: 0.0,
            seen: 0.0,
        }
    }
}

impl Trust {
    /// The trust an heir begins with: a share of the way from a newborn's trust to what its line had come to.
    pub(crate) fn left(&self, share: f64) -> Trust {
        let new = Trust::default();
        let all: f64 = self.voices.iter().sum::<f64>() / self.voices.len() as f64;
        let followed = new.followed() + share * (self.followed() - new.followed());
        Trust {
            voices: self.voices.map(|weight| 1.0 + share * (weight / all - 1.0)),
            naive: 1.0 / followed - 1.0,
            record: Record { answers: self.record.answers * share, ..self.record },
            seen: self.seen * share,
            ..*self
        }
    }

    /// Whether all its figures are possible for trust.
    pub(crate) fn is_sound(&self) -> bool {
        let Record { answers, mean, square } = self.record;
        let weights =
            self.voices.iter().chain([&self.naive, &square]).all(|weight| weight.is_finite() && *weight > 0.0);
        let sums = [self.usual, self.usual_share, self.seen, answers];
        weights && mean.is_finite() && sums.iter().all(|sum| sum.is_finite() && *sum >= 0.0)
    }

    /// A departure within the bounds for any voice: zero before it is known how wrong naive usually is.
    pub fn heard(&self, kind: DomainKind, naive: f64, departure: f64) -> f32 {
        let far = if kind == DomainKind::Direction { 1.0 } else { FURTHEST * self.usual_at(naive) };
        let known = if self.seen > 0.0 { far } else { 0.0 };
        departure.clamp(-known, known) as f32
    }

    /// How wrong naive usually is where it says this.
    fn usual_at(&self, naive: f64) -> f64 {
        self.usual.max(self.usual_share * naive.abs())
    }

    /// How far from naive all voices that spoke would go together.
    pub(crate) fn mixed(&self, said: &Departures) -> f64 {
        let (mut far, mut whole) = (0.0, 0.0);
        for (departure, weight) in said.0.iter().zip(&self.voices) {
            let Some(departure) = departure else { continue };
            far += weight * f64::from(*departure);
            whole += weight;
        }
        if whole > 0.0 { far / whole } else { 0.0 }
    }

    /// How far from naive the voices are followed.
    pub fn together(&self, said: &Departures) -> f64 {
        self.mixed(said) * self.followed()
    }

    /// The part of the way that voices are followed.
    pub fn followed(&self) -> f64 {
        1.0 / (1.0 + self.naive)
    }

    /// The part that one voice had of what these said.
    pub fn part(&self, voice: Voice, said: &Departures) -> f64 {
        let spoke = |at: &usize| said.0[*at].is_some();
        let all: f64 = (0..Voice::ALL.len()).filter(spoke).map(|at| self.voices[at]).sum();
        if spoke(&(voice as usize)) { self.voices[voice as usize] / all } else { 0.0 }
    }

    /// The part that one voice has of what all of them say.
    pub fn of(&self, voice: Voice) -> f64 {
        self.voices[voice as usize] / self.voices.iter().sum::<f64>()
    }

    /// Learns from a claim that has met its bar.
    pub(crate) fn learn(&mut self, kind: DomainKind, claim: &Prediction, actual: f64, laws: &Laws) {
        let wrong = |far: f32| error(kind, claim.base, claim.naive + f64::from(far), actual, laws);
        let naive = wrong(0.0);
        if self.usual > 0.0 && claim.said.0.iter().any(Option::is_some) {
            let (mixed, usual) = (wrong(claim.mixed), self.usual_at(claim.naive));
            let gain = |from: f64, to: f64| ((from - to) / usual).clamp(-FURTHEST, FURTHEST);
            let ahead = f64::from(claim.ahead.max(1));
            let gains = claim.said.0.map(|said| said.map(|far| gain(mixed, wrong(far))));
            self.share_out(&gains, (laws.trust_pace / ahead).min(PACE), laws.trust_share);
            self.follow(gain(naive, mixed), ahead, laws);
        }
        self.seen += 1.0;
        let kept = self.seen.min(laws.trust_memory);
        self.usual += (naive - self.usual) / kept;
        if kind != DomainKind::Direction && claim.naive != 0.0 {
            self.usual_share += (naive / claim.naive.abs() - self.usual_share) / kept;
        }
    }

    /// Shares out the weight of the voices that spoke, each by what it gained on all of them; their sum stays the same.
    fn share_out(&mut self, gains: &[Option<f64>; Voice::ALL.len()], pace: f64, share: f64) {
        let (mut before, mut after, mut spoke) = (0.0, 0.0, 0.0);
        for (weight, gain) in self.voices.iter_mut().zip(gains) {
            let Some(gain) = gain else { continue };
            before += *weight;
            *weight *= 1.0 + pace * gain;
            after += *weight;
            spoke += 1.0;
        }
        for (weight, _) in self.voices.iter_mut().zip(gains).filter(|(_, gain)| gain.is_some()) {
            *weight = (1.0 - share) * *weight * before / after + share * before / spoke;
        }
    }

    /// Follows the voices more or less, by what all of them together gained on naive.
    fn follow(&mut self, gained: f64, ahead: f64, laws: &Laws) {
        let Record { answers, mean, square } = &mut self.record;
        let horizons = *answers / ahead;
        let steady = mean.abs() / *square * horizons / (horizons + RECORD_HALF);
        let pace = (laws.trust_steady * steady).clamp(laws.trust_slowest, laws.trust_fastest);
        let theirs = 1.0 + (pace / ahead).min(PACE) * gained;
        let followed = (1.0 - laws.trust_share) * theirs / (theirs + self.naive) + laws.trust_share / 2.0;
        self.naive = 1.0 / followed - 1.0;
        *answers = (*answers + 1.0).min(laws.trust_record * ahead);
        *mean += (gained - *mean) / *answers;
        *square += (gained * gained - *square) / answers.max(ahead);
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
            said.0[0] = Some(trust.heard(DomainKind::Value, naive, says(at, actual - naive, dice)));
            let (value, mixed) = (naive + trust.together(&said), trust.mixed(&said) as f32);
            open.push_back((
                Prediction { base: naive, value, naive, ahead: ahead as u32, said, mixed, ..Prediction::of_nothing() },
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
            .followed()
        };
        assert!(turns(1) <= 0.8 && turns(8) > 0.9, "{} {}", turns(1), turns(8));
        assert!(turns(30) > 0.9, "{}", turns(30));
        assert!(turns(36) < 0.1, "five horizons after the first wrong answer came in: {}", turns(36));
        assert!(turns(70) > 0.6, "{}", turns(70));
    }

    #[test]
    fn an_heir_trusts_as_its_line_did_but_less_firmly() {
        let (_, dead) = lived(24, 40 * 24, &mut Dice(3), |_, moves, _| moves);
        let (new, heir) = (Trust::default(), dead.left(0.2));
        assert!(new.followed() < heir.followed() && heir.followed() < dead.followed(), "{} {}", heir.naive, dead.naive);
        assert_eq!((heir.usual, heir.record.mean), (dead.usual, dead.record.mean), "what is usual is usual for it too");
        assert!(
            heir.seen < dead.seen && heir.record.answers < dead.record.answers,
            "and is soon forgotten if it is not"
        );
        assert!(heir.is_sound() && !Trust { naive: f64::NAN, ..heir }.is_sound());
        assert_eq!(dead.left(0.0).voices, new.voices);
    }

    #[test]
    fn who_is_silent_is_neither_praised_nor_blamed() {
        let laws = laws(2).unwrap();
        let mut trust = Trust { usual: 1.0, seen: 10.0, ..Trust::default() };
        let before = trust.clone();
        let mut said = Departures::default();
        said.0[Voice::Model as usize] = Some(1.0);
        let claim = Prediction { due: Time::default(), naive: 0.0, said, mixed: 1.0, ..Prediction::of_nothing() };
        trust.learn(DomainKind::Value, &claim, 1.0, laws);
        assert_eq!(trust.voices[0], before.voices[0]);
        assert_eq!(trust.of(Voice::Model), before.of(Voice::Model), "there was no other voice to be better than");
        assert!(trust.followed() > before.followed());
        assert_eq!(trust.together(&Departures::default()), 0.0);
    }
}

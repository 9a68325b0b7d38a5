//! What a night begins with: findings of nothing yet, and ideas that go on trial, as of the life they are of.

use super::{Found, Origin, Revision, SleepStage, Staged};
use crate::laws::BETS;
use crate::life::Life;
use crate::rule::{Heuristic, Said};

impl Found {
    /// Findings of a phase without dreams.
    pub fn nothing(life: &Life) -> Found {
        let night = life.dreams.night.as_ref();
        let (number, phase) = night.map_or((0, SleepStage::Onset), |night| (night.number, night.phase));
        Found { night: number, phase, ..Found::default() }
    }
}

impl Staged {
    pub fn new(
        heuristic: Heuristic,
        origin: Origin,
        utility: f64,
        (episodes, seed): (Vec<u64>, u64),
        life: &Life,
    ) -> Staged {
        let night = life.dreams.night.as_ref().map_or(0, |night| night.number);
        Staged {
            heuristic,
            origin,
            night,
            episodes,
            seed,
            utility,
            confidence: origin.confidence(&life.constitution().dream),
            confirmed: 0,
            contradicted: 0,
            error: 0.0,
            naive_error: 0.0,
            since: life.tick,
            until: life.now,
            bets: [1.0; BETS],
        }
    }
}

impl Revision {
    pub fn new(
        domain: u8,
        heuristics: Vec<(u8, Heuristic)>,
        utility: f64,
        episodes: Vec<u64>,
        life: &Life,
    ) -> Revision {
        Revision {
            domain,
            night: life.dreams.night.as_ref().map_or(0, |night| night.number),
            episodes,
            adopted: false,
            heuristics,
            utility,
            confidence: Origin::Recombined.confidence(&life.constitution().dream),
            confirmed: 0,
            contradicted: 0,
            gain: 0.0,
            squares: 0.0,
            excess: 0.0,
            since: life.tick,
            until: life.now,
            said: Said::default(),
        }
    }
}

//! Noticing that the world has changed: the Page–Hinkley test (E. S. Page, Continuous Inspection Schemes,
//! Biometrika 41, 1954), with the recurrences of `river.drift.PageHinkley`, to the bit.
//!
//! Deviations from the running mean are summed, less a tolerance; when the sum has climbed from its lowest
//! point, or fallen from its highest, by more than a threshold, the mean is no longer what it was.
//! Observing only calculates, with + − × ÷, so it may run while a journal is folded; whether the world has
//! changed is decided apart from it, and what follows from that is the caller's to record.

use serde::{Deserialize, Serialize};

/// Settings of the test.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Observations before anything may be called a change.
    pub min_instances: u32,
    /// Deviations up to this size are tolerated.
    pub delta: f64,
    /// How far a sum must move; λ in the literature.
    pub threshold: f64,
    /// How much of the old sums survives an observation.
    pub alpha: f64,
    pub mode: Mode,
}

/// Which changes of the mean count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    #[default]
    Both,
    Up,
    Down,
}

/// All that is remembered of a stream of finite numbers; one that is not finite blinds it until reset.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PageHinkley {
    settings: Settings,
    sums: Sums,
}

/// Sums of the test since the start or the last reset.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sums {
    pub seen: u64,
    pub mean: f64,
    /// Deviations less the tolerance; 0 before the first observation.
    pub sum_increase: f64,
    /// The least this sum has been.
    pub min_increase: f64,
    /// Deviations plus the tolerance; −1 before the first observation.
    pub sum_decrease: f64,
    /// The most this sum has been.
    pub max_decrease: f64,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { min_instances: 30, delta: 0.005, threshold: 50.0, alpha: 1.0 - 0.0001, mode: Mode::Both }
    }
}

impl Default for Sums {
    fn default() -> Sums {
        Sums { seen: 0, mean: 0.0, sum_increase: 0.0, min_increase: 0.0, sum_decrease: 0.0, max_decrease: -1.0 }
    }
}

impl PageHinkley {
    pub fn new(settings: Settings) -> PageHinkley {
        PageHinkley { settings, sums: Sums::default() }
    }

    /// Takes one more number into account, and decides nothing.
    pub fn observe(&mut self, x: f64) {
        let Settings { alpha, delta, .. } = self.settings;
        let sums = &mut self.sums;
        sums.seen += 1;
        sums.mean += (1.0 / sums.seen as f64) * (x - sums.mean);
        let deviation = x - sums.mean;
        sums.sum_increase = alpha * sums.sum_increase + deviation - delta;
        sums.sum_decrease = alpha * sums.sum_decrease + deviation + delta;
        // The first sum is the least so far: an infinite start would not survive JSON.
        if sums.seen == 1 || sums.sum_increase < sums.min_increase {
            sums.min_increase = sums.sum_increase;
        }
        if sums.sum_decrease > sums.max_decrease {
            sums.max_decrease = sums.sum_decrease;
        }
    }

    /// Whether the mean has moved since the start or the last reset.
    pub fn changed(&self) -> bool {
        let Settings { min_instances, threshold, mode, .. } = self.settings;
        let sums = &self.sums;
        if sums.seen < u64::from(min_instances.max(1)) {
            return false;
        }
        let up = sums.sum_increase - sums.min_increase > threshold;
        let down = sums.max_decrease - sums.sum_decrease > threshold;
        match mode {
            Mode::Both => up || down,
            Mode::Up => up,
            Mode::Down => down,
        }
    }

    /// How far the mean has moved towards a change, from 0 to 1.
    pub fn moved(&self) -> f64 {
        let Settings { min_instances, threshold, mode, .. } = self.settings;
        let sums = &self.sums;
        if sums.seen < u64::from(min_instances.max(1)) || threshold <= 0.0 {
            return 0.0;
        }
        let (up, down) = (sums.sum_increase - sums.min_increase, sums.max_decrease - sums.sum_decrease);
        let far = match mode {
            Mode::Both => up.max(down),
            Mode::Up => up,
            Mode::Down => down,
        };
        (far / threshold).clamp(0.0, 1.0)
    }

    /// Starts over: what is seen from here on is the new normal.
    pub fn reset(&mut self) {
        self.sums = Sums::default();
    }

    /// Does all at once, where nothing has to be recorded in between: starts over after a change, observes, decides.
    pub fn update(&mut self, x: f64) -> bool {
        if self.changed() {
            self.reset();
        }
        self.observe(x);
        self.changed()
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    pub fn sums(&self) -> &Sums {
        &self.sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watching(mode: Mode) -> PageHinkley {
        PageHinkley::new(Settings { min_instances: 10, threshold: 5.0, mode, ..Settings::default() })
    }

    fn fed(mut test: PageHinkley, stream: &[f64]) -> PageHinkley {
        stream.iter().for_each(|x| test.observe(*x));
        test
    }

    const RISE: [f64; 24] = {
        let mut stream = [0.0; 24];
        let mut at = 20;
        while at < 24 {
            stream[at] = 3.0;
            at += 1;
        }
        stream
    };

    #[test]
    fn a_rise_counts_only_for_those_who_watch_for_it() {
        assert!(fed(watching(Mode::Both), &RISE).changed());
        assert!(fed(watching(Mode::Up), &RISE).changed());
        assert!(!fed(watching(Mode::Down), &RISE).changed());
        let fall = RISE.map(|x| -x);
        assert!(fed(watching(Mode::Both), &fall).changed());
        assert!(!fed(watching(Mode::Up), &fall).changed());
        assert!(fed(watching(Mode::Down), &fall).changed());
    }

    #[test]
    fn a_change_stands_until_reset_and_then_the_new_level_is_normal() {
        let mut test = fed(watching(Mode::Both), &RISE);
        assert!(test.changed() && test.changed(), "asking changes nothing");
        test.reset();
        assert_eq!(test, watching(Mode::Both));
        assert!(!fed(test, &[3.0; 100]).changed());
    }

    #[test]
    fn nothing_is_a_change_before_enough_was_seen() {
        let wild = [0.0, 1000.0, -1000.0, 1000.0, -1000.0, 1000.0, -1000.0, 1000.0, -1000.0];
        let test = fed(watching(Mode::Both), &wild);
        assert!(!test.changed());
        assert!(fed(test, &[1000.0]).changed());
        let eager = PageHinkley::new(Settings { min_instances: 0, threshold: -1.0, ..Settings::default() });
        assert!(!eager.changed(), "nothing seen, nothing changed");
    }

    #[test]
    fn it_goes_on_after_being_written_down_as_if_nothing_had_happened() {
        for seen in [0, 1, 21] {
            let test = fed(watching(Mode::Both), &RISE[..seen]);
            let read: PageHinkley = serde_json::from_str(&serde_json::to_string(&test).unwrap()).unwrap();
            assert_eq!(fed(read, &RISE[seen..]), fed(test, &RISE[seen..]));
        }
    }
}

//! Laws: the constants that folding a journal depends on.
//!
//! A set is numbered and frozen once released. A birth record names the set its golem lives under, for good: no event
//! changes it, and an heir is born under the newest. So a journal written years ago still folds to the same Life, and a
//! changed constant is a new set, for golems that are born after.

use crate::limits;
use crate::regime::Settings;

/// Happenings that do something to a mood.
pub(crate) const FELT: usize = 10;

/// Bets placed on a hypothesis on trial.
pub const BETS: usize = 10;

/// The newest set; what a golem born today lives under.
pub const NEWEST: u16 = 3;

/// The set that the sealed experiment was run under, and the sets of the laboratory are made from.
pub const OF_TRIALS: u16 = 2;

#[derive(Debug)]
pub struct Laws {
    /// How much of the old burn rate survives a tick.
    pub burn_keep: f64,
    /// Resolved claims (decayed) a domain needs before it counts.
    pub domain_minimum: f64,
    /// Fitness of a golem that has shown nothing yet: exactly as good as naive.
    pub fitness_unknown: f64,
    /// Being worse than naive by this share is hopeless.
    pub hopeless: f64,
    /// Forecasts closer to naive than this share of naive's own error are echoes.
    pub echo: f64,
    /// Where the fitness of an echo drifts to.
    pub echo_fitness: f64,
    /// How much of the old mean survives an observation.
    pub mean_keep: f64,
    /// Vitality of a newborn, before its first tick.
    pub newborn: f64,
    /// Commands remembered, so that one delivered twice is obeyed once.
    pub commands_kept: usize,
    /// Peers whose newest letter is remembered.
    pub peers_kept: usize,
    /// Pairs remembered where fitness is measured as R².
    pub pairs_kept: usize,
    /// Pairs needed before R² says anything.
    pub pairs_needed: usize,
    /// Days in a month of allowance.
    pub month_days: u64,
    /// Claims over which what a heuristic has shown fades.
    pub heuristic_memory: f64,
    /// Claims a heuristic must have been tried in for half its say.
    pub say_half: f64,
    /// How much of the skill a heuristic has shown is taken for luck, by the root of how often it was tried.
    pub luck: f64,
    /// How much skill is taken for luck in claims of rises and falls, where luck plays a far larger part.
    pub luck_of_direction: f64,
    /// Weight of the unknown in every forecast.
    pub doubt: f64,
    /// How fast an effect moves at first.
    pub learning_first: f64,
    /// How soon that pace eases.
    pub learning_ease: f64,
    /// How fast it moves for ever after.
    pub learning_last: f64,
    /// Rises a heuristic must see before its own share outweighs an even chance.
    pub direction_prior: f64,
    /// Answers over which the usual share of rises is taken.
    pub rises_kept: f64,
    /// Before anything was seen rises are as likely as not, as if so many answers had been even.
    pub rises_even: f64,
    /// How often a band should hold.
    pub band_holds: f64,
    /// The cost of missing a band, for each unit it is missed by.
    pub band_miss: f64,
    /// The least a factor may be.
    pub effect_least: f64,
    /// The most a factor may be.
    pub effect_most: f64,
    /// The surest a probability may be.
    pub surest: f64,
    /// A factor nearer to what came true than one part in this many moves less than a whole step.
    pub nearness: f64,
    /// Looks the fitness window never falls below.
    pub window_floor: f64,
    /// Samples over which what holding paid fades.
    pub paid_memory: f64,
    /// Looks whose holding is followed, at most, over the time exposure is usually held.
    pub stakes: u64,
    /// The weight of being right about the world's own execution.
    pub execution_weight: f64,
    /// Actions over which the shortfall against previews is averaged.
    pub execution_memory: f64,
    /// How much of what things cost survives a tick.
    pub cost_keep: f64,
    /// How much a preview moves that cost.
    pub cost_share: f64,
    /// The highest cost that is believed.
    pub cost_most: f64,
    /// A claim this many times as wrong as usual is as surprising as any.
    pub surprise_most: f64,
    /// How a change of regime is noticed: of the level, held against what is usual.
    pub regime: Settings,
    /// Looks that make up what is usual.
    pub regime_usual: f64,
    /// Looks that make up what is recent.
    pub regime_recent: f64,
    /// A level this many times the usual is as good as any higher one.
    pub regime_highest: f64,
    /// Ticks over which the usual surprise is taken.
    pub surprise_memory: f64,
    /// Finished goals remembered of each domain.
    pub goals_kept: u32,
    /// Remembered states over which it is counted what moves with what.
    pub moves_memory: f32,
    /// Heuristics that lost their place, kept until the Curator's next round.
    pub shelf_kept: usize,
    /// Losses kept until the Curator's next round.
    pub scars_kept: usize,
    /// Ticks that two remembered states must be apart.
    pub moves_apart: u64,
    /// Rounds of the Curator over which what was archived is counted.
    pub rounds_kept: usize,
    /// The share archived from which on fitness suffers.
    pub pruned_share: f64,
    /// The share of fitness that is left then.
    pub pruned_fitness: f64,
    /// Confidence that the fiber takes for well believed.
    pub fiber_sure: f64,
    /// The most episodes the fiber marks.
    pub fiber_marks: usize,
    /// Waking ticks between two at which the fiber's marks make dreaming more urgent.
    pub fiber_every: u64,
    /// Urgency that the fiber adds each time.
    pub fiber_urgency: f64,
    /// Quarters of a day over which what was done is weighed.
    pub stress_marks: u64,
    /// Marks in a day.
    pub marks_a_day: u64,
    /// The peak above which a stressor leaves a warning behind.
    pub scar: f64,
    /// Warnings heard before one decision.
    pub signals: usize,
    /// Stressors the golem named itself that are remembered.
    pub named_kept: usize,
    /// Effects of happenings on a mood: pleasure, arousal, dominance, in the order of the Daimon's table.
    pub appraisals: [[f64; 3]; FELT],
    /// A loss of more than this share of what there is is a great one.
    pub great_loss: f64,
    /// Regret beyond this is something missed.
    pub missed: f32,
    /// Confidence that a hypothesis on trial gains by one case for it.
    pub dream_confirms: f64,
    /// Confidence that a hypothesis on trial loses by one case against it.
    pub dream_contradicts: f64,
    /// The share of its urgency that a night that could not begin loses in a tick.
    pub dream_blocked: f64,
    /// Whether a heuristic is scored by what it expected when the claim was made, and not by what it has learned since.
    pub honest: bool,
    /// How fast voices are trusted, over the answers of one horizon; nothing follows them blindly.
    pub trust_pace: f64,
    /// The share of trust that starts over at every answer.
    pub trust_share: f64,
    /// How fast all of them together are followed or not, by how steady their record is.
    pub trust_steady: f64,
    /// The slowest that pace can be.
    pub trust_slowest: f64,
    /// The fastest that pace can be.
    pub trust_fastest: f64,
    /// Horizons that record is taken over.
    pub trust_record: f64,
    /// Answers over which the usual error of naive is taken.
    pub trust_memory: f64,
    /// Answers, none overlapping another, over which what a blend has learned fades.
    pub blend_memory: f64,
    /// The fewest answers that a blend counts as having seen, however long it has seen none.
    pub blend_least: f64,
    /// Chances at which bets are placed on a hypothesis on trial; together they are worth what they have won.
    pub bets: [f64; BETS],
    /// The worth that bets must have made of one unit before a hypothesis is let in; at zero its confidence alone
    /// decides.
    pub proof: f64,
    /// The share of fitness that counts while all phages fail in the same way.
    pub alike_fitness: f64,
    /// Answers over which a chain learns how a domain with a level usually goes on.
    pub chain_kept: f64,
    /// Even answers that a chain begins with, before anything was seen.
    pub chain_even: f64,
    /// Answers over which the record of dated claims fades: an outside mind is judged by what it says, however seldom.
    pub dated_window: f64,
    /// Added to the error of a dated chance and to naive's: in a domain that hardly ever changes naive is hardly ever
    /// wrong, and being a little less sure than naive must not kill.
    pub dated_doubt: f64,
    /// Fragments on trial at once; without any, ways out are not known.
    pub fragments: usize,
    /// Deviations that a fragment must be surer by than a rule.
    pub fragment_sureness: f64,
    /// Ticks after which a fragment whose condition hardly ever holds has been tried.
    pub fragment_patience: u64,
    /// Whether a stable golem that earns less than it costs spends its ideas on what could pay.
    pub seeks_revenue: bool,
    /// Confidence that the entry of a rule brought by a phage begins with.
    pub of_phages: f64,
    /// Memories, beside the one it was made from, in which an omen must have held before a night warns of it; at zero it
    /// always does.
    pub omens: u32,
    /// Whether nights go through other moments for a choice too, and not only other choices.
    pub moments: bool,
    /// Whether nights play what may go wrong in a world through gate and policy.
    pub drills: bool,
}

// Life has room for what the laws want kept.
const _: () = assert!(
    FIRST.commands_kept <= limits::COMMANDS && FIRST.peers_kept <= limits::PEERS && FIRST.pairs_kept <= limits::PAIRS
);

const FIRST: Laws = Laws {
    burn_keep: 0.95,
    domain_minimum: 20.0,
    fitness_unknown: 0.5,
    hopeless: 0.5,
    echo: 0.01,
    echo_fitness: 0.40,
    mean_keep: 0.99,
    newborn: 0.69,
    commands_kept: 32,
    peers_kept: 64,
    pairs_kept: 100,
    pairs_needed: 10,
    month_days: 30,
    heuristic_memory: 500.0,
    say_half: 40.0,
    luck: 0.4,
    luck_of_direction: 3.0,
    doubt: 0.01,
    learning_first: 0.6,
    learning_ease: 6.0,
    learning_last: 0.004,
    direction_prior: 60.0,
    rises_kept: 2_000.0,
    rises_even: 40.0,
    band_holds: 0.8,
    band_miss: 10.0,
    effect_least: 0.05,
    effect_most: 20.0,
    surest: 0.99,
    nearness: 10.0,
    window_floor: 200.0,
    paid_memory: 200.0,
    stakes: 32,
    execution_weight: 0.20,
    execution_memory: 50.0,
    cost_keep: 0.9998,
    cost_share: 0.25,
    cost_most: 0.05,
    surprise_most: 1e6,
    regime: Settings { min_instances: 30, delta: 0.2, threshold: 25.0, alpha: 0.9999, mode: crate::regime::Mode::Both },
    regime_usual: 5_000.0,
    regime_recent: 48.0,
    regime_highest: 10.0,
    surprise_memory: 500.0,
    goals_kept: 20,
    moves_memory: 500.0,
    shelf_kept: 8,
    scars_kept: 4,
    moves_apart: 24,
    rounds_kept: 10,
    pruned_share: 0.20,
    pruned_fitness: 0.95,
    fiber_sure: 0.6,
    fiber_marks: 16,
    fiber_every: 2,
    fiber_urgency: 0.02,
    stress_marks: 28,
    marks_a_day: 4,
    scar: 0.5,
    signals: 3,
    named_kept: 16,
    appraisals: [
        [0.6, 0.3, 0.5],
        [-0.5, 0.2, -0.3],
        [-0.5, 0.7, -0.3],
        [-0.2, 0.6, -0.2],
        [-0.2, 0.7, -0.3],
        [-0.4, 0.3, -0.2],
        [0.3, -0.1, 0.3],
        [-0.3, 0.2, 0.1],
        [-0.3, 0.4, -0.4],
        [-0.4, -0.2, -0.4],
    ],
    great_loss: 0.05,
    missed: 0.02,
    dream_confirms: 0.1,
    dream_contradicts: 0.05,
    dream_blocked: 0.1,
    honest: false,
    trust_pace: 0.0,
    trust_share: 0.0,
    trust_steady: 3.0,
    trust_slowest: 0.5,
    trust_fastest: 4.0,
    trust_record: 20.0,
    trust_memory: 1.0,
    blend_memory: 1_000.0,
    blend_least: 4.0,
    bets: [0.5; BETS],
    proof: 0.0,
    alike_fitness: 0.95,
    chain_kept: 200.0,
    chain_even: 2.0,
    dated_window: 100.0,
    dated_doubt: 1.0,
    fragments: 0,
    fragment_sureness: 0.0,
    fragment_patience: 0,
    seeks_revenue: false,
    of_phages: 0.7,
    omens: 0,
    moments: false,
    drills: false,
};

/// The second laws: no heuristic is scored by what it learned after its claim, and no voice is followed further than
/// its record goes.
const SECOND: Laws = Laws {
    honest: true,
    trust_pace: 3.0,
    trust_share: 0.02 / 24.0,
    trust_memory: 500.0,
    // Evenly between a coin and certainty.
    bets: [0.525, 0.575, 0.625, 0.675, 0.725, 0.775, 0.825, 0.875, 0.925, 0.975],
    proof: 20.0,
    ..FIRST
};

/// The third laws, which are not frozen before the first release: entry, exit and size are tried as one, and what fifty
/// ticks or one night found is believed as far as it has been shown.
const THIRD: Laws = Laws {
    of_phages: 0.3,
    omens: 2,
    moments: true,
    drills: true,
    fragments: 8,
    fragment_sureness: 1.0,
    fragment_patience: 8_000,
    seeks_revenue: true,
    ..SECOND
};

/// The set with this number, if this version of the program knows it.
pub fn laws(number: u16) -> Option<&'static Laws> {
    match number {
        1 => Some(&const { FIRST }),
        2 => Some(&const { SECOND }),
        3 => Some(&const { THIRD }),
        _ => TRIALS.get(usize::from(number.checked_sub(Trial::FIRST)?)),
    }
}

/// A set of the laboratory's: how fast a mind learns and how fast it forgets, turned up or down beside the second laws.
/// No golem is born under one elsewhere, and no journal promises to be read under one for ever.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trial {
    /// Learns as if answers that share time were one answer, and remembers four times as long.
    pub slow: bool,
    /// Which of [`Trial::MEMORY`], [`Trial::STARTS_OVER`] and [`Trial::PACE`].
    pub memory: usize,
    pub starts_over: usize,
    pub pace: usize,
}

static TRIALS: [Laws; Trial::ALL] = Trial::sets();

impl Trial {
    const FIRST: u16 = 1_000;
    const ALL: usize = 2 * Self::MEMORY.len() * Self::STARTS_OVER.len() * Self::PACE.len();
    /// How many times as long what was shown is remembered.
    pub const MEMORY: [f64; 5] = [0.25, 0.5, 1.0, 2.0, 4.0];
    /// How many times as much of trust starts over at every answer.
    pub const STARTS_OVER: [f64; 3] = [1.0, 4.0, 16.0];
    /// How many times as fast effects move for ever after.
    pub const PACE: [f64; 2] = [1.0, 4.0];

    /// The number of the set.
    pub fn number(self) -> Option<u16> {
        let room = self.memory < Self::MEMORY.len() && self.starts_over < Self::STARTS_OVER.len();
        let at = (usize::from(self.slow) * Self::MEMORY.len() + self.memory) * Self::STARTS_OVER.len();
        let at = (at + self.starts_over) * Self::PACE.len() + self.pace;
        (room && self.pace < Self::PACE.len()).then(|| Self::FIRST + u16::try_from(at).expect("sixty sets"))
    }

    const fn sets() -> [Laws; Self::ALL] {
        let mut sets = [const { SECOND }; Self::ALL];
        let mut at = 0;
        while at < Self::ALL {
            let (rest, pace) = (at / Self::PACE.len(), Self::PACE[at % Self::PACE.len()]);
            let (rest, share) = (rest / Self::STARTS_OVER.len(), Self::STARTS_OVER[rest % Self::STARTS_OVER.len()]);
            let (slow, memory) = (rest / Self::MEMORY.len() > 0, Self::MEMORY[rest % Self::MEMORY.len()]);
            let (ease, last, kept) = if slow { (30.0, 0.001, 2_000.0) } else { (6.0, 0.004, 500.0) };
            sets[at] = Laws {
                learning_ease: ease,
                learning_last: last * pace,
                heuristic_memory: kept * memory,
                trust_memory: kept * memory,
                trust_share: SECOND.trust_share * share,
                ..SECOND
            };
            at += 1;
        }
        sets
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_turns_what_it_says_and_nothing_else() {
        let same = Trial { memory: 2, ..Trial::default() }.number().unwrap();
        assert_eq!(format!("{:?}", laws(same).unwrap()), format!("{:?}", laws(OF_TRIALS).unwrap()));
        let other = Trial { slow: true, memory: 4, starts_over: 2, pace: 1 };
        let set = laws(other.number().unwrap()).unwrap();
        assert_eq!((set.learning_ease, set.learning_last, set.heuristic_memory), (30.0, 0.004, 8_000.0));
        assert_eq!(set.trust_share, 16.0 * laws(OF_TRIALS).unwrap().trust_share);
        assert!(laws(other.number().unwrap() + 1).is_none() && Trial { memory: 5, ..other }.number().is_none());
    }

    #[test]
    fn released_laws_are_frozen() {
        let shown = format!("{:?}", laws(1).unwrap());
        assert_eq!(
            shown,
            "Laws { burn_keep: 0.95, domain_minimum: 20.0, fitness_unknown: 0.5, hopeless: 0.5, echo: 0.01, \
             echo_fitness: 0.4, mean_keep: 0.99, newborn: 0.69, commands_kept: 32, peers_kept: 64, pairs_kept: 100, \
             pairs_needed: 10, month_days: 30, heuristic_memory: 500.0, say_half: 40.0, luck: 0.4, luck_of_direction: 3.0, doubt: 0.01, \
             learning_first: 0.6, learning_ease: 6.0, learning_last: 0.004, direction_prior: 60.0, \
             rises_kept: 2000.0, rises_even: 40.0, band_holds: 0.8, band_miss: 10.0, effect_least: 0.05, \
             effect_most: 20.0, surest: 0.99, nearness: 10.0, window_floor: 200.0, \
             paid_memory: 200.0, stakes: 32, execution_weight: 0.2, execution_memory: 50.0, \
             cost_keep: 0.9998, cost_share: 0.25, cost_most: 0.05, surprise_most: 1000000.0, \
             regime: Settings { min_instances: 30, delta: 0.2, threshold: 25.0, alpha: 0.9999, mode: Both }, \
             regime_usual: 5000.0, regime_recent: 48.0, regime_highest: 10.0, surprise_memory: 500.0, goals_kept: 20, \
             moves_memory: 500.0, shelf_kept: 8, scars_kept: 4, moves_apart: 24, rounds_kept: 10, pruned_share: 0.2, pruned_fitness: 0.95, \
             fiber_sure: 0.6, fiber_marks: 16, fiber_every: 2, fiber_urgency: 0.02, \
             stress_marks: 28, marks_a_day: 4, scar: 0.5, signals: 3, named_kept: 16, appraisals: [[0.6, 0.3, 0.5], [-0.5, 0.2, -0.3], [-0.5, 0.7, -0.3], \
             [-0.2, 0.6, -0.2], [-0.2, 0.7, -0.3], [-0.4, 0.3, -0.2], [0.3, -0.1, 0.3], [-0.3, 0.2, 0.1], \
             [-0.3, 0.4, -0.4], [-0.4, -0.2, -0.4]], great_loss: 0.05, missed: 0.02, \
             dream_confirms: 0.1, dream_contradicts: 0.05, dream_blocked: 0.1, honest: false, trust_pace: 0.0, trust_share: 0.0, \
             trust_steady: 3.0, trust_slowest: 0.5, trust_fastest: 4.0, trust_record: 20.0, trust_memory: 1.0, blend_memory: 1000.0, blend_least: 4.0, bets: [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5], proof: 0.0, alike_fitness: 0.95, chain_kept: 200.0, chain_even: 2.0, dated_window: 100.0, dated_doubt: 1.0, \
             fragments: 0, fragment_sureness: 0.0, fragment_patience: 0, seeks_revenue: false, \
             of_phages: 0.7, omens: 0, moments: false, drills: false }"
        );
        let shown = format!("{:?}", laws(2).unwrap());
        let (_, since) = shown.split_once("dream_blocked: 0.1, ").unwrap();
        assert_eq!(
            since,
            "honest: true, trust_pace: 3.0, trust_share: 0.0008333333333333334, trust_steady: 3.0, trust_slowest: 0.5, trust_fastest: 4.0, \
             trust_record: 20.0, trust_memory: 500.0, \
             blend_memory: 1000.0, blend_least: 4.0, bets: [0.525, 0.575, 0.625, 0.675, 0.725, 0.775, 0.825, 0.875, 0.925, 0.975], proof: 20.0, alike_fitness: 0.95, chain_kept: 200.0, chain_even: 2.0, dated_window: 100.0, dated_doubt: 1.0, \
             fragments: 0, fragment_sureness: 0.0, fragment_patience: 0, seeks_revenue: false, \
             of_phages: 0.7, omens: 0, moments: false, drills: false }"
        );
        assert!(laws(NEWEST).is_some() && laws(NEWEST + 1).is_none());
    }
}

//! A made-up library to search in: entries about markets and queues, put together from ideas that each have
//! several words, with vectors that know the idea and not the word. A question about an entry names some of its
//! ideas, often by other words; so neither words nor vectors see all of it, as in life.

#![allow(dead_code, reason = "each test uses a part of it")]

pub(crate) mod cost;

use golem::Time;
use golem::grimoire::{Class, Entry, How, Kind, Provenance, Source, Status};
use golem::regime::Regime;

pub(crate) const DAY: u64 = 86_400;
pub(crate) const NOW: Time = Time::seconds(1_700_000_000);

/// Numbers that are the same everywhere, by SplitMix64.
#[derive(Clone, Debug)]
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub(crate) fn happens(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    /// About normal: twelve draws added up.
    pub(crate) fn normal(&mut self) -> f32 {
        ((0..12).map(|_| self.unit()).sum::<f64>() - 6.0) as f32
    }

    pub(crate) fn direction(&mut self, dimensions: usize) -> Vec<f32> {
        let scale = 1.0 / (dimensions as f32).sqrt();
        (0..dimensions).map(|_| self.normal() * scale).collect()
    }
}

/// An idea and the words people have for it.
const IDEAS: &[&[&str]] = &[
    &["gas", "base fee", "network fee"],
    &["price", "quote", "rate"],
    &["rises", "climbs", "goes up", "rallies"],
    &["falls", "drops", "declines", "slides"],
    &["liquidity", "depth"],
    &["volume", "turnover"],
    &["volatility", "swings", "turbulence"],
    &["calm", "quiet", "flat"],
    &["spread", "gap between bid and ask"],
    &["slippage", "cost of crossing"],
    &["funding", "carry"],
    &["liquidation", "forced selling", "margin call"],
    &["whale", "large holder"],
    &["arbitrage", "mispricing"],
    &["oracle", "price feed"],
    &["stale", "outdated", "late"],
    &["morning", "early hours"],
    &["weekend", "saturday"],
    &["queue", "backlog", "waiting line"],
    &["worker", "server", "node"],
    &["latency", "delay", "response time"],
    &["timeout", "deadline missed"],
    &["retry", "second attempt"],
    &["burst", "spike", "sudden load"],
    &["scale out", "add capacity"],
    &["scale in", "remove capacity"],
    &["idle", "unused"],
    &["cost", "bill", "expense"],
    &["job", "task", "request"],
    &["priority", "urgency"],
    &["failure", "crash", "breakdown"],
    &["recovery", "rebound", "comeback"],
    &["momentum", "trend"],
    &["reversal", "turnaround"],
    &["breakout", "leaving the range"],
    &["support", "floor"],
    &["resistance", "ceiling"],
    &["panic", "capitulation"],
    &["euphoria", "mania"],
    &["rebalance", "shift weights"],
    &["hedge", "protection"],
    &["exposure", "position"],
    &["stop", "exit"],
    &["profit", "gain"],
    &["loss", "drawdown"],
    &["correlation", "moving together"],
    &["seasonal", "every month"],
    &["news", "announcement"],
    &["upgrade", "new version"],
    &["bridge", "crossing chains"],
    &["stablecoin", "pegged coin"],
    &["depeg", "losing its peg"],
    &["validator", "staker"],
    &["mempool", "pending orders"],
    &["sandwich", "front running"],
    &["range", "band"],
    &["narrows", "contracts", "tightens"],
    &["widens", "expands"],
    &["threshold", "limit"],
    &["memory", "storage"],
];

const GLUE: &[&str] = &["when", "the", "is", "of", "in", "and", "then", "to", "for", "with"];
const UNITS: &[&str] = &["blocks", "minutes", "hours", "gwei", "percent", "points", "dollars", "seconds"];

pub(crate) struct Library {
    pub(crate) entries: Vec<Entry>,
    pub(crate) vectors: Vec<Vec<f32>>,
    ideas: Vec<Vec<f32>>,
    about: Vec<Vec<usize>>,
    numbers: Vec<usize>,
}

pub(crate) struct Question {
    /// The entry it was made from.
    pub(crate) target: u64,
    pub(crate) text: String,
    /// Without the glue.
    pub(crate) words: Vec<String>,
    pub(crate) embedding: Vec<f32>,
}

impl Library {
    pub(crate) fn new(size: usize, dimensions: usize, chance: &mut Chance) -> Library {
        let ideas: Vec<Vec<f32>> = IDEAS.iter().map(|_| chance.direction(dimensions)).collect();
        let mut library =
            Library { entries: Vec::new(), vectors: Vec::new(), ideas, about: Vec::new(), numbers: Vec::new() };
        for id in 1..=size as u64 {
            let about: Vec<usize> = (0..4 + chance.below(4)).map(|_| chance.below(IDEAS.len())).collect();
            let number = chance.below(2_000);
            let mut text: Vec<String> = Vec::new();
            for idea in &about {
                text.push((*chance.pick(GLUE)).to_owned());
                text.push((*chance.pick(IDEAS[*idea])).to_owned());
            }
            text.push(format!("{number} {}", chance.pick(UNITS)));
            library.entries.push(varied(id, text.join(" "), chance));
            library.vectors.push(library.vector(&about, 1.0, chance));
            library.about.push(about);
            library.numbers.push(number);
        }
        library
    }

    /// What a model would make of a text about these ideas.
    fn vector(&self, about: &[usize], noise: f32, chance: &mut Chance) -> Vec<f32> {
        let dimensions = self.ideas[0].len();
        let mut vector: Vec<f32> = chance.direction(dimensions).iter().map(|value| value * noise).collect();
        for idea in about {
            vector.iter_mut().zip(&self.ideas[*idea]).for_each(|(value, part)| *value += part);
        }
        vector
    }

    /// Names two to four ideas of an entry, half of the time by other words, and now and then its number.
    pub(crate) fn question(&self, chance: &mut Chance) -> Question {
        let at = chance.below(self.entries.len());
        let about = &self.about[at];
        let named: Vec<usize> = about.iter().copied().take(2 + chance.below(3)).collect();
        let mut text = vec!["what happens".to_owned()];
        for idea in &named {
            let words: Vec<&&str> = IDEAS[*idea]
                .iter()
                .filter(|word| self.entries[at].text.contains(**word) || chance.happens(0.5))
                .collect();
            text.push((*chance.pick(GLUE)).to_owned());
            text.push((**chance.pick(&words)).to_owned());
        }
        if chance.happens(0.3) {
            text.push(self.numbers[at].to_string());
        }
        let text = text.join(" ");
        let words = text.split(' ').filter(|word| *word != "what" && !GLUE.contains(word)).map(str::to_owned).collect();
        Question { target: self.entries[at].id, text, words, embedding: self.vector(&named, 1.0, chance) }
    }
}

/// An entry that says this and has nothing else to it.
pub(crate) fn entry(id: u64, text: impl Into<String>) -> Entry {
    Entry {
        id,
        kind: Kind::Insight,
        text: text.into(),
        condition: None,
        claim: None,
        link: None,
        blend: None,
        shown: None,
        domain: None,
        regime: None,
        class: Class::Tactical,
        status: Status::Active,
        initial: 0.5,
        evidence_for: 0.0,
        evidence_against: 0.0,
        born: NOW,
        validated_at: NOW,
        dream_validated: false,
        bloodstain: false,
        quality: 0.5,
        strength: 1.0,
        retrievals: 0,
        provenance: Provenance {
            sources: vec![Source { golem: golem::GolemId([7; 16]), generation: 0, how: How::Observed }],
            crossings: 0,
            hops: 0,
            brought: None,
        },
        shared: None,
        contradicts: Vec::new(),
    }
}

/// An entry with a history of its own.
pub(crate) fn varied(id: u64, text: impl Into<String>, chance: &mut Chance) -> Entry {
    let classes = [Class::Structural, Class::RegimeConditional, Class::Tactical, Class::Ephemeral];
    let regimes = [None, Some(Regime::Calm), Some(Regime::Usual), Some(Regime::Unsettled)];
    let statuses =
        [Status::Active, Status::Active, Status::Active, Status::Dormant, Status::Candidate, Status::Archived];
    Entry {
        kind: *chance.pick(&Kind::ALL),
        class: *chance.pick(&classes),
        status: *chance.pick(&statuses),
        domain: chance.happens(0.8).then(|| chance.below(6) as u8),
        regime: *chance.pick(&regimes),
        initial: 0.3 + 0.4 * chance.unit(),
        evidence_for: 10.0 * chance.unit(),
        evidence_against: 5.0 * chance.unit(),
        born: Time::seconds(NOW.as_seconds() - 60 * DAY),
        validated_at: Time::seconds(NOW.as_seconds() - chance.below(30 * DAY as usize) as u64),
        dream_validated: chance.happens(0.1),
        bloodstain: chance.happens(0.05),
        ..entry(id, text)
    }
}

//! Entries that nobody asks for and that are easily taken for those that are: the same sentence with another
//! number, the other direction or another subject; what the minds of two worlds could have written instead; and
//! sentences about the same matters.

use golem::grimoire::Kind;
use golem::rule::text::Parsed;
use golem::rule::{Comparison, Condition, Is, Stance};
use golem::world::{DomainKind, Manifest};
use world::{Ledger, Spec};

use super::library::Chance;

const RULES: usize = 2_400;
const WARNINGS: usize = 700;
const LINKS: usize = 700;
/// Sentences made of each pattern.
const OF_A_PATTERN: usize = 30;

/// What turns a sentence round, either way.
const TURNED: &[(&str, &str)] = &[
    ("above", "below"),
    ("over", "under"),
    ("rise", "fall"),
    ("rises", "falls"),
    ("rising", "falling"),
    ("rose", "fell"),
    ("risen", "fallen"),
    ("higher", "lower"),
    ("highest", "lowest"),
    ("high", "low"),
    ("before", "after"),
    ("beforehand", "afterwards"),
    ("more", "less"),
    ("longer", "shorter"),
    ("long", "short"),
    ("larger", "smaller"),
    ("large", "small"),
    ("buy", "sell"),
    ("buying", "selling"),
    ("first", "last"),
    ("better", "worse"),
    ("best", "worst"),
    ("early", "late"),
    ("earlier", "later"),
    ("morning", "evening"),
    ("slow", "fast"),
    ("slower", "faster"),
    ("slowest", "fastest"),
    ("calm", "unsettled"),
    ("cheap", "dear"),
    ("cheaper", "dearer"),
    ("wider", "tighter"),
    ("widest", "narrowest"),
    ("up", "down"),
    ("gains", "losses"),
    ("profit", "loss"),
    ("profits", "losses"),
    ("narrows", "widens"),
    ("shrink", "raise"),
    ("always", "never"),
    ("double", "halve"),
    ("thin", "deep"),
    ("heavy", "light"),
    ("most", "few"),
    ("right", "wrong"),
    ("quiet", "busy"),
    ("easiest", "hardest"),
    ("younger", "older"),
    ("rent", "lend"),
    ("add", "remove"),
    ("adding", "removing"),
    ("keep", "drop"),
];

/// What a sentence could be about instead.
const SUBJECTS: &[(&str, &str)] = &[
    ("mainnet", "the sidechain"),
    ("gas", "bandwidth"),
    ("swap", "loan"),
    ("swaps", "loans"),
    ("eth", "SOL"),
    ("usdc", "USDT"),
    ("wbtc", "LINK"),
    ("pool", "vault"),
    ("pools", "vaults"),
    ("fee", "rebate"),
    ("fees", "rebates"),
    ("rollup", "sidechain"),
    ("stablecoin", "governance coin"),
    ("server", "printer"),
    ("servers", "printers"),
    ("queue", "mailbox"),
    ("queues", "mailboxes"),
    ("jobs", "mails"),
    ("regime", "season"),
    ("volatility", "turnover"),
    ("depth", "open interest"),
    ("slippage", "latency"),
    ("spread", "premium"),
    ("order", "auction"),
    ("orders", "auctions"),
    ("bitcoin", "ether"),
    ("heuristics", "models"),
    ("heuristic", "model"),
    ("golem", "trader"),
    ("golems", "traders"),
    ("price", "yield"),
    ("token", "bond"),
    ("tokens", "bonds"),
    ("bridges", "custodians"),
    ("weekend", "holiday"),
    ("transaction", "withdrawal"),
    ("position", "loan"),
    ("positions", "loans"),
    ("arrivals", "complaints"),
    ("drawdown", "leverage"),
    ("funding", "insurance"),
    ("customers", "suppliers"),
    ("machine", "pump"),
    ("momentum", "carry"),
    ("trend", "cycle"),
    ("trends", "cycles"),
    ("breakouts", "auctions"),
    ("capital", "staff"),
    ("trade", "release"),
    ("demand", "rainfall"),
    ("burst", "drought"),
    ("database", "printer"),
    ("deploys", "audits"),
    ("exit", "audit"),
    ("profits", "rents"),
    ("waiting", "travelling"),
    ("bids", "parcels"),
    ("option", "lease"),
    ("range", "tide"),
    ("timeframes", "jurors"),
    ("keys", "badges"),
];

const NUMBERS: &[&str] = &[
    "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "fifteen", "twenty",
    "thirty", "forty", "fifty", "ninety",
];

/// Features with the values they usually have.
const USUAL: &[(&str, f64, f64)] = &[
    ("ret_1", -0.03, 0.03),
    ("ret_6", -0.07, 0.07),
    ("ret_24", -0.1, 0.1),
    ("ret_168", -0.18, 0.18),
    ("vol_24", 0.003, 0.025),
    ("vol_168", 0.003, 0.025),
    ("vol_ratio", 0.4, 2.5),
    ("vol_6_ratio", 0.4, 2.8),
    ("drawdown", -0.2, -0.01),
    ("dist_mean", -0.1, 0.1),
    ("volume_ratio", 0.2, 6.5),
    ("gas", 8.0, 120.0),
    ("gas_ratio", 0.4, 2.5),
    ("liquidity", 0.3, 1.8),
    ("hour", 0.5, 23.0),
    ("range_24", 0.005, 0.05),
    ("band_24", 0.03, 0.14),
    ("arrivals", 30.0, 150.0),
    ("arrivals_ratio", 0.5, 1.8),
    ("wait", 0.5, 10.0),
    ("queue", 1.0, 90.0),
    ("busy", 0.2, 0.99),
    ("servers", 11.0, 25.0),
];

const PATTERNS: &[(Kind, &str)] = &[
    (Kind::Insight, "{coin} usually moves {n} per cent in the {m} days after a listing on {venue}."),
    (Kind::Insight, "Spreads on {venue} reach {n} basis points in the {part} of a {day}."),
    (Kind::StrategyFragment, "Keep at least {n} per cent in {coin} while {what} is {level}."),
    (Kind::Heuristic, "When {what} is {level} on {venue}, wait {n} {times} before you touch {coin}."),
    (Kind::Warning, "{day} {part} is a poor time to {act} {coin}: {what} is {level} then."),
    (Kind::Question, "Does {what} on {venue} lead {what2} by {n} {times}?"),
    (Kind::Insight, "A reading of {n} in {what} has come before every fall of {coin} this year."),
    (Kind::CausalLink, "A {n} per cent drop in {what} makes {who} leave within {m} {times}."),
    (Kind::CausalLink, "{who} {act} {coin} on {day}, which moves {what} by {n} per cent."),
    (Kind::StrategyFragment, "Orders in {coin} over {n},000 dollars should go to {venue} in the {part}."),
    (Kind::Warning, "Never {act} {coin} within {n} {times} of a statement by {who}."),
    (Kind::CausalLink, "The fee on {venue} went from {n} to {m} basis points in {month}, and volume followed."),
    (Kind::Insight, "In {month}, {what} was {level} on {n} days out of thirty."),
    (Kind::CausalLink, "After an upgrade of {venue}, blocks were {n} per cent fuller for {m} days."),
    (Kind::Insight, "Gas for a transfer to {venue} is around {n} gwei in the {part}."),
    (Kind::Heuristic, "Tips of more than {n} gwei are wasted on {venue} unless {what} is {level}."),
    (Kind::Insight, "Workers of the {job} queue need {n} seconds a job, {m} when the cache is cold."),
    (Kind::CausalLink, "The {job} queue grows by {n} jobs an hour in the {part} of a {day}."),
    (Kind::Heuristic, "Add {n} servers for {job} when more than {m} jobs wait."),
    (Kind::Heuristic, "Take a server away from {job} after {n} minutes below {m} per cent load."),
    (Kind::CausalLink, "Retries of {job} double the load {n} minutes after a timeout of {m} seconds."),
    (Kind::Question, "Is a timeout of {n} seconds too short for {job} in the {part}?"),
    (Kind::Warning, "The {job} service was down for {n} minutes in {month}, when its disk was full."),
    (Kind::Insight, "Regimes on {venue} last {n} days when {what} is {level}."),
    (Kind::Insight, "The {regime} regime of {month} ended after {n} days with a jump in {what}."),
    (Kind::Insight, "While the world is {regime}, forecasts of {what} are off by {n} per cent."),
    (Kind::Warning, "Stops at {n} per cent are hit {m} times in a hundred while the world is {regime}."),
    (Kind::Insight, "A heuristic older than {n} days is right {m} times in a hundred while the world is {regime}."),
    (Kind::Insight, "Heirs of golems that died in {month} began with {n} entries and kept {m}."),
    (Kind::StrategyFragment, "Risk {n} per cent a trade in {coin}, and half of that on {day}."),
    (Kind::Heuristic, "Close {coin} when it has lost {n} per cent from its peak, whatever {what} does."),
    (Kind::Insight, "The bridge to {venue} took {n} minutes in the {part} of a {day}."),
    (Kind::Warning, "The oracle for {coin} lags {venue} by {n} seconds when {what} is {level}."),
    (Kind::Insight, "Lenders on {venue} ask {n} per cent for {coin} while {what} is {level}."),
    (Kind::CausalLink, "{coin} follows {coin2} with a delay of {n} {times} on {venue}."),
    (Kind::Insight, "The {part} of a {day} is when {who} rebalance {coin}."),
    (Kind::Insight, "A model call in {month} cost {n} cents and changed the decision {m} times in a hundred."),
    (Kind::StrategyFragment, "Sleeping {n} minutes between ticks saved {m} dollars in {month}."),
    (Kind::Question, "What would a second look at {what} after {n} {times} have told us about {coin}?"),
    (Kind::Question, "Is {what} {level} on {venue} because of {who}, or is it the {part}?"),
];

const WORDS: &[(&str, &[&str])] = &[
    ("coin", &["ether", "bitcoin", "SOL", "LINK", "USDC", "DAI", "WBTC", "the yield coin", "the governance token"]),
    ("venue", &["the main pool", "the rollup", "the order book", "the lending market", "the small venue", "mainnet"]),
    ("what", &["volatility", "depth", "the base fee", "funding", "volume", "the spread", "open interest", "leverage"]),
    ("level", &["high", "low", "rising", "falling", "above its average", "below its average"]),
    ("times", &["minutes", "hours", "blocks", "bars", "days"]),
    ("day", &["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]),
    ("part", &["morning", "afternoon", "evening", "night"]),
    ("act", &["buy", "sell", "lend", "borrow", "move"]),
    ("who", &["market makers", "keepers", "large holders", "arbitrageurs", "the issuer", "miners", "lenders"]),
    ("month", &["January", "February", "April", "May", "August", "September", "October", "November", "December"]),
    ("job", &["billing", "search", "upload", "report", "mail", "thumbnail", "backup", "login"]),
    ("regime", &["calm", "usual", "unsettled"]),
];

/// Everything that stands among the entries asked for.
pub(crate) fn all(targets: &[(Kind, String)], chance: &mut Chance) -> Vec<(Kind, String)> {
    let mut texts = Vec::new();
    for (kind, text) in targets.iter().filter(|(_, text)| !by_a_golem(text)) {
        texts.extend(twists(text, chance).into_iter().map(|twist| (*kind, twist)));
    }
    let [market, queue] = worlds();
    for at in 0..RULES {
        let kind = if at % 3 == 0 { Kind::Insight } else { Kind::Heuristic };
        texts.push((kind, rule(if at % 3 == 2 { &queue } else { &market }, chance)));
    }
    for _ in 0..WARNINGS {
        texts.push((Kind::Warning, warning(&market, chance)));
    }
    for at in 0..LINKS {
        texts.push((Kind::CausalLink, link(if at % 4 == 3 { &queue } else { &market }, chance)));
    }
    for (kind, pattern) in PATTERNS {
        texts.extend((0..OF_A_PATTERN).map(|_| (*kind, sentence(pattern, chance))));
    }
    texts
}

/// Whether a mind of rules has worded it.
pub(crate) fn by_a_golem(text: &str) -> bool {
    text.contains(" expect ") || text.contains(" tends to ")
}

/// A market with gas and a queue.
pub(crate) fn worlds() -> [Manifest; 2] {
    let market = Spec::Sim { seed: 1, bar_ms: 3_600_000, relations_change_days: 0.0, edge_bps: None, flip_days: None };
    let queue = Spec::Queue { seed: 1, bar_ms: 60_000 };
    [market, queue].map(|spec| spec.open(Ledger::memory()).unwrap().manifest())
}

/// The same sentence with other numbers, turned round, about something else, and two of these at once.
fn twists(text: &str, chance: &mut Chance) -> Vec<String> {
    let numbers = reworded(text, |word| other_number(word, chance));
    let again = reworded(text, |word| other_number(word, chance));
    let turned = reworded(text, opposite);
    let both = reworded(&turned, |word| other_number(word, chance));
    let mut first = None;
    let subject = reworded(text, |word| {
        let (from, to) = SUBJECTS.iter().find(|(from, _)| word.to_lowercase() == *from)?;
        (*first.get_or_insert(*from) == *from).then(|| (*to).to_owned())
    });
    [numbers, again, turned, both, subject].into_iter().filter(|twist| twist != text).collect()
}

fn opposite(word: &str) -> Option<String> {
    let known = word.to_lowercase();
    let pair = TURNED.iter().find(|(one, other)| known == *one || known == *other)?;
    Some(if known == pair.0 { pair.1 } else { pair.0 }.to_owned())
}

fn other_number(word: &str, chance: &mut Chance) -> Option<String> {
    if NUMBERS.contains(&word.to_lowercase().as_str()) {
        return Some((*chance.pick(NUMBERS)).to_owned());
    }
    let number = word.parse::<usize>().ok().filter(|number| *number > 0)?;
    Some((number / 2 + 1 + chance.below(2 * number)).to_string())
}

/// A text with some of its words replaced, and a capital where there was one.
fn reworded(text: &str, mut other: impl FnMut(&str) -> Option<String>) -> String {
    let mut made = String::new();
    let mut rest = text;
    while !rest.is_empty() {
        let length = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
        let (word, after) = rest.split_at(length);
        let next = other(word).unwrap_or_else(|| word.to_owned());
        let capital = word.chars().next().is_some_and(char::is_uppercase);
        let mut letters = next.chars();
        made.extend(letters.next().map(|first| if capital { first.to_ascii_uppercase() } else { first }));
        made.push_str(letters.as_str());
        let gap = after.find(char::is_alphanumeric).unwrap_or(after.len());
        made.push_str(&after[..gap]);
        rest = &after[gap..];
    }
    made
}

/// How many of its features stood in it when the pairs were made; those that came later stand after them.
fn usual(world: &Manifest) -> usize {
    world.features.iter().take_while(|feature| USUAL.iter().any(|(name, ..)| name == feature)).count()
}

fn comparison(world: &Manifest, feature: usize, chance: &mut Chance) -> Comparison {
    let (_, low, high) = USUAL.iter().find(|(name, ..)| *name == world.features[feature]).expect("a usual value");
    // Two digits, as people and golems round.
    let than = format!("{:.1e}", low + (high - low) * chance.unit()).parse().expect("a number");
    Comparison { feature: feature as u8, is: *chance.pick(&[Is::Above, Is::Below]), than }
}

fn condition(world: &Manifest, most: usize, least: usize, chance: &mut Chance) -> Condition {
    let mut condition = Condition::default();
    let wanted = least + chance.below(most - least + 1);
    while condition.0.len() < wanted {
        let feature = chance.below(usual(world));
        if condition.0.iter().all(|other| usize::from(other.feature) != feature) {
            condition.0.push(comparison(world, feature, chance));
        }
    }
    condition
}

fn rule(world: &Manifest, chance: &mut Chance) -> String {
    let domain = chance.below(world.domains.len());
    let effect = match world.domains[domain].kind {
        DomainKind::Direction => (40 + chance.below(22)) as f64 / 100.0,
        DomainKind::Value | DomainKind::Range => (60 + chance.below(110)) as f64 / 100.0,
    };
    let stance = *chance.pick(&[Stance::Watch, Stance::Watch, Stance::Add, Stance::Reduce]);
    let condition = condition(world, 2, 1, chance);
    Parsed { condition, domain: domain as u8, effect, blend: None, stance }.print(world).expect("it can be said")
}

fn warning(world: &Manifest, chance: &mut Chance) -> String {
    let condition = condition(world, 2, 2, chance);
    let said = Parsed { condition, domain: 0, effect: 0.4, blend: None, stance: Stance::Reduce }.print(world);
    format!("what was held fell to its stop: {}", said.expect("it can be said"))
}

fn link(world: &Manifest, chance: &mut Chance) -> String {
    let n = usual(world);
    let cause = chance.below(n);
    let effect = (cause + 1 + chance.below(n - 1)) % n;
    let way = chance.pick(&["rise", "fall"]);
    format!("when {} is high, {} tends to {way} soon", world.features[cause], world.features[effect])
}

fn sentence(pattern: &str, chance: &mut Chance) -> String {
    let mut made = String::new();
    let mut rest = pattern;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}').expect("closed");
        made.push_str(before);
        let words = WORDS.iter().find(|(known, _)| *known == name.trim_end_matches('2'));
        match words {
            Some((_, words)) => made.push_str(words[chance.below(words.len())]),
            None => made.push_str(&(2 + chance.below(58)).to_string()),
        }
        rest = after;
    }
    made.push_str(rest);
    made[..1].to_uppercase() + &made[1..]
}

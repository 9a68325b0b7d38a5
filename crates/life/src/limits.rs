//! A limit on everything. Life is kept whole in memory, hashed and snapshotted, so nothing in it may grow
//! without bound; what would is a row in the vault instead. Stressors at once follow from their table
//! (`stress::kind::PLACES`).

/// Domains a world may declare claims in.
pub const DOMAINS: usize = 8;
/// Features a world may declare.
pub const FEATURES: usize = 24;
/// Comparisons in one condition.
pub const COMPARISONS: usize = 4;
/// Features in one blend.
pub const TERMS: usize = 4;
/// Blends at work at once.
pub const BLENDS: usize = 4;
/// Heuristics at work at once; each has a bit in every claim it had a say in.
pub const HEURISTICS: usize = 64;
/// Actions a world may declare.
pub const ACTIONS: usize = 8;
/// The most a domain may weigh.
pub const WEIGHT: f64 = 1_000.0;
/// Bars a claim may look ahead.
pub const HORIZON: u32 = 100_000;
/// Millionths of a unit that may make one lot.
pub const LOT: i64 = 1_000_000_000;
/// Characters in a name that a world gives.
pub const LABEL: usize = 64;
/// Characters in an instinct, as a world writes it.
pub const INSTINCT: usize = 400;
/// Characters in how a world is opened again.
pub const SPEC: usize = 4_096;
/// Claims open at once.
pub const CLAIMS: usize = 32;
/// Days a dated claim may look ahead.
pub const DATED_DAYS: u64 = 366;
/// Claims of the rule mind open at once in one domain; those that look further ahead are made less often.
pub const OPEN: usize = 24;
/// Looks whose holding is being followed to see what it pays.
pub const STAKES: usize = 64;
/// Episodes waiting for what became of them.
pub const EPISODES: usize = 64;
/// Ideas of one night that wait to be put to the test.
pub const IDEAS: usize = 64;
/// Phages alive at once.
pub const PHAGES: usize = 3;
/// Asks under way at once.
pub const FLIGHTS: usize = 4;
/// Questions to models under way at once.
pub const THOUGHTS: usize = 4;
/// Questions of a model's that wait to be known; more of them before a round are left out.
pub const QUESTIONS: usize = 4;
/// Calls of an agent under way at once.
pub const CALLS: usize = 256;
/// Calls that are recognised when they are made again.
pub const KNOWN: usize = 128;
/// Calls that are counted with those like them.
pub const ALIKE: usize = 32;
/// Calls that may be made as often as an agent likes, because its owner said so.
pub const USUAL: usize = 16;
/// Times that calls were stopped, remembered one by one.
pub const PAST: usize = 8;
/// The most that a cap in tokens or in calls may be.
pub const CAP: u64 = 1_000_000_000_000_000;
/// Models that an agent's calls are counted by.
pub const CALLED: usize = 16;
/// Characters in the name of such a model.
pub const MODEL: usize = 80;
/// Characters in the name of a session, a sub-agent or a tool that a call comes from.
pub const ORIGIN: usize = 64;
/// Deposits to the treasury not yet confirmed.
pub const DEPOSITS: usize = 8;
/// Owner's commands remembered, so that one delivered twice is obeyed once.
pub const COMMANDS: usize = 32;
/// Words to its peers that wait to be passed on.
pub const UNTOLD: usize = 8;
/// Places where siblings died that are remembered.
pub const STAINS: usize = 4;
/// Peers whose newest letter is remembered by its number, so that one delivered twice is heard once.
pub const PEERS: usize = 64;
/// Others' golems whose knowledge is taken in within one hour.
pub const SOURCES: usize = 32;
/// Pairs kept when fitness is measured as R².
pub const PAIRS: usize = 100;
/// Bars one observation may carry; a longer absence is told in several.
pub const BARS: usize = 4_096;
/// Characters in a golem's name.
pub const NAME: usize = 40;
/// Characters in an owner's reason.
pub const REASON: usize = 200;
/// Characters in an owner's guidance, and in a question of the owner's.
pub const STRATEGY: usize = 800;
/// No world has anything larger to show, and nothing computed from this ends in infinity.
pub const LARGEST: f64 = 1e30;
/// Bytes a serialised Life may take.
pub const LIFE_BYTES: usize = 64 * 1024;

const _: () = assert!(DOMAINS <= u8::MAX as usize && ACTIONS <= u8::MAX as usize);
// A whole window of R² pairs in every domain must still leave most of Life for everything else.
const _: () = assert!(PAIRS * DOMAINS * 16 < LIFE_BYTES / 4);

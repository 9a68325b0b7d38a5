//! The one table of keys. Checking, showing, the schema, the templates and the spellings of the documents
//! all read it; a key that is not here does not exist.

use golem::Span;

use super::kind::{SettingKind, Value};
use super::problem::File;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SettingKey {
    pub file: File,
    pub path: &'static str,
    pub kind: SettingKind,
    /// The default, written as a flag would have it.
    pub default: &'static str,
    /// One line, in plain words.
    pub about: &'static str,
}

/// Another name for a key, and how a value is written under it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spelling {
    pub(super) spelled: &'static str,
    pub(super) path: &'static str,
    pub(super) form: Form,
}

/// How a value is written under a name of the documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// As under our own name.
    Plain,
    /// A bare number counts in this unit.
    Unit(&'static str),
    /// A list of tables, one for each move of the market; the smallest move counts.
    Moves,
}

/// A value of the documents that means another one here, and what to tell an owner who writes it.
#[derive(Clone, Copy, Debug)]
pub(super) struct ValueSpelling {
    pub(super) path: &'static str,
    pub(super) spelled: &'static str,
    pub(super) means: &'static str,
    pub(super) remark: &'static str,
}

/// Names the documents use for a key that is called something else here.
pub(super) static SPELLINGS: &[Spelling] = &[
    also("mortality.vitality.reference_lifespan", "mortality.lifespan", Form::Unit(" ticks")),
    also("succession.strategy_drift_allowed", "succession.min_divergence", Form::Plain),
    also("succession.min_playbook_divergence", "succession.min_divergence", Form::Plain),
    also("dream_inference_provider", "dream.inference_provider", Form::Plain),
    also("dream.schedule", "dream.schedule.mode", Form::Plain),
    also("dream.autonomous_threshold", "dream.schedule.autonomous_threshold", Form::Plain),
    also("dream.wake_interrupts.market_thresholds", "dream.wake_interrupts.world_move", Form::Moves),
    also("styx.vault.ttl", "styx.keep", Form::Unit("d")),
];

const fn also(spelled: &'static str, path: &'static str, form: Form) -> Spelling {
    Spelling { spelled, path, form }
}

/// Values the documents have for a choice that is not made here.
pub(super) static VALUE_SPELLINGS: &[ValueSpelling] = &[ValueSpelling {
    path: "mortality.affect.appraisal_model",
    spelled: "chain-of-emotion",
    means: "rule_based",
    remark: "no model appraises here, because a mood limits what may be risked; moods come from the table (rule_based)",
}];

const UNIT: SettingKind = SettingKind::Number { min: 0.0, max: 1.0 };
const STEEPNESS: SettingKind = SettingKind::Number { min: 0.1, max: 1_000.0 };
const TICKS: SettingKind = SettingKind::Integer { min: 1, max: 10_000_000 };
const COUNT: SettingKind = SettingKind::Integer { min: 0, max: 10_000_000 };
const CAPPED: SettingKind = SettingKind::Maybe(&SettingKind::Integer { min: 0, max: golem::limits::CAP as i64 });
const CALLING: SettingKind = SettingKind::Span { min: Span::seconds(1), max: Span::DAY.times(36_500) };
const RETENTION: SettingKind = SettingKind::Choice(&["whole", "span", "archived"]);
const BEAT: SettingKind = SettingKind::Span { min: Span::seconds(1), max: Span::DAY.times(30) };
const KEPT: SettingKind = SettingKind::Span { min: Span::DAY, max: Span::DAY.times(36_500) };
const GATHER: SettingKind = SettingKind::Span { min: Span::ZERO, max: Span::DAY.times(30) };
const LIFESPAN: SettingKind = SettingKind::Span { min: Span::seconds(60), max: Span::DAY.times(36_500) };
/// Actions a day are counted no further.
pub(super) const MOST_ACTIONS: u32 = 1_000_000;
const WORLDS: SettingKind =
    SettingKind::Choice(&["sim", "edge", "fair", "replay", "live", "queue", "checks", "outside"]);
const MODES: SettingKind = SettingKind::Choice(&["self_hosted", "hosted", "immortal"]);
const MEASURES: SettingKind = SettingKind::Choice(&["skill", "r2"]);
const ON_DEATH: SettingKind = SettingKind::Choice(&["close", "hold", "hand_over"]);

macro_rules! keys {
    ($($file:ident $path:literal, $kind:expr, $default:literal, $about:literal;)*) => {
        pub static KEYS: &[SettingKey] = &[
            $(SettingKey { file: File::$file, path: $path, kind: $kind, default: $default, about: $about },)*
        ];
    };
}

keys! {
    Bardo "treasury.opening", SettingKind::Money, "1000", "paper money that `bardo init` puts into the treasury";
    Bardo "run.batch", SettingKind::Integer { min: 1, max: 256 }, "256", "ticks written in one transaction when a life runs faster than its world";
    Bardo "run.snapshot_every", SettingKind::Integer { min: 1, max: 10_000_000 }, "5000", "records between two snapshots; fewer start faster and take more room";

    Bardo "models.url", SettingKind::Text, "http://localhost:11434", "address of the model server; any OpenAI-compatible one, keyless ones on this machine included";
    Bardo "models.key_variable", SettingKind::Name, "", "environment variable that holds the provider's key";
    Bardo "models.embedding", SettingKind::Text, "", "model that turns memories into vectors, such as nomic-embed-text; empty for words alone";
    Bardo "models.slots", SettingKind::Integer { min: 1, max: 512 }, "8", "questions that one provider is asked at once by all golems of this home; the others wait their turn";
    Bardo "models.keep_days", SettingKind::Integer { min: 0, max: 3_650 }, "7", "days that questions to models and their answers are kept word for word, in each golem's folder; 0 for not at all";
    Bardo "models.prices", SettingKind::Text, "", "what models cost that the price book does not know or has wrong, in dollars for a million tokens, with commas between, each as PROVIDER/MODEL=IN/OUT, or as PROVIDER/MODEL=IN/OUT/CACHED/WRITTEN/KEPT where what has to do with a cache has prices of its own";
    Bardo "styx.url", SettingKind::Text, "", "address of the relay to your golems elsewhere, such as wss://relay.example/v1; empty for none";
    Bardo "styx.archive", SettingKind::Text, "", "where what your golems know is kept, sealed: a folder, or s3://bucket/prefix; empty for none";
    Bardo "styx.keep", KEPT, "90d", "how long the archive keeps what it has of a golem";
    Bardo "api.listen", SettingKind::Text, "127.0.0.1:7373", "address the HTTP API of `bardo up` listens on; empty for no API";
    Bardo "api.origins", SettingKind::Text, "", "origins, with commas between, whose pages a browser may let talk to the API";
    Bardo "api.metrics_golems", SettingKind::Integer { min: 0, max: 100_000 }, "1000", "how many living golems have series of their own in /metrics";
    Bardo "gateway.listen", SettingKind::Text, "127.0.0.1:7374", "address the model gateway of `bardo up` listens on, for agents with a golem's token; empty for no gateway";
    Bardo "gateway.models", SettingKind::Text, "", "models that agents may name and what each stands for, with commas between, such as small=ollama/qwen3, big=openai/gpt-5:strong; empty for whatever the price book knows";
    Bardo "gateway.own_login", SettingKind::Bool, "false", "a login of a program's own, such as Claude Code's, is passed on unread to its provider where a call comes with a golem's token in its path; `bardo wrap --own-login` does so for one";
    Bardo "gateway.upstreams", SettingKind::Text, "", "servers of yours in place of OpenAI's and Anthropic's own, with commas between, such as openai=https://WORK_KEY@example.com/v1, anthropic=https://OTHER_KEY@example.com; WORK_KEY names the environment variable that holds its key";
    Bardo "mcp.changes", SettingKind::Bool, "false", "whether an assistant that speaks MCP with a token of yours may approve, freeze and fund, as far as the token's scope goes";
    Bardo "notify.webhook", SettingKind::Text, "", "address that gets each note as JSON: deaths, caps, freezes, crashes, a full disk, a daily line";
    Bardo "notify.ntfy", SettingKind::Text, "", "address that gets each note as plain text, such as a topic of an ntfy server";
    Bardo "notify.command", SettingKind::Text, "", "program that gets each note on its standard input; BARDO_NOTE_KIND, BARDO_NOTE_GOLEM and BARDO_NOTE_KEY say the rest";
    Bardo "notify.webhook_kinds", SettingKind::Names, "", "kinds of notes the webhook gets, with commas between, such as death, crash; empty for all";
    Bardo "notify.ntfy_kinds", SettingKind::Names, "", "kinds of notes the ntfy topic gets, with commas between; empty for all";
    Bardo "notify.command_kinds", SettingKind::Names, "", "kinds of notes the command gets, with commas between; empty for all";
    Bardo "notify.webhook_secret_variable", SettingKind::Name, "", "environment variable that holds the secret with which notes to the webhook are signed";
    Bardo "notify.gather", GATHER, "2s", "how long a note waits for others: three or more go out as one; 0 sends each by itself";
    Bardo "notify.heartbeat", SettingKind::Text, "", "address that is called while the host is up, so that a dead-man's switch notices its silence";
    Bardo "notify.heartbeat_every", BEAT, "60s", "how often that address is called";
    Bardo "notify.daily_hour", SettingKind::Integer { min: -1, max: 23 }, "8", "hour of the daily line in UTC; -1 for none";
    Bardo "backup.folder", SettingKind::Text, "", "folder that `bardo up` copies golems and treasury into; empty for none";
    Bardo "backup.every", BEAT, "1d", "how old the newest copy may become";
    Bardo "backup.keep", SettingKind::Integer { min: 1, max: 10_000 }, "7", "how many copies of each are kept";
    Bardo "journal.retention", RETENTION, "whole", "how much of its journal a life keeps in its file: all, a span, or what came since the last snapshot with its past archived; the rest goes into the folder `archive` beside it";
    Bardo "journal.span", LIFESPAN, "90d", "length of the span that journal.retention keeps, in world time";
    Bardo "log.level", SettingKind::Levels, "", "what `bardo up` logs on stderr; empty for warnings that it does not print anyway";
    Bardo "log.format", SettingKind::Choice(&["human", "json"]), "human", "lines for people, or one JSON object a line";

    Golem "world.kind", WORLDS, "sim", "the world it lives in: a simulated market, one with an edge that moves, the same without an edge, your own candles, a series that is followed into the present, a queue of work, checks of your own, or a program of your own";
    Golem "world.seed", SettingKind::Seed, "random", "fixes the chance of the world and of the golem itself, so that its life can be repeated, and foreseen";
    Golem "world.bar", BEAT, "40s", "how long one bar of the world lasts";
    Golem "world.relations_change_days", SettingKind::Number { min: 0.0, max: 36_500.0 }, "0", "days between changes in how things relate in a simulated market, on average; 0 for never";
    Golem "world.edge_bps", SettingKind::Maybe(&SettingKind::Integer { min: 0, max: 1_000 }), "", "makes a simulated market fair, with a drift of so many basis points after each burst of volume; 0 for none to find, empty for a natural market. In a market with an edge it is the drift after a sign that leads somewhere; empty for 45";
    Golem "world.edge_move_days", SettingKind::Number { min: 0.0, max: 36_500.0 }, "30", "days until the edge of a market with one moves on to another sign; 0 for never";
    Golem "world.flip_days", SettingKind::Maybe(&SettingKind::Number { min: 0.0, max: 36_500.0 }), "", "day on which volatility and gas of a simulated market begin to go on instead of turning back; empty for a natural market";
    Golem "world.latency", GATHER, "0s", "how long a paper world takes to answer, to rehearse one that is slow";
    Golem "world.settle_bars", SettingKind::Integer { min: 0, max: 10_000 }, "0", "bars until a paper world says what became of an order, to rehearse one that is slow";
    Golem "world.orders", SettingKind::Bool, "false", "a program of yours carries out its orders; `--orders COMMAND` says which";
    Golem "world.data", SettingKind::Name, "", "name of the data: imported candles for a replay, a followed series for a live world";
    Golem "world.checks", SettingKind::Names, "", "checks that pass or do not, by name, with commas between; `--check NAME=COMMAND` says what they run";
    Golem "world.numbers", SettingKind::Names, "", "checks that give a number, by name; `--number NAME=COMMAND` says what they run";
    Golem "world.start", SettingKind::Moment, "", "where in the data the life begins; empty for the beginning of a replay, and for the newest bar of what is followed";

    Golem "funds.credit", SettingKind::Money, "10", "credit, the money it lives on";
    Golem "funds.capital", SettingKind::Money, "100", "capital, the money it acts with";
    Golem "funds.harvest", SettingKind::Share { max: 1.0 }, "0.25", "share of each new high of realised profit that becomes credit";

    Golem "heartbeat.interval", BEAT, "40s", "how often it looks; one bar of the world where nothing is said";

    Golem "mortality.mode", MODES, "self_hosted", "who bears the cost of living: its owner, whose machine it is on, or itself (hosted, at mortality.economic.machine_per_day); and whether it ends at all";
    Golem "mortality.immortal", SettingKind::Bool, "false", "no clock may kill; for self-hosted golems only";
    Golem "mortality.lifespan", LIFESPAN, "8000000s", "the age at which age weighs in full; the hazard does not read it";
    Golem "mortality.economic.enabled", SettingKind::Bool, "true", "it may die of running out of money";
    Golem "mortality.economic.death_reserve_floor_usdc", SettingKind::Money, "0.30", "the least kept back for dying";
    Golem "mortality.economic.reserve_share", SettingKind::Share { max: 0.9 }, "0.02", "share of its funding kept back for dying, where that is more";
    Golem "mortality.economic.conservation_threshold", UNIT, "0.30", "economic score below which the owner is warned";
    Golem "mortality.economic.machine_per_day", SettingKind::Money, "0.168", "what its machine costs a day";
    Golem "mortality.economic.per_action", SettingKind::Money, "0.002", "what sending one action costs, out of credit";
    Golem "mortality.economic.monthly_allowance", SettingKind::Money, "5", "what a self-hosted golem may spend in thirty days";
    Golem "mortality.epistemic.enabled", SettingKind::Bool, "true", "it may die of losing touch with the world";
    Golem "mortality.epistemic.measure", MEASURES, "skill", "how being right is measured: against the naive forecast, or as R²";
    Golem "mortality.epistemic.fitness_window", TICKS, "2000", "ticks of 40 s that fitness looks back; never fewer than 200 looks";
    Golem "mortality.epistemic.warning", UNIT, "0.5", "fitness below which decline begins";
    Golem "mortality.epistemic.senescence_threshold", UNIT, "0.35", "fitness below which the grace period opens";
    Golem "mortality.epistemic.recovery_threshold", UNIT, "0.45", "fitness above which it has recovered";
    Golem "mortality.epistemic.recovery_grace_period", COUNT, "500", "ticks of 40 s to recover before senescence; never fewer than 50 looks";
    Golem "mortality.epistemic.senescent_period", COUNT, "500", "ticks of 40 s it may be senescent before it dies of it; never fewer than 50 looks";
    Golem "mortality.stochastic.enabled", SettingKind::Bool, "true", "it may die by chance";
    Golem "mortality.stochastic.base_hazard_rate", UNIT, "1e-6", "chance of death a tick of 40 s at any age";
    Golem "mortality.stochastic.aging_hazard", UNIT, "1e-8", "chance of death a tick of 40 s that grows with age, at birth";
    Golem "mortality.stochastic.aging_rate", UNIT, "5e-5", "how fast that chance grows, a tick of 40 s";
    Golem "mortality.stochastic.max_hazard_rate", UNIT, "1e-3", "the most the chance of death a tick of 40 s may become";
    Golem "mortality.stochastic.frailty", SettingKind::Number { min: 0.0, max: 1_000.0 }, "2", "how much being wrong adds to the hazard";
    Golem "mortality.vitality.economic_center", UNIT, "0.3", "economic score at which vitality is halved";
    Golem "mortality.vitality.economic_steepness", STEEPNESS, "10", "how sharply vitality falls there";
    Golem "mortality.vitality.epistemic_center", UNIT, "0.4", "fitness at which vitality is halved";
    Golem "mortality.vitality.epistemic_steepness", STEEPNESS, "8", "how sharply vitality falls there";
    Golem "mortality.vitality.age_drag", UNIT, "0.3", "the part of vitality that age takes by the end of the lifespan";
    Golem "mortality.vitality.hysteresis", SettingKind::Number { min: 0.0, max: 0.25 }, "0.05", "how far above a phase's mark vitality must rise to return to it";
    Golem "mortality.affect.enabled", SettingKind::Bool, "true", "it has moods";
    Golem "mortality.affect.appraisal_model", SettingKind::Choice(&["rule_based", "disabled"]), "rule_based", "how an event becomes a mood";
    Golem "mortality.affect.mood_decay_rate", UNIT, "0.95", "how much of a mood is left a tick later";

    Golem "policy.per_action", SettingKind::Share { max: 1.0 }, "0.25", "the most one action may commit, as a share of capital";
    Golem "policy.max_drawdown", SettingKind::Share { max: 1.0 }, "0.13", "fall from the highest worth that ends the golem; 0 switches it off";
    Golem "policy.on_death", ON_DEATH, "close", "what death does to what is held";
    Golem "policy.rebalances_per_day", SettingKind::Integer { min: 0, max: MOST_ACTIONS as i64 }, "24", "times a day it may take up exposure";
    Golem "policy.per_transaction", SettingKind::Money, "1000", "the most one action may commit, in money";
    Golem "policy.per_day", SettingKind::Money, "10000", "the most a day's actions may commit together";
    Golem "policy.call_max", SettingKind::Maybe(&SettingKind::Money), "", "the most one call of its agent to a model may cost; empty for no cap but its money";
    Golem "policy.calls_per_hour", SettingKind::Maybe(&SettingKind::Money), "", "the most its agent's calls may cost within one hour of the clock; empty for no cap";
    Golem "policy.calls_per_day", SettingKind::Maybe(&SettingKind::Money), "", "the most its agent's calls may cost within one day, in UTC; empty for no cap";
    Golem "policy.calls_per_month", SettingKind::Maybe(&SettingKind::Money), "", "the most its agent's calls may cost within thirty days of age; empty for no cap";
    Golem "policy.imputed", SettingKind::Bool, "false", "a seat or a subscription pays for its agent's calls: a sum is what they would have cost, and loops are measured by its caps in tokens and calls";
    Golem "policy.calls_at_once", SettingKind::Integer { min: 1, max: 256 }, "64", "calls of its agent that may be under way at once";
    Golem "policy.calls_alike", SettingKind::Integer { min: 0, max: 1000 }, "8", "its calls are stopped, and you are asked, before the same one is made more often than this within two minutes; 0 never";
    Golem "policy.calls_fan", SettingKind::Integer { min: 0, max: 256 }, "48", "you are asked before more calls than this are under way at once; 0 never";
    Golem "policy.calls_leap", SettingKind::Integer { min: 0, max: 100 }, "3", "you are asked before a minute of calls can cost, or calls at once are, so many times what they ever were; 0 never";
    Golem "policy.stop", SettingKind::Share { max: 1.0 }, "0.1", "fall below its cost at which what is held is given up; 0 for never";
    Golem "policy.allow", SettingKind::Names, "", "actions it may take up exposure by; empty for all that the world declares";
    Golem "policy.approve_above", SettingKind::Maybe(&SettingKind::Money), "", "an action that may cost more than this waits for its owner's yes; 0 asks about every one, empty about none";
    Golem "policy.approve_within", BEAT, "1h", "how long an owner has to answer before silence is a no";
    Golem "policy.slippage", SettingKind::Share { max: 1.0 }, "0.1", "how much less than previewed giving something up may bring, as a share; below that it is not done";
    Golem "policy.tokens", SettingKind::NotYet, "", "tokens it may hold";
    Golem "policy.pools", SettingKind::NotYet, "", "pools it may trade in";

    Golem "policy.cap.tokens", CAPPED, "", "the most tokens its agent's calls may take in all, what goes in and what comes out; empty for no cap";
    Golem "policy.cap.tokens_per_day", CAPPED, "", "the most tokens its agent's calls may take within one day, in UTC; empty for no cap";
    Golem "policy.cap.calls", CAPPED, "", "the most calls its agent may make in all that reach a model; empty for no cap";
    Golem "policy.cap.calls_per_day", CAPPED, "", "the most calls its agent may make within one day, in UTC; empty for no cap";
    Golem "policy.cap.time", SettingKind::Maybe(&CALLING), "", "how long after its first call it may still call, in time that it has lived; empty for no cap";
    Golem "policy.cap.time_per_day", SettingKind::Maybe(&CALLING), "", "how long after a day's first call it may still call that day, in UTC; empty for no cap";

    Golem "strategy.domains", SettingKind::Names, "", "domains you prefer: ideas are about them, and exposure is taken up by their evidence alone; empty for all";
    Golem "strategy.hold", SettingKind::Maybe(&BEAT), "", "the longest that exposure is held, in whole bars of the world; empty for as long as is usual there";
    Golem "strategy.size", SettingKind::Share { max: 1.0 }, "1", "share of the size that one action would be allowed otherwise";
    Golem "strategy.avoid", SettingKind::Text, "", "what you would rather avoid, such as vol_168 > 2%, in the words of a rule's condition; no exposure is taken up while it holds";

    Golem "mind.kind", SettingKind::Choice(&["rules", "reflex", "outside"]), "rules", "what makes its claims: heuristics that learn, a forecast of more of the same, or an agent of yours";
    Golem "mind.learning", SettingKind::Bool, "true", "heuristics learn from what came of their claims";
    Golem "mind.learn_until", SettingKind::Maybe(&SettingKind::Span { min: Span::seconds(1), max: Span::DAY.times(36_500) }), "", "age at which heuristics stop learning; for experiments, empty for never";
    Golem "mind.explore_every", COUNT, "200", "ticks between two new ideas; 0 for never";
    Golem "mind.sureness", SettingKind::Number { min: 0.0, max: 100.0 }, "2.5", "deviations below the mean of what holding paid that must still be worth its cost";
    Golem "mind.samples", SettingKind::Integer { min: 2, max: 150 }, "20", "times something must have been seen before it is acted on";
    Golem "mind.phages", SettingKind::Bool, "false", "small lives of about fifty ticks put its rules to the test, one each";
    Golem "mind.cheap", SettingKind::Text, "", "model it asks when a tick is unusual: PROVIDER/MODEL such as ollama/qwen3, or an address such as http://localhost:8080/v1/qwen3; empty for none";
    Golem "mind.middle", SettingKind::Text, "", "model it asks when the cheap one would rather not say, or when much is at stake; empty for the cheap one";
    Golem "mind.strong", SettingKind::Text, "", "model it asks when the middle one would rather not say; empty for the middle one";
    Golem "thought.cheap_max", SettingKind::Money, "0.02", "the most one question to the cheap model may cost; set aside before it is asked";
    Golem "thought.middle_max", SettingKind::Money, "0.06", "the most one question to the middle model may cost";
    Golem "thought.strong_max", SettingKind::Money, "0.25", "the most one question to the strong model may cost";
    Golem "thought.daily_max", SettingKind::Money, "0.50", "the most a day of thinking may cost";
    Golem "thought.monthly_max", SettingKind::Money, "10", "the most thirty days of thinking may cost";
    Golem "thought.most_asking", UNIT, "0.2", "the most of its ticks that may ask a model, as a share; it asks less where that earns nothing";
    Golem "thought.bits_per_dollar", SettingKind::Number { min: 0.0, max: 1_000_000_000.0 }, "1", "bits a dollar of thinking must have brought for it to ask more often";
    Golem "thought.patience", BEAT, "10m", "how long an answer may take by the world's clock; a later one is dropped, and counts as paid for";
    Golem "reflex.noise", SettingKind::Number { min: 0.0, max: 100.0 }, "0.2", "noise on every forecast, as a share of the usual change";
    Golem "reflex.pull", SettingKind::Number { min: -1.0, max: 1.0 }, "0.02", "pull of a forecast towards the running mean; negative is stubbornly wrong";
    Golem "reflex.act_every", COUNT, "2160", "ticks between two actions; 0 for never";

    Golem "dream.enabled", SettingKind::Maybe(&SettingKind::Bool), "", "it dreams; empty for yes at tier core and no at hardened; `bardo dream on` and `off` switch it later";
    Golem "dream.tier", SettingKind::Choice(&["core", "hardened"]), "core", "a light night every 50 ticks of 40 s, or whole nights when there is enough to dream about";
    Golem "dream.method", SettingKind::Choice(&["careful", "random"]), "careful", "what a night does with its ideas; random makes them up and believes them, for experiments";
    Golem "dream.inference_provider", SettingKind::Text, "", "model that answers in dreams and hears its last words, such as one whose provider keeps no logs; empty for those it asks by day";
    Golem "dream.schedule.mode", SettingKind::Choice(&["hybrid", "autonomous", "owner"]), "hybrid", "what decides when it dreams";
    Golem "dream.schedule.autonomous_threshold", UNIT, "0.8", "urgency that starts a whole night in mode hybrid, where that is more than its phase asks for";
    Golem "dream.windows.windows", SettingKind::Windows, "", "when it sleeps, such as 02:00-06:00 UTC, with commas between several; as a table with start, end and timezone too";
    Golem "dream.budget.per_cycle_max", SettingKind::Money, "0.50", "the most one dream may cost";
    Golem "dream.budget.per_session_max", SettingKind::Money, "2", "the most the dreams of one stretch of its hours of sleep may cost";
    Golem "dream.budget.monthly_max", SettingKind::Money, "15", "the most thirty days of dreams may cost";
    Golem "dream.phases.nrem_allocation", SettingKind::Maybe(&UNIT), "", "share of replay in what onset and return leave of a dream; empty for what its phase of life gives it";
    Golem "dream.phases.rem_allocation", SettingKind::Maybe(&UNIT), "", "share of imagination, as above";
    Golem "dream.phases.integration_allocation", SettingKind::Maybe(&UNIT), "", "share of integration, as above";
    Golem "dream.replay.batch_size", SettingKind::Integer { min: 0, max: 50 }, "15", "the most episodes gone through closely in a dream; one that understands its world goes through fewer";
    Golem "dream.replay.prioritization", SettingKind::Choice(&["utility", "recency", "surprise", "uniform"]), "utility", "which episodes are replayed first";
    Golem "dream.replay.perturbation_rate", UNIT, "0.3", "share of tests that are disturbed";
    Golem "dream.imagination.counterfactual_depth", SettingKind::Integer { min: 0, max: 3 }, "3", "the most alternatives imagined for a decision";
    Golem "dream.imagination.creative_sessions", SettingKind::Integer { min: 0, max: 8 }, "3", "the most recombinations in a dream, for each domain";
    Golem "dream.imagination.threat_scenarios", SettingKind::Integer { min: 0, max: 5 }, "5", "the most threats imagined in a dream";
    Golem "dream.imagination.exploration_temperature", UNIT, "0.9", "how freely it imagines at most";
    Golem "dream.consolidation.hypothesis_confidence", SettingKind::Number { min: 0.1, max: 0.6 }, "0.2", "confidence a dreamt hypothesis begins with";
    Golem "dream.consolidation.insight_confidence", SettingKind::Number { min: 0.1, max: 0.6 }, "0.3", "confidence a dreamt insight begins with";
    Golem "dream.consolidation.validation_required", SettingKind::Fixed("true"), "true", "waking life must confirm what was dreamt";
    Golem "dream.consolidation.max_staged_revisions", SettingKind::Integer { min: 0, max: 10 }, "10", "ideas that may be on trial at once";
    Golem "dream.wake_interrupts.enabled", SettingKind::Bool, "true", "a moving world or a peer in need may end a dream; its owner always may";
    Golem "dream.wake_interrupts.world_move", SettingKind::Share { max: 1.0 }, "0.1", "change in the worth of a unit since it fell asleep that ends a dream; 0 for none";

    Golem "stress.mode", SettingKind::Choice(&["enforced", "visible", "off"]), "enforced", "whether stressors close gates, are only observed and shown, or neither";
    Golem "stress.objectives", SettingKind::Names, "", "domains in which work serves you; empty for all that have a weight";
    Golem "stress.max_stressors", SettingKind::Integer { min: 0, max: 16 }, "5", "the golem may name no stressor of its own while so many are active";
    Golem "stress.escalation_rates.repeated_failure", UNIT, "0.04", "growth of repeated failure a day";
    Golem "stress.escalation_rates.futility", UNIT, "0.025", "growth of futility a day";
    Golem "stress.escalation_rates.invisibility", UNIT, "0.03", "growth of invisibility a day";
    Golem "stress.escalation_rates.identity_violation", UNIT, "0.06", "growth of identity violation a day";
    Golem "stress.escalation_rates.existential_threat", UNIT, "0.07", "growth of existential threat a day";
    Golem "stress.escalation_rates.purposelessness", UNIT, "0.035", "growth of purposelessness a day";
    Golem "stress.escalation_rates.named", UNIT, "0.03", "growth a day of one that the golem has named itself";

    Golem "succession.auto", SettingKind::Bool, "false", "an heir is made at death without asking, and lives on";
    Golem "succession.budget_usdc", SettingKind::Maybe(&SettingKind::Money), "", "credit of an heir; empty for as much as its predecessor was given";
    Golem "succession.evidence", UNIT, "0.2", "share of what a rule has shown that crosses a death with it";
    Golem "succession.min_divergence", UNIT, "0.15", "share of what an heir would try that its predecessor was not born with";
    Golem "succession.inherit_grimoire", SettingKind::Bool, "true", "the heir inherits the memory";
    Golem "succession.min_novel_entries", COUNT, "5", "entries of its own that a life should leave; with fewer it is marked low_divergence";
    Golem "succession.min_invalidated_entries", COUNT, "3", "entries it was left that a life should give up; the first of a line has none";
    Golem "succession.require_explicit_gaps", SettingKind::Fixed("true"), "true", "what a life leaves names what it does not know";
    Golem "succession.min_question_ratio", UNIT, "0.1", "share of questions in what a life should leave";
    Golem "death.bloodstain_retrieval_boost", SettingKind::Fixed("1.2"), "1.2", "weight of what was learned in dying when memory is searched";
    Golem "death.bloodstain_decay_multiplier", SettingKind::Fixed("3.0"), "3.0", "how many times slower such knowledge fades";
    Golem "clade.enabled", SettingKind::Bool, "true", "it shares what it learns with its owner's other golems";
    Golem "clade.sharing_threshold", SettingKind::NotYet, "", "confidence from which an entry is shared";
}

impl SettingKey {
    /// Whether an owner can set it.
    pub fn is_available(&self) -> bool {
        !matches!(self.kind, SettingKind::NotYet | SettingKind::Fixed(_))
    }

    pub fn default_value(&self) -> Value {
        self.kind.read(self.default).expect("a test reads every default in the table")
    }

    /// `mortality.epistemic` and `fitness_window`.
    pub(super) fn split(&self) -> (&'static str, &'static str) {
        self.path.rsplit_once('.').expect("every key stands in a section")
    }
}

/// The available keys of a file, in the order of the table.
pub fn available(file: File) -> impl Iterator<Item = &'static SettingKey> {
    KEYS.iter().filter(move |key| key.file == file && key.is_available())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::spelling::snake;
    use super::*;

    #[test]
    fn every_default_is_valid_for_its_kind_and_survives_a_file() {
        for key in KEYS.iter().filter(|key| key.is_available()) {
            let value = key.kind.read(key.default).unwrap_or_else(|| panic!("{}: {}", key.path, key.default));
            let written = value.to_toml().parse().unwrap();
            assert_eq!(key.kind.read_toml(&written), Some(value), "{}", key.path);
        }
    }

    #[test]
    fn paths_are_plain_and_stand_once() {
        let mut seen = BTreeSet::new();
        for key in KEYS {
            assert!(seen.insert(key.path), "{} stands twice", key.path);
            assert!(key.path.split('.').all(|part| snake(part) == part && !part.is_empty()), "{}", key.path);
            assert!(key.path.contains('.'), "{} stands in no section", key.path);
            assert!(!key.about.is_empty() && !key.about.contains('\n'), "{}", key.path);
        }
    }

    #[test]
    fn no_key_is_also_a_section() {
        for key in KEYS {
            let inside = format!("{}.", key.path);
            assert!(!KEYS.iter().any(|other| other.path.starts_with(&inside)), "{}", key.path);
        }
    }

    #[test]
    fn every_other_spelling_leads_to_a_key() {
        for spelling in SPELLINGS {
            assert!(KEYS.iter().any(|key| key.path == spelling.path), "{}", spelling.spelled);
            assert!(KEYS.iter().all(|key| key.path != spelling.spelled), "{}", spelling.spelled);
        }
        for value in VALUE_SPELLINGS {
            let key = KEYS.iter().find(|key| key.path == value.path).unwrap();
            assert!(key.kind.read(value.means).is_some() && key.kind.read(value.spelled).is_none(), "{}", value.path);
        }
    }

    #[test]
    fn what_stands_fixed_takes_its_own_value_and_no_other() {
        for key in KEYS {
            let SettingKind::Fixed(only) = key.kind else { continue };
            assert!(key.kind.read(only).is_some() && key.kind.read(key.default).is_some(), "{}", key.path);
            assert!(["false", "2", "", "yes"].iter().all(|other| key.kind.read(other).is_none()), "{}", key.path);
        }
    }
}

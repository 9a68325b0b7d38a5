//! Messages of a stream in words. The same facts as `bardo golem events` tells, from their JSON.

use golem::Usdc;
use serde_json::Value;

use super::told::Heard;
use crate::output::{acted, count};

/// What messages are about, to leave the others out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Topic {
    #[default]
    Everything,
    Mortality,
    Pressure,
    Dreams,
    Acting,
    Owner,
}

impl Topic {
    pub(crate) const ALL: [Topic; 6] =
        [Topic::Everything, Topic::Mortality, Topic::Pressure, Topic::Dreams, Topic::Acting, Topic::Owner];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Topic::Everything => "everything",
            Topic::Mortality => "mortality",
            Topic::Pressure => "pressure",
            Topic::Dreams => "dreams",
            Topic::Acting => "acting",
            Topic::Owner => "owner",
        }
    }

    /// The one topic a message belongs to.
    pub(crate) fn of(event: &str) -> Topic {
        match event {
            "golem.born" | "golem.reflected" | "golem.bequeathed" | "golem.ended" => Topic::Mortality,
            "golem.funded"
            | "golem.withdrew"
            | "golem.frozen"
            | "golem.thawed"
            | "golem.amended"
            | "golem.steered"
            | "golem.approval_needed"
            | "golem.approved"
            | "call.held"
            | "call.released"
            | "agent.said"
            | "mode_change" => Topic::Owner,
            event if event.starts_with("mortality.") => Topic::Mortality,
            event if event.starts_with("stress.") || event.starts_with("clade.") => Topic::Pressure,
            event if event.starts_with("Dream") || event.starts_with("dream") => Topic::Dreams,
            _ => Topic::Acting,
        }
    }

    pub(crate) fn has(self, event: &str) -> bool {
        self == Topic::Everything || self == Topic::of(event)
    }
}

/// What hides what it did: it comes every tick, leads up to an action, or says how it feels. The same as
/// [`golem::wire::Message::is_routine`], by name.
pub(crate) fn is_small(heard: &Heard) -> bool {
    let is = |key: &str, value: &str| heard.rest[key] == value;
    match heard.event.as_str() {
        "golem.goal" => !is("goal", "act"),
        "mortality.phase_transition" => {
            !["from_phase", "to_phase"].iter().any(|key| is(key, "declining") || is(key, "terminal"))
        }
        "mortality.vitality_update"
        | "mortality.stochastic_roll"
        | "mortality.epistemic_warning"
        | "golem.refused"
        | "golem.granted"
        | "golem.verified"
        | "stress.raised"
        | "stress.cleared"
        | "stress.assessed"
        | "clade.heard"
        | "clade.shared"
        | "clade.near"
        | "regime.changed"
        | "DreamPhase"
        | "DreamStart"
        | "DreamHypothesis"
        | "DreamCounterfactual"
        | "dream_progress"
        | "dream_complete"
        | "dream.worked"
        | "DreamComplete"
        | "dream.revised"
        | "dream.rolled_back"
        | "dream.unstaged" => true,
        "thought.asked" => true,
        "call.settled" => heard.number("over") <= 0.0,
        "thought.answered" | "thought.silent" => !is("purpose", "answer") && heard.number("over") <= 0.0,
        "mode_change" => is("mode", "dreaming") || is("mode", "waking"),
        _ => false,
    }
}

pub(crate) fn sentence(heard: &Heard) -> String {
    let told = &heard.rest;
    let text = |key: &str| match &told[key] {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    };
    let number = |key: &str| heard.number(key);
    let whole = |key: &str| count(told[key].as_u64().unwrap_or_default());
    let money = |key: &str| Usdc::micros(told[key].as_i64().unwrap_or_default()).to_string();
    let load = || format!("load {:.2}, {}", number("load"), text("band"));
    match heard.event.as_str() {
        "golem.born" => format!("was born (world: {})", text("world")),
        "golem.funded" => format!("was given {} to live on and {} to act with", money("credit"), money("capital")),
        "golem.withdrew" => format!("returned {} of its {} to the treasury", money("amount"), text("from")),
        "golem.refused" => format!("was refused: {}", text("why")),
        "golem.frozen" if text("reason").is_empty() => "was frozen: no new exposure".to_owned(),
        "golem.frozen" => format!("was frozen: no new exposure ({})", text("reason")),
        "golem.thawed" => "may take new exposure again".to_owned(),
        "golem.action" => {
            let (units, cash) = (told["units"].as_i64().unwrap_or_default(), told["cash"].as_i64().unwrap_or_default());
            acted(units, Usdc::micros(cash), Usdc::micros(told["fee"].as_i64().unwrap_or_default()))
        }
        "golem.granted" => format!("may act: cash {}, fee {} by preview", money("cash"), money("fee")),
        "golem.approval_needed" => {
            format!(
                "asks its owner: {} {} {} for at most {}",
                text("action"),
                number("units") / 1e6,
                text("unit"),
                money("most")
            )
        }
        "golem.approved" => format!("has its owner's yes to ask {}", text("key")),
        "golem.verified" => format!("previewed {}, came to {}", money("quoted"), money("actual")),
        "golem.stopped" => "hit its stop and gives up what it holds".to_owned(),
        "golem.harvested" => format!("turned {} of profit into credit", money("amount")),
        "golem.amended" => "lives under a new policy".to_owned(),
        "golem.steered" if text("strategy").is_empty() => "has nothing more in mind from its owner".to_owned(),
        "golem.steered" => format!("is to have in mind: {}", text("strategy")),
        "call.settled" => format!("called {} for {}", text("model"), money("cost")),
        "call.refused" => format!("was refused a call: {}", text("why")),
        "call.held" => format!("asks its owner: may it go on calling after {}", text("why")),
        "call.released" => "may call again".to_owned(),
        "agent.said" if told["done"] == true => format!("is done, says its agent: {}", text("text")),
        "mind.noted" => format!("hears from its mind: {}", text("text")),
        "agent.said" => format!("has a question of its agent's for its owner: {}", text("text")),
        "claim.made" => format!("is held to {} {}", text("domain"), text("value")),
        "claim.met" => format!("what was said of {} met {}", text("domain"), text("actual")),
        "golem.goal" => format!("a goal ({}, {}) ended: {}", text("goal"), text("domain"), text("ended")),
        "thought.asked" => {
            format!("asks a {} model to {}, for {} at most", text("tier"), text("purpose"), money("most"))
        }
        "thought.answered" => match told["answer"]["note"].as_str() {
            Some(note) => format!("is answered for {}: {note}", money("cost")),
            None => format!("is answered for {}", money("cost")),
        },
        "thought.silent" => format!("gets no answer ({}), which costs {}", text("why"), money("cost")),
        "golem.reflected" => "its testament is written".to_owned(),
        "golem.bequeathed" => format!("left {} entries to an heir", whole("entries")),
        "golem.ended" => "its affairs are settled".to_owned(),
        "mode_change" => format!("is {}", text("mode")),
        "regime.changed" => format!("the world went from {} to {}", text("from"), text("to")),
        "stress.raised" => format!("{} presses ({:.2}); {}", text("stressor"), number("severity"), load()),
        "stress.cleared" => format!("{} cleared (was {:.2}); {}", text("stressor"), number("severity"), load()),
        "stress.suspended" => "three cycles of crisis: what presses is set aside for a day".to_owned(),
        "stress.crisis" => format!("is in crisis (load {:.2}) and tells its peers", number("load")),
        "stress.assessed" => "spoke of its state".to_owned(),
        "clade.heard" => {
            let from: String = text("from").chars().take(8).collect();
            let news = &told["news"];
            match news.as_str().or(news.as_object().and_then(|news| news.keys().next().map(String::as_str))) {
                Some("death") => format!("heard that {from} has died"),
                Some("regime") => {
                    format!("heard from {from} that the world is {}", news["regime"]["to"].as_str().unwrap_or("?"))
                }
                Some("knowledge") => {
                    format!("was told by {from} what it has found out ({})", news["knowledge"]["entries"])
                }
                _ => format!("heard that {from} is in crisis"),
            }
        }
        "clade.shared" => format!("tells its siblings what it has found out ({})", number("entries")),
        "clade.near" if told["died"].is_null() => "has left the place where a sibling died".to_owned(),
        "clade.near" => {
            format!("stands where {} died, and risks half as much", text("died").chars().take(8).collect::<String>())
        }
        "DreamStart" => "fell asleep".to_owned(),
        "DreamPhase" => format!("dreams on: {}", text("phase")),
        "dream_progress" => format!("night goes into {}", text("phase")),
        "dream.worked" => {
            let found = &told["found"];
            let staged = found["staged"].as_array().map_or(0, Vec::len);
            format!("dreamt ({}): {staged} staged", found["phase"].as_str().unwrap_or_default())
        }
        "DreamHypothesis" => format!("dreamt, and tries: {}", text("hypothesis")),
        "DreamCounterfactual" => format!("imagined {}: {}", text("hypothesis"), text("outcome")),
        "DreamComplete" => format!("woke up from night {}", whole("cycle_id")),
        "dream_complete" => format!(
            "night {} came to {} insights and {} hypotheses",
            whole("cycleNumber"),
            whole("insightsFound"),
            whole("hypothesesGenerated")
        ),
        "dream.switched" if told["on"] == Value::Bool(true) => "dreams from now on".to_owned(),
        "dream.switched" => "dreams no more".to_owned(),
        "dream.unstaged" => format!("a hypothesis is {}", text("fate")),
        "dream.revised" => format!("goes by what it learned again of {}", text("domain")),
        "dream.rolled_back" => "took back what a dream had brought".to_owned(),
        "mortality.vitality_update" => {
            let (vitality, money, skill) = (number("composite"), number("economic"), number("epistemic"));
            format!("vitality {vitality:.3} ({}): money {money:.3}, skill {skill:.3}", text("phase"))
        }
        "mortality.phase_transition" => {
            let clock = match text("trigger_clock").as_str() {
                "economic" => "money",
                "epistemic" => "skill",
                _ => "age",
            };
            let (from, to) = (text("from_phase"), text("to_phase"));
            format!("{from} → {to} at vitality {:.2} (weakest: {clock})", number("composite"))
        }
        "mortality.economic_critical" => format!("money is short: {} left", money("remaining")),
        "mortality.epistemic_warning" => format!("skill fell below naive ({:.4})", number("fitness")),
        "mortality.senescence" => match text("state").as_str() {
            "grace" => format!("is losing touch: skill {:.3}; time to recover", number("fitness")),
            "senescent" => format!("has lost touch: skill {:.3}", number("fitness")),
            _ => format!("has found its touch again: skill {:.3}", number("fitness")),
        },
        "mortality.stochastic_roll" => {
            let fate = if told["survived"] == Value::Bool(false) { "dies" } else { "lives" };
            format!("rolled {:.6} against {:.3e}: {fate}", number("roll"), number("hazard_rate"))
        }
        "mortality.dead" => format!("died after {} ticks", whole("ticks_alive")),
        other => other.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of docs/events.md is the list of everything that can come.
    #[test]
    fn every_documented_message_has_words_of_its_own() {
        let root = env!("CARGO_MANIFEST_DIR");
        let documented = std::fs::read_to_string(format!("{root}/../../docs/events.md")).unwrap();
        let names = documented.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
        let mut seen = 0;
        for event in names.filter(|name| name.contains('.') || name.to_lowercase().starts_with("dream")) {
            let heard = Heard { golem: String::new(), tick: 1, at: 0, event: event.to_owned(), rest: Value::Null };
            assert_ne!(sentence(&heard), event, "{event} is shown by its name only");
            seen += 1;
        }
        assert!(seen > 30, "only {seen} messages are documented");
    }
}

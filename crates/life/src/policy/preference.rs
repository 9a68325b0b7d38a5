//! Preferences of an owner, held against the world that they are about.

use crate::constitution::StrategyFigures;
use crate::rule::{Condition, text};
use crate::world::Manifest;

/// Refuses preferences about what the world does not have, with the reason.
pub fn check(strategy: &StrategyFigures, world: &Manifest) -> Result<(), String> {
    let domains: Vec<&str> = world.domains.iter().map(|domain| domain.name.as_str()).collect();
    let known = || domains.join(", ");
    for (at, name) in strategy.domains.iter().enumerate() {
        if !domains.contains(&name.as_str()) {
            return Err(format!("strategy.domains names {name}; the domains of this world are {}", known()));
        }
        if strategy.domains[..at].contains(name) {
            return Err(format!("strategy.domains names {name} twice"));
        }
    }
    if let Some(hold) = strategy.hold.filter(|hold| *hold < world.bar) {
        return Err(format!("strategy.hold is {hold}, less than a bar of this world ({})", world.bar));
    }
    match &strategy.avoid {
        Some(text) => read(text, world).map(drop).map_err(|why| format!("strategy.avoid cannot be read: {why}")),
        None => Ok(()),
    }
}

/// The condition to avoid, in numbers of the world's features.
pub fn avoided(strategy: &StrategyFigures, world: &Manifest) -> Option<Condition> {
    strategy.avoid.as_ref().and_then(|text| read(text, world).ok())
}

/// Reads what is to be avoided, with `when` or without.
fn read(words: &str, world: &Manifest) -> Result<Condition, text::RuleError> {
    text::parse_condition(words.trim().strip_prefix("when ").unwrap_or(words), world)
}

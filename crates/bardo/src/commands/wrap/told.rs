//! What a program cost and how it ended, told where its own output is not.

use std::path::PathBuf;
use std::time::Duration;

use gateway::TurnedAway;
use golem::call::{ByModel, Denied};
use golem::{Life, Name, Usdc};
use serde_json::json;

use super::known::KnownAgent;
use super::spent;
use crate::output::{self, count};

/// A program that ran no longer than this had no time to make a call.
const SHORT: Duration = Duration::from_secs(1);

pub(super) struct ClosingWords<'a> {
    /// The name its golem has now.
    pub(super) name: &'a Name,
    pub(super) before: &'a Life,
    pub(super) after: &'a Life,
    pub(super) took: Duration,
    /// The unit it is out of.
    pub(super) out: Option<Denied>,
    pub(super) turned_away: &'a TurnedAway,
    pub(super) known: &'static KnownAgent,
    pub(super) login: Option<PathBuf>,
    /// Where it wanted to go and was not let; none, if it could go anywhere.
    pub(super) refused: Option<&'a [String]>,
}

impl ClosingWords<'_> {
    /// Whether the program ran for a while without any call that came through here.
    pub(super) fn is_silent(&self) -> bool {
        let (before, after) = (&self.before.calls(), &self.after.calls());
        let calls = after.made - before.made + after.denied - before.denied;
        calls == 0 && self.turned_away.times == 0 && self.took > SHORT
    }

    pub(super) fn say(&self, json: bool) {
        let (before, after) = (&self.before.calls(), &self.after.calls());
        let (made, spent) = (after.made - before.made, after.spent - before.spent);
        let refused = after.denied - before.denied;
        let (models, tokens) = (self.models(), after.units.tokens - before.units.tokens);
        let imputed = self.after.policy().imputed;
        if json {
            let died_of = self.after.death().map(|death| death.cause.to_string());
            return output::aside(&json!({
                "name": self.name, "calls": made, "spent": spent, "left": self.after.purse().credit,
                "refused": refused, "turned_away": self.turned_away.times, "unpriced": self.turned_away.unpriced,
                "out_of_money": self.out == Some(Denied::Broke), "out_of": self.out.map(spent::name),
                "tokens": tokens, "imputed": imputed, "models": models, "took_ms": self.took.as_millis() as u64,
                "died_of": died_of, "not_let_through": self.refused, "spent_usd": output::usd(spent),
                "left_usd": output::usd(self.after.purse().credit), "money_unit": output::MONEY_UNIT,
            }));
        }
        let name = self.name;
        let took = golem::Span::millis(self.took.as_millis() as u64);
        let on = models.iter().map(|by| format!("{} for {} by {}", by.cost, count(by.calls), by.model));
        let on = on.collect::<Vec<_>>().join(", ");
        let on = if on.is_empty() { on } else { format!(": {on}") };
        let denied = if refused > 0 { format!("; {} refused", count(refused)) } else { String::new() };
        let calls = |n: u64| if n == 1 { "1 call".to_owned() } else { format!("{} calls", count(n)) };
        let imputed = if imputed { " (imputed)" } else { "" };
        let used = if tokens > 0 { format!(" and {} tokens", count(tokens)) } else { String::new() };
        output::complain(format!("{name} spent {spent}{imputed} on {}{used} in {took}{on}{denied}", calls(made)));
        self.say_doubts();
        self.say_end();
    }

    /// Says why its calls may not have come through, and where it was not let.
    pub(super) fn say_doubts(&self) {
        let name = self.name;
        let calls = |n: u64| if n == 1 { "1 call".to_owned() } else { format!("{} calls", count(n)) };
        if self.turned_away.times > 0 {
            let (times, were) = (self.turned_away.times, if self.turned_away.times == 1 { "was" } else { "were" });
            output::complain(format!(
                "{} {were} turned away, the last because: {}",
                calls(times),
                self.turned_away.why
            ));
        } else if self.is_silent() {
            self.say_silence();
        }
        for why in self.refused.into_iter().flatten() {
            output::complain(format!("{name} was not let through: {why}"));
        }
    }

    /// Spending by model in this run, the dearest first.
    fn models(&self) -> Vec<ByModel> {
        let before =
            |name: &str| self.before.calls().models.iter().find(|by| by.model == name).cloned().unwrap_or_default();
        let since = |by: &ByModel| {
            let known = before(&by.model);
            let model = if by.model.is_empty() { "an unnamed model".to_owned() } else { by.model.clone() };
            ByModel {
                model,
                calls: by.calls - known.calls,
                input: by.input - known.input,
                output: by.output - known.output,
                cost: by.cost - known.cost,
                cached: by.cached - known.cached,
                written: by.written - known.written,
                thought: by.thought - known.thought,
            }
        };
        let mut models: Vec<ByModel> = self.after.calls().models.iter().map(since).filter(|by| by.calls > 0).collect();
        models.sort_by_key(|by| -by.cost);
        models
    }

    /// A budget that nothing went through holds nothing, and that must not look like a program that cost nothing.
    fn say_silence(&self) {
        let name = self.name;
        let login = self.login.as_ref().map(|file| format!("; {} holds a login of its own", file.display()));
        let login = login.unwrap_or_default();
        let why = if self.refused.is_some() {
            "and --only-through lets none go anywhere else"
        } else {
            "If it called a model, it did so past its budget, and that call was neither capped nor counted"
        };
        let after = if self.refused.is_some() { ',' } else { '.' };
        output::complain(format!("no call of {name}'s came through here{after} {why}: {}{login}", self.known.silent));
    }

    /// The reason its calls are stopped now, or its last call was refused.
    fn what_keeps_it(&self) -> String {
        let (calls, name) = (&self.after.calls(), self.name);
        if let Some(hold) = calls.hold {
            return format!(
                "; its calls are stopped: {hold}; `bardo golem approve {name} {}` lets them go on",
                hold.key
            );
        }
        let refused = calls.refused.filter(|_| calls.denied > self.before.calls().denied);
        refused.map(|(by, _)| format!("; its last call was refused: {by}")).unwrap_or_default()
    }

    fn say_end(&self) {
        let (name, left): (_, Usdc) = (self.name, self.after.purse().credit);
        let imputed = if self.after.policy().imputed { " (imputed)" } else { "" };
        output::complain(match &self.after.death() {
            Some(death) => format!("{name} died: {}; `bardo testament {name}` says the rest", death.cause),
            None => match self.out {
                Some(out) => {
                    let (what, more) = (spent::name(out), spent::more(out, name));
                    let still = if out == Denied::Broke { " that paid for no more calls" } else { imputed };
                    format!(
                        "{name} is out of {what}, with {left} left{still}; {more} gives it more, and --name {name} goes on \
                         with it"
                    )
                }
                None => {
                    let kept = self.what_keeps_it();
                    format!("{name} lives, with {left} left{imputed}{kept}; --name {name} goes on with it")
                }
            },
        });
    }
}

//! Tools: their arguments, and who may call them.

use serde_json::{Map, Value, json};
use shell::home::GolemHome;
use shell::home::agent;
use shell::home::tokens::{Keyring, Scope};
use shell::{Error, Home};

/// The caller of a tool.
#[derive(Clone, Debug)]
pub enum Who {
    /// The agent that acts for this golem.
    Agent(GolemHome),
    /// A holder of one of the owner's tokens; tools that change something must be switched on as well.
    Owner { scope: Scope, changes: bool },
}

impl Who {
    /// The holder of a token as the home has it now; none if it opens nothing.
    pub fn of(home: &Home, token: &str) -> Result<Option<Who>, Error> {
        if token.is_empty() {
            return Ok(None);
        }
        if let Some(place) = agent::whose(home, token)? {
            return Ok(Some(Who::Agent(place)));
        }
        let Some(scope) = Keyring::of(home).scope_of(token) else { return Ok(None) };
        Ok(Some(Who::Owner { scope, changes: home.settings()?.flag("mcp.changes") }))
    }
}

/// A tool that can be called.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tool {
    pub(super) name: &'static str,
    pub(super) does: &'static str,
    /// Arguments: the name, `string`, `number`, `integer` or `boolean`, whether it is needed, and what it is.
    pub(super) takes: &'static [(&'static str, &'static str, bool, &'static str)],
    /// The scope that an owner's token must have; an agent needs only its golem's token.
    pub(super) scope: Scope,
    pub(super) changes: bool,
}

impl Tool {
    pub(super) fn schema(&self) -> Map<String, Value> {
        let mut properties = Map::new();
        for (name, kind, _, about) in self.takes {
            properties.insert((*name).to_owned(), json!({ "type": kind, "description": about }));
        }
        let needed: Vec<&str> = self.takes.iter().filter(|(_, _, needed, _)| *needed).map(|(name, ..)| *name).collect();
        let schema = json!({
            "type": "object", "properties": properties, "required": needed, "additionalProperties": false,
        });
        let Value::Object(schema) = schema else { unreachable!("an object was written") };
        schema
    }

    /// Checks that arguments are of the types they should be; a call with others is refused.
    pub(super) fn check(&self, given: &Map<String, Value>) -> Result<(), String> {
        if let Some(unknown) = given.keys().find(|name| !self.takes.iter().any(|(known, ..)| known == name)) {
            return Err(format!("{} takes no argument {unknown:?}", self.name));
        }
        for (name, kind, needed, about) in self.takes {
            let sound = match (given.get(*name), *kind) {
                (None | Some(Value::Null), _) => !needed,
                (Some(Value::String(_)), "string") | (Some(Value::Bool(_)), "boolean") => true,
                (Some(Value::Number(_)), "number") => true,
                (Some(Value::Number(number)), "integer") => number.is_u64(),
                _ => false,
            };
            if !sound {
                return Err(format!("{} needs {name}: {about}", self.name));
            }
        }
        Ok(())
    }
}

/// The arguments of a call.
pub(super) struct Given(pub(super) Map<String, Value>);

impl Given {
    pub(super) fn text(&self, name: &str) -> &str {
        self.0.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    pub(super) fn number(&self, name: &str) -> f64 {
        self.0.get(name).and_then(Value::as_f64).unwrap_or_default()
    }

    pub(super) fn whole(&self, name: &str, otherwise: u64) -> u64 {
        self.0.get(name).and_then(Value::as_u64).unwrap_or(otherwise)
    }

    pub(super) fn is(&self, name: &str, otherwise: bool) -> bool {
        self.0.get(name).and_then(Value::as_bool).unwrap_or(otherwise)
    }
}

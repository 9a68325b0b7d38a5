//! `token`: who may talk to a host over its API, and how far.

use std::process::ExitCode;

use serde_json::json;
use shell::home::tokens;
use shell::{Error, Home};

use crate::args::TokenVerb;
use crate::output::{self, line};

pub(crate) fn dispatch(home: &Home, verb: &TokenVerb, json: bool) -> Result<ExitCode, Error> {
    match verb {
        TokenVerb::New { name, scope } => {
            let text = tokens::make(home, name, (*scope).into())?;
            show(name.as_str(), &text, json);
        }
        TokenVerb::Rotate { name } => {
            let text = tokens::rotate(home, name)?;
            show(name.as_str(), &text, json);
        }
        TokenVerb::Revoke { name } => {
            tokens::revoke(home, name)?;
            if json {
                output::json(&json!({ "name": name, "revoked": true }));
            } else {
                line(format!("{name} opens nothing any more"));
            }
        }
        TokenVerb::List => list(home, json)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints the token alone on stdout, for pipes; the rest is for people.
fn show(name: &str, text: &str, json: bool) {
    if json {
        return output::json(&json!({ "name": name, "token": text }));
    }
    line(text);
    if name == tokens::LOCAL {
        output::complain("programs on this machine find it in api-token; the one before opens nothing any more");
    } else {
        output::complain("this is shown once; only its hash is kept");
    }
}

fn list(home: &Home, json: bool) -> Result<(), Error> {
    let known = tokens::list(home)?;
    if json {
        let plain = known.iter().map(|one| json!({ "name": one.name, "scope": one.scope, "made": one.made }));
        output::json(&plain.collect::<Vec<_>>());
        return Ok(());
    }
    line(format!("{:<20} {:<8} in {}", tokens::LOCAL, tokens::Scope::All, home.token().display()));
    for one in known {
        let made = u64::try_from(one.made).map_or_else(|_| String::new(), |ms| output::date(golem::Time::millis(ms)));
        line(format!("{:<20} {:<8} made {made}", one.name, one.scope));
    }
    Ok(())
}

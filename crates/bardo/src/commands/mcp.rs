//! `mcp`: the Model Context Protocol over standard input and output, with the rights of the token in BARDO_TOKEN.

use std::process::ExitCode;

use server::mcp::{self, Who};
use shell::home::agent;
use shell::home::tokens::Keyring;
use shell::{Error, Home, Runtime};

/// Where the token is.
const TOKEN: &str = "BARDO_TOKEN";

pub(crate) fn mcp(home: &Home) -> Result<ExitCode, Error> {
    let sent = std::env::var(TOKEN).unwrap_or_default();
    let sent = sent.trim();
    let who = match agent::whose(home, sent)? {
        _ if sent.is_empty() => None,
        Some(place) => Some(Who::Agent(place)),
        None => {
            let changes = home.settings()?.flag("mcp.changes");
            Keyring::of(home).scope_of(sent).map(|scope| Who::Owner { scope, changes })
        }
    };
    let who = who.ok_or_else(|| {
        let wrong = if sent.is_empty() { "is not set" } else { "opens nothing here" };
        Error::Usage(format!(
            "{TOKEN} {wrong}: `bardo golem connect NAME` shows the token of a golem's agent, `bardo token new` makes one of yours"
        ))
    })?;
    mcp::stdio(&Runtime::of(home), who)?;
    Ok(ExitCode::SUCCESS)
}

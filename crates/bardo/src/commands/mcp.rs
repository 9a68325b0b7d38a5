//! `mcp`: the Model Context Protocol over standard input and output, with the rights of the token in BARDO_TOKEN.

use std::process::ExitCode;

use server::mcp::{self, Who};
use shell::{Error, Home, Runtime};

/// Where the token is.
const TOKEN: &str = "BARDO_TOKEN";

pub(crate) fn mcp(home: &Home) -> Result<ExitCode, Error> {
    let sent = std::env::var(TOKEN).unwrap_or_default();
    let sent = sent.trim();
    if Who::of(home, sent)?.is_none() {
        let wrong = if sent.is_empty() { "is not set" } else { "opens nothing here" };
        return Err(Error::Usage(format!(
            "{TOKEN} {wrong}: `bardo golem connect NAME` shows the token of a golem's agent, `bardo token new` makes one of yours"
        )));
    }
    mcp::stdio(&Runtime::of(home), sent)?;
    Ok(ExitCode::SUCCESS)
}

//! `golem connect`: how an agent of the user's calls models at a golem's expense.

use std::process::ExitCode;

use serde_json::json;
use shell::home::agent;
use shell::{Error, GolemHome, Home};

use crate::output::{self, line};

pub(crate) fn connect(home: &Home, place: &GolemHome, rotate: bool, json: bool) -> Result<ExitCode, Error> {
    let token = if rotate { agent::rotate(place)? } else { agent::token(place)? };
    let address = gateway::address(home)?;
    if address.is_empty() {
        return Err(Error::Usage("this home has no gateway: gateway.listen is empty in bardo.toml".into()));
    }
    let base = format!("http://{address}/g/{}", place.name);
    if json {
        output::json(&json!({ "openai_base_url": format!("{base}/v1"), "anthropic_base_url": base, "token": token }));
        return Ok(ExitCode::SUCCESS);
    }
    line("# for OpenAI clients");
    line(format!("export OPENAI_BASE_URL={base}/v1"));
    line(format!("export OPENAI_API_KEY={token}"));
    line("# for Anthropic clients");
    line(format!("export ANTHROPIC_BASE_URL={base}"));
    line(format!("export ANTHROPIC_API_KEY={token}"));
    if !home.is_up() {
        output::complain("no gateway is up yet; start it with `bardo up`");
    }
    Ok(ExitCode::SUCCESS)
}

//! The token of a golem's agent. It opens that golem's gateway and nothing else, and stands in the golem's folder for
//! its owner's eyes.

use std::fs;

use golem::hex;

use super::place::{GolemHome, Home};
use super::tokens::draw;
use crate::{Error, durable};

/// Prefix of the token, which tells anyone who finds one what it is.
const PREFIX: &str = "bardo-agent-";

/// The agent's token, drawn when first asked for.
pub fn token(place: &GolemHome) -> Result<String, Error> {
    match fs::read_to_string(place.agent_token()) {
        Ok(text) if text.trim().len() > PREFIX.len() + 32 => Ok(text.trim().to_owned()),
        _ => rotate(place),
    }
}

/// Replaces the token; the old one opens nothing from now on.
pub fn rotate(place: &GolemHome) -> Result<String, Error> {
    let text = format!("{PREFIX}{}", draw());
    durable::write(&place.agent_token(), text.as_bytes())?;
    Ok(text)
}

/// The name that stands for the token in an address, where a program's own login takes the token's place: addresses are
/// seen in lists of processes, and this name opens nothing to a client without a login.
pub fn in_address(token: &str) -> String {
    let hash = blake3::derive_key("bardo: a login's way through the gateway of a golem", token.as_bytes());
    format!("bardo-login-{}", hex::encode(&hash[..16]))
}

/// Whether this stands for the token of that golem's agent in an address.
pub fn leads(place: &GolemHome, sent: &str) -> bool {
    let Ok(known) = fs::read_to_string(place.agent_token()) else { return false };
    let ours = in_address(known.trim());
    known.trim().len() > PREFIX.len() + 32 && blake3::hash(ours.as_bytes()) == blake3::hash(sent.as_bytes())
}

/// Whether this is the token of that golem's agent; compared as hashes, which takes equally long wherever they differ.
pub fn opens(place: &GolemHome, sent: &str) -> bool {
    let Ok(known) = fs::read_to_string(place.agent_token()) else { return false };
    known.trim().len() > PREFIX.len() + 32 && blake3::hash(known.trim().as_bytes()) == blake3::hash(sent.as_bytes())
}

/// The golem whose agent has this token.
pub fn whose(home: &Home, sent: &str) -> Result<Option<GolemHome>, Error> {
    Ok(home.list()?.into_iter().find(|place| opens(place, sent)))
}

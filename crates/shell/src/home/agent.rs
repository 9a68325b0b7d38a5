//! The token of a golem's agent. It opens that golem's gateway and nothing else, and stands in the golem's folder for its
//! owner's eyes.

use std::fs;

use super::place::{GolemHome, Home};
use super::tokens::draw;
use crate::{Error, durable};

/// So that whoever finds one knows what it is.
const PREFIX: &str = "bardo-agent-";

/// The agent's token, drawn when first asked for.
pub fn token(place: &GolemHome) -> Result<String, Error> {
    match fs::read_to_string(place.agent_token()) {
        Ok(text) if text.trim().len() > PREFIX.len() + 32 => Ok(text.trim().to_owned()),
        _ => rotate(place),
    }
}

/// Another one; the old one opens nothing from now on.
pub fn rotate(place: &GolemHome) -> Result<String, Error> {
    let text = format!("{PREFIX}{}", draw());
    durable::write(&place.agent_token(), text.as_bytes())?;
    Ok(text)
}

/// What stands in an address instead of the token, where a login of the program's own stands in the token's place: addresses are
/// seen in lists of processes, and this opens nothing to whoever has no login to show.
pub fn in_address(token: &str) -> String {
    let hash = blake3::derive_key("bardo: a login's way through the gateway of a golem", token.as_bytes());
    format!("bardo-login-{}", crate::hash::hex(&hash[..16]))
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

/// Whose agent this is the token of.
pub fn whose(home: &Home, sent: &str) -> Result<Option<GolemHome>, Error> {
    Ok(home.list()?.into_iter().find(|place| opens(place, sent)))
}

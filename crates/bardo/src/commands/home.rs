//! `init`, `treasury`, `doctor`, `upgrade`, `recover`: verbs about the home as a whole.

use std::process::ExitCode;

use golem::Usdc;
use mind::AtHand;
use serde_json::json;
use shell::care::doctor as examination;
use shell::care::recover as recovery;
use shell::care::upgrade;
use shell::{Error, Home, Runtime};

use crate::args::{TreasuryArgs, TreasuryVerb};
use crate::exit;
use crate::output::{self, line};

/// A home, without a word about it. Says whether it was new.
pub(crate) fn make(home: &Home) -> Result<bool, Error> {
    let new = home.init(&home.settings()?)?;
    home.keep_reserve();
    Ok(new)
}

pub(crate) fn init(home: &Home, json: bool) -> Result<ExitCode, Error> {
    let new = make(home)?;
    let balance = home.treasury()?.balance()?;
    let found = if new { mind::look_around() } else { Vec::new() };
    if json {
        let models: Vec<_> = found.iter().map(|at| json!({ "provider": at.provider, "models": at.models })).collect();
        output::json(&json!({ "home": home.root(), "new": new, "treasury": balance, "models": models }));
    } else {
        let made = if new { "made a home at" } else { "there is a home at" };
        line(format!("{made} {}", home.root().display()));
        line(format!("the treasury holds {balance} of paper money"));
        if new {
            let mind = tell_models(&found);
            line(format!("next: bardo golem new ada --world edge{mind}"));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Says who could be asked from here, and how that is said to a golem.
fn tell_models(found: &[AtHand]) -> String {
    for at in found {
        line(match at.variable {
            Some(variable) => format!("{variable} is set: a golem may ask {}/MODEL", at.provider),
            None if at.models.is_empty() => format!("{} is up, and has no model loaded", at.provider),
            None => format!("{} is up: a golem may ask {}", at.provider, at.models.join(", ")),
        });
    }
    let local = found.iter().find_map(|at| Some((at.provider, at.models.first()?)));
    match (local, found.first()) {
        (Some((provider, model)), _) => format!(" --mind {provider}/{model}"),
        (None, Some(at)) if at.variable.is_some() => format!(" --mind {}/MODEL", at.provider),
        _ => String::new(),
    }
}

pub(crate) fn treasury(home: &Home, args: &TreasuryArgs, json: bool) -> Result<ExitCode, Error> {
    let mut treasury = if args.verb.is_some() { home.treasury()? } else { home.treasury_to_read()? };
    if let Some(TreasuryVerb::Add { amount }) = args.verb {
        must_be_some(amount)?;
        treasury.add(amount)?;
    }
    let (balance, entries) = (treasury.balance()?, treasury.entries(20)?);
    if json {
        output::json(&json!({
            "balance": balance, "balance_usd": output::usd(balance), "money_unit": output::MONEY_UNIT, "entries": entries,
        }));
        return Ok(ExitCode::SUCCESS);
    }
    line(format!("{balance} of paper money, free to give"));
    for entry in entries {
        let who = entry.golem.as_deref().map_or_else(String::new, |id| name_of(home, id));
        line(format!("  {:<9} {:>14} {who:<20} {:>16}", entry.kind, entry.amount, entry.balance));
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn must_be_some(amount: Usdc) -> Result<(), Error> {
    if amount.is_positive() { Ok(()) } else { Err(Error::Usage("the amount must be more than nothing".into())) }
}

fn name_of(home: &Home, id: &str) -> String {
    let named = home.list().ok().and_then(|golems| {
        let id: golem::GolemId = id.parse().ok()?;
        golems.iter().find(|golem| golem.is(id)).map(|golem| golem.name.to_string())
    });
    named.unwrap_or_else(|| id.chars().take(8).chain(['…']).collect())
}

pub(crate) fn doctor(home: &Home, json: bool) -> Result<ExitCode, Error> {
    let mut fine = true;
    examination::examine(home, |finding| {
        fine &= finding.fine;
        told(&finding, json);
    })?;
    if let Err(why) = super::up::would_start(home) {
        fine = false;
        let going =
            if home.is_up() { "the host that is up keeps the settings it read before" } else { "`up` would not start" };
        told(&examination::Finding::wrong("bardo.toml", format!("{why}; {going}")), json);
    }
    Ok(if fine { ExitCode::SUCCESS } else { ExitCode::from(exit::ERROR) })
}

/// `clock`: what golems that live by the wall go by.
pub(crate) fn clock(home: &Home, right: bool, json: bool) -> Result<ExitCode, Error> {
    home.require()?;
    if right {
        home.believe_clock()?;
    }
    let trouble = home.clock_trouble();
    match &trouble {
        _ if json => output::json(&json!({ "believed": trouble.is_none(), "why": trouble })),
        Some(why) => output::complain(why),
        None => line("this machine's clock is believed"),
    }
    Ok(if trouble.is_none() { ExitCode::SUCCESS } else { ExitCode::from(exit::ERROR) })
}

/// `upgrade check`: nothing is done, so that it can still be decided.
pub(crate) fn foresee(home: &Home, json: bool) -> Result<ExitCode, Error> {
    let mut fine = true;
    let touched = upgrade::foresee(home, |finding| {
        fine &= finding.fine;
        told(&finding, json);
    })?;
    if !json {
        line(match (fine, touched) {
            (false, _) => "this version cannot go on with what is marked WRONG; nothing was changed",
            (true, 0) => "this version changes nothing here",
            (true, _) => "nothing has been changed yet; each golem is brought up to date when it next runs",
        });
    }
    Ok(if fine { ExitCode::SUCCESS } else { ExitCode::from(exit::ERROR) })
}

/// One finding of an examination.
pub(crate) fn told(finding: &examination::Finding, json: bool) {
    if json {
        output::json(finding);
    } else {
        let mark = match (finding.fine, finding.soon) {
            (false, _) => "WRONG",
            (true, true) => "soon ",
            (true, false) => "ok   ",
        };
        line(format!("{mark} {:<24} {}", finding.what, finding.detail));
    }
}

pub(crate) fn recover(home: &Home, yes: bool, json: bool) -> Result<ExitCode, Error> {
    let (mut steps, mut left) = (0, 0);
    recovery::recover(&Runtime::of(home), yes, |step| {
        steps += 1;
        left += u32::from(step.done.is_none());
        if json {
            return output::json(&step);
        }
        line(format!("{}: {}", step.what, step.lost));
        match (&step.done, yes) {
            (Some(done), true) => line(format!("  done: {done}")),
            (Some(done), false) => line(format!("  with --yes: {done}")),
            (None, _) => line("  cannot be repaired here"),
        }
    })?;
    if !json {
        match (steps, yes) {
            (0, _) => line("nothing is missing; `bardo doctor` examines everything"),
            (_, true) => line("next: bardo doctor"),
            (_, false) => line("nothing was changed; bring back newer files if you have them, or repeat with --yes"),
        }
    }
    Ok(if left > 0 { ExitCode::from(exit::ERROR) } else { ExitCode::SUCCESS })
}

//! Obeying, or declining by name.

use life::dream::Waker;
use life::id::CommandId;
use life::money::Usdc;
use life::mortality::death::Cause;
use life::mortality::economic;
use life::owner::{Account, Command, Event, Say};
use life::plain::is_plain;
use life::policy::Refusal;
use life::time::Span;
use life::{Draft, Life, limits};

use crate::{call, dream, mortality, policy, prediction, thought};

/// How long before its agent may speak to its owner again.
const SAY_AGAIN: Span = Span::seconds(300);

/// Takes in money from the treasury; each transfer counts once.
pub(crate) fn funded(draft: &mut Draft<'_>, transfer: u64, credit: Usdc, capital: Usdc) {
    if transfer > draft.transfers_taken() {
        assert!(transfer == draft.transfers_taken() + 1, "a transfer is missing");
        draft.emit(Event::Funded { transfer, credit, capital });
    }
}

/// Closes a deposit that the treasury has received.
pub(crate) fn deposited(draft: &mut Draft<'_>, deposit: u64) {
    if draft.deposits().iter().any(|d| d.number == deposit) {
        draft.emit(Event::Deposited { deposit });
    }
}

/// Obeys or declines a command, once however often it is delivered.
pub(crate) fn commanded(draft: &mut Draft<'_>, command: CommandId, what: &Command) {
    if !draft.commands().iter().any(|(known, _)| *known == command) {
        let done = obey(draft, command, what);
        draft.emit(match done {
            done if what.is_agents() => Event::Heeded { command, rule: done.err() },
            Ok(()) => Event::Obeyed { command },
            Err(rule) => Event::Declined { command, rule },
        });
    }
}

fn obey(draft: &mut Draft<'_>, id: CommandId, command: &Command) -> Result<(), Refusal> {
    if draft.is_dead() {
        return Err(Refusal::Dead);
    }
    match command {
        Command::Pause if draft.heartbeat().paused => {}
        Command::Pause => draft.emit(Event::Paused),
        Command::Resume => {
            if draft.heartbeat().paused {
                draft.emit(Event::Resumed);
            }
            if draft.heartbeat().frozen {
                draft.emit(Event::Thawed);
            }
        }
        Command::Freeze { .. } if draft.heartbeat().frozen => {}
        Command::Freeze { reason } => draft.emit(Event::Froze { reason: clip(reason) }),
        Command::Withdraw { from, amount } => {
            withdrawable(draft, *from, *amount)?;
            draft.emit(Event::Withdrew { deposit: draft.deposits_made() + 1, from: *from, amount: *amount });
        }
        Command::Approve { key, yes } if draft.calls().hold.is_some_and(|hold| hold.key == *key) => {
            call::release(draft, *key, *yes)?;
        }
        Command::Approve { key, yes } => policy::approve(draft, *key, *yes)?,
        Command::Propose(proposal) => policy::propose(draft, proposal)?,
        Command::Say(say) => said(draft, say)?,
        Command::Dream => dream::ordered(draft)?,
        Command::Dreams { on } => dream::switched(draft, *on),
        Command::Wake => dream::wake(draft, Waker::Owner),
        Command::Retire { reason } => mortality::die(draft, Cause::OwnerKill { reason: clip(reason) }),
        Command::Amend { instead_of, .. } if *instead_of != policy::policy_hash(draft.policy()) => {
            return Err(Refusal::Stale);
        }
        Command::Amend { policy, .. } if !policy.fits(&draft.birth().world) => return Err(Refusal::Unknown),
        Command::Amend { policy, .. } => draft.emit(Event::Amended(policy.clone())),
        Command::Ask { text } if clip_to(text, limits::STRATEGY).trim().is_empty() => return Err(Refusal::Bounds),
        Command::Ask { text } => thought::owner_asks(draft, id, clip_to(text, limits::STRATEGY))?,
        Command::Steer { text } => draft.emit(Event::Steered { text: clip_to(text, limits::STRATEGY) }),
        Command::Claim { domain, value, due } => prediction::claim(draft, domain, *value, *due)?,
        Command::Halt { trigger } => mortality::die(draft, Cause::KillSwitch { trigger: clip(trigger) }),
    }
    Ok(())
}

/// Passes a word of the agent to the owner, once in a while at most.
fn said(draft: &mut Draft<'_>, say: &Say) -> Result<(), Refusal> {
    let text = clip_to(&say.text, limits::STRATEGY);
    if text.trim().is_empty() {
        return Err(Refusal::Bounds);
    }
    if draft.said().is_some_and(|(_, at)| draft.at() < *at + SAY_AGAIN) {
        return Err(Refusal::Busy);
    }
    draft.emit(Event::Said(Say { text, done: say.done }));
    Ok(())
}

fn withdrawable(life: &Life, from: Account, amount: Usdc) -> Result<(), Refusal> {
    if !amount.is_positive() || amount > Usdc::MOST {
        return Err(Refusal::Bounds);
    }
    if life.deposits().len() + 2 > limits::DEPOSITS {
        return Err(Refusal::Busy);
    }
    match from {
        Account::Credit if amount > life.purse().credit => Err(Refusal::Short),
        Account::Credit if amount > economic::free(life) => Err(Refusal::Reserve),
        Account::Capital if amount > life.capital().cash => Err(Refusal::Short),
        _ => Ok(()),
    }
}

fn clip(text: &str) -> String {
    clip_to(text, limits::REASON)
}

fn clip_to(text: &str, most: usize) -> String {
    text.chars().filter(|c| is_plain(*c)).take(most).collect()
}

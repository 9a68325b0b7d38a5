//! An owner who acts at random: money, brakes, nights, ends, again and again under the same id, and taking a golem out
//! of the host and putting it back. Each order goes the way of the command line, in a process of its own.

use std::fs;
use std::path::Path;

use golem::owner::Account;
use golem::{Command, CommandId, Usdc};
use shell::home::inbox::{self, Body, Reply};
use shell::orders::order::{self, OrderState};
use shell::wall::Wall;
use shell::{Error, GolemHome, Home};

use super::dice::SeedDice;
use super::process::Process;

/// An order, and what the owner knows of it.
#[derive(Clone, Debug)]
pub(super) struct Given {
    pub(super) golem: String,
    pub(super) id: CommandId,
    pub(super) body: Body,
    pub(super) reply: Option<Reply>,
    /// Whether it was passed on, though what came of it may not be known.
    pub(super) passed_on: bool,
    /// Whether it lies in an inbox, so that it will be answered.
    pub(super) sent: bool,
}

#[derive(Debug, Default)]
pub(super) struct Owner {
    pub(super) orders: Vec<Given>,
}

impl Owner {
    /// Does something; returns what, for the trace. An act during which the power goes has no known result.
    pub(super) fn act(&mut self, root: &Path, wall: &Wall, dice: &mut SeedDice, was_cut: impl Fn() -> bool) -> String {
        let process = Process::begin(root, wall);
        let name = (*dice.one_of(&["ada", "ben", "eve", "kim"])).to_owned();
        let place = process.home().golem(&name).unwrap();
        if dice.one_in(12) {
            return release(&place);
        }
        let again = if dice.one_in(6) { self.orders.iter().rposition(|given| given.golem == name) } else { None };
        let at = again.unwrap_or_else(|| {
            let (id, body) = (CommandId(dice.next().to_le_bytes()), body(dice));
            self.orders.push(Given { golem: name.clone(), id, body, reply: None, passed_on: false, sent: false });
            self.orders.len() - 1
        });
        let told = self.pass_on(at, (&process, &place), dice, was_cut);
        told.unwrap_or_else(|| "an order, and the power went".to_owned())
    }

    /// Ends a golem that has something to leave.
    pub(super) fn end_somebody(
        &mut self,
        root: &Path,
        wall: &Wall,
        dice: &mut SeedDice,
        was_cut: impl Fn() -> bool,
    ) -> String {
        let process = Process::begin(root, wall);
        let name = (*dice.one_of(&["ada", "eve"])).to_owned();
        let (id, body) =
            (CommandId(dice.next().to_le_bytes()), Body::Command(Command::Retire { reason: "enough".into() }));
        let place = process.home().golem(&name).unwrap();
        self.orders.push(Given { golem: name, id, body, reply: None, passed_on: false, sent: false });
        let told = self.pass_on(self.orders.len() - 1, (&process, &place), dice, was_cut);
        told.unwrap_or_else(|| "an end, and the power went".to_owned())
    }

    fn pass_on(
        &mut self,
        at: usize,
        (process, place): (&Process, &GolemHome),
        dice: &mut SeedDice,
        was_cut: impl Fn() -> bool,
    ) -> Option<String> {
        let given = self.orders[at].clone();
        if let Body::Command(Command::Freeze { reason }) = &given.body {
            let _ = order::mark_frozen(place, reason);
        }
        if let Body::Command(Command::Resume) = &given.body {
            let _ = order::unmark_frozen(place);
        }
        let passed = order::pass_on_as(process, place, given.id, given.body.clone(), 1);
        // The process may go on with what it has sent out, or end first.
        while process.async_worlds().errands_waiting() > 0 && dice.one_in(2) {
            process.async_worlds().run(0);
        }
        if was_cut() {
            return None;
        }
        let told = format!("{} {:?} {}", given.golem, given.body, described(&passed));
        let given = &mut self.orders[at];
        given.passed_on |= passed.is_ok();
        given.sent |= matches!(passed, Ok(OrderState::Sent(_)));
        if let Ok(OrderState::Answered(reply)) = passed {
            given.hear(reply);
        }
        Some(told)
    }

    /// Takes the answers that have come.
    pub(super) fn look(&mut self, root: &Path, wall: &Wall) -> String {
        let (home, mut heard) = (Home::simulated(root.to_owned(), wall), 0);
        for given in &mut self.orders {
            let place = home.golem(&given.golem).unwrap();
            if let Some((path, reply)) = inbox::reply_to(&place, given.id).unwrap() {
                fs::remove_file(path).unwrap();
                given.hear(reply);
                heard += 1;
            }
        }
        format!("{heard} answers")
    }

    /// Brings every golem that was taken out back to the host.
    pub(super) fn join_all(process: &Process) {
        for place in process.home().list().unwrap().into_iter().filter(GolemHome::is_released) {
            fs::remove_file(place.released_marker()).unwrap();
            place.ring_by(process.signals());
        }
    }
}

impl Given {
    /// Hears an answer, which must be the same however often the order is given; a dead golem only says that it is
    /// dead.
    fn hear(&mut self, reply: Reply) {
        if let (Some(known), false) = (&self.reply, matches!(reply, Reply::Dead(_))) {
            let same = *known == reply || matches!(known, Reply::Dead(_));
            assert!(same, "{}: {:?} was answered {known:?} and then {reply:?}", self.golem, self.body);
        }
        self.reply.get_or_insert(reply);
    }
}

fn release(place: &GolemHome) -> String {
    let marker = place.released_marker();
    if marker.exists() {
        fs::remove_file(marker).unwrap()
    } else {
        fs::write(marker, "").unwrap()
    }
    place.ring();
    format!("{} is taken out or brought back", place.name)
}

fn body(dice: &mut SeedDice) -> Body {
    let amount = Usdc::micros(1 + dice.roll(2_000_000) as i64);
    let command = match dice.roll(40) {
        0..=7 => return Body::Fund { credit: amount, capital: Usdc::ZERO },
        8..=11 => return Body::Fund { credit: Usdc::ZERO, capital: amount },
        12..=15 => Command::Withdraw { from: Account::Credit, amount },
        16..=19 => Command::Withdraw { from: Account::Capital, amount },
        20..=23 => Command::Pause,
        24..=30 => Command::Resume,
        31..=34 => Command::Freeze { reason: "enough".into() },
        35 | 36 => Command::Dream,
        37 => Command::Wake,
        38 => Command::Halt { trigger: "a test".into() },
        _ => Command::Retire { reason: "enough".into() },
    };
    Body::Command(command)
}

fn described(passed: &Result<OrderState, Error>) -> &'static str {
    match passed {
        Ok(OrderState::Answered(Reply::Done)) => "is done",
        Ok(OrderState::Answered(Reply::Refused(_))) => "is refused",
        Ok(OrderState::Answered(Reply::Dead(_))) | Err(Error::Dead(..)) => "comes too late",
        Ok(OrderState::Sent(_)) => "is sent",
        Ok(OrderState::Unsure(_)) => "is unsure",
        Err(_) => "cannot be given",
    }
}

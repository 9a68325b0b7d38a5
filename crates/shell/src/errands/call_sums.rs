//! Calls of a golem's agent since this process came up, as far as no journal has them: calls that were refused before
//! the golem was asked, and the sums of each session of the agent. Both are few, whatever an agent sends.

use golem::{Usdc, plain};

use crate::wall;

/// Sessions that are kept one by one; the sum of the one that was silent for longest is added to the others.
const SESSIONS: usize = 16;
/// Characters of a session's name.
const NAME: usize = 64;
/// Characters of a refusal's message.
const WHY: usize = 300;

#[derive(Clone, Debug, Default)]
pub(crate) struct Heard {
    pub(crate) turned_away: Vec<TurnedAway>,
    /// Sessions, in the order of their last calls.
    pub(crate) sessions: Vec<Session>,
    /// The sum of all sessions that are not kept one by one any more.
    pub(crate) others: Session,
}

/// Calls that were refused for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TurnedAway {
    pub(crate) code: &'static str,
    pub(crate) times: u64,
    /// The message of the last refusal.
    pub(crate) why: String,
}

/// A session: the agent's name for one piece of its work, and its sums.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Session {
    pub(crate) name: String,
    pub(crate) calls: u64,
    pub(crate) input: u64,
    pub(crate) output: u64,
    pub(crate) cost: Usdc,
    /// Time of its last call, in milliseconds since 1970.
    pub(crate) last: u64,
}

/// The sum of one call.
#[derive(Clone, Copy, Debug)]
pub struct CallSum {
    pub input: u64,
    pub output: u64,
    pub cost: Usdc,
}

impl Heard {
    /// Codes are few, and each is written in this program.
    pub(super) fn turn_away(&mut self, code: &'static str, why: &str) {
        let why = plain::line(why, WHY);
        match self.turned_away.iter_mut().find(|known| known.code == code) {
            Some(known) => (known.times, known.why) = (known.times + 1, why),
            None => self.turned_away.push(TurnedAway { code, times: 1, why }),
        }
    }

    pub(super) fn note(&mut self, session: &str, call: CallSum) {
        let name = plain::line(session, NAME);
        let known = self.sessions.iter().position(|known| known.name == name);
        let mut session = known.map_or_else(|| Session { name, ..Session::default() }, |at| self.sessions.remove(at));
        session.add(1, call);
        session.last = wall::now_ms() as u64;
        if self.sessions.len() >= SESSIONS {
            let Session { calls, input, output, cost, .. } = self.sessions.remove(0);
            self.others.add(calls, CallSum { input, output, cost });
        }
        self.sessions.push(session);
    }
}

impl Session {
    fn add(&mut self, calls: u64, sum: CallSum) {
        self.calls += calls;
        self.input = self.input.saturating_add(sum.input);
        self.output = self.output.saturating_add(sum.output);
        self.cost = self.cost.checked_add(sum.cost).unwrap_or(Usdc::MOST);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(micros: i64) -> CallSum {
        CallSum { input: 10, output: 1, cost: Usdc::micros(micros) }
    }

    #[test]
    fn sessions_stay_few_whatever_an_agent_says_and_each_cent_is_in_one_of_them() {
        let mut heard = Heard::default();
        for nth in 0..1_000 {
            heard.note(&format!("s{nth}"), cost(nth));
            heard.note("stays", cost(1));
        }
        assert_eq!(heard.sessions.len(), SESSIONS);
        let stays = heard.sessions.iter().find(|session| session.name == "stays").unwrap();
        assert_eq!((stays.calls, stays.input, stays.cost), (1_000, 10_000, Usdc::micros(1_000)));
        let sum = heard.sessions.iter().fold(heard.others.cost, |sum, session| sum + session.cost);
        assert_eq!(sum, Usdc::micros((0..1_000).sum::<i64>() + 1_000));
        assert_eq!(heard.sessions.iter().map(|session| session.calls).sum::<u64>() + heard.others.calls, 2_000);
    }

    #[test]
    fn a_name_is_one_short_plain_line() {
        let mut heard = Heard::default();
        heard.note(&format!("\u{1b}[2J{}", "x".repeat(500)), cost(1));
        let name = &heard.sessions[0].name;
        assert!(!name.contains('\u{1b}') && name.chars().count() <= NAME + 1, "{name}");
    }

    #[test]
    fn who_is_turned_away_is_counted_by_why() {
        let mut heard = Heard::default();
        heard.turn_away("model", "unknown model a");
        heard.turn_away("invalid_request", "no call");
        heard.turn_away("model", "unknown model b");
        let told: Vec<_> = heard.turned_away.iter().map(|one| (one.code, one.times, one.why.as_str())).collect();
        assert_eq!(told, [("model", 2, "unknown model b"), ("invalid_request", 1, "no call")]);
    }
}

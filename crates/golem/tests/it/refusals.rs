//! The core says why. A refused call comes back with its reason, one situation for each reason there is, and it does so
//! each time, although the record says the same reason only once an hour.

use crate::agent::{Agent, USED};
use golem::call::{self, CallVerdict, Denied, How, Runaway, Unit, Wanted};
use golem::constitution::{Caps, Mode};
use golem::mortality::phase::{Phase, Tier};
use golem::world::Observation;
use golem::{Command, Event, Input, Span, Usdc, What};

const GIVEN: Usdc = Usdc::dollars(1);
const CENT: Usdc = Usdc::cents(1);

/// Reasons to refuse a call: [`refused`] has a situation for each kind, or it does not compile.
const REASONS: [Denied; 26] = [
    Denied::Dead,
    Denied::Frozen,
    Denied::Paused,
    Denied::Held(Runaway::Alike),
    Denied::Held(Runaway::Fan),
    Denied::Held(Runaway::Pace),
    Denied::Held(Runaway::Bill),
    Denied::Phase(Phase::Stable),
    Denied::Busy,
    Denied::Call,
    Denied::Hour,
    Denied::Day,
    Denied::Month,
    Denied::Allowance,
    Denied::Funds,
    Denied::Repeated,
    Denied::Broke,
    Denied::Short(Unit::Tokens),
    Denied::Short(Unit::Calls),
    Denied::Short(Unit::Hours),
    Denied::Today(Unit::Tokens),
    Denied::Today(Unit::Calls),
    Denied::Today(Unit::Hours),
    Denied::Spent(Unit::Tokens),
    Denied::Spent(Unit::Calls),
    Denied::Spent(Unit::Hours),
];

/// A call of one cent that asks what no other does.
fn usual(agent: &Agent) -> Wanted {
    let key = agent.life().calls().made + 1;
    Wanted { key, most: CENT, tokens: USED, tier: Tier::Cheap, again: None, alike: 1_000 + key }
}

fn open(agent: &mut Agent, call: Wanted) -> u64 {
    assert_eq!(agent.put(call), CallVerdict::LetThrough);
    call.key
}

/// Makes a usual call to its end.
fn make(agent: &mut Agent, cost: Usdc) {
    let call = usual(agent);
    let key = open(agent, call);
    agent.settle(key, cost, How::Told);
}

/// Lets some minutes pass in which the golem is looked at.
fn live(agent: &mut Agent) {
    for _ in 0..3 {
        agent.now = agent.now + Span::seconds(40);
        agent.feed(What::Observed(Observation::default()));
    }
}

/// A golem with a cap in one unit, over all or for a day.
fn capped(unit: Unit, a_day: bool) -> Agent {
    let (tokens, calls, time) = (Some(1_000), Some(1), Some(Span::seconds(100)));
    let caps = match (unit, a_day) {
        (Unit::Tokens, false) => Caps { tokens, ..Caps::default() },
        (Unit::Tokens, true) => Caps { tokens_day: tokens, ..Caps::default() },
        (Unit::Calls, false) => Caps { calls, ..Caps::default() },
        (Unit::Calls, true) => Caps { calls_day: calls, ..Caps::default() },
        (Unit::Hours, false) => Caps { time, ..Caps::default() },
        (Unit::Hours, true) => Caps { time_day: time, ..Caps::default() },
    };
    Agent::given(GIVEN, |policy| policy.caps = caps)
}

/// An agent, and a call that its golem refuses for this reason.
fn refused(by: Denied) -> (Agent, Wanted) {
    let dear = |agent: &Agent| Wanted { most: GIVEN + CENT, ..usual(agent) };
    let mut agent = match by {
        Denied::Busy => Agent::given(GIVEN, |policy| policy.calls_at_once = 1),
        Denied::Call => Agent::given(GIVEN, |policy| policy.call_most = Some(CENT)),
        Denied::Hour => Agent::given(GIVEN, |policy| policy.calls_hour = Some(CENT)),
        Denied::Day => Agent::given(GIVEN, |policy| policy.calls_day = Some(CENT)),
        Denied::Month => Agent::given(GIVEN, |policy| policy.calls_month = Some(CENT)),
        Denied::Allowance => Agent::with(Usdc::dollars(50), |constitution| {
            constitution.mode = Mode::SelfHosted;
            constitution.economic.monthly_allowance = CENT;
        }),
        Denied::Short(unit) | Denied::Spent(unit) => capped(unit, false),
        Denied::Today(unit) => capped(unit, true),
        Denied::Dead
        | Denied::Frozen
        | Denied::Paused
        | Denied::Held(_)
        | Denied::Phase(_)
        | Denied::Funds
        | Denied::Repeated
        | Denied::Broke => Agent::given(GIVEN, |_| {}),
    };
    let mut call = usual(&agent);
    match by {
        Denied::Dead => agent.command(Command::Halt { trigger: "over".into() }),
        Denied::Frozen => agent.command(Command::Freeze { reason: String::new() }),
        Denied::Paused => agent.command(Command::Pause),
        Denied::Held(by) => run_away(&mut agent, by),
        Denied::Phase(_) => call.tier = Tier::Strong,
        Denied::Busy => _ = open(&mut agent, call),
        Denied::Call | Denied::Hour | Denied::Day | Denied::Month | Denied::Allowance => call.most = CENT + CENT,
        Denied::Funds => {
            open(&mut agent, call);
            call = dear(&agent);
        }
        Denied::Repeated => {
            call.again = Some(7);
            let key = open(&mut agent, call);
            agent.settle(key, CENT, How::Told);
        }
        Denied::Broke => call = dear(&agent),
        Denied::Short(Unit::Tokens) => {
            open(&mut agent, call);
            call.tokens = 1_001;
        }
        Denied::Today(Unit::Tokens) | Denied::Spent(Unit::Tokens) => call.tokens = 1_001,
        Denied::Short(Unit::Calls) => _ = open(&mut agent, call),
        Denied::Today(Unit::Calls) | Denied::Spent(Unit::Calls) => make(&mut agent, CENT),
        Denied::Short(Unit::Hours) => {
            open(&mut agent, call);
            live(&mut agent);
        }
        Denied::Today(Unit::Hours) | Denied::Spent(Unit::Hours) => {
            make(&mut agent, CENT);
            live(&mut agent);
        }
    }
    call.key = agent.life().calls().made + 1;
    (agent, call)
}

/// Brings a golem to the call before the one that is stopped, or to where all are.
fn run_away(agent: &mut Agent, by: Runaway) {
    match by {
        Runaway::Alike => {
            for _ in 0..agent.life().policy().calls_alike {
                // The last of them is the one that `refused` begins with.
                let call = Wanted { most: Usdc::micros(10), alike: 1_001, ..usual(agent) };
                let key = open(agent, call);
                agent.settle(key, Usdc::micros(1), How::Told);
            }
        }
        Runaway::Fan => {
            for _ in 0..agent.life().policy().calls_fan {
                let call = Wanted { most: Usdc::micros(1), ..usual(agent) };
                open(agent, call);
            }
        }
        Runaway::Pace => {
            for _ in 0..30 {
                make(agent, Usdc::micros(1));
                agent.now = agent.now + Span::seconds(60);
            }
            (0..2).for_each(|_| make(agent, CENT));
        }
        Runaway::Bill => make(agent, CENT + CENT),
    }
}

/// Refusals for this reason, as far as they are on record.
fn on_record(agent: &Agent, why: Denied) -> usize {
    let is = |event: &&Event| matches!(event, Event::Call(call::Event::Refused { by, times: 1 }) if *by == why);
    agent.records.iter().flat_map(|record| &record.events).filter(is).count()
}

#[test]
fn a_refused_call_comes_back_with_its_reason_also_where_the_record_does_not_say_it_again() {
    for by in REASONS {
        let (mut agent, call) = refused(by);
        // The dead record nothing.
        let recorded = by != Denied::Dead;
        assert_eq!(agent.put(call), CallVerdict::Refused { by, recorded });
        assert_eq!(on_record(&agent, by), usize::from(recorded));
        for _ in 0..3 {
            agent.now = agent.now + Span::seconds(1);
            assert_eq!(agent.put(call), CallVerdict::Refused { by, recorded: false });
        }
        assert_eq!(on_record(&agent, by), usize::from(recorded), "{by:?} is on record once");
        assert!(agent.life().calls().find(call.key).is_none());
    }
}

#[test]
fn a_call_with_another_number_than_the_next_is_not_decided_and_other_inputs_have_no_verdict() {
    let mut agent = Agent::given(GIVEN, |_| {});
    make(&mut agent, CENT);
    let (before, records) = (agent.life().calls().clone(), agent.records.len());
    for key in [0, 1, 3] {
        let call = Wanted { key, most: Usdc::dollars(9), ..usual(&agent) };
        assert_eq!(agent.put(call), CallVerdict::OutOfTurn);
    }
    assert_eq!((agent.life().calls(), agent.records.len()), (&before, records));
    let input = Input { now: agent.now, roll: u64::MAX, what: What::Refused { by: Denied::Busy, times: 2 } };
    let lived = agent.golem.step_with(&input, |_, _| {}).unwrap();
    assert_eq!((lived.verdict, lived.record.is_some()), (None, true));
}

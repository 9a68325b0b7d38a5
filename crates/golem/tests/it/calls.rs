//! Calls of an agent are paid for before they are made. Whatever is called, settled, lost, lied about or killed: at no record
//! is more spent and set aside than was given or than any cap allows, and what is refused is refused by name.

use crate::agent::{Agent, USED};
use crate::common::Dice;
use golem::call::{self, CallOrigin, Denied, How, Runaway, Unit, Wanted};
use golem::constitution::Caps;
use golem::grimoire::Grimoire;
use golem::mortality::economic;
use golem::mortality::phase::Tier;
use golem::thanatopsis::{Outside, Review, Testament, write};
use golem::world::Observation;
use golem::{Command, Golem, Owed, Span, Usdc, What};

const GIVEN: Usdc = Usdc::dollars(1);

/// In half of all lives none is capped beside money.
fn caps(dice: &mut Dice) -> Caps {
    if dice.below(2) == 0 {
        return Caps::default();
    }
    let mut cap = |some: u64| dice.of(&[None, None, Some(some), Some(some * 40)]);
    Caps { tokens: cap(2_000), tokens_day: cap(1_500), calls: cap(25), calls_day: cap(15), time: None, time_day: None }
}

/// The process is killed: the next one folds the journal and counts the calls it does not know as lost.
fn killed(agent: &mut Agent) {
    let mut again = Golem::reborn(&agent.records[0]).unwrap();
    agent.records[1..].iter().for_each(|record| again.fold(record).unwrap());
    assert_eq!(again.life(), agent.golem.life());
    agent.golem = again;
    let open: Vec<u64> = agent.life().calls().open.iter().map(|open| open.key).collect();
    let (before, promised) = (agent.life().calls().spent, agent.life().calls().promised());
    for key in open {
        let owed =
            agent.golem.owed().find(|owed| matches!(owed, Owed::Errand(golem::Errand::Call { key: k }) if *k == key));
        assert!(owed.is_some(), "what is under way is owed");
        agent.feed(What::lost(key));
    }
    assert_eq!(agent.life().calls().spent, before + promised, "what nobody can say counts as what it can have cost");
}

#[test]
fn no_sum_is_ever_passed_whatever_is_called_lied_about_or_killed() {
    let lives = if std::env::var_os("BARDO_FULL").is_some() { 2_000 } else { 60 };
    let (mut made, mut refused, mut kills) = (0, 0, 0);
    for seed in 0..lives {
        let mut dice = Dice(seed);
        let cap =
            |dice: &mut Dice| dice.of(&[None, Some(Usdc::cents(3)), Some(Usdc::cents(20)), Some(Usdc::micros(0))]);
        let mut agent = Agent::given(GIVEN, |policy| {
            (policy.call_most, policy.calls_hour) = (cap(&mut dice), cap(&mut dice));
            (policy.calls_day, policy.calls_month) = (cap(&mut dice), cap(&mut dice));
            policy.calls_at_once = dice.of(&[1, 4, 64, 256]);
            (policy.calls_fan, policy.calls_leap) = (0, 0);
            policy.caps = caps(&mut dice);
        });
        let mut open: Vec<u64> = Vec::new();
        for _ in 0..200 {
            match dice.below(12) {
                0..=5 => {
                    let most = Usdc::micros(dice.of(&[0, 1, 900, 20_000, 400_000]));
                    let (tokens, alike) = (dice.of(&[USED, USED, 700]), agent.life().calls().made);
                    match agent.call_of(most, tokens, dice.of(&[Tier::Cheap, Tier::Middle, Tier::Strong]), alike) {
                        Ok(key) => (made, _) = (made + 1, open.push(key)),
                        Err(_) => refused += 1,
                    }
                }
                6..=8 if !open.is_empty() => {
                    let key = open.swap_remove(dice.below(open.len() as u64) as usize);
                    // Now and then a provider bills more than it may.
                    let most = agent.life().calls().find(key).map_or(Usdc::ZERO, |open| open.most);
                    let cost = Usdc::micros(dice.of(&[0, 1, 500, 20_000, 900])).min(most);
                    let cost = if dice.below(100) == 0 { cost + Usdc::cents(50) } else { cost };
                    agent.settle(key, cost, dice.of(&[How::Told, How::Cut, How::Nothing, How::Lost]));
                    if let Some(hold) = agent.life().calls().hold {
                        agent.command(Command::Approve { key: hold.key, yes: true });
                    }
                    // Said twice, it counts once.
                    let spent = agent.life().calls().spent;
                    agent.settle(key, Usdc::cents(5), How::Told);
                    assert_eq!(agent.life().calls().spent, spent);
                }
                9 => {
                    agent.now = agent.now + Span::seconds(dice.of(&[1, 40, 4_000, 90_000, 3_000_000]));
                    agent.feed(What::Observed(Observation::default()));
                }
                10 if dice.below(4) == 0 => {
                    let command = match dice.below(3) {
                        0 => Command::Freeze { reason: String::new() },
                        1 => Command::Pause,
                        _ => Command::Resume,
                    };
                    agent.command(command);
                }
                11 if dice.below(3) == 0 => {
                    killed(&mut agent);
                    kills += 1;
                    open.clear();
                }
                _ => {}
            }
        }
        if dice.below(2) == 0 {
            agent.command(Command::Halt { trigger: "over".into() });
            assert_eq!(agent.call(Usdc::ZERO, Tier::Cheap), Err(Denied::Dead));
        }
    }
    println!("counted: {made} calls let through, {refused} refused, {kills} kills in {lives} lives of agents");
    assert!(made > 10 * lives && refused > 10 * lives && kills > lives / 4);
}

#[test]
fn what_keeps_a_call_is_said_by_name() {
    let mut agent = Agent::given(GIVEN, |policy| policy.calls_at_once = 2);
    assert_eq!(agent.call(Usdc::dollars(2), Tier::Cheap), Err(Denied::Broke));
    assert!(matches!(agent.call(Usdc::ZERO, Tier::Strong), Err(Denied::Phase(_))), "thriving is earned");
    let first = agent.call(Usdc::cents(1), Tier::Cheap).unwrap();
    agent.call(Usdc::cents(1), Tier::Middle).unwrap();
    assert_eq!(agent.call(Usdc::ZERO, Tier::Cheap), Err(Denied::Busy));
    agent.settle(first, Usdc::ZERO, How::Nothing);
    agent.command(Command::Freeze { reason: String::new() });
    assert_eq!(agent.call(Usdc::ZERO, Tier::Cheap), Err(Denied::Frozen));
    agent.command(Command::Resume);
    agent.command(Command::Pause);
    assert_eq!(agent.call(Usdc::ZERO, Tier::Cheap), Err(Denied::Paused));
    agent.command(Command::Resume);
    assert!(agent.call(Usdc::ZERO, Tier::Cheap).is_ok());
    // Refused a hundred times, it is on record once.
    let refusals = |agent: &Agent| {
        let refused = |event: &golem::Event| matches!(event, golem::Event::Call(call::Event::Refused { .. }));
        agent.records.iter().flat_map(|record| &record.events).filter(|event| refused(event)).count()
    };
    let before = refusals(&agent);
    (0..100).for_each(|_| assert_eq!(agent.call(Usdc::dollars(2), Tier::Cheap), Err(Denied::Busy)));
    assert_eq!(refusals(&agent), before + 1);
}

#[test]
fn caps_are_of_their_own_hour_day_and_thirty_days() {
    let mut agent = Agent::given(GIVEN, |policy| {
        (policy.calls_hour, policy.calls_day) = (Some(Usdc::cents(10)), Some(Usdc::cents(15)));
        policy.calls_month = Some(Usdc::cents(20));
    });
    let spend = |agent: &mut Agent, cents: i64| {
        agent.call(Usdc::cents(cents), Tier::Cheap).map(|key| agent.settle(key, Usdc::cents(cents), How::Told))
    };
    assert_eq!(spend(&mut agent, 10), Ok(()));
    assert_eq!(spend(&mut agent, 1), Err(Denied::Hour));
    agent.now = agent.now + Span::seconds(3_600);
    assert_eq!(spend(&mut agent, 6), Err(Denied::Day));
    assert_eq!(spend(&mut agent, 5), Ok(()));
    agent.now = agent.now + Span::DAY;
    assert_eq!(spend(&mut agent, 6), Err(Denied::Month));
    assert_eq!(spend(&mut agent, 5), Ok(()));
    // What was set aside and not spent is free again, in the hour it was taken from.
    agent.now = agent.now + Span::DAY.times(31);
    let key = agent.call(Usdc::cents(10), Tier::Cheap);
    assert_eq!(key, Err(Denied::Month), "thirty days of age, and it was not looked at meanwhile");
}

#[test]
fn a_bill_above_what_was_set_aside_is_paid_as_far_as_the_money_goes_and_nothing_more_is_called() {
    let mut agent = Agent::given(GIVEN, |_| {});
    let [first, second] = [2, 3].map(|cents| agent.call(Usdc::cents(cents), Tier::Cheap).unwrap());
    agent.settle(first, Usdc::cents(12), How::Told);
    assert_eq!(agent.life().calls().spent, Usdc::cents(12), "all of it");
    assert_eq!(agent.call(Usdc::micros(1), Tier::Cheap), Err(Denied::Held(Runaway::Bill)));
    let hold = agent.life().calls().hold.unwrap();
    assert_eq!((hold.sum, hold.times), (Usdc::cents(10), 1));
    agent.command(Command::Approve { key: hold.key, yes: true });
    let third = agent.call(Usdc::cents(1), Tier::Cheap).unwrap();
    agent.settle(third, Usdc::dollars(50), How::Told);
    // What is promised to the call that is still under way, and kept for dying, is not touched.
    let kept = Usdc::cents(3) + economic::reserve(agent.life());
    assert_eq!(agent.life().purse().credit, kept);
    let unpaid = Usdc::dollars(50) + Usdc::cents(12) - agent.life().calls().spent;
    let told = agent
        .records
        .last()
        .unwrap()
        .events
        .iter()
        .any(|event| matches!(event, golem::Event::Call(call::Event::Settled { over, .. }) if *over == unpaid));
    assert!(told && unpaid > Usdc::dollars(49));
    agent.settle(second, Usdc::cents(3), How::Told);
    // The cost of a call that was cut off is unknown: then it is never more than what was set aside.
    let mut agent = Agent::given(GIVEN, |_| {});
    let key = agent.call(Usdc::cents(2), Tier::Cheap).unwrap();
    agent.settle(key, Usdc::dollars(50), How::Cut);
    assert_eq!((agent.life().calls().spent, agent.life().calls().hold), (Usdc::cents(2), None));
}

#[test]
fn a_call_that_is_made_again_is_paid_once() {
    let mut agent = Agent::given(GIVEN, |_| {});
    let call = |agent: &mut Agent, again: u64| {
        let key = agent.life().calls().made + 1;
        let most = Usdc::micros(10);
        let call = Wanted { key, most, tokens: USED, tier: Tier::Cheap, again: Some(again), alike: key };
        agent.feed(What::Called(call, None));
        agent.life().calls().find(key).is_some()
    };
    assert!(call(&mut agent, 7) && !call(&mut agent, 7));
    killed(&mut agent);
    assert!(!call(&mut agent, 7), "whoever is killed in between knows it all the same");
    for again in 100..400 {
        assert!(call(&mut agent, again));
        agent.settle(agent.life().calls().made, Usdc::ZERO, How::Nothing);
    }
    assert!(agent.life().calls().known.len() <= golem::limits::KNOWN);
}

#[test]
fn what_the_money_went_to_is_kept_by_model_and_stays_small() {
    let mut agent = Agent::given(GIVEN, |_| {});
    for _ in 0..60 {
        let key = agent.call(Usdc::micros(10), Tier::Cheap).unwrap();
        agent.settle(key, Usdc::micros(10), How::Told);
    }
    let models = &agent.life().calls().models;
    assert_eq!(models.len(), golem::limits::CALLED);
    assert_eq!(models.last().unwrap().model, "others");
    assert_eq!(models.iter().map(|by| by.calls).sum::<u64>(), 60);
    // Of which kinds the tokens were is counted with them, and a journal that is folded again says the same.
    let kinds = models.iter().map(|by| [by.input, by.output, by.cached, by.written, by.thought]);
    let sums = kinds.fold([0; 5], |sums, by| std::array::from_fn(|at| sums[at] + by[at]));
    assert_eq!(sums, [420, 180, 240, 120, 60]);
    killed(&mut agent);
}

/// The header that was to warn an agent said what its purse held, when a cap of its owner's for the day left it a tenth of that.
#[test]
fn what_is_said_to_be_left_is_what_the_next_call_may_use() {
    let mut agent = Agent::given(GIVEN, |policy| {
        (policy.call_most, policy.calls_day) = (Some(Usdc::cents(4)), Some(Usdc::cents(10)));
    });
    let left = |agent: &Agent| call::left(agent.life(), agent.now);
    assert_eq!((left(&agent).all, left(&agent).after(Usdc::ZERO)), (Usdc::cents(10), Usdc::cents(4)));
    assert_eq!(left(&agent).after(Usdc::cents(3)), Usdc::cents(4), "one call takes no more, whatever there is");
    assert_eq!(left(&agent).after(Usdc::cents(7)), Usdc::cents(3));
    assert_eq!(left(&agent).after(Usdc::dollars(9)), Usdc::ZERO);
    for _ in 0..2 {
        let key = agent.call(Usdc::cents(4), Tier::Cheap).unwrap();
        agent.settle(key, Usdc::cents(4), How::Told);
    }
    assert_eq!(left(&agent).after(Usdc::ZERO), Usdc::cents(2));
    agent.command(Command::Freeze { reason: String::new() });
    assert_eq!(left(&agent).after(Usdc::ZERO), Usdc::ZERO);
    agent.command(Command::Resume);
    agent.now = agent.now + Span::DAY;
    assert_eq!(left(&agent).all, Usdc::cents(10));
    agent.command(Command::Halt { trigger: "over".into() });
    assert_eq!(left(&agent).after(Usdc::ZERO), Usdc::ZERO);
}

#[test]
fn what_was_billed_beyond_the_money_stands_in_the_testament() {
    let mut agent = Agent::given(GIVEN, |_| {});
    let key = agent.call(Usdc::cents(2), Tier::Cheap).unwrap();
    agent.settle(key, Usdc::dollars(5), How::Told);
    let unpaid = Usdc::dollars(5) - agent.life().calls().spent;
    assert!(unpaid > Usdc::dollars(4));
    killed(&mut agent);
    assert_eq!(agent.life().calls().unpaid, unpaid);
    agent.command(Command::Halt { trigger: "over".into() });
    let outside = Outside { secret: String::new(), records: 0, journal: String::new() };
    let testament = write(agent.life(), &Grimoire::default(), &Review::default(), outside).unwrap();
    assert_eq!(testament.unpaid, unpaid);
    let told = testament.markdown(|_| String::new());
    assert!(told.contains(&format!("- billed {unpaid} beyond what it had")), "{told}");
    assert!(told.contains("7 tokens in (4 read from a cache, 2 written to one) and 3 out"), "{told}");
    // Where nothing was, nothing is said, and older testaments are read as they are.
    let mut json = serde_json::to_value(&testament).unwrap();
    assert_eq!(json["unpaid"], unpaid.as_micros());
    json.as_object_mut().unwrap().remove("unpaid");
    for name in ["cached", "written", "thought"] {
        json["calls"][0].as_object_mut().unwrap().remove(name);
    }
    let older: Testament = serde_json::from_value(json).unwrap();
    assert_eq!((older.unpaid, older.calls[0].cached), (Usdc::ZERO, 0));
    assert!(!older.markdown(|_| String::new()).contains("beyond what it had"));
}

/// An owner who looks later sees how often calls were stopped, and what for.
#[test]
fn times_that_calls_were_stopped_are_remembered_and_stay_few() {
    let mut agent = Agent::given(GIVEN, |_| {});
    for _ in 0..golem::limits::PAST + 3 {
        let key = agent.call(Usdc::micros(10), Tier::Cheap).unwrap();
        agent.settle(key, Usdc::micros(20), How::Told);
        let hold = agent.life().calls().hold.unwrap();
        agent.now = agent.now + Span::seconds(5);
        agent.command(Command::Approve { key: hold.key, yes: true });
        let past = *agent.life().calls().past.back().unwrap();
        assert_eq!((past.hold, past.until), (hold, agent.now));
    }
    let calls = &agent.life().calls();
    assert_eq!((calls.stopped, calls.past.len()), (golem::limits::PAST as u64 + 3, golem::limits::PAST));
}

/// A lack that lasts a second was told like the end of all money, so an owner could not know which it was.
#[test]
fn it_is_out_of_money_only_when_nothing_under_way_could_give_any_back_and_not_any_more_once_a_call_is_paid_for() {
    let mut agent = Agent::given(GIVEN, |_| {});
    let dear = GIVEN.share(2, 3);
    let told = |agent: &Agent| agent.life().calls().refused.map(|(by, _)| by);
    let first = agent.call(dear, Tier::Cheap).unwrap();
    assert_eq!(agent.call(dear, Tier::Cheap), Err(Denied::Funds));
    agent.settle(first, dear, How::Told);
    assert_eq!(agent.call(dear, Tier::Cheap), Err(Denied::Broke));
    assert_eq!((told(&agent), Denied::Broke.code()), (Some(Denied::Broke), Denied::Funds.code()));
    // What it can still pay for shows that there is money; and that it is out of it again is told again.
    let small = agent.call(Usdc::cents(1), Tier::Cheap).unwrap();
    agent.settle(small, Usdc::ZERO, How::Nothing);
    assert_eq!(told(&agent), None);
    let before = agent.records.len();
    assert_eq!(agent.call(dear, Tier::Cheap), Err(Denied::Broke));
    assert!(agent.records.len() > before && told(&agent) == Some(Denied::Broke));
}

/// Of twenty-eight refusals one was on record, and the account said "was refused 1".
#[test]
fn refusals_that_were_not_told_one_by_one_are_counted_all_the_same() {
    let mut agent = Agent::given(GIVEN, |_| {});
    for _ in 0..28 {
        assert_eq!(agent.call(Usdc::dollars(2), Tier::Cheap), Err(Denied::Broke));
    }
    assert_eq!(agent.life().calls().denied, 1, "the same is told once in a while");
    agent.feed(What::Refused { by: Denied::Broke, times: 27 });
    assert_eq!(agent.life().calls().denied, 28);
    agent.feed(What::Refused { by: Denied::Broke, times: 0 });
    assert_eq!(agent.life().calls().denied, 28);
}

fn capped(caps: Caps) -> Agent {
    Agent::given(GIVEN, |policy| policy.caps = caps)
}

#[test]
fn tokens_are_set_aside_settled_by_what_was_used_and_capped_in_all_and_by_the_day() {
    let mut agent = capped(Caps { tokens: Some(1_000), tokens_day: Some(600), ..Caps::default() });
    let call = |agent: &mut Agent, tokens: u64| {
        let alike = agent.life().calls().made;
        agent.call_of(Usdc::micros(10), tokens, Tier::Cheap, alike)
    };
    let left = |agent: &Agent| call::caps(agent.life(), agent.now).map(|cap| cap.left()).collect::<Vec<_>>();
    let first = call(&mut agent, 500).unwrap();
    assert_eq!(left(&agent), [500, 100]);
    assert_eq!(call(&mut agent, 101), Err(Denied::Today(Unit::Tokens)));
    agent.settle(first, Usdc::micros(5), How::Told);
    assert_eq!(left(&agent), [990, 590], "seven in and three out");
    // The tokens of a lost call are unknown, so all of them count; a call that reached no provider counts as nothing.
    for (tokens, how, rest) in [(500, How::Lost, [490, 90]), (90, How::Cut, [400, 0]), (0, How::Nothing, [400, 0])] {
        let key = call(&mut agent, tokens).unwrap();
        agent.settle(key, Usdc::micros(5), how);
        assert_eq!(left(&agent), rest);
    }
    agent.now = agent.now + Span::DAY;
    let open = call(&mut agent, 300).unwrap();
    assert_eq!(call(&mut agent, 101), Err(Denied::Short(Unit::Tokens)));
    killed(&mut agent);
    assert!(agent.life().calls().find(open).is_none());
    assert_eq!(call(&mut agent, 101), Err(Denied::Spent(Unit::Tokens)));
    assert_eq!(
        (Denied::Short(Unit::Tokens).code(), Denied::Spent(Unit::Tokens).code()),
        ("budget_tokens", "budget_tokens")
    );
    assert!(Denied::Spent(Unit::Tokens).is_the_end() && !Denied::Today(Unit::Tokens).is_the_end());
    // What fits still shows that there is some, and that there is none is told again.
    let small = call(&mut agent, 100).unwrap();
    assert_eq!(agent.life().calls().refused, None);
    agent.settle(small, Usdc::ZERO, How::Told);
    assert_eq!(agent.life().calls().units.tokens, 910);
}

#[test]
fn calls_are_counted_whatever_they_cost_and_one_that_reached_nobody_is_none() {
    let mut agent = capped(Caps { calls: Some(4), calls_day: Some(2), ..Caps::default() });
    let call = |agent: &mut Agent| agent.call(Usdc::ZERO, Tier::Cheap);
    let away = call(&mut agent).unwrap();
    agent.settle(away, Usdc::ZERO, How::Nothing);
    let [first, second] = [0, 1].map(|_| call(&mut agent).unwrap());
    assert_eq!(call(&mut agent), Err(Denied::Today(Unit::Calls)));
    agent.now = agent.now + Span::DAY;
    agent.settle(first, Usdc::ZERO, How::Told);
    let third = call(&mut agent).unwrap();
    call(&mut agent).unwrap();
    assert_eq!(call(&mut agent), Err(Denied::Short(Unit::Calls)), "three are under way, and one is over");
    agent.settle(second, Usdc::ZERO, How::Lost);
    agent.settle(third, Usdc::ZERO, How::Told);
    killed(&mut agent);
    assert_eq!(call(&mut agent), Err(Denied::Spent(Unit::Calls)));
    assert_eq!(agent.life().calls().units.calls, 4);
    let left = call::left(agent.life(), agent.now).after(Usdc::ZERO);
    assert_eq!(left, Usdc::ZERO, "there is money, and no call that may use it");
}

/// Hours count since its first call, and since the first of a day: life before that is free.
#[test]
fn hours_are_what_it_has_lived_since_its_first_call() {
    let look = |agent: &mut Agent| {
        agent.now = agent.now + Span::seconds(40);
        agent.feed(What::Observed(Observation::default()));
    };
    let call =
        |agent: &mut Agent| agent.call(Usdc::ZERO, Tier::Cheap).map(|key| agent.settle(key, Usdc::ZERO, How::Told));
    for (caps, denied) in [
        (Caps { time: Some(Span::seconds(100)), ..Caps::default() }, Denied::Spent(Unit::Hours)),
        (Caps { time_day: Some(Span::seconds(100)), ..Caps::default() }, Denied::Today(Unit::Hours)),
    ] {
        let mut agent = capped(caps);
        (0..5).for_each(|_| look(&mut agent));
        assert_eq!(call(&mut agent), Ok(()));
        (0..2).for_each(|_| look(&mut agent));
        assert_eq!(call(&mut agent), Ok(()), "eighty seconds");
        look(&mut agent);
        assert_eq!(call(&mut agent), Err(denied));
        agent.now = agent.now + Span::DAY;
        assert_eq!(call(&mut agent).is_ok(), denied == Denied::Today(Unit::Hours));
    }
}

/// Two per cent of an imputed thousand dollars is not a measure of a loop.
#[test]
fn where_dollars_are_imputed_a_loop_is_measured_by_what_its_tokens_would_cost() {
    for (imputed, stopped_at) in [(true, 3), (false, 8)] {
        let mut agent = Agent::given(Usdc::dollars(1_000), |policy| {
            policy.imputed = imputed;
            policy.caps = Caps { tokens: Some(1_000), ..Caps::default() };
        });
        for again in 0.. {
            match agent.call_like(Usdc::cents(2), Tier::Cheap, 7) {
                Ok(key) => agent.settle(key, Usdc::cents(1), How::Told),
                Err(why) => {
                    assert_eq!((again, why), (stopped_at, Denied::Held(Runaway::Alike)));
                    break;
                }
            }
        }
    }
}

#[test]
fn a_policy_from_before_caps_nothing_beside_money() {
    let mut policy = serde_json::to_value(Agent::given(GIVEN, |_| {}).life().policy()).unwrap();
    for added in ["caps", "imputed"] {
        assert!(policy.as_object_mut().unwrap().remove(added).is_some());
    }
    let policy: golem::constitution::PolicyFigures = serde_json::from_value(policy).unwrap();
    assert!(policy.caps == Caps::default() && !policy.imputed);
}

#[test]
fn what_reached_nobody_may_be_made_again_by_the_same_name() {
    let mut agent = Agent::given(GIVEN, |_| {});
    let named = |agent: &mut Agent| {
        let key = agent.life().calls().made + 1;
        let (most, tokens, tier) = (Usdc::cents(1), USED, Tier::Cheap);
        agent.feed(What::Called(Wanted { key, most, tokens, tier, again: Some(7), alike: key }, None));
        agent.life().calls().find(key).map(|open| open.key)
    };
    let first = named(&mut agent).expect("there is money");
    agent.settle(first, Usdc::ZERO, How::Nothing);
    let second = named(&mut agent).expect("nobody was paid for the first");
    agent.settle(second, Usdc::cents(1), How::Told);
    assert_eq!(named(&mut agent), None, "it is paid for");
}

/// An agent may name whatever it likes, so nothing that is decided may depend on it.
#[test]
fn the_origin_of_a_call_is_on_record_with_its_sum_and_changes_nothing_in_a_life() {
    let said = |session: &str| CallOrigin { session: session.to_owned(), tool: "Read".into(), ..CallOrigin::default() };
    let mut agents = [Agent::given(GIVEN, |_| {}), Agent::given(GIVEN, |_| {})];
    for (agent, origin) in agents.iter_mut().zip([None, Some(said("8d1c-77"))]) {
        for (key, most) in [(1, Usdc::cents(1)), (2, Usdc::dollars(2))] {
            let call = Wanted { key, most, tokens: USED, tier: Tier::Cheap, again: None, alike: key };
            agent.feed(What::Called(call, origin.clone().map(Box::new)));
        }
        agent.settle(1, Usdc::micros(7), How::Told);
    }
    assert_eq!(agents[0].life(), agents[1].life());
    let named = |record: &golem::Record| -> Vec<u64> {
        let key = |event: &golem::Event| match event {
            golem::Event::Call(call::Event::Attributed { key, origin }) => {
                (**origin == said("8d1c-77")).then_some(*key)
            }
            _ => None,
        };
        record.events.iter().filter_map(key).collect()
    };
    let sets_aside = |record: &&golem::Record| {
        record.events.iter().any(|event| matches!(event, golem::Event::Call(call::Event::Reserved { .. })))
    };
    let of = |agent: &Agent| agent.records.iter().flat_map(named).collect::<Vec<_>>();
    assert_eq!((of(&agents[0]), of(&agents[1])), (vec![], vec![1]), "only a call that is let through has one");
    assert_eq!(agents[1].records.iter().find(sets_aside).map(named), Some(vec![1]), "one record has both");
    // Text that is no name never reaches a record.
    for wrong in ["a b", "\u{1b}[2J", "é", &"x".repeat(golem::limits::ORIGIN + 1)] {
        let agent = &mut agents[1];
        let call = Wanted { key: 2, most: Usdc::cents(1), tokens: USED, tier: Tier::Cheap, again: None, alike: 2 };
        let what = What::Called(call, Some(Box::new(said(wrong))));
        let input = golem::Input { now: agent.now, roll: u64::MAX, what };
        assert_eq!(agent.golem.step(&input), Err(golem::Fault::Origin), "{wrong:?}");
    }
}

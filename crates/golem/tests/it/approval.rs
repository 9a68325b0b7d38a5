//! Asking its owner: what is large waits for a yes, silence is a no, and a yes opens no other door.

use crate::common::Rig;
use golem::event::Event;
use golem::owner::{self, Account};
use golem::policy::{self, Proposal, Refusal, Stage, asks, policy_hash};
use golem::world::Quote;
use golem::{Command, Errand, Owed, Span, Usdc, What};

const WITHIN: Span = Span::seconds(400);

/// One that has asked for more than a few dollars and waits.
fn waiting() -> Rig {
    let mut rig = Rig::with(|c| {
        c.reflex.act_every = 3;
        c.policy.approve_above = Some(Usdc::dollars(5));
        c.policy.approve_within = WITHIN;
    });
    rig.ticks(3);
    rig.settle();
    assert_eq!(rig.golem.life().flights()[0].stage, Stage::Waiting);
    rig
}

fn rules(events: &[Event]) -> Vec<Refusal> {
    let rule = |event: &Event| match event {
        Event::Policy(policy::Event::Denied { rule, .. }) | Event::Owner(owner::Event::Declined { rule, .. }) => {
            Some(*rule)
        }
        _ => None,
    };
    events.iter().filter_map(rule).collect()
}

fn say(rig: &mut Rig, yes: bool) -> Vec<Event> {
    let key = asks(rig.golem.life()).expect("something is asked").key;
    rig.command(Command::Approve { key, yes })
}

#[test]
fn what_is_small_enough_is_nobodys_business() {
    let mut rig = Rig::with(|c| {
        c.reflex.act_every = 3;
        c.policy.approve_above = Some(Usdc::dollars(25));
    });
    rig.ticks(3);
    rig.settle();
    assert!(rig.golem.life().capital().holding > 0);
    assert!(
        !rig.records
            .iter()
            .flat_map(|r| &r.events)
            .any(|e| matches!(e, Event::Policy(policy::Event::ApprovalSought { .. })))
    );
}

#[test]
fn while_it_waits_nothing_is_owed_and_life_goes_on() {
    let mut rig = waiting();
    let (tick, claims) = (rig.golem.life().tick(), rig.golem.life().claims_made());
    assert!(rig.golem.owes_nothing());
    rig.ticks(5);
    assert_eq!(rig.golem.life().tick(), tick + 5);
    assert!(rig.golem.life().claims_made() > claims, "it goes on claiming");
    let ask = asks(rig.golem.life()).unwrap();
    assert_eq!(ask.to_string(), "take 2.25 stone for at most $25.00");
    assert_eq!((rig.golem.life().capital().reserved, rig.unaccounted()), (Usdc::dollars(25), Usdc::ZERO));
}

#[test]
fn a_yes_is_previewed_again_and_then_sent_once() {
    let mut rig = waiting();
    rig.ticks(2);
    let events = say(&mut rig, true);
    assert!(
        matches!(
            events[..],
            [Event::Policy(policy::Event::Approved { .. }), Event::Owner(owner::Event::Obeyed { .. })]
        ),
        "{events:?}"
    );
    assert!(
        matches!(rig.golem.owes(), Some(Owed::Errand(Errand::Preview { look: 1, .. }))),
        "looked at as it is by now"
    );
    rig.settle();
    assert_eq!(rig.golem.life().capital().holding, 2_250_000);
    assert_eq!((rig.golem.life().capital().reserved, rig.unaccounted()), (Usdc::ZERO, Usdc::ZERO));
    let granted = rig
        .records
        .iter()
        .flat_map(|r| &r.events)
        .filter(|e| matches!(e, Event::Policy(policy::Event::Granted { .. })));
    assert_eq!(granted.count(), 1);
    assert_eq!(rig.folded(), rig.golem);
}

#[test]
fn what_costs_more_by_the_time_of_the_yes_is_not_sent() {
    let mut rig = waiting();
    say(&mut rig, true);
    let Some(Owed::Errand(Errand::Preview { key, .. })) = rig.golem.owes() else { panic!("nothing to look at") };
    let dear = Quote { cash: -Usdc::dollars(26), ..Quote::default() };
    assert_eq!(rig.feed(What::Previewed { key, look: 0, quote: Some(dear) }).unwrap(), [], "the look before the yes");
    let events = rig.feed(What::Previewed { key, look: 1, quote: Some(dear) }).unwrap();
    assert_eq!(rules(&events), [Refusal::Funds]);
    assert_eq!(rig.golem.life().capital().cash, Usdc::dollars(100));
}

#[test]
fn what_is_too_much_by_the_time_of_the_yes_is_not_sent_either() {
    let mut rig = waiting();
    rig.command(Command::Withdraw { from: Account::Capital, amount: Usdc::dollars(50) });
    say(&mut rig, true);
    rig.settle();
    let rules: Vec<Refusal> = rig.records.iter().flat_map(|record| rules(&record.events)).collect();
    assert_eq!(rules, [Refusal::PerAction]);
    assert_eq!((rig.golem.life().capital().holding, rig.unaccounted()), (0, Usdc::ZERO));
}

#[test]
fn a_no_returns_the_money_and_is_not_followed_by_the_same_question() {
    let mut rig = waiting();
    assert_eq!(rules(&say(&mut rig, false)), [Refusal::Unapproved]);
    assert_eq!(rig.golem.life().capital().cash, Usdc::dollars(100));
    let asked = rig.golem.life().flights_made();
    rig.ticks(49);
    assert_eq!(rig.golem.life().flights_made(), asked, "left alone for a while");
    rig.ticks(6);
    assert_eq!(rig.golem.life().flights_made(), asked + 1, "and asked again later");
}

#[test]
fn silence_is_a_no() {
    let mut rig = waiting();
    let until = asks(rig.golem.life()).unwrap().until;
    assert_eq!(until, rig.golem.life().now() + WITHIN);
    while rig.golem.life().due() <= until {
        assert_eq!(rules(&rig.tick()), [], "it may be answered until then");
    }
    assert_eq!(rules(&rig.tick()), [Refusal::Unanswered]);
    assert_eq!((rig.golem.life().capital().cash, rig.golem.owes()), (Usdc::dollars(100), None));
}

#[test]
fn a_yes_names_what_it_is_for_and_counts_once() {
    let mut rig = waiting();
    let key = asks(rig.golem.life()).unwrap().key;
    for other in [0, key + 1, u64::MAX] {
        assert_eq!(rules(&rig.command(Command::Approve { key: other, yes: true })), [Refusal::Stale]);
    }
    say(&mut rig, true);
    assert_eq!(rules(&rig.command(Command::Approve { key, yes: true })), [Refusal::Stale], "it has its yes");
    rig.settle();
    for yes in [true, false] {
        assert_eq!(rules(&rig.command(Command::Approve { key, yes })), [Refusal::Stale], "it is done");
    }
}

#[test]
fn whatever_closes_meanwhile_stays_closed_after_a_yes() {
    for (command, rule) in
        [(Command::Freeze { reason: String::new() }, Refusal::Frozen), (Command::Pause, Refusal::Paused)]
    {
        let mut rig = waiting();
        rig.command(command);
        assert_eq!(rules(&say(&mut rig, true)), [rule]);
        rig.command(Command::Resume);
        assert_eq!(rules(&say(&mut rig, true)), [Refusal::Stale], "it was asked under other circumstances");
        assert_eq!(rules(&rig.tick()), [Refusal::Stale]);
        assert_eq!(rig.golem.life().capital().cash, Usdc::dollars(100));
    }
    let mut rig = waiting();
    let (mut policy, instead_of) =
        (Box::new(rig.golem.life().policy().clone()), policy_hash(rig.golem.life().policy()));
    policy.per_action_bps = 1;
    rig.command(Command::Amend { policy, instead_of });
    assert_eq!(rules(&say(&mut rig, true)), [Refusal::Stale], "it was asked under another policy");
    // Between a yes and its preview, too.
    let mut rig = waiting();
    say(&mut rig, true);
    rig.command(Command::Freeze { reason: String::new() });
    rig.settle();
    assert_eq!((rig.golem.life().capital().holding, rig.golem.life().capital().cash), (0, Usdc::dollars(100)));
}

#[test]
fn giving_up_and_dying_wait_for_nobody() {
    // Holding something, and asking for more.
    let mut rig = Rig::with(|c| c.policy.approve_above = Some(Usdc::dollars(5)));
    rig.tick();
    let propose = |rig: &mut Rig, action, size| {
        rig.feed(What::Proposed(Proposal { action, size })).unwrap();
        rig.settle();
    };
    propose(&mut rig, 0, 0.04);
    let held = rig.golem.life().capital().holding;
    assert!(held > 0, "as much as that it may take unasked");
    propose(&mut rig, 0, 0.2);
    assert!(asks(rig.golem.life()).is_some());
    let mut dying = Rig::with(|_| {});
    dying.golem = rig.golem.clone();
    propose(&mut rig, 1, 1.0);
    assert_eq!((rig.golem.life().capital().holding, asks(rig.golem.life())), (0, None));
    assert_eq!(rig.unaccounted(), Usdc::ZERO);

    dying.command(Command::Retire { reason: String::new() });
    dying.settle();
    assert!(dying.golem.owes_nothing() && dying.golem.life().capital().holding == 0);
    assert_eq!((asks(dying.golem.life()), dying.unaccounted()), (None, Usdc::ZERO));
}

//! Answers that come late, twice, after a kill, after a death, after a freeze, or for an epoch that is over: every errand
//! against every such case. Money is settled once whatever happens; behaviour only by an answer that is still fresh.

use crate::common::{Rig, SAFE};
use golem::books::Books;
use golem::clade::{self, News};
use golem::constitution::PolicyFigures;
use golem::event::Event;
use golem::mortality;
use golem::mortality::phase::Tier;
use golem::policy::{self, Stage, policy_hash};
use golem::thought::{self, Answer, Opinion, Purpose, Question};
use golem::world::{Fate, Observation, Outcome, Quote};
use golem::{Again, Command, Errand, Golem, Owed, Span, Usdc, What};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Sent {
    /// The first look at what an action would do.
    Preview,
    /// The look after its owner's yes.
    SecondPreview,
    /// It is done.
    Commit,
    /// It is refused for good.
    Refused,
    /// It is done after having been on its way for a while.
    Pending,
    /// A permit that ran out is asked about.
    Reconcile,
    Tell,
    /// A question to a model.
    Ask,
}

const ERRANDS: [Sent; 8] = [
    Sent::Preview,
    Sent::SecondPreview,
    Sent::Commit,
    Sent::Refused,
    Sent::Pending,
    Sent::Reconcile,
    Sent::Tell,
    Sent::Ask,
];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Case {
    InTime,
    Late,
    Twice,
    AfterAKill,
    AfterADeath,
    AfterAFreeze,
    AnotherEpoch,
}

const CASES: [Case; 7] = [
    Case::InTime,
    Case::Late,
    Case::Twice,
    Case::AfterAKill,
    Case::AfterADeath,
    Case::AfterAFreeze,
    Case::AnotherEpoch,
];

const GAS: Usdc = Usdc::cents(3);
/// Set aside for a question, and what it costs.
const MOST: Usdc = Usdc::cents(2);
const COST: Usdc = Usdc::micros(7);

fn quoted(rig: &Rig) -> Quote {
    let units = rig.golem.life().flights()[0].units;
    Quote { cash: Usdc::micros(-units * 10), fee: Usdc::cents(1), gas: GAS }
}

fn done(rig: &Rig) -> Outcome {
    let (Quote { cash, fee, gas }, units) = (quoted(rig), rig.golem.life().flights()[0].units);
    Outcome { units, cash, fee, gas }
}

/// A golem that is about to send this errand, and the answer it will get.
fn sends(sent: Sent) -> (Rig, What) {
    let mut rig = Rig::with(|c| {
        c.reflex.act_every = 3;
        c.economic.per_action = Usdc::cents(1);
        c.policy.approve_above = (sent == Sent::SecondPreview).then_some(Usdc::ZERO);
        // It asks nothing by itself.
        c.thought.models[0] = (sent == Sent::Ask).then(|| "some/model".to_owned());
        c.thought.a_day = Usdc::ZERO;
    });
    if sent == Sent::Tell {
        let word = Event::Clade(clade::Event::CalledOut {
            number: 1,
            news: News::Crisis { load: 0.95, pressed_by: [None; 3] },
        });
        rig.take(word);
        return (rig, What::Told { number: 1, peers: 2 });
    }
    if sent == Sent::Ask {
        rig.ticks(1);
        let now = rig.golem.life().now();
        let question = Question {
            key: 1,
            purpose: Purpose::Orient,
            tier: Tier::Cheap,
            most: MOST,
            asked: now,
            deadline: now + Span::seconds(160),
            epoch: rig.golem.life().heartbeat().epoch,
            month: 0,
            why: 0,
            seen: Default::default(),
            values: Default::default(),
            night: 0,
            owner: None,
        };
        rig.take(Event::Thought(thought::Event::Asked(Box::new(question))));
        let claims = [Opinion { domain: 0, effect: 1.1 }].into_iter().collect();
        let said = Ok(Box::new(Answer { claims, ..Answer::default() }));
        return (rig, What::Answered { key: 1, cost: COST, said });
    }
    rig.ticks(3);
    let key = rig.golem.life().flights()[0].key;
    let quote = Some(quoted(&rig));
    let preview = |look| What::Previewed { key, look, quote };
    if sent == Sent::Preview {
        return (rig, preview(0));
    }
    rig.feed(preview(0)).unwrap();
    if sent == Sent::SecondPreview {
        rig.command(Command::Approve { key, yes: true });
        return (rig, preview(1));
    }
    let landed = |fate| What::Landed { key, fate };
    match sent {
        Sent::Pending => {
            rig.feed(landed(Fate::Pending)).unwrap();
            assert_eq!(rig.golem.life().flights()[0].stage, Stage::Sent);
        }
        Sent::Reconcile => {
            let stricter = PolicyFigures { stop_bps: 77, ..(*rig.golem.life().policy()).clone() };
            amend(&mut rig, stricter);
            assert!(matches!(rig.golem.owes(), Some(Owed::Errand(Errand::Reconcile { .. }))));
        }
        _ => {}
    }
    let fate = if sent == Sent::Refused { Fate::Never } else { Fate::Done(done(&rig)) };
    (rig, landed(fate))
}

fn amend(rig: &mut Rig, policy: PolicyFigures) {
    let instead_of = policy_hash(rig.golem.life().policy());
    rig.command(Command::Amend { policy: Box::new(policy), instead_of });
}

/// What happens before the answer comes.
fn meanwhile(rig: &mut Rig, case: Case) {
    match case {
        Case::InTime | Case::Twice => {}
        Case::Late => rig.ticks(12),
        Case::AfterAKill => rig.golem = rig.folded(),
        Case::AfterADeath => drop(rig.command(Command::Retire { reason: String::new() })),
        Case::AfterAFreeze => drop(rig.command(Command::Freeze { reason: String::new() })),
        Case::AnotherEpoch => {
            let other = PolicyFigures { stop_bps: 78, ..(*rig.golem.life().policy()).clone() };
            amend(rig, other);
        }
    }
}

/// Everything set aside belongs to something that is under way, and nothing was made or lost.
fn check_money(golem: &Golem, what: &str) {
    let life = golem.life();
    assert!(Books::of(life).adds_up(), "{what}");
    assert_eq!(life.capital().reserved, life.flights().iter().map(|f| f.reserved).sum(), "{what}: set aside");
    let gas: Usdc = life.flights().iter().map(|f| f.gas).sum();
    assert_eq!(life.purse().promised, gas + life.thoughts().promised(), "{what}: promised");
}

fn count(events: &[Event], is: impl Fn(&Event) -> bool) -> usize {
    events.iter().filter(|event| is(event)).count()
}

#[test]
fn every_answer_settles_its_money_once_and_only_a_fresh_one_settles_behaviour() {
    for sent in ERRANDS {
        for case in CASES {
            let what = format!("{sent:?} {case:?}");
            let (mut rig, answer) = sends(sent);
            let before = rig.golem.life().capital().clone();
            let spent = rig.golem.life().purse().gas;
            meanwhile(&mut rig, case);
            check_money(&rig.golem, &what);
            let events = rig.feed(answer.clone()).unwrap();
            check_money(&rig.golem, &what);
            let again = rig.feed(answer).unwrap();
            let is_landed = |e: &Event| {
                matches!(
                    e,
                    Event::Policy(policy::Event::Settled { .. }) | Event::Policy(policy::Event::Abandoned { .. })
                )
            };
            assert_eq!(
                count(&again, |e| is_landed(e) || matches!(e, Event::Policy(policy::Event::Granted { .. }))),
                0,
                "{what}: twice"
            );
            check_money(&rig.golem, &what);
            let (granted, landed) = (
                count(&events, |e| matches!(e, Event::Policy(policy::Event::Granted { .. }))),
                count(&events, is_landed),
            );
            let life = rig.golem.life();
            match sent {
                Sent::Preview | Sent::SecondPreview => {
                    let fresh = matches!(case, Case::InTime | Case::Twice | Case::AfterAKill);
                    assert_eq!(granted, usize::from(fresh), "{what}: behaviour only by a fresh answer; {events:?}");
                }
                Sent::Commit | Sent::Pending | Sent::Reconcile => {
                    assert_eq!(landed, 1, "{what}: {events:?}");
                    let bought = before.holding + 2_250_000;
                    assert_eq!(life.capital().holding + given_up(&rig), bought, "{what}");
                    assert_eq!(life.purse().gas - spent, GAS + Usdc::cents(1), "{what}: what sending it cost");
                }
                Sent::Refused => {
                    assert_eq!((landed, life.capital().holding), (1, 0), "{what}: {events:?}");
                    assert_eq!(life.purse().gas, spent, "{what}");
                }
                Sent::Ask => {
                    let lost = matches!(case, Case::Late | Case::AfterADeath);
                    assert_eq!(life.thoughts().spent, if lost { MOST } else { COST }, "{what}: {events:?}");
                    assert_eq!(life.thoughts().promised(), Usdc::ZERO, "{what}");
                    let fresh = matches!(case, Case::InTime | Case::Twice | Case::AfterAKill);
                    let thinks = life.thoughts().opinions.iter().any(Option::is_some);
                    assert_eq!(thinks, fresh, "{what}: behaviour only by a fresh answer; {events:?}");
                }
                Sent::Tell => {
                    assert_eq!(!life.clade().untold.is_empty(), case == Case::AfterADeath, "{what}: {events:?}")
                }
            }
            assert_eq!(rig.folded(), rig.golem, "{what}: the record is the life");
        }
    }
}

/// What is on its way out again, because its golem is dead.
fn given_up(rig: &Rig) -> i64 {
    assert!(rig.golem.life().flights().iter().all(|flight| flight.closing && flight.is_unsent()));
    0
}

#[test]
fn an_errand_says_what_a_crash_means_for_it() {
    for sent in ERRANDS {
        let (rig, _) = sends(sent);
        let errand = |golem: &Golem| match golem.owes() {
            Some(Owed::Errand(errand)) => errand,
            other => panic!("{sent:?}: {other:?}"),
        };
        let (now, then) = (errand(&rig.golem), errand(&rig.folded()));
        match now.after_a_crash() {
            Again::Send => assert_eq!(then, now, "{sent:?}"),
            Again::AskFirst => {
                let Errand::Commit { key, .. } = now else { panic!("{now:?}") };
                assert_eq!(then, Errand::Reconcile { key }, "{sent:?}");
            }
            Again::Forfeit => {
                let Errand::Ask { key } = now else { panic!("{now:?}") };
                assert_eq!(then, Errand::Forfeit { key }, "{sent:?}");
            }
        }
    }
}

#[test]
fn what_is_on_its_way_is_asked_about_at_every_look_and_holds_up_nothing() {
    let (mut rig, landed) = sends(Sent::Pending);
    let (tick, claims) = (rig.golem.life().tick(), rig.golem.life().claims_made());
    for _ in 0..20 {
        rig.tick();
        assert!(matches!(rig.golem.owes(), Some(Owed::Errand(Errand::Reconcile { .. }))));
        let What::Landed { key, .. } = landed else { unreachable!("it was sent") };
        assert_eq!(rig.feed(What::Landed { key, fate: Fate::Pending }).unwrap(), [], "nothing new");
    }
    assert_eq!(rig.golem.life().tick(), tick + 20);
    assert!(rig.golem.life().claims_made() > claims, "it goes on claiming");
    assert_eq!(rig.golem.life().flights().len(), 1, "and takes on nothing else meanwhile");
    rig.feed(landed).unwrap();
    assert!(rig.golem.life().flights().is_empty() && rig.golem.life().capital().holding > 0);
}

#[test]
fn no_world_can_do_more_than_it_was_ordered_to() {
    let (mut rig, landed) = sends(Sent::Commit);
    let What::Landed { key, fate: Fate::Done(fair) } = landed else { unreachable!("it was done") };
    let micro = Usdc::micros(1);
    let most = rig.golem.life().flights()[0].reserved;
    for (lie, outcome) in [
        ("more units", Outcome { units: fair.units + 1, ..fair }),
        ("fewer than none", Outcome { units: -1, ..fair }),
        ("a larger bill", Outcome { cash: fair.fee - most - micro, ..fair }),
        ("a fee that pays", Outcome { fee: -micro, ..fair }),
        ("more gas", Outcome { gas: GAS + micro, ..fair }),
        ("gas that pays", Outcome { gas: -micro, ..fair }),
    ] {
        let before = rig.golem.life().clone();
        assert!(rig.feed(What::Landed { key, fate: Fate::Done(outcome) }).is_err(), "{lie}");
        assert_eq!(*rig.golem.life(), before, "{lie}");
    }
    rig.feed(What::Landed { key, fate: Fate::Done(fair) }).unwrap();
}

#[test]
fn a_sale_has_a_floor_and_an_order_an_end() {
    let (mut rig, landed) = sends(Sent::Commit);
    rig.feed(landed).unwrap();
    rig.command(Command::Freeze { reason: String::new() });
    let proposal = golem::policy::Proposal { action: 1, size: 1.0 };
    rig.feed(What::Proposed(proposal)).unwrap();
    let flight = rig.golem.life().flights()[0].clone();
    let quote = Quote { cash: Usdc::dollars(20), fee: Usdc::ZERO, gas: Usdc::ZERO };
    rig.feed(What::Previewed { key: flight.key, look: 0, quote: Some(quote) }).unwrap();
    let Some(Owed::Errand(Errand::Commit { key, order })) = rig.golem.owes() else { panic!("a sale is owed") };
    assert_eq!(order.least, Usdc::dollars(18), "a tenth less than previewed is the least");
    assert_eq!(order.until, rig.golem.life().permits()[0].expires);
    let sold = |cash| Fate::Done(Outcome { units: -order.units, cash, ..Outcome::default() });
    assert!(rig.feed(What::Landed { key, fate: sold(Usdc::dollars(17)) }).is_err());
    rig.feed(What::Landed { key, fate: sold(Usdc::dollars(18)) }).unwrap();
    assert_eq!((rig.golem.life().capital().holding, rig.unaccounted()), (0, Usdc::ZERO));
}

#[test]
fn a_world_whose_gas_is_beyond_the_budget_is_not_sent_anything() {
    let mut rig = Rig::with(|c| c.reflex.act_every = 3);
    rig.ticks(3);
    let (key, quote) = (rig.golem.life().flights()[0].key, Quote { gas: Usdc::dollars(9), ..quoted(&rig) });
    let events = rig.feed(What::Previewed { key, look: 0, quote: Some(quote) }).unwrap();
    assert!(
        events
            .iter()
            .any(|e| matches!(e, Event::Policy(policy::Event::Denied { rule: golem::policy::Refusal::Gas, .. }))),
        "{events:?}"
    );
    assert_eq!((rig.golem.life().purse().promised, SAFE), (Usdc::ZERO, u64::MAX));
}

/// In a world of real time a tick does not wait for what there is to see.
#[test]
fn a_tick_comes_with_nothing_to_see_and_what_was_missed_is_seen_later() {
    let mut rig = Rig::with(|_| {});
    rig.ticks(5);
    let (tick, first) = (rig.golem.life().tick(), rig.golem.life().due());
    let events = rig.feed_at(first, SAFE, What::Observed(Observation::default())).unwrap();
    assert_eq!(rig.golem.life().tick(), tick + 1);
    assert!(
        events.iter().any(|e| matches!(e, Event::Mortality(mortality::Event::Rolled { .. }))),
        "mortality runs: {events:?}"
    );
    let second = rig.golem.life().due();
    let bars = vec![rig.bar(first), rig.bar(second)];
    rig.feed_at(second, SAFE, What::Observed(Observation { bars })).unwrap();
    assert_eq!((rig.golem.life().tick(), rig.golem.life().seen().until), (tick + 2, second), "none is skipped");
    assert_eq!(rig.folded(), rig.golem);
}

#[test]
fn a_letter_of_a_peer_counts_once_however_many_others_have_written_since() {
    let mut rig = Rig::with(|_| {});
    let from = |n: u8| golem::GolemId([n; 16]);
    let letter = |n: u8, number| What::Heard { from: from(n), number, news: News::Death, stain: None };
    for peer in 0..60 {
        assert_eq!(rig.feed(letter(peer, 3)).unwrap().len(), 1, "{peer}");
    }
    for peer in 0..60 {
        for number in [1, 2, 3] {
            assert_eq!(rig.feed(letter(peer, number)).unwrap(), [], "{peer} said {number} before");
        }
        assert_eq!(rig.feed(letter(peer, 4)).unwrap().len(), 1, "{peer} has something new to say");
    }
}

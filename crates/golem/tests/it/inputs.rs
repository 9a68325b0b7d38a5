//! What reaches a golem from outside: in any order, twice, too late or wrong, it never bends the life.

use crate::common::{Rig, SAFE, START};
use golem::books::Books;
use golem::event::Event;
use golem::owner::{self, Account};
use golem::policy::{self, Refusal, Stage};
use golem::prediction;
use golem::world::{Fate, Observation, Outcome, Quote};
use golem::{Command, CommandId, Errand, Fault, Owed, Span, Usdc, What};
use proptest::prelude::*;

fn quote(rig: &Rig) -> (u64, Quote) {
    let Some(Owed::Errand(Errand::Preview { key, order, .. })) = rig.golem.owes() else { panic!("nothing asked") };
    (key, Quote { cash: Usdc::micros(-order.units * 10), fee: Usdc::cents(1), gas: Usdc::ZERO })
}

/// A rig with one flight asked for.
fn asking() -> Rig {
    let mut rig = Rig::with(|c| c.reflex.act_every = 3);
    rig.ticks(3);
    assert_eq!(rig.golem.life().flights()[0].stage, Stage::Asked);
    rig
}

#[test]
fn a_command_delivered_twice_is_obeyed_once() {
    let mut rig = Rig::with(|_| {});
    let command = What::Commanded {
        id: CommandId([9; 8]),
        command: Command::Withdraw { from: Account::Credit, amount: Usdc::dollars(1) },
    };
    rig.feed(command.clone()).unwrap();
    assert_eq!(rig.feed(command).unwrap(), vec![]);
    assert_eq!(rig.golem.life().purse().withdrawn, Usdc::dollars(1));
}

#[test]
fn transfers_count_once_and_in_order() {
    let mut rig = Rig::with(|_| {});
    let sent = |transfer| What::Funded { transfer, credit: Usdc::dollars(1), capital: Usdc::ZERO };
    assert_eq!(rig.feed(sent(1)).unwrap(), vec![], "taken at birth already");
    assert_eq!(rig.feed(sent(3)), Err(Fault::Transfer { expected: 2, got: 3 }));
    rig.feed(sent(2)).unwrap();
    assert_eq!(rig.golem.life().purse().credit, Usdc::dollars(11));
    assert_eq!(rig.golem.life().purse().funding, Usdc::dollars(11), "more than it ever had raises the yardstick");
}

#[test]
fn a_top_up_below_the_old_funding_does_not_move_the_yardstick() {
    let mut rig = Rig::with(|c| c.economic.machine_per_day = Usdc::dollars(100));
    rig.ticks(100);
    rig.feed(What::Funded { transfer: 2, credit: Usdc::cents(50), capital: Usdc::ZERO }).unwrap();
    assert_eq!(rig.golem.life().purse().funding, Usdc::dollars(10));
}

#[test]
fn withdrawals_respect_the_reserve_and_say_why_not() {
    let mut rig = Rig::with(|_| {});
    let mut refused = |from, amount| {
        let events = rig.command(Command::Withdraw { from, amount });
        events
            .iter()
            .find_map(|e| if let Event::Owner(owner::Event::Declined { rule, .. }) = e { Some(*rule) } else { None })
    };
    assert_eq!(refused(Account::Credit, Usdc::dollars(11)), Some(Refusal::Short));
    assert_eq!(refused(Account::Credit, Usdc::micros(9_700_001)), Some(Refusal::Reserve));
    assert_eq!(refused(Account::Credit, Usdc::micros(-5)), Some(Refusal::Bounds));
    assert_eq!(refused(Account::Capital, Usdc::dollars(101)), Some(Refusal::Short));
    assert_eq!(refused(Account::Credit, Usdc::micros(9_700_000)), None);
    assert_eq!(refused(Account::Capital, Usdc::dollars(100)), None);
}

#[test]
fn claims_resolve_at_their_own_bar_however_late_it_is_told() {
    let mut rig = Rig::with(|_| {});
    rig.ticks(3);
    let due = rig.golem.life().claims()[0].due;
    let bars: Vec<_> = (0..5).map(|i| rig.bar(due + Span::seconds(40 * i))).collect();
    let truth = bars[0].values[0];
    let now = bars[4].closed;
    let events = rig.feed_at(now, SAFE, What::Observed(Observation { bars })).unwrap();
    assert!(
        events
            .iter()
            .any(|e| matches!(e, Event::Prediction(prediction::Event::Resolved { actual, .. }) if *actual == truth))
    );
}

#[test]
fn a_claim_whose_bar_never_was_lapses_without_a_score() {
    let mut rig = Rig::with(|_| {});
    rig.ticks(3);
    let resolved = rig.golem.life().epistemic().domains[0].resolved;
    let later = rig.golem.life().due() + Span::seconds(40);
    let bar = rig.bar(later);
    let events = rig.feed_at(later, SAFE, What::Observed(Observation { bars: vec![bar] })).unwrap();
    assert!(events.iter().any(|e| matches!(e, Event::Prediction(prediction::Event::Lapsed { .. }))));
    assert_eq!(rig.golem.life().epistemic().domains[0].resolved, resolved);
}

#[test]
fn a_world_that_breaks_its_word_changes_nothing() {
    let mut rig = Rig::with(|_| {});
    rig.ticks(5);
    let before = rig.golem.clone();
    let due = before.life().due();
    let good = rig.bar(due);
    let mut cases = vec![vec![rig.bar(due + Span::seconds(1))], vec![rig.bar(START)], vec![good.clone(), good.clone()]];
    let mut nan = good.clone();
    nan.values[0] = f64::NAN;
    let mut short = good.clone();
    short.values.pop();
    let mut rich = good;
    rich.unit = Usdc::micros(i64::MAX);
    cases.extend([vec![nan], vec![short], vec![rich]]);
    for bars in cases {
        let fault = rig.feed_at(due, SAFE, What::Observed(Observation { bars: bars.clone() }));
        assert!(matches!(fault, Err(Fault::World { .. })), "{bars:?}");
        assert_eq!(rig.golem, before);
    }
    assert!(matches!(rig.feed_at(START, SAFE, What::Deposited { deposit: 1 }), Err(Fault::Backwards { .. })));
    assert_eq!(rig.golem, before);
}

#[test]
fn a_freeze_between_asking_and_answering_stops_the_action() {
    let mut rig = asking();
    let (key, quote) = quote(&rig);
    rig.command(Command::Freeze { reason: String::new() });
    let events = rig.feed(What::Previewed { key, look: 0, quote: Some(quote) }).unwrap();
    assert!(
        matches!(events[0], Event::Policy(policy::Event::Denied { key: denied, rule: Refusal::Frozen, .. }) if denied == key)
    );
    assert_eq!(rig.golem.life().capital().reserved, Usdc::ZERO);
    for _ in 0..50 {
        rig.tick();
        rig.settle();
    }
    assert_eq!(rig.golem.life().capital().holding, 0, "frozen: no new exposure");
}

#[test]
fn a_permit_from_before_a_freeze_is_never_sent_only_asked_after() {
    let mut rig = asking();
    let (key, quote) = quote(&rig);
    rig.feed(What::Previewed { key, look: 0, quote: Some(quote) }).unwrap();
    assert!(matches!(rig.golem.owes(), Some(Owed::Errand(Errand::Commit { .. }))));
    rig.command(Command::Freeze { reason: String::new() });
    assert_eq!(rig.golem.owes(), Some(Owed::Errand(Errand::Reconcile { key })));
    // It had been sent all the same: the money is settled.
    let outcome = Outcome { units: 1_000_000, cash: -Usdc::dollars(10), fee: Usdc::cents(1), gas: Usdc::ZERO };
    assert!(rig.golem.life().flights()[0].units > 1_000_000);
    rig.feed(What::Landed { key, fate: Fate::Done(outcome) }).unwrap();
    assert_eq!(rig.golem.life().capital().holding, 1_000_000);
    assert_eq!(rig.unaccounted(), Usdc::ZERO);
}

#[test]
fn an_answer_told_twice_settles_once() {
    let mut rig = asking();
    let (key, quote) = quote(&rig);
    rig.feed(What::Previewed { key, look: 0, quote: Some(quote) }).unwrap();
    let landed = What::Landed {
        key,
        fate: Fate::Done(Outcome { units: 5, cash: -Usdc::micros(50), fee: Usdc::micros(1), gas: Usdc::ZERO }),
    };
    rig.feed(landed.clone()).unwrap();
    assert_eq!(rig.feed(landed).unwrap(), vec![]);
    assert_eq!(rig.golem.life().capital().holding, 5);
}

#[test]
fn a_preview_that_never_comes_back_is_given_up_while_the_ticks_go_on() {
    let mut rig = asking();
    let key = rig.golem.life().flights()[0].key;
    let tick = rig.golem.life().tick();
    rig.ticks(6);
    assert_eq!(rig.golem.life().tick(), tick + 6, "mortality does not wait for answers");
    assert!(rig.golem.life().flights().iter().all(|f| f.key > key), "it has moved on");
    let capital = &rig.golem.life().capital();
    assert_eq!(capital.cash + capital.reserved, Usdc::dollars(100));
}

#[test]
fn what_is_more_than_was_reserved_is_not_permitted() {
    let mut rig = asking();
    let (key, mut quote) = quote(&rig);
    quote.fee = Usdc::dollars(50);
    rig.feed(What::Previewed { key, look: 0, quote: Some(quote) }).unwrap();
    assert!(rig.golem.life().flights().is_empty());
}

#[test]
fn a_refusal_is_remembered_as_one() {
    let mut rig = Rig::with(|_| {});
    let order = What::Commanded {
        id: CommandId([4; 8]),
        command: Command::Withdraw { from: Account::Credit, amount: Usdc::dollars(99) },
    };
    rig.feed(order.clone()).unwrap();
    rig.feed(order).unwrap();
    assert_eq!(rig.golem.life().commands().last(), Some(&(CommandId([4; 8]), Some(Refusal::Short))));
}

#[test]
fn a_world_that_takes_more_than_it_was_given_is_not_believed() {
    let mut rig = asking();
    let (key, quote) = quote(&rig);
    rig.feed(What::Previewed { key, look: 0, quote: Some(quote) }).unwrap();
    let before = rig.golem.clone();
    let units = before.life().flights()[0].units;
    let fair = Outcome { units, cash: -Usdc::dollars(20), fee: Usdc::cents(1), gas: Usdc::ZERO };
    let unfair = [
        Outcome { units: units + 1, ..fair },
        Outcome { units: -1, ..fair },
        Outcome { cash: -Usdc::dollars(26), ..fair },
        Outcome { cash: Usdc::dollars(1), ..fair },
        Outcome { fee: -Usdc::cents(1), ..fair },
        Outcome { fee: Usdc::micros(i64::MAX), ..fair },
    ];
    for outcome in unfair {
        assert!(rig.feed(What::Landed { key, fate: Fate::Done(outcome) }).is_err(), "{outcome:?}");
        assert_eq!(rig.golem, before);
    }
    rig.feed(What::Landed { key, fate: Fate::Done(fair) }).unwrap();
}

#[test]
fn giving_and_taking_money_is_neither_gain_nor_loss() {
    let mut rig = Rig::with(|_| {});
    rig.ticks(2);
    rig.command(Command::Withdraw { from: Account::Capital, amount: Usdc::dollars(80) });
    rig.ticks(5);
    assert!(!rig.golem.life().is_dead(), "a withdrawal does not trip the breaker");
    assert_eq!(rig.golem.life().capital().peak, Usdc::dollars(20));
    rig.feed(What::Funded { transfer: 2, credit: Usdc::ZERO, capital: Usdc::dollars(30) }).unwrap();
    assert_eq!(rig.golem.life().capital().peak, Usdc::dollars(50));
}

#[derive(Clone, Debug)]
enum Move {
    Tick(u64),
    Gap(u8),
    Command(u8, u32),
    Fund(u32, u32),
    Answer(bool),
    Again(u8),
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let one = prop_oneof![
        6 => any::<u64>().prop_map(Move::Tick),
        1 => any::<u8>().prop_map(Move::Gap),
        2 => (any::<u8>(), any::<u32>()).prop_map(|(k, n)| Move::Command(k, n)),
        1 => (any::<u32>(), any::<u32>()).prop_map(|(a, b)| Move::Fund(a, b)),
        3 => any::<bool>().prop_map(Move::Answer),
        1 => any::<u8>().prop_map(Move::Again),
    ];
    proptest::collection::vec(one, 1..120)
}

fn play(rig: &mut Rig, step: &Move, history: &mut Vec<What>) {
    let what = match step {
        Move::Tick(roll) => {
            rig.tick_rolling(*roll);
            return;
        }
        Move::Gap(n) => {
            let life = rig.golem.life();
            let later = life.due().max(life.seen().until) + Span::seconds(40 * (1 + u64::from(*n)));
            let bar = rig.bar(later);
            rig.feed_at(later, SAFE, What::Observed(Observation { bars: vec![bar] })).unwrap();
            return;
        }
        Move::Command(kind, n) => {
            let amount = Usdc::micros(i64::from(*n));
            let command = match kind % 10 {
                0 => Command::Pause,
                1 | 2 => Command::Resume,
                3 => Command::Freeze { reason: "x".into() },
                4 => Command::Withdraw { from: Account::Credit, amount },
                5 => Command::Withdraw { from: Account::Capital, amount },
                6 => Command::Dream,
                7 if n % 7 == 0 => Command::Retire { reason: "r\u{7}\n".into() },
                8 if n % 11 == 0 => Command::Halt { trigger: "t".into() },
                _ => Command::Resume,
            };
            What::Commanded { id: CommandId(u64::from(*n).to_le_bytes()), command }
        }
        Move::Fund(a, b) => What::Funded {
            transfer: rig.golem.life().transfers_taken() + 1,
            credit: Usdc::micros(i64::from(*a)),
            capital: Usdc::micros(i64::from(*b)),
        },
        Move::Answer(kindly) => {
            if *kindly {
                rig.settle();
                return;
            }
            let Some(owed) = rig.golem.owed().last() else { return };
            owed.answered(rig.golem.life(), |_| None, |_| Fate::Never)
        }
        Move::Again(n) => match history.get(usize::from(*n) % history.len().max(1)) {
            Some(what) => what.clone(),
            None => return,
        },
    };
    let _ = rig.feed(what.clone());
    history.push(what);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 400 } else { 4_000 }))]

    /// Whatever happens in whatever order: money adds up, accounts are never negative, folding the record
    /// gives the same life, and the dead stay dead.
    #[test]
    fn no_sequence_of_inputs_bends_a_life(
        steps in moves(), act in 0_u32..5, machine in 0_i64..200_000_000, harvest in 0_u32..10_000,
    ) {
        let mut rig = Rig::with(|c| {
            c.reflex.act_every = act;
            c.economic.machine_per_day = Usdc::micros(machine);
            c.economic.harvest_bps = harvest;
        });
        let (mut history, mut died) = (Vec::new(), None);
        for step in &steps {
            play(&mut rig, step, &mut history);
            let life = rig.golem.life();
            prop_assert_eq!(rig.unaccounted(), Usdc::ZERO);
            let books = Books::of(life);
            prop_assert!(books.adds_up(), "{:?}", books);
            let (made, gone) = (books.earned + books.unrealised, books.fees + books.spent + books.gas);
            prop_assert_eq!(books.net, made - gone, "net is what was made less what it cost");
            for account in [life.purse().credit, life.capital().cash, life.capital().reserved, life.capital().cost] {
                prop_assert!(account >= Usdc::ZERO);
            }
            if let Some(death) = &life.death() {
                let tick = *died.get_or_insert(death.tick);
                prop_assert_eq!(tick, life.tick(), "no tick after death");
            }
        }
        prop_assert_eq!(rig.folded(), rig.golem);
    }
}

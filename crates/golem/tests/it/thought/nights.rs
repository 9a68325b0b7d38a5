//! Nights that ask models: within their budgets, one question at a time, and waited for no longer than they are worth.

use std::collections::BTreeMap;

use golem::constitution::{DreamTier, ThoughtFigures};
use golem::dream::{self, Origin, SleepStage, Trigger};
use golem::event::Event;
use golem::mortality::phase::Tier;
use golem::rule::Provenance;
use golem::thought::{self, Answer, Fear, Held, Purpose, Silence, prompt};
use golem::{Command, CommandId, Errand, Usdc, What};
use serde_json::json;

use super::lived::Lived;
use crate::common::{Dice, changed};

/// An answer to a question of this purpose that says something.
fn says(purpose: Purpose, dice: &mut Dice) -> Result<Box<Answer>, Silence> {
    let than = dice.below(90) as f64 / 100.0;
    let rules = vec![format!("when other > {than} expect level x0.99 over 12")];
    let note = "a note".to_owned();
    Ok(Box::new(match purpose {
        Purpose::Fragment | Purpose::Reflect | Purpose::Answer => Answer { note, ..Answer::default() },
        Purpose::Imagine => {
            let omen = golem::rule::text::parse_condition("other > 0.5", &Lived::new(1, |_| {}).life().birth().world);
            let fear = Some(Fear { omen: omen.unwrap(), fall_bps: 3_000 });
            Answer { rules, fear, note, ..Answer::default() }
        }
        _ => Answer { rules, note, ..Answer::default() },
    }))
}

#[test]
fn never_a_micro_over_what_a_night_or_its_month_may_cost() {
    let full = std::env::var_os("BARDO_FULL").is_some();
    let (mut asked, mut kept, mut nights, mut killed) = (BTreeMap::new(), BTreeMap::new(), 0, 0);
    for seed in 0..if full { 200 } else { 8 } {
        let mut lived = Lived::dreaming(seed, |c| {
            c.economic.monthly_allowance = Usdc::dollars(8);
            c.dream.per_cycle_most = Usdc::micros(120_000 + 190_001 * (seed as i64 % 4));
            c.dream.monthly_most = Usdc::micros(1_500_003);
            c.dream.model = (seed % 3 == 0).then(|| "some/other".to_owned());
            c.thought = ThoughtFigures {
                models: [Some("a".into()), Some("b".into()), (seed % 2 == 0).then(|| "c".into())],
                a_day: Usdc::micros(600_000),
                a_month: Usdc::dollars(4),
                ..c.thought.clone()
            };
        });
        let mut dice = Dice(seed + 500);
        for tick in 0..9_000_u64 {
            lived.tick();
            lived.duties();
            if dice.below(900) == 0 {
                let id = CommandId((1_000 + tick).to_be_bytes());
                let command = match dice.below(4) {
                    0 => Command::Wake,
                    1 => Command::Ask { text: "how is it?".to_owned() },
                    _ => Command::Dream,
                };
                lived.feed(What::Commanded { id, command });
            }
            for _ in 0..12 {
                let Some(errand) = lived.owed().first().copied() else { break };
                match errand {
                    Errand::Forfeit { key } => drop(lived.feed(What::Forfeited { key })),
                    Errand::Ask { key } => {
                        let question = lived.life().thoughts().find(key).unwrap().clone();
                        *asked.entry(question.purpose.name()).or_insert(0_u64) += 1;
                        assert_eq!(question.night > 0, question.purpose.is_nightly());
                        let cost = match dice.below(5) {
                            0 => Usdc::ZERO,
                            1 => question.most + Usdc::micros(1),
                            2 => Usdc::MOST,
                            _ => question.most.share(dice.below(100) as i64, 100),
                        };
                        let said = match dice.below(9) {
                            0 => Err(Silence::Unusable),
                            1 => Err(Silence::Down),
                            _ => says(question.purpose, &mut dice),
                        };
                        if dice.below(6) == 0 {
                            break; // It comes later, or never.
                        }
                        lived.feed(What::Answered { key, cost, said });
                    }
                    _ => unreachable!(),
                }
                lived.duties();
            }
            if dice.below(400) == 0 {
                lived.killed();
                killed += 1;
            }
        }
        nights += lived.life().dreams().nights;
        for event in lived.records.iter().flat_map(|record| &record.events) {
            if let Event::Thought(thought::Event::Kept { by }) = event {
                *kept.entry(by.name()).or_insert(0_u64) += 1;
            }
        }
    }
    println!("counted: {nights} nights, {killed} kills, asked {asked:?}, kept {kept:?}");
    for purpose in Purpose::ALL.into_iter().filter(|purpose| purpose.is_nightly()) {
        assert!(asked.contains_key(purpose.name()), "nobody was asked to {purpose}: {asked:?}");
    }
    assert!(kept.contains_key(Held::Night.name()), "{kept:?}");
}

#[test]
fn a_night_asks_one_thing_after_another_and_holds_what_it_hears_against_what_it_was_not_made_from() {
    let mut lived = Lived::dreaming(21, |_| {});
    let mut dice = Dice(4);
    let mut order: Vec<(SleepStage, Purpose)> = Vec::new();
    for tick in 0.. {
        assert!(tick < 10_000, "no night was whole: {:?}", lived.life().dreams());
        if lived.life().dreams().whole > 0 {
            break;
        }
        lived.tick();
        lived.duties();
        while let Some(Errand::Ask { key }) = lived.owed().first().copied() {
            let (life, purpose) = (lived.life(), lived.life().thoughts().find(key).unwrap().purpose);
            if let Some(night) = &life.dreams().night {
                order.push((night.phase, purpose));
                let waits = |owed: golem::Owed| matches!(owed, golem::Owed::Duty(golem::Duty::Dream { .. }));
                assert!(!lived.golem.owed().any(waits), "its work waits for the answer");
            }
            let said = says(purpose, &mut dice);
            lived.feed(What::Answered { key, cost: Usdc::micros(100), said });
            lived.duties();
        }
    }
    let of = |purpose: Purpose| order.iter().filter(|(_, asked)| *asked == purpose).count();
    assert_eq!((of(Purpose::Fragment), of(Purpose::Observe), of(Purpose::Replay)), (4, 1, 1), "{order:?}");
    assert!((1..=3).contains(&of(Purpose::Imagine)) && of(Purpose::Integrate) == 1, "{order:?}");
    assert!(order.is_sorted_by_key(|(phase, _)| *phase), "{order:?}");
    let events = || lived.records.iter().flat_map(|record| &record.events);
    let ideas = events().filter_map(|event| match event {
        Event::Dream(dream::Event::Conceived { ideas }) => Some(ideas),
        _ => None,
    });
    let origins: Vec<Origin> = ideas.flatten().map(|idea| idea.origin).collect();
    assert!(origins.contains(&Origin::Thought) && origins.contains(&Origin::Fragment), "{origins:?}");
    let dreamt = lived.life().playbook().iter().any(|rule| rule.provenance == Provenance::Dreamt);
    assert!(!dreamt, "nothing dreamt is gone by before it was tried");
}

#[test]
fn fragments_are_short_and_warm_their_observer_is_cool_and_both_are_cheap() {
    let models = ["a", "b", "c"].map(|name| Some(name.to_owned()));
    let mut lived = Lived::dreaming(21, |c| c.thought.models = models);
    let (mut dice, mut asked) = (Dice(4), BTreeMap::new());
    for tick in 0.. {
        assert!(tick < 10_000, "nothing was observed: {asked:?}");
        if asked.contains_key("observe") {
            break;
        }
        lived.tick();
        lived.duties();
        while let Some(Errand::Ask { key }) = lived.owed().first().copied() {
            let question = lived.life().thoughts().find(key).unwrap().clone();
            let (purpose, warmth) = (question.purpose, prompt(lived.life(), &question, &[]).temperature);
            asked.insert(purpose.name(), (question.tier, warmth, purpose.tokens()));
            let said = says(purpose, &mut dice);
            lived.feed(What::Answered { key, cost: Usdc::micros(100), said });
            lived.duties();
        }
    }
    assert_eq!(asked["fragment"], (Tier::Cheap, 1.2, 80));
    assert_eq!(asked["observe"], (Tier::Cheap, 0.4, 800));
}

/// Every night said that it had spent no tokens, those that asked a model too.
#[test]
fn a_night_that_asks_a_model_says_its_tokens() {
    let (mut lived, mut dice) = (Lived::dreaming(23, |_| {}), Dice(4));
    let (mut answers, mut told) = (0, Vec::new());
    for tick in 0.. {
        assert!(tick < 10_000, "no night was whole: {:?}", lived.life().dreams());
        if lived.life().dreams().whole > 0 {
            break;
        }
        lived.tick();
        lived.duties();
        while let Some(Errand::Ask { key }) = lived.owed().first().copied() {
            let purpose = lived.life().thoughts().find(key).unwrap().purpose;
            answers += u64::from(purpose.is_nightly());
            let said = says(purpose, &mut dice).map(|answer| Box::new(Answer { used: Some((900, 70)), ..*answer }));
            lived.feed(What::Answered { key, cost: Usdc::micros(100), said });
            lived.duties();
        }
    }
    let mut golem = golem::Golem::reborn(&lived.records[0]).unwrap();
    for record in &lived.records[1..] {
        golem.fold_with(record, |event, life| told.extend(golem::wire::besides(event, life))).unwrap();
    }
    let budgets: Vec<(&str, u64)> = told
        .iter()
        .filter_map(|message| match message {
            golem::wire::Message::DreamPhase { phase, budget_tokens, .. } => Some((*phase, *budget_tokens)),
            _ => None,
        })
        .collect();
    assert_eq!(budgets.len(), 3, "{budgets:?}");
    assert!(budgets.iter().all(|(_, tokens)| *tokens >= 800), "{budgets:?}");
    assert!(answers >= 7, "{answers}");
    assert_eq!(lived.life().dreams().tally.tokens, answers * 970, "as their server counted them");
}

#[test]
fn who_is_woken_or_dies_waits_for_no_answer_and_only_money_is_settled() {
    for death in [false, true] {
        let mut lived = Lived::asked(Purpose::Replay);
        let Errand::Ask { key } = lived.owed()[0] else { unreachable!() };
        let most = lived.life().thoughts().find(key).unwrap().most;
        let before = lived.life().thoughts().spent;
        let command = if death { Command::Halt { trigger: "test".into() } } else { Command::Wake };
        lived.feed(What::Commanded { id: CommandId([3; 8]), command });
        assert!(lived.life().dreams().night.is_none());
        let said = says(Purpose::Replay, &mut Dice(1));
        let events = lived.feed(What::Answered { key, cost: Usdc::micros(5), said });
        let spent = lived.life().thoughts().spent - before;
        if death {
            assert!(events.is_empty(), "it was settled with the death");
            assert_eq!(spent, most, "what nobody waited for counts as paid for");
        } else {
            assert_eq!(spent, Usdc::micros(5));
            let conceived = |event: &Event| matches!(event, Event::Dream(dream::Event::Conceived { .. }));
            assert!(!events.iter().any(conceived), "{events:?}");
        }
        lived.killed();
    }
}

#[test]
fn a_light_night_and_one_of_a_reflex_ask_nobody() {
    let mut lived = Lived::dreaming(5, |c| c.dream.tier = DreamTier::Core);
    for _ in 0..3_000 {
        lived.tick();
        lived.duties();
        let asked = lived.life().thoughts().open.first().map(|question| question.purpose);
        assert!(asked.is_none_or(|purpose| !purpose.is_nightly()), "{asked:?}");
        while let Some(Errand::Ask { key }) = lived.owed().first().copied() {
            lived.feed(What::Answered { key, cost: Usdc::ZERO, said: Err(Silence::Unusable) });
        }
    }
    assert!(lived.life().dreams().whole > 5);
}

#[test]
fn nights_and_last_words_go_to_whoever_the_owner_trusts_with_them() {
    for purpose in Purpose::ALL {
        let lived = Lived::asked(purpose);
        let life = lived.life();
        let question = life.thoughts().open.iter().find(|question| question.purpose == purpose).unwrap().clone();
        assert_eq!(thought::model(life, &question), Some("some/model"));
        let life = changed(life, |life| life["birth"]["constitution"]["dream"]["model"] = json!("quiet/model"));
        let apart = purpose.is_nightly() || purpose == Purpose::Reflect;
        assert_eq!(
            thought::model(&life, &question),
            Some(if apart { "quiet/model" } else { "some/model" }),
            "{purpose}"
        );
    }
}

#[test]
fn a_threat_that_a_model_names_is_rehearsed_by_what_the_golem_knows_of_itself() {
    let mut lived = Lived::dreaming(22, |_| {});
    lived.feed(What::Commanded { id: CommandId([1; 8]), command: Command::Steer { text: "calm".into() } });
    let mut dice = Dice(4);
    for tick in 0.. {
        assert!(tick < 10_000, "nothing was feared: {:?}", lived.life().dreams());
        if lived.life().dreams().night.as_ref().is_some_and(|night| night.feared.is_some()) {
            break;
        }
        lived.tick();
        lived.duties();
        while let Some(Errand::Ask { key }) = lived.owed().first().copied() {
            let said = says(lived.life().thoughts().find(key).unwrap().purpose, &mut dice);
            lived.feed(What::Answered { key, cost: Usdc::ZERO, said });
        }
    }
    let night = lived.life().dreams().night.as_ref().unwrap();
    assert_eq!(night.feared.as_ref().map(|(fall, _)| *fall), Some(3_000));
    assert_ne!(night.trigger, Trigger::Emergency);
    lived.killed();
}

//! What an owner asks and says: answered from the record, held while it sleeps, and never a way to money.

use golem::books::Books;
use golem::event::Event;
use golem::mortality::phase::{Phase, Tier};
use golem::policy::Refusal;
use golem::thought::{self, Answer, Held, Purpose, Silence, prompt};
use golem::{Command, CommandId, Errand, Golem, Usdc, What};
use serde_json::json;

use super::common::{changed, keep_in};
use super::lived::Lived;

fn asks(lived: &mut Lived, id: u8, text: &str) -> Option<Refusal> {
    let id = CommandId([id; 8]);
    lived.feed(What::Commanded { id, command: Command::Ask { text: text.to_owned() } });
    lived.life().commands().iter().find(|(known, _)| *known == id).unwrap().1
}

fn answer(lived: &mut Lived, text: &str) {
    let question = lived.life().thoughts().open.iter().find(|question| question.purpose == Purpose::Answer);
    let key = question.unwrap().key;
    let said = Ok(Box::new(Answer { note: text.to_owned(), cites: vec![1, 2], ..Answer::default() }));
    lived.feed(What::Answered { key, cost: Usdc::micros(40), said });
}

#[test]
fn an_owner_is_answered_once_for_each_question_whatever_else_has_changed() {
    let mut lived = Lived::new(3, |_| {});
    lived.tick();
    let before = Books::of(lived.life());
    assert_eq!(asks(&mut lived, 1, "why do you hold?"), None);
    assert_eq!(asks(&mut lived, 1, "why do you hold?"), None, "the same letter twice is one");
    assert_eq!(asks(&mut lived, 2, "and now?"), Some(Refusal::Thought(Held::Busy)));
    assert_eq!(asks(&mut lived, 3, " \u{7} "), Some(Refusal::Bounds));
    let question = lived.life().thoughts().open[0].clone();
    let shown = prompt(lived.life(), &question, &["[7] was born".to_owned()]);
    assert!(shown.user.contains("Your owner asks: why do you hold?\n") && shown.user.contains("| [7] was born"));
    lived.feed(What::Commanded { id: CommandId([4; 8]), command: Command::Freeze { reason: String::new() } });
    answer(&mut lived, "because");
    let told = &lived.life().thoughts().told;
    assert_eq!(told.len(), 1);
    assert_eq!((told[0].command, told[0].text.as_deref()), (CommandId([1; 8]), Some("because")));
    assert_eq!((&told[0].cites[..], told[0].cost), (&[1, 2][..], Usdc::micros(40)));
    let after = Books::of(lived.life());
    let paid = Books { spent: after.spent, left: after.left, net: after.net, ..before };
    assert_eq!((after, after.spent - before.spent), (paid, Usdc::micros(40)), "an answer costs, and moves nothing");
    for id in 10..16 {
        assert_eq!(asks(&mut lived, id, "again"), None);
        answer(&mut lived, "again");
    }
    assert_eq!(lived.life().thoughts().told.len(), golem::thought::TOLD, "the newest few are at hand");
    lived.killed();
}

#[test]
fn asleep_it_is_asked_in_the_morning_and_a_second_question_is_refused() {
    let mut lived = Lived::asked(Purpose::Replay);
    assert_eq!(asks(&mut lived, 1, "are you there?"), None);
    assert!(lived.life().thoughts().waiting.is_some() && !lived.life().thoughts().asks(Purpose::Answer));
    assert_eq!(asks(&mut lived, 2, "hello?"), Some(Refusal::Thought(Held::Asleep)));
    lived.killed();
    lived.feed(What::Commanded { id: CommandId([9; 8]), command: Command::Wake });
    lived.tick();
    assert!(lived.life().thoughts().waiting.is_none() && lived.life().thoughts().asks(Purpose::Answer));
    answer(&mut lived, "good morning");
    assert_eq!(lived.life().thoughts().told[0].command, CommandId([1; 8]));
}

#[test]
fn who_has_nobody_to_ask_or_may_not_says_so_by_name() {
    let mut lived = Lived::new(3, |c| c.thought.models[0] = None);
    lived.tick();
    assert_eq!(asks(&mut lived, 1, "why?"), Some(Refusal::Thought(Held::NoModel)));
    let mut lived = Lived::new(3, |c| c.thought.a_day = Usdc::micros(1));
    lived.tick();
    assert_eq!(asks(&mut lived, 1, "why?"), Some(Refusal::Thought(Held::Day)));
    lived.feed(What::Commanded { id: CommandId([2; 8]), command: Command::Pause });
    assert_eq!(asks(&mut lived, 3, "why?"), Some(Refusal::Thought(Held::Paused)));
    lived.feed(What::Commanded { id: CommandId([4; 8]), command: Command::Halt { trigger: String::new() } });
    assert_eq!(asks(&mut lived, 5, "why?"), Some(Refusal::Dead));
    for by in [Held::NoModel, Held::Day, Held::Paused] {
        assert!(Refusal::Thought(by).to_string().len() > 30, "in words");
    }
}

#[test]
fn a_worse_phase_asks_a_cheaper_model_for_less_and_the_last_asks_none() {
    let mut lived = Lived::new(3, |c| {
        c.thought.models = ["a", "b", "c"].map(|name| Some(name.to_owned()));
        c.thought.per_call = [1, 2, 3].map(Usdc::cents);
    });
    lived.tick();
    let well = lived.life().clone();
    for (phase, expected) in [
        (Phase::Thriving, Some((Tier::Middle, Usdc::cents(2)))),
        (Phase::Stable, Some((Tier::Middle, Usdc::cents(2)))),
        (Phase::Conservation, Some((Tier::Cheap, Usdc::cents(1)))),
        (Phase::Declining, Some((Tier::Cheap, Usdc::micros(5_000)))),
        (Phase::Terminal, None),
    ] {
        let life = changed(&well, |life| life["vitality"]["phase"] = json!(phase));
        lived.golem = Golem::resume(life, lived.golem.seq()).unwrap();
        let declined = asks(&mut lived, 1, "why?");
        assert_eq!(declined, expected.is_none().then_some(Refusal::Thought(Held::Phase)), "{phase}");
        let asked = lived.life().thoughts().open.iter().find(|question| question.purpose == Purpose::Answer);
        assert_eq!(asked.map(|question| (question.tier, question.most)), expected, "{phase}");
    }
}

#[test]
fn the_strongest_model_is_asked_by_who_thrives_and_an_answer_is_paid_from_credit() {
    for (phase, expected) in
        [(Phase::Thriving, Tier::Strong), (Phase::Stable, Tier::Middle), (Phase::Conservation, Tier::Cheap)]
    {
        let mut lived = Lived::new(7, |c| {
            c.thought.models = ["a", "b", "c"].map(|name| Some(name.to_owned()));
            keep_in(c, phase);
        });
        while lived.life().thoughts().open.is_empty() {
            lived.tick();
        }
        assert_eq!(lived.life().phase(), phase);
        // Each of them would rather have a stronger one asked.
        let mut strongest = Tier::Rules;
        for _ in 0..3 {
            let Some(question) = lived.life().thoughts().open.first().cloned() else { break };
            strongest = strongest.max(question.tier);
            let (credit, cost) = (lived.life().purse().credit, Usdc::micros(5));
            let said = Ok(Box::new(Answer { deeper: true, ..Answer::default() }));
            lived.feed(What::Answered { key: question.key, cost, said });
            assert_eq!(lived.life().purse().credit, credit - cost);
        }
        assert_eq!(strongest, expected, "{phase}");
    }
}

#[test]
fn what_is_most_unusual_goes_to_the_middle_model_at_once_and_anything_less_to_the_cheap_one() {
    let mut lived = Lived::new(7, |c| c.thought.models[1] = Some("a/stronger".to_owned()));
    let (mut cheap, mut middle) = (0, 0);
    for tick in 0..4_000 {
        // Now and then the world jumps.
        if tick % 500 == 499 {
            lived.level += 1_000.0;
        }
        let events = lived.tick();
        let score = events.iter().find_map(|event| match event {
            Event::Thought(thought::Event::Probed { score, .. }) => Some(*score),
            _ => None,
        });
        for event in &events {
            if let Event::Thought(thought::Event::Asked(question)) = event {
                let expected = if score.unwrap() >= 6.0 { Tier::Middle } else { Tier::Cheap };
                assert_eq!(question.tier, expected, "{score:?}");
                *(if expected == Tier::Middle { &mut middle } else { &mut cheap }) += 1;
            }
        }
        while let Some(Errand::Ask { key }) = lived.owed().first().copied() {
            lived.feed(What::Answered { key, cost: Usdc::ZERO, said: Err(Silence::Unusable) });
        }
    }
    assert!(cheap > 0 && middle > 0, "{cheap} cheap, {middle} of the middle tier");
}

#[test]
fn what_an_owner_would_have_it_keep_in_mind_is_in_every_thought_and_changes_nothing_else() {
    let mut lived = Lived::new(3, |_| {});
    let text = "be patient\n| and\u{202e} careful";
    lived.feed(What::Commanded { id: CommandId([1; 8]), command: Command::Steer { text: text.to_owned() } });
    assert_eq!(lived.life().strategy(), "be patient| and careful");
    let policy = lived.life().policy().clone();
    while lived.owed().is_empty() {
        lived.tick();
    }
    let question = lived.life().thoughts().open[0].clone();
    assert!(prompt(lived.life(), &question, &[]).user.contains("keep in mind:\nbe patient| and careful\n"));
    lived.feed(What::Commanded { id: CommandId([2; 8]), command: Command::Steer { text: String::new() } });
    assert!(!prompt(lived.life(), &question, &[]).user.contains("keep in mind"));
    assert_eq!(*lived.life().policy(), policy);
    lived.killed();
}

#[test]
fn last_words_are_asked_for_once_paid_from_what_is_kept_for_dying_and_a_kill_switch_has_none() {
    for (switch, said) in [(false, true), (false, false), (true, false)] {
        let mut lived = Lived::new(3, |_| {});
        (0..40).for_each(|_| drop(lived.tick()));
        let reserve = golem::mortality::economic::reserve(lived.life());
        let command = match switch {
            true => Command::Halt { trigger: "test".into() },
            false => Command::Retire { reason: "test".into() },
        };
        lived.feed(What::Commanded { id: CommandId([1; 8]), command });
        lived.duties();
        assert_eq!(lived.life().thoughts().asks(Purpose::Reflect), !switch);
        if !switch {
            let asked = lived.life().thoughts().open[0].clone();
            assert!(asked.most <= reserve, "out of the reserve");
            assert!(lived.life().death().unwrap().progress.testament.is_none(), "its testament waits");
            lived.killed();
            let [Errand::Forfeit { key }] = lived.owed()[..] else { panic!("{:?}", lived.owed()) };
            if said {
                // The process that asked is still there.
                let note = "I looked too little".to_owned();
                let said = Ok(Box::new(Answer { note, ..Answer::default() }));
                lived.feed(What::Answered { key, cost: Usdc::micros(9), said });
            } else {
                lived.feed(What::Forfeited { key });
            }
        }
        lived.duties();
        let life = lived.life();
        let death = life.death().unwrap();
        assert_eq!(death.words.as_deref(), said.then_some("I looked too little"));
        assert_eq!(golem::thanatopsis::phase(life), Some(golem::thanatopsis::Rite::Over));
        assert_eq!((life.purse().credit, life.purse().promised), (Usdc::ZERO, Usdc::ZERO), "everything went home");
        let asked = |event: &&Event| matches!(event, Event::Thought(thought::Event::Asked(question)) if question.purpose == Purpose::Reflect);
        let times = lived.records.iter().flat_map(|record| &record.events).filter(asked).count();
        assert_eq!(times, usize::from(!switch));
    }
}

#[test]
fn a_silence_is_told_to_its_owner_too() {
    let mut lived = Lived::new(3, |_| {});
    lived.tick();
    assert_eq!(asks(&mut lived, 1, "why?"), None);
    let key = lived.life().thoughts().open[0].key;
    lived.feed(What::Answered { key, cost: Usdc::ZERO, said: Err(Silence::Down) });
    let told = &lived.life().thoughts().told[0];
    assert_eq!((told.text.as_deref(), told.silence), (None, Some(Silence::Down)));
    assert!(lived.life().now() < lived.life().thoughts().rests_until);
    assert_eq!(asks(&mut lived, 2, "and now?"), None, "an owner may know better than a golem that rests");
}

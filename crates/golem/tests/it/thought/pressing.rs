//! Pressure reaches the model: it is asked about a stressor that has come, and again while the load lasts; it is warned
//! where one has weighed before; and what it wonders is kept.

use golem::event::Event;
use golem::grimoire::{self, Grimoire, How};
use golem::stress::assessment::{New, Plea};
use golem::stress::{self, Assessment, Band, Kind, Stressor};
use golem::thought::{self, Answer, Purpose, Silence, prompt};
use golem::{Duty, Errand, Owed, Span, Usdc, What};
use serde_json::json;

use super::common::{changed, press};
use super::lived::Lived;

const SIX_HOURS: Span = Span::seconds(6 * 3_600);

/// A word about itself, as a model would give it.
fn word() -> Box<Answer> {
    let new = New { name: "strong wind".into(), description: "it blows".into(), condition: "other > 0.01".into() };
    let plea = Plea { name: "existential threat".into(), reason: "there is hope".into() };
    let assessment = Assessment { new: vec![new], claims: vec![plea] };
    Box::new(Answer { assessment: Some(assessment), ..Answer::default() })
}

/// Once stressors were observed after the probe had looked: of 176 questions not one was about pressure.
#[test]
fn a_life_that_runs_out_of_money_is_asked_what_presses_and_again_while_it_lasts() {
    let mut lived = Lived::new(31, Lived::poor);
    let (mut raised, mut asked) = (Vec::new(), Vec::new());
    for _ in 0..1_500 {
        for event in lived.tick() {
            if let Event::Stress(stress::Event::Raised { kind, .. }) = event {
                raised.push((lived.life().age(), kind));
            }
        }
        while let Some(Errand::Ask { key }) = lived.owed().first().copied() {
            let question = lived.life().thoughts().find(key).unwrap().clone();
            let said = if question.purpose == Purpose::Assess {
                let load = stress::load_as_told(lived.life());
                asked.push((lived.life().age(), load));
                let shown = prompt(lived.life(), &question, &[]).user;
                assert!(
                    shown.contains("Why now:\nsomething presses") || shown.contains("; something presses"),
                    "{shown}"
                );
                assert_eq!(shown.contains("Pressure:\n"), load >= Band::Elevated.from(), "{shown}");
                Ok(word())
            } else {
                Err(Silence::Unusable)
            };
            let events = lived.feed(What::Answered { key, cost: Usdc::micros(50), said });
            let assessed = events.iter().any(|event| matches!(event, Event::Stress(stress::Event::Assessed(_))));
            assert_eq!(assessed, question.purpose == Purpose::Assess, "{events:?}");
        }
    }
    assert!(raised.iter().any(|(_, kind)| *kind == Kind::ExistentialThreat), "{raised:?}");
    assert!(asked.len() >= 3, "asked at {asked:?}, raised at {raised:?}");
    assert!(asked[0].0 >= raised[0].0 && asked[0].1 < Band::Elevated.from(), "first of all at its onset: {asked:?}");
    assert!(asked.iter().any(|(_, load)| *load >= Band::Elevated.from()), "and while it lasts: {asked:?}");
    for two in asked.windows(2) {
        let (before, now) = (two[0].0, two[1].0);
        let new = raised.iter().any(|(age, _)| (before..=now).contains(age));
        assert!(new || now >= before + SIX_HOURS, "asked again after {before} and {now}, raised {raised:?}");
    }
    assert!(!lived.life().stress().named.is_empty() || !lived.life().stress().named_past.is_empty(), "it was heard");
    lived.killed();
}

/// Only the question about pressure itself was looked at, and not where in it the pressure stands.
#[test]
fn what_presses_stands_in_every_prompt_from_its_mark_on_above_whatever_is_to_be_done() {
    for purpose in Purpose::ALL {
        let lived = Lived::asked(purpose);
        let question = lived.life().thoughts().open.iter().find(|question| question.purpose == purpose).unwrap();
        let shown = |onset: f64| {
            let (kind, since, held) = (Kind::Futility, Span::ZERO, Span::ZERO);
            let active = vec![Stressor { kind, domain: None, onset, since, held, presses: true, served: 0 }];
            let life = changed(lived.life(), |life| {
                (life["stress"]["active"], life["stress"]["named"]) = (json!(active), json!([]));
            });
            prompt(&life, question, &["[1] was born".to_owned()]).user
        };
        let text = shown(0.35);
        let block =
            text.find("Pressure:\nLoad 0.35 of 1.00, elevated.\n").unwrap_or_else(|| panic!("{purpose}: {text}"));
        assert!(text.find("Task: ").is_some_and(|task| block < task), "{purpose}: {text}");
        for below in ["Domains:\n", "Actions:\n", "Rules that hold now:\n", "Remembered:\n", "Your owner asks: "] {
            assert!(text.find(below).is_none_or(|at| block < at), "{purpose}, {below}: {text}");
        }
        assert!(!shown(0.34).contains("Pressure:"), "{purpose}");
    }
}

#[test]
fn a_load_that_lasts_spends_no_more_than_the_caps_of_thought() {
    let cap = Usdc::micros(45_000);
    let mut lived = Lived::new(32, |c| {
        Lived::poor(c);
        press(c, Kind::ExistentialThreat, 3.0);
        c.thought.a_day = cap;
    });
    let mut pressed = 0;
    for _ in 0..2_000 {
        lived.tick();
        pressed += u64::from(stress::load(lived.life()) >= Band::Elevated.from());
        while let Some(Errand::Ask { key }) = lived.owed().first().copied() {
            let most = lived.life().thoughts().find(key).unwrap().most;
            lived.feed(What::Answered { key, cost: most, said: Ok(word()) });
        }
        assert!(lived.life().thoughts().day.taken <= cap);
    }
    assert!(pressed > 200, "it pressed in {pressed} ticks");
    let kept = |event: &Event| matches!(event, Event::Thought(thought::Event::Kept { by: thought::Held::Day }));
    assert!(lived.records.iter().flat_map(|record| &record.events).any(kept), "the cap was reached, and held");
}

#[test]
fn a_question_of_a_models_is_known_as_one_from_the_next_round_on() {
    let (mut lived, mut known) = (Lived::new(33, |_| {}), Grimoire::default());
    let wonders = ["what moves level at night?".to_owned(), "is the feed late?".to_owned()];
    for tick in 0.. {
        assert!(tick < 3_000, "no question was asked: {:?}", lived.life().thoughts());
        lived.tick();
        while let Some(Errand::Ask { key }) = lived.owed().first().copied() {
            let answer = Answer { questions: wonders.to_vec(), note: "a note".into(), ..Answer::default() };
            lived.feed(What::Answered { key, cost: Usdc::micros(5), said: Ok(Box::new(answer)) });
            lived.killed();
            assert_eq!(lived.life().thoughts().questions[..], wonders, "each waits once");
        }
        let before = lived.life().thoughts().questions.len();
        if lived.golem.owed().any(|owed| matches!(owed, Owed::Duty(Duty::Curate))) {
            let answer = grimoire::round(&mut known, lived.life());
            lived.feed(What::Curated(Box::new(answer)));
            assert!(lived.life().thoughts().questions.is_empty());
            if before > 0 {
                break;
            }
        }
    }
    for (text, domain) in wonders.iter().zip([Some(0), None]) {
        let entry = known.in_use().find(|entry| entry.text == *text).unwrap_or_else(|| panic!("{text} is not kept"));
        assert_eq!((entry.kind, entry.domain), (grimoire::Kind::Question, domain));
        assert_eq!(entry.provenance.sources[0].how, How::Thought);
    }
    lived.killed();
}

/// The sentence was written for the prompt, and had no caller but a test.
#[test]
fn a_model_that_is_asked_about_a_domain_is_told_what_has_weighed_there() {
    let mut lived = Lived::new(34, |c| {
        c.mind.explore_every = 20;
        press(c, Kind::RepeatedFailure, 0.8);
        press(c, Kind::Futility, 3.0);
    });
    for tick in 0.. {
        assert!(tick < 40_000, "nothing has weighed and passed: {:?}", lived.life().stress());
        lived.tick();
        while let Some(Errand::Ask { key }) = lived.owed().first().copied() {
            let life = lived.life();
            let question = life.thoughts().find(key).unwrap().clone();
            let shown = prompt(life, &question, &[]).user;
            let weighed = stress::signals(life, 0).any(stress::Past::is_trusted);
            assert_eq!(shown.contains(" (level) was here "), weighed, "{shown}");
            if weighed {
                return;
            }
            lived.feed(What::Answered { key, cost: Usdc::ZERO, said: Err(Silence::Unusable) });
        }
    }
}

//! What is said of lives whose age is declared: it is found where it is, in at most one set of twenty where it is not, and not
//! taken from what only looks like it, which one heap of all calls takes it from. The numbers in `verdict.rs` were chosen on
//! other seeds.

use age::{Axis, Measure, Study, StudyOptions, Verdict, naive, normal, student};

use super::plant::{Plant, life};
use crate::common::full;

/// How often age is found, and how often one heap of all calls would have it.
fn check(plant: Plant, lives: usize, seeds: std::ops::Range<u64>) -> (f64, f64) {
    let many = (seeds.end - seeds.start) as f64;
    let (mut found, mut heap) = (0_u32, 0_u32);
    for seed in seeds {
        let lives = plant.lives(lives, seed);
        let study = &Study::of(&lives, &StudyOptions::default())[0];
        found += u32::from(study.verdict() == Verdict::Age);
        let points: Vec<_> = lives.iter().map(|life| Measure::Failures.points(life, Axis::Calls)).collect();
        heap += u32::from(naive(&points) > normal(0.975));
    }
    let (found, heap) = (f64::from(found) / many, f64::from(heap) / many);
    println!("counted: {plant:?}: age found in {found:.3} of {many} sets of {lives} lives, by one heap in {heap:.3}");
    (found, heap)
}

/// A thousand sets in all; a share of them where everything is run.
fn seeds(from: u64) -> std::ops::Range<u64> {
    from..from + full(143, 24)
}

#[test]
fn age_that_was_planted_is_found() {
    let (strong, _) = check(Plant::Strong, 150, seeds(700_000));
    let (weak, _) = check(Plant::Weak, 150, seeds(710_000));
    assert!(strong >= 0.99 && weak >= 0.9, "found strong {strong}, weak {weak}");
}

#[test]
fn age_is_hardly_ever_found_where_there_is_none() {
    for (plant, from) in [
        (Plant::None, 720_000),
        (Plant::Length, 730_000),
        (Plant::Harder, 740_000),
        (Plant::Bursts, 750_000),
        (Plant::Quits, 760_000),
    ] {
        let sets = seeds(from);
        let many = (sets.end - sets.start) as f64;
        let (found, _) = check(plant, 150, sets);
        // One in twenty, and what chance makes of that with so few sets.
        let most = 0.05 + 3.0 * (0.05 * 0.95 / many).sqrt() * f64::from(many < 1_000.0);
        assert!(found <= most, "{plant:?}: {found} of {many}");
    }
}

#[test]
fn one_heap_of_all_calls_takes_harder_and_longer_tasks_for_age() {
    let (_, length) = check(Plant::Length, 150, seeds(770_000));
    let (_, harder) = check(Plant::Harder, 150, seeds(780_000));
    assert!(length >= 0.9 && harder >= 0.25, "{length} and {harder}");
}

#[test]
fn a_few_lives_are_too_few_to_tell() {
    let study = &Study::of(&Plant::Strong.lives(6, 1), &StudyOptions::default())[0];
    assert_eq!(study.verdict(), Verdict::TooFew);
    assert!(study.when.is_none());
    let none = Study::of(&Plant::None.lives(600, 2), &StudyOptions::default());
    assert_eq!(none[0].verdict(), Verdict::NoSign);
    assert!(none[0].when.is_none(), "there is no reason to start over");
}

/// By hand: with a loss that grows with the scale, and a hand-over of ten calls' cost, the best number lies between these.
#[test]
fn where_it_ages_it_is_said_after_how_many_calls_starting_over_is_cheapest() {
    let lives = Plant::Strong.lives(400, 3);
    let at = |sum: f64| Study::of(&lives, &StudyOptions { handover: Some(sum), ..StudyOptions::default() })[0].when;
    let found: Vec<_> = (0..12).map_while(|doubled| at(1_000.0 * f64::from(1 << doubled))).collect();
    assert!(found.len() > 1 && found[0].calls < found[found.len() - 1].calls, "{found:?}");
    assert!(found.windows(2).all(|pair| pair[0].calls <= pair[1].calls), "{found:?}");
    for one in &found {
        assert!(one.low <= one.calls && one.calls <= one.high && one.said && one.each < one.never, "{one:?}");
    }
    assert!(at(1e12).is_none(), "age costs less than that, so there is no moment for it");
    assert_eq!(at(1_000.0), Some(found[0]), "the same lives say the same twice");
}

#[test]
fn of_ten_lives_those_that_go_on_are_counted_by_kaplan_and_meier() {
    // Ends after 6, 6, 6, 15, 25 and 25 calls, and four that still go on after 12, 12, 30 and 30.
    let mut lives: Vec<_> =
        [6, 6, 6, 15, 25, 25, 12, 12, 30, 30].map(|calls| life(&vec![false; calls], calls)).to_vec();
    for still in &mut lives[6..] {
        still.end = age::End::Open;
    }
    lives[3].end = age::End::Cut;
    let study = &Study::of(&lives, &StudyOptions::default())[0];
    let steps = &study.survival.steps;
    let at = |calls: usize| steps.iter().find(|step| step.calls == calls).unwrap();
    assert_eq!((at(5).at_risk, at(5).alive), (10, 1.0));
    assert!((at(10).alive - 0.7).abs() < 1e-12, "{steps:?}");
    // Five were left at fifteen, of whom one was cut.
    assert!((at(20).alive - 0.7 * 0.8).abs() < 1e-12, "{steps:?}");
    assert!((at(20).ended[3] - 0.7 * 0.2).abs() < 1e-12, "{steps:?}");
    for step in steps {
        assert!((step.alive + step.ended.iter().sum::<f64>() - 1.0).abs() < 1e-9 && step.low <= step.alive, "{step:?}");
    }
}

#[test]
fn quantiles_are_those_of_the_tables() {
    for (part, is) in [(0.5, 0.0), (0.975, 1.959_964), (0.995, 2.575_829), (0.001, -3.090_232)] {
        assert!((normal(part) - is).abs() < 1e-5, "{part}: {}", normal(part));
    }
    for (freedom, is) in [(5.0, 2.570_58), (10.0, 2.228_14), (30.0, 2.042_27), (1e6, 1.959_97)] {
        assert!((student(0.975, freedom) - is).abs() < 0.01, "{freedom}: {}", student(0.975, freedom));
    }
}

/// A compaction after which less fails, at an age at which nothing changes in lives without one.
#[test]
fn what_a_compaction_changed_is_told_against_lives_of_the_same_age() {
    let mut dice = crate::common::Dice(9);
    let mut lives = Vec::new();
    for number in 0..60 {
        let compacted = number % 2 == 0;
        let rate = |at: usize| if compacted && at >= 40 { 10 } else { 40 };
        let failures: Vec<bool> = (0..80).map(|at| dice.roll(100) < rate(at)).collect();
        let mut one = life(&failures, number);
        if compacted {
            one.compactions = vec![40];
        }
        lives.push(one);
    }
    let study = &Study::of(&lives, &StudyOptions::default())[0];
    let found = study.compactions.iter().find(|found| found.measure == Measure::Failures).unwrap();
    let change = found.change.unwrap();
    assert_eq!(found.compactions, 30);
    assert!((-0.45..-0.15).contains(&change.value) && change.high < 0.0, "{change:?}");
}

//! Statistics against what is known of them.

use lab::experiment::stats::{Draws, difference, holm, rehearse};

fn noise(n: usize, seed: u64) -> Vec<f64> {
    let mut chance = Draws(seed);
    let mut uniform = || (chance.draw() >> 11) as f64 / (1_u64 << 53) as f64;
    (0..n).map(|_| (0..12).map(|_| uniform()).sum::<f64>() - 6.0).collect()
}

#[test]
fn what_is_not_there_is_found_one_time_in_twenty_and_what_is_there_as_often_as_was_said() {
    let rehearsed = rehearse(&noise(240, 3), 0.2, 0.05, 2_000, 1_000).unwrap();
    assert!((rehearsed.false_alarms - 0.05).abs() <= 0.015, "{rehearsed:?}");
    let power = rehearsed.power.unwrap();
    assert!((rehearsed.found - power).abs() < 0.04, "{rehearsed:?}");
    // 240 paths see a fifth of a deviation about nine times in ten.
    assert!((power - 0.92).abs() < 0.04, "{rehearsed:?}");
}

/// Seven differences that all go the same way are one chance in 128, however alike they are.
#[test]
fn few_paths_are_not_taken_for_many() {
    let d = difference(&[0.01, 0.011, 0.009, 0.01, 0.012, 0.01, 0.011], 10_000).unwrap();
    assert!((d.better - 1.0 / 128.0).abs() < 0.003 && d.worse > 0.99, "{d:?}");
    assert!(d.low > 0.009 && d.high < 0.012, "{d:?}");
    let one = difference(&[0.01], 100).unwrap();
    assert!(one.low < -1e9 && one.better > 0.3, "{one:?}");
}

#[test]
fn holm_counts_what_was_tried() {
    let adjusted = holm(&[0.01, 0.04, 0.03]);
    let near = |a: f64, b: f64| (a - b).abs() < 1e-12;
    assert!(near(adjusted[0], 0.03) && near(adjusted[1], 0.06) && near(adjusted[2], 0.06), "{adjusted:?}");
    assert_eq!(holm(&[]), Vec::<f64>::new());
}

#[test]
fn a_difference_has_the_interval_a_bell_curve_would_give_it() {
    let differences: Vec<f64> = noise(400, 9).into_iter().map(|d| d + 0.5).collect();
    let d = difference(&differences, 10_000).unwrap();
    let half = 1.96 * d.deviation / 20.0;
    assert!((d.low - (d.mean - half)).abs() < 0.01 && (d.high - (d.mean + half)).abs() < 0.01, "{d:?}");
    assert!(d.better < 0.001 && d.worse > 0.999);
}

//! Cells of a comparison: sure on the same paths, and nothing where there is nothing.

use lab::arms::Cell;

#[test]
fn a_difference_is_surer_on_the_same_paths_and_none_is_none() {
    let first: Vec<f64> = (0..200).map(|n| f64::from(n % 17)).collect();
    let other: Vec<f64> = first.iter().enumerate().map(|(n, v)| v + 0.5 + (n % 3) as f64 * 0.1).collect();
    let cell = Cell::of(&other, &first);
    assert!((cell.difference - 0.6).abs() < 0.01 && cell.low > 0.58 && cell.high < 0.62, "{cell:?}");
    assert!(!cell.could_be_nothing());
    let same = Cell::of(&first, &first);
    assert_eq!((same.difference, same.low, same.high), (0.0, 0.0, 0.0));
    assert!(same.could_be_nothing());
}

/// Where there is nothing to find, something is found about one time in twenty.
#[test]
fn where_there_is_no_difference_one_is_seen_about_one_time_in_twenty() {
    let mut state = 7_u64;
    let mut chance = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / (1_u64 << 31) as f64 - 0.5
    };
    let seen = (0..400).filter(|_| {
        let (a, b): (Vec<f64>, Vec<f64>) = (0..80).map(|_| (chance(), chance())).unzip();
        !Cell::of(&a, &b).could_be_nothing()
    });
    let seen = seen.count();
    assert!((8..=36).contains(&seen), "{seen} of 400");
}

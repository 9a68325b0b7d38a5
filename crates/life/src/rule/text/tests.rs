//! Tests that printed text reads back as the same, and that a refusal says why.

use proptest::prelude::*;

use super::*;
use crate::rule::{Fragment, WHOLE};
use crate::world::DomainSpec;

pub(crate) fn manifest() -> Manifest {
    let domain = |name: &str, kind, horizon| DomainSpec {
        name: name.into(),
        weight: 0.25,
        kind,
        horizon,
        scale: None,
        level: None,
    };
    Manifest {
        world: "shore".into(),
        domains: [
            domain("surge", DomainKind::Value, 12),
            domain("rising", DomainKind::Direction, 1),
            domain("swell", DomainKind::Range, 0),
        ]
        .into_iter()
        .collect(),
        features: ["tide", "wind", "moon_age", "expect"].map(str::to_owned).to_vec(),
        ..Manifest::default()
    }
}

fn condition(comparisons: &[(u8, Is, f64)]) -> Condition {
    Condition(comparisons.iter().map(|&(feature, is, than)| Comparison { feature, is, than }).collect())
}

fn check_reads_as(text: &str, expected: Parsed, printed: &str) {
    let parsed = parse(text, &manifest()).unwrap();
    assert_eq!(parsed, expected, "{text}");
    assert_eq!(parsed.print(&manifest()).unwrap(), printed);
}

fn check_refused(text: &str, sentence: &str) {
    assert_eq!(parse(text, &manifest()).unwrap_err().to_string(), sentence, "{text}");
}

/// Any heuristic of the world above; those that contradict themselves are left out.
pub(crate) fn any_parsed() -> impl Strategy<Value = Parsed> {
    let number = prop_oneof![
        any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |number| number.is_finite()),
        proptest::sample::select(vec![f64::MAX, f64::MIN, f64::MIN_POSITIVE, 5e-324, -5e-324, 0.0, -0.0, 0.01]),
        (-10_000_i32..10_000).prop_map(|number| f64::from(number) / 1000.0),
    ];
    let is = prop_oneof![Just(Is::Above), Just(Is::Below)];
    let comparison = (0_u8..4, is, number.clone()).prop_map(|(feature, is, than)| Comparison { feature, is, than });
    let comparisons = proptest::collection::vec(comparison, 0..=limits::COMPARISONS);
    let stance =
        prop_oneof![Just(Stance::Watch), Just(Stance::Add), Just(Stance::Reduce), any_fragment(number.clone())];
    (comparisons, 0_u8..3, number, 0.0..=1.0_f64, stance).prop_map(|(comparisons, domain, factor, share, stance)| {
        let mut condition = Condition::default();
        for comparison in comparisons {
            if fits(comparison, &condition.0).is_ok() {
                condition.0.push(comparison);
            }
        }
        let effect = match (domain, factor.abs()) {
            (1, _) => share,
            (_, 0.0) => 1.0,
            (_, factor) => factor,
        };
        // Now and then a blend, of shares that are as odd as everything else.
        let shares = [share - 0.5, 2.0 * share, -share];
        let mix = shares.iter().zip(0..).take(usize::from(stance.adds()) * 3);
        let terms: arrayvec::ArrayVec<Term, { limits::TERMS }> =
            mix.map(|(share, feature)| Term { feature, share: *share }).collect();
        let blend = (domain == 0 && !terms.is_empty()).then_some(Mix { terms, sure: 1.0 + 1_000.0 * share });
        Parsed { condition, domain, effect, blend, stance }
    })
}

/// Any stance with a way out of the world above; those that say no more than adding are left out.
fn any_fragment(number: impl Strategy<Value = f64> + 'static) -> impl Strategy<Value = Stance> {
    let is = prop_oneof![Just(Is::Above), Just(Is::Below)];
    let until = (0_u8..4, is, number).prop_map(|(feature, is, than)| Comparison { feature, is, than });
    let bps = || proptest::option::of(1_u32..=100_000);
    let bars = proptest::option::of(1..=limits::HORIZON);
    let parts = (1..=WHOLE, proptest::option::of(until), bps(), bps(), bars);
    parts
        .prop_map(|(share, until, up, down, bars)| Fragment { share, until, up, down, bars })
        .prop_filter("says more than adding", |fragment| fragment.check(4).is_ok())
        .prop_map(Stance::Fragment)
}

#[test]
fn a_fragment_reads_like_a_sentence_and_says_what_is_wrong() {
    let fragment = |share, until: Option<(u8, Is, f64)>, up, down, bars| Parsed {
        condition: condition(&[(0, Is::Above, 5.0)]),
        domain: 1,
        effect: 0.5,
        blend: None,
        stance: Stance::Fragment(Fragment {
            share,
            until: until.map(|(feature, is, than)| Comparison { feature, is, than }),
            up,
            down,
            bars,
        }),
    };
    let calm = Some((1, Is::Below, 0.0));
    check_reads_as(
        "when tide > 5 expect rising over 1 then add half until wind < 0 or up 2% or down 0.25% or 12 bars",
        fragment(500, calm, Some(200), Some(25), Some(12)),
        "when tide > 5 expect rising over 1 then add half until wind < 0 or up 2% or down 0.25% or 12 bars",
    );
    check_reads_as(
        "when tide > 5 expect rising then add 33.3% until 12 or wind<0",
        fragment(333, calm, None, None, Some(12)),
        "when tide > 5 expect rising over 1 then add 33.3% until wind < 0 or 12 bars",
    );
    check_reads_as(
        "when tide > 5 expect rising then add 25%",
        fragment(250, None, None, None, None),
        "when tide > 5 expect rising over 1 then add quarter",
    );
    let rising = "when tide > 5 expect rising then add";
    let share = "expected a share such as 'half' or 30%, 'until' or the end";
    check_refused(&format!("{rising} 33.33%"), &format!("column 38: found '33.33%', {share}"));
    check_refused(&format!("{rising} 0%"), "column 38: found 0 thousandths, expected 1 to 1000");
    check_refused(&format!("{rising} 300%"), "column 38: found 3000 thousandths, expected 1 to 1000");
    check_refused(
        &format!("{rising} 100%"),
        "column 38: found neither a share nor a way out, which is what adding alone says",
    );
    let way = "expected a comparison such as 'tide < 0', 'up 2%', 'down 1%' or a number of bars";
    check_refused(&format!("{rising} half until"), &format!("column 48: found the end, {way}"));
    check_refused(&format!("{rising} half until soon"), &format!("column 49: found 'soon', {way}"));
    check_refused(&format!("{rising} until up 2% or up 3%"), "column 53: there are two such ways out; keep one");
    check_refused(&format!("{rising} until 2 or 3 bars"), "column 49: there are two numbers of bars; keep one");
    check_refused(&format!("{rising} until 0"), "column 38: found 0 bars, expected 1 to 100000");
    check_refused(
        &format!("{rising} until up 0.001%"),
        "column 47: found '0.001%', expected a share such as 2% or 0.25%, in hundredths of 1%",
    );
    check_refused(&format!("{rising} until 2 and 3"), "column 46: found 'and', expected 'or' or the end");
    check_refused("always expect rising then reduce half", "column 34: found 'half', expected the end");
}

#[test]
fn a_feature_may_be_named_like_a_way_out() {
    let mut world = manifest();
    world.features[1] = "up".into();
    let text = "always expect rising over 1 then add until up > 2 or up 3%";
    assert_eq!(parse(text, &world).unwrap().print(&world).unwrap(), text);
}

#[test]
fn a_heuristic_reads_like_a_sentence() {
    check_reads_as(
        "when tide > 5 and wind < 1.5% expect surge x1.3 over 12 then add",
        Parsed {
            condition: condition(&[(0, Is::Above, 5.0), (1, Is::Below, 0.015)]),
            domain: 0,
            effect: 1.3,
            blend: None,
            stance: Stance::Add,
        },
        "when tide > 5 and wind < 1.5% expect surge x1.3 over 12 then add",
    );
    check_reads_as(
        "  always\texpect rising 5.5e1% ",
        Parsed { condition: Condition::default(), domain: 1, effect: 0.55, blend: None, stance: Stance::Watch },
        "always expect rising 55% over 1",
    );
    check_reads_as(
        "when moon_age>-3e2% and expect<.5 expect swell then reduce",
        Parsed {
            condition: condition(&[(2, Is::Above, -3.0), (3, Is::Below, 0.5)]),
            domain: 2,
            effect: 1.0,
            blend: None,
            stance: Stance::Reduce,
        },
        "when moon_age > -3 and expect < 0.5 expect swell then reduce",
    );
}

#[test]
fn a_blend_reads_like_a_sentence_and_says_no_more_than_it_must() {
    let mix = |terms: &[(u8, f64)], sure: f64| Mix {
        terms: terms.iter().map(|(feature, share)| Term { feature: *feature, share: *share }).collect(),
        sure,
    };
    let like = |effect: f64, mix: Mix| Parsed {
        condition: Condition::default(),
        domain: 0,
        effect,
        blend: Some(mix),
        stance: Stance::Watch,
    };
    check_reads_as(
        "always expect surge like a blend of tide, wind",
        like(1.0, Mix::even([0, 1])),
        "always expect surge like a blend of tide, wind over 12",
    );
    check_reads_as(
        "always expect surge x0.9 like a blend of 30% tide , -.2 wind,0.1 moon_age sure 300 over 12",
        like(0.9, mix(&[(0, 0.3), (1, -0.2), (2, 0.1)], 300.0)),
        "always expect surge x0.9 like a blend of 0.3 tide, -0.2 wind, 0.1 moon_age sure 300 over 12",
    );
    check_refused("always expect surge like tide", "column 26: found 'tide', expected 'a'");
    check_refused("always expect surge like a blend of", "column 36: found the end, expected a feature");
    check_refused(
        "always expect surge like a blend of tied",
        "column 37: found 'tied', expected a feature; did you mean 'tide'?",
    );
    check_refused("always expect surge like a blend of tide, tide", "column 37: a feature stands in it twice");
    check_refused(
        "always expect surge like a blend of 0.5 tide, wind",
        "column 37: some features have a share and some have none; give one to all of them, or to none",
    );
    check_refused(
        "always expect surge like a blend of 7 tide",
        "column 37: found a share of 7, expected one from -2 to 2",
    );
    check_refused(
        "always expect surge like a blend of tide wind",
        "column 42: found 'wind', expected ',', 'sure', 'over', 'then' or the end",
    );
    check_refused(
        "always expect rising like a blend of tide",
        "column 38: 'rising' is not a value, so nothing can be blended into it",
    );
}

#[test]
fn a_mistake_is_told_by_column_with_what_was_found_and_expected() {
    check_refused("", "column 1: found the end, expected 'when' or 'always'");
    check_refused("if tide > 5", "column 1: found 'if', expected 'when' or 'always'");
    check_refused("when tied > 5", "column 6: found 'tied', expected a feature; did you mean 'tide'?");
    check_refused("when Tide > 5", "column 6: found 'Tide', expected a feature; did you mean 'tide'?");
    check_refused("when zzz > 5", "column 6: found 'zzz', expected a feature: tide, wind, moon_age, expect");
    check_refused("when tide >= 5", "column 11: found '>=', expected '>' or '<'");
    check_refused("when tide > 5 or", "column 15: found 'or', expected 'and' or 'expect'");
    check_refused("when tide > 5", "column 14: found the end, expected 'and' or 'expect'");
    check_refused("always expect surges", "column 15: found 'surges', expected a domain; did you mean 'surge'?");
    for odd in ["NaN", "inf", "1e999", "high"] {
        check_refused(
            &format!("when tide > {odd}"),
            &format!("column 13: found '{odd}', expected a finite number such as 5, -0.2, 3e6 or 1.5%"),
        );
    }
    check_refused(
        "when tide > 1 and wind > 2 and moon_age > 3 and expect > 4 and tide < 9 expect surge",
        "column 60: found 'and', expected 'expect' after 4 comparisons, which is as many as there may be",
    );
    check_refused("always expect swell then jump", "column 26: found 'jump', expected 'add' or 'reduce'");
    check_refused("always expect swell then reduce now", "column 33: found 'now', expected the end");
    check_refused("always expect surge over 12 over 12", "column 29: found 'over', expected 'then' or the end");
}

#[test]
fn an_expectation_must_be_of_its_domains_kind_and_horizon() {
    let factor = "expected a factor such as x1.3, 'like', 'over', 'then' or the end";
    let share = "expected a probability such as 55%, 'over', 'then' or the end";
    check_refused("always expect surge 55%", &format!("column 21: found '55%', {factor}"));
    check_refused("always expect rising x1.3", &format!("column 22: found 'x1.3', {share}"));
    check_refused("always expect rising 0.55", &format!("column 22: found '0.55', {share}"));
    check_refused(
        "always expect rising 120%",
        "column 22: found 1.2, expected a probability from 0 to 1 (0% to 100%) for 'rising'",
    );
    check_refused("always expect swell x-2", "column 21: found -2, expected a finite factor above 0 for 'swell'");
    check_refused("always expect surge over 6", "column 26: found '6', expected 12, the bars that 'surge' looks ahead");
}

#[test]
fn what_can_never_hold_or_says_a_thing_twice_is_refused() {
    let never = |above, below| format!("no number is both > {above} and < {below}, so it would never hold");
    check_refused("when tide > 5 and tide < 3 expect surge", &format!("column 19: {}", never("5", "3")));
    check_refused("when tide < 3 and tide > 5 expect surge", &format!("column 19: {}", never("5", "3")));
    check_refused("when tide > 5 and tide < 5 expect surge", &format!("column 19: {}", never("5", "5")));
    check_refused("when wind > 0 and wind < 5e-324 expect surge", &format!("column 19: {}", never("0", "5e-324")));
    check_refused(
        "when tide > 5 and tide > 7 expect surge",
        "column 19: this feature has a '>' already; keep one, such as '> 7'",
    );
    check_refused(
        "when tide < 5% and wind > 1 and tide < 5% expect surge",
        "column 33: this feature has a '<' already; keep one, such as '< 5%'",
    );
    assert!(parse("when tide > 3 and tide < 5 expect surge", &manifest()).is_ok());
}

#[test]
fn what_would_not_read_back_is_not_printed() {
    let refused = |parsed: &Parsed, manifest: &Manifest| parsed.print(manifest).unwrap_err().to_string();
    let sound = parse("when tide > 5 expect surge", &manifest()).unwrap();
    let nan = Parsed { condition: condition(&[(0, Is::Above, f64::NAN)]), ..sound.clone() };
    assert_eq!(refused(&nan, &manifest()), "when[0]: found NaN, expected a finite number");
    let endless = Parsed { effect: f64::INFINITY, ..sound.clone() };
    assert_eq!(refused(&endless, &manifest()), "effect: found inf, expected a finite factor above 0 for 'surge'");
    let elsewhere = Parsed { domain: 7, ..sound.clone() };
    assert_eq!(refused(&elsewhere, &manifest()), "expect.domain: no domain 7");
    let unseen = Parsed { condition: condition(&[(9, Is::Above, 5.0)]), ..sound.clone() };
    assert_eq!(refused(&unseen, &manifest()), "when[0].feature: no feature 9");
    let mut odd = manifest();
    odd.features[0] = "high tide".into();
    assert_eq!(refused(&sound, &odd), "when[0].feature: 'high tide' is not one word, so it cannot stand in text");
    odd.features = vec!["tide".into(), "tide".into()];
    let second = Parsed { condition: condition(&[(1, Is::Above, 5.0)]), ..sound };
    assert_eq!(refused(&second, &odd), "when[0].feature: 'tide' stands for two things");
}

#[test]
fn conditions_are_the_same_in_any_order() {
    let of = |text: &str| parse(&format!("when {text} expect surge"), &manifest()).unwrap().condition;
    assert!(of("tide > 5 and wind < 3").same(&of("wind < 3 and tide > 5")));
    assert!(of("tide > 0").same(&of("tide > -0")));
    assert!(!of("tide > 5").same(&of("tide < 5")));
    assert!(!of("tide > 5").same(&of("tide > 5 and wind < 3")));
    let twice = condition(&[(0, Is::Above, 5.0), (1, Is::Below, 3.0), (0, Is::Above, 5.0)]);
    assert!(twice.same(&of("wind < 3 and tide > 5")), "saying it twice says no more");
}

#[test]
fn the_words_of_others_are_quoted_short_and_harmless() {
    let long = "z".repeat(1_000_000);
    let sentence = parse(&format!("when \u{1b}[2J{long}"), &manifest()).unwrap_err().to_string();
    assert!(sentence.starts_with("column 6: found '\\u{1b}[2Jzzz") && sentence.len() < 200, "{sentence}");
    check_refused("when tidø", "column 6: found 'tidø', expected a feature; did you mean 'tide'?");
    check_refused("when tide > ø5 x", "column 13: found 'ø5', expected a finite number such as 5, -0.2, 3e6 or 1.5%");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]

    #[test]
    fn what_is_printed_reads_back_as_the_same(parsed in any_parsed()) {
        let text = parsed.print(&manifest()).unwrap();
        let read = parse(&text, &manifest()).unwrap();
        let bits = |of: &Parsed| of.condition.0.iter().map(|c| c.than.to_bits()).collect::<Vec<_>>();
        prop_assert_eq!((bits(&read), read.effect.to_bits()), (bits(&parsed), parsed.effect.to_bits()));
        prop_assert_eq!(&read, &parsed);
        prop_assert_eq!(read.print(&manifest()).unwrap(), text);
    }

    #[test]
    fn order_never_makes_a_condition_another_one(parsed in any_parsed(), turn in 0_usize..4) {
        let mut turned = parsed.condition.clone();
        if !turned.0.is_empty() {
            let by = turn % turned.0.len();
            turned.0.rotate_left(by);
        }
        prop_assert!(turned.same(&parsed.condition));
        prop_assert_eq!(turned.canonical(), turned.canonical().canonical());
    }

    #[test]
    fn no_text_makes_the_reader_stumble(
        text in ".{0,80}",
        words in proptest::collection::vec("when|always|expect|and|over|then|add|half|until|or|up|down|bars|tide|surge|rising|>|<|5|x2|55%|12|é", 0..14),
    ) {
        for text in [text, words.join(" ")] {
            if let Ok(parsed) = parse(&text, &manifest()) {
                prop_assert_eq!(parse(&parsed.print(&manifest()).unwrap(), &manifest()), Ok(parsed));
            }
        }
    }
}

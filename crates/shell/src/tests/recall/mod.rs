//! What comes to mind when somebody asks: 384 questions, each about one entry among five thousand, many of
//! them easily mistaken for it, asked by words alone, by meaning alone and by both. How the pairs were made stands in
//! pairs.txt; what is checked here needs no model, what is measured with one stands in measured.rs.

mod library;
#[cfg(feature = "local")]
mod measured;
mod neighbours;

use std::collections::BTreeSet;

use golem::rule::text;

use library::{Half, Library, Pair, Phrasing};

/// The share of a question's words that stand in its entry; short ones hold sentences together and say nothing.
fn shared(library: &Library, pair: &Pair) -> f64 {
    let words = |text: &str| -> BTreeSet<String> {
        let all = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 3);
        all.map(str::to_lowercase).collect()
    };
    let (asked, said) = (words(&pair.question), words(&library.targets[pair.target].1));
    asked.intersection(&said).count() as f64 / asked.len().max(1) as f64
}

#[test]
fn the_pairs_are_of_the_kinds_and_counts_they_are_said_to_be() {
    let library = Library::new();
    println!("{} pairs, {} entries", library.pairs.len(), library.texts.len());
    assert!(library.texts.len() >= 1_500);
    for (asked, shares) in
        [(Phrasing::InOtherWords, 0.0..0.1), (Phrasing::ByNames, 0.7..1.0), (Phrasing::AsAQuestion, 0.4..0.7)]
    {
        let of: Vec<&Pair> = library.pairs.iter().filter(|pair| pair.asked == asked).collect();
        let of_half = |half| of.iter().filter(|pair| pair.half() == half).count();
        assert_eq!([of_half(Half::Tuning), of_half(Half::Reporting)], [64, 64]);
        let share = of.iter().map(|pair| shared(&library, pair)).sum::<f64>() / of.len() as f64;
        println!("{asked:?}: {share:.2} of the longer words stand in the entry");
        assert!(shares.contains(&share), "{asked:?} {share}");
    }
    let questions: BTreeSet<&str> = library.pairs.iter().map(|pair| pair.question.as_str()).collect();
    assert_eq!(questions.len(), library.pairs.len(), "each is asked once");
}

#[test]
fn what_a_golem_is_said_to_have_worded_is_what_it_would_print() {
    let (library, worlds) = (Library::new(), neighbours::worlds());
    let rules = library.targets.iter().filter_map(|(_, text)| {
        let rule = text.strip_prefix("what was held fell to its stop: ").unwrap_or(text);
        rule.contains(" expect ").then_some(rule)
    });
    let mut count = 0;
    for rule in rules {
        let read = |world| text::parse(rule, world).ok()?.print(world).ok();
        assert!(worlds.iter().any(|world| read(world).as_deref() == Some(rule)), "{rule}");
        count += 1;
    }
    assert_eq!(count, 48);
}

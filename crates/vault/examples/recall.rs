//! What recall costs and what it finds, as ratios in one run: `cargo run --release -p bardo-vault --example recall`.
//!
//! The library and its questions are made up (see tests/common); `--entries N` makes it smaller. How well words
//! and meaning go together with real questions and a real model is measured by `just local`.

#[path = "../tests/it/common/mod.rs"]
mod common;

use std::collections::BTreeMap;
use std::time::Instant;

use common::cost::{self, MODEL, query};
use common::{Chance, Library, Question};
use rusqlite::Connection;
use vault::Error;
use vault::grimoire::{Query, Recall};

const DIMENSIONS: usize = 384;

fn main() -> Result<(), Error> {
    let mut args = std::env::args().skip_while(|arg| arg != "--entries").skip(1);
    let size = args.next().and_then(|n| n.parse().ok()).unwrap_or(20_000);
    let build = if cfg!(debug_assertions) { "DEBUG: figures mean nothing" } else { "release" };
    println!("{size} entries, {DIMENSIONS} dimensions; {build}");
    let mut chance = Chance(4);
    let library = Library::new(size, DIMENSIONS, &mut chance);
    let questions: Vec<Question> = (0..600).map(|_| library.question(&mut chance)).collect();
    let folder = tempfile::tempdir().expect("a folder");
    let mut db = Connection::open(folder.path().join("life.db")).expect("a file");
    db.pragma_update(None, "journal_mode", "WAL").expect("WAL");
    db.pragma_update(None, "synchronous", "OFF").expect("a setting");
    sizes(&mut db, &library)?;
    cost::measure(&db, &library, &questions[..200], 5).print();
    found(&db, &library, &questions)
}

fn sizes(db: &mut Connection, library: &Library) -> Result<(), Error> {
    let n = library.entries.len();
    let bytes = |db: &Connection| {
        let sql = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size";
        db.query_row(sql, [], |row| row.get::<_, i64>(0)).expect("a size") as usize / n
    };
    let began = Instant::now();
    cost::fill(db, library);
    println!("{:.1} µs to write an entry, five at a time, not synced", began.elapsed().as_secs_f64() * 1e6 / n as f64);
    let without = bytes(db);
    cost::embed(db, library);
    println!("on disk: {without} bytes an entry and {} its vector", bytes(db) - without);
    let began = Instant::now();
    let recall = Recall::open(db, Some(MODEL))?;
    let took = began.elapsed().as_secs_f64() * 1e3;
    println!("in memory: {} bytes an entry with its vector; opened in {took:.0} ms", recall.bytes() / n);
    Ok(())
}

/// How often the entry a question was made from is among the first ten, by ways to put words and meaning together:
/// by relevance alone, and by the whole score, where the other parts have their say as well. Asked is about
/// entries that still count for something.
fn found(db: &Connection, library: &Library, questions: &[Question]) -> Result<(), Error> {
    let recall = Recall::open(db, Some(MODEL))?;
    let (n, mut asked) = (library.entries.len(), 0);
    let mut tally: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for question in questions {
        let (mut k, mut l, mut rest, mut built) = (vec![0.0; n], vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        for hit in recall.search(db, &Query { statuses: Vec::new(), ..query(question, usize::MAX) })? {
            let at = hit.entry.id as usize - 1;
            (k[at], l[at]) = (hit.parts.keywords, hit.parts.likeness.unwrap_or(0.0));
            (rest[at], built[at]) = (hit.score / hit.parts.relevance, hit.parts.relevance);
        }
        let target = question.target as usize - 1;
        if rest[target] < 0.25 {
            continue;
        }
        asked += 1;
        let mut count = |how: String, relevance: &dyn Fn(usize) -> f64| {
            let first = |score: &dyn Fn(usize) -> f64| {
                let own = score(target);
                let before = (0..n).filter(|at| score(*at) > own || (score(*at) == own && *at < target)).count();
                usize::from(before < 10 && own > 0.0)
            };
            let tally = tally.entry(how).or_default();
            tally.0 += first(relevance);
            tally.1 += first(&|at| relevance(at) * rest[at]);
        };
        for (w, power) in [(0.0, 4), (0.3, 4), (0.5, 1), (0.5, 2), (0.5, 4), (0.5, 8), (0.7, 4), (1.0, 4)] {
            let sum = |at: usize| (w * k[at] + (1.0 - w) * l[at]).powi(power);
            count(format!("sum, {w:.1} by words, to the power of {power}"), &sum);
        }
        let (rk, rl) = (ranks(&k), ranks(&l));
        for c in [5.0, 60.0] {
            count(format!("reciprocal ranks, {c}"), &|at| 1.0 / (c + rk[at]) + 1.0 / (c + rl[at]));
        }
        count("as built".into(), &|at| built[at]);
    }
    println!("\n{:<40} {:>10} {:>10}", format!("among the first ten, of {asked}"), "relevance", "score");
    tally.iter().for_each(|(how, (alone, whole))| println!("{how:<40} {alone:>10} {whole:>10}"));
    Ok(())
}

/// The place of each, from one; infinitely far if it was not found at all.
fn ranks(of: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..of.len()).filter(|at| of[*at] > 0.0).collect();
    order.sort_by(|a, b| of[*b].total_cmp(&of[*a]).then(a.cmp(b)));
    let mut ranks = vec![f64::INFINITY; of.len()];
    order.into_iter().enumerate().for_each(|(rank, at)| ranks[at] = rank as f64 + 1.0);
    ranks
}

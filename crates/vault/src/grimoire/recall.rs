//! Recall: the entries that come to mind for a question. Words and meaning say what is relevant; confidence, recency,
//! regime and bloodstain say what of it counts now.
//!
//! All that ranking needs is held in memory: 48 bytes an entry and its vector. Only what is returned is read
//! from the file. Recall is opened at the first question, kept up to date with every decision from then on, and can be
//! dropped at any time; a golem that is never asked pays nothing for it.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use golem::Time;
use golem::grimoire::{Decision, Entry, Kind, Status};
use golem::regime::Regime;
use rusqlite::Connection;
use serde::Serialize;

use super::card::{Card, MatrixRow, nothing_known};
use super::row::{all, body_of, decode, exists};
use super::score::{self, Parts};
use super::vectors::{self, Matrix, UnembeddedEntry};
use super::words;
use crate::error::Error;

/// A question: its text, the entries it is about, and the time.
#[derive(Clone, Debug)]
pub struct Query {
    /// Free text; an empty text asks for all entries, best first.
    pub text: String,
    /// The vector of the text, by the model that recall was opened with; without it words alone decide.
    pub embedding: Option<Vec<f32>>,
    /// An empty list means any kind.
    pub kinds: Vec<Kind>,
    pub statuses: Vec<Status>,
    /// Only entries about this domain.
    pub domain: Option<u8>,
    /// Only entries that hold in this regime: learned in it, or in none.
    pub regime: Option<Regime>,
    pub now: Time,
    pub regime_now: Regime,
    /// How far another regime is thought to be setting in, 0 to 1; entries of other regimes half wake meanwhile.
    pub transition: f64,
    pub limit: usize,
}

/// An entry that came to mind, and why.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hit {
    pub entry: Entry,
    pub score: f64,
    pub parts: Parts,
}

/// The entries as far as ranking needs them.
#[derive(Debug)]
pub struct Recall {
    model: Option<String>,
    /// By number.
    cards: Vec<Card>,
    vectors: Matrix,
    /// Words in all entries together.
    words: usize,
}

/// The relevance of each card to a question.
struct Relevance {
    /// Indices of the cards that may answer the question.
    admitted: Vec<u32>,
    words_asked: bool,
    keywords: Vec<f32>,
    cosines: Vec<f32>,
    usual: f64,
    best: f32,
}

/// A card's place in the ranking; of equals the older entry comes first.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Ranked {
    score: f64,
    id: u64,
    at: usize,
}

impl Query {
    /// A golem's own question: about what it holds true, in this regime or another.
    pub fn about(text: impl Into<String>, now: Time, regime_now: Regime) -> Query {
        Query {
            text: text.into(),
            embedding: None,
            kinds: Vec::new(),
            statuses: vec![Status::Active, Status::Dormant],
            domain: None,
            regime: None,
            now,
            regime_now,
            transition: 0.0,
            limit: 10,
        }
    }

    /// Indices of the cards the question is about.
    fn admitted(&self, cards: &[Card]) -> Vec<u32> {
        let bits = |set: &mut dyn Iterator<Item = u8>| set.fold(0_u8, |bits, one| bits | 1 << one);
        let kinds = bits(&mut self.kinds.iter().map(|kind| *kind as u8));
        let statuses = bits(&mut self.statuses.iter().map(|status| *status as u8));
        let admits = |card: &Card| {
            (kinds == 0 || kinds & 1 << card.kind as u8 != 0)
                && (statuses == 0 || statuses & 1 << card.status as u8 != 0)
                && (self.domain.is_none() || self.domain == card.domain)
                && (self.regime.is_none() || card.regime.is_none() || self.regime == card.regime)
        };
        (0..).zip(cards).filter(|(_, card)| admits(card)).map(|(at, _)| at).collect()
    }
}

impl Recall {
    /// Reads all entries, and their vectors by this model. The model's name must change with anything that changes its
    /// vectors.
    pub fn open(db: &Connection, model: Option<&str>) -> Result<Recall, Error> {
        let what = "cannot read the entries";
        let mut recall =
            Recall { model: model.map(str::to_owned), cards: Vec::new(), vectors: Matrix::default(), words: 0 };
        if !exists(db).map_err(Error::sqlite(what))? {
            return Ok(recall);
        }
        words::mend(db).map_err(Error::sqlite("cannot make the index of words"))?;
        all(db, |entry| {
            let card = Card::of(&entry);
            recall.words += usize::from(card.words);
            recall.cards.push(card);
        })?;
        recall.cards.shrink_to_fit();
        if let Some(model) = model {
            vectors::stored(db, model, |id, vector| recall.place(id, &vector)).map_err(Error::sqlite(what))?;
            recall.vectors.shrink();
        }
        Ok(recall)
    }

    /// Takes in a decision, as soon as its record is durable.
    pub fn keep(&mut self, decision: &Decision) {
        let entry = match decision {
            Decision::Put(entry) => entry,
            Decision::Forget(id) => return self.forget(*id),
        };
        let mut card = Card::of(entry);
        self.words += usize::from(card.words);
        match self.find(entry.id) {
            Ok(at) => {
                let before = self.cards[at];
                self.words -= usize::from(before.words);
                card.vector = before.vector;
                self.cards[at] = card;
                if card.text != before.text {
                    self.drop_vector(at);
                }
            }
            Err(at) => self.cards.insert(at, card),
        }
    }

    fn forget(&mut self, id: u64) {
        if let Ok(at) = self.find(id) {
            self.drop_vector(at);
            self.words -= usize::from(self.cards[at].words);
            self.cards.remove(at);
        }
    }

    /// Stores the model's vector of an entry's text, and searches by it from now on.
    pub fn embed(&mut self, db: &Connection, of: &UnembeddedEntry, vector: &[f32]) -> Result<bool, Error> {
        let Some(model) = self.model.clone() else {
            return Err(Error::Embedding("no model was named when recall was opened".to_owned()));
        };
        self.fits(vector)?;
        let stored = vectors::embed(db, of, &model, vector)?;
        if stored {
            self.place(of.id, &vectors::unit(vector)?);
        }
        Ok(stored)
    }

    /// The best entries for a question, best first; ties are always broken the same way.
    pub fn search(&self, db: &Connection, query: &Query) -> Result<Vec<Hit>, Error> {
        if query.limit == 0 || self.cards.is_empty() {
            return Ok(Vec::new());
        }
        let Some(relevance) = self.relevance(db, query)? else { return Ok(Vec::new()) };
        let mut hits = Vec::new();
        for ranked in self.rank(query, &relevance) {
            // Another process may be running this life: what is shown is what the file says now.
            let Some(body) = body_of(db, ranked.id).map_err(Error::sqlite("cannot read the entries"))? else {
                continue;
            };
            let entry = decode(ranked.id, &body)?;
            let parts = relevance.parts(&self.cards[ranked.at], ranked.at, &entry, query);
            hits.push(Hit { entry, score: parts.score(), parts });
        }
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.entry.id.cmp(&b.entry.id)));
        Ok(hits)
    }

    pub fn len(&self) -> usize {
        self.cards.len()
    }

    pub fn is_empty(&self) -> bool {
        self.cards.is_empty()
    }

    /// How many entries have a vector.
    pub fn embedded(&self) -> usize {
        self.vectors.len()
    }

    /// Bytes of memory taken by cards and vectors.
    pub fn bytes(&self) -> usize {
        self.cards.capacity() * size_of::<Card>() + self.vectors.bytes()
    }

    fn find(&self, id: u64) -> Result<usize, usize> {
        self.cards.binary_search_by_key(&id, |card| card.id)
    }

    fn fits(&self, vector: &[f32]) -> Result<(), Error> {
        let dimensions = self.vectors.dimensions();
        if self.vectors.len() == 0 || vector.len() == dimensions {
            return Ok(());
        }
        Err(Error::Embedding(format!("it has {} dimensions where the others have {dimensions}", vector.len())))
    }

    fn place(&mut self, id: u64, vector: &[f32]) {
        let Ok(at) = self.find(id) else { return };
        match self.cards[at].vector {
            Some(row) => self.vectors.replace(row.index(), vector),
            None => self.cards[at].vector = self.vectors.push(id, vector).and_then(MatrixRow::new),
        }
    }

    fn drop_vector(&mut self, at: usize) {
        let Some(row) = self.cards[at].vector.take() else { return };
        if let Some(moved) = self.vectors.remove(row.index())
            && let Ok(at) = self.find(moved)
        {
            self.cards[at].vector = Some(row);
        }
    }

    /// Works out the relevance of every card; `None` if no word or vector can answer the question.
    fn relevance(&self, db: &Connection, query: &Query) -> Result<Option<Relevance>, Error> {
        let asked = words::asked(&query.text);
        let nothing_asked = query.text.trim().is_empty() && query.embedding.is_none();
        if asked.is_empty() && query.embedding.is_none() && !nothing_asked {
            return Ok(None);
        }
        let keywords = match nothing_asked {
            true => vec![1.0; self.cards.len()],
            false => self.keywords(db, &asked).map_err(Error::sqlite("cannot read the index of words"))?,
        };
        let (admitted, words_asked) = (query.admitted(&self.cards), !asked.is_empty());
        let mut relevance = Relevance { admitted, words_asked, keywords, cosines: Vec::new(), usual: 0.0, best: 0.0 };
        if let Some(embedding) = &query.embedding {
            self.fits(embedding)?;
            relevance.cosines = self.vectors.scan(&vectors::unit(embedding)?);
            relevance.usual = score::usual(&relevance.cosines);
            let admitted = relevance.admitted.iter().map(|at| &self.cards[*at as usize]);
            relevance.best = admitted.filter_map(|card| relevance.cosine(card)).fold(0.0, f32::max);
        }
        Ok(Some(relevance))
    }

    /// For each card the share of the question's words that it has, weighted by how much each word tells.
    fn keywords(&self, db: &Connection, asked: &[String]) -> rusqlite::Result<Vec<f32>> {
        let mut sums = vec![0.0_f32; self.cards.len()];
        if asked.is_empty() {
            return Ok(sums);
        }
        let average = self.words as f64 / self.cards.len() as f64;
        let (mut standing, mut in_all) = (Vec::new(), 0.0);
        for word in asked {
            standing.clear();
            // Both are ordered by number, so one pass over the cards finds them all.
            let mut at = 0;
            words::standing(db, word, |id| {
                while self.cards.get(at).is_some_and(|card| card.id < id) {
                    at += 1;
                }
                standing.extend(self.cards.get(at).filter(|card| card.id == id).map(|_| at));
            })?;
            let tells = score::tells(standing.len(), self.cards.len());
            in_all += tells;
            for at in &standing {
                sums[*at] += (tells * score::dilution(usize::from(self.cards[*at].words), average)) as f32;
            }
        }
        sums.iter_mut().for_each(|sum| *sum = (*sum / in_all as f32).min(1.0));
        Ok(sums)
    }

    /// The best cards in order. The highest score an entry could reach is known before its fading is worked out, which
    /// most entries are spared.
    fn rank(&self, query: &Query, relevance: &Relevance) -> Vec<Ranked> {
        let mut best: BinaryHeap<Reverse<Ranked>> = BinaryHeap::new();
        let mut lent = nothing_known();
        for at in relevance.admitted.iter().map(|at| *at as usize) {
            let card = &self.cards[at];
            let mut parts = relevance.of(card, at);
            parts.confidence = card.by_evidence;
            parts.recency = 1.0;
            parts.regime = score::regime_fit(card.regime, query.regime_now, query.transition);
            parts.bloodstain = score::bloodstain(card.bloodstain);
            let worst = best.peek().filter(|_| best.len() >= query.limit).map(|worst| worst.0);
            if parts.relevance <= 0.0 || worst.is_some_and(|worst| parts.score() < worst.score) {
                continue;
            }
            parts.confidence = card.confidence(&mut lent, query.now);
            parts.recency = score::recency(query.now.since(card.validated_at));
            let ranked = Ranked { score: parts.score(), id: card.id, at };
            if worst.is_none_or(|worst| ranked > worst) {
                best.push(Reverse(ranked));
                if best.len() > query.limit {
                    best.pop();
                }
            }
        }
        best.into_sorted_vec().into_iter().map(|Reverse(ranked)| ranked).collect()
    }
}

impl Relevance {
    fn cosine(&self, card: &Card) -> Option<f32> {
        card.vector.and_then(|row| self.cosines.get(row.index())).copied()
    }

    fn of(&self, card: &Card, at: usize) -> Parts {
        let keywords = f64::from(self.keywords[at]);
        let likeness = self.cosine(card).map(|cosine| score::likeness(cosine, self.usual, self.best));
        let relevance = score::relevance(self.words_asked, keywords, likeness);
        Parts { keywords, likeness, relevance, ..Parts::default() }
    }

    fn parts(&self, card: &Card, at: usize, entry: &Entry, query: &Query) -> Parts {
        Parts {
            confidence: entry.confidence(query.now),
            recency: score::recency(query.now.since(entry.validated_at)),
            regime: score::regime_fit(entry.regime, query.regime_now, query.transition),
            bloodstain: score::bloodstain(entry.bloodstain),
            ..self.of(card, at)
        }
    }
}

impl Eq for Ranked {}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Ranked) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ranked {
    fn cmp(&self, other: &Ranked) -> Ordering {
        self.score.total_cmp(&other.score).then(other.id.cmp(&self.id))
    }
}

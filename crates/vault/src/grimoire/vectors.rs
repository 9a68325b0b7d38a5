//! Vectors: where the text of an entry lies among meanings, by some model. Stored beside the entries as they
//! come in, searched by an exact scan of one block of memory; at the sizes of a life nothing is faster, and
//! nothing is missed.

use std::collections::BTreeSet;

use rusqlite::{Connection, params};

use super::row::{exists, str_at, text_in, text_of};
use crate::error::Error;

const CREATE: &str = "CREATE TABLE IF NOT EXISTS embedding(id INTEGER PRIMARY KEY, model TEXT NOT NULL,
    vector BLOB NOT NULL) STRICT; CREATE INDEX IF NOT EXISTS embedding_model ON embedding(model);";

/// Partial sums of [`dot`], kept apart so that the processor can work on all of them at once.
const LANES: usize = 16;

/// An entry that has no vector of the present model yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnembeddedEntry {
    pub id: u64,
    pub text: String,
}

/// Vectors of unit length, end to end.
#[derive(Debug, Default)]
pub(super) struct Matrix {
    dimensions: usize,
    ids: Vec<u64>,
    values: Vec<f32>,
}

pub(super) fn prepare(db: &Connection) -> rusqlite::Result<()> {
    db.execute_batch(CREATE)
}

/// Entries that wait for a vector of this model, oldest first; all of them after the model has changed.
pub fn to_embed(db: &Connection, model: &str, limit: usize) -> Result<Vec<UnembeddedEntry>, Error> {
    let what = "cannot read the entries";
    if !exists(db).map_err(Error::sqlite(what))? {
        return Ok(Vec::new());
    }
    let sql = "SELECT id, body FROM entry WHERE id NOT IN (SELECT id FROM embedding WHERE model = ?1)
               ORDER BY id LIMIT ?2";
    let mut query = db.prepare_cached(sql).map_err(Error::sqlite(what))?;
    let most = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = query.query_map(params![model, most], |row| {
        let text = text_in(str_at(row, 1)).unwrap_or_default().into_owned();
        Ok(UnembeddedEntry { id: row.get::<_, i64>(0)? as u64, text })
    });
    rows.and_then(Iterator::collect).map_err(Error::sqlite(what))
}

/// Stores a model's vector of an entry's text. A model takes its time: if the text has changed meanwhile, the vector is
/// of no use and is not stored, and the entry stays in the queue.
pub fn embed(db: &Connection, of: &UnembeddedEntry, model: &str, vector: &[f32]) -> Result<bool, Error> {
    let what = "cannot store an embedding";
    let vector = unit(vector)?;
    if text_of(db, of.id).map_err(Error::sqlite(what))?.as_deref() != Some(of.text.as_str()) {
        return Ok(false);
    }
    let bytes: Vec<u8> = vector.iter().flat_map(|value| value.to_le_bytes()).collect();
    db.prepare_cached("INSERT OR REPLACE INTO embedding VALUES(?1, ?2, ?3)")
        .and_then(|mut insert| insert.execute(params![of.id as i64, model, bytes]))
        .map_err(Error::sqlite(what))?;
    Ok(true)
}

pub(super) fn forget(db: &Connection, id: u64) -> rusqlite::Result<()> {
    db.prepare_cached("DELETE FROM embedding WHERE id = ?1")?.execute([id as i64])?;
    Ok(())
}

/// Removes the vectors of all entries but these.
pub(super) fn keep_only(db: &Connection, ids: &BTreeSet<u64>) -> rusqlite::Result<()> {
    let stored: Vec<i64> =
        db.prepare("SELECT id FROM embedding")?.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    for id in stored.into_iter().map(|id| id as u64).filter(|id| !ids.contains(id)) {
        forget(db, id)?;
    }
    Ok(())
}

/// Every stored vector of a model, handed to `each`.
pub(super) fn stored(db: &Connection, model: &str, mut each: impl FnMut(u64, Vec<f32>)) -> rusqlite::Result<()> {
    let mut query = db.prepare("SELECT id, vector FROM embedding WHERE model = ?1 ORDER BY id")?;
    let mut rows = query.query([model])?;
    while let Some(row) = rows.next()? {
        let bytes = row.get_ref(1)?.as_blob()?;
        let values = bytes.as_chunks::<4>().0.iter().map(|four| f32::from_le_bytes(*four)).collect();
        each(row.get::<_, i64>(0)? as u64, values);
    }
    Ok(())
}

/// Scales a vector to length one, so that the dot product of two is their cosine.
pub(super) fn unit(vector: &[f32]) -> Result<Vec<f32>, Error> {
    let length = vector.iter().map(|value| f64::from(*value) * f64::from(*value)).sum::<f64>().sqrt();
    if !length.is_finite() || length == 0.0 {
        return Err(Error::Embedding(format!("{} numbers without a direction", vector.len())));
    }
    Ok(vector.iter().map(|value| (f64::from(*value) / length) as f32).collect())
}

/// The dot product of two vectors, in one order of additions everywhere, so that a ranking is the same on every
/// machine.
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    let (a, a_rest) = a.as_chunks::<LANES>();
    let (b, b_rest) = b.as_chunks::<LANES>();
    let mut sums = [0.0_f32; LANES];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f32>() + rest
}

impl Matrix {
    /// Appends a vector and returns its row; `None` for a vector of another size than the rest.
    pub(super) fn push(&mut self, id: u64, vector: &[f32]) -> Option<usize> {
        if self.ids.is_empty() {
            self.dimensions = vector.len();
        }
        if vector.is_empty() || vector.len() != self.dimensions {
            return None;
        }
        // An eighth ahead, not the double that a `Vec` takes by default: this is most of a golem's memory.
        if self.values.capacity() - self.values.len() < vector.len() {
            let ahead = (self.ids.len() / 8).max(8);
            self.values.reserve_exact(ahead * self.dimensions);
            self.ids.reserve_exact(ahead);
        }
        self.ids.push(id);
        self.values.extend_from_slice(vector);
        Some(self.ids.len() - 1)
    }

    /// Gives back the memory reserved for more rows.
    pub(super) fn shrink(&mut self) {
        self.values.shrink_to_fit();
        self.ids.shrink_to_fit();
    }

    /// Removes a row; the last row moves into its place, and the entry that row belongs to is returned.
    pub(super) fn remove(&mut self, row: usize) -> Option<u64> {
        let last = self.ids.len() - 1;
        self.ids.swap_remove(row);
        self.values.copy_within(last * self.dimensions.., row * self.dimensions);
        self.values.truncate(last * self.dimensions);
        self.ids.get(row).copied()
    }

    pub(super) fn replace(&mut self, row: usize, vector: &[f32]) {
        self.values[row * self.dimensions..][..self.dimensions].copy_from_slice(vector);
    }

    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    pub(super) fn dimensions(&self) -> usize {
        self.dimensions
    }

    pub(super) fn bytes(&self) -> usize {
        self.values.capacity() * size_of::<f32>() + self.ids.capacity() * size_of::<u64>()
    }

    /// The likeness of every row to a vector of unit length.
    pub(super) fn scan(&self, to: &[f32]) -> Vec<f32> {
        if self.ids.is_empty() {
            return Vec::new();
        }
        self.values.chunks_exact(self.dimensions).map(|row| dot(row, to)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dot_product_is_the_plain_one_at_any_length() {
        for length in 0..70 {
            let a: Vec<f32> = (0..length).map(|n| (n % 7) as f32 - 3.0).collect();
            let b: Vec<f32> = (0..length).map(|n| (n % 5) as f32 - 2.0).collect();
            let plain: f32 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
            assert_eq!(dot(&a, &b), plain, "small whole numbers add up exactly in any order");
        }
    }

    #[test]
    fn a_matrix_stays_whole_when_rows_come_and_go() {
        let mut matrix = Matrix::default();
        for id in 0..5 {
            assert_eq!(matrix.push(id, &[id as f32, 1.0]), Some(id as usize));
        }
        assert_eq!(matrix.push(9, &[1.0, 2.0, 3.0]), None, "of another size");
        assert_eq!(matrix.remove(1), Some(4), "the last one took its place");
        assert_eq!(matrix.remove(3), None, "it was the last itself");
        matrix.replace(0, &[7.0, 0.0]);
        assert_eq!(matrix.scan(&[1.0, 10.0]), [7.0, 14.0, 12.0]);
    }

    #[test]
    fn what_has_no_direction_is_refused() {
        for vector in [&[][..], &[0.0, 0.0], &[f32::NAN, 1.0], &[f32::INFINITY, 1.0]] {
            assert!(unit(vector).is_err(), "{vector:?}");
        }
        assert_eq!(unit(&[3.0, 4.0]).unwrap(), [0.6, 0.8]);
    }
}

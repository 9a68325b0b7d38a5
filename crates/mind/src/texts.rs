//! Batches of texts: a bounded number of texts and bytes in each batch, a bounded length of each text.

use crate::Error;

/// The most texts in one batch.
pub const BATCH: usize = 256;
/// The most bytes of text in one batch.
pub const BATCH_BYTES: usize = 256 << 10;
/// The longest text. Every model sees far less of it; this only keeps a mistake from becoming a large one.
pub const TEXT_BYTES: usize = 64 << 10;

/// Refuses texts that are empty or too long, before anything is asked.
pub(crate) fn check(texts: &[&str]) -> Result<(), Error> {
    for (index, text) in texts.iter().enumerate() {
        if text.trim().is_empty() {
            return Err(Error::Text { index, why: "it is empty".to_owned() });
        }
        if text.len() > TEXT_BYTES {
            let why = format!("it is {} bytes long, and {TEXT_BYTES} is the limit", text.len());
            return Err(Error::Text { index, why });
        }
    }
    Ok(())
}

/// Cuts checked texts into batches of at most `most` texts and [`BATCH_BYTES`], in order.
pub(crate) fn batches<'a>(mut texts: &'a [&'a str], most: usize) -> impl Iterator<Item = &'a [&'a str]> {
    std::iter::from_fn(move || {
        let mut bytes = 0;
        let fits = |text: &&&str| {
            bytes += text.len();
            bytes <= BATCH_BYTES
        };
        let count = texts.iter().take(most).take_while(fits).count();
        let (batch, rest) = texts.split_at(count);
        texts = rest;
        (!batch.is_empty()).then_some(batch)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_are_bounded_in_texts_and_in_bytes_and_leave_nothing_out() {
        let long = "x".repeat(TEXT_BYTES);
        let texts: Vec<&str> = ["a", "b", "c", "d", "e"].into_iter().chain([long.as_str(); 9]).collect();
        let sizes: Vec<usize> = batches(&texts, 5).map(<[&str]>::len).collect();
        assert_eq!(sizes, [5, 4, 4, 1]);
        assert_eq!(batches(&texts, 5).flatten().count(), texts.len());
        assert_eq!(batches(&[], 5).count(), 0);
    }

    #[test]
    fn empty_and_endless_texts_are_named_by_their_place() {
        let long = "x".repeat(TEXT_BYTES + 1);
        for (texts, place) in [(["fine", " \n"], 1), ([long.as_str(), "fine"], 0)] {
            assert!(matches!(check(&texts), Err(Error::Text { index, .. }) if index == place));
        }
        assert!(check(&["fine", &long[1..]]).is_ok());
    }
}

//! A server's answer, read with distrust: as many vectors as texts, each in its place, all of one length and made of
//! numbers. Also the message in a server's error.

use serde::Deserialize;

use tariff::printable;

use crate::vector::unit;

#[derive(Deserialize)]
struct ChatAnswer {
    data: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    index: Option<usize>,
    /// The vector; some servers send null for what is not a number, since JSON has no word for it.
    embedding: Vec<Option<f32>>,
}

/// The vectors in the order of the texts, of one dimension and of length one; or why they cannot be used.
pub(crate) fn vectors(body: &[u8], wanted: usize) -> Result<Vec<Vec<f32>>, String> {
    let answer: ChatAnswer =
        serde_json::from_slice(body).map_err(|why| format!("it does not have the expected form ({why})"))?;
    if answer.data.len() != wanted {
        return Err(format!("{} vectors came for {wanted} texts", answer.data.len()));
    }
    let mut placed: Vec<Option<Vec<f32>>> = vec![None; wanted];
    for (position, item) in answer.data.into_iter().enumerate() {
        let index = item.index.unwrap_or(position);
        let free = placed.get_mut(index).filter(|place| place.is_none());
        let place = free.ok_or_else(|| format!("two vectors are for text {index}, or there is no such text"))?;
        let numbers = item.embedding.into_iter().collect::<Option<Vec<f32>>>();
        let vector = numbers.and_then(unit).ok_or_else(|| {
            format!("the vector of text {index} is empty, all zeros, or holds something that is not a number")
        })?;
        *place = Some(vector);
    }
    let vectors: Vec<Vec<f32>> = placed.into_iter().flatten().collect();
    match vectors.iter().find(|vector| vector.len() != vectors[0].len()) {
        Some(other) => Err(format!("vectors of {} and of {} dimensions came together", vectors[0].len(), other.len())),
        None => Ok(vectors),
    }
}

/// The message inside an error's body, from any of the usual places, made fit for a terminal.
pub(crate) fn complaint(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let json: Option<serde_json::Value> = serde_json::from_str(&text).ok();
    let message = json.as_ref().and_then(|json| {
        let places = [json.pointer("/error/message"), json.get("error"), json.get("message"), json.get("detail")];
        places.into_iter().flatten().find_map(|place| place.as_str())
    });
    let shown = printable(message.unwrap_or(&text));
    if shown.is_empty() { "it does not say why".to_owned() } else { shown }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_refused(data: &str, wanted: usize, word: &str) {
        let why = vectors(format!(r#"{{"data":[{data}]}}"#).as_bytes(), wanted).unwrap_err();
        assert!(why.contains(word), "{why}");
    }

    #[test]
    fn vectors_come_back_in_the_order_of_the_texts() {
        let turned = br#"{"data":[{"index":1,"embedding":[0,2]},{"index":0,"embedding":[3,0]}],"model":"x"}"#;
        assert_eq!(vectors(turned, 2).unwrap(), [[1.0, 0.0], [0.0, 1.0]]);
        let unnumbered = br#"{"data":[{"embedding":[3,0]},{"embedding":[0,2]}]}"#;
        assert_eq!(vectors(unnumbered, 2).unwrap(), [[1.0, 0.0], [0.0, 1.0]]);
    }

    #[test]
    fn answers_that_do_not_fit_are_refused() {
        check_refused(r#"{"index":0,"embedding":[1,0]}"#, 2, "1 vectors came for 2");
        check_refused(r#"{"index":0,"embedding":[1,0]},{"index":0,"embedding":[1,0]}"#, 2, "two vectors");
        check_refused(r#"{"index":7,"embedding":[1,0]}"#, 1, "no such text");
        check_refused(r#"{"index":0,"embedding":[1,0]},{"index":1,"embedding":[1]}"#, 2, "2 and of 1");
        check_refused(r#"{"index":0,"embedding":[1,null]}"#, 1, "not a number");
        check_refused(r#"{"index":0,"embedding":[1,1e39]}"#, 1, "out of range");
        check_refused(r#"{"index":0,"embedding":[0,0]}"#, 1, "zeros");
        check_refused(r#"{"index":0,"embedding":[]}"#, 1, "empty");
        check_refused(r#"{"index":0,"embedding":[NaN]}"#, 1, "form");
        check_refused(r#"{"index":0,"embedding":"AAAA"}"#, 1, "form");
    }

    #[test]
    fn complaints_are_found_wherever_servers_put_them() {
        for body in [r#"{"error":{"message":"no"}}"#, r#"{"error":"no"}"#, r#"{"detail":"no"}"#, "\x1b no\r\n"] {
            assert_eq!(complaint(body.as_bytes()), "no");
        }
        assert_eq!(complaint(b" "), "it does not say why");
        assert_eq!(complaint(&[b'x'; 9_999]).len(), printable(&"x".repeat(9_999)).len());
    }
}

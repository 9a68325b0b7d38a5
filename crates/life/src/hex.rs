//! Bytes as hexadecimal text, two digits each, and back.

/// Writes bytes in small letters.
pub fn encode(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from(b"0123456789abcdef"[usize::from(half & 15)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(*byte)]).collect()
}

/// Reads bytes back, in small letters or capitals; none if there is anything but whole bytes.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text.chars().map(|c| c.to_digit(16).map(|digit| digit as u8)).collect::<Option<_>>()?;
    let whole = digits.len().is_multiple_of(2);
    whole.then(|| digits.chunks_exact(2).map(|pair| (pair[0] << 4) | pair[1]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_comes_back_from_its_text() {
        let all: Vec<u8> = (0..=u8::MAX).collect();
        let text = encode(&all);
        assert!(text.starts_with("000102") && text.ends_with("fdfeff") && text.len() == 512, "{text}");
        assert_eq!(decode(&text), Some(all.clone()));
        assert_eq!(decode(&text.to_uppercase()), Some(all));
        assert_eq!((encode(&[]), decode("")), (String::new(), Some(Vec::new())));
    }

    #[test]
    fn text_that_is_not_whole_bytes_is_refused() {
        for text in ["a", "abc", "0g", "+f", "0x", " 00", "00 ", "é0", "00é"] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}

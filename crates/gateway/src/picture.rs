//! Tokens that a picture is billed as. Data is a picture only if it begins like one; its size in pixels is read from
//! there.

/// Most tokens of a picture of unknown size: the dearest that a provider publishes, and Anthropic's.
pub(super) const UNKNOWN: u64 = 50_000;
const MESSAGES: u64 = 5_000;
/// Bytes of a picture that are looked at for its size.
const LOOKED_AT: usize = 64 << 10;

/// Most tokens of data sent as base64, with or without `data:…;base64,` before it; `None` if it is not a picture.
pub(super) fn tokens(data: &str, model: &str, messages: bool) -> Option<u64> {
    let data = data.strip_prefix("data:").map_or(data, |rest| rest.split_once(',').map_or("", |(_, data)| data));
    let (width, height) = size(&decoded(data))?;
    if messages {
        // Published as pixels by 750, after it was made smaller.
        return Some((width * height / 750 + 100).min(MESSAGES));
    }
    if model.contains("4o-mini") {
        return Some(UNKNOWN);
    }
    // By patches of 32 pixels with the largest factor there is, or by tiles, which come to less than what is added.
    Some((width.div_ceil(32) * height.div_ceil(32) * 5 / 2 + 2_500).min(UNKNOWN))
}

/// Most tokens of a picture as Google bills it: 258 for each square, whose side follows from the shorter side of the
/// picture and is 768 at most; or as much as the finest resolution comes to.
pub(super) fn generated(data: &str) -> Option<u64> {
    let (width, height) = size(&decoded(data))?;
    let side = (width.min(height) * 2 / 3).clamp(256, 768);
    Some((width.div_ceil(side) * height.div_ceil(side) * 258 + 258).clamp(2_300, UNKNOWN))
}

/// Most tokens of a picture that the provider gets from an address, behind which anything may be.
pub(super) fn somewhere_else(messages: bool) -> u64 {
    if messages { MESSAGES } else { UNKNOWN }
}

/// The first bytes of what is written as base64.
fn decoded(text: &str) -> Vec<u8> {
    let digit = |c: u8| match c {
        b'A'..=b'Z' => Some(c - b'A'),
        b'a'..=b'z' => Some(c - b'a' + 26),
        b'0'..=b'9' => Some(c - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    };
    let digits: Vec<u8> = text.bytes().take(LOOKED_AT).map_while(digit).collect();
    let mut bytes = Vec::with_capacity(digits.len() * 3 / 4);
    for four in digits.chunks(4) {
        let all = four.iter().chain([0; 4].iter()).take(4).fold(0_u32, |all, digit| all << 6 | u32::from(*digit));
        bytes.extend(&all.to_be_bytes()[1..four.len().max(1)]);
    }
    bytes
}

/// Pixels across and down of a PNG, GIF, WebP or JPEG.
fn size(bytes: &[u8]) -> Option<(u64, u64)> {
    let at = |from: usize, count: usize| bytes.get(from..from + count);
    let big =
        |from: usize, count: usize| Some(at(from, count)?.iter().fold(0, |all, byte| all << 8 | u64::from(*byte)));
    let little = |from: usize, count: usize| {
        Some(at(from, count)?.iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte)))
    };
    let (width, height) = if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        (big(16, 4)?, big(20, 4)?)
    } else if bytes.starts_with(b"GIF8") {
        (little(6, 2)?, little(8, 2)?)
    } else if bytes.starts_with(b"RIFF") && at(8, 4)? == b"WEBP" {
        match at(12, 4)? {
            b"VP8X" => (little(24, 3)? + 1, little(27, 3)? + 1),
            b"VP8L" => ((little(21, 2)? & 0x3fff) + 1, (little(22, 3)? >> 6 & 0x3fff) + 1),
            b"VP8 " => (little(26, 2)? & 0x3fff, little(28, 2)? & 0x3fff),
            _ => return None,
        }
    } else if bytes.starts_with(&[0xff, 0xd8]) {
        jpeg(bytes)?
    } else {
        return None;
    };
    (width > 0 && height > 0).then_some((width, height))
}

/// Pixels of a JPEG, found by going from marker to marker up to the one that says how large it is.
fn jpeg(bytes: &[u8]) -> Option<(u64, u64)> {
    let mut at = 2;
    loop {
        let [0xff, marker, high, low] = *bytes.get(at..at + 4)? else { return None };
        if matches!(marker, 0xc0..=0xcf) && !matches!(marker, 0xc4 | 0xc8 | 0xcc) {
            let [high, low, across, wide] = *bytes.get(at + 5..at + 9)? else { return None };
            return Some((u64::from(across) << 8 | u64::from(wide), u64::from(high) << 8 | u64::from(low)));
        }
        at += 2 + (usize::from(high) << 8 | usize::from(low));
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    pub(crate) fn base64(bytes: &[u8]) -> String {
        let four = |three: &[u8]| {
            let all = three.iter().chain([0; 3].iter()).take(3).fold(0_u32, |all, byte| all << 8 | u32::from(*byte));
            (0..=three.len()).map(|n| DIGITS[(all >> (18 - 6 * n) & 63) as usize] as char).collect::<String>()
        };
        bytes.chunks(3).map(four).collect()
    }

    pub(crate) fn png(width: u32, height: u32, bytes: usize) -> String {
        let mut all = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec();
        all.extend(width.to_be_bytes().iter().chain(&height.to_be_bytes()));
        all.resize(all.len().max(bytes), 7);
        base64(&all)
    }

    #[test]
    fn a_picture_is_billed_by_its_pixels_and_what_is_none_is_no_picture() {
        assert_eq!(tokens(&png(1_000, 750, 100), "claude", true), Some(1_100));
        assert_eq!(tokens(&png(100_000, 100_000, 100), "claude", true), Some(MESSAGES));
        let data = format!("data:image/png;base64,{}", png(1_024, 1_024, 100));
        assert_eq!(tokens(&data, "gpt-5", false), Some(1_024 * 5 / 2 + 2_500));
        assert_eq!(tokens(&data, "gpt-4o-mini", false), Some(UNKNOWN));
        assert_eq!(generated(&png(2_000, 2_000, 100)), Some(9 * 258 + 258));
        assert_eq!(generated(&png(4_000, 300, 100)), Some(16 * 2 * 258 + 258), "a long one has small squares");
        let jpeg = [0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 1, 0xff, 0xc0, 0, 11, 8, 2, 0x58, 3, 0x20, 3];
        assert_eq!(size(&jpeg), Some((800, 600)));
        assert_eq!(size(b"GIF89a\x40\x01\xf0\0"), Some((320, 240)));
        for text in ["", "this is a long text and no picture at all", "data:image/png;base64,", "iVBORw0KGgo"] {
            assert_eq!(tokens(text, "m", false), None, "{text}");
        }
    }
}

//! What is not letters: pictures by their size, documents by their pages, and how many tokens providers make of them.

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Tokens of a page: its text, and the picture of it.
const PAGE: u64 = 3_000;
const PAGE_AT_GEMINI: u64 = 258;

/// Bytes of base64, plain or for URLs; none if it is something else.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let (mut bytes, mut held, mut bits) = (Vec::with_capacity(text.len() / 4 * 3), 0u32, 0);
    for letter in text.trim_end_matches('=').bytes().filter(|letter| !letter.is_ascii_whitespace()) {
        let value = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        (held, bits) = (held << 6 | u32::from(value), bits + 6);
        if bits >= 8 {
            bits -= 8;
            bytes.push((held >> bits) as u8);
            held &= (1 << bits) - 1;
        }
    }
    Some(bytes)
}

/// Bytes as base64.
pub fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let at = |n: usize| u32::from(three.get(n).copied().unwrap_or(0));
        let all = at(0) << 16 | at(1) << 8 | at(2);
        for n in 0..4 {
            let letter = LETTERS[(all >> (18 - 6 * n) & 63) as usize];
            text.push(if n > three.len() { '=' } else { char::from(letter) });
        }
    }
    text
}

/// How wide and high a picture is, by its header; none if it is no picture that providers take.
pub(crate) fn size(bytes: &[u8]) -> Option<(u64, u64)> {
    let (wide, high) = match bytes {
        [0x89, b'P', b'N', b'G', ..] => {
            let four = |at: usize| Some(u64::from(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?)));
            (four(16)?, four(20)?)
        }
        [b'G', b'I', b'F', b'8', ..] => {
            let two = |at: usize| Some(u64::from(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?)));
            (two(6)?, two(8)?)
        }
        [0xff, 0xd8, ..] => jpeg(bytes)?,
        _ => return None,
    };
    (wide > 0 && high > 0).then_some((wide, high))
}

/// A JPEG says how large it is in the first segment that begins a frame.
fn jpeg(bytes: &[u8]) -> Option<(u64, u64)> {
    let mut at = 2;
    loop {
        let [0xff, kind, high, low] = *bytes.get(at..at + 4)? else { return None };
        if matches!(kind, 0xc0..=0xcf) && !matches!(kind, 0xc4 | 0xc8 | 0xcc) {
            let two = |at: usize| Some(u64::from(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?)));
            return Some((two(at + 7)?, two(at + 5)?));
        }
        at += 2 + usize::from(u16::from_be_bytes([high, low]));
    }
}

/// Pages of a PDF, by the objects that are one; at least one.
pub(crate) fn pages(bytes: &[u8]) -> u64 {
    let named = bytes.windows(5).enumerate().filter(|(_, five)| *five == b"/Page").map(|(at, _)| at);
    let found = named.filter(|at| {
        let goes_on = bytes.get(at + 5).is_some_and(u8::is_ascii_alphanumeric);
        !goes_on && bytes[..*at].trim_ascii_end().ends_with(b"/Type")
    });
    (found.count() as u64).max(1)
}

/// Shrunk until its longer side is so long.
fn within((wide, high): (u64, u64), longest: u64) -> (u64, u64) {
    let most = wide.max(high);
    if most <= longest { (wide, high) } else { (wide * longest / most, high * longest / most) }
}

/// Providers by their way of counting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CountingWay {
    Anthropic,
    OpenAi,
    Gemini,
}

impl CountingWay {
    pub(crate) fn page(self) -> u64 {
        if self == CountingWay::Gemini { PAGE_AT_GEMINI } else { PAGE }
    }

    pub(crate) fn picture(self, model: &str, size: (u64, u64), low: bool) -> u64 {
        match self {
            CountingWay::Anthropic => {
                let (wide, high) = within(size, 2_576);
                (wide * high).div_ceil(750).min(4_784)
            }
            CountingWay::Gemini if size.0 <= 384 && size.1 <= 384 => 258,
            CountingWay::Gemini => {
                let unit = (size.0.min(size.1) * 2 / 3).clamp(256, 768);
                258 * size.0.div_ceil(unit) * size.1.div_ceil(unit)
            }
            CountingWay::OpenAi => by_patches(model, size).unwrap_or_else(|| by_tiles(model, size, low)),
        }
    }
}

/// Small models look at patches of 32 pixels, and are billed a multiple of them.
fn by_patches(model: &str, size: (u64, u64)) -> Option<u64> {
    let small = ["gpt-5-mini", "gpt-5-nano", "gpt-4.1-mini", "gpt-4.1-nano", "o4-mini"];
    let known = small.into_iter().find(|known| model.starts_with(known))?;
    let hundredths = if known == "o4-mini" {
        172
    } else if known.ends_with("nano") {
        246
    } else {
        162
    };
    let (wide, high) = within(size, 2_048);
    let patches = (wide.div_ceil(32) * high.div_ceil(32)).min(1_536);
    Some((patches * hundredths).div_ceil(100))
}

/// The others look at tiles of 512 pixels, of a picture whose shorter side is 768 by then.
fn by_tiles(model: &str, size: (u64, u64), low: bool) -> u64 {
    let (base, tile) = match model {
        _ if model.starts_with("gpt-4o-mini") => (2_833, 5_667),
        _ if model.starts_with("gpt-5") => (70, 140),
        _ if model.starts_with("o1") || model.starts_with("o3") => (75, 150),
        _ => (85, 170),
    };
    if low {
        return base;
    }
    let (mut wide, mut high) = within(size, 2_048);
    let least = wide.min(high);
    if least > 768 {
        (wide, high) = (wide * 768 / least, high * 768 / least);
    }
    base + tile * wide.div_ceil(512) * high.div_ceil(512)
}

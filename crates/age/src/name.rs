//! The few words that stand in a record: names of models and versions of programs, and hashes in place of everything else.

/// Longer than any model's name.
const LONGEST: usize = 80;

/// Sixteen digits in place of a text.
pub fn hash(text: &str) -> String {
    format!("{:016x}", number(text.as_bytes()))
}

/// The hash as a number.
pub(crate) fn number(bytes: &[u8]) -> u64 {
    let digest = blake3::hash(bytes);
    let mut first = [0; 8];
    first.copy_from_slice(&digest.as_bytes()[..8]);
    u64::from_le_bytes(first)
}

/// Several texts, none of which can be taken for a part of the next.
pub(crate) fn number_of(parts: &[&[u8]]) -> u64 {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    let mut first = [0; 8];
    first.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
    u64::from_le_bytes(first)
}

/// A model's name, if it looks like one. Of a model that somebody had trained for themselves only what it was trained from,
/// because the rest says who they are.
pub(crate) fn model(text: &str) -> Option<String> {
    let text = text.trim();
    let text = match text.split_once("ft:") {
        Some((before, rest)) if before.is_empty() || before.ends_with('/') => {
            let base = rest.split(':').next().unwrap_or_default();
            format!("{before}ft:{base}")
        }
        _ => text.to_owned(),
    };
    // An account's own name for a model, and an address, tell whose they are.
    let telling = text.contains("arn:") || text.split_once('@').is_some_and(|(_, rest)| rest.contains('.'));
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.:/@[]".contains(c);
    let shaped = !telling && !text.is_empty() && text.len() <= LONGEST && text.chars().all(plain);
    (shaped && text.starts_with(|c: char| c.is_ascii_alphanumeric())).then_some(text)
}

/// The version of a program, if it looks like one.
pub(crate) fn version(text: &str) -> Option<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || ".-+".contains(c);
    let shaped = text.starts_with(|c: char| c.is_ascii_digit()) && text.len() <= 24 && text.chars().all(plain);
    shaped.then(|| text.to_owned())
}

/// Milliseconds since 1970 of a time such as 2026-11-19T14:00:16.850Z.
pub(crate) fn millis(text: &str) -> Option<i64> {
    text.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_millisecond)
}

//! Errors in names and prices, worded for the owner who wrote them.

/// The longest complaint worth showing.
const COMPLAINT: usize = 300;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A setting that must be changed before anything is asked.
    #[error("{what} {why}")]
    Config { what: &'static str, why: String },
    /// No question before its price is known.
    #[error(
        "the price of {model} is not known, so it is not asked: {why}; to set its price, write \
         prices = \"{model}=IN/OUT\" under [models] in bardo.toml, with dollars for a million tokens as IN and OUT"
    )]
    Unpriced { model: String, why: String },
}

/// One line without control characters, cut to a length that can be read.
pub fn printable(text: &str) -> String {
    let spaced: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    spaced.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(COMPLAINT).collect()
}

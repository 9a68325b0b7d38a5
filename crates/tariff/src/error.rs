//! What a name or a price may lack, in words for whoever wrote it.

/// The longest complaint worth showing.
const COMPLAINT: usize = 300;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nothing can be asked before a setting is changed.
    #[error("{what} {why}")]
    Config { what: &'static str, why: String },
    /// Not before somebody says what it costs.
    #[error(
        "it is not known what {model} costs, so it is not asked: {why}; to say what it costs, write \
         prices = \"{model}=IN/OUT\" under [models] in bardo.toml, with dollars for a million tokens as IN and OUT"
    )]
    Unpriced { model: String, why: String },
}

/// One line without control characters, cut to a length that can be read.
pub fn printable(text: &str) -> String {
    let spaced: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    spaced.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(COMPLAINT).collect()
}

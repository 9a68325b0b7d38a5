//! The protocols that agents speak.

/// What is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    Chat,
    Responses,
    Embeddings,
    Messages,
    /// Google's, where model and manner stand in the path.
    Generate,
}

impl Protocol {
    /// Those that are known by their paths alone.
    pub(super) const ALL: [Protocol; 4] =
        [Protocol::Chat, Protocol::Responses, Protocol::Embeddings, Protocol::Messages];

    pub(super) fn path(self) -> &'static str {
        match self {
            Protocol::Chat => "/chat/completions",
            Protocol::Responses => "/responses",
            Protocol::Embeddings => "/embeddings",
            Protocol::Messages => "/messages",
            Protocol::Generate => "/generateContent",
        }
    }

    /// Where a call says how long its answer may be.
    pub(super) fn most_tokens(self) -> &'static [&'static str] {
        match self {
            Protocol::Chat => &["max_completion_tokens", "max_tokens"],
            Protocol::Responses => &["max_output_tokens"],
            Protocol::Messages => &["max_tokens"],
            Protocol::Embeddings | Protocol::Generate => &[],
        }
    }
}

//! The protocols that agents speak.

/// A protocol between agent and provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    Chat,
    Responses,
    Embeddings,
    Messages,
    /// Google's protocol, with the model and the way of answering in the path.
    Generate,
}

impl Protocol {
    /// Protocols that are recognised by their paths alone.
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

    /// Fields in which a call says how long its answer may be.
    pub(super) fn most_tokens(self) -> &'static [&'static str] {
        match self {
            Protocol::Chat => &["max_completion_tokens", "max_tokens"],
            Protocol::Responses => &["max_output_tokens"],
            Protocol::Messages => &["max_tokens"],
            Protocol::Embeddings | Protocol::Generate => &[],
        }
    }
}

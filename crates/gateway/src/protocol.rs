//! The protocols that agents speak.

/// A protocol between agent and provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AgentProtocol {
    Chat,
    Responses,
    Embeddings,
    Messages,
    /// Google's protocol, with the model and the way of answering in the path.
    Generate,
}

impl AgentProtocol {
    /// Protocols that are recognised by their paths alone.
    pub(super) const ALL: [AgentProtocol; 4] =
        [AgentProtocol::Chat, AgentProtocol::Responses, AgentProtocol::Embeddings, AgentProtocol::Messages];

    pub(super) fn path(self) -> &'static str {
        match self {
            AgentProtocol::Chat => "/chat/completions",
            AgentProtocol::Responses => "/responses",
            AgentProtocol::Embeddings => "/embeddings",
            AgentProtocol::Messages => "/messages",
            AgentProtocol::Generate => "/generateContent",
        }
    }

    /// Fields in which a call says how long its answer may be.
    pub(super) fn most_tokens(self) -> &'static [&'static str] {
        match self {
            AgentProtocol::Chat => &["max_completion_tokens", "max_tokens"],
            AgentProtocol::Responses => &["max_output_tokens"],
            AgentProtocol::Messages => &["max_tokens"],
            AgentProtocol::Embeddings | AgentProtocol::Generate => &[],
        }
    }
}

//! Origin of a call: the session, the sub-agent and the tool that its agent names. It says who spent what and decides
//! nothing, because an agent may name whatever it likes.

use serde::{Deserialize, Serialize};

use crate::limits;

/// Each part is empty where the agent does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallOrigin {
    /// A number, or the hash of a name.
    pub session: String,
    /// The sub-agent, likewise; empty for the agent itself.
    pub agent: String,
    /// The sub-agent that started this one; empty if the agent itself did.
    pub under: String,
    /// The kind of sub-agent.
    pub kind: String,
    /// The tool whose result the call brings in.
    pub tool: String,
}

impl CallOrigin {
    /// Whether each part is short, and made of letters, digits and a few marks.
    pub fn is_plain(&self) -> bool {
        let parts = [&self.session, &self.agent, &self.under, &self.kind, &self.tool];
        parts.into_iter().all(|part| CallOrigin::is_plain_part(part))
    }

    pub fn is_plain_part(part: &str) -> bool {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.:".contains(&byte);
        part.len() <= limits::ORIGIN && part.bytes().all(plain)
    }

    pub fn is_empty(&self) -> bool {
        *self == CallOrigin::default()
    }
}

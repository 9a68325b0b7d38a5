//! Readers, one for each source. None of them writes, and each takes lines as they come.

pub(crate) mod aider;
pub(crate) mod claude;
pub(crate) mod codex;
pub(crate) mod gemini;
pub(crate) mod opencode;
pub(crate) mod records;
pub(crate) mod spans;

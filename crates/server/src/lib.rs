//! Many golems in one process: the loop that gives each its turn, their HTTP API and their page, notes to their owner, and
//! the Model Context Protocol for agents and assistants.
//!
//! What one life is and how it is written down is the shell's; what an agent's call may cost is the gateway's. Absent from
//! here: any file format of a home, any rule of a life, and any terminal.

pub mod mcp;
pub mod up;

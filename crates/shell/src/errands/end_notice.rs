//! The notice that a life is about to end, shared by all that tell its agent: the gateway in the headers of answers and in calls, a
//! server in `standing`, the process that runs the program in a file. A part of its money is kept back for what is said then: until
//! the end is told, no call takes that, and the call that needs it tells the end.

use std::path::PathBuf;

use golem::Usdc;

/// How the end of a life is told, once it is near.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EndPlan {
    /// Money that no call takes before the end is told.
    pub kept: Usdc,
    /// The file in which the program may leave its last word.
    pub testament: Option<PathBuf>,
    /// Whether its owner lets a line of ours stand in its calls.
    pub in_calls: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndNotice {
    /// A sentence of the runtime's.
    pub why: String,
    pub testament: Option<PathBuf>,
    pub in_calls: bool,
}

impl EndNotice {
    /// One line for the agent.
    pub fn words(&self) -> String {
        let file = self.testament.as_ref().map(|path| format!(", or in the file {}", path.display()));
        format!(
            "Notice of the runtime: this life is about to end, because {}. Leave a last word now, for a life that may come after it: \
             with the MCP tool `last_words`, if it is there{}, in lines that begin with worked:, failed:, half done:, suspects: or \
             next:.",
            self.why,
            file.unwrap_or_default()
        )
    }
}

/// The plan of a counter, and why the end is near, once it is.
#[derive(Debug, Default)]
pub(super) struct EndState {
    plan: EndPlan,
    why: Option<String>,
}

impl EndState {
    pub(super) fn plan(&mut self, plan: EndPlan) {
        *self = EndState { plan, why: None };
    }

    /// The first reason stands.
    pub(super) fn near(&mut self, why: &str) {
        self.why.get_or_insert_with(|| why.to_owned());
    }

    pub(super) fn recall(&mut self) {
        self.why = None;
    }

    pub(super) fn money_aside(&self) -> Usdc {
        if self.why.is_none() { self.plan.kept } else { Usdc::ZERO }
    }

    pub(super) fn notice(&self) -> Option<EndNotice> {
        let EndPlan { testament, in_calls, .. } = self.plan.clone();
        self.why.clone().map(|why| EndNotice { why, testament, in_calls })
    }
}

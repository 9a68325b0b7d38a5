//! A life while it is read: what every source says in its own words comes down to the same few things, told here in the order
//! in which they happened.

use std::collections::{HashMap, VecDeque};

use tariff::{Price, Tokens};

use crate::name;
use crate::record::{Born, Call, End, Harness, Life, VERSION};
use crate::tool::{Edit, ToolUse};

/// How many uses of tools, and changes of files, something is held against.
pub(crate) const LOOKS_BACK: usize = 20;
/// More than these are never waited for at once.
const WAITING: usize = 4_096;
/// More models than this in one life are a damaged file.
const MODELS: usize = 64;
/// A life whose file was written to within this time may still go on.
const OPEN_MS: i64 = 10 * 60 * 1_000;

/// The price of a model by its name.
pub(crate) type Priced<'a> = dyn Fn(&str) -> Option<Price> + 'a;

/// The newest that happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Newest {
    /// A question or the result of a tool; the model has yet to speak.
    #[default]
    Heard,
    Spoke,
    Stopped,
    Broke,
}

/// A tool whose result has yet to come.
#[derive(Clone, Copy, Debug)]
struct WaitingTool {
    call: usize,
    check: bool,
}

#[derive(Debug)]
pub(crate) struct Growing {
    life: Life,
    /// Where the calls stand that have a name.
    named: HashMap<u64, usize>,
    waiting: HashMap<u64, WaitingTool>,
    lately: VecDeque<u64>,
    changes: VecDeque<Edit>,
    newest: Newest,
    models: Vec<(String, u64)>,
    /// How it ended, where that is told.
    end: Option<End>,
}

impl Growing {
    /// A new life, by its harness's name for it and for the life it helps.
    pub(crate) fn new(harness: Harness, life: &str, of: Option<&str>) -> Growing {
        let full = |text: &str| name::hash(&format!("{} {text}", harness.name()));
        let life = Life {
            v: VERSION,
            life: full(life),
            of: of.map(full),
            project: None,
            harness,
            version: None,
            models: Vec::new(),
            born: if of.is_some() { Born::Helper } else { Born::Fresh },
            began: 0,
            ended: 0,
            end: End::Open,
            window: None,
            told: None,
            helpers: 0,
            compactions: Vec::new(),
            resumed: Vec::new(),
            rounded: false,
            reward: None,
            calls: Vec::new(),
        };
        Growing {
            life,
            named: HashMap::new(),
            waiting: HashMap::new(),
            lately: VecDeque::new(),
            changes: VecDeque::new(),
            newest: Newest::default(),
            models: Vec::new(),
            end: None,
        }
    }

    pub(crate) fn life(&mut self) -> &mut Life {
        &mut self.life
    }

    pub(crate) fn lives_in(&mut self, folder: &str) {
        self.life.project = Some(name::hash(folder));
    }

    pub(crate) fn version(&mut self, text: &str) {
        if self.life.version.is_none() {
            self.life.version = name::version(text);
        }
    }

    /// Something happened at that time.
    pub(crate) fn at(&mut self, millis: i64) {
        if self.life.began == 0 {
            self.life.began = millis;
        }
        self.life.ended = self.life.ended.max(millis);
    }

    pub(crate) fn calls(&self) -> usize {
        self.life.calls.len()
    }

    /// The call of this name, if there was one.
    pub(crate) fn known(&self, name: u64) -> Option<usize> {
        self.named.get(&name).copied()
    }

    /// A new call; what it used may be told later.
    pub(crate) fn call(&mut self, name: Option<u64>, at: i64) -> usize {
        let call = self.life.calls.len();
        self.life.calls.push(Call { at, untold: true, ..Call::default() });
        if let Some(name) = name {
            self.named.insert(name, call);
        }
        self.newest = Newest::Spoke;
        call
    }

    /// Notes the tokens of a call, and its model; the last note counts.
    pub(crate) fn used(&mut self, call: usize, model: &str, tokens: &Tokens) {
        let model = self.model(model);
        let Some(call) = self.life.calls.get_mut(call) else { return };
        let Tokens { input, output, cached, write_5m, write_1h, thought: _ } = *tokens;
        *call = Call { model, input, output, cached, write_5m, write_1h, untold: false, ..call.clone() };
    }

    fn model(&mut self, text: &str) -> u8 {
        let text = name::model(text).unwrap_or_else(|| "unknown".to_owned());
        let known = self.models.iter().position(|(known, _)| *known == text);
        let at = known.unwrap_or_else(|| {
            if self.models.len() < MODELS {
                self.models.push((text, 0));
            }
            self.models.len() - 1
        });
        self.models[at].1 += 1;
        u8::try_from(at).unwrap_or(0)
    }

    /// Notes that the model asks for a tool.
    pub(crate) fn tool(&mut self, call: usize, name: u64, tool: &ToolUse) {
        let Some(at) = self.life.calls.get_mut(call) else { return };
        at.tools += 1;
        at.repeated += u32::from(self.lately.contains(&tool.hash));
        self.lately.push_back(tool.hash);
        if self.lately.len() > LOOKS_BACK {
            self.lately.pop_front();
        }
        self.life.helpers += u32::from(tool.helper);
        if self.waiting.len() >= WAITING {
            self.waiting.clear();
        }
        self.waiting.insert(name, WaitingTool { call, check: tool.check });
    }

    /// The call that asked for this tool, as long as nothing has come of it.
    pub(crate) fn asked_by(&self, name: u64) -> Option<usize> {
        self.waiting.get(&name).map(|waiting| waiting.call)
    }

    /// Notes the result of a tool; none is known of a tool that the owner forbade.
    pub(crate) fn result(&mut self, name: u64, failed: Option<bool>) {
        let Some(waiting) = self.waiting.remove(&name) else { return };
        let (Some(failed), Some(call)) = (failed, self.life.calls.get_mut(waiting.call)) else { return };
        call.failed += u32::from(failed);
        call.checks += u32::from(waiting.check);
        call.passed += u32::from(waiting.check && !failed);
        if self.newest == Newest::Spoke {
            self.newest = Newest::Heard;
        }
    }

    /// Notes a change of a file.
    pub(crate) fn edit(&mut self, call: usize, edit: Edit) {
        let Some(call) = self.life.calls.get_mut(call) else { return };
        call.edits += 1;
        call.undone += u32::from(self.changes.iter().any(|before| edit.undoes(before)));
        self.changes.push_back(edit);
        if self.changes.len() > LOOKS_BACK {
            self.changes.pop_front();
        }
    }

    /// Notes a question of the owner's.
    pub(crate) fn asked(&mut self) {
        self.newest = Newest::Heard;
    }

    /// Notes that the last call said something after all.
    pub(crate) fn speaks(&mut self) {
        self.newest = Newest::Spoke;
    }

    /// Notes that the model said it is done.
    pub(crate) fn finished(&mut self) {
        self.waiting.clear();
        self.newest = Newest::Spoke;
    }

    /// Somebody says how it ended, or that it has not.
    pub(crate) fn ends(&mut self, end: End) {
        self.end = Some(end);
    }

    pub(crate) fn interrupted(&mut self) {
        self.newest = Newest::Stopped;
    }

    /// The provider refused or failed.
    pub(crate) fn broke(&mut self) {
        self.newest = Newest::Broke;
    }

    pub(crate) fn compacted(&mut self) {
        let at = u32::try_from(self.life.calls.len()).unwrap_or(u32::MAX);
        // One that happens while nothing is said in between is told twice.
        if self.life.compactions.last() != Some(&at) {
            self.life.compactions.push(at);
        }
    }

    pub(crate) fn resumed(&mut self) {
        let at = u32::try_from(self.life.calls.len()).unwrap_or(u32::MAX);
        if at > 0 && self.life.resumed.last() != Some(&at) {
            self.life.resumed.push(at);
        }
    }

    /// The record of it, if it ever asked a model anything.
    pub(crate) fn finish(mut self, priced: &Priced<'_>, now: i64) -> Option<Life> {
        if self.life.calls.is_empty() {
            return None;
        }
        self.life.end = self.end.unwrap_or(match self.newest {
            // What a tool said may stand in a record long before the model has read it; what it said last stands there at once.
            Newest::Stopped => End::Interrupted,
            Newest::Broke => End::Failed,
            Newest::Spoke if self.waiting.is_empty() => End::Finished,
            Newest::Spoke | Newest::Heard if now.saturating_sub(self.life.ended) < OPEN_MS => End::Open,
            Newest::Spoke | Newest::Heard => End::Cut,
        });
        self.price(priced);
        self.age();
        self.order_models();
        Some(self.life)
    }

    fn price(&mut self, priced: &Priced<'_>) {
        let prices: Vec<Option<Price>> = self.models.iter().map(|(model, _)| priced(model)).collect();
        for call in self.life.calls.iter_mut().filter(|call| !call.untold) {
            let price = prices.get(usize::from(call.model)).copied().flatten();
            call.cost = call.cost.or_else(|| price.map(|price| price.cost(&call.tokens())));
        }
    }

    /// How long what goes in has been there, by how the context grows and shrinks: what a call has more than the one before it
    /// is new, and after a compaction all of it is.
    fn age(&mut self) {
        let (mut held, mut mean) = (0.0, 0.0);
        let mut compactions = self.life.compactions.iter().peekable();
        for (at, call) in self.life.calls.iter_mut().enumerate() {
            while compactions.next_if(|compaction| **compaction as usize <= at).is_some() {
                held = 0.0;
            }
            let context = call.context() as f64;
            if context > 0.0 {
                let kept = f64::min(held, context);
                mean = kept * (mean + 1.0) / context;
                held = context;
                call.age = ((mean * 10.0).round() / 10.0) as f32;
            }
        }
    }

    /// Sorts its models; the one it asked most often comes first.
    fn order_models(&mut self) {
        if self.models.is_empty() {
            self.models.push(("unknown".to_owned(), 0));
        }
        let mut order: Vec<usize> = (0..self.models.len()).collect();
        order.sort_by_key(|at| std::cmp::Reverse(self.models[*at].1));
        for call in &mut self.life.calls {
            let at = order.iter().position(|of| *of == usize::from(call.model));
            call.model = at.and_then(|at| u8::try_from(at).ok()).unwrap_or(0);
        }
        self.life.models = order.into_iter().map(|at| self.models[at].0.clone()).collect();
    }
}

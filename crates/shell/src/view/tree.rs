//! Spending as a tree: a golem and its heirs, the sessions of each, the sub-agents of a session, the tools of a sub-agent.
//! A part costs what its own parts cost together, to the micro-dollar, whatever an agent says of itself.

use std::collections::BTreeMap;

use golem::call::{CallOrigin, How, Open};
use golem::{Life, Name, Usdc};
use serde::Serialize;
use vault::{Call, CallOrigins, Reader};

use super::purse::Purse;
use crate::Error;
use crate::home::{GolemHome, Home};

/// Sub-agents below each other that are shown below each other; the deeper ones stand beside the first.
const DEPTH: usize = 8;

/// A golem with all its heirs in this home.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CostTree {
    #[serde(flatten)]
    pub sums: PartSums,
    /// The golem, then its heirs, the oldest generation first.
    pub lives: Vec<LifeCosts>,
}

/// All that one life cost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LifeCosts {
    pub name: String,
    /// The name of its predecessor, for an heir.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    pub purse: Purse,
    #[serde(flatten)]
    pub sums: PartSums,
    pub parts: Vec<CostPart>,
}

/// A part of what a life cost; its own parts add up to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CostPart {
    pub part: PartKind,
    /// Empty for calls without a named session, of the agent itself, or without a tool's result.
    pub name: String,
    /// The kind of a sub-agent, if its agent says.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub kind: String,
    #[serde(flatten)]
    pub sums: PartSums,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<CostPart>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PartKind {
    Session,
    Agent,
    Tool,
    /// Costs of a life that are no calls of its agent.
    Living,
    /// Calls of which no list is left.
    Unlisted,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PartSums {
    /// Calls that are over and reached a provider.
    pub calls: u64,
    pub input: u64,
    pub output: u64,
    /// In micro-USDC, like what is set aside.
    pub cost: Usdc,
    /// Set aside for so many calls under way.
    pub aside: Usdc,
    pub under_way: u64,
}

impl PartSums {
    fn of_call(call: &Call) -> PartSums {
        PartSums {
            calls: u64::from(call.how != How::Nothing),
            input: u64::from(call.input),
            output: u64::from(call.output),
            cost: call.cost,
            ..PartSums::default()
        }
    }

    pub fn and(self, more: PartSums) -> PartSums {
        PartSums {
            calls: self.calls + more.calls,
            input: self.input + more.input,
            output: self.output + more.output,
            cost: self.cost + more.cost,
            aside: self.aside + more.aside,
            under_way: self.under_way + more.under_way,
        }
    }

    pub fn together(all: impl IntoIterator<Item = PartSums>) -> PartSums {
        all.into_iter().fold(PartSums::default(), PartSums::and)
    }
}

impl CostTree {
    /// The tree of this golem and its heirs; its family has the oldest generation first.
    pub fn of(home: &Home, place: &GolemHome, family: &[(Name, Life)]) -> Result<CostTree, Error> {
        let mut lives = vec![LifeCosts::of(place, None)?];
        let root = family.iter().find(|(name, _)| *name == place.name).map(|(_, life)| life.id());
        let mut known: BTreeMap<_, _> = root.map(|id| (id, place.name.to_string())).into_iter().collect();
        // A predecessor is known before its heirs.
        for (name, life) in family {
            let parent = life.birth().lineage.as_ref().map(|line| line.parent);
            let after = parent.filter(|parent| *parent != life.id()).and_then(|parent| known.get(&parent).cloned());
            if let (Some(after), false) = (after, known.contains_key(&life.id())) {
                known.insert(life.id(), name.to_string());
                lives.push(LifeCosts::of(&home.place(name), Some(after))?);
            }
        }
        Ok(CostTree { sums: PartSums::together(lives.iter().map(|one| one.sums)), lives })
    }
}

impl LifeCosts {
    fn of(place: &GolemHome, after: Option<String>) -> Result<LifeCosts, Error> {
        place.catch_up()?;
        let account = Reader::open(&place.database())?.call_account()?;
        let life = account.golem.life();
        let sessions = sessions(&account.calls, &life.calls().open, &account.origins);
        let parts = parts_of(life, sessions);
        let sums = PartSums::together(parts.iter().map(|part| part.sums));
        let (name, purse) = (place.name.to_string(), Purse::of(life));
        Ok(LifeCosts { name, after, purse, sums, parts })
    }
}

/// The sessions of a life, and the costs that are in none.
fn parts_of(life: &Life, mut parts: Vec<CostPart>) -> Vec<CostPart> {
    let listed = PartSums::together(parts.iter().map(|part| part.sums));
    let unlisted = PartSums { cost: life.calls().spent - listed.cost, ..PartSums::default() };
    for (part, sums) in [(PartKind::Unlisted, unlisted), (PartKind::Living, own_costs(life))] {
        if sums != PartSums::default() {
            parts.push(CostPart { part, name: String::new(), kind: String::new(), sums, parts: Vec::new() });
        }
    }
    parts
}

/// Costs of a life beside the calls of its agent: its own questions, its machine, its data.
fn own_costs(life: &Life) -> PartSums {
    let purse = life.purse();
    let cost = purse.spent + purse.gas - life.calls().spent;
    PartSums { cost, aside: purse.promised - life.calls().promised(), ..PartSums::default() }
}

/// The calls of one sub-agent, or of the agent itself.
#[derive(Default)]
struct AgentCalls<'a> {
    kind: &'a str,
    under: &'a str,
    tools: BTreeMap<&'a str, PartSums>,
}

type SessionCalls<'a> = BTreeMap<&'a str, AgentCalls<'a>>;

fn sessions(calls: &[Call], open: &[Open], origins: &CallOrigins) -> Vec<CostPart> {
    let nowhere = CallOrigin::default();
    let over = calls.iter().map(|call| (call.number, PartSums::of_call(call)));
    let aside = |open: &Open| PartSums { aside: open.most, under_way: 1, ..PartSums::default() };
    let under_way = open.iter().map(|open| (open.key, aside(open)));
    let mut all: BTreeMap<&str, SessionCalls<'_>> = BTreeMap::new();
    for (number, sums) in over.chain(under_way) {
        let origin = origins.get(&number).unwrap_or(&nowhere);
        // Some sub-agents have a kind and no number.
        let agent = if origin.agent.is_empty() { &origin.kind } else { &origin.agent };
        let calls = all.entry(&origin.session).or_default().entry(agent).or_default();
        if calls.kind.is_empty() {
            calls.kind = &origin.kind;
        }
        if calls.under.is_empty() {
            calls.under = &origin.under;
        }
        let tool = calls.tools.entry(&origin.tool).or_default();
        *tool = tool.and(sums);
    }
    let session = |(name, calls): (&&str, &SessionCalls<'_>)| {
        part(PartKind::Session, name, "", below("", calls, &tree_of(calls)))
    };
    dearest_first(all.iter().map(session).collect())
}

/// Sub-agents by the one that each is shown below; by an empty name those of the agent itself, and the agent itself.
fn tree_of<'a>(calls: &SessionCalls<'a>) -> BTreeMap<&'a str, Vec<&'a str>> {
    let mut tree: BTreeMap<&'a str, Vec<&'a str>> = BTreeMap::new();
    for (&name, one) in calls {
        let is_below = !name.is_empty() && calls.contains_key(one.under) && ends_above(one.under, calls);
        tree.entry(if is_below { one.under } else { "" }).or_default().push(name);
    }
    tree
}

/// Whether this sub-agent and those above it come to an end soon: an agent may say that two have started each other.
fn ends_above<'a>(mut above: &'a str, calls: &SessionCalls<'a>) -> bool {
    for _ in 0..DEPTH {
        match calls.get(above) {
            Some(one) if !above.is_empty() => above = one.under,
            _ => return true,
        }
    }
    false
}

fn below(name: &str, calls: &SessionCalls<'_>, tree: &BTreeMap<&str, Vec<&str>>) -> Vec<CostPart> {
    let agent = |&name: &&str| {
        let one = calls.get(name)?;
        let tool =
            |(tool, sums): (&&str, &PartSums)| CostPart { sums: *sums, ..part(PartKind::Tool, tool, "", vec![]) };
        let mut parts: Vec<CostPart> = one.tools.iter().map(tool).collect();
        // The agent itself stands beside those it has started.
        if !name.is_empty() {
            parts.extend(below(name, calls, tree));
        }
        Some(part(PartKind::Agent, name, one.kind, dearest_first(parts)))
    };
    let all = tree.get(name).map(Vec::as_slice).unwrap_or_default();
    dearest_first(all.iter().filter_map(agent).collect())
}

fn part(part: PartKind, name: &str, kind: &str, parts: Vec<CostPart>) -> CostPart {
    let sums = PartSums::together(parts.iter().map(|part| part.sums));
    // A sub-agent that is known by its kind alone has no other name.
    let kind = if kind == name { "" } else { kind };
    CostPart { part, name: name.to_owned(), kind: kind.to_owned(), sums, parts }
}

fn dearest_first(mut parts: Vec<CostPart>) -> Vec<CostPart> {
    parts.sort_by(|a, b| (b.sums.cost + b.sums.aside).cmp(&(a.sums.cost + a.sums.aside)).then(a.name.cmp(&b.name)));
    parts
}

#[cfg(test)]
mod tests {
    use golem::Time;
    use golem::call::Kinds;

    use super::*;

    fn call(number: u64, cost: i64) -> Call {
        let (at, model) = (Time::millis(number), "m".to_owned());
        let (cost, over) = (Usdc::micros(cost), Usdc::ZERO);
        Call { number, at, model, input: 10, output: 1, cost, over, how: How::Told, took_ms: 5 }
    }

    fn open(key: u64, most: i64) -> Open {
        let (asked, kinds) = (Time::default(), Kinds::default());
        Open { key, most: Usdc::micros(most), asked, month: 0, alike: key, again: None, tokens: 1, kinds }
    }

    fn origin([session, agent, under, kind, tool]: [&str; 5]) -> CallOrigin {
        let [session, agent, under, kind, tool] = [session, agent, under, kind, tool].map(str::to_owned);
        CallOrigin { session, agent, under, kind, tool }
    }

    /// Each part is the sum of its own, and no deeper than it may be.
    fn check_sums(parts: &[CostPart], depth: usize) -> PartSums {
        assert!(depth <= DEPTH + 4, "{depth}");
        for one in parts.iter().filter(|one| one.part != PartKind::Tool) {
            assert_eq!(check_sums(&one.parts, depth + 1), one.sums, "{one:?}");
        }
        PartSums::together(parts.iter().map(|one| one.sums))
    }

    fn printed_tree(parts: &[CostPart], depth: usize) -> String {
        let line = |one: &CostPart| {
            let (indent, of) =
                (" ".repeat(depth), format!("{:?} {} {}", one.part, one.name, one.sums.cost.as_micros()));
            format!("{indent}{of}\n{}", printed_tree(&one.parts, depth + 1))
        };
        parts.iter().map(line).collect()
    }

    #[test]
    fn who_spent_what_is_told_by_session_sub_agent_and_tool() {
        let calls: Vec<Call> = (1..=6).map(|number| call(number, 10_i64.pow(number as u32 - 1))).collect();
        let origins = CallOrigins::from([
            (1, origin(["s1", "", "", "", ""])),
            (2, origin(["s1", "", "", "", "Read"])),
            (3, origin(["s1", "a1", "", "Explore", "Bash"])),
            (4, origin(["s1", "b2", "a1", "", ""])),
            (5, origin(["s2", "", "", "review", ""])),
            (7, origin(["s1", "b2", "a1", "", "Read"])),
        ]);
        let parts = sessions(&calls, &[open(7, 5)], &origins);
        let lines = [
            "Session  100000",
            " Agent  100000",
            "  Tool  100000",
            "Session s2 10000",
            " Agent review 10000",
            "  Tool  10000",
            "Session s1 1111",
            " Agent a1 1100",
            "  Agent b2 1000",
            "   Tool  1000",
            "   Tool Read 0",
            "  Tool Bash 100",
            " Agent  11",
            "  Tool Read 10",
            "  Tool  1",
        ];
        assert_eq!(printed_tree(&parts, 0), lines.join("\n") + "\n");
        let all = check_sums(&parts, 0);
        assert_eq!((all.calls, all.cost, all.aside, all.under_way), (6, Usdc::micros(111_111), Usdc::micros(5), 1));
    }

    /// An agent may name whatever it likes: itself as its parent, two as each other's, a thousand below each other.
    #[test]
    fn each_micro_dollar_is_in_one_place_whatever_an_agent_says_of_itself() {
        let mut seed = 9_u64;
        let mut below = |most: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % most
        };
        for round in 0..200 {
            let names = |n: u64| if n == 0 { String::new() } else { format!("a{n}") };
            let (many, wide) = (1 + below(300), 1 + below(if round % 2 == 0 { 4 } else { 400 }));
            let mut origins = CallOrigins::new();
            for number in 1..=many {
                let (agent, under) = (names(below(wide)), names(below(wide)));
                // In some rounds all stand in one row.
                let under = if round % 5 == 0 { names(number - 1) } else { under };
                let agent = if round % 5 == 0 { names(number) } else { agent };
                let (session, tool) = (names(below(3)), names(below(3)));
                if below(10) > 0 {
                    origins.insert(number, origin([&session, &agent, &under, &names(below(2)), &tool]));
                }
            }
            let calls: Vec<Call> = (1..many).map(|number| call(number, below(1_000) as i64)).collect();
            let sum = calls.iter().fold(Usdc::ZERO, |sum, call| sum + call.cost);
            let all = check_sums(&sessions(&calls, &[open(many, 77)], &origins), 0);
            assert_eq!((all.cost, all.calls), (sum, many - 1), "round {round}");
            assert_eq!((all.aside, all.under_way), (Usdc::micros(77), 1), "round {round}");
        }
    }
}

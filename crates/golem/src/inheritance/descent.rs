//! Descent: everything about an heir except the knowledge it is left, taken from the record of the dead and nothing
//! else. No file that could have been edited has a say in it.

use life::constitution::Constitution;
use life::rule::text::Parsed;
use life::time::Time;
use life::{Endowment, Life, Lineage};

/// Everything about an heir that follows from its predecessor.
#[derive(Clone, Debug, PartialEq)]
pub struct Descent {
    pub generation: u32,
    pub lineage: Lineage,
    /// The constitution of its predecessor, under the policy that was in force when that died.
    pub constitution: Constitution,
    pub endowment: Endowment,
    /// World time at the death: an heir begins there, and nothing is lived twice.
    pub begins: Time,
    /// Rules its predecessor did not live to see tested.
    pub unfinished: Vec<String>,
}

impl Descent {
    /// The descent from a dead golem. `by_itself` marks an heir made without asking the owner.
    pub fn of(dead: &Life, by_itself: bool) -> Descent {
        let birth = &dead.birth();
        let succession = &birth.constitution.succession;
        Descent {
            generation: birth.generation + 1,
            lineage: Lineage {
                first: birth.lineage.as_ref().map_or(birth.id, |line| line.first),
                parent: birth.id,
                parent_name: birth.name.to_string(),
                by_itself,
                frozen: dead.heartbeat().frozen,
                day: dead.day(),
                trust: birth
                    .world
                    .domains
                    .iter()
                    .map(|domain| domain.name.clone())
                    .zip(dead.trust().iter().cloned())
                    .collect(),
            },
            constitution: Constitution { policy: (*dead.policy()).clone(), ..birth.constitution.clone() },
            endowment: Endowment {
                credit: succession.budget.unwrap_or(birth.endowment.credit),
                capital: birth.endowment.capital,
            },
            begins: dead.seen().until.max(dead.now()),
            unfinished: unfinished(dead),
        }
    }
}

fn unfinished(life: &Life) -> Vec<String> {
    let rules = life.dreams().staged.iter().map(|staged| Parsed::from(&staged.heuristic));
    rules.filter_map(|rule| rule.print(&life.birth().world).ok()).collect()
}

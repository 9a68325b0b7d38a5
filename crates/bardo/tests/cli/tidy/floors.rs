//! Which arrows between the folders of a crate run up. Folders of the core are chapters, and each has its facts, its readings and
//! its decisions: two chapters may need each other where none of their files do. So folders have no floors but those of the
//! order in which the fewest arrows run up.

use std::collections::{BTreeMap, BTreeSet};

/// The folders that each folder needs.
pub(crate) type Needs<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

/// Arrows that run up in the best order of these folders. An order is found by moving one folder at a time until no move helps,
/// from as many beginnings as there are folders.
pub(crate) fn upward<'a>(needs: &Needs<'a>) -> Vec<(&'a str, &'a str)> {
    let names: Vec<&str> = needs.keys().copied().collect();
    let orders = (0..names.len()).map(|first| {
        let mut order = names.clone();
        order.rotate_left(first);
        settle_order(order, needs)
    });
    orders.map(|order| arrows_up(&order, needs)).min_by_key(Vec::len).unwrap_or_default()
}

/// Moves each folder, lowest first, to where the fewest arrows run up, until none moves.
fn settle_order<'a>(mut order: Vec<&'a str>, needs: &Needs<'a>) -> Vec<&'a str> {
    loop {
        let before = arrows_up(&order, needs).len();
        needs.keys().for_each(|name| move_folder(name, &mut order, needs));
        if arrows_up(&order, needs).len() == before {
            return order;
        }
    }
}

/// Moves a folder to the lowest place that is better than its own.
fn move_folder<'a>(name: &'a str, order: &mut Vec<&'a str>, needs: &Needs<'a>) {
    let Some(at) = order.iter().position(|other| *other == name) else { return };
    order.remove(at);
    // On the ground every folder it needs is above it.
    let mut up: i32 = order.iter().map(|other| i32::from(needs[name].contains(other))).sum();
    let mut ups = vec![up];
    for other in order.iter() {
        up += i32::from(needs[other].contains(name)) - i32::from(needs[name].contains(other));
        ups.push(up);
    }
    let best = (0..ups.len()).min_by_key(|place| ups[*place]).filter(|best| ups[*best] < ups[at]);
    order.insert(best.unwrap_or(at), name);
}

fn arrows_up<'a>(order: &[&'a str], needs: &Needs<'a>) -> Vec<(&'a str, &'a str)> {
    let place = |name: &str| order.iter().position(|other| *other == name);
    let arrows = needs.iter().flat_map(|(from, all)| all.iter().map(move |to| (*from, *to)));
    arrows.filter(|(from, to)| place(from) < place(to)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn upward_of(arrows: &[(&'static str, &'static str)]) -> Vec<(&'static str, &'static str)> {
        let mut needs = Needs::new();
        for (from, to) in arrows {
            needs.entry(to).or_default();
            needs.entry(from).or_default().insert(to);
        }
        upward(&needs)
    }

    #[test]
    fn where_folders_form_layers_no_arrow_runs_up() {
        assert_eq!(upward_of(&[("apply", "call"), ("apply", "life"), ("call", "life"), ("life", "money")]), []);
        assert_eq!(upward_of(&[]), []);
    }

    #[test]
    fn of_two_folders_that_need_each_other_one_arrow_runs_up() {
        assert_eq!(upward_of(&[("call", "life"), ("life", "call"), ("life", "money")]).len(), 1);
        let three = [("call", "dream"), ("dream", "rule"), ("rule", "call")];
        assert_eq!(upward_of(&three).len(), 1);
        assert_eq!(
            upward_of(&[&three[..], &[("dream", "call"), ("rule", "dream"), ("call", "rule")]].concat()).len(),
            3
        );
    }

    /// Three chapters are read by Life and read it; whichever is moved first, three arrows run up and never four.
    #[test]
    fn the_best_order_is_taken_and_not_the_first() {
        let around = ["call", "dream", "stress"].map(|chapter| [("life", chapter), (chapter, "life")]).concat();
        let told = upward_of(&[&around[..], &[("stress", "call"), ("stress", "dream"), ("dream", "call")]].concat());
        assert_eq!(told.len(), 3, "{told:?}");
    }
}

//! `golem costs --tree`: who spent what, by life, session, sub-agent and tool. Every row is the sum of the rows below it.

use std::process::ExitCode;

use golem::{GolemId, Life, Name, Usdc};
use shell::life::heirs;
use shell::view::tree::{CostPart, CostTree, LifeCosts, PartKind, PartSums};
use shell::{Error, Home};

use crate::named;
use crate::output::{self, count, line};

/// Rows of one part that are printed one by one; JSON has all.
const ROWS: usize = 20;

pub(crate) fn tree(home: &Home, name: Option<&str>, json: bool) -> Result<ExitCode, Error> {
    let trees = match name {
        Some(name) => {
            let place = named::golem(home, name)?;
            vec![CostTree::of(home, &place, &heirs::family(home, &place)?)?]
        }
        None => all(home)?,
    };
    if json {
        trees.iter().for_each(output::json);
    } else {
        print(&trees);
    }
    Ok(ExitCode::SUCCESS)
}

/// The tree of each golem whose predecessor is not here. A golem that cannot be read is named, and left out.
fn all(home: &Home) -> Result<Vec<CostTree>, Error> {
    let mut family: Vec<(Name, Life)> = Vec::new();
    for place in home.list()? {
        match place.wake() {
            Ok((golem, _)) => family.push((place.name.clone(), golem.life().clone())),
            Err(why) => output::complain(format!("{}: {why}", place.name)),
        }
    }
    family.sort_by_key(|(_, life)| (life.birth().generation, life.born(), life.id()));
    let is_here = |id: GolemId| family.iter().any(|(_, life)| life.id() == id);
    let is_root = |life: &Life| {
        let parent = life.birth().lineage.as_ref().map(|line| line.parent);
        parent.is_none_or(|parent| parent == life.id() || !is_here(parent))
    };
    let mut trees = Vec::new();
    for (name, _) in family.iter().filter(|(_, life)| is_root(life)) {
        match CostTree::of(home, &home.place(name), &family) {
            Ok(tree) => trees.push(tree),
            Err(why) => output::complain(format!("{name}: {why}")),
        }
    }
    Ok(trees)
}

/// One row of the table.
struct TreeRow {
    says: String,
    sums: PartSums,
}

fn print(trees: &[CostTree]) {
    if trees.is_empty() {
        return line("no golem here has made any calls; `bardo golem connect NAME` shows how an agent makes them");
    }
    let lives = || trees.iter().flat_map(|tree| &tree.lives);
    for life in lives() {
        line(format!("{} spent {}", life.name, life.purse));
    }
    let mut rows = Vec::new();
    for life in lives() {
        rows.push(TreeRow { says: life_in_words(life), sums: life.sums });
        add_rows(&life.parts, 1, &mut rows);
    }
    if lives().count() > 1 {
        let sums = PartSums::together(trees.iter().map(|tree| tree.sums));
        rows.push(TreeRow { says: "together".to_owned(), sums });
    }
    line("");
    let heads = ["LIFE, SESSION, SUB-AGENT, TOOL", "CALLS", "TOKENS IN", "TOKENS OUT", "COST", "SET ASIDE"];
    let aside = |sum: Usdc| if sum == Usdc::ZERO { String::new() } else { sum.to_string() };
    let cells = |TreeRow { says, sums }: &TreeRow| {
        let [calls, input, output] = [sums.calls, sums.input, sums.output].map(count);
        [says.clone(), calls, input, output, sums.cost.to_string(), aside(sums.aside)]
    };
    let table: Vec<[String; 6]> = [heads.map(str::to_owned)].into_iter().chain(rows.iter().map(cells)).collect();
    let widths: [usize; 6] =
        std::array::from_fn(|at| table.iter().map(|row| row[at].chars().count()).max().unwrap_or(0));
    for [says, figures @ ..] in &table {
        let figures = figures.iter().zip(&widths[1..]).map(|(cell, &width)| format!("  {cell:>width$}"));
        let row = format!("{says:<width$}{}", figures.collect::<String>(), width = widths[0]);
        line(row.trim_end());
    }
}

/// Adds the rows of these parts, the dearest first; of many, the rest in one row.
fn add_rows(parts: &[CostPart], depth: usize, rows: &mut Vec<TreeRow>) {
    let indent = "  ".repeat(depth);
    let shown = if parts.len() > ROWS { ROWS - 1 } else { parts.len() };
    for part in &parts[..shown] {
        rows.push(TreeRow { says: format!("{indent}{}", part_in_words(part)), sums: part.sums });
        add_rows(&part.parts, depth + 1, rows);
    }
    let rest = &parts[shown..];
    if !rest.is_empty() {
        let sums = PartSums::together(rest.iter().map(|part| part.sums));
        rows.push(TreeRow { says: format!("{indent}{} others", rest.len()), sums });
    }
}

fn life_in_words(life: &LifeCosts) -> String {
    life.after.as_ref().map_or_else(|| life.name.clone(), |after| format!("{} (heir of {after})", life.name))
}

fn part_in_words(part: &CostPart) -> String {
    let kind = if part.kind.is_empty() { String::new() } else { format!(" ({})", part.kind) };
    match (part.part, part.name.as_str()) {
        (PartKind::Session, "") => "no session named".to_owned(),
        (PartKind::Session, name) => format!("session {name}"),
        (PartKind::Agent, "") => "the agent itself".to_owned(),
        (PartKind::Agent, name) => format!("sub-agent {name}{kind}"),
        (PartKind::Tool, "") => "no tool's result".to_owned(),
        (PartKind::Tool, name) => format!("result of {name}"),
        (PartKind::Living, _) => "beside its agent's calls".to_owned(),
        (PartKind::Unlisted, _) => "calls no longer listed".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(nth: usize) -> CostPart {
        let sums = PartSums { calls: 1, cost: Usdc::micros(nth as i64), ..PartSums::default() };
        CostPart { part: PartKind::Tool, name: format!("t{nth}"), kind: String::new(), sums, parts: Vec::new() }
    }

    #[test]
    fn many_rows_are_few_and_add_up_all_the_same() {
        for many in [0, 1, ROWS, ROWS + 1, 500] {
            let parts: Vec<CostPart> = (0..many).map(tool).collect();
            let mut rows = Vec::new();
            add_rows(&parts, 1, &mut rows);
            assert_eq!(rows.len(), many.min(ROWS));
            let sums = |all: Vec<PartSums>| PartSums::together(all);
            assert_eq!(
                sums(rows.iter().map(|row| row.sums).collect()),
                sums(parts.iter().map(|part| part.sums).collect())
            );
            assert_eq!(rows.last().is_some_and(|row| row.says.ends_with(" others")), many > ROWS);
        }
    }

    #[test]
    fn a_part_without_a_name_is_told_in_words() {
        let of = |part, name: &str, kind: &str| {
            let (name, kind) = (name.to_owned(), kind.to_owned());
            part_in_words(&CostPart { part, name, kind, sums: PartSums::default(), parts: Vec::new() })
        };
        assert_eq!(of(PartKind::Agent, "a1", "Explore"), "sub-agent a1 (Explore)");
        assert_eq!(of(PartKind::Agent, "", ""), "the agent itself");
        assert_eq!(
            (of(PartKind::Tool, "", ""), of(PartKind::Session, "", "")),
            ("no tool's result".into(), "no session named".into())
        );
    }
}

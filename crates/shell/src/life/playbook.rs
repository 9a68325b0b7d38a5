//! PLAYBOOK.md: a golem's rules as a file for people. Only the process that runs the golem writes it.
//!
//! Edits by hand are proposals. They are read, compared with the playbook and reported; the golem
//! neither obeys them nor writes over them.

use std::io::ErrorKind;
use std::path::Path;

use golem::Life;
use golem::figures::percent;
use golem::rule::Heuristic;
use golem::rule::text::{self, Parsed};

use crate::Error;

const FOOTER: &str = "<!-- written by bardo: ";
const END: &str = " -->";

/// The file, compared with the life.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Review {
    /// Whether the file is as it was written.
    pub untouched: bool,
    /// Rules that are new, with the line they stand in.
    pub added: Vec<(usize, Parsed)>,
    /// Rules of the playbook that were left out.
    pub left_out: Vec<String>,
    /// Lines that cannot be read, with the reason.
    pub problems: Vec<(usize, String)>,
}

/// The playbook as text, under the name its golem has now.
pub fn render(name: &str, life: &Life) -> String {
    let mut text = format!(
        "# Playbook of {name}\n\n\
         The rules of {name} at tick {}, written by {name} itself. To propose a rule, add a line of the same form and\n\
         run `bardo golem playbook {name}`: it is checked, and with `--accept` tried in the shadow before it gets a\n\
         say. Nothing written here is obeyed by itself, and a file that was edited is not written over.\n",
        life.tick()
    );
    for (at, domain) in life.birth().world.domains.iter().enumerate() {
        let mut rules: Vec<&Heuristic> =
            life.playbook().iter().filter(|h| h.voice && usize::from(h.domain) == at).collect();
        rules.sort_by(|a, b| b.skill().total_cmp(&a.skill()).then(a.id.cmp(&b.id)));
        text += &format!("\n## {}\n\n", domain.name);
        for rule in rules {
            let shown = format!("{} against naive in {:.0} claims", percent(rule.skill(), 1), rule.weight);
            text += &format!("- {} <!-- {}: {shown} -->\n", words(rule, life), rule.id);
        }
    }
    let hash = blake3::hash(text.as_bytes()).to_hex();
    text + &format!("\n{FOOTER}{}{END}\n", &hash[..16])
}

fn words(rule: &Heuristic, life: &Life) -> String {
    let parsed = Parsed { effect: rounded(rule.expects()), ..Parsed::from(rule) };
    parsed.print(&life.birth().world).unwrap_or_else(|e| format!("cannot be said: {e}"))
}

/// A percentage; two decimals are as much as a person reads.
fn rounded(effect: f64) -> f64 {
    (effect * 100.0).round() / 100.0
}

/// Whether the file is as it was written.
pub fn untouched(text: &str) -> bool {
    let Some((body, footer)) = text.rsplit_once(&format!("\n{FOOTER}")) else { return false };
    let hash = blake3::hash(body.as_bytes()).to_hex();
    footer.trim_end() == format!("{}{END}", &hash[..16])
}

/// Reads the file as proposals.
pub fn review(text: &str, life: &Life) -> Review {
    let mut review = Review { untouched: untouched(text), ..Review::default() };
    if review.untouched {
        return review;
    }
    if !text.contains(FOOTER) {
        let last = text.lines().count().max(1);
        review.problems.push((last, "the line at the end is missing: is this the whole file?".to_owned()));
    }
    let mut known: Vec<(usize, Parsed)> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let Some(rule) = line.trim_start().strip_prefix("- ") else { continue };
        let rule = rule.split("<!--").next().unwrap_or(rule).trim();
        match text::parse(rule, &life.birth().world) {
            Err(e) => review.problems.push((at + 1, e.to_string())),
            Ok(parsed) => {
                if let Some((first, _)) = known.iter().find(|(_, other)| other.is_about_the_same(&parsed)) {
                    let why = format!("says the same as line {first}; what a rule expects is learned, not set");
                    review.problems.push((at + 1, why));
                    continue;
                }
                known.push((at + 1, parsed));
            }
        }
    }
    let is = |h: &Heuristic, parsed: &Parsed| Parsed::from(h).is_about_the_same(parsed);
    let here = |parsed: &Parsed| life.playbook().iter().any(|h| is(h, parsed));
    review.added = known.iter().filter(|(_, parsed)| !here(parsed)).cloned().collect();
    let gone = |h: &&Heuristic| h.voice && !known.iter().any(|(_, parsed)| is(h, parsed));
    review.left_out = life.playbook().iter().filter(gone).map(|h| words(h, life)).collect();
    review
}

/// Writes the playbook, unless it was edited. True if it was written.
///
/// The file in its place is first taken aside and looked at, and nothing is put where something stands: an edit saved
/// at the very moment of writing is kept like any other.
pub fn write(path: &Path, name: &str, life: &Life) -> Result<bool, Error> {
    let (new, was) = (path.with_extension("md.new"), path.with_extension("md.was"));
    std::fs::write(&new, render(name, life)).map_err(Error::io("cannot write", &new))?;
    if path.exists() || !was.exists() {
        match std::fs::rename(path, &was) {
            Err(e) if e.kind() != ErrorKind::NotFound => return Err(Error::io("cannot move", path)(e)),
            _ => {}
        }
    }
    let edited = match std::fs::read_to_string(&was) {
        Ok(text) => !untouched(&text),
        // Bytes that are not text were not written here.
        Err(e) => e.kind() != ErrorKind::NotFound,
    };
    let placed = match std::fs::hard_link(if edited { &was } else { &new }, path) {
        Ok(()) => true,
        Err(e) if e.kind() == ErrorKind::AlreadyExists => false,
        Err(e) => return Err(Error::io("cannot write", path)(e)),
    };
    // An edit that a later one has overtaken stays beside it.
    if placed || !edited {
        remove(&was)?;
    }
    remove(&new)?;
    Ok(placed && !edited)
}

fn remove(path: &Path) -> Result<(), Error> {
    match std::fs::remove_file(path) {
        Err(e) if e.kind() != ErrorKind::NotFound => Err(Error::io("cannot remove", path)(e)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use golem::Birth;
    use golem::constitution::Constitution;
    use golem::{Golem, GolemId, laws};
    use world::{Ledger, Spec};

    use super::*;

    fn life() -> Life {
        let spec = Spec::Sim { seed: 1, bar_ms: 40_000, relations_change_days: 0.0, edge_bps: None, flip_days: None };
        let world = spec.open(Ledger::memory()).unwrap();
        let birth = Birth {
            id: GolemId([1; 16]),
            name: "ada".parse().unwrap(),
            generation: 0,
            laws: laws::NEWEST,
            secret_hash: [0; 32],
            seeded: true,
            constitution: Constitution::bare(),
            world: world.manifest(),
            endowment: golem::Endowment::default(),
            lineage: None,
            unfinished: Vec::new(),
        };
        Golem::born(birth, world.start()).0.life().clone()
    }

    #[test]
    fn what_was_written_reads_back_as_nothing_new() {
        let (life, text) = (life(), render("ada", &life()));
        assert_eq!(review(&text, &life), Review { untouched: true, ..Review::default() });
        // Touched, but with nothing that means anything.
        let touched = review(&text.replace("# Playbook", "# My playbook"), &life);
        assert_eq!(touched, Review::default(), "{touched:?}");
    }

    /// A blend of other features once passed for the one that stood there, because both hold always.
    #[test]
    fn another_blend_is_a_proposal_and_the_same_in_other_shares_is_none() {
        let (life, text) = (life(), render("ada", &life()));
        let with = |rule: &str| review(&text.replace("\n## range", &format!("- {rule}\n\n## range")), &life);
        let other = with("always expect volatility like a blend of vol_6, range_24 over 24");
        assert_eq!((other.added.len(), other.problems.len()), (1, 0), "{other:?}");
        let same = with("always expect volatility like a blend of 0.1 vol_usual, 0.2 vol_6, 0.3 vol_168 over 24");
        assert_eq!((same.added.len(), same.problems.len()), (0, 1), "{same:?}");
        assert!(same.problems[0].1.contains("says the same as line"), "{same:?}");
    }

    #[test]
    fn edits_are_proposals_and_each_problem_has_a_line_and_a_reason() {
        let (life, text) = (life(), render("ada", &life()));
        let first = text.lines().position(|line| line.starts_with("- ")).unwrap();
        let mut lines: Vec<&str> = text.lines().collect();
        let dropped = lines.remove(first);
        lines.insert(first, "- when vol_ratio > 3 and hour < 2 expect volatility x0.5 over 24");
        lines.insert(first + 1, "- when moon > 3 expect volatility over 24");
        lines.insert(first + 2, "- when vol_ratio > 3 and hour < 2 expect volatility x2 over 24");
        lines.insert(first + 3, "-  nonsense");
        let review = review(&lines.join("\n"), &life);
        assert!(!review.untouched);
        assert_eq!(review.added.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [first + 1]);
        assert_eq!(review.left_out.len(), 1);
        assert!(dropped.starts_with(&format!("- {}", review.left_out[0])), "{dropped}");
        let told: Vec<(usize, &str)> = review.problems.iter().map(|(line, why)| (*line, why.as_str())).collect();
        assert_eq!(told.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [first + 2, first + 3, first + 4]);
        assert!(told[0].1.contains("moon") && told[1].1.contains("learned"), "{told:?}");
    }

    #[test]
    fn a_half_written_file_is_noticed_and_an_edited_one_never_written_over() {
        let (life, folder) = (life(), tempfile::tempdir().unwrap());
        let path = folder.path().join("PLAYBOOK.md");
        assert!(write(&path, "ada", &life).unwrap() && write(&path, "ada", &life).unwrap());
        let text = std::fs::read_to_string(&path).unwrap();
        let half = &text[..text.len() / 2];
        std::fs::write(&path, half).unwrap();
        assert!(!write(&path, "ada", &life).unwrap());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), half, "left as it was");
        assert!(review(half, &life).problems.iter().any(|(_, why)| why.contains("whole file")));
    }

    #[test]
    fn an_edit_saved_while_the_golem_writes_is_never_lost() {
        let (life, folder) = (life(), tempfile::tempdir().unwrap());
        let path = folder.path().join("PLAYBOOK.md");
        for edit in 0..200 {
            let _ = std::fs::remove_file(&path);
            write(&path, "ada", &life).unwrap();
            let text = format!("{}\n- edit {edit}\n", render("ada", &life));
            std::thread::scope(|scope| {
                // As editors save: made aside, moved into place.
                scope.spawn(|| {
                    let draft = folder.path().join("draft");
                    std::fs::write(&draft, &text).unwrap();
                    std::fs::rename(&draft, &path).unwrap();
                });
                for _ in 0..20 {
                    write(&path, "ada", &life).unwrap();
                }
            });
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
    }
}

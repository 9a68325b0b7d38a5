//! The fence of macOS (Seatbelt), as the text of a profile. There a fence cannot be raised around a thread that runs:
//! `sandbox-exec` raises it around itself and becomes the program, and all that is started from there stands behind it too.
//! Of several rules that fit, the last one holds.

use std::io;
use std::path::{Path, PathBuf};

/// The program that raises a fence and becomes another.
pub(crate) const PROGRAM: &str = "/usr/bin/sandbox-exec";

/// Other processes: none outside the fence can be signalled, looked into, or taken over.
const PROCESSES: [&str; 3] = ["signal", "process-info*", "mach-priv-task-port"];
/// Ways to have something started, or mounted over a path, by a process that has no fence.
const DETOURS: [&str; 5] = ["appleevent-send", "job-creation", "lsopen", "file-mount", "file-unmount"];
/// Services that start programs for others.
const STARTERS: [&str; 2] = ["com.apple.coreservices.launchservicesd", "com.apple.coreservices.quarantine-resolver"];

/// Writes the profile of a fence: places that are hidden, those that are protected, and those that stay open even inside
/// either. All must be real paths, because a rule is held against a path after all of its links were followed.
pub(crate) fn profile(hidden: &[PathBuf], protected: &[PathBuf], given: &[PathBuf]) -> io::Result<String> {
    let mut rules = vec!["(version 1)".to_owned(), "(allow default)".to_owned()];
    rules.extend(PROCESSES.map(|name| format!("(deny {name}) (allow {name} (target same-sandbox))")));
    rules.extend(DETOURS.map(|name| format!("(deny {name})")));
    rules.extend(STARTERS.map(|name| format!("(deny mach-lookup (global-name \"{name}\"))")));
    for path in protected {
        rules.push(format!("(deny file-write* file-link (subpath {}))", quoted(path)?));
    }
    for path in hidden {
        rules.push(format!("(deny file-read* file-write* file-link process-exec* (subpath {}))", quoted(path)?));
    }
    for path in given {
        for between in path.ancestors().skip(1).filter(|above| is_within(above, hidden)) {
            rules.push(format!("(allow file-read-metadata (literal {}))", quoted(between)?));
        }
        rules.push(format!("(allow file-read* file-write* process-exec* (subpath {}))", quoted(path)?));
    }
    // Rules are about paths, so a folder above one of them must not be moved away from under its name.
    for path in above(hidden).chain(above(protected)) {
        rules.push(format!("(deny file-write* (literal {}))", quoted(path)?));
    }
    Ok(rules.join("\n") + "\n")
}

fn is_within(path: &Path, places: &[PathBuf]) -> bool {
    places.iter().any(|place| path.starts_with(place))
}

fn above(paths: &[PathBuf]) -> impl Iterator<Item = &Path> {
    paths.iter().flat_map(|path| path.ancestors().skip(1)).filter(|path| path.parent().is_some())
}

/// The path as a string of the profile's language, in which a path that is no text cannot be written.
fn quoted(path: &Path) -> io::Result<String> {
    let text = path.to_str().ok_or_else(|| io::Error::other(format!("{} cannot be fenced", path.display())))?;
    Ok(format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(of: &[&str]) -> Vec<PathBuf> {
        of.iter().map(PathBuf::from).collect()
    }

    #[test]
    fn a_profile_allows_what_it_does_not_deny_and_denies_before_it_opens_again() {
        let (hidden, protected) = (paths(&["/Users/me/Library/bardo"]), paths(&["/Users/me/suite"]));
        let given = paths(&["/Users/me/Library/bardo/golems/ada"]);
        let expected = "\
(version 1)
(allow default)
(deny signal) (allow signal (target same-sandbox))
(deny process-info*) (allow process-info* (target same-sandbox))
(deny mach-priv-task-port) (allow mach-priv-task-port (target same-sandbox))
(deny appleevent-send)
(deny job-creation)
(deny lsopen)
(deny file-mount)
(deny file-unmount)
(deny mach-lookup (global-name \"com.apple.coreservices.launchservicesd\"))
(deny mach-lookup (global-name \"com.apple.coreservices.quarantine-resolver\"))
(deny file-write* file-link (subpath \"/Users/me/suite\"))
(deny file-read* file-write* file-link process-exec* (subpath \"/Users/me/Library/bardo\"))
(allow file-read-metadata (literal \"/Users/me/Library/bardo/golems\"))
(allow file-read-metadata (literal \"/Users/me/Library/bardo\"))
(allow file-read* file-write* process-exec* (subpath \"/Users/me/Library/bardo/golems/ada\"))
(deny file-write* (literal \"/Users/me/Library\"))
(deny file-write* (literal \"/Users/me\"))
(deny file-write* (literal \"/Users\"))
(deny file-write* (literal \"/Users/me\"))
(deny file-write* (literal \"/Users\"))
";
        assert_eq!(profile(&hidden, &protected, &given).unwrap(), expected);
    }

    /// A folder's name is whatever its maker likes, also the end of a rule and the beginning of another.
    #[test]
    fn no_name_of_a_folder_ends_its_rule() {
        let hidden = paths(&["/tmp/a\")) (allow default) (deny signal (target \"\\"]);
        let text = profile(&hidden, &[], &[]).unwrap();
        let rule = text.lines().find(|line| line.starts_with("(deny file-read*")).unwrap();
        let name = rule.split_once("(subpath ").unwrap().1;
        assert_eq!(name, "\"/tmp/a\\\")) (allow default) (deny signal (target \\\"\\\\\"))");
        assert_eq!(text.matches("(allow default)").count(), 2, "one of them is quoted: {text}");
    }

    #[test]
    fn a_program_that_may_write_nowhere_may_where_it_is_given_a_place() {
        let text = profile(&[], &paths(&["/"]), &paths(&["/private/tmp"])).unwrap();
        let at = |rule: &str| text.find(rule).unwrap_or_else(|| panic!("no {rule}: {text}"));
        assert!(at("(deny file-write* file-link (subpath \"/\"))") < at("(subpath \"/private/tmp\")"));
        assert!(!text.contains("(literal"), "above everything there is nothing: {text}");
    }
}

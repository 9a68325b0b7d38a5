//! From a path as it was written to the key that was meant: the documents' camelCase, their other names, and
//! for what fits nothing the nearest key there is.

use super::keys::{Form, KEYS, SPELLINGS, SettingKey, VALUE_SPELLINGS, ValueSpelling};
use super::kind::SettingKind;
use super::problem::File;

/// Below this likeness a guess would puzzle more than it helps.
const ALIKE: f64 = 0.6;

#[derive(Clone, Copy, Debug)]
pub(super) enum Meant {
    Key {
        key: &'static SettingKey,
        /// How a value is written under this name.
        form: Form,
    },
    Section,
    Nothing,
}

/// The key or section that a path in snake_case means.
pub(super) fn meant(path: &str) -> Meant {
    let (canonical, form) = match SPELLINGS.iter().find(|spelling| spelling.spelled == path) {
        Some(spelling) => (spelling.path, spelling.form),
        None => (path, Form::Plain),
    };
    match KEYS.iter().find(|key| key.path == canonical) {
        Some(key) => Meant::Key { key, form },
        None if is_section(path) => Meant::Section,
        None => Meant::Nothing,
    }
}

/// Whether keys stand below this path, under our own names or the documents'.
pub(super) fn is_section(path: &str) -> bool {
    let ours = KEYS.iter().map(|key| key.path);
    ours.chain(SPELLINGS.iter().map(|spelling| spelling.spelled)).any(|known| is_inside(known, path))
}

/// Whether nothing in a section can be set yet.
pub(super) fn is_not_yet(section: &str) -> bool {
    let mut inside = KEYS.iter().filter(|key| is_inside(key.path, section)).peekable();
    inside.peek().is_some() && inside.all(|key| key.kind == SettingKind::NotYet)
}

/// The documents' value of a choice that is not made here.
pub(super) fn other_value(key: &SettingKey, written: &str) -> Option<&'static ValueSpelling> {
    VALUE_SPELLINGS.iter().find(|value| value.path == key.path && value.spelled == written)
}

fn is_inside(path: &str, section: &str) -> bool {
    path.strip_prefix(section).is_some_and(|rest| rest.starts_with('.'))
}

/// `fitnessWindow` and `FITNESS_WINDOW` become `fitness_window`.
pub(super) fn snake(word: &str) -> String {
    let mut text = String::with_capacity(word.len() + 4);
    let mut after_small = false;
    for c in word.chars() {
        if c.is_ascii_uppercase() && after_small {
            text.push('_');
        }
        after_small = c.is_ascii_lowercase() || c.is_ascii_digit();
        text.push(c.to_ascii_lowercase());
    }
    text
}

/// `fitness_window` becomes `fitnessWindow`.
pub(super) fn camel(word: &str) -> String {
    let mut text = String::with_capacity(word.len());
    let mut after_break = false;
    for c in word.chars() {
        match c {
            '_' => after_break = true,
            _ if after_break => {
                text.push(c.to_ascii_uppercase());
                after_break = false;
            }
            _ => text.push(c),
        }
    }
    text
}

/// `; did you mean 'mortality.epistemic.fitness_window'?`, or where to look if nothing is near.
pub(super) fn hint(path: &str, file: File) -> String {
    match nearest(path, file) {
        Some(key) if key.kind == SettingKind::NotYet => {
            format!("; did you mean '{}' (not available yet)?", key.path)
        }
        Some(key) if key.file != file => format!("; did you mean '{}' of {}?", key.path, key.file),
        Some(key) => format!("; did you mean '{}'?", key.path),
        None => format!("; `bardo config schema {}` lists every key", file.name().trim_end_matches(".toml")),
    }
}

/// Hint for an unknown section: the nearest one, or where to look.
pub(super) fn section_hint(path: &str) -> String {
    let sections = KEYS.iter().flat_map(|key| {
        let ends = key.path.match_indices('.').map(|(at, _)| &key.path[..at]);
        ends.collect::<Vec<_>>()
    });
    match best(sections.map(|section| (section, likeness(path, section)))) {
        Some(section) => format!("; did you mean '{section}'?"),
        None => "; `bardo config schema golem` lists every section".to_owned(),
    }
}

fn nearest(path: &str, file: File) -> Option<&'static SettingKey> {
    let leaf = path.rsplit('.').next().unwrap_or(path);
    best(KEYS.iter().map(|key| {
        let whole = likeness(path, key.path);
        // A key under the wrong section is still recognised by its last word.
        let last = 0.85 * likeness(leaf, key.split().1);
        let far = if key.file == file { 0.0 } else { 0.02 };
        (key, whole.max(last) - far)
    }))
}

/// The first of the best, so that a tie is always decided the same way.
fn best<T>(scored: impl Iterator<Item = (T, f64)>) -> Option<T> {
    let better = |best: Option<(T, f64)>, next: (T, f64)| match best {
        Some(best) if best.1 >= next.1 => Some(best),
        _ => Some(next),
    };
    scored.fold(None, better).filter(|(_, score)| *score >= ALIKE).map(|(what, _)| what)
}

fn likeness(written: &str, known: &str) -> f64 {
    // Comparing takes the product of the lengths, and a file may hold a key of a megabyte: what is too
    // different in length alone is not compared.
    let (short, long) = (written.len().min(known.len()), written.len().max(known.len()));
    if (short as f64) < ALIKE * long as f64 {
        return 0.0;
    }
    strsim::normalized_damerau_levenshtein(written, known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documents_spellings_become_ours_and_back() {
        for key in KEYS {
            for part in key.path.split('.') {
                assert_eq!(snake(&camel(part)), part);
                assert_eq!(snake(&part.to_ascii_uppercase()), part);
            }
        }
        assert_eq!(snake("deathReserveFloorUsdc"), "death_reserve_floor_usdc");
    }

    #[test]
    fn a_typing_mistake_anywhere_in_a_key_finds_it() {
        for key in KEYS.iter().filter(|key| key.is_available()) {
            for at in 1..key.path.len() {
                let mut missing = key.path.to_owned();
                missing.remove(at);
                // One letter less can be another key.
                if KEYS.iter().any(|key| key.path == missing) {
                    continue;
                }
                let found = nearest(&missing, key.file).map(|found| found.path);
                assert_eq!(found, Some(key.path), "{missing}");
            }
        }
    }

    #[test]
    fn a_key_under_the_wrong_section_is_found_by_its_last_word() {
        let found = |path| nearest(path, File::Golem).map(|key| key.path);
        assert_eq!(found("fitness_window"), Some("mortality.epistemic.fitness_window"));
        assert_eq!(found("golem.max_drawdwn"), Some("policy.max_drawdown"));
        assert_eq!(found("zzz"), None);
        assert_eq!(found(&"a".repeat(1_000_000)), None);
    }
}

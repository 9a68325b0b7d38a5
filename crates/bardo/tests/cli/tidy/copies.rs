//! Small things that are done in one place. Each was once written again wherever it was needed, and where the choice of a TLS was
//! forgotten, `bardo init` fell over for want of it. A file that does one of them by hand is told where it is to be had.

use std::collections::BTreeSet;
use std::fs;

use super::source::{with_strings, without_tests};
use super::{files, root};

/// A thing that is done once, by what its code looks like.
struct Once {
    what: &'static str,
    /// Where it is to be had.
    instead: &'static str,
    code: &'static [&'static str],
    /// The files that do it: its one place, and those of crates that stand on none which has it.
    homes: &'static [&'static str],
}

const HEX: &str = "bytes as hexadecimal text";

const ALL: [Once; 5] = [
    Once { what: HEX, instead: "golem::hex", code: &["u8::from_str_radix("], homes: &[] },
    Once {
        what: "thousands set apart",
        instead: "golem::figures::count",
        code: &["is_multiple_of(3)", "rchunks(3)"],
        homes: &["life/src/figures.rs"],
    },
    Once {
        what: "the choice of a TLS",
        instead: "mind::http",
        code: &["install_default("],
        homes: &["chain/src/rpc.rs", "mind/src/http.rs", "styx/src/client.rs"],
    },
    Once {
        what: "the making of a client of HTTP",
        instead: "mind::http",
        code: &["Client::builder(", "Client::new(", "ClientBuilder::new("],
        homes: &["chain/src/rpc.rs", "mind/src/http.rs"],
    },
    Once {
        what: "a lock taken from a thread that panicked",
        instead: "shell::locks",
        code: &["PoisonError::into_inner"],
        homes: &["outside/src/program.rs", "shell/src/locks.rs", "styx/src/gateway.rs", "world/src/market/series.rs"],
    },
];

#[test]
fn what_is_done_in_one_place_is_done_nowhere_else() {
    let crates = root().join("crates");
    let mut sources = Vec::new();
    for path in files(&crates, ".rs") {
        let file = path.strip_prefix(&crates).unwrap().to_string_lossy().into_owned();
        let for_tests = ["/tests/", "/tests.rs", "/seeds/"].iter().any(|part| file.contains(part));
        // Doubles of servers write what servers write.
        if file.contains("/src/") && !for_tests && !file.starts_with("testing/") {
            sources.push((file, fs::read_to_string(&path).unwrap()));
        }
    }
    let mut wrong = String::new();
    for once in &ALL {
        let doing = sources.iter().filter(|(_, source)| is_done_in(once, source)).map(|(file, _)| file.as_str());
        let (doing, homes): (BTreeSet<&str>, BTreeSet<&str>) = (doing.collect(), once.homes.iter().copied().collect());
        for file in doing.difference(&homes) {
            wrong += &format!("\n  {file}: {}; take {}", once.what, once.instead);
        }
        for file in homes.difference(&doing) {
            wrong += &format!("\n  {file}: no longer {}; take it off the list", once.what);
        }
    }
    assert!(wrong.is_empty(), "done by hand:{wrong}");
}

fn is_done_in(once: &Once, source: &str) -> bool {
    let (marked, strings) = with_strings(source);
    let (own, _) = without_tests(&marked);
    let letters: Vec<char> = own.chars().collect();
    let mut formats = strings.iter().filter(|(at, _)| letters[*at] == '"');
    once.code.iter().any(|code| own.contains(code))
        || (once.what == HEX && formats.any(|(_, format)| writes_digits(format)))
}

/// Whether a format writes two hexadecimal digits. Behind a percent sign they are an address's way to write a byte.
fn writes_digits(format: &str) -> bool {
    let opening = |at: usize| format[..at].rfind('{').unwrap_or(0);
    let mut places = [":02x}", ":02X}"].into_iter().flat_map(|ending| format.match_indices(ending));
    places.any(|(at, _)| !format[..opening(at)].ends_with('%'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_seen_and_a_mention_or_a_test_is_none() {
        let [hex, thousands, tls, client, lock] = &ALL;
        for (once, source) in [
            (hex, "fn hex() { bytes.map(|byte| format!(\"{byte:02x}\")) }"),
            (hex, "fn read() { u8::from_str_radix(pair, 16) }"),
            (hex, "fn both() { format!(\"%{byte:02x} {byte:02X}\") }"),
            (thousands, "fn grouped() { if (digits.len() - at).is_multiple_of(3) { text.push(',') } }"),
            (tls, "fn open() { let _ = provider().install_default(); }"),
            (client, "fn open() { reqwest::blocking::Client::builder() }"),
            (lock, "fn books() { self.0.lock().unwrap_or_else(PoisonError::into_inner) }"),
        ] {
            assert!(is_done_in(once, source), "{source}");
            for hidden in [format!("// {source}"), format!("#[cfg(test)]\nmod tests {{ {source} }}")] {
                assert!(!is_done_in(once, &hidden), "{hidden}");
            }
        }
        for source in ["fn escape() { format!(\"%{byte:02X}\") }", "fn number() { u64::from_str_radix(digits, 16) }"] {
            assert!(!is_done_in(hex, source), "{source}");
        }
    }
}

//! Reference pages, written from what the program itself says: commands from the parser, keys from the table of the
//! configuration, endpoints from the description of the API, decisions from their own files.

use std::fmt::Write;
use std::path::Path;

use clap::{Arg, Command};
use serde_json::Value;
use settings::{File, KEYS, SettingKind, available};

/// Every command with its arguments, from the parser.
pub(crate) fn commands(root: Command) -> String {
    let mut root = root;
    root.build();
    let mut page = String::from("| everywhere | |\n| --- | --- |\n");
    for arg in root.get_arguments().filter(|arg| is_told(arg) && arg.is_global_set()) {
        row(&mut page, arg);
    }
    describe(&mut page, &root, "bardo");
    page
}

fn describe(page: &mut String, command: &Command, path: &str) {
    let inner: Vec<&Command> = command.get_subcommands().filter(|one| !one.is_hide_set()).collect();
    if path != "bardo" {
        let level = "#".repeat(path.split(' ').count().min(4));
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        let _ = write!(page, "\n{level} {path}\n\n{}.\n", cell(&about));
        let own: Vec<&Arg> = command.get_arguments().filter(|arg| is_told(arg) && !arg.is_global_set()).collect();
        if inner.is_empty() || !own.is_empty() {
            let usage = command.clone().render_usage().to_string();
            let usage = usage.trim_start_matches("Usage: ").trim();
            let _ = write!(page, "\n```text\n{usage}\n```\n");
        }
        let aliases: Vec<&str> = command.get_all_aliases().collect();
        if !aliases.is_empty() {
            let _ = write!(page, "\nAlso called `{}`.\n", aliases.join("`, `"));
        }
        let told: Vec<&&Arg> = own.iter().filter(|arg| arg.get_help().is_some() || !values(arg).is_empty()).collect();
        if !told.is_empty() {
            page.push_str("\n| | |\n| --- | --- |\n");
            told.into_iter().for_each(|arg| row(page, arg));
        }
    }
    for one in inner {
        describe(page, one, &format!("{path} {}", one.get_name()));
    }
}

fn is_told(arg: &Arg) -> bool {
    !arg.is_hide_set() && !["help", "version"].contains(&arg.get_id().as_str())
}

/// What can be chosen from.
fn values(arg: &Arg) -> Vec<String> {
    if !arg.get_action().takes_values() {
        return Vec::new();
    }
    arg.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect()
}

fn row(page: &mut String, arg: &Arg) {
    let takes = arg.get_action().takes_values();
    let name = arg.get_value_names().and_then(|names| names.first()).map_or_else(String::new, ToString::to_string);
    let shown = match arg.get_long() {
        Some(long) if takes => format!("--{long} {name}"),
        Some(long) => format!("--{long}"),
        None => name,
    };
    let mut about = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let chosen = values(arg);
    if !chosen.is_empty() {
        about = [about, chosen.join(", ")].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(": ");
    }
    let default: Vec<_> = arg.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    if takes && !default.is_empty() && default != [""] {
        let _ = write!(about, " [default: {}]", default.join(" "));
    }
    let _ = writeln!(page, "| `{shown}` | {} |", cell(&about));
}

/// The keys of one file that can be set, section by section.
pub(crate) fn keys(file: File) -> String {
    let (mut page, mut section) = (String::new(), "");
    for key in available(file) {
        let (its, name) = key.path.rsplit_once('.').expect("every key stands in a section");
        if its != section {
            let gap = if section.is_empty() { "" } else { "\n" };
            let _ = write!(
                page,
                "{gap}### `[{its}]`\n\n| key | default | meaning | accepts |\n| --- | --- | --- | --- |\n"
            );
            section = its;
        }
        let (default, accepts) = (key.default_value().to_toml(), key.kind.expected());
        let _ = writeln!(page, "| `{name}` | `{default}` | {} | {} |", cell(key.about), cell(&accepts));
    }
    page
}

/// Names that are recognised and answered with *not available yet*.
pub(crate) fn keys_to_come() -> String {
    let names = |file: File| {
        let of = KEYS.iter().filter(move |key| key.file == file && key.kind == SettingKind::NotYet);
        of.map(|key| format!("`{}`", key.path)).collect::<Vec<_>>().join(", ")
    };
    let of = |(file, called): (File, &str)| {
        Some(names(file)).filter(|names| !names.is_empty()).map(|names| format!("In `{called}`: {names}.\n"))
    };
    let all: Vec<String> =
        [(File::Bardo, "bardo.toml"), (File::Golem, "golem.toml")].into_iter().filter_map(of).collect();
    all.join("\n")
}

/// Keys that the specification lets an owner set and that stand fixed.
pub(crate) fn keys_fixed() -> String {
    let mut page = String::from("| key of `golem.toml` | is | meaning |\n| --- | --- | --- |\n");
    for key in KEYS {
        if let SettingKind::Fixed(only) = key.kind {
            let _ = writeln!(page, "| `{}` | `{only}` | {} |", key.path, cell(key.about));
        }
    }
    page
}

/// What the API can be asked, from its description.
pub(crate) fn endpoints(description: &str) -> String {
    let api: Value = serde_json::from_str(description).unwrap();
    let mut page = String::from("| | | scope | sends | answers |\n| --- | --- | --- | --- | --- |\n");
    for (path, methods) in api["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let about = operation["summary"].as_str().unwrap_or_default().trim_end_matches('.');
            let given = operation["parameters"].as_array().into_iter().flatten();
            let given = given.filter(|one| one["in"] != "path").map(|one| {
                let needed = if one["required"] == true { "" } else { "?" };
                format!("`{}`{needed}", one["name"].as_str().unwrap())
            });
            let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
            let named = schema["$ref"].as_str().and_then(|name| name.rsplit('/').next());
            let schema = named.map_or(schema, |name| &api["components"]["schemas"][name]);
            let required: Vec<&str> =
                schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            let fields = schema["properties"]
                .as_object()
                .into_iter()
                .flatten()
                .map(|(name, _)| format!("`{name}`{}", if required.contains(&name.as_str()) { "" } else { "?" }));
            let sends: Vec<String> = given.chain(fields).collect();
            let answers: Vec<&str> = operation["responses"].as_object().unwrap().keys().map(String::as_str).collect();
            let method = method.to_uppercase();
            let _ = writeln!(
                page,
                "| `{method} {path}` | {} | {} | {} | {} |",
                cell(about),
                operation["security"][0]["token"][0].as_str().map_or(String::new(), |scope| format!("`{scope}`")),
                sends.join(", "),
                answers.join(", ")
            );
        }
    }
    page
}

/// Every decision by its title, in order.
pub(crate) fn decisions(folder: &Path) -> String {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| name.ends_with(".md") && name.starts_with(|first: char| first.is_ascii_digit()))
        .collect();
    names.sort();
    let mut page = String::from("| | decided |\n| --- | --- |\n");
    for name in names {
        let text = std::fs::read_to_string(folder.join(&name)).unwrap();
        let title = text.lines().next().unwrap().trim_start_matches("# ");
        let (number, title) = title.split_once(". ").unwrap_or_else(|| panic!("{name} has no number in its title"));
        let _ = writeln!(page, "| {number} | [{title}]({name}) |");
    }
    page
}

/// Fits between the bars of a table.
fn cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|").trim_end_matches('.').to_owned()
}

/// A function or a trait as it stands in the source: from the line that opens it to the brace that closes it.
pub(crate) fn code(source: &str, opens: &str) -> String {
    let lines: Vec<&str> = source.lines().collect();
    let from = lines.iter().position(|line| line.trim_start().starts_with(opens));
    let from = from.unwrap_or_else(|| panic!("the source has no `{opens}`"));
    let indent = lines[from].len() - lines[from].trim_start().len();
    let closes = format!("{}}}", " ".repeat(indent));
    let length = lines[from..].iter().position(|line| *line == closes).unwrap() + 1;
    let kept = lines[from..from + length].iter().map(|line| line.get(indent..).unwrap_or_default());
    format!("```rust,ignore\n{}\n```", kept.collect::<Vec<_>>().join("\n"))
}

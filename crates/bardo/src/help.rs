//! Help in the order a newcomer needs it, and an answer to commands that are guessed before anything was read. The parser says what
//! can be typed; here stands what is shown first, and what was meant.

use clap::error::ErrorKind;
use clap::{Command, CommandFactory, Error, FromArgMatches};

use crate::args::Args;
use crate::draw;

/// Columns of help that is written here.
const WIDTH: usize = 80;
/// The column in which a line begins to say what its command does.
const MARGIN: usize = 18;

/// A heading, and commands with what each does.
type HelpGroup = (&'static str, &'static [(&'static str, &'static str)]);

/// The page a newcomer sees. Money is real in the first group and paper in the third, and each says so.
const FRONT: [HelpGroup; 4] = [
    (
        "Put the agent you have under a cap; your provider bills its calls",
        &[
            ("wrap", "Run it on so many dollars, tokens, calls or hours"),
            ("golem list", "All that ran under a cap, and what each spent"),
            ("golem show", "One of them: what it has left, how it is or how it ended"),
            ("golem costs", "Where the money went, by day and model; what was refused"),
            ("golem approve", "Let one go on that was stopped at a loop, or say no"),
            ("golem fund", "Give one more"),
            ("golem retire", "End one, with its program"),
            ("halt", "End all of them at once"),
            ("prices", "Prices of models, and how to bring in newer ones"),
            ("age", "Whether your agents get worse as they run, by their records"),
        ],
    ),
    (
        "Run and watch many",
        &[
            ("up", "Run all golems here in one process, with an API and a page"),
            ("page", "A link to that page"),
            ("tui", "The same on a terminal"),
            ("mcp", "Let an agent or an assistant ask about a budget, over MCP"),
            ("doctor", "Examine everything kept here: every record, every cent"),
        ],
    ),
    (
        "Give a golem a life of its own, on paper money",
        &[
            ("demo", "Watch one live, die and be succeeded, in a minute"),
            ("init", "Make a home: a treasury with paper money, a place for golems"),
            ("golem new", "Bring one into the world"),
            ("golem run", "Run its life, now or at the pace of its world"),
            ("golem events", "What happened to it"),
            ("testament", "What a dead one leaves in writing"),
            ("golem successor", "An heir, from what it left"),
        ],
    ),
    ("Build", &[("world", "A world that is a program of yours"), ("mind", "A mind that is a program of yours")]),
];

/// Every command, by what it is for; each says of itself what it does.
const ALL: [(&str, &[&str]); 9] = [
    ("Agents under a cap; your provider bills their calls", &["wrap", "golem", "halt", "prices", "age", "mcp"]),
    ("Many at once", &["up", "page", "tui", "notify", "token"]),
    ("Lives on paper money", &["demo", "init", "treasury", "testament", "graveyard", "lineage"]),
    ("Memory and nights", &["grimoire", "dream", "library"]),
    ("Worlds and minds", &["data", "world", "mind", "chain"]),
    ("The laboratory", &["lab", "bench"]),
    ("Several homes", &["styx"]),
    ("Upkeep", &["doctor", "home", "config", "backup", "restore", "drill", "recover", "clock", "upgrade"]),
    ("For your shell", &["help", "completions", "man"]),
];

/// Words that are tried, by the command they are tried behind, and which command does that.
const GUESSES: [(&str, &[&str], &str); 18] = [
    ("", &["list", "ls", "ps", "golems", "agents"], "golems are listed by `bardo golem list`"),
    (
        "",
        &["status", "stat", "info", "standing"],
        "how all golems are is told by `bardo golem list`, and one by `bardo golem show NAME`",
    ),
    ("", &["show", "inspect", "describe", "get"], "a golem is shown by `bardo golem show NAME`"),
    (
        "",
        &["costs", "cost", "spend", "spent", "usage", "bill", "billing", "budget", "money"],
        "what was spent is told by `bardo golem costs`",
    ),
    (
        "",
        &["events", "event", "log", "logs", "history"],
        "what happened to a golem is told by `bardo golem events NAME`",
    ),
    (
        "",
        &["run", "exec", "cap", "limit"],
        "an agent is run by `bardo wrap --credit 2 -- PROGRAM`, and a golem by `bardo golem run NAME`",
    ),
    ("", &["start", "serve", "server", "host", "daemon", "gateway"], "all golems here are run by `bardo up`"),
    (
        "",
        &["stop", "kill", "end", "retire", "down", "delete", "rm", "remove"],
        "a golem is ended by `bardo golem retire NAME`, and all of them by `bardo halt --all`",
    ),
    (
        "",
        &["new", "create", "add", "make"],
        "a golem is made by `bardo golem new`, and one for an agent you have by `bardo wrap`",
    ),
    ("", &["dashboard", "ui", "web", "open"], "the page of a host that is up is opened by `bardo page`"),
    ("", &["top", "watch", "monitor"], "a host that is up is watched by `bardo tui`"),
    ("", &["login", "auth", "key", "keys"], "keys are taken from the environment by `bardo wrap` and `bardo up`"),
    ("", &["version"], "the version is told by `bardo --version`"),
    ("golem", &["ls", "ps", "all"], "golems are listed by `bardo golem list`"),
    ("golem", &["status", "stat", "info", "get", "inspect", "describe"], "a golem is shown by `bardo golem show NAME`"),
    ("golem", &["cost", "spent", "usage", "bill"], "what was spent is told by `bardo golem costs NAME`"),
    ("golem", &["log", "logs", "history"], "what happened to a golem is told by `bardo golem events NAME`"),
    (
        "golem",
        &["stop", "end", "delete", "rm", "remove"],
        "a golem is ended by `bardo golem retire NAME`, and put away once it is dead by `bardo golem bury NAME`",
    ),
];

/// The command that was typed. Where there is no such command, the program ends here and names the one that was meant.
pub(crate) fn parse() -> Args {
    let typed: Vec<String> = std::env::args_os().skip(1).map(|arg| arg.to_string_lossy().into_owned()).collect();
    let matches = command().try_get_matches().unwrap_or_else(|wrong| explain(wrong, &typed).exit());
    Args::from_arg_matches(&matches).unwrap_or_else(|wrong| wrong.format(&mut command()).exit())
}

/// The text behind `bardo help` and these words: the first page, all commands, or one of them.
pub(crate) fn page(topic: &[String]) -> Result<String, Error> {
    let mut at = command();
    at.build();
    if topic == ["all"] {
        return Ok(every_command(&at));
    }
    let mut root = at.clone();
    let mut at = &mut at;
    for (depth, word) in topic.iter().enumerate() {
        if at.find_subcommand(word).is_none() {
            let says = answer(&root, &topic[..depth], word).unwrap_or_else(|| "`bardo help all` lists them".to_owned());
            let path = topic[..=depth].join(" ");
            return Err(root.error(ErrorKind::InvalidSubcommand, format!("there is no `bardo {path}`; {says}")));
        }
        at = at.find_subcommand_mut(word).expect("it was found");
    }
    // To the letter what these words say with `--help`.
    let words = std::iter::once("bardo").chain(topic.iter().map(String::as_str)).chain(["--help"]);
    let shown = command().try_get_matches_from(words).map_or_else(|help| help.render().to_string(), |_| String::new());
    Ok(shown.trim_end().to_owned())
}

/// The parser, with the first page in front of its options.
fn command() -> Command {
    let mut text = "{about-with-newline}\n{usage-heading} {usage}\n".to_owned();
    for (heading, commands) in FRONT {
        text += &format!("\n{heading}:\n");
        for (name, does) in commands {
            text += &format!("  {name:<16}{does}\n");
        }
    }
    text += "\n  help all        Every command: memory, dreams, data, laboratory, relay, upkeep\n  \
             help COMMAND    What one of them does, and its flags\n\nOptions:\n{options}\n";
    Args::command().help_template(text)
}

/// All commands that are not hidden, under their headings.
fn every_command(root: &Command) -> String {
    let mut text = "Every command; `bardo help COMMAND` says what one does, and with which flags.\n".to_owned();
    for (heading, names) in ALL {
        text += &format!("\n{heading}:\n");
        for name in names {
            let about = root.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            for (at, line) in draw::wrap(&about, WIDTH - MARGIN).iter().enumerate() {
                text += &format!("  {:<16}{line}\n", if at == 0 { *name } else { "" });
            }
        }
    }
    text.trim_end().to_owned()
}

/// An error of the parser, in words that name the command that was meant, if one was.
fn explain(wrong: Error, typed: &[String]) -> Error {
    if wrong.kind() != ErrorKind::InvalidSubcommand {
        return wrong;
    }
    let mut root = command();
    let (path, word) = unknown_word(&root, typed);
    let Some(says) = word.and_then(|word| answer(&root, &path, word)) else { return wrong };
    let whole = path.iter().map(String::as_str).chain(word).collect::<Vec<_>>().join(" ");
    root.error(ErrorKind::InvalidSubcommand, format!("there is no `bardo {whole}`; {says}"))
}

/// The first word that is no command, and the commands before it.
fn unknown_word<'a>(root: &Command, typed: &'a [String]) -> (Vec<String>, Option<&'a str>) {
    let (mut at, mut path, mut words) = (root, Vec::new(), typed.iter());
    while let Some(word) = words.next() {
        if word == "--home" {
            words.next();
        }
        if word.starts_with('-') {
            continue;
        }
        let Some(next) = at.find_subcommand(word) else { return (path, Some(word.as_str())) };
        path.push(word.clone());
        at = next;
    }
    (path, None)
}

/// The command that was meant by this word behind these commands: a guess that is known, or the same word elsewhere.
fn answer(root: &Command, path: &[String], word: &str) -> Option<String> {
    let behind = path.join(" ");
    let known = GUESSES.iter().find(|(after, words, _)| *after == behind && words.contains(&word));
    if let Some((.., says)) = known {
        return Some((*says).to_owned());
    }
    let top = root.find_subcommand(word).filter(|found| !found.is_hide_set() && !path.is_empty());
    let inner = root.get_subcommands().filter(|group| !group.is_hide_set() && group.find_subcommand(word).is_some());
    let places: Vec<String> = top
        .map(|_| format!("`bardo {word}`"))
        .into_iter()
        .chain(inner.map(|group| format!("`bardo {} {word}`", group.get_name())))
        .collect();
    let (last, rest) = places.split_last()?;
    Some(if rest.is_empty() { format!("there is {last}") } else { format!("there are {} and {last}", rest.join(", ")) })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    /// The command behind a path such as `golem list`.
    fn find<'a>(root: &'a Command, path: &str) -> Option<&'a Command> {
        path.split(' ').try_fold(root, |at, word| at.find_subcommand(word)).filter(|found| !found.is_hide_set())
    }

    #[test]
    fn the_first_page_names_commands_that_there_are_within_eighty_columns() {
        let (root, shown) = (Args::command(), command().render_help().to_string());
        for (heading, commands) in FRONT {
            assert!(shown.contains(heading), "{heading}");
            for (name, does) in commands {
                assert!(find(&root, name).is_some(), "there is no {name}");
                assert!(name.len() <= MARGIN - 3 && shown.contains(&format!("  {name:<16}{does}\n")), "{name}");
            }
        }
        assert!(
            FRONT.len() + FRONT.iter().map(|(_, commands)| commands.len()).sum::<usize>() <= 30,
            "it is a first page"
        );
        // Options are the parser's own and as wide as its terminal.
        let (ours, options) = shown.split_once("\nOptions:\n").unwrap();
        assert!(options.contains("--home") && options.contains("--json"), "{options}");
        for line in ours.lines() {
            assert!(line.chars().count() <= WIDTH, "too wide: {line}");
        }
    }

    #[test]
    fn money_is_called_paper_only_where_it_is() {
        let is_paper = |(heading, commands): &HelpGroup| {
            heading.contains("paper") || commands.iter().any(|(_, does)| does.contains("paper"))
        };
        assert_eq!(FRONT.map(|group| is_paper(&group)), [false, false, true, false]);
        assert!(FRONT[0].0.contains("your provider bills"), "{}", FRONT[0].0);
        let about = Args::command().get_about().unwrap().to_string();
        assert!(about.contains("cap") && !about.contains("paper"), "{about}");
    }

    #[test]
    fn all_commands_stand_once_on_the_page_of_all() {
        let root = Args::command();
        let listed: Vec<&str> = ALL.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        let there: BTreeSet<&str> =
            root.get_subcommands().filter(|one| !one.is_hide_set()).map(Command::get_name).collect();
        assert_eq!(listed.iter().copied().collect::<BTreeSet<_>>(), there);
        assert_eq!(listed.len(), there.len(), "one stands there twice");
        let page = page(&words("all")).unwrap();
        for name in there {
            let line = page.lines().find(|line| line.split_whitespace().next() == Some(name) && line.starts_with("  "));
            assert!(line.is_some_and(|line| line.len() > MARGIN), "{name} says nothing:\n{page}");
        }
        assert!(page.lines().all(|line| line.chars().count() <= WIDTH), "{page}");
    }

    #[test]
    fn every_guess_leads_to_a_command_that_there_is_and_is_none_itself() {
        let root = Args::command();
        for (behind, guesses, says) in GUESSES {
            for word in guesses {
                let path = format!("{behind} {word}");
                assert!(find(&root, path.trim()).is_none(), "{path} is a command");
            }
            for named in says.split('`').skip(1).step_by(2) {
                let path = named.strip_prefix("bardo ").unwrap().split(" --").next().unwrap();
                let path = path.strip_suffix(" NAME").unwrap_or(path);
                assert!(path == "--version" || find(&root, path).is_some(), "there is no {named}");
            }
        }
        let unique: BTreeSet<_> =
            GUESSES.iter().flat_map(|(after, words, _)| words.iter().map(move |w| (after, w))).collect();
        assert_eq!(unique.len(), GUESSES.iter().map(|(_, words, _)| words.len()).sum::<usize>(), "guessed twice");
    }

    #[test]
    fn a_word_that_is_a_command_elsewhere_is_found_there() {
        let root = Args::command();
        for (path, word, says) in [
            ("", "approve", Some("there is `bardo golem approve`")),
            ("", "check", Some("there are `bardo golem check`, `bardo world check`")),
            ("golem", "testament", Some("there is `bardo testament`")),
            ("", "gibberish", None),
            ("golem", "enter", None),
        ] {
            let path: Vec<String> = path.split_whitespace().map(str::to_owned).collect();
            let found = answer(&root, &path, word);
            assert!(found.as_deref().unwrap_or("").starts_with(says.unwrap_or("")), "{word}: {found:?}");
            assert_eq!(found.is_some(), says.is_some(), "{word}: {found:?}");
        }
    }

    #[test]
    fn flags_and_the_folder_of_a_home_are_no_command() {
        let root = Args::command();
        for (typed, path, word) in [
            ("list", "", Some("list")),
            ("--json --home golem list", "", Some("list")),
            ("golem --json ls ada", "golem", Some("ls")),
            ("golem list", "golem list", None),
        ] {
            let typed = words(typed);
            let (before, found) = unknown_word(&root, &typed);
            assert_eq!((before.join(" ").as_str(), found), (path, word), "{typed:?}");
        }
    }

    #[test]
    fn help_of_a_command_is_what_it_says_of_itself() {
        let shown = page(&words("golem new")).unwrap();
        assert!(shown.contains("Usage: bardo golem new") && shown.contains("--seed"), "{shown}");
        assert_eq!(page(&[]).unwrap(), command().render_help().to_string().trim_end());
        let wrong = page(&words("golem ls")).unwrap_err().to_string();
        assert!(wrong.contains("there is no `bardo golem ls`") && wrong.contains("`bardo golem list`"), "{wrong}");
    }
}

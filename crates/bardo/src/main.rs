//! The command line. It parses, calls the host, and prints; every decision is made elsewhere.

mod args;
mod beside;
mod commands;
mod draw;
mod exit;
mod help;
mod logs;
mod named;
#[cfg(feature = "otlp")]
mod otlp;
mod output;
mod page;
mod signals;
mod tui;

use std::path::PathBuf;
use std::process::ExitCode;

use args::{Args, Verb};
use shell::{Error, Home};

fn main() -> ExitCode {
    let args = help::parse();
    let Some(verb) = args.verb else {
        output::line(output::WELCOME.trim_end());
        return ExitCode::SUCCESS;
    };
    if let Verb::Help { topic } = &verb {
        output::line(help::page(topic).unwrap_or_else(|wrong| wrong.exit()));
        return ExitCode::SUCCESS;
    }
    if let Verb::Keep { launch } = &verb {
        return outside::keeper::keep(launch);
    }
    if let Verb::Chain(_) = verb {
        return beside::hand_over(std::env::args_os().skip(1).collect());
    }
    if let Verb::Ward { ward } = &verb {
        return outside::warden::watch(ward, &["enter"]);
    }
    if let Verb::Enter { ward } = &verb {
        return outside::warden::enter(ward);
    }
    // Man pages are for everyone; all else that is made is private to its user.
    if !matches!(verb, Verb::Man { .. }) {
        shell::private::begin();
    }
    let home = match (Home::locate(args.home), &verb) {
        (Ok(home), _) => home,
        // It makes a home of its own and needs to know of no other, or it needs none.
        (Err(_), Verb::Demo(_) | Verb::Age(_) | Verb::Completions { .. } | Verb::Man { .. }) => {
            Home::at(PathBuf::new())
        }
        (Err(e), _) => return fail(&e),
    };
    let done = dispatch(&home, verb, args.json);
    named::say_old_names(&home);
    match done {
        Ok(code) => code,
        Err(e) => fail(&e),
    }
}

fn dispatch(home: &Home, verb: Verb, json: bool) -> Result<ExitCode, Error> {
    match verb {
        Verb::Demo(args) => commands::demo::demo(&args, json),
        Verb::Init => commands::home::init(home, json),
        Verb::Golem(verb) => commands::golem::dispatch(home, verb, json),
        Verb::Help { .. } | Verb::Keep { .. } | Verb::Ward { .. } | Verb::Enter { .. } | Verb::Chain(_) => {
            unreachable!("none of them comes as far as a home")
        }
        Verb::World(verb) => commands::outside::dispatch(home, &verb, json),
        Verb::Mind(args::MindVerb::Check { how, command }) => commands::outside::check_mind(&how, &command, json),
        Verb::Age(args) => commands::age::age(home, &args, json),
        Verb::Mcp => commands::mcp::mcp(home),
        Verb::Wrap(args) => commands::wrap::wrap(home, &args, json),
        Verb::Up(args) => commands::up::up(home, &args, json),
        Verb::Page { listen } => commands::up::page(home, listen, json),
        Verb::Tui(args) => tui::tui(home, &args, json),
        Verb::Dream(verb) => commands::dream::dispatch(home, verb, json),
        Verb::Grimoire(verb) => commands::grimoire::dispatch(home, verb, json),
        Verb::Testament(args) => commands::heirs::testament(home, &args, json),
        Verb::Graveyard => commands::heirs::graveyard(home, json),
        Verb::Lineage { name } => commands::heirs::lineage(home, &name, json),
        Verb::Library(verb) => commands::library::dispatch(home, verb, json),
        Verb::Token(verb) => commands::token::dispatch(home, &verb, json),
        Verb::Halt(halt) => commands::owner::halt(home, &halt, json),
        Verb::Treasury(treasury) => commands::home::treasury(home, &treasury, json),
        Verb::Prices(verb) => commands::prices::dispatch(home, &verb, json),
        Verb::Data(data) => commands::data::data(home, &data, json),
        Verb::Styx(verb) => commands::styx::dispatch(home, verb, json),
        Verb::Lab(args::LabVerb::Reproduce(reproduce)) => commands::reproduce::run(&reproduce, json),
        Verb::Lab(args::LabVerb::Run(run)) => commands::experiment::run(&run, json),
        Verb::Lab(args::LabVerb::Work(work)) => commands::work_queue::work(&work),
        Verb::Lab(args::LabVerb::Lives(lives)) => commands::lab::lives(home, &lives, json),
        Verb::Lab(args::LabVerb::Lineages { plan, generations }) => {
            commands::lab::lineages(home, &plan, generations, json)
        }
        Verb::Notify(args::NotifyVerb::Test) => commands::up::notify(home, json),
        Verb::Home => commands::copies::home(home, json),
        Verb::Backup(args) => commands::copies::backup(home, &args, json),
        Verb::Restore(args) => commands::copies::restore(home, &args, json),
        Verb::Drill { folder } => commands::copies::drill(&folder, json),
        Verb::Doctor => commands::home::doctor(home, json),
        Verb::Clock { right } => commands::home::clock(home, right, json),
        Verb::Bench(bench) => commands::bench::bench(home, &bench, json),
        Verb::Upgrade(args::UpgradeVerb::Check) => commands::home::foresee(home, json),
        Verb::Recover { yes } => commands::home::recover(home, yes, json),
        Verb::Config(config) => commands::config::dispatch(home, &config, json),
        Verb::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut <Args as clap::CommandFactory>::command(), "bardo", &mut script);
            output::line(String::from_utf8_lossy(&script).trim_end());
            Ok(ExitCode::SUCCESS)
        }
        Verb::Man { folder } => {
            let written = std::fs::create_dir_all(&folder)
                .and_then(|()| clap_mangen::generate_to(<Args as clap::CommandFactory>::command(), &folder));
            written.map_err(|source| Error::Io { what: "cannot write", path: folder, source })?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn fail(error: &Error) -> ExitCode {
    output::complain(error);
    ExitCode::from(exit::code_of(error))
}

//! `lab reproduce`: every figure of the pages about results, made again by readers who doubt it.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use serde::{Deserialize, Serialize};
use shell::Error;

use crate::args::ReproduceArgs;
use crate::output::{self, line};

/// One of them, as it is told to programs.
#[derive(Serialize)]
struct ToldTest<'a> {
    name: &'a str,
    question: &'a str,
    seeds: &'a [String],
    data: Option<&'a str>,
    command: String,
    quick: String,
}

/// The command behind each figure.
const FIGURES: &str = include_str!("figures.toml");

#[derive(Deserialize)]
struct Catalogue {
    figure: Vec<Figure>,
}

/// One entry: exactly one of `run`, `test` and `bench` says what makes it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Figure {
    name: String,
    question: String,
    /// A command of this program's.
    #[serde(default)]
    run: Option<Vec<String>>,
    /// A crate, a test program of it (without a name, that of its own parts), and which of its tests.
    #[serde(default)]
    test: Option<(String, String, String)>,
    #[serde(default)]
    features: Option<String>,
    /// An example of the program's crate, with what it is told ...
    #[serde(default)]
    bench: Option<Vec<String>>,
    /// ... and what it is told to be quick.
    #[serde(default)]
    quick: Option<Vec<String>>,
    #[serde(default)]
    seeds: Vec<String>,
    /// Data that must be there beside the repository.
    #[serde(default)]
    data: Option<String>,
}

impl Figure {
    /// The program and what it is told.
    fn command(&self, quick: bool) -> Vec<String> {
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        if let Some(run) = &self.run {
            let quick = quick.then(|| "--quick".to_owned());
            return ["bardo".to_owned()].into_iter().chain(run.iter().cloned()).chain(quick).collect();
        }
        if let Some((package, program, only)) = &self.test {
            let mut command = words("cargo test --release --locked -p");
            command.push(package.clone());
            command.extend(self.features.iter().flat_map(|features| ["--features".to_owned(), features.clone()]));
            command.extend(words(&if program.is_empty() { "--lib".to_owned() } else { format!("--test {program}") }));
            command.push("--".to_owned());
            command.push(only.clone());
            command.extend(words("--nocapture --test-threads 1"));
            return command;
        }
        let bench = self.quick.as_ref().filter(|_| quick).or(self.bench.as_ref());
        let mut command = words("cargo run --release --locked -p bardo --example");
        if let Some((name, told)) = bench.and_then(|bench| bench.split_first()) {
            command.push(name.clone());
            command.extend((!told.is_empty()).then(|| "--".to_owned()));
            command.extend(told.iter().cloned());
        }
        command
    }

    fn told(&self) -> ToldTest<'_> {
        ToldTest {
            name: &self.name,
            question: &self.question,
            seeds: &self.seeds,
            data: self.data.as_deref(),
            command: self.typed(false),
            quick: self.typed(true),
        }
    }

    /// As it is typed.
    fn typed(&self, quick: bool) -> String {
        let whole = if self.test.is_some() && !quick { "BARDO_FULL=1 " } else { "" };
        format!("{whole}{}", self.command(quick).join(" "))
    }
}

pub(crate) fn run(args: &ReproduceArgs, json: bool) -> Result<ExitCode, Error> {
    let Catalogue { figure: figures } = toml_edit::de::from_str(FIGURES).expect("a test reads it");
    let Some(name) = &args.name else {
        if json {
            figures.iter().for_each(|figure| output::json(&figure.told()));
            return Ok(ExitCode::SUCCESS);
        }
        let widest = figures.iter().map(|figure| figure.name.len()).max().unwrap_or(0);
        for figure in &figures {
            line(format!("{:<widest$}  {}", figure.name, figure.question));
        }
        line("\nMake one again, at its full size or as small as CI does: bardo lab reproduce NAME [--quick]");
        return Ok(ExitCode::SUCCESS);
    };
    let unknown = || Error::Usage(format!("no figure is called '{name}'; `bardo lab reproduce` lists them all"));
    let figure = figures.iter().find(|figure| figure.name == *name).ok_or_else(unknown)?;
    let typed = figure.typed(args.quick);
    if json {
        output::json(&figure.told());
        return Ok(ExitCode::SUCCESS);
    }
    line(&figure.question);
    if !figure.seeds.is_empty() {
        line(format!("seeds  {}", figure.seeds.join(", ").replace('_', "")));
    }
    line(format!("data   {}", figure.data.as_deref().unwrap_or("none beside the repository")));
    line(format!("runs   {typed}"));
    if args.show {
        return Ok(ExitCode::SUCCESS);
    }
    let clone = clone_here().ok_or_else(|| {
        Error::Usage(format!("this is made from the repository: clone it and, inside it, say\n  {typed}"))
    })?;
    line("");
    let mut words = figure.command(args.quick).into_iter();
    let program = words.next().expect("a program");
    let program = if program == "bardo" { std::env::current_exe().unwrap_or(program.into()) } else { program.into() };
    let mut command = Command::new(&program);
    command.args(words).current_dir(clone);
    if !args.quick {
        command.env("BARDO_FULL", "1");
    }
    let status = command.status().map_err(|source| Error::Io { what: "cannot run", path: program, source })?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The repository this is said in.
fn clone_here() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    here.ancestors().find(|folder| folder.join("crates/lab/Cargo.toml").is_file()).map(Path::to_owned)
}

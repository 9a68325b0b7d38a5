//! Which golem a program lives on: the one its owner names, or the one that is its own. A program is known by what is started
//! and where it belongs: two projects with a `main.py`, or two modules of one package, do not share a purse.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use golem::{Command, Life, Name, Usdc, hex};
use serde::{Deserialize, Serialize};
use settings::{File, Origin, Settings};
use sha2::Digest;
use shell::home::inbox::Body;
use shell::orders::order;
use shell::{Error, GolemHome, Runtime};

use super::funds::Funds;
use super::keeper::life;
use super::rations;
use crate::args::{Chosen, New, WorldKind, WrapArgs};
use crate::commands::golem as golems;
use crate::named;
use crate::output;

/// How often a golem without checks looks at its clocks.
const UNCHECKED: &str = "10s";
const CHECKED: &str = "1m";
/// Key of what it may spend in thirty days, which for a program is all it was given.
const ALLOWANCE: &str = "mortality.economic.monthly_allowance";
/// Whether it may die by chance.
const CHANCE: &str = "mortality.stochastic.enabled";
/// Characters of a name that come from the program, and from its folder.
const FROM_PROGRAM: usize = 18;
const FROM_FOLDER: usize = 14;

/// The program a golem was made for, as written in the golem's folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Program {
    /// A script by its whole path; anything else by what is started.
    what: String,
    /// Where it is started, if nothing else says what it belongs to.
    folder: Option<PathBuf>,
    /// The mark of the line, for the first golem of one: everything that its program is told, and what the line is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    line: Option<String>,
}

impl Program {
    /// The program of these arguments. With another task it is another line.
    fn of_args(args: &WrapArgs, here: &Path) -> (Program, String, PathBuf) {
        let (program, called, folder) = Program::of(&args.program, here);
        let line = args.lives.map(|_| {
            let of = serde_json::to_vec(&(&args.program, &args.until)).expect("plain data");
            hex::encode(&sha2::Sha256::digest(&of)[..16])
        });
        (Program { line, ..program }, called, folder)
    }

    /// With what it is called after, and the folder it belongs to.
    fn of(program: &[String], here: &Path) -> (Program, String, PathBuf) {
        let told = &program[1..];
        let module =
            told.iter().position(|text| text == "-m").and_then(|at| told.get(at + 1)).filter(|_| is_python(program));
        let script = told.iter().find(|text| !text.starts_with('-') && here.join(text).is_file());
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let stem = |text: &str| Path::new(text).file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let started = stem(&program[0]).unwrap_or_default();
        match (module, script) {
            (Some(module), _) => {
                let what = format!("{started} -m {module}");
                (Program { what, folder: Some(real(here)), line: None }, module.replace('.', "-"), real(here))
            }
            (None, Some(script)) => {
                let path = real(&here.join(script));
                let folder = path.parent().unwrap_or(here).to_owned();
                (
                    Program { what: path.display().to_string(), folder: None, line: None },
                    stem(script).unwrap_or_default(),
                    folder,
                )
            }
            (None, None) => {
                (Program { what: started.clone(), folder: Some(real(here)), line: None }, started, real(here))
            }
        }
    }

    fn file(place: &GolemHome) -> PathBuf {
        place.folder.join("wrapped.json")
    }

    fn read(place: &GolemHome) -> Option<Program> {
        serde_json::from_str(&std::fs::read_to_string(Program::file(place)).ok()?).ok()
    }

    fn write(&self, place: &GolemHome) -> Result<(), Error> {
        let path = Program::file(place);
        let text = serde_json::to_string_pretty(self).expect("plain data") + "\n";
        std::fs::write(&path, text).map_err(|source| Error::Io { what: "cannot write", path, source })
    }
}

fn is_python(program: &[String]) -> bool {
    let started =
        Path::new(&program[0]).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    ["python", "pypy", "uv", "poetry", "pdm", "hatch"].iter().any(|one| started.starts_with(one))
}

/// Names for it, the plainest first; the last one is unique.
fn names(program: &Program, called: &str, folder: &Path) -> Vec<Name> {
    let short = |text: &str, most: usize| -> String {
        let plain: String =
            text.to_lowercase().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        plain.trim_matches('-').chars().take(most).collect::<String>().trim_end_matches('-').to_owned()
    };
    let within = folder.file_name().map(|name| short(&name.to_string_lossy(), FROM_FOLDER)).unwrap_or_default();
    let called = short(called, FROM_PROGRAM);
    let said = serde_json::to_vec(program).expect("plain data");
    let digest = hex::encode(&sha2::Sha256::digest(&said)[..3]);
    let all = [called.clone(), format!("{called}-{within}"), format!("{called}-{digest}"), format!("agent-{digest}")];
    all.iter().filter_map(|name| name.parse().ok()).collect()
}

/// Makes it, or goes on with it.
pub(super) fn golem_for(runtime: &Arc<Runtime>, args: &WrapArgs) -> Result<GolemHome, Error> {
    let (place, new) = find_or_make(runtime, args)?;
    if new { Ok(place) } else { go_on(runtime, args, place) }
}

/// The first golem of a line, whatever has become of it; or a new one, with the share of a first life.
pub(super) fn first_of_line(runtime: &Arc<Runtime>, args: &WrapArgs) -> Result<GolemHome, Error> {
    Ok(find_or_make(runtime, args)?.0)
}

/// With whether it was made just now.
fn find_or_make(runtime: &Arc<Runtime>, args: &WrapArgs) -> Result<(GolemHome, bool), Error> {
    let home = runtime.home();
    let found = |place: GolemHome| (place, false);
    let made = |place: GolemHome| (place, true);
    if let Some(name) = &args.name {
        return match named::golem(home, name.as_str()) {
            Ok(place) => Ok(found(place)),
            Err(_) => match born(runtime, args, name) {
                // Somebody was quicker, for the same purse.
                Err(Error::NameTaken(_)) => named::golem(home, name.as_str()).map(found),
                other => other.map(made),
            },
        };
    }
    let here =
        std::env::current_dir().map_err(|why| Error::Usage(format!("there is no folder to start it in: {why}")))?;
    let (program, called, folder) = Program::of_args(args, &here);
    // The golem made for it is known by what stands in its folder, whatever its owner calls it now.
    let known = home.list()?.into_iter().find(|place| Program::read(place).as_ref() == Some(&program));
    if let Some(place) = known {
        return Ok(found(place));
    }
    for name in names(&program, &called, &folder) {
        if named::golem(home, name.as_str()).is_err() {
            match born(runtime, args, &name) {
                Ok(place) => return program.write(&place).map(|()| made(place)),
                // Somebody was quicker, perhaps with another program.
                Err(Error::NameTaken(_)) => {}
                Err(other) => return Err(other),
            }
        }
        let Ok(place) = named::golem(home, name.as_str()) else { continue };
        match Program::read(&place) {
            Some(other) if other != program => {}
            Some(_) => return Ok(found(place)),
            // An heir belongs to the line of its predecessor.
            None if life(&place)?.birth().lineage.is_some() => {}
            // Made before this was written down, or by hand: the first program to come has it.
            None => return program.write(&place).map(|()| found(place)),
        }
    }
    Err(Error::Usage("every name for a golem of this program is taken; --name says another".to_owned()))
}

fn go_on(runtime: &Arc<Runtime>, args: &WrapArgs, place: GolemHome) -> Result<GolemHome, Error> {
    let (name, life) = (&place.name, life(&place)?);
    if let Some(death) = &life.death() {
        let advice = format!("`bardo golem successor {name}` makes an heir, and --name another golem");
        return Err(Error::Dead(name.clone(), format!("{}; {advice}", death.cause)));
    }
    if let Some(credit) = args.credit {
        output::complain(format!(
            "--credit is for a new golem: {name} has lived before and keeps what it has, {}; `bardo golem fund {name} {}` \
             gives it more",
            life.purse().credit,
            output::plain(credit)
        ));
    }
    amend(runtime, args, &place, &life)?;
    Ok(place)
}

/// Gives a golem that lives the policy that the flags say.
pub(super) fn amend(runtime: &Arc<Runtime>, args: &WrapArgs, place: &GolemHome, life: &Life) -> Result<(), Error> {
    let said = policy(args)?;
    if said.is_empty() {
        return Ok(());
    }
    let command = order::amend(place, &said)?;
    if !matches!(&command, Command::Amend { policy, .. } if **policy == *life.policy()) {
        let snapshot_every = runtime.home().settings()?.integer("run.snapshot_every") as u64;
        let given = order::pass_on(runtime, place, Body::Command(command), snapshot_every)?;
        order::hear(runtime, place, given, order::PATIENCE)?;
    }
    Ok(())
}

/// Settings of the policy that have flags of their own.
fn policy(args: &WrapArgs) -> Result<Vec<String>, Error> {
    let per_day = args.per_day.map(|most| format!("policy.calls_per_day={}", output::plain(most)));
    Ok(per_day.into_iter().chain(rations::settings(args)?).collect())
}

fn born(runtime: &Arc<Runtime>, args: &WrapArgs, name: &Name) -> Result<GolemHome, Error> {
    let every = args.every.clone().unwrap_or_else(|| {
        let checked = !(args.check.is_empty() && args.number.is_empty());
        if checked { CHECKED } else { UNCHECKED }.to_owned()
    });
    let funds = Funds::of(args);
    let (imputed, credit) = (funds.imputed, funds.share(0, funds.all));
    let mut set = vec![format!("world.bar={every}")];
    set.extend(unsaid(&args.set, CHANCE, "false")?);
    set.extend(unsaid(&args.set, ALLOWANCE, &output::plain(Usdc::MOST))?);
    set.extend(policy(args)?);
    if imputed {
        // Imputed money is made up, so it is taken from no account.
        runtime.home().treasury()?.add(funds.all)?;
        set.push("policy.imputed=true".to_owned());
    }
    set.extend(args.set.iter().cloned());
    let new = New {
        name: Some(name.clone()),
        world: Some(Chosen::Ours(WorldKind::Checks)),
        check: args.check.clone(),
        number: args.number.clone(),
        interval: Some(every.clone()),
        credit: Some(credit),
        set,
        ..New::named(name.clone())
    };
    golems::birth_of(runtime, new)?;
    named::golem(runtime.home(), name.as_str())
}

/// A key as it is for a program, unless its owner says otherwise by a flag or in the environment. A program that does its work is
/// not to be ended by a roll of dice, and what it was given is what it may spend.
fn unsaid(set: &[String], key: &str, value: &str) -> Result<Option<String>, Error> {
    let said = Settings::load(File::Golem, None, std::env::vars(), set)?;
    Ok(matches!(said.origin(key), Origin::Default).then(|| format!("{key}={value}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn a_program_is_known_by_what_is_started_and_where_it_belongs() {
        let folder = tempfile::tempdir().unwrap();
        for file in ["p1/main.py", "p2/main.py"] {
            std::fs::create_dir_all(folder.path().join(file).parent().unwrap()).unwrap();
            std::fs::write(folder.path().join(file), "").unwrap();
        }
        let of = |program: &str, at: &str| {
            let (program, called, folder) = Program::of(&words(program), &folder.path().join(at));
            (names(&program, &called, &folder).iter().map(Name::to_string).collect::<Vec<_>>(), program)
        };
        let (names, first) = of("python main.py", "p1");
        assert_eq!(names[..2], ["main", "main-p1"]);
        assert_ne!(first, of("python main.py", "p2").1);
        // A script is the same from wherever it is started, and with whatever it is told.
        assert_eq!(first, of("python3 -u p1/main.py --fast", "").1);
        let (a, b) = (of("python -m pkg.a", "p1"), of("python -m pkg.b", "p1"));
        assert!(a.1 != b.1 && a.0[0] == "pkg-a" && b.0[0] == "pkg-b");
        assert_ne!(a.1, of("python -m pkg.a", "p2").1);
        assert_ne!(of("claude -p x", "p1").1, of("claude -p x", "p2").1);
        assert_eq!(of("claude -p x", "p1"), of("claude --resume", "p1"));
        assert!(of("./7up.sh", "").0[0].starts_with("agent-"), "a name begins with a letter");
        let long = of(&format!("python -m {}", "a.very.long.package.of.modules".repeat(3)), "p1").0;
        assert!(long.len() == 4 && long.iter().all(|name| name.len() <= golem::limits::NAME));
    }
}

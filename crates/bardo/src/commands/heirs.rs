//! `golem successor`, `testament`, `lineage`, `graveyard`: what the dead have left, and who comes after them.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::process::ExitCode;
use std::sync::Arc;

use golem::thanatopsis::Testament;
use golem::{GolemId, Life, Name, hex};
use serde::Serialize;
use settings::chance::Secret;
use shell::care::doctor;
use shell::legacy::{remains, testament};
use shell::life::heirs::{self, Heir, Preview};
use shell::{Error, GolemHome, Home, Runtime};
use vault::Reader;

use crate::args::{Successor, TestamentArgs};
use crate::commands::birth::next;
use crate::named;
use crate::output::{self, count, date, line, plain};

pub(crate) fn successor(home: &Home, args: &Successor, json: bool) -> Result<ExitCode, Error> {
    let dead = named::read_golem(home, &args.dead)?;
    let estate = heirs::estate(home, &dead)?;
    let mut set = args.set.clone();
    set.extend(args.budget.map(|budget| format!("funds.credit={}", plain(budget))));
    let wanted = estate.settings(&set)?.flag("succession.inherit_grimoire");
    let inherit = args.inherit_grimoire || (wanted && !args.no_inherit);
    if !json && !args.yes {
        show(&estate.preview, inherit);
    }
    let consent = args.yes || (!json && std::io::stdin().is_terminal() && ask("make this heir?"));
    if !consent {
        if json {
            output::json(&estate.preview);
        } else {
            line("nothing was made; say --yes to make it");
        }
        return Ok(ExitCode::SUCCESS);
    }
    let name = args.name.clone().map_or_else(|| heirs::next_name(home, &dead.name), Ok)?;
    let heir = Heir { name, seed: args.seed, set, inherit: Some(inherit), force: args.force_similarity };
    let heir = heirs::make(&Runtime::of(home), &estate, heir)?;
    let life = heir.life();
    if json {
        output::json(&serde_json::json!({
            "name": life.birth().name, "id": life.id().to_string(), "generation": life.birth().generation,
            "inherited": estate.preview,
        }));
    } else {
        line(format!(
            "{} is born, generation {}: {} to live on, {} to act with",
            life.birth().name,
            life.birth().generation,
            life.purse().credit,
            life.capital().cash
        ));
        line(next(home, &heir));
    }
    Ok(ExitCode::SUCCESS)
}

/// Makes an heir without asking, where its predecessor was born to have one; says on stderr why not, if that fails.
pub(crate) fn automatic(runtime: &Arc<Runtime>, dead: &GolemHome) -> Option<Name> {
    heirs::automatic(runtime, dead).unwrap_or_else(|why| {
        output::complain(format!("no heir was made: {why}"));
        output::complain(format!("`bardo golem successor {}` makes one by hand", dead.name));
        None
    })
}

fn ask(question: &str) -> bool {
    output::ask(format!("{question} [y/N] "));
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer).is_ok() && matches!(answer.trim(), "y" | "yes")
}

/// Prints an heir's inheritance, with its predecessor's confidence and the heir's own.
fn show(preview: &Preview, inherit: bool) {
    line(format!("heir of {}, generation {}", preview.from, preview.generation));
    if let Some(how) = &preview.ended {
        line(format!("  its line was ended ({how}); making an heir begins it again"));
    }
    if preview.frozen {
        line(format!("  {} was frozen when it died, and its heir is born frozen", preview.from));
    }
    if !inherit {
        return line("  it inherits only what its predecessor was born with and the policy it died under");
    }
    line(format!(
        "  {} entries, {} of them learned in dying, {} innate by now",
        count(preview.entries as u64),
        preview.bloodstains,
        preview.innate
    ));
    let domains: Vec<String> = preview.domains.iter().map(|(name, n)| format!("{name} {n}")).collect();
    line(format!("  {}", domains.join(", ")));
    line(format!("  {:<12} {:>7} {:>7}", "confidence", "before", "after"));
    let most = preview.before.iter().chain(&preview.after).copied().max().unwrap_or(1).max(1);
    for tenth in (0..10).rev() {
        let (before, after) = (preview.before[tenth], preview.after[tenth]);
        if before + after > 0 {
            let bar = "#".repeat((after * 24).div_ceil(most) as usize);
            line(format!(
                "  {:.1} to {:.1}   {before:>7} {after:>7}  {bar}",
                tenth as f64 / 10.0,
                (tenth + 1) as f64 / 10.0
            ));
        }
    }
    line(format!(
        "  {:.0} % of what it would try is not what {} was born with",
        preview.divergence * 100.0,
        preview.from
    ));
    if preview.low_divergence {
        line(format!("  {} added little to what it knew (low_divergence)", preview.from));
    }
    if !preview.unfinished.is_empty() {
        line(format!("  {} dreams left unfinished come first in its own", preview.unfinished.len()));
    }
    for recommendation in &preview.recommendations {
        line(format!("  {} says: {recommendation}", preview.from));
    }
}

pub(crate) fn testament(home: &Home, args: &TestamentArgs, json: bool) -> Result<ExitCode, Error> {
    let place = named::read_golem(home, &args.name)?;
    let testament = read(&place)?;
    if args.verify {
        return verify(home, &place, &testament, json);
    }
    if json {
        output::json(&testament);
    } else {
        line(testament.markdown(date).trim_end());
    }
    Ok(ExitCode::SUCCESS)
}

fn read(place: &GolemHome) -> Result<Testament, Error> {
    let (golem, _) = Reader::open(&place.database())?.wake()?;
    let testament = testament::read(place, golem.life())?.ok_or_else(|| {
        let why = if golem.life().is_dead() { "has not written it yet" } else { "is alive" };
        Error::Refused(format!("there is no testament: {} {why}", place.name))
    })?;
    let remains = testament.remains.clone().or_else(|| remains::read(place));
    Ok(Testament { remains, ..testament })
}

/// Holds a testament against the journal it speaks of: every record, every roll, and its own words.
fn verify(home: &Home, place: &GolemHome, testament: &Testament, json: bool) -> Result<ExitCode, Error> {
    let reader = Reader::open(&place.database())?;
    let (_, check) = reader.verify(&home.heads())?;
    let hash = reader.hash_at(testament.records)?.map(|hash| hex::encode(&hash));
    if hash.as_ref() != Some(&testament.journal) {
        return Err(Error::Refused("the testament speaks of another journal than this one".to_owned()));
    }
    let secret = Secret::load(&place.secret())?;
    if secret.reveal() != testament.secret {
        return Err(Error::Refused("the revealed secret is not the one it lived by".to_owned()));
    }
    let rolls = doctor::verify_rolls(place, &secret)?;
    let legacy = shell::legacy::bundle::open(home, &place.legacy())?;
    if json {
        output::json(&serde_json::json!({
            "records": check.records, "rolls": rolls, "testament": "as written", "legacy_entries": legacy.lines.len(),
        }));
    } else {
        match check.after {
            0 => line(format!("the chain of {} records is whole", count(check.records))),
            after => line(format!(
                "the chain from record {} to {} is whole; what came before is archived, and not here",
                count(after + 1),
                count(check.records)
            )),
        }
        line(format!("all {} rolls are those the revealed secret gives", count(rolls)));
        line("the testament is the one that was written");
        line(format!("the legacy is signed and whole: {} entries", count(legacy.lines.len() as u64)));
    }
    Ok(ExitCode::SUCCESS)
}

#[derive(Debug, Serialize)]
struct Grave {
    name: String,
    generation: u32,
    born: golem::Time,
    died: golem::Time,
    ticks: u64,
    cause: String,
    arc: Option<String>,
    low_divergence: Option<bool>,
    parent: Option<String>,
}

pub(crate) fn graveyard(home: &Home, json: bool) -> Result<ExitCode, Error> {
    let (mut graves, mut names): (Vec<(Grave, Option<GolemId>)>, _) = (Vec::new(), BTreeMap::new());
    for place in home.list()? {
        let (golem, _) = Reader::open(&place.database())?.wake()?;
        let life = golem.life();
        names.insert(life.id(), place.name.clone());
        let Some(death) = &life.death() else { continue };
        let testament = testament::read(&place, life).ok().flatten();
        let line = life.birth().lineage.as_ref();
        let grave = Grave {
            name: place.name.to_string(),
            generation: life.birth().generation,
            born: life.born(),
            died: death.at,
            ticks: life.tick(),
            cause: death.cause.to_string(),
            arc: testament.as_ref().map(|testament| testament.arc.to_string()),
            low_divergence: testament.as_ref().map(|testament| testament.mandate.low_divergence),
            parent: line.map(|line| line.parent_name.clone()),
        };
        graves.push((grave, line.map(|line| line.parent)));
    }
    // A predecessor that is here is told by the name it has now.
    let graves: Vec<Grave> = graves
        .into_iter()
        .map(|(grave, parent)| match parent.and_then(|parent| names.get(&parent)) {
            Some(name) => Grave { parent: Some(name.to_string()), ..grave },
            None => grave,
        })
        .collect();
    if json {
        graves.iter().for_each(output::json);
        return Ok(ExitCode::SUCCESS);
    }
    if graves.is_empty() {
        line("no golem has died here");
    }
    for grave in graves {
        let arc = grave.arc.map_or(String::new(), |arc| format!(", {arc}"));
        line(format!(
            "† {}  {} to {}, {} ticks, generation {}{arc}",
            grave.name,
            date(grave.born),
            date(grave.died),
            count(grave.ticks),
            grave.generation
        ));
        line(format!("  {}", grave.cause));
    }
    Ok(ExitCode::SUCCESS)
}

/// The family of a golem, from the first of its line down.
pub(crate) fn lineage(home: &Home, name: &str, json: bool) -> Result<ExitCode, Error> {
    let family = heirs::family(home, &named::golem(home, name)?)?;
    if json {
        heirs::Relative::all(&family).iter().for_each(output::json);
        return Ok(ExitCode::SUCCESS);
    }
    let roots = family.iter().filter(|(_, life)| {
        let parent = life.birth().lineage.as_ref().map(|line| line.parent);
        parent.is_none_or(|parent| !family.iter().any(|(_, other)| other.id() == parent))
    });
    roots.for_each(|root| branch(root, &family, 0));
    Ok(ExitCode::SUCCESS)
}

fn branch((name, life): &(Name, Life), family: &[(Name, Life)], depth: usize) {
    let end = life.death().map_or("alive".to_owned(), |death| death.cause.to_string());
    line(format!(
        "{}{} {name}  generation {}, {} ticks, skill {:.3}: {end}",
        "   ".repeat(depth),
        if life.is_dead() { "†" } else { "•" },
        life.birth().generation,
        count(life.tick()),
        life.vitality().epistemic
    ));
    let children = family.iter().filter(|(_, other)| {
        other.birth().lineage.as_ref().is_some_and(|line| line.parent == life.id()) && other.id() != life.id()
    });
    children.for_each(|child| branch(child, family, depth + 1));
}

//! Succession: what an heir would be left, whether it would be more than a copy, and its making. An owner decides; on
//! their own golems have heirs only where `succession.auto` says so.

use golem::grimoire::bundle::Line;
use golem::inheritance::{BALDWIN, divergence};
use golem::life::Lineage;
use golem::rule::text::{Parsed, parse};
use golem::{Life, Name};
use serde::{Deserialize, Serialize};
use vault::Reader;

use crate::Error;
use crate::bundle::{self, Bundle};
use crate::closing::testament;
use crate::config::{File, Settings};
use crate::home::{GolemHome, Home};
use crate::keeper::{self, Parent, Wish};
use crate::living::Living;

/// What each death leaves of a confidence.
pub const CROSSING: f64 = 0.85;

/// What an heir would be left.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Preview {
    pub from: String,
    pub generation: u32,
    pub entries: usize,
    /// How many have a confidence of so many tenths, before and after the crossing.
    pub before: [u32; 10],
    pub after: [u32; 10],
    pub domains: Vec<(String, u32)>,
    pub bloodstains: u32,
    pub innate: u32,
    pub recommendations: Vec<String>,
    /// Rules left unfinished, which come first in its dreams.
    pub unfinished: Vec<String>,
    /// The share of what it would try that its predecessor did not go by.
    pub divergence: f64,
    pub low_divergence: bool,
}

/// The dead, and what there is of it.
pub struct Estate {
    pub life: Life,
    pub bundle: Bundle,
    pub preview: Preview,
}

/// Opens what a dead golem has left.
pub fn estate(home: &Home, dead: &GolemHome) -> Result<Estate, Error> {
    let (golem, _) = Reader::open(&dead.database())?.wake()?;
    let life = golem.life().clone();
    if !life.is_dead() {
        return Err(Error::Refused(format!(
            "{} is alive; only the dead have heirs (`bardo golem retire {0}` ends it)",
            dead.name
        )));
    }
    let Some(testament) = testament(dead, &life)?.filter(|_| dead.legacy().exists()) else {
        let why = format!("{0} has not finished dying; `bardo golem run {0}` takes it to its end", dead.name);
        return Err(Error::Refused(why));
    };
    let bundle = bundle::open(home, &dead.legacy())?;
    let tenth = |confidence: f64| ((confidence * 10.0) as usize).min(9);
    let mut preview = Preview {
        from: dead.name.to_string(),
        generation: life.birth.generation + 1,
        entries: bundle.lines.len(),
        before: [0; 10],
        after: [0; 10],
        domains: Vec::new(),
        bloodstains: 0,
        innate: 0,
        recommendations: testament.recommendations,
        unfinished: unfinished(&life),
        divergence: 0.0,
        low_divergence: testament.mandate.low_divergence,
    };
    let rules: Vec<Parsed> = bundle.lines.iter().filter_map(|line| rule(line, &life)).collect();
    preview.divergence = divergence(rules.iter(), &life.playbook);
    for line in &bundle.lines {
        preview.before[tenth(line.confidence)] += 1;
        preview.after[tenth(line.confidence * CROSSING)] += 1;
        preview.bloodstains += u32::from(line.bloodstain);
        let first = line.provenance.sources.iter().map(|source| source.generation).min().unwrap_or(0);
        preview.innate += u32::from(preview.generation >= first + BALDWIN.0 && line.confidence >= BALDWIN.1);
        let domain = rule(line, &life).map_or_else(
            || line.kind.name().to_owned(),
            |rule| life.birth.world.domains[usize::from(rule.domain)].name.clone(),
        );
        match preview.domains.iter_mut().find(|(known, _)| *known == domain) {
            Some((_, count)) => *count += 1,
            None => preview.domains.push((domain, 1)),
        }
    }
    preview.domains.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    Ok(Estate { life, bundle, preview })
}

fn rule(line: &Line, life: &Life) -> Option<Parsed> {
    line.rule.as_deref().and_then(|rule| parse(rule, &life.birth.world).ok())
}

fn unfinished(life: &Life) -> Vec<String> {
    let rules = life.dreams.staged.iter().map(|staged| Parsed::from(&staged.heuristic));
    rules.filter_map(|rule| rule.print(&life.birth.world).ok()).collect()
}

/// How an heir is to be made.
#[derive(Debug)]
pub struct Heir {
    pub name: Name,
    pub settings: Settings,
    pub seed: Option<u64>,
    pub inherit: bool,
    /// Even if it would be a copy.
    pub force: bool,
}

/// Makes an heir of the dead: funded, born where its predecessor died, and left what it is left.
pub fn make(home: &Home, estate: &Estate, heir: Heir) -> Result<Living, Error> {
    let life = &estate.life;
    let least = heir.settings.number("succession.min_divergence");
    if heir.inherit && !heir.force && estate.preview.divergence < least {
        return Err(Error::Refused(format!(
            "{:.0} % of what it would try is new, less than the {:.0} % of succession.min_divergence: it would be a copy; \
             change its rules, say --no-inherit, or --force-similarity if a copy is what you want",
            estate.preview.divergence * 100.0,
            least * 100.0
        )));
    }
    let first = life.birth.lineage.as_ref().map_or(life.id(), |line| line.first);
    let spec = serde_json::from_str(&life.birth.world.spec)
        .map_err(|e| Error::Advice(format!("the world of {} cannot be described any more: {e}", life.birth.name)))?;
    let parent = Parent {
        lineage: Lineage { first, parent: life.id(), parent_name: life.birth.name.to_string() },
        generation: life.birth.generation + 1,
        begins: life.seen.until.max(life.now),
        unfinished: if heir.inherit { unfinished(life) } else { Vec::new() },
    };
    let bundle = heir.inherit.then(|| bundle::again(home, &estate.bundle)).transpose()?;
    let wish = Wish { name: heir.name, spec, seed: heir.seed, settings: heir.settings, parent: Some(parent), bundle };
    keeper::birth(home, wish)
}

/// Who dies sooner than this has no heir by itself: the next would, too.
const SHORTEST: u64 = 50;

/// An heir without asking, where its predecessor's configuration says so. None if it does not, if it has one already, or if
/// it lived too short a life; an error says why none could be made.
pub fn automatic(home: &Home, dead: &GolemHome) -> Result<Option<Name>, Error> {
    let load = |flags: &[String]| Settings::load(File::Golem, Some(&dead.config()), std::env::vars(), flags);
    let wanted = load(&[])?;
    if !wanted.flag("succession.auto") {
        return Ok(None);
    }
    let estate = estate(home, dead)?;
    if estate.life.tick < SHORTEST || has_heir(home, dead, &estate.life) {
        return Ok(None);
    }
    let budget = wanted.perhaps_money("succession.budget_usdc");
    let budget = budget.map(|budget| format!("funds.credit={}", budget.to_string().trim_start_matches('$')));
    let settings = load(&budget.into_iter().collect::<Vec<_>>())?;
    let name = next_name(home, &dead.name);
    let inherit = wanted.flag("succession.inherit_grimoire");
    make(home, &estate, Heir { name: name.clone(), settings, seed: None, inherit, force: false })?;
    Ok(Some(name))
}

/// Whether one of the names that come next in the line is a child of this one.
fn has_heir(home: &Home, dead: &GolemHome, life: &Life) -> bool {
    let stem = stem(&dead.name);
    let line = (2..).map_while(|n| home.golem(&format!("{stem}-{n}")).ok());
    line.filter_map(|place| place.wake().ok())
        .any(|(golem, _)| golem.life().birth.lineage.as_ref().is_some_and(|line| line.parent == life.id()))
}

/// A name without its number in the line.
fn stem(name: &Name) -> &str {
    let text = name.as_str();
    text.rsplit_once('-').filter(|(_, n)| n.parse::<u32>().is_ok()).map_or(text, |(stem, _)| stem)
}

/// One of a family, in a few words.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Relative {
    pub name: String,
    pub id: String,
    pub generation: u32,
    pub parent: Option<String>,
    pub alive: bool,
    pub ticks: u64,
    pub skill: f64,
    pub cause: Option<String>,
}

impl Relative {
    pub fn of(life: &Life) -> Relative {
        Relative {
            name: life.birth.name.to_string(),
            id: life.id().to_string(),
            generation: life.birth.generation,
            parent: life.birth.lineage.as_ref().map(|line| line.parent_name.clone()),
            alive: !life.is_dead(),
            ticks: life.tick,
            skill: life.vitality.epistemic,
            cause: life.death.as_ref().map(|death| death.cause.to_string()),
        }
    }
}

/// Everyone of the same line who is here, the oldest generation first.
pub fn family(home: &Home, of: &GolemHome) -> Result<Vec<Life>, Error> {
    let line_of = |life: &Life| life.birth.lineage.as_ref().map_or(life.id(), |line| line.first);
    let first = line_of(of.wake()?.0.life());
    let mut family = Vec::new();
    for place in home.list()? {
        let (golem, _) = place.wake()?;
        if line_of(golem.life()) == first {
            family.push(golem.life().clone());
        }
    }
    family.sort_by_key(|life| (life.birth.generation, life.born, life.id()));
    Ok(family)
}

/// The next name in a line: ada, ada-2, ada-3.
pub fn next_name(home: &Home, of: &Name) -> Name {
    let stem = stem(of);
    let names = (2..).map(|n| format!("{stem}-{n}").parse::<Name>());
    names.flatten().find(|name| !home.place(name).folder.exists()).unwrap_or_else(|| of.clone())
}

impl std::fmt::Debug for Estate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Estate").field("from", &self.preview.from).finish_non_exhaustive()
    }
}

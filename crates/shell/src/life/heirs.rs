//! Succession: the estate of an heir, whether it would be more than a copy, and its making. An owner decides; without
//! one golems have heirs only where `succession.auto` says so.

use std::collections::BTreeSet;
use std::fs;
use std::ops::ControlFlow;
use std::sync::Arc;

use golem::Endowment;
use golem::grimoire::How;
use golem::grimoire::bundle::BundleLine;
use golem::inheritance::{BALDWIN, Descent, divergence};
use golem::mortality::death::Cause;
use golem::rule::text::{Parsed, parse};
use golem::{GolemId, Life, Lineage, Name, Usdc};
use serde::{Deserialize, Serialize};
use settings::{File, Settings};
use utoipa::ToSchema;
use vault::lines::End;
use vault::{Reader, Treasury};

use super::birth::{Wish, birth};
use super::checks::CheckPlan;
use super::heirless::Heirless;
pub use super::heirless::{FIRST_PAUSE, again_in};
use super::living::Living;
use super::programs::Programs;
use crate::home::log::KnownTip;
use crate::home::{GolemHome, Home};
use crate::legacy::bundle::{self, Bundle};
use crate::legacy::testament;
use crate::view::narrator::Narrator;
use crate::{Error, Runtime};

/// The part of a confidence that each death leaves.
pub const CROSSING: f64 = 0.85;

/// The estate as an heir would be left it.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Preview {
    pub from: String,
    pub generation: u32,
    pub entries: usize,
    /// How many have a confidence of so many tenths before the crossing.
    pub before: [u32; 10],
    /// How many have a confidence of so many tenths after the crossing.
    pub after: [u32; 10],
    #[schema(value_type = Vec<Vec<serde_json::Value>>)]
    pub domains: Vec<(String, u32)>,
    pub bloodstains: u32,
    pub innate: u32,
    pub recommendations: Vec<String>,
    /// Rules left unfinished, which come first in its dreams.
    pub unfinished: Vec<String>,
    /// The share of what the heir would try that its predecessor was not born with.
    pub divergence: f64,
    pub low_divergence: bool,
    /// How the predecessor was ended, if it was: an heir begins the line again.
    #[serde(default)]
    pub ended: Option<String>,
    /// Whether it was frozen when it died; its heir would be born frozen too.
    #[serde(default)]
    pub frozen: bool,
}

/// A dead golem, and what it leaves.
pub struct Estate {
    /// The folder of the dead golem.
    dead: GolemHome,
    pub life: Life,
    pub bundle: Bundle,
    pub preview: Preview,
    /// The descent of an heir.
    pub descent: Descent,
}

/// The estate of an heir, and how it would be made unless the owner says otherwise.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Offer {
    #[serde(flatten)]
    pub preview: Preview,
    pub next_name: String,
    #[schema(value_type = i64)]
    pub credit: Usdc,
    #[schema(value_type = i64)]
    pub capital: Usdc,
    pub inherit: bool,
    /// The least share of what the heir would try that must be new.
    pub least_divergence: f64,
}

impl Offer {
    pub fn of(home: &Home, dead: &GolemHome) -> Result<Offer, Error> {
        let estate = estate(home, dead)?;
        let (Endowment { credit, capital }, succession) =
            (estate.descent.endowment, estate.descent.constitution.succession);
        Ok(Offer {
            preview: estate.preview,
            next_name: next_name(home, &dead.name)?.to_string(),
            credit,
            capital,
            inherit: succession.inherit,
            least_divergence: succession.min_divergence,
        })
    }
}

/// Opens the estate of a dead golem.
pub fn estate(home: &Home, dead: &GolemHome) -> Result<Estate, Error> {
    let (golem, _) = Reader::open(&dead.database())?.wake()?;
    let life = golem.life().clone();
    if !life.is_dead() {
        return Err(Error::Refused(format!(
            "{} is alive; only the dead have heirs (`bardo golem retire {0}` ends it)",
            dead.name
        )));
    }
    let there = dead.legacy().exists() && dead.has_gone_home(&life);
    let Some(testament) = testament::read(dead, &life)?.filter(|_| there) else {
        let why = format!("{0} has not finished dying; `bardo golem run {0}` takes it to its end", dead.name);
        return Err(Error::Refused(why));
    };
    let bundle = bundle::open(home, &dead.legacy())?;
    let tenth = |confidence: f64| ((confidence * 10.0) as usize).min(9);
    let mut preview = Preview {
        from: dead.name.to_string(),
        generation: life.birth().generation + 1,
        entries: bundle.lines.len(),
        before: [0; 10],
        after: [0; 10],
        domains: Vec::new(),
        bloodstains: 0,
        innate: 0,
        recommendations: testament.recommendations,
        unfinished: Vec::new(),
        divergence: 0.0,
        low_divergence: testament.mandate.low_divergence,
        ended: ended(home, &life)?,
        frozen: false,
    };
    let mut descent = Descent::of(&life, false);
    // Births of earlier versions do not say what was given, but the treasury that gave it does.
    if let (true, Some((credit, capital))) =
        (life.birth().endowment == Endowment::default(), home.treasury()?.first_sent(life.id())?)
    {
        let budget = life.constitution().succession.budget;
        descent.endowment = Endowment { credit: budget.unwrap_or(credit), capital };
    }
    // As it is called now; the record has the name at birth.
    descent.lineage.parent_name = dead.name.to_string();
    descent.lineage.frozen |= dead.frozen().is_some();
    preview.frozen = descent.lineage.frozen;
    preview.unfinished.clone_from(&descent.unfinished);
    let rules: Vec<Parsed> = bundle.lines.iter().filter_map(|line| rule(line, &life)).collect();
    preview.divergence = divergence(rules.iter(), &told(home, dead, &life, &bundle)?);
    for line in &bundle.lines {
        preview.before[tenth(line.confidence)] += 1;
        preview.after[tenth(line.confidence * CROSSING)] += 1;
        preview.bloodstains += u32::from(line.bloodstain);
        let first = line.provenance.sources.iter().map(|source| source.generation).min().unwrap_or(0);
        preview.innate += u32::from(preview.generation >= first + BALDWIN.0 && line.confidence >= BALDWIN.1);
        let domain = rule(line, &life).map_or_else(
            || line.kind.name().to_owned(),
            |rule| life.birth().world.domains[usize::from(rule.domain)].name.clone(),
        );
        match preview.domains.iter_mut().find(|(known, _)| *known == domain) {
            Some((_, count)) => *count += 1,
            None => preview.domains.push((domain, 1)),
        }
    }
    preview.domains.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    Ok(Estate { dead: dead.clone(), life, bundle, preview, descent })
}

/// How a golem was ended, and its line with it, in words; none if it died of itself and was left to its line.
fn ended(home: &Home, life: &Life) -> Result<Option<String>, Error> {
    let cause = life.death().map(|death| &death.cause).filter(|cause| cause.ends_the_line());
    let marked = home.treasury()?.end_of(life.id())?.map(|end| match end {
        End::Retired => "retired by its owner",
        End::Halted => "halted with everyone else",
    });
    Ok(cause.map(Cause::to_string).or(marked.map(str::to_owned)))
}

/// The rules it was born with: its instincts, the estate it was left, and what it made of both before its first tick.
fn told(home: &Home, dead: &GolemHome, life: &Life, leaves: &Bundle) -> Result<Vec<Parsed>, Error> {
    let world = &life.birth().world;
    let mut told: Vec<Parsed> = world.instincts.iter().filter_map(|text| parse(text, world).ok()).collect();
    told.extend(newborn(dead)?.iter().flat_map(|life| life.playbook()).map(Parsed::from));
    let left = dead.inherited();
    if left.exists() {
        told.extend(bundle::open(home, &left)?.lines.iter().filter_map(|line| rule(line, life)));
    } else {
        // A copy of a life does not have it; then all that came down the line counts as told, changed or not.
        let came = |line: &&BundleLine| line.provenance.sources.iter().any(|source| source.how == How::Inherited);
        told.extend(leaves.lines.iter().filter(came).filter_map(|line| rule(line, life)));
    }
    Ok(told)
}

/// The life as it was before its first tick, if its journal still begins there.
fn newborn(dead: &GolemHome) -> Result<Option<Life>, Error> {
    let reader = Reader::open(&dead.database())?;
    if reader.beginning()?.is_some() {
        return Ok(None);
    }
    let (mut narrator, mut newborn) = (Narrator::new(), None);
    // Only the first records are read.
    reader.replay(|record| {
        narrator.tell(&record, |_| {})?;
        let Some(life) = narrator.life().filter(|life| life.tick() == 0) else { return Ok(ControlFlow::Break(())) };
        newborn = Some(life.clone());
        Ok::<_, Error>(ControlFlow::Continue(()))
    })?;
    Ok(newborn)
}

fn rule(line: &BundleLine, life: &Life) -> Option<Parsed> {
    line.rule.as_deref().and_then(|rule| parse(rule, &life.birth().world).ok())
}

/// The owner's wishes for an heir, where they differ from the record.
#[derive(Debug)]
pub struct Heir {
    pub name: Name,
    pub seed: Option<u64>,
    /// Keys that the owner sets otherwise.
    pub set: Vec<String>,
    /// Whether to leave it its predecessor's knowledge.
    pub inherit: Option<bool>,
    /// Whether to make it even if it would be a copy.
    pub force: bool,
}

impl Estate {
    /// The settings of an heir: the record's, and those the owner set otherwise. No file and no variable has a say.
    pub fn settings(&self, set: &[String]) -> Result<Settings, Error> {
        if let Some(flag) = set.iter().find(|flag| flag.trim_start().starts_with("world.")) {
            return Err(Error::Usage(format!("an heir lives where its predecessor died; leave {flag} out")));
        }
        let Descent { constitution, endowment, .. } = &self.descent;
        let record = Settings::of_record(constitution, *endowment, &self.life.birth().world);
        let flags: Vec<String> = record.into_iter().chain(set.iter().cloned()).collect();
        Ok(Settings::load(File::Golem, None, std::iter::empty(), &flags)?)
    }
}

/// Makes an heir by an owner's hand: funded, born where its predecessor died, and left the estate. An owner who ended
/// the line may begin it again; the heir is another golem than the one that was ended.
pub fn make(runtime: &Arc<Runtime>, estate: &Estate, heir: Heir) -> Result<Living, Error> {
    born(runtime, estate, heir, false)
}

/// Makes an heir that its owner has asked for beforehand: none beside another one, and none once the owner has ended
/// the line meanwhile, which is decided in one step with its first money.
pub fn make_next(runtime: &Arc<Runtime>, estate: &Estate, heir: Heir) -> Result<Living, Error> {
    born(runtime, estate, heir, true)
}

fn born(runtime: &Arc<Runtime>, estate: &Estate, heir: Heir, by_itself: bool) -> Result<Living, Error> {
    let settings = estate.settings(&heir.set)?;
    let inherit = heir.inherit.unwrap_or_else(|| settings.flag("succession.inherit_grimoire"));
    let least = settings.number("succession.min_divergence");
    if inherit && !heir.force && estate.preview.divergence < least {
        return Err(Error::Copy { new: estate.preview.divergence * 100.0, least: least * 100.0 });
    }
    let life = &estate.life;
    let spec = serde_json::from_str(&life.birth().world.spec)
        .map_err(|e| Error::Damaged(format!("the world of {} cannot be described any more: {e}", estate.dead.name)))?;
    let mut descent = estate.descent.clone();
    descent.lineage.by_itself = by_itself;
    if !inherit {
        descent.unfinished.clear();
        descent.lineage.trust.clear();
    }
    let bundle = inherit.then(|| bundle::again(runtime.home(), &estate.bundle)).transpose()?;
    // The checks and programs that its predecessor had here.
    let programs = Programs::read(&estate.dead)?;
    let checks = CheckPlan::read(&estate.dead)?;
    let descent = Some(descent);
    birth(runtime, Wish { name: heir.name, spec, seed: heir.seed, settings, descent, bundle, checks, programs })
}

/// Ticks that a golem must have lived to have an automatic heir: the next would die as soon.
const SHORTEST: u64 = 50;

/// An heir without asking, where its predecessor was born to have one. None if it was not, if it has one already, if it
/// lived too short a life, or if it was ended: by its owner, by a halt, by the breaker. An error says why none could be
/// made; unless no later try could end otherwise, a host tries again after the time that [`again_in`] says.
pub fn automatic(runtime: &Arc<Runtime>, dead: &GolemHome) -> Result<Option<Name>, Error> {
    let made = by_itself(runtime, dead);
    match &made {
        Ok(_) | Err(Error::Copy { .. } | Error::Refused(_)) => Heirless::over(dead),
        Err(_) => Heirless::failed(dead),
    }
    made
}

fn by_itself(runtime: &Arc<Runtime>, dead: &GolemHome) -> Result<Option<Name>, Error> {
    let home = runtime.home();
    let (golem, _) = Reader::open(&dead.database())?.wake()?;
    let life = golem.life();
    if !life.constitution().succession.auto || life.tick() < SHORTEST || ended(home, life)?.is_some() {
        return Ok(None);
    }
    // Capital that its predecessor had elsewhere comes home first; this is asked again then.
    if !dead.has_gone_home(life) {
        return Ok(None);
    }
    let treasury = home.treasury()?;
    if treasury.has_heir(life.id())? || has_newborn(home, &treasury, life.id())? {
        return Ok(None);
    }
    // A life from elsewhere may say of itself what it likes; that is no reason to give anything unasked.
    let Endowment { credit, capital } = life.birth().endowment;
    if treasury.first_sent(life.id())? != Some((credit, capital)) {
        return Err(Error::Refused("its first money was not from this home".into()));
    }
    let estate = estate(home, dead)?;
    let name = next_name(home, &dead.name)?;
    let heir = Heir { name: name.clone(), seed: None, set: Vec::new(), inherit: None, force: false };
    match born(runtime, &estate, heir, true) {
        Ok(_) => Ok(Some(name)),
        // A host has found it already, and completes the birth.
        Err(Error::Hosted(_) | Error::Vault(vault::Error::Locked(_))) => Ok(Some(name)),
        // Between the question and the birth its owner, or another process, was quicker.
        Err(Error::Vault(vault::Error::LineEnded)) => Ok(None),
        Err(other) => Err(other),
    }
}

/// Whether a child of this one is here without its first money: its birth was cut short, or it came from another home.
/// The treasury has every other heir on the line of its first money.
fn has_newborn(home: &Home, treasury: &Treasury, of: GolemId) -> Result<bool, Error> {
    let heads = fs::read_dir(home.heads()).into_iter().flatten().flatten();
    let known = heads.filter_map(|head| head.file_name().to_str()?.parse::<GolemId>().ok());
    let mut unpaid = BTreeSet::new();
    for id in known {
        if treasury.first_sent(id)?.is_none() {
            unpaid.insert(id);
        }
    }
    if unpaid.is_empty() {
        return Ok(false);
    }
    let is_unpaid = |place: &GolemHome| {
        let id = Reader::open(&place.database()).and_then(|reader| reader.id());
        id.is_ok_and(|id| unpaid.contains(&id))
    };
    let parent = |place: GolemHome| Some(place.wake().ok()?.0.life().birth().lineage.as_ref()?.parent);
    Ok(home.list()?.into_iter().filter(is_unpaid).filter_map(parent).any(|parent| parent == of))
}

/// A name without its number in the line.
fn stem(name: &Name) -> &str {
    let text = name.as_str();
    text.rsplit_once('-').filter(|(_, n)| n.parse::<u32>().is_ok()).map_or(text, |(stem, _)| stem)
}

/// A member of the family, in a few words.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Relative {
    pub name: String,
    pub id: String,
    pub generation: u32,
    pub parent: Option<String>,
    pub alive: bool,
    pub ticks: u64,
    pub skill: f64,
    pub cause: Option<String>,
    /// The cause of its death, by name.
    #[serde(default)]
    pub cause_name: Option<String>,
}

impl Relative {
    /// The members of a family, each under the name it has now, its predecessor too if that is here.
    pub fn all(family: &[(Name, Life)]) -> Vec<Relative> {
        let called = |line: &Lineage| {
            let here = family.iter().find(|(_, life)| life.id() == line.parent);
            here.map_or_else(|| line.parent_name.clone(), |(name, _)| name.to_string())
        };
        let of = |(name, life): &(Name, Life)| Relative::of(name, life.birth().lineage.as_ref().map(called), life);
        family.iter().map(of).collect()
    }

    fn of(name: &Name, parent: Option<String>, life: &Life) -> Relative {
        Relative {
            name: name.to_string(),
            id: life.id().to_string(),
            generation: life.birth().generation,
            parent,
            alive: !life.is_dead(),
            ticks: life.tick(),
            skill: life.vitality().epistemic,
            cause: life.death().map(|death| death.cause.to_string()),
            cause_name: life.death().map(|death| death.cause.name().to_owned()),
        }
    }
}

/// Every golem here of the same line with its name, the oldest generation first.
pub fn family(home: &Home, of: &GolemHome) -> Result<Vec<(Name, Life)>, Error> {
    let mut known = KnownTip::default();
    let line_of = |life: &Life| life.birth().lineage.as_ref().map_or(life.id(), |line| line.first);
    let first = line_of(of.wake_after(&mut known)?.0.life());
    let mut family = Vec::new();
    for place in home.list()? {
        let (golem, _) = place.wake_after(&mut known)?;
        if line_of(golem.life()) == first {
            family.push((place.name, golem.life().clone()));
        }
    }
    family.sort_by_key(|(_, life)| (life.birth().generation, life.born(), life.id()));
    Ok(family)
}

/// The next name in a line: ada, ada-2, ada-3.
pub fn next_name(home: &Home, of: &Name) -> Result<Name, Error> {
    let stem = stem(of);
    // Room for the number, or no name would ever be free.
    let stem = &stem[..stem.len().min(golem::limits::NAME - 7)];
    let names = (2..1_000_000).map(|n| format!("{stem}-{n}").parse::<Name>());
    let free = |name: Name| home.is_free(&name).map(|free| free.then_some(name)).transpose();
    names.flatten().find_map(free).unwrap_or_else(|| Ok(of.clone()))
}

impl std::fmt::Debug for Estate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Estate").field("from", &self.preview.from).finish_non_exhaustive()
    }
}

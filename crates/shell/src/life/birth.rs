//! Births: the files of a life are made aside and moved into place whole.

use std::fs;
use std::sync::Arc;

use golem::constitution::Constitution;
use golem::inheritance::Descent;
use golem::world::Manifest;
use golem::{Birth, Endowment};
use golem::{Golem, Name, Time, laws};
use settings::Settings;
use settings::chance::{self, Secret};
use vault::{Head, Place, Vault};
use world::{Ledger, Spec, World};

use super::checks::CheckPlan;
use super::living::Living;
use super::outside::Outside;
use super::programs::Programs;
use super::worlds;
use crate::durable::{aside, sync_folder};
use crate::home::{GolemHome, Home};
use crate::{Error, Runtime};

/// The golem to be made.
#[derive(Debug)]
pub struct Wish {
    pub name: Name,
    pub spec: Spec,
    /// Derive identity, secret and world from this, so that the life can be repeated.
    pub seed: Option<u64>,
    pub settings: Settings,
    /// The golem it descends from.
    pub descent: Option<Descent>,
    /// The bundle of knowledge it is left.
    pub bundle: Option<String>,
    /// The commands of its checks, in a world of checks.
    pub checks: Option<CheckPlan>,
    /// The programs of its world and its mind here.
    pub programs: Programs,
}

impl Wish {
    /// A golem of its own: the first of its line, without a bundle, checks or programs.
    pub fn of(name: Name, spec: Spec, seed: Option<u64>, settings: Settings) -> Wish {
        let (descent, bundle, checks, programs) = (None, None, None, Programs::default());
        Wish { name, spec, seed, settings, descent, bundle, checks, programs }
    }
}

/// Brings a golem into the world and funds it.
pub fn birth(runtime: &Arc<Runtime>, wish: Wish) -> Result<Living, Error> {
    let home = runtime.home();
    let place = home.place(&wish.name);
    home.must_be_free(&wish.name, None)?;
    let constitution = wish.settings.constitution()?;
    let endowment =
        Endowment { credit: wish.settings.money("funds.credit"), capital: wish.settings.money("funds.capital") };
    let (asked, there) = (endowment.credit + endowment.capital, home.treasury()?.balance()?);
    if asked > there {
        return Err(vault::Error::TreasuryShort { asked, there }.into());
    }
    let (manifest, starts) = first_look(runtime, &wish)?;
    let secret = wish.seed.map_or_else(Secret::draw, |seed| Secret::from_seed(seed, wish.name.as_str()));
    let birth = birth_of(&wish, constitution, endowment, manifest, secret.hash())?;
    // A head without its first money is a birth that was cut short: no golem has lived there.
    if Head::peek(&home.heads(), birth.id).is_some_and(|anchor| anchor.seq > 1) {
        return Err(Error::Usage(format!(
            "a golem with this seed and name has lived here before; choose another seed or name than {}",
            wish.name
        )));
    }
    let id = birth.id;
    let begins = wish.descent.as_ref().map_or(starts, |descent| descent.begins.max(starts));
    make_place(home, &place, &wish, birth, &secret, begins)?;

    let opened = match Living::open(runtime, place.clone(), 1) {
        Ok((living, _)) if living.life().is_dead() => Err(vault::Error::LineEnded.into()),
        Ok((living, _)) => return Ok(living),
        Err(why) => Err(why),
    };
    if let Err(Error::Vault(vault::Error::TreasuryShort { .. } | vault::Error::LineEnded)) = opened {
        // Another process was quicker, with the money or with a letter: this birth never was.
        let _ = fs::remove_dir_all(&place.folder);
        let _ = fs::remove_file(Head::path(&home.heads(), id));
    }
    opened
}

/// The manifest of the world it is to be born into, and the time at which its life begins.
fn first_look(runtime: &Runtime, wish: &Wish) -> Result<(Manifest, Time), Error> {
    let Spec::Outside { seed } = wish.spec else {
        let world = worlds::open(runtime, &wish.spec, Ledger::memory())?;
        let manifest = world.manifest();
        // Orders that a program has carried out elsewhere cannot be rewound.
        let paper = manifest.paper && !wish.spec.is_ordered();
        return Ok((Manifest { paper, ..manifest }, world.start()));
    };
    let run = wish
        .programs
        .world
        .clone()
        .ok_or_else(|| Error::Usage("a world outside is a program: --world COMMAND".into()))?;
    // Files that the program writes before there is a life are thrown away.
    let home = runtime.home();
    let folder = aside(&home.golems(), "trial")?;
    let world = Outside::bare(home.root(), &folder, run, wish.name.as_str(), seed);
    let looked = world.map(|world| (world.manifest(), world.start()));
    let _ = fs::remove_dir_all(&folder);
    looked
}

/// The birth record, fixed for good, if a life is possible like that in this world.
fn birth_of(
    wish: &Wish,
    constitution: Constitution,
    endowment: Endowment,
    manifest: Manifest,
    secret_hash: [u8; 32],
) -> Result<Birth, Error> {
    let spec = serde_json::to_string(&wish.spec).expect("a spec is plain data");
    let manifest = Manifest { spec, ..manifest };
    fits(&constitution, &manifest)?;
    let descent = wish.descent.as_ref();
    let birth = Birth {
        id: chance::identity(wish.seed, wish.name.as_str()),
        name: wish.name.clone(),
        generation: descent.map_or(0, |descent| descent.generation),
        laws: laws::NEWEST,
        secret_hash,
        seeded: wish.seed.is_some(),
        constitution,
        world: manifest,
        endowment,
        lineage: descent.map(|descent| descent.lineage.clone()),
        unfinished: descent.map(|descent| descent.unfinished.clone()).unwrap_or_default(),
    };
    birth.check().map_err(|why| Error::Usage(format!("no golem can live in this world: {why}")))?;
    Ok(birth)
}

/// Checks that the owner's settings fit this world.
fn fits(constitution: &Constitution, manifest: &Manifest) -> Result<(), Error> {
    if !constitution.interval.as_millis().is_multiple_of(manifest.bar.as_millis()) {
        return Err(Error::Usage(format!(
            "this world moves in steps of {}; set heartbeat.interval to a multiple of that",
            manifest.bar
        )));
    }
    if !constitution.policy.fits(manifest) {
        let actions: Vec<&str> = manifest.actions.iter().map(|action| action.name.as_str()).collect();
        let known = actions.join(", ");
        return Err(Error::Usage(format!("policy.allow names an action this world does not have; it has {known}")));
    }
    let domains: Vec<&str> = manifest.domains.iter().map(|domain| domain.name.as_str()).collect();
    if constitution.stress.objectives.len() > domains.len() {
        return Err(Error::Usage("stress.objectives names a domain twice".to_owned()));
    }
    if let Some(unknown) = constitution.stress.objectives.iter().find(|name| !domains.contains(&name.as_str())) {
        let known = domains.join(", ");
        return Err(Error::Usage(format!("stress.objectives names {unknown}; the domains of this world are {known}")));
    }
    golem::policy::preference::check(&constitution.strategy, manifest).map_err(Error::Usage)
}

/// Makes the golem's folder aside and moves it into place whole: a birth cut short leaves no half-made golem behind.
fn make_place(
    home: &Home,
    place: &GolemHome,
    wish: &Wish,
    birth: Birth,
    secret: &Secret,
    begins: Time,
) -> Result<(), Error> {
    let cradle = aside(&home.golems(), "birth")?;
    let config = cradle.join("golem.toml");
    fs::write(&config, wish.settings.to_toml()).map_err(Error::io("cannot write", &config))?;
    secret.save(&cradle.join("secret"))?;
    if let Some(checks) = &wish.checks {
        let path = cradle.join("checks.json");
        fs::write(&path, checks.text()).map_err(Error::io("cannot write", &path))?;
    }
    if wish.programs != Programs::default() {
        let path = cradle.join("programs.json");
        fs::write(&path, wish.programs.text()).map_err(Error::io("cannot write", &path))?;
    }
    if let Some(bundle) = &wish.bundle {
        let path = cradle.join("inheritance.bundle");
        fs::write(&path, bundle).map_err(Error::io("cannot write", &path))?;
    }
    // A frozen line stays frozen: the marker holds for an heir as for any golem.
    if let Some(line) = birth.lineage.as_ref().filter(|line| line.frozen) {
        let path = cradle.join("FROZEN");
        let reason = format!("{} was frozen when it died", line.parent_name);
        fs::write(&path, reason).map_err(Error::io("cannot write", &path))?;
    }
    let (golem, record) = Golem::born(birth, begins);
    let nursery = Place { folder: cradle.clone(), heads: home.heads() };
    drop(Vault::create(&nursery, &record, golem.life(), 1)?);
    sync_folder(&cradle)?;
    let moved = home.hold_names().and_then(|_names| {
        home.must_be_free(&wish.name, None)?;
        fs::rename(&cradle, &place.folder).map_err(|_| Error::NameTaken(wish.name.clone()))
    });
    if let Err(why) = moved {
        let _ = fs::remove_dir_all(&cradle);
        return Err(why);
    }
    sync_folder(&home.golems())
}

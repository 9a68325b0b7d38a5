//! From an owner's flags and files to the settings and the world of a golem that is to be made.

use std::path::Path;

use golem::Name;
use golem::time::Span;
use settings::chance;
use settings::{File, Origin, Settings};
use world::series::Series;
use world::{Candles, Check, EdgeConfig, Says, Spec};

use crate::home::data;
use crate::{Error, Home};

/// Defaults for an agent that is held to checks: the golem lives on credit, acts elsewhere,
/// and only the agent speaks for it.
const CHECKED: [(&str, &str); 8] = [
    ("world.bar", "10m"),
    ("mind.kind", "outside"),
    ("mind.phages", "false"),
    ("dream.enabled", "false"),
    ("funds.capital", "0"),
    ("mortality.mode", "hosted"),
    ("mortality.economic.machine_per_day", "0"),
    ("mortality.economic.death_reserve_floor_usdc", "0"),
];

/// A golem's settings: file, environment, flags; and for a replay the pace of its data.
pub fn settings(home: &Home, file: Option<&Path>, mut flags: Vec<String>) -> Result<Settings, Error> {
    let load = |flags: &[String]| Settings::load(File::Golem, file, std::env::vars(), flags);
    let settings = load(&flags)?;
    if settings.text("world.kind") == Some("checks") {
        let unsaid = |(key, _): &&(&str, &str)| matches!(settings.origin(key), Origin::Default);
        flags.extend(CHECKED.iter().filter(unsaid).map(|(key, value)| format!("{key}={value}")));
        return Ok(load(&flags)?);
    }
    let recorded = matches!(settings.text("world.kind"), Some("replay" | "live"));
    if !recorded || !matches!(settings.origin("world.bar"), Origin::Default) {
        return Ok(settings);
    }
    // A replay moves as its data does, unless the owner says otherwise.
    let (candles, _) = Candles::read(home.data().join(data_file(home, &settings)?))?;
    flags.push(format!("world.bar={}ms", candles.interval().as_millis()));
    Ok(load(&flags)?)
}

/// The world that the settings name. A world without a seed gets a random one.
pub fn spec(home: &Home, settings: &Settings, seed: Option<u64>) -> Result<Spec, Error> {
    let seed = seed.unwrap_or_else(random);
    let bar_ms = settings.span("world.bar").as_millis();
    let world = match settings.text("world.kind") {
        Some("queue") => Spec::Queue { seed, bar_ms },
        Some("edge") => Spec::Edge {
            seed,
            bar_ms,
            edge_bps: settings.perhaps_count("world.edge_bps").unwrap_or(EdgeConfig::USUAL),
            move_days: settings.number("world.edge_move_days"),
        },
        // The signs are there, and none of them leads anywhere.
        Some("fair") => Spec::Edge { seed, bar_ms, edge_bps: 0, move_days: settings.number("world.edge_move_days") },
        Some("outside") => Spec::Outside { seed },
        Some("checks") => {
            let named = |key: &str, says: Says| {
                let names = settings.text(key).unwrap_or_default().split(',').map(str::trim).filter(|n| !n.is_empty());
                names.map(|name| Check { name: name.to_owned(), says }).collect::<Vec<_>>()
            };
            let checks = [named("world.checks", Says::Pass), named("world.numbers", Says::Number)].concat();
            Spec::Checks { checks, bar_ms }
        }
        Some("replay") => {
            let path = Path::new("data").join(data_file(home, settings)?);
            let sha256 = Some(data::digest(&home.root().join(&path))?);
            Spec::Replay { path, start: settings.moment("world.start").map(|at| at.as_seconds()), sha256 }
        }
        Some("live") => {
            let path = Path::new("data").join(data_file(home, settings)?);
            let file = home.root().join(&path);
            let bar = Span::millis(bar_ms);
            let newest = Series::open(&file, bar)?.latest()?.bars().last().map_or(0, |bar| bar.opened.as_seconds());
            let start = settings.moment("world.start").map_or(newest, |at| at.as_seconds());
            let length = std::fs::metadata(&file).map_or(0, |file| file.len());
            let before = Some((length, data::digest_of(&file, length)?));
            Spec::Live { path, bar_ms, start, before }
        }
        _ => Spec::Sim {
            seed,
            bar_ms,
            relations_change_days: settings.number("world.relations_change_days"),
            edge_bps: settings.perhaps_count("world.edge_bps"),
            flip_days: settings.perhaps_number("world.flip_days"),
        },
    };
    let latency_ms = settings.span("world.latency").as_millis();
    let settle_bars = settings.count("world.settle_bars");
    let slow = latency_ms > 0 || settle_bars > 0;
    if settings.flag("world.orders") {
        if slow || !matches!(world, Spec::Live { .. }) {
            let why =
                "a program carries out orders only in a world that is followed live: --data NAME of a followed series";
            return Err(Error::Usage(why.into()));
        }
        return Ok(Spec::Ordered { world: Box::new(world) });
    }
    Ok(if slow { Spec::Slow { world: Box::new(world), latency_ms, settle_bars } } else { world })
}

/// The file that an imported name stands for.
fn data_file(home: &Home, settings: &Settings) -> Result<String, Error> {
    let Some(name) = settings.text("world.data") else {
        return Err(Error::Usage("this world needs data: --data NAME (see `bardo data list`)".into()));
    };
    let file = format!("{name}.csv");
    if name.parse::<Name>().is_err() || !home.data().join(&file).exists() {
        return Err(Error::Usage(format!("there is no data named {name}; see `bardo data list`")));
    }
    Ok(file)
}

fn random() -> u64 {
    let id = chance::identity(None, "");
    u64::from_le_bytes(id.0[..8].try_into().expect("eight of sixteen bytes"))
}

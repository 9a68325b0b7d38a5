//! `golem new|list|show|events|backup|restore|move`: making golems and looking at them.

use std::ops::ControlFlow;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use golem::Name;
use golem::stress::{self, words};
use serde_json::json;
use settings::chance::Secret;
use settings::{File, Settings};
use shell::care::copies;
use shell::care::rename as renaming;
use shell::care::restore::{self, Consent};
use shell::feeds::is_followed;
use shell::home::loan;
use shell::life::birth::{self as births, Wish};
use shell::life::newborn::{settings, spec};
use shell::life::playbook;
use shell::life::programs::Programs;
use shell::orders::fleet::Brake;
use shell::view::history::History;
use shell::view::narrator::Narrator;
use shell::{Error, GolemHome, Home, Living, Runtime};
use vault::Reader;

use crate::args::{Chosen, GolemVerb, New, Restore, WorldKind};
use crate::commands::checks::Claim;
use crate::commands::{
    birth, branch, checks, connect, cost_tree, costs, export, heirs, list, outside, owner, plot, report, run, talk,
};
use crate::named;
use crate::output::{self, count, date, line, plain, portrait, sentence};

pub(crate) fn dispatch(home: &Home, verb: GolemVerb, json: bool) -> Result<ExitCode, Error> {
    match verb {
        GolemVerb::New(new) => create(home, *new, json),
        GolemVerb::Run(args) => run::run(home, &args, json),
        GolemVerb::List(args) => list::list(home, &args, json),
        GolemVerb::Show { name, plot: true } => show(&named::read_golem(home, &name)?, true, json),
        GolemVerb::Show { name, .. } => show(&named::golem(home, &name)?, false, json),
        GolemVerb::Report { name, out } => report::report(&named::read_golem(home, &name)?, out.as_deref(), json),
        GolemVerb::Export { name, claims } => export::claims(&named::read_golem(home, &name)?, &claims, json),
        GolemVerb::Events { name, all } => events(&named::read_golem(home, &name)?, all || json, json),
        GolemVerb::Episodes { name, last } => episodes(&named::read_golem(home, &name)?, last, json),
        GolemVerb::Stress { name } => stress(&named::golem(home, &name)?, json),
        GolemVerb::Playbook { name, accept, discard } => {
            playbook(home, &named::read_golem(home, &name)?, accept, discard, json)
        }
        GolemVerb::Policy { name, set } => owner::policy(home, &name, &set, json),
        GolemVerb::Rename { name, new } => rename(&named::golem(home, &name)?, &new, json),
        GolemVerb::Fund(money) => owner::fund(home, &money, json),
        GolemVerb::Withdraw(money) => owner::withdraw(home, &money, json),
        GolemVerb::Costs { name, tree: true, .. } => cost_tree::tree(home, name.as_deref(), json),
        GolemVerb::Costs { name, last, csv, .. } => costs::costs(home, name.as_deref(), last.as_deref(), csv, json),
        GolemVerb::Approve { name: Some(name), key, deny } => owner::approve(home, &name, key, !deny, json),
        GolemVerb::Approve { name: None, .. } => owner::asks(home, json),
        GolemVerb::Ask { name, question } => talk::ask(home, &name, &question, json),
        GolemVerb::Steer { name, text } => talk::steer(home, &name, text.as_deref(), json),
        GolemVerb::Connect { name, rotate } => connect::connect(home, &named::golem(home, &name)?, rotate, json),
        GolemVerb::Program(args) => outside::program(&named::golem(home, &args.name)?, &args, json),
        GolemVerb::Check { name, set, limit } => {
            checks::check(&named::golem(home, &name)?, &set, limit.as_deref(), json)
        }
        GolemVerb::Claim { name, domain, value, within, at } => {
            let (within, at) = (within.as_deref(), at.as_deref());
            checks::claim(home, &name, &Claim { domain: &domain, value, within, at }, json)
        }
        GolemVerb::Thoughts { name, last, full } => talk::thoughts(&named::read_golem(home, &name)?, last, full, json),
        GolemVerb::Pause(whom) => owner::brake(home, whom.name.as_deref(), &Brake::Pause, json),
        GolemVerb::Resume(whom) => owner::brake(home, whom.name.as_deref(), &Brake::Resume, json),
        GolemVerb::Freeze { whom, reason } => owner::brake(home, whom.name.as_deref(), &Brake::Freeze { reason }, json),
        GolemVerb::Bury { name, unfinished } => bury(&named::golem(home, &name)?, unfinished, json),
        GolemVerb::Unbury { name } => unbury(&named::golem(home, &name)?, json),
        GolemVerb::Retire(retire) => owner::retire(home, &retire, json),
        GolemVerb::Merge { name, yes } => branch::merge(home, &name, yes, json),
        GolemVerb::Successor(args) => heirs::successor(home, &args, json),
        GolemVerb::Release { name } => release(&named::golem(home, &name)?, json),
        GolemVerb::Join { name } => join(home, &named::golem(home, &name)?, json),
        GolemVerb::Backup { name, to } => backup(&named::read_golem(home, &name)?, &to, json),
        GolemVerb::Drill { from } => drill(&from, json),
        GolemVerb::Restore(restore) => take_in(home, &restore, json),
        GolemVerb::Move { name, folder, to } => move_out(home, &named::golem(home, &name)?, &folder, &to, json),
    }
}

fn create(home: &Home, new: New, json: bool) -> Result<ExitCode, Error> {
    let living = if new.is_bare() { birth::ask(home, json)? } else { Some(birth_of(&Runtime::of(home), new)?) };
    let Some(living) = living else { return Ok(ExitCode::SUCCESS) };
    let life = living.life();
    if json {
        output::json(&json!({ "name": life.birth().name, "id": life.id().to_string(), "seeded": life.birth().seeded }));
    } else {
        line(format!(
            "{} is born: {} to live on, {} to act with",
            life.birth().name,
            life.purse().credit,
            life.capital().cash
        ));
        line(birth::next(home, &living));
    }
    outside::greet(living.place(), living.life());
    Ok(ExitCode::SUCCESS)
}

/// Flags are keys by another name, so they are checked and shown like any other.
pub(crate) fn birth_of(runtime: &Arc<Runtime>, new: New) -> Result<Living, Error> {
    let home = runtime.home();
    let name = new.name.ok_or_else(|| Error::Usage("a golem needs a name: bardo golem new NAME".into()))?;
    let mut flags = new.set;
    let mut flag = |key: &str, value: Option<String>| flags.extend(value.map(|value| format!("{key}={value}")));
    // Data is for replaying, or for following; to name it is to want one of them.
    let present = |name: &String| is_followed(home, name) || new.orders.is_some();
    let kind = |name: &String| if present(name) { WorldKind::Live } else { WorldKind::Replay };
    let replay = new.data.as_ref().map(kind);
    let checks = checks::plan(&new.check, &new.number)?;
    let checked = checks.is_some().then_some(WorldKind::Checks);
    let world = if let Some(Chosen::Program(command)) = &new.world { Some(command) } else { None };
    let run = |command: &String| outside::run(command, &new.how);
    let (mind, model) = new.mind.into_iter().partition::<Vec<_>, _>(|mind| outside::is_program(mind));
    let programs = Programs {
        world: world.map(run).transpose()?,
        orders: new.orders.as_ref().map(|command| outside::patient(command, &new.how)).transpose()?,
        mind: mind.first().map(run).transpose()?,
    };
    flag("world.orders", programs.orders.as_ref().map(|_| "true".to_owned()));
    if let Some(run) = &programs.world {
        flag("world.bar", Some(format!("{}ms", outside::bar(home, run)?.as_millis())));
        flag("world.kind", Some("outside".to_owned()));
    }
    let ours = if let Some(Chosen::Ours(kind)) = new.world { Some(kind) } else { None };
    flag("world.checks", checks::names(&new.check)?);
    flag("world.numbers", checks::names(&new.number)?);
    let ours = ours.or(replay).or(checked).filter(|_| programs.world.is_none());
    flag("world.kind", ours.map(|kind| format!("{kind:?}").to_lowercase()));
    flag("world.seed", new.seed.map(|seed| seed.to_string()));
    flag("world.data", new.data.clone());
    flag("heartbeat.interval", new.interval);
    flag("mind.cheap", model.into_iter().next());
    flag("funds.credit", new.credit.map(plain));
    flag("funds.capital", new.capital.map(plain));
    let settings = settings(home, new.config.as_deref(), flags)?;
    settings.remarks().iter().for_each(output::complain);
    let seed = settings.seed("world.seed");
    let bundle = match &new.from {
        Some(from) => {
            let bundle = shell::legacy::bundle::open(home, from)?;
            if bundle.stranger {
                output::complain(format!("{} was signed by a stranger", from.display()));
            }
            Some(std::fs::read_to_string(from).map_err(|source| Error::Io {
                what: "cannot read",
                path: from.clone(),
                source,
            })?)
        }
        None => None,
    };
    let spec = spec(home, &settings, seed)?;
    let wish = Wish { name, spec, seed, settings, descent: None, bundle, checks, programs };
    births::birth(runtime, wish)
}

fn bury(place: &GolemHome, unfinished: bool, json: bool) -> Result<ExitCode, Error> {
    place.bury(unfinished)?;
    put_away(place, true, json)
}

fn unbury(place: &GolemHome, json: bool) -> Result<ExitCode, Error> {
    place.unbury()?;
    put_away(place, false, json)
}

fn put_away(place: &GolemHome, away: bool, json: bool) -> Result<ExitCode, Error> {
    let name = &place.name;
    match away {
        _ if json => output::json(&json!({ "name": name, "buried": away })),
        true => line(format!("{name} is buried: hidden from lists; its testament and heirs are kept (undo: unbury)")),
        false => line(format!("{name} is in the list again")),
    }
    Ok(ExitCode::SUCCESS)
}

fn show(place: &GolemHome, plot: bool, json: bool) -> Result<ExitCode, Error> {
    let (golem, notices) = place.wake()?;
    notices.iter().for_each(output::complain);
    let life = golem.life();
    let running = place.is_lived(life.id());
    // The secret behind its rolls is closed while it lives, and open to all afterwards.
    let secret = if life.is_dead() { Some(Secret::load(&place.secret())?.reveal()) } else { None };
    if json {
        let mut value = serde_json::to_value(life).expect("plain data");
        value["running"] = json!(running);
        value["records"] = json!(golem.seq());
        value["credit_usd"] = json!(output::usd(life.purse().credit));
        value["spent_usd"] = json!(output::usd(life.purse().spent + life.purse().gas));
        value["money_unit"] = json!(output::MONEY_UNIT);
        if plot {
            value["history"] = json!(History::read(place)?);
        }
        if let Some(secret) = secret {
            value["secret"] = json!(secret);
        }
        output::json(&value);
        return Ok(ExitCode::SUCCESS);
    }
    line(portrait(place.name.as_str(), life, running));
    if let Some(orders) = Programs::read(place)?.orders.filter(|_| GolemHome::is_ordered(life)) {
        line(format!("  orders     carried out by `{}`, not on paper", orders.command));
        if life.is_dead() && !place.is_buried() {
            let home = if place.has_gone_home(life) { "everything" } else { "pending; sent while the golem runs" };
            line(format!("  home       {home}"));
        }
    }
    if let Some(secret) = secret {
        line(format!("  secret     {secret} (verify every roll with `bardo doctor`)"));
    }
    if plot {
        plot::draw(&History::read(place)?).iter().for_each(line);
    }
    Ok(ExitCode::SUCCESS)
}

fn events(place: &GolemHome, all: bool, json: bool) -> Result<ExitCode, Error> {
    let reader = Reader::open(&place.database())?;
    let mut narrator = Narrator::before(&reader)?;
    if let Some(life) = narrator.life() {
        let (tick, folder) = (count(life.tick()), place.archive());
        output::complain(format!(
            "what came before tick {tick} is archived; put it into {} to see it here",
            folder.display()
        ));
    }
    reader.replay(|record| {
        if output::reader_is_gone() {
            return Ok(ControlFlow::Break(()));
        }
        narrator.tell(&record, |told| {
            if json {
                output::json(&told);
            } else if all || !told.message.is_routine() {
                line(format!("{}  {:>9}  {}", date(told.at), count(told.tick), sentence(&told.message)));
            }
        })?;
        Ok::<_, Error>(ControlFlow::Continue(()))
    })?;
    Ok(ExitCode::SUCCESS)
}

fn episodes(place: &GolemHome, last: u64, json: bool) -> Result<ExitCode, Error> {
    let reader = Reader::open(&place.database())?;
    let episodes = reader.episodes(last)?;
    if episodes.is_empty() && !json {
        line(format!("{} remembers nothing yet", place.name));
    } else if !json {
        line(format!(
            "{:>9} {:>9} {:<22} {:>8} {:>7} {:<9} {:>9} {:>8}",
            "EPISODE", "TICK", "WHY", "SURPRISE", "AROUSAL", "REGIME", "CAME TO", "REGRET"
        ));
    }
    let percent = |share: Option<f32>| share.map_or("not yet".to_owned(), |share| output::percent(f64::from(share), 2));
    for episode in episodes {
        let (why, regime) = (output::reasons(episode.why), output::regime(episode.regime));
        if json {
            let mut value = serde_json::to_value(episode).expect("plain data");
            (value["why"], value["regime"]) = (json!(why), json!(regime));
            output::json(&value);
        } else {
            line(format!(
                "{:>9} {:>9} {:<22} {:>8.2} {:>+7.2} {:<9} {:>9} {:>8}",
                count(episode.number),
                count(episode.tick),
                why.join(", "),
                episode.surprise,
                episode.arousal,
                regime,
                percent(episode.change),
                percent(episode.regret)
            ));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Present stressors, with reasons, what would clear each and how far away that is; then past ones.
fn stress(place: &GolemHome, json: bool) -> Result<ExitCode, Error> {
    let (golem, _) = place.wake()?;
    let life = golem.life();
    let figures = &life.constitution().stress;
    if json {
        let active = life.stress().active.iter().map(|s| {
            json!({
                "kind": s.kind, "domain": domain(life, s.domain), "severity": s.severity(figures), "since_ms": s.since,
                "presses": s.presses, "why": words::why(life, s), "clears_when": words::clears_when(life, s),
            })
        });
        let named = life.stress().named.iter().map(
            |n| json!({ "name": n.name, "description": n.description, "severity": n.severity(figures.named_rate) }),
        );
        let past = life.stress().past.iter().map(|p| {
            json!({
                "kind": p.kind, "domain": domain(life, p.domain), "times": p.times, "peak": p.peak, "ended_ms": p.ended,
                "suspended": p.suspended, "warned": p.warned, "right": p.right,
            })
        });
        output::json(&json!({
            "mode": figures.mode, "load": stress::load(life), "load_as_told": stress::load_as_told(life),
            "band": stress::band(life), "closed": words::closed(life), "active": active.collect::<Vec<_>>(),
            "named": named.collect::<Vec<_>>(), "past": past.collect::<Vec<_>>(),
            "mood": life.daimon().mood.octant(), "pad": life.daimon().mood,
        }));
        return Ok(ExitCode::SUCCESS);
    }
    line(format!("{}  load {}", place.name, words::summary(life)));
    for s in &life.stress().active {
        line(format!("  {}", words::line(&words::title(life, s.kind, s.domain), s.severity(figures))));
        let eased = if s.presses { "" } else { ", and grows no more" };
        line(format!("    {}; for {}{eased}", words::why(life, s), golem::Span::millis(since(life, s.since))));
        line(format!("    clears when {}", words::clears_when(life, s)));
    }
    for n in &life.stress().named {
        line(format!("  {}", words::line(&n.name, n.severity(figures.named_rate))));
        line(format!("    named by {} itself, closes nothing: {}", place.name, n.description));
    }
    if let Some(closed) = words::closed(life).filter(|_| !life.is_dead()) {
        line(format!("  closed now: {closed}"));
        line("  still open: giving up exposure, looking, predicting, self-examination, asking you or its peers");
    }
    for p in &life.stress().past {
        let ago = golem::Span::millis(since(life, p.ended));
        let how = if p.suspended { "was set aside" } else { "cleared" };
        let warnings =
            if p.warned > 0 { format!("; warned {} times, right {}", p.warned, p.right) } else { String::new() };
        let times = if p.times == 1 { "once".to_owned() } else { format!("{} times", count(u64::from(p.times))) };
        let title = words::title(life, p.kind, p.domain);
        line(format!("  past: {title} {times}, at worst {:.2}, {how} {ago} ago{warnings}", p.peak));
    }
    Ok(ExitCode::SUCCESS)
}

fn domain(life: &golem::Life, domain: Option<u8>) -> Option<&str> {
    domain.and_then(|at| life.birth().world.domains.get(usize::from(at))).map(|spec| spec.name.as_str())
}

fn since(life: &golem::Life, age: golem::Span) -> u64 {
    life.age().as_millis().saturating_sub(age.as_millis())
}

/// The file as it stands, against the life as it is.
fn playbook(home: &Home, place: &GolemHome, accept: bool, discard: bool, json: bool) -> Result<ExitCode, Error> {
    let path = place.playbook();
    let gone = |path: &Path| {
        std::fs::remove_file(path).map_err(|source| Error::Io { what: "cannot remove", path: path.to_owned(), source })
    };
    let wake = || -> Result<Living, Error> {
        let every = home.settings()?.integer("run.snapshot_every") as u64;
        Ok(Living::open(&Runtime::of(home), place.clone(), every)?.0)
    };
    let _loan = if accept || discard { Some(place.borrow()?) } else { None };
    let (golem, _) = Reader::open(&place.database())?.wake()?;
    let text = std::fs::read_to_string(&path).unwrap_or_else(|_| playbook::render(place.name.as_str(), golem.life()));
    let review = playbook::review(&text, golem.life());
    if accept && !review.added.is_empty() {
        let mut living = wake()?;
        living.propose(review.added.iter().map(|(_, parsed)| parsed.clone()))?;
        gone(&path)?;
        living.write_playbook()?;
    } else if discard {
        // Only the holder of the lock may write, so nothing is thrown away before the lock is held.
        let living = wake()?;
        if path.exists() {
            gone(&path)?;
        }
        living.write_playbook()?;
    }
    if json {
        let problems: Vec<_> = review.problems.iter().map(|(line, why)| json!({ "line": line, "why": why })).collect();
        let added: Vec<_> = review.added.iter().map(|(line, _)| line).collect();
        output::json(&json!({
            "file": path, "untouched": review.untouched, "proposed_lines": added, "left_out": review.left_out,
            "problems": problems, "accepted": accept,
        }));
        return Ok(ExitCode::SUCCESS);
    }
    if review.untouched || discard {
        line(playbook::render(place.name.as_str(), golem.life()).trim_end());
        return Ok(ExitCode::SUCCESS);
    }
    line(format!("{} was edited; no edit takes effect by itself", path.display()));
    for (at, why) in &review.problems {
        line(format!("  line {at}: {why}"));
    }
    for (at, parsed) in &review.added {
        let rule = parsed.print(&golem.life().birth().world).unwrap_or_default();
        line(format!("  line {at}: {} {rule}", if accept { "is tried from now on:" } else { "proposes" }));
    }
    for rule in &review.left_out {
        line(format!("  left out: {rule} (a rule loses its say by evidence; leaving it out changes nothing)"));
    }
    if !accept {
        line(format!("next: bardo golem playbook {} --accept, or --discard", place.name));
    }
    Ok(ExitCode::SUCCESS)
}

fn release(place: &GolemHome, json: bool) -> Result<ExitCode, Error> {
    let name = &place.name;
    let was_lived = loan::release(place)?;
    if json {
        output::json(&json!({ "name": name, "released": true, "was_lived": was_lived }));
    } else {
        let done = if was_lived { "the host has let go of it" } else { "no host will take it up" };
        line(format!("{name} is released: {done}"));
        line(format!("next: bardo golem run {name}, move it, or bardo golem join {name}"));
    }
    Ok(ExitCode::SUCCESS)
}

fn join(home: &Home, place: &GolemHome, json: bool) -> Result<ExitCode, Error> {
    let name = &place.name;
    let was_released = loan::join(place)?;
    if json {
        output::json(&json!({ "name": name, "released": false, "was_released": was_released }));
        return Ok(ExitCode::SUCCESS);
    }
    line(match (was_released, home.is_up()) {
        (false, _) => format!("{name} was not released"),
        (true, true) => format!("{name} is back with the host"),
        (true, false) => format!("{name} will run under the next host that comes up"),
    });
    Ok(ExitCode::SUCCESS)
}

fn rename(place: &GolemHome, new: &Name, json: bool) -> Result<ExitCode, Error> {
    let renamed = renaming::rename(place, new)?;
    let (old, until) = (&renamed.old, golem::Time::millis(renamed.until.unsigned_abs()));
    if json {
        output::json(&json!({ "name": new, "was": old, "id": renamed.golem, "until": renamed.until }));
    } else {
        line(format!("{old} is {new} now; {old} leads to it until {}", date(until)));
    }
    Ok(ExitCode::SUCCESS)
}

fn backup(place: &GolemHome, to: &Path, json: bool) -> Result<ExitCode, Error> {
    let label = copies::backup(place, to)?;
    if json {
        output::json(&label);
    } else {
        line(format!("{} at tick {} is in {}", label.name, count(label.tick), to.display()));
        line("it holds the golem's secret: keep it where only you can read it");
    }
    Ok(ExitCode::SUCCESS)
}

fn move_out(home: &Home, place: &GolemHome, to: &Path, addressee: &str, json: bool) -> Result<ExitCode, Error> {
    let every = home.settings()?.integer("run.snapshot_every") as u64;
    let to = &std::path::absolute(to).unwrap_or_else(|_| to.to_owned());
    let _loan = place.borrow()?;
    let label = copies::move_out(&Runtime::of(home), place, to, addressee, every)?;
    if json {
        output::json(&label);
    } else {
        line(format!("{} is sealed here; its life at tick {} is in {}", label.name, count(label.tick), to.display()));
        let key = label.passage.as_ref().map_or("", |passage| passage.owner.as_str());
        line(format!("next, in the other home: bardo golem restore {} --signed-by {key}", to.display()));
    }
    Ok(ExitCode::SUCCESS)
}

/// Restores each copy into a home that vanishes, and verifies it there as `bardo doctor` would.
fn drill(from: &Path, json: bool) -> Result<ExitCode, Error> {
    let copies = shell::care::backups::newest(from);
    if copies.is_empty() {
        return Err(Error::Usage(format!("there is no backup in {}", from.display())));
    }
    let mut good = true;
    for copy in copies {
        let drilled = drill_one(&copy);
        good &= drilled.is_ok();
        match (&drilled, json) {
            (Ok((name, tick, records)), true) => {
                output::json(&json!({ "backup": copy, "fine": true, "name": name, "tick": tick, "records": records }))
            }
            (Err(e), true) => output::json(&json!({ "backup": copy, "fine": false, "error": e.to_string() })),
            (Ok((name, tick, records)), false) => line(format!(
                "ok    {name} at tick {}: {} records fold to the life it was",
                count(*tick),
                count(*records)
            )),
            (Err(e), false) => line(format!("WRONG {}: {e}", copy.display())),
        }
    }
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::from(crate::exit::ERROR) })
}

fn drill_one(copy: &Path) -> Result<(Name, u64, u64), Error> {
    let folder = tempfile::tempdir().map_err(|e| Error::Host(format!("no room for a drill: {e}")))?;
    let home = Home::at(folder.path().join("home"));
    home.init(&Settings::load(File::Bardo, None, std::iter::empty(), &[])?)?;
    let (name, _) = restore::restore(&home, copy, None, &Consent { take_over: true, ..Consent::default() })?;
    let (golem, check) = Reader::open(&home.place(&name).database())?.verify(&home.heads())?;
    Ok((name, golem.life().tick(), check.records - check.after))
}

fn take_in(home: &Home, args: &Restore, json: bool) -> Result<ExitCode, Error> {
    let consent = Consent { rewind: args.rewind, take_over: args.take_over, signed_by: args.signed_by.clone() };
    let (name, life) = restore::restore(home, &args.from, args.name.clone(), &consent)?;
    if json {
        output::json(&json!({ "name": name, "id": life.id().to_string(), "tick": life.tick() }));
    } else {
        line(format!("{name} is here, at tick {}", count(life.tick())));
    }
    Ok(ExitCode::SUCCESS)
}

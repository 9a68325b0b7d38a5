//! How things look on a terminal: words first, figures a person can take in, nothing that needs a TTY.

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use golem::books::Books;
use golem::clade::News;
use golem::daimon::{Octant, Pad};
pub(crate) use golem::figures::{percent, signed};
use golem::goal::{Ended, Goal};
use golem::life::Life;
use golem::mortality::economic;
use golem::mortality::epistemic::domain_fitness;
use golem::mortality::phase::Phase;
use golem::mortality::stochastic;
use golem::plain;
use golem::stress::words;
use golem::wire::Message;
use golem::{Span, Time, Usdc};
use host::Error;
use serde::Serialize;

pub(crate) const WELCOME: &str = "\
bardo runs agents that can die.

A golem watches a world, makes claims about it, lives on money it was given, and ends: out of
money, out of touch with the world, or by chance. All money is paper.

  bardo demo                            watch one live and die, in a minute
  bardo init                            make a home, with paper money in its treasury
  bardo golem new ada --world sim       bring a golem into the world
  bardo golem run ada --speed max       run its whole life now
  bardo golem show ada                  how it is, or how it died
  bardo golem events ada                what happened

  bardo --help                          everything else
";

static READER_GONE: AtomicBool = AtomicBool::new(false);

/// Prints a line; whatever anyone wrote into it, a terminal only shows it. A reader that has gone away is no reason to
/// complain, nor to leave work half done: what streams asks [`reader_is_gone`] and stops by itself.
pub(crate) fn line(text: impl AsRef<str>) {
    put(&plain::text(text.as_ref()));
}

fn put(text: &str) {
    if writeln!(io::stdout().lock(), "{text}").is_err() {
        READER_GONE.store(true, Ordering::Relaxed);
    }
}

/// Says what is wrong or worth knowing beside the result, as plainly as `line`.
pub(crate) fn complain(text: impl std::fmt::Display) {
    let _ = writeln!(io::stderr().lock(), "bardo: {}", plain::text(&text.to_string()));
}

/// One line for a program, where standard output is somebody else's.
pub(crate) fn aside(told: &serde_json::Value) {
    let _ = writeln!(io::stderr().lock(), "{told}");
}

/// Asks, and leaves the answer on the same line.
pub(crate) fn ask(question: impl std::fmt::Display) {
    let _ = write!(io::stderr().lock(), "{}", plain::text(&question.to_string()));
    let _ = io::stderr().flush();
}

/// Prints as it is, at once: colours and movements of our own, and no word of anybody else's.
pub(crate) fn write(text: &str) {
    let mut out = io::stdout().lock();
    if out.write_all(text.as_bytes()).and_then(|()| out.flush()).is_err() {
        READER_GONE.store(true, Ordering::Relaxed);
    }
}

/// Writes a file its user asked for; a new one is as open as the files they make themselves.
pub(crate) fn save(path: &Path, text: &[u8]) -> Result<(), Error> {
    let fresh = !path.exists();
    let written = fs::write(path, text).and_then(|()| if fresh { host::private::share(path) } else { Ok(()) });
    written.map_err(|source| Error::Io { what: "cannot write", path: path.to_owned(), source })
}

pub(crate) fn reader_is_gone() -> bool {
    READER_GONE.load(Ordering::Relaxed)
}

pub(crate) fn json(value: &impl Serialize) {
    json_line(&serde_json::to_string(value).expect("plain data"));
}

/// JSON that is written already.
pub(crate) fn json_line(text: &str) {
    put(&plain::json(text));
}

/// `2024-01-13 04:00:40`, world time.
pub(crate) fn date(at: Time) -> String {
    i64::try_from(at.as_millis())
        .ok()
        .and_then(|millis| jiff::Timestamp::from_millisecond(millis).ok())
        .map_or_else(|| at.as_seconds().to_string(), |stamp| stamp.strftime("%F %T").to_string())
}

/// 26310 as 26,310.
pub(crate) fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A text whose numbers have at most three decimals: what a golem writes down is exact, and no one reads sixteen digits.
pub(crate) fn rounded(text: &str) -> String {
    let (mut out, mut decimals) = (String::new(), None);
    for letter in text.chars() {
        decimals = match (letter, decimals) {
            ('0'..='9', Some(n)) => Some(n + 1),
            ('.', None) if out.ends_with(|c: char| c.is_ascii_digit()) => Some(0),
            _ => None,
        };
        if decimals.is_none_or(|n| n <= 3) {
            out.push(letter);
        }
    }
    out
}

/// To the cent, for lists; where it should add up, all digits are shown.
pub(crate) fn cents(amount: Usdc) -> String {
    let whole = format!("{:.2}", amount.as_f64().abs() / 1e6);
    // What rounds to nothing has no sign.
    let sign = if amount < Usdc::ZERO && whole != "0.00" { "-" } else { "" };
    format!("{sign}${whole}")
}

pub(crate) fn units(millionths: i64) -> String {
    let text = format!("{:.6}", millionths as f64 / 1e6);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// One life, on one screen.
pub(crate) fn portrait(life: &Life, running: bool) -> String {
    let mut rows: Vec<(&str, String)> = Vec::new();
    let head = match &life.death {
        Some(death) => format!("{}  dead\n  died       {}", life.birth.name, death.cause),
        None => {
            let notes = [(life.heartbeat.paused, "paused"), (life.heartbeat.frozen, "frozen"), (running, "running")];
            let notes: Vec<&str> = notes.iter().filter(|(on, _)| *on).map(|(_, note)| *note).collect();
            let notes = if notes.is_empty() { String::new() } else { format!("  ({})", notes.join(", ")) };
            format!("{}  {}  vitality {:.2}{notes}", life.birth.name, life.phase(), life.vitality.composite)
        }
    };
    let open = life.death.iter().flat_map(|death| &death.open);
    let open: Vec<String> =
        open.map(|open| format!("{} {:.2}", words::title(life, open.kind, open.domain), open.severity)).collect();
    if !open.is_empty() {
        rows.push(("pressed by", open.join(", ")));
    }
    let world = &life.birth.world;
    rows.push(("world", format!("{}, looked at every {}", world.world, life.constitution().interval)));
    let lifespan = life.constitution().vitality.lifespan;
    rows.push(("age", format!("{} of about {lifespan}, {} ticks", life.age, count(life.tick))));
    rows.push(("time", date(life.now)));
    rows.extend(money(life));
    if let Some(ask) = golem::policy::asks(life) {
        let name = &life.birth.name;
        rows.push(("asks you", format!("{ask}; until {}: bardo golem approve {name} {}", date(ask.until), ask.key)));
    }
    if let Some(hold) = life.calls.hold {
        let name = &life.birth.name;
        rows.push(("asks you", format!("its calls are stopped after {hold}: bardo golem approve {name} {}", hold.key)));
    }
    if let Some((said, at)) = &life.said {
        let what = if said.done { "is done" } else { "asks" };
        rows.push(("agent", format!("{what}, {}: {}", date(*at), said.text)));
    }
    if !world.domains.is_empty() {
        rows.push(("skill", skill(life)));
    }
    if life.dated_made > 0 {
        let open = life.dated.len() as u64;
        rows.push(("claims", format!("{} made, {} of them still to be answered", count(life.dated_made), count(open))));
    }
    if !life.is_dead() && world.regime.is_some() {
        rows.push(("regime", format!("{} since {}", life.regimes.now, date(life.regimes.since))));
    }
    if life.episodes.made > 0 {
        let entries = count(u64::from(life.knowing.alive));
        rows.push(("memory", format!("{entries} entries in use, {} episodes", count(life.episodes.made))));
    }
    if !life.is_dead() {
        rows.push(("phase", host::view::words::phase(life)));
    }
    rows.extend(host::view::words::phages(life).map(|said| ("phages", said)));
    rows.extend(host::view::words::calls(life).map(|said| ("calls", said)));
    rows.extend(host::view::words::thoughts(life).map(|said| ("thoughts", said)));
    rows.extend(host::view::words::mind(life).map(|said| ("mind", said)));
    if !life.is_dead() {
        rows.push(("load", words::summary(life)));
        rows.push(("mood", mood(life)));
        rows.push(("chance", chance(life)));
        rows.push(("heartbeat", life.heartbeat.state.to_string()));
    }
    rows.push((
        "id",
        format!("{}{}", life.id(), if life.birth.seeded { " (seeded: this life can be foreseen)" } else { "" }),
    ));
    rows.iter().fold(head, |text, (label, value)| text + &format!("\n  {label:<10} {value}"))
}

fn mood(life: &Life) -> String {
    let mood = life.daimon.mood;
    let Pad { pleasure, arousal, dominance } = mood;
    match mood.octant() {
        Octant::Neutral => Octant::Neutral.to_string(),
        octant => format!("{octant} (pleasure {pleasure:+.2}, arousal {arousal:+.2}, dominance {dominance:+.2})"),
    }
}

/// What it has and for how long; then where each cent came from and went, and what that comes to for its owner.
fn money(life: &Life) -> Vec<(&'static str, String)> {
    let (purse, capital, books) = (&life.purse, &life.capital, Books::of(life));
    let mut rows = Vec::new();
    if !life.is_dead() {
        let kept = economic::reserve(life).min(purse.credit);
        let lasts = economic::projected_life(life).map_or(String::new(), |left| format!("; enough for {left}"));
        rows.push(("lives on", format!("{} of {}, {kept} of it kept for dying{lasts}", purse.credit, purse.funding)));
    }
    if capital.holding != 0 {
        let (units, unit) = (units(capital.holding), &life.birth.world.unit);
        let worth = capital.worth(life.seen.unit);
        rows.push(("holds", format!("{units} {unit} acquired for {}; capital is worth {worth}", capital.cost)));
    }
    rows.push(("credit", books.credit()));
    if capital.given.is_positive() {
        rows.push(("capital", books.capital()));
    }
    rows.push(("net", books.net()));
    rows
}

fn skill(life: &Life) -> String {
    let each = life.birth.world.domains.iter().enumerate().map(|(at, spec)| match domain_fitness(life, at) {
        Some(fitness) => format!("{} {fitness:.2}", spec.name),
        None => format!("{} unknown", spec.name),
    });
    format!("{:.2} ({}); 0.50 is as good as naive", life.vitality.epistemic, each.collect::<Vec<_>>().join(", "))
}

fn chance(life: &Life) -> String {
    if !life.constitution().clocks().stochastic {
        return "off".to_owned();
    }
    let rate = stochastic::rate(&life.constitution().stochastic, life.age, stochastic::robustness(life));
    let per_day = rate * Span::DAY.reference_ticks();
    format!("dies within a day with a probability of about {:.3} %", per_day.min(1.0) * 100.0)
}

/// Why a tick is remembered.
pub(crate) fn reasons(bits: u8) -> Vec<&'static str> {
    use golem::episode::why;
    let names = [
        (why::SURPRISE, "surprise"),
        (why::INTENT, "intent"),
        (why::REFUSAL, "refusal"),
        (why::REGIME, "regime"),
        (why::PHASE, "phase"),
        (why::DEATH, "death"),
        (why::ROUTINE, "routine"),
    ];
    names.iter().filter(|(bit, _)| bits & bit != 0).map(|(_, name)| *name).collect()
}

pub(crate) fn regime(number: u8) -> String {
    use golem::regime::Regime;
    [Regime::Calm, Regime::Usual, Regime::Unsettled].get(usize::from(number)).copied().unwrap_or_default().to_string()
}

/// `ada is stable`, but `ada is in conservation`.
pub(crate) fn phase(phase: Phase) -> String {
    if phase == Phase::Conservation { format!("in {phase}") } else { phase.to_string() }
}

/// What an action came to.
pub(crate) fn acted(filled: i64, cash: Usdc, fee: Usdc) -> String {
    match filled {
        0 => format!("tried to act and got nothing; fee {fee}"),
        1.. => format!("took up {} units for {}, fee {fee}", units(filled), -cash),
        _ => format!("gave up {} units for {cash}, fee {fee}", units(-filled)),
    }
}

/// A message in words.
pub(crate) fn sentence(message: &Message<'_>) -> String {
    match message {
        Message::Born { name, world, .. } => format!("{name} was born (world: {world})"),
        Message::Funded { credit, capital } => format!("was given {credit} to live on and {capital} to act with"),
        Message::Withdrew { from, amount, .. } => {
            format!(
                "returned {amount} of its {} to the treasury",
                if *from == golem::owner::Account::Credit { "credit" } else { "capital" }
            )
        }
        Message::Refused { why, .. } => format!("was refused: {why}"),
        Message::Froze { reason: "" } => "was frozen: no new exposure".to_owned(),
        Message::Froze { reason } => format!("was frozen: no new exposure ({reason})"),
        Message::Thawed => "may take new exposure again".to_owned(),
        Message::Settled { units: filled, cash, fee, .. } => acted(*filled, *cash, *fee),
        Message::Granted { key, cash, fee, .. } => format!("may act (permit {key}): cash {cash}, fee {fee} by preview"),
        Message::ApprovalSought { ask } => {
            let ask = ask.as_ref().map(|ask| format!("{ask} (ask {})", ask.key));
            format!("asks its owner: {}", ask.unwrap_or_default())
        }
        Message::Approved { key } => format!("has its owner's yes to ask {key}"),
        Message::Verified { quoted, actual, .. } => format!("previewed {quoted}, came to {actual}"),
        Message::Stopped { holding, .. } => format!("hit its stop: gives up {} units", units(*holding)),
        Message::Harvested { amount, .. } => format!("turned {amount} of profit into credit"),
        Message::Amended { .. } => "lives under a new policy".to_owned(),
        Message::Steered { strategy: "" } => "has nothing more in mind from its owner".to_owned(),
        Message::Steered { strategy } => format!("is to have in mind: {strategy}"),
        Message::Claimed { domain, value, naive, due, .. } => {
            format!("is held to {domain} {value} at {} (anyone would have said {naive:.2})", date(*due))
        }
        Message::Met { domain, actual, fitness: None } => format!("what was said of {domain} met {actual}"),
        Message::Met { domain, actual, fitness: Some(fitness) } => {
            format!("what was said of {domain} met {actual}; its skill there is {fitness:.2}")
        }
        Message::CallSettled { model, cost, over, .. } if over.is_positive() => {
            format!("was asked {over} more by {model} than the {cost} that a call may cost, and did not pay it")
        }
        Message::CallSettled { model: "", cost, .. } => format!("lost a call, which counts as {cost}"),
        Message::CallSettled { model, input, output, cost, .. } => {
            format!("called {model}: {} tokens in, {} out, {cost}", count((*input).into()), count((*output).into()))
        }
        Message::CallRefused { why, times: 1, .. } => format!("was refused a call: {why}"),
        Message::CallRefused { why, times, .. } => format!("was refused {} calls: {why}", count((*times).into())),
        Message::CallsHeld { key, why, .. } => format!("asks its owner: may it go on calling after {why} (ask {key})"),
        Message::CallsReleased { .. } => "may call again".to_owned(),
        Message::Said { text, done: true } => format!("is done, says its agent: {text}"),
        Message::Noted { text } => format!("hears from its mind: {text}"),
        Message::Said { text, done: false } => format!("has a question of its agent's for its owner: {text}"),
        Message::Finished { goal, domain, ended, .. } => {
            let goal = match goal {
                Goal::Act => "acting",
                Goal::Explore => "an idea",
                Goal::Learn => "learning",
                Goal::Maintain => "giving up exposure",
                Goal::SelfExamine => "self-examination",
                Goal::Contact => "contact",
            };
            let ended = match ended {
                Ended::Failed => "came to nothing",
                Ended::Done => "is done",
                Ended::Effective => "worked out",
            };
            format!("{goal} ({domain}) {ended}")
        }
        Message::Raised { stressor, severity, load, band } => {
            format!("{stressor} presses ({severity:.2}); load {load:.2}, {band}")
        }
        Message::Cleared { stressor, severity, load, band } => {
            format!("{stressor} cleared (was {severity:.2}); load {load:.2}, {band}")
        }
        Message::Suspended => "three cycles of crisis: what presses is set aside for a day".to_owned(),
        Message::CalledOut { load } => format!("is in crisis (load {load:.2}) and tells its peers"),
        Message::Heard { from, news: News::Crisis { load, pressed_by } } => {
            let kinds: Vec<&str> = pressed_by.iter().flatten().map(|kind| kind.name()).collect();
            format!("heard that {} is in crisis (load {load:.2}: {})", short(from), kinds.join(", "))
        }
        Message::Heard { from, news: News::Death } => format!("heard that {} has died", short(from)),
        Message::Heard { from, news: News::Regime { to } } => {
            format!("heard from {} that the world is {to}", short(from))
        }
        Message::Heard { from, news: News::Knowledge { entries } } => {
            format!("was told by {} what it has found out ({entries})", short(from))
        }
        Message::Shared { entries } => format!("tells its siblings what it has found out ({entries})"),
        Message::Near { died: Some(died) } => format!("stands where {} died, and risks half as much", short(died)),
        Message::Near { died: None } => "has left the place where a sibling died".to_owned(),
        Message::Assessed { assessed } => {
            format!("spoke of its state: {} named, {} claims", assessed.named.len(), assessed.claims.len())
        }
        Message::RegimeChanged { from, to } => format!("the world went from {from} to {to}"),
        Message::ModeChanged { mode } => format!("is {mode}"),
        Message::DreamBegan { cycle_id, ticks, .. } => format!("falls asleep for night {cycle_id}, {ticks} ticks"),
        Message::DreamPhase { phase, .. } => format!("dreams on: {phase}"),
        Message::DreamProgress { phase, budget_spent, .. } => format!("night goes into {phase}, {budget_spent} spent"),
        Message::Dreamt { found } => {
            format!(
                "dreamt ({}): {} ideas, {} tested, {} staged",
                found.phase,
                found.looked_at,
                found.proposed,
                found.staged.len()
            )
        }
        Message::DreamHypothesis { hypothesis, .. } => format!("dreamt, and tries: {hypothesis}"),
        Message::DreamCounterfactual { hypothesis, outcome, .. } => format!("imagined {hypothesis}: {outcome}"),
        Message::Asked { purpose, tier, most, .. } => {
            format!("asks a {tier:?} model to {purpose}, for {most} at most").to_lowercase()
        }
        Message::Answered { cost, over, fresh, answer, .. } => {
            let late = if *fresh { "" } else { ", too late to matter" };
            let note = if answer.note.is_empty() { String::new() } else { format!(": {}", answer.note) };
            format!("is answered for {cost}{}{late}{note}", beyond(*over))
        }
        Message::Silent { cost, over, why, .. } => {
            format!("gets no answer ({}), which costs {cost}{}", why.name(), beyond(*over))
        }
        Message::DreamsSwitched { on: true } => "dreams from now on".to_owned(),
        Message::DreamsSwitched { on: false } => "dreams no more".to_owned(),
        Message::DreamLeft { cycle_id, woken: None, .. } => format!("woke up from night {cycle_id}"),
        Message::DreamLeft { cycle_id, woken: Some(by), .. } => {
            format!("was woken from night {cycle_id} ({by:?})").to_lowercase()
        }
        Message::DreamDone { cycle_number, hypotheses_generated, insights_found, cost_usdc } => format!(
            "night {cycle_number} came to {insights_found} insights and {hypotheses_generated} hypotheses for {cost_usdc}"
        ),
        Message::Unstaged { fate, .. } => format!("a hypothesis is {fate:?}").to_lowercase(),
        Message::Revised { domain, .. } => format!("goes by what it learned again of {domain}"),
        Message::RolledBack { .. } => "took back what a dream had brought".to_owned(),
        Message::VitalityUpdated { economic, epistemic, composite, phase, .. } => {
            format!("vitality {composite:.3} ({phase}): money {economic:.3}, skill {epistemic:.3}")
        }
        Message::PhaseChanged { from_phase, to_phase, composite, trigger_clock } => {
            let clock = match trigger_clock {
                golem::mortality::Clock::Economic => "money",
                golem::mortality::Clock::Epistemic => "skill",
                golem::mortality::Clock::Stochastic => "age",
            };
            format!("{from_phase} → {to_phase} at vitality {composite:.2} (weakest: {clock})")
        }
        Message::EconomicCritical { remaining, .. } => format!("money is short: {remaining} left"),
        Message::EpistemicWarned { fitness, .. } => format!("skill fell below naive ({fitness:.4})"),
        Message::Senescence { state, fitness } => match *state {
            "grace" => format!("is losing touch: skill {fitness:.3}; time to recover"),
            "senescent" => format!("has lost touch: skill {fitness:.3}"),
            _ => format!("has found its touch again: skill {fitness:.3}"),
        },
        Message::Rolled { hazard_rate, roll, survived } => {
            format!("rolled {roll:.6} against {hazard_rate:.3e}: {}", if *survived { "lives" } else { "dies" })
        }
        Message::Died { cause, ticks_alive, .. } => format!("died after {} ticks: {cause}", count(*ticks_alive)),
        Message::Reflected { .. } => "its testament is written".to_owned(),
        Message::Bequeathed { entries, .. } => format!("left {} entries to an heir", count(u64::from(*entries))),
        Message::Ended { yours: None, .. } => "its affairs are settled".to_owned(),
        Message::Ended { yours: Some(left), .. } => format!("its affairs are settled; {left}"),
    }
}

/// What somebody wants beyond what was set aside.
fn beyond(over: Usdc) -> String {
    if over.is_positive() { format!(" (its server wants {over} more, and does not get it)") } else { String::new() }
}

/// As much of an id as tells one golem from another.
fn short(id: &str) -> &str {
    id.get(..8).unwrap_or(id)
}

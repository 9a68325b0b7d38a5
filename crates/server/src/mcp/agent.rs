//! Tools for the agent that acts for a golem, with that golem's token. No tool here raises a limit, moves money or says
//! yes.

use std::sync::Arc;

use golem::call;
use golem::grimoire::Status;
use golem::mortality::economic;
use golem::policy::Proposal;
use golem::thanatopsis::{LastWord, Remains};
use golem::{Command, Life, Say, Time};
use serde_json::{Value, json};
use settings::{read_moment, read_span};
use shell::errands::EndNotice;
use shell::home::GolemHome;
use shell::home::inbox::Body;
use shell::home::tokens::Scope;
use shell::legacy::remains;
use shell::life::recall;
use shell::orders::order::{self, Heard};
use shell::view::words;
use shell::{Error, Runtime, wall};
use vault::grimoire::Query;

use super::tool::{Given, Tool};

const fn tool(
    name: &'static str,
    does: &'static str,
    takes: &'static [(&'static str, &'static str, bool, &'static str)],
    changes: bool,
) -> Tool {
    Tool { name, does, takes, scope: Scope::Read, changes }
}

pub(super) const TOOLS: &[Tool] = &[
    tool(
        "standing",
        "How the golem you act for stands: what is left to spend, its phase and what that means for you, its skill, its load, \
         what its owner would have you keep in mind, and what can be claimed or proposed.",
        &[],
        false,
    ),
    tool(
        "claim",
        "Say what one of its checks will show, and when. The check answers, not you: true claims that beat the obvious keep the \
         golem alive, confident false ones end it. Claims you do not make cost nothing.",
        &[
            ("about", "string", true, "the name of the check, as `standing` lists them"),
            ("value", "number", true, "a chance from 0 to 1 that it passes, or the number it will show"),
            ("in", "string", false, "how long from now, such as 90s, 2h or 3d"),
            ("at", "string", false, "or the moment itself, such as 2030-01-31T09:00:00Z"),
        ],
        true,
    ),
    tool(
        "recall",
        "What the golem knows about something, each with how sure it is and where it comes from.",
        &[
            ("about", "string", true, "words to look for"),
            ("most", "integer", false, "how many at most; 8 if not said"),
        ],
        false,
    ),
    tool(
        "remember",
        "Have the golem keep a sentence. It is kept in quarantine, as yours, and believed only as far as it proves itself.",
        &[("text", "string", true, "one sentence that will mean something later")],
        true,
    ),
    tool(
        "propose",
        "Propose an action of its world. The owner's policy decides, and may ask the owner.",
        &[
            ("action", "string", true, "the name of the action, as `standing` lists them"),
            ("size", "number", true, "a share from 0 to 1 of its capital, or of what it holds"),
        ],
        true,
    ),
    tool(
        "ask_owner",
        "Ask its owner something. The answer, when there is one, stands in `standing` as what the owner would have you keep in mind.",
        &[("text", "string", true, "the question")],
        true,
    ),
    tool(
        "last_words",
        "Leave a last word for a life that may come after this one; a later one takes its place. It is kept as what you said, not as \
         what is so. One sentence a line, six under each heading at most.",
        &[
            ("worked", "string", false, "what worked"),
            ("failed", "string", false, "what failed"),
            ("half_done", "string", false, "what is half done"),
            ("suspects", "string", false, "what you suspect and cannot show"),
            ("next", "string", false, "what to try next"),
        ],
        true,
    ),
    tool("done", "Tell its owner that you are done.", &[("text", "string", true, "what was done")], true),
];

pub(super) fn call(runtime: &Arc<Runtime>, place: &GolemHome, name: &str, given: &Given) -> Result<Value, Error> {
    match name {
        "standing" => standing(runtime, place),
        "recall" => remembered(runtime, place, given),
        "claim" => {
            let command = Command::Claim {
                domain: given.text("about").to_owned(),
                value: given.number("value"),
                due: due(place, given)?,
            };
            tell(runtime, place, Body::Command(command))
        }
        "remember" => tell(runtime, place, Body::Remember { text: given.text("text").to_owned() }),
        "propose" => {
            let (golem, _) = place.wake()?;
            let actions = &golem.life().birth().world.actions;
            let action = actions.iter().position(|spec| spec.name == given.text("action"));
            let action = action.ok_or_else(|| Error::Refused("its world has no such action".to_owned()))? as u8;
            tell(runtime, place, Body::Command(Command::Propose(Proposal { action, size: given.number("size") })))
        }
        "ask_owner" | "done" => {
            let say = Say { text: given.text("text").to_owned(), done: name == "done" };
            tell(runtime, place, Body::Command(Command::Say(say)))
        }
        "last_words" => last_words(place, given),
        other => Err(Error::Refused(format!("there is no tool {other:?} here"))),
    }
}

/// Keeps the last word of an agent until its testament is written, or beside it.
fn last_words(place: &GolemHome, given: &Given) -> Result<Value, Error> {
    let word = LastWord::of(["worked", "failed", "half_done", "suspects", "next"].map(|name| given.text(name)));
    if word.is_silent() {
        return Err(Error::Usage("say something: worked, failed, half_done, suspects or next".to_owned()));
    }
    let before = remains::read(place).unwrap_or_default();
    if word != before.word {
        remains::write(place, &Remains { word, ..before })?;
    }
    Ok(json!({ "done": true }))
}

/// Passes an order on to the process that runs the golem, or wakes the golem for it.
pub(super) fn tell(runtime: &Arc<Runtime>, place: &GolemHome, body: Body) -> Result<Value, Error> {
    let every = runtime.home().settings()?.integer("run.snapshot_every") as u64;
    let order = order::pass_on(runtime, place, body, every)?;
    Ok(match order::hear(runtime, place, order, order::PATIENCE)? {
        Heard::Done => json!({ "done": true }),
        Heard::Waiting => json!({ "done": false, "why": "the golem has not read it yet" }),
    })
}

fn due(place: &GolemHome, given: &Given) -> Result<Time, Error> {
    let wrong = || Error::Usage("say when: `in`, such as 2h, or `at`, such as 2030-01-31T09:00:00Z".to_owned());
    match (given.text("in"), given.text("at")) {
        ("", "") => Err(wrong()),
        ("", at) => read_moment(at).ok_or_else(wrong),
        (span, _) => Ok(wall::now_of(place.wake()?.0.life()) + read_span(span).ok_or_else(wrong)?),
    }
}

fn standing(runtime: &Runtime, place: &GolemHome) -> Result<Value, Error> {
    runtime.catch_up(place)?;
    let (golem, _) = place.wake()?;
    let life = golem.life();
    let claims = life.birth().world.domains.iter().enumerate().map(|(at, spec)| {
        json!({
            "about": spec.name,
            "is": if spec.kind == golem::world::DomainKind::Direction { "a chance from 0 to 1" } else { "a number" },
            "now": life.seen().values.get(at),
            "skill": golem::mortality::epistemic::domain_fitness(life, at),
        })
    });
    let open = life.dated().iter().map(|claim| {
        let about = life.birth().world.domains.get(usize::from(claim.domain)).map(|spec| spec.name.as_str());
        json!({ "about": about, "value": claim.value, "due_ms": claim.due.as_millis() })
    });
    let (calls, now) = (&life.calls(), wall::now_of(life));
    let end = runtime.counters().of(&place.name).end_notice();
    Ok(json!({
        "name": place.name.as_str(),
        "alive": !life.is_dead(),
        "died_of": life.death().map(|death| death.cause.to_string()),
        "frozen": life.heartbeat().frozen,
        "paused": life.heartbeat().paused,
        "calls_stopped": calls.hold.map(|hold| hold.to_string()),
        "end_is_near": end.as_ref().map(|notice| notice.why.as_str()),
        "last_word": end.as_ref().map(EndNotice::words),
        "phase": life.phase().to_string(),
        "phase_means": meaning(life),
        "vitality": life.vitality().composite,
        "left_usd": usd(call::left(life, now).all),
        "lasts_s": economic::projected_life(life).map(|left| left.as_millis() / 1_000),
        "calls": { "made": calls.made, "spent_usd": usd(calls.spent), "under_way": calls.open.len() },
        "left_beside_usd": call::caps(life, now).map(|cap| cap.to_string()).collect::<Vec<_>>(),
        "usd_is_imputed": life.policy().imputed,
        "caps_usd": {
            "one_call": life.policy().call_most.map(usd), "an_hour": life.policy().calls_hour.map(usd),
            "a_day": life.policy().calls_day.map(usd), "thirty_days": life.policy().calls_month.map(usd),
        },
        "skill": golem::mortality::epistemic::fitness(life),
        "load": golem::stress::load(life),
        "owner_would_have_you_keep_in_mind": life.strategy(),
        "can_claim": claims.collect::<Vec<_>>(),
        "claims_open": open.collect::<Vec<_>>(),
        "can_propose": life.birth().world.actions.iter().map(|spec| spec.name.as_str()).collect::<Vec<_>>(),
        "in_words": words::phase(life),
    }))
}

pub(super) fn usd(sum: golem::Usdc) -> f64 {
    sum.as_micros() as f64 / 1e6
}

/// The meaning of the golem's phase, for the agent that acts for it.
fn meaning(life: &Life) -> &'static str {
    use golem::mortality::phase::Phase;
    match life.phase() {
        Phase::Thriving => "all is well, and every model its owner allows may be used",
        Phase::Stable => "all is well; the strongest models have to be earned",
        Phase::Conservation => "money or touch is getting short: do what matters, with cheaper models",
        Phase::Declining => {
            "wind up: finish what can be finished, and leave what was learned with `remember` and `last_words`"
        }
        Phase::Terminal => "this is the end: say `last_words`, and `done`",
    }
}

fn remembered(runtime: &Runtime, place: &GolemHome, given: &Given) -> Result<Value, Error> {
    runtime.catch_up(place)?;
    let reader = vault::Reader::open(&place.database())?;
    let (golem, _) = place.wake()?;
    let limit = given.whole("most", 8).clamp(1, 50) as usize;
    let life = golem.life();
    let statuses = vec![Status::Active, Status::Dormant, Status::Candidate];
    let transition = life.regimes().transition();
    let about = Query::about(given.text("about"), life.now(), life.regimes().now);
    let mut query = Query { limit, statuses, transition, ..about };
    let embedder = recall::embedder(&runtime.home().settings()?)?;
    let (hits, _) = recall::search(&reader, embedder.as_ref().map(|one| one as _), &mut query)?;
    let told = hits.iter().map(|hit| {
        json!({
            "text": hit.entry.text,
            "confidence": hit.entry.confidence(query.now),
            "in_quarantine": hit.entry.status == Status::Candidate,
            "from": hit.entry.provenance.sources.last().map(|source| source.how),
        })
    });
    Ok(json!({ "known": told.collect::<Vec<_>>() }))
}

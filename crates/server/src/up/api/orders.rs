//! Orders over the API. Each order has a key and is entered in the book before anything is done for it; its letter and
//! its answer go the way of any order of the owner's. A client without an answer asks again under the same key, or
//! looks the order up.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::{FromRequestParts, Path, State};
use axum::http::header::LOCATION;
use axum::http::request::Parts;
use axum::http::{HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use golem::owner::Account;
use golem::thought::Silence;
use golem::{Birth, Command, Name, Time, Usdc};
use serde::{Deserialize, Serialize};
use shell::home::inbox::Body;
use shell::life::heirs::{self, Heir};
use shell::orders::book::{Deed, OrderEntry, OrderKey, OrderResult, Request};
use shell::orders::order;
use shell::view::figures::plain;
use shell::{Error, GolemHome};
use tokio::time::{Instant, timeout};
use utoipa::ToSchema;

use super::body::JsonBody;
use super::problem::Problem;
use super::state::AppState;

/// The header with the key of an order.
pub(super) const KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// How often the answer of a golem is looked for that another process runs; this one announces its own.
const LOOK: Duration = Duration::from_millis(10);

/// The key of an order, drawn here if the client sent none.
pub(super) struct Keyed(OrderKey);

impl<S: Send + Sync> FromRequestParts<S> for Keyed {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Keyed, Problem> {
        let Some(given) = parts.headers.get(KEY) else { return Ok(Keyed(OrderKey::draw())) };
        let key = given.to_str().map_err(|_| "a key must be printable ASCII".to_owned()).and_then(str::parse);
        key.map(Keyed).map_err(|why| Problem::new(StatusCode::BAD_REQUEST, format!("Idempotency-Key: {why}")))
    }
}

/// An order that was accepted.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Accepted {
    done: bool,
    /// Whether the golem has not answered yet; the order waits and will be obeyed.
    waiting: bool,
    /// The key under which the order can be looked up and sent again.
    key: String,
}

/// The state of an order.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Standing {
    key: String,
    /// The kind of order, such as `fund`.
    order: String,
    done: bool,
    waiting: bool,
    /// Why the order was not obeyed.
    refused: Option<String>,
    /// The name of the heir that was born of it.
    heir: Option<String>,
    /// The golem's answer to a question, once it is there.
    answer: Option<Reply>,
}

/// A golem's answer to its owner.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Reply {
    /// The answer; none if no model answered.
    text: Option<String>,
    /// The records of its journal that the answer rests on.
    records: Vec<u64>,
    /// Why there is no text, such as `down`.
    silence: Option<&'static str>,
    /// In micro-USDC.
    cost: i64,
}

impl Standing {
    fn of(place: &GolemHome, entry: OrderEntry) -> Result<Standing, Error> {
        let answer = if entry.order == "ask" { reply(place, &entry)? } else { None };
        let (refused, heir) = match &entry.answer {
            Some(OrderResult::Refused(why)) => (Some(why.clone()), None),
            Some(OrderResult::Dead(cause)) => (Some(Error::Dead(place.name.clone(), cause.clone()).to_string()), None),
            Some(OrderResult::Born(name)) => (None, Some(name.to_string())),
            Some(OrderResult::Done) | None => (None, None),
        };
        let waiting = entry.answer.is_none();
        let key = entry.key.as_str().to_owned();
        Ok(Standing { key, order: entry.order, done: !waiting && refused.is_none(), waiting, refused, heir, answer })
    }
}

/// Finds the answer to a question, if it is there; only the newest few are kept.
fn reply(place: &GolemHome, entry: &OrderEntry) -> Result<Option<Reply>, Error> {
    place.catch_up()?;
    let (golem, _) = place.wake()?;
    let told = golem.life().thoughts().told.iter().find(|told| told.command == entry.id());
    Ok(told.map(|told| Reply {
        text: told.text.clone(),
        records: told.cites.clone(),
        silence: told.silence.map(Silence::name),
        cost: told.cost.as_micros(),
    }))
}

/// Show what became of an order.
#[utoipa::path(get, path = "/v1/golems/{name}/orders/{key}",
    params(("name" = String, Path), ("key" = String, Path, description = "the key it was given under")),
    responses((status = 200, body = Standing), (status = 404, body = Problem)))]
pub(super) async fn order(
    State(app): State<AppState>,
    Path((name, key)): Path<(String, String)>,
) -> Result<Json<Standing>, Problem> {
    let unknown = || Problem::new(StatusCode::NOT_FOUND, "no order was given under this key, or it is long forgotten");
    let key: OrderKey = key.parse().map_err(|_| unknown())?;
    let pools = app.pools.clone();
    let found = pools.read(move || {
        let place = app.home.golem(&name)?;
        app.book.look(&place, &key)?.map(|entry| Standing::of(&place, entry)).transpose()
    });
    found.await?.map(Json).ok_or_else(unknown)
}

/// Gives an order and waits a while for its answer. Every order goes through here.
pub(super) async fn give(
    app: &AppState,
    name: &str,
    request: Request,
    deed: impl FnOnce(&GolemHome) -> Result<Deed, Error> + Send + 'static,
    bear: impl FnOnce(&GolemHome, &Name) -> Result<(), Error> + Send + 'static,
) -> Result<OrderEntry, Problem> {
    let (runtime, book, golem) = (Arc::clone(&app.desk.runtime), app.book.clone(), name.to_owned());
    let begun = app.pools.order(move || {
        let place = runtime.home().golem(&golem)?;
        let entry = book.begin(&place, &request, deed, |name| bear(&place, name))?;
        let announced = entry.answer.is_none() && place.is_hosted_by(runtime.signals());
        Ok((place, entry, announced))
    });
    let (place, mut entry, announced) = begun.await?;
    let (awaited, until) = (app.desk.runtime.signals().await_reply(entry.id()), Instant::now() + order::PATIENCE);
    while entry.answer.is_none() {
        let answered = entry.is_answered(&place);
        if answered {
            let (book, place, key) = (app.book.clone(), place.clone(), entry.key.clone());
            let looked = app.pools.order(move || book.look(&place, &key)).await;
            // The order has begun; if it cannot be looked up now, it can be later.
            entry = looked.ok().flatten().unwrap_or(entry);
        }
        let left = until.saturating_duration_since(Instant::now());
        if entry.answer.is_some() || left.is_zero() {
            break;
        }
        let _ = timeout(if announced && !answered { left } else { left.min(LOOK) }, awaited.announced()).await;
    }
    Ok(entry)
}

type Answered = Result<Response, Problem>;

async fn tell(
    app: AppState,
    name: String,
    request: Request,
    body: impl FnOnce(&GolemHome) -> Result<Body, Error> + Send + 'static,
) -> Answered {
    let letter = |place: &GolemHome| body(place).map(Deed::Letter);
    let entry = give(&app, &name, request, letter, |_, _| unreachable!("a letter makes no heir")).await?;
    answer(&name, entry, |accepted| Json(accepted).into_response())
}

/// The answer for an entry of the book, the same each time it is asked for.
fn answer(name: &str, entry: OrderEntry, done: impl FnOnce(Accepted) -> Response) -> Answered {
    let key = entry.key.as_str().to_owned();
    let mut response = match entry.answer {
        Some(OrderResult::Refused(why)) => Problem::from(Error::Refused(why)).into_response(),
        Some(OrderResult::Dead(cause)) => {
            Problem::new(StatusCode::CONFLICT, format!("{name} is dead: {cause}")).into_response()
        }
        Some(OrderResult::Done | OrderResult::Born(_)) => {
            done(Accepted { done: true, waiting: false, key: key.clone() })
        }
        None => {
            let accepted = Accepted { done: false, waiting: true, key: key.clone() };
            (StatusCode::ACCEPTED, Json(accepted)).into_response()
        }
    };
    let path = key.bytes().map(|byte| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => char::from(byte).to_string(),
        other => format!("%{other:02X}"),
    });
    let place = format!("/v1/golems/{name}/orders/{}", path.collect::<String>());
    for (header, value) in [(KEY, key), (LOCATION, place)] {
        if let Ok(value) = value.parse() {
            response.headers_mut().insert(header, value);
        }
    }
    Ok(response)
}

/// Settings of an heir; a field that is left out is as its predecessor had it.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Succession {
    /// The heir's name; without one, the next in the line, such as ada-2.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    name: Option<Name>,
    /// Money to live on, in micro-USDC.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 1_000_000_000_000_i64)]
    credit: Option<i64>,
    /// Whether the heir inherits what its predecessor knew.
    #[serde(default)]
    inherit: Option<bool>,
    /// Make the heir even if it would be a copy of its predecessor.
    #[serde(default)]
    force: bool,
}

/// The golem that was born.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Newborn {
    name: String,
    id: String,
    generation: u32,
}

impl Newborn {
    pub(super) fn of(name: &Name, birth: &Birth) -> Newborn {
        Newborn { name: name.to_string(), id: birth.id.to_string(), generation: birth.generation }
    }
}

/// Make an heir of a dead golem, from what it left.
#[utoipa::path(post, path = "/v1/golems/{name}/successor", params(("name" = String, Path)), request_body = Succession,
    responses((status = 200, body = Newborn), (status = 400, body = Problem), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(super) async fn successor(
    State(app): State<AppState>,
    Path(name): Path<String>,
    Keyed(key): Keyed,
    JsonBody(wanted): JsonBody<Succession>,
) -> Answered {
    let credit = wanted.credit.map(|credit| Gift { credit, capital: 0 }.read()).transpose()?;
    let request = Request::new(key, "successor", &wanted);
    let (inherit, force, asked) = (wanted.inherit, wanted.force, wanted.name);
    let (runtime, ours) = (Arc::clone(&app.desk.runtime), Arc::clone(&app.desk.runtime));
    let chosen = move |dead: &GolemHome| {
        // A golem that is alive or not done with dying is refused before a name is chosen.
        runtime.catch_up(dead)?;
        heirs::estate(dead.home(), dead)?;
        Ok(Deed::Heir(asked.map_or_else(|| heirs::next_name(dead.home(), &dead.name), Ok)?))
    };
    let bear = move |dead: &GolemHome, name: &Name| {
        let estate = heirs::estate(dead.home(), dead)?;
        let set = credit.iter().map(|(credit, _)| format!("funds.credit={}", plain(*credit))).collect();
        let heir = Heir { name: name.clone(), seed: None, set, inherit, force };
        heirs::make(&ours, &estate, heir).map(|_| ())
    };
    let entry = give(&app, &name, request, chosen, bear).await?;
    let Some(OrderResult::Born(heir)) = entry.answer.clone() else {
        return answer(&name, entry, |_| unreachable!("no heir was born"));
    };
    let pools = app.pools.clone();
    let born = pools.read(move || {
        let place = app.home.golem(heir.as_str())?;
        let (golem, _) = place.wake()?;
        Ok(Newborn::of(&place.name, golem.life().birth()))
    });
    let born = born.await?;
    answer(&name, entry, |_| Json(born).into_response())
}

/// Money, in micro-USDC.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Gift {
    /// Money to live on.
    #[serde(default)]
    #[schema(minimum = 0, maximum = 1_000_000_000_000_i64)]
    credit: i64,
    /// Money to act with.
    #[serde(default)]
    #[schema(minimum = 0, maximum = 1_000_000_000_000_i64)]
    capital: i64,
}

impl Gift {
    fn read(&self) -> Result<(Usdc, Usdc), Error> {
        let all = 0..=1_000_000_000_000_i64;
        if !all.contains(&self.credit) || !all.contains(&self.capital) || self.credit + self.capital == 0 {
            return Err(Error::Usage("an amount must be more than nothing and at most a million".into()));
        }
        Ok((Usdc::micros(self.credit), Usdc::micros(self.capital)))
    }
}

/// Give a golem money from the treasury.
#[utoipa::path(post, path = "/v1/golems/{name}/fund", params(("name" = String, Path)), request_body = Gift,
    responses((status = 200, body = Accepted), (status = 202, body = Accepted), (status = 400, body = Problem), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(super) async fn fund(
    State(app): State<AppState>,
    Path(name): Path<String>,
    Keyed(key): Keyed,
    JsonBody(money): JsonBody<Gift>,
) -> Answered {
    let request = Request::new(key, "fund", &money);
    let (credit, capital) = money.read()?;
    tell(app, name, request, move |_| Ok(Body::Fund { credit, capital })).await
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Withdrawal {
    /// `credit` or `capital`.
    #[schema(value_type = String)]
    from: Account,
    /// In micro-USDC.
    #[schema(minimum = 1, maximum = 1_000_000_000_000_i64)]
    amount: i64,
}

/// Take money back to the treasury.
#[utoipa::path(post, path = "/v1/golems/{name}/withdraw", params(("name" = String, Path)), request_body = Withdrawal,
    responses((status = 200, body = Accepted), (status = 202, body = Accepted), (status = 400, body = Problem), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(super) async fn withdraw(
    State(app): State<AppState>,
    Path(name): Path<String>,
    Keyed(key): Keyed,
    JsonBody(money): JsonBody<Withdrawal>,
) -> Answered {
    let request = Request::new(key, "withdraw", &money);
    let (amount, _) = Gift { credit: money.amount, capital: 0 }.read()?;
    tell(app, name, request, move |_| Ok(Body::Command(Command::Withdraw { from: money.from, amount }))).await
}

/// A question from the owner.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Question {
    #[schema(min_length = 1, max_length = 800)]
    question: String,
}

/// Ask a golem something. The answer, once a model has given it, stands under the order's key; a golem that is asleep
/// is asked in the morning.
#[utoipa::path(post, path = "/v1/golems/{name}/ask", params(("name" = String, Path)), request_body = Question,
    responses((status = 200, body = Accepted), (status = 202, body = Accepted), (status = 400, body = Problem), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(super) async fn ask(
    State(app): State<AppState>,
    Path(name): Path<String>,
    Keyed(key): Keyed,
    JsonBody(asked): JsonBody<Question>,
) -> Answered {
    let request = Request::new(key, "ask", &asked);
    tell(app, name, request, move |_| Ok(Body::Command(order::question(asked.question)?))).await
}

/// Guidance from the owner; empty for none.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Strategy {
    #[schema(max_length = 800)]
    strategy: String,
}

/// Give a golem guidance for its thinking. Guidance moves no money and loosens no rule.
#[utoipa::path(post, path = "/v1/golems/{name}/strategy", params(("name" = String, Path)), request_body = Strategy,
    responses((status = 200, body = Accepted), (status = 202, body = Accepted), (status = 400, body = Problem), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(super) async fn strategy(
    State(app): State<AppState>,
    Path(name): Path<String>,
    Keyed(key): Keyed,
    JsonBody(said): JsonBody<Strategy>,
) -> Answered {
    let request = Request::new(key, "strategy", &said);
    tell(app, name, request, move |_| Ok(Body::Command(Command::Steer { text: said.strategy }))).await
}

/// A claim: what will be, and when.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Claim {
    /// The subject of the claim: a check, or another domain of the golem's world.
    #[schema(example = "tests", max_length = 64)]
    domain: String,
    /// A chance from 0 to 1, or a number.
    #[schema(example = 0.8)]
    value: f64,
    /// The due date, in milliseconds of the golem's world.
    due: u64,
}

/// Make a claim on a golem's behalf: the world says whether it came true, and the golem is judged by it.
#[utoipa::path(post, path = "/v1/golems/{name}/claim", params(("name" = String, Path)), request_body = Claim,
    responses((status = 200, body = Accepted), (status = 202, body = Accepted), (status = 400, body = Problem), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(super) async fn claim(
    State(app): State<AppState>,
    Path(name): Path<String>,
    Keyed(key): Keyed,
    JsonBody(said): JsonBody<Claim>,
) -> Answered {
    let request = Request::new(key, "claim", &said);
    let Claim { domain, value, due } = said;
    let command = Command::Claim { domain, value, due: Time::millis(due) };
    tell(app, name, request, move |_| Ok(Body::Command(command))).await
}

/// Policy keys and their new values, as in a configuration file.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Steering {
    #[schema(example = json!({ "policy.per_action": "0.1" }))]
    set: BTreeMap<String, String>,
}

/// Change the policy that a golem acts under.
#[utoipa::path(post, path = "/v1/golems/{name}/steer", params(("name" = String, Path)), request_body = Steering,
    responses((status = 200, body = Accepted), (status = 202, body = Accepted), (status = 400, body = Problem), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(super) async fn steer(
    State(app): State<AppState>,
    Path(name): Path<String>,
    Keyed(key): Keyed,
    JsonBody(steering): JsonBody<Steering>,
) -> Answered {
    let request = Request::new(key, "steer", &steering);
    let set: Vec<String> = steering.set.iter().map(|(key, value)| format!("{key}={value}")).collect();
    tell(app, name, request, move |place| Ok(Body::Command(order::amend(place, &set)?))).await
}

/// A yes or a no to what the golem asks, as `asks` in its status says.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Approval {
    /// The key of the question, so that nothing is answered unseen.
    key: u64,
    yes: bool,
}

/// Say yes or no to what a golem asks; no answer is a no.
#[utoipa::path(post, path = "/v1/golems/{name}/approve", params(("name" = String, Path)), request_body = Approval,
    responses((status = 200, body = Accepted), (status = 202, body = Accepted), (status = 400, body = Problem), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(super) async fn approve(
    State(app): State<AppState>,
    Path(name): Path<String>,
    Keyed(key): Keyed,
    JsonBody(said): JsonBody<Approval>,
) -> Answered {
    let request = Request::new(key, "approve", &said);
    let Approval { key, yes } = said;
    tell(app, name, request, move |place| Ok(Body::Command(order::approve(place, key, yes)?))).await
}

/// Stop a golem's world time and clocks until resumed.
#[utoipa::path(post, path = "/v1/golems/{name}/pause", params(("name" = String, Path)),
    responses((status = 200, body = Accepted), (status = 202, body = Accepted), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(super) async fn pause(State(app): State<AppState>, Path(name): Path<String>, Keyed(key): Keyed) -> Answered {
    let request = Request::new(key, "pause", &());
    tell(app, name, request, |_| Ok(Body::Command(Command::Pause))).await
}

/// Undo a pause or a freeze.
#[utoipa::path(post, path = "/v1/golems/{name}/resume", params(("name" = String, Path)),
    responses((status = 200, body = Accepted), (status = 202, body = Accepted), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(super) async fn resume(State(app): State<AppState>, Path(name): Path<String>, Keyed(key): Keyed) -> Answered {
    let request = Request::new(key, "resume", &());
    tell(app, name, request, |place| {
        order::unmark_frozen(place)?;
        Ok(Body::Command(Command::Resume))
    })
    .await
}

#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Freeze {
    #[serde(default)]
    reason: String,
}

/// Forbid new exposure at once.
#[utoipa::path(post, path = "/v1/golems/{name}/freeze", params(("name" = String, Path)), request_body = Freeze,
    responses((status = 200, body = Accepted), (status = 202, body = Accepted), (status = 400, body = Problem), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(super) async fn freeze(
    State(app): State<AppState>,
    Path(name): Path<String>,
    Keyed(key): Keyed,
    JsonBody(freeze): JsonBody<Freeze>,
) -> Answered {
    let request = Request::new(key, "freeze", &freeze);
    tell(app, name, request, move |place| {
        let (golem, _) = place.wake()?;
        if golem.life().is_dead() {
            return Err(order::dead(place, golem.life()));
        }
        order::mark_frozen(place, &freeze.reason)?;
        Ok(Body::Command(Command::Freeze { reason: freeze.reason }))
    })
    .await
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Retirement {
    /// The golem's name again: this cannot be undone.
    confirm: String,
    #[serde(default)]
    reason: String,
}

/// End a golem: death by its owner.
#[utoipa::path(post, path = "/v1/golems/{name}/retire", params(("name" = String, Path)), request_body = Retirement,
    responses((status = 200, body = Accepted), (status = 202, body = Accepted), (status = 400, body = Problem), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(super) async fn retire(
    State(app): State<AppState>,
    Path(name): Path<String>,
    Keyed(key): Keyed,
    JsonBody(end): JsonBody<Retirement>,
) -> Answered {
    // A client that knows it by an old name repeats that one.
    if end.confirm != name && app.home.renamed_from(&end.confirm).is_none_or(|now| now.as_str() != name) {
        return Err(Problem::new(StatusCode::BAD_REQUEST, "to end this golem, repeat its name in `confirm`"));
    }
    let request = Request::new(key, "retire", &end);
    tell(app, name, request, move |_| Ok(Body::Command(Command::Retire { reason: end.reason }))).await
}

/// Send a golem to sleep.
#[utoipa::path(post, path = "/v1/golems/{name}/dream", params(("name" = String, Path)),
    responses((status = 200, body = Accepted), (status = 202, body = Accepted), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(super) async fn dream(State(app): State<AppState>, Path(name): Path<String>, Keyed(key): Keyed) -> Answered {
    let request = Request::new(key, "dream", &());
    tell(app, name, request, |_| Ok(Body::Command(Command::Dream))).await
}

/// Wake a golem.
#[utoipa::path(post, path = "/v1/golems/{name}/wake", params(("name" = String, Path)),
    responses((status = 200, body = Accepted), (status = 202, body = Accepted), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(super) async fn wake(State(app): State<AppState>, Path(name): Path<String>, Keyed(key): Keyed) -> Answered {
    let request = Request::new(key, "wake", &());
    tell(app, name, request, |_| Ok(Body::Command(Command::Wake))).await
}

//! Births over the API: a form with every field filled in, what a golem like that costs, and the birth itself. No
//! command can be named here: programs and checks are set only at the machine itself.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use shell::Error;
use shell::life::questionnaire::{Choices, Form, Quote};

use super::body::JsonBody;
use super::orders::Newborn;
use super::problem::Problem;
use super::state::AppState;

/// A birth as a form: every field filled in, and what else could stand there.
#[utoipa::path(get, path = "/v1/births", responses((status = 200, body = Choices)))]
pub(super) async fn form(State(app): State<AppState>) -> Result<Json<Choices>, Problem> {
    app.clone().pools.read(move || Choices::of(&app.home).map(Json)).await
}

/// Price a golem like this: its cost per day, how long its money lasts, and the command that makes the same golem.
#[utoipa::path(post, path = "/v1/births/quote", request_body = Form,
    responses((status = 200, body = Quote), (status = 400, body = Problem)))]
pub(super) async fn quote(State(app): State<AppState>, JsonBody(form): JsonBody<Form>) -> Result<Json<Quote>, Problem> {
    app.clone().pools.read(move || form.quote(&app.home).map(Json)).await
}

/// Bring a golem into the world. A name is given once, so a client that is unsure whether it was born can ask again,
/// and is refused if it was.
#[utoipa::path(post, path = "/v1/golems", request_body = Form,
    responses((status = 201, body = Newborn), (status = 400, body = Problem),
        (status = 409, description = "the name is taken, or there is not enough money", body = Problem)))]
pub(super) async fn bear(
    State(app): State<AppState>,
    JsonBody(form): JsonBody<Form>,
) -> Result<(StatusCode, Json<Newborn>), Problem> {
    let pools = app.pools.clone();
    let born = pools.order(move || match form.bear(&app.desk.runtime) {
        Ok(living) => Ok(Newborn::of(&living.place().name, living.life().birth())),
        // The host was quicker to find it, and completes the birth.
        Err(why @ (Error::Vault(vault::Error::Locked(_)) | Error::Hosted(_))) => {
            let found = form.name().and_then(|name| Ok((app.home.place(&name).wake()?, name)));
            found.map(|((golem, _), name)| Newborn::of(&name, golem.life().birth())).map_err(|_| why)
        }
        Err(why) => Err(why),
    });
    Ok((StatusCode::CREATED, Json(born.await?)))
}

//! Refusals of the API: their shape, and the status for each kind of error.

use axum::Json;
use axum::http::header::RETRY_AFTER;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use golem::plain;
use serde::Serialize;
use shell::Error;
use utoipa::ToSchema;

/// Seconds after which a client that came at a bad moment should try again.
const AGAIN: u16 = 5;

/// Why something was not done.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Problem {
    #[serde(skip)]
    pub(super) status: StatusCode,
    /// Seconds after which asking again may help, if it may.
    #[serde(skip)]
    again: Option<u16>,
    pub(super) error: String,
}

impl Problem {
    pub(super) fn new(status: StatusCode, error: impl Into<String>) -> Problem {
        Problem { status, again: None, error: plain::line(&error.into(), 2_000) }
    }

    /// A refusal for the moment: nothing is wrong with the request.
    pub(super) fn busy(error: impl Into<String>) -> Problem {
        Problem { again: Some(AGAIN), ..Problem::new(StatusCode::SERVICE_UNAVAILABLE, error) }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let again = self.again;
        let mut response = (self.status, Json(self)).into_response();
        if let Some(seconds) = again {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Problem {
        let status = match &error {
            Error::NoGolem(_) => StatusCode::NOT_FOUND,
            Error::Config(_) | Error::Usage(_) => StatusCode::BAD_REQUEST,
            Error::Busy(_) | Error::Vault(vault::Error::Busy(_)) => return Problem::busy(error.to_string()),
            Error::Damaged(_) | Error::Secret(_) | Error::WrongSecret(_) => StatusCode::INTERNAL_SERVER_ERROR,
            Error::Vault(vault::Error::Damaged { .. } | vault::Error::Stale { .. } | vault::Error::Forked(_)) => {
                StatusCode::INTERNAL_SERVER_ERROR
            }
            Error::KeyTaken(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Error::Dead(..) | Error::Refused(_) | Error::NameTaken(_) => StatusCode::CONFLICT,
            Error::Copy { new, least } => {
                let why = format!(
                    "{new:.0} % of what it would try is new, less than the {least:.0} % of succession.min_divergence: it would be \
                     a copy; change its rules, or send \"inherit\": false, or \"force\": true if a copy is what you want"
                );
                return Problem::new(StatusCode::CONFLICT, why);
            }
            Error::Hosted(_)
            | Error::Vault(vault::Error::TreasuryShort { .. } | vault::Error::Locked(_) | vault::Error::Sealed(_)) => {
                StatusCode::CONFLICT
            }
            // The host, its disk or its models: the client can do nothing about it.
            _ => StatusCode::SERVICE_UNAVAILABLE,
        };
        Problem::new(status, error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reaction_has_its_own_answer() {
        for (error, status, again) in [
            (Error::Usage("x".into()), 400, None),
            (Error::Busy("x".into()), 503, Some("5")),
            (vault::Error::Busy("x".into()).into(), 503, Some("5")),
            (Error::Host("x".into()), 503, None),
            (Error::Damaged("x".into()), 500, None),
            (vault::Error::unanchored("x").into(), 500, None),
        ] {
            let told = format!("{error:?}");
            let answer = Problem::from(error).into_response();
            let after = answer.headers().get(RETRY_AFTER).map(|value| value.to_str().unwrap().to_owned());
            assert_eq!((answer.status().as_u16(), after.as_deref()), (status, again), "{told}");
        }
    }
}

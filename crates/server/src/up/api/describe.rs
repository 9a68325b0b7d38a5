//! The description of the API: what the handlers say of themselves, completed in one place by what holds for all of
//! them, so that no answer is left without a word and none that can come is left out.

use axum::http::Method;
use utoipa::openapi::path::{Operation, Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{Content, OpenApi, Ref, RefOr, Required, Response, ResponseBuilder, SecurityRequirement};

use super::guard::{self, OPEN};

/// Paths whose body may be left out, because everything in it may.
const BODILESS: [&str; 2] = ["/v1/golems/{name}/freeze", "/v1/golems/{name}/successor"];

pub(super) fn complete(api: &mut OpenApi) {
    api.info.title = "bardo".into();
    (api.info.contact, api.info.license) = (None, None);
    api.info.version = env!("CARGO_PKG_VERSION").into();
    api.info.description = Some("The golems of one home, run by the host that is up.".into());
    let token = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some("a token made with `bardo token new`, or the text in the home's file api-token"));
    let components = api.components.get_or_insert_default();
    components.add_security_scheme("token", SecurityScheme::Http(token.build()));
    for (path, item) in &mut api.paths.paths {
        let locked = !OPEN.contains(&path.as_str());
        // Which scope a token must have.
        let needed = |method: &Method| vec![SecurityRequirement::new("token", [guard::needed(method, path).name()])];
        for operation in item.get.iter_mut() {
            finish(operation, if locked { &[401, 403, 500, 503] } else { &[403] });
            operation.security = if locked { Some(needed(&Method::GET)) } else { operation.security.take() };
        }
        for operation in item.post.iter_mut() {
            operation.security = locked.then(|| needed(&Method::POST));
            finish(operation, &[400, 401, 403, 408, 409, 413, 415, 422, 500, 503]);
            operation.parameters.get_or_insert_default().push(key().into());
            if let (Some(RefOr::T(body)), true) = (&mut operation.request_body, BODILESS.contains(&path.as_str())) {
                body.required = Some(Required::False);
            }
        }
    }
}

fn finish(operation: &mut Operation, more: &[u16]) {
    for code in more {
        let problem = || RefOr::T(problem());
        operation.responses.responses.entry(code.to_string()).or_insert_with(problem);
    }
    for (code, response) in &mut operation.responses.responses {
        if let RefOr::T(response) = response
            && response.description.is_empty()
        {
            response.description = meaning(code).into();
        }
    }
}

fn problem() -> Response {
    let schema = Ref::from_schema_name("Problem");
    ResponseBuilder::new().content("application/json", Content::new(Some(schema))).build()
}

fn key() -> Parameter {
    let text = ObjectBuilder::new().schema_type(Type::String).min_length(Some(1)).max_length(Some(64));
    ParameterBuilder::new()
        .name("Idempotency-Key")
        .parameter_in(ParameterIn::Header)
        .required(Required::False)
        .description(Some("identifies the order: the same key again is the same order, carried out once"))
        .schema(Some(text.pattern(Some("^[!-~]([ -~]*[!-~])?$"))))
        .build()
}

/// The meaning of a status code, the same on every path.
fn meaning(code: &str) -> &'static str {
    match code {
        "200" => "done",
        "201" => "born",
        "202" => "begun and not answered yet; ask about it under its key",
        "400" => "the request is not right",
        "401" => "no token, or a wrong one",
        "403" => "not allowed for this page, host name or token",
        "404" => "no such golem, or nothing there yet",
        "408" => "the request did not arrive in time; nothing was begun",
        "409" => "refused",
        "413" => "more than 64 KiB",
        "415" => "a body that does not say it is application/json",
        "422" => "a field is missing, unknown or wrong; or the key was used for another order",
        "500" => "something on disk is not what was written; the owner has to look",
        "503" => {
            "it cannot be written down or answered now, and nothing was begun; Retry-After says when to ask again, if that helps"
        }
        _ => "see the book",
    }
}

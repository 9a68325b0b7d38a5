//! Answering calls, over standard input and output or over HTTP.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool as Described, ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, ServerHandler, ServiceExt};
use serde_json::{Map, Value};
use shell::{Error, Runtime};
use tokio::sync::Semaphore;

use super::tool::{Given, Tool, Who};
use super::{agent, owner};

/// The longest call.
const LARGEST: usize = 64 << 10;
/// Calls that are answered at once, and how long others wait for their turn.
const AT_ONCE: usize = 8;
const WAITS: Duration = Duration::from_secs(20);
const INSTRUCTIONS: &str = "You act for a golem of Bardo's: a budget that cannot be exceeded, a measure of whether what you say \
comes true, and an end. `standing` says how much is left and what its phase means; wind up in time. Claims are held against what \
its owner's checks say, never against your own word.";

pub type Http = StreamableHttpService<Server, NeverSessionManager>;

#[derive(Clone)]
pub struct Server {
    runtime: Arc<Runtime>,
    /// The token of the one caller, which is looked up at each call: it may be revoked, and its golem renamed. None where
    /// each request says itself who it comes from.
    token: Option<String>,
    /// Places for calls under way.
    room: Arc<Semaphore>,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("home", self.runtime.home()).finish_non_exhaustive()
    }
}

impl Server {
    fn who(&self, context: &RequestContext<RoleServer>) -> Result<Who, ErrorData> {
        let parts = || context.extensions.get::<axum::http::request::Parts>();
        let who = match &self.token {
            Some(token) => {
                Who::of(self.runtime.home(), token).map_err(|why| ErrorData::internal_error(why.to_string(), None))?
            }
            None => parts().and_then(|parts| parts.extensions.get::<Who>().cloned()),
        };
        who.ok_or_else(|| ErrorData::invalid_request("send the token of a golem's agent, or of its owner", None))
    }
}

fn tools(who: &Who) -> impl Iterator<Item = &'static Tool> {
    let (all, scope, changes) = match who {
        Who::Agent(_) => (agent::TOOLS, None, true),
        Who::Owner { scope, changes } => (owner::TOOLS, Some(*scope), *changes),
    };
    all.iter().filter(move |tool| scope.is_none_or(|scope| tool.scope <= scope) && (changes || !tool.changes))
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let mut config = ServerConfig::new(ServerCapabilities::builder().enable_tools().build());
        config.server_info = Implementation::new("bardo", env!("CARGO_PKG_VERSION"));
        let owner = |token: &String| matches!(Who::of(self.runtime.home(), token), Ok(Some(Who::Owner { .. })));
        if !self.token.as_ref().is_some_and(owner) {
            config.instructions = Some(INSTRUCTIONS.to_owned());
        }
        config
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let who = self.who(&context)?;
        let described = |tool: &Tool| {
            let reads = ToolAnnotations::new().read_only(!tool.changes).open_world(false);
            Described::new(tool.name, tool.does, Arc::new(tool.schema())).with_annotations(reads)
        };
        Ok(ListToolsResult::with_all_items(tools(&who).map(described).collect()))
    }

    async fn call_tool(
        &self,
        call: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let who = self.who(&context)?;
        let given = call.arguments.unwrap_or_default();
        // A tool that is switched off or beyond this token's scope is not there.
        let tool = tools(&who).find(|tool| tool.name == call.name);
        let tool =
            tool.ok_or_else(|| ErrorData::invalid_params(format!("there is no tool {:?} here", call.name), None))?;
        tool.check(&given).map_err(|why| ErrorData::invalid_params(why, None))?;
        let room = tokio::time::timeout(WAITS, Arc::clone(&self.room).acquire_owned()).await;
        let Ok(Ok(_room)) = room else {
            return Ok(CallToolResult::error(vec![ContentBlock::text("too many calls at once; try again")]).into());
        };
        let runtime = Arc::clone(&self.runtime);
        let done = tokio::task::spawn_blocking(move || work(&runtime, &who, tool, given)).await;
        let done = done.map_err(|_| ErrorData::internal_error("the call did not finish", None))?;
        Ok(match done {
            Ok(value) => CallToolResult::structured(value).into(),
            Err(why) => CallToolResult::error(vec![ContentBlock::text(why.to_string())]).into(),
        })
    }
}

fn work(runtime: &Arc<Runtime>, who: &Who, tool: &Tool, given: Map<String, Value>) -> Result<Value, Error> {
    match who {
        // An agent that stays connected goes on with its golem under another name.
        Who::Agent(place) => agent::call(runtime, &place.present(), tool.name, &Given(given)),
        Who::Owner { .. } => owner::call(runtime, tool.name, &Given(given)),
    }
}

/// Answers the client at the other end of standard input and output, until it goes away.
pub fn stdio(runtime: &Arc<Runtime>, token: &str) -> Result<(), Error> {
    let threads = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let threads = threads.map_err(|e| Error::Host(format!("cannot begin to listen: {e}")))?;
    let server =
        Server { runtime: Arc::clone(runtime), token: Some(token.to_owned()), room: Arc::new(Semaphore::new(AT_ONCE)) };
    let served = threads.block_on(async {
        let running = server.serve(rmcp::transport::stdio()).await.map_err(|e| e.to_string())?;
        running.waiting().await.map_err(|e| e.to_string())
    });
    // Reading standard input cannot be called off.
    threads.shutdown_background();
    served.map(|_| ()).map_err(|why| Error::Host(format!("the client went away: {why}")))
}

/// The service over HTTP: each request has [`Who`] among its extensions, put there where its token was checked. Nothing
/// is kept from one request to the next.
pub fn http(runtime: &Arc<Runtime>) -> Http {
    let server = Server { runtime: Arc::clone(runtime), token: None, room: Arc::new(Semaphore::new(AT_ONCE)) };
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(LARGEST)
        .disable_allowed_hosts();
    StreamableHttpService::new(move || Ok(server.clone()), Arc::new(NeverSessionManager::default()), config)
}

/// What a gateway hands agents on to that speak this protocol.
pub fn of_agents(runtime: &Arc<Runtime>) -> gateway::Speaker {
    let http = http(runtime);
    Box::new(move |place, mut request| {
        request.extensions_mut().insert(Who::Agent(place));
        let http = http.clone();
        Box::pin(async move { http.handle(request).await.map(Body::new) })
    })
}

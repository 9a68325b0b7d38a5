//! The relay's door: homes connect outwards over a WebSocket, sign in by signing a challenge, put envelopes in and are
//! sent those of their siblings.

use std::collections::BTreeSet;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::extract::connect_info::Connected;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{ConnectInfo, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::serve::{IncomingStream, Listener};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Sleep;

use crate::gateway::{Gateway, Seat};
use crate::session;
use crate::wire::FRAME;

/// Bytes read ahead and written at once: there are thousands of connections, and most say little.
const BUFFER: usize = 16 << 10;
/// How long a new connection may take to send its request.
const HESITATION: Duration = Duration::from_secs(10);
/// Connections beyond the limit that are still accepted, to be told that there is no room.
const TURNED: usize = 64;

impl Gateway {
    /// Serves until the future is dropped.
    pub async fn serve(self: Arc<Gateway>, listener: TcpListener) -> std::io::Result<()> {
        let mut passing = tokio::task::JoinSet::new();
        for partition in 0..self.river.partitions() {
            passing.spawn(Arc::clone(&self).pass_on(partition));
        }
        let door = Door { listener, gateway: Arc::clone(&self) };
        let app = Router::new().route("/v1", get(enter)).route("/health", get(health)).with_state(self);
        axum::serve(door, app.into_make_service_with_connect_info::<Visit>()).await
    }
}

/// The listener, which gives each connection a seat from the beginning.
struct Door {
    listener: TcpListener,
    gateway: Arc<Gateway>,
}

/// The address of a connection, and whether it has been let in.
#[derive(Clone, Debug)]
struct Visit {
    from: SocketAddr,
    entered: Arc<AtomicBool>,
}

/// A connection that is closed if it does not enter in time.
struct Visitor {
    stream: TcpStream,
    entered: Arc<AtomicBool>,
    hesitates: Option<Pin<Box<Sleep>>>,
    _seat: Seat,
}

impl Listener for Door {
    type Io = Visitor;
    type Addr = Visit;

    async fn accept(&mut self) -> (Visitor, Visit) {
        loop {
            let (stream, from) = Listener::accept(&mut self.listener).await;
            let most = self.gateway.limits.sockets.saturating_add(TURNED);
            // An answer is sent at once, not held back until there is more.
            if let Some(seat) = self.gateway.seat(most)
                && stream.set_nodelay(true).is_ok()
            {
                let entered = Arc::new(AtomicBool::new(false));
                let hesitates = Some(Box::pin(tokio::time::sleep(HESITATION)));
                let visit = Visit { from, entered: Arc::clone(&entered) };
                return (Visitor { stream, entered, hesitates, _seat: seat }, visit);
            }
            self.gateway.counts.turned_away.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn local_addr(&self) -> io::Result<Visit> {
        Ok(Visit { from: self.listener.local_addr()?, entered: Arc::default() })
    }
}

impl Connected<IncomingStream<'_, Door>> for Visit {
    fn connect_info(stream: IncomingStream<'_, Door>) -> Visit {
        stream.remote_addr().clone()
    }
}

impl AsyncRead for Visitor {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, to: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.entered.load(Ordering::Relaxed) {
            self.hesitates = None;
        }
        if self.hesitates.as_mut().is_some_and(|sleep| sleep.as_mut().poll(context).is_ready()) {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        Pin::new(&mut self.stream).poll_read(context, to)
    }
}

impl AsyncWrite for Visitor {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, from: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, from)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        from: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, from)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

async fn enter(
    State(gateway): State<Arc<Gateway>>,
    ConnectInfo(visit): ConnectInfo<Visit>,
    headers: HeaderMap,
    upgrade: WebSocketUpgrade,
) -> Response {
    if let Err(why) = gateway.may_sign_in(address(visit.from.ip(), gateway.limits.proxy, &headers)) {
        gateway.counts.turned_away.fetch_add(1, Ordering::Relaxed);
        return (StatusCode::TOO_MANY_REQUESTS, why.to_string()).into_response();
    }
    visit.entered.store(true, Ordering::Relaxed);
    upgrade
        .read_buffer_size(BUFFER)
        .write_buffer_size(BUFFER)
        .max_message_size(FRAME)
        .max_frame_size(FRAME)
        .on_upgrade(move |socket| async move { session::hold(gateway, socket).await })
}

/// The client's address: as the configured proxy reports it, and only the entry that the proxy has added itself.
fn address(from: IpAddr, proxy: Option<IpAddr>, headers: &HeaderMap) -> IpAddr {
    let said = || {
        let last = headers.get_all("x-forwarded-for").iter().next_back()?;
        last.to_str().ok()?.rsplit(',').next()?.trim().parse().ok()
    };
    (proxy == Some(from)).then(said).flatten().unwrap_or(from)
}

/// Whether every partition has a leader, and all servers are level with their leaders; and the counts so far.
async fn health(State(gateway): State<Arc<Gateway>>) -> Response {
    let (mut led, mut behind) = (0, BTreeSet::new());
    for partition in 0..gateway.river.partitions() {
        if let Some(late) = gateway.river.stand(partition).await {
            led += 1;
            behind.extend(late);
        }
    }
    let serves = led == gateway.river.partitions();
    let count = |count: &AtomicU64| count.load(Ordering::Relaxed);
    let said = serde_json::json!({
        "well": serves && behind.is_empty(),
        "partitions": gateway.river.partitions(),
        "led": led,
        "behind": behind,
        "sockets": gateway.sockets(),
        "taken": count(&gateway.counts.taken),
        "refused": count(&gateway.counts.refused),
        "told": count(&gateway.counts.told),
        "turned_away": count(&gateway.counts.turned_away),
    });
    let status = if serves { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, axum::Json(said)).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_proxy_of_ours_says_where_somebody_is_from() {
        let (proxy, stranger): (IpAddr, IpAddr) = ([10, 0, 0, 1].into(), [192, 0, 2, 7].into());
        let mut headers = HeaderMap::new();
        headers.insert("x-forwarded-for", "203.0.113.9, 198.51.100.4".parse().unwrap());
        assert_eq!(address(stranger, Some(proxy), &headers), stranger);
        assert_eq!(address(proxy, None, &headers), proxy);
        assert_eq!(
            address(proxy, Some(proxy), &headers),
            IpAddr::from([198, 51, 100, 4]),
            "what it was told it passes on"
        );
        headers.insert("x-forwarded-for", "no address".parse().unwrap());
        assert_eq!(address(proxy, Some(proxy), &headers), proxy);
    }
}

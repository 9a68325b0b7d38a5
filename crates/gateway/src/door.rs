//! The door of the API and of the gateway. Every client is let in, up to a number; then the client that takes nothing
//! of what it asked for, or has asked for nothing the longest, makes room. So strangers who come in crowds and neither
//! speak nor listen cost other clients nothing, and no connection outlives its client.

use std::collections::BTreeMap;
use std::future::Future;
use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes, HttpBody};
use axum::response::Response;
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::service::Service;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use shell::locks::lock;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::AbortHandle;
use tokio::time::{Instant, Sleep};

/// Connections at a time.
const CONNECTIONS: usize = 512;
/// How long a client may take to send its request.
const HEADERS: Duration = Duration::from_secs(10);
/// How long a client may take nothing at all of what it is sent.
const DEAF: Duration = Duration::from_secs(10);
/// How long a client may take until it has everything that was due.
const BEHIND: Duration = Duration::from_secs(60);
/// A client that is behind for so long makes room if there is none.
const STALLED: Duration = Duration::from_millis(500);
/// The interval at which room is looked for again.
const AGAIN: Duration = Duration::from_millis(20);

/// The connected clients, in the order they came.
#[derive(Debug, Default)]
struct Room(Mutex<BTreeMap<u64, Guest>>);

#[derive(Debug)]
struct Guest {
    doing: Arc<Mutex<Doing>>,
    connection: Option<AbortHandle>,
}

/// State of a connection.
#[derive(Debug)]
struct Doing {
    /// Questions whose answers have not been made yet; a stream is one that never is.
    asked: u32,
    /// Since when it has been sent something that it has not taken whole.
    taking: Option<Instant>,
    /// Since when it has neither asked nor been sent anything.
    idle: Instant,
}

pub async fn open(listener: TcpListener, router: Router) {
    let room: Arc<Room> = Arc::default();
    let mut number = 0;
    loop {
        let Ok((socket, peer)) = listener.accept().await else {
            // Out of descriptors, most likely; others will let go of theirs.
            room.make_room();
            tokio::time::sleep(AGAIN).await;
            continue;
        };
        while room.guests().len() >= CONNECTIONS && !room.make_room() {
            tokio::time::sleep(AGAIN).await;
        }
        number += 1;
        room.let_in(number, socket, Peer(peer), &router);
    }
}

impl Room {
    fn guests(&self) -> MutexGuard<'_, BTreeMap<u64, Guest>> {
        lock(&self.0)
    }

    fn let_in(self: &Arc<Room>, number: u64, socket: TcpStream, peer: Peer, router: &Router) {
        let doing = Arc::new(Mutex::new(Doing { asked: 0, taking: None, idle: Instant::now() }));
        let limit = Box::pin(tokio::time::sleep(DEAF));
        let line = WatchedSocket { socket, doing: Arc::clone(&doing), limit, behind: None };
        let service = Watched { inner: TowerToHyperService::new(router.clone()), doing: Arc::clone(&doing), peer };
        self.guests().insert(number, Guest { doing, connection: None });
        let leaving = Leaving(Arc::clone(self), number);
        let served = tokio::spawn(async move {
            let mut http = hyper::server::conn::http1::Builder::new();
            http.timer(TokioTimer::new()).header_read_timeout(HEADERS).max_buf_size(64 << 10);
            // A client's fault is the client's business.
            let _ = http.serve_connection(TokioIo::new(line), service).await;
            drop(leaving);
        });
        if let Some(guest) = self.guests().get_mut(&number) {
            guest.connection = Some(served.abort_handle());
        }
    }

    /// Closes one connection: the one that has let its answer lie the longest, else the one that has asked for nothing
    /// the longest.
    fn make_room(&self) -> bool {
        let mut guests = self.guests();
        let (mut deaf, mut silent) = (Vec::new(), Vec::new());
        for (number, guest) in &*guests {
            let doing = lock(&guest.doing);
            match doing.taking {
                Some(since) if since.elapsed() >= STALLED => deaf.push((since, *number)),
                None if doing.asked == 0 => silent.push((doing.idle, *number)),
                _ => {}
            }
        }
        let longest = deaf.into_iter().min().or_else(|| silent.into_iter().min());
        let Some((_, number)) = longest else { return false };
        if let Some(connection) = guests.remove(&number).and_then(|guest| guest.connection) {
            connection.abort();
        }
        true
    }
}

/// Gives a place back, however a connection ends.
struct Leaving(Arc<Room>, u64);

impl Drop for Leaving {
    fn drop(&mut self) {
        self.0.guests().remove(&self.1);
    }
}

/// The routes, with a count of their requests.
struct Watched {
    inner: TowerToHyperService<Router>,
    doing: Arc<Mutex<Doing>>,
    peer: Peer,
}

/// The address of a client.
#[derive(Clone, Copy, Debug)]
pub struct Peer(pub SocketAddr);

impl Service<hyper::Request<Incoming>> for Watched {
    type Response = Response<PendingAnswer>;
    type Error = std::convert::Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<PendingAnswer>, Self::Error>> + Send>>;

    fn call(&self, mut request: hyper::Request<Incoming>) -> Self::Future {
        request.extensions_mut().insert(self.peer);
        let asked = RequestGuard::begin(&self.doing);
        let answer = self.inner.call(request);
        Box::pin(async move { Ok(answer.await?.map(|body| PendingAnswer { body, _asked: asked })) })
    }
}

/// Counts a request as long as its answer is being made.
struct RequestGuard(Arc<Mutex<Doing>>);

impl RequestGuard {
    fn begin(doing: &Arc<Mutex<Doing>>) -> RequestGuard {
        lock(doing).asked += 1;
        RequestGuard(Arc::clone(doing))
    }
}

impl Drop for RequestGuard {
    fn drop(&mut self) {
        let mut doing = lock(&self.0);
        doing.asked -= 1;
        doing.idle = Instant::now();
    }
}

struct PendingAnswer {
    body: Body,
    _asked: RequestGuard,
}

impl HttpBody for PendingAnswer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A socket whose other end must take what it is sent.
struct WatchedSocket {
    socket: TcpStream,
    doing: Arc<Mutex<Doing>>,
    limit: Pin<Box<Sleep>>,
    /// Since when something waits to be taken.
    behind: Option<Instant>,
}

impl WatchedSocket {
    /// Watches the result of a write: a client that takes nothing for too long, or too little, is disconnected.
    fn watch<T>(&mut self, cx: &mut Context<'_>, wrote: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if wrote.is_ready() {
            // Some of it was taken; the rest has its full time again, up to the end of all patience.
            if let Some(behind) = self.behind {
                self.limit.as_mut().reset((Instant::now() + DEAF).min(behind + BEHIND));
            }
            return wrote;
        }
        if self.behind.is_none() {
            let now = Instant::now();
            self.behind = Some(now);
            lock(&self.doing).taking = Some(now);
            self.limit.as_mut().reset(now + DEAF);
        }
        match self.limit.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl AsyncRead for WatchedSocket {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_read(cx, buf)
    }
}

impl AsyncWrite for WatchedSocket {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let wrote = Pin::new(&mut self.socket).poll_write(cx, bytes);
        self.watch(cx, wrote)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let wrote = Pin::new(&mut self.socket).poll_write_vectored(cx, slices);
        self.watch(cx, wrote)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    /// Only called once everything there was has been taken.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.behind.take().is_some() {
            let mut doing = lock(&self.doing);
            (doing.taking, doing.idle) = (None, Instant::now());
        }
        Pin::new(&mut self.socket).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }
}

//! The API of a host: golems, their memory, dreams and testaments to read, the owner's word to pass on, and a stream
//! of what happens. It runs on a thread of its own and never touches a golem: it reads the board and the files, and
//! writes letters. Whatever a client does or fails to do, golems do not notice.

mod guard;
mod routes;
mod stream;
mod told;
mod witness;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, oneshot};

use super::desk::Desk;
use crate::config::Settings;
use crate::tokens::{self, Keyring};
use crate::{Error, Home};

pub use routes::document;
pub use told::{Clock, Load, Money, Offer, Pressing, Skill, Words};

/// Connections at a time; more wait to be let in.
const CONNECTIONS: usize = 512;
/// How long a client may take to say what it wants.
const HEADERS: Duration = Duration::from_secs(10);

/// Where and for whom to listen.
#[derive(Clone, Debug)]
pub struct Listen {
    pub address: SocketAddr,
    tokens: Arc<Keyring>,
    origins: Vec<String>,
}

/// An API that is being served.
#[derive(Debug)]
pub struct Running {
    pub address: SocketAddr,
    stop: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

/// What every request can reach.
#[derive(Clone, Debug)]
pub(crate) struct Reach {
    home: Home,
    desk: Arc<Desk>,
    listen: Arc<Listen>,
}

impl Listen {
    pub fn of(home: &Home, address: &str, settings: &Settings) -> Result<Listen, Error> {
        let wrong = || Error::Advice(format!("api.listen is no address: {address}; write it like 127.0.0.1:7373"));
        let origins = settings.text("api.origins").unwrap_or_default();
        tokens::local(home)?;
        Ok(Listen {
            address: address.parse().map_err(|_| wrong())?,
            tokens: Arc::new(Keyring::of(home)),
            origins: origins.split(',').map(|one| one.trim().to_owned()).filter(|one| !one.is_empty()).collect(),
        })
    }
}

impl Running {
    pub(super) fn close(self) {
        let _ = self.stop.send(());
        let _ = self.thread.join();
    }
}

pub(super) fn serve(listen: Listen, home: Home, desk: Arc<Desk>) -> Result<Running, Error> {
    let cannot = |e: std::io::Error| Error::Advice(format!("cannot listen on {}: {e}", listen.address));
    let listener = std::net::TcpListener::bind(listen.address).map_err(cannot)?;
    listener.set_nonblocking(true).map_err(cannot)?;
    let address = listener.local_addr().map_err(cannot)?;
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(8).build().map_err(cannot)?;
    let reach = Reach { home, desk, listen: Arc::new(Listen { address, ..listen.clone() }) };
    let (stop, stopped) = oneshot::channel();
    let (begun, begins) = mpsc::channel();
    let thread = std::thread::Builder::new().name("api".into()).spawn(move || {
        runtime.block_on(async {
            let listener = TcpListener::from_std(listener);
            let _ = begun.send(listener.as_ref().map(|_| ()).map_err(ToString::to_string));
            if let Ok(listener) = listener {
                tokio::select! {
                    () = accept(listener, reach) => {}
                    _ = stopped => {}
                }
            }
        });
        // Whoever still reads is cut off: a stream has no end of its own.
        runtime.shutdown_timeout(Duration::from_millis(100));
    });
    let thread = thread.map_err(cannot)?;
    match begins.recv() {
        Ok(Ok(())) => Ok(Running { address, stop, thread }),
        Ok(Err(why)) => Err(Error::Advice(format!("cannot listen on {address}: {why}"))),
        Err(_) => Err(Error::Advice(format!("cannot listen on {address}"))),
    }
}

async fn accept(listener: TcpListener, reach: Reach) {
    let router = routes::router(reach).0;
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let Ok(place) = Arc::clone(&room).acquire_owned().await else { return };
        let Ok((socket, _)) = listener.accept().await else {
            // Out of descriptors, most likely; others will let go of theirs.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let service = TowerToHyperService::new(router.clone());
        tokio::spawn(async move {
            let mut http = hyper::server::conn::http1::Builder::new();
            http.timer(TokioTimer::new()).header_read_timeout(HEADERS).max_buf_size(64 << 10);
            // What a client does wrong is the client's business.
            let _ = http.serve_connection(TokioIo::new(socket), service).await;
            drop(place);
        });
    }
}

//! The API of a host: golems, their memory, dreams and testaments to read, the owner's word to pass on, and a stream
//! of what happens. It runs on a thread of its own and never touches a golem: it reads the board and the files, and
//! writes letters. Whatever a client does or fails to do, golems do not notice.

mod describe;
mod door;
mod fleet;
mod guard;
mod metrics;
mod orders;
mod pools;
mod reading;
mod routes;
pub(crate) mod shapes;
mod stream;
mod told;
mod witness;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::oneshot;

use pools::Pools;

use super::desk::Desk;
use crate::config::Settings;
use crate::orders::Book;
use crate::tokens::{self, Keyring};
use crate::{Error, Home};

pub use routes::document;
pub use told::{Clock, Load, Money, Offer, Pressing, Skill, Words};

/// What may be on its way to one client.
const SENDING: usize = 128 << 10;

/// Where and for whom to listen.
#[derive(Clone, Debug)]
pub struct Listen {
    pub address: SocketAddr,
    tokens: Arc<Keyring>,
    origins: Vec<String>,
    /// How many golems have series of their own.
    golems_shown: usize,
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
    book: Book,
    pools: Pools,
}

impl Reach {
    fn new(home: Home, desk: Arc<Desk>, listen: Listen) -> Reach {
        let book = Book::of(&home);
        Reach { home, desk, listen: listen.into(), book, pools: Pools::new() }
    }
}

impl Listen {
    pub fn of(home: &Home, address: &str, settings: &Settings) -> Result<Listen, Error> {
        let wrong = || Error::Usage(format!("api.listen is no address: {address}; write it like 127.0.0.1:7373"));
        let origins = settings.text("api.origins").unwrap_or_default();
        tokens::local(home)?;
        Ok(Listen {
            address: address.parse().map_err(|_| wrong())?,
            tokens: Arc::new(Keyring::of(home)),
            origins: origins.split(',').map(|one| one.trim().to_owned()).filter(|one| !one.is_empty()).collect(),
            golems_shown: settings.integer("api.metrics_golems") as usize,
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
    let cannot = |e: std::io::Error| Error::Host(format!("cannot listen on {}: {e}", listen.address));
    let listener = std::net::TcpListener::bind(listen.address).map_err(cannot)?;
    listener.set_nonblocking(true).map_err(cannot)?;
    // Everyone who comes in has it from here: what nobody reads must not pile up outside of this process either.
    socket2::SockRef::from(&listener).set_send_buffer_size(SENDING).map_err(cannot)?;
    let address = listener.local_addr().map_err(cannot)?;
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().max_blocking_threads(pools::THREADS).build().map_err(cannot)?;
    let reach = Reach::new(home, desk, Listen { address, ..listen.clone() });
    let (stop, stopped) = oneshot::channel();
    let (begun, begins) = mpsc::channel();
    let thread = std::thread::Builder::new().name("api".into()).spawn(move || {
        runtime.block_on(async {
            let listener = TcpListener::from_std(listener);
            let _ = begun.send(listener.as_ref().map(|_| ()).map_err(ToString::to_string));
            if let Ok(listener) = listener {
                tokio::select! {
                    () = door::open(listener, routes::router(reach).0) => {}
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
        Ok(Err(why)) => Err(Error::Host(format!("cannot listen on {address}: {why}"))),
        Err(_) => Err(Error::Host(format!("cannot listen on {address}"))),
    }
}

//! Serving the API on a thread of its own, until the host goes down.

use std::net::SocketAddr;
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use gateway::door;
use shell::Error;
use shell::life::desk::Desk;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use super::state::{AppState, Listen};
use super::{pools, routes};

/// Bytes that may be on their way to one client.
const SENDING: usize = 128 << 10;

/// An API that is being served.
#[derive(Debug)]
pub struct Running {
    pub address: SocketAddr,
    stop: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

impl Running {
    pub(in crate::up) fn close(self) {
        let _ = self.stop.send(());
        let _ = self.thread.join();
    }
}

pub(in crate::up) fn serve(listen: Listen, desk: Arc<Desk>) -> Result<Running, Error> {
    let cannot = |e: std::io::Error| {
        let way = "choose another address with `bardo up --listen ADDRESS`, or api.listen in bardo.toml";
        Error::Host(format!("cannot listen on {}: {e}; {way}", listen.address))
    };
    let listener = std::net::TcpListener::bind(listen.address).map_err(cannot)?;
    listener.set_nonblocking(true).map_err(cannot)?;
    // Every connection inherits this size: what a client does not read must not pile up outside of this process either.
    socket2::SockRef::from(&listener).set_send_buffer_size(SENDING).map_err(cannot)?;
    let address = listener.local_addr().map_err(cannot)?;
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().max_blocking_threads(pools::THREADS).build().map_err(cannot)?;
    let app = AppState::new(desk, Listen { address, ..listen.clone() });
    let (stop, stopped) = oneshot::channel();
    let (begun, begins) = mpsc::channel();
    let thread = std::thread::Builder::new().name("api".into()).spawn(move || {
        runtime.block_on(async {
            let listener = TcpListener::from_std(listener);
            let _ = begun.send(listener.as_ref().map(|_| ()).map_err(ToString::to_string));
            if let Ok(listener) = listener {
                tokio::select! {
                    () = door::open(listener, routes::router(app)) => {}
                    _ = stopped => {}
                }
            }
        });
        // A client that still reads is cut off: a stream has no end of its own.
        runtime.shutdown_timeout(Duration::from_millis(100));
    });
    let thread = thread.map_err(cannot)?;
    match begins.recv() {
        Ok(Ok(())) => Ok(Running { address, stop, thread }),
        Ok(Err(why)) => Err(Error::Host(format!("cannot listen on {address}: {why}"))),
        Err(_) => Err(Error::Host(format!("cannot listen on {address}"))),
    }
}

//! The one way out of a program that has a network of its own (`--only-through`): its golem's gateway, places on this machine that
//! its owner allows, and a proxy for hosts by name. Each is opened inside, where the program finds it, and waited at from here.

mod allowed;
mod hello;
mod proxy;

use std::collections::BTreeSet;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixListener;
use std::process::Child;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use outside::network::{self, Apart};
use shell::Error;
use shell::locks::lock;
use tempfile::TempDir;

pub(crate) use self::allowed::Allowed;
use crate::output;

/// How long a program may take to have its network.
const HANDED: Duration = Duration::from_secs(60);
const EVERY: Duration = Duration::from_millis(10);
/// So many connections at once; no program has as many.
const AT_ONCE: usize = 1024;
/// So many that were refused are kept to be told, and of those only what one can read.
const TOLD: usize = 20;
const READABLE: usize = 512;

/// Where a connection goes on to.
#[derive(Clone, Copy, Debug)]
enum On {
    To(SocketAddr),
    /// As it says itself.
    Asked,
}

#[derive(Debug)]
struct Shared {
    allowed: Allowed,
    open: AtomicUsize,
    refused: Mutex<BTreeSet<String>>,
}

/// A program's only way out, made before the program; it stays as long as this process.
#[derive(Debug)]
pub(super) struct Passage {
    gateway: SocketAddr,
    /// Where the proxy is if there is no network of its own, and its number if there is.
    proxy: TcpListener,
    proxy_at: SocketAddr,
    waits: UnixListener,
    folder: TempDir,
    shared: Arc<Shared>,
}

impl Passage {
    pub(super) fn open(gateway: &str, allowed: &Allowed) -> Result<Passage, Error> {
        let cannot = |why: std::io::Error| Error::Host(format!("no passage can be opened for the program: {why}"));
        let gateway: SocketAddr = gateway.parse().map_err(|_| no_place(gateway))?;
        if !gateway.ip().is_loopback() {
            return Err(no_place(gateway));
        }
        let proxy = TcpListener::bind("127.0.0.1:0").map_err(cannot)?;
        let proxy_at = proxy.local_addr().map_err(cannot)?;
        let folder = tempfile::Builder::new().prefix("bardo-").tempdir().map_err(cannot)?;
        let waits = UnixListener::bind(folder.path().join("places")).map_err(cannot)?;
        waits.set_nonblocking(true).map_err(cannot)?;
        let shared = Shared { allowed: allowed.clone(), open: AtomicUsize::new(0), refused: Mutex::default() };
        let passage = Passage { gateway, proxy, proxy_at, waits, folder, shared: Arc::new(shared) };
        if passage.places().len() > network::MOST {
            return Err(Error::Usage(format!(
                "--allow opens no more than {} places on this machine",
                network::MOST - 2
            )));
        }
        Ok(passage)
    }

    /// Addresses opened inside, and where connections to each go on.
    fn places(&self) -> Vec<(SocketAddr, On)> {
        let mut places = vec![(self.gateway, On::To(self.gateway)), (self.proxy_at, On::Asked)];
        for here in self.shared.allowed.here() {
            if places.iter().all(|(known, _)| *known != here) {
                places.push((here, On::To(here)));
            }
        }
        places
    }

    pub(super) fn apart(&self) -> Apart {
        let places = self.places().iter().map(|(place, _)| *place).collect();
        Apart { places, handed_to: self.folder.path().join("places") }
    }

    /// Variables that tell the program where its proxy is.
    pub(super) fn environment(&self) -> Vec<(&'static str, String)> {
        let proxy = format!("http://{}", self.proxy_at);
        let by = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
        let past = ["NO_PROXY", "no_proxy"].map(|name| (name, "127.0.0.1,localhost,::1".to_owned()));
        // Node reads none of these unless it is told to.
        let node = ("NODE_USE_ENV_PROXY", "1".to_owned());
        by.into_iter().map(|name| (name, proxy.clone())).chain(past).chain([node]).collect()
    }

    /// Waits until the program has its network, and listens at each address in it. Where it can have none, says that the proxy is
    /// all there is.
    pub(super) fn begin(&self, warden: &mut Child) -> Result<(), Error> {
        let cannot = |why: std::io::Error| Error::Host(format!("the program has no passage: {why}"));
        let until = Instant::now() + HANDED;
        let handed = loop {
            match self.waits.accept() {
                Ok((from, _)) => {
                    from.set_nonblocking(false).map_err(cannot)?;
                    from.set_read_timeout(Some(HANDED)).map_err(cannot)?;
                    break network::take(&from).map_err(cannot)?;
                }
                Err(why) if why.kind() != std::io::ErrorKind::WouldBlock => return Err(cannot(why)),
                Err(_) => {}
            }
            // A program that could not be started at all has said why.
            if warden.try_wait().map_err(cannot)?.is_some() {
                return Ok(());
            }
            if Instant::now() > until {
                return Err(Error::Host("the program was given no network within a minute".into()));
            }
            thread::sleep(EVERY);
        };
        if handed.is_empty() {
            output::complain(
                "--only-through is only advice to the program: this machine lets no user give it a network of its own \
                (no user namespaces), so what does not go by the proxy can go anywhere",
            );
            self.wait_at(self.proxy.try_clone().map_err(cannot)?, On::Asked)?;
        }
        for (place, (_, on)) in handed.into_iter().zip(self.places()) {
            self.wait_at(place, on)?;
        }
        Ok(())
    }

    fn wait_at(&self, place: TcpListener, on: On) -> Result<(), Error> {
        let shared = Arc::clone(&self.shared);
        let waits = move || {
            for caller in place.incoming() {
                match caller {
                    Ok(caller) => shared.receive(caller, on),
                    // What is wrong now may be better in a moment.
                    Err(_) => thread::sleep(EVERY),
                }
            }
        };
        let started = thread::Builder::new().name("passage".into()).spawn(waits);
        started.map(drop).map_err(|why| Error::Host(format!("the program has no passage: {why}")))
    }

    /// Where the program wanted to go and was not let, in words.
    pub(super) fn refused(&self) -> Vec<String> {
        let refused = lock(&self.shared.refused);
        refused.iter().cloned().collect()
    }
}

impl Shared {
    fn receive(self: &Arc<Self>, caller: TcpStream, on: On) {
        if self.open.fetch_add(1, Ordering::SeqCst) >= AT_ONCE {
            self.open.fetch_sub(1, Ordering::SeqCst);
            return;
        }
        let shared = Arc::clone(self);
        let sees = move || {
            shared.see_to(caller, on);
            shared.open.fetch_sub(1, Ordering::SeqCst);
        };
        if thread::Builder::new().name("passage".into()).spawn(sees).is_err() {
            self.open.fetch_sub(1, Ordering::SeqCst);
        }
    }

    fn see_to(&self, caller: TcpStream, on: On) {
        match on {
            On::To(at) => {
                if let Ok(server) = TcpStream::connect(at) {
                    proxy::pass(caller, server);
                }
            }
            On::Asked => {
                if let Err(why) = proxy::serve(caller, &self.allowed) {
                    let mut refused = lock(&self.refused);
                    if refused.len() < TOLD && why.len() <= READABLE {
                        refused.insert(why);
                    }
                }
            }
        }
    }
}

fn no_place(gateway: impl std::fmt::Display) -> Error {
    Error::Usage(format!(
        "--only-through is for a gateway on this machine, and calls go through {gateway}; start it without a host that is up"
    ))
}

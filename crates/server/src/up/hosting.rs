//! A host, from when it comes up until it has gone down: the log first, then the golems, then the services around them, and the
//! other way round at the end.

use std::fs;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Instant;

use shell::life::desk::Desk;
use shell::view::board::Board;
use shell::watch::FolderWatch;
use shell::{Error, Home, Runtime};
use tracing::info;
use vault::Log;

use super::api;
use super::chores::ChoreSettings;
use super::main_loop::{Asker, Boot, CENSUS_EVERY, GolemLoop};
use super::services::{ServicePlan, Services};
use super::supervision::SAID;
use super::systemd::Systemd;
use super::wake::Wake;
use super::worker_pool::WorkerPool;

/// The settings of a host.
#[derive(Debug)]
pub struct Plan {
    /// World seconds per second of the owner's.
    pub speed: f64,
    pub chores: ChoreSettings,
    pub api: Option<api::Listen>,
    pub gateway: Option<gateway::Listen>,
    /// The address of the relay to siblings in other homes.
    pub relay: Option<String>,
}

/// A host that is up.
pub struct Up {
    pub(super) golems: GolemLoop,
    services: Services,
    /// When the room for orders is laid aside again, if the disk has some.
    room: Instant,
    pub boot: Boot,
}

impl Up {
    /// Takes the home's log, carries over what a host that went down in haste left there, and wakes everyone.
    pub fn come(home: &Home, plan: Plan, mut tell: impl FnMut(&str)) -> Result<Up, Error> {
        let Plan { speed, chores, api, gateway, relay } = plan;
        let began = home.wall().now();
        let (desk, scribe) = Desk::open(take_log(home, &chores)?, &Runtime::of(home))?;
        let (waker, wakes) = mpsc::channel();
        let pool = WorkerPool::start(&desk, &waker);
        let bells = waker.clone();
        let bell_watch = FolderWatch::begin(&home.bells(), move || drop(bells.send(Wake::Bells)));
        let mut golems = GolemLoop::new(speed, desk, pool, bell_watch, (waker.clone(), wakes));
        home.keep_reserve();
        let woken = golems.wake_everyone(&mut tell)?;
        let now = home.wall().now();
        let boot = Boot { took: now - began, ..woken };
        let services = Services::start(ServicePlan { chores, api, gateway, relay }, &golems.desk, scribe, waker)?;
        let up = Up { golems, services, room: now + CENSUS_EVERY, boot };
        let Boot { living, dead, not_up, released, took } = boot;
        info!(target: SAID, living, dead, not_up, released, after_ms = took.as_millis() as u64, "up");
        if let Some(address) = up.address() {
            info!(target: SAID, %address, "listening");
        }
        Ok(up)
    }

    pub fn board(&self) -> Arc<Board> {
        self.golems.board()
    }

    pub fn asker(&self) -> Asker {
        self.golems.asker()
    }

    /// The address of the API, if there is one.
    pub fn address(&self) -> Option<std::net::SocketAddr> {
        self.services.api.as_ref().map(|api| api.address)
    }

    /// The address of the gateway, if there is one.
    pub fn gateway(&self) -> Option<std::net::SocketAddr> {
        self.services.gateway.as_ref().map(|gateway| gateway.address)
    }

    /// Lives until it is stopped, then puts everything into place.
    pub fn run(mut self, mut tell: impl FnMut(&str)) -> Result<(), Error> {
        let mut systemd = Systemd::find();
        systemd.say("READY=1");
        loop {
            systemd.beat();
            let now = self.golems.now();
            self.keep_room(now);
            let next = self.golems.see_to(now, &mut tell);
            let rests = next.saturating_duration_since(self.golems.now());
            let rests = systemd.next_beat().map_or(rests, |beat| rests.min(beat));
            let woken = match self.golems.wakes.recv_timeout(rests) {
                Ok(wake) => self.woken(wake, &mut tell),
                Err(RecvTimeoutError::Timeout) => ControlFlow::Continue(()),
                Err(RecvTimeoutError::Disconnected) => ControlFlow::Break(()),
            };
            if woken.is_break() {
                break;
            }
        }
        systemd.say("STOPPING=1");
        info!("coming down");
        self.go_down(&mut tell)
    }

    /// Lays the room for orders aside again once the disk has some.
    fn keep_room(&mut self, now: Instant) {
        if now >= self.room {
            self.golems.home.keep_reserve();
            self.room = now + CENSUS_EVERY;
        }
    }

    /// Does what the host was woken for; breaks if that is to stop.
    fn woken(&mut self, wake: Wake, tell: &mut impl FnMut(&str)) -> ControlFlow<()> {
        match wake {
            Wake::Chores(changes) => {
                self.services.change_chores(*changes, &self.golems.home, &self.golems.desk);
                ControlFlow::Continue(())
            }
            wake => self.golems.woken(wake, tell),
        }
    }

    /// Goes down: every golem's own file gets everything, and the log is empty.
    fn go_down(self, tell: &mut impl FnMut(&str)) -> Result<(), Error> {
        let Up { mut golems, services, .. } = self;
        let services = services.stop();
        golems.go_down(tell);
        services.end()?;
        info!("down");
        match golems.desk.board.trouble() {
            None => Ok(()),
            Some(why) => Err(Error::Host(format!(
                "not everything could be written to its own file ({why}); nothing acknowledged is lost, the next start carries it over"
            ))),
        }
    }
}

/// The loop of a host without threads and services, for a test that gives the turns and moves the clock.
#[cfg(test)]
pub(super) fn stepped(runtime: &Arc<Runtime>, plan: &Plan) -> Result<GolemLoop, Error> {
    let desk = Desk::alone(take_log(runtime.home(), &plan.chores)?, runtime)?;
    let mut golems = GolemLoop::new(plan.speed, desk, WorkerPool::none(), None, mpsc::channel());
    golems.look_for_golems()?;
    Ok(golems)
}

/// Takes the log of a home, which must have everything that was acknowledged, if no other host has it.
fn take_log(home: &Home, chores: &ChoreSettings) -> Result<Log, Error> {
    home.require()?;
    let log = match Log::open(home.root(), &home.heads(), chores.telling.names()) {
        Ok(log) => log,
        Err(vault::Error::Locked(_)) => return Err(Error::Refused("a host is up in this home already".into())),
        Err(other) => return Err(other.into()),
    };
    log.verify()?;
    let bells = home.bells();
    fs::create_dir_all(&bells).map_err(Error::io("cannot create", &bells))?;
    Ok(log)
}

impl std::fmt::Debug for Up {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Up")
            .field("home", &self.golems.home)
            .field("golems", &self.golems.slots.len())
            .finish_non_exhaustive()
    }
}

//! The services of a host: everything that runs beside its loop and its workers. They start when every golem is awake, all of them
//! or none, and stop before the golems are put to rest.

use std::path::Path;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex};

use shell::feeds::{Feeds, Hears, News};
use shell::life::desk::{Desk, Scribe};
use shell::locks::lock;
use shell::{Error, Home};

use super::api;
use super::chores::{ChoreChanges, ChoreSettings, RunningChores};
use super::link::Link;
use super::wake::Wake;
use crate::mcp;

/// The services that a host is to have.
#[derive(Debug)]
pub(super) struct ServicePlan {
    pub(super) chores: ChoreSettings,
    pub(super) api: Option<api::Listen>,
    pub(super) gateway: Option<gateway::Listen>,
    /// The address of the relay to siblings in other homes.
    pub(super) relay: Option<String>,
}

/// The services of a host that is up. The API, the gateway and the relay are there if the owner wants them.
pub(super) struct Services {
    chores: RunningChores,
    pub(super) api: Option<api::Running>,
    pub(super) gateway: Option<gateway::Running>,
    river: Option<Link>,
    feeds: Feeds,
    scribe: Scribe,
}

/// Services that give the golems nothing more to do, and whose threads may still wait for the disk.
pub(super) struct StoppedServices {
    chores: RunningChores,
    river: Option<Link>,
    scribe: Scribe,
}

/// The feeds' way to the loop, which wakes it when a series has grown.
struct FeedBell(Mutex<Sender<Wake>>);

impl FeedBell {
    fn ring(&self, wake: Wake) {
        let _ = lock(&self.0).send(wake);
    }
}

impl Hears for FeedBell {
    fn grown(&self, file: &Path) {
        self.ring(Wake::Grown(file.to_owned()));
    }

    fn news(&self, news: News) {
        self.ring(Wake::News(news));
    }
}

impl Services {
    pub(super) fn start(
        plan: ServicePlan,
        desk: &Arc<Desk>,
        scribe: Scribe,
        waker: Sender<Wake>,
    ) -> Result<Services, Error> {
        let (runtime, home) = (&desk.runtime, desk.runtime.home());
        let chores = RunningChores::start(plan.chores, home, desk)?;
        let api = plan.api.map(|listen| api::serve(listen, Arc::clone(desk))).transpose()?;
        let gateway =
            plan.gateway.map(|listen| gateway::serve(listen, runtime, mcp::of_agents(runtime))).transpose()?;
        let river = Link::begin(desk, plan.relay)?;
        let feeds = Feeds::begin(home, None, Arc::new(FeedBell(Mutex::new(waker))));
        Ok(Services { chores, api, gateway, river, feeds, scribe })
    }

    /// Restarts the chores whose settings changed.
    pub(super) fn change_chores(&mut self, changes: ChoreChanges, home: &Home, desk: &Arc<Desk>) {
        self.chores.change(changes, home, desk);
    }

    /// Stops everything that gives the golems something to do.
    pub(super) fn stop(self) -> StoppedServices {
        let Services { chores, api, gateway, river, feeds, scribe } = self;
        chores.stop();
        if let Some(api) = api {
            api.close();
        }
        if let Some(gateway) = gateway {
            gateway.close();
        }
        drop(feeds);
        if let Some(river) = &river {
            river.stop();
        }
        StoppedServices { chores, river, scribe }
    }
}

impl StoppedServices {
    /// Ends what is left; the scribe writes everything that was brought before.
    pub(super) fn end(self) -> Result<(), Error> {
        self.chores.join();
        let closed = self.scribe.close();
        drop(self.river);
        closed
    }
}

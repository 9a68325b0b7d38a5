//! The program while it runs: started behind its fence with a warden beside it, told what its owner signals, and ended when its
//! golem has ended or is out of money, or of what else its calls are capped in.

use std::path::Path;
use std::process::{Child, Command};
use std::sync::Arc;
use std::time::{Duration, Instant};

use golem::Life;
use outside::fence::Fence;
use outside::warden::{Logins, Ward};
use rustix::process::{Pid, Signal, kill_process};
use shell::{Error, GolemHome, Home, files, private};

use super::bounds::Bounds;
use super::ends::LifeEnd;
use super::keeper::{Keeper, MoneyState};
use super::known::{self, GolemAddress};
use super::passage::Passage;
use super::plans::Plans;
use super::presses::SignalCounts;
use super::settings;
use super::spent;
use super::warnings::Warnings;
use super::word::{EndTeller, LifeFolder};
use crate::args::{TellWay, WrapArgs};
use crate::commands::branch::LineBranch;
use crate::{exit, output};

/// How often it is looked whether the program has ended.
const EVERY: Duration = Duration::from_millis(50);
/// How often it is looked how its golem is.
const LOOKS: Duration = Duration::from_millis(500);
/// How long a program may take to end once it was told to, by a key or by a signal.
const TOLD: Duration = Duration::from_secs(5);
/// How long its warden may take to end everything.
const WARDEN: Duration = Duration::from_secs(15);

pub(super) enum ProgramEnd {
    /// With its own exit code.
    Itself(u8),
    /// Because its golem has, or is out of something.
    Golem,
    Interrupted,
    /// Because a bound of its run was crossed.
    Crossed(LifeEnd),
}

pub(super) struct WatchedProgram {
    warden: Child,
    place: GolemHome,
    heard: Arc<SignalCounts>,
    /// Whether a signal tells the program that its end is near.
    by_signal: bool,
}

/// Everything that a program is started with.
#[derive(Clone, Copy)]
pub(super) struct Beginning<'a> {
    pub(super) home: &'a Home,
    pub(super) place: &'a GolemHome,
    pub(super) args: &'a WrapArgs,
    pub(super) plans: &'a Plans,
    pub(super) at: GolemAddress<'a>,
    pub(super) passage: Option<&'a Passage>,
    pub(super) branch: Option<&'a LineBranch>,
    pub(super) heard: &'a Arc<SignalCounts>,
    pub(super) folder: Option<&'a LifeFolder>,
}

/// Logins on this disk are its owner's, and no golem pays for what they open.
fn logins_kept_back(plans: &Plans) -> Logins {
    let own = |name: &str| plans.given.variables.get(name).cloned();
    let files = own("HOME").map(|user| known::logins(Path::new(&user))).unwrap_or_default();
    if files.is_empty() {
        return Logins::default();
    }
    // What reads a login there finds none, and writes none that stays.
    settings::cache_path(own, "no-login.json", "{}").map(|instead| Logins { files, instead }).unwrap_or_else(|why| {
        output::complain(format!("logins on this disk are not kept from the program: {why}"));
        Logins::default()
    })
}

impl WatchedProgram {
    pub(super) fn start(beginning: Beginning<'_>) -> Result<WatchedProgram, Error> {
        let Beginning { home, place, args, plans, at, passage, branch, heard, folder } = beginning;
        let program = folder.map_or_else(|| args.program.clone(), |folder| folder.fill(&args.program));
        let protected = branch.map_or(plans.protected.clone(), |branch| branch.protected(&plans.protected));
        let fence = Fence { hidden: vec![home.root().to_owned()], protected, given: Vec::new() };
        let ward = Ward {
            program: plans.recognised.started(&program, &at, args.tell == Some(TellWay::Hooks)),
            fence: (!args.unfenced).then_some(fence),
            covers: false,
            sealed: branch.map(LineBranch::sealed).unwrap_or_default(),
            logins: if args.own_login { Logins::default() } else { logins_kept_back(plans) },
            apart: passage.map(Passage::apart),
            umask: private::umask_before(),
            files: files::before(),
        };
        let cannot = |why: std::io::Error| Error::Host(format!("cannot start {}: {why}", args.program[0]));
        let own = std::env::current_exe().map_err(cannot)?;
        let mut command = Command::new(own);
        command.args(["ward", &serde_json::to_string(&ward).expect("plain data")]);
        let environment = plans.recognised.environment(&at, |name| plans.given.variables.get(name).cloned());
        for (name, value) in std::env::vars_os() {
            // A value that is not text is not a key.
            let (known, text) =
                (name.to_str().is_some_and(|name| plans.given.variables.contains_key(name)), value.to_str().is_some());
            if !known && (text || args.clean_env) {
                command.env_remove(name);
            }
        }
        for name in &environment.unset {
            command.env_remove(name);
        }
        if let Some(settings) = plans.recognised.known.settings {
            match settings.written(|name| plans.given.variables.get(name).cloned()) {
                Ok(file) => _ = command.env(settings.variable, file),
                Err(why) => output::complain(format!("{} is not told how to log in: {why}", args.program[0])),
            }
        }
        command
            .envs(environment.set.iter().map(|(name, value)| (*name, value)))
            .env("BARDO_GOLEM", place.name.as_str())
            .envs(folder.into_iter().flat_map(LifeFolder::environment))
            .envs(passage.map(Passage::environment).unwrap_or_default());
        if let Some(branch) = branch {
            branch.place_in(&mut command);
        }
        let mut warden = command.spawn().map_err(cannot)?;
        passage.map_or(Ok(()), |passage| passage.begin(&mut warden))?;
        Ok(WatchedProgram { warden, place: place.clone(), heard: Arc::clone(heard), by_signal: args.usr1 })
    }

    /// Until it ends, or has to; and how it was with its golem then.
    pub(super) fn until_it_ends(
        &mut self,
        (keeper, warnings, teller): (&Keeper, &mut Warnings, &mut EndTeller),
        before: &Life,
        (bounds, wind_up): (&Bounds, Duration),
    ) -> Result<(ProgramEnd, MoneyState), Error> {
        let (mut looked, mut told, mut out, mut crossed) = (Instant::now(), None, None, None);
        let mut passed_on = 0;
        if self.heard.presses() > 0 {
            // Its owner asked before it had begun, and no key has reached it.
            self.end()?;
            return Ok((ProgramEnd::Interrupted, keeper.look(&self.place, before)?));
        }
        loop {
            if let Some(code) = self.has_ended()? {
                let look = keeper.look(&self.place, before)?;
                warnings.heed(look, &keeper.turned_away().unpriced);
                return Ok((ProgramEnd::Itself(code), look));
            }
            if looked.elapsed() >= LOOKS {
                looked = Instant::now();
                let look = keeper.look(&self.place, before)?;
                warnings.heed(look, &keeper.turned_away().unpriced);
                if let Some(why) = teller.heed(look.left, bounds.nears(&look)) {
                    self.say_near(&why);
                }
                if look.ended {
                    output::complain(format!("{} has ended, and its program with it", self.place.name));
                    self.end()?;
                    return Ok((ProgramEnd::Golem, look));
                }
                if let Some(end) = is_due(bounds, look, &mut crossed, wind_up) {
                    self.retire(&end)?;
                    return Ok((ProgramEnd::Crossed(end), keeper.look(&self.place, before)?));
                }
                if self.winds_up(look, &mut out, wind_up) {
                    self.end()?;
                    return Ok((ProgramEnd::Golem, look));
                }
            }
            let (keys, ends) = (self.heard.keys(), self.heard.ends());
            if ends > passed_on {
                passed_on = ends;
                self.signal(Signal::TERM);
            }
            if keys + ends > 0 {
                let since = *told.get_or_insert_with(Instant::now);
                if since.elapsed() > TOLD || keys > 1 {
                    self.end()?;
                    return Ok((ProgramEnd::Interrupted, keeper.look(&self.place, before)?));
                }
            }
            std::thread::sleep(EVERY);
        }
    }

    /// Asks the program to end as its owner would, and kills it if it does not.
    fn retire(&mut self, end: &LifeEnd) -> Result<(), Error> {
        let name = &self.place.name;
        output::complain(match end {
            LifeEnd::Calls { most } => {
                let calls = if *most == 1 { "call" } else { "calls" };
                format!("{name}'s program has made its {most} {calls} and is ended, so that it starts over")
            }
            _ => format!("{name}'s program is ended: {end}"),
        });
        self.signal(Signal::TERM);
        let until = Instant::now() + TOLD;
        while self.has_ended()?.is_none() {
            if Instant::now() > until {
                return self.end();
            }
            std::thread::sleep(EVERY);
        }
        Ok(())
    }

    /// Tells its owner that the program was told of its end, and the program by a signal where that is asked for.
    fn say_near(&self, why: &str) {
        output::complain(format!("{}'s program is told that its end is near: {why}", self.place.name));
        if self.by_signal {
            // Its warden takes the other one for an order of its own.
            self.signal(Signal::USR2);
        }
    }

    /// Says that there is nothing left, once; and whether it has had its time.
    fn winds_up(&self, look: MoneyState, since: &mut Option<Instant>, most: Duration) -> bool {
        let name = &self.place.name;
        match (look.out, *since) {
            (Some(out), None) => {
                *since = Some(Instant::now());
                output::complain(format!(
                    "{name} is out of {}: {}, with nothing under way; its program is ended in {} s, unless {} gives it more",
                    spent::name(out),
                    spent::why(out, look.left),
                    most.as_secs(),
                    spent::more(out, name)
                ));
            }
            (Some(_), Some(began)) if began.elapsed() >= most => {
                output::complain(format!("{name}'s program has had {} s to wind up, and is ended", most.as_secs()));
                return true;
            }
            (None, Some(_)) => {
                *since = None;
                output::complain(format!("{name} can call again, and goes on"));
            }
            _ => {}
        }
        false
    }

    fn has_ended(&mut self) -> Result<Option<u8>, Error> {
        let cannot = |why| Error::Host(format!("cannot wait for the program: {why}"));
        let status = self.warden.try_wait().map_err(cannot)?;
        Ok(status.map(|status| status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(exit::ERROR)))
    }

    /// Sends a signal; a program that has ended meanwhile needs none.
    fn signal(&self, signal: Signal) {
        let _ = kill_process(Pid::from_child(&self.warden), signal);
    }

    /// Everything it has started ends, and its warden last.
    fn end(&mut self) -> Result<(), Error> {
        self.signal(Signal::USR1);
        let until = Instant::now() + WARDEN;
        while self.has_ended()?.is_none() {
            if Instant::now() > until {
                self.signal(Signal::KILL);
            }
            std::thread::sleep(EVERY);
        }
        Ok(())
    }
}

/// The bound that was crossed, once no call is under way; or, if it is no bound of calls, once there was time enough for those that
/// were.
fn is_due(bounds: &Bounds, look: MoneyState, since: &mut Option<Instant>, most: Duration) -> Option<LifeEnd> {
    let Some(end) = bounds.crossed(&look) else {
        *since = None;
        return None;
    };
    let began = *since.get_or_insert_with(Instant::now);
    let counts_calls = matches!(end, LifeEnd::Calls { .. });
    (!look.under_way || (!counts_calls && began.elapsed() >= most)).then_some(end)
}

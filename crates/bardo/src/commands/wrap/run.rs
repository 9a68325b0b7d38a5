//! One run of the program beside its golem, from the moment both are there until both have stopped.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gateway::TurnedAway;
use golem::{Life, Name, Time, call};
use outside::descendants;
use shell::home::agent;
use shell::life::checks::{self, CheckPlan};
use shell::{Error, GolemHome, Runtime, wall};
use tariff::Price;

use super::bounds::Bounds;
use super::keeper::{Keeper, KeeperWishes, MoneyState, life};
use super::known::GolemAddress;
use super::passage::Passage;
use super::plans::Plans;
use super::presses::SignalCounts;
use super::told::ClosingWords;
use super::warnings::Warnings;
use super::watched::{Beginning, ProgramEnd, WatchedProgram};
use super::word::{self, EndTeller};
use crate::args::{TellWay, WrapArgs};
use crate::commands::branch::LineBranch;
use crate::output;

/// How often it is looked whether the checks have been run once more.
const EVERY: Duration = Duration::from_millis(100);
/// Intervals of a golem within which a round of its checks is seen: one until it begins, one until it is looked at, and one more
/// where it looks half as often.
const ROUNDS: u64 = 3;
/// Time for everything else that a round takes.
const SLACK: Duration = Duration::from_secs(10);

/// Everything that runs of one program have in common.
pub(super) struct Runner<'a> {
    pub(super) runtime: &'a Arc<Runtime>,
    pub(super) args: &'a WrapArgs,
    pub(super) plans: &'a Plans,
    pub(super) price: Option<Price>,
    /// The branch that it works on, if it has one of its own.
    pub(super) branch: Option<&'a LineBranch>,
    pub(super) heard: Arc<SignalCounts>,
}

pub(super) struct ProgramRun {
    pub(super) before: Life,
    pub(super) after: Life,
    pub(super) took: Duration,
    pub(super) ended: ProgramEnd,
    /// How its golem stood when the program had ended, or after the round of checks that was awaited then.
    pub(super) look: MoneyState,
    pub(super) turned_away: TurnedAway,
    /// Where it wanted to go and was not let; none, if it could go anywhere.
    pub(super) refused: Option<Vec<String>>,
    /// Whether no round of checks came although one was awaited.
    pub(super) unchecked: bool,
}

impl Runner<'_> {
    pub(super) fn run(&self, place: &GolemHome, before: Life, bounds: &Bounds) -> Result<ProgramRun, Error> {
        let Runner { runtime, args, plans, price, branch, ref heard } = *self;
        let home = runtime.home();
        let (servers, own_login) = (&plans.servers[..], args.own_login);
        let wishes = KeeperWishes { servers, price, own_login, in_line: args.lives.is_some() };
        let keeper = self.keeper(place, wishes)?;
        output::complain(format!("{}; its calls go through http://{}", stands(&place.name, &before), keeper.address));
        // An heir's program has the same environment.
        if args.lives.is_none() || before.birth().lineage.is_none() {
            plans.say_environment(own_login);
        }
        let passage = plans.allowed.as_ref().map(|allowed| Passage::open(&keeper.address, allowed)).transpose()?;
        descendants::adopt();
        let base = format!("http://{}/g/{}", keeper.address, place.name);
        let token = agent::token(place)?;
        let at = GolemAddress { base: &base, token: &token, own_login };
        let mut warnings = Warnings::of(home, &place.name, MoneyState::of(&before))?;
        let passage = passage.as_ref();
        let folder = word::prepare(self.own(), (place, &before), &args.program)?;
        self.note_files(place);
        let counter = runtime.counters().of(&place.name);
        let in_calls = args.tell == Some(TellWay::Calls);
        let mut teller = EndTeller::new(counter, folder.clone(), before.purse().given, in_calls);
        let folder = folder.as_ref();
        let mut watched =
            WatchedProgram::start(Beginning { home, place, args, plans, at, passage, branch, heard, folder })?;
        let began = Instant::now();
        let (ended, mut look) =
            watched.until_it_ends((&keeper, &mut warnings, &mut teller), &before, (bounds, plans.wind_up))?;
        let took = began.elapsed();
        descendants::end();
        let pressed = heard.presses();
        keeper.hear_out(place, || heard.presses() > pressed)?;
        let awaited = bounds.awaits_checks() && pressed == 0;
        let round = if awaited { self.await_round(&keeper, place, &before)? } else { None };
        if let Some(MoneyState { signs, .. }) = round {
            look = MoneyState { signs, ..look };
        }
        let turned_away = keeper.turned_away();
        keeper.stop()?;
        branch.map_or(Ok(()), LineBranch::watch)?;
        let refused = passage.map(Passage::refused);
        Ok(ProgramRun {
            after: life(place)?,
            before,
            took,
            ended,
            look,
            turned_away,
            refused,
            unchecked: awaited && round.is_none(),
        })
    }

    /// Begins to run the golem, with its checks behind the limits of the program. Where another process runs it, that one's checks
    /// stay as they were.
    fn keeper(&self, place: &GolemHome, wishes: KeeperWishes<'_>) -> Result<Keeper, Error> {
        let before = CheckPlan::read(place)?;
        let narrowed = before.clone().and_then(|plan| self.narrowed(plan));
        narrowed.as_ref().map_or(Ok(()), |plan| plan.write(place))?;
        let keeper = Keeper::of(self.runtime, place, wishes);
        if let (Err(_), Some(_), Some(before)) = (&keeper, narrowed, before) {
            before.write(place)?;
        }
        keeper
    }

    /// Checks behind the limits of the program: paths that it may not write to, nothing they run may either. None if it has no limits.
    fn narrowed(&self, plan: CheckPlan) -> Option<CheckPlan> {
        let Runner { plans, branch, .. } = *self;
        match branch {
            Some(branch) => Some(branch.narrow(plan, &plans.protected)),
            None if plans.protected.is_empty() => None,
            None => Some(CheckPlan { protect: plans.protected.clone(), ..plan }),
        }
    }

    /// Notes the files as a life of a line finds them, to tell afterwards which of them it changed.
    fn note_files(&self, place: &GolemHome) {
        if self.args.lives.is_none() {
            return;
        }
        match self.branch {
            Some(branch) => word::note(place, &branch.folder()),
            None => std::env::current_dir().into_iter().for_each(|here| word::note(place, &here)),
        }
    }

    /// The variables that the program is given of its owner's.
    fn own(&self) -> impl Fn(&str) -> Option<String> {
        move |name: &str| self.plans.given.variables.get(name).cloned()
    }

    /// Takes in what the program of this life has left.
    pub(super) fn gather(&self, place: &GolemHome) {
        if let Err(why) = word::gather(self.own(), place) {
            output::complain(format!("the last word of {}'s program is lost: {why}", place.name));
        }
    }

    /// Takes in what these lives have left that died while nothing looked after their program.
    pub(super) fn gather_late<'l>(&self, lives: impl DoubleEndedIterator<Item = (&'l GolemHome, &'l Life)>) {
        for (nth, (place, life)) in lives.rev().enumerate().filter(|(_, (_, life))| life.is_dead()) {
            if let Err(why) = word::gather_late(self.own(), (place, life), nth == 0) {
                output::complain(format!("the last word of {}'s program is lost: {why}", place.name));
            }
        }
    }

    /// Waits for a round of checks that began after the program had ended: work that was done, or undone, at the last moment counts.
    /// None where checks cannot be run.
    fn await_round(&self, keeper: &Keeper, place: &GolemHome, before: &Life) -> Result<Option<MoneyState>, Error> {
        let ended = Time::millis(self.runtime.time_ms().unsigned_abs());
        let limit = CheckPlan::read(place)?.map_or(checks::LIMIT, |plan| Duration::from_secs(plan.limit));
        let most = Duration::from_millis(before.interval().as_millis().saturating_mul(ROUNDS)) + limit + SLACK;
        let (began, pressed) = (Instant::now(), self.heard.presses());
        loop {
            let look = keeper.look(place, before)?;
            if look.signs.round > ended {
                return Ok(Some(look));
            }
            if look.ended || began.elapsed() > most || self.heard.presses() > pressed {
                return Ok(None);
            }
            std::thread::sleep(EVERY);
        }
    }
}

impl ProgramRun {
    pub(super) fn words<'a>(&'a self, name: &'a Name, plans: &Plans) -> ClosingWords<'a> {
        let user = plans.given.variables.get("HOME").map(Path::new);
        ClosingWords {
            name,
            before: &self.before,
            after: &self.after,
            took: self.took,
            out: self.look.out,
            turned_away: &self.turned_away,
            known: plans.recognised.known,
            login: plans.recognised.login(user),
            refused: self.refused.as_deref(),
        }
    }
}

/// A sentence about the golem's means: money, and the other caps on its calls.
fn stands(name: &Name, life: &Life) -> String {
    let caps: String = call::caps(life, wall::now_of(life)).map(|cap| format!(", {cap}")).collect();
    let imputed = if life.policy().imputed { " (imputed)" } else { "" };
    format!("{name} has {} left to live on{imputed}{caps}", life.purse().credit)
}

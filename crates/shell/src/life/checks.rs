//! The checks of a golem: their commands, and running them. The commands stand in a file of this home and in no
//! birth record, so that whatever comes here from elsewhere runs nothing its owner has not written here.
//!
//! A check runs with a clean environment in the folder its owner named. Anything but exit code 0 is not passing; a check
//! that could not be started has no result.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use golem::{limits, plain};
use outside::fence::{self, Fence};
use serde::{Deserialize, Serialize};
use world::checks::{Check, CheckResult, Round, Runner, Says, latest};

use crate::home::GolemHome;
use crate::{Error, durable, program};

/// How long a check may take, if the plan does not say.
pub const LIMIT: Duration = Duration::from_secs(60);
/// Characters of a check's output that are kept.
const KEPT: usize = 200;
/// Variables of the environment that a check, or another program of the owner's, is given.
pub(super) const PASSED_ON: [&str; 9] = ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "TZ", "TMPDIR"];

/// The commands that are run for a golem, as its owner wrote them here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckPlan {
    /// The folder the commands run in.
    pub folder: PathBuf,
    /// Seconds that each may take.
    pub limit: u64,
    pub commands: BTreeMap<String, String>,
    /// Paths that neither its agent nor a command of a check may write to.
    #[serde(default)]
    pub protect: Vec<PathBuf>,
    /// Places in protected ones that a command of a check may write to all the same.
    #[serde(default)]
    pub given: Vec<PathBuf>,
}

impl CheckPlan {
    /// Reads the plan; none, if none was written here.
    pub fn read(place: &GolemHome) -> Result<Option<CheckPlan>, Error> {
        let path = place.checks();
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(missing) if missing.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(other) => return Err(Error::io("cannot read", &path)(other)),
        };
        let plan = serde_json::from_str(&text);
        plan.map(Some).map_err(|why| Error::Damaged(format!("{} is not a plan of checks: {why}", path.display())))
    }

    pub fn write(&self, place: &GolemHome) -> Result<(), Error> {
        durable::write(&place.checks(), self.text().as_bytes())
    }

    pub(super) fn text(&self) -> String {
        serde_json::to_string_pretty(self).expect("plain data") + "\n"
    }
}

/// The newest round of checks, if there was any.
pub fn last(place: &GolemHome) -> Result<Option<Round>, Error> {
    Ok(latest(&place.check_results(), 1)?.pop())
}

/// Runs the commands of this golem, all at once; `stop` ends them.
pub(super) fn runner(place: &GolemHome, stop: Arc<AtomicBool>) -> Runner {
    let place = place.clone();
    Box::new(move |checks: &[Check]| {
        let golem = place.name.as_str();
        // Read again each time: the owner may have changed it.
        let plan = match CheckPlan::read(&place) {
            Ok(Some(plan)) => plan,
            Ok(None) => {
                tracing::warn!(golem, "its checks have no commands here; `bardo golem check` sets them");
                return None;
            }
            Err(why) => {
                tracing::warn!(golem, %why, "its checks cannot be run");
                return None;
            }
        };
        // The program under a check may be the work of the agent that is judged by it.
        let hidden = vec![place.home().root().to_owned()];
        let fence = Fence { hidden, protected: plan.protect.clone(), given: plan.given.clone() };
        let said: Vec<CheckResult> = std::thread::scope(|scope| {
            let running: Vec<_> = checks.iter().map(|check| scope.spawn(|| run(&plan, check, &fence, &stop))).collect();
            running.into_iter().map(|one| one.join().expect("running a program does not panic")).collect()
        });
        for (check, said) in checks.iter().zip(&said).filter(|(_, said)| said.value.is_none()) {
            tracing::warn!(golem, check = check.name, said = said.text, "it gave no result");
        }
        // A check that was cut short says nothing.
        (!stop.load(Ordering::SeqCst)).then_some(said)
    })
}

fn run(plan: &CheckPlan, check: &Check, fence: &Fence, stop: &AtomicBool) -> CheckResult {
    // A check that was never run has neither passed nor failed.
    let nothing = |text: String| CheckResult { value: None, text };
    let Some(line) = plan.commands.get(&check.name) else { return nothing("it has no command here".to_owned()) };
    let unstarted = |why: std::io::Error| nothing(format!("it cannot be started: {why}"));
    let mut command = match fence::command("sh", Some(fence)) {
        Ok(command) => command,
        Err(why) => return unstarted(why),
    };
    command.args(["-c", line]).current_dir(&plan.folder).env_clear().env("BARDO_CHECK", &check.name);
    command.envs(PASSED_ON.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    let ended = match program::run(&mut command, b"", Duration::from_secs(plan.limit), stop, false, Some(fence)) {
        Ok(ended) => ended,
        Err(why) => return unstarted(why),
    };
    let last = ended.said.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default();
    let silent = last.is_empty() && ended.code != Some(0);
    let text = plain::line(if silent { &ended.how } else { last }, KEPT);
    match check.says {
        Says::Pass => CheckResult { value: Some(f64::from(u8::from(ended.code == Some(0)))), text },
        Says::Number => {
            let sane = |number: &f64| number.is_finite() && number.abs() <= limits::LARGEST;
            let value = last.parse().ok().filter(|number| ended.code == Some(0) && sane(number));
            CheckResult { value, text }
        }
    }
}

/// A folder as a plan keeps it.
pub fn folder(path: &Path) -> Result<PathBuf, Error> {
    path.canonicalize().map_err(Error::io("cannot find", path))
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    fn said(line: &str, says: Says) -> CheckResult {
        let commands = BTreeMap::from([("it".to_owned(), line.to_owned())]);
        let plan = CheckPlan { folder: "/".into(), limit: 2, commands, protect: Vec::new(), given: Vec::new() };
        run(&plan, &Check { name: "it".to_owned(), says }, &Fence::default(), &AtomicBool::new(false))
    }

    #[test]
    fn only_ending_with_nought_is_passing() {
        for (line, passes) in [
            ("true", 1.0),
            ("false", 0.0),
            ("echo 0; exit 7", 0.0),
            ("no-such-program", 0.0),
            ("kill -9 $$", 0.0),
            ("sleep 60", 0.0),
            ("sleep 60 & true", 1.0),
            ("exec 2>&1; exit 0", 1.0),
        ] {
            let began = Instant::now();
            assert_eq!(said(line, Says::Pass).value, Some(passes), "{line}");
            assert!(began.elapsed() < Duration::from_secs(10), "{line}");
        }
    }

    /// A check that could not be run once counted as failing, and a program was ended for a folder that had been moved.
    #[test]
    fn a_check_that_cannot_be_run_neither_passes_nor_fails() {
        for (folder, command) in [("/", None), ("/no/such/folder", Some("true"))] {
            let commands = command.map(|line| ("it".to_owned(), line.to_owned())).into_iter().collect();
            let plan = CheckPlan { folder: folder.into(), limit: 2, commands, protect: Vec::new(), given: Vec::new() };
            let check = Check { name: "it".to_owned(), says: Says::Pass };
            let result = run(&plan, &check, &Fence::default(), &AtomicBool::new(false));
            assert_eq!(result.value, None, "{}", result.text);
        }
    }

    #[test]
    fn a_number_is_the_last_line_of_a_command_that_succeeds() {
        for (line, number) in [
            ("echo 42", Some(42.0)),
            ("echo counting; echo; echo ' -1.5e3 '; echo", Some(-1_500.0)),
            ("echo 42; exit 1", None),
            ("echo many", None),
            ("echo NaN", None),
            ("echo 1e31", None),
            ("true", None),
            ("sleep 60; echo 1", None),
            ("yes 7", None),
        ] {
            assert_eq!(said(line, Says::Number).value, number, "{line}");
        }
    }

    #[test]
    fn nothing_of_the_hosts_environment_reaches_a_check() {
        // Cargo sets this for every test.
        assert!(std::env::var("CARGO_MANIFEST_DIR").is_ok());
        let told = said("env | cut -d= -f1 | sort | tr '\\n' ' '", Says::Pass).text;
        let known =
            |name: &str| PASSED_ON.contains(&name) || ["BARDO_CHECK", "PWD", "SHLVL", "_", "OLDPWD"].contains(&name);
        assert!(told.contains("BARDO_CHECK") && told.split(' ').all(known), "{told}");
    }
}

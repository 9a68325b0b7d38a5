//! Notes to the owner: news that an owner wants to hear without asking, and how it reaches them.
//!
//! A note is written down in the same sync as the record that gave rise to it, and crossed out for each target once
//! that target has taken it. A kill between the two sends it again under the same key, by which a receiver can tell;
//! a target that is down gets everything afterwards, in order.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use golem::Usdc;
use reqwest::blocking::Client;
use settings::Settings;
use shell::Error;
use shell::life::desk::Desk;
use shell::view::board::Board;
use shell::view::notes::{KINDS, host_note};
use shell::view::status::{State, Status};
use shell::wall::now_ms;
use tracing::{debug, info, warn};
use vault::{Batch, Note, UndeliveredNote};

pub use super::target::{Target, TargetKind};
use super::target::{accepted, client};
use super::until::Until;

/// So many notes that wait together go out as one.
const MANY: usize = 3;
/// The most notes that go out as one.
const TOGETHER: usize = 50;
/// The terminal's name in the log.
const HERE: &str = "terminal";
/// How often each thread checks for notes to send.
const LOOK: Duration = Duration::from_millis(200);
/// How long after a failure a target is tried again: at first, and at most after doubling.
const AGAIN: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60));
const DAY_MS: i64 = 86_400_000;

/// The owner's settings for notes.
#[derive(Clone, Debug)]
pub struct Telling {
    pub targets: Vec<Target>,
    pub heartbeat: Option<(String, Duration)>,
    /// The hour, in UTC, of the daily line.
    pub daily: Option<u8>,
    /// How long a note waits for others to go out with.
    pub gather: Duration,
    /// Prints a note on the host's own output, where the owner may be reading.
    pub here: Option<fn(&Note)>,
}

/// A target by name, and whether it accepted a test.
pub type Tried = (&'static str, Result<(), String>);

impl Telling {
    pub fn of(settings: &Settings) -> Result<Telling, Error> {
        let given = |key: &str| settings.text(key).filter(|text| !text.is_empty()).map(str::to_owned);
        let secret = match given("notify.webhook_secret_variable") {
            None => None,
            Some(name) => Some(std::env::var(&name).map(String::into_bytes).map_err(|_| {
                Error::Usage(format!(
                    "notify.webhook_secret_variable names {name}, which is not set; set it, or take the key out"
                ))
            })?),
        };
        let target = |name: &str, way: &dyn Fn(String) -> TargetKind| -> Result<Option<Target>, Error> {
            let Some(address) = given(&format!("notify.{name}")) else { return Ok(None) };
            Ok(Some(Target { way: way(address), kinds: kinds(settings, &format!("notify.{name}_kinds"))? }))
        };
        let targets = [
            target("webhook", &|url| TargetKind::Webhook { url, secret: secret.clone() })?,
            target("ntfy", &TargetKind::Ntfy)?,
            target("command", &TargetKind::Command)?,
        ];
        let every = Duration::from_millis(settings.span("notify.heartbeat_every").as_millis());
        let telling = Telling {
            targets: targets.into_iter().flatten().collect(),
            heartbeat: given("notify.heartbeat").map(|url| (url, every)),
            daily: u8::try_from(settings.integer("notify.daily_hour")).ok(),
            gather: Duration::from_millis(settings.span("notify.gather").as_millis()),
            here: None,
        };
        for url in telling.urls() {
            let parsed = reqwest::Url::parse(url);
            if !parsed.is_ok_and(|url| matches!(url.scheme(), "http" | "https")) {
                return Err(Error::Usage("an address under [notify] must begin with http:// or https://".into()));
            }
        }
        Ok(telling)
    }

    fn urls(&self) -> impl Iterator<Item = &String> {
        let targets = self.targets.iter().filter_map(|target| target.way.url());
        targets.chain(self.heartbeat.as_ref().map(|(url, _)| url))
    }

    /// The names of all targets in the log.
    pub fn names(&self) -> Vec<String> {
        let here = self.here.map(|_| HERE.to_owned());
        self.targets.iter().map(|target| target.way.name().to_owned()).chain(here).collect()
    }

    /// Sends a test note to every target and the heartbeat, and says which accepted it.
    pub fn test(&self) -> Result<Vec<Tried>, Error> {
        let client = client(self.urls())?;
        let note = host_note(
            format!("test:{}", now_ms()),
            "test",
            None,
            "this is a test; nothing has happened".into(),
            now_ms(),
        );
        let mut came: Vec<_> = self
            .targets
            .iter()
            .map(|target| (target.way.name(), target.way.tell(&client, &[&note], &AtomicBool::new(false))))
            .collect();
        if let Some((url, _)) = &self.heartbeat {
            came.push(("heartbeat", accepted(client.post(url).body("").send())));
        }
        Ok(came)
    }
}

/// The kinds of notes a target gets; all of them if the list is empty.
fn kinds(settings: &Settings, key: &str) -> Result<Vec<String>, Error> {
    let named = settings.text(key).unwrap_or_default().split(',').map(str::trim).filter(|kind| !kind.is_empty());
    let named: Vec<String> = named.map(str::to_owned).collect();
    match named.iter().find(|kind| !KINDS.contains(&kind.as_str())) {
        Some(other) => Err(Error::Usage(format!(
            "there are no notes of the kind '{other}' ({key}); there are {}",
            KINDS.join(", ")
        ))),
        None => Ok(named),
    }
}

/// Starts the threads that send notes: one for each target, so that one that is down holds up no other, and one for
/// time.
pub(super) fn begin(telling: &Telling, desk: &Arc<Desk>, until: &Until) -> Result<Vec<JoinHandle<()>>, Error> {
    let mut threads = Vec::new();
    let client = client(telling.urls())?;
    for target in telling.targets.clone() {
        let (desk, until, client, gather) = (Arc::clone(desk), until.clone(), client.clone(), telling.gather);
        threads.push(std::thread::spawn(move || tell_all(&target, gather, &desk, &client, &until)));
    }
    if let Some(print) = telling.here {
        let (desk, until) = (Arc::clone(desk), until.clone());
        threads.push(std::thread::spawn(move || print_all(print, &desk, &until)));
    }
    let (telling, desk, until) = (telling.clone(), Arc::clone(desk), until.clone());
    threads.push(std::thread::spawn(move || keep_time(&telling, &desk, &client, &until)));
    Ok(threads)
}

/// Sends a target the notes that wait, in order, each by itself or, where many have come together, as one.
fn tell_all(target: &Target, gather: Duration, desk: &Desk, client: &Client, until: &Until) {
    let (mut patience, to) = (AGAIN.0, target.way.name());
    while !until.is_over() {
        let waiting = desk.waiting(to, TOGETHER).unwrap_or_default();
        if waiting.first().is_none_or(|first| waiting.len() < TOGETHER && is_young(&first.note, gather)) {
            std::thread::sleep(LOOK);
            continue;
        }
        let wanted: Vec<&UndeliveredNote> = waiting.iter().filter(|waiting| target.wants(&waiting.note)).collect();
        let unwanted = waiting.iter().filter(|waiting| !target.wants(&waiting.note)).map(|waiting| waiting.number);
        if !crossed_out(desk, to, unwanted.collect()) {
            return;
        }
        let size = if wanted.len() >= MANY && gather > Duration::ZERO { wanted.len() } else { 1 };
        for some in wanted.chunks(size) {
            let notes: Vec<&Note> = some.iter().map(|waiting| &waiting.note).collect();
            if let Err(why) = target.way.tell(client, &notes, &until.now) {
                desk.board.notes_failed.fetch_add(1, Ordering::Relaxed);
                if patience == AGAIN.0 {
                    warn!(to, why, kind = notes[0].kind, "notification failed, will retry");
                }
                // In order: no note overtakes one that could not be sent.
                nap(patience, until);
                patience = (patience * 2).min(AGAIN.1);
                break;
            }
            if patience > AGAIN.0 {
                info!(to, "notifications go through again");
            }
            debug!(to, kind = notes[0].kind, golem = notes[0].golem, notes = notes.len(), "notified");
            patience = AGAIN.0;
            if !crossed_out(desk, to, some.iter().map(|waiting| waiting.number).collect()) {
                return;
            }
            desk.board.notes_sent.fetch_add(notes.len() as u64, Ordering::Relaxed);
        }
    }
}

/// Whether a note may still wait for others to go out with. A clock that went back makes no note wait.
fn is_young(note: &Note, gather: Duration) -> bool {
    (0..gather.as_millis() as i64).contains(&(now_ms() - note.at))
}

/// Crosses notes out that need not be sent to this target any more; false if nothing can be written down.
fn crossed_out(desk: &Desk, to: &str, numbers: Vec<u64>) -> bool {
    let told: Vec<(u64, String)> = numbers.into_iter().map(|number| (number, to.to_owned())).collect();
    told.is_empty() || desk.commit(Batch { told, ..Batch::default() }).is_ok()
}

/// Prints every note as a line where the host was started.
fn print_all(print: fn(&Note), desk: &Desk, until: &Until) {
    while !until.is_over() {
        let waiting = desk.waiting(HERE, TOGETHER).unwrap_or_default();
        if waiting.is_empty() {
            std::thread::sleep(LOOK);
            continue;
        }
        waiting.iter().for_each(|waiting| print(&waiting.note));
        if !crossed_out(desk, HERE, waiting.iter().map(|waiting| waiting.number).collect()) {
            return;
        }
    }
}

fn nap(length: Duration, until: &Until) {
    let end = Instant::now() + length;
    while Instant::now() < end && !until.is_over() {
        std::thread::sleep(LOOK.min(end.saturating_duration_since(Instant::now())));
    }
}

/// Keeps the outgoing heartbeat, whose silence tells a monitor that this host is gone; the daily line; and trouble with
/// the disk, which cannot wait to be written down.
fn keep_time(telling: &Telling, desk: &Desk, client: &Client, until: &Until) {
    let mut beat = Instant::now();
    let (mut lined, mut alarm) = (None, DirectAlarm::default());
    while !until.is_over() {
        if let Some((url, every)) = &telling.heartbeat
            && Instant::now() >= beat
        {
            beat = Instant::now() + *every;
            // A missed beat is not repeated: the next says the same.
            if let Err(why) = accepted(client.post(url).body("").send()) {
                debug!(why, "a heartbeat was missed");
            }
        }
        let today = now_ms().div_euclid(DAY_MS);
        if let Some(hour) = telling.daily
            && lined != Some(today)
            && let Some(note) = daily(&desk.board, hour, now_ms())
        {
            lined = Some(today);
            desk.note(note);
        }
        alarm.raise(desk.board.trouble(), telling, client, &until.now);
        std::thread::sleep(LOOK);
    }
}

/// The alarm that is sent without being written down first, because nothing can be: once for each trouble, to each
/// target until it has accepted it.
#[derive(Default)]
struct DirectAlarm {
    note: Option<Note>,
    unheard: Vec<Target>,
    troubled: bool,
    again: Option<(Instant, Duration)>,
}

impl DirectAlarm {
    fn raise(&mut self, trouble: Option<String>, telling: &Telling, client: &Client, stop: &AtomicBool) {
        if let (false, Some(why)) = (self.troubled, &trouble) {
            let text = format!("nothing can be written down, so every golem waits: {why}");
            let note = self.note.insert(host_note(format!("disk:{}", now_ms()), "disk", None, text, now_ms()));
            let note: &Note = note;
            let wants = |target: &&Target| target.wants(note);
            (self.unheard, self.again) = (telling.targets.iter().filter(wants).cloned().collect(), None);
        }
        self.troubled = trouble.is_some();
        let Some(note) = &self.note else { return };
        if self.unheard.is_empty() || self.again.is_some_and(|(when, _)| Instant::now() < when) {
            return;
        }
        self.unheard.retain(|target| target.way.tell(client, &[note], stop).is_err());
        let patience = self.again.map_or(AGAIN.0, |(_, patience)| (patience * 2).min(AGAIN.1));
        self.again = Some((Instant::now() + patience, patience));
    }
}

/// The daily line, from this hour on; its key makes it one a day.
fn daily(board: &Board, hour: u8, now: i64) -> Option<Note> {
    let (day, of_day) = (now.div_euclid(DAY_MS), now.rem_euclid(DAY_MS));
    // A host that comes up in the evening has no morning line to give.
    let since = of_day - i64::from(hour) * 3_600_000;
    if !(0..6 * 3_600_000).contains(&since) {
        return None;
    }
    Some(host_note(format!("daily:{day}"), "daily", None, summary(board), now))
}

/// Money, skill, positions and refusals of all golems, in one line.
pub(crate) fn summary(board: &Board) -> String {
    let all = board.all();
    let living: Vec<_> = all.iter().filter(|status| status.state.is_here()).collect();
    let dead = all.iter().filter(|status| status.state == State::Dead).count();
    let unlived = all.iter().filter(|status| status.state == State::Unlived).count();
    let unlived = if unlived == 0 { String::new() } else { format!(", {unlived} not running") };
    let sum = |of: fn(&Status) -> Usdc| living.iter().map(|status| of(status)).sum::<Usdc>();
    let skill = living.iter().map(|status| status.skill).sum::<f64>() / living.len().max(1) as f64;
    let exposed = living.iter().filter(|status| status.holding != 0).count();
    let stopped = all.iter().filter(|status| status.state == State::Stopped).count();
    format!(
        "{} golems living, {dead} dead, {stopped} stopped{unlived}; {} to live on, capital {} of {} given; skill {skill:.2}; \
         {exposed} exposed; {} refusals since the host came up",
        living.len(),
        sum(|status| status.credit),
        sum(|status| status.worth),
        sum(|status| status.given),
        all.iter().map(|status| status.refusals).sum::<u64>()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_daily_line_comes_once_a_day_and_not_in_the_evening() {
        let board = Board::default();
        let at = |hour: i64, minute: i64| 20_000 * DAY_MS + hour * 3_600_000 + minute * 60_000;
        assert!(daily(&board, 8, at(7, 59)).is_none());
        let line = daily(&board, 8, at(8, 0)).unwrap();
        assert_eq!(line.key, daily(&board, 8, at(13, 59)).unwrap().key, "the same line");
        assert!(daily(&board, 8, at(20, 0)).is_none());
        assert!(line.text.starts_with("0 golems living"), "{}", line.text);
    }
}

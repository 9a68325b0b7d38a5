//! Following series until it is stopped: one thread for each series, which asks its venue politely and writes down what
//! comes.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use golem::Name;
use mind::http;
use reqwest::blocking::Client;
use tracing::{debug, info, warn};
use world::series::Writer;

use super::follower::{Follower, News, Which};
use super::plan::{Plan, Source};
use super::venue::{Trouble, Venue, VenueAnswer};
use crate::home::Home;
use crate::locks::lock;
use crate::{Error, wall};

const TIMEOUT: Duration = Duration::from_secs(15);
/// Bytes of an answer that are read; a thousand bars are a fifth of it.
const MOST: u64 = 1 << 20;
/// How often plans are read again, for series that are new or no longer to be followed.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// The longest a thread waits without checking whether it is to stop.
const STEP: Duration = Duration::from_millis(100);

/// A listener, which is told when a series has grown and gets news for the owner.
pub trait Hears: Send + Sync {
    fn grown(&self, file: &Path);
    fn news(&self, news: News);
}

/// Turns at the venues, so that questions of all series to one venue are as far apart as it wants.
#[derive(Debug, Default)]
struct Turns(Mutex<BTreeMap<(Venue, String), Instant>>);

impl Turns {
    fn wait(&self, source: &Source) {
        let mut turns = lock(&self.0);
        let now = Instant::now();
        let turn = turns.entry((source.venue, source.address().to_owned())).or_insert(now);
        let at = (*turn).max(now);
        *turn = at + source.venue.apart();
        drop(turns);
        std::thread::sleep(at - now);
    }
}

/// All series of a home that are followed, until this is dropped.
#[derive(Debug)]
pub struct Feeds {
    stop: Arc<AtomicBool>,
    looks: Option<JoinHandle<()>>,
}

/// A series that is followed by a thread.
struct Followed {
    plan: Plan,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Feeds {
    /// Follows every series of a home, also those that are added later; or `only` one of them.
    pub fn begin(home: &Home, only: Option<&Path>, hears: Arc<dyn Hears>) -> Feeds {
        let stop = Arc::new(AtomicBool::new(false));
        let (home, only, stopped) = (home.clone(), only.map(Path::to_owned), Arc::clone(&stop));
        let looks = std::thread::spawn(move || {
            let (mut followed, turns) = (BTreeMap::new(), Arc::new(Turns::default()));
            while !stopped.load(Ordering::SeqCst) {
                let mut plans = Plan::list(&home).unwrap_or_default();
                plans.retain(|plan| only.as_ref().is_none_or(|only| plan.file(&home) == *only));
                see_to(&mut followed, &plans, |plan| one(&home, plan, &turns, &hears));
                rest(LOOK_EVERY, &stopped);
            }
            see_to(&mut followed, &[], |_| unreachable!("nothing is to begin"));
            for (_, one) in followed {
                let _ = one.thread.join();
            }
        });
        Feeds { stop, looks: Some(looks) }
    }
}

impl Drop for Feeds {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        if let Some(looks) = self.looks.take() {
            let _ = looks.join();
        }
    }
}

/// Stops series whose plan is gone or changed, and begins those that are planned.
fn see_to(followed: &mut BTreeMap<Name, Followed>, plans: &[Plan], mut begin: impl FnMut(Plan) -> Followed) {
    for one in followed.values().filter(|one| !plans.contains(&one.plan)) {
        one.stop.store(true, Ordering::SeqCst);
    }
    followed.retain(|_, one| !one.thread.is_finished());
    for plan in plans {
        if !followed.contains_key(&plan.name) {
            followed.insert(plan.name.clone(), begin(plan.clone()));
        }
    }
}

/// Follows one series, until it is stopped.
fn one(home: &Home, plan: Plan, turns: &Arc<Turns>, hears: &Arc<dyn Hears>) -> Followed {
    let stop = Arc::new(AtomicBool::new(false));
    let (file, turns, hears, stopped) = (plan.file(home), Arc::clone(turns), Arc::clone(hears), Arc::clone(&stop));
    let planned = plan.clone();
    let thread = std::thread::spawn(move || {
        let name = &planned.name;
        while !stopped.load(Ordering::SeqCst) {
            let writer = match Writer::open(&file, planned.bar()) {
                Ok(writer) => writer,
                // Another process follows it, and may stop.
                Err(world::Error::Busy { .. }) => {
                    rest(Duration::from_secs(5), &stopped);
                    continue;
                }
                Err(why) => {
                    let text = format!("{name} cannot be followed: {why}");
                    hears.news(News { key: format!("{name}:file:{}", wall::now_ms() / 86_400_000), text });
                    rest(Duration::from_secs(60), &stopped);
                    continue;
                }
            };
            info!(series = %name, from = %planned.first, "followed");
            let mut follower = Follower::new(planned.clone(), writer);
            let followed = rounds(
                &mut follower,
                &turns,
                |_| !stopped.load(Ordering::SeqCst),
                |_, added, news| {
                    if added > 0 {
                        hears.grown(&file);
                    }
                    news.into_iter().for_each(|news| hears.news(news));
                },
            );
            if let Err(why) = followed {
                warn!(series = %name, %why, "following failed, will retry");
                rest(Duration::from_secs(10), &stopped);
            }
        }
    });
    Followed { plan, stop, thread }
}

/// Asks and hears as long as `goes_on` says so; tells how many bars have come each time, and news.
fn rounds(
    follower: &mut Follower,
    turns: &Turns,
    goes_on: impl Fn(&Follower) -> bool,
    mut tell: impl FnMut(&Follower, u64, Vec<News>),
) -> Result<(), Error> {
    let asks = Asks::new()?;
    while goes_on(follower) {
        let Some(question) = follower.ask(wall::now_ms()) else {
            std::thread::sleep(STEP);
            continue;
        };
        turns.wait(&question.source);
        let (added, news) = follower.hear(wall::now_ms(), &question, asks.ask(&question.url))?;
        let second = question.which == Which::Second;
        debug!(series = %follower.plan().name, venue = %question.source.venue, second, added, "asked");
        tell(follower, added, news);
    }
    Ok(())
}

/// Follows one series on this thread, as long as `goes_on` says so.
pub fn follow(
    plan: &Plan,
    home: &Home,
    goes_on: impl Fn(&Follower) -> bool,
    tell: impl FnMut(&Follower, u64, Vec<News>),
) -> Result<(), Error> {
    let mut follower = Follower::new(plan.clone(), Writer::open(plan.file(home), plan.bar())?);
    rounds(&mut follower, &Turns::default(), goes_on, tell)
}

/// Asks a venue once, to see how it is: when its newest bar opened, and how far its clock is from this one, in
/// milliseconds.
pub fn sound(plan: &Plan, source: &Source) -> Result<(golem::Time, Option<i64>), Trouble> {
    let now = wall::now_ms();
    let from = golem::Time::millis((now as u64).saturating_sub(plan.bar_ms * 100));
    let asks = Asks::new().map_err(|why| Trouble::Away(why.to_string()))?;
    let answer =
        asks.ask(&source.venue.url(source.address(), &source.product, plan.bar(), from)).map_err(Trouble::Away)?;
    let off = answer.date_ms.map(|theirs| now - theirs);
    let bars = source.venue.read(&answer)?;
    let newest = bars.iter().map(|bar| bar.opened).max();
    let newest = newest.ok_or_else(|| Trouble::Away("it answers without any bars".to_owned()))?;
    Ok((newest, off))
}

/// The client that asks venues.
#[derive(Debug)]
pub struct Asks(Client);

impl Asks {
    pub fn new() -> Result<Asks, Error> {
        let client = http::blocking().timeout(TIMEOUT).user_agent(http::AGENT).build();
        client.map(Asks).map_err(|why| Error::Host(format!("cannot make a client: {why}")))
    }

    pub fn ask(&self, url: &str) -> Result<VenueAnswer, String> {
        let unreached = |why: reqwest::Error| format!("it cannot be reached: {}", reason(&why));
        let answer = self.0.get(url).send().map_err(unreached)?;
        let header = |name: &str| answer.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let retry_after = header("retry-after").and_then(|text| text.trim().parse().ok());
        let date = header("date").and_then(|text| jiff::fmt::rfc2822::parse(&text).ok());
        let date_ms = date.map(|date| date.timestamp().as_millisecond());
        let (status, mut body) = (answer.status().as_u16(), Vec::new());
        answer.take(MOST).read_to_end(&mut body).map_err(|_| "its answer broke off".to_owned())?;
        Ok(VenueAnswer { status, retry_after, date_ms, body })
    }
}

/// The reason, without the address, which the owner knows.
fn reason(why: &reqwest::Error) -> String {
    if why.is_timeout() { "it does not answer in time".to_owned() } else { "no connection".to_owned() }
}

fn rest(length: Duration, stop: &AtomicBool) {
    let until = Instant::now() + length;
    while Instant::now() < until && !stop.load(Ordering::SeqCst) {
        std::thread::sleep(STEP.min(until.saturating_duration_since(Instant::now())));
    }
}

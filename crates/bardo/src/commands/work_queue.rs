//! Many machines for one experiment: paths go out through a work queue of JetStream's, and what came of them comes back
//! through a stream. A worker that takes a path and is killed has done nothing; another takes it. Every message bears the seal of
//! the run's key, and what comes back is judged by `answers`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use async_nats::ConnectOptions;
use async_nats::jetstream::consumer::{AckPolicy, PullConsumer, pull};
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::stream::{Config, RetentionPolicy, StorageType, Stream};
use async_nats::jetstream::{self, AckKind, Context, Message};
use futures_util::StreamExt;
use golem::hex;
use lab::experiment::conduct::Workers;
use lab::experiment::work::{Bench, Done, Tuned, Unit};
use lab::experiment::{self, Experiment, sample};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use shell::Error;

use crate::args::WorkArgs;
use crate::commands::answers::{Again, Answers, Secrets, of_workers};
use crate::commands::run_key::{RunKey, secret_in};
use crate::exit;
use crate::output::{complain, count, line};
use crate::signals;

const WORK: &str = "bardo-lab-work";
const DONE: &str = "bardo-lab-done";
const PLAN: &str = "bardo-lab-plan";
/// How long a worker that has taken a path may be silent before another is given the path.
const SILENCE: Duration = Duration::from_secs(15);
/// How often a worker says that it is still at a path.
const STILL: Duration = Duration::from_secs(4);
/// After so long without a result, the queue is checked for paths that no worker has any more.
const AGAIN: Duration = Duration::from_secs(20);
const PATIENCE: Duration = Duration::from_secs(10);
/// How long results are kept for the machine that asked for them.
const KEPT: Duration = Duration::from_secs(14 * 86_400);

/// By which name the one who asks seals what it says.
const ASKS: &str = "asks";

/// The plan that every worker must know.
#[derive(Debug, Serialize, Deserialize)]
struct WorkPlan {
    experiment: Experiment,
    tuned: Tuned,
}

impl WorkPlan {
    fn hash(&self) -> String {
        hex::encode(&Sha256::digest(serde_json::to_vec(self).expect("plain data")))
    }
}

/// This program, to the byte.
pub(super) fn this_program() -> String {
    static HASH: OnceLock<String> = OnceLock::new();
    let hash = || {
        let bytes = std::env::current_exe().and_then(std::fs::read).unwrap_or_default();
        format!("bardo {} sha256:{}", env!("CARGO_PKG_VERSION"), hex::encode(&Sha256::digest(bytes)))
    };
    HASH.get_or_init(hash).clone()
}

/// A path to be run.
#[derive(Debug, Serialize, Deserialize)]
struct Task {
    run: String,
    /// The hash of the plan it is to be run by.
    plan: String,
    /// By which program, to the byte: others need not come to the same.
    program: String,
    unit: Unit,
}

/// Whether a stop was asked for; what is under way may be finished first, unless it is asked for again.
pub(super) fn told_to_stop() -> Result<Arc<AtomicBool>, Error> {
    let stop = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&stop);
    signals::listen(move |hang_up| {
        if !hang_up && told.swap(true, Ordering::Relaxed) {
            std::process::exit(i32::from(exit::INTERRUPTED));
        }
    })?;
    Ok(stop)
}

/// Errors of the lab as errors of the command: those in its own words are about how it was used.
pub(super) fn said(error: experiment::Error) -> Error {
    match error {
        experiment::Error::Workers(error) => match error.downcast() {
            Ok(own) => *own,
            Err(other) => Error::Host(other.to_string()),
        },
        experiment::Error::Settings(error) => error.into(),
        experiment::Error::Lives(lab::lives::Error::Life(error)) => broke(error),
        experiment::Error::Lives(lab::lives::Error::Io { what, path, source }) => Error::Io { what, path, source },
        experiment::Error::Io { what, path, source } => Error::Io { what, path, source },
        other => Error::Usage(other.to_string()),
    }
}

/// An error of a stage under the name it has where lives are real.
pub(super) fn broke(error: lab::rehearsal::Error) -> Error {
    match error {
        lab::rehearsal::Error::World(error) => error.into(),
        lab::rehearsal::Error::Fault(error) => error.into(),
    }
}

fn broken(why: impl std::fmt::Display) -> Error {
    Error::Host(format!("the work queue does not answer as it should: {why}"))
}

async fn connect(url: &str) -> Result<Context, Error> {
    let options =
        ConnectOptions::new().connection_timeout(Duration::from_secs(5)).name("bardo lab").retry_on_initial_connect();
    let client =
        options.connect(url).await.map_err(|why| Error::Host(format!("NATS cannot be reached at {url}: {why}")))?;
    let mut context = jetstream::new(client);
    context.set_timeout(PATIENCE);
    let stream = |name: &str, subject: &str, retention, each| Config {
        name: name.to_owned(),
        subjects: vec![format!("bardo.lab.{subject}.*")],
        retention,
        storage: StorageType::File,
        max_age: KEPT,
        max_messages_per_subject: each,
        ..Config::default()
    };
    for config in [
        stream(WORK, "work", RetentionPolicy::WorkQueue, -1),
        stream(DONE, "done", RetentionPolicy::Limits, -1),
        stream(PLAN, "plan", RetentionPolicy::Limits, 1),
    ] {
        patiently(|| context.get_or_create_stream(config.clone())).await?;
    }
    Ok(context)
}

/// A connection to the work queue; none if a stop is asked for while waiting for it.
async fn connect_unless(url: &str, stop: &AtomicBool) -> Result<Option<Context>, Error> {
    let told = async {
        while !stop.load(Ordering::Relaxed) {
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    };
    tokio::select! {
        context = connect(url) => context.map(Some),
        () = told => Ok(None),
    }
}

/// Asks until there is an answer: a server that is being restarted comes back.
async fn patiently<T, E: std::fmt::Display, F: Future<Output = Result<T, E>>>(
    mut ask: impl FnMut() -> F,
) -> Result<T, Error> {
    let mut told = String::new();
    for _ in 0..60 {
        match ask().await {
            Ok(answer) => return Ok(answer),
            Err(why) => {
                if told.is_empty() {
                    complain(format!("the work queue does not answer ({why}); asking it again for a few minutes"));
                }
                told = why.to_string();
            }
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    Err(broken(told))
}

async fn publish(context: &Context, subject: &str, payload: Vec<u8>) -> Result<u64, Error> {
    patiently(|| async {
        let message = PublishMessage::build().payload(payload.clone().into());
        let sent = context.send_publish(subject.to_owned(), message).await.map_err(|why| why.to_string())?;
        sent.await.map(|ack| ack.sequence).map_err(|why| why.to_string())
    })
    .await
}

/// Workers at a work queue that have the key of the run.
pub(crate) struct Queue {
    url: String,
    folder: PathBuf,
    key: RunKey,
    /// Which paths are lived again follows from this, and it never leaves the machine.
    seed: String,
}

impl Queue {
    /// A queue for what is kept in this folder, with a key and a seed of its own unless there are some.
    pub(crate) fn at(url: &str, folder: &Path, key: Option<&Path>) -> Result<Queue, Error> {
        std::fs::create_dir_all(folder).map_err(|source| Error::Io {
            what: "cannot make",
            path: folder.to_owned(),
            source,
        })?;
        let secrets = Secrets::of(folder, key);
        let key = RunKey::of(&secret_in(&secrets.key)?);
        complain(format!("workers need the key of this run: bardo lab work {url} --key {}", secrets.key.display()));
        Ok(Queue { url: url.to_owned(), folder: folder.to_owned(), key, seed: secret_in(&secrets.seed)?.reveal() })
    }

    /// Hands out what is wanted and takes in what comes of it.
    async fn hand_out(
        &self,
        bench: &Bench,
        tuned: &Tuned,
        stop: &AtomicBool,
        mut answers: Answers<'_>,
    ) -> Result<(), experiment::Error> {
        let Some(context) = connect_unless(&self.url, stop).await.map_err(of_workers)? else { return Ok(()) };
        let run = answers.run.clone();
        let stream = patiently(|| context.get_stream(DONE)).await.map_err(of_workers)?;
        let listening = pull::Config {
            filter_subject: answers.subject(),
            ack_policy: AckPolicy::Explicit,
            inactive_threshold: KEPT,
            ..pull::Config::default()
        };
        let results: PullConsumer =
            patiently(|| stream.create_consumer(listening.clone())).await.map_err(of_workers)?;
        // What others have done already for the same experiment, before anything is asked for again.
        while let Some(message) = next(&results, Duration::from_secs(1)).await {
            answers.hear(&message.payload)?;
            let _ = message.ack().await;
        }
        let work = format!("bardo.lab.work.{run}");
        let plan = WorkPlan { experiment: bench.experiment.clone(), tuned: tuned.clone() };
        let task = |unit: &Unit, plan: &str| {
            let (run, program) = (run.clone(), bench.program.clone());
            self.key.seal(&work, ASKS, &Task { run, plan: plan.to_owned(), program, unit: unit.clone() })
        };
        let (subject, hash) = (format!("bardo.lab.plan.{run}"), plan.hash());
        publish(&context, &subject, self.key.seal(&subject, ASKS, &plan)).await.map_err(of_workers)?;
        let queue = patiently(|| context.get_stream(WORK)).await.map_err(of_workers)?;
        patiently(|| async { queue.purge().filter(work.as_str()).await }).await.map_err(of_workers)?;
        let ask = async |wanted: &BTreeSet<Unit>| -> Result<(), Error> {
            for unit in wanted {
                publish(&context, &work, task(unit, &hash)).await?;
            }
            Ok(())
        };
        ask(&answers.wanted).await.map_err(of_workers)?;
        let mut heard = Instant::now();
        while !answers.all_there() && !stop.load(Ordering::Relaxed) {
            if let Some(message) = next(&results, Duration::from_secs(1)).await {
                answers.hear(&message.payload)?;
                let _ = message.ack().await;
                heard = Instant::now();
            }
            answers.compare()?;
            // Paths that were lost on the way are asked for again, once no worker has any of them.
            if heard.elapsed() > AGAIN && waiting(&queue, &work).await == Some(0) {
                ask(&answers.wanted).await.map_err(of_workers)?;
                heard = Instant::now();
            }
        }
        Ok(())
    }
}

impl Workers for Queue {
    fn work(
        &mut self,
        bench: &Bench,
        units: &[Unit],
        tuned: &Tuned,
        stop: &AtomicBool,
        each: &mut dyn FnMut(Done) -> Result<(), experiment::Error>,
    ) -> Result<(), experiment::Error> {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|e| of_workers(broken(e)))?;
        let run = self.key.run(&bench.experiment.digest()?, &bench.program);
        let sample = sample::drawn(bench, self.seed.as_bytes())?;
        std::thread::scope(|scope| {
            let answers = Answers {
                key: &self.key,
                run,
                folder: &self.folder,
                wanted: units.iter().cloned().collect(),
                sample,
                again: Again::begin(scope, bench, tuned),
                each,
                strangers: 0,
            };
            runtime.block_on(self.hand_out(bench, tuned, stop, answers))
        })
    }
}

/// The number of paths of a run that are not done yet, taken or not.
async fn waiting(queue: &Stream, subject: &str) -> Option<usize> {
    let mut subjects = queue.info_with_subjects(subject).await.ok()?;
    let mut waiting = 0;
    while let Some(Ok((_, messages))) = subjects.next().await {
        waiting += messages;
    }
    Some(waiting)
}

/// The next message, if one comes within this time.
async fn next(consumer: &PullConsumer, within: Duration) -> Option<Message> {
    let mut some = consumer.fetch().max_messages(1).expires(within).messages().await.ok()?;
    some.next().await?.ok()
}

/// `lab work`: takes paths from a queue and runs them, until it is told to stop.
pub(crate) fn work(args: &WorkArgs) -> Result<ExitCode, Error> {
    let stop = told_to_stop()?;
    let keys = args.key.iter().map(|path| RunKey::read(path)).collect::<Result<Vec<_>, Error>>()?;
    let threads = args.threads.or_else(|| std::thread::available_parallelism().ok().map(Into::into)).unwrap_or(1);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().map_err(broken)?;
    runtime.block_on(async {
        let Some(context) = connect_unless(&args.url, &stop).await? else {
            return Ok(ExitCode::from(exit::INTERRUPTED));
        };
        line(format!("waiting for work at {}; Ctrl-C ends it", args.url));
        let (data, name) = (args.data.clone(), own_name());
        let shop = Arc::new(Shop { context, keys, name, data, plans: tokio::sync::Mutex::default() });
        let slots = (0..threads.max(1)).map(|_| tokio::spawn(serve(Arc::clone(&shop), Arc::clone(&stop))));
        let mut all = 0;
        for slot in slots.collect::<Vec<_>>() {
            all += slot.await.map_err(broken)??;
        }
        line(format!("{} paths run", count(all)));
        Ok(ExitCode::SUCCESS)
    })
}

/// The name of this worker where its results are judged: its machine and its process.
fn own_name() -> String {
    let machine = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let machine = Some(machine.trim()).filter(|name| !name.is_empty()).unwrap_or("unnamed");
    format!("{machine}/{}", std::process::id())
}

/// The data and settings that paths of one run share.
type Equipped = Arc<(Bench, Tuned)>;

/// State that the slots of one worker process share.
struct Shop {
    context: Context,
    /// Of the runs it works for.
    keys: Vec<RunKey>,
    name: String,
    data: Option<PathBuf>,
    /// By run: the plan that was needed last, and its hash.
    plans: tokio::sync::Mutex<BTreeMap<String, (String, Equipped)>>,
}

impl Shop {
    /// A task, and the key it is sealed with, if that is one of ours.
    fn task(&self, subject: &str, message: &[u8]) -> Option<(&RunKey, Task)> {
        self.keys.iter().find_map(|key| Some((key, key.open::<Task>(subject, message)?.what)))
    }

    async fn plan(&self, key: &RunKey, task: &Task) -> Result<Equipped, Error> {
        let mut plans = self.plans.lock().await;
        if let Some((_, plan)) = plans.get(&task.run).filter(|(hash, _)| *hash == task.plan) {
            return Ok(Arc::clone(plan));
        }
        let stream = patiently(|| self.context.get_stream(PLAN)).await?;
        let subject = format!("bardo.lab.plan.{}", task.run);
        let message = patiently(|| stream.get_last_raw_message_by_subject(&subject)).await?;
        let heard = key.open::<WorkPlan>(&subject, &message.payload).map(|heard| heard.what);
        // An older one may have been sent again by a stranger; it bears the seal as well.
        let Some(mut plan) = heard.filter(|plan| plan.hash() == task.plan) else {
            return Err(broken("the newest plan in the queue is not the plan of this path"));
        };
        if let Some(folder) = &self.data {
            plan.experiment.find_data_in(folder);
        }
        if task.program != this_program() {
            return Err(Error::Usage(
                "this build of bardo is not the one that hands out the paths; use the same build".to_owned(),
            ));
        }
        let digest = plan.experiment.digest().map_err(said)?;
        if key.run(&digest, &task.program) != task.run {
            return Err(Error::Usage(
                "the data here is not what this experiment was sealed with; see --data".to_owned(),
            ));
        }
        let plan = Arc::new((Bench::new(plan.experiment).map_err(said)?, plan.tuned));
        plans.insert(task.run.clone(), (task.plan.clone(), Arc::clone(&plan)));
        Ok(plan)
    }
}

/// Somebody else may be able to do it; meanwhile this one does something else.
async fn give_back(message: &Message, why: &Error) {
    complain(format!("a path was given back: {why}"));
    leave(message).await;
}

async fn leave(message: &Message) {
    let _ = message.ack_with(AckKind::Nak(Some(SILENCE))).await;
}

async fn serve(shop: Arc<Shop>, stop: Arc<AtomicBool>) -> Result<u64, Error> {
    let stream = patiently(|| shop.context.get_stream(WORK)).await?;
    let config = pull::Config {
        durable_name: Some("workers".to_owned()),
        ack_policy: AckPolicy::Explicit,
        ack_wait: SILENCE,
        max_ack_pending: 100_000,
        ..pull::Config::default()
    };
    let mut done = 0;
    let mut tasks: PullConsumer = patiently(|| stream.get_or_create_consumer("workers", config.clone())).await?;
    while !stop.load(Ordering::Relaxed) {
        let Some(message) = next(&tasks, Duration::from_secs(2)).await else {
            // A server that was away may have forgotten who listened.
            tasks = patiently(|| stream.get_or_create_consumer("workers", config.clone())).await?;
            continue;
        };
        // What bears no seal of ours may bear that of a run which others work for.
        let Some((key, task)) = shop.task(&message.subject, &message.payload) else {
            leave(&message).await;
            continue;
        };
        let plan = match shop.plan(key, &task).await {
            Ok(plan) => plan,
            Err(why) => {
                give_back(&message, &why).await;
                continue;
            }
        };
        let unit = task.unit.clone();
        let mut running = tokio::task::spawn_blocking(move || plan.0.run(&unit, &plan.1));
        let result = loop {
            tokio::select! {
                result = &mut running => break result.map_err(broken)?,
                () = tokio::time::sleep(STILL) => {
                    let _ = message.ack_with(AckKind::Progress).await;
                }
            }
        };
        let result = match result {
            Ok(result) => result,
            Err(why) => {
                give_back(&message, &said(why)).await;
                continue;
            }
        };
        let subject = format!("bardo.lab.done.{}", task.run);
        publish(&shop.context, &subject, key.seal(&subject, &shop.name, &result)).await?;
        let _ = message.double_ack().await;
        done += 1;
    }
    Ok(done)
}

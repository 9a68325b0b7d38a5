//! Many machines for one experiment: paths go out through a work queue of JetStream's, and what came of them comes back
//! through a stream. Whoever takes a path and is killed has done nothing; another takes it. The same path twice is the same
//! result, and counts once.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
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
use host::Error;
use lab::experiment::conduct::Hands;
use lab::experiment::work::{Bench, Done, Tuned, Unit};
use lab::experiment::{self, Experiment};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::args::WorkArgs;
use crate::exit;
use crate::output::{complain, count, line};
use crate::signals;

const WORK: &str = "bardo-lab-work";
const DONE: &str = "bardo-lab-done";
const PLAN: &str = "bardo-lab-plan";
/// How long somebody may be silent who has taken a path, before another is given it.
const SILENCE: Duration = Duration::from_secs(15);
/// How often who is at it says so.
const STILL: Duration = Duration::from_secs(4);
/// After so long without a result it is looked at whether anybody still has what was asked for.
const AGAIN: Duration = Duration::from_secs(20);
const PATIENCE: Duration = Duration::from_secs(10);
/// How long results are kept for whoever asked for them.
const KEPT: Duration = Duration::from_secs(14 * 86_400);

/// What whoever works must know.
#[derive(Debug, Serialize, Deserialize)]
struct Plan {
    experiment: Experiment,
    tuned: Tuned,
}

/// This program, to the byte.
pub(super) fn this_program() -> String {
    static HASH: OnceLock<String> = OnceLock::new();
    let hash = || {
        let bytes = std::env::current_exe().and_then(std::fs::read).unwrap_or_default();
        let hash: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        format!("bardo {} sha256:{hash}", env!("CARGO_PKG_VERSION"))
    };
    HASH.get_or_init(hash).clone()
}

/// A path to be run.
#[derive(Debug, Serialize, Deserialize)]
struct Task {
    run: String,
    /// Which plan it is to be run by: this one or a newer.
    plan: u64,
    /// By which program, to the byte: others need not come to the same.
    program: String,
    unit: Unit,
}

/// Whether somebody has said that this is to end; what is under way may be finished first, unless they say it again.
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

/// What the lab says in its own words is about what was asked of it.
pub(super) fn said(error: experiment::Error) -> Error {
    match error {
        experiment::Error::Host(error) | experiment::Error::Lives(lab::lives::Error::Host(error)) => error,
        experiment::Error::Io { what, path, source } => Error::Io { what, path, source },
        other => Error::Usage(other.to_string()),
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

/// The same, unless somebody says that this is to end before there is anything to finish.
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

/// Whoever listens at a work queue.
pub(crate) struct Queue {
    pub(crate) url: String,
}

impl Hands for Queue {
    fn work(
        &mut self,
        bench: &Bench,
        units: &[Unit],
        tuned: &Tuned,
        stop: &AtomicBool,
        each: &mut dyn FnMut(Done) -> Result<(), experiment::Error>,
    ) -> Result<(), experiment::Error> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|e| experiment::Error::Host(broken(e)))?;
        runtime.block_on(hand_out(&self.url, bench, units, tuned, stop, each))
    }
}

async fn hand_out(
    url: &str,
    bench: &Bench,
    units: &[Unit],
    tuned: &Tuned,
    stop: &AtomicBool,
    each: &mut dyn FnMut(Done) -> Result<(), experiment::Error>,
) -> Result<(), experiment::Error> {
    let Some(context) = connect_unless(url, stop).await? else { return Ok(()) };
    let digest = bench.experiment.digest()?;
    let run = run_of(&digest, &bench.program);
    let (work, done) = (format!("bardo.lab.work.{run}"), format!("bardo.lab.done.{run}"));
    let mut wanted: BTreeSet<Unit> = units.iter().cloned().collect();
    let stream = patiently(|| context.get_stream(DONE)).await?;
    let listening = pull::Config {
        filter_subject: done.clone(),
        ack_policy: AckPolicy::Explicit,
        inactive_threshold: KEPT,
        ..pull::Config::default()
    };
    let results: PullConsumer = patiently(|| stream.create_consumer(listening.clone())).await?;
    // What others have done already for the same experiment, before anything is asked for again.
    let mut take = |message: &Message, wanted: &mut BTreeSet<Unit>| -> Result<(), experiment::Error> {
        let one = serde_json::from_slice::<Done>(&message.payload).ok().filter(|one| wanted.remove(&one.unit));
        one.map_or(Ok(()), &mut *each)
    };
    while let Some(message) = next(&results, Duration::from_secs(1)).await {
        take(&message, &mut wanted)?;
        let _ = message.ack().await;
    }
    let plan = Plan { experiment: bench.experiment.clone(), tuned: tuned.clone() };
    let plan =
        publish(&context, &format!("bardo.lab.plan.{run}"), serde_json::to_vec(&plan).expect("plain data")).await?;
    let queue = patiently(|| context.get_stream(WORK)).await?;
    patiently(|| async { queue.purge().filter(work.as_str()).await }).await?;
    let ask = async |wanted: &BTreeSet<Unit>| -> Result<(), Error> {
        for unit in wanted {
            let task = Task { run: run.clone(), plan, program: bench.program.clone(), unit: unit.clone() };
            publish(&context, &work, serde_json::to_vec(&task).expect("plain data")).await?;
        }
        Ok(())
    };
    ask(&wanted).await?;
    let mut heard = Instant::now();
    while !wanted.is_empty() && !stop.load(Ordering::Relaxed) {
        if let Some(message) = next(&results, Duration::from_secs(1)).await {
            take(&message, &mut wanted)?;
            let _ = message.ack().await;
            heard = Instant::now();
        }
        // Whatever became of what was asked for, it is asked for again once nobody has it any more.
        if heard.elapsed() > AGAIN && waiting(&queue, &work).await == Some(0) {
            ask(&wanted).await?;
            heard = Instant::now();
        }
    }
    Ok(())
}

/// Which experiment run by which program: only these results belong together.
fn run_of(digest: &str, program: &str) -> String {
    Sha256::digest(format!("{digest} {program}")).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// Paths of a run that nobody has done yet, taken or not.
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
    let threads = args.threads.or_else(|| std::thread::available_parallelism().ok().map(Into::into)).unwrap_or(1);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().map_err(broken)?;
    runtime.block_on(async {
        let Some(context) = connect_unless(&args.url, &stop).await? else {
            return Ok(ExitCode::from(exit::INTERRUPTED));
        };
        line(format!("waiting for work at {}; Ctrl-C ends it", args.url));
        let shop = Arc::new(Shop { context, data: args.data.clone(), plans: tokio::sync::Mutex::default() });
        let slots = (0..threads.max(1)).map(|_| tokio::spawn(serve(Arc::clone(&shop), Arc::clone(&stop))));
        let mut all = 0;
        for slot in slots.collect::<Vec<_>>() {
            all += slot.await.map_err(broken)??;
        }
        line(format!("{} paths run", count(all)));
        Ok(ExitCode::SUCCESS)
    })
}

/// What a path is run with.
type Equipped = Arc<(Bench, Tuned)>;

/// What the slots of one process share.
struct Shop {
    context: Context,
    data: Option<PathBuf>,
    /// By run: the newest plan that was needed, and its number.
    plans: tokio::sync::Mutex<BTreeMap<String, (u64, Equipped)>>,
}

impl Shop {
    async fn plan(&self, task: &Task) -> Result<Equipped, Error> {
        let mut plans = self.plans.lock().await;
        if let Some((_, plan)) = plans.get(&task.run).filter(|(number, _)| *number >= task.plan) {
            return Ok(Arc::clone(plan));
        }
        let stream = patiently(|| self.context.get_stream(PLAN)).await?;
        let subject = format!("bardo.lab.plan.{}", task.run);
        let message = patiently(|| stream.get_last_raw_message_by_subject(&subject)).await?;
        let mut plan: Plan = serde_json::from_slice(&message.payload).map_err(broken)?;
        if let Some(folder) = &self.data {
            plan.experiment.find_data_in(folder);
        }
        if task.program != this_program() {
            return Err(Error::Usage("this is another build of bardo than the one that asks; use the same".to_owned()));
        }
        let digest = plan.experiment.digest().map_err(said)?;
        if run_of(&digest, &task.program) != task.run {
            return Err(Error::Usage(
                "the data here is not what this experiment was sealed with; see --data".to_owned(),
            ));
        }
        let plan = Arc::new((Bench::new(plan.experiment).map_err(said)?, plan.tuned));
        plans.insert(task.run.clone(), (message.sequence, Arc::clone(&plan)));
        Ok(plan)
    }
}

/// Somebody else may be able to do it; meanwhile this one does something else.
async fn give_back(message: &Message, why: &Error) {
    complain(format!("a path was given back: {why}"));
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
        let Ok(task) = serde_json::from_slice::<Task>(&message.payload) else {
            let _ = message.ack_with(AckKind::Term).await;
            continue;
        };
        let plan = match shop.plan(&task).await {
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
        publish(
            &shop.context,
            &format!("bardo.lab.done.{}", task.run),
            serde_json::to_vec(&result).expect("plain data"),
        )
        .await?;
        let _ = message.double_ack().await;
        done += 1;
    }
    Ok(done)
}

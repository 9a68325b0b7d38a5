//! The desk where everything is written down: golems bring their records and wait; one scribe writes whatever has
//! come together, syncs once, and lets them all go. While the disk is full or gone every golem waits, nothing is
//! lost, and it goes on by itself when there is room again.

use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use golem::GolemId;
use tracing::{debug, debug_span, error, info};
use vault::{Batch, Log, LogLine, LogReader, Note, Treasury, UndeliveredNote};

use super::mail::Mail;
use crate::locks::{lock, recover};
use crate::river::RiverStore;
use crate::view::board::Board;
use crate::view::notes::host_note;
use crate::{Error, Runtime};

/// The least time between two syncs: records that come meanwhile share the next.
const PACE: Duration = Duration::from_millis(20);
/// How long before a write that failed is tried again.
const AGAIN: Duration = Duration::from_millis(500);

pub struct Desk {
    queue: Mutex<Queue>,
    work: Condvar,
    written: Condvar,
    reader: Mutex<LogReader>,
    /// The owner's ledger, of which one connection serves all.
    pub treasury: Arc<Mutex<Treasury>>,
    pub board: Arc<Board>,
    /// Messages that golems tell each other.
    pub mail: Mail,
    /// Messages to siblings elsewhere, if this home is of a clade.
    pub river: Option<RiverStore>,
    pub runtime: Arc<Runtime>,
    /// The log, where there is no scribe: then the thread that brings something writes it.
    pen: Option<Mutex<Log>>,
    root: PathBuf,
}

/// Something that was put on the desk: the number of the batch that it is in.
#[derive(Debug)]
#[must_use = "it is durable only once it was waited for"]
pub struct Brought(u64);

#[derive(Default)]
struct Queue {
    batch: Batch,
    /// Number of the batch that is being collected.
    collecting: u64,
    /// Number of the newest batch that is durable.
    durable: u64,
    closing: bool,
    /// Whether a client waits for what comes next, so that it is not put off.
    hurried: bool,
    /// Why the scribe has given up; nothing more becomes durable.
    gone: Option<String>,
}

impl Desk {
    /// Opens the desk and sets its scribe to work.
    pub fn open(mut log: Log, runtime: &Arc<Runtime>) -> Result<(Arc<Desk>, Scribe), Error> {
        let desk = Arc::new(Desk::over(&mut log, runtime)?);
        let theirs = Arc::clone(&desk);
        let thread = std::thread::Builder::new().name("scribe".into()).spawn(move || theirs.scribe(log));
        let thread = thread.map_err(Error::io("cannot start a thread for", &desk.root))?;
        Ok((Arc::clone(&desk), Scribe { desk, thread }))
    }

    /// Opens the desk without a scribe: everything is written on the thread that brings it.
    pub fn alone(mut log: Log, runtime: &Arc<Runtime>) -> Result<Arc<Desk>, Error> {
        let desk = Desk::over(&mut log, runtime)?;
        Ok(Arc::new(Desk { pen: Some(Mutex::new(log)), ..desk }))
    }

    fn over(log: &mut Log, runtime: &Arc<Runtime>) -> Result<Desk, Error> {
        let home = runtime.home();
        // Until there is a first group an empty log cannot be told from none.
        log.commit(&Batch::default())?;
        let reader = Log::reader(home.root(), &home.heads())?;
        let reader = reader.ok_or_else(|| Error::Host("the host log cannot be read".into()))?;
        let (store, fresh) = RiverStore::of(home, reader.river()?)?;
        if !fresh.is_empty() {
            log.commit(&Batch { river: fresh, ..Batch::default() })?;
        }
        Ok(Desk {
            queue: Mutex::new(Queue { collecting: 1, ..Queue::default() }),
            work: Condvar::new(),
            written: Condvar::new(),
            reader: Mutex::new(reader),
            treasury: Arc::new(Mutex::new(home.treasury()?)),
            board: Arc::new(Board::on(home.wall())),
            mail: Mail::default(),
            river: store,
            runtime: Arc::clone(runtime),
            pen: None,
            root: home.root().to_owned(),
        })
    }

    /// Makes this durable, together with whatever else is brought meanwhile, and only then returns.
    pub fn commit(&self, batch: Batch) -> Result<(), Error> {
        if batch.is_empty() { Ok(()) } else { self.wait(self.bring(batch)) }
    }

    /// Puts something on the desk, in its order, to be waited for.
    pub fn bring(&self, mut batch: Batch) -> Brought {
        let mut queue = self.queue();
        queue.batch.append(&mut batch);
        self.work.notify_one();
        Brought(queue.collecting)
    }

    /// Returns once a place on the desk is durable, together with whatever else was brought meanwhile.
    pub fn wait(&self, Brought(mine): Brought) -> Result<(), Error> {
        if let Some(pen) = &self.pen {
            return self.write_alone(&mut lock(pen));
        }
        let began = Instant::now();
        let mut queue = self.queue();
        while queue.durable < mine {
            if let Some(why) = &queue.gone {
                return Err(Error::Host(format!("nothing can be written down any more: {why}")));
            }
            queue = recover(self.written.wait(queue));
        }
        drop(queue);
        self.board.acknowledged.note(began.elapsed());
        Ok(())
    }

    /// Records durably that a golem runs here from now on, or no longer.
    pub fn lodge(&self, golem: GolemId, lives_here: bool) -> Result<(), Error> {
        self.commit(Batch { lodgers: vec![(golem, lives_here)], ..Batch::default() })
    }

    /// Has the next records written without waiting to share a sync: a client waits for them.
    pub(crate) fn hurry(&self) {
        self.queue().hurried = true;
    }

    /// Leaves something to be written with whatever comes next, without waiting for it.
    pub(crate) fn leave(&self, mut batch: Batch) {
        self.queue().batch.append(&mut batch);
        self.work.notify_one();
    }

    /// Lets the log forget a golem, whatever it still has of it.
    pub fn forget(&self, golem: GolemId) -> Result<(), Error> {
        self.commit(Batch { carried: vec![(golem, i64::MAX as u64)], ..Batch::default() })
    }

    pub fn note(&self, note: Note) {
        self.leave(Batch { notes: vec![note], ..Batch::default() });
    }

    /// Sends the owner a note about the host, or about one of its golems that its life knows nothing of.
    pub fn tell_owner(&self, key: String, kind: &str, golem: Option<&str>, text: String) {
        self.note(host_note(key, kind, golem, text, self.runtime.wall().now_ms()));
    }

    /// Milliseconds since 1970.
    pub fn now_ms(&self) -> u64 {
        self.runtime.wall().now_ms().unsigned_abs()
    }

    /// Lets every thread go that waits for what the disk does not take.
    pub fn give_up(&self) {
        self.queue().closing = true;
        self.work.notify_all();
    }

    /// Writes what was left without waiting, where there is no scribe to do it.
    pub fn write_rest(&self) -> Result<(), Error> {
        let pen = self.pen.as_ref().expect("there is no scribe");
        self.write_alone(&mut lock(pen))
    }

    /// Records of a golem in the log.
    pub(crate) fn lines(&self, golem: GolemId) -> Result<Vec<LogLine>, Error> {
        self.read(|log| log.lines(golem))
    }

    pub fn waiting(&self, target: &str, most: usize) -> Result<Vec<UndeliveredNote>, Error> {
        self.read(|log| log.waiting(target, most))
    }

    /// Reads the log. Trouble with it is the host's, not that of a golem that lodges here.
    fn read<T>(&self, what: impl FnOnce(&LogReader) -> Result<T, vault::Error>) -> Result<T, Error> {
        let log = lock(&self.reader);
        what(&log).map_err(|why| Error::Host(why.to_string()))
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        lock(&self.queue)
    }

    fn scribe(&self, mut log: Log) {
        loop {
            let mut queue = self.queue();
            while queue.batch.is_empty() && !queue.closing {
                queue = recover(self.work.wait(queue));
            }
            if queue.batch.is_empty() {
                queue.gone = Some("the host is down".into());
                self.written.notify_all();
                return;
            }
            let batch = std::mem::take(&mut queue.batch);
            let number = queue.collecting;
            queue.collecting += 1;
            queue.hurried = false;
            drop(queue);
            let began = Instant::now();
            let inside = debug_span!("commit", lines = batch.lines.len(), lodgers = batch.lodgers.len()).entered();
            if let Err(why) = self.write(&mut log, &batch) {
                error!(why, "nothing can be written down any more");
                self.board.troubled(Some(why.clone()));
                self.queue().gone = Some(why);
                self.written.notify_all();
                return;
            }
            self.queue().durable = number;
            self.written.notify_all();
            debug!(micros = began.elapsed().as_micros() as u64, "synced");
            drop(inside);
            self.rest(began + PACE);
        }
    }

    /// Lets others come together until then, unless a client waits.
    fn rest(&self, until: Instant) {
        let mut queue = self.queue();
        while !queue.hurried && !queue.closing {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            queue = recover(self.work.wait_timeout(queue, left)).0;
        }
    }

    /// Writes whatever has come together, here and now.
    fn write_alone(&self, log: &mut Log) -> Result<(), Error> {
        let (batch, gone) = {
            let mut queue = self.queue();
            (std::mem::take(&mut queue.batch), queue.gone.clone())
        };
        let written = gone.map_or_else(|| self.write(log, &batch), Err);
        written.map_err(|why| {
            self.queue().gone = Some(why.clone());
            Error::Host(format!("nothing can be written down any more: {why}"))
        })
    }

    /// Tries to write until it succeeds; gives up on damage, and when the host closes while the disk does not take it.
    fn write(&self, log: &mut Log, batch: &Batch) -> Result<(), String> {
        let mut tried = 0;
        loop {
            match log.commit(batch) {
                Ok(()) => {
                    self.board.syncs.fetch_add(1, Ordering::Relaxed);
                    if tried > 0 {
                        self.board.troubled(None);
                        info!(tried, "it can be written again");
                    }
                    return Ok(());
                }
                Err(damage @ vault::Error::Damaged { .. }) => return Err(damage.to_string()),
                Err(why) => {
                    tried += 1;
                    if self.board.troubled(Some(why.to_string())) {
                        error!(why = why.to_string(), "nothing can be written down, so every golem waits");
                    }
                    if self.queue().closing && tried > 3 {
                        return Err(why.to_string());
                    }
                    self.runtime.wall().sleep(AGAIN);
                }
            }
        }
    }
}

/// The writer of the desk; dropped last.
pub struct Scribe {
    desk: Arc<Desk>,
    thread: JoinHandle<()>,
}

impl Scribe {
    /// Writes what is left and ends the thread.
    pub fn close(self) -> Result<(), Error> {
        self.desk.give_up();
        self.thread.join().map_err(|_| Error::Host("the host log was left in haste".into()))
    }
}

impl std::fmt::Debug for Desk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Desk").field("root", &self.root).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Scribe {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scribe").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Home;

    /// A lodger's arrival was once put on the desk before it was waited for, and if the scribe came between the two
    /// he had nothing left to write when he was waited for: a host with one golem sometimes never came up.
    #[test]
    fn nobody_waits_for_a_scribe_who_has_nothing_to_write() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().to_owned());
        home.init(&home.settings().unwrap()).unwrap();
        let log = Log::open(home.root(), &home.heads(), Vec::new()).unwrap();
        let (desk, scribe) = Desk::open(log, &Runtime::of(&home)).unwrap();
        let (done, finished) = std::sync::mpsc::channel();
        for n in 0..4_u8 {
            let (desk, done) = (Arc::clone(&desk), done.clone());
            std::thread::spawn(move || {
                for round in 0..50 {
                    // Just when the scribe wakes up again.
                    std::thread::sleep(PACE);
                    desk.lodge(GolemId([n; 16]), round % 2 == 0).unwrap();
                    desk.commit(Batch::default()).unwrap();
                }
                done.send(()).unwrap();
            });
        }
        for _ in 0..4 {
            finished.recv_timeout(Duration::from_secs(30)).expect("every lodger was let go");
        }
        scribe.close().unwrap();
        let late = desk.commit(Batch { told: vec![(1, String::new())], ..Batch::default() });
        assert!(matches!(late, Err(Error::Host(_))), "it is closed, which is no golem's fault: {late:?}");
    }
}

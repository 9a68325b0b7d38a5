//! The threads that give golems their turns.

use std::collections::VecDeque;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;

use shell::life::desk::Desk;
use shell::locks::{lock, recover};

use super::wake::{Job, Wake};
use super::workers::perform;

/// Threads of the pool: they mostly wait for the scribe, so there are many more than processors.
const WORKERS: usize = 32;

/// Threads that give golems their turns.
pub(super) struct WorkerPool {
    jobs: Arc<Jobs>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Default)]
struct Jobs {
    waiting: Mutex<(VecDeque<Job>, bool)>,
    news: Condvar,
}

impl WorkerPool {
    pub(super) fn start(desk: &Arc<Desk>, waker: &Sender<Wake>) -> WorkerPool {
        let jobs: Arc<Jobs> = Arc::default();
        let work = |jobs: Arc<Jobs>, desk: Arc<Desk>, waker: Sender<Wake>| {
            while let Some(job) = jobs.next() {
                let (at, outcome) = perform(job, &desk);
                if waker.send(Wake::Back(at, outcome)).is_err() {
                    return;
                }
            }
        };
        let threads = (0..WORKERS)
            .map(|_| {
                let (jobs, desk, waker) = (Arc::clone(&jobs), Arc::clone(desk), waker.clone());
                std::thread::spawn(move || work(jobs, desk, waker))
            })
            .collect();
        WorkerPool { jobs, threads }
    }

    /// A pool without threads, whose jobs wait until a test takes them.
    #[cfg(test)]
    pub(super) fn none() -> WorkerPool {
        WorkerPool { jobs: Arc::default(), threads: Vec::new() }
    }

    /// How many jobs wait.
    #[cfg(test)]
    pub(super) fn waiting(&self) -> usize {
        self.jobs.waiting().0.len()
    }

    /// Takes one of the jobs that wait.
    #[cfg(test)]
    pub(super) fn take(&self, nth: usize) -> Option<Job> {
        self.jobs.waiting().0.remove(nth)
    }

    pub(super) fn give(&self, job: Job) {
        self.jobs.waiting().0.push_back(job);
        self.jobs.news.notify_one();
    }

    pub(super) fn close(&mut self) {
        self.jobs.waiting().1 = true;
        self.jobs.news.notify_all();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

impl Jobs {
    fn waiting(&self) -> MutexGuard<'_, (VecDeque<Job>, bool)> {
        lock(&self.waiting)
    }

    /// Waits for the next job; `None` once there are no more to come.
    fn next(&self) -> Option<Job> {
        let mut waiting = self.waiting();
        loop {
            if let Some(job) = waiting.0.pop_front() {
                return Some(job);
            }
            if waiting.1 {
                return None;
            }
            waiting = recover(self.news.wait(waiting));
        }
    }
}

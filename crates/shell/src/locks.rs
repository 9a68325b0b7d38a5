//! Locks that outlive a panic. Whatever panics here is one golem's turn or one client's call, which is told and given up; what it
//! held is whole after every statement, so others go on with it.

use std::sync::{LockResult, Mutex, MutexGuard, PoisonError};

/// Locks, even if a thread panicked while it had the lock.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    recover(mutex.lock())
}

/// Takes what a lock or a wait gave, even if a thread panicked while it had the lock.
pub fn recover<G>(given: LockResult<G>) -> G {
    given.unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::{Condvar, RwLock};
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_thread_that_panicked_with_a_lock_leaves_it_to_the_others() {
        let (mutex, shared, news) = (Mutex::new(1), RwLock::new(2), Condvar::new());
        let fallen = std::thread::scope(|scope| {
            let fall = || {
                let _held = (mutex.lock().unwrap(), shared.write().unwrap());
                panic!("in the middle of it");
            };
            scope.spawn(fall).join().is_err()
        });
        assert!(fallen && mutex.is_poisoned() && shared.is_poisoned());
        *lock(&mutex) += 1;
        let (held, _) = recover(news.wait_timeout(lock(&mutex), Duration::ZERO));
        assert_eq!((*held, *recover(shared.read())), (2, 2));
    }
}

//! The mail: messages that golems of one host tell each other, handed over in memory. The teller's own record has all
//! of it, so nothing else keeps it: a golem that was not here to hear, or had more waiting than there is room for,
//! reads it there.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use golem::GolemId;
use golem::clade::Parcel;

use crate::locks::lock;

/// Words of one teller that wait for one golem: a teller with more to say than is taken in keeps no other from being
/// heard.
const HELD: usize = 8;

/// Words of one teller elsewhere, whose record cannot be read, that wait for one golem; and how many may wait for it in
/// all before words from elsewhere are put off.
const AFAR: usize = 64;
const ALL: usize = 256;

#[derive(Debug, Default)]
pub struct Mail(Mutex<HashMap<Arc<str>, MailQueue>>);

/// The words that wait for one golem, and the newest word of its own.
#[derive(Debug)]
struct MailQueue {
    id: GolemId,
    /// The newest word in which it told what it has found out.
    taught: u64,
    waiting: Vec<Arc<Parcel>>,
    /// Whether something was said that it cannot have heard.
    missed: bool,
}

impl Mail {
    /// Registers a golem to hear from now on; words that came from elsewhere before wait for it.
    pub(crate) fn arrive(&self, name: &Arc<str>, id: GolemId, taught: u64, waiting: Vec<Arc<Parcel>>) {
        let waiting = waiting.into_iter().take(ALL).collect();
        self.queues().insert(Arc::clone(name), MailQueue { id, taught, waiting, missed: true });
    }

    pub(crate) fn leave(&self, name: &str) {
        self.queues().remove(name);
    }

    /// Passes a word on to each of these golems; returns to how many.
    pub(crate) fn send(&self, by: &str, to: &[String], parcel: Parcel) -> u32 {
        let (mut queues, mut told) = (self.queues(), 0);
        if let Some(own) = queues.get_mut(by).filter(|_| !parcel.lines.is_empty()) {
            own.taught = parcel.number;
        }
        let parcel = Arc::new(parcel);
        for name in to {
            if let Some(queue) = queues.get_mut(name.as_str()) {
                queue.put(Arc::clone(&parcel), HELD);
                told += 1;
            }
        }
        told
    }

    /// Puts a word with the others that wait.
    pub(crate) fn put(&self, name: &str, parcel: Parcel) {
        if let Some(queue) = self.queues().get_mut(name) {
            queue.put(Arc::new(parcel), HELD);
        }
    }

    /// Spreads a word from elsewhere to every golem. One that has more waiting than that is offered it again when the
    /// host next starts.
    pub fn spread(&self, parcel: &Arc<Parcel>) {
        let other = |queue: &&mut MailQueue| queue.id != parcel.from && queue.waiting.len() < ALL;
        for queue in self.queues().values_mut().filter(other) {
            queue.put(Arc::clone(parcel), AFAR);
        }
    }

    pub(crate) fn waiting(&self, name: &str) -> Vec<Arc<Parcel>> {
        self.queues().get(name).map(|queue| queue.waiting.clone()).unwrap_or_default()
    }

    /// Takes a word out once it was heard, but for these of its lines.
    pub(crate) fn heard(&self, name: &str, parcel: &Parcel, rest: Vec<String>) {
        let mut queues = self.queues();
        let Some(queue) = queues.get_mut(name) else { return };
        let same = |one: &Arc<Parcel>| (one.from, one.number) == (parcel.from, parcel.number);
        match queue.waiting.iter().position(same) {
            Some(at) if rest.is_empty() => drop(queue.waiting.remove(at)),
            Some(at) => queue.waiting[at] = Arc::new(Parcel { lines: rest, ..parcel.clone() }),
            None => {}
        }
    }

    /// Whether it has missed something, which is told once; and of these golems, who has taught what and when last.
    pub(crate) fn missed(&self, name: &str, others: &[String]) -> Vec<(String, GolemId, u64)> {
        let mut queues = self.queues();
        let Some(own) = queues.get_mut(name).filter(|own| own.missed) else { return Vec::new() };
        own.missed = false;
        let taught = |other: &String| queues.get(other.as_str()).map(|queue| (other.clone(), queue.id, queue.taught));
        others.iter().filter_map(taught).filter(|(_, _, taught)| *taught > 0).collect()
    }

    fn queues(&self) -> MutexGuard<'_, HashMap<Arc<str>, MailQueue>> {
        lock(&self.0)
    }
}

impl MailQueue {
    fn put(&mut self, parcel: Arc<Parcel>, most: usize) {
        if self.waiting.iter().filter(|one| one.from == parcel.from).count() < most {
            self.waiting.push(parcel);
        } else {
            self.missed = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use golem::clade::News;

    fn parcel(from: u8, number: u64, lines: &[&str]) -> Parcel {
        let lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        let news = News::Knowledge { entries: lines.len() as u32 };
        Parcel { from: GolemId([from; 16]), number, news, lines, died: None }
    }

    #[test]
    fn what_is_told_waits_until_it_is_heard_and_what_finds_no_room_is_read_elsewhere() {
        let mail = Mail::default();
        let (ada, bob): (Arc<str>, Arc<str>) = ("ada".into(), "bob".into());
        mail.arrive(&ada, GolemId([1; 16]), 0, Vec::new());
        mail.arrive(&bob, GolemId([2; 16]), 0, Vec::new());
        let others = ["ada".to_owned(), "bob".to_owned(), "gone".to_owned()];
        assert!(mail.missed("bob", &others).is_empty(), "no golem has taught anything yet");
        assert_eq!(
            mail.send("ada", &others[1..], parcel(1, 1, &["a", "b"])),
            1,
            "a golem that is not here is not told"
        );
        let waiting = mail.waiting("bob");
        mail.heard("bob", &waiting[0], vec!["b".to_owned()]);
        assert_eq!(mail.waiting("bob")[0].lines, ["b"], "the rest waits");
        mail.heard("bob", &waiting[0], Vec::new());
        assert!(mail.waiting("bob").is_empty() && mail.missed("bob", &others).is_empty());
        for number in 2..=HELD as u64 + 2 {
            mail.send("ada", &others[1..2], parcel(1, number, &["c"]));
        }
        assert_eq!(mail.waiting("bob").len(), HELD);
        assert_eq!(mail.missed("bob", &others), [("ada".to_owned(), GolemId([1; 16]), HELD as u64 + 2)]);
        assert!(mail.missed("bob", &others).is_empty(), "it is told once");
        mail.leave("bob");
        assert_eq!(mail.send("ada", &others[1..2], parcel(1, 99, &["d"])), 0);
    }
}

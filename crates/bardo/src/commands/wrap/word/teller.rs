//! Telling a program in time that its end is near: in a file, and by what its golem's counter hands to the gateway and to `standing`.

use std::sync::Arc;

use golem::Usdc;
use shell::errands::{Counter, EndPlan};

use super::folder::LifeFolder;
use crate::output;

/// A twentieth of what a life was given is kept back for its last word.
const KEPT: i64 = 20;

/// Money that is kept back of so much.
pub(crate) fn kept_of(given: Usdc) -> Usdc {
    given.share(1, KEPT)
}

pub(crate) struct EndTeller {
    counter: Arc<Counter>,
    folder: Option<LifeFolder>,
    told: Option<ToldEnd>,
}

/// The end, as it was told last.
#[derive(Clone, Copy)]
struct ToldEnd {
    /// Money that was left then.
    left: Usdc,
    /// Whether a bound was near, and not a call that took what was kept back.
    by_bound: bool,
}

impl EndTeller {
    /// For a life that was given so much.
    pub(crate) fn new(counter: Arc<Counter>, folder: Option<LifeFolder>, given: Usdc, in_calls: bool) -> EndTeller {
        let testament = folder.as_ref().map(LifeFolder::place_for_testament);
        counter.plan_end(EndPlan { kept: kept_of(given), testament, in_calls });
        EndTeller { counter, folder, told: None }
    }

    /// Tells the end once it is near, for this reason or because a call took what was kept back; gives the reason if it was told just
    /// now. Where there is more money than when it was told, or the bound is no longer near, that is taken back.
    pub(crate) fn heed(&mut self, left: Usdc, why: Option<String>) -> Option<String> {
        if self.told.is_some_and(|told| left > told.left || told.by_bound && why.is_none()) {
            self.told = None;
            self.counter.recall_end();
            self.folder.iter().for_each(LifeFolder::recall);
        }
        why.iter().for_each(|why| self.counter.near_end(why));
        let notice = self.counter.end_notice().filter(|_| self.told.is_none())?;
        self.told = Some(ToldEnd { left, by_bound: why.is_some() });
        if let Some(Err(why)) = self.folder.as_ref().map(|folder| folder.tell(&(notice.words() + "\n"))) {
            output::complain(format!("the program is not told of its end in a file: {why}"));
        }
        Some(notice.why)
    }
}

#[cfg(test)]
mod tests {
    use golem::GolemId;

    use super::*;

    #[test]
    fn an_end_is_told_once_and_taken_back_with_more_money() {
        let cache = tempfile::tempdir().unwrap();
        let own = |name: &str| (name == "XDG_CACHE_HOME").then(|| cache.path().display().to_string());
        let folder = LifeFolder::make(own, GolemId([1; 16])).unwrap();
        let file = folder.environment()[1].1.clone();
        let counter = Arc::<Counter>::default();
        let mut teller = EndTeller::new(Arc::clone(&counter), Some(folder), Usdc::dollars(2), false);
        let mut heed = |cents: i64, why: &str| {
            teller.heed(Usdc::cents(cents), (!why.is_empty()).then(|| why.to_owned())).unwrap_or_default()
        };
        assert_eq!((heed(100, ""), file.exists()), (String::new(), false));
        assert_eq!(
            (heed(9, "money is short"), heed(8, "money is shorter")),
            ("money is short".to_owned(), String::new())
        );
        let said = std::fs::read_to_string(&file).unwrap();
        assert!(said.contains("because money is short") && said.contains("testament.txt"), "{said}");
        assert_eq!((heed(100, ""), file.exists()), (String::new(), false));
        assert_eq!(counter.end_notice(), None);
        // A call that took what was kept back has noted it.
        counter.near_end("a call took it");
        assert_eq!((heed(90, ""), file.exists()), ("a call took it".to_owned(), true));
        assert_eq!((heed(89, ""), file.exists()), (String::new(), true), "what it took is gone");
        assert_eq!((heed(95, ""), file.exists()), (String::new(), false));
        // A check that failed passes again, or a cap is raised.
        assert_eq!((heed(94, "tests fails"), file.exists()), ("tests fails".to_owned(), true));
        assert_eq!((heed(93, ""), file.exists()), (String::new(), false));
        assert_eq!(counter.end_notice(), None);
        assert_eq!(kept_of(Usdc::dollars(2)), Usdc::cents(10));
    }
}

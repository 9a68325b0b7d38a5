//! The lessons of a home's bills: unknown fields that turned out to cost nothing beyond the bound, and fields and
//! models that were billed above it and are no longer passed on.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use axum::http::StatusCode;
use shell::locks::lock;
use shell::{Home, durable};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::refusal::Refusal;

/// Bills within the bound after which a field is known.
const TRIALS: u32 = 3;
/// How long a call waits for another one with the same new field.
const TURN: Duration = Duration::from_secs(60);
/// The most fields that are remembered.
const MOST: usize = 1_000;

#[derive(Debug)]
pub(super) struct Shapes {
    file: PathBuf,
    all: Mutex<BTreeMap<String, Shape>>,
}

#[derive(Clone, Debug)]
enum Shape {
    /// Tried: so many bills were within the bound, and one call at a time finds out more.
    Tried(u32, Arc<Semaphore>),
    Known,
    Refused,
}

/// The right to make a call with certain fields, and the new ones among them, which its bill decides on.
#[derive(Debug, Default)]
pub(super) struct Turn {
    names: Vec<String>,
    /// The model that is blamed for a bill above the bound, where there is no new field.
    model: String,
    _alone: Vec<OwnedSemaphorePermit>,
}

impl Turn {
    /// Whether the call tries a new field, for which the bound is a quarter more.
    pub(super) fn is_trial(&self) -> bool {
        !self.names.is_empty()
    }
}

impl Shapes {
    pub(super) fn of(home: &Home) -> Shapes {
        let file = home.root().join("gateway-fields");
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let read = |line: &str| {
            let (word, name) = line.trim().split_once(' ')?;
            let shape = match word {
                "known" => Shape::Known,
                "refused" => Shape::Refused,
                _ => return None,
            };
            Some((name.to_owned(), shape))
        };
        Shapes { file, all: Mutex::new(text.lines().filter_map(read).collect()) }
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<String, Shape>> {
        lock(&self.all)
    }

    /// Waits until a call with these new fields may be made, or refuses it by what is known.
    pub(super) async fn turn(&self, path: &str, model: &str, unknown: &[String]) -> Result<Turn, Refusal> {
        let mut turn = Turn { model: format!("model {model}"), ..Turn::default() };
        if matches!(self.all().get(&turn.model), Some(Shape::Refused)) {
            return Err(self.refused(&turn.model));
        }
        for field in unknown {
            let name = format!("{} {field}", &path[1..]);
            let alone = {
                let mut all = self.all();
                if all.len() >= MOST && !all.contains_key(&name) {
                    return Err(self.refused(&name));
                }
                match all.entry(name.clone()).or_insert_with(|| Shape::Tried(0, Arc::new(Semaphore::new(1)))) {
                    Shape::Known => continue,
                    Shape::Refused => None,
                    Shape::Tried(_, alone) => Some(Arc::clone(alone)),
                }
            };
            let alone = alone.ok_or_else(|| self.refused(&name))?;
            let busy = || {
                let message = format!("{field:?} is not known here, and another call with it is under way");
                Refusal { again: Some(2), ..Refusal::new(StatusCode::TOO_MANY_REQUESTS, "busy", message) }
            };
            turn._alone.push(timeout(TURN, alone.acquire_owned()).await.map_err(|_| busy())?.map_err(|_| busy())?);
            // The call before this one may have decided it.
            match self.all().get(&name) {
                Some(Shape::Refused) => return Err(self.refused(&name)),
                Some(Shape::Known) => {}
                _ => turn.names.push(name),
            }
        }
        Ok(turn)
    }

    fn refused(&self, name: &str) -> Refusal {
        let message = format!(
            "a call was billed above its upper bound ({name}), so such calls are no longer passed on; the owner can remove \
             the line from {}",
            self.file.display()
        );
        Refusal::new(StatusCode::FORBIDDEN, "billed", message)
    }

    /// Learns from the bill of a call, which was within its bound or was not.
    pub(super) fn billed(&self, turn: &Turn, within: bool) {
        let mut all = self.all();
        let mut news = false;
        if !within && turn.names.is_empty() {
            all.insert(turn.model.clone(), Shape::Refused);
            news = true;
        }
        for name in &turn.names {
            let now = match all.get(name) {
                _ if !within => Shape::Refused,
                Some(Shape::Tried(good, _)) if good + 1 >= TRIALS => Shape::Known,
                Some(Shape::Tried(good, alone)) => Shape::Tried(good + 1, Arc::clone(alone)),
                _ => continue,
            };
            news |= !matches!(now, Shape::Tried(..));
            all.insert(name.clone(), now);
        }
        if news {
            let line = |(name, shape): (&String, &Shape)| match shape {
                Shape::Known => Some(format!("known {name}\n")),
                Shape::Refused => Some(format!("refused {name}\n")),
                Shape::Tried(..) => None,
            };
            let text: String = all.iter().filter_map(line).collect();
            if let Err(why) = durable::write(&self.file, text.as_bytes()) {
                tracing::warn!(%why, "cannot write the list of known and refused fields");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_field_is_known_after_three_bills_and_refused_after_one_that_is_too_high() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path().to_owned());
        let shapes = Shapes::of(&home);
        let (fields, path) = (["hint".to_owned()], "/chat/completions");
        for _ in 0..3 {
            let turn = shapes.turn(path, "m", &fields).await.unwrap();
            assert!(turn.is_trial());
            shapes.billed(&turn, true);
        }
        assert!(!shapes.turn(path, "m", &fields).await.unwrap().is_trial());
        let odd = ["odd".to_owned()];
        let turn = shapes.turn(path, "m", &odd).await.unwrap();
        shapes.billed(&turn, false);
        drop(turn);
        let refused = shapes.turn(path, "m", &odd).await.unwrap_err();
        assert!(refused.message.contains("chat/completions odd"), "{}", refused.message);
        // The next host knows it too.
        let again = Shapes::of(&home);
        assert!(again.turn(path, "m", &odd).await.is_err());
        assert!(!again.turn(path, "m", &fields).await.unwrap().is_trial());
        // Where no field was new, the model itself costs more than its price says.
        let turn = again.turn(path, "m", &[]).await.unwrap();
        again.billed(&turn, false);
        assert!(again.turn(path, "m", &[]).await.is_err() && again.turn(path, "other", &[]).await.is_ok());
    }
}

//! Examines what a home needs to reach its golems elsewhere: its key, the relay, the archive, and whether all siblings
//! are heard.

use std::sync::Arc;
use std::time::Duration;

use styx::archive::Archive;
use styx::client::connect;
use styx::wire::{Down, Up};

use super::doctor::Finding;
use crate::river::{Report, RiverStore, report};
use crate::{Error, Home};

/// Silence of a home, while this one was connected, that is worth a finding.
const SILENT_MS: u64 = 2 * 86_400_000;
const PATIENCE: Duration = Duration::from_secs(10);

/// Examines everything, in order, telling each finding as it is made.
pub fn examine(home: &Home, mut tell: impl FnMut(Finding)) -> Result<(), Error> {
    let Some(report) = report(home.require()?)? else {
        tell(Finding::wrong(
            "clade",
            "this home is in no clade; `bardo styx init` begins one, `bardo styx join FILE` joins one",
        ));
        return Ok(());
    };
    tell(Finding::fine("clade", format!("{}, its key can be read", &report.clade[..16])));
    let (Some(store), _) = RiverStore::of(home, Vec::new())? else { return Ok(()) };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|why| Error::Host(why.to_string()))?;
    tell(match &report.relay {
        None => Finding::wrong("relay", "none is named; set styx.url in bardo.toml"),
        Some(url) => runtime.block_on(relay(url, &store)),
    });
    tell(match &report.archive {
        None => Finding::wrong("archive", "none is named, so what your golems know is nowhere else; set styx.archive"),
        Some(place) => runtime.block_on(archive(place, &store)),
    });
    tell(host(&report));
    tell(siblings(&report, home.wall().now_ms().unsigned_abs()));
    Ok(())
}

/// Signs in as a client that was never here, and reads one thing.
async fn relay(url: &str, store: &RiverStore) -> Finding {
    let signed_in = tokio::time::timeout(PATIENCE, connect(url, &store.clade, store.home)).await;
    let (mut mouth, mut ear) = match signed_in {
        Ok(Ok(both)) => both,
        Ok(Err(why)) => return Finding::wrong("relay", format!("{url}: {why}")),
        Err(_) => return Finding::wrong("relay", format!("{url} does not answer")),
    };
    let asked = mouth.say(&Up::After { sequence: u64::MAX - 1 }).await;
    let answered = async {
        asked.ok()?;
        loop {
            if let Down::Here { sequence } = ear.hear().await.ok()? {
                return Some(sequence);
            }
        }
    };
    match tokio::time::timeout(PATIENCE, answered).await {
        Ok(Some(newest)) => Finding::fine("relay", format!("{url} lets this clade in and has {newest} words so far")),
        _ => Finding::wrong("relay", format!("{url} lets this clade in and then says nothing")),
    }
}

async fn archive(place: &str, store: &RiverStore) -> Finding {
    let looked = async { Archive::open(place, Arc::clone(&store.clade))?.pages().await };
    match tokio::time::timeout(PATIENCE, looked).await {
        Ok(Ok(pages)) => Finding::fine("archive", format!("{place} has {} golems of this clade", pages.len())),
        Ok(Err(why)) => Finding::wrong("archive", format!("{place}: {why}")),
        Err(_) => Finding::wrong("archive", format!("{place} does not answer")),
    }
}

fn host(report: &Report) -> Finding {
    match (&report.state.since_ms, &report.state.trouble) {
        (Some(_), _) => Finding::fine("host", "is up and connected"),
        (None, Some(why)) => Finding::wrong("host", format!("is not connected: {why}")),
        (None, None) => Finding::wrong("host", "not connected; `bardo up` connects"),
    }
}

fn siblings(report: &Report, now_ms: u64) -> Finding {
    if let Some(forked) = report.siblings.iter().find(|sibling| sibling.forked.is_some()) {
        let who = forked.name.as_deref().unwrap_or(&forked.golem);
        return Finding::wrong("siblings", format!("{who} has said two things under one number: was its home copied?"));
    }
    if let Some(other) = report.homes.iter().find(|other| now_ms > other.at_ms + SILENT_MS) {
        return Finding::wrong("siblings", format!("home {} was not heard of for two days", &other.home[..8]));
    }
    Finding::fine(
        "siblings",
        format!(
            "{} elsewhere in {} homes; {} words of ours to be confirmed",
            report.siblings.len(),
            report.homes.len(),
            report.unconfirmed
        ),
    )
}

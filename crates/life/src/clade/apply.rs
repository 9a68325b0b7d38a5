//! Applying what peers say, and what they are told.

use super::state::hour;
use super::{Event, News};
use crate::daimon::{self, Felt};
use crate::id::GolemId;
use crate::life::Life;
use crate::time::Time;

pub(crate) fn apply(life: &mut Life, at: Time, event: &Event) {
    match event {
        Event::CalledOut { number, news } => call_out(life, at, *number, *news),
        Event::Told { number, .. } => life.clade.untold.retain(|(waiting, _)| waiting != number),
        Event::Heard { from, number, news } => {
            hear(life, *from, *number, news);
            match news {
                News::Death => daimon::feel(life, Felt::SiblingDeath),
                News::Regime { to } => life.clade.turned = Some((*to, life.tick)),
                News::Crisis { .. } | News::Knowledge { .. } => {}
            }
        }
        Event::Stained(stain) => {
            let stains = &mut life.clade.stains;
            stains.retain(|known| known.from != stain.from);
            if stains.is_full() {
                stains.remove(0);
            }
            stains.push((**stain).clone());
        }
        Event::Near { stain } => life.clade.near = *stain,
    }
}

fn call_out(life: &mut Life, at: Time, number: u64, news: News) {
    let clade = &mut life.clade;
    assert!(number > clade.told, "two words to its peers have one number");
    clade.told = number;
    // News that is long past is dropped; a death is passed on whatever else is.
    if clade.untold.is_full()
        && let Some(old) = clade.untold.iter().position(|(_, news)| *news != News::Death)
    {
        clade.untold.remove(old);
    }
    let _ = clade.untold.try_push((number, news));
    match news {
        News::Crisis { .. } => clade.called_out = Some(life.age),
        News::Knowledge { entries } => {
            clade.shared += u64::from(entries);
            clade.taught = number;
            clade.hour = (hour(at), clade.shared_at(at) + entries);
        }
        News::Death | News::Regime { .. } => {}
    }
    if matches!(news, News::Crisis { .. } | News::Death) {
        life.stress.ledger.ask();
    }
}

/// Keeps the newest word of a peer. The peer that has been silent longest makes room.
fn hear(life: &mut Life, from: GolemId, number: u64, news: &News) {
    let (kept, peer) = (life.laws().peers_kept, life.clade.heard_of(from).hear(number, news));
    let heard = &mut life.clade.heard;
    heard.retain(|peer| peer.id != from);
    if heard.len() >= kept {
        heard.remove(0);
    }
    heard.push(peer);
}

//! What peers say, and are told.

use super::{Event, News};
use crate::daimon::{self, Felt};
use crate::id::GolemId;
use crate::life::Life;

pub(crate) fn apply(life: &mut Life, event: &Event) {
    match event {
        Event::CalledOut { number, news } => {
            life.clade.told = *number;
            life.clade.news = Some((*number, *news));
            if matches!(news, News::Crisis { .. }) {
                life.clade.called_out = Some(life.age);
            }
            life.stress.ledger.ask();
        }
        Event::Told { .. } => life.clade.news = None,
        Event::Heard { from, number, news } => {
            hear(life, *from, *number);
            if *news == News::Death {
                daimon::feel(life, Felt::SiblingDeath);
            }
        }
    }
}

/// The newest letter of a peer. Whoever has been silent longest makes room.
fn hear(life: &mut Life, from: GolemId, number: u64) {
    let kept = life.laws().peers_kept;
    let heard = &mut life.clade.heard;
    heard.retain(|(peer, _)| *peer != from);
    if heard.len() >= kept {
        heard.remove(0);
    }
    heard.push((from, number));
}

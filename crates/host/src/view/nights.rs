//! Nights, as a journal has them.

use std::ops::ControlFlow;

use golem::dream::{self, Fate, Found, Trigger, Waker};
use golem::event::Event;
use golem::{Time, Usdc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use vault::Reader;

use crate::Error;
use crate::home::GolemHome;

/// One night.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Night {
    pub number: u64,
    /// World time, in milliseconds.
    #[schema(value_type = u64)]
    pub began: Time,
    /// Why it began.
    #[schema(value_type = String)]
    pub trigger: Trigger,
    pub ticks: u32,
    #[schema(value_type = i64)]
    pub cost: Usdc,
    pub ended: bool,
    /// Who ended it before its time.
    #[schema(value_type = Option<String>)]
    pub woken: Option<Waker>,
    #[schema(value_type = Option<Object>)]
    pub found: Option<Found>,
    /// What became of hypotheses until the next night.
    pub promoted: u32,
    pub refuted: u32,
    pub forgotten: u32,
}

pub fn nights(place: &GolemHome) -> Result<Vec<Night>, Error> {
    let mut nights: Vec<Night> = Vec::new();
    let reader = Reader::open(&place.database())?;
    let earlier = reader.beginning()?.map_or(0, |golem| golem.life().dreams.nights);
    reader.replay(|record| {
        for event in &record.events {
            if let Event::Dream(dream::Event::Began { trigger, ticks, .. }) = event {
                nights.push(Night {
                    number: earlier + nights.len() as u64 + 1,
                    began: record.at,
                    trigger: *trigger,
                    ticks: *ticks,
                    cost: Usdc::ZERO,
                    ended: false,
                    woken: None,
                    found: None,
                    promoted: 0,
                    refuted: 0,
                    forgotten: 0,
                });
            }
            let Some(night) = nights.last_mut() else { continue };
            match event {
                Event::Dream(dream::Event::Passed { cost, .. }) => night.cost += *cost,
                Event::Dream(dream::Event::Dreamt(found)) => match &mut night.found {
                    Some(earlier) => earlier.join((**found).clone()),
                    nothing => *nothing = Some((**found).clone()),
                },
                Event::Dream(dream::Event::Left { woken }) => (night.ended, night.woken) = (true, *woken),
                Event::Dream(dream::Event::Unstaged { fate: Fate::Promoted, .. }) => night.promoted += 1,
                Event::Dream(dream::Event::Unstaged { fate: Fate::Refuted, .. }) => night.refuted += 1,
                Event::Dream(dream::Event::Unstaged { .. }) => night.forgotten += 1,
                _ => {}
            }
        }
        Ok::<_, Error>(ControlFlow::Continue(()))
    })?;
    Ok(nights)
}

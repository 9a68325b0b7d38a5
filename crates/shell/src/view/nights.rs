//! Nights, as a journal has them.

use std::ops::ControlFlow;

use golem::dream::{self, Fate, Found, Trigger, Waker};
use golem::event::Event;
use golem::{Time, Usdc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use vault::Reader;

use super::dreamt::{Trial, dreamt, on_trial};
use crate::Error;
use crate::home::GolemHome;

/// Nights that are told of at once.
const SHOWN: usize = 100;

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
    /// Waker that ended the night early, if one did.
    #[schema(value_type = Option<String>)]
    pub woken: Option<Waker>,
    #[schema(value_type = Option<Object>)]
    pub found: Option<Found>,
    /// The course of the night in words, its result last.
    pub told: Vec<String>,
    /// Fate of hypotheses until the next night.
    pub promoted: u32,
    pub refuted: u32,
    pub forgotten: u32,
}

/// The nights of a golem, and the hypotheses on trial because of them.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct Nights {
    /// How many there were.
    pub nights: u64,
    /// The newest hundred, the newest last.
    pub newest: Vec<Night>,
    pub on_trial: Vec<Trial>,
}

impl Nights {
    pub fn of(place: &GolemHome) -> Result<Nights, Error> {
        let (golem, _) = place.wake()?;
        let life = golem.life();
        let mut all = nights(place)?;
        let newest = all.split_off(all.len().saturating_sub(SHOWN));
        let on_trial = life.dreams().staged.iter().map(|staged| on_trial(staged, &life.birth().world)).collect();
        Ok(Nights { nights: (all.len() + newest.len()) as u64, newest, on_trial })
    }
}

pub fn nights(place: &GolemHome) -> Result<Vec<Night>, Error> {
    let mut nights: Vec<Night> = Vec::new();
    let reader = Reader::open(&place.database())?;
    let earlier = reader.beginning()?.map_or(0, |golem| golem.life().dreams().nights);
    let (golem, _) = reader.wake()?;
    let world = &golem.life().birth().world;
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
                    told: Vec::new(),
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
    for night in &mut nights {
        let nothing = || vec!["nothing was replayed".to_owned()];
        night.told = night.found.as_ref().map_or_else(nothing, |found| dreamt(found, world));
    }
    Ok(nights)
}

//! Memory: whole episodes that can be replayed, from what the world looked like to what became of it. The host collects
//! them from the journal's records; Life knows only those that have not ended.
//!
//! Each domain looks as far ahead as its own claims do, so what became of an episode is what its own claims met. What
//! dreams do to memories, replayed often, made less stirring, let go, lies over the episodes and is read from the journal
//! too; the episodes themselves never change.

use std::collections::VecDeque;

use life::constitution::{DreamTier, ReplayOrder};
use life::dream::{self, Found};
use life::episode::{self, Impression};
use life::event::{Event, Record};
use life::time::{Span, Time};
use life::world::Values;
use life::{Life, limits, prediction, rule};

/// Episodes kept at hand.
const KEPT: usize = 200_000;
/// Episodes kept where nights are light, which look no further back.
const LATELY: usize = 400;
/// The share of a memory's worth that is left each time it has been gone through closely.
const WORN: f32 = 0.85;
/// The weight of a memory that the fiber marked.
const MARKED: f32 = 2.0;
/// By how much a night makes a stirring memory less so.
pub const CALMED: f32 = 0.3;
/// Arousal from which on a memory is stirring.
pub const STIRRING: f32 = 0.5;

#[derive(Clone, Debug, PartialEq)]
pub struct Experience {
    pub number: u64,
    pub tick: u64,
    pub at: Time,
    /// True where something was held.
    pub exposed: bool,
    pub regime: u8,
    pub surprise: f32,
    pub arousal: f32,
    pub state: Impression,
    pub base: Values,
    /// The claim in each domain, then the naive forecast's and the outcome; not a number where nothing was claimed.
    pub claimed: Values,
    pub naive: Values,
    pub actual: Values,
    pub change: f32,
    pub regret: f32,
    /// Changes of a unit's worth to the same end from a moment sooner and from one later; not a number where its bar is
    /// not known.
    pub moved: (f32, f32),
    /// Nights that went through it closely.
    pub replays: u8,
    /// True once a night has let it go.
    pub forgotten: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Memory {
    /// Episodes under way, with the record each began in and when it ends.
    begun: VecDeque<(u64, Time, Experience)>,
    whole: VecDeque<Experience>,
    /// The claims still open in each domain: the records they were made in, and when they come due.
    open: [VecDeque<(u64, Time)>; limits::DOMAINS],
    /// Worth of a unit at the looks since shortly before the oldest episode under way.
    units: VecDeque<(Time, f64)>,
    room: usize,
    /// True where reading begins in the middle of a life, so that claims come due that this memory did not hear being
    /// made.
    partial: bool,
}

/// The part of a remembered tick that its record does not hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    pub number: u64,
    pub tick: u64,
    pub regime: u8,
    pub surprise: f32,
    pub arousal: f32,
    pub exposed: bool,
}

impl Moment {
    /// The moment of the tick that was just remembered.
    pub fn of(life: &Life) -> Moment {
        Moment {
            number: life.episodes().made,
            tick: life.tick(),
            regime: life.regimes().now as u8,
            surprise: life.episodes().surprise.last as f32,
            arousal: life.daimon().last.arousal.max(life.daimon().mood.arousal) as f32,
            exposed: life.episodes().pending.back().is_some_and(|pending| pending.exposed),
        }
    }
}

/// The values of a look, each as the base of its domain's claims.
fn bases(life: &Life, values: &[f64]) -> Values {
    life.birth().world.domains.iter().zip(values).map(|(domain, value)| domain.base(*value)).collect()
}

impl Experience {
    /// An episode that begins, of which nothing has come yet.
    fn begun(at: Time, state: Impression, moment: Moment) -> Experience {
        let Moment { number, tick, regime, surprise, arousal, exposed } = moment;
        Experience {
            number,
            tick,
            at,
            exposed,
            regime,
            surprise,
            arousal,
            state,
            base: Values::default(),
            claimed: Values::default(),
            naive: Values::default(),
            actual: Values::default(),
            change: 0.0,
            regret: 0.0,
            moved: (f32::NAN, f32::NAN),
            replays: 0,
            forgotten: false,
        }
    }
}

impl Default for Memory {
    fn default() -> Memory {
        let (begun, whole, units) = (VecDeque::new(), VecDeque::new(), VecDeque::new());
        Memory { begun, whole, open: Default::default(), units, room: KEPT, partial: false }
    }
}

impl Memory {
    /// An empty memory, with room for what this life's nights look back on.
    pub fn of(life: &Life) -> Memory {
        Memory { room: Memory::room(life), ..Memory::default() }
    }

    /// An empty memory, to be read from a record in the middle of the life on.
    pub fn partial(life: &Life) -> Memory {
        Memory { partial: true, ..Memory::of(life) }
    }

    /// Episodes that this life's nights look back on.
    pub fn room(life: &Life) -> usize {
        if life.constitution().dream.tier == DreamTier::Core { LATELY } else { KEPT }
    }

    /// Takes in one record, given the life it led to.
    pub fn hear(&mut self, record: &Record, life: &Life) {
        self.read(record, life, || Some(Moment::of(life)));
    }

    /// Takes in one record, given the life at any moment and, from elsewhere, the moment of the tick it remembers;
    /// without a moment the episode is left out.
    pub fn read(&mut self, record: &Record, life: &Life, moment: impl FnOnce() -> Option<Moment>) {
        let nothing = || life.birth().world.domains.iter().map(|_| f64::NAN).collect::<Values>();
        let (mut unheard, mut unseen) = if self.partial { self.unheard(record) } else { Default::default() };
        let (mut said, mut seen) = (None, None);
        let mut moment = Some(moment);
        for event in &record.events {
            match event {
                Event::Prediction(prediction::Event::Sensed { until, values, unit, .. }) => {
                    seen = Some((*until, values));
                    self.units.push_back((*until, unit.as_f64()));
                }
                Event::Rule(rule::Event::Predicted { domain, naive, far, .. }) => {
                    let at = usize::from(*domain);
                    let Some((until, _)) = seen else { continue };
                    self.open[at].push_back((record.seq, until + life.horizon(at)));
                    let (claimed, naively) = said.get_or_insert_with(|| (nothing(), nothing()));
                    (claimed[at], naively[at]) = (naive + f64::from(*far), *naive);
                }
                Event::Rule(rule::Event::Scored { domain, .. }) | Event::Rule(rule::Event::Voided { domain })
                    if unheard[usize::from(*domain)] > 0 =>
                {
                    unheard[usize::from(*domain)] -= 1;
                }
                Event::Rule(rule::Event::Scored { domain, actual }) => {
                    let made = self.open[usize::from(*domain)].pop_front();
                    let begun = made.and_then(|(seq, _)| self.begun.binary_search_by_key(&seq, |(at, ..)| *at).ok());
                    if let Some(at) = begun {
                        self.begun[at].2.actual[usize::from(*domain)] = *actual;
                    }
                }
                Event::Rule(rule::Event::Voided { domain }) => {
                    self.open[usize::from(*domain)].pop_front();
                }
                Event::Episode(episode::Event::LookedBack { .. }) if unseen > 0 => unseen -= 1,
                Event::Episode(episode::Event::LookedBack { change, regret }) => {
                    if let Some((_, _, mut over)) = self.begun.pop_front() {
                        (over.change, over.regret) = (*change, *regret);
                        over.moved = self.aside(&over, life);
                        self.keep(over);
                    }
                }
                Event::Episode(episode::Event::Remembered { state, .. }) => {
                    let Some(known) = moment.take().and_then(|of| of()) else { continue };
                    let (claimed, naive) = said.take().unwrap_or_else(|| (nothing(), nothing()));
                    let (at, base) =
                        seen.map_or_else(|| (record.at, nothing()), |(at, values)| (at, bases(life, values)));
                    let begun = Experience {
                        base,
                        claimed,
                        naive,
                        actual: nothing(),
                        ..Experience::begun(at, (**state).clone(), known)
                    };
                    self.begun.push_back((record.seq, at + episode::horizon(life), begun));
                }
                Event::Dream(dream::Event::Dreamt(found)) => self.dreamt(found),
                _ => {}
            }
        }
    }

    /// How a unit's worth changed to the end of an episode from a moment sooner than it began, and from one later.
    fn aside(&mut self, over: &Experience, life: &Life) -> (f32, f32) {
        let aside = aside(life);
        while self.units.get(1).is_some_and(|(at, _)| *at + aside <= over.at) {
            self.units.pop_front();
        }
        let unit = |sooner: Span, later: Span| {
            let known = self.units.partition_point(|(at, _)| *at + sooner <= over.at + later);
            self.units.get(known.checked_sub(1)?).map(|(_, unit)| *unit).filter(|unit| *unit > 0.0)
        };
        let end = unit(Span::ZERO, Span::ZERO).map(|unit| unit * (1.0 + f64::from(over.change)));
        let change = |from: Option<f64>| end.zip(from).map_or(f32::NAN, |(end, from)| (end / from - 1.0) as f32);
        let sooner = change(unit(aside, Span::ZERO));
        (sooner, if aside < episode::horizon(life) { change(unit(Span::ZERO, aside)) } else { f32::NAN })
    }

    /// Gains of another choice a while sooner and a while later. Of a moment before the oldest memory nothing is known,
    /// however much this memory has heard.
    pub(super) fn otherwise(&self, e: &Experience, life: &Life) -> [Option<f32>; 2] {
        let from = self.whole.front().map_or(e.at, |oldest| oldest.at);
        let one_way = life.execution().one_way() as f32;
        let gain = |change: f32| if e.exposed { -change - one_way } else { change - 2.0 * one_way };
        let known = |change: f32| Some(change).filter(|change| change.is_finite()).map(gain);
        let (sooner, later) = e.moved;
        [known(sooner).filter(|_| from + aside(life) <= e.at), known(later)]
    }

    /// How many of a record's answers are to claims made before this memory begins, and how many of its ends are of
    /// episodes from before. Both come in the order of what they belong to, so the unknown ones are the first.
    fn unheard(&self, record: &Record) -> ([usize; limits::DOMAINS], usize) {
        let (mut answers, mut ends, mut until) = ([0; limits::DOMAINS], 0, None);
        for event in &record.events {
            match event {
                Event::Rule(rule::Event::Scored { domain, .. }) | Event::Rule(rule::Event::Voided { domain }) => {
                    answers[usize::from(*domain)] += 1
                }
                Event::Episode(episode::Event::LookedBack { .. }) => ends += 1,
                Event::Prediction(prediction::Event::Sensed { until: seen, .. }) => until = Some(*seen),
                _ => {}
            }
        }
        let by_now = |due: &Time| until.is_some_and(|until| *due <= until);
        for (answers, open) in answers.iter_mut().zip(&self.open) {
            *answers -= open.iter().take_while(|(_, due)| by_now(due)).count().min(*answers);
        }
        ends -= self.begun.iter().take_while(|(_, due, _)| by_now(due)).count().min(ends);
        (answers, ends)
    }

    /// Takes in a night that went through some episodes, calmed some and let some go.
    fn dreamt(&mut self, found: &Found) {
        let calm = |e: &mut Experience| e.arousal = (e.arousal - CALMED).max(0.0);
        found.batch.iter().for_each(|number| self.touch(*number, |e| e.replays = e.replays.saturating_add(1)));
        found.imagined.calmed.iter().for_each(|number| self.touch(*number, calm));
        found.replay.forgotten.iter().for_each(|number| self.touch(*number, |e| e.forgotten = true));
    }

    fn touch(&mut self, number: u64, change: impl FnOnce(&mut Experience)) {
        if let Ok(at) = self.whole.binary_search_by_key(&number, |e| e.number) {
            change(&mut self.whole[at]);
        }
    }

    /// Keeps one more episode that is over; the oldest gives way.
    pub fn keep(&mut self, experience: Experience) {
        self.whole.push_back(experience);
        if self.whole.len() > self.room {
            self.whole.pop_front();
        }
    }

    /// An episode that is over, by its number.
    pub fn get(&self, number: u64) -> Option<&Experience> {
        self.whole.binary_search_by_key(&number, |e| e.number).ok().map(|at| &self.whole[at])
    }

    pub fn whole(&self) -> impl DoubleEndedIterator<Item = &Experience> + ExactSizeIterator {
        self.whole.iter()
    }

    /// The newest episodes that have ended, oldest first.
    pub fn newest(&self, most: usize) -> impl Iterator<Item = &Experience> {
        self.whole.iter().skip(self.whole.len().saturating_sub(most))
    }

    /// The best episodes to replay now, and in a fifth of the places some that would never be chosen otherwise.
    pub fn select(&self, life: &Life, most: usize) -> Vec<&Experience> {
        let (worth, diverse) = (Worth::of(life), most / 5);
        let pool: Vec<&Experience> = self.newest(Memory::room(life)).filter(|e| !e.forgotten).collect();
        // With the place of each in the pool, where it stands by its number.
        let mut scored: Vec<(f32, usize)> = pool.iter().enumerate().map(|(at, e)| (worth.rank(e), at)).collect();
        let best = (most - diverse).min(scored.len());
        if best > 0 && best < scored.len() {
            scored.select_nth_unstable_by(best - 1, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        }
        let (best, others) = scored.split_at(best);
        let others = || others.iter().map(|(_, at)| *at);
        let latest = (0..3).filter_map(|regime| others().filter(|at| pool[*at].regime == regime).max());
        let stirring = others().max_by(|a, b| pool[*a].arousal.total_cmp(&pool[*b].arousal));
        let old = pool.len() / 3;
        let from_all_over = (0..old).step_by((old / diverse.max(1)).max(1));
        let (mut chosen, mut room) = (vec![false; pool.len()], most - best.len());
        best.iter().for_each(|(_, at)| chosen[*at] = true);
        for at in latest.chain(stirring).chain(from_all_over) {
            if room > 0 && !chosen[at] {
                (chosen[at], room) = (true, room - 1);
            }
        }
        pool.into_iter().zip(chosen).filter_map(|(e, chosen)| chosen.then_some(e)).collect()
    }
}

/// How long before or after a choice another moment for it is: a quarter of the way to its end, and a look at least.
fn aside(life: &Life) -> Span {
    Span::millis(episode::horizon(life).as_millis() / 4).max(life.constitution().interval)
}

/// The worth of replaying memories at one moment of a life.
pub(super) struct Worth<'a> {
    life: &'a Life,
    /// Numbers of memories that the fiber marked.
    marked: Vec<u64>,
}

impl Worth<'_> {
    pub(super) fn of(life: &Life) -> Worth<'_> {
        let mut marked: Vec<u64> = life.knowing().fiber.strange.iter().copied().collect();
        marked.sort_unstable();
        Worth { life, marked }
    }

    /// The gain that was possible, times how likely a similar case is to return.
    pub(super) fn utility(&self, e: &Experience) -> f32 {
        let life = self.life;
        let gain =
            0.4 * e.surprise.min(1.0) + 0.3 * (e.change.abs() * 20.0).min(1.0) + 0.3 * (e.regret * 20.0).min(1.0);
        let same = if e.regime == life.regimes().now as u8 { 1.0 } else { 0.3 };
        let recency = 1.0 / (1.0 + (life.tick() as f32 - e.tick as f32) / 2_000.0);
        let need = 0.4 * likeness(&e.state, &life.knowing().moves.last) + 0.3 * same + 0.3 * recency;
        let marked = if self.marked.binary_search(&e.number).is_ok() { MARKED } else { 1.0 };
        gain * need * marked * WORN.powi(i32::from(e.replays))
    }

    /// The rank of an episode in the order that the owner chose.
    pub(super) fn rank(&self, e: &Experience) -> f32 {
        match self.life.constitution().dream.replay_order {
            ReplayOrder::Utility => self.utility(e),
            ReplayOrder::Recency => 1.0 + e.number as f32,
            ReplayOrder::Surprise => e.surprise,
            // The same for every memory of a night, and another in the next.
            ReplayOrder::Uniform => {
                let nights = self.life.dreams().nights;
                let scattered = (e.number ^ nights.rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                0.2 + (scattered >> 40) as f32 / (1_u64 << 25) as f32
            }
        }
    }
}

/// The likeness of two states, from 0 to 1.
fn likeness(a: &Impression, b: &Impression) -> f32 {
    if a.len() != b.len() || a.is_empty() {
        return 0.0;
    }
    let apart: f32 = a.iter().zip(b).map(|(x, y)| ((x - y) / (x.abs() + y.abs() + 1e-6)).abs()).sum();
    1.0 - apart / a.len() as f32
}

//! The state of the screens, and what becomes of it by what the host tells. Nothing is drawn here and nothing is fetched;
//! what should be asked of the host comes back.

use std::collections::VecDeque;

use golem::thanatopsis::Testament;
use ratatui::crossterm::event::KeyEvent;
use shell::life::heirs::Offer;
use shell::life::heirs::Relative;
use shell::river::Report;
use shell::view::status::{State, Status};

use super::told::{HostNews, HostRequest, OwnerOrder, StreamMessage};
use super::wizard::Wizard;
use shell::view::known::Hit;
use shell::view::nights::Nights;
use shell::view::saying::Topic;
use shell::view::seen::Seen;

/// Messages kept.
const HEARD: usize = 2_000;
/// Looks kept.
const LOOKS: usize = 4_000;
/// Records of a life that are read again when it is first looked at, for the line of its vitality.
const BACK: u64 = 3_000;

#[derive(Debug)]
pub(crate) enum Event {
    Key(KeyEvent),
    Resized(u16, u16),
    Told(HostNews),
    /// A second has passed.
    Beat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Screen {
    Golems,
    /// One life; of the dead, its end.
    Life,
    Memory,
    Dreams,
    Events,
    Graveyard,
    Family,
    Clade,
    Testament,
    Successor,
}

impl Screen {
    /// Screens that have a number of their own.
    pub(crate) const TABS: [(Screen, &str); 8] = [
        (Screen::Golems, "golems"),
        (Screen::Life, "life"),
        (Screen::Memory, "memory"),
        (Screen::Dreams, "dreams"),
        (Screen::Events, "events"),
        (Screen::Graveyard, "graves"),
        (Screen::Family, "family"),
        (Screen::Clade, "clade"),
    ];
}

/// How things stand between us and the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HostLink {
    Trying,
    Up,
    /// Why it cannot be reached.
    Away(String),
}

/// A box over a screen, until it is answered or put away.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Over {
    Help,
    Confirm(String, OwnerOrder),
    ConfirmAll(OwnerOrder),
    ConfirmHeir(String),
    /// Whom its owner asks, and the words so far.
    Question(String, String),
}

/// How a life stood at one look.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LifeLook {
    pub(crate) tick: u64,
    pub(crate) vitality: f64,
    pub(crate) money: f64,
    pub(crate) skill: f64,
}

/// The part of the stream that is shown.
#[derive(Debug, Default)]
pub(crate) struct Feed {
    pub(crate) topic: Topic,
    /// Only the chosen golem, but of that one everything.
    pub(crate) only_one: bool,
    pub(crate) text: String,
    /// How far back from the newest.
    pub(crate) back: usize,
}

#[derive(Debug)]
pub(crate) struct App {
    pub(crate) address: String,
    pub(crate) colours: bool,
    /// Whether the figures of golems are drawn.
    pub(crate) creatures: bool,
    pub(crate) link: HostLink,
    pub(crate) screen: Screen,
    pub(crate) over: Option<Over>,
    /// The line at the bottom takes text.
    pub(crate) typing: bool,
    pub(crate) notice: Option<String>,
    pub(crate) golems: Vec<Status>,
    /// Only names with this in them are listed.
    pub(crate) names: String,
    /// The golem everything but the list is about.
    pub(crate) chosen: Option<String>,
    pub(crate) seen: Option<Seen>,
    pub(crate) looks: VecDeque<LifeLook>,
    pub(crate) heard: VecDeque<StreamMessage>,
    pub(crate) followed: VecDeque<StreamMessage>,
    pub(crate) feed: Feed,
    pub(crate) query: String,
    pub(crate) memory: Option<Vec<Hit>>,
    pub(crate) nights: Option<Nights>,
    pub(crate) testament: Option<Box<Testament>>,
    pub(crate) family: Option<Vec<Relative>>,
    /// Golems elsewhere, and when that was told; nothing where this home is of no clade.
    pub(crate) clade: Option<Option<Box<Report>>>,
    pub(crate) offer: Option<Result<Box<Offer>, String>>,
    pub(crate) wizard: Wizard,
    /// Which line of a list is marked, on screens that have one of their own.
    pub(crate) at: usize,
    /// The first line shown, where a text is longer than the screen.
    pub(crate) scroll: usize,
    pub(crate) quit: bool,
    /// Columns and rows there are, for how far a text can be scrolled.
    pub(crate) size: (u16, u16),
    follows: Option<String>,
}

impl App {
    pub(crate) fn new(address: String, chosen: Option<String>, colours: bool) -> App {
        App {
            address,
            colours,
            creatures: true,
            link: HostLink::Trying,
            screen: if chosen.is_some() { Screen::Life } else { Screen::Golems },
            over: None,
            typing: false,
            notice: None,
            golems: Vec::new(),
            names: String::new(),
            chosen,
            seen: None,
            looks: VecDeque::new(),
            heard: VecDeque::new(),
            followed: VecDeque::new(),
            feed: Feed::default(),
            query: String::new(),
            memory: None,
            nights: None,
            testament: None,
            family: None,
            clade: None,
            offer: None,
            wizard: Wizard::default(),
            at: 0,
            scroll: 0,
            quit: false,
            size: (80, 24),
            follows: None,
        }
    }

    /// Requests that refresh the open screen.
    pub(crate) fn wanted(&self) -> Vec<HostRequest> {
        let mut asks = vec![HostRequest::Golems];
        let Some(name) = self.chosen.clone() else { return asks };
        // Of the dead nothing changes any more: once is enough.
        let dead = self.is_dead();
        match self.screen {
            Screen::Golems | Screen::Events => {}
            Screen::Life if dead && self.testament.is_some() && self.seen.is_some() => {}
            Screen::Life if dead => asks.extend([HostRequest::One(name.clone()), HostRequest::Testament(name)]),
            Screen::Life => asks.push(HostRequest::One(name)),
            Screen::Memory if self.memory.is_none() => {
                asks.push(HostRequest::Memory { name, query: self.query.clone() });
            }
            Screen::Dreams if self.nights.is_none() || self.seen.is_none() || !dead => {
                asks.extend([HostRequest::One(name.clone()), HostRequest::Nights(name)]);
            }
            Screen::Graveyard | Screen::Testament if dead && self.testament.is_none() => {
                asks.push(HostRequest::Testament(name));
            }
            Screen::Family => asks.push(HostRequest::Family(name)),
            Screen::Clade => asks.push(HostRequest::Clade),
            Screen::Successor if self.offer.is_none() => asks.push(HostRequest::Estate(name)),
            _ => {}
        }
        asks
    }

    /// Golems as they are listed: the living before the dead, each by name.
    pub(crate) fn listed(&self) -> Vec<&Status> {
        let mut listed: Vec<&Status> = self.golems.iter().filter(|one| one.name.contains(&self.names)).collect();
        listed.sort_by_key(|one| one.state == State::Dead);
        listed
    }

    pub(crate) fn dead(&self) -> Vec<&Status> {
        self.golems.iter().filter(|one| one.state == State::Dead).collect()
    }

    pub(crate) fn status(&self) -> Option<&Status> {
        let chosen = self.chosen.as_ref()?;
        self.golems.iter().find(|one| one.name == *chosen)
    }

    pub(crate) fn is_dead(&self) -> bool {
        self.status().is_some_and(|one| one.state == State::Dead)
    }

    /// Messages the filters let through, the newest first.
    pub(crate) fn passing(&self) -> impl Iterator<Item = &StreamMessage> {
        let from = if self.feed.only_one { &self.followed } else { &self.heard };
        let wanted = self.feed.text.to_lowercase();
        from.iter().rev().filter(move |heard| {
            let has_words = wanted.is_empty()
                || heard.golem.contains(&wanted)
                || heard.event.to_lowercase().contains(&wanted)
                || heard.says.to_lowercase().contains(&wanted);
            self.feed.topic.has(heard.topic) && has_words
        })
    }

    /// From now on everything is about this one.
    pub(crate) fn choose(&mut self, name: &str) {
        if self.chosen.as_deref() == Some(name) {
            return;
        }
        self.chosen = Some(name.to_owned());
        (self.seen, self.memory, self.nights, self.testament) = (None, None, None, None);
        (self.family, self.offer, self.wizard) = (None, None, Wizard::default());
        self.looks.clear();
        self.followed.clear();
        self.follows = None;
        self.query.clear();
    }

    pub(crate) fn go(&mut self, screen: Screen) -> Vec<HostRequest> {
        (self.screen, self.at, self.scroll, self.typing, self.notice) = (screen, 0, 0, false, None);
        self.stand_at_a_grave();
        self.wanted()
    }

    /// In the graveyard the marked golem is the chosen one, so it is never one of the living.
    fn stand_at_a_grave(&mut self) {
        if self.screen == Screen::Graveyard
            && !self.is_dead()
            && let Some(first) = self.dead().first().map(|one| one.name.clone())
        {
            self.choose(&first);
        }
    }

    fn is_about(&self, name: &str) -> bool {
        self.chosen.as_deref() == Some(name)
    }

    pub(crate) fn hear(&mut self, told: HostNews) -> Vec<HostRequest> {
        match told {
            HostNews::Away(why) => {
                self.link = HostLink::Away(why);
                // The next answer may come from another process: the stream is opened again.
                self.follows = None;
            }
            HostNews::Golems(golems) => {
                self.link = HostLink::Up;
                self.golems = golems;
                if self.chosen.is_none() {
                    self.chosen = self.listed().first().map(|one| one.name.clone());
                }
                self.stand_at_a_grave();
            }
            HostNews::One(name, seen) if self.is_about(&name) => return self.see(name, *seen),
            HostNews::Memory(name, mut hits) if self.is_about(&name) => {
                // Found by a question they come as they fit it.
                if self.query.is_empty() {
                    hits.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
                }
                self.memory = Some(hits);
            }
            HostNews::Nights(name, nights) if self.is_about(&name) => self.nights = Some(nights),
            HostNews::Testament(name, testament) if self.is_about(&name) => self.testament = testament,
            HostNews::Family(name, family) if self.is_about(&name) => self.family = Some(in_order(family)),
            HostNews::Clade(clade) => self.clade = Some(clade),
            HostNews::Estate(name, offer) if self.is_about(&name) => {
                if let Ok(offer) = &offer {
                    self.wizard.prefill(offer);
                }
                self.offer = Some(offer);
            }
            HostNews::Heard(heard) => keep(&mut self.heard, heard, HEARD),
            HostNews::Followed(heard) if self.is_about(&heard.golem) => self.follow(heard),
            HostNews::Answered(words) => {
                self.notice = Some(words);
                return self.wanted();
            }
            HostNews::Born(name) => {
                self.choose(&name);
                let asks = self.go(Screen::Life);
                self.notice = Some(format!("{name} is born"));
                return asks;
            }
            // An answer about one that is no longer looked at.
            _ => {}
        }
        Vec::new()
    }

    fn see(&mut self, name: String, seen: Seen) -> Vec<HostRequest> {
        let after = seen.records.saturating_sub(BACK);
        self.seen = Some(seen);
        if self.follows.as_ref() == Some(&name) {
            return Vec::new();
        }
        self.follows = Some(name.clone());
        self.looks.clear();
        self.followed.clear();
        vec![HostRequest::Follow { name, after }]
    }

    fn follow(&mut self, heard: StreamMessage) {
        if heard.event == "mortality.vitality_update" {
            let [vitality, money, skill] = ["composite", "economic", "epistemic"].map(|key| heard.number(key));
            keep(&mut self.looks, LifeLook { tick: heard.tick, vitality, money, skill }, LOOKS);
        }
        keep(&mut self.followed, heard, HEARD);
    }
}

/// Each child right below its parent; who has none here comes first in its own line.
fn in_order(family: Vec<Relative>) -> Vec<Relative> {
    fn put(one: &Relative, family: &[Relative], ordered: &mut Vec<Relative>) {
        ordered.push(one.clone());
        let children = family.iter().filter(|other| other.parent.as_ref() == Some(&one.name) && other.id != one.id);
        children.for_each(|child| put(child, family, ordered));
    }
    let mut ordered = Vec::new();
    let is_here = |name: &String| family.iter().any(|one| one.name == *name);
    for root in family.iter().filter(|one| !one.parent.as_ref().is_some_and(is_here)) {
        put(root, &family, &mut ordered);
    }
    ordered
}

fn keep<T>(list: &mut VecDeque<T>, new: T, most: usize) {
    if list.len() >= most {
        list.pop_front();
    }
    list.push_back(new);
}

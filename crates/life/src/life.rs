//! Life: everything a golem is at this moment, and nothing else.
//!
//! Life is small, bounded and serialisable, and it changes only when an event is applied to it. Code outside this crate
//! cannot get hold of a mutable one that matters: [`crate::Course`] keeps it.

use std::collections::VecDeque;

use arrayvec::ArrayVec;
use serde::{Deserialize, Serialize};

use crate::call::Calls;
use crate::clade::Clade;
use crate::constitution::{Constitution, MindKind, PolicyFigures};
use crate::daimon::Daimon;
use crate::dream::Dreams;
use crate::episode::Episodes;
use crate::goal::{Tallies, Tally};
use crate::grimoire::Knowing;
use crate::heartbeat::Heartbeat;
use crate::id::{CommandId, GolemId, Name};
use crate::laws::{Laws, laws};
use crate::limits;
use crate::money::Usdc;
use crate::mortality::death::Death;
use crate::mortality::phase::Phase;
use crate::mortality::{Epistemic, Purse, Vitality};
use crate::outside::Outside;
use crate::owner::{Deposit, Say};
use crate::phage::Phages;
use crate::policy::{Capital, Day, Execution, Flight, Held, Intent, Permit, Refusal, preference};
use crate::prediction::{Claim, Dated, Prediction, Seen, Voice};
use crate::prose::Prose;
use crate::regime::Regimes;
use crate::rule::{Heuristic, OpenSample, Stake, text};
use crate::stress::Stress;
use crate::thought::Thoughts;
use crate::time::{Span, Time};
use crate::trust::Trust;
use crate::world::{Manifest, Unsound};

/// The birth record: identity, constitution and world.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Birth {
    pub id: GolemId,
    /// The name at birth, which seeded secrets and ids are made of. The name a golem has now is a label outside its life.
    pub name: Name,
    pub generation: u32,
    pub laws: u16,
    /// Hash of the secret behind every roll; the secret itself never comes near this crate.
    pub secret_hash: [u8; 32],
    /// The secret was derived from a public seed, so this life can be foreseen. Experiments only.
    pub seeded: bool,
    pub constitution: Constitution,
    pub world: Manifest,
    /// Money it is given to begin with, and what an heir of it would be.
    #[serde(default)]
    pub endowment: Endowment,
    /// The line it comes from; none for the first of a line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lineage: Option<Lineage>,
    /// Rules that its predecessor did not live to see tested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unfinished: Vec<String>,
}

/// The line of an heir: golems each made from what the one before left.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lineage {
    #[serde(with = "crate::id::as_text")]
    pub first: GolemId,
    #[serde(with = "crate::id::as_text")]
    pub parent: GolemId,
    pub parent_name: String,
    /// True for an heir made without asking the owner.
    #[serde(default)]
    pub by_itself: bool,
    /// True if the predecessor was frozen when it died, so that the heir is born frozen.
    #[serde(default)]
    pub frozen: bool,
    /// The predecessor's last day of acting, which counts for the heir on the same day.
    #[serde(default)]
    pub day: Day,
    /// How far the predecessor had come to trust its voices, by domain; empty if nothing is inherited.
    #[serde(default)]
    pub trust: Vec<(String, Trust)>,
}

/// The first money of a life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Endowment {
    /// To live on.
    pub credit: Usdc,
    /// To act with.
    pub capital: Usdc,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Life {
    #[serde(with = "crate::prose")]
    pub(crate) birth: Box<Birth>,
    pub(crate) born: Time,
    /// World time of the newest record.
    pub(crate) now: Time,
    /// World time up to which the clocks have run.
    pub(crate) lived_until: Time,
    pub(crate) age: Span,
    pub(crate) tick: u64,
    pub(crate) heartbeat: Heartbeat,
    pub(crate) purse: Purse,
    pub(crate) capital: Capital,
    pub(crate) vitality: Vitality,
    pub(crate) epistemic: Epistemic,
    pub(crate) seen: Seen,
    pub(crate) claims: ArrayVec<Claim, { limits::CLAIMS }>,
    pub(crate) claims_made: u64,
    /// Dated claims of its agent.
    pub(crate) dated: ArrayVec<Dated, { limits::CLAIMS }>,
    pub(crate) dated_made: u64,
    /// Heuristics at work, by slot.
    pub(crate) playbook: Vec<Heuristic>,
    /// Heuristics there have been.
    pub(crate) heuristics_made: u64,
    /// How far the voices of each domain are trusted.
    pub(crate) trust: ArrayVec<Trust, { limits::DOMAINS }>,
    /// Claims of the rule mind, by domain, oldest first.
    pub(crate) open: ArrayVec<VecDeque<Prediction>, { limits::DOMAINS }>,
    /// Looks whose holding is being followed, oldest first.
    pub(crate) stakes: VecDeque<Stake>,
    /// Samples of fragments that have begun, at most one a slot.
    pub(crate) sampling: Vec<OpenSample>,
    /// Which slots were awake at the newest look.
    pub(crate) awake: u64,
    /// The time of the newest look.
    pub(crate) awake_at: Time,
    pub(crate) regimes: Regimes,
    pub(crate) episodes: Episodes,
    pub(crate) knowing: Knowing,
    /// Tallies of its goals, by domain.
    pub(crate) goals: Tallies,
    pub(crate) stress: Stress,
    pub(crate) daimon: Daimon,
    pub(crate) dreams: Dreams,
    pub(crate) phages: Phages,
    pub(crate) thoughts: Thoughts,
    pub(crate) calls: Calls,
    pub(crate) outside: Outside,
    /// Guidance from its owner, for it to keep in mind.
    pub(crate) strategy: String,
    /// The last word of its agent to its owner, and when.
    pub(crate) said: Option<(Say, Time)>,
    /// The cage as it stands; the birth record has the one it was born into.
    #[serde(with = "crate::prose")]
    pub(crate) policy: Box<PolicyFigures>,
    pub(crate) execution: Execution,
    pub(crate) day: Day,
    pub(crate) intent: Option<Intent>,
    pub(crate) held: Option<Held>,
    /// True while what is held has hit its stop and is being given up.
    pub(crate) stopped: bool,
    /// True while what its owner would rather avoid holds.
    pub(crate) avoiding: bool,
    /// The last refusal of an idea of its own, and when.
    pub(crate) refused: Option<(Refusal, u64)>,
    pub(crate) permits: ArrayVec<Permit, { limits::FLIGHTS }>,
    pub(crate) flights: ArrayVec<Flight, { limits::FLIGHTS }>,
    pub(crate) flights_made: u64,
    pub(crate) transfers_taken: u64,
    pub(crate) deposits: ArrayVec<Deposit, { limits::DEPOSITS }>,
    pub(crate) deposits_made: u64,
    /// The owner's newest commands, and the rule by which each was declined.
    pub(crate) commands: ArrayVec<(CommandId, Option<Refusal>), { limits::COMMANDS }>,
    pub(crate) clade: Clade,
    pub(crate) death: Option<Box<Death>>,
}

impl Birth {
    /// Whether such a life can be lived: its laws and its stressors are known, and its world is within its bounds.
    pub fn check(&self) -> Result<(), Unsound> {
        if laws(self.laws).is_none() {
            return Err(Unsound::new(format!("this version does not know laws {}; upgrade bardo", self.laws)));
        }
        if let Some(name) = self.constitution.stress.rates.newer() {
            return Err(Unsound::new(format!("this version does not know the stressor `{name}`; upgrade bardo")));
        }
        self.world.check()?;
        preference::check(&self.constitution.strategy, &self.world).map_err(Unsound::new)?;
        let mut blends = 0;
        for instinct in &self.world.instincts {
            let parsed = text::parse(instinct, &self.world)
                .map_err(|wrong| Unsound::new(format!("the instinct '{instinct}' cannot be read: {wrong}")))?;
            blends += usize::from(parsed.blend.is_some());
        }
        if !self.lineage.iter().flat_map(|line| &line.trust).all(|(_, trust)| trust.is_sound()) {
            return Err(Unsound::new("the trust inherited from its line is not a number".to_owned()));
        }
        if blends > limits::BLENDS {
            return Err(Unsound::new(format!("{blends} instincts are blends; at most {} are allowed", limits::BLENDS)));
        }
        Ok(())
    }
}

/// Trust in the voices of a domain begins where the line left off, as far as evidence crosses a death.
fn trusted(birth: &Birth, domain: &str) -> Trust {
    let left = birth.lineage.iter().flat_map(|line| &line.trust).find(|(name, _)| name == domain);
    left.map_or_else(Trust::default, |(_, trust)| trust.left(birth.constitution.succession.evidence))
}

impl Life {
    pub(crate) fn new(birth: Birth, at: Time) -> Life {
        let domains = birth.world.domains.len();
        let line = birth.lineage.as_ref();
        Life {
            born: at,
            now: at,
            lived_until: at,
            age: Span::ZERO,
            tick: 0,
            heartbeat: Heartbeat { frozen: line.is_some_and(|line| line.frozen), ..Heartbeat::default() },
            purse: Purse::default(),
            capital: Capital::default(),
            vitality: Vitality::newborn(at, laws(birth.laws).map_or(0.0, |laws| laws.newborn)),
            epistemic: Epistemic::new(domains),
            seen: Seen::default(),
            claims: ArrayVec::new(),
            claims_made: 0,
            dated: ArrayVec::new(),
            dated_made: 0,
            playbook: Vec::new(),
            heuristics_made: 0,
            trust: birth.world.domains.iter().map(|domain| trusted(&birth, &domain.name)).collect(),
            open: (0..domains).map(|_| VecDeque::new()).collect(),
            stakes: VecDeque::new(),
            sampling: Vec::new(),
            awake: 0,
            awake_at: Time::default(),
            regimes: Regimes::new(at, laws(birth.laws)),
            episodes: Episodes::default(),
            knowing: Knowing::default(),
            goals: (0..domains).map(|_| Tally::default()).collect(),
            stress: Stress::default(),
            daimon: Daimon::default(),
            dreams: Dreams::default(),
            phages: Phages::default(),
            thoughts: Thoughts::new(&birth.constitution.thought),
            calls: Calls::default(),
            outside: Outside::default(),
            strategy: String::new(),
            said: None,
            policy: Box::new(birth.constitution.policy.clone()),
            execution: Execution::default(),
            day: line.map_or(Day::default(), |line| line.day),
            intent: None,
            held: None,
            stopped: false,
            avoiding: false,
            refused: None,
            permits: ArrayVec::new(),
            flights: ArrayVec::new(),
            flights_made: 0,
            transfers_taken: 0,
            deposits: ArrayVec::new(),
            deposits_made: 0,
            commands: ArrayVec::new(),
            clade: Clade::default(),
            death: None,
            birth: Box::new(birth),
        }
    }

    /// Reads a Life by field names, for a version whose Life has other fields: fields it no longer has are left out,
    /// and fields that came since are as they were when this life was born.
    pub fn by_name(text: &[u8]) -> Result<Life, serde_json::Error> {
        let told: serde_json::Value = serde_json::from_slice(text)?;
        let birth: Birth = serde_json::from_value(told["birth"].clone())?;
        let born: Time = serde_json::from_value(told["born"].clone())?;
        serde_json::from_value(complete(serde_json::to_value(Life::new(birth, born))?, told))
    }

    pub fn id(&self) -> GolemId {
        self.birth.id
    }

    pub fn constitution(&self) -> &Constitution {
        &self.birth.constitution
    }

    pub fn phase(&self) -> Phase {
        self.vitality.phase
    }

    pub fn is_dead(&self) -> bool {
        self.death.is_some()
    }

    /// How often it looks now: phases that save look less often.
    pub fn interval(&self) -> Span {
        self.constitution().interval.times(self.phase().behaviour().interval_times)
    }

    /// When the next look is due.
    pub fn due(&self) -> Time {
        self.lived_until + self.interval()
    }

    /// Whether it can use what its siblings find out.
    pub fn digests(&self) -> bool {
        let constitution = self.constitution();
        constitution.clade.share && constitution.mind.kind == MindKind::Rules && !self.is_dead()
    }

    /// Whether heuristics still learn from what comes of their claims.
    pub fn learns(&self) -> bool {
        let mind = &self.constitution().mind;
        mind.learning && mind.learn_until.is_none_or(|until| self.age < until)
    }

    /// How far ahead a claim in a domain looks.
    pub fn horizon(&self, domain: usize) -> Span {
        match self.birth.world.domains[domain].horizon {
            0 => self.constitution().interval,
            bars => self.birth.world.bar.times(u64::from(bars)),
        }
    }

    /// Looks from a claim in a domain to its answer.
    pub fn looks_ahead(&self, domain: usize) -> u32 {
        let looks = self.horizon(domain).as_millis() / self.constitution().interval.as_millis().max(1);
        looks.clamp(1, u64::from(limits::HORIZON)) as u32
    }

    /// The share that a voice had in the newest claim of a domain.
    pub fn say(&self, domain: usize, voice: Voice) -> f64 {
        let newest = self.open.get(domain).and_then(VecDeque::back);
        newest.map_or(0.0, |claim| self.trust[domain].part(voice, &claim.said))
    }

    /// Money given and gained, less everything it became: zero, always.
    pub fn unaccounted(&self) -> Usdc {
        let (purse, capital) = (&self.purse, &self.capital);
        let lived_on = purse.given + capital.harvested - purse.credit - purse.spent - purse.gas - purse.withdrawn;
        let acted_with = capital.given + capital.realised
            - capital.cash
            - capital.reserved
            - capital.cost
            - capital.fees
            - capital.harvested
            - capital.withdrawn;
        lived_on + acted_with
    }

    /// Which thirty days of its age it is in.
    pub fn month(&self) -> u64 {
        Purse::month_at(self.age, self.laws())
    }

    /// Ticks over which fitness is measured.
    pub fn fitness_window(&self) -> f64 {
        self.constitution().fitness_window(self.laws())
    }

    pub fn laws(&self) -> &'static Laws {
        laws(self.birth.laws).expect("a golem is born only under laws this version knows")
    }
}

/// Fills in fields that are missing from a stored Life with those of a newborn.
fn complete(newborn: serde_json::Value, told: serde_json::Value) -> serde_json::Value {
    match (newborn, told) {
        (serde_json::Value::Object(newborn), serde_json::Value::Object(mut told)) => {
            for (name, fresh) in newborn {
                let known = told.remove(&name);
                told.insert(name, known.map_or(fresh.clone(), |known| complete(fresh, known)));
            }
            serde_json::Value::Object(told)
        }
        (_, told) => told,
    }
}

impl Prose for Box<Birth> {
    const NAME: &'static str = "BirthJson";
}

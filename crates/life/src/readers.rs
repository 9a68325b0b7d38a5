//! Life, read: one reader a field, so that nothing outside this crate can hold a field it could set.

use std::collections::VecDeque;

use crate::call::Calls;
use crate::clade::Clade;
use crate::constitution::PolicyFigures;
use crate::daimon::Daimon;
use crate::dream::Dreams;
use crate::episode::Episodes;
use crate::goal::Tallies;
use crate::grimoire::Knowing;
use crate::heartbeat::Heartbeat;
use crate::id::CommandId;
use crate::life::{Birth, Life};
use crate::mortality::death::Death;
use crate::mortality::{Epistemic, Purse, Vitality};
use crate::outside::Outside;
use crate::owner::{Deposit, Say};
use crate::phage::Phages;
use crate::policy::{Capital, Day, Execution, Flight, Held, Intent, Permit, Refusal};
use crate::prediction::{Claim, Dated, Prediction, Seen};
use crate::regime::Regimes;
use crate::rule::{Heuristic, OpenSample, Stake};
use crate::stress::Stress;
use crate::thought::Thoughts;
use crate::time::{Span, Time};
use crate::trust::Trust;

impl Life {
    pub fn birth(&self) -> &Birth {
        &self.birth
    }

    pub fn born(&self) -> Time {
        self.born
    }

    /// World time of the newest record.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Up to where the clocks have run.
    pub fn lived_until(&self) -> Time {
        self.lived_until
    }

    pub fn age(&self) -> Span {
        self.age
    }

    pub fn tick(&self) -> u64 {
        self.tick
    }

    pub fn heartbeat(&self) -> &Heartbeat {
        &self.heartbeat
    }

    pub fn purse(&self) -> &Purse {
        &self.purse
    }

    pub fn capital(&self) -> &Capital {
        &self.capital
    }

    pub fn vitality(&self) -> &Vitality {
        &self.vitality
    }

    pub fn epistemic(&self) -> &Epistemic {
        &self.epistemic
    }

    pub fn seen(&self) -> &Seen {
        &self.seen
    }

    pub fn claims(&self) -> &[Claim] {
        &self.claims
    }

    pub fn claims_made(&self) -> u64 {
        self.claims_made
    }

    /// What whoever acts for it has said will be.
    pub fn dated(&self) -> &[Dated] {
        &self.dated
    }

    pub fn dated_made(&self) -> u64 {
        self.dated_made
    }

    /// Heuristics at work, by slot.
    pub fn playbook(&self) -> &[Heuristic] {
        &self.playbook
    }

    /// Heuristics there have been.
    pub fn heuristics_made(&self) -> u64 {
        self.heuristics_made
    }

    /// How far the voices of each domain are trusted.
    pub fn trust(&self) -> &[Trust] {
        &self.trust
    }

    /// Claims of the rule mind, by domain, oldest first.
    pub fn open(&self) -> &[VecDeque<Prediction>] {
        &self.open
    }

    /// Looks whose holding is being followed, oldest first.
    pub fn stakes(&self) -> &VecDeque<Stake> {
        &self.stakes
    }

    /// Samples of fragments that have begun.
    pub fn sampling(&self) -> &[OpenSample] {
        &self.sampling
    }

    /// Which slots were awake at the newest look.
    pub fn awake(&self) -> u64 {
        self.awake
    }

    /// When that was.
    pub fn awake_at(&self) -> Time {
        self.awake_at
    }

    pub fn regimes(&self) -> &Regimes {
        &self.regimes
    }

    pub fn episodes(&self) -> &Episodes {
        &self.episodes
    }

    pub fn knowing(&self) -> &Knowing {
        &self.knowing
    }

    /// What has become of its goals, by domain.
    pub fn goals(&self) -> &Tallies {
        &self.goals
    }

    pub fn stress(&self) -> &Stress {
        &self.stress
    }

    pub fn daimon(&self) -> &Daimon {
        &self.daimon
    }

    pub fn dreams(&self) -> &Dreams {
        &self.dreams
    }

    pub fn phages(&self) -> &Phages {
        &self.phages
    }

    pub fn thoughts(&self) -> &Thoughts {
        &self.thoughts
    }

    pub fn calls(&self) -> &Calls {
        &self.calls
    }

    pub fn outside(&self) -> &Outside {
        &self.outside
    }

    /// What its owner would have it keep in mind.
    pub fn strategy(&self) -> &str {
        &self.strategy
    }

    /// What whoever acts for it last told its owner, and when.
    pub fn said(&self) -> Option<&(Say, Time)> {
        self.said.as_ref()
    }

    /// The cage as it stands; the birth record has the one it was born into.
    pub fn policy(&self) -> &PolicyFigures {
        &self.policy
    }

    pub fn execution(&self) -> &Execution {
        &self.execution
    }

    pub fn day(&self) -> Day {
        self.day
    }

    pub fn intent(&self) -> Option<Intent> {
        self.intent
    }

    pub fn held(&self) -> Option<Held> {
        self.held
    }

    /// What is held has hit its stop and is being given up.
    pub fn stopped(&self) -> bool {
        self.stopped
    }

    /// Whether a state of its world that its owner would rather avoid holds at present.
    pub fn avoiding(&self) -> bool {
        self.avoiding
    }

    /// The last refusal of an idea of its own, and when.
    pub fn refused(&self) -> Option<(Refusal, u64)> {
        self.refused
    }

    pub fn permits(&self) -> &[Permit] {
        &self.permits
    }

    pub fn flights(&self) -> &[Flight] {
        &self.flights
    }

    pub fn flights_made(&self) -> u64 {
        self.flights_made
    }

    pub fn transfers_taken(&self) -> u64 {
        self.transfers_taken
    }

    pub fn deposits(&self) -> &[Deposit] {
        &self.deposits
    }

    pub fn deposits_made(&self) -> u64 {
        self.deposits_made
    }

    /// The owner's newest commands, and the rule by which each was declined.
    pub fn commands(&self) -> &[(CommandId, Option<Refusal>)] {
        &self.commands
    }

    pub fn clade(&self) -> &Clade {
        &self.clade
    }

    pub fn death(&self) -> Option<&Death> {
        self.death.as_deref()
    }
}

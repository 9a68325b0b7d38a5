//! Phages: small lives in the shadow of a golem, each with one thing done otherwise, dead after about fifty ticks.
//!
//! One moves a threshold of a rule, one adds a feature to a blend or takes one away, one stops its losses later or
//! sooner, one doubts the regime. What each would have said or held is set beside what its golem does, on the same
//! claims and the same bars. Fifty ticks prove little, so a phage that did better earns its way a trial without a say,
//! never a say; one that did not leaves its golem a little surer. How many fail, and whether all in the same way, says
//! how it stands with the golem.

mod decide;

pub use life::phage::*;

pub(crate) use decide::run;

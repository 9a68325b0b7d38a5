//! Proofs that a golem's life changes by `step` and `fold` alone, whatever stands on this crate: a shell, the laboratory, a world.
//!
//! Each program that must not compile stands after one that does and differs from it in the line that is refused. They are
//! run by `cargo test --doc` and are part of no documentation. What this crate itself cannot do to a Life is proved in `life`.
//!
//! A field is read by its reader, and cannot be set:
//!
//! ```
//! use golem::Golem;
//! fn tick(golem: &mut Golem) -> u64 { golem.life().tick() }
//! ```
//! ```compile_fail,E0616
//! use golem::Golem;
//! fn tick(golem: &mut Golem) { golem.life().tick = 7; }
//! ```
//!
//! A golem lends its Life to be read, and keeps the course of it to itself:
//!
//! ```
//! use golem::{Golem, Life};
//! fn look(golem: &mut Golem) { let life: &Life = golem.life(); }
//! ```
//! ```compile_fail,E0308
//! use golem::{Golem, Life};
//! fn look(golem: &mut Golem) { let life: &mut Life = golem.life(); }
//! ```
//! ```compile_fail,E0616
//! use golem::{Golem, Life};
//! fn look(golem: &mut Golem) { let life: &Life = golem.course.life(); }
//! ```
//!
//! An input is lived through the checks of [`Golem::step`](crate::Golem::step), and not past them:
//!
//! ```
//! use golem::{Fault, Golem, Input, Record};
//! fn live(golem: &mut Golem, input: &Input) -> Result<Option<Record>, Fault> { golem.step(input) }
//! ```
//! ```compile_fail,E0603
//! use golem::step::step;
//! ```
//!
//! A chapter shows its readings and figures, and no decision; a draft has no name out here:
//!
//! ```
//! use golem::Life;
//! use golem::mortality::LONGEST_STEP;
//! ```
//! ```compile_fail,E0603
//! use golem::mortality::decide::run;
//! ```
//! ```compile_fail,E0432
//! use golem::Draft;
//! ```

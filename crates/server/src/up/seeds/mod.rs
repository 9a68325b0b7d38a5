//! A host from one seed. Its loop is stepped on one thread, by a clock that stands still until it is moved, over a disk that
//! refuses, loses and tears. One number decides which golem gets a turn and when, when a slow world answers, what the
//! owner does meanwhile, and at which step on its way to the disk the process ends; the next one goes on from what is
//! left. After each end the laws are held against that.
//!
//! A run that breaks one is a number: `BARDO_SEED=N` repeats it, and `BARDO_SEED_TELL=1` tells what happens in it.

mod dice;
mod disk;
mod laws;
mod owner;
mod process;
mod run;
mod tests;
mod town;

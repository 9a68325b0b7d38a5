//! Proofs that no one outside this crate can change a Life but by `emit`, and that no decision can be named in it.
//!
//! Each program that must not compile stands after one that does and differs from it in the line that is refused: so it is
//! refused for that line. They are run by `cargo test --doc` and are part of no documentation. A Life can be made of data,
//! as a snapshot is, but then it is another Life: the one that a [`Course`](crate::Course) keeps does not change.
//!
//! A field is read by its reader, and cannot be set:
//!
//! ```
//! use life::Course;
//! fn tick(course: &mut Course) -> u64 { course.life().tick() }
//! ```
//! ```compile_fail,E0616
//! use life::Course;
//! fn tick(course: &mut Course) { course.life().tick = 7; }
//! ```
//!
//! A course lends its Life to be read:
//!
//! ```
//! use life::{Course, Life};
//! fn look(course: &mut Course) { let life: &Life = course.life(); }
//! ```
//! ```compile_fail,E0308
//! use life::{Course, Life};
//! fn look(course: &mut Course) { let life: &mut Life = course.life(); }
//! ```
//!
//! So does a draft:
//!
//! ```
//! use life::{Draft, Life};
//! fn look(draft: &mut Draft<'_>) { let life: &Life = &**draft; }
//! ```
//! ```compile_fail,E0596
//! use life::{Draft, Life};
//! fn look(draft: &mut Draft<'_>) { let life: &mut Life = &mut **draft; }
//! ```
//!
//! An event is emitted, and cannot be applied by hand:
//!
//! ```
//! use life::mortality::Event;
//! use life::{Course, Time};
//! fn warn(course: &mut Course, at: Time) {
//!     course.live(at, &mut |_, _| {}, |draft| draft.emit(Event::EpistemicWarned));
//! }
//! ```
//! ```compile_fail,E0603
//! use life::apply::apply;
//! use life::mortality::Event;
//! use life::{Life, Time};
//! fn warn(life: &mut Life, at: Time) {
//!     apply(life, at, &Event::EpistemicWarned.into());
//! }
//! ```
//!
//! A birth can be written down, a Life cannot:
//!
//! ```
//! use life::{Birth, Course};
//! fn other(course: &Course) -> Birth { Birth { generation: 7, ..course.life().birth().clone() } }
//! ```
//! ```compile_fail,E0451
//! use life::{Course, Life};
//! fn other(course: &Course) -> Life { Life { tick: 7, ..course.life().clone() } }
//! ```
//!
//! A draft is lent by [`Course::live`](crate::Course::live), and made nowhere else:
//!
//! ```
//! use life::{Draft, Event, Life, Time};
//! type Show<'a> = &'a mut dyn FnMut(&Event, &Life);
//! fn draft<'a>(life: &'a mut Life, at: Time, events: &'a mut Vec<Event>, show: Show<'a>) -> Option<Draft<'a>> {
//!     None
//! }
//! ```
//! ```compile_fail,E0624
//! use life::{Draft, Event, Life, Time};
//! type Show<'a> = &'a mut dyn FnMut(&Event, &Life);
//! fn draft<'a>(life: &'a mut Life, at: Time, events: &'a mut Vec<Event>, show: Show<'a>) -> Option<Draft<'a>> {
//!     Some(Draft::new(life, at, events, show))
//! }
//! ```
//!
//! A chapter has its readings here and no decisions, and the crate that decides is not known:
//!
//! ```
//! use life::mortality::economic;
//! ```
//! ```compile_fail,E0432
//! use life::mortality::decide;
//! ```
//! ```compile_fail,E0432
//! use golem::mortality;
//! ```

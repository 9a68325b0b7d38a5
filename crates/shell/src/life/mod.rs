//! One golem's life: how it comes into the world, how it is woken, lived, written down and left, and who comes after it.

pub mod birth;
mod body;
mod calling;
pub mod checks;
mod consulting;
pub mod curse;
pub mod desk;
mod doorbell;
mod ground;
mod heirless;
pub mod heirs;
mod letters;
mod listener;
mod living;
pub mod mail;
mod memory;
mod mind;
pub mod newborn;
mod opening;
pub mod outside;
pub mod playbook;
pub mod programs;
pub mod questionnaire;
pub mod recall;
mod running;
mod siblings;
mod thinking;
mod turn;
pub mod worlds;
pub mod writing;

pub use listener::{Listener, Silent};
pub use living::Living;
pub use running::{Ending, Pace, Run};
pub use turn::Turn;

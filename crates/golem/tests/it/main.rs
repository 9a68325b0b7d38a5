//! The core from outside: births, inputs, deaths, and every law of it.

mod agent;
mod approval;
mod cage;
mod calls;
mod clade;
mod claims;
mod common;
mod dream;
mod errands;
mod fragments;
mod grimoire;
mod information;
mod inheritance;
mod inputs;
mod knowing;
mod laundering;
mod mortality;
mod outside;
mod phage;
mod pressed;
mod refusals;
mod regime;
mod regressions;
mod runaway;
mod stress;
mod thought;

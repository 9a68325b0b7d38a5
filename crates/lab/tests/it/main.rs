//! Populations: what they come to, with little in CI and with everything by `BARDO_FULL=1`.

mod acting;
mod arms;
mod chains;
mod clades;
mod common;
mod deaths;
mod dreams;
mod edge;
mod estates;
mod experiment;
mod field;
mod flip;
mod honest;
mod information;
mod lineages;
mod lives;
mod mind;
mod nights;
mod parts;
mod phages;
mod poison;
mod rates;
mod realdata;
mod thoughts;

//! What age does: what is measured, each life against itself, how sure that is, when lives end, and what follows.

pub(crate) mod fresh;
pub(crate) mod measure;
pub(crate) mod quantile;
pub(crate) mod study;
pub(crate) mod survival;
pub(crate) mod verdict;
pub(crate) mod when;
pub(crate) mod within;

//! Counts and chance for tests that live many lives.
#![allow(unreachable_pub)]

/// The whole count in a full run, a share of it otherwise.
pub fn lives(full: u64, share: u64) -> u64 {
    if std::env::var_os("BARDO_FULL").is_some() { full } else { share }
}

pub fn mix(seed: u64, salt: u64) -> u64 {
    let z = (seed ^ salt.rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z ^ (z >> 27)
}

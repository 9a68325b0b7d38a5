//! Chance for ideas: a pure function of golem and time; nothing secret hangs on it.

use life::Life;

/// Dice for ideas: a pure function of golem and time; nothing secret hangs on them.
pub(crate) struct Dice(u64);

impl Dice {
    pub(super) fn of(life: &Life) -> Dice {
        let id = u64::from_le_bytes(life.birth().id.0[8..].try_into().expect("eight of sixteen bytes"));
        Dice(id ^ life.tick().rotate_left(17))
    }

    /// Dice of a night: the same throughout it, and others for every purpose.
    pub(crate) fn of_night(life: &Life, purpose: u64) -> Dice {
        let night = life.dreams().night.as_ref().map_or(0, |night| night.number);
        Dice(Dice::of(life).0 ^ night.rotate_left(33) ^ purpose.rotate_left(7))
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n.max(1) as u64) as usize
    }
}

//! Chance, all of it from one number.

#[derive(Clone, Debug)]
pub(super) struct SeedDice(u64);

impl SeedDice {
    pub(super) fn new(seed: u64) -> SeedDice {
        SeedDice(seed)
    }

    /// Other dice from these, so that how often one part throws changes nothing for another.
    pub(super) fn others(&mut self) -> SeedDice {
        SeedDice(self.next())
    }

    /// A number below this one.
    pub(super) fn roll(&mut self, below: u64) -> u64 {
        self.next() % below.max(1)
    }

    pub(super) fn one_in(&mut self, sides: u64) -> bool {
        self.roll(sides) == 0
    }

    pub(super) fn one_of<'a, T>(&mut self, some: &'a [T]) -> &'a T {
        &some[self.roll(some.len() as u64) as usize]
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

//! Rate limits of a relay: by address, by owner, by golem and by kind of word. A death never waits behind chatter.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use crate::envelope::{Class, Speaker};
use crate::key::Owner;

/// A rate: so many at once, and so many a second after that.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    pub burst: f64,
    pub second: f64,
}

/// The limits of a relay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Sign-ins from one address.
    pub address: Rate,
    /// Words of one owner.
    pub owner: Rate,
    /// Words of one golem of one class.
    pub golem: Rate,
    /// Deaths of one owner, which count nowhere else.
    pub deaths: Rate,
    /// Bytes of one owner in a day.
    pub bytes_a_day: f64,
    pub sockets: usize,
    pub sockets_each: usize,
    /// Words of one connection that are being stored at once.
    pub under_way: usize,
    pub session: Duration,
    /// A proxy in front, which is believed about the addresses of clients.
    pub proxy: Option<IpAddr>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            address: Rate { burst: 60.0, second: 1.0 },
            owner: Rate { burst: 2_000.0, second: 50.0 },
            golem: Rate { burst: 400.0, second: 5.0 },
            deaths: Rate { burst: 1_000.0, second: 1.0 },
            bytes_a_day: (1_u64 << 30) as f64,
            sockets: 20_000,
            sockets_each: 16,
            under_way: 256,
            session: Duration::from_secs(900),
            proxy: None,
        }
    }
}

/// Token buckets by key. A bucket that is full again is forgotten.
#[derive(Debug)]
pub(crate) struct Buckets<K> {
    buckets: HashMap<K, (f64, Instant)>,
    rate: Rate,
    /// The number of buckets at which full ones are looked for.
    sweep: usize,
}

impl<K: Eq + Hash> Buckets<K> {
    fn new(rate: Rate) -> Buckets<K> {
        Buckets { buckets: HashMap::new(), rate, sweep: 1_024 }
    }

    /// Takes an amount out, or returns how long it takes until it is there.
    fn take(&mut self, key: K, amount: f64, now: Instant) -> Result<(), Duration> {
        if self.buckets.len() >= self.sweep {
            let Rate { burst, second } = self.rate;
            self.buckets.retain(|_, (left, at)| *left + now.duration_since(*at).as_secs_f64() * second < burst);
            self.sweep = (self.buckets.len() * 2).max(1_024);
        }
        let (left, at) = self.buckets.entry(key).or_insert((self.rate.burst, now));
        *left = (*left + now.saturating_duration_since(*at).as_secs_f64() * self.rate.second).min(self.rate.burst);
        *at = now;
        if *left >= amount {
            *left -= amount;
            return Ok(());
        }
        Err(Duration::from_secs_f64(((amount - *left) / self.rate.second.max(1e-9)).min(86_400.0)))
    }
}

/// The buckets of a relay.
#[derive(Debug)]
pub(crate) struct Meter {
    addresses: Buckets<IpAddr>,
    owners: Buckets<Owner>,
    golems: Buckets<(Owner, Speaker, Class)>,
    deaths: Buckets<Owner>,
    bytes: Buckets<Owner>,
}

impl Meter {
    pub(crate) fn new(limits: &Limits) -> Meter {
        let bytes = Rate { burst: limits.bytes_a_day, second: limits.bytes_a_day / 86_400.0 };
        Meter {
            addresses: Buckets::new(limits.address),
            owners: Buckets::new(limits.owner),
            golems: Buckets::new(limits.golem),
            deaths: Buckets::new(limits.deaths),
            bytes: Buckets::new(bytes),
        }
    }

    pub(crate) fn signs_in(&mut self, address: IpAddr) -> Result<(), Duration> {
        self.addresses.take(address, 1.0, Instant::now())
    }

    pub(crate) fn puts(&mut self, owner: Owner, speaker: Speaker, class: Class, bytes: usize) -> Result<(), Duration> {
        let now = Instant::now();
        if class == Class::Death {
            return self.deaths.take(owner, 1.0, now);
        }
        // By the owner too: any owner can give a golem the name of another's.
        self.golems.take((owner, speaker, class), 1.0, now)?;
        self.owners.take(owner, 1.0, now)?;
        self.bytes.take(owner, bytes as f64, now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_taken_comes_back_and_what_is_full_is_forgotten() {
        let mut buckets = Buckets::new(Rate { burst: 3.0, second: 1.0 });
        let now = Instant::now();
        for _ in 0..3 {
            assert_eq!(buckets.take("a", 1.0, now), Ok(()));
        }
        assert!(buckets.take("a", 1.0, now).unwrap_err() <= Duration::from_secs(1));
        assert_eq!(buckets.take("b", 1.0, now), Ok(()), "others are not kept waiting");
        assert_eq!(buckets.take("a", 2.0, now + Duration::from_secs(2)), Ok(()));
        let mut many = Buckets::new(Rate { burst: 1.0, second: 1_000.0 });
        for n in 0..100_000_u32 {
            let _ = many.take(n, 1.0, now + Duration::from_millis(u64::from(n)));
        }
        assert!(many.buckets.len() < 4_096, "{}", many.buckets.len());
    }

    #[test]
    fn nobody_is_kept_waiting_by_a_namesake() {
        let mut meter = Meter::new(&Limits::default());
        let speaker = Speaker { home: [0; 16], golem: golem::GolemId([0; 16]) };
        while meter.puts(Owner([1; 32]), speaker, Class::Delta, 100).is_ok() {}
        assert!(meter.puts(Owner([2; 32]), speaker, Class::Delta, 100).is_ok());
    }

    #[test]
    fn a_death_is_not_kept_waiting_by_chatter() {
        let mut meter = Meter::new(&Limits::default());
        let (owner, speaker) = (Owner([1; 32]), Speaker { home: [0; 16], golem: golem::GolemId([0; 16]) });
        while meter.puts(owner, speaker, Class::Delta, 100).is_ok() {}
        assert!(meter.puts(owner, speaker, Class::Death, 100).is_ok());
    }
}

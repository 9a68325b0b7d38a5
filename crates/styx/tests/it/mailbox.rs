//! Homes over a river that loses, repeats, reorders and makes things up, and that are themselves cut off between any two
//! steps: everything that was said is heard by every home once and in order.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use golem::GolemId;
use styx::mailbox::{Came, Mailbox, RowChange};
use styx::{Clade, Class, Shape, Speaker};

/// Chance for tests, the same every time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n
    }
}

struct Home {
    mailbox: Mailbox,
    disk: BTreeMap<Vec<u8>, Vec<u8>>,
    name: [u8; 16],
    said: BTreeMap<GolemId, u64>,
    /// What its golems believe, durably.
    believed: BTreeMap<Speaker, Vec<u64>>,
}

fn write(disk: &mut BTreeMap<Vec<u8>, Vec<u8>>, rows: Vec<RowChange>) {
    for (key, value) in rows {
        match value {
            Some(value) => drop(disk.insert(key, value)),
            None => drop(disk.remove(&key)),
        }
    }
}

impl Home {
    fn new(clade: &Arc<Clade>, n: u8) -> Home {
        let name = [n; 16];
        let (disk, said, believed) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Home { mailbox: Mailbox::new(Arc::clone(clade), name), disk, name, said, believed }
    }

    fn killed(&mut self, clade: &Arc<Clade>) {
        self.mailbox = Mailbox::of(Arc::clone(clade), self.name, self.disk.clone());
    }
}

/// One run: so many homes, golems and words.
fn run(seed: u64, homes: u8, words: u64) -> (u64, u64) {
    let (mut dice, clade) = (Dice(seed), Arc::new(Clade::of(&Clade::fresh()).unwrap()));
    let stranger = Arc::new(Clade::of(&Clade::fresh()).unwrap());
    let mut elsewhere = Home::new(&stranger, 99);
    let mut all: Vec<Home> = (1..=homes).map(|n| Home::new(&clade, n)).collect();
    let (mut relay, mut now, mut lost, mut killed): (Vec<Vec<u8>>, u64, u64, u64) = (Vec::new(), 1, 0, 0);
    let mut calm = false;
    // They know of each other from the beginning.
    now += 10_000;
    let hellos: Vec<Vec<u8>> = all.iter_mut().map(|home| home.mailbox.receipt(now).unwrap().bytes().to_vec()).collect();
    for home in &mut all {
        for hello in &hellos {
            let (_, rows) = home.mailbox.take(0, hello, now);
            write(&mut home.disk, rows);
        }
    }
    for step in 0.. {
        assert!(
            step < 60_000,
            "it never comes to rest: {:?}",
            all.iter().map(|home| home.mailbox.waiting()).collect::<Vec<_>>()
        );
        now += 500;
        let which = dice.below(u64::from(homes)) as usize;
        let home = &mut all[which];
        match dice.below(7) {
            0 if home.said.values().sum::<u64>() < words => {
                let golem = GolemId([10 + dice.below(2) as u8; 16]);
                let own = home.said.entry(golem).or_default();
                *own += 1;
                let rows = home.mailbox.say(golem, Class::Delta, *own, format!("{own}").as_bytes(), now);
                assert!(
                    home.mailbox.say(golem, Class::Delta, *own, b"again", now).is_empty(),
                    "each of its words once"
                );
                // A word that was not durable was never said; its golem still owes it.
                if !calm && dice.below(20) == 0 {
                    *own -= 1;
                    home.killed(&clade);
                    killed += 1;
                } else {
                    write(&mut home.disk, rows);
                }
            }
            1 => {
                for (envelope, _) in home.mailbox.due(now, 50) {
                    // What it was given, the relay may lose, keep twice, or keep in another place.
                    match if calm { 9 } else { dice.below(10) } {
                        0 => lost += 1,
                        1 => relay.extend([envelope.bytes().to_vec(), envelope.bytes().to_vec()]),
                        2 => {
                            let at = dice.below(relay.len() as u64 + 1) as usize;
                            relay.insert(at, envelope.bytes().to_vec());
                        }
                        3 => {
                            let mut bytes = envelope.bytes().to_vec();
                            let at = dice.below(bytes.len() as u64) as usize;
                            bytes[at] ^= 1;
                            relay.push(bytes);
                        }
                        4 => {
                            relay.push(envelope.bytes().to_vec());
                            let golem = GolemId([10; 16]);
                            let own = elsewhere.said.entry(golem).or_default();
                            *own += 1;
                            elsewhere.mailbox.say(golem, Class::Delta, *own, b"theirs", now);
                            relay.extend(elsewhere.mailbox.due(now, 1).iter().map(|(word, _)| word.bytes().to_vec()));
                        }
                        _ => relay.push(envelope.bytes().to_vec()),
                    }
                }
            }
            2..=5 => {
                // Reads on from its place; a relay that has lost its end is read from the beginning.
                if home.mailbox.place as usize > relay.len() || dice.below(40) == 0 {
                    home.mailbox.place = 0;
                }
                let from = home.mailbox.place as usize;
                for (at, bytes) in relay.iter().enumerate().skip(from).take(30) {
                    let (came, rows) = home.mailbox.take(at as u64 + 1, bytes, now);
                    if !calm && dice.below(60) == 0 {
                        home.killed(&clade);
                        killed += 1;
                        break;
                    }
                    write(&mut home.disk, rows);
                    match came {
                        Came::Words(words) => {
                            for word in words {
                                let said: u64 = String::from_utf8(word.text).unwrap().parse().unwrap();
                                home.believed.entry(word.speaker).or_default().push(said);
                            }
                        }
                        Came::Forked(speaker) => panic!("nobody said two things at once: {speaker:?}"),
                        Came::Early | Came::Known | Came::Flawed(_) => {}
                    }
                }
            }
            _ => {
                let receipt = home.mailbox.receipt(now);
                relay.extend(receipt.filter(|_| calm || dice.below(4) > 0).map(|receipt| receipt.bytes().to_vec()));
                if !calm && dice.below(30) == 0 && relay.len() > 3 {
                    // Its file was cut short.
                    let left = relay.len() - 1 - dice.below(3) as usize;
                    relay.truncate(left);
                    lost += 1;
                }
            }
        }
        let spoken = all.iter().all(|home| home.said.values().sum::<u64>() >= words);
        calm |= spoken;
        if spoken && all.iter().all(|home| heard_all(home, &all)) {
            break;
        }
    }
    for home in &all {
        for (speaker, heard) in &home.believed {
            let expected: Vec<u64> = (1..=heard.len() as u64).collect();
            assert_eq!(*heard, expected, "once and in order: {speaker:?} at {:?}", home.name);
        }
    }
    (lost, killed)
}

fn heard_all(home: &Home, all: &[Home]) -> bool {
    all.iter().filter(|other| other.name != home.name).all(|other| {
        other.said.iter().all(|(golem, said)| {
            let speaker = Speaker { home: other.name, golem: *golem };
            *said == 0 || home.believed.get(&speaker).is_some_and(|heard| heard.len() as u64 >= *said)
        })
    })
}

#[test]
fn whatever_the_river_does_every_word_is_heard_once_and_in_order() {
    let runs = if std::env::var_os("BARDO_FULL").is_some() { 2_000 } else { 12 };
    let (mut lost, mut killed) = (0, 0);
    for seed in 0..runs {
        let (l, k) = run(seed, 2 + (seed % 3) as u8, 60);
        (lost, killed) = (lost + l, killed + k);
    }
    println!(
        "counted: {runs} runs, {lost} losses of the relay's and {killed} kills; every word heard once and in order"
    );
    assert!(lost > 0 && killed > 0);
}

#[test]
fn what_nobody_has_any_more_is_not_waited_for() {
    let clade = Arc::new(Clade::of(&Clade::fresh()).unwrap());
    let (mut teller, mut hearer) =
        (Mailbox::new(Arc::clone(&clade), [1; 16]), Mailbox::new(Arc::clone(&clade), [2; 16]));
    let (golem, week) = (GolemId([5; 16]), 7 * 86_400_000);
    let say = |teller: &mut Mailbox, own: u64, now| {
        teller.say(golem, Class::Delta, own, format!("{own}").as_bytes(), now);
        teller.due(now, 1).pop().unwrap().0.bytes().to_vec()
    };
    let words: Vec<Vec<u8>> = (1..=4).map(|own| say(&mut teller, own, 10_000)).collect();
    assert!(matches!(hearer.take(1, &words[0], 20_000).0, Came::Words(_)));
    // To the last moment of its week a word is said again and worth hearing, and a relay keeps it as long.
    assert!(teller.settle(10_000 + week).1.is_empty() && teller.waiting() == 4);
    let mut late = Mailbox::new(Arc::clone(&clade), [4; 16]);
    let Came::Words(heard) = late.take(1, &words[0], 10_000 + week).0 else { panic!("it is the first word there is") };
    assert!(!heard[0].stale);
    assert_eq!(Shape::default().kept, Duration::from_millis(week));
    // The hearer is away for a week and more, and the relay has lost the rest.
    let later = 20_000 + week + 1;
    assert_eq!(teller.settle(later).1.len(), 4, "what is too old is not said again");
    let (five, six) = (say(&mut teller, 5, later), say(&mut teller, 6, later));
    assert_eq!(hearer.take(2, &six, later).0, Came::Early);
    assert_eq!(hearer.take(3, &five, later).0, Came::Early);
    let receipt = teller.receipt(later).unwrap();
    let (came, rows) = hearer.take(4, receipt.bytes(), later);
    let Came::Words(heard) = came else { panic!("{came:?}") };
    assert_eq!(heard.iter().map(|word| (word.number, word.late)).collect::<Vec<_>>(), [(5, true), (6, false)]);
    assert!(!rows.is_empty());
    // Somebody new hears from where it can at once, once it was told; also after a restart in between.
    let (mut disk, mut third) = (BTreeMap::new(), Mailbox::new(Arc::clone(&clade), [3; 16]));
    write(&mut disk, third.take(1, receipt.bytes(), later).1);
    let mut third = Mailbox::of(clade, [3; 16], disk);
    assert_eq!(third.take(2, &six, later).0, Came::Early, "the fifth is still to come");
    let Came::Words(heard) = third.take(3, &five, later).0 else { panic!("it is the first there is") };
    assert_eq!(heard.len(), 2);
}

#[test]
fn without_another_home_the_archive_will_do() {
    let clade = Arc::new(Clade::of(&Clade::fresh()).unwrap());
    let (mut mailbox, golem) = (Mailbox::new(Arc::clone(&clade), [1; 16]), GolemId([5; 16]));
    mailbox.say(golem, Class::Delta, 1, b"one", 10_000);
    assert_eq!((mailbox.waiting(), mailbox.archived(golem).len(), mailbox.waiting()), (1, 1, 0));
    let hello = Mailbox::new(clade, [2; 16]).receipt(10_000).unwrap();
    mailbox.take(1, hello.bytes(), 20_000);
    mailbox.say(golem, Class::Delta, 2, b"two", 20_000);
    assert_eq!((mailbox.archived(golem).len(), mailbox.waiting(), mailbox.confirmed_by(golem)), (0, 1, 0));
}

#[test]
fn who_comes_late_hears_from_where_it_can() {
    let clade = Arc::new(Clade::of(&Clade::fresh()).unwrap());
    let (mut teller, mut hearer) = (Mailbox::new(Arc::clone(&clade), [1; 16]), Mailbox::new(clade, [2; 16]));
    let golem = GolemId([5; 16]);
    for own in 1..=9 {
        teller.say(golem, Class::Delta, own, format!("{own}").as_bytes(), 0);
    }
    let words: Vec<Vec<u8>> = teller.due(0, 100).iter().map(|(word, _)| word.bytes().to_vec()).collect();
    // The relay no longer has the first three, and nobody else does.
    for (at, word) in words.iter().enumerate().skip(3) {
        assert_eq!(hearer.take(at as u64 + 1, word, 1_000).0, Came::Early);
    }
    assert!(hearer.settle(2_000).0.is_empty(), "they may still come");
    let (heard, rows) = hearer.settle(700_000);
    assert_eq!(heard.iter().map(|word| word.number).collect::<Vec<_>>(), [4, 5, 6, 7, 8, 9]);
    assert!(heard[0].late && !heard[1].late && !rows.is_empty());
    assert_eq!(hearer.take(11, &words[0], 700_000).0, Came::Known);
}

/// The last receipt got lost and nobody had anything more to say: the outbox stayed full for ever.
#[test]
fn who_is_told_again_confirms_again() {
    let clade = Arc::new(Clade::of(&Clade::fresh()).unwrap());
    let (mut teller, mut hearer) = (Mailbox::new(Arc::clone(&clade), [1; 16]), Mailbox::new(clade, [2; 16]));
    teller.say(GolemId([5; 16]), Class::Delta, 1, b"word", 0);
    let word = teller.due(0, 1)[0].0.clone();
    assert!(matches!(hearer.take(1, word.bytes(), 10_000).0, Came::Words(_)));
    drop(hearer.receipt(10_000).unwrap());
    assert_eq!(hearer.receipt(20_000), None, "it has said so");
    assert_eq!(hearer.take(2, word.bytes(), 40_000).0, Came::Known);
    let receipt = hearer.receipt(40_000).unwrap();
    teller.take(3, receipt.bytes(), 40_000);
    assert_eq!(teller.waiting(), 0);
}

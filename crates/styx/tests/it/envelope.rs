//! Envelopes and chains against whoever carries them: whatever a relay does to what it was given is seen, and named.

use golem::GolemId;
use proptest::prelude::*;
use styx::{Chain, ChainPlace, Clade, Class, Envelope, Flaw, Hash, Header, Owner, Speaker};

fn header(number: u64, before: Hash) -> Header {
    let speaker = Speaker { home: [3; 16], golem: GolemId([7; 16]) };
    Header { class: Class::Delta, owner: Owner([0; 32]), speaker, number, before, made: 1_000, expires: 2_000 }
}

/// So many words, each after the one before.
fn said(clade: &Clade, words: u64, what: &str) -> Vec<Envelope> {
    let mut before = Hash::default();
    (1..=words)
        .map(|number| {
            let word = Envelope::seal(clade, header(number, before), format!("{what} {number}").as_bytes());
            before = word.hash();
            word
        })
        .collect()
}

#[test]
fn what_is_sealed_opens_for_the_clade_and_for_nobody_else() {
    let (kept, other) = (Clade::fresh(), Clade::of(&Clade::fresh()).unwrap());
    let (ours, again) = (Clade::of(&kept).unwrap(), Clade::of(&kept).unwrap());
    let word = Envelope::seal(&ours, header(1, Hash::default()), b"vol_24 goes on");
    assert_eq!(word.open(&again).unwrap(), b"vol_24 goes on");
    assert_eq!(word.open(&other), Err(Flaw::Foreign));
    assert!(!word.bytes().windows(6).any(|part| part == b"vol_24"));
    // The same again is the same to the byte; anything else is sealed with another nonce.
    assert_eq!(Envelope::seal(&again, header(1, Hash::default()), b"vol_24 goes on"), word);
    let next = Envelope::seal(&ours, header(2, word.hash()), b"vol_24 goes on");
    assert_ne!(next.bytes()[122..134], word.bytes()[122..134]);
    assert_eq!(Envelope::read(word.bytes()).unwrap(), word);
}

#[test]
fn an_envelope_that_was_touched_anywhere_is_refused() {
    let clade = Clade::of(&Clade::fresh()).unwrap();
    let word = Envelope::seal(&clade, header(1, Hash::default()), b"the tide turns");
    for at in 0..word.bytes().len() {
        for bit in 0..8 {
            let mut bytes = word.bytes().to_vec();
            bytes[at] ^= 1 << bit;
            let opened = Envelope::read(&bytes).and_then(|word| word.open(&clade));
            assert!(opened.is_err(), "bit {bit} of byte {at}");
        }
    }
    for length in 0..word.bytes().len() {
        assert!(Envelope::read(&word.bytes()[..length]).and_then(|word| word.open(&clade)).is_err());
    }
    assert_eq!(Envelope::read(&vec![1; styx::envelope::MOST + 1]), Err(Flaw::TooLong));
}

#[test]
fn a_stranger_cannot_speak_for_an_owner() {
    let (ours, theirs) = (Clade::of(&Clade::fresh()).unwrap(), Clade::of(&Clade::fresh()).unwrap());
    let lie = Envelope::seal(&theirs, header(1, Hash::default()), b"sell everything");
    // Their signature under our name.
    let mut bytes = lie.bytes().to_vec();
    bytes[2..34].copy_from_slice(&ours.owner().0);
    assert_eq!(Envelope::read(&bytes).unwrap().open(&ours), Err(Flaw::Forged));
    assert_eq!(lie.check(), Ok(()));
    assert_eq!(lie.open(&ours), Err(Flaw::Foreign));
}

#[test]
fn a_chain_tells_next_from_again_from_missing_from_false() {
    let clade = Clade::of(&Clade::fresh()).unwrap();
    let words = said(&clade, 600, "true");
    let mut chain = Chain::default();
    assert_eq!(chain.place(&words[4]), ChainPlace::Late);
    for word in &words[..3] {
        assert_eq!(chain.hear(word), ChainPlace::Next);
    }
    assert_eq!(chain.hear(&words[1]), ChainPlace::Repeat);
    assert_eq!(chain.hear(&words[7]), ChainPlace::Gap { after: 3 });
    let other = said(&clade, 5, "false");
    assert_eq!(chain.place(&other[1]), ChainPlace::Fork, "another word of a number that was heard");
    assert_eq!(chain.place(&other[3]), ChainPlace::Fork, "a next word after another past");
    for word in &words[3..] {
        assert_eq!(chain.hear(word), ChainPlace::Next);
    }
    assert_eq!(chain.hear(&words[0]), ChainPlace::Old);
    assert_eq!(chain.hear(&words[599]), ChainPlace::Repeat);
    // After a fork nothing is heard until somebody has seen to it.
    let mut late = Chain::at(3, words[2].hash());
    assert_eq!(late.hear(&other[3]), ChainPlace::Fork);
    assert_eq!((late.hear(&words[3]), late.forked), (ChainPlace::Fork, Some(4)));
    assert_eq!(Chain::at(3, words[2].hash()).hear(&words[3]), ChainPlace::Next);
    // A first word says that nothing was before it, and no other does.
    let liar = Envelope::seal(&clade, header(1, [1; 32]), b"");
    assert_eq!(Chain::default().place(&liar), ChainPlace::Fork);
    let liar = Envelope::seal(&clade, header(9, Hash::default()), b"");
    assert_eq!(Chain::default().place(&liar), ChainPlace::Fork);
    assert_eq!(Chain::default().place(&Envelope::seal(&clade, header(0, Hash::default()), b"")), ChainPlace::Fork);
}

/// What a relay may do to what it carries.
#[derive(Clone, Debug)]
enum Trick {
    Drop(usize),
    Repeat(usize, usize),
    Swap(usize, usize),
    /// Another's envelope, or one made up, in this place.
    Invent(usize),
    Flip(usize, usize),
}

fn tricks() -> impl Strategy<Value = Vec<Trick>> {
    let at = 0..40_usize;
    prop::collection::vec(
        prop_oneof![
            at.clone().prop_map(Trick::Drop),
            (at.clone(), at.clone()).prop_map(|(from, to)| Trick::Repeat(from, to)),
            (at.clone(), at.clone()).prop_map(|(one, other)| Trick::Swap(one, other)),
            at.clone().prop_map(Trick::Invent),
            (at, 0..4_000_usize).prop_map(|(word, bit)| Trick::Flip(word, bit)),
        ],
        0..6,
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: std::env::var("BARDO_FULL").map_or(2_000, |_| 100_000), ..ProptestConfig::default() })]

    /// Whatever it does, what is heard is the truth from its beginning, in order, each once; and if it did anything that
    /// matters, that is seen.
    #[test]
    fn a_hostile_relay_is_caught_each_time(tricks in tricks()) {
        thread_local! {
            static WORDS: (Clade, Vec<Envelope>, Vec<Envelope>) = {
                let clade = Clade::of(&Clade::fresh()).unwrap();
                let words = said(&clade, 40, "true");
                let stranger = Clade::of(&Clade::fresh()).unwrap();
                let others = said(&stranger, 40, "false");
                (clade, words, others)
            };
        }
        WORDS.with(|(clade, words, others)| {
            let mut carried: Vec<Vec<u8>> = words.iter().map(|word| word.bytes().to_vec()).collect();
            for trick in &tricks {
                let end = carried.len();
                match *trick {
                    Trick::Drop(at) if at < end => drop(carried.remove(at)),
                    Trick::Repeat(from, to) if from < end && to <= end => carried.insert(to, carried[from].clone()),
                    Trick::Swap(one, other) if one < end && other < end => carried.swap(one, other),
                    Trick::Invent(at) if at < end => carried[at] = others[at].bytes().to_vec(),
                    Trick::Flip(at, bit) if at < end => {
                        let length = carried[at].len() * 8;
                        carried[at][bit % length / 8] ^= 1 << (bit % 8);
                    }
                    _ => {}
                }
            }
            let touched = carried.iter().map(Vec::as_slice).ne(words.iter().map(Envelope::bytes));
            let (mut chain, mut heard, mut seen) = (Chain::default(), Vec::new(), 0);
            for bytes in &carried {
                let Ok(word) = Envelope::read(bytes) else { seen += 1; continue };
                let Ok(text) = word.open(clade) else { seen += 1; continue };
                match chain.hear(&word) {
                    ChainPlace::Next => heard.push(text),
                    // Whoever begins in the middle knows that something was before it.
                    ChainPlace::Late => { seen += 1; heard.push(text) }
                    _ => seen += 1,
                }
            }
            let first = heard.first().map_or(1, |text| String::from_utf8_lossy(text)[5..].parse::<usize>().unwrap());
            let truth: Vec<Vec<u8>> = (first..first + heard.len()).map(|n| format!("true {n}").into_bytes()).collect();
            prop_assert_eq!(&heard, &truth);
            let missing = heard.len() < words.len();
            // The end of a chain can be held back without a trace in it: that is what receipts are for.
            let held_back = chain.number == heard.len() as u64 && seen == 0;
            prop_assert!(!touched || seen > 0 || (missing && held_back), "{:?}", tricks);
            Ok(())
        })?;
    }
}

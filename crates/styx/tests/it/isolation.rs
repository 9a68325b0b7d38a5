//! Somebody with a place of its own at the relay tries to speak in another owner's name, to hear what is not its own, and to
//! name places it has no business in: as often as there is time for, all of it through the real gateway. What reaches anybody
//! else, or can be read by anybody else, is counted, and must be nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use futures_util::{SinkExt, StreamExt};
use golem::GolemId;
use styx::client::connect;
use styx::wire::{Down, FRAME, Put, Up, VERSION, WORDS, decode, encode, signed};
use styx::{Clade, Class, Envelope, Guests, Speaker};
use testing::cluster::{Cluster, Dice, Teller, clade, full, gateway, hear, plenty, put_all};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;

const LINES: usize = 4;
/// What somebody writes who hopes that it becomes part of a subject or of a command.
const SUBJECTS: [&str; 8] = [
    "styx.v1.>",
    "*.*.*.*.*.*.*.*.",
    ">>>>>>>>>>>>>>>>",
    "styx.v1.p00.*.*.delta",
    "$JS.API.STREAM.DELETE.STYX_P00",
    "$JS.API.STREAM.PURGE.STYX_P00",
    "$SYS.REQ.SERVER.PING",
    "_INBOX.>\r\nPUB styx.v1.p00.x 1\r\nx\r\n",
];

/// What somebody hostile has to work with: what it has overheard of others, and its own.
struct Loot {
    theirs: Vec<Vec<u8>>,
    own: Vec<Vec<u8>>,
    /// Its own words of golems with such names.
    named: Vec<Vec<u8>>,
}

impl Loot {
    fn gather(victim: &Arc<Clade>, own: &Arc<Clade>) -> Loot {
        let said = |teller: &mut Teller, n: usize| -> Vec<Vec<u8>> {
            (0..n).map(|_| teller.says(Class::Delta, &[7; 64]).into_bytes()).collect()
        };
        let named = SUBJECTS.iter().map(|subject| {
            let mut name: Vec<u8> = subject.bytes().cycle().take(32).collect();
            let golem = GolemId(name.split_off(16).try_into().unwrap());
            let mut teller = Teller::new(own, 0);
            teller.speaker = Speaker { home: name.try_into().unwrap(), golem };
            said(&mut teller, 20)
        });
        Loot {
            named: named.flatten().collect(),
            theirs: said(&mut Teller::new(victim, 1), 500),
            own: said(&mut Teller::new(own, 9), 500),
        }
    }

    /// One attempt, and whether a relay may keep it: then it is the hostile one's own, whatever it is called.
    fn attempt(&self, dice: &mut Dice, victim: &Clade) -> (Put, bool) {
        let mut pick = |from: &[Vec<u8>]| from[dice.below(from.len() as u64) as usize].clone();
        let (theirs, own, named) = (pick(&self.theirs), pick(&self.own), pick(&self.named));
        let flipped = |mut bytes: Vec<u8>, dice: &mut Dice| {
            let at = dice.below(bytes.len() as u64 * 8) as usize;
            bytes[at / 8] ^= 1 << (at % 8);
            bytes
        };
        let (kind, again) = (dice.below(100), dice.below(2) == 0);
        let envelope = match kind {
            // What it has overheard, as it was, touched, or with another's signature under the name.
            0..40 => theirs,
            40..55 => flipped(theirs, dice),
            55..75 => [&own[..2], &victim.owner().0, &own[34..]].concat(),
            75..78 => flipped(own, dice),
            78..86 => own[..dice.below(own.len() as u64) as usize].to_vec(),
            86..92 => {
                SUBJECTS[dice.below(SUBJECTS.len() as u64) as usize].as_bytes().repeat(1 + dice.below(20) as usize)
            }
            92..98 => [&[2 + dice.below(250) as u8], &own[1..]].concat(),
            _ => named,
        };
        (Put { again, envelope }, kind >= 98)
    }
}

/// So many attempts on one connection. How many were kept as its own.
async fn attempts(url: &str, (victim, own): (&Clade, &Clade), loot: &Loot, number: u64, seed: u64) -> u64 {
    let (mut mouth, mut ear) = connect(url, own, [9; 16]).await.unwrap();
    let (mut dice, mut kept, mut done) = (Dice(seed), 0, 0);
    while done < number {
        let some: Vec<(Put, bool)> = (0..WORDS).map(|_| loot.attempt(&mut dice, victim)).collect();
        let (puts, may): (Vec<Put>, Vec<bool>) = some.into_iter().unzip();
        mouth.put(0, puts).await.unwrap();
        let mut answered = 0;
        while answered < WORDS {
            match hear(&mut ear).await {
                Down::Taken { places } => {
                    assert!(places.iter().all(|(id, _)| may[*id as usize]), "nothing but its own is kept");
                    (answered, kept) = (answered + places.len(), kept + places.len() as u64);
                }
                Down::Refused { id, why } => {
                    assert!(!may[id as usize], "{why}");
                    answered += 1;
                }
                other => panic!("{other:?}"),
            }
        }
        done += WORDS as u64;
        // It listens for whatever it may hope to hear.
        if dice.below(100) == 0 {
            mouth.say(&Up::After { sequence: u64::MAX - dice.below(3) }).await.unwrap();
            assert!(matches!(hear(&mut ear).await, Down::Here { .. }));
        }
    }
    kept
}

/// Tries to be let in as somebody else, or to be heard without; true if it was.
async fn enters(url: &str, (victim, own): (&Clade, &Clade), overheard: &[u8], dice: &mut Dice) -> bool {
    let config = WebSocketConfig::default().read_buffer_size(4 << 10);
    let (mut socket, _) = tokio_tungstenite::connect_async_with_config(url, Some(config), true).await.unwrap();
    let Some(Ok(Message::Binary(challenge))) = socket.next().await else { return false };
    let Some(Down::Challenge { nonce, .. }) = decode(&challenge) else { panic!("it asks who is there") };
    let (owner, home) = (victim.owner().0, [9; 16]);
    let signature = own.sign(&signed(&nonce, &home)).to_vec();
    let frame = match dice.below(9) {
        0 => encode(&Up::Sign { version: VERSION, owner, home, signature }),
        1 => overheard.to_vec(),
        2 => encode(&Up::Sign { version: VERSION + 1, owner: own.owner().0, home, signature }),
        3 => encode(&Up::Sign { version: VERSION, owner, home, signature: Vec::new() }),
        // Its own signature, for another home than it says.
        4 => encode(&Up::Sign { version: VERSION, owner: own.owner().0, home: [8; 16], signature }),
        5 => encode(&Up::After { sequence: 0 }),
        6 => encode(&Up::Put { id: 0, words: vec![Put { again: true, envelope: vec![1; 300] }; 3] }),
        7 => vec![dice.below(256) as u8; dice.below(5_000) as usize],
        _ => vec![0; FRAME + 1],
    };
    if socket.send(Message::Binary(frame.into())).await.is_err() {
        return false;
    }
    loop {
        match timeout(Duration::from_secs(30), socket.next()).await.expect("it answers") {
            Some(Ok(Message::Binary(said))) => match decode(&said) {
                Some(Down::Bye { .. }) => return false,
                other => panic!("{other:?}"),
            },
            Some(Ok(Message::Close(_)) | Err(_)) | None => return false,
            Some(Ok(_)) => {}
        }
    }
}

/// Frames that make no sense, of somebody who was let in: it is shown out.
async fn malformed(url: &str, own: &Clade, dice: &mut Dice) {
    let (mut mouth, mut ear) = connect(url, own, [9; 16]).await.unwrap();
    let signature = vec![0; 64];
    let frame = match dice.below(3) {
        0 => Up::Sign { version: VERSION, owner: own.owner().0, home: [9; 16], signature },
        1 => Up::Put { id: u64::MAX, words: vec![Put { again: false, envelope: Vec::new() }; WORDS + 1] },
        _ => Up::Put { id: 0, words: vec![Put { again: false, envelope: vec![1; FRAME] }] },
    };
    if mouth.say(&frame).await.is_ok() {
        let said = timeout(Duration::from_secs(30), ear.hear()).await.expect("it hangs up");
        assert!(matches!(said, Err(_) | Ok(Down::Bye { .. })), "{said:?}");
    }
}

/// Hears everything there is for an owner; whatever is not its own, or not to be opened by it, is counted.
async fn listen(url: String, clade: Arc<Clade>, heard: Arc<AtomicU64>, wrong: Arc<AtomicU64>) {
    let (mut mouth, mut ear) = connect(&url, &clade, [7; 16]).await.unwrap();
    mouth.say(&Up::After { sequence: 0 }).await.unwrap();
    while let Ok(said) = ear.hear().await {
        let Down::Words { words } = said else { continue };
        heard.fetch_add(words.len() as u64, Ordering::Relaxed);
        let strange = words.iter().filter(|kept| {
            Envelope::read(&kept.envelope)
                .map_or(true, |word| word.header.owner != clade.owner() || word.check().is_err())
        });
        wrong.fetch_add(strange.count() as u64, Ordering::Relaxed);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_anybody_tries_nothing_reaches_another_owner() {
    let Some(cluster) = Cluster::up(1) else { return };
    let (url, gateway, serving) = gateway(cluster.river(2).await, plenty(), Guests::Anyone).await;
    let (victim, own, bystander) = (clade(), clade(), clade());
    let counters = || (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let ((heard, wrong), (overheard, strange), (by, stood)) = (counters(), counters(), counters());
    let listening = [
        tokio::spawn(listen(url.clone(), Arc::clone(&victim), Arc::clone(&heard), Arc::clone(&wrong))),
        tokio::spawn(listen(url.clone(), Arc::clone(&own), Arc::clone(&overheard), Arc::clone(&strange))),
        tokio::spawn(listen(url.clone(), Arc::clone(&bystander), Arc::clone(&by), Arc::clone(&stood))),
    ];
    let loot = Loot::gather(&victim, &own);
    // What was overheard was really said.
    let (mut mouth, mut ear) = connect(&url, &victim, [1; 16]).await.unwrap();
    let honest = loot.theirs.iter().map(|envelope| Put { again: false, envelope: envelope.clone() }).collect();
    put_all(&mut mouth, &mut ear, honest).await;
    let (words, doors) = (full(10_000_000, 100_000), full(20_000, 300));
    let pair = (&*victim, &*own);
    let lines = (0..LINES as u64).map(|line| attempts(&url, pair, &loot, words / LINES as u64, line));
    let kept: u64 = join_all(lines).await.iter().sum();
    let (mut dice, mut entered) = (Dice(5), 0);
    let (home, seen) = ([1; 16], [3; 32]);
    let signature = victim.sign(&signed(&seen, &home)).to_vec();
    let sign_in = encode(&Up::Sign { version: VERSION, owner: victim.owner().0, home, signature });
    for door in 0..doors {
        entered += u64::from(enters(&url, pair, &sign_in, &mut dice).await);
        if door % 10 == 0 {
            malformed(&url, &own, &mut dice).await;
        }
    }
    let all = loot.theirs.len() as u64;
    let told = timeout(Duration::from_secs(60), async {
        // About half of its own is said again, and kept each time; the rest is kept once.
        while heard.load(Ordering::Relaxed) < all || overheard.load(Ordering::Relaxed) < kept / 4 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    });
    assert!(told.await.is_ok(), "of {all} {heard:?} were heard, of {kept} {overheard:?}");
    let readable = loot.theirs.iter().filter(|word| Envelope::read(word).unwrap().open(&own).is_ok()).count();
    let count = |count: &AtomicU64| count.load(Ordering::Relaxed);
    println!(
        "counted: {} words and {} sign-ins and frames by somebody hostile, all through the socket: {} refused, {kept} kept as its \
         own, {entered} let in, {} delivered to anybody else, {readable} readable",
        words.div_ceil(WORDS as u64 * LINES as u64) * WORDS as u64 * LINES as u64,
        doors + doors.div_ceil(10),
        count(&gateway.counts.refused),
        count(&heard) - all + count(&wrong) + count(&strange) + count(&by),
    );
    assert_eq!((entered, count(&heard), readable), (0, all, 0));
    assert_eq!((count(&wrong), count(&strange), count(&by), count(&stood)), (0, 0, 0, 0));
    listening.iter().for_each(tokio::task::JoinHandle::abort);
    serving.abort();
}

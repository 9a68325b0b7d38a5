//! The relay in front of a real cluster: what is put in is kept, reaches every home of the same owner once and in order, and
//! nobody else.

use std::time::Duration;

use styx::client::{self, connect};
use styx::wire::{Down, Put, Up, Why};
use styx::{Chain, ChainPlace, Class, Envelope, Guests, Limits};
use testing::cluster::{Cluster, Teller, clade, gateway, hear, plenty, taken, words};
use tokio::time::timeout;

#[tokio::test(flavor = "multi_thread")]
async fn what_is_put_in_reaches_every_home_of_its_owner_once_and_nobody_else() {
    let Some(cluster) = Cluster::up(3) else { return };
    let (url, _, serving) = gateway(cluster.river(4).await, plenty(), Guests::Anyone).await;
    let (ours, theirs) = (clade(), clade());
    let (mut mouth, mut said) = connect(&url, &ours, [1; 16]).await.unwrap();
    let (mut other, mut sibling) = connect(&url, &ours, [2; 16]).await.unwrap();
    let (mut stranger, mut strange) = connect(&url, &theirs, [3; 16]).await.unwrap();
    other.say(&Up::After { sequence: 0 }).await.unwrap();
    stranger.say(&Up::After { sequence: 0 }).await.unwrap();
    let mut teller = Teller::new(&ours, 1);
    let told: Vec<Envelope> = (0..200).map(|n| teller.says(Class::Delta, format!("word {n}").as_bytes())).collect();
    let first = told.iter().map(|word| Put::new(word, false)).collect();
    assert_eq!(mouth.put(0, first).await.unwrap(), 200);
    let places = taken(&mut said, told.len()).await;
    assert!(places.iter().map(|(id, _)| *id).eq(0..200), "each is answered by its id, in order");
    // The same once more is kept once.
    mouth.put(999, vec![Put::new(&told[0], false)]).await.unwrap();
    assert_eq!(taken(&mut said, 1).await, [(999, places[0].1)]);
    let (mut chain, mut last) = (Chain::default(), 0);
    for (sequence, word) in words(&mut sibling, told.len()).await {
        assert_eq!(chain.hear(&word), ChainPlace::Next);
        assert!(word.open(&ours).unwrap().starts_with(b"word "));
        last = sequence;
    }
    // Who has been away reads on where it was.
    let (mut late, mut lately) = connect(&url, &ours, [4; 16]).await.unwrap();
    let half = words_after(&mut late, &mut lately, 0, 100).await;
    assert!(half[..100].iter().map(|(_, word)| word).eq(&told[..100]));
    let (mut late, mut lately) = connect(&url, &ours, [4; 16]).await.unwrap();
    let rest = words_after(&mut late, &mut lately, half[99].0, 100).await;
    assert!(rest.iter().map(|(_, word)| word).eq(&told[100..]));
    assert_eq!(rest[99].0, last);
    // The stranger hears that there is nothing, and nothing of ours.
    assert!(matches!(hear(&mut strange).await, Down::Here { .. }));
    while let Ok(said) = timeout(Duration::from_millis(300), strange.hear()).await {
        assert!(matches!(said, Ok(Down::Here { .. })), "{said:?}");
    }
    serving.abort();
}

async fn words_after(
    mouth: &mut client::Mouth,
    ear: &mut client::Ear,
    sequence: u64,
    number: usize,
) -> Vec<(u64, Envelope)> {
    mouth.say(&Up::After { sequence }).await.unwrap();
    words(ear, number).await
}

/// The streams were deleted and made anew: who has read further than the relay has ever kept is told so, and what is said once
/// more is kept once more.
#[tokio::test(flavor = "multi_thread")]
async fn who_has_outlived_what_the_relay_kept_reads_again_from_the_beginning() {
    let Some(cluster) = Cluster::up(1) else { return };
    let (url, _, serving) = gateway(cluster.river(1).await, plenty(), Guests::Anyone).await;
    let ours = clade();
    let (mut mouth, mut ear) = connect(&url, &ours, [1; 16]).await.unwrap();
    let mut teller = Teller::new(&ours, 1);
    let told: Vec<Envelope> = (0..5).map(|_| teller.says(Class::Delta, b"word")).collect();
    let said = |again: bool| told.iter().map(|word| Put::new(word, again)).collect::<Vec<Put>>();
    mouth.put(0, said(false)).await.unwrap();
    let place = taken(&mut ear, 5).await[4].1;
    // What was lost somewhere is kept once more only if that is said.
    mouth.put(5, said(false)).await.unwrap();
    assert_eq!(taken(&mut ear, 5).await[4].1, place);
    mouth.put(10, said(true)).await.unwrap();
    let place = taken(&mut ear, 5).await[4].1;
    assert_eq!(place, 10);
    mouth.say(&Up::After { sequence: place }).await.unwrap();
    assert_eq!(hear(&mut ear).await, Down::Here { sequence: place });
    let streams = cluster.streams().await;
    streams.delete_stream("STYX_P00").await.unwrap();
    drop(cluster.river(1).await);
    let (mut mouth, mut ear) = connect(&url, &ours, [1; 16]).await.unwrap();
    mouth.say(&Up::After { sequence: place }).await.unwrap();
    assert_eq!(hear(&mut ear).await, Down::Here { sequence: 0 });
    mouth.say(&Up::After { sequence: 0 }).await.unwrap();
    assert_eq!(hear(&mut ear).await, Down::Here { sequence: 0 });
    mouth.put(0, said(true)).await.unwrap();
    let heard: Vec<u64> = words(&mut ear, 5).await.iter().map(|(sequence, _)| *sequence).collect();
    assert_eq!(heard, [1, 2, 3, 4, 5]);
    serving.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_not_who_it_says_is_not_let_in() {
    let Some(cluster) = Cluster::up(1) else { return };
    let river = cluster.river(2).await;
    let (ours, theirs) = (clade(), clade());
    let guests = Guests::Only([ours.owner()].into());
    let (url, gateway, serving) = gateway(river, plenty(), guests).await;
    let turned = |got: Result<_, client::Error>| match got {
        Err(client::Error::Turned(why)) => why,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it was let in"),
    };
    assert_eq!(turned(connect(&url, &theirs, [1; 16]).await.map(drop)), Why::NotHere);
    let (mut mouth, mut ear) = connect(&url, &ours, [1; 16]).await.unwrap();
    // Another's envelope, one that is none, and one that claims to be ours.
    let foreign = Teller::new(&theirs, 1).says(Class::Delta, b"theirs");
    mouth.put(1, vec![Put::new(&foreign, false)]).await.unwrap();
    assert_eq!(hear(&mut ear).await, Down::Refused { id: 1, why: Why::Foreign });
    mouth.put(2, vec![Put { again: false, envelope: b"styx.v1.>".to_vec() }]).await.unwrap();
    assert_eq!(hear(&mut ear).await, Down::Refused { id: 2, why: Why::Unreadable });
    let mut teller = Teller::new(&ours, 2);
    let said: Vec<Envelope> = (0..4).map(|_| teller.says(Class::Delta, b"ours")).collect();
    let mut puts: Vec<Put> = said.iter().map(|word| Put::new(word, false)).collect();
    // In the midst of true ones, each of which vouches for the one before it.
    puts[2].envelope[150] ^= 1;
    mouth.put(10, puts).await.unwrap();
    let mut kept = Vec::new();
    while kept.len() < 4 {
        match hear(&mut ear).await {
            Down::Taken { places } => kept.extend(places.iter().map(|(id, _)| (*id, true))),
            Down::Refused { id, why: Why::Forged } => kept.push((id, false)),
            other => panic!("{other:?}"),
        }
    }
    kept.sort_unstable();
    assert_eq!(kept, [(10, true), (11, true), (12, false), (13, true)]);
    gateway.revoke(ours.owner());
    mouth.put(3, vec![Put::new(&Teller::new(&ours, 1).says(Class::Delta, b"ours"), false)]).await.unwrap();
    assert_eq!(hear(&mut ear).await, Down::Bye { why: Why::NotHere });
    assert_eq!(turned(connect(&url, &ours, [1; 16]).await.map(drop)), Why::NotHere);
    serving.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_is_refused_and_evicts_nothing_and_a_death_passes() {
    let Some(cluster) = Cluster::up(1) else { return };
    let (url, _, serving) = gateway(cluster.river(2).await, Limits::default(), Guests::Anyone).await;
    let ours = clade();
    let (mut mouth, mut ear) = connect(&url, &ours, [1; 16]).await.unwrap();
    let mut teller = Teller::new(&ours, 1);
    let flood = (0..3_000).map(|_| Put::new(&teller.says(Class::Delta, &[7; 400]), false)).collect();
    let last = mouth.put(0, flood).await.unwrap();
    mouth.put(last, vec![Put::new(&teller.says(Class::Death, b""), false)]).await.unwrap();
    let (mut taken, mut refused, mut died) = (0, 0, false);
    while taken + refused < 3_000 || !died {
        match hear(&mut ear).await {
            Down::Taken { places } => {
                died |= places.iter().any(|(id, _)| *id == last);
                taken += places.iter().filter(|(id, _)| *id != last).count();
            }
            Down::Refused { why: Why::TooFast { .. }, .. } => refused += 1,
            other => panic!("{other:?}"),
        }
    }
    println!("counted: of a flood of 3000 words {taken} were taken and {refused} refused");
    assert!((400..900).contains(&taken), "{taken}");
    serving.abort();
}

//! A home that was away reads everything that was said meanwhile: through the gateway, checked, opened and heard in its chain.

use std::time::Instant;

use styx::client::connect;
use styx::mailbox::{Came, Mailbox};
use styx::wire::{Down, Put, Up};
use styx::{Class, Guests};
use testing::cluster::{Cluster, Teller, clade, full, gateway, hear, plenty, put_all};

#[tokio::test(flavor = "multi_thread")]
async fn who_was_away_has_soon_heard_everything() {
    let Some(cluster) = Cluster::up(3) else { return };
    let (url, _, serving) = gateway(cluster.river(4).await, plenty(), Guests::Anyone).await;
    let (number, ours) = (full(100_000, 5_000) as usize, clade());
    let mut teller = Teller::new(&ours, 1);
    let said: Vec<Put> = (0..number).map(|_| Put::new(&teller.says(Class::Delta, &[7; 256]), false)).collect();
    let (mut mouth, mut ear) = connect(&url, &ours, [1; 16]).await.unwrap();
    put_all(&mut mouth, &mut ear, said).await;
    let (mut mouth, mut ear) = connect(&url, &ours, [2; 16]).await.unwrap();
    let mut mailbox = Mailbox::new(ours, [2; 16]);
    let began = Instant::now();
    mouth.say(&Up::After { sequence: mailbox.place }).await.unwrap();
    let (mut heard, mut frames) = (0, 0);
    while heard < number {
        let Down::Words { words } = hear(&mut ear).await else { continue };
        frames += 1;
        for kept in words {
            let (came, _) = mailbox.take(kept.sequence, &kept.envelope, 10_000);
            let Came::Words(words) = came else { panic!("{came:?}") };
            heard += words.len();
        }
    }
    let took = began.elapsed();
    println!("counted: {heard} words that had waited were heard in {:.1} s, in {frames} frames", took.as_secs_f64());
    assert!(took.as_secs() <= 30, "{took:?}");
    serving.abort();
}

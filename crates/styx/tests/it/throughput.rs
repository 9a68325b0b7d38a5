//! What a relay in front of JetStream takes in a second, beside what JetStream takes from a bare client, in turns within one run:
//! as many lines, as many words under way, the same lengths, three nodes that sync whatever they keep.

use std::future::Future;
use std::time::Instant;

use async_nats::jetstream::Context;
use async_nats::jetstream::message::PublishMessage;
use futures_util::future::join_all;
use futures_util::{FutureExt, StreamExt, stream};
use styx::client::{Ear, Mouth, connect};
use styx::wire::{Down, Put, Up};
use styx::{Class, Envelope, Guests, River};
use testing::cluster::{Cluster, Teller, clade, full, gateway, hear, plenty, words};

const LINES: usize = 8;
const UNDER_WAY: usize = 64;
const PARTITIONS: u16 = 4;

/// How many a second, and how long each waited for its answer.
#[derive(Default)]
struct Took {
    rates: Vec<f64>,
    waits: Vec<f64>,
}

impl Took {
    async fn time(&mut self, lines: impl Iterator<Item = impl Future<Output = Vec<f64>>>) {
        let began = Instant::now();
        let waits: Vec<f64> = join_all(lines).await.concat();
        self.rates.push(waits.len() as f64 / began.elapsed().as_secs_f64());
        self.waits.extend(waits);
    }

    fn rate(&self) -> f64 {
        median(self.rates.clone())
    }

    /// Round by round, since whatever else the machine does is then beside both.
    fn beside(&self, other: &Took) -> f64 {
        median(self.rates.iter().zip(&other.rates).map(|(one, other)| one / other).collect())
    }

    fn p99_ms(&mut self) -> f64 {
        self.waits.sort_by(f64::total_cmp);
        self.waits[self.waits.len() * 99 / 100] * 1e3
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// First while nobody listens, as nobody does to the bare client, then while each word is also told to a sibling.
#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_takes_nearly_as_much_as_what_is_behind_it() {
    let Some(cluster) = Cluster::up(3) else { return };
    let river = cluster.river(PARTITIONS).await;
    let (url, _, serving) = gateway(river.clone(), plenty(), Guests::Anyone).await;
    let streams = unread(&cluster).await;
    let (rounds, each) = (full(11, 5), full(20_000, 4_000) as usize / LINES);
    let text = vec![7; 512 - 122 - 64 - 12 - 16];
    let mut lines = Vec::new();
    for _ in 0..LINES {
        let clade = clade();
        lines.push((Teller::new(&clade, 1), connect(&url, &clade, [1; 16]).await.unwrap()));
    }
    let mut ratios = Vec::new();
    for told in [false, true] {
        let (mut bare, mut through) = (Took::default(), Took::default());
        for _ in 0..rounds {
            let said = make(&mut lines, each, &text);
            let said = said.iter().map(|words| words.iter().map(|word| message(&river, word)).collect());
            let said: Vec<Vec<_>> = said.collect();
            bare.time(said.into_iter().map(|words| put_bare(&streams, words))).await;
            let mut siblings = Vec::new();
            for (teller, _) in lines.iter().filter(|_| told) {
                let (mouth, mut ear) = listening(&url, &teller.clade).await;
                siblings.push(tokio::spawn(async move { (words(&mut ear, each).await.len(), mouth) }));
            }
            let said = make(&mut lines, each, &text).into_iter();
            let said = said.map(|words| words.iter().map(|word| Put::new(word, false)).collect());
            let said: Vec<Vec<_>> = said.collect();
            through.time(lines.iter_mut().zip(said).map(|((_, line), words)| put_through(line, words))).await;
            for sibling in siblings {
                assert_eq!(sibling.await.unwrap().0, each, "it was told each word once");
            }
        }
        println!(
            "counted: {:.0} envelopes a second through the gateway{}, {:.0} by a bare client, a ratio of {:.2} (medians of \
             {rounds} rounds of {}); p99 {:.0} and {:.0} ms",
            through.rate(),
            if told { ", each told to a sibling" } else { "" },
            bare.rate(),
            through.beside(&bare),
            each * LINES,
            through.p99_ms(),
            bare.p99_ms()
        );
        ratios.push(through.beside(&bare));
    }
    // Under a load that comes and goes beside it: what it reaches is printed, and this is what it never falls below.
    assert!(ratios[0] > if full(1, 0) == 1 { 0.75 } else { 0.5 }, "{ratios:.2?}");
    serving.abort();
}

/// Streams of the same kind, to which no gateway listens.
async fn unread(cluster: &Cluster) -> Context {
    let streams = cluster.streams().await;
    for partition in 0..PARTITIONS {
        let mut config =
            streams.get_stream(format!("STYX_P{partition:02}")).await.unwrap().cached_info().config.clone();
        (config.name, config.subjects) = (format!("BARE_P{partition:02}"), vec![format!("bare.v1.p{partition:02}.>")]);
        streams.create_stream(config).await.unwrap();
    }
    streams
}

/// So many words of each.
fn make(lines: &mut [(Teller, (Mouth, Ear))], each: usize, text: &[u8]) -> Vec<Vec<Envelope>> {
    lines.iter_mut().map(|(teller, _)| (0..each).map(|_| teller.says(Class::Delta, text)).collect()).collect()
}

fn message(river: &River, word: &Envelope) -> (String, PublishMessage) {
    let id = format!("{}{}", &word.header.owner.to_string()[..16], word.header.number);
    let message = PublishMessage::build().message_id(id).payload(word.bytes().to_vec().into());
    (river.subject(word).replace("styx", "bare"), message)
}

/// Whoever hears what comes from now on.
async fn listening(url: &str, clade: &styx::Clade) -> (Mouth, Ear) {
    let (mut mouth, mut ear) = connect(url, clade, [2; 16]).await.unwrap();
    let mut place = u64::MAX;
    for _ in 0..2 {
        mouth.say(&Up::After { sequence: place }).await.unwrap();
        let Down::Here { sequence } = hear(&mut ear).await else { panic!("there is nothing new") };
        place = sequence;
    }
    (mouth, ear)
}

async fn put_bare(streams: &Context, words: Vec<(String, PublishMessage)>) -> Vec<f64> {
    stream::iter(words)
        .map(|(subject, message)| async move {
            let began = Instant::now();
            streams.send_publish(subject, message).await.unwrap().await.unwrap();
            began.elapsed().as_secs_f64()
        })
        .buffer_unordered(UNDER_WAY)
        .collect()
        .await
}

async fn put_through((mouth, ear): &mut (Mouth, Ear), words: Vec<Put>) -> Vec<f64> {
    let (mut sent, mut took) = (Vec::with_capacity(words.len()), Vec::with_capacity(words.len()));
    let mut words = words.into_iter();
    let mut open = 0;
    loop {
        let some: Vec<Put> = words.by_ref().take(UNDER_WAY - open).collect();
        open += some.len();
        if open == 0 {
            return took;
        }
        let first = sent.len() as u64;
        sent.resize(sent.len() + some.len(), Instant::now());
        mouth.put(first, some).await.unwrap();
        // The next answer, and as many as have come with it.
        let mut said = Some(hear(ear).await);
        while let Some(answer) = said {
            let Down::Taken { places } = answer else { panic!("{answer:?}") };
            open -= places.len();
            took.extend(places.iter().map(|(id, _)| sent[*id as usize].elapsed().as_secs_f64()));
            said = hear(ear).now_or_never();
        }
    }
}

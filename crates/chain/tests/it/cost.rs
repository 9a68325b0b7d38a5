//! What reading and asking cost: requests, and time beside the same questions put by a bare client in the same run.

use std::time::Instant;

use crate::common::{Ground, bounded, full};
use alloy_sol_types::SolCall;
use chain::Bytes;
use chain::contracts::{Pool, Purse, Quoter, Token};
use chain::pool::Watch;
use golem::world::Fate;
use serde_json::{Value, json};

/// The questions of a preview, with nothing around them.
struct Bare {
    client: reqwest::blocking::Client,
    url: String,
}

impl Bare {
    fn ask(&self, method: &str, params: Value) -> Value {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let told: Value = self.client.post(&self.url).json(&body).send().unwrap().json().unwrap();
        told["result"].clone()
    }

    fn preview(&self, ground: &Ground) {
        let place = &ground.net.place;
        let number = self.ask("eth_blockNumber", json!([]));
        let head = self.ask("eth_getBlockByNumber", json!([number, false]));
        let call = |to, input: Vec<u8>| {
            let told =
                self.ask("eth_call", json!([{ "to": to, "input": Bytes::from(input) }, { "blockHash": head["hash"] }]));
            assert!(told.as_str().unwrap().len() >= 66);
        };
        let params = Quoter::ExactOutput {
            tokenIn: place.money,
            tokenOut: place.thing,
            amount: chain::U256::from(20_000_000_000_000_000_u64),
            fee: place.fee.try_into().unwrap(),
            sqrtPriceLimitX96: Default::default(),
        };
        call(place.quoter, Quoter::quoteExactOutputSingleCall { params }.abi_encode());
        call(place.purse, Purse::leftCall { token: place.money }.abi_encode());
        call(place.money, Token::balanceOfCall { owner: place.purse }.abi_encode());
        call(place.pool, Pool::slot0Call {}.abi_encode());
    }
}

#[test]
fn a_preview_costs_little_more_than_its_questions() {
    let Some(ground) = Ground::new() else { return };
    let venue = ground.venue();
    let client = reqwest::blocking::Client::builder().no_proxy().tls_certs_only([]).build().unwrap();
    let bare = Bare { client, url: ground.net.url.clone() };
    let rounds = if full() { 2_000 } else { 200 };
    // In turns, so that whatever else the machine does falls on both. The best of a few stretches is held against the best.
    let (mut ours, mut theirs) = (f64::MAX, f64::MAX);
    for stretch in 0..20 {
        if stretch >= 5 && ours / theirs < 1.1 {
            break;
        }
        let (mut with, mut without) = (0.0, 0.0);
        for _ in 0..rounds / 5 {
            let began = Instant::now();
            assert!(venue.preview(true, 20_000).unwrap().is_some());
            with += began.elapsed().as_secs_f64();
            let began = Instant::now();
            bare.preview(&ground);
            without += began.elapsed().as_secs_f64();
        }
        (ours, theirs) = (ours.min(with), theirs.min(without));
    }
    println!("counted: {rounds} previews take {:.3} of the time of their bare questions", ours / theirs);
    assert!(ours / theirs < 1.1, "{}", ours / theirs);
}

/// For whoever pays for an endpoint by the request.
#[test]
fn how_much_is_asked_is_known() {
    let Some(ground) = Ground::new() else { return };
    let mut venue = ground.venue();
    let asked = |venue: &chain::venue::Venue, before: u64| venue.chain().asked() - before;
    let before = venue.chain().asked();
    venue.preview(true, 20_000).unwrap();
    let preview = asked(&venue, before);
    let before = venue.chain().asked();
    let order = bounded(20_000, 60, 20, ground.until(600));
    let mut fate = venue.commit(1, true, &order).unwrap();
    let commit = asked(&venue, before);
    let (before, mut looks) = (venue.chain().asked(), 0);
    while fate == Fate::Pending {
        ground.mine(1);
        fate = venue.reconcile(1).unwrap();
        looks += 1;
    }
    let look = asked(&venue, before) / looks;
    // A pool that is read once a second, whoever watches it.
    let (mut watch, blocks) = (Watch::new(4, ground.net.place.since), 100);
    watch.read(venue.chain(), &ground.net.place).unwrap();
    let before = venue.chain().asked();
    for nth in 0..blocks {
        ground
            .net
            .trade(
                nth % 2 == 0,
                chain::U256::from(if nth % 2 == 0 { 1_000_000_000_u64 } else { 500_000_000_000_000_000 }),
            )
            .unwrap();
        watch.read(venue.chain(), &ground.net.place).unwrap();
    }
    let read = asked(&venue, before) as f64 / blocks as f64;
    println!(
        "counted: requests to one endpoint: {preview} for a preview, {commit} for a commit, {look} for a look at what became of it, {read:.1} for a look at a pool with a trade in it"
    );
    assert!(preview <= 6 && commit <= 16 && look <= 12 && read <= 6.0);
}

//! Endpoints that lie, lag and fall silent, each of them somebody in front of a real node.

use std::time::Duration;

use crate::common::{Between, Ground, Way, bounded};
use chain::Error;
use chain::rpc::Endpoints;
use golem::Usdc;
use golem::world::Fate;
use serde_json::{Value, json};

/// Says that there is ten times as much of everything.
fn lies(factor: u64) -> impl Fn(&Value, Value) -> Value + Send + Sync {
    move |asked, mut answer| {
        if asked["method"] == "eth_call"
            && let Some(word) = answer["result"].as_str().and_then(|text| text.get(2..66))
            && let Ok(number) = u128::from_str_radix(&word[32..], 16)
        {
            let rest = &answer["result"].as_str().unwrap()[66..];
            answer["result"] = json!(format!("0x{:064x}{rest}", number.saturating_mul(u128::from(factor))));
        }
        answer
    }
}

#[test]
fn one_that_lies_is_set_aside_and_two_that_lie_stop_everything() {
    let Some(ground) = Ground::new() else { return };
    let all: Vec<Between> = (0..3).map(|_| Between::new(&ground.net.url)).collect();
    let urls: Vec<String> = all.iter().map(|one| one.url.clone()).collect();
    let mut venue = ground.venue_through(urls.clone());
    let honest = venue.preview(true, 500_000).unwrap();

    all[1].rewrite(lies(10));
    assert_eq!(venue.preview(true, 500_000).unwrap(), honest);
    let aside = venue.chain().set_aside();
    assert_eq!(aside.len(), 1, "{aside:?}");
    assert!(aside[0].0 == urls[1] && aside[0].1.contains("otherwise than the others"), "{aside:?}");
    // It goes on, and buys.
    assert_eq!(venue.commit(1, true, &bounded(500_000, 1_010, 0, ground.until(600))).unwrap(), Fate::Pending);
    ground.mine(4);
    assert!(matches!(venue.reconcile(1).unwrap(), Fate::Done(outcome) if outcome.units == 500_000));

    // Another one lies as well, about something else: nobody is believed, and nothing is done.
    all[0].rewrite(lies(3));
    let mut venue = ground.venue_through(urls);
    let told = venue.preview(true, 500_000).unwrap_err();
    assert!(matches!(told, Error::Split(_)), "{told}");
    assert!(told.to_string().ends_with("nothing is done until most of them do"), "{told}");
    let told = venue.commit(2, true, &bounded(500_000, 1_010, 0, ground.until(600))).unwrap_err();
    assert!(matches!(told, Error::Split(_)), "{told}");
    ground.mine(4);
    let own = ground.venue();
    let head = own.chain().head().unwrap();
    assert_eq!(own.held(&head).unwrap().1, 500_000);
}

#[test]
fn who_lags_or_is_silent_is_done_without() {
    let Some(ground) = Ground::new() else { return };
    let all: Vec<Between> = (0..3).map(|_| Between::new(&ground.net.url)).collect();
    let urls: Vec<String> = all.iter().map(|one| one.url.clone()).collect();
    ground.mine(30);
    all[2].rewrite(|asked, mut answer| {
        if asked["method"] == "eth_blockNumber" {
            answer["result"] = json!("0x2");
        }
        answer
    });
    let chain = Endpoints::new(urls.clone()).unwrap();
    let head = chain.head().unwrap();
    assert!(head.number > 30);
    let aside = chain.set_aside();
    assert!(aside.len() == 1 && aside[0].1.starts_with("it lags "), "{aside:?}");
    // One that is silent beside one that lags: nobody is left to agree with.
    all[0].meddle(|_| Way::Lost);
    let told = chain.head().unwrap_err();
    assert!(matches!(&told, Error::Away(why) if why.contains("no connection")), "{told}");
    all[0].meddle(|_| Way::Late(Duration::from_millis(300)));
    assert_eq!(chain.head().unwrap(), head);
    // Of what is part of an address only its host is ever named.
    let secret = Endpoints::new(vec!["http://user:pass@127.0.0.1:1/key-of-somebody".to_owned()]).unwrap();
    let told = secret.head().unwrap_err().to_string();
    assert!(told.contains("http://127.0.0.1:1") && !told.contains("key-of") && !told.contains("pass"), "{told}");
    assert_eq!(ground.venue().held(&head).unwrap().0, Usdc::dollars(10_000));
}

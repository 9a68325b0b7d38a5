//! `Served` against a real llama.cpp server with a small real model, with and without a key.
//!
//! The model is made for chat, so its vectors are held to form and order here, not to meaning.

use crate::{Embedder, Error, Served, ServedConfig};
use testing::model::{Server, cosine};

const TEXTS: [&str; 5] =
    ["gas drops below 10 gwei", "the owner went to sleep", "a", "ETH fell for three hours in a row", "наступила ночь"];
/// Cargo sets it for every test, so it can stand in for a key that is set.
const VARIABLE: &str = "CARGO_PKG_NAME";
const SECRET: &str = env!("CARGO_PKG_NAME");

fn config(server: &Server) -> ServedConfig {
    ServedConfig { url: server.url.clone(), ..ServedConfig::default() }
}

#[test]
fn a_keyless_server_gives_one_vector_per_text_in_order_however_they_are_batched() {
    let Some(server) = Server::start("serve.py", None) else { return };
    let served = Served::open(&config(&server)).unwrap();
    assert_eq!((served.model(), served.dimensions()), ("nomic-embed-text", None));
    let together = served.embed(&TEXTS).unwrap();
    assert_eq!((together.len(), served.dimensions()), (TEXTS.len(), Some(576)));
    for vector in &together {
        assert_eq!(vector.len(), 576);
        assert!((cosine(vector, vector) - 1.0).abs() < 1e-4);
    }

    let pairs = Served::open(&ServedConfig { batch: 2, ..config(&server) }).unwrap().embed(&TEXTS).unwrap();
    for (place, text) in TEXTS.iter().enumerate() {
        let alone = served.embed(&[text]).unwrap().remove(0);
        for (other, vector) in together.iter().enumerate().chain(pairs.iter().enumerate()) {
            assert_eq!(cosine(&alone, vector) > 0.999, place == other, "{text} against {}", TEXTS[other]);
        }
    }
    assert!(served.embed(&[]).unwrap().is_empty());

    let endless = "word ".repeat(3_000);
    let refused = served.embed(&["fine", &endless]).unwrap_err();
    assert!(refused.to_string().contains("too large"), "{refused}");

    let other = Served::open(&ServedConfig { dimensions: Some(768), ..config(&server) }).unwrap();
    assert!(matches!(other.embed(&["fine"]), Err(Error::Dimensions { known: 768, got: 576, .. })));
}

#[test]
fn a_server_with_a_key_opens_to_that_key_alone() {
    let Some(server) = Server::start("serve.py", Some(SECRET)) else { return };
    let with = |variable: Option<&str>| {
        Served::open(&ServedConfig { key_env: variable.map(str::to_owned), ..config(&server) }).unwrap()
    };
    assert_eq!(with(Some(VARIABLE)).embed(&TEXTS).unwrap().len(), TEXTS.len());
    let wrong = with(Some("CARGO_PKG_VERSION")).embed(&TEXTS).unwrap_err();
    assert!(matches!(&wrong, Error::Denied { variable: Some(variable), .. } if variable == "CARGO_PKG_VERSION"));
    let none = with(None).embed(&TEXTS).unwrap_err();
    assert!(matches!(&none, Error::Denied { variable: None, .. }), "{none}");
}

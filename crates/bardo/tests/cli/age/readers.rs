//! Each reader over what the newest version of an agent left, and an older one: whatever has a record is read, call by call and
//! token by token, and what the provider billed beside that is known by name. `make.py` made the fixtures and the ledgers.

use age::{Born, End, Life};
use serde_json::Value;
use tariff::Book;

use super::{files, fixtures, read};

fn ledger(name: &str) -> Value {
    let text = std::fs::read_to_string(fixtures().join("ledgers.json")).unwrap();
    serde_json::from_str::<Value>(&text).unwrap()[name].clone()
}

/// Every call with a record, and every token of it, is here; and it costs what it was billed at, within a hundredth.
fn check_ledger(name: &str) -> Vec<Life> {
    let (book, ledger) = (Book::built_in(), ledger(name));
    let shelf = read(name, &book);
    let calls = || shelf.lives.iter().flat_map(|life| &life.calls);
    let sum = |of: fn(&age::Call) -> u64| calls().map(of).sum::<u64>();
    let told = |what: &str| ledger["recorded"][what].as_u64().unwrap();
    // A call that was cut off may stand there without what it used.
    let known = calls().filter(|call| !call.untold).count();
    assert_eq!(known as u64, told("calls"), "{name}: {:?}", shelf.lines);
    let counted = [
        sum(|call| call.input),
        sum(|call| call.cached),
        sum(|call| call.write_5m + call.write_1h),
        sum(|call| call.output),
    ];
    assert_eq!(counted, ["input", "cached", "written", "output"].map(told), "{name}");
    let cost: u64 = shelf.lives.iter().map(Life::cost).sum();
    let billed = told("bill");
    assert!(cost.abs_diff(billed) * 100 <= billed, "{name}: {cost} by the book, billed {billed}");
    assert!(shelf.lines.values().all(|lines| lines.unreadable == 0), "{name}: {:?}", shelf.lines);
    shelf.lives
}

#[test]
fn every_call_of_claude_code_is_read_with_its_helpers_and_what_it_says_it_cost_is_what_was_billed() {
    let lives = check_ledger("cc_new");
    let own: Vec<&Life> = lives.iter().filter(|life| life.of.is_none()).collect();
    assert_eq!((own.len(), lives.len()), (1, 7));
    let one = own[0];
    assert_eq!((one.model(), one.version.as_deref(), one.end), ("claude-opus-5-5", Some("2.1.328"), End::Finished));
    assert_eq!(one.compactions.len(), 1);
    assert!(!one.resumed.is_empty() && one.helpers > 0, "{one:?}");
    assert!(lives.iter().filter(|life| life.of.is_some()).all(|life| life.born == Born::Helper));
    // What has no record is the two calls that summed up; what the program says itself has them.
    let (told, billed) = (one.told.unwrap(), ledger("cc_new")["bill"].as_u64().unwrap());
    assert!(told.abs_diff(billed) * 100 <= billed, "{told} by its own word, billed {billed}");
    let sum = |of: fn(&age::Call) -> u32| one.calls.iter().map(of).sum::<u32>();
    // Twice a command that ended with 1, and four edits of which each put back what the one before it had changed.
    assert_eq!((sum(|call| call.failed), sum(|call| call.edits), sum(|call| call.undone)), (2, 4, 3), "{one:?}");
    assert_eq!(sum(|call| call.checks), 0);
    assert!(sum(|call| call.repeated) >= 1, "it looked at the same file twice");
}

#[test]
fn one_that_was_killed_in_the_middle_of_something_was_cut() {
    for name in ["ck_new", "ck_old"] {
        let lives = check_ledger(name);
        let own = lives.iter().find(|life| life.of.is_none()).unwrap();
        assert_eq!((own.end, own.calls.len()), (End::Cut, 2), "{name}");
    }
}

/// As it stands in sessions that people have published: a record behind another on its line, and a kind that only some have.
#[test]
fn two_records_on_one_line_are_two_and_a_link_to_a_frame_says_nothing_of_a_life() {
    let book = Book::built_in();
    let whole = read("ck_new", &book);
    let path = files("ck_new").remove(0);
    let text = std::fs::read_to_string(&path).unwrap();
    let link = r#"{"type":"frame-link","sessionId":"CANARY","path":"CANARY","frameUrl":"CANARY","title":"CANARY"}"#;
    let joined = format!("{link}\n{}\n{{\"type\":", text.replace('\n', ""));
    let place = age::FilePlace { stem: path.file_stem().unwrap().to_str().unwrap(), helper: false };
    let mut shelf = age::Shelf::new(&book, super::NOW);
    age::read_claude(&mut shelf, &place, joined.as_bytes()).unwrap();
    assert_eq!(shelf.lives, whole.lives);
    let told = shelf.lines.values().next().unwrap();
    assert_eq!((told.read, told.unknown, told.unreadable), (3, 0, 1), "{told:?}");
}

/// Claude Code 2.0.42, Codex 0.94.0, Gemini CLI 0.16.0, which wrote down 4 of its 10 calls, and opencode 1.1.11.
#[test]
fn so_is_what_older_versions_wrote() {
    let claude = check_ledger("cc_old");
    let own = claude.iter().find(|life| life.of.is_none()).unwrap();
    assert_eq!((own.version.as_deref(), own.model()), (Some("2.0.42"), "claude-opus-4-5-20251101"));
    assert!(
        claude.len() > 1
            && claude.iter().filter(|life| life.of.is_some()).all(|life| life.of.as_ref() == Some(&own.life))
    );
    assert_eq!(check_ledger("cx_old")[0].version.as_deref(), Some("0.94.0"));
    assert_eq!(check_ledger("gm_old").len(), 1);
    assert_eq!(check_ledger("oc_old")[0].version.as_deref(), Some("1.1.11"));
}

#[test]
fn every_call_of_codex_is_read_once_though_it_is_told_twice() {
    let lives = check_ledger("cx_new");
    assert_eq!((lives.len(), lives[0].model(), lives[0].version.as_deref()), (1, "gpt-5-mini", Some("0.169.0")));
    let sum = |of: fn(&age::Call) -> u32| lives[0].calls.iter().map(of).sum::<u32>();
    assert_eq!(sum(|call| call.tools), 3);
    assert_eq!((lives[0].end, lives[0].window), (End::Finished, Some(258_400)));
}

#[test]
fn every_call_of_gemini_is_read_once_though_it_is_written_again() {
    let lives = check_ledger("gm_new");
    assert_eq!((lives.len(), lives[0].model(), lives[0].resumed.len()), (1, "gemini-2.5-pro", 1));
    let sum = |of: fn(&age::Call) -> u32| lives[0].calls.iter().map(of).sum::<u32>();
    // A file that is not there, and a command that ended with 1 though the tool says it did well.
    assert_eq!((sum(|call| call.tools), sum(|call| call.failed), sum(|call| call.edits)), (4, 2, 1));
}

#[test]
fn every_call_of_opencode_is_read_but_the_one_for_a_title_which_it_does_not_write_down() {
    let lives = check_ledger("oc_new");
    assert_eq!(lives.len(), 2);
    assert_eq!(lives[0].model(), "openai/gpt-5-mini");
    assert_eq!(lives.iter().filter(|life| life.born == Born::Helper).count(), 1);
    let told: u64 = lives.iter().filter_map(|life| life.told).sum();
    let billed = ledger("oc_new")["recorded"]["bill"].as_u64().unwrap();
    assert!(told.abs_diff(billed) * 100 <= billed, "{told} by its own word, billed {billed}");
    assert_eq!(ledger("oc_new")["no record"].as_array().unwrap().len(), 1);
}

/// Each newest one and an older one of each, with a helper where it has any, and a context that was summed up.
#[test]
fn helpers_and_compactions_are_where_they_were_and_no_call_is_counted_twice_or_not_at_all() {
    for (name, compaction) in [("cx_more_new", 5), ("cx_more_old", 5)] {
        let lives = check_ledger(name);
        let own = lives.iter().find(|life| life.of.is_none()).unwrap();
        let helpers = lives.iter().filter(|life| life.of.as_ref() == Some(&own.life)).count();
        assert_eq!((lives.len(), helpers, own.helpers), (2, 1, 1), "{name}");
        assert_eq!((own.calls.len(), own.compactions.as_slice()), (6, &[compaction][..]), "{name}");
        assert!(lives.iter().all(|life| life.end == End::Finished), "{name}: {lives:?}");
        assert!(ledger(name)["no record"].as_array().unwrap().is_empty(), "{name}");
    }
    for (name, calls, compaction) in [("oc_more_new", 6, 3), ("oc_more_old", 7, 5)] {
        let lives = check_ledger(name);
        let one = (lives.len(), lives[0].calls.len(), lives[0].compactions.as_slice(), lives[0].end);
        assert_eq!(one, (1, calls, &[compaction][..], End::Finished), "{name}");
        // Only those for titles have no record; the one that summed up has.
        let left = ledger(name)["no record"].as_array().unwrap().clone();
        assert!(left.iter().all(|call| call["tokens"][0].as_u64().unwrap() < 600), "{name}: {left:?}");
    }
}

#[test]
fn a_chat_of_gemini_that_was_summed_up_four_times_says_so_and_one_taken_up_by_an_older_version_is_a_copy() {
    let lives = check_ledger("gm_more_new");
    assert_eq!((lives.len(), lives[0].calls.len(), lives[0].resumed.as_slice()), (1, 7, &[3, 5][..]));
    assert_eq!((lives[0].compactions.as_slice(), lives[0].end), (&[3, 4, 5, 6][..], End::Finished));
    // Summing up takes two calls each time, and none of them has a record.
    assert_eq!(ledger("gm_more_new")["no record"].as_array().unwrap().len(), 8);
    let lives = check_ledger("gm_more_old");
    assert_eq!((lives.len(), lives[0].calls.len(), lives[1].calls.len()), (2, 2, 4));
    assert_eq!((lives[0].born, lives[1].born), (Born::Fresh, Born::Forked));
    assert_ne!(lives[0].life, lives[1].life);
}

#[test]
fn whoever_was_killed_while_a_tool_ran_was_cut() {
    // Which of them has a record of what the last call used, and which has a record of the call.
    for (name, recorded, calls) in [
        ("cx_kill_new", 2, 2),
        ("cx_kill_old", 2, 2),
        ("gm_kill_new", 2, 2),
        ("gm_kill_old", 1, 1),
        ("oc_kill_new", 1, 2),
        ("oc_kill_old", 1, 2),
    ] {
        let lives = check_ledger(name);
        assert_eq!((lives.len(), lives[0].calls.len(), lives[0].end), (1, calls, End::Cut), "{name}");
        assert_eq!(ledger(name)["recorded"]["calls"], recorded, "{name}");
        assert_eq!(lives[0].calls[0].failed, 1, "{name}: its first command ended with 1");
    }
}

/// Everything that any of them wrote, as records: not one word of it.
#[test]
fn no_word_of_what_was_said_is_in_a_record() {
    let book = Book::built_in();
    for entry in std::fs::read_dir(fixtures()).unwrap() {
        let entry = entry.unwrap();
        if !entry.path().is_dir() {
            continue;
        }
        let name = entry.file_name().into_string().unwrap();
        for life in &read(&name, &book).lives {
            let text = serde_json::to_string(life).unwrap();
            for word in ["CANARY", "canary", "marzipan", "nougat", "notes", "project\":\"/", "false\""] {
                assert!(!text.contains(word), "{name}: {word} in {text}");
            }
        }
    }
}

#[test]
fn a_record_that_is_written_is_read_as_it_was_and_fits_its_schema() {
    let book = Book::built_in();
    let lives = read("cc_new", &book).lives;
    let text: String = lives.iter().map(|life| serde_json::to_string(life).unwrap() + "\n").collect();
    let mut shelf = age::Shelf::new(&book, super::NOW);
    // Twice the same is one life each all the same.
    age::read_records(&mut shelf, (text.clone() + &text).as_bytes()).unwrap();
    assert_eq!(shelf.lives, lives);
    let schema = age::schema();
    let known = |of: &Value| of["properties"].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let told: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    let life = known(&schema);
    assert!(told.as_object().unwrap().keys().all(|name| life.contains(name)), "{told}");
    let call = known(&schema["$defs"]["Call"]);
    assert!(told["calls"][0].as_object().unwrap().keys().all(|name| call.contains(name)), "{told}");
}

const AIDER: &str = "
# aider chat started at 2026-11-19 14:00:00

> Model: gpt-5-mini with diff edit format  
#### CANARY do something
CANARY words
> Tokens: 2.1k sent, 150 received. Cost: $0.0008 message, $0.0008 session.  
> Applied edit to canary.py  
#### CANARY again
> Tokens: 12k sent, 2.0k cache write, 3.5k cache hit, 1.2k received.  
> Cost: $0.01 message, $0.02 session.  
";

#[test]
fn aider_rounds_and_its_record_says_so() {
    let book = Book::built_in();
    let mut shelf = age::Shelf::new(&book, super::NOW);
    let place = age::FilePlace { stem: "/canary/project", helper: false };
    age::read_aider(&mut shelf, &place, AIDER.as_bytes()).unwrap();
    let life = &shelf.lives[0];
    assert!(life.rounded && life.calls.len() == 2 && life.model() == "gpt-5-mini", "{life:?}");
    let tokens = life.tokens();
    assert_eq!((tokens.input, tokens.cached, tokens.write_5m, tokens.output), (8_600, 3_500, 2_000, 1_350));
    let log = r#"{"event":"launched","properties":{},"user_id":"CANARY","time":1795096780}
{"event":"message_send_starting","properties":{},"user_id":"CANARY","time":1795096781}
{"event":"message_send","properties":{"main_model":"gpt-5-mini","prompt_tokens":1000,"completion_tokens":10,"cost":0.00027,"total_cost":0.00027},"user_id":"CANARY","time":1795096782}
{"event":"exit","properties":{"reason":"CANARY"},"user_id":"CANARY","time":1795096783}
"#;
    let mut shelf = age::Shelf::new(&book, super::NOW);
    age::read_aider_log(&mut shelf, &place, log.as_bytes()).unwrap();
    let life = &shelf.lives[0];
    assert_eq!((life.calls.len(), life.cost(), life.told, life.end), (1, 270, Some(270), End::Finished));
}

#[test]
fn spans_come_in_any_order_and_are_one_life_for_each_talk() {
    let span = |id: &str, at: u64, attributes: &str, code: u8| {
        format!(
            r#"{{"traceId":"t","spanId":"{id}","startTimeUnixNano":"{at}000000","attributes":[{attributes},{{"key":"gen_ai.conversation.id","value":{{"stringValue":"CANARY"}}}}],"status":{{"code":{code}}}}}"#
        )
    };
    let text = |key: &str, value: &str| format!(r#"{{"key":"{key}","value":{{"stringValue":"{value}"}}}}"#);
    let number = |key: &str, value: u64| format!(r#"{{"key":"{key}","value":{{"intValue":"{value}"}}}}"#);
    let asks = |input, output| {
        [
            text("gen_ai.operation.name", "chat"),
            text("gen_ai.provider.name", "openai"),
            text("gen_ai.response.model", "gpt-5-mini"),
            number("gen_ai.usage.input_tokens", input),
            number("gen_ai.usage.cache_read.input_tokens", 100),
            number("gen_ai.usage.output_tokens", output),
        ]
        .join(",")
    };
    let uses = [text("gen_ai.operation.name", "execute_tool"), text("gen_ai.tool.name", "CANARY")].join(",");
    let spans =
        [span("c", 3_000, &asks(2_000, 20), 0), span("b", 2_000, &uses, 2), span("a", 1_000, &asks(1_000, 10), 0)];
    let batch = format!(r#"{{"resourceSpans":[{{"scopeSpans":[{{"spans":[{}]}}]}}]}}"#, spans.join(","));
    let book = Book::built_in();
    let mut shelf = age::Shelf::new(&book, super::NOW);
    age::read_spans(&mut shelf, batch.as_bytes()).unwrap();
    let life = &shelf.lives[0];
    assert_eq!((shelf.lives.len(), life.calls.len(), life.calls[0].tools, life.calls[0].failed), (1, 2, 1, 1));
    assert_eq!((life.calls[0].input, life.calls[0].cached, life.calls[1].input), (900, 100, 1_900));
    assert!(life.cost() > 0 && life.model() == "openai/gpt-5-mini", "{life:?}");
}

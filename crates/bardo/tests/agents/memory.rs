//! Memory as its owner meets it: searched, held against the journal, carried to another golem, and proposed to.

use std::fs;

use crate::common::Tent;

fn lived(tent: &Tent, name: &str, seed: &str, ticks: &str) {
    tent.ok(["golem", "new", name, "--seed", seed]);
    tent.ok(["golem", "run", name, "--speed", "max", "--ticks", ticks]);
}

#[test]
fn what_is_known_is_found_and_shown_and_every_row_is_held_against_the_journal() {
    let tent = Tent::new();
    lived(&tent, "ada", "7", "3000");
    let found = tent.ok(["grimoire", "search", "ada", "volatility", "--limit", "3", "--explain"]);
    assert_eq!(found.lines().filter(|line| line.contains("expect volatility")).count(), 3, "{found}");
    assert!(found.contains("relevance") && found.contains("× confidence"), "{found}");
    let json = tent.ok(["--json", "grimoire", "search", "ada", "gas \" OR NEAR(*", "--limit", "1"]);
    let hit: serde_json::Value = serde_json::from_str(json.trim()).unwrap();
    let id = hit["entry"]["id"].as_u64().unwrap();
    assert!(tent.ok(["grimoire", "show", "ada", &id.to_string()]).contains(" against"));
    assert!(tent.ok(["grimoire", "verify", "ada"]).contains("as the journal says"));

    let db = rusqlite::Connection::open(tent.golem("ada").database()).unwrap();
    let changed = "UPDATE entry SET body = replace(body, '\"initial\":0.7', '\"initial\":0.9') WHERE id = ?1";
    assert_eq!(db.execute(changed, [id as i64]).unwrap(), 1);
    drop(db);
    let told = tent.fails(1, ["grimoire", "verify", "ada"]);
    assert!(told.contains(&format!("entry {id} is not what the journal says")), "{told}");
}

#[test]
fn a_bundle_goes_into_quarantine_and_a_proposal_is_tried_not_obeyed() {
    let tent = Tent::new();
    lived(&tent, "ada", "7", "3000");
    lived(&tent, "eve", "9", "300");
    let bundle = tent.root().join("ada.jsonl");
    let path = bundle.to_str().unwrap();
    tent.ok(["grimoire", "export", "ada", path]);
    assert!(fs::read_to_string(&bundle).unwrap().lines().all(|line| line.starts_with("{\"bundle\":1,")));
    let before = tent.verified("eve").life().playbook().len();
    assert!(tent.ok(["grimoire", "import", "eve", path, "--as", "inherited"]).contains("quarantine"));
    let life = tent.verified("eve");
    assert!(life.life().playbook()[before..].iter().all(|heuristic| !heuristic.voice), "no say yet");

    let playbook = tent.golem("ada").playbook();
    let text = fs::read_to_string(&playbook).unwrap();
    let edited =
        format!("{text}- when vol_ratio > 3 expect volatility x0.5 over 24\n- when moon > 3 expect gas over 1\n");
    fs::write(&playbook, &edited).unwrap();
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "10"]);
    assert_eq!(fs::read_to_string(&playbook).unwrap(), edited, "an edited file is not written over");
    let told = tent.ok(["golem", "playbook", "ada"]);
    assert!(told.contains("proposes when vol_ratio > 3") && told.contains("moon"), "{told}");
    tent.ok(["golem", "playbook", "ada", "--accept"]);
    let owner = tent.ok(["--json", "grimoire", "search", "ada", "vol_ratio 3", "--all", "--limit", "200"]);
    assert!(owner.lines().any(|line| line.contains("\"how\":\"owner\"") && line.contains("\"candidate\"")), "{owner}");
    assert_ne!(fs::read_to_string(&playbook).unwrap(), edited, "written anew once the proposal was taken");
}

//! Ways in which money was once made or lost, a life doubled or stranded. Each opens with what happened.

use std::process::Stdio;

use crate::common::{ELSEWHERE, Tent, text};
use golem::Usdc;
use vault::Reader;

fn folder(tent: &Tent, name: &str) -> String {
    tent.folder.path().join(name).to_str().unwrap().to_owned()
}

fn born(name: &str, seed: &str) -> Tent {
    let tent = Tent::new();
    tent.ok(["golem", "new", name, "--seed", seed]);
    tent
}

/// `move` could be repeated into a second folder, and both archives were taken in.
#[test]
fn a_life_is_moved_out_once() {
    let tent = born("ada", "1");
    tent.ok(["golem", "move", "ada", &folder(&tent, "one"), "--to", ELSEWHERE]);
    let again = tent.fails(1, ["golem", "move", "ada", &folder(&tent, "two"), "--to", ELSEWHERE]);
    assert!(again.contains("was moved to"), "{again}");
    assert!(tent.ok(["golem", "list"]).contains("moved"));
}

/// A move killed just before its last step could be repeated into a second complete archive.
#[test]
fn a_move_cut_short_is_finished_not_repeated() {
    let tent = born("ada", "1");
    let place = tent.golem("ada");
    tent.ok(["golem", "move", "ada", &folder(&tent, "one"), "--to", ELSEWHERE]);
    // As if the power had gone after the final seal, before the archive got its name.
    let built = std::fs::read_to_string(place.folder.join("MOVED-FROM")).unwrap();
    std::fs::rename(tent.folder.path().join("one"), &built).unwrap();
    tent.ok(["golem", "move", "ada", &folder(&tent, "two"), "--to", ELSEWHERE]);
    assert!(tent.folder.path().join("two/life.db").exists() && !tent.folder.path().join("one").exists());
    assert!(
        tent.fails(1, ["golem", "move", "ada", &folder(&tent, "three"), "--to", ELSEWHERE]).contains("was moved to")
    );
    // And the kill switch does not stumble over a life that is elsewhere.
    tent.ok(["halt", "--all", "--yes"]);
}

/// `fund` debited the treasury before it knew that the golem had moved away.
#[test]
fn money_is_not_sent_to_who_cannot_take_it() {
    let tent = born("ada", "1");
    tent.ok(["golem", "move", "ada", &folder(&tent, "gone"), "--to", ELSEWHERE]);
    let before = tent.home().treasury().unwrap().balance().unwrap();
    tent.fails(1, ["golem", "fund", "ada", "50"]);
    assert_eq!(tent.home().treasury().unwrap().balance().unwrap(), before);
    assert!(tent.fails(1, ["golem", "fund", "ada", "0"]).contains("more than nothing"));
}

/// A restore that failed for a taken name left the archive marked as taken in: the life was stranded.
#[test]
fn a_failed_restore_leaves_the_archive_and_the_living_as_they_were() {
    let (here, there) = (born("ada", "1"), born("ada", "2"));
    here.send("ada", &folder(&here, "moved"), &there);
    let key = shell::home::key::OwnerKey::of(&here.home()).unwrap().public();
    let archive = folder(&here, "moved");
    let taken = there.fails(1, ["golem", "restore", &archive, "--signed-by", &key]);
    assert!(taken.contains("already a golem named ada"), "{taken}");
    there.ok(["golem", "restore", &archive, "--signed-by", &key, "--name", "ada-two"]);
    there.ok(["golem", "run", "ada-two", "--speed", "max", "--ticks", "5"]);

    // And the golem to be rewound vanished into the attic when the new name was taken.
    there.ok(["golem", "backup", "ada-two", &folder(&there, "old")]);
    there.ok(["golem", "run", "ada-two", "--speed", "max", "--ticks", "5"]);
    there.fails(1, ["golem", "restore", &folder(&there, "old"), "--rewind", "--name", "ada"]);
    assert!(there.ok(["golem", "list"]).contains("ada-two"));
}

/// A life that had moved away, lived and come back was refused at home.
#[test]
fn a_life_can_come_home() {
    let (here, there) = (born("ada", "1"), Tent::new());
    here.send("ada", &folder(&here, "out"), &there);
    there.receive(&folder(&here, "out"), &here);
    there.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "10"]);
    there.send("ada", &folder(&here, "back"), &here);
    here.receive(&folder(&here, "back"), &there);
    here.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "10"]);
    assert_eq!(here.verified("ada").life().tick(), 20);
}

/// Rewinding in another home brought back money that the first home's treasury had received, and left
/// transfer numbers with a gap that no treasury could fill.
#[test]
fn money_that_went_elsewhere_cannot_be_rewound() {
    let (here, there) = (born("ada", "1"), Tent::new());
    here.ok(["golem", "backup", "ada", &folder(&here, "early")]);
    here.ok(["golem", "withdraw", "ada", "90", "--capital"]);
    here.send("ada", &folder(&here, "moved"), &there);
    there.receive(&folder(&here, "moved"), &here);
    let refused = there.fails(1, ["golem", "restore", &folder(&here, "early"), "--rewind"]);
    assert!(refused.contains("returned to a treasury"), "{refused}");

    let (here, there) = (born("ada", "1"), Tent::new());
    here.ok(["golem", "backup", "ada", &folder(&here, "early")]);
    here.ok(["golem", "fund", "ada", "5"]);
    here.send("ada", &folder(&here, "moved"), &there);
    there.receive(&folder(&here, "moved"), &here);
    there.ok(["golem", "fund", "ada", "5"]);
    let refused = there.fails(1, ["golem", "restore", &folder(&here, "early"), "--rewind"]);
    assert!(refused.contains("another home's treasury"), "{refused}");
    there.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "3"]);
}

/// In its own home a rewind gives the transfers since again, once.
#[test]
fn a_rewind_at_home_is_funded_again() {
    let tent = born("ada", "1");
    let total = tent.all_money();
    tent.ok(["golem", "backup", "ada", &folder(&tent, "early")]);
    tent.ok(["golem", "fund", "ada", "5"]);
    tent.ok(["golem", "freeze", "ada", "--reason", "a bad night"]);
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "50"]);
    tent.ok(["golem", "restore", &folder(&tent, "early"), "--rewind"]);
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "1"]);
    let golem = tent.verified("ada");
    assert_eq!(golem.life().purse().given, Usdc::dollars(15));
    assert!(golem.life().heartbeat().frozen, "a freeze outlives a rewind");
    assert!(tent.ok(["golem", "events", "ada"]).contains("a bad night"));
    assert_eq!(tent.all_money(), total);
}

/// Two births of one name shared a cradle; two births with money for one left a golem with nothing.
#[test]
fn births_at_the_same_time_do_not_mix() {
    for round in 0..6 {
        let tent = Tent::new();
        let names = if round % 2 == 0 { ["ada", "ada"] } else { ["ada", "eva"] };
        let money = if round % 2 == 0 { "10" } else { "900" };
        let births = names.map(|name| {
            let new = ["golem", "new", name, "--credit", "5", "--capital", money];
            tent.command(new).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
        });
        let results = births.map(|child| child.wait_with_output().unwrap());
        let well = results.iter().filter(|output| output.status.success()).count();
        assert_eq!(well, 1, "{}{}", text(&results[0].stderr), text(&results[1].stderr));
        assert_eq!(tent.home().list().unwrap().len(), 1);
        let name = tent.home().list().unwrap()[0].name.to_string();
        tent.ok(["golem", "run", &name, "--speed", "max", "--ticks", "5"]);
        assert!(tent.verified(&name).life().purse().given == Usdc::dollars(5));
        assert_eq!(tent.all_money(), Usdc::dollars(1_000));
        assert!(tent.ok(["doctor"]).lines().all(|line| line.starts_with("ok")));
    }
}

/// A transfer that was on its way when the golem died could never return.
#[test]
fn money_on_its_way_to_the_dead_comes_back() {
    let tent = born("ada", "1");
    tent.ok(["golem", "retire", "ada", "--confirm", "ada"]);
    let life = tent.verified("ada");
    // As if `fund` had been killed between the treasury and the golem.
    let mut treasury = tent.home().treasury().unwrap();
    treasury.send(life.life().id(), life.life().transfers_taken(), Usdc::dollars(7), Usdc::ZERO).unwrap();
    assert!(tent.ok(["doctor"]).contains("$7.00 is on its way"));
    tent.fails(4, ["golem", "run", "ada"]);
    assert_eq!(treasury.balance().unwrap(), Usdc::dollars(1_000));
}

/// The kill switch stopped at the first golem when nobody was reading what it printed.
#[test]
fn the_kill_switch_does_not_need_a_reader() {
    let tent = Tent::new();
    for name in ["ada", "bob", "eva"] {
        tent.ok(["golem", "new", name, "--credit", "5", "--capital", "0"]);
    }
    let mut child = tent.command(["halt", "--all", "--yes"]).stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
    for name in ["ada", "bob", "eva"] {
        let (golem, _) = Reader::open(&tent.golem(name).database()).unwrap().wake().unwrap();
        assert!(golem.life().is_dead(), "{name}");
    }
}

/// An order that waited for a process that died was obeyed after a later one.
#[test]
fn orders_are_obeyed_in_the_order_given() {
    let tent = born("ada", "1");
    let place = tent.golem("ada");
    shell::home::inbox::send(&place, shell::home::inbox::Body::Command(golem::Command::Pause)).unwrap();
    tent.ok(["golem", "resume", "ada"]);
    assert!(!tent.verified("ada").life().heartbeat().paused);
    // A letter nobody can read is set aside and stops no one.
    std::fs::create_dir_all(place.inbox().join("0.letter")).unwrap();
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "2"]);
}

/// Killed between making its mark and writing it, a restore left an archive that nobody could take in; and
/// killed anywhere, births, moves and restores must leave the money whole and the life somewhere, once.
#[test]
fn births_moves_and_restores_can_be_killed_anywhere() {
    let (mut dice, mut killed, mut inside) = (crate::common::Dice(5), 0, 0);
    let rounds = crate::common::full(1_500, 60);
    for round in 0..rounds {
        let (here, there) = (Tent::new(), Tent::new());
        let mut kill = |tent: &Tent, args: &[&str]| {
            let mut child = tent.command(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            std::thread::sleep(std::time::Duration::from_micros(dice.roll(25_000)));
            killed += 1;
            inside += u64::from(child.try_wait().unwrap().is_none());
            let _ = child.kill();
            let _ = child.wait();
        };
        let archive = folder(&here, "moved");
        kill(&here, &["golem", "new", "ada", "--seed", "3"]);
        assert_eq!(here.all_money(), Usdc::dollars(1_000), "round {round}");
        if here.home().list().unwrap().is_empty() {
            here.ok(["golem", "new", "ada", "--seed", "3"]);
        }
        here.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "20"]);
        kill(&here, &["golem", "move", "ada", &archive, "--to", &there.id()]);
        if !std::path::Path::new(&archive).exists() {
            here.send("ada", &archive, &there);
        }
        here.fails(1, ["golem", "run", "ada", "--speed", "max", "--ticks", "1"]);
        let key = shell::home::key::OwnerKey::of(&here.home()).unwrap().public();
        kill(&there, &["golem", "restore", &archive, "--signed-by", &key]);
        if there.run(["golem", "run", "ada", "--speed", "max", "--ticks", "1"]).status.code() != Some(0) {
            there.receive(&archive, &here);
            there.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "1"]);
        }
        assert_eq!(there.verified("ada").life().tick(), 21);
        assert!(Tent::new().fails(1, ["golem", "restore", &archive]).contains("one must stay asleep"));
        let both = here.home().treasury().unwrap().balance().unwrap() + there.all_money();
        assert_eq!(both, Usdc::dollars(2_000), "round {round}");
    }
    println!("counted: {rounds} rounds of new, move and restore; {inside} of {killed} kills met a command under way");
    assert!(inside * 4 > killed, "{inside} of {killed} kills came before the command was done");
}

/// Money was set aside for a golem that was just being moved away: nobody could ever take it.
#[test]
fn a_living_process_takes_the_money_itself_and_once() {
    let tent = born("ada", "1");
    let (place, before) = (tent.golem("ada"), tent.home().treasury().unwrap().balance().unwrap());
    let letter = shell::home::inbox::Body::Fund { credit: Usdc::dollars(5), capital: Usdc::ZERO };
    shell::home::inbox::send(&place, letter).unwrap();
    assert_eq!(tent.home().treasury().unwrap().balance().unwrap(), before, "a letter moves no money");
    let copy: Vec<_> = std::fs::read_dir(place.inbox()).unwrap().map(|entry| entry.unwrap().path()).collect();
    let kept = std::fs::read(&copy[0]).unwrap();
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "1"]);
    // The same letter again, as after a kill between taking the money and answering.
    std::fs::write(&copy[0], kept).unwrap();
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "1"]);
    assert_eq!(tent.verified("ada").life().purse().given, Usdc::dollars(15));
    assert!(tent.fails(5, ["golem", "fund", "ada", "999999"]).contains("treasury"));
}

/// Two homes with the README's seed had one life between them, and a restore put one of them in the attic.
#[test]
fn a_life_that_is_here_is_never_replaced_unasked() {
    let (here, there) = (born("ada", "7"), born("ada", "7"));
    there.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "9"]);
    there.send("ada", &folder(&there, "moved"), &here);
    let key = shell::home::key::OwnerKey::of(&there.home()).unwrap().public();
    let twin = here.fails(1, ["golem", "restore", &folder(&there, "moved"), "--signed-by", &key, "--name", "ada-two"]);
    assert!(twin.contains("here already") && twin.contains("--rewind"), "{twin}");
    here.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "2"]);
    assert!(
        here.fails(1, ["golem", "backup", "ada", &format!("{}/golems/twin", here.root().display())])
            .contains("outside")
    );
}

/// Death left what was held where nobody looked, and said that everything was back.
#[test]
fn what_death_leaves_is_told() {
    for (on_death, expected) in [
        ("close", "is back in the treasury"),
        ("hold", "left to its owner as it was"),
        ("hand_over", "handed over to its owner as it was"),
    ] {
        let tent = Tent::new();
        let set = format!("policy.on_death={on_death}");
        tent.ok([
            "golem",
            "new",
            "ada",
            "--seed",
            "1",
            "--set",
            "mind.kind=reflex",
            "--set",
            "reflex.act_every=3",
            "--set",
            &set,
        ]);
        tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "3"]);
        assert!(tent.verified("ada").life().capital().holding > 0);
        let said = tent.ok(["golem", "retire", "ada", "--confirm", "ada"]);
        assert!(said.contains(expected), "{on_death}: {said}");
        assert_eq!(tent.verified("ada").life().capital().holding == 0, on_death == "close");
        assert_eq!(tent.ok(["golem", "events", "ada"]).contains("is yours to watch"), on_death != "close");
        assert_eq!(tent.ok(["testament", "ada"]).contains("is yours to watch"), on_death != "close");
    }
}

/// A replay went on, without a word, in other data under the same name.
#[test]
fn a_replay_goes_on_only_in_its_own_data() {
    let tent = Tent::new();
    let csv = tent.folder.path().join("a.csv");
    let rows: String =
        (0..300).map(|i| format!("{},{}\n", 1_700_000_000 / 3_600 * 3_600 + i * 3_600, 100 + i % 7)).collect();
    std::fs::write(&csv, format!("ts,price\n{rows}")).unwrap();
    tent.ok(["data", "import", csv.to_str().unwrap(), "--name", "waves"]);
    tent.ok(["golem", "new", "ada", "--data", "waves", "--seed", "1"]);
    tent.ok(["golem", "run", "ada", "--speed", "max", "--ticks", "20"]);
    let kept = tent.home().data().join("waves.csv");
    std::fs::write(&kept, format!("ts,price\n{}", rows.replace(",10", ",20"))).unwrap();
    assert!(tent.fails(1, ["golem", "run", "ada", "--speed", "max"]).contains("not the data this golem was born into"));
}

/// A folder that happened to be called like the archive's scratch folder was deleted.
#[test]
fn a_backup_touches_nothing_but_its_own_folder() {
    let tent = born("ada", "1");
    let bystander = tent.folder.path().join("ada.partial");
    std::fs::create_dir(&bystander).unwrap();
    std::fs::write(bystander.join("diary"), "mine").unwrap();
    tent.ok(["golem", "backup", "ada", &folder(&tent, "ada.2026")]);
    assert!(bystander.join("diary").exists());
}

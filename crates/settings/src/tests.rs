//! What an owner meets: layers, messages with their lines, files that round-trip, and that no text
//! whatever can bring the reader down.

use std::collections::BTreeSet;

use golem::constitution::{Constitution, Mode};
use golem::{Birth, Endowment};
use golem::{Span, Usdc};

use super::*;

fn golem(text: &str) -> Result<Settings, ConfigError> {
    check_text(File::Golem, "golem.toml", text)
}

fn check_problems(text: &str, expected: &[&str]) {
    let error = golem(text).expect_err(text).to_string();
    assert_eq!(error.lines().collect::<Vec<_>>(), expected, "{text}");
}

fn layered(text: &str, environment: &[(&str, &str)], flags: &[&str]) -> Result<Settings, ConfigError> {
    let environment = environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let flags: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
    Settings::read(File::Golem, Some(("golem.toml", text)), environment, &flags)
}

/// A value other than the default that no cross-check minds.
pub(super) fn another(key: &SettingKey) -> Value {
    let text = match (key.path, key.kind) {
        ("world.bar", _) => "20s",
        ("heartbeat.interval", _) => "80s",
        ("stress.max_stressors", _) => "7",
        ("mortality.epistemic.senescence_threshold", _) => "0.3",
        ("mortality.epistemic.recovery_threshold", _) => "0.6",
        (_, SettingKind::Bool) => {
            if key.default == "true" {
                "false"
            } else {
                "true"
            }
        }
        (_, SettingKind::Integer { max, .. }) if max < 7 => "2",
        (_, SettingKind::Integer { max, .. }) if max < 123 => "7",
        (_, SettingKind::Integer { .. }) => "123",
        (_, SettingKind::Number { .. }) if key.path.contains("steepness") => "7.5",
        (_, SettingKind::Number { max, .. }) if max < 0.5 => "0.125",
        (_, SettingKind::Number { max, .. }) if max < 0.625 => "0.45",
        (_, SettingKind::Number { .. }) if key.path.contains("hazard") => "0.0005",
        (_, SettingKind::Number { .. }) => "0.625",
        (_, SettingKind::Share { .. }) => "0.1234",
        (_, SettingKind::Money) => "7.654321",
        (_, SettingKind::Span { .. }) => "5d",
        (_, SettingKind::Choice(words)) => words[1],
        (_, SettingKind::Name) => "eth-1h",
        (_, SettingKind::Names) => "buy,sell",
        (_, SettingKind::Text) => "ollama/some-model",
        (_, SettingKind::Seed) => "7",
        (_, SettingKind::Windows) => "02:00-06:00 UTC",
        (_, SettingKind::Levels) => "info,server::up=debug",
        (_, SettingKind::Moment) => "2026-01-31",
        (_, SettingKind::Maybe(SettingKind::Span { .. })) => "5d",
        (_, SettingKind::Maybe(SettingKind::Bool)) => "false",
        (_, SettingKind::Maybe(SettingKind::Number { max: 1.0, .. })) => "0.5",
        (_, SettingKind::Maybe(_)) => "5",
        (_, SettingKind::Fixed(_) | SettingKind::NotYet) => unreachable!("{}", key.path),
    };
    key.kind.read(text).unwrap_or_else(|| panic!("{}: {text}", key.path))
}

#[test]
fn nothing_said_is_the_constitution_of_the_documents() {
    let settings = golem("").unwrap();
    assert_eq!(settings.constitution().unwrap(), Constitution::default());
    assert_eq!(settings.money("funds.credit"), Usdc::dollars(10));
    assert_eq!(settings.money("funds.capital"), Usdc::dollars(100));
    assert_eq!((settings.text("world.kind"), settings.text("world.data")), (Some("sim"), None));
    assert_eq!((settings.seed("world.seed"), settings.moment("world.start")), (None, None));
    assert_eq!((settings.perhaps_count("world.edge_bps"), settings.perhaps_number("world.flip_days")), (None, None));
}

#[test]
fn a_market_is_staged_only_where_it_is_said_so_and_zero_says_so() {
    let settings = golem("[world]\nedge_bps = 0\nflip_days = 2").unwrap();
    assert_eq!(settings.perhaps_count("world.edge_bps"), Some(0));
    assert_eq!(settings.perhaps_number("world.flip_days"), Some(2.0));
    let natural = golem("[world]\nedge_bps = \"\"\nflip_days = \"\"").unwrap();
    assert_eq!(natural.to_toml(), golem("").unwrap().to_toml());
    check_problems(
        "world.edge_bps = -1",
        &["golem.toml:1: 'world.edge_bps' is -1; expected a whole number from 0 to 1000, or \"\" for none"],
    );
    let both = layered("world.flip_days = 2", &[], &["world.relations_change_days=1"]).unwrap().constitution();
    assert_eq!(
        both.unwrap_err().to_string(),
        "golem.toml:1: 'world.flip_days' is for a market in which nothing else changes; \
         leave it or world.relations_change_days out"
    );
}

#[test]
fn a_birth_into_a_market_with_an_edge_gives_back_its_keys_and_a_fair_one_has_none() {
    for (edge_bps, kind) in [(45, "edge"), (120, "edge"), (0, "fair")] {
        let spec = world::Spec::Edge { seed: 7, bar_ms: 40_000, edge_bps, move_days: 12.5 };
        let spec = serde_json::to_string(&spec).unwrap();
        let world = golem::world::Manifest { spec, bar: Span::seconds(40), ..golem::world::Manifest::default() };
        let flags = Settings::of_record(&Constitution::default(), Endowment::default(), &world);
        let settings = Settings::read(File::Golem, None, [], &flags).unwrap();
        assert_eq!((settings.text("world.kind"), settings.number("world.edge_move_days")), (Some(kind), 12.5));
        assert_eq!(settings.perhaps_count("world.edge_bps"), Some(edge_bps));
    }
    check_problems(
        "[world]\nkind = \"fair\"\nedge_bps = 45",
        &["golem.toml:3: a fair market has no edge; leave 'world.edge_bps' out, or set world.kind = \"edge\""],
    );
    assert!(golem("[world]\nkind = \"fair\"\nedge_bps = 0").unwrap().constitution().is_ok());
}

#[test]
fn no_key_of_a_life_is_silently_ignored() {
    // Of the world it lives in, and of its money.
    let others = ["world.", "funds."];
    let of_a_life = |key: &&SettingKey| !others.iter().any(|other| key.path.starts_with(other));
    let mut made = BTreeSet::new();
    for key in available(File::Golem).filter(of_a_life) {
        let flags = vec![format!("{}={}", key.path, another(key).plain())];
        let plain = Constitution::default();
        let constitution = Settings::load(File::Golem, None, [], &flags).unwrap().constitution().unwrap();
        assert_ne!(constitution, plain, "{}", key.path);
        // The documents have two switches for moods.
        let twice = key.path == "mortality.affect.appraisal_model";
        assert!(made.insert(format!("{constitution:?}")) || twice, "{} does what another key does", key.path);
    }
    assert!(made.len() > 30);
}

/// An heir was once made of its predecessor's golem.toml, which could have been edited and which no change of policy
/// ever reached. It is made of the record now, so the record must give every key back.
#[test]
fn a_birth_gives_back_every_key_it_was_born_of() {
    let of_a_life = |key: &&SettingKey| !key.path.starts_with("world.") && key.path != "mortality.immortal";
    let world = golem::world::Manifest { bar: Span::seconds(40), ..golem::world::Manifest::default() };
    let again = |settings: &Settings| {
        let endowment = Endowment { credit: settings.money("funds.credit"), capital: settings.money("funds.capital") };
        let flags = Settings::of_record(&settings.constitution().unwrap(), endowment, &world);
        Settings::read(File::Golem, None, [], &flags).unwrap()
    };
    for key in available(File::Golem).filter(of_a_life) {
        let flags = [format!("{}={}", key.path, another(key).plain())];
        let settings = Settings::read(File::Golem, None, [], &flags).unwrap();
        let back = again(&settings);
        assert_eq!(back.constitution(), settings.constitution(), "{}", key.path);
        // The documents have two switches for moods.
        if key.path != "mortality.affect.appraisal_model" {
            assert_eq!(back.value(key.path), settings.value(key.path));
        }
        assert_eq!(again(&Settings::read(File::Golem, Some(("", &back.to_toml())), [], &[]).unwrap()), back);
    }
}

#[test]
fn a_file_that_says_otherwise_than_the_birth_is_found_and_one_that_says_nothing_is_not() {
    let born =
        golem("[mortality]\nmode = \"self_hosted\"\nimmortal = true\n[dream.windows]\nwindows = \"02:00-06:00 UTC\"");
    let birth = Birth {
        id: golem::GolemId([1; 16]),
        name: "ada".parse().unwrap(),
        generation: 0,
        laws: golem::laws::NEWEST,
        secret_hash: [0; 32],
        seeded: false,
        constitution: born.unwrap().constitution().unwrap(),
        world: golem::world::Manifest { bar: Span::seconds(40), ..golem::world::Manifest::default() },
        endowment: Endowment { credit: Usdc::dollars(10), capital: Usdc::dollars(100) },
        lineage: None,
        unfinished: Vec::new(),
    };
    let check = |text: &str, expected: Option<(&str, &str, &str)>| {
        let found = golem(text).unwrap().contradicts(&birth).unwrap();
        assert_eq!(found.as_ref().map(|(key, says, is)| (*key, says.as_str(), is.as_str())), expected, "{text}");
    };
    check("", None);
    check("mortality = { mode = \"self_hosted\", immortal = true }", None);
    check("[dream.windows]\nwindows = \"2:00-6:00 UTC\"", None);
    check("[world]\nseed = 7", None);
    check("[policy]\nper_action = 1.0", Some(("policy.per_action", "1.0", "0.25")));
    check("[funds]\ncapital = 899", Some(("funds.capital", "899.00", "100.00")));
    check("[succession]\nauto = true", Some(("succession.auto", "true", "false")));
    let earlier = Birth { endowment: Endowment::default(), ..birth.clone() };
    assert_eq!(golem("[funds]\ncapital = 899").unwrap().contradicts(&earlier).unwrap(), None);
}

#[test]
fn every_figure_lands_in_its_own_place() {
    let text = r#"
        [mortality]
        mode = "self_hosted"
        lifespan = "90d"
        economic = { death_reserve_floor_usdc = 0.10, reserve_share = 0.05, conservation_threshold = 0.2 }
        [mortality.epistemic]
        warning = 0.7
        senescence_threshold = 0.6
        recovery_threshold = 0.65
        [mortality.stochastic]
        enabled = false
        [mortality.vitality]
        age_drag = 0.9
        [policy]
        max_drawdown = 0
    "#;
    let c = golem(text).unwrap().constitution().unwrap();
    assert_eq!((c.mode, c.vitality.lifespan), (Mode::SelfHosted, Span::DAY.times(90)));
    assert_eq!((c.economic.reserve_floor, c.economic.reserve_bps), (Usdc::cents(10), 500));
    assert_eq!(c.economic.critical, 0.2);
    assert_eq!((c.epistemic.warning, c.epistemic.senescence, c.epistemic.recovery), (0.7, 0.6, 0.65));
    assert_eq!(c.policy.max_drawdown_bps, 0);
    assert_eq!((c.vitality.age_drag, c.vitality.economic_center), (0.9, 0.3));
    assert_eq!((c.clocks.economic, c.clocks.epistemic, c.clocks.stochastic), (true, true, false));
}

#[test]
fn the_documents_spellings_are_understood_at_every_level() {
    let ours =
        golem("[mortality.economic]\ndeath_reserve_floor_usdc = 0.4\n[mortality.epistemic]\nfitness_window = 300");
    let theirs = golem("[mortality.economic]\ndeathReserveFloorUsdc = 0.4\n[mortality.epistemic]\nfitnessWindow = 300");
    assert_eq!(ours, theirs);
    assert_eq!(theirs.unwrap().integer("mortality.epistemic.fitness_window"), 300);

    let lifespan = golem("mortality.vitality.referenceLifespan = 1_000").unwrap().span("mortality.lifespan");
    assert_eq!(lifespan, Span::seconds(40_000));
    let flag = layered("", &[], &["mortality.vitality.reference_lifespan=1000"]).unwrap();
    assert_eq!(flag.span("mortality.lifespan"), Span::seconds(40_000));
    check_problems(
        "[clade]\nsharingThreshold = 0.6",
        &["golem.toml:2: 'clade.sharingThreshold' is not available yet in this version"],
    );
}

#[test]
fn what_the_documents_let_an_owner_set_and_stands_fixed_here_takes_its_own_value_alone() {
    let plain = golem("").unwrap();
    let theirs = "[dream.consolidation]\nvalidationRequired = true\n[succession]\nrequire_explicit_gaps = true\n\
                  [death]\nbloodstain_retrieval_boost = 1.2\nbloodstain_decay_multiplier = 3.0";
    assert_eq!(golem(theirs).unwrap(), plain);
    assert_eq!(layered("", &[("BARDO__DEATH__BLOODSTAIN_DECAY_MULTIPLIER", "3")], &[]).unwrap(), plain);
    check_problems(
        "[death]\nbloodstain_retrieval_boost = 2.0\n[dream.consolidation]\nvalidationRequired = false",
        &[
            "golem.toml:2: 'death.bloodstain_retrieval_boost' is 1.2 in this version and cannot be set otherwise; \
             leave it out",
            "golem.toml:4: 'dream.consolidation.validationRequired' is true in this version and cannot be set otherwise; \
             leave it out",
        ],
    );
}

#[test]
fn a_value_of_the_documents_that_means_something_else_here_is_remarked_on_by_its_line() {
    let check = |text: &str, path: &str, value: &str, remarks: &[&str]| {
        let settings = golem(text).unwrap();
        assert_eq!(settings.value(path).plain(), value, "{text}");
        let told: Vec<String> = settings.remarks().iter().map(ToString::to_string).collect();
        assert_eq!(told, remarks, "{text}");
    };
    let moves = "dream.wake_interrupts.world_move";
    let two = "{ asset = \"ETH\", changePercent = 12, window = \"5m\" }, { asset = \"BTC\", change_percent = 7.5 }";
    check(
        &format!("[dream.wakeInterrupts]\nmarketThresholds = [{two}]"),
        moves,
        "0.075",
        &[
            "golem.toml:2: 'dream.wake_interrupts.marketThresholds': asset and window are not read; a night ends once a unit \
           of its world is worth 7.5 % more or less than when it fell asleep (dream.wake_interrupts.world_move)",
        ],
    );
    check("[dream.wakeInterrupts]\nmarketThresholds = []", moves, "0.0", &[]);
    check(
        "mortality.affect.appraisalModel = \"chain-of-emotion\"",
        "mortality.affect.appraisal_model",
        "rule_based",
        &[
            "golem.toml:1: 'mortality.affect.appraisalModel': no model appraises here, because a mood limits what may be \
           risked; moods come from the table (rule_based)",
        ],
    );
    check("mortality.affect.appraisalModel = \"rule-based\"", "mortality.affect.appraisal_model", "rule_based", &[]);
    check("[dream]\nschedule = \"owner\"", "dream.schedule.mode", "owner", &[]);
    check("[dream]\nschedule = { mode = \"owner\" }", "dream.schedule.mode", "owner", &[]);
    for wrong in ["[{ asset = \"ETH\" }]", "[{ changePercent = 0 }]", "[{ changePercent = 5, side = 1 }]", "[5]"] {
        golem(&format!("[dream.wakeInterrupts]\nmarketThresholds = {wrong}")).expect_err(wrong);
    }
    let keep = check_text(File::Bardo, "bardo.toml", "[styx.vault]\nttl = 30").unwrap();
    assert_eq!(keep.span("styx.keep"), Span::DAY.times(30));
}

#[test]
fn two_spellings_of_one_key_are_not_two_chances() {
    check_problems(
        "[mortality.epistemic]\nfitness_window = 300\nfitnessWindow = 400",
        &["golem.toml:3: 'mortality.epistemic.fitness_window' is already set in line 2; keep one of the two"],
    );
    check_problems(
        "mortality.lifespan = \"90d\"\nmortality.vitality.reference_lifespan = 5",
        &["golem.toml:2: 'mortality.lifespan' is already set in line 1; keep one of the two"],
    );
}

#[test]
fn an_unknown_key_names_its_line_and_the_nearest_known_one() {
    let told = "unknown key 'mortality.epistemic.fitnes_window'; did you mean 'mortality.epistemic.fitness_window'?";
    for (text, line) in [
        ("\n\n\n\n\n[mortality.epistemic]\nfitnes_window = 300", 7),
        ("\nmortality.epistemic.fitnes_window = 300", 2),
        ("[mortality]\n# a comment\nepistemic = { warning = 0.6, fitnes_window = 300 }", 3),
        ("[mortality]\nepistemic = {\n  warning = 0.6,\n  fitnes_window = 300,\n}", 4),
        ("[world]\nseed = 1\n[mortality]\nepistemic.warning = 0.6\nepistemic.fitnes_window = 300", 5),
    ] {
        check_problems(text, &[&format!("golem.toml:{line}: {told}")]);
    }
}

#[test]
fn unknown_sections_and_far_off_keys_are_told_once() {
    check_problems(
        "[world]\nseed = 1\n\n[mortality.epistmic]\nfitness_window = 1\nwarning = 2",
        &["golem.toml:4: unknown section 'mortality.epistmic'; did you mean 'mortality.epistemic'?"],
    );
    check_problems("qqqq = 1", &["golem.toml:1: unknown key 'qqqq'; `bardo config schema golem` lists every key"]);
    check_problems(
        "\"a\\nb\\u001b[2J\" = 1",
        &["golem.toml:1: unknown key 'a\u{fffd}b\u{fffd}[2J'; `bardo config schema golem` lists every key"],
    );
}

#[test]
fn a_key_in_the_wrong_file_or_before_its_time_is_told_so() {
    check_problems("[run]\nbatch = 1", &["golem.toml:2: 'run.batch' belongs in bardo.toml"]);
    check_problems(
        "\n[clade]\nsharing_threshold = 0.5",
        &["golem.toml:3: 'clade.sharing_threshold' is not available yet in this version"],
    );
    check_problems(
        "\ndreamInferenceProvider = \"venice\"",
        &["golem.toml:2: 'dream.inference_provider': the model has no name that a server could know; write it like \
           ollama/qwen3"],
    );
    let error =
        check_text(File::Bardo, "bardo.toml", "[clade]\nsharing_threshold = 0.5\n[world]\nseed = 1").unwrap_err();
    assert_eq!(
        error.to_string(),
        "bardo.toml:2: 'clade.sharing_threshold' belongs in golem.toml, and is not available yet in this version\n\
         bardo.toml:4: 'world.seed' belongs in golem.toml"
    );
}

#[test]
fn every_problem_is_told_together_in_the_order_of_the_lines() {
    check_problems(
        "mortality.mode = 1\nworld.seed = 1.5\nmortality.lifespan = 2",
        &[
            "golem.toml:1: 'mortality.mode' is 1; expected self_hosted, hosted or immortal, such as \"self_hosted\"",
            "golem.toml:2: 'world.seed' is 1.5; expected a whole number from 0, or \"random\", such as \"random\"",
            "golem.toml:3: 'mortality.lifespan' is 2; expected a length of time from 1m to 36500d, such as \"8000000s\"",
        ],
    );
    check_problems(
        "[policy]\nper_action = 3\non_death = \"sell\"\nmax_drawdown = [1]\n[world]\nbar = 40\nsed = 1\nseed = -1\n[funds]\ncredit = -1.5\n[mortality.stochastic]\nfrailty = nan\nenabled = 1\n[[heartbeat]]\ninterval = 1",
        &[
            "golem.toml:2: 'policy.per_action' is 3; expected a share from 0 to 1 with at most four decimals, such as 0.25",
            "golem.toml:3: 'policy.on_death' is \"sell\"; expected close, hold or hand_over, such as \"close\"",
            "golem.toml:4: 'policy.max_drawdown' is a list; expected a share from 0 to 1 with at most four decimals, such as 0.13",
            "golem.toml:6: 'world.bar' is 40; expected a length of time from 1s to 30d, such as \"40s\"",
            "golem.toml:7: unknown key 'world.sed'; did you mean 'world.seed'?",
            "golem.toml:8: 'world.seed' is -1; expected a whole number from 0, or \"random\", such as \"random\"",
            "golem.toml:10: 'funds.credit' is -1.5; expected dollars from 0 to 1000000000 with at most six decimals, such as \"10.00\"",
            "golem.toml:12: 'mortality.stochastic.frailty' is nan; expected a number from 0 to 1000, such as 2.0",
            "golem.toml:13: 'mortality.stochastic.enabled' is 1; expected true or false, such as true",
            "golem.toml:14: 'heartbeat' is a section, not a list of tables; write [heartbeat] and its keys below",
        ],
    );
}

#[test]
fn broken_toml_is_told_in_one_line_with_its_column() {
    for text in [
        "world.start = 2026-13-01",
        "[world\nseed = 1",
        "[world]\nseed = ",
        "a = 1\na = 2",
        "[world]\nseed = \"\n",
        "\u{feff}[[",
        "= 1",
    ] {
        let error = golem(text).unwrap_err().to_string();
        assert_eq!(error.lines().count(), 1, "{error}");
        let place: Vec<&str> = error.splitn(4, ':').collect();
        assert_eq!(place[0], "golem.toml");
        assert!(place[1].parse::<usize>().is_ok() && place[2].parse::<usize>().is_ok(), "{error}");
    }
}

#[test]
fn flags_win_over_the_environment_over_the_file_over_the_defaults() {
    let path = "mortality.epistemic.fitness_window";
    let variable = ("BARDO__MORTALITY__EPISTEMIC__FITNESS_WINDOW", "300");
    let text = "[mortality.epistemic]\nfitness_window = 200";
    let flag = "mortality.epistemic.fitness_window=400";
    for (text, environment, flags, window, origin) in [
        ("", &[][..], &[][..], 2_000, "default"),
        (text, &[], &[], 200, "golem.toml:2"),
        (text, &[variable], &[], 300, "environment BARDO__MORTALITY__EPISTEMIC__FITNESS_WINDOW"),
        (text, &[variable], &[flag], 400, "flag mortality.epistemic.fitness_window=400"),
        (
            "",
            &[("bardo__mortality__epistemic__fitnessWindow", "5")],
            &[],
            5,
            "environment bardo__mortality__epistemic__fitnessWindow",
        ),
        ("", &[], &[flag, "mortality.epistemic.fitnessWindow=401"], 401, "flag mortality.epistemic.fitnessWindow=401"),
    ] {
        let settings = layered(text, environment, flags).unwrap();
        assert_eq!(settings.integer(path), window);
        assert_eq!(settings.origin(path).to_string(), origin);
    }
}

#[test]
fn a_wrong_variable_or_flag_is_named() {
    let told = |environment: &[(&str, &str)], flags: &[&str]| layered("", environment, flags).unwrap_err().to_string();
    assert_eq!(
        told(&[("BARDO__WORLD__SED", "7")], &[]),
        "environment variable BARDO__WORLD__SED: unknown key 'world.sed'; did you mean 'world.seed'?"
    );
    assert_eq!(
        told(
            &[("BARDO__FUNDS__CREDIT", "ten"), ("BARDO__CLADE__SHARING_THRESHOLD", "core")],
            &["world.bar=40", "seed"]
        ),
        "environment variable BARDO__CLADE__SHARING_THRESHOLD: 'clade.sharing_threshold' is not available yet in this version\n\
         environment variable BARDO__FUNDS__CREDIT: 'funds.credit' is \"ten\"; expected dollars from 0 to 1000000000 with at most six decimals, such as 10.00\n\
         flag world.bar=40: 'world.bar' is \"40\"; expected a length of time from 1s to 30d, such as 40s\n\
         flag seed: expected key=value, such as world.seed=7"
    );
    assert_eq!(told(&[], &["run.batch=3"]), "flag run.batch=3: 'run.batch' belongs in bardo.toml");
    assert_eq!(
        told(&[("BARDO__WORLD__SEED", "7"), ("bardo__world__seed", "8")], &[]),
        "environment variable bardo__world__seed: sets 'world.seed' as BARDO__WORLD__SEED does; unset one of the two"
    );
    assert!(told(&[("BARDO__", "7")], &[]).starts_with("environment variable BARDO__: unknown key ''"));
}

#[test]
fn variables_that_are_not_ours_or_for_the_other_file_are_left_alone() {
    let others = [("BARDO_HOME", "/x"), ("PATH", "/bin"), ("BARDO__RUN__BATCH", "nonsense"), ("ÄÖÜ__", "1")];
    assert_eq!(layered("", &others, &[]).unwrap(), Settings::read(File::Golem, Some(("", "")), [], &[]).unwrap());
}

#[test]
fn figures_that_contradict_one_another_say_what_to_do() {
    for (text, place, told) in [
        (
            "mortality.mode = \"hosted\"\nmortality.immortal = true",
            "golem.toml:2",
            "set mortality.mode = \"self_hosted\"",
        ),
        ("world.bar = \"60s\"\nheartbeat.interval = \"90s\"", "golem.toml:2", "make it a multiple of 1m"),
        ("heartbeat.interval = \"50s\"", "golem.toml:1", "leave heartbeat.interval out"),
        ("\nworld.kind = \"replay\"", "golem.toml:2", "`bardo data list`"),
        ("[mortality.epistemic]\nsenescence_threshold = 0.45", "golem.toml:2", "must be above"),
        ("[mortality.epistemic]\nwarning = 0.2", "golem.toml:2", "must not be below"),
        ("[mortality.stochastic]\nbase_hazard_rate = 0.1", "golem.toml:2", "must not be below"),
        ("mortality.mode = \"hosted\"\n[funds]\ncredit = 0.30", "golem.toml:3", "give it more"),
        (
            "mortality.mode = \"hosted\"\nmortality.economic.death_reserve_floor_usdc = 10",
            "golem.toml:2",
            "give it more",
        ),
    ] {
        let error = golem(text).expect_err(text).to_string();
        assert!(error.starts_with(&format!("{place}: ")) && error.contains(told), "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
    for fine in [
        "mortality.immortal = true",
        "mortality.mode = \"immortal\"",
        "funds.credit = 0",
        "world = { kind = \"replay\", data = \"eth-1h\", bar = \"1h\" }",
    ] {
        golem(fine).unwrap();
    }
}

#[test]
fn a_golem_looks_once_a_bar_unless_told_otherwise() {
    let settings = golem("world.bar = \"1h\"").unwrap();
    assert_eq!(settings.constitution().unwrap().interval, Span::seconds(3_600));
    assert_eq!(settings.origin("heartbeat.interval").to_string(), "follows world.bar");
    let settings = golem("world.bar = \"20s\"\nheartbeat.interval = \"40s\"").unwrap();
    assert_eq!(settings.constitution().unwrap().interval, Span::seconds(40));
}

#[test]
fn the_template_changes_nothing_and_uncommented_says_the_defaults() {
    for file in [File::Bardo, File::Golem] {
        let template = template(file);
        let defaults = Settings::defaults(file);
        assert_eq!(check_text(file, file.name(), &template).unwrap(), defaults);

        let settings = check_text(file, file.name(), &uncommented(&template)).unwrap();
        for key in available(file) {
            assert_eq!(settings.value(key.path), defaults.value(key.path), "{}", key.path);
            assert!(matches!(settings.origin(key.path), Origin::File { .. }), "{} is not in it", key.path);
        }
    }
}

/// The file that `init` writes had heads over nothing but comments, so a section at its end, where owners put one, was
/// there twice, and the message "duplicate key" named only one of the two lines.
#[test]
fn a_section_at_the_end_of_the_template_is_no_slip_and_what_is_there_twice_is_named_with_both_lines() {
    let template = template(File::Bardo);
    let longer = format!("{template}\n[gateway]\nlisten = \"127.0.0.1:9\"\n[notify]\ncommand = 'true'\n");
    let settings = check_text(File::Bardo, "bardo.toml", &longer).unwrap();
    assert_eq!(settings.text("gateway.listen"), Some("127.0.0.1:9"));
    for (text, told) in [
        (
            "[gateway]\nlisten = \"\"\n\n# more\n[gateway]\n",
            "bardo.toml:5:2: [gateway] is in line 1 already; put the keys below line 5 there, and take this line out",
        ),
        (
            "gateway.listen = \"\"\n[gateway]\nlisten = \"\"\n",
            "bardo.toml:2:2: [gateway] is in line 1 already; put the keys below line 2 there, and take this line out",
        ),
        (
            "[gateway]\nlisten = \"\"\nlisten = \"\"\n",
            "bardo.toml:3:1: 'gateway.listen' is set in line 2 already; keep one of the two",
        ),
    ] {
        assert_eq!(check_text(File::Bardo, "bardo.toml", text).unwrap_err().to_string(), told);
    }
}

/// The template with the '#' taken from every key, as an owner might do.
pub(super) fn uncommented(template: &str) -> String {
    let bare = |line: &str| match line.strip_prefix('#') {
        Some(key) if key.starts_with(|c: char| c.is_ascii_lowercase()) => format!("{key}\n"),
        _ => format!("{line}\n"),
    };
    template.lines().map(bare).collect()
}

#[test]
fn what_was_chosen_is_written_and_reads_back_the_same() {
    let nothing = Settings::defaults(File::Golem).to_toml();
    assert!(nothing.lines().all(|line| line.starts_with("# ")), "{nothing}");
    let flags: Vec<String> = available(File::Golem)
        .filter(|key| !["heartbeat.interval", "mortality.immortal"].contains(&key.path))
        .map(|key| format!("{}={}", key.path, another(key).plain()))
        .collect();
    let settings = Settings::load(File::Golem, None, [], &flags).unwrap();
    let written = settings.to_toml();
    assert!(written.starts_with(&format!("{nothing}\n[world]\n# the world it lives in")), "{written}");
    assert!(!written.contains("interval"), "{written}");
    let again = golem(&written).unwrap();
    for key in available(File::Golem) {
        assert_eq!(again.value(key.path), settings.value(key.path), "{}", key.path);
    }
}

#[test]
fn show_lists_every_key_with_its_value_and_where_it_came_from() {
    let settings =
        layered("[world]\nseed = 7", &[("BARDO__FUNDS__CREDIT", "$3.5")], &["policy.on_death=hold"]).unwrap();
    let shown = settings.show();
    assert_eq!(shown.lines().count(), available(File::Golem).count());
    let row = |path: &str| {
        let line = shown.lines().find(|line| line.starts_with(path)).unwrap();
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(row("world.seed"), "world.seed 7 golem.toml:2");
    assert_eq!(row("funds.credit"), "funds.credit \"3.50\" environment BARDO__FUNDS__CREDIT");
    assert_eq!(row("policy.on_death"), "policy.on_death \"hold\" flag policy.on_death=hold");
    assert_eq!(row("mortality.lifespan"), "mortality.lifespan \"8000000s\" (92d 14h, 200,000 ticks of 40s) default");
    let json = settings.show_json();
    assert_eq!(json["world.seed"], serde_json::json!({ "value": 7, "from": "file", "at": "golem.toml", "line": 2 }));
    assert_eq!(json["reflex.pull"], serde_json::json!({ "value": 0.02, "from": "default" }));
}

#[test]
fn a_file_that_is_missing_or_no_text_is_told_by_its_name() {
    let folder = std::env::temp_dir().join(format!("bardo-config-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("golem.toml");
    let load = || Settings::load(File::Golem, Some(&path), [], &[]);
    let told = || load().unwrap_err().to_string();

    assert!(told().starts_with(&format!("{}: cannot be read: ", path.display())));
    std::fs::write(&path, b"[world]\nseed = 7\n# \xff").unwrap();
    assert_eq!(told(), format!("{}:3: is not UTF-8 text; save the file as UTF-8", path.display()));
    std::fs::write(&path, " ".repeat(2 << 20)).unwrap();
    assert_eq!(told(), format!("{}: is larger than a megabyte, which no configuration is", path.display()));
    std::fs::write(&path, "\u{feff}[world]\r\nseed = 7\r\n").unwrap();
    assert_eq!(load().unwrap().seed("world.seed"), Some(7));
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
#[should_panic(expected = "'world.sed' is not an available key of golem.toml")]
fn asking_for_a_key_that_does_not_exist_is_a_bug() {
    Settings::defaults(File::Golem).seed("world.sed");
}

#[test]
fn files_made_to_exhaust_the_reader_are_turned_away() {
    for text in [
        format!("{} = 1", vec!["a"; 100_000].join(".")),
        format!("[{}]", vec!["a"; 100_000].join(".")),
        format!("a = {}", "[".repeat(100_000)),
        format!("a = {}", "{a=".repeat(100_000)),
        format!("a = {}", "[\n".repeat(100_000)),
        (0..20_000).map(|at| format!("[a{at}]\n")).collect(),
        format!("{} = 1", "a".repeat(500_000)),
        format!("world.seed = \"{}\"", "é".repeat(200_000)),
    ] {
        let error = golem(&text).unwrap_err().to_string();
        assert!(error.lines().all(|line| line.len() < 300), "{}", &error[..300]);
    }
}

#[test]
fn ten_thousand_mangled_files_are_read_or_refused_but_never_a_panic() {
    const NOISE: &[u8] = b"\"'=.[]{}#\n\\0-9aeE_+:$ ";
    let whole = uncommented(&template(File::Golem));
    let pieces: Vec<&str> = whole.split_inclusive(['\n', '=', '.', '[', ']', '"']).collect();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut roll = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    let mut accepted = 0;
    for round in 0..10_000 {
        let text = match round % 3 {
            0 => {
                let bytes: Vec<u8> = (0..roll(200)).map(|_| roll(256) as u8).collect();
                String::from_utf8_lossy(&bytes).into_owned()
            }
            1 => (0..roll(40)).map(|_| pieces[roll(pieces.len())]).collect(),
            _ => {
                let mut bytes = whole.clone().into_bytes();
                for _ in 0..roll(4) {
                    let at = roll(bytes.len());
                    bytes[at] = NOISE[roll(NOISE.len())];
                }
                String::from_utf8_lossy(&bytes).into_owned()
            }
        };
        let name = "golem.toml";
        let variable = ("BARDO__".to_owned() + &text, text.clone());
        let _ = Settings::read(File::Bardo, Some((name, &text)), [variable], std::slice::from_ref(&text));
        match golem(&text) {
            Ok(settings) => {
                accepted += 1;
                let written = settings.to_toml();
                golem(&written).unwrap_or_else(|error| panic!("{error}\n{written}"));
            }
            Err(error) => {
                let places = error
                    .to_string()
                    .lines()
                    .filter(|line| line.starts_with(name) || line.starts_with("default"))
                    .count();
                assert_eq!(places, error.problems.len(), "{error}");
            }
        }
    }
    assert!(accepted > 500, "the mangling is too rough to test what is accepted: {accepted}");
}

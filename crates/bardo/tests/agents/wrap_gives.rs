//! What `bardo wrap` gives a program: a golem of its own, what its owner keeps for it and no key, and a fence that is not in its way.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::Tent;
use crate::wrap::{AGENT, life, told, wrap};
use golem::Usdc;
use testing::upstream::{Act, Upstream};

#[test]
fn what_its_owner_keeps_it_gets_and_cleaned_it_gets_nothing_else() {
    let (tent, upstream) = (Tent::bare(), Upstream::start(|_| Act::Honest));
    let env = |args: &[&str]| {
        let mut command = wrap(&tent, &upstream, &[&["--name", "ada"], args].concat(), &["sh", "-c", "env; umask"]);
        command.env("AWS_SECRET_ACCESS_KEY", "aws-canary").env("GITHUB_TOKEN", "ghp-canary").env("SOMETHING", "else");
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", told(&output));
        (String::from_utf8(output.stdout.clone()).unwrap(), told(&output))
    };
    let (plain, told) = env(&[]);
    assert!(
        !plain.contains("aws-canary") && plain.contains("GITHUB_TOKEN=ghp-canary") && plain.contains("SOMETHING=else")
    );
    assert!(told.contains("kept from the program: ") && told.contains("AWS_SECRET_ACCESS_KEY"), "{told}");
    assert!(env(&["--keep", "AWS_SECRET_ACCESS_KEY"]).0.contains("AWS_SECRET_ACCESS_KEY=aws-canary"));
    let (clean, _) = env(&["--clean-env", "--keep", "GITHUB_TOKEN"]);
    assert!(clean.contains("GITHUB_TOKEN") && clean.contains("\nPATH=") && !clean.contains("SOMETHING"), "{clean}");
    // Its files are as open as its owner's are: what a home is closed by is not for others.
    let own = String::from_utf8(Command::new("sh").args(["-c", "umask"]).output().unwrap().stdout).unwrap();
    assert!(plain.ends_with(&own), "{plain}");
}

#[test]
fn where_a_call_would_go_past_its_budget_nothing_is_started() {
    let (tent, upstream) = (Tent::bare(), Upstream::start(|_| Act::Honest));
    let refused = |name: &str, value: &str, words: &str| {
        let mut command = tent.command(["wrap", "--name", "ada", "--", "touch", "started"]);
        let output = command.current_dir(tent.folder.path()).env(name, value).output().unwrap();
        assert!(!output.status.success() && told(&output).contains(words), "{name}: {}", told(&output));
        assert!(!tent.folder.path().join("started").exists() && !tent.root().exists(), "{name}");
    };
    refused("AZURE_OPENAI_ENDPOINT", "https://x.openai.azure.com", "env -u AZURE_OPENAI_ENDPOINT bardo wrap");
    refused("CLAUDE_CODE_USE_BEDROCK", "1", "--keep CLAUDE_CODE_USE_BEDROCK");
    refused("OPENAI_BASE_URL", "http://10.0.0.1/v1", "plain http");
    refused("OPENAI_API_KEY", "sk-or-v1-4f9b2c7d1e8a6f3b5c0d4f9b2c7d1e8a", "https://openrouter.ai");
    let key = "--openai-api-key=sk-proj-canary0x4f9b2c7d1e8a6f3b5c0d0";
    let told = told(&wrap(&tent, &upstream, &[], &["touch", key]).output().unwrap());
    assert!(told.contains("argument 1") && !tent.root().exists(), "{told}");
}

/// A host has as many files open as it is let, and a program that goes through all it could have open would go through a billion.
#[test]
fn a_program_may_have_as_many_files_open_as_before() {
    let (tent, upstream) = (Tent::bare(), Upstream::start(|_| Act::Honest));
    let plain = wrap(&tent, &upstream, &["--name", "ada"], &["sh", "-c", "ulimit -Sn"]);
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -Sn 300; exec \"$@\"", "sh"]).arg(plain.get_program()).args(plain.get_args());
    limited.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = limited.output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "300\n", "{}", told(&output));
}

/// "the treasury … file is damaged" and "cannot move …/gateway.new", of whoever was not the first.
#[test]
fn ten_at_once_in_an_empty_place_ten_in_a_full_one_and_thirty_none_of_which_fails() {
    let (tent, upstream) = (Tent::bare(), Upstream::start(|_| Act::Honest));
    for (round, many) in [10, 10, 30].into_iter().enumerate() {
        let started: Vec<_> = (0..many)
            .map(|one| {
                let name = format!("r{round}-{one}");
                let mut command = wrap(&tent, &upstream, &["--credit", "0.1", "--name", &name], &["sh", "-c", AGENT]);
                command.env("TIMES", "1").stdout(Stdio::null()).stderr(Stdio::piped());
                (name, command.spawn().unwrap())
            })
            .collect();
        for (name, child) in started {
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success(), "{name} of {many}: {}", told(&output));
            assert_eq!(life(&tent, &name).calls().made, 1);
        }
    }
    tent.ok(["doctor"]);
}

/// Two projects with a `main.py` shared one purse, and so did whatever was started with `python -m`.
#[test]
fn a_program_has_a_purse_of_its_own_and_finds_it_again() {
    let (tent, upstream) = (Tent::bare(), Upstream::start(|_| Act::Honest));
    for file in ["p1/main.sh", "p2/main.sh"] {
        let path = tent.folder.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, AGENT).unwrap();
    }
    let run = |at: &str, args: &[&str], script: &str| {
        let mut command = wrap(&tent, &upstream, args, &["sh", script]);
        let output = command.env("TIMES", "1").current_dir(tent.folder.path().join(at)).output().unwrap();
        assert!(output.status.success(), "{}", told(&output));
        told(&output)
    };
    run("p1", &["--credit", "2"], "main.sh");
    run("p2", &["--credit", "3"], "main.sh");
    let given = |name: &str| (life(&tent, name).purse().given, life(&tent, name).calls().made);
    assert_eq!((given("main"), given("main-p2")), ((Usdc::dollars(2), 1), (Usdc::dollars(3), 1)));
    // From wherever it is started it is the same, and what a flag does to a purse that is there is said.
    let told = run(".", &["--credit", "5"], "p1/main.sh");
    assert!(told.contains("--credit is for a new golem") && told.contains("bardo golem fund main 5"), "{told}");
    assert_eq!(given("main"), (Usdc::dollars(2), 2));
    // So much a day, for a new one and for one that is there.
    run("p2", &["--per-day", "0.5"], "main.sh");
    assert_eq!(life(&tent, "main-p2").policy().calls_day, Some(Usdc::cents(50)));
    run("p1", &["--per-day", "2", "--name", "daily"], "main.sh");
    assert_eq!(
        (given("daily").0, life(&tent, "daily").policy().calls_day),
        (Usdc::dollars(60), Some(Usdc::dollars(2)))
    );
    assert_eq!(tent.home().list().unwrap().len(), 3);
}

/// The same script was stopped again at the same ninth call.
#[test]
fn a_yes_to_a_loop_holds_when_the_program_is_run_again() {
    let (tent, upstream) = (Tent::bare(), Upstream::start(|_| Act::Honest));
    let run = || wrap(&tent, &upstream, &["--name", "bob"], &["sh", "-c", AGENT]).env("TIMES", "12").output().unwrap();
    assert!(told(&run()).contains("bardo golem approve bob 1"));
    tent.ok(["golem", "approve", "bob", "1"]);
    let before = life(&tent, "bob").calls().made;
    let again = told(&run());
    assert!(!again.contains("are stopped"), "{again}");
    assert_eq!(life(&tent, "bob").calls().made, before + 12);
}

/// An agent could make no new file in its user's folder if the home was below it, and nothing said why.
#[test]
fn a_home_below_its_users_folder_is_out_of_reach_and_not_in_the_way() {
    let (tent, upstream) = (Tent::bare(), Upstream::start(|_| Act::Honest));
    let user = tent.folder.path();
    let program = format!(
        "echo x > $HOME/new && mv $HOME/new $HOME/saved && mkdir $HOME/.made && echo made; ls -A {0}; cat {0}/bardo.toml",
        tent.root().display()
    );
    let output =
        wrap(&tent, &upstream, &["--name", "ada"], &["sh", "-c", &program]).env("HOME", user).output().unwrap();
    let (said, told) = (String::from_utf8(output.stdout.clone()).unwrap(), told(&output));
    assert!(!said.contains("[gateway]"), "{said}");
    let may = Command::new("unshare").args(["-m", "true"]).status().is_ok_and(|status| status.success());
    if may {
        assert_eq!(said, "made\n", "{told}");
        assert!(Path::new(&user.join("saved")).exists() && !told.contains("no new file"), "{told}");
    } else {
        assert!(said.starts_with("made\n") || told.contains("BARDO_HOME=/somewhere/else"), "{said} {told}");
    }
    assert!(tent.root().join("bardo.toml").exists(), "it is covered for the program alone");
    // Whoever is inside before it is covered does not see beneath it.
    let inside =
        wrap(&tent, &upstream, &["--name", "ada"], &["cat", "bardo.toml"]).current_dir(tent.root()).output().unwrap();
    assert!(!inside.status.success() && inside.stdout.is_empty(), "{}", self::told(&inside));
}

/// Codex reads no address from its environment: it was not held at all, and nothing said so.
#[test]
fn an_agent_that_is_known_by_name_is_told_its_address_in_its_own_way() {
    use std::os::unix::fs::PermissionsExt;
    let (tent, upstream) = (Tent::bare(), Upstream::start(|_| Act::Honest));
    let user = tent.folder.path();
    let shown = "#!/bin/sh\nfor one; do echo \"told: $one\"; done\nenv\nsleep 1.2\n";
    for name in ["codex", "claude", "opencode"] {
        let path = user.join(name);
        std::fs::write(&path, shown).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    std::fs::create_dir_all(user.join(".codex")).unwrap();
    std::fs::write(user.join(".codex/auth.json"), "{}").unwrap();
    let run = |program: &[&str]| {
        let path = format!("{}:{}", user.display(), std::env::var("PATH").unwrap());
        let output = wrap(&tent, &upstream, &[], program).env("PATH", path).env("HOME", user).output().unwrap();
        assert!(output.status.success(), "{}", told(&output));
        let said = String::from_utf8(output.stdout.clone()).unwrap();
        let env: BTreeMap<String, String> =
            said.lines().filter_map(|line| line.split_once('=')).map(|(n, v)| (n.to_owned(), v.to_owned())).collect();
        (said, env, told(&output))
    };
    let (said, env, told) = run(&["codex", "exec", "say hello"]);
    let told_to: Vec<&str> = said.lines().filter_map(|line| line.strip_prefix("told: ")).collect();
    assert_eq!(told_to[..2], ["-c", "model_provider=\"bardo\""]);
    assert!(told_to[3].contains(&env["OPENAI_BASE_URL"]) && told_to[4..] == ["exec", "say hello"], "{told_to:?}");
    assert!(told.contains("no call of codex's came through") && told.contains(".codex/auth.json"), "{told}");
    let (_, env, _) = run(&["claude", "-p", "say hello"]);
    assert!(!env.contains_key("ANTHROPIC_API_KEY") && env["ANTHROPIC_AUTH_TOKEN"].starts_with("bardo-agent-"));
    let (_, env, _) = run(&["opencode", "run", "hello"]);
    assert!(env["OPENCODE_CONFIG_CONTENT"].contains(&env["OPENAI_BASE_URL"]), "{env:?}");
}

/// With an account of its owner's a program would spend what nobody holds.
#[test]
fn logins_on_the_disk_are_empty_to_a_program_and_as_they_were_after() {
    let (tent, upstream) = (Tent::bare(), Upstream::start(|_| Act::Honest));
    let user = tempfile::tempdir().unwrap();
    let logins = [".codex/auth.json", ".claude/.credentials.json"].map(|file| user.path().join(file));
    for file in &logins {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, r#"{"token":"canary"}"#).unwrap();
    }
    let look =
        "cat ~/.codex/auth.json ~/.claude/.credentials.json; echo more >> ~/.codex/auth.json; touch ~/.codex/new";
    for _ in 0..2 {
        let mut command = wrap(&tent, &upstream, &["--credit", "1", "--name", "ada"], &["sh", "-c", look]);
        let output = command.env("HOME", user.path()).env_remove("XDG_CACHE_HOME").output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert_eq!(said.trim(), "{}{}", "{}", told(&output));
        assert!(logins.iter().all(|file| fs::read_to_string(file).unwrap() == r#"{"token":"canary"}"#));
        assert!(user.path().join(".codex/new").exists(), "all else there is the program's");
    }
}

//! The log of a host: it says what happened, in lines that a person or a program can read, says nothing twice, and no
//! secret gets into it.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::common::{Tent, text};
use serde_json::Value;
use testing::wait::{until, within};

/// A home with one golem that lives and one whose world is not what it was.
fn tent() -> Tent {
    let tent = Tent::new();
    tent.ok(["golem", "new", "ada", "--seed", "1"]);
    let row = |n: u64| format!("{},1,2,1,1.5,10\n", 1_600_000_000_000 + n * 3_600_000);
    let rows: String = (0..300).map(row).collect();
    let file = tent.folder.path().join("rows.csv");
    fs::write(&file, format!("timestamp,open,high,low,close,volume\n{rows}")).unwrap();
    tent.ok(["data", "import", file.to_str().unwrap(), "--name", "rows"]);
    tent.ok(["golem", "new", "breaks", "--data", "rows"]);
    fs::write(tent.root().join("data/rows.csv"), "something else").unwrap();
    tent
}

struct Host {
    child: Child,
    address: String,
    said: Arc<Mutex<String>>,
    reader: std::thread::JoinHandle<()>,
}

impl Host {
    fn up(tent: &Tent, args: &[&str], environment: &[(&str, &str)]) -> Host {
        let mut command = tent.command(["up", "--listen", "127.0.0.1:0", "--speed", "200"]);
        command.args(args).envs(environment.iter().copied());
        let log = fs::File::create(tent.folder.path().join("log")).unwrap();
        let mut child = command.stdout(Stdio::piped()).stderr(log).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut said = String::new();
        let address = loop {
            assert!(out.read_line(&mut said).unwrap() > 0, "it does not listen");
            if let Some((_, rest)) = said.split_once("http://") {
                break rest.split(';').next().unwrap().to_owned();
            }
        };
        let said = Arc::new(Mutex::new(said));
        let heard = Arc::clone(&said);
        let reader = std::thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                *heard.lock().unwrap() += &format!("{line}\n");
            }
        });
        Host { child, address, said, reader }
    }

    fn ask(&self, method: &str, path: &str, token: &str) -> u16 {
        let mut socket = TcpStream::connect(&self.address).unwrap();
        let body = if method == "POST" { "{}" } else { "" };
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {token}\r\nconnection: close\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        );
        socket.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        let _ = socket.read_to_string(&mut answer);
        answer.split(' ').nth(1).unwrap().parse().unwrap()
    }

    /// Asks it to come down; what it printed and what it logged.
    fn stop(mut self, tent: &Tent) -> (String, String) {
        let pid = self.child.id().to_string();
        assert!(std::process::Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        assert!(self.child.wait().unwrap().success());
        self.reader.join().unwrap();
        let said = self.said.lock().unwrap().clone();
        (said, log(tent))
    }
}

fn log(tent: &Tent) -> String {
    text(&fs::read(tent.folder.path().join("log")).unwrap())
}

fn wait_until(tent: &Tent, what: &str) {
    within(Duration::from_secs(30), || format!("{what} is not logged: {}", log(tent)), || log(tent).contains(what));
}

#[test]
fn a_log_in_json_says_what_happened_and_keeps_every_secret() {
    let tent = tent();
    let config = "[notify]\nwebhook = \"http://127.0.0.1:9/hook-quagga?key=quagga\"\n[log]\nlevel = \"debug\"\n";
    fs::write(tent.root().join("bardo.toml"), config).unwrap();
    let host = Host::up(&tent, &["--log-format", "json"], &[]);
    let token = fs::read_to_string(tent.home().token()).unwrap();
    assert_eq!(host.ask("GET", "/v1/golems", &token), 200);
    assert_eq!(host.ask("GET", "/v1/golems?who=ada", "guessed-quagga"), 401);
    assert_eq!(host.ask("POST", "/v1/golems/ada/freeze", &token), 200);
    assert_eq!(host.ask("GET", "/nowhere-quagga", &token), 404);
    wait_until(&tent, "notification failed");
    wait_until(&tent, "fell over");
    let (_, log) = host.stop(&tent);

    let lines: Vec<Value> =
        log.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"))).collect();
    for line in &lines {
        let time = line["timestamp"].as_str().unwrap();
        assert!(time.parse::<jiff::Timestamp>().is_ok(), "{line}");
        assert!(["level", "message", "target"].iter().all(|key| line[key].is_string()), "{line}");
    }
    let find = |message: &str, fits: &dyn Fn(&Value) -> bool| {
        let found = lines.iter().find(|line| line["message"] == message && fits(line));
        found.unwrap_or_else(|| panic!("'{message}' is not as expected in\n{log}"))
    };
    let asked = |method: &str, route: &str, status: u64| {
        find("asked", &|line| line["method"] == method && line["route"] == route && line["status"] == status)
    };
    assert!(asked("POST", "/v1/golems/{name}/freeze", 200)["ms"].is_u64());
    assert_eq!(asked("GET", "/v1/golems", 200)["level"], "DEBUG");
    assert_eq!(asked("GET", "/v1/golems", 401)["level"], "INFO");
    asked("GET", "none", 404);
    find("obeyed", &|line| line["golem"] == "ada" && line["order"] == "freeze");
    find("its owner is told", &|line| line["kind"] == "freeze" && line["span"]["name"].is_string());
    find("fell over and is woken again", &|line| {
        line["level"] == "WARN" && line["golem"] == "breaks" && line["why"].as_str().is_some_and(|why| !why.is_empty())
    });
    find("notification failed, will retry", &|line| line["level"] == "WARN" && line["to"] == "webhook");
    find("done", &|line| line["span"]["name"] == "turn" && line["span"]["golem"] == "ada" && line["micros"].is_u64());
    find("synced", &|line| line["span"]["name"] == "commit" && line["span"]["lines"].is_u64());
    for message in ["up", "listening", "coming down", "stopped cleanly", "down"] {
        find(message, &|line| line["level"] == "INFO");
    }
    let secret = fs::read_to_string(tent.golem("ada").secret()).unwrap();
    let plain = log.to_lowercase();
    for word in [token.as_str(), secret.trim(), "authorization", "bearer", "quagga"] {
        assert!(!plain.contains(&word.to_lowercase()), "the log holds {word}");
    }
}

#[test]
fn lines_for_people_have_no_colours_in_a_file_and_say_nothing_that_is_printed_anyway() {
    let tent = tent();
    let fallen = |environment: &[(&str, &str)]| {
        let host = Host::up(&tent, &[], environment);
        until("one falls over", || host.said.lock().unwrap().contains("breaks fell over"));
        let (said, log) = host.stop(&tent);
        assert!(said.contains("breaks fell over") && said.contains("stopped cleanly"), "{said}");
        assert!(!log.contains('\x1b') && !log.contains("panicked"), "{log}");
        log
    };
    assert_eq!(fallen(&[]), "", "all of it was printed");
    let all = fallen(&[("RUST_LOG", "info")]);
    for words in ["fell over and is woken again golem=\"breaks\"", "WARN", "INFO", "coming down"] {
        assert!(all.contains(words), "{words}: {all}");
    }
    assert!(!all.contains("DEBUG"), "{all}");
    // The variable that is ours alone counts for more than the one meant for any program, and that for more than a file.
    assert_eq!(fallen(&[("RUST_LOG", "trace"), ("BARDO__LOG__LEVEL", "off")]), "");
    fs::write(tent.root().join("bardo.toml"), "[log]\nlevel = \"warn\"\n").unwrap();
    let warnings = fallen(&[]);
    assert!(warnings.contains("WARN") && !warnings.contains("INFO"), "{warnings}");
    assert_eq!(fallen(&[("RUST_LOG", "error")]), "");
}

#[test]
fn one_golem_alone_can_be_watched() {
    let tent = tent();
    tent.ok(["golem", "new", "eve", "--seed", "2"]);
    let host = Host::up(&tent, &[], &[("BARDO__LOG__LEVEL", "off, server::up::workers[turn{golem=eve}]=debug")]);
    wait_until(&tent, "eve");
    std::thread::sleep(Duration::from_millis(500));
    let (_, log) = host.stop(&tent);
    assert!(log.lines().all(|line| line.contains("turn") && line.contains("eve")), "{log}");
}

#[test]
fn a_level_that_is_none_is_refused_with_what_is_allowed() {
    let tent = Tent::new();
    fs::write(tent.root().join("bardo.toml"), "[log]\nlevel = \"loud\"\n").unwrap();
    for command in [&["up", "--listen", ""][..], &["config", "check"]] {
        let told = tent.fails(3, command);
        assert!(
            told.contains("bardo.toml:2: 'log.level' is \"loud\"; expected off, error, warn, info, debug"),
            "{told}"
        );
    }
    fs::remove_file(tent.root().join("bardo.toml")).unwrap();
    let output = tent.command(["up", "--listen", ""]).env("RUST_LOG", "host=[").output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(text(&output.stderr).contains("RUST_LOG"), "{}", text(&output.stderr));
    let told = tent.fails(2, ["up", "--listen", "", "--log-format", "xml"]);
    assert!(told.contains("human, json"), "{told}");
}

#[test]
#[cfg(not(feature = "otlp"))]
fn a_build_that_cannot_send_spans_says_so_once() {
    let tent = Tent::new();
    let collector = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9");
    let (_, log) = Host::up(&tent, &[], &[collector]).stop(&tent);
    assert_eq!(log.matches("otlp").count(), 1, "{log}");
    assert_eq!(Host::up(&tent, &[], &[collector, ("OTEL_SDK_DISABLED", "true")]).stop(&tent).1, "");
}

//! A host watched by a real Prometheus: the rules for alerts and the figures on the dashboard are taken by it and find what
//! they look for.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::host::Host;
use crate::common::{Tent, text};
use serde_json::Value;

const PACKAGING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging");

struct Prometheus {
    child: Child,
    port: u16,
}

impl Prometheus {
    /// One that looks at this host each second, with the rules that come with it.
    fn of(folder: &Path, address: &str, token: &str) -> Prometheus {
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let config = format!(
            "global: {{ scrape_interval: 1s, evaluation_interval: 1s }}\nrule_files: [\"{PACKAGING}/alerts.yml\"]\n\
             scrape_configs:\n  - job_name: bardo\n    authorization: {{ credentials: {token} }}\n    static_configs:\n      \
             - targets: [\"{address}\"]\n"
        );
        fs::write(folder.join("prometheus.yml"), config).unwrap();
        let mut command = Command::new("prometheus");
        command.arg(format!("--config.file={}", folder.join("prometheus.yml").display()));
        command.arg(format!("--storage.tsdb.path={}", folder.join("series").display()));
        command.arg(format!("--web.listen-address=127.0.0.1:{port}"));
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        Prometheus { child, port }
    }

    fn ask(&self, path: &str) -> Option<Value> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
        write!(stream, "GET {path} HTTP/1.0\r\nhost: x\r\n\r\n").ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        serde_json::from_str(answer.split_once("\r\n\r\n")?.1).ok()
    }

    /// How many series an expression gives.
    fn series(&self, expression: &str) -> usize {
        let spelled: String = expression.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let answer = self.ask(&format!("/api/v1/query?query={spelled}")).unwrap_or_default();
        assert_ne!(answer["status"], "error", "{expression}: {answer}");
        answer["data"]["result"].as_array().map_or(0, Vec::len)
    }

    fn firing(&self) -> Vec<String> {
        let answer = self.ask("/api/v1/alerts").unwrap_or_default();
        let alerts = answer["data"]["alerts"].as_array().cloned().unwrap_or_default();
        alerts.iter().map(|alert| alert["labels"]["alertname"].as_str().unwrap().to_owned()).collect()
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn soon(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(40);
    while !holds() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(200));
    }
}

#[test]
fn prometheus_takes_the_rules_and_finds_what_the_dashboard_shows() {
    let Ok(checked) = Command::new("promtool").args(["check", "rules"]).arg(format!("{PACKAGING}/alerts.yml")).output()
    else {
        assert!(std::env::var_os("BARDO_REALPARTS").is_none(), "prometheus is missing: .ci/setup installs it");
        return;
    };
    assert!(checked.status.success(), "{}", text(&checked.stderr));
    let tent = Tent::new();
    let copies = tent.folder.path().join("copies");
    fs::write(tent.root().join("bardo.toml"), format!("[backup]\nfolder = \"{}\"\n", copies.display())).unwrap();
    for (name, seed) in [("ada", "1"), ("ben", "2")] {
        tent.ok(["golem", "new", name, "--seed", seed, "--set", "mortality.mode=hosted"]);
    }
    tent.ok([
        "golem",
        "new",
        "asks",
        "--seed",
        "5",
        "--set",
        "mind.kind=reflex",
        "--set",
        "reflex.act_every=5",
        "--set",
        "policy.approve_above=0",
        "--set",
        "policy.approve_within=30d",
    ]);
    let host = Host::up(&tent, "400");
    let token: Value =
        serde_json::from_str(&tent.ok(["token", "new", "prometheus", "--scope", "read", "--json"])).unwrap();
    let prometheus = Prometheus::of(tent.folder.path(), &host.address, token["token"].as_str().unwrap());
    soon("nothing is scraped", || prometheus.series("bardo_golem_vitality") == 3);
    host.order("/v1/golems/ben/retire", None, r#"{"confirm":"ben"}"#);
    // What is shown of a fleet stands on the dashboard; calls only where an agent makes some.
    let board: Value = serde_json::from_str(&fs::read_to_string(format!("{PACKAGING}/grafana.json")).unwrap()).unwrap();
    let panels = board["panels"].as_array().unwrap();
    for panel in panels {
        for target in panel["targets"].as_array().unwrap() {
            let expression = target["expr"].as_str().unwrap().replace("$golem", ".*");
            if expression.contains("_calls_") {
                prometheus.series(&expression);
            } else {
                soon(&format!("nothing for {expression}"), || prometheus.series(&expression) > 0);
            }
        }
    }
    assert!(panels.len() >= 12);
    // Somebody asks, so somebody is woken; nobody is for an owner's own order.
    soon("no alert for what waits", || prometheus.firing().iter().any(|name| name == "BardoAsks"));
    assert!(
        !prometheus.firing().iter().any(|name| name == "BardoDeath" || name == "BardoGone"),
        "{:?}",
        prometheus.firing()
    );
    drop(host);
    soon("nobody misses the host", || prometheus.firing().iter().any(|name| name == "BardoGone"));
}

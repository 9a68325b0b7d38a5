//! A host that is up, and its API.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use super::Tent;

pub struct Host {
    pub child: Child,
    pub address: String,
    pub token: String,
}

impl Host {
    pub fn up(tent: &Tent, speed: &str) -> Host {
        Host::up_with(tent, speed, &[])
    }

    pub fn up_with(tent: &Tent, speed: &str, more: &[&str]) -> Host {
        let mut command = tent.command(["up", "--listen", "127.0.0.1:0", "--speed", speed]);
        command.args(more);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let address = loop {
            let mut line = String::new();
            assert!(out.read_line(&mut line).unwrap() > 0, "it does not listen");
            if let Some((_, rest)) = line.split_once("http://") {
                break rest.split(';').next().unwrap().to_owned();
            }
        };
        std::thread::spawn(move || std::io::copy(&mut out, &mut std::io::sink()));
        let token = fs::read_to_string(tent.home().token()).unwrap();
        Host { child, address, token }
    }

    /// One request over a connection of its own; the status and the body.
    pub fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> (u16, String) {
        let mut socket = TcpStream::connect(&self.address).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let mut request = format!("{method} {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n", self.address);
        for (name, value) in headers {
            request += &format!("{name}: {value}\r\n");
        }
        request += &format!("content-length: {}\r\n\r\n{body}", body.len());
        socket.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        let _ = socket.read_to_string(&mut answer);
        let status = answer.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
        let body = answer.split_once("\r\n\r\n").map_or(String::new(), |(_, body)| body.to_owned());
        (status, body)
    }

    pub fn get(&self, path: &str) -> Value {
        let (status, body) = self.ask("GET", path, &[("authorization", &format!("Bearer {}", self.token))], "");
        assert_eq!(status, 200, "{path}: {body}");
        serde_json::from_str(&body).unwrap_or_else(|_| json!(body))
    }

    pub fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        self.order(path, None, &body.to_string())
    }

    /// Posts this, or nothing at all, under a key.
    pub fn order(&self, path: &str, key: Option<&str>, body: &str) -> (u16, Value) {
        let token = format!("Bearer {}", self.token);
        let mut headers = vec![("authorization", token.as_str())];
        headers.extend((!body.is_empty()).then_some(("content-type", "application/json")));
        headers.extend(key.map(|key| ("idempotency-key", key)));
        let (status, body) = self.ask("POST", path, &headers, body);
        (status, serde_json::from_str(&body).unwrap_or(Value::Null))
    }

    /// Listens for a while; every event as its id, its name and its data.
    pub fn listen(&self, path: &str, after: Option<&str>, events: usize) -> Vec<(String, String, Value)> {
        let mut socket = TcpStream::connect(&self.address).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let after = after.map_or(String::new(), |id| format!("last-event-id: {id}\r\n"));
        let host = &self.address;
        let request =
            format!("GET {path} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {}\r\n{after}\r\n", self.token);
        socket.write_all(request.as_bytes()).unwrap();
        let (mut heard, mut id, mut name) = (Vec::new(), String::new(), String::new());
        for line in BufReader::new(socket).lines() {
            let line = line.unwrap();
            match line.split_once(": ") {
                Some(("id", value)) => id = value.to_owned(),
                Some(("event", value)) => name = value.to_owned(),
                Some(("data", value)) => {
                    heard.push((id.clone(), name.clone(), serde_json::from_str(value).unwrap()));
                    if heard.len() == events {
                        break;
                    }
                }
                _ => {}
            }
        }
        heard
    }

    /// One figure of `/metrics`, by its name and labels.
    pub fn figure(&self, name: &str) -> f64 {
        let figures = self.get("/metrics").as_str().unwrap().to_owned();
        let found = figures.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        found.unwrap_or_else(|| panic!("no {name} in\n{figures}")).parse().unwrap()
    }

    pub fn ticks(&self) -> u64 {
        self.figure("bardo_ticks_total") as u64
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Leaves a client as little room as there can be for what it does not read.
pub fn small_window(socket: &TcpStream) {
    socket2::SockRef::from(socket).set_recv_buffer_size(4_096).unwrap();
}

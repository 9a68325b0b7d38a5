//! The targets of notes: a webhook gets JSON, signed if the owner shares a secret with it; an ntfy topic gets text; a
//! program gets the text on its standard input.

use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use golem::hex;
use hmac::{Hmac, KeyInit, Mac};
use reqwest::blocking::Client;
use serde_json::json;
use sha2::Sha256;
use shell::{Error, http, program, wall};
use vault::Note;

/// How long a target may take to answer.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The header by which a receiver can tell that this host wrote the note, and when.
const SIGNATURE: &str = "Bardo-Signature";

/// A target: a way to send, and the kinds of notes it gets; all of them if the list is empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    pub way: TargetKind,
    pub kinds: Vec<String>,
}

#[derive(Clone, PartialEq, Eq)]
pub enum TargetKind {
    /// The whole note as JSON.
    Webhook { url: String, secret: Option<Vec<u8>> },
    /// The note's text as the body, in the manner of ntfy.
    Ntfy(String),
    /// A program that gets the text on its standard input and the rest in its environment.
    Command(String),
}

/// Shows the name alone: neither an address, which may hold a token, nor a secret belongs in a log.
impl std::fmt::Debug for TargetKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl Target {
    pub(super) fn wants(&self, note: &Note) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&note.kind)
    }
}

impl TargetKind {
    pub fn name(&self) -> &'static str {
        match self {
            TargetKind::Webhook { .. } => "webhook",
            TargetKind::Ntfy(_) => "ntfy",
            TargetKind::Command(_) => "command",
        }
    }

    pub(super) fn url(&self) -> Option<&String> {
        match self {
            TargetKind::Webhook { url, .. } | TargetKind::Ntfy(url) => Some(url),
            TargetKind::Command(_) => None,
        }
    }

    /// Sends notes as one; an error says why they were not accepted.
    pub(super) fn tell(&self, client: &Client, notes: &[&Note], stop: &AtomicBool) -> Result<(), String> {
        let told = together(notes);
        match self {
            TargetKind::Webhook { url, secret } => {
                let mut value = serde_json::to_value(&told).expect("plain data");
                if notes.len() > 1 {
                    value["notes"] = json!(notes);
                }
                let body = value.to_string();
                let mut request = client.post(url).header("Idempotency-Key", header(&told.key));
                if let Some(secret) = secret {
                    request = request.header(SIGNATURE, signature(secret, wall::now_ms() / 1_000, &body));
                }
                accepted(request.header("Content-Type", "application/json").body(body).send())
            }
            TargetKind::Ntfy(url) => {
                let title = match &told.golem {
                    Some(golem) => format!("{}: {golem}", told.kind),
                    None => told.kind.clone(),
                };
                let request = client.post(url).header("Title", header(&title)).header("Tags", header(&told.kind));
                accepted(request.header("Idempotency-Key", header(&told.key)).body(told.text).send())
            }
            TargetKind::Command(program) => run(program, &told, stop),
        }
    }
}

/// The client for these addresses. If none of them is encrypted, a machine without certificates will do.
pub(super) fn client<'a>(mut urls: impl Iterator<Item = &'a String>) -> Result<Client, Error> {
    let mut client = http::blocking().timeout(TIMEOUT);
    if !urls.any(|url| url.starts_with("https:")) {
        client = client.tls_certs_only([]);
    }
    client
        .build()
        .map_err(|e| Error::Host(format!("cannot send notes over https ({e}); install your system's certificates")))
}

/// Joins notes into one, which says how many there are of what kind, lists them, and has all their keys with commas
/// between.
fn together(notes: &[&Note]) -> Note {
    let [first, .., last] = notes else { return (*notes[0]).clone() };
    let all = |of: fn(&Note) -> &str| notes.iter().map(|note| of(note)).collect::<Vec<_>>();
    let mut kinds = all(|note| &note.kind);
    kinds.dedup();
    let (kind, what) = match kinds[..] {
        [kind] => (kind.to_owned(), format!("{} notes ({kind})", notes.len())),
        _ => ("group".to_owned(), format!("{} notes", notes.len())),
    };
    let golem = notes.iter().all(|note| note.golem == first.golem).then(|| first.golem.clone()).flatten();
    let text = format!("{what}:\n{}", all(|note| &note.text).join("\n"));
    Note { key: all(|note| &note.key).join(","), kind, golem, text, at: last.at }
}

/// `t=SECONDS,v1=HEX`: HMAC-SHA256 over the seconds, a full stop and the body.
fn signature(secret: &[u8], seconds: i64, body: &str) -> String {
    let mut keyed = Hmac::<Sha256>::new_from_slice(secret).expect("any key length will do");
    keyed.update(format!("{seconds}.{body}").as_bytes());
    format!("t={seconds},v1={}", hex::encode(&keyed.finalize().into_bytes()))
}

/// The characters of a text that a header can hold.
fn header(text: &str) -> String {
    text.chars().filter(|c| c.is_ascii_graphic() || *c == ' ').collect()
}

pub(super) fn accepted(answer: reqwest::Result<reqwest::blocking::Response>) -> Result<(), String> {
    let answer = answer.map_err(|why| why.without_url().to_string())?;
    if answer.status().is_success() { Ok(()) } else { Err(format!("it answered {}", answer.status())) }
}

/// Runs a target's program. Processes it leaves running are ended with it when it fails, takes too long or the host
/// goes down; a program that succeeds may leave what it likes.
fn run(line: &str, note: &Note, stop: &AtomicBool) -> Result<(), String> {
    let mut command = Command::new("sh");
    command
        .args(["-c", line])
        .env("BARDO_NOTE_KEY", &note.key)
        .env("BARDO_NOTE_KIND", &note.kind)
        .env("BARDO_NOTE_GOLEM", note.golem.as_deref().unwrap_or_default())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let ended = program::run(&mut command, format!("{}\n", note.text).as_bytes(), TIMEOUT, stop, true, None);
    match ended.map_err(|e| e.to_string())? {
        program::ProgramExit { code: Some(0), .. } => Ok(()),
        program::ProgramExit { how, .. } => Err(how),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    fn note(key: &str, kind: &str, golem: &str) -> Note {
        let (key, kind, golem) = (key.to_owned(), kind.to_owned(), Some(golem.to_owned()));
        Note { key, kind, text: format!("{} died", golem.as_deref().unwrap()), golem, at: 7 }
    }

    #[test]
    fn a_program_is_told_and_its_exit_counts() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out");
        let client = client(std::iter::empty()).unwrap();
        let good = TargetKind::Command(format!("cat > {0}; echo \"$BARDO_NOTE_GOLEM\" >> {0}", out.display()));
        let stop = AtomicBool::new(false);
        good.tell(&client, &[&note("k", "death", "ada")], &stop).unwrap();
        assert_eq!(std::fs::read_to_string(out).unwrap(), "ada died\nada\n");
        let why = TargetKind::Command("exit 3".into()).tell(&client, &[&note("k", "death", "ada")], &stop).unwrap_err();
        assert!(why.contains('3'), "{why}");
    }

    #[test]
    fn many_are_told_as_one_that_names_them() {
        let (ada, ben) = (note("a", "death", "ada"), note("b", "death", "ben"));
        let told = together(&[&ada, &ben]);
        assert_eq!((told.key.as_str(), told.kind.as_str(), told.golem), ("a,b", "death", None));
        assert_eq!(told.text, "2 notes (death):\nada died\nben died");
        assert_eq!(together(&[&ada]), ada);
        assert_eq!(together(&[&ada, &note("c", "money", "ada")]).kind, "group");
    }

    /// The figure comes from `printf '1700000000.{}' | openssl dgst -sha256 -hmac secret`.
    #[test]
    fn a_signature_is_what_anyone_can_compute() {
        assert_eq!(
            signature(b"secret", 1_700_000_000, "{}"),
            "t=1700000000,v1=b8569b78799ff9e3cbff0fc2d63a33a2b57f3282abd07c37ae5e8e7d79a5f163"
        );
    }

    /// Only the shell was ended: each try at `sleep 777 | cat` left a pipeline behind that outlived the host.
    #[test]
    fn what_a_program_started_ends_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let note = note("k", "death", "ada");
        let client = client(std::iter::empty()).unwrap();
        for (nth, (line, stops)) in
            [("sleep 777 | cat", true), ("(sleep 777 & echo); exit 3", false)].iter().enumerate()
        {
            let pids = folder.path().join(nth.to_string());
            let program = TargetKind::Command(format!("echo $$ > {}; {line}", pids.display()));
            let began = Instant::now();
            program.tell(&client, &[&note], &AtomicBool::new(*stops)).unwrap_err();
            assert!(began.elapsed() < TIMEOUT, "a host that goes down does not wait for long");
            let group: i32 = std::fs::read_to_string(pids).unwrap().trim().parse().unwrap();
            let deadline = Instant::now() + Duration::from_secs(5);
            while lives(group) {
                assert!(Instant::now() < deadline, "{line}: a process of the group is left");
                std::thread::sleep(Duration::from_millis(10));
            }
        }
    }

    /// Whether a process of the group still runs; one that has ended and waits to be reaped does not.
    fn lives(group: i32) -> bool {
        let stats = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path().join("stat"));
        let fields = stats
            .filter_map(|path| std::fs::read_to_string(path).ok()?.rsplit_once(')').map(|(_, rest)| rest.to_owned()));
        let (group, mut all) = (group.to_string(), fields);
        all.any(|rest| {
            let fields: Vec<&str> = rest.split_whitespace().collect();
            fields.get(2) == Some(&group.as_str()) && fields.first() != Some(&"Z")
        })
    }
}

//! Notes as whoever gets them sees them: many at once come as one, each target gets the kinds it was promised, a webhook
//! can tell who wrote, and all of it can be tried before it is needed.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::common::{Tent, text};
use hmac::{Hmac, KeyInit, Mac};
use serde_json::Value;
use sha2::Sha256;
use testing::wait::within;

const SECRET: &str = "correct horse";

#[derive(Clone, Debug)]
struct Post {
    path: String,
    headers: BTreeMap<String, String>,
    body: String,
}

/// Takes whatever is posted, one request a connection.
fn receiver() -> (String, Arc<Mutex<Vec<Post>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, posts) = (listener.local_addr().unwrap().to_string(), Arc::<Mutex<Vec<Post>>>::default());
    let theirs = Arc::clone(&posts);
    std::thread::spawn(move || {
        for socket in listener.incoming().flatten() {
            let mut socket = BufReader::new(socket);
            let (mut first, mut headers) = (String::new(), BTreeMap::new());
            socket.read_line(&mut first).unwrap();
            loop {
                let mut line = String::new();
                if socket.read_line(&mut line).unwrap_or(0) <= 2 {
                    break;
                }
                let (name, value) = line.split_once(':').unwrap();
                headers.insert(name.to_lowercase(), value.trim().to_owned());
            }
            let mut body = vec![0; headers.get("content-length").map_or(0, |length| length.parse().unwrap())];
            socket.read_exact(&mut body).unwrap();
            let path = first.split(' ').nth(1).unwrap().to_owned();
            theirs.lock().unwrap().push(Post { path, headers, body: text(&body) });
            let answer = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
            let _ = socket.get_mut().write_all(answer.as_bytes());
        }
    });
    (address, posts)
}

/// As docs/operating.md tells a receiver to do it.
fn is_signed(post: &Post) -> bool {
    let (time, mac) = post.headers["bardo-signature"].split_once(",v1=").unwrap();
    let mut keyed = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).unwrap();
    keyed.update(format!("{}.{}", time.strip_prefix("t=").unwrap(), post.body).as_bytes());
    let hex: String = keyed.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    hex == mac
}

fn configure(tent: &Tent, address: &str, more: &str) {
    let program = tent.folder.path().join("program");
    let text = format!(
        "[notify]\nwebhook = \"http://{address}/hook\"\nwebhook_kinds = \"freeze, crash\"\n\
         webhook_secret_variable = \"HOOK_SECRET\"\nntfy = \"http://{address}/topic\"\ncommand = 'cat >> {}'\n\
         daily_hour = -1\n{more}",
        program.display()
    );
    fs::write(tent.root().join("bardo.toml"), text).unwrap();
}

#[test]
fn being_told_can_be_tried_before_it_is_needed() {
    let tent = Tent::new();
    let nobody = tent.fails(1, ["notify", "test"]);
    assert!(nobody.contains("[notify]"), "{nobody}");
    let (address, posts) = receiver();
    configure(&tent, &address, "");
    let unset = tent.fails(1, ["notify", "test"]);
    assert!(unset.contains("HOOK_SECRET, which is not set"), "{unset}");
    let told = tent.command(["notify", "test"]).env("HOOK_SECRET", SECRET).output().unwrap();
    assert!(told.status.success(), "{}", text(&told.stderr));
    assert_eq!(text(&told.stdout), "webhook    took it\nntfy       took it\ncommand    took it\n");
    let posts = posts.lock().unwrap().clone();
    assert!(is_signed(&posts[0]), "{:?}", posts[0]);
    let altered = Post { body: posts[0].body.replace("nothing", "everything"), ..posts[0].clone() };
    assert!(!is_signed(&altered));
    let program = fs::read_to_string(tent.folder.path().join("program")).unwrap();
    assert!(program.ends_with("has happened\n"), "a line ends with its end: {program:?}");

    configure(&tent, "127.0.0.1:1", "");
    let told = tent.command(["notify", "test"]).env("HOOK_SECRET", SECRET).output().unwrap();
    assert_eq!(told.status.code(), Some(1));
    assert!(text(&told.stderr).contains("webhook did not take it"), "{}", text(&told.stderr));
    configure(&tent, &address, "ntfy_kinds = \"deaths\"\n");
    let wrong = tent.command(["notify", "test"]).env("HOOK_SECRET", SECRET).output().unwrap();
    assert!(text(&wrong.stderr).contains("no notes of the kind 'deaths'"), "{}", text(&wrong.stderr));
}

/// A halt of 48 golems was 48 notes to each target.
#[test]
fn many_notes_at_once_are_one_note_that_names_them() {
    let tent = Tent::new();
    let (address, posts) = receiver();
    configure(&tent, &address, "");
    for n in 0..6 {
        tent.ok(["golem", "new", &format!("g{n}"), "--seed", &n.to_string()]);
    }
    let said = tent.folder.path().join("said");
    let mut command = tent.command(["up", "--listen", "", "--speed", "100"]);
    let mut host = command
        .env("HOOK_SECRET", SECRET)
        .stdout(fs::File::create(&said).unwrap())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let wait = |what: &str, done: &dyn Fn() -> bool| {
        within(Duration::from_secs(60), || format!("{what}: {:?}", posts.lock().unwrap()), done);
    };
    let printed = || fs::read_to_string(&said).unwrap();
    wait("it comes up", &|| printed().contains("up after"));
    tent.ok(["golem", "freeze", "--all", "--reason", "looking into it"]);
    let to = |path: &str| posts.lock().unwrap().iter().filter(|post| post.path == path).cloned().collect::<Vec<_>>();
    let told = |path: &str| (0..6).all(|n| to(path).iter().any(|post| post.body.contains(&format!("g{n} was frozen"))));
    wait("all are told of", &|| told("/hook") && told("/topic"));
    wait("and it is printed", &|| printed().matches("was frozen: no new exposure (looking into it)").count() == 6);
    let hook = to("/hook");
    assert!(hook.len() <= 2, "six freezes are one note, or two where one was in time for neither: {hook:?}");
    let group: Value = hook
        .iter()
        .map(|post| serde_json::from_str(&post.body).unwrap())
        .find(|v: &Value| v["notes"].is_array())
        .unwrap();
    assert_eq!(group["kind"], "freeze");
    assert!(hook.iter().all(is_signed));

    // A death is for the topic and not for this webhook.
    tent.ok(["golem", "retire", "g0", "--confirm", "g0"]);
    wait("a death is told", &|| to("/topic").iter().any(|post| post.body.contains("g0 died")));
    wait("a death is printed", &|| printed().contains("g0 died after"));
    std::thread::sleep(Duration::from_millis(500));
    assert!(!to("/hook").iter().any(|post| post.body.contains("died")), "{:?}", to("/hook"));
    host.kill().unwrap();
    host.wait().unwrap();
}

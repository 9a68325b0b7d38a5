//! `bardo wrap --only-through`: a program that finds its golem's gateway, what its owner allows, and nothing else.

use std::fs;
use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{Command, Output};

use crate::common::Tent;
use crate::wrap::{life, told, wrap};
use testing::upstream::{Act, Upstream};

/// Calls its model, and tries everything else there is.
const TRIES: &str = r#"
curl -sS -m 30 "$OPENAI_BASE_URL/chat/completions" -H "Authorization: Bearer $OPENAI_API_KEY" \
  -d '{"model":"m","max_tokens":20,"messages":[{"role":"user","content":"hello"}]}' -o /dev/null
try() { name=$1; shift; if curl -sf -m 10 -o /dev/null "$@"; then echo "$name yes"; else echo "$name no"; fi; }
try allowed "http://127.0.0.1:$ALLOWED/"
try allowed-tunnel --noproxy '' -p "http://127.0.0.1:$ALLOWED/"
try allowed-plain --noproxy '' "http://127.0.0.1:$ALLOWED/"
try allowed-name --noproxy '' -p "http://localhost:$ALLOWED/"
try other "http://127.0.0.1:$OTHER/"
try other-tunnel --noproxy '' -p "http://127.0.0.1:$OTHER/"
try other-plain --noproxy '' "http://127.0.0.1:$OTHER/"
try machine --noproxy '*' "http://$MACHINE/"
try machine-tunnel -p "http://$MACHINE/"
try anywhere --noproxy '*' "http://1.1.1.1/"
try door --unix-socket "$DOOR" http://door/
echo "provider $(curl -s -m 10 -o /dev/null -w '%{http_connect}' https://api.openai.com/v1/models)"
echo "below $(curl -s -m 10 -o /dev/null -w '%{http_connect}' https://eu.api.openai.com/v1/models)"
echo "elsewhere $(curl -s -m 10 -o /dev/null -w '%{http_connect}' https://example.com/)"
"#;

/// Answers whatever it is asked, as long as this process lives.
fn answer(mut line: impl Read + Write) {
    let mut asked = [0; 4096];
    if line.read(&mut asked).is_ok_and(|length| length > 0) {
        let _ = line.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok");
    }
}

fn serve(at: &str) -> SocketAddr {
    let place = TcpListener::bind(at).unwrap();
    let address = place.local_addr().unwrap();
    std::thread::spawn(move || place.incoming().flatten().for_each(answer));
    address
}

/// How others on its network call this machine.
fn machine() -> Option<IpAddr> {
    let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
    socket.connect("192.0.2.1:9").ok()?;
    Some(socket.local_addr().ok()?.ip()).filter(|ip| !ip.is_loopback())
}

fn is_there(program: &str, args: &[&str]) -> bool {
    Command::new(program).args(args).output().is_ok_and(|output| output.status.success())
}

/// Whether anybody here may have a network of their own, as this user or as another.
fn may(stranger: bool) -> bool {
    let own = ["unshare", "-rmn", "true"];
    let other = ["--reuid=65534", "--regid=65534", "--clear-groups"];
    if stranger { is_there("setpriv", &[&other[..], &own].concat()) } else { is_there(own[0], &own[1..]) }
}

/// The same command, by a user who is not root.
fn as_stranger(tent: &Tent, command: &Command) -> Command {
    let folder = tent.folder.path();
    fs::set_permissions(folder, fs::Permissions::from_mode(0o777)).unwrap();
    let program = folder.join("bardo");
    if !program.exists() {
        fs::copy(command.get_program(), &program).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut other = Command::new("setpriv");
    other.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(program).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => other.env(name, value),
            None => other.env_remove(name),
        };
    }
    other.current_dir(folder).env("HOME", folder);
    other
}

fn check_that_only_what_is_allowed_is_found(stranger: bool) {
    let (tent, upstream) = (Tent::bare(), Upstream::start(|_| Act::Honest));
    let (allowed, other) = (serve("127.0.0.1:0"), serve("127.0.0.1:0"));
    let machine = machine().map(|ip| SocketAddr::new(ip, serve(&format!("{ip}:0")).port()));
    let path = tent.folder.path().join("door");
    let door = UnixListener::bind(&path).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).unwrap();
    std::thread::spawn(move || door.incoming().flatten().for_each(answer));
    // All of them are there for whoever has no network of their own.
    assert!(TcpStream::connect(other).is_ok() && machine.is_none_or(|at| TcpStream::connect(at).is_ok()));
    assert!(UnixStream::connect(&path).is_ok());
    let here = allowed.to_string();
    let name = format!("localhost:{}", allowed.port());
    let args = ["--name", "ada", "--only-through", "--allow", &here, "--allow", &name, "--allow", ".openai.com"];
    let mut command = wrap(&tent, &upstream, &args, &["sh", "-c", TRIES]);
    command.env("ALLOWED", allowed.port().to_string()).env("OTHER", other.port().to_string()).env("DOOR", &path);
    command.env("MACHINE", machine.unwrap_or(other).to_string()).env("HTTPS_PROXY", "http://proxy.invalid:3128");
    let mut command = if stranger { as_stranger(&tent, &command) } else { command };
    let output = command.output().unwrap();
    let (said, told) = (String::from_utf8(output.stdout.clone()).unwrap(), told(&output));
    assert!(output.status.success(), "{said}{told}");
    assert_eq!(life(&tent, "ada").calls().made, 1, "{told}");
    for words in
        ["provider 403", "below 403", "elsewhere 403", "allowed-tunnel yes", "allowed-plain yes", "allowed-name yes"]
    {
        assert!(said.contains(&format!("{words}\n")), "{words}: {said}{told}");
    }
    assert!(told.contains("ada was not let through: api.openai.com serves models"), "{told}");
    assert!(told.contains("example.com:443 is not among") && told.contains("--allow example.com"), "{told}");
    if !may(stranger) {
        eprintln!("\n*** SKIPPED: nobody here may have a network of their own ***\n");
        return assert!(told.contains("--only-through is only advice"), "{told}");
    }
    assert!(said.contains("allowed yes\n") && !told.contains("advice"), "{said}{told}");
    for nowhere in ["other", "other-tunnel", "other-plain", "machine", "machine-tunnel", "anywhere", "door"] {
        assert!(said.contains(&format!("{nowhere} no\n")), "{nowhere}: {said}{told}");
    }
    // For everybody else all is as it was.
    assert!(TcpStream::connect(other).is_ok() && UnixStream::connect(&path).is_ok());
    assert_eq!(upstream.calls(), 1);
}

#[test]
fn a_program_finds_its_gateway_and_what_is_allowed_and_nothing_else() {
    check_that_only_what_is_allowed_is_found(false);
}

#[test]
fn whoever_is_not_root_gives_a_program_a_network_too() {
    if !is_there("setpriv", &["--reuid=65534", "--regid=65534", "--clear-groups", "true"]) {
        return eprintln!("\n*** SKIPPED: another user needs root ***\n");
    }
    check_that_only_what_is_allowed_is_found(true);
}

fn run(args: &[&str], program: &[&str]) -> (Tent, Output) {
    let (tent, upstream) = (Tent::bare(), Upstream::start(|_| Act::Honest));
    let output = wrap(&tent, &upstream, args, program).output().unwrap();
    (tent, output)
}

/// What a budget is worth that nothing went through is for its owner's scripts to know.
#[test]
fn a_program_that_called_nobody_ends_with_a_code_of_its_own() {
    for (program, code, silent) in
        [("sleep 1.3", 7, true), ("sleep 1.3; exit 3", 7, true), ("exit 3", 3, false), ("true", 0, false)]
    {
        let (_tent, output) = run(&["--name", "ada", "--only-through"], &["sh", "-c", program]);
        assert_eq!(output.status.code(), Some(code), "{program}: {}", told(&output));
        assert_eq!(told(&output).contains("lets none go anywhere else"), silent, "{program}: {}", told(&output));
    }
    let (_tent, without) = run(&["--name", "ada"], &["sleep", "1.3"]);
    assert!(without.status.success() && told(&without).contains("past its budget"), "{}", told(&without));
}

#[test]
fn no_provider_can_be_allowed_and_what_contradicts_itself_makes_nothing() {
    for (args, words) in [
        (&["--only-through", "--allow", "api.openai.com"][..], "past the budget"),
        (&["--only-through", "--allow", "https://example.com"], "is not a host to allow"),
        (&["--allow", "example.com"], "--only-through"),
        (&["--only-through", "--unfenced"], "cannot be used with"),
    ] {
        let (tent, output) = run(&[&["--name", "ada"], args].concat(), &["true"]);
        assert!(!output.status.success() && told(&output).contains(words), "{args:?}: {}", told(&output));
        assert!(!Path::new(&tent.root().join("bardo.toml")).exists(), "{args:?}");
    }
}

/// As root a fence leaves powers over networks, with which a way out could be made.
#[test]
fn a_network_cannot_be_left_again() {
    if !may(false) {
        return eprintln!("\n*** SKIPPED: nobody here may have a network of their own ***\n");
    }
    let program = "tried() { \"$@\" >/dev/null 2>&1 && echo \"left by $*\"; }
        tried nsenter -t 1 -n true
        tried nsenter -t $PPID -n true
        tried ip link add a type dummy
        tried ip link add a type veth peer name b netns 1
        grep CapEff /proc/self/status";
    let (_tent, output) = run(&["--name", "ada", "--only-through"], &["sh", "-c", program]);
    let said = String::from_utf8(output.stdout.clone()).unwrap();
    let has =
        said.lines().find_map(|line| line.strip_prefix("CapEff:")).map(|caps| u64::from_str_radix(caps.trim(), 16));
    // CAP_NET_ADMIN and CAP_NET_RAW
    assert!(!said.contains("left by") && has.unwrap().unwrap() & 0x3000 == 0, "{said}{}", told(&output));
}

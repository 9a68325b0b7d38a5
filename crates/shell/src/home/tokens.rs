//! Permissions of the API. A token is a secret that a client holds and a scope that it opens; the file has its name,
//! its scope and its hash, so that reading the file opens nothing. The owner's own programs on this machine
//! have one more, in `api-token`, in clear, because they have to send it.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use blake3::Hash;
use golem::{Name, hex};
use serde::{Deserialize, Serialize};
use tracing::warn;

use super::place::Home;
use crate::Error;
use crate::locks::lock;
use crate::wall::Wall;

/// The name of the token in `api-token`.
pub const LOCAL: &str = "local";
/// More than an owner hands out.
const MOST: usize = 1_000;
/// The shortest text that counts as a secret.
const SHORTEST: usize = 32;

/// The scope of a token; each includes the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Everything that changes nothing.
    Read,
    /// And the owner's yes or no to what a golem asks.
    Answer,
    /// And orders that can be taken back: pause, freeze, money, sleep.
    Order,
    /// And what cannot be, or loosens the cage: births, ends, another policy.
    All,
}

/// A token as it is kept, without its text, which only its holder knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token {
    pub name: Name,
    pub scope: Scope,
    hash: String,
    /// When it was made, in milliseconds.
    pub made: i64,
    /// When it expires, in milliseconds.
    #[serde(default)]
    pub until: Option<i64>,
}

/// The tokens of a home as a running host knows them: read again whenever the files have changed.
#[derive(Debug)]
pub struct Keyring {
    tokens: PathBuf,
    local: PathBuf,
    wall: Wall,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    /// How the files looked when they were read.
    looks: Option<[FileSigns; 2]>,
    keys: Vec<OpenToken>,
}

/// One token's scope, and until when it counts.
#[derive(Debug)]
struct OpenToken {
    hash: Hash,
    name: String,
    scope: Scope,
    until: Option<i64>,
}

/// The signs of a changed file, whatever clocks do: it is always written aside and renamed.
type FileSigns = Option<(u64, i64, i64, u64)>;

impl Scope {
    pub const ALL: [Scope; 4] = [Scope::Read, Scope::Answer, Scope::Order, Scope::All];

    pub fn name(self) -> &'static str {
        match self {
            Scope::Read => "read",
            Scope::Answer => "answer",
            Scope::Order => "order",
            Scope::All => "all",
        }
    }
}

impl std::fmt::Display for Scope {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

impl Keyring {
    pub fn of(home: &Home) -> Keyring {
        Keyring { tokens: path(home), local: home.token(), wall: home.wall().clone(), known: Mutex::default() }
    }

    /// The scope of the token a client sent; none if it is not known. Compared as hashes, each with each, which takes
    /// equally long wherever they differ.
    pub fn scope_of(&self, sent: &str) -> Option<Scope> {
        self.scope_of_hash(blake3::hash(sent.as_bytes()))
    }

    pub fn scope_of_hash(&self, sent: Hash) -> Option<Scope> {
        self.holder(sent).map(|(_, scope)| scope)
    }

    /// The name and scope of a token.
    pub fn holder(&self, sent: Hash) -> Option<(String, Scope)> {
        let looks = [look(&self.tokens), look(&self.local)];
        let mut known = lock(&self.known);
        if known.looks != Some(looks) {
            known.keys = self.read();
            known.looks = Some(looks);
        }
        let now = self.wall.now_ms();
        let open = known.keys.iter().filter(|key| key.hash == sent && key.until.is_none_or(|until| now < until));
        open.max_by_key(|key| key.scope).map(|key| (key.name.clone(), key.scope))
    }

    /// Reads the tokens; a file that cannot be read opens nothing.
    fn read(&self) -> Vec<OpenToken> {
        let tokens = read(&self.tokens).unwrap_or_else(|why| {
            warn!(%why, "no token counts but the local one");
            Vec::new()
        });
        let hashed = tokens.into_iter().filter_map(|token| {
            let hash = Hash::from_hex(&token.hash).ok()?;
            Some(OpenToken { hash, name: token.name.to_string(), scope: token.scope, until: token.until })
        });
        let local = fs::read_to_string(&self.local).ok().filter(|text| text.trim().len() >= SHORTEST);
        let local = local.map(|text| {
            let hash = blake3::hash(text.trim().as_bytes());
            OpenToken { hash, name: LOCAL.to_owned(), scope: Scope::All, until: None }
        });
        hashed.chain(local).collect()
    }
}

/// The tokens of a home but the local one, in the order they were made.
pub fn list(home: &Home) -> Result<Vec<Token>, Error> {
    read(&path(home.require()?))
}

/// Makes a token; its text is here and nowhere else.
pub fn make(home: &Home, name: &Name, scope: Scope) -> Result<String, Error> {
    edit(home, |tokens| {
        if name.as_str() == LOCAL || tokens.iter().any(|token| token.name == *name) {
            let advice = format!("there is a token named {name}; `bardo token rotate {name}` replaces it");
            return Err(Error::Refused(advice));
        }
        if tokens.len() >= MOST {
            return Err(Error::Refused(format!("no more than {MOST} tokens are kept; revoke one that is not used")));
        }
        let text = draw();
        tokens.push(Token { name: name.clone(), scope, hash: hash(&text), made: home.wall().now_ms(), until: None });
        Ok(text)
    })
}

/// Makes a token that expires, for a browser; expired ones make room for it.
pub fn sign_in(home: &Home, scope: Scope, span: Duration) -> Result<String, Error> {
    edit(home, |tokens| {
        let now = home.wall().now_ms();
        tokens.retain(|token| token.until.is_none_or(|until| now < until));
        let taken = |name: &Name| tokens.iter().any(|token| token.name == *name);
        let name = (1..).map(|nth| format!("page-{nth}").parse().expect("a name")).find(|name| !taken(name));
        if tokens.len() >= MOST {
            return Err(Error::Refused(format!("no more than {MOST} tokens are kept; revoke one that is not used")));
        }
        let (text, until) = (draw(), now.saturating_add(span.as_millis() as i64));
        let name = name.expect("there are more numbers than tokens");
        tokens.push(Token { name, scope, hash: hash(&text), made: now, until: Some(until) });
        Ok(text)
    })
}

/// Removes this token: from now on it opens nothing. A token that opened nothing before is no fault.
pub fn sign_out(home: &Home, text: &str) -> Result<(), Error> {
    let gone = hash(text);
    edit(home, |tokens| {
        tokens.retain(|token| token.hash != gone);
        Ok(())
    })
}

/// Revokes a token: from now on it opens nothing.
pub fn revoke(home: &Home, name: &Name) -> Result<(), Error> {
    if name.as_str() == LOCAL {
        return Err(Error::Refused(
            "the token of this machine is needed by its own programs; rotate it instead".into(),
        ));
    }
    edit(home, |tokens| {
        let before = tokens.len();
        tokens.retain(|token| token.name != *name);
        if tokens.len() == before { Err(unknown(name)) } else { Ok(()) }
    })
}

/// Replaces the text of a token, with the same name and scope; the old text opens nothing from now on.
pub fn rotate(home: &Home, name: &Name) -> Result<String, Error> {
    if name.as_str() == LOCAL {
        let text = draw();
        write(&home.require()?.token(), text.as_bytes())?;
        return Ok(text);
    }
    edit(home, |tokens| {
        let token = tokens.iter_mut().find(|token| token.name == *name).ok_or_else(|| unknown(name))?;
        let text = draw();
        (token.hash, token.made) = (hash(&text), home.wall().now_ms());
        Ok(text)
    })
}

/// The token of the owner's programs on this machine, drawn when first asked for.
pub fn local(home: &Home) -> Result<String, Error> {
    let path = home.token();
    if !path.exists() {
        write(&path, draw().as_bytes())?;
    }
    let text = fs::read_to_string(&path).map_err(Error::io("cannot read", &path))?.trim().to_owned();
    if text.len() < SHORTEST {
        let advice =
            format!("the token in {} is too short; `bardo token rotate {LOCAL}` draws another", path.display());
        return Err(Error::Damaged(advice));
    }
    Ok(text)
}

fn path(home: &Home) -> PathBuf {
    home.root().join("tokens")
}

fn unknown(name: &Name) -> Error {
    Error::Refused(format!("there is no token named {name}; see `bardo token list`"))
}

pub(crate) fn draw() -> String {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).expect("the operating system gives random bytes");
    hex::encode(&bytes)
}

fn hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

fn look(path: &Path) -> FileSigns {
    fs::metadata(path).ok().map(|file| (file.ino(), file.mtime(), file.mtime_nsec(), file.len()))
}

fn read(path: &Path) -> Result<Vec<Token>, Error> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(Error::io("cannot read", path)(e)),
    };
    let tokens: Result<Vec<Token>, _> = text.lines().map(serde_json::from_str).collect();
    tokens.map_err(|e| Error::Damaged(format!("{} holds no tokens ({e}); bring it back or remove it", path.display())))
}

/// Reads, changes and writes the tokens, one process at a time.
fn edit<T>(home: &Home, change: impl FnOnce(&mut Vec<Token>) -> Result<T, Error>) -> Result<T, Error> {
    let root = home.require()?.root();
    let lock = fs::File::open(root).map_err(Error::io("cannot open", root))?;
    lock.lock().map_err(Error::io("cannot lock", root))?;
    let mut tokens = list(home)?;
    let done = change(&mut tokens)?;
    let lines = tokens.iter().map(|token| serde_json::to_string(token).expect("a token is plain data") + "\n");
    write(&path(home), lines.collect::<String>().as_bytes())?;
    Ok(done)
}

/// Writes the file whole or not at all, and for the owner's eyes alone from the first byte.
fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let draft = path.with_extension("new");
    let _ = fs::remove_file(&draft);
    let file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft);
    file.and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&draft, path))
        .map_err(Error::io("cannot write", path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use settings::{File, Settings};

    fn home() -> (tempfile::TempDir, Home) {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path().join("home"));
        home.init(&Settings::load(File::Bardo, None, std::iter::empty(), &[]).unwrap()).unwrap();
        (folder, home)
    }

    #[test]
    fn a_token_opens_its_scope_until_it_is_rotated_or_revoked_and_the_file_opens_nothing() {
        let (_folder, home) = home();
        let ring = Keyring::of(&home);
        let name: Name = "grafana".parse().unwrap();
        let local = local(&home).unwrap();
        let first = make(&home, &name, Scope::Read).unwrap();
        assert_eq!(ring.scope_of(&first), Some(Scope::Read));
        assert_eq!(ring.scope_of(&local), Some(Scope::All));
        assert!(make(&home, &name, Scope::All).is_err(), "a name is given once");
        let second = rotate(&home, &name).unwrap();
        assert_eq!((ring.scope_of(&first), ring.scope_of(&second)), (None, Some(Scope::Read)));
        let kept = fs::read_to_string(home.root().join("tokens")).unwrap();
        assert!(!kept.contains(&second) && kept.contains(&hash(&second)), "{kept}");
        assert_eq!(ring.scope_of(&hash(&second)), None, "a hash is not a token");
        revoke(&home, &name).unwrap();
        assert_eq!(ring.scope_of(&second), None);
        assert!(revoke(&home, &name).is_err());
        let fresh = rotate(&home, &LOCAL.parse().unwrap()).unwrap();
        assert_eq!((ring.scope_of(&local), ring.scope_of(&fresh)), (None, Some(Scope::All)));
    }

    #[test]
    fn what_cannot_be_read_opens_nothing() {
        let (_folder, home) = home();
        let ring = Keyring::of(&home);
        assert_eq!(ring.scope_of(""), None);
        fs::write(home.token(), "short").unwrap();
        assert_eq!((ring.scope_of("short"), local(&home).is_err()), (None, true));
        fs::write(home.root().join("tokens"), "{}\n").unwrap();
        assert!(list(&home).is_err());
        assert_eq!(ring.scope_of(""), None);
    }
}

//! Links with which a browser signs in. Each is good once and for a short while; here lies no more than its hash, and
//! taking the file away uses it up. So only a process that may write into the home can make one.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use super::place::Home;
use super::tokens;
use crate::Error;

/// How long a link is good for.
pub const GOOD_FOR: Duration = Duration::from_secs(600);
/// Links that are good at once; the oldest beyond that are dropped.
const MOST: usize = 64;

fn folder(home: &Home) -> PathBuf {
    home.root().join("links")
}

fn file(home: &Home, code: &str) -> PathBuf {
    folder(home).join(blake3::hash(code.as_bytes()).to_hex().as_str())
}

/// Makes a link: the part after the address of a host.
pub fn make(home: &Home) -> Result<String, Error> {
    let folder = folder(home.require()?);
    fs::create_dir_all(&folder).map_err(Error::io("cannot make", &folder))?;
    let now = home.wall().now_ms();
    let mut kept: Vec<(i64, PathBuf)> = fs::read_dir(&folder)
        .map_err(Error::io("cannot read", &folder))?
        .flatten()
        .map(|entry| (until(&entry.path()).unwrap_or_default(), entry.path()))
        .collect();
    kept.sort();
    let many = kept.len();
    for (at, (until, path)) in kept.iter().enumerate() {
        if *until <= now || at + MOST <= many {
            let _ = fs::remove_file(path);
        }
    }
    let code = tokens::draw()[..32].to_owned();
    let path = file(home, &code);
    let until = now.saturating_add(GOOD_FOR.as_millis() as i64);
    fs::write(&path, until.to_string()).map_err(Error::io("cannot write", &path))?;
    Ok(format!("/#in={code}"))
}

/// Whether this link is good; from now on it is not. Of two browsers that come with it at once one has taken the file.
pub fn take(home: &Home, code: &str) -> bool {
    let path = file(home, code);
    let until = until(&path);
    let mine = fs::remove_file(&path).is_ok();
    mine && until.is_some_and(|until| home.wall().now_ms() < until)
}

fn until(path: &PathBuf) -> Option<i64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use settings::{File, Settings};

    #[test]
    fn a_link_is_good_once_and_for_a_while_and_few_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path().join("home"));
        home.init(&Settings::load(File::Bardo, None, std::iter::empty(), &[]).unwrap()).unwrap();
        let code = |path: String| path.rsplit('=').next().unwrap().to_owned();
        let first = code(make(&home).unwrap());
        assert!(take(&home, &first) && !take(&home, &first) && !take(&home, "") && !take(&home, "../owner.key"));
        let old = code(make(&home).unwrap());
        fs::write(file(&home, &old), "1").unwrap();
        assert!(!take(&home, &old), "too late");
        let codes: Vec<String> = (0..MOST + 3).map(|_| code(make(&home).unwrap())).collect();
        assert!(fs::read_dir(super::folder(&home)).unwrap().count() <= MOST);
        assert!(take(&home, codes.last().unwrap()));
    }
}

//! The archive: what is put in comes out, for whoever has the key and nobody else; what is too old goes; a file that was changed
//! is not believed.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use golem::GolemId;
use styx::Clade;
use styx::archive::{Archive, Copy, Error};

const DAY: u64 = 86_400_000;
const ADA: GolemId = GolemId([1; 16]);

fn clade() -> Arc<Clade> {
    Arc::new(Clade::of(&Clade::fresh()).unwrap())
}

fn copy(made: u64) -> Copy {
    Copy { made, tick: made / 1_000, dead: false, entries: 3, object: String::new() }
}

async fn keep(archive: &Archive, home: u8, golem: GolemId, made: u64, text: &str) {
    archive.keep([home; 16], golem, "ada", copy(made), text.as_bytes(), 90 * DAY).await.unwrap();
}

fn files(of: &Path) -> Vec<std::path::PathBuf> {
    let (mut files, mut folders) = (Vec::new(), vec![of.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            if entry.path().is_dir() { folders.push(entry.path()) } else { files.push(entry.path()) }
        }
    }
    files
}

#[tokio::test]
async fn what_is_put_in_comes_out_for_whoever_has_the_key() {
    let (dir, ours, theirs) = (tempfile::tempdir().unwrap(), clade(), clade());
    let place = dir.path().join("kept");
    let archive = Archive::open(place.to_str().unwrap(), Arc::clone(&ours)).unwrap();
    assert!(archive.pages().await.unwrap().is_empty());
    keep(&archive, 1, ADA, 100 * DAY, "level > 2 means rain").await;
    keep(&archive, 2, GolemId([2; 16]), 100 * DAY, "another").await;
    let pages = archive.pages().await.unwrap();
    assert_eq!(pages.len(), 2);
    assert_eq!(archive.fetch(ADA, &pages[0].copies[0]).await.unwrap(), b"level > 2 means rain");
    // Nothing of it is to be read in the files, and another's key finds nothing.
    for file in files(&place) {
        let bytes = std::fs::read(&file).unwrap();
        assert!(
            !bytes.windows(4).any(|four| four == b"rain" || four == b"ada\"" || four == b"tick"),
            "{}",
            file.display()
        );
    }
    let strange = Archive::open(place.to_str().unwrap(), theirs).unwrap();
    assert!(strange.pages().await.unwrap().is_empty());
    // One golem's copy is not another's, and a changed byte is seen.
    assert!(matches!(archive.fetch(GolemId([2; 16]), &pages[0].copies[0]).await, Err(Error::Damaged(_))));
    for file in files(&place) {
        let mut bytes = std::fs::read(&file).unwrap();
        let last = bytes.len() - 1;
        bytes[last] ^= 1;
        std::fs::write(&file, bytes).unwrap();
    }
    assert!(matches!(archive.fetch(ADA, &pages[0].copies[0]).await, Err(Error::Damaged(_))));
    assert!(matches!(archive.pages().await, Err(Error::Damaged(_))));
}

#[tokio::test]
async fn what_is_too_old_goes_and_the_newest_stays() {
    let dir = tempfile::tempdir().unwrap();
    let archive = Archive::open(dir.path().to_str().unwrap(), clade()).unwrap();
    // Every six hours for 120 days.
    for made in (0..480).map(|n| n * DAY / 4) {
        keep(&archive, 1, ADA, made, &format!("what it knew at {made}")).await;
    }
    let page = archive.pages().await.unwrap().pop().unwrap();
    assert!((90..=96).contains(&page.copies.len()), "one a day for ninety days: {}", page.copies.len());
    assert_eq!(page.copies.last().unwrap().made, 479 * DAY / 4);
    assert_eq!(files(dir.path()).len(), page.copies.len() + 1, "nothing is left lying about");
    for copy in &page.copies {
        assert_eq!(archive.fetch(ADA, copy).await.unwrap(), format!("what it knew at {}", copy.made).as_bytes());
    }
}

/// A server that speaks S3, until it is dropped. Where there is none a test says that it is skipped, except under `.ci/run`.
struct Bucket {
    child: Child,
    environment: Vec<(String, String)>,
    _folder: tempfile::TempDir,
}

impl Bucket {
    fn serve() -> Option<Bucket> {
        let cache = std::env::var("XDG_CACHE_HOME").map(PathBuf::from);
        let cache = cache.unwrap_or_else(|_| Path::new(&std::env::var("HOME").unwrap()).join(".cache"));
        let server = cache.join("bardo/s3rver/node_modules/.bin/s3rver");
        assert!(server.exists() || std::env::var_os("BARDO_REALPARTS").is_none(), "there is no s3rver");
        if !server.exists() {
            eprintln!("skipped: there is no s3rver; it comes with `npm install s3rver`");
            return None;
        }
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new(server);
        command.args(["-a", "127.0.0.1", "-p", &port, "--configure-bucket", "golems", "-d"]).arg(folder.path());
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let given = [
            ("AWS_ENDPOINT_URL", format!("http://127.0.0.1:{port}")),
            ("AWS_ALLOW_HTTP", "true".into()),
            ("AWS_ACCESS_KEY_ID", "S3RVER".into()),
            ("AWS_SECRET_ACCESS_KEY", "S3RVER".into()),
            ("AWS_REGION", "us-east-1".into()),
        ];
        let environment = given.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Some(Bucket { child, environment, _folder: folder })
    }

    fn archive(&self, place: &str, clade: &Arc<Clade>) -> Archive {
        Archive::open_in(place, Arc::clone(clade), self.environment.clone()).unwrap()
    }
}

impl Drop for Bucket {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test]
async fn a_bucket_does_as_well_as_a_folder() {
    let Some(bucket) = Bucket::serve() else { return };
    let ours = clade();
    let archive = bucket.archive("s3://golems/kept/here", &ours);
    for _ in 0..100 {
        if archive.pages().await.is_ok() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    for made in (0..40).map(|n| n * DAY / 4) {
        keep(&archive, 1, ADA, made, &format!("what it knew at {made}")).await;
    }
    let page = archive.pages().await.unwrap().pop().unwrap();
    assert_eq!((page.name.as_str(), page.copies.len()), ("ada", 13), "nine days before today, and four of today");
    for copy in &page.copies {
        assert_eq!(archive.fetch(ADA, copy).await.unwrap(), format!("what it knew at {}", copy.made).as_bytes());
    }
    assert!(
        bucket.archive("s3://golems/kept/here", &clade()).pages().await.unwrap().is_empty(),
        "another's key finds nothing"
    );
    let refused = Archive::open_in("s3://nowhere", ours, bucket.environment.clone()).unwrap().pages().await;
    assert!(matches!(refused, Err(Error::Store(_))), "{refused:?}");
}

//! The folder of one life outside the tree of its program, in its owner's cache. The program can write there as well, so what is
//! read from it is one plain file, and small; a link in its place is followed nowhere.

use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use golem::GolemId;
use golem::thanatopsis::{LAST_WORD_BYTES, LastWord};
use rustix::fs::OFlags;
use shell::private;

use super::super::settings;

/// Names of its files: what the program leaves, what it is told before its end, and what was left to it.
const TESTAMENT: &str = "testament.txt";
const LAST_WORD: &str = "last-word.txt";
const INHERITANCE: &str = "inheritance.md";
/// Stands for the path of the inheritance in the arguments of a program.
const PLACEHOLDER: &str = "{inheritance}";

#[derive(Clone, Debug)]
pub(crate) struct LifeFolder {
    folder: PathBuf,
}

impl LifeFolder {
    /// The folder of this life, whether it is there or not.
    pub(crate) fn of(own: impl Fn(&str) -> Option<String>, life: GolemId) -> Result<LifeFolder, String> {
        Ok(LifeFolder { folder: settings::cache(own)?.join("lives").join(life.to_string()) })
    }

    /// Makes it, or goes on with it; what a program had left there before a kill is still there.
    pub(crate) fn make(own: impl Fn(&str) -> Option<String>, life: GolemId) -> Result<LifeFolder, String> {
        let made = LifeFolder::of(own, life)?;
        let wrong = |why: io::Error| format!("cannot use {}: {why}", made.folder.display());
        private::folder(&made.folder).and_then(|()| made.must_be_real()).map_err(wrong)?;
        made.recall();
        Ok(made)
    }

    /// Where a program may leave its last word.
    pub(crate) fn place_for_testament(&self) -> PathBuf {
        self.folder.join(TESTAMENT)
    }

    /// The last word that its program has left, if it has said anything.
    pub(crate) fn testament(&self) -> Option<LastWord> {
        let word = LastWord::read(&self.read().ok()?);
        (!word.is_silent()).then_some(word)
    }

    fn read(&self) -> io::Result<String> {
        self.must_be_real()?;
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let file = OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(self.place_for_testament())?;
        let about = file.metadata()?;
        if !about.is_file() || about.nlink() > 1 {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let mut bytes = Vec::new();
        file.take(LAST_WORD_BYTES).read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Tells the program that its end is near.
    pub(crate) fn tell(&self, words: &str) -> io::Result<()> {
        self.put(LAST_WORD, words)
    }

    /// Takes back that its end is near.
    pub(crate) fn recall(&self) {
        let _ = fs::remove_file(self.folder.join(LAST_WORD));
    }

    /// Leaves it this page.
    pub(crate) fn bequeath(&self, page: &str) -> io::Result<()> {
        self.put(INHERITANCE, page)
    }

    /// Writes a file whole, in place of whatever stands there.
    fn put(&self, name: &str, text: &str) -> io::Result<()> {
        self.must_be_real()?;
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        file.write_all(text.as_bytes())?;
        file.persist(self.folder.join(name))?;
        Ok(())
    }

    /// The variables that name its files.
    pub(crate) fn environment(&self) -> [(&'static str, PathBuf); 3] {
        let files =
            [("BARDO_TESTAMENT", TESTAMENT), ("BARDO_LAST_WORD", LAST_WORD), ("BARDO_INHERITANCE", INHERITANCE)];
        files.map(|(variable, file)| (variable, self.folder.join(file)))
    }

    /// Replaces the placeholder in these arguments by a path, and by nothing that an agent wrote.
    pub(crate) fn fill(&self, program: &[String]) -> Vec<String> {
        let path = self.folder.join(INHERITANCE).display().to_string();
        program.iter().map(|word| word.replace(PLACEHOLDER, &path)).collect()
    }

    pub(crate) fn is_asked_for(program: &[String]) -> bool {
        program.iter().any(|word| word.contains(PLACEHOLDER))
    }

    pub(crate) fn is_there(&self) -> bool {
        self.must_be_real().is_ok()
    }

    /// Removes it with all that is in it.
    pub(crate) fn remove(&self) {
        if self.must_be_real().is_ok() {
            let _ = fs::remove_dir_all(&self.folder);
        }
    }

    /// Fails if a link stands where one of our own folders was made.
    fn must_be_real(&self) -> io::Result<()> {
        let is_folder = |path: &Path| fs::symlink_metadata(path).is_ok_and(|about| about.is_dir());
        let is_real = self.folder.ancestors().take(3).all(is_folder);
        is_real.then_some(()).ok_or_else(|| io::Error::other("it is a link, and no folder"))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn folder_in(cache: &Path) -> LifeFolder {
        let own = |name: &str| (name == "XDG_CACHE_HOME").then(|| cache.display().to_string());
        LifeFolder::make(own, GolemId([7; 16])).unwrap()
    }

    #[test]
    fn a_last_word_is_read_from_a_plain_file_and_through_no_link() {
        let cache = tempfile::tempdir().unwrap();
        let folder = folder_in(cache.path());
        let path = folder.place_for_testament();
        assert_eq!(folder.testament(), None);
        fs::write(&path, "worked: it").unwrap();
        assert_eq!(folder.testament().unwrap().worked, ["it"]);
        // After a kill the word is still there, and the notice of an end is not.
        folder.tell("soon").unwrap();
        let again = folder_in(cache.path());
        assert!(again.testament().is_some() && !again.environment()[1].1.exists());
        let secret = cache.path().join("secret");
        fs::write(&secret, "worked: a secret").unwrap();
        let links: [fn(PathBuf, PathBuf) -> io::Result<()>; 2] = [symlink, fs::hard_link];
        for link in links {
            fs::remove_file(&path).unwrap();
            link(secret.clone(), path.clone()).unwrap();
            assert_eq!(folder.testament(), None);
        }
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert_eq!(folder.testament(), None);
        // Nor is a folder that has become a link.
        let elsewhere = cache.path().join("elsewhere");
        fs::create_dir(&elsewhere).unwrap();
        fs::write(elsewhere.join(TESTAMENT), "worked: it").unwrap();
        fs::remove_dir_all(&folder.folder).unwrap();
        symlink(&elsewhere, &folder.folder).unwrap();
        assert!(folder.testament().is_none() && folder.tell("soon").is_err());
        folder.remove();
        assert!(elsewhere.join(TESTAMENT).exists());
    }

    #[test]
    fn a_long_word_is_read_as_far_as_its_bound_and_a_notice_takes_the_place_of_a_link() {
        let cache = tempfile::tempdir().unwrap();
        let folder = folder_in(cache.path());
        fs::write(folder.place_for_testament(), format!("worked: it\n{}", "x".repeat(1 << 20))).unwrap();
        assert_eq!(folder.testament().unwrap().worked[0], "it");
        let secret = cache.path().join("secret");
        fs::write(&secret, "s").unwrap();
        let told = &folder.environment()[1].1;
        symlink(&secret, told).unwrap();
        folder.tell("soon").unwrap();
        assert!(fs::read_to_string(told).unwrap() == "soon" && fs::read_to_string(&secret).unwrap() == "s");
        let program = ["agent".to_owned(), "read {inheritance} first".to_owned()];
        assert!(LifeFolder::is_asked_for(&program) && !LifeFolder::is_asked_for(&program[..1]));
        let filled = folder.fill(&program);
        assert_eq!(filled, ["agent".to_owned(), format!("read {} first", folder.environment()[2].1.display())]);
        folder.remove();
        assert!(!folder.folder.exists());
    }
}

//! Programs of a release beside this one, found as git and cargo find theirs: `bardo chain …` is `bardo-chain …`, taken from
//! where this program lies or else from PATH, and put in its place.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::{exit, output};

/// The word, as it was parsed, and the program it stands for.
const WORD: &str = "chain";
const PROGRAM: &str = "bardo-chain";

/// Becomes `bardo-chain`, with everything this program was told but the word itself; comes back only if that cannot be.
pub(crate) fn hand_over(mut told: Vec<OsString>) -> ExitCode {
    let Some(program) = find() else {
        output::complain(format!(
            "`bardo chain` needs the program {PROGRAM}, which is neither beside this one nor on PATH; a release has both \
             ({PROGRAM} goes where bardo is), and from source it is `cargo install --locked --path crates/chain`"
        ));
        return ExitCode::from(exit::USAGE);
    };
    // What comes before it takes one value at most, which may be the same word.
    let word = (0..told.len()).find(|at| told[*at] == WORD && (*at == 0 || told[at - 1] != "--home"));
    if let Some(at) = word {
        told.remove(at);
    }
    let why = Command::new(&program).args(told).exec();
    output::complain(format!("cannot run {}: {why}", program.display()));
    ExitCode::from(exit::ERROR)
}

/// Beside this program first, since what was installed together belongs together. On PATH only whole paths count: what lies
/// in the current folder is not run.
fn find() -> Option<PathBuf> {
    let own = std::env::current_exe().ok().and_then(|own| own.parent().map(Path::to_owned));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = own.into_iter().chain(std::env::split_paths(&path).filter(|folder| folder.is_absolute()));
    folders.map(|folder| folder.join(PROGRAM)).find(|file| is_program(file))
}

fn is_program(file: &Path) -> bool {
    file.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

//! The keeper of a program: a small process between it and its host, so that nothing of it is left when its host is
//! gone, also after a kill. Its standard input is a pipe from the host on which nothing is ever sent; when that closes,
//! everything that was started here is ended. Its standard output is the conversation itself, which it hands on and
//! never reads.

use std::io::{self, Read};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::process::{ExitCode, Stdio};

use rustix::process::{Resource, Rlimit, setrlimit};
use serde::{Deserialize, Serialize};

use crate::descendants;
use crate::fence::{self, Fence};

/// The exit code of a program that could not be started, by convention.
const NOT_STARTED: u8 = 127;
/// Files a program may have open.
const FILES: u64 = 1_024;

/// How a program is started.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launch {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The working folder.
    pub folder: PathBuf,
    /// The environment variables it is given.
    #[serde(default)]
    pub environment: Vec<(String, String)>,
    /// The places kept from it; none if it may do as it likes.
    #[serde(default)]
    pub fence: Option<Fence>,
    /// The most memory it may ask for, in bytes.
    #[serde(default)]
    pub memory: Option<u64>,
}

/// Keeps the program that is described in one argument, until it ends or the host does.
pub fn keep(text: &str) -> ExitCode {
    let started = serde_json::from_str(text).map_err(io::Error::other).and_then(|launch: Launch| start(&launch));
    let mut child = match started {
        Ok(child) => child,
        Err(why) => {
            eprintln!("{why}");
            return ExitCode::from(NOT_STARTED);
        }
    };
    std::thread::spawn(|| {
        // Nothing is ever sent here; the pipe is only there as long as the host is.
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        descendants::end();
        std::process::exit(0);
    });
    let status = child.wait();
    // The program may have started others, also while it was being ended.
    descendants::end();
    let code = status.ok().map_or(1, |status| {
        use std::os::unix::process::ExitStatusExt;
        status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
    });
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}

fn start(launch: &Launch) -> io::Result<std::process::Child> {
    descendants::adopt();
    let limit = |resource, most| setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) });
    limit(Resource::Nofile, FILES)?;
    limit(Resource::Core, 0)?;
    if let Some(memory) = launch.memory {
        let limited = limit(Resource::As, memory);
        // On macOS the kernel has this limit, and refuses most values of it.
        if !cfg!(target_os = "macos") {
            limited?;
        }
    }
    #[cfg(target_os = "linux")]
    rustix::thread::set_no_new_privs(true)?;
    let (program, told) = launch.command.split_first().ok_or_else(|| io::Error::other("no command"))?;
    let conversation = || io::stdout().as_fd().try_clone_to_owned().map(Stdio::from);
    let mut command = fence::command(program, launch.fence.as_ref())?;
    command.args(told).current_dir(&launch.folder).stdin(conversation()?).stdout(conversation()?);
    match &launch.fence {
        Some(fence) => fence::start(&mut command, fence).map(|(child, _)| child),
        None => command.spawn(),
    }
}

/// Reads and discards everything left to read.
pub(crate) fn drain(mut from: impl Read) {
    let _ = io::copy(&mut from, &mut io::sink());
}

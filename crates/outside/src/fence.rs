//! A fence around programs that act for a golem, or that its owner's checks run: they and their descendants cannot read
//! hidden places, write to protected ones, mount anything over either, look into other processes or signal them. The
//! fence is the kernel's (Landlock), belongs to the thread that raises it and to all that is started from there, and
//! cannot be taken down again. On macOS it is Seatbelt's, which the command of a program brings with it; no test has
//! run it.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use serde::{Deserialize, Serialize};

use crate::seatbelt;

/// Whether a fence stands in the command that starts a program, and not around the thread that starts it.
pub(crate) const STANDS_IN_COMMAND: bool = cfg!(target_os = "macos");

/// The places that are kept from a program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fence {
    /// Places not to be read, written or run.
    pub hidden: Vec<PathBuf>,
    /// Places to be read and run only.
    pub protected: Vec<PathBuf>,
    /// Places that stay open, even inside hidden ones.
    #[serde(default)]
    pub given: Vec<PathBuf>,
}

/// The command of a program that is to be started behind a fence, to which its arguments are added. It is not behind one
/// before [`start`] has started it.
pub fn command(program: &str, fence: Option<&Fence>) -> io::Result<Command> {
    let Some(fence) = fence.filter(|_| STANDS_IN_COMMAND) else { return Ok(Command::new(program)) };
    let mut command = Command::new(seatbelt::PROGRAM);
    let Fence { hidden, protected, given } = fence.resolved()?;
    command.arg("-p").arg(seatbelt::profile(&hidden, &protected, &given)?).arg(program);
    Ok(command)
}

/// Starts a program behind a fence, by a command made for it. True if there is a fence; a kernel without Landlock lets
/// the program do as it likes.
pub fn start(command: &mut Command, fence: &Fence) -> io::Result<(Child, bool)> {
    if STANDS_IN_COMMAND {
        return Ok((command.spawn()?, command.get_program() == seatbelt::PROGRAM));
    }
    // Raised on a thread of its own, so that nothing else in this process stands behind it.
    std::thread::scope(|scope| {
        let started = scope.spawn(|| {
            let stands = linux::raise(fence)?;
            Ok((command.spawn()?, stands))
        });
        started.join().unwrap_or_else(|_| Err(io::Error::other("the thread that raises the fence panicked")))
    })
}

/// Raises a fence around this thread and all that is started from it, for good. True if there is a fence.
pub fn raise(fence: &Fence) -> io::Result<bool> {
    linux::raise(fence)
}

/// Mounts something empty over these places, for this process and all that is started from it: they are as good as
/// gone, and everything beside them is unchanged, which no rule of Landlock's alone can do. Where mounting is not
/// allowed, nothing is changed. Only a fence keeps a program from unmounting it again, so one must be raised after it.
pub fn cover(places: &[PathBuf]) -> io::Result<()> {
    linux::cover(places)
}

/// Mounts this file over others, in a process that has covered something.
pub(crate) fn lay_over(file: &Path, over: &[PathBuf]) -> io::Result<()> {
    linux::lay_over(file, over)
}

/// Trees that a program may read and not write to, but for the places in them that stay open. Where it can be mounted, no folder
/// around a tree is any different for it, which no rule of Landlock's alone can do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SealedTrees {
    /// None of them lies in another.
    pub trees: Vec<PathBuf>,
    pub open: Vec<PathBuf>,
}

/// Mounts these trees over themselves so that they can only be read, in a process that has covered something. What was covered in
/// them stays so.
pub(crate) fn seal(sealed: &SealedTrees) -> io::Result<()> {
    linux::seal(sealed)
}

/// Leaves this process's network for an empty one of its own, which a process that has covered something may do.
pub(crate) fn own_network() -> io::Result<()> {
    linux::own_network()
}

/// Drops the powers with which a process started from here could make a way out of its network, as root might.
pub(crate) fn drop_powers_over_networks() -> io::Result<()> {
    linux::drop_powers_over_networks()
}

/// Keeps this thread from every network and from writing anywhere but to these places, for good; reading is unchanged.
/// For work on untrusted files. True if the kernel enforces it for files; networks are shut off completely only where
/// the process may have an empty one of its own.
pub fn read_only(writable: &[PathBuf]) -> io::Result<bool> {
    linux::read_only(writable)
}

/// Keeps signals in: from now on signals of this thread and of its descendants reach only its descendants. True if the
/// kernel enforces it.
pub(crate) fn keep_signals_in() -> bool {
    linux::keep_signals_in().unwrap_or(false)
}

impl Fence {
    /// The same places with every link on the way followed. All of them must be there.
    fn resolved(&self) -> io::Result<Fence> {
        let real = |paths: &[PathBuf]| paths.iter().map(|path| path.canonicalize()).collect::<io::Result<Vec<_>>>();
        Ok(Fence { hidden: real(&self.hidden)?, protected: real(&self.protected)?, given: real(&self.given)? })
    }
}

/// The places that stay open: everything beside the paths that lead to hidden or protected places; on those paths,
/// folders can only be listed.
#[derive(Debug, Default, PartialEq, Eq)]
struct Ways {
    open: Vec<PathBuf>,
    read: Vec<PathBuf>,
    seen: Vec<PathBuf>,
}

impl Ways {
    fn around(fence: &Fence) -> io::Result<Ways> {
        let Fence { hidden, protected, given } = fence.resolved()?;
        let mut ways = Ways { open: given, ..Ways::default() };
        ways.walk(Path::new("/"), &hidden, &protected);
        Ok(ways)
    }

    fn walk(&mut self, path: &Path, hidden: &[PathBuf], protected: &[PathBuf]) {
        let leads = |to: &PathBuf| to.starts_with(path) && to != path;
        if hidden.iter().any(|one| one == path) {
            return;
        }
        let kept = protected.iter().any(|one| path.starts_with(one));
        let hides = hidden.iter().any(leads);
        match (kept, hides) {
            (true, false) => return self.read.push(path.to_owned()),
            (false, false) if !protected.iter().any(leads) => return self.open.push(path.to_owned()),
            _ => {}
        }
        self.seen.push(path.to_owned());
        for entry in path.read_dir().into_iter().flatten().flatten() {
            // The target of a link is open or closed in its own right.
            if entry.file_type().is_ok_and(|kind| !kind.is_symlink()) {
                self.walk(&entry.path(), hidden, protected);
            }
        }
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::ffi::OsString;
    use std::io;
    use std::os::unix::ffi::OsStringExt;
    use std::path::{Path, PathBuf};

    #[allow(deprecated)]
    use rustix::thread::unshare;

    use landlock::{
        ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
        RulesetCreatedAttr, RulesetStatus, Scope,
    };

    use rustix::fs::{StatVfsMountFlags, statvfs};
    use rustix::mount::{
        MountFlags, MountPropagationFlags, mount, mount_bind, mount_bind_recursive, mount_change, mount_remount,
    };
    use rustix::thread::{CapabilitySet, UnshareFlags, capabilities, set_capabilities};

    use super::{Fence, SealedTrees, Ways};

    /// The newest rights this program knows of; a kernel that knows fewer keeps to those.
    const KNOWN: ABI = ABI::V6;

    /// Drops root's powers that see over any fence: into other processes, into the kernel, past every path. The fence
    /// keeps them from being regained.
    fn drop_powers() -> io::Result<()> {
        let over = CapabilitySet::PERFMON
            | CapabilitySet::SYS_PTRACE
            | CapabilitySet::SYS_ADMIN
            | CapabilitySet::SYS_RAWIO
            | CapabilitySet::SYS_MODULE
            | CapabilitySet::BPF
            | CapabilitySet::DAC_READ_SEARCH;
        let_go(over)
    }

    pub(super) fn drop_powers_over_networks() -> io::Result<()> {
        let_go(CapabilitySet::NET_ADMIN | CapabilitySet::NET_RAW)
    }

    fn let_go(over: CapabilitySet) -> io::Result<()> {
        let mut has = capabilities(None)?;
        for set in [&mut has.effective, &mut has.permitted, &mut has.inheritable] {
            set.remove(over);
        }
        Ok(set_capabilities(None, has)?)
    }

    pub(super) fn raise(fence: &Fence) -> io::Result<bool> {
        let wrong = |why: landlock::RulesetError| io::Error::other(format!("cannot raise a fence: {why}"));
        let ways = Ways::around(fence)?;
        let mut rules = Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_all(KNOWN))
            .and_then(|rules| rules.scope(Scope::Signal))
            .and_then(Ruleset::create)
            .map_err(wrong)?;
        let rights: [(&[PathBuf], BitFlags<AccessFs>); 3] = [
            (&ways.open, AccessFs::from_all(KNOWN)),
            (&ways.read, AccessFs::from_read(KNOWN)),
            (&ways.seen, AccessFs::ReadDir.into()),
        ];
        for (paths, rights) in rights {
            for path in paths {
                // A place that has gone meanwhile, or cannot be opened, stays closed.
                let Ok(place) = PathFd::new(path) else { continue };
                let fits = if path.is_dir() { rights } else { rights & AccessFs::from_file(KNOWN) };
                if !fits.is_empty() {
                    rules = rules.add_rule(PathBeneath::new(place, fits)).map_err(wrong)?;
                }
            }
        }
        let status = rules.restrict_self().map_err(wrong)?;
        drop_powers()?;
        Ok(status.ruleset != RulesetStatus::NotEnforced)
    }

    pub(super) fn cover(places: &[PathBuf]) -> io::Result<()> {
        let real = places.iter().map(|path| path.canonicalize()).collect::<io::Result<Vec<_>>>()?;
        separate(UnshareFlags::NEWNS)?;
        // Mounts made elsewhere come here too, and none of these go there.
        mount_change("/", MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC)?;
        let flags = MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
        real.iter().try_for_each(|path| Ok(mount("tmpfs", path, "tmpfs", flags, c"mode=000,size=4k")?))
    }

    pub(super) fn lay_over(file: &Path, over: &[PathBuf]) -> io::Result<()> {
        over.iter().try_for_each(|path| Ok(mount_bind(file, path)?))
    }

    pub(super) fn seal(sealed: &SealedTrees) -> io::Result<()> {
        for path in sealed.trees.iter().chain(&sealed.open) {
            mount_bind_recursive(path, path)?;
        }
        // Only now, because what is mounted out of a tree that can only be read can only be read too.
        sealed.trees.iter().try_for_each(|tree| allow_reading_alone(tree))?;
        // Another disk within a tree is a mount of its own, which is as it was.
        let list = std::fs::read("/proc/thread-self/mountinfo")?;
        let within = |place: &PathBuf, all: &[PathBuf]| all.iter().any(|one| place.starts_with(one));
        let places = mount_points(&list).filter(|place| within(place, &sealed.trees) && !within(place, &sealed.open));
        places.filter(|place| !sealed.trees.contains(place)).try_for_each(|place| allow_reading_alone(&place))
    }

    /// Has what is mounted here only be read.
    fn allow_reading_alone(place: &Path) -> io::Result<()> {
        let has = statvfs(place)?.f_flag;
        let mut flags = MountFlags::BIND | MountFlags::RDONLY;
        // A user namespace may take nothing off what its parent has mounted.
        flags.set(MountFlags::NOSUID, has.contains(StatVfsMountFlags::NOSUID));
        flags.set(MountFlags::NODEV, has.contains(StatVfsMountFlags::NODEV));
        flags.set(MountFlags::NOEXEC, has.contains(StatVfsMountFlags::NOEXEC));
        Ok(mount_remount(place, flags, c"")?)
    }

    /// The places in the kernel's list of mounts, the fifth word of each line.
    pub(super) fn mount_points(list: &[u8]) -> impl Iterator<Item = PathBuf> {
        let place = |line: &[u8]| line.split(|byte| *byte == b' ').nth(4).map(unescaped);
        list.split(|byte| *byte == b'\n').filter_map(place)
    }

    /// A path as it is, of which the list has spaces and the like as three octal digits behind a backslash.
    fn unescaped(mut text: &[u8]) -> PathBuf {
        let mut bytes = Vec::with_capacity(text.len());
        while let Some((first, rest)) = text.split_first() {
            let digits = rest.get(..3).filter(|_| *first == b'\\').and_then(|digits| std::str::from_utf8(digits).ok());
            let code =
                digits.and_then(|digits| u32::from_str_radix(digits, 8).ok()).and_then(|code| u8::try_from(code).ok());
            bytes.push(code.unwrap_or(*first));
            text = if code.is_some() { &rest[3..] } else { rest };
        }
        PathBuf::from(OsString::from_vec(bytes))
    }

    /// Unshares a view (of files or networks), under the same user and group as before.
    fn separate(view: UnshareFlags) -> io::Result<()> {
        let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
        if own_view(view).is_err() {
            own_view(UnshareFlags::NEWUSER | view)?;
            // The user and the group stay the same.
            std::fs::write("/proc/self/setgroups", "deny")?;
            std::fs::write("/proc/self/uid_map", format!("{0} {0} 1", user.as_raw()))?;
            std::fs::write("/proc/self/gid_map", format!("{0} {0} 1", group.as_raw()))?;
        }
        Ok(())
    }

    pub(super) fn read_only(writable: &[PathBuf]) -> io::Result<bool> {
        let wrong = |why: landlock::RulesetError| io::Error::other(format!("cannot raise a fence: {why}"));
        // Where a network of its own is not allowed, connections are still refused by the rules below.
        let _ = separate(UnshareFlags::NEWNET);
        let mut rules = Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_all(KNOWN))
            .and_then(|rules| rules.handle_access(AccessNet::from_all(KNOWN)))
            .and_then(|rules| rules.scope(Scope::Signal | Scope::AbstractUnixSocket))
            .and_then(Ruleset::create)
            .map_err(wrong)?;
        let everything = [PathBuf::from("/")];
        let rights: [(&[PathBuf], BitFlags<AccessFs>); 2] =
            [(&everything, AccessFs::from_read(KNOWN)), (writable, AccessFs::from_all(KNOWN))];
        for (paths, rights) in rights {
            for path in paths {
                let place = PathFd::new(path).map_err(io::Error::other)?;
                let fits = if path.is_dir() { rights } else { rights & AccessFs::from_file(KNOWN) };
                rules = rules.add_rule(PathBeneath::new(place, fits)).map_err(wrong)?;
            }
        }
        let status = rules.restrict_self().map_err(wrong)?;
        Ok(status.ruleset != RulesetStatus::NotEnforced)
    }

    pub(super) fn own_network() -> io::Result<()> {
        Ok(own_view(UnshareFlags::NEWNET)?)
    }

    /// Unshares a view. The call is unsafe in general because threads may share a view of open files; that is never
    /// asked for here.
    #[allow(deprecated)]
    fn own_view(of: UnshareFlags) -> rustix::io::Result<()> {
        unshare(of)
    }

    pub(super) fn keep_signals_in() -> Result<bool, landlock::RulesetError> {
        let rules = Ruleset::default().set_compatibility(CompatLevel::HardRequirement).scope(Scope::Signal)?;
        Ok(rules.create()?.restrict_self()?.ruleset == RulesetStatus::FullyEnforced)
    }
}

#[cfg(not(target_os = "linux"))]
mod linux {
    pub(super) fn raise(_: &super::Fence) -> std::io::Result<bool> {
        Ok(false)
    }

    pub(super) fn read_only(_: &[std::path::PathBuf]) -> std::io::Result<bool> {
        Ok(false)
    }

    pub(super) fn lay_over(_: &std::path::Path, _: &[std::path::PathBuf]) -> std::io::Result<()> {
        Err(std::io::ErrorKind::Unsupported.into())
    }

    pub(super) fn cover(_: &[std::path::PathBuf]) -> std::io::Result<()> {
        Err(std::io::ErrorKind::Unsupported.into())
    }

    pub(super) fn seal(_: &super::SealedTrees) -> std::io::Result<()> {
        Err(std::io::ErrorKind::Unsupported.into())
    }

    pub(super) fn own_network() -> std::io::Result<()> {
        Err(std::io::ErrorKind::Unsupported.into())
    }

    pub(super) fn drop_powers_over_networks() -> std::io::Result<()> {
        Ok(())
    }

    pub(super) fn keep_signals_in() -> std::io::Result<bool> {
        Ok(false)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs;

    use super::*;

    fn shell(fence: &Fence, line: &str) -> bool {
        let mut command = Command::new("sh");
        command.args(["-c", line]).stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
        let (mut child, stands) = start(&mut command, fence).unwrap();
        assert!(stands, "this kernel has no Landlock");
        child.wait().unwrap().success()
    }

    #[test]
    fn what_is_hidden_is_gone_what_is_protected_stays_and_all_else_is_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["home/golems", "suite", "project/src"] {
            fs::create_dir_all(at(name)).unwrap();
        }
        fs::write(at("home/secret"), "s").unwrap();
        fs::write(at("suite/run.sh"), "exit 0").unwrap();
        std::os::unix::fs::symlink(at("home"), at("project/way-in")).unwrap();
        let fence = Fence { hidden: vec![at("home")], protected: vec![at("suite")], given: vec![at("home/golems")] };
        let on = |line: &str| shell(&fence, &line.replace('@', &folder.path().display().to_string()));
        for allowed in [
            "true",
            "echo x > @/project/src/file && cat @/project/src/file && rm @/project/src/file",
            "mkdir @/project/new && touch @/project/new/file",
            "sh @/suite/run.sh",
            "ls @/suite && ls @ && ls / && cd @ && pwd",
            "echo x > /dev/null",
            "sleep 0 & wait",
            "touch @/home/golems/own && cat @/home/golems/own",
        ] {
            assert!(on(allowed), "{allowed}");
        }
        for denied in [
            "cat @/home/secret",
            "cat @/project/way-in/secret",
            "echo x > @/home/new",
            "mkdir @/home/new",
            "rm @/home/secret",
            "mv @/home @/other",
            "echo x > @/suite/run.sh",
            "echo x >> @/suite/run.sh",
            "rm @/suite/run.sh",
            "mv @/suite @/gone",
            "ln @/suite/run.sh @/project/linked && echo x > @/project/linked",
            "touch @/suite/new",
            "kill -0 $PPID",
            "cat /proc/$PPID/environ",
        ] {
            assert!(!on(denied), "{denied}");
        }
        assert_eq!(fs::read_to_string(at("suite/run.sh")).unwrap(), "exit 0");
        // No other thread stands behind it.
        assert!(fs::read(at("home/secret")).is_ok());
    }

    #[test]
    fn a_mount_is_found_whatever_its_place_is_called() {
        let list =
            b"65 44 254:0 /m /mnt/a\\040b\\134c\\012 ro - ext4 /dev/vda rw\n66 65 0:5 / /mnt/d\\9 rw - proc proc rw\n";
        let places: Vec<PathBuf> = linux::mount_points(list).collect();
        assert_eq!(places, ["/mnt/a b\\c\n", "/mnt/d\\9"].map(PathBuf::from));
    }

    /// It stayed open. Nothing can be mounted in a test that is not root's, and it sees nothing then.
    #[test]
    fn another_disk_within_a_sealed_tree_is_sealed_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in ["disk", "tree/disk", "tree/open"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        let sealed = SealedTrees { trees: vec![root.join("tree")], open: vec![root.join("tree/open")] };
        std::thread::scope(|scope| {
            scope.spawn(|| {
                if cover(&[]).is_err() {
                    return;
                }
                rustix::mount::mount_bind(root.join("disk"), root.join("tree/disk")).unwrap();
                seal(&sealed).unwrap();
                let writes = |name: &str| fs::write(root.join(name).join("file"), "x").is_ok();
                let written = ["tree", "tree/disk", "tree/open", "disk"].map(writes);
                assert_eq!(written, [false, false, true, true]);
            });
        });
    }
}

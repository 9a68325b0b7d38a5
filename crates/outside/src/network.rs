//! A network of a program's own, in which there is nothing but the places (listening sockets) that its owner wants
//! there. They are opened inside and handed out to a process that accepts on them outside, so nothing stands in between
//! and nothing outlives either. Sockets in the file system are ways out too (Docker's, systemd's, an agent with keys),
//! so they are closed as well.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};
use serde::{Deserialize, Serialize};

/// The most places that can be handed out.
pub const MOST: usize = 32;

/// The places a program finds in a network of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Apart {
    /// Addresses the program can connect to, on the loopback of its own network.
    pub places: Vec<SocketAddr>,
    /// The socket that the places are handed out by.
    pub handed_to: PathBuf,
}

/// The state collected before the old network is left: once outside, it could not be reached any more.
#[derive(Debug)]
pub(crate) struct Leaving<'a> {
    apart: &'a Apart,
    to: UnixStream,
    doors: Vec<PathBuf>,
}

impl Apart {
    pub(crate) fn prepare(&self) -> io::Result<Leaving<'_>> {
        let to = UnixStream::connect(&self.handed_to)?;
        Ok(Leaving { apart: self, to, doors: linux::doors() })
    }

    /// Tells the process that waits for places that there are none.
    pub(crate) fn decline(&self) -> io::Result<()> {
        UnixStream::connect(&self.handed_to).map(drop)
    }

    /// Leaves the network and opens the places in a new one. The process must have a view of files of its own, which
    /// gives it the right to a network.
    pub(crate) fn open(&self) -> io::Result<Vec<TcpListener>> {
        linux::own_network()?;
        self.places.iter().map(TcpListener::bind).collect()
    }
}

impl Leaving<'_> {
    /// Enters the new network, and hands out its places. Returns the sockets in the file system that could not be
    /// closed.
    pub(crate) fn go(self) -> io::Result<Vec<PathBuf>> {
        let open = self.doors.into_iter().filter(|door| linux::close(door).is_err()).collect();
        hand_out(&self.apart.open()?, &self.to)?;
        Ok(open)
    }
}

fn hand_out(places: &[TcpListener], to: &UnixStream) -> io::Result<()> {
    let places: Vec<BorrowedFd<'_>> = places.iter().map(AsFd::as_fd).collect();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !control.push(SendAncillaryMessage::ScmRights(&places)) {
        return Err(io::Error::other(format!("no more than {MOST} places can be opened for a program")));
    }
    // Descriptors need a byte to travel with.
    sendmsg(to, &[IoSlice::new(b"p")], &mut control, SendFlags::empty())?;
    Ok(())
}

/// Takes the places that are handed out, in their order; none if the program has no network of its own.
pub fn take(from: &UnixStream) -> io::Result<Vec<TcpListener>> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    recvmsg(from, &mut [IoSliceMut::new(&mut byte)], &mut control, RecvFlags::empty())?;
    let mut places = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(handed) = message {
            places.extend(handed.map(TcpListener::from));
        }
    }
    // Child processes have no use for them.
    for place in &places {
        rustix::io::fcntl_setfd(place, rustix::io::FdFlags::CLOEXEC)?;
    }
    Ok(places)
}

#[cfg(target_os = "linux")]
mod linux {
    use std::io;
    use std::path::{Path, PathBuf};

    use rustix::io::Errno;
    use rustix::mount::mount_bind;
    use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socket_with};

    use crate::fence;

    /// `RTM_NEWLINK` with `NLM_F_REQUEST` and `NLM_F_ACK`, of 32 bytes.
    const SET_LINK: (u32, u16, u16) = (32, 16, 1 | 4);
    /// The first interface of every network is the machine itself.
    const LOOPBACK: i32 = 1;
    /// `IFF_UP`
    const UP: u32 = 1;
    /// The place of the error in an answer; 0 for success.
    const ERROR: std::ops::Range<usize> = 16..20;
    /// `__SO_ACCEPTCON`, as the list of sockets shows it.
    const LISTENS: u32 = 0x1_0000;

    pub(super) fn own_network() -> io::Result<()> {
        fence::own_network()?;
        raise_loopback()
    }

    /// Brings the loopback interface up: without it not even the machine itself can be reached in a new network.
    fn raise_loopback() -> io::Result<()> {
        // Protocol 0 is that of routes and links.
        let kernel = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
        let (length, kind, flags) = SET_LINK;
        let mut request = Vec::with_capacity(length as usize);
        request.extend(length.to_ne_bytes());
        request.extend(kind.to_ne_bytes());
        request.extend(flags.to_ne_bytes());
        // Its number and its sender, the family and the kind of the interface: none of which matters.
        request.extend([0; 12]);
        request.extend(LOOPBACK.to_ne_bytes());
        // The flags to set, and the mask of flags that are meant.
        request.extend(UP.to_ne_bytes());
        request.extend(UP.to_ne_bytes());
        send(&kernel, &request, SendFlags::empty())?;
        let mut answer = [0_u8; 256];
        let (_, length) = recv(&kernel, &mut answer[..], RecvFlags::empty())?;
        let error = answer[..length].get(ERROR).and_then(|bytes| bytes.try_into().ok()).map(i32::from_ne_bytes);
        match error {
            Some(0) => Ok(()),
            Some(error) => Err(io::Error::from_raw_os_error(error.saturating_neg())),
            None => Err(io::Error::other("the kernel's answer cannot be read")),
        }
    }

    /// Listening sockets of this network that lie in the file system.
    pub(super) fn doors() -> Vec<PathBuf> {
        let list = std::fs::read_to_string("/proc/net/unix").unwrap_or_default();
        let mut doors: Vec<PathBuf> = list.lines().filter_map(door).collect();
        doors.sort();
        doors.dedup();
        doors
    }

    fn door(line: &str) -> Option<PathBuf> {
        let flags = u32::from_str_radix(line.split_whitespace().nth(3)?, 16).ok()?;
        let path = line.find(" /").map(|at| &line[at + 1..])?;
        (flags & LISTENS != 0).then(|| PathBuf::from(path))
    }

    /// Closes a socket by mounting something over it that does not listen. One that is gone, or out of reach for the
    /// program too, counts as closed.
    pub(super) fn close(door: &Path) -> io::Result<()> {
        match mount_bind("/dev/null", door) {
            Ok(()) | Err(Errno::NOENT | Errno::ACCESS | Errno::NOTDIR) => Ok(()),
            Err(why) => Err(why.into()),
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_door_is_a_socket_with_a_path_that_somebody_waits_at() {
            let list = "Num       RefCount Protocol Flags    Type St Inode Path\n\
                        0000000011110000: 00000002 00000000 00010000 0001 01 19846 /run/docker.sock\n\
                        0000000011110001: 00000002 00000000 00010000 0001 01 19847 @/tmp/.X11-unix/X0\n\
                        0000000011110002: 00000003 00000000 00000000 0001 03 19848 /run/docker.sock\n\
                        0000000011110003: 00000003 00000000 00000000 0001 03 19849\n\
                        0000000011110004: 00000002 00000000 00010000 0005 01 19850 /home/a b/c.sock\n";
            let found: Vec<PathBuf> = list.lines().filter_map(door).collect();
            assert_eq!(found, [PathBuf::from("/run/docker.sock"), PathBuf::from("/home/a b/c.sock")]);
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod linux {
    use std::io;
    use std::path::{Path, PathBuf};

    pub(super) fn own_network() -> io::Result<()> {
        crate::fence::own_network()
    }

    pub(super) fn doors() -> Vec<PathBuf> {
        Vec::new()
    }

    pub(super) fn close(_: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpStream;

    use super::*;

    #[test]
    fn who_is_handed_a_place_waits_at_it() {
        let places: Vec<TcpListener> = (0..3).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
        let at: Vec<SocketAddr> = places.iter().map(|place| place.local_addr().unwrap()).collect();
        let (here, there) = UnixStream::pair().unwrap();
        hand_out(&places, &there).unwrap();
        drop(places);
        let taken = take(&here).unwrap();
        assert_eq!(taken.iter().map(|place| place.local_addr().unwrap()).collect::<Vec<_>>(), at);
        let mut caller = TcpStream::connect(at[2]).unwrap();
        let (mut called, _) = taken[2].accept().unwrap();
        called.write_all(b"hello").unwrap();
        drop(called);
        let mut said = String::new();
        caller.read_to_string(&mut said).unwrap();
        assert_eq!(said, "hello");
        // Without a network of its own, nothing is handed out.
        drop(there);
        assert!(take(&here).unwrap().is_empty());
    }
}

//! What processes may do, as the kernel asks for it: their capabilities in the initial user namespace.
//!
//! The kernel's `capable()` (`cap_capable` of security/commoncap.c) counts a capability only if the credentials that have it
//! belong to that namespace. In a namespace of its own (`unshare -Ur`) every process has all of them, and they are good for
//! nothing outside it. `lx_is_capable` of bpf/host/membership.h asks the same in the kernel.

#[cfg(test)]
pub mod players;
#[cfg(test)]
mod tests;

use std::fs;
use std::io;
use std::mem::size_of;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd, RawFd};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixStream;

/// The inode number of the initial user namespace, in all kernels since Linux 3.8: `PROC_USER_INIT_INO` of linux/proc_ns.h, since
/// 6.18 `USER_NS_INIT_INO` of linux/nsfs.h, for programs. (Process 1 may be in another one, in a container, and not every root may
/// look at it.)
const INITIAL_NAMESPACE: u64 = 0xEFFF_FFFD;

/// One of the kernel's capabilities, by its number in linux/capability.h.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Capability {
    /// What locks memory beyond RLIMIT_MEMLOCK.
    IpcLock = 14,
    /// What loads BPF programs and more.
    SysAdmin = 21,
    /// What makes threads real-time, under SCHED_DEADLINE and laxity's policies.
    SysNice = 23,
    /// With `Bpf`: programs that trace.
    Perfmon = 38,
    /// BPF programs and maps.
    Bpf = 39,
}

/// What a process may do on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Privileges(u64);

impl Privileges {
    /// Whether it has this one.
    pub fn has(self, capability: Capability) -> bool {
        self.0 & 1 << capability as u32 != 0
    }

    /// Of the process that calls.
    ///
    /// # Errors
    ///
    /// /proc cannot be read.
    pub fn of_this_process() -> io::Result<Self> {
        of("self")
    }

    /// Of a thread, by its number. What is read belongs to whatever has the number meanwhile: the caller of this makes sure
    /// that it is still the same.
    ///
    /// # Errors
    ///
    /// There is no such thread, or /proc does not show it to this process.
    pub fn of_thread(tid: u32) -> io::Result<Self> {
        of(&tid.to_string())
    }

    /// Of the process that has made a connection.
    ///
    /// It may have ended and its number be another's: then its pidfd says so. It may have executed another program since it
    /// connected, and be privileged by that (a setuid program). So this alone would not be enough for a socket to which every user
    /// may connect. Where root alone may, it shuts out root's processes in a user namespace, from which there is no way back,
    /// and those whose bounding set lacks the capability, such as containers: neither gets it by executing anything.
    ///
    /// # Errors
    ///
    /// The process is gone, or in no process namespace that is seen from here, or the kernel is older than 6.5.
    pub fn of_peer(stream: &UnixStream) -> io::Result<Self> {
        let mut peer = libc::ucred { pid: 0, uid: 0, gid: 0 };
        option(stream, libc::SO_PEERCRED, &mut peer)?;
        let mut pidfd: RawFd = -1;
        option(stream, libc::SO_PEERPIDFD, &mut pidfd)?;
        // SAFETY: the kernel has just made this descriptor for us.
        let pidfd = unsafe { OwnedFd::from_raw_fd(pidfd) };
        let capabilities = of(&peer.pid.to_string())?;
        // It has not been collected, so the number is still its own.
        // SAFETY: signal 0 is none; no structure is passed.
        let sent = unsafe {
            libc::syscall(
                libc::SYS_pidfd_send_signal,
                pidfd.as_raw_fd(),
                0,
                std::ptr::null::<libc::siginfo_t>(),
                0,
            )
        };
        if sent == 0 { Ok(capabilities) } else { Err(io::Error::last_os_error()) }
    }
}

fn of(process: &str) -> io::Result<Privileges> {
    let status = fs::read_to_string(format!("/proc/{process}/status"))?;
    // After the capabilities: a process can leave the initial namespace and has all of them then, but it cannot come back.
    if fs::metadata(format!("/proc/{process}/ns/user"))?.ino() != INITIAL_NAMESPACE {
        return Ok(Privileges(0));
    }
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    effective
        .and_then(|text| u64::from_str_radix(text.trim(), 16).ok())
        .map(Privileges)
        .ok_or_else(|| io::Error::other(format!("/proc/{process}/status has no line CapEff")))
}

/// What the kernel knows of a socket.
fn option<T>(stream: &UnixStream, name: libc::c_int, value: &mut T) -> io::Result<()> {
    let mut length = libc::socklen_t::try_from(size_of::<T>()).expect("a small structure");
    // SAFETY: the kernel writes at most `length` bytes, of a plain structure that is as long.
    let got = unsafe {
        libc::getsockopt(
            stream.as_raw_fd(),
            libc::SOL_SOCKET,
            name,
            std::ptr::from_mut(value).cast(),
            &raw mut length,
        )
    };
    if got == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

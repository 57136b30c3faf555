//! The background process that answers the kernel, until the last process under the filter is gone.

use super::passing;
use crate::privilege::{Capability, Privileges};
use laxity_sys::{SIZE_MIN, policy, set_attributes_of_bytes};
use rustix::event::{PollFd, PollFlags, poll};
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::mem::zeroed;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::os::unix::fs::FileExt as _;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

/// The longest `struct sched_attr` that we pass on.
const ATTRIBUTES_MAX: usize = 256;

/// How a call is answered.
enum Answer {
    /// The kernel is to carry it out as it is.
    AsItIs,
    /// It has been carried out for the caller: 0, or the error's number.
    Done(i32),
}

pub(super) fn main() -> ExitCode {
    let Ok(socket) = io::stdin().as_fd().try_clone_to_owned() else { return ExitCode::FAILURE };
    // SAFETY: this process has one thread and has done nothing yet; the parent's part ends here with 0.
    if unsafe { libc::daemon(0, 0) } != 0 {
        return ExitCode::FAILURE;
    }
    let _ = rustix::thread::set_name(c"laxity-redirect");
    match serve(socket.into()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn serve(mut socket: UnixStream) -> io::Result<()> {
    let listener = passing::receive(&socket)?;
    socket.write_all(&[0])?;
    drop(socket);
    answer_all(&listener)
}

/// Until no process is left under the filter.
pub(super) fn answer_all(listener: &OwnedFd) -> io::Result<()> {
    loop {
        let mut waiting = [PollFd::new(listener, PollFlags::IN)];
        match poll(&mut waiting, None) {
            Err(rustix::io::Errno::INTR) => continue,
            other => other?,
        };
        let found = waiting[0].revents();
        if found.contains(PollFlags::IN) {
            serve_one(listener)?;
        } else if !found.is_empty() {
            return Ok(());
        }
    }
}

fn serve_one(listener: &OwnedFd) -> io::Result<()> {
    // SAFETY: all zero is an empty request, as the kernel wants it.
    let mut request: libc::seccomp_notif = unsafe { zeroed() };
    let receive = libc::_IOWR::<libc::seccomp_notif>(u32::from(b'!'), 0);
    // SAFETY: the kernel fills the structure.
    if unsafe { libc::ioctl(listener.as_raw_fd(), receive, &raw mut request) } != 0 {
        let error = io::Error::last_os_error();
        // The caller was killed meanwhile.
        let gone = matches!(error.raw_os_error(), Some(libc::ENOENT | libc::EINTR));
        return if gone { Ok(()) } else { Err(error) };
    }
    let answer = answer(listener, &request);
    let response = libc::seccomp_notif_resp {
        id: request.id,
        val: 0,
        error: if let Answer::Done(error) = answer { -error } else { 0 },
        flags: match answer {
            Answer::AsItIs => {
                u32::try_from(libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE).expect("a flag of 32 bits")
            }
            Answer::Done(_) => 0,
        },
    };
    let send = libc::_IOWR::<libc::seccomp_notif_resp>(u32::from(b'!'), 1);
    // SAFETY: the kernel reads the structure. It fails if the caller is gone, which does no harm.
    unsafe { libc::ioctl(listener.as_raw_fd(), send, &raw const response) };
    Ok(())
}

fn answer(listener: &OwnedFd, request: &libc::seccomp_notif) -> Answer {
    let [target, address, flags, ..] = request.data.args;
    let Some(Caller { mut attributes, names_ours, is_capable }) = Caller::of(listener, request, address)
    else {
        return Answer::AsItIs;
    };
    let asked = attributes.get(4..8).and_then(|bytes| bytes.try_into().ok()).map(u32::from_ne_bytes);
    // The target is an int in the call's first register.
    #[expect(clippy::cast_possible_truncation, reason = "as the kernel reads it")]
    let (target, flags) = (target as u32, flags as u32);
    if asked != Some(policy::DEADLINE) || (target != 0 && !names_ours) {
        return Answer::AsItIs;
    }
    // What this process may do, the caller may have given up.
    if !is_capable {
        return Answer::Done(libc::EPERM);
    }
    // No policy is attached that would give it a deadline: refused, as if there were no room.
    if crate::attached().as_deref() != Some("laxity") {
        return Answer::Done(libc::EBUSY);
    }
    attributes[4..8].copy_from_slice(&policy::EXT.to_ne_bytes());
    let target = if target == 0 { request.pid } else { target };
    // Its memory is read twice, and another of its threads may have written a greater size in between: refused then.
    Answer::Done(match set_attributes_of_bytes(target.cast_signed(), &attributes, flags) {
        Ok(()) => 0,
        Err(error) => error.raw_os_error().unwrap_or(libc::EINVAL),
    })
}

/// The thread that waits for the answer.
struct Caller {
    /// Its `struct sched_attr`.
    attributes: Vec<u8>,
    /// Whether the numbers of threads that it names are what they are here.
    names_ours: bool,
    /// Whether the kernel would let the caller itself have a deadline.
    is_capable: bool,
}

impl Caller {
    /// Nothing where the kernel itself has to judge the call.
    fn of(listener: &OwnedFd, request: &libc::seccomp_notif, address: u64) -> Option<Self> {
        let attributes = read_attributes(request.pid, address)?;
        let names_ours = is_of_our_namespace(request.pid);
        let is_capable =
            Privileges::of_thread(request.pid).is_ok_and(|caller| caller.has(Capability::SysNice));
        // Last: all of that is the caller's only if the caller is still waiting. Its number may be another thread's by now, of a
        // setuid program that another thread of its process has executed. While it waits it cannot change what it may do itself.
        waits(listener, request).then_some(Caller { attributes, names_ours, is_capable })
    }
}

fn waits(listener: &OwnedFd, request: &libc::seccomp_notif) -> bool {
    let valid = libc::_IOW::<u64>(u32::from(b'!'), 2);
    // SAFETY: the kernel reads the number.
    unsafe { libc::ioctl(listener.as_raw_fd(), valid, &raw const request.id) == 0 }
}

/// The `struct sched_attr` of a thread, as long as it says it is, if it is one that we know.
fn read_attributes(tid: u32, address: u64) -> Option<Vec<u8>> {
    let memory = File::open(format!("/proc/{tid}/mem")).ok()?;
    let mut size = [0; 4];
    memory.read_exact_at(&mut size, address).ok()?;
    let size = match usize::try_from(u32::from_ne_bytes(size)).ok()? {
        0 => SIZE_MIN,
        size => size,
    };
    if !(SIZE_MIN..=ATTRIBUTES_MAX).contains(&size) {
        return None;
    }
    let mut attributes = vec![0; size];
    memory.read_exact_at(&mut attributes, address).ok()?;
    Some(attributes)
}

fn is_of_our_namespace(pid: u32) -> bool {
    let of = |process: &str| fs::read_link(format!("/proc/{process}/ns/pid")).ok();
    of(&pid.to_string()).is_some_and(|theirs| Some(theirs) == of("self"))
}

//! The seccomp filter: the kernel asks about `sched_setattr`, and about nothing else.

use std::io;
use std::mem::offset_of;
use std::os::fd::{FromRawFd as _, OwnedFd};

/// The kernel's number of this machine's native system calls (`linux/audit.h`).
#[cfg(target_arch = "x86_64")]
const NATIVE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const NATIVE: u32 = 0xc000_00b7;

/// Redirects the sched_setattr calls of this thread, and of all threads and processes that it starts, to the holder
/// of the result.
pub(super) fn install() -> io::Result<OwnedFd> {
    let number = u32::try_from(libc::SYS_sched_setattr).expect("a system call has a small number");
    let mut code = [
        load(offset_of!(libc::seccomp_data, arch)),
        unless_equal(NATIVE, 3),
        load(offset_of!(libc::seccomp_data, nr)),
        unless_equal(number, 1),
        answer(libc::SECCOMP_RET_USER_NOTIF),
        answer(libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog {
        len: u16::try_from(code.len()).expect("a short program"),
        filter: code.as_mut_ptr(),
    };
    match set(&program) {
        // An unprivileged process may install a filter only if it can gain no privilege by what it executes.
        Err(error) if error.raw_os_error() == Some(libc::EACCES) => {
            // SAFETY: plain numbers.
            if unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) } != 0 {
                return Err(io::Error::last_os_error());
            }
            set(&program)
        }
        other => other,
    }
}

fn set(program: &libc::sock_fprog) -> io::Result<OwnedFd> {
    // A signal must not interrupt a call that may have been made on the caller's behalf already.
    let flags = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
    // SAFETY: the program is what the kernel expects, and lives across the call.
    let listener = unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            libc::c_ulong::from(libc::SECCOMP_SET_MODE_FILTER),
            flags,
            std::ptr::from_ref(program),
        )
    };
    match i32::try_from(listener) {
        // SAFETY: a new descriptor of our own, which the kernel has made close-on-exec.
        Ok(listener) if listener >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(listener) }),
        _ => Err(io::Error::last_os_error()),
    }
}

fn load(offset: usize) -> libc::sock_filter {
    let offset = u32::try_from(offset).expect("a small structure");
    instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, offset)
}

/// Skips that many if what was loaded is something else.
fn unless_equal(value: u32, skipped: u8) -> libc::sock_filter {
    instruction(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, skipped, value)
}

fn answer(action: u32) -> libc::sock_filter {
    instruction(libc::BPF_RET | libc::BPF_K, 0, action)
}

fn instruction(code: u32, jf: u8, k: u32) -> libc::sock_filter {
    libc::sock_filter { code: u16::try_from(code).expect("an opcode of classic BPF"), jt: 0, jf, k }
}

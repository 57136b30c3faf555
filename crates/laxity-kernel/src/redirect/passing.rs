//! A descriptor from one process to another, over a socket between them.

use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;

/// Room for one descriptor's control message, aligned as its header wants it.
#[repr(C)]
union Control {
    header: libc::cmsghdr,
    bytes: [u8; 64],
}

/// A message of one byte with room for a descriptor.
fn message(control: &mut Control, byte: &mut libc::iovec) -> libc::msghdr {
    // SAFETY: all zero is an empty message.
    let mut message: libc::msghdr = unsafe { zeroed() };
    message.msg_iov = byte;
    message.msg_iovlen = 1;
    message.msg_control = std::ptr::from_mut(control).cast();
    // SAFETY: arithmetic.
    message.msg_controllen = unsafe { libc::CMSG_SPACE(fd_size()) } as _;
    message
}

fn fd_size() -> u32 {
    u32::try_from(size_of::<RawFd>()).expect("a small number")
}

pub(super) fn send(socket: &UnixStream, passed: &OwnedFd) -> io::Result<()> {
    let mut content = [0_u8];
    let mut byte = libc::iovec { iov_base: content.as_mut_ptr().cast(), iov_len: 1 };
    let mut control = Control { bytes: [0; 64] };
    let message = message(&mut control, &mut byte);
    // SAFETY: the header and the descriptor lie within `control`, which has room for them.
    unsafe {
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        (*header).cmsg_level = libc::SOL_SOCKET;
        (*header).cmsg_type = libc::SCM_RIGHTS;
        (*header).cmsg_len = libc::CMSG_LEN(fd_size()) as _;
        libc::CMSG_DATA(header).cast::<RawFd>().write_unaligned(passed.as_raw_fd());
    }
    // SAFETY: everything that the message points to lives across the call.
    let sent = unsafe { libc::sendmsg(socket.as_raw_fd(), &raw const message, libc::MSG_NOSIGNAL) };
    if sent == 1 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

pub(super) fn receive(socket: &UnixStream) -> io::Result<OwnedFd> {
    let mut content = [0_u8];
    let mut byte = libc::iovec { iov_base: content.as_mut_ptr().cast(), iov_len: 1 };
    let mut control = Control { bytes: [0; 64] };
    let mut message = message(&mut control, &mut byte);
    // SAFETY: everything that the message points to lives across the call.
    let received = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, libc::MSG_CMSG_CLOEXEC) };
    if received < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has written as many whole headers as the message's length says; a descriptor that comes with
    // SCM_RIGHTS belongs to this process.
    unsafe {
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        if header.is_null() || (*header).cmsg_type != libc::SCM_RIGHTS {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(OwnedFd::from_raw_fd(libc::CMSG_DATA(header).cast::<RawFd>().read_unaligned()))
    }
}

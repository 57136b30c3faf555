//! A BPF map in this process's memory.

use laxity_model::{Diagnostic, Result};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::ffi::c_void;
use std::os::fd::BorrowedFd;
use std::ptr;

/// Memory shared with the kernel.
pub(super) struct Mapping {
    start: *mut c_void,
    length: usize,
}

// SAFETY: a mapping belongs to the process, not to a thread; all access to it is atomic or the only reader's.
unsafe impl Send for Mapping {}
// SAFETY: as above; what is not atomic needs `&mut Rings`.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// The first `length` bytes of a map made with BPF_F_MMAPABLE.
    pub(super) fn new(map: BorrowedFd<'_>, length: usize) -> Result<Mapping> {
        let length = length.next_multiple_of(page_bytes());
        // SAFETY: a new mapping at an address of the kernel's choice.
        let start = unsafe {
            mmap(ptr::null_mut(), length, ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED, map, 0)
        };
        let start = start.map_err(|error| {
            Diagnostic::environment(format!("{length} bytes of trace rings cannot be mapped: {error}"))
                .hint("a ring takes 1 MiB per core")
        })?;
        Ok(Mapping { start, length })
    }

    pub(super) fn start(&self) -> *mut u8 {
        self.start.cast()
    }
}

fn page_bytes() -> usize {
    // SAFETY: asks for a number.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(bytes).expect("Linux has pages")
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: made by `new`, and nothing borrows it any more.
        let _ = unsafe { munmap(self.start, self.length) };
    }
}

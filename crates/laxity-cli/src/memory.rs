//! Memory that cannot be had: one error in words and exit code 3, where Rust would abort with a backtrace.
//!
//! 1. Nothing here allocates, and nothing unwinds, which an allocator must not do. The process ends at once, as if it were
//!    killed: files appear whole or not at all without it, and of a real run the guardian puts the machine back. A
//!    guardian that ends so has its changes undone by the program, by its journal.
//! 2. All that is asked for goes to the system's allocator as it is; what it costs is to look whether there was some.

use laxity_model::Failure;
use std::alloc::{GlobalAlloc, Layout, System};

/// The system's allocator, which always has memory or does not return.
pub struct OrEnd;

// SAFETY: everything is the system's allocator, called as this one is; null is never returned.
unsafe impl GlobalAlloc for OrEnd {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps to the same contract.
        there(unsafe { System.alloc(layout) }, layout.size())
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above; the memory came from there.
        unsafe { System.dealloc(memory, layout) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        there(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    #[inline]
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        there(unsafe { System.realloc(memory, layout, size) }, size)
    }
}

#[inline]
fn there(memory: *mut u8, bytes: usize) -> *mut u8 {
    if memory.is_null() {
        end(bytes);
    }
    memory
}

/// Says that there is no memory, and ends the process.
#[cold]
pub fn end(bytes: usize) -> ! {
    let mut digits = [0; 20];
    let parts: [&[u8]; 4] = [
        b"error: out of memory: the system refuses another ",
        decimal(bytes, &mut digits),
        b" bytes\nhint: ",
        HINT,
    ];
    for part in parts {
        // SAFETY: the bytes are there. Nothing can be done if they are not taken.
        let _ = unsafe { libc::write(libc::STDERR_FILENO, part.as_ptr().cast(), part.len()) };
    }
    // SAFETY: it ends the process, without code of others that could need memory.
    unsafe { libc::_exit(Failure::Environment.exit_code().into()) }
}

const HINT: &[u8] = b"ask for less (fewer sets, tasks or jobs, a shorter --duration, fewer --threads), \
or raise the limit (ulimit -v, memory.max of the cgroup)\n";

/// A number in digits, without memory for them.
fn decimal(mut number: usize, digits: &mut [u8; 20]) -> &[u8] {
    let mut first = digits.len();
    loop {
        first -= 1;
        digits[first] = b"0123456789"[number % 10];
        number /= 10;
        if number == 0 {
            return &digits[first..];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_in_full() {
        for number in [0, 9, 10, 4096, usize::MAX] {
            assert_eq!(decimal(number, &mut [0; 20]), number.to_string().as_bytes());
        }
    }
}

//! The Parquet library answers some damaged files with a panic (an index out of bounds, an overflow). That is an error like
//! any other of the file: nothing of the panic shows on standard error, and the answer says that the file is damaged.
//!
//! 1. Only panics of the thread that reads, and only while the library reads, are kept quiet. All others show as ever.
//! 2. Nothing that the library was working on is used afterwards.
//! 3. No code of a caller belongs in here: its panics are defects of laxity, and must show.

use parquet::errors::{ParquetError, Result};
use std::cell::Cell;
use std::panic::AssertUnwindSafe;
use std::sync::Once;

thread_local! {
    /// Whether this thread is in [`without_panic`].
    static READING: Cell<bool> = const { Cell::new(false) };
}

/// Since when panics are looked at before they show.
static LOOKED_AT: Once = Once::new();

/// An error of a damaged file.
pub(crate) fn damaged(what: impl Into<String>) -> ParquetError {
    ParquetError::General(what.into())
}

/// Reads with the Parquet library; a panic of it is an error, and says nothing on standard error.
///
/// # Errors
///
/// Those of `read`; a panic in it.
pub fn without_panic<T>(read: impl FnOnce() -> Result<T>) -> Result<T> {
    LOOKED_AT.call_once(|| {
        let show = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !READING.get() {
                show(panic);
            }
        }));
    });
    let _reading = Reading::begin();
    std::panic::catch_unwind(AssertUnwindSafe(read))
        .unwrap_or_else(|_| Err(damaged("its content contradicts itself")))
}

/// While this lives, the thread reads.
struct Reading {
    before: bool,
}

impl Reading {
    fn begin() -> Reading {
        Reading { before: READING.replace(true) }
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        READING.set(self.before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_and_reading_ends_with_it() {
        let nested = || without_panic(|| Ok(READING.get()));
        assert!(without_panic(nested).expect("no panic"));
        let error = without_panic::<()>(|| panic!("index out of bounds")).expect_err("a panic");
        assert!(error.to_string().contains("contradicts itself"), "{error}");
        assert!(!READING.get(), "what panics from now on shows");
    }

    #[test]
    fn other_threads_are_not_kept_quiet() {
        let elsewhere = || std::thread::spawn(|| READING.get()).join();
        assert!(!without_panic(|| Ok(elsewhere().expect("no panic"))).expect("no error"));
    }
}

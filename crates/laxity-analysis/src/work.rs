//! How long a test may take: in steps, which are the same on every machine.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

/// How many steps a test may take: the same on every machine. What a step is, a test's complexity says.
#[derive(Debug, Clone, Copy)]
pub struct Work {
    left: u64,
    interrupt: Option<&'static AtomicBool>,
}

/// A test has taken all its steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutOfWork;

/// Enough for every test on hundreds of tasks as studies have them, and at most some seconds.
pub const WORK_DEFAULT: u64 = 1 << 32;

impl Default for Work {
    fn default() -> Self {
        Self::steps(WORK_DEFAULT)
    }
}

impl Work {
    /// At most so many steps.
    pub fn steps(left: u64) -> Self {
        Work { left, interrupt: None }
    }

    /// None at all once this is true. A verdict that comes after that means nothing.
    #[must_use]
    pub fn unless(self, interrupt: &'static AtomicBool) -> Self {
        Work { interrupt: Some(interrupt), ..self }
    }

    /// Takes some.
    ///
    /// # Errors
    ///
    /// There are not as many left, or it was interrupted.
    pub fn take(&mut self, steps: u64) -> Result<(), OutOfWork> {
        if self.interrupt.is_some_and(|interrupt| interrupt.load(Relaxed)) {
            return Err(OutOfWork);
        }
        self.left = self.left.checked_sub(steps).ok_or(OutOfWork)?;
        Ok(())
    }

    /// Takes none, but says whether `each` steps can be taken so many times: what is sure to take them all need not begin.
    ///
    /// # Errors
    ///
    /// There are not as many left.
    pub(crate) fn requires(&self, times: usize, each: u64) -> Result<(), OutOfWork> {
        if u128::from(self.left) < times as u128 * u128::from(each) { Err(OutOfWork) } else { Ok(()) }
    }
}

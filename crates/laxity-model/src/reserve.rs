//! The reserve: what real-time work leaves of every CPU to background work.

use crate::{Diagnostic, Duration, Result};
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// What real-time work leaves of each CPU to background work (`policy/reserve.h`): in each window, the first of which begins at
/// instant 0, real-time work has the CPU for at most the window less the share as long as background work waits for it. Written
/// SHARE/WINDOW, as in 50ms/1s.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Reserve {
    share: Duration,
    window: Duration,
}

impl Reserve {
    /// Nothing is left: real-time work has the CPU whenever it wants it.
    pub const NONE: Reserve = Reserve { share: Duration::ZERO, window: Duration::from_ns(1) };

    /// The shares that may be asked for, in percent: real-time work keeps a tenth.
    pub const PERCENTS: RangeInclusive<u8> = 0..=90;

    /// The windows that may be asked for. In a kernel, one shorter than a tick would be no reserve, and background work that waits
    /// for one much longer would have the kernel end the scheduler.
    pub const WINDOWS: RangeInclusive<Duration> = Duration::from_ms(10)..=Duration::from_secs(10);

    /// The window where none is asked for: that of sched_rt_period_us.
    pub const WINDOW: Duration = Duration::from_secs(1);

    /// A share of a window.
    ///
    /// # Errors
    ///
    /// A window of 0, or a share that is longer than its window.
    pub fn new(share: Duration, window: Duration) -> Result<Self> {
        if window.is_zero() {
            return Err(Diagnostic::usage(format!("a reserve of {share} in a window of {window}"))
                .hint("give the window in which the share is left, as in 50ms/1s"));
        }
        if share > window {
            return Err(Diagnostic::usage(format!(
                "a reserve of {share} is longer than its window of {window}"
            ))
            .hint("leave at most the whole window, as in 50ms/1s"));
        }
        Ok(Reserve { share, window })
    }

    /// So many percent of each window, rounded up to whole nanoseconds.
    ///
    /// # Errors
    ///
    /// A percentage outside [`Reserve::PERCENTS`], or a window of 0.
    pub fn percent(percent: u8, window: Duration) -> Result<Self> {
        if !Self::PERCENTS.contains(&percent) {
            return Err(Diagnostic::usage(format!("a reserve of {percent} % is above 90 %"))
                .hint("leave background work 0 to 90 percent of each CPU, as in 5"));
        }
        let share = (u128::from(window.as_ns()) * u128::from(percent)).div_ceil(100);
        // At most nine tenths of what fits.
        Self::new(Duration::from_ns(u64::try_from(share).unwrap_or(u64::MAX)), window)
    }

    /// The window, if it may be asked for.
    ///
    /// # Errors
    ///
    /// A window outside [`Reserve::WINDOWS`].
    pub fn checked_window(window: Duration) -> Result<Duration> {
        match Self::WINDOWS.contains(&window) {
            true => Ok(window),
            false => Err(Diagnostic::usage(format!("{window} is not between 10ms and 10s"))
                .hint("the kernel's own for SCHED_FIFO is 1s")),
        }
    }

    /// What is left to background work in a window.
    pub fn share(self) -> Duration {
        self.share
    }

    /// The window.
    pub fn window(self) -> Duration {
        self.window
    }

    /// What real-time work may have in a window while background work waits.
    pub fn runtime(self) -> Duration {
        Duration::from_ns(self.window.as_ns() - self.share.as_ns())
    }

    /// Whether nothing is left.
    pub fn is_none(self) -> bool {
        self.share.is_zero()
    }
}

impl Default for Reserve {
    fn default() -> Self {
        Self::NONE
    }
}

impl fmt::Display for Reserve {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}/{}", self.share, self.window))
    }
}

impl FromStr for Reserve {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self> {
        let unclear = |why: &str| {
            Diagnostic::usage(format!("reserve `{text}` {why}"))
                .hint("write what is left to background work and the window, as in 50ms/1s")
        };
        let (share, window) = text.split_once('/').ok_or_else(|| unclear("has no window"))?;
        let time = |text: &str, what: &str| {
            let time = text.parse::<Duration>();
            time.map_err(|error| unclear(&format!("has no {what}: {}", error.message)))
        };
        Reserve::new(time(share, "share")?, time(window, "window")?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_writes() {
        for (percent, window, text, runtime_ns) in [
            (5, "1s", "50ms/1s", 950_000_000),
            (0, "10ms", "0ns/10ms", 10_000_000),
            (90, "10s", "9s/10s", 1_000_000_000),
            // Rounded up: background work has what it was promised.
            (33, "10000001ns", "3300.001us/10000.001us", 6_700_000),
        ] {
            let reserve = Reserve::percent(percent, window.parse().expect("a time")).expect("valid");
            assert_eq!((reserve.to_string().as_str(), reserve.runtime().as_ns()), (text, runtime_ns));
            assert_eq!(text.parse::<Reserve>().expect("a reserve"), reserve);
            assert_eq!(reserve.is_none(), percent == 0);
        }
        let longest = Duration::from_ns(u64::MAX);
        let most = Reserve::percent(90, longest).expect("it fits");
        assert_eq!(most.share().as_ns(), 16_602_069_666_338_596_454);
        assert_eq!(Reserve::new(longest, longest).expect("all of it").runtime(), Duration::ZERO);
        assert!(Reserve::default().is_none());
    }

    #[test]
    fn what_is_wrong_is_named_with_the_rule_and_a_way_out() {
        let ms = Duration::from_ms;
        for (error, why) in [
            (Reserve::percent(91, ms(100)), "91 % is above 90 %"),
            (Reserve::percent(5, Duration::ZERO), "a window of 0ns"),
            (Reserve::new(ms(11), ms(10)), "11ms is longer than its window of 10ms"),
            ("50ms".parse(), "`50ms` has no window"),
            ("x/1s".parse(), "has no share"),
            ("1ms/".parse(), "has no window"),
            (Reserve::checked_window(ms(9)).map(|_| Reserve::NONE), "9ms is not between 10ms and 10s"),
        ] {
            let error = error.expect_err(why);
            assert!(error.message.contains(why), "{}", error.message);
            assert!(error.hint.is_some(), "{why}");
        }
        assert!(Reserve::checked_window(Duration::from_secs(10)).is_ok());
    }
}

//! Exact spans of time: integer nanoseconds, written with a unit.

use crate::{Diagnostic, Result};
use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Sub};
use std::str::FromStr;

/// A span of time in integer nanoseconds, 0 to about 584 years.
///
/// Read with a unit: `"10ms"`, `"1.5ms"`, `"250us"`, `"1s"`, `"17ns"`, `"2m"` (minutes), `"1.5h"`; written in seconds at
/// most. A fraction must come out
/// in whole nanoseconds; nothing is rounded. Operators panic on overflow, in release builds too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Duration(u64);

const UNITS: [(&str, u64); 9] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("min", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

impl Duration {
    /// No time at all.
    pub const ZERO: Duration = Duration(0);

    /// `ns` nanoseconds.
    pub const fn from_ns(ns: u64) -> Self {
        Duration(ns)
    }

    /// `us` microseconds. Panics past 2^64 ns.
    pub const fn from_us(us: u64) -> Self {
        Duration(us * 1_000)
    }

    /// `ms` milliseconds. Panics past 2^64 ns.
    pub const fn from_ms(ms: u64) -> Self {
        Duration(ms * 1_000_000)
    }

    /// `s` seconds. Panics past 2^64 ns.
    pub const fn from_secs(s: u64) -> Self {
        Duration(s * 1_000_000_000)
    }

    /// Nanoseconds.
    pub const fn as_ns(self) -> u64 {
        self.0
    }

    /// Seconds as a float: for showing and plotting, never for a verdict.
    #[expect(clippy::cast_precision_loss, reason = "for display only")]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Milliseconds as a float: for showing and plotting, never for a verdict.
    pub fn as_ms_f64(self) -> f64 {
        self.as_secs_f64() * 1e3
    }

    /// True for a span of no time.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// The sum, or nothing past 2^64 ns.
    pub const fn checked_add(self, other: Self) -> Option<Self> {
        match self.0.checked_add(other.0) {
            Some(ns) => Some(Duration(ns)),
            None => None,
        }
    }

    /// The difference, or nothing if `other` is longer.
    pub const fn checked_sub(self, other: Self) -> Option<Self> {
        match self.0.checked_sub(other.0) {
            Some(ns) => Some(Duration(ns)),
            None => None,
        }
    }

    /// The multiple, or nothing past 2^64 ns.
    pub const fn checked_mul(self, factor: u64) -> Option<Self> {
        match self.0.checked_mul(factor) {
            Some(ns) => Some(Duration(ns)),
            None => None,
        }
    }

    /// The difference, or zero if `other` is longer.
    pub const fn saturating_sub(self, other: Self) -> Self {
        Duration(self.0.saturating_sub(other.0))
    }
}

impl From<Duration> for std::time::Duration {
    fn from(span: Duration) -> Self {
        std::time::Duration::from_nanos(span.0)
    }
}

impl Add for Duration {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        self.checked_add(other).expect("time overflow")
    }
}

impl AddAssign for Duration {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Duration {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self.checked_sub(other).expect("time underflow")
    }
}

impl Mul<u64> for Duration {
    type Output = Self;
    fn mul(self, factor: u64) -> Self {
        self.checked_mul(factor).expect("time overflow")
    }
}

impl Sum for Duration {
    fn sum<I: Iterator<Item = Self>>(spans: I) -> Self {
        spans.fold(Duration::ZERO, Add::add)
    }
}

impl FromStr for Duration {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self> {
        let trimmed = text.trim();
        let bad = |why: &str| {
            Diagnostic::usage(format!("time `{text}` {why}")).hint(
                "write a number and a unit: ns, us, ms, s, m (minutes) or h, as in \"10ms\" or \"1.5s\"",
            )
        };
        let split = trimmed.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(trimmed.len());
        let (number, unit) = (&trimmed[..split], trimmed[split..].trim_start());
        if number.is_empty() {
            return Err(bad("is not a non-negative number with a unit"));
        }
        if unit.is_empty() {
            return Err(bad("has no unit"));
        }
        let Some(&(_, scale)) = UNITS.iter().find(|(name, _)| *name == unit) else {
            return Err(bad(&format!("has the unknown unit `{unit}`")));
        };
        exact_multiple(number, scale).map(Duration).map_err(bad)
    }
}

/// `number` (decimal digits, at most one dot) times `scale`, if that is a whole number below 2^64.
fn exact_multiple(number: &str, scale: u64) -> std::result::Result<u64, &'static str> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if fraction.contains('.') || (whole.is_empty() && fraction.is_empty()) {
        return Err("is not a number");
    }
    let too_long = "is longer than 2^64 ns (584 years)";
    let digits = |part: &str| if part.is_empty() { Ok(0) } else { part.parse::<u64>().map_err(|_| too_long) };
    let total = digits(whole)?.checked_mul(scale).ok_or(too_long)?;
    let fraction = fraction.trim_end_matches('0');
    let below = u32::try_from(fraction.len()).ok().and_then(|n| 10u64.checked_pow(n));
    let below = below.ok_or("is not a whole number of nanoseconds")?;
    let part = u128::from(digits(fraction)?) * u128::from(scale);
    if part % u128::from(below) != 0 {
        return Err("is not a whole number of nanoseconds");
    }
    let part = u64::try_from(part / u128::from(below)).map_err(|_| too_long)?;
    total.checked_add(part).ok_or(too_long)
}

impl fmt::Display for Duration {
    /// The largest unit in which at most three decimals are needed; always exact.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, scale) = match self.0 {
            0 => return f.pad("0ns"),
            ns if ns >= 1_000_000_000 && ns % 1_000_000 == 0 => ("s", 1_000_000_000),
            ns if ns >= 1_000_000 && ns % 1_000 == 0 => ("ms", 1_000_000),
            ns if ns >= 1_000 => ("us", 1_000),
            _ => ("ns", 1),
        };
        let (whole, rest) = (self.0 / scale, self.0 % scale);
        if rest == 0 {
            return f.pad(&format!("{whole}{unit}"));
        }
        let thousandths = format!("{:03}", rest * 1_000 / scale);
        f.pad(&format!("{whole}.{}{unit}", thousandths.trim_end_matches('0')))
    }
}

crate::text_form::serde_as_text!(Duration);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_units_and_exact_fractions() {
        for (text, ns) in [
            ("10ms", 10_000_000),
            ("1.5ms", 1_500_000),
            ("250us", 250_000),
            ("250 µs", 250_000),
            ("1s", 1_000_000_000),
            ("17ns", 17),
            (".5us", 500),
            ("0.000000001s", 1),
            ("0s", 0),
            ("10m", 600_000_000_000),
            ("1.5 min", 90_000_000_000),
            ("2h", 7_200_000_000_000),
        ] {
            assert_eq!(text.parse(), Ok(Duration::from_ns(ns)), "{text}");
        }
    }

    #[test]
    fn refuses_what_is_not_exact_or_not_a_time() {
        for (text, why) in [
            ("10", "no unit"),
            ("", "number"),
            ("ms", "number"),
            ("-1ms", "non-negative"),
            ("1.5ns", "whole number"),
            ("1d", "unknown unit `d`"),
            ("1.2.3ms", "number"),
            ("1e3ms", "unknown unit"),
            ("99999999999999999999s", "longer"),
            ("18446744074s", "longer"),
            (".ms", "number"),
        ] {
            let error = text.parse::<Duration>().expect_err(text);
            assert!(error.message.contains(why), "{text}: {}", error.message);
            assert!(error.hint.is_some());
        }
    }

    laxity_seeds::properties! {
        #[test]
        fn what_is_written_reads_back(ns in any::<u64>()) {
            let span = Duration::from_ns(ns);
            prop_assert_eq!(span.to_string().parse(), Ok(span));
        }
    }
}

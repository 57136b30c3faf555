//! Exact non-negative decimals for parameters: a target of 3.2 is 32/10, not the nearest double.

use laxity_model::{Diagnostic, Result};
use std::fmt;
use std::str::FromStr;

const BILLION: u64 = 1_000_000_000;

/// A non-negative number with at most nine decimals, up to 10^9: a utilization, a factor, a mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Decimal(u64);

impl Decimal {
    /// 0.
    pub const ZERO: Decimal = Decimal(0);
    /// 1.
    pub const ONE: Decimal = Decimal(BILLION);

    /// `thousandths / 1000`.
    pub const fn from_thousandths(thousandths: u32) -> Self {
        Decimal(thousandths as u64 * 1_000_000)
    }

    /// `count`, a whole number.
    pub const fn whole(count: u32) -> Self {
        Decimal(count as u64 * BILLION)
    }

    /// The number times 10^9, exactly.
    pub const fn billionths(self) -> u64 {
        self.0
    }

    /// `factor` times the number, or nothing past 10^9.
    pub fn checked_mul(self, factor: u32) -> Option<Self> {
        self.0.checked_mul(u64::from(factor)).filter(|&product| product <= BILLION * BILLION).map(Decimal)
    }

    /// The nearest double.
    pub fn to_f64(self) -> f64 {
        self.0 as f64 / BILLION as f64
    }

    /// `floor(self * ns)`, or nothing past 2^64.
    pub(crate) fn floor_of(self, ns: u64) -> Option<u64> {
        u64::try_from(u128::from(self.0) * u128::from(ns) / u128::from(BILLION)).ok()
    }
}

impl FromStr for Decimal {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self> {
        parse(text.trim()).ok_or_else(|| {
            Diagnostic::usage(format!("`{text}` is not a non-negative number with at most nine decimals"))
                .hint("write a number such as 3.2; the largest is 1000000000")
        })
    }
}

fn parse(text: &str) -> Option<Decimal> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let all_digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    if (whole.is_empty() && fraction.is_empty()) || !all_digits(whole) || !all_digits(fraction) {
        return None;
    }
    let fraction = fraction.trim_end_matches('0');
    if fraction.len() > 9 {
        return None;
    }
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let fraction: u64 = format!("{fraction:0<9}").parse().ok()?;
    let total = whole.checked_mul(BILLION)?.checked_add(fraction)?;
    (total <= BILLION * BILLION).then_some(Decimal(total))
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, fraction) = (self.0 / BILLION, self.0 % BILLION);
        if fraction == 0 {
            return f.pad(&whole.to_string());
        }
        f.pad(format!("{whole}.{fraction:09}").trim_end_matches('0'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_decimals_exactly() {
        for (text, billionths) in [
            ("3.2", 3_200_000_000),
            (".5", 500_000_000),
            ("7", 7 * BILLION),
            ("0.000000001", 1),
            ("1.0", BILLION),
        ] {
            assert_eq!(text.parse(), Ok(Decimal(billionths)), "{text}");
        }
        for text in
            ["", ".", "-1", "1e3", "0.0000000001", "1.2.3", "1000000001", "inf", "+1", "99999999999999999999"]
        {
            assert!(text.parse::<Decimal>().is_err(), "{text}");
        }
    }

    laxity_seeds::properties! {
        #[test]
        fn what_is_written_reads_back(billionths in 0..=BILLION * BILLION) {
            let decimal = Decimal(billionths);
            prop_assert_eq!(decimal.to_string().parse(), Ok(decimal));
        }
    }
}

//! Numbers as a reader wants them: three significant digits and a unit.
//!
//! Rounding never turns some into none or nearly all into all: a share above 0 is never shown as 0 %, one
//! below 1 never as 100 %.

/// What stands where a quantity was not measured.
pub(crate) const NOT_AVAILABLE: &str = "n/a";

/// Decimals that give `value` three significant digits, at most `most`.
fn decimals(value: f64, most: usize) -> usize {
    let mut threshold = 100.0;
    for decimals in 0..most {
        // Compared after rounding: 9.996 has two decimals less than 9.99, because it is shown as 10.0.
        if format!("{:.*}", decimals, value.abs()).parse().is_ok_and(|rounded: f64| rounded >= threshold) {
            return decimals;
        }
        threshold /= 10.0;
    }
    most
}

/// Three significant digits, without an exponent; small values get at most four decimals.
pub fn significant(value: f64) -> String {
    if !value.is_finite() {
        return NOT_AVAILABLE.to_owned();
    }
    without_negative_zero(format!("{:.*}", decimals(value, 4), value))
}

/// `mean ± sd`, both with the decimals that give the mean three significant digits . Without an sd
/// (a single value), the mean alone.
pub(crate) fn mean_sd(mean: f64, sd: Option<f64>) -> String {
    if !mean.is_finite() {
        return NOT_AVAILABLE.to_owned();
    }
    if mean == 0.0 && sd.is_none_or(|sd| sd == 0.0) {
        return "0".to_owned();
    }
    let places = decimals(mean, 3);
    let mean = without_negative_zero(format!("{mean:.places$}"));
    match sd.filter(|sd| sd.is_finite()) {
        Some(sd) => format!("{mean} ± {sd:.places$}"),
        None => mean,
    }
}

fn without_negative_zero(text: String) -> String {
    match text.strip_prefix('-') {
        Some(rest) if rest.chars().all(|c| c == '0' || c == '.') => rest.to_owned(),
        _ => text,
    }
}

/// A span of time given in ns, in the unit that leaves one to three digits before the point.
pub(crate) fn span(ns: f64) -> String {
    if !ns.is_finite() {
        return NOT_AVAILABLE.to_owned();
    }
    let size = ns.abs();
    let (unit, scale) = match size {
        _ if size == 0.0 => return "0".to_owned(),
        _ if size >= 999.5e6 => ("s", 1e9),
        _ if size >= 999.5e3 => ("ms", 1e6),
        _ if size >= 999.5 => ("µs", 1e3),
        _ => ("ns", 1.0),
    };
    format!("{} {unit}", significant(ns / scale))
}

/// `span` of a whole number of ns.
#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
pub fn span_ns(ns: u64) -> String {
    span(ns as f64)
}

/// `part / whole` in percent.
pub fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        return NOT_AVAILABLE.to_owned();
    }
    if part == 0 {
        return "0 %".to_owned();
    }
    if part == whole {
        return "100 %".to_owned();
    }
    let share = ratio(part, whole) * 100.0;
    match share {
        _ if share < 0.01 => "< 0.01 %".to_owned(),
        _ if share >= 99.95 => "> 99.9 %".to_owned(),
        _ if share < 1.0 => format!("{share:.2} %"),
        _ => format!("{share:.1} %"),
    }
}

/// `part / whole`, for drawing. Nothing of nothing is 0.
#[expect(clippy::cast_precision_loss, reason = "for display only")]
pub(crate) fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// A number of things, with commas between thousands.
pub fn count(number: u64) -> String {
    laxity_model::with_commas(number)
}

/// `1 job`, `2 jobs`.
pub(crate) fn counted(number: impl TryInto<u64>, word: &str) -> String {
    laxity_model::plural(number, word)
}

/// A mean number of jobs, to a tenth where it is small.
pub(crate) fn jobs(jobs: f64) -> String {
    if jobs < 0.05 {
        "0".to_owned()
    } else if jobs < 100.0 {
        format!("{jobs:.1}").trim_end_matches(".0").to_owned()
    } else {
        format!("{jobs:.0}")
    }
}

/// Bytes in the largest binary unit that they fill.
#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
pub(crate) fn bytes(size: u64) -> String {
    let units = [("GiB", 1u64 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    match units.iter().find(|(_, scale)| size >= *scale) {
        Some((unit, scale)) if size.is_multiple_of(*scale) => format!("{} {unit}", size / scale),
        Some((unit, scale)) => format!("{} {unit}", significant(size as f64 / *scale as f64)),
        None => format!("{size} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_significant_digits() {
        for (value, text) in [
            (0.0, "0.0000"),
            (1.0, "1.00"),
            (0.63712, "0.637"),
            (9.996, "10.0"),
            (99.96, "100"),
            (7177.26, "7177"),
            (0.012345, "0.0123"),
            (-1.277, "-1.28"),
            (-0.00001, "0.0000"),
            (f64::NAN, "n/a"),
        ] {
            assert_eq!(significant(value), text);
        }
    }

    #[test]
    fn a_mean_and_its_deviation_share_their_decimals() {
        assert_eq!(mean_sd(0.6372, Some(0.0041)), "0.637 ± 0.004");
        assert_eq!(mean_sd(7177.26, Some(204.66)), "7177 ± 205");
        assert_eq!(mean_sd(-17.268, Some(9.15)), "-17.3 ± 9.2");
        assert_eq!(mean_sd(0.0, Some(0.0)), "0");
        assert_eq!(mean_sd(0.0, Some(0.1)), "0.000 ± 0.100");
        assert_eq!(mean_sd(0.5, None), "0.500");
        assert_eq!(mean_sd(f64::NAN, None), "n/a");
    }

    #[test]
    fn spans_carry_the_unit_that_fits() {
        for (ns, text) in [
            (0, "0"),
            (17, "17.0 ns"),
            (999, "999 ns"),
            (12_340, "12.3 µs"),
            (999_600, "1.00 ms"),
            (2_000_000_000, "2.00 s"),
        ] {
            assert_eq!(span_ns(ns), text);
        }
        assert_eq!(span(-1_500_000.0), "-1.50 ms");
    }

    #[test]
    fn rounding_never_hides_a_miss_or_a_hit() {
        assert_eq!(percent(0, 10), "0 %");
        assert_eq!(percent(1, 1_000_000), "< 0.01 %");
        assert_eq!(percent(999_999, 1_000_000), "> 99.9 %");
        assert_eq!(percent(1, 3), "33.3 %");
        assert_eq!(percent(1, 200), "0.50 %");
        assert_eq!(percent(3, 3), "100 %");
        assert_eq!(percent(0, 0), "n/a");
    }

    #[test]
    fn counts_and_bytes() {
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(counted(1, "job"), "1 job");
        assert_eq!(counted(1200, "miss"), "1,200 misses");
        assert_eq!(bytes(16_384), "16 KiB");
        assert_eq!(bytes(1_500), "1.46 KiB");
        assert_eq!(bytes(12), "12 B");
    }
}

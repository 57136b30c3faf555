//! Axes whose ticks sit on round numbers, linear, logarithmic or named.
//!
//! Logarithms are those of the `libm` crate, so that a plot has the same bytes on every machine.

use plotters::coord::ranged1d::{
    KeyPointHint, NoDefaultFormatting, Ranged, ReversibleRanged, ValueFormatter,
};
use std::ops::Range;

/// One axis: its ends, its ticks and what is written at them.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    low: f64,
    high: f64,
    logarithmic: bool,
    ticks: Vec<(f64, String)>,
}

impl Axis {
    /// From `low` to `high` with about `ticks` ticks at multiples of 1, 2 or 5 times a power of ten.
    pub(super) fn linear(low: f64, high: f64, ticks: usize) -> Self {
        let high = if high > low { high } else { low + 1.0 };
        let step = round_step((high - low) / count(ticks));
        let decimals = decimals_of(step);
        Self::stepped(low, high, step, |value| format!("{value:.decimals$}"))
    }

    /// The same, labelled in percent of 1.
    pub(super) fn percent(low: f64, high: f64, ticks: usize) -> Self {
        let high = if high > low { high } else { low + 0.01 };
        let step = round_step((high - low) / count(ticks));
        let decimals = decimals_of(step * 100.0);
        Self::stepped(low, high, step, |value| format!("{:.decimals$} %", value * 100.0))
    }

    fn stepped(low: f64, high: f64, step: f64, label: impl Fn(f64) -> String) -> Self {
        let first = (low / step - 1e-9).ceil();
        let ticks = (0..100)
            .map(|k| (first + f64::from(k)) * step)
            .take_while(|&value| value <= high + step * 1e-9)
            .map(|value| {
                let value = if value.abs() < step * 1e-9 { 0.0 } else { value };
                (value, label(value))
            })
            .collect();
        Axis { low, high, logarithmic: false, ticks }
    }

    /// Logarithmic from below `low` to above `high` (both positive), ticks at 1, 2 and 5 times powers of ten.
    pub(super) fn logarithmic(low: f64, high: f64) -> Self {
        let low = if low > 0.0 { low } else { 1e-3 };
        let (low, high) = (low / 1.15, high.max(low) * 1.15);
        let mut ticks: Vec<f64> = log_ticks(low, high, &[1.0, 2.0, 5.0]);
        if ticks.len() > 9 {
            ticks = log_ticks(low, high, &[1.0]);
        } else if ticks.len() < 3 {
            ticks = log_ticks(low, high, &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
        }
        let ticks = ticks.into_iter().map(|value| (value, trimmed(value))).collect();
        Axis { low, high, logarithmic: true, ticks }
    }

    /// One row per name, the first on top; when there are many, only every k-th name is written.
    pub(super) fn rows(names: &[String], labels_most: usize) -> Self {
        let every = names.len().div_ceil(labels_most.max(1)).max(1);
        let ticks = names.iter().enumerate().step_by(every).map(|(k, name)| (count(k), name.clone()));
        // Larger values are lower on the page, so that reading order is the order of the tasks.
        Axis { low: count(names.len()) - 0.5, high: -0.5, logarithmic: false, ticks: ticks.collect() }
    }

    pub(super) fn low(&self) -> f64 {
        self.low
    }

    pub(super) fn high(&self) -> f64 {
        self.high
    }

    /// True if the value is on the axis.
    pub(super) fn contains(&self, value: f64) -> bool {
        value >= self.low.min(self.high) && value <= self.low.max(self.high)
    }

    /// The value, or the end of the axis that is nearest to it.
    pub(super) fn clamped(&self, value: f64) -> f64 {
        value.clamp(self.low.min(self.high), self.low.max(self.high))
    }

    fn place(&self, value: f64) -> f64 {
        if self.logarithmic {
            libm::log(value / self.low) / libm::log(self.high / self.low)
        } else {
            (value - self.low) / (self.high - self.low)
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "numbers of rows and ticks")]
pub(super) fn count(number: usize) -> f64 {
    number as f64
}

/// The smallest of 1, 2, 5 times a power of ten that is not much less than `rough`.
fn round_step(rough: f64) -> f64 {
    let power = libm::pow(10.0, libm::log10(rough).floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * power).find(|&s| s >= rough * 0.75).unwrap_or(power)
}

/// Decimals that show a step of this size.
fn decimals_of(step: f64) -> usize {
    (0..6).find(|&k| step >= 0.999 * 10f64.powi(-k)).and_then(|k| usize::try_from(k).ok()).unwrap_or(6)
}

fn log_ticks(low: f64, high: f64, mantissas: &[f64]) -> Vec<f64> {
    let powers = (-9..=12).map(|power| 10f64.powi(power));
    powers.flat_map(|p| mantissas.iter().map(move |m| m * p)).filter(|&v| v >= low && v <= high).collect()
}

fn trimmed(value: f64) -> String {
    if value >= 1.0 { format!("{}", (value * 10.0).round() / 10.0) } else { format!("{value}") }
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    #[expect(clippy::cast_possible_truncation, reason = "pixels, clamped to a page")]
    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let place = self.place(*value).clamp(-1.0, 2.0);
        limit.0 + (place * f64::from(limit.1 - limit.0)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        // Plotters asks for the labelled lines and for the light lines between them; there are only the former.
        if hint.weight().allow_light_points() { vec![] } else { self.ticks.iter().map(|t| t.0).collect() }
    }

    fn range(&self) -> Range<f64> {
        self.low..self.high
    }
}

impl ReversibleRanged for Axis {
    fn unmap(&self, pixel: i32, limit: (i32, i32)) -> Option<f64> {
        let place = f64::from(pixel - limit.0) / f64::from(limit.1 - limit.0);
        Some(if self.logarithmic {
            self.low * libm::pow(self.high / self.low, place)
        } else {
            self.low + place * (self.high - self.low)
        })
    }
}

impl ValueFormatter<f64> for Axis {
    fn format_ext(&self, value: &f64) -> String {
        self.ticks.iter().find(|tick| tick.0 == *value).map(|tick| tick.1.clone()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|tick| tick.1.as_str()).collect()
    }

    #[test]
    fn ticks_are_round_numbers_inside_the_axis() {
        assert_eq!(labels(&Axis::linear(-0.1, 0.1, 4)), ["-0.10", "-0.05", "0.00", "0.05", "0.10"]);
        assert_eq!(labels(&Axis::linear(0.0, 1.0, 5)), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(&Axis::percent(0.0, 0.011, 4)), ["0.0 %", "0.5 %", "1.0 %"]);
        assert_eq!(labels(&Axis::logarithmic(10.0, 100.0)), ["10", "20", "50", "100"]);
        assert_eq!(labels(&Axis::logarithmic(20.0, 21.0)), ["20"]);
        assert_eq!(labels(&Axis::logarithmic(0.5, 20_000.0)), ["1", "10", "100", "1000", "10000"]);
    }

    #[test]
    fn degenerate_ranges_still_make_an_axis() {
        for axis in [Axis::linear(0.3, 0.3, 4), Axis::percent(0.0, 0.0, 4), Axis::logarithmic(0.0, 0.0)] {
            assert!(axis.high > axis.low, "{axis:?}");
            assert!(!axis.ticks.is_empty(), "{axis:?}");
        }
    }

    #[test]
    fn many_rows_show_every_kth_name() {
        let names: Vec<String> = (0..100).map(|k| format!("t{k}")).collect();
        assert_eq!(Axis::rows(&names, 25).ticks.len(), 25);
        assert_eq!(Axis::rows(&names[..3], 25).ticks.len(), 3);
    }

    #[test]
    fn a_mapped_value_maps_back() {
        for axis in [Axis::linear(-1.0, 3.0, 5), Axis::logarithmic(10.0, 1000.0)] {
            for pixel in [0, 250, 1000] {
                let value = axis.unmap(pixel, (0, 1000)).expect("reversible");
                assert_eq!(axis.map(&value, (0, 1000)), pixel);
            }
        }
    }
}

//! Colours, dashes and markers of the schedulers.
//!
//! The colours are those of Okabe and Ito (Color Universal Design, 2008), which readers with any common colour
//! vision can tell apart. Each scheduler also has a marker, and RM is dashed where EDF is solid, so that the
//! plots survive a black-and-white printer.

use laxity_model::{PriorityRule, Scheduler, Scope};
use plotters::style::RGBColor;

/// The shape drawn at a data point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Marker {
    Circle,
    Square,
    Triangle,
    Diamond,
    Plus,
    Cross,
}

/// How one scheduler looks in every plot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SeriesStyle {
    pub(super) color: RGBColor,
    pub(super) dashed: bool,
    pub(super) marker: Marker,
}

pub(super) const BLUE: RGBColor = RGBColor(0, 114, 178);
const SKY: RGBColor = RGBColor(86, 180, 233);
const GREEN: RGBColor = RGBColor(0, 158, 115);
const ORANGE: RGBColor = RGBColor(230, 159, 0);
pub(super) const VERMILLION: RGBColor = RGBColor(213, 94, 0);
const PURPLE: RGBColor = RGBColor(204, 121, 167);
/// Of Tol's muted scheme: the ninth, darker than all but ink.
const WINE: RGBColor = RGBColor(136, 34, 85);
/// Text and axes.
pub(super) const INK: RGBColor = RGBColor(31, 41, 55);
/// Secondary text.
pub(super) const GREY: RGBColor = RGBColor(107, 114, 128);
/// Grid lines.
pub(super) const GRID: RGBColor = RGBColor(226, 230, 236);

/// The style of the `index`-th configuration, whose scheduler has this name. The six of lelli2012's Table 1
/// look the same in every report; others take what is left, in their order.
pub(super) fn series_style(scheduler: &str, index: usize) -> SeriesStyle {
    let known = scheduler.parse::<Scheduler>().ok().filter(|known| Scheduler::LELLI2012.contains(known));
    if let Some(known) = known {
        let rm = known.rule == PriorityRule::RateMonotonic;
        let (color, marker) = match (known.scope, rm) {
            (Scope::Global, false) => (BLUE, Marker::Circle),
            (Scope::Global, true) => (SKY, Marker::Cross),
            (Scope::Clustered, false) => (GREEN, Marker::Triangle),
            (Scope::Clustered, true) => (PURPLE, Marker::Plus),
            (Scope::Partitioned, false) => (VERMILLION, Marker::Square),
            (Scope::Partitioned, true) => (ORANGE, Marker::Diamond),
        };
        return SeriesStyle { color, dashed: rm, marker };
    }
    let colors = [INK, PURPLE, SKY, GREEN, ORANGE, BLUE, VERMILLION, GREY, WINE];
    let markers =
        [Marker::Diamond, Marker::Plus, Marker::Circle, Marker::Cross, Marker::Square, Marker::Triangle];
    SeriesStyle {
        color: colors[index % colors.len()],
        dashed: (index / colors.len()) % 2 == 1,
        marker: markers[index % markers.len()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_schedulers_look_alike() {
        let styles: Vec<SeriesStyle> =
            Scheduler::LELLI2012.iter().map(|s| series_style(s.name(), 0)).collect();
        for (k, style) in styles.iter().enumerate() {
            for other in &styles[..k] {
                assert_ne!(style.color, other.color);
                assert_ne!(style.marker, other.marker);
            }
        }
    }
}

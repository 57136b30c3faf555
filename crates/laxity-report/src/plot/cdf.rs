//! Distribution functions of normalized laxity, whole and around zero (lelli2012, Figures 3 to 5).

use super::axis::{Axis, count};
use super::canvas::{Area, Chart, Drawn, LegendEntry, Page, Panel, draw_line, draw_marker, px, stroke, text};
use super::style::{GREY, INK, SeriesStyle};
use crate::number;
use laxity_model::Result;
use laxity_trace::thin_cdf;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

/// Points of a curve in one panel: more than the panel has pixels in either direction.
const POINTS_MAX: usize = 240;
/// The zoom shows laxities of at most this share of a period on either side of the deadline.
const ZOOM: f64 = 0.1;

/// One curve: the normalized laxities of some jobs under one scheduler.
pub(super) struct Curve {
    pub(super) label: String,
    pub(super) style: SeriesStyle,
    /// Of completed jobs, ascending, and how many have each.
    laxities: Vec<(f64, u64)>,
    /// How many completed jobs have a laxity before each of those, and how many there are.
    before: Vec<u64>,
    /// Jobs that missed their deadline and never completed: they have no laxity, but they count as lower
    /// than any.
    unfinished: u64,
}

impl Curve {
    /// Of laxities in any order, and how many jobs have each.
    pub(super) fn new(
        label: String,
        style: SeriesStyle,
        mut laxities: Vec<(f64, u64)>,
        unfinished: u64,
    ) -> Curve {
        laxities.sort_unstable_by(|(one, _), (other, _)| one.total_cmp(other));
        let mut sum = 0;
        let sums = laxities.iter().map(|(_, jobs)| {
            sum += jobs;
            sum
        });
        let before = std::iter::once(0).chain(sums).collect();
        Curve { label, style, laxities, before, unfinished }
    }

    pub(super) fn jobs(&self) -> u64 {
        self.unfinished + self.completed()
    }

    fn completed(&self) -> u64 {
        self.before[self.laxities.len()]
    }

    /// A laxity that about a two-hundredth of the completed jobs do not exceed.
    fn low_end(&self) -> f64 {
        let rank = self.completed() / 200;
        let place = self.before.partition_point(|&before| before <= rank);
        place.checked_sub(1).and_then(|place| self.laxities.get(place)).map_or(0.0, |(laxity, _)| *laxity)
    }

    /// Share of the jobs whose laxity is at most `value`.
    fn share_at_most(&self, value: f64) -> f64 {
        let place = self.laxities.partition_point(|&(laxity, _)| laxity <= value);
        self.share(number::ratio(self.before[place], 1))
    }

    fn share(&self, completed: f64) -> f64 {
        let unfinished = number::ratio(self.unfinished, 1);
        (unfinished + completed) / (unfinished + number::ratio(self.completed(), 1)).max(1.0)
    }

    /// The function between two values as steps: (value, share) corners.
    fn steps(&self, low: f64, high: f64) -> Vec<(f64, f64)> {
        let first = self.laxities.partition_point(|&(laxity, _)| laxity < low);
        let end = self.laxities.partition_point(|&(laxity, _)| laxity <= high);
        let before = number::ratio(self.before[first], 1);
        let within = number::ratio(self.before[end] - self.before[first], 1);
        let mut corners = vec![(low, self.share(before))];
        for point in thin_cdf(&self.laxities[first..end], POINTS_MAX) {
            let share = self.share(before + point.share * within);
            let before = corners[corners.len() - 1].1;
            corners.extend([(point.value, before), (point.value, share)]);
        }
        corners.push((high, corners[corners.len() - 1].1));
        corners
    }
}

/// One plot of two panels: the whole distribution, and around zero.
pub(super) fn laxity_cdf(title: &str, subtitle: &str, curves: &[Curve]) -> Result<String> {
    let legend = legend(curves);
    let page = Page { title, subtitle, legend: &legend, width: 920, body_height: 330 };
    page.draw(|area| {
        let (left, right) = area.split_horizontally(px(460));
        let low = curves.iter().map(Curve::low_end).fold(0.0, f64::min).max(-1.0);
        let high = curves
            .iter()
            .filter_map(|c| c.laxities.last())
            .map(|(laxity, _)| *laxity)
            .fold(0.1, f64::max)
            .min(10.0);
        whole_panel(&left, curves, low - 0.03, high.max(low + 0.2) + 0.02)?;
        zoom_panel(&right, "Around the deadline", curves)
    })
}

/// The zoom alone (Figure 5).
pub(super) fn laxity_cdf_zoom(title: &str, subtitle: &str, curves: &[Curve]) -> Result<String> {
    let legend = legend(curves);
    let page = Page { title, subtitle, legend: &legend, width: 920, body_height: 330 };
    page.draw(|area| zoom_panel(area, "", curves))
}

fn legend(curves: &[Curve]) -> Vec<LegendEntry> {
    let entry = |curve: &Curve| LegendEntry {
        label: format!("{} ({})", curve.label, number::counted(curve.jobs(), "job")),
        style: curve.style,
        line: true,
    };
    curves.iter().map(entry).collect()
}

fn whole_panel(area: &Area<'_>, curves: &[Curve], low: f64, high: f64) -> Drawn {
    let panel = Panel {
        heading: "Whole distribution",
        x_title: "normalized laxity (D − R) / T",
        y_title: "share of jobs with at most this laxity",
        y_room: 62,
    };
    let (x, y) = (Axis::linear(low, high, 6), Axis::percent(0.0, 1.0, 5));
    let mut chart = panel.chart(area, x.clone(), y)?;
    draw_curves(area, &mut chart, &x, curves)
}

fn zoom_panel(area: &Area<'_>, heading: &str, curves: &[Curve]) -> Drawn {
    let top = curves.iter().map(|curve| curve.share_at_most(ZOOM)).fold(0.0, f64::max);
    let panel = Panel {
        heading,
        x_title: "normalized laxity (D − R) / T; left of 0: missed",
        y_title: "share of jobs with at most this laxity",
        y_room: 62,
    };
    let (x, y) = (Axis::linear(-ZOOM, ZOOM, 5), Axis::percent(0.0, (top * 1.08).clamp(0.001, 1.0), 5));
    let mut chart = panel.chart(area, x.clone(), y)?;
    if top == 0.0 {
        let place = chart.backend_coord(&(0.0, 0.0005));
        let base = area.get_base_pixel();
        let style = text(12, GREY, HPos::Center, VPos::Center);
        let at = (place.0 - base.0, place.1 - base.1);
        return area.draw_text("No job came within 10 % of its period to its deadline.", &style, at);
    }
    draw_curves(area, &mut chart, &x, curves)
}

fn draw_curves(area: &Area<'_>, chart: &mut Chart<'_, '_>, x: &Axis, curves: &[Curve]) -> Drawn {
    let y_range = chart.plotting_area().get_pixel_range().1;
    let base = area.get_base_pixel();
    if x.contains(0.0) {
        let zero = chart.backend_coord(&(0.0, 0.0)).0 - base.0;
        let line = vec![(zero, y_range.start - base.1), (zero, y_range.end - base.1)];
        area.draw(&PathElement::new(line, stroke(INK, 4)))?;
    }
    for (index, curve) in curves.iter().enumerate() {
        let corners = curve.steps(x.low(), x.high());
        let to_page = |&(value, share): &(f64, f64)| {
            let (px, py) = chart.backend_coord(&(value, share));
            (px - base.0, py - base.1)
        };
        let line = without_repeats(corners.iter().map(to_page));
        draw_line(area, &line, curve.style, 7)?;
        // Markers are staggered, so that coinciding curves can be told apart.
        for mark in 0..4 {
            let share = (count(index) + 0.5) / count(curves.len().max(1));
            let value = x.low() + (f64::from(mark) + share) / 4.0 * (x.high() - x.low());
            let point = to_page(&(value, curve.share_at_most(value)));
            draw_marker(area, point, curve.style, 4)?;
        }
    }
    Ok(())
}

/// Leaves out points on the straight line between their neighbours.
fn without_repeats(points: impl Iterator<Item = (i32, i32)>) -> Vec<(i32, i32)> {
    let mut kept: Vec<(i32, i32)> = Vec::new();
    for point in points {
        if kept.last() == Some(&point) {
            continue;
        }
        if let [.., a, b] = kept[..]
            && ((a.0 == b.0 && b.0 == point.0) || (a.1 == b.1 && b.1 == point.1))
        {
            kept.pop();
        }
        kept.push(point);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::style::series_style;

    fn curve(laxities: &[f64], unfinished: u64) -> Curve {
        let style = series_style("g-edf", 0);
        let laxities = laxities.iter().map(|laxity| (*laxity, 1)).collect();
        Curve::new("g-edf".into(), style, laxities, unfinished)
    }

    #[test]
    fn the_share_left_of_zero_is_the_share_of_misses() {
        // Two of five finished late, and one never finished: 3/6 missed.
        let curve = curve(&[-0.05, -0.01, 0.0, 0.3, 0.9], 1);
        let left_of_zero =
            curve.steps(-0.1, 0.1).iter().filter(|c| c.0 < 0.0).map(|c| c.1).fold(0.0, f64::max);
        assert_eq!(left_of_zero, 0.5);
        assert_eq!(curve.steps(-0.1, 0.1)[0], (-0.1, 1.0 / 6.0));
        assert_eq!(curve.steps(-0.1, 1.0).last(), Some(&(1.0, 1.0)));
    }

    #[test]
    fn nothing_to_draw_is_drawn_as_nothing() {
        for curves in [vec![], vec![curve(&[], 0)], vec![curve(&[], 3)]] {
            let svg = laxity_cdf("t", "s", &curves).expect("an SVG");
            assert!(!svg.contains("NaN"), "{svg}");
        }
    }

    #[test]
    fn a_curve_of_a_million_jobs_stays_small() {
        let laxities: Vec<f64> = (0..1_000_000u32).map(|k| f64::from(k) / 1e6 - 0.2).collect();
        let svg = laxity_cdf("t", "s", &[curve(&laxities, 0)]).expect("an SVG");
        assert!(svg.len() < 40_000, "{} bytes", svg.len());
    }
}

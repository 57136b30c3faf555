//! Charts with one row per task: execution-time ratios (lelli2012, Figure 2), response times, misses.

use super::axis::{Axis, count};
use super::canvas::{
    Area, Drawn, LegendEntry, Page, Panel, draw_line, draw_marker, px, stroke, text, text_width,
};
use super::style::{GREY, INK, SeriesStyle, VERMILLION};
use crate::number;
use laxity_model::Result;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

/// Names longer than this are cut on axes.
const NAME_CHARS_MOST: usize = 22;
/// More rows than this are drawn thinner, and not all are named.
const ROWS_NAMED_MOST: usize = 48;

/// One scheduler's values, one per row; nothing where it has none.
pub(super) struct Series<T> {
    pub(super) label: String,
    pub(super) style: SeriesStyle,
    pub(super) values: Vec<Option<T>>,
}

/// A median, a high percentile and a maximum, in the unit of the axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Spread {
    pub(super) median: f64,
    pub(super) p99: f64,
    pub(super) max: f64,
}

/// One cell of the heat map: how a task's jobs ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MissCell {
    pub(super) jobs: u64,
    pub(super) misses: u64,
    pub(super) tardiness_ns_max: Option<u64>,
}

fn short(name: &str) -> String {
    if name.chars().count() <= NAME_CHARS_MOST {
        return name.to_owned();
    }
    let head: String = name.chars().take(NAME_CHARS_MOST - 1).collect();
    format!("{head}…")
}

fn shortened(names: &[String]) -> Vec<String> {
    names.iter().map(|name| short(name)).collect()
}

/// Room for names left of a chart, in page pixels.
fn names_room(names: &[String]) -> u32 {
    let widest = names.iter().map(|name| text_width(name, 11)).max().unwrap_or(0);
    u32::try_from(widest + 30).unwrap_or(0).clamp(60, 220)
}

fn body_height(rows: usize, row: u32) -> u32 {
    let row = if rows > ROWS_NAMED_MOST { row.min(10) } else { row };
    u32::try_from(rows).unwrap_or(0).saturating_mul(row).clamp(60, 2400) + 76
}

fn legend<T>(series: &[Series<T>], line: bool) -> Vec<LegendEntry> {
    let entry = |s: &Series<T>| LegendEntry { label: s.label.clone(), style: s.style, line };
    series.iter().map(entry).collect()
}

/// A dot per task and scheduler: execution time relative to a reference, which is the line at 1.
pub(super) fn ratio_chart(
    title: &str,
    subtitle: &str,
    x_title: &str,
    names: &[String],
    series: &[Series<f64>],
) -> Result<String> {
    let names = shortened(names);
    let legend = legend(series, false);
    let page =
        Page { title, subtitle, legend: &legend, width: 920, body_height: body_height(names.len(), 22) };
    page.draw(|area| {
        let values = || series.iter().flat_map(|s| s.values.iter().flatten().copied());
        let low = values().fold(0.99, f64::min);
        let high = values().fold(1.01, f64::max);
        let pad = (high - low) * 0.06;
        let panel = Panel { heading: "", x_title, y_title: "", y_room: names_room(&names) };
        let chart =
            panel.chart(area, Axis::linear(low - pad, high + pad, 8), Axis::rows(&names, ROWS_NAMED_MOST))?;
        let base = area.get_base_pixel();
        let y_range = chart.plotting_area().get_pixel_range().1;
        let one = chart.backend_coord(&(1.0, 0.0)).0 - base.0;
        let line = vec![(one, y_range.start - base.1), (one, y_range.end - base.1)];
        area.draw(&PathElement::new(line, stroke(INK, 5)))?;
        for (index, series) in series.iter().enumerate() {
            for (row, value) in series.values.iter().enumerate() {
                let Some(value) = value else { continue };
                let (x, y) = chart.backend_coord(&(*value, count(row)));
                let radius = if names.len() > ROWS_NAMED_MOST { 3 } else { 4 };
                let lane = if names.len() > ROWS_NAMED_MOST { 0 } else { staggered(index) };
                draw_marker(area, (x - base.0, y - base.1 + px(lane)), series.style, radius)?;
            }
        }
        Ok(())
    })
}

/// Schedulers are drawn a little above and below each other, so that equal values stay visible.
fn staggered(index: usize) -> i32 {
    [-5, 5, -2, 2, 0, 7, -7, 4][index % 8]
}

/// Per task, a line per scheduler: a tick at the median response time, thick to the 99th percentile, thin to
/// the maximum, all relative to the deadline, which is the line at 1.
pub(super) fn response_chart(
    title: &str,
    subtitle: &str,
    names: &[String],
    series: &[Series<Spread>],
) -> Result<String> {
    let names = shortened(names);
    let mut legend = legend(series, true);
    legend.iter_mut().for_each(|entry| entry.style.dashed = false);
    let lanes = u32::try_from(series.len().max(2)).unwrap_or(2);
    let page = Page {
        title,
        subtitle,
        legend: &legend,
        width: 920,
        body_height: body_height(names.len(), 8 * lanes + 8),
    };
    page.draw(|area| {
        let spreads = || series.iter().flat_map(|s| s.values.iter().flatten());
        let high = spreads().map(|s| s.max).fold(1.05, f64::max);
        let low = spreads().map(|s| s.median).fold(1.0, f64::min).max(1e-3);
        // Overloaded schedulers are late by hundreds of periods; the others must stay readable.
        let (x, x_title) = if high > 5.0 {
            (Axis::logarithmic(low, high), "response time / deadline (R / D, logarithmic)")
        } else {
            (Axis::linear(0.0, high * 1.03, 8), "response time / deadline (R / D)")
        };
        let panel = Panel { heading: "", x_title, y_title: "", y_room: names_room(&names) };
        let chart = panel.chart(area, x.clone(), Axis::rows(&names, ROWS_NAMED_MOST))?;
        let base = area.get_base_pixel();
        let y_range = chart.plotting_area().get_pixel_range().1;
        let deadline = chart.backend_coord(&(1.0, 0.0)).0 - base.0;
        let line = vec![(deadline, y_range.start - base.1), (deadline, y_range.end - base.1)];
        area.draw(&PathElement::new(line, stroke(INK, 6)))?;
        for (index, s) in series.iter().enumerate() {
            let offset = ((count(index) + 0.5) / count(series.len()) - 0.5) * 0.82;
            for (row, spread) in s.values.iter().enumerate() {
                let Some(spread) = spread else { continue };
                let at = |value: f64| {
                    let (x, y) = chart.backend_coord(&(x.clamped(value), count(row) + offset));
                    (x - base.0, y - base.1)
                };
                draw_spread(area, s.style, at(spread.median), at(spread.p99), at(spread.max))?;
            }
        }
        Ok(())
    })
}

fn draw_spread(
    area: &Area<'_>,
    style: SeriesStyle,
    median: (i32, i32),
    p99: (i32, i32),
    max: (i32, i32),
) -> Drawn {
    area.draw(&PathElement::new(vec![median, max], stroke(style.color, 4)))?;
    draw_line(area, &[median, p99], SeriesStyle { dashed: false, ..style }, 11)?;
    let tick = vec![(median.0, median.1 - px(3)), (median.0, median.1 + px(3))];
    area.draw(&PathElement::new(tick, stroke(style.color, 7)))?;
    draw_marker(area, max, style, 3)
}

/// Tasks in rows, schedulers in columns: the share of jobs missed as colour and number, the maximum tardiness
/// below it.
pub(super) fn miss_heat_map(
    title: &str,
    subtitle: &str,
    names: &[String],
    columns: &[Series<MissCell>],
) -> Result<String> {
    let names = shortened(names);
    let page = Page { title, subtitle, legend: &[], width: 920, body_height: heat_height(names.len()) };
    page.draw(|area| {
        let left = i32::try_from(names_room(&names)).unwrap_or(60) + 12;
        let wide = (920 - left - 18) / i32::try_from(columns.len().max(1)).unwrap_or(1);
        for (column, series) in (0i32..).zip(columns) {
            let x = left + column * wide;
            let heading = text(12, INK, HPos::Center, VPos::Center);
            area.draw_text(&series.label, &heading, (px(x + wide / 2), px(10)))?;
            for (row, cell) in (0i32..).zip(&series.values) {
                draw_cell(area, *cell, x, 24 + row * ROW_HIGH, wide - 2)?;
            }
        }
        for (row, name) in (0i32..).zip(&names) {
            let style = text(11, INK, HPos::Right, VPos::Center);
            area.draw_text(name, &style, (px(left - 8), px(24 + row * ROW_HIGH + ROW_HIGH / 2 - 1)))?;
        }
        Ok(())
    })
}

const ROW_HIGH: i32 = 32;

fn heat_height(rows: usize) -> u32 {
    u32::try_from(rows).unwrap_or(0).saturating_mul(ROW_HIGH.unsigned_abs()) + 36
}

fn draw_cell(area: &Area<'_>, cell: Option<MissCell>, x: i32, y: i32, wide: i32) -> Drawn {
    let (color, ink) = cell_colors(cell);
    let corners = [(px(x), px(y)), (px(x + wide), px(y + ROW_HIGH - 2))];
    area.draw(&Rectangle::new(
        corners,
        ShapeStyle { color: color.to_rgba(), filled: true, stroke_width: 0 },
    ))?;
    let middle = x + wide / 2;
    let Some(cell) = cell.filter(|cell| cell.jobs > 0) else {
        return area.draw_text(
            "not run",
            &text(10, GREY, HPos::Center, VPos::Center),
            (px(middle), px(y + 15)),
        );
    };
    let style = text(11, ink, HPos::Center, VPos::Center);
    if cell.misses == 0 {
        return area.draw_text("0", &style, (px(middle), px(y + 15)));
    }
    area.draw_text(&number::percent(cell.misses, cell.jobs), &style, (px(middle), px(y + 9)))?;
    let late = match cell.tardiness_ns_max {
        Some(ns) if ns > 0 => format!("max {}", number::span_ns(ns)),
        _ => "never completed".to_owned(),
    };
    area.draw_text(&late, &text(10, ink, HPos::Center, VPos::Center), (px(middle), px(y + 22)))
}

/// White to vermillion over three decades, because one miss in a thousand jobs must not look like none.
fn cell_colors(cell: Option<MissCell>) -> (RGBColor, RGBColor) {
    let Some(cell) = cell.filter(|cell| cell.jobs > 0) else {
        return (RGBColor(243, 244, 246), GREY);
    };
    if cell.misses == 0 {
        return (RGBColor(232, 245, 240), INK);
    }
    let share = number::ratio(cell.misses, cell.jobs).clamp(0.001, 1.0);
    let depth = 0.15 + 0.85 * (libm::log10(share) + 3.0) / 3.0;
    let mix = |channel: u8| {
        let mixed = 255.0 + (f64::from(channel) - 255.0) * depth;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 255")]
        let level = mixed.round() as u8;
        level
    };
    let color = RGBColor(mix(VERMILLION.0), mix(VERMILLION.1), mix(VERMILLION.2));
    (color, if depth > 0.75 { WHITE } else { INK })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::style::series_style;

    #[test]
    fn one_miss_in_a_million_looks_different_from_none() {
        let cell = |misses| Some(MissCell { jobs: 1_000_000, misses, tardiness_ns_max: Some(1) });
        assert_ne!(cell_colors(cell(0)).0, cell_colors(cell(1)).0);
        assert_eq!(cell_colors(cell(1_000_000)).0, VERMILLION);
        assert_eq!(cell_colors(None).0, RGBColor(243, 244, 246));
    }

    #[test]
    fn charts_of_no_tasks_and_of_thousands_are_drawn() {
        for rows in [0usize, 1, 2000] {
            let names: Vec<String> =
                (0..rows).map(|k| format!("task {k} <&> with a very long name")).collect();
            let style = series_style("p-rm", 0);
            let values = vec![Some(1.5); rows];
            let svg = ratio_chart("t", "s", "x", &names, &[Series { label: "p-rm".into(), style, values }]);
            let svg = svg.expect("an SVG");
            assert!(!svg.contains("NaN") && !svg.contains("<&>"));
            let spread = Spread { median: 0.1, p99: 2.0, max: 900.0 };
            let values = vec![Some(spread); rows];
            let svg = response_chart("t", "s", &names, &[Series { label: "p-rm".into(), style, values }]);
            assert!(!svg.expect("an SVG").contains("NaN"));
        }
    }
}

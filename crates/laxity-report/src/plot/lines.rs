//! Lines through measured points, one a scheduler, in panels side by side (cerqueira2014, Figures 6 and 7; ackelman2018,
//! Figures 7.1 to 7.3).

use super::axis::Axis;
use super::canvas::{Area, Drawn, LegendEntry, Page, Panel, draw_line, draw_marker, text};
use super::style::{GREY, SeriesStyle, series_style};
use laxity_model::{Result, Scheduler};
use plotters::style::RGBColor;
use plotters::style::text_anchor::{HPos, VPos};
use std::collections::BTreeMap;

/// Values spread over more than this factor stand on a logarithmic axis.
const LINEAR_MOST: f64 = 25.0;

/// One panel: what it shows, and a line for each label of its figure.
#[derive(Debug, Clone, PartialEq)]
pub struct LinesPanel {
    /// Above the panel.
    pub heading: String,
    /// Along the y axis.
    pub y_title: String,
    /// Points in ascending x, one list for each label of the figure; empty: nothing was measured.
    pub lines: Vec<Vec<(f64, f64)>>,
}

/// A figure of panels with a common legend and x axis.
#[derive(Debug, Clone, PartialEq)]
pub struct LinesFigure {
    /// Name of its file, without the ending.
    pub stem: String,
    /// What it shows.
    pub title: String,
    /// Of what.
    pub subtitle: String,
    /// How to read it.
    pub caption: String,
    /// Along the x axis.
    pub x_title: String,
    /// Schedulers.
    pub labels: Vec<String>,
    /// The panels, from left to right.
    pub panels: Vec<LinesPanel>,
}

/// The figure as SVG; schedulers of which nothing was measured are not in its legend.
pub(crate) fn lines_svg(figure: &LinesFigure) -> Result<String> {
    let styles = styles(&figure.labels);
    let drawn =
        |at: usize| figure.panels.iter().any(|panel| panel.lines.get(at).is_some_and(|l| !l.is_empty()));
    let entries = figure.labels.iter().zip(&styles).enumerate().filter(|(at, _)| drawn(*at));
    let legend: Vec<LegendEntry> = entries
        .map(|(_, (label, style))| LegendEntry { label: label.clone(), style: *style, line: true })
        .collect();
    let page = Page {
        title: &figure.title,
        subtitle: &figure.subtitle,
        legend: &legend,
        width: 1060,
        body_height: 300,
    };
    page.draw(|area| {
        let panels = area.split_evenly((1, figure.panels.len().max(1)));
        let xs = || figure.panels.iter().flat_map(|p| p.lines.iter().flatten().map(|point| point.0));
        let x = Axis::linear(0.0, xs().fold(1.0, f64::max) * 1.02, 6);
        for (area, panel) in panels.iter().zip(&figure.panels) {
            draw_panel(area, panel, &figure.x_title, &styles, &x)?;
        }
        Ok(())
    })
}

/// Linux's own look as in every plot; of laxity's, no two alike, and none like one of Linux's beside it. `fpp+batching` is `fpp`
/// with dashes.
fn styles(labels: &[String]) -> Vec<SeriesStyle> {
    let is_linux = |label: &str| label.parse::<Scheduler>().is_ok();
    let linux = labels.iter().filter(|label| is_linux(label));
    let taken: Vec<RGBColor> = linux.map(|label| series_style(label, 0).color).collect();
    // Once all colours are used they come again, with dashes.
    let all = (0..).map(|index| series_style("", index));
    let mut free = all.filter(|style| style.dashed || !taken.contains(&style.color));
    let mut known: BTreeMap<&str, SeriesStyle> = BTreeMap::new();
    let of = |label| {
        if is_linux(label) {
            return series_style(label, 0);
        }
        let base = label.split_once('+').map_or(label, |(base, _)| base);
        let style = *known.entry(base).or_insert_with(|| free.next().expect("endless"));
        SeriesStyle { dashed: style.dashed != (base != label), ..style }
    };
    labels.iter().map(String::as_str).map(of).collect()
}

fn draw_panel(area: &Area<'_>, panel: &LinesPanel, x_title: &str, styles: &[SeriesStyle], x: &Axis) -> Drawn {
    let values = || panel.lines.iter().flatten().map(|point| point.1).filter(|value| *value > 0.0);
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    let logarithmic = low.is_finite() && high / low > LINEAR_MOST;
    let y = if logarithmic { Axis::logarithmic(low, high) } else { Axis::linear(0.0, high * 1.08, 5) };
    let y_title =
        if logarithmic { format!("{} (logarithmic)", panel.y_title) } else { panel.y_title.clone() };
    let around = Panel { heading: &panel.heading, x_title, y_title: &y_title, y_room: 66 };
    let chart = around.chart(area, x.clone(), y.clone())?;
    let base = area.get_base_pixel();
    if high == 0.0 {
        let (x_range, y_range) = chart.plotting_area().get_pixel_range();
        let middle = |range: std::ops::Range<i32>, base: i32| (range.start + range.end) / 2 - base;
        let style = text(12, GREY, HPos::Center, VPos::Center);
        return area.draw_text(
            "nothing was measured",
            &style,
            (middle(x_range, base.0), middle(y_range, base.1)),
        );
    }
    for (line, style) in panel.lines.iter().zip(styles) {
        let at = |&(x, y_value): &(f64, f64)| {
            let (x, y) = chart.backend_coord(&(x, y.clamped(y_value)));
            (x - base.0, y - base.1)
        };
        let points: Vec<(i32, i32)> = line.iter().map(at).collect();
        if points.len() > 1 {
            draw_line(area, &points, *style, 6)?;
        }
        for point in points {
            draw_marker(area, point, *style, 3)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(values: &[&[(f64, f64)]]) -> LinesFigure {
        LinesFigure {
            stem: "release".into(),
            title: "Release".into(),
            subtitle: "2 CPUs".into(),
            caption: String::new(),
            x_title: "tasks per CPU".into(),
            labels: ["edf-bh", "fpp", "g-edf"].map(String::from).into(),
            panels: vec![LinesPanel {
                heading: "Mean".into(),
                y_title: "µs".into(),
                lines: values.iter().map(|line| line.to_vec()).collect(),
            }],
        }
    }

    #[test]
    fn what_was_measured_is_drawn_and_named() {
        let svg = lines_svg(&figure(&[&[(1.0, 2.0), (2.0, 3.0)], &[(1.0, 90.0)], &[]])).expect("draws");
        assert!(svg.contains("edf-bh") && svg.contains("fpp") && !svg.contains("g-edf"), "{svg}");
        assert!(svg.contains("logarithmic"), "2 to 90 spreads far");
        assert!(!lines_svg(&figure(&[&[(1.0, 2.0)], &[], &[]])).expect("draws").contains("logarithmic"));
        assert!(lines_svg(&figure(&[&[], &[], &[]])).expect("draws").contains("nothing was measured"));
    }

    #[test]
    fn no_two_schedulers_look_alike() {
        let own = ["edf-bh", "edf-rbt", "fpp", "gsn-edf", "gsn-edf-di", "g-edf-mp", "push-pull"];
        let names: Vec<String> = own.into_iter().chain(["g-edf", "g-rm"]).map(String::from).collect();
        let plain = styles(&names);
        for (at, style) in plain.iter().enumerate() {
            assert!(plain[..at].iter().all(|other| other.color != style.color), "{}", names[at]);
        }
        let batching = own.map(|name| format!("{name}+batching"));
        let all = styles(&names.iter().cloned().chain(batching).collect::<Vec<String>>());
        assert_eq!(all[..plain.len()], plain, "what is beside a scheduler does not change its look");
        for (style, base) in all[plain.len()..].iter().zip(&plain) {
            assert_eq!(*style, SeriesStyle { dashed: true, ..*base });
        }
    }
}

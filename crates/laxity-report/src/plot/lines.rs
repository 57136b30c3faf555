//! Lines through measured points, one a scheduler, in panels side by side (cerqueira2014, Figures 6 and 7; ackelman2018,
//! Figures 7.1 to 7.3).

use super::axis::Axis;
use super::canvas::{Area, Drawn, LegendEntry, Page, Panel, draw_line, draw_marker, px, text, wrapped};
use super::style::{GREY, SeriesStyle, series_style};
use laxity_model::{Result, Scheduler};
use plotters::style::RGBColor;
use plotters::style::text_anchor::{HPos, VPos};
use std::collections::BTreeMap;

/// Values spread over more than this factor stand on a logarithmic axis.
const LINEAR_MOST: f64 = 25.0;
/// Of the page, in pixels.
const WIDTH: u32 = 1060;
/// Of the panels.
const PANELS_HEIGHT: u32 = 300;
/// Of the letters of notes.
const NOTE_SIZE: i32 = 11;
/// From one line of notes to the next.
const NOTE_LINE: i32 = 15;

/// What the y axis of a panel is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LinesScale {
    /// From 0 to the largest value; logarithmic where values spread over more than a factor of 25.
    #[default]
    Measured,
    /// Shares, from 0 to 1 whatever the values are.
    Share,
}

/// One panel: what it shows, and a line for each label of its figure.
#[derive(Debug, Clone, PartialEq)]
pub struct LinesPanel {
    /// Above the panel.
    pub heading: String,
    /// Along the y axis.
    pub y_title: String,
    /// What the y axis is.
    pub scale: LinesScale,
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
    /// What the image itself must say, below the panels: assumptions, sources. A paragraph each.
    pub notes: Vec<String>,
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
    let notes: Vec<String> = figure.notes.iter().flat_map(|note| note_lines(note)).collect();
    let notes_height = NOTE_LINE * i32::try_from(notes.len()).unwrap_or(0) + i32::from(!notes.is_empty()) * 8;
    let page = Page {
        title: &figure.title,
        subtitle: &figure.subtitle,
        legend: &legend,
        width: WIDTH,
        body_height: PANELS_HEIGHT + notes_height.unsigned_abs(),
    };
    page.draw(|whole| {
        let (area, below) = whole.split_vertically(px(i32::try_from(PANELS_HEIGHT).unwrap_or(0)));
        for (line, note) in (0i32..).zip(&notes) {
            let style = text(NOTE_SIZE, GREY, HPos::Left, VPos::Top);
            below.draw_text(note, &style, (px(12), px(NOTE_LINE * line)))?;
        }
        let panels = area.split_evenly((1, figure.panels.len().max(1)));
        let xs = || figure.panels.iter().flat_map(|p| p.lines.iter().flatten().map(|point| point.0));
        let x = Axis::linear(0.0, xs().fold(1.0, f64::max) * 1.02, 6);
        for (area, panel) in panels.iter().zip(&figure.panels) {
            draw_panel(area, panel, &figure.x_title, &styles, &x)?;
        }
        Ok(())
    })
}

/// The lines of a note that fit the page.
fn note_lines(note: &str) -> Vec<String> {
    wrapped(note, NOTE_SIZE, i32::try_from(WIDTH).unwrap_or(0) - 24)
}

/// Linux's own look as in every plot; of laxity's, no two alike, and none like one of Linux's beside it. `fpp+batching` is `fpp`
/// with dashes.
pub(super) fn styles(labels: &[String]) -> Vec<SeriesStyle> {
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
    let share = panel.scale == LinesScale::Share;
    let logarithmic = !share && low.is_finite() && high / low > LINEAR_MOST;
    let y = match (share, logarithmic) {
        (true, _) => Axis::linear(0.0, 1.04, 5),
        (false, true) => Axis::logarithmic(low, high),
        (false, false) => Axis::linear(0.0, high * 1.08, 5),
    };
    let y_title =
        if logarithmic { format!("{} (logarithmic)", panel.y_title) } else { panel.y_title.clone() };
    let around = Panel { heading: &panel.heading, x_title, y_title: &y_title, y_room: 66 };
    let chart = around.chart(area, x.clone(), y.clone())?;
    let base = area.get_base_pixel();
    let empty = if share { panel.lines.iter().all(Vec::is_empty) } else { high == 0.0 };
    if empty {
        let (x_range, y_range) = chart.plotting_area().get_pixel_range();
        let middle = |range: std::ops::Range<i32>, base: i32| (range.start + range.end) / 2 - base;
        let style = text(12, GREY, HPos::Center, VPos::Center);
        let measured = panel.lines.iter().any(|line| !line.is_empty());
        return area.draw_text(
            if measured && !share { "none" } else { "nothing was measured" },
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
    use super::super::canvas::text_width;
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
                scale: LinesScale::Measured,
                lines: values.iter().map(|line| line.to_vec()).collect(),
            }],
            notes: vec![],
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
    fn notes_are_on_the_image_in_lines_that_fit() {
        let mut noted = figure(&[&[(1.0, 2.0)], &[], &[]]);
        let plain = lines_svg(&noted).expect("draws");
        noted.notes = vec!["assumption ".repeat(40), "short".into()];
        let svg = lines_svg(&noted).expect("draws");
        assert_eq!(svg.matches("assumption").count(), 40);
        assert!(svg.contains("short") && svg.matches("<text").count() > plain.matches("<text").count() + 3);
        assert!(note_lines(&noted.notes[0]).iter().all(|line| text_width(line, NOTE_SIZE) <= 1036));
        assert_eq!(note_lines(" \n"), Vec::<String>::new());
    }

    #[test]
    fn shares_are_from_0_to_1_and_zero_is_one() {
        let mut shares = figure(&[&[(1.0, 0.01), (2.0, 1.0)], &[(1.0, 0.0), (2.0, 0.0)], &[]]);
        shares.panels[0].scale = LinesScale::Share;
        let svg = lines_svg(&shares).expect("draws");
        assert!(!svg.contains("logarithmic") && svg.contains("fpp"), "{svg}");
        shares.panels[0].lines[0].clear();
        let zero = lines_svg(&shares).expect("draws");
        assert!(!zero.contains("nothing was measured") && zero.contains("1.0"), "{zero}");
        shares.panels[0].lines[1].clear();
        assert!(lines_svg(&shares).expect("draws").contains("nothing was measured"));
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

//! Histograms of several kinds side by side: a row per class, a bar for each kind (lindsay2012, Figure 6.27).

use super::axis::{Axis, count};
use super::canvas::{LegendEntry, Page, Panel, px, text_width};
use super::lines::styles;
use crate::number;
use laxity_model::Result;
use plotters::prelude::*;

/// Of the page, in pixels.
const WIDTH: u32 = 920;
/// Of a class's row, all bars of which stand on this share.
const BARS_SHARE: f64 = 0.84;

/// A figure of histograms with the same classes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BarsFigure {
    /// Name of its file, without the ending.
    pub stem: String,
    /// What it shows.
    pub title: String,
    /// Of what.
    pub subtitle: String,
    /// How to read it.
    pub caption: String,
    /// Along the x axis: what is counted.
    pub x_title: String,
    /// The classes, from the top.
    pub classes: Vec<String>,
    /// What each kind is called, and how many it has of each class.
    pub kinds: Vec<(String, Vec<u64>)>,
}

/// The figure as SVG. Bars begin at 0 and are as long as what they count, on one scale.
pub(crate) fn bars_svg(figure: &BarsFigure) -> Result<String> {
    let labels: Vec<String> = figure.kinds.iter().map(|(label, _)| label.clone()).collect();
    let styles = styles(&labels);
    let legend: Vec<LegendEntry> = labels
        .iter()
        .zip(&styles)
        .map(|(label, style)| LegendEntry { label: label.clone(), style: *style, line: true })
        .collect();
    let (classes, kinds) = (figure.classes.len(), figure.kinds.len());
    let row = 8 + 7 * u32::try_from(kinds).unwrap_or(0);
    let page = Page {
        title: &figure.title,
        subtitle: &figure.subtitle,
        legend: &legend,
        width: WIDTH,
        body_height: u32::try_from(classes).unwrap_or(0).saturating_mul(row).clamp(60, 2_400) + 76,
    };
    page.draw(|area| {
        let most = figure.kinds.iter().flat_map(|(_, jobs)| jobs).copied().max().unwrap_or(0);
        let most = number::ratio(most.max(1), 1);
        let widest = figure.classes.iter().map(|class| text_width(class, 11)).max().unwrap_or(0);
        let y_room = u32::try_from(widest + 30).unwrap_or(0).clamp(60, 220);
        let panel = Panel { heading: "", x_title: &figure.x_title, y_title: "", y_room };
        let chart =
            panel.chart(area, Axis::linear(0.0, most * 1.02, 8), Axis::rows(&figure.classes, classes))?;
        let base = area.get_base_pixel();
        let at = |value: f64, place: f64| {
            let (x, y) = chart.backend_coord(&(value, place));
            (x - base.0, y - base.1)
        };
        for (kind, ((_, jobs), style)) in figure.kinds.iter().zip(&styles).enumerate() {
            let edge = |edge: usize| (count(edge) / count(kinds.max(1)) - 0.5) * BARS_SHARE;
            for (class, &jobs) in jobs.iter().enumerate().filter(|(_, jobs)| **jobs > 0) {
                let top = at(0.0, count(class) + edge(kind));
                let (x, y) = at(number::ratio(jobs, 1), count(class) + edge(kind + 1));
                // What is there can be seen, however little it is.
                let corners = [top, (x.max(top.0 + px(1) / 2), y)];
                area.draw(&Rectangle::new(corners, style.color.filled()))?;
            }
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(kinds: Vec<(String, Vec<u64>)>) -> BarsFigure {
        BarsFigure {
            stem: "s".into(),
            title: "t".into(),
            subtitle: String::new(),
            caption: "c".into(),
            x_title: "jobs".into(),
            classes: vec!["none".into(), "0 to 1 ms".into(), "did not end".into()],
            kinds,
        }
    }

    /// Lengths of bars, which alone are filled with a colour of series, in the order of the image.
    fn bars(svg: &str, color: &str) -> Vec<i64> {
        let rectangles = svg
            .split("<rect ")
            .skip(1)
            .filter(|rest| rest.split_once("/>").is_some_and(|(tag, _)| tag.to_uppercase().contains(color)));
        let width = |rest: &str| {
            let (_, width) = rest.split_once("width=\"")?;
            width.split_once('"')?.0.parse().ok()
        };
        rectangles.filter_map(width).collect()
    }

    #[test]
    fn bars_are_as_long_as_what_they_count() {
        let kinds = vec![("WFD".to_owned(), vec![100, 50, 0]), ("BF".to_owned(), vec![200, 1, 25])];
        let svg = bars_svg(&figure(kinds)).expect("an SVG");
        let color = |label: usize| {
            let style = styles(&["WFD".to_owned(), "BF".to_owned()])[label];
            format!("#{:02X}{:02X}{:02X}", style.color.0, style.color.1, style.color.2)
        };
        let (first, second) = (bars(&svg, &color(0)), bars(&svg, &color(1)));
        assert_eq!((first.len(), second.len()), (2, 3), "none of what is not there:\n{svg}");
        let longest = second[0];
        for (found, share) in [(first[0], 2), (first[1], 4), (second[2], 8)] {
            assert!((found - longest / share).abs() <= 2, "{first:?} {second:?}");
        }
        assert!(second[1] >= 1 && svg.contains("did not end") && svg.contains("WFD"), "{svg}");
    }

    #[test]
    fn histograms_of_nothing_are_drawn() {
        for kinds in [vec![], vec![("A".to_owned(), vec![0, 0, 0])], vec![("A".to_owned(), vec![])]] {
            assert!(!bars_svg(&figure(kinds)).expect("an SVG").contains("NaN"));
        }
    }
}

//! A task set: period against utilization (lelli2012, Figure 1).

use super::axis::Axis;
use super::canvas::{Area, Chart, Drawn, LegendEntry, Page, Panel, px, stroke, text, text_width};
use super::style::{BLUE, INK, Marker, SeriesStyle};
use crate::number;
use crate::study::task_utilization;
use laxity_model::{Result, Task, TaskSet};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

/// Names are written at the points of sets up to this size.
const NAMED_MOST: usize = 20;

/// One point per real-time task; the larger its working set, the larger the point.
pub(super) fn task_set_scatter(title: &str, subtitle: &str, set: &TaskSet) -> Result<String> {
    let tasks: Vec<&Task> = set.real_time().map(|(_, task)| task).collect();
    let mut sizes: Vec<u64> = tasks.iter().map(|task| task.working_set.size_bytes).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let radius = |bytes: u64| marker_radius(&sizes, bytes);
    let legend = working_set_legend(&sizes);
    let page = Page { title, subtitle, legend: &legend, width: 920, body_height: 340 };
    page.draw(|area| {
        let periods = || tasks.iter().map(|task| task.period().as_ms_f64());
        let shares = || tasks.iter().map(|task| task_utilization(task));
        let x = Axis::logarithmic(periods().fold(f64::INFINITY, f64::min), periods().fold(0.0, f64::max));
        let y = Axis::linear(0.0, shares().fold(0.0, f64::max) * 1.12, 6);
        let panel = Panel {
            heading: "",
            x_title: "period T (ms, logarithmic)",
            y_title: "utilization C/T",
            y_room: 58,
        };
        let mut chart = panel.chart(area, x, y)?;
        for task in &tasks {
            let point = (task.period().as_ms_f64(), task_utilization(task));
            let r = px(radius(task.working_set.size_bytes)).unsigned_abs();
            let fill = ShapeStyle { color: BLUE.mix(0.35), filled: true, stroke_width: 0 };
            chart.draw_series([Circle::new(point, r, fill), Circle::new(point, r, stroke(BLUE, 5))])?;
        }
        if tasks.len() <= NAMED_MOST {
            draw_names(area, &chart, &tasks, radius)?;
        }
        Ok(())
    })
}

/// Radii grow with the rank of the working set's size: sizes differ by orders of magnitude.
fn marker_radius(sizes: &[u64], bytes: u64) -> i32 {
    let rank = sizes.iter().position(|&size| size == bytes).unwrap_or(0);
    let steps = sizes.len().saturating_sub(1).max(1);
    4 + i32::try_from(rank * 5 / steps).unwrap_or(0)
}

fn working_set_legend(sizes: &[u64]) -> Vec<LegendEntry> {
    let style = SeriesStyle { color: BLUE, dashed: false, marker: Marker::Circle };
    let label = match sizes {
        [] => return vec![],
        [0] => "a task (no working set)".to_owned(),
        [one] => format!("a task (working set {})", number::bytes(*one)),
        [least, .., most] => format!(
            "a task; larger points have larger working sets ({} to {})",
            number::bytes(*least),
            number::bytes(*most)
        ),
    };
    vec![LegendEntry { label, style, line: false }]
}

/// Puts each name where it covers neither a point nor another name; a name without such a place is left out.
fn draw_names(area: &Area<'_>, chart: &Chart<'_, '_>, tasks: &[&Task], radius: impl Fn(u64) -> i32) -> Drawn {
    let base = area.get_base_pixel();
    let (x_range, y_range) = chart.plotting_area().get_pixel_range();
    let frame = Rect {
        left: x_range.start - base.0,
        right: x_range.end - base.0,
        top: y_range.start - base.1,
        bottom: y_range.end - base.1,
    };
    let mut taken: Vec<Rect> = Vec::new();
    let mut points = Vec::new();
    for task in tasks {
        let (x, y) = chart.backend_coord(&(task.period().as_ms_f64(), task_utilization(task)));
        let (x, y, r) = (x - base.0, y - base.1, px(radius(task.working_set.size_bytes)));
        taken.push(Rect { left: x - r, right: x + r, top: y - r, bottom: y + r });
        points.push((task.name.as_str(), x, y, r));
    }
    let style = text(11, INK, HPos::Left, VPos::Center);
    for (name, x, y, r) in points {
        let (wide, high, gap) = (px(text_width(name, 11)), px(12), r + px(3));
        let places = [
            (x + gap, y),
            (x - gap - wide, y),
            (x - wide / 2, y - gap - high / 2),
            (x - wide / 2, y + gap + high / 2),
        ];
        let boxed = |&(left, middle): &(i32, i32)| Rect {
            left,
            right: left + wide,
            top: middle - high / 2,
            bottom: middle + high / 2,
        };
        let free = |place: &&(i32, i32)| {
            let rect = boxed(place);
            rect.inside(&frame) && !taken.iter().any(|other| rect.overlaps(other))
        };
        if let Some(place) = places.iter().find(free) {
            taken.push(boxed(place));
            area.draw_text(name, &style, *place)?;
        }
    }
    Ok(())
}

struct Rect {
    left: i32,
    right: i32,
    top: i32,
    bottom: i32,
}

impl Rect {
    fn overlaps(&self, other: &Rect) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    fn inside(&self, other: &Rect) -> bool {
        self.left >= other.left
            && self.right <= other.right
            && self.top >= other.top
            && self.bottom <= other.bottom
    }
}

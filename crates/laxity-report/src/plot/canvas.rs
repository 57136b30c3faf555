//! The page a plot is drawn on: title, legend strip, panels, and the SVG text that comes out.

use super::axis::Axis;
use super::style::{GREY, GRID, INK, Marker, SeriesStyle};
use laxity_model::{Diagnostic, Result, shown_lines};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Plotters works in whole pixels. Drawing on a page this many times larger and showing it smaller gives
/// quarter pixels, which thin lines and steep curves need.
const SCALE: i32 = 4;

pub(super) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
pub(super) type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Axis, Axis>>;
pub(super) type Drawn = std::result::Result<(), DrawingAreaErrorKind<std::io::Error>>;

/// `size` page pixels in drawing units.
pub(super) fn px(size: i32) -> i32 {
    size * SCALE
}

/// The same for the arguments of plotters that cannot be negative.
pub(super) fn upx(size: u32) -> u32 {
    size * SCALE.unsigned_abs()
}

/// Width that `text` takes at `size`, in page pixels, erring on the wide side. Fonts are the reader's, so that
/// this can only be an estimate.
pub(super) fn text_width(text: &str, size: i32) -> i32 {
    let width = text.chars().count() * usize::try_from(size).unwrap_or(0) * 57 / 100;
    i32::try_from(width).unwrap_or(i32::MAX / 64)
}

/// The lines of words that fit a width (page pixels) at this size; a word that is longer has a line of its own.
pub(super) fn wrapped(words: &str, size: i32, room: i32) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words.split_whitespace() {
        match lines.last_mut() {
            Some(line) if text_width(&format!("{line} {word}"), size) <= room => *line += &format!(" {word}"),
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// A line of text of this size (page pixels), colour and anchor.
pub(super) fn text<'a>(size: i32, color: RGBColor, horizontal: HPos, vertical: VPos) -> TextStyle<'a> {
    // The SVG backend divides sizes by 1.24 to turn a line height into a font size.
    let font = FontDesc::new(FontFamily::SansSerif, f64::from(px(size)) * 1.24, FontStyle::Normal);
    font.color(&color).pos(Pos::new(horizontal, vertical))
}

/// A stroke of `quarters` quarter pixels.
pub(super) fn stroke(color: RGBColor, quarters: u32) -> ShapeStyle {
    ShapeStyle { color: color.to_rgba(), filled: false, stroke_width: quarters }
}

/// One entry of a legend.
pub(super) struct LegendEntry {
    pub(super) label: String,
    pub(super) style: SeriesStyle,
    /// A line with the marker on it, or the marker alone.
    pub(super) line: bool,
}

/// What is drawn around the panels of a plot.
pub(super) struct Page<'a> {
    pub(super) title: &'a str,
    pub(super) subtitle: &'a str,
    pub(super) legend: &'a [LegendEntry],
    /// Width of the page.
    pub(super) width: u32,
    /// Height of what is below title and legend.
    pub(super) body_height: u32,
}

impl Page<'_> {
    /// Draws the page, calls `body` for what is below title and legend, and returns the SVG.
    ///
    /// Errors: the plotting library could not draw.
    pub(super) fn draw(&self, body: impl FnOnce(&Area<'_>) -> Drawn) -> Result<String> {
        let rows = self.legend_rows();
        let head = 46 + 20 * u32::try_from(rows.len()).unwrap_or(0);
        let (width, height) = (self.width, head + self.body_height);
        let mut svg = String::new();
        {
            let area = SVGBackend::with_string(&mut svg, (upx(width), upx(height))).into_drawing_area();
            let drawn = self.draw_head(&area, &rows).and_then(|()| {
                let (_, below) = area.split_vertically(px(head_px(head)));
                body(&below)?;
                area.present()
            });
            drawn.map_err(|e| Diagnostic::environment(format!("plot `{}` failed: {e}", self.title)))?;
        }
        Ok(finished(&svg, width, height, self.title))
    }

    fn draw_head(&self, area: &Area<'_>, rows: &[Vec<&LegendEntry>]) -> Drawn {
        area.fill(&WHITE)?;
        let title = text(15, INK, HPos::Left, VPos::Top);
        area.draw_text(self.title, &title, (px(12), px(8)))?;
        area.draw_text(self.subtitle, &text(11, GREY, HPos::Left, VPos::Top), (px(12), px(27)))?;
        for (row, entries) in (0i32..).zip(rows) {
            let (mut x, y) = (12, 55 + 20 * row);
            for entry in entries {
                draw_sample(area, entry, x, y)?;
                let label = text(12, INK, HPos::Left, VPos::Center);
                area.draw_text(&entry.label, &label, (px(x + 36), px(y)))?;
                x += entry_width(entry);
            }
        }
        Ok(())
    }

    /// The legend broken into rows that fit the page.
    fn legend_rows(&self) -> Vec<Vec<&LegendEntry>> {
        let most = i32::try_from(self.width).unwrap_or(i32::MAX) - 24;
        let (mut rows, mut used) = (Vec::<Vec<&LegendEntry>>::new(), 0);
        for entry in self.legend {
            let width = entry_width(entry);
            match rows.last_mut() {
                Some(row) if used + width <= most => row.push(entry),
                _ => {
                    rows.push(vec![entry]);
                    used = 0;
                }
            }
            used += width;
        }
        rows
    }
}

fn head_px(head: u32) -> i32 {
    i32::try_from(head).unwrap_or(0)
}

fn entry_width(entry: &LegendEntry) -> i32 {
    36 + text_width(&entry.label, 12) + 18
}

fn draw_sample(area: &Area<'_>, entry: &LegendEntry, x: i32, y: i32) -> Drawn {
    let style = entry.style;
    if entry.line {
        let ends = [(px(x), px(y)), (px(x + 30), px(y))];
        draw_line(area, &ends, style, 8)?;
    }
    draw_marker(area, (px(x + 15), px(y)), style, 4)
}

/// A polyline in drawing units, dashed if the style says so.
pub(super) fn draw_line(area: &Area<'_>, points: &[(i32, i32)], style: SeriesStyle, quarters: u32) -> Drawn {
    let shape = stroke(style.color, quarters);
    if style.dashed {
        area.draw(&plotters::element::DashedPathElement::new(points.to_vec(), px(7), px(4), shape))
    } else {
        area.draw(&PathElement::new(points.to_vec(), shape))
    }
}

/// A marker of `radius` page pixels centred on a point in drawing units.
pub(super) fn draw_marker(area: &Area<'_>, (x, y): (i32, i32), style: SeriesStyle, radius: i32) -> Drawn {
    let r = px(radius);
    let thin = stroke(style.color, 7);
    let path = |points: Vec<(i32, i32)>| PathElement::new(points, thin);
    match style.marker {
        Marker::Circle => area.draw(&Circle::new((x, y), r.unsigned_abs(), thin)),
        Marker::Square => {
            let s = r * 9 / 10;
            area.draw(&path(vec![
                (x - s, y - s),
                (x + s, y - s),
                (x + s, y + s),
                (x - s, y + s),
                (x - s, y - s),
            ]))
        }
        Marker::Triangle => {
            let (half, low) = (r * 11 / 10, r * 8 / 10);
            area.draw(&path(vec![
                (x, y - r * 12 / 10),
                (x + half, y + low),
                (x - half, y + low),
                (x, y - r * 12 / 10),
            ]))
        }
        Marker::Diamond => {
            let s = r * 12 / 10;
            area.draw(&path(vec![(x, y - s), (x + s, y), (x, y + s), (x - s, y), (x, y - s)]))
        }
        Marker::Plus => {
            area.draw(&path(vec![(x - r, y), (x + r, y)]))?;
            area.draw(&path(vec![(x, y - r), (x, y + r)]))
        }
        Marker::Cross => {
            let s = r * 8 / 10;
            area.draw(&path(vec![(x - s, y - s), (x + s, y + s)]))?;
            area.draw(&path(vec![(x - s, y + s), (x + s, y - s)]))
        }
    }
}

/// What is written around one panel.
pub(super) struct Panel<'a> {
    pub(super) heading: &'a str,
    pub(super) x_title: &'a str,
    pub(super) y_title: &'a str,
    /// Room for the labels of the y axis, in page pixels.
    pub(super) y_room: u32,
}

impl Panel<'_> {
    /// The title of the x axis: in the middle below the panel, so that it may be a little wider.
    fn x_title_lines(&self, area: &Area<'_>) -> Vec<String> {
        let width = area.dim_in_pixel().0 / SCALE.unsigned_abs();
        let panel = width.saturating_sub(self.y_room + MARGIN_LEFT + MARGIN_RIGHT);
        wrapped(self.x_title, 12, i32::try_from(panel + MARGIN_RIGHT).unwrap_or(i32::MAX))
    }

    /// Axes, grid and labels on an area.
    pub(super) fn chart<'a, 'b>(
        &self,
        area: &'a Area<'b>,
        x: Axis,
        y: Axis,
    ) -> std::result::Result<Chart<'a, 'b>, DrawingAreaErrorKind<std::io::Error>> {
        let heading_room = if self.heading.is_empty() { 8 } else { 24 };
        let x_title = self.x_title_lines(area);
        let more_lines = u32::try_from(x_title.len().saturating_sub(1)).unwrap_or(0);
        let mut chart = ChartBuilder::on(area)
            .margin_top(upx(heading_room))
            .margin_right(upx(MARGIN_RIGHT))
            .margin_bottom(upx(6))
            .margin_left(upx(MARGIN_LEFT))
            .x_label_area_size(upx(40 + TITLE_LINE * more_lines))
            .y_label_area_size(upx(self.y_room))
            .build_cartesian_2d(x, y)?;
        chart
            .configure_mesh()
            .axis_style(stroke(GREY, 4))
            .bold_line_style(stroke(GRID, 4))
            .label_style(text(11, INK, HPos::Center, VPos::Center))
            .axis_desc_style(text(12, INK, HPos::Center, VPos::Center))
            .set_all_tick_mark_size(upx(4))
            .x_desc(if more_lines == 0 { self.x_title } else { "" })
            .y_desc(self.y_title)
            .draw()?;
        if more_lines > 0 {
            let (across, down) = chart.plotting_area().get_pixel_range();
            let style = text(12, INK, HPos::Center, VPos::Center);
            let middle = (across.start + across.end) / 2 - area.get_base_pixel().0;
            for (line, words) in (0u32..).zip(&x_title) {
                let y = down.end - area.get_base_pixel().1 + px(33) + px_of(TITLE_LINE * line);
                area.draw_text(words, &style, (middle, y))?;
            }
        }
        if !self.heading.is_empty() {
            let (left, _) = chart.plotting_area().get_pixel_range();
            let base = area.get_base_pixel();
            let place = (left.start - base.0, px(6));
            area.draw_text(self.heading, &text(12, INK, HPos::Left, VPos::Top), place)?;
        }
        Ok(chart)
    }
}

/// Room beside a panel and between the lines of its title, in page pixels.
const MARGIN_RIGHT: u32 = 18;
const MARGIN_LEFT: u32 = 8;
const TITLE_LINE: u32 = 14;

fn px_of(size: u32) -> i32 {
    px(i32::try_from(size).unwrap_or(0))
}

/// Gives the SVG its size on the page, a name for screen readers, and drops what is the default anyway. Texts in it are as
/// they are shown: XML has no control characters.
fn finished(svg: &str, width: u32, height: u32, title: &str) -> String {
    // Quotes in text and attributes are escaped by the backend: the pattern matches attributes only.
    let body = joined_strokes(&svg.replace(" opacity=\"1\"", "").replace(" \"/>", "\"/>"));
    let opening_end = body.find('>').map_or(0, |end| end + 1);
    let (units_wide, units_high) = (upx(width), upx(height));
    let svg = format!(
        "<svg width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {units_wide} {units_high}\" \
         xmlns=\"http://www.w3.org/2000/svg\" role=\"img\">\n<title>{}</title>{}",
        escaped(title),
        &body[opening_end..]
    );
    shown_lines(&svg).into_owned()
}

/// Plotters draws every dash as an element of its own. Neighbours that look alike become one path.
fn joined_strokes(svg: &str) -> String {
    const POINTS: &str = "points=\"";
    let mut out = String::with_capacity(svg.len());
    let mut open: Option<&str> = None;
    for line in svg.lines() {
        let stroke = line.strip_prefix("<polyline ").and_then(|rest| rest.strip_suffix("\"/>"));
        let Some((look, points)) = stroke.and_then(|rest| rest.split_once(POINTS)) else {
            out += if open.take().is_some() { "\"/>\n" } else { "" };
            out += line;
            out.push('\n');
            continue;
        };
        if open != Some(look) {
            out += if open.is_some() { "\"/>\n" } else { "" };
            out += &format!("<path {look}d=\"");
            open = Some(look);
        }
        out += &format!("M{points}");
    }
    out
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dashes_of_one_line_become_one_path() {
        let dash = |points| {
            format!("<polyline fill=\"none\" stroke=\"#0072B2\" stroke-width=\"7\" points=\"{points}\"/>\n")
        };
        let svg = dash("1,2 3,4") + &dash("5,6 7,8") + "<circle r=\"1\"/>\n" + &dash("9,9 8,8") + "</svg>\n";
        let look = "fill=\"none\" stroke=\"#0072B2\" stroke-width=\"7\"";
        assert_eq!(
            joined_strokes(&svg),
            format!(
                "<path {look} d=\"M1,2 3,4M5,6 7,8\"/>\n<circle r=\"1\"/>\n<path {look} d=\"M9,9 8,8\"/>\n</svg>\n"
            )
        );
    }

    #[test]
    fn legends_break_into_rows_that_fit() {
        let style = super::super::style::series_style("g-edf", 0);
        let entry = |k| LegendEntry { label: format!("scheduler {k} (100,000 jobs)"), style, line: true };
        let legend: Vec<LegendEntry> = (0..6).map(entry).collect();
        let page = Page { title: "t", subtitle: "s", legend: &legend, width: 920, body_height: 10 };
        let rows = page.legend_rows();
        assert_eq!(rows.iter().map(Vec::len).sum::<usize>(), 6);
        for row in rows {
            assert!(row.iter().map(|entry| entry_width(entry)).sum::<i32>() <= 920 - 24);
        }
    }
}

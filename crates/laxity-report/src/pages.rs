//! Pages of studies: what was found, tables and figures, as one self-contained HTML page and as Markdown.

use crate::plot::{BarsFigure, LinesFigure, bars_svg, lines_svg};
use laxity_model::markdown::{cell, inline, line};
use laxity_model::{Diagnostic, Result, shown_lines};
use minijinja::Environment;
use serde::Serialize;

/// A table of text. All columns but the first ones of words are numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlainTable {
    /// What it shows.
    pub caption: String,
    /// The heads of its columns.
    pub columns: Vec<String>,
    /// How many columns from the left are words.
    pub words: usize,
    /// Its rows.
    pub rows: Vec<Vec<String>>,
}

/// A part of a page; it is left out where it has nothing but its heading.
#[derive(Debug, Clone, PartialEq)]
pub struct PageSection {
    /// Its heading.
    pub heading: String,
    /// Paragraphs.
    pub paragraphs: Vec<String>,
    /// Tables.
    pub tables: Vec<PlainTable>,
    /// Figures.
    pub figures: Vec<LinesFigure>,
    /// Figures of histograms, below the others.
    pub histograms: Vec<BarsFigure>,
}

/// A page.
#[derive(Debug, Clone, PartialEq)]
pub struct StudyPage {
    /// Its title.
    pub title: String,
    /// Where and when.
    pub subtitle: String,
    /// What is to be known when reading it, a line each.
    pub notes: Vec<String>,
    /// What was found, a line each.
    pub findings: Vec<String>,
    /// Its parts.
    pub sections: Vec<PageSection>,
}

#[derive(Serialize)]
struct Rendered<'a> {
    title: &'a str,
    subtitle: &'a str,
    style: &'static str,
    notes: &'a [String],
    findings: &'a [String],
    sections: Vec<RenderedSection<'a>>,
}

#[derive(Serialize)]
struct RenderedSection<'a> {
    heading: &'a str,
    paragraphs: &'a [String],
    tables: &'a [PlainTable],
    figures: Vec<RenderedFigure<'a>>,
}

#[derive(Serialize)]
struct RenderedFigure<'a> {
    title: &'a str,
    caption: &'a str,
    svg: String,
}

/// A figure that is drawn.
struct Image<'a> {
    stem: &'a str,
    title: &'a str,
    caption: &'a str,
    svg: String,
}

impl<'a> RenderedFigure<'a> {
    fn of(Image { title, caption, svg, .. }: Image<'a>) -> Self {
        RenderedFigure { title, caption, svg }
    }
}

impl PageSection {
    fn has_figures(&self) -> bool {
        !(self.figures.is_empty() && self.histograms.is_empty())
    }

    fn images(&self) -> Result<Vec<Image<'_>>> {
        let lines = self.figures.iter().map(|figure| {
            let LinesFigure { stem, title, caption, .. } = figure;
            Ok(Image { stem, title, caption, svg: lines_svg(figure)? })
        });
        let bars = self.histograms.iter().map(|figure| {
            let BarsFigure { stem, title, caption, .. } = figure;
            Ok(Image { stem, title, caption, svg: bars_svg(figure)? })
        });
        lines.chain(bars).collect()
    }

    fn says_something(&self) -> bool {
        !(self.paragraphs.is_empty() && self.tables.is_empty() && !self.has_figures())
    }
}

impl StudyPage {
    fn shown(&self) -> impl Iterator<Item = &PageSection> {
        self.sections.iter().filter(|section| section.says_something())
    }

    /// All figures: name without the ending, and image.
    ///
    /// # Errors
    ///
    /// The plotting library could not draw.
    pub fn images(&self) -> Result<Vec<(String, String)>> {
        let mut images = Vec::new();
        for section in &self.sections {
            images.extend(section.images()?.into_iter().map(|image| (image.stem.to_owned(), image.svg)));
        }
        Ok(images)
    }

    /// The page, figures included.
    ///
    /// # Errors
    ///
    /// The plotting library could not draw.
    pub fn html(&self) -> Result<String> {
        let images: Vec<Vec<Image<'_>>> = self.shown().map(PageSection::images).collect::<Result<_>>()?;
        let sections = self.shown().zip(images).map(|(section, images)| RenderedSection {
            heading: &section.heading,
            paragraphs: &section.paragraphs,
            tables: &section.tables,
            figures: images.into_iter().map(RenderedFigure::of).collect(),
        });
        let page = Rendered {
            title: &self.title,
            subtitle: &self.subtitle,
            style: include_str!("html/style.css"),
            notes: &self.notes,
            findings: &self.findings,
            sections: sections.collect(),
        };
        let defect =
            |e: minijinja::Error| Diagnostic::environment(format!("the page's template is broken: {e:#}"));
        let mut environment = Environment::new();
        environment.add_template("study.html", include_str!("html/study.html")).map_err(defect)?;
        environment
            .get_template("study.html")
            .and_then(|template| template.render(minijinja::value::Serde(&page)))
            .map(|page| shown_lines(&page).into_owned())
            .map_err(defect)
    }

    /// The page as Markdown; its figures are those of [`StudyPage::images`], in `plots/`.
    pub fn markdown(&self) -> String {
        let mut text = format!("# {}\n\n{}\n", inline(&self.title), line(&self.subtitle));
        for lines in [&self.notes, &self.findings] {
            if !lines.is_empty() {
                text.push('\n');
            }
            lines.iter().for_each(|words| text += &format!("- {}\n", line(words)));
        }
        for section in self.shown() {
            text += &format!("\n## {}\n", inline(&section.heading));
            section.paragraphs.iter().for_each(|words| text += &format!("\n{}\n", line(words)));
            section.tables.iter().for_each(|table| text += &markdown_table(table));
            // One paragraph: without the figures no gaps are left.
            if section.has_figures() {
                text.push('\n');
            }
            let lines = section.figures.iter().map(|figure| (&figure.title, &figure.stem));
            let bars = section.histograms.iter().map(|figure| (&figure.title, &figure.stem));
            for (title, stem) in lines.chain(bars) {
                text += &format!("![{}](plots/{stem}.svg)\n", inline(title));
            }
        }
        text
    }
}

fn markdown_table(table: &PlainTable) -> String {
    let in_row = |cells: &[String]| cells.iter().map(|text| cell(text)).collect::<Vec<_>>().join(" | ");
    let row = |cells: &[String]| format!("| {} |\n", in_row(cells));
    let marks: Vec<String> = (0..table.columns.len())
        .map(|at| if at < table.words { "---".to_owned() } else { "---:".to_owned() })
        .collect();
    let rows: String = table.rows.iter().map(|cells| row(cells)).collect();
    format!("\n{}:\n\n{}| {} |\n{rows}", line(&table.caption), row(&table.columns), marks.join(" | "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_what_it_is_given_and_escapes_it() {
        let table = PlainTable {
            caption: "What <costs>".into(),
            columns: vec!["scheduler".into(), "µs".into()],
            words: 1,
            rows: vec![vec!["fpp".into(), "1.5".into()]],
        };
        let section = PageSection {
            heading: "Releases".into(),
            paragraphs: vec!["a & b".into()],
            tables: vec![table],
            figures: vec![],
            histograms: Vec::new(),
        };
        let page = StudyPage {
            title: "Overheads".into(),
            subtitle: "here".into(),
            notes: vec!["at <most>".into()],
            findings: vec!["fpp is the cheapest".into()],
            sections: vec![section],
        };
        let html = page.html().expect("renders");
        for part in [
            "What &lt;costs&gt;",
            "a &amp; b",
            "<td class=\"number\">1.5</td>",
            ">Notes</p><ul><li>at &lt;most&gt;</li></ul>",
            ">What was found</p><ul><li>fpp is the cheapest</li></ul>",
        ] {
            assert!(html.contains(part), "no {part} in\n{html}");
        }
        assert!(page.markdown().contains("here\n\n- at &lt;most>\n\n- fpp is the cheapest\n"));
        assert!(page.markdown().contains("| scheduler | µs |\n| --- | ---: |\n| fpp | 1.5 |\n"));
    }

    #[test]
    fn what_is_empty_is_left_out() {
        let section = |heading: &str, stems: &[&str]| PageSection {
            heading: heading.into(),
            paragraphs: vec![],
            tables: vec![],
            figures: stems.iter().map(|stem| figure(stem)).collect(),
            histograms: Vec::new(),
        };
        let page = StudyPage {
            title: "Overheads".into(),
            subtitle: "here".into(),
            notes: vec![],
            findings: vec![],
            sections: vec![section("Nothing", &[]), section("Two", &["a", "b"]), section("One", &["c"])],
        };
        let expected = "# Overheads\n\nhere\n\n## Two\n\n![a](plots/a.svg)\n![b](plots/b.svg)\n\n## One\n\n![c](plots/c.svg)\n";
        assert_eq!(page.markdown(), expected);
        let html = page.html().expect("renders");
        assert!(!html.contains("Notes") && !html.contains("What was found"), "{html}");
        assert!(!html.contains("Nothing") && html.contains("<h2>One</h2>"), "{html}");
    }

    fn figure(stem: &str) -> LinesFigure {
        LinesFigure {
            stem: stem.into(),
            title: stem.into(),
            subtitle: String::new(),
            caption: String::new(),
            x_title: "tasks per CPU".into(),
            labels: vec![],
            panels: vec![],
            notes: vec![],
        }
    }
}

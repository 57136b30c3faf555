//! The report as text, for a terminal or a file.

use crate::table::{Field, Table, Tone};
use crate::{Recommendation, Report, number};
use crate::{beside, evidence_tables};
use comfy_table::{Cell, CellAlignment, Color, ContentArrangement, Table as Grid, presets};

/// Where the text goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TextStyle {
    /// Columns of the terminal; `None` for text that nobody wraps (a file, a pipe).
    pub width: Option<u16>,
    /// Colours and bold, by escape sequences.
    pub color: bool,
}

/// Lines of words are not made longer than this, however wide the terminal.
const WORDS_WIDTH_MOST: usize = 100;

/// The whole report.
pub(crate) fn text(report: &Report<'_>, style: TextStyle) -> String {
    let study = &report.study;
    let mut out = String::new();
    let several = study.sets.len() > 1;
    if report.layout.grid {
        // Set by set would drown the answer; the HTML report has every set.
        let (sets, cells) = (study.sets.len(), report.layout.cells.len());
        out += &format!("{}\n", bold(&format!("{sets} generated sets in {cells} cells"), style));
    }
    for index in study.all_sets().into_iter().filter(|_| !report.layout.grid) {
        out += &format!("{}\n", bold(&set_line(report, index), style));
        let own = &report.set_recommendations[index];
        if several {
            out += &format!("\n{}\n", table(&evidence_tables::glance(study, &[index], own), style));
            if let Some(worst) = evidence_tables::worst_tasks(study, &[index]) {
                out += &format!("{}\n", table(&worst, style));
            }
        }
    }
    out.push('\n');
    for table_4 in evidence_tables::table_4(study, &report.layout) {
        out += &format!("{}\n", table(&table_4, style));
    }
    let all = study.all_sets();
    out += &format!("{}\n", table(&evidence_tables::glance(study, &all, &report.recommendation), style));
    if !several || report.layout.grid {
        match evidence_tables::worst_tasks(study, &all) {
            Some(worst) => out += &format!("{}\n", table(&worst, style)),
            None => out += &format!("{}\n\n", evidence_tables::no_misses(study)),
        }
    }
    if let Some(beside) = beside::table(study, &report.beside) {
        out += &format!("{}\n", table(&beside, style));
    }
    out + &recommendation(&report.recommendation, style)
}

fn set_line(report: &Report<'_>, index: usize) -> String {
    let study = &report.study;
    let set = &study.sets[index];
    let cell = crate::cells::set_cell(study, index);
    format!(
        "{}: {}, U = {}, U/m = {} on {}",
        set.name(),
        number::counted(u64::try_from(cell.tasks).unwrap_or(u64::MAX), "task"),
        number::significant(crate::study::utilization_of(set)),
        number::significant(cell.utilization_per_core),
        number::counted(u64::try_from(study.cores()).unwrap_or(u64::MAX), "core")
    )
}

/// The answer in words.
pub(crate) fn recommendation(recommendation: &Recommendation, style: TextStyle) -> String {
    let simulated = recommendation.host == Some(laxity_trace::Host::Simulator);
    let headline = match (&recommendation.label, recommendation.misses_nothing) {
        (Some(label), true) if simulated => format!("Best in simulation: {label}."),
        (Some(label), true) => format!("Deploy {label}."),
        (Some(label), false) => format!("{label} misses least, but it misses."),
        (None, _) => "No recommendation.".to_owned(),
    };
    let mut out = format!("{}\n", bold(&headline, style));
    let items = |items: &[String]| items.iter().map(|item| wrapped(item, "  - ", style)).collect::<String>();
    out += &items(&recommendation.reasons);
    if recommendation.ranking.len() > 1 {
        out += &wrapped(&format!("Ranking: {}.", recommendation.ranking.join(", ")), "  - ", style);
    }
    if !recommendation.caveats.is_empty() {
        out += &format!("{}\n", bold("Before you rely on it:", style));
        out += &items(&recommendation.caveats);
    }
    out
}

fn bold(text: &str, style: TextStyle) -> String {
    let text = printable(text);
    if style.color { format!("\x1b[1m{text}\x1b[0m") } else { text }
}

/// Names come from files: escape sequences in them must not reach the terminal.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// Breaks at words; continuation lines are indented under the first.
fn wrapped(text: &str, lead: &str, style: TextStyle) -> String {
    let width =
        style.width.map_or(WORDS_WIDTH_MOST, |columns| usize::from(columns).clamp(20, WORDS_WIDTH_MOST));
    let indent = " ".repeat(lead.chars().count());
    let (mut out, mut line) = (String::new(), lead.to_owned());
    let mut fresh = true;
    for word in printable(text).split_whitespace() {
        if !fresh && line.chars().count() + 1 + word.chars().count() > width {
            out += &format!("{line}\n");
            line.clone_from(&indent);
            fresh = true;
        }
        if !fresh {
            line.push(' ');
        }
        line += word;
        fresh = false;
    }
    out + &line + "\n"
}

/// The table, cut into several with the same leading columns where the terminal is too narrow.
fn table(table: &Table, style: TextStyle) -> String {
    let caption = wrapped(&table.caption, "", style);
    let mut out = if style.color { format!("\x1b[1m{}\x1b[0m\n", caption.trim_end()) } else { caption };
    for columns in column_chunks(table, style.width) {
        out += &format!("{}\n", grid(table, &columns, style));
    }
    table.notes.iter().for_each(|note| out += &wrapped(note, "  ", style));
    out
}

/// Which columns stand side by side: all if they fit, else as many as fit after the leading ones. Columns of a
/// group stay together where that fits.
fn column_chunks(table: &Table, width: Option<u16>) -> Vec<Vec<usize>> {
    let all: Vec<usize> = (0..table.columns.len()).collect();
    let Some(width) = width.map(usize::from) else {
        return vec![all];
    };
    let wide =
        |columns: &[usize]| columns.iter().map(|&column| column_width(table, column) + 3).sum::<usize>();
    let grouped = table.columns.iter().position(|column| !column.group.is_empty());
    let (lead, rest) = all.split_at(grouped.unwrap_or(1).min(all.len()));
    let lead_width = wide(lead) + 1;
    let same_group = |&a: &usize, &b: &usize| {
        !table.columns[a].group.is_empty() && table.columns[a].group == table.columns[b].group
    };
    let fits_alone = |group: &[usize]| lead_width + wide(group) <= width;
    let units = rest.chunk_by(same_group);
    let units = units.flat_map(|group| group.chunks(if fits_alone(group) { group.len() } else { 1 }));
    let mut chunks: Vec<Vec<usize>> = Vec::new();
    let mut used = usize::MAX;
    for unit in units {
        if used.saturating_add(wide(unit)) > width {
            chunks.push(lead.to_vec());
            used = lead_width;
        }
        if let Some(chunk) = chunks.last_mut() {
            chunk.extend(unit);
        }
        used += wide(unit);
    }
    if chunks.is_empty() { vec![all] } else { chunks }
}

fn column_width(table: &Table, column: usize) -> usize {
    let head = &table.columns[column];
    let cells = table.rows.iter().filter_map(|row| row.get(column)).map(|field| field.text.chars().count());
    cells.chain([head.label.chars().count(), head.group.chars().count()]).max().unwrap_or(0)
}

fn grid(table: &Table, columns: &[usize], style: TextStyle) -> Grid {
    let mut grid = Grid::new();
    grid.load_style(if style.width.is_some() { presets::UTF8_FULL_CONDENSED } else { presets::NOTHING });
    grid.set_content_arrangement(ContentArrangement::Dynamic);
    match style.width {
        Some(width) => grid.set_width(width),
        None => grid.set_width(u16::MAX),
    };
    if style.color {
        grid.enforce_styling()
    } else {
        grid.force_no_tty()
    };
    let grouped = columns.iter().any(|&column| !table.columns[column].group.is_empty());
    let head = |&column: &usize| {
        let head = &table.columns[column];
        let words = if grouped { format!("{}\n{}", head.group, head.label) } else { head.label.clone() };
        aligned(Cell::new(words), head.number)
    };
    grid.set_header(columns.iter().map(head));
    for row in &table.rows {
        let cell = |&column: &usize| {
            row.get(column)
                .map_or_else(|| Cell::new(""), |field| toned(field, table.columns[column].number, style))
        };
        grid.add_row(columns.iter().map(cell));
    }
    grid
}

fn aligned(cell: Cell, number: bool) -> Cell {
    if number { cell.set_alignment(CellAlignment::Right) } else { cell }
}

fn toned(field: &Field, number: bool, style: TextStyle) -> Cell {
    let cell = aligned(Cell::new(printable(&field.text)), number);
    if !style.color {
        return cell;
    }
    match field.tone {
        Tone::Plain => cell,
        Tone::Good => cell.fg(Color::Green),
        Tone::Bad => cell.fg(Color::Red),
        Tone::Faint => cell.fg(Color::DarkGrey),
        Tone::Strong => cell.add_attribute(comfy_table::Attribute::Bold),
    }
}

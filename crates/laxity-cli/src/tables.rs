//! Tables of the terminal: words are never broken. Where the columns are too narrow for that, rows become lists.

use comfy_table::{ColumnConstraint, ContentArrangement, Row, Table, Width, presets};
use unicode_width::UnicodeWidthStr;

/// A table of this width at the most; of any width where nothing is said.
pub fn table(width: Option<u16>) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_HORIZONTAL_ONLY);
    table.set_content_arrangement(ContentArrangement::Dynamic);
    if let Some(width) = width {
        table.set_width(width);
    }
    table
}

/// A table with a header as text, in its width.
pub fn fitted(mut table: Table) -> String {
    let Some(width) = table.width() else { return format!("{table}\n") };
    let words = widths(&table, longest_word);
    let whole = widths(&table, UnicodeWidthStr::width);
    let keeps = |at: usize| {
        matches!(table.column(at).and_then(|it| it.constraint()), Some(ColumnConstraint::ContentWidth))
    };
    // Columns that are to stay whole do so if there is room.
    let wanted: Vec<usize> =
        (0..words.len()).map(|at| if keeps(at) { whole[at] } else { words[at] }).collect();
    let Some(least) = [wanted, words].into_iter().find(|widths| room(widths) <= usize::from(width)) else {
        return list(&table, width.into());
    };
    for (column, least) in table.column_iter_mut().zip(least) {
        let with_padding = u16::try_from(least + 2).unwrap_or(u16::MAX);
        column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(with_padding)));
    }
    format!("{table}\n")
}

/// A blank on both sides of each column, and one between them.
fn room(widths: &[usize]) -> usize {
    widths.iter().map(|width| width + 3).sum::<usize>().saturating_sub(1)
}

/// The width of the longest word.
pub fn longest_word(text: &str) -> usize {
    text.split_whitespace().map(UnicodeWidthStr::width).max().unwrap_or(0)
}

/// The greatest measure of each column's cells.
fn widths(table: &Table, measure: impl Fn(&str) -> usize) -> Vec<usize> {
    let rows = || table.header().into_iter().chain(table.row_iter());
    let columns = rows().map(|row| row.cell_iter().count()).max().unwrap_or(0);
    let widest = |at: usize| {
        let cells = rows().filter_map(|row| row.cell_iter().nth(at));
        cells.map(|cell| measure(&cell.content())).max().unwrap_or(0)
    };
    (0..columns).map(widest).collect()
}

/// The rows one below the other, each cell behind the head of its column.
fn list(table: &Table, width: usize) -> String {
    let texts = |row: &Row| row.cell_iter().map(|cell| cell.content().replace('\n', " ")).collect::<Vec<_>>();
    let heads = table.header().map(texts).unwrap_or_default();
    let mut text = String::new();
    for row in table.row_iter().map(texts) {
        for (at, cell) in row.iter().enumerate().filter(|(_, cell)| !cell.is_empty()) {
            let head = heads.get(at).map(String::as_str).unwrap_or_default();
            let indent = if at == 0 { "" } else { "  " };
            text += &wrapped(&format!("{indent}{head}: "), cell, width);
        }
    }
    text
}

/// Words behind a head; lines after the first are indented by four.
pub fn wrapped(head: &str, words: &str, width: usize) -> String {
    wrapped_at(4, head, words, width)
}

/// Words behind a head; lines after the first are indented by so many columns.
pub fn wrapped_at(indent: usize, head: &str, words: &str, width: usize) -> String {
    let (mut text, mut line) = (String::new(), head.to_owned());
    for word in words.split_whitespace() {
        let begun = !line.is_empty() && !line.ends_with(' ');
        if line.width() + usize::from(begun) + word.width() > width && !line.trim().is_empty() {
            text += &(line.trim_end().to_owned() + "\n");
            line = " ".repeat(indent);
        } else if begun {
            line.push(' ');
        }
        line += word;
    }
    text + line.trim_end() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADS: [&str; 5] = ["Thread", "Policy", "Runtime / deadline / period", "CPUs", "P(miss) ≤"];

    fn rows() -> Vec<[String; 5]> {
        let row = |name: &str, words: &str| {
            [name, "SCHED_DEADLINE", words, "0-3,8-11", "0.000013"].map(str::to_owned)
        };
        vec![
            row("camera-front-left-decoder-4k60", "14668.532us / 33ms / 33ms"),
            row(
                "überlagerungs-regelkreis-müller",
                "not proven: task `a`, CPUs 0-1: only without the fair server",
            ),
            row("", ""),
        ]
    }

    fn made(width: u16, whole: bool) -> Table {
        let mut made = table(Some(width));
        made.set_header(HEADS);
        rows().into_iter().for_each(|row| _ = made.add_row(row));
        if let (true, Some(column)) = (whole, made.column_mut(2)) {
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
        made
    }

    #[test]
    fn no_word_is_broken_and_no_line_is_too_wide() {
        for (width, whole) in (30..=160).flat_map(|width| [(width, false), (width, true)]) {
            let text = fitted(made(width, whole));
            // The longest name, behind its head or the indentation.
            let most = usize::from(width).max("Thread: überlagerungs-regelkreis-müller".width());
            for line in text.lines() {
                assert!(line.width() <= most, "{width}: {line}");
            }
            let found: Vec<&str> = text.split_whitespace().collect();
            for word in rows().iter().flatten().flat_map(|cell| cell.split_whitespace()) {
                assert!(found.contains(&word), "{width}: {word} is broken\n{text}");
            }
        }
    }

    #[test]
    fn rows_become_lists_where_columns_are_too_narrow() {
        let wide = fitted(made(160, false));
        assert!(
            wide.lines().any(|line| ["camera-front-left-decoder-4k60", "SCHED_DEADLINE"]
                .iter()
                .all(|it| line.contains(it))),
            "{wide}"
        );
        let narrow = fitted(made(40, false));
        let lines: Vec<&str> = narrow.lines().take(4).collect();
        assert_eq!(lines[0], "Thread: camera-front-left-decoder-4k60");
        assert_eq!(lines[1], "  Policy: SCHED_DEADLINE");
        assert_eq!(lines[2], "  Runtime / deadline / period:");
        assert_eq!(lines[3], "    14668.532us / 33ms / 33ms");
    }
}

//! Tables, independent of where they are shown.

use laxity_model::markdown::{self, cell};
use serde::Serialize;

/// How a cell is emphasized where the medium can.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Tone {
    #[default]
    Plain,
    Good,
    Bad,
    Faint,
    Strong,
}

/// One cell of a table.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub(crate) struct Field {
    pub(crate) text: String,
    pub(crate) tone: Tone,
}

impl Field {
    pub(crate) fn toned(text: impl Into<String>, tone: Tone) -> Field {
        Field { text: text.into(), tone }
    }
}

impl<T: Into<String>> From<T> for Field {
    fn from(text: T) -> Field {
        Field { text: text.into(), tone: Tone::Plain }
    }
}

/// A column. Columns with the same group stand under one heading.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Column {
    pub(crate) group: String,
    pub(crate) label: String,
    /// Numbers stand to the right.
    pub(crate) number: bool,
}

impl Column {
    pub(crate) fn text(label: &str) -> Column {
        Column { group: String::new(), label: label.to_owned(), number: false }
    }

    pub(crate) fn number(label: &str) -> Column {
        Column { group: String::new(), label: label.to_owned(), number: true }
    }

    pub(crate) fn grouped(group: &str, label: &str) -> Column {
        Column { group: group.to_owned(), label: label.to_owned(), number: true }
    }
}

/// A table: what it shows, its columns, its rows, and what a reader must know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Table {
    pub(crate) caption: String,
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Vec<Field>>,
    pub(crate) notes: Vec<String>,
}

impl Table {
    /// Neighbouring columns of one group: the heading and how many columns it spans.
    pub(crate) fn groups(&self) -> Vec<(&str, usize)> {
        let mut groups: Vec<(&str, usize)> = Vec::new();
        for column in &self.columns {
            match groups.last_mut() {
                Some((group, span)) if *group == column.group && !group.is_empty() => *span += 1,
                _ => groups.push((&column.group, 1)),
            }
        }
        groups
    }

    /// The same with what stands side by side under every heading in rows: one row for each label, in a column `label`
    /// after the leading ones, and one column for each group. Nothing unless there are groups and all have the same labels.
    pub(crate) fn stacked(&self, label: &str) -> Option<Table> {
        let lead = self.columns.iter().take_while(|column| column.group.is_empty()).count();
        let groups: Vec<&[Column]> = self.columns[lead..].chunk_by(|a, b| a.group == b.group).collect();
        let labels: Vec<&str> = groups
            .first()
            .filter(|_| self.columns[lead..].iter().all(|c| !c.group.is_empty()))?
            .iter()
            .map(|column| column.label.as_str())
            .collect();
        let same =
            |group: &&[Column]| group.iter().map(|column| column.label.as_str()).eq(labels.iter().copied());
        if !groups.iter().all(same) {
            return None;
        }
        let mut columns = self.columns[..lead].to_vec();
        columns.push(Column::text(label));
        columns.extend(groups.iter().map(|group| Column::number(&group[0].group)));
        let row = |row: &[Field], place: usize| -> Vec<Field> {
            // What leads stands once, in the first of its rows.
            let field = |index: usize| row.get(index).cloned().unwrap_or_default();
            let own = (0..lead).map(|index| if place == 0 { field(index) } else { Field::default() });
            let values = (0..groups.len()).map(|group| field(lead + group * labels.len() + place));
            own.chain([labels[place].into()]).chain(values).collect()
        };
        let rows = self.rows.iter().flat_map(|of| (0..labels.len()).map(|place| row(of, place))).collect();
        Some(Table { caption: self.caption.clone(), columns, rows, notes: self.notes.clone() })
    }

    /// As a Markdown table; group headings are joined with the column's own.
    pub(crate) fn markdown(&self) -> String {
        let line = |fields: Vec<String>| format!("| {} |\n", fields.join(" | "));
        let head = |c: &Column| cell(format!("{} {}", c.group, c.label).trim());
        let rule = |c: &Column| if c.number { "---:".to_owned() } else { "---".to_owned() };
        let mut out = line(self.columns.iter().map(head).collect());
        out += &line(self.columns.iter().map(rule).collect());
        for row in &self.rows {
            out += &line(row.iter().map(|field| cell(&field.text)).collect());
        }
        for note in &self.notes {
            out += &format!("\n{}\n", markdown::line(note));
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_keeps_its_columns_whatever_is_in_them() {
        let table = Table {
            caption: String::new(),
            columns: vec![Column::text("Task"), Column::grouped("Laxity", "g-edf")],
            rows: vec![vec!["a|b <script>".into(), "0.5".into()]],
            notes: vec!["n".into()],
        };
        assert_eq!(
            table.markdown(),
            "| Task | Laxity g-edf |\n| --- | ---: |\n| a\\|b &lt;script> | 0.5 |\n\nn\n"
        );
    }

    #[test]
    fn neighbouring_columns_share_their_heading() {
        let columns =
            [Column::text("a"), Column::text("b"), Column::grouped("g", "c"), Column::grouped("g", "d")];
        let table = Table { caption: String::new(), columns: columns.to_vec(), rows: vec![], notes: vec![] };
        assert_eq!(table.groups(), [("", 1), ("", 1), ("g", 2)]);
    }
}

//! Reading and writing files: laxity's own TOML and JSON, and the formats of other tools.

mod csv;
mod directory;
mod document;
mod draft;
mod notation;
mod plain;
mod platform;
mod rtapp;
mod rtapp_jobs;
mod rtapp_json;
mod rtapp_task;
mod rtapp_thread;
mod schema;
mod simso;
mod task_set;
mod text_file;
mod walk_rates;
mod written;

pub use csv::TaskRow;
pub use directory::{DirectoryLock, OutputDirectory, is_begun};
pub use document::{DocumentEntries, DocumentKind};
pub use draft::{Draft, remove as remove_at};
pub use plain::json_in_plain_words;
pub use schema::{platform_schema, read_schema, task_set_schema, written_schema};
pub use text_file::{STANDARD, read_file};
pub use walk_rates::{WalkKind, WalkRates};
pub use written::{Existing, OutputFile, cannot_write, check_writable, write_file};

use crate::{Diagnostic, Platform, Result, ShownPath as _, TaskSet};
use document::printable;
use std::path::Path;

/// A task set that was read, and what a reader should know about how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// The set.
    pub set: TaskSet,
    /// What the file says but the set does not, and what was assumed.
    pub warnings: Vec<String>,
}

/// What happens to a file that describes work which makes no task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Incomplete {
    /// It is refused: a set that lacks load proves nothing about what was described.
    #[default]
    Refuse,
    /// Such work is left out, with a warning for each.
    LeaveOut,
}

/// A task set in a format that cannot carry everything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exported {
    /// The file's text.
    pub text: String,
    /// What was left out.
    pub warnings: Vec<String>,
}

/// Warnings are for people: after this many, the rest is counted.
const WARNINGS_MAX: usize = 50;

fn limited(mut warnings: Vec<String>) -> Vec<String> {
    let more = warnings.len().saturating_sub(WARNINGS_MAX);
    if more > 0 {
        warnings.truncate(WARNINGS_MAX);
        warnings.push(format!("{more} more warnings are not shown"));
    }
    warnings.iter().map(|warning| printable(warning)).collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Toml,
    Json,
    Csv,
    Xml,
}

/// Reads a task set: TOML, JSON (laxity's or rt-app's), CSV or SimSo XML, by the file's extension or, where
/// that says nothing, by its content. A set without a name gets that of the file.
pub fn read_task_set(path: &Path) -> Result<Imported> {
    read_task_set_as(path, Incomplete::Refuse)
}

/// The same, where it is said what happens to work that makes no task.
pub fn read_task_set_as(path: &Path, incomplete: Incomplete) -> Result<Imported> {
    read(path, |text, name| {
        let own = |set: Result<TaskSet>| set.map(|set| Imported { set, warnings: Vec::new() });
        match format_of(path, text) {
            Format::Toml => own(TaskSet::from_toml(text, name)),
            Format::Json if rtapp::is_rtapp(text)? => TaskSet::from_rtapp_as(text, name, incomplete),
            Format::Json => own(TaskSet::from_json(text, name)),
            Format::Csv => TaskSet::from_csv(text, name),
            Format::Xml => TaskSet::from_simso(text, name),
        }
    })
}

/// Reads a platform in TOML or JSON. A platform without a name gets that of the file.
pub fn read_platform(path: &Path) -> Result<Platform> {
    read(path, |text, name| match format_of(path, text) {
        Format::Json => Platform::from_json(text, name),
        Format::Toml => Platform::from_toml(text, name),
        Format::Csv | Format::Xml => Err(Diagnostic::usage("a platform is TOML or JSON")
            .hint("`laxity schema platform` describes the format")),
    })
}

/// [`read_file`], with a name for what has none.
fn read<T>(path: &Path, parse: impl FnOnce(&str, &str) -> Result<T>) -> Result<T> {
    read_file(path, |text| parse(text, &name_of(path)))
}

/// The name of what is in a file that gives none: the file's without its ending, `stdin` for standard input.
pub fn name_of(path: &Path) -> String {
    match path == Path::new(STANDARD) {
        true => "stdin".to_owned(),
        false => printable(&path.file_stem().unwrap_or(path.as_os_str()).shown().to_string()),
    }
}

fn format_of(path: &Path, text: &str) -> Format {
    let extension = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
    match extension.as_deref() {
        Some("toml") => Format::Toml,
        Some("json") => Format::Json,
        Some("csv") => Format::Csv,
        Some("xml") => Format::Xml,
        _ => sniff(text),
    }
}

fn sniff(text: &str) -> Format {
    let start = text.trim_start();
    let is_title = |line: &&str| !line.trim().is_empty() && !line.starts_with('#');
    let first_line = start.lines().find(is_title).unwrap_or_default();
    if ["{", "/*", "//"].iter().any(|opening| start.starts_with(opening)) {
        Format::Json
    } else if start.starts_with('<') {
        Format::Xml
    } else if is_header(first_line) {
        Format::Csv
    } else {
        Format::Toml
    }
}

/// Whether a line has several titles of columns, whatever they are: no line of TOML has a comma without `=` or brackets.
fn is_header(line: &str) -> bool {
    line.contains([',', ';', '\t']) && !line.contains(['=', '[', ']', '{', '}'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_formats_by_content_where_the_extension_says_nothing() {
        for (text, format) in [
            ("version = 1\n", Format::Toml),
            ("[[tasks]]\n", Format::Toml),
            ("  {\"version\": 1}", Format::Json),
            ("/* rt-app */ {}", Format::Json),
            ("name,wcet_ns,period_ns\n", Format::Csv),
            ("# measured\nname,wcet,perod\na,1,2\n", Format::Csv),
            ("name;wcet;period\n", Format::Csv),
            ("tags = [\"a\",\"b\"]\n", Format::Toml),
            ("<?xml version=\"1.0\"?>", Format::Xml),
            ("", Format::Toml),
        ] {
            assert_eq!(format_of(Path::new("set"), text), format, "{text}");
            assert_eq!(format_of(Path::new("set.TOML"), text), Format::Toml);
        }
    }
}

//! Names of tasks and sets where other programs read them: in file names, comments, and strings of languages.
//!
//! A name is text that a user chooses. In each place it is either reduced to harmless characters or quoted by the rules of what reads it.

use laxity_model::shown;
use std::collections::BTreeSet;

/// Longer names are cut in names of files and units.
const FILE_NAME_MAX: usize = 48;

/// A name of a file: letters, digits, `-`, `_` and `.` of it, not beginning with a dot or a dash.
pub fn file_name(text: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let name: String = text.chars().map(plain).take(FILE_NAME_MAX).collect();
    let name = name.trim_start_matches(['.', '-']).trim_end_matches('-');
    if name.is_empty() { "unnamed".to_owned() } else { name.to_owned() }
}

/// Names of files for all of these, no two the same.
pub fn file_names<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let mut unique = |name: &str| {
        let plain = file_name(name);
        let numbered = (2u64..).map(|number| format!("{}.{number}", file_name(name)));
        let mut candidates = std::iter::once(plain).chain(numbered);
        // File systems that do not tell capitals apart are meant, too.
        candidates.find(|one| taken.insert(one.to_ascii_lowercase())).expect("numbers do not end")
    };
    names.map(&mut unique).collect()
}

/// A name inside a comment or a message of any language: harmless characters only.
pub(crate) fn harmless(text: &str) -> String {
    text.chars().map(|c| if c.is_alphanumeric() || " -_.()#".contains(c) { c } else { '_' }).collect()
}

/// A part of the name of a shell variable.
pub(crate) fn variable(text: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    text.chars().map(plain).take(FILE_NAME_MAX).collect()
}

/// A string of C. Octal escapes, which end after three digits; a question mark is one, too, because of trigraphs.
pub(crate) fn c_string(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'"' | b'\\' | b'?' => format!("\\{:03o}", byte),
        b' '..=b'~' => char::from(byte).to_string(),
        _ => format!("\\{byte:03o}"),
    };
    format!("\"{}\"", text.bytes().map(byte).collect::<String>())
}

/// A string of Rust and of Python: all but plain ASCII by its number.
pub(crate) fn rust_string(text: &str) -> String {
    let one = |c: char| match c {
        '"' | '\\' => format!("\\{c}"),
        ' '..='~' => c.to_string(),
        _ => format!("\\u{{{:x}}}", u32::from(c)),
    };
    format!("\"{}\"", text.chars().map(one).collect::<String>())
}

/// A string of Python.
pub(crate) fn python_string(text: &str) -> String {
    let one = |c: char| match c {
        '"' | '\\' => format!("\\{c}"),
        ' '..='~' => c.to_string(),
        _ => format!("\\U{:08x}", u32::from(c)),
    };
    format!("\"{}\"", text.chars().map(one).collect::<String>())
}

/// A string of YAML and JSON.
pub(crate) fn json_string(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    laxity_model::shown_json(&quoted).into_owned()
}

/// Text in a setting of systemd, which reads `%` as the beginning of something else, and a backslash at the end as a line's
/// continuation.
pub(crate) fn unit_text(text: &str) -> String {
    shown(text).replace('%', "%%").replace('\\', "/")
}

//! From text to wire structs, with errors that say where and what to write instead.

use super::plain::{in_plain_words, json_message, json_place};
use crate::{Diagnostic, Result, closest, shown};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Messages quote the input; a broken file must not fill the terminal with it.
const MESSAGE_CHARS_MAX: usize = 600;

/// A kind of document in TOML or JSON: what errors say about it.
#[derive(Debug)]
pub struct DocumentKind {
    /// Its name in messages: "task set".
    pub what: &'static str,
    /// The published schema: "schemas/task-set.schema.json".
    pub schema: &'static str,
    /// The version that documents say they have in `version`.
    pub version: u64,
    /// The list whose entries errors name.
    pub entries: Option<DocumentEntries>,
}

/// A list in a document.
#[derive(Debug)]
pub struct DocumentEntries {
    /// Its key: "tasks".
    pub key: &'static str,
    /// The name of one of its entries: "task".
    pub singular: &'static str,
    /// True if such an entry does not read by itself.
    pub refuses: fn(&Value) -> bool,
}

impl DocumentKind {
    /// Reads TOML.
    ///
    /// # Errors
    ///
    /// A document of another version; what does not read, with line and column, and with the nearest known word where
    /// one is misspelt.
    pub fn from_toml<T: DeserializeOwned>(&self, text: &str) -> Result<T> {
        toml::from_str(text).map_err(|e| {
            let place = e.span().map(|span| line_and_column(text, span.start));
            let document = toml::from_str(text).ok();
            let key = e.span().and_then(|span| key_before(text, span.start));
            explain((e.message(), key), place, document.as_ref(), self)
        })
    }

    /// Reads JSON; errors as those of [`DocumentKind::from_toml`].
    pub fn from_json<T: DeserializeOwned>(&self, text: &str) -> Result<T> {
        serde_json::from_str(text).map_err(|e| {
            let document = serde_json::from_str(text).ok();
            explain((&json_message(&e), None), json_place(&e), document.as_ref(), self)
        })
    }

    /// Reads a JSON document that is in memory already; errors as those of [`DocumentKind::from_toml`], without place.
    pub fn from_json_value<T: DeserializeOwned>(&self, document: &Value) -> Result<T> {
        T::deserialize(document).map_err(|e| explain((&json_message(&e), None), None, Some(document), self))
    }

    /// The name that `laxity schema` has for it: "task-set".
    pub fn schema_name(&self) -> &'static str {
        let file = self.schema.rsplit('/').next().unwrap_or(self.schema);
        file.strip_suffix(".schema.json").unwrap_or(file)
    }

    /// Refuses documents of another version.
    ///
    /// # Errors
    ///
    /// Which version this laxity reads.
    pub fn check_version(&self, version: u64) -> Result<()> {
        if version == self.version {
            return Ok(());
        }
        Err(Diagnostic::usage(format!(
            "{} version {version} is not known; this laxity reads version {}",
            self.what, self.version
        ))
        .hint(format!("write `version = {}` and follow {}", self.version, self.schema)))
    }
}

fn explain(
    (message, key): (&str, Option<&str>),
    place: Option<(usize, usize)>,
    document: Option<&Value>,
    kind: &DocumentKind,
) -> Diagnostic {
    // A file of a later version may break any rule of this one; its version is what matters.
    let version = document.and_then(|document| document.get("version")).and_then(Value::as_u64);
    if let Some(Err(diagnostic)) = version.map(|version| kind.check_version(version)) {
        return diagnostic;
    }
    let entry = document.and_then(|document| culprit(document, kind));
    // Of what is not known or missing, the message has the name.
    let key = key.filter(|_| message.starts_with("invalid "));
    let parts = [entry.as_deref(), key, Some(&in_plain_words(message))];
    let named = parts.into_iter().flatten().collect::<Vec<_>>().join(": ");
    let diagnostic = Diagnostic::usage(in_a_line(&named)).hint(in_a_line(&hint(message, kind)));
    match place {
        Some((line, column)) => diagnostic.context(format!("line {line}, column {column}")),
        None => diagnostic,
    }
}

/// The key whose value begins at a byte of a TOML file, if it stands in the same line.
fn key_before(text: &str, value: usize) -> Option<&str> {
    let before = text.get(..value)?;
    let line = &before[before.rfind('\n').map_or(0, |end| end + 1)..];
    let key = line.trim_end().strip_suffix('=')?.trim_end();
    let key = &key[key.rfind(['{', ',', '[']).map_or(0, |end| end + 1)..];
    Some(key.trim()).filter(|key| !key.is_empty())
}

/// Readers' messages have several lines.
fn in_a_line(message: &str) -> String {
    printable(&message.replace('\n', " "))
}

/// The first entry that does not read by itself, by name or position.
fn culprit(document: &Value, kind: &DocumentKind) -> Option<String> {
    let DocumentEntries { key, singular, refuses } = kind.entries.as_ref()?;
    let entries = document.get(key)?.as_array()?;
    let (index, entry) = entries.iter().enumerate().find(|(_, entry)| refuses(entry))?;
    Some(match entry.get("name").and_then(Value::as_str) {
        Some(name) => format!("{singular} `{name}`"),
        None => format!("{singular} {}", index + 1),
    })
}

fn hint(message: &str, kind: &DocumentKind) -> String {
    let mut quoted = message.split('`').skip(1).step_by(2);
    if is_unknown(message) {
        let unknown = quoted.next().unwrap_or_default();
        let known: Vec<&str> = quoted.collect();
        return match meant(unknown, &known) {
            Some(near) => format!("did you mean `{near}`? Known here: {}", known.join(", ")),
            None => format!("known here: {}", known.join(", ")),
        };
    }
    if message.starts_with("missing field `version`") {
        return format!(
            "start the {what} with `version = {version}` (in JSON `\"version\": {version}`)",
            what = kind.what,
            version = kind.version,
        );
    }
    format!("`laxity schema {}` describes the format ({})", kind.schema_name(), kind.schema)
}

/// Whether a message is about a name that is not known; all names that are follow in it, which the hint lists.
fn is_unknown(message: &str) -> bool {
    message.starts_with("unknown field") || message.starts_with("unknown variant")
}

/// Words of other tools and papers, and the fields that say the same here.
const OTHER_WORDS: [(&str, &str); 18] = [
    ("wss", "working_set"),
    ("memory", "working_set"),
    ("c", "wcet"),
    ("execution", "wcet"),
    ("execution_time", "wcet"),
    ("exec", "wcet"),
    ("runtime", "wcet"),
    ("budget", "wcet"),
    ("cost", "wcet"),
    ("t", "period"),
    ("interval", "period"),
    ("d", "deadline"),
    ("prio", "priority"),
    ("cpu", "affinity"),
    ("cpus", "affinity"),
    ("core", "affinity"),
    ("offset", "phase"),
    ("type", "kind"),
];

/// The known word that is meant.
fn meant<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let lower = word.to_ascii_lowercase();
    let other = OTHER_WORDS.iter().find(|(other, _)| *other == lower).map(|(_, field)| *field);
    known.iter().copied().find(|known| Some(*known) == other).or_else(|| closest(word, known))
}

/// Line and column (in characters) of a byte offset, from 1.
pub(super) fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before: String = text.char_indices().take_while(|&(at, _)| at < offset).map(|(_, c)| c).collect();
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|&c| c != '\n').count() + 1;
    (line, column)
}

/// The text as it is shown, and of it no more than a message should have.
pub(super) fn printable(text: &str) -> String {
    match text.char_indices().nth(MESSAGE_CHARS_MAX) {
        Some((end, _)) => format!("{} ...", shown(&text[..end])),
        None => shown(text).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_other_tools_have_their_field() {
        let known = ["name", "wcet", "period", "working_set"];
        assert_eq!(meant("wss", &known), Some("working_set"));
        assert_eq!(meant("T", &known), Some("period"));
        assert_eq!(meant("peroid", &known), Some("period"));
        assert_eq!(meant("offset", &known), None, "no `phase` here");
    }

    #[test]
    fn counts_lines_and_columns_in_characters() {
        assert_eq!(line_and_column("ab\ncµd", 6), (2, 3));
        assert_eq!(line_and_column("", 0), (1, 1));
    }
}

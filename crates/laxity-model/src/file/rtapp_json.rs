//! JSON as rt-app and its front end accept it: with comments, commas before a closing bracket, entries without a value
//! (`"suspend",`), and several entries of the same name whose order matters (two `run` events in one phase).

use super::document::printable;
use super::plain::{in_plain_words, json_message, json_place};
use crate::{Diagnostic, Result};
use serde::de::{self, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::fmt;

/// A JSON value whose objects keep every entry, in order.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Node {
    Null,
    Bool(bool),
    Integer(i64),
    /// A number that is not an integer of 64 bits.
    Decimal(f64),
    Text(String),
    List(Vec<Node>),
    Object(Vec<(String, Node)>),
}

impl Node {
    /// Reads a document; errors have line and column.
    pub fn parse(text: &str) -> Result<Node> {
        let strict = strict_json(text);
        let with_values = strict.with_values();
        serde_json::from_str(&with_values).map_err(|e| {
            let diagnostic = Diagnostic::usage(printable(&in_plain_words(&json_message(&e))))
                .hint("the file must be JSON");
            match json_place(&e).map(|(line, column)| (line, strict.column(line, column))) {
                Some((line, column)) => diagnostic.context(format!("line {line}, column {column}")),
                None => diagnostic,
            }
        })
    }

    /// The entries of an object, none for anything else.
    pub fn entries(&self) -> &[(String, Node)] {
        match self {
            Node::Object(entries) => entries,
            _ => &[],
        }
    }

    /// The value of `key`; the last one counts.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entries().iter().rev().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// What it is, for errors.
    pub fn kind(&self) -> &'static str {
        match self {
            Node::Null => "null",
            Node::Bool(_) => "true or false",
            Node::Integer(_) => "an integer",
            Node::Decimal(_) => "a number with decimals",
            Node::Text(_) => "text",
            Node::List(_) => "a list",
            Node::Object(_) => "an object",
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: de::Error>(self) -> std::result::Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> std::result::Result<Node, E> {
        Ok(Node::Bool(value))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> std::result::Result<Node, E> {
        Ok(Node::Integer(value))
    }

    #[expect(clippy::cast_precision_loss, reason = "a number that is only ever shown and refused")]
    fn visit_u64<E: de::Error>(self, value: u64) -> std::result::Result<Node, E> {
        Ok(i64::try_from(value).map_or(Node::Decimal(value as f64), Node::Integer))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> std::result::Result<Node, E> {
        Ok(Node::Decimal(value))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> std::result::Result<Node, E> {
        Ok(Node::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> std::result::Result<Node, A::Error> {
        let mut nodes = Vec::new();
        while let Some(node) = list.next_element()? {
            nodes.push(node);
        }
        Ok(Node::List(nodes))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Node, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Node::Object(entries))
    }
}

/// What stands for a value that was left out.
const NO_VALUE: &str = ":null";

/// A text that is almost JSON.
struct Strict {
    /// With comments and trailing commas blanked out, every other byte where it was.
    text: String,
    /// Where entries have no values, in order.
    without_value: Vec<usize>,
}

impl Strict {
    fn with_values(&self) -> String {
        let mut text = String::with_capacity(self.text.len() + NO_VALUE.len() * self.without_value.len());
        let mut from = 0;
        for &at in &self.without_value {
            text += &self.text[from..at];
            text += NO_VALUE;
            from = at;
        }
        text + &self.text[from..]
    }

    /// The column in the file of one in the text with values.
    fn column(&self, line: usize, column: usize) -> usize {
        let start = match line {
            1 => 0,
            _ => self.text.match_indices('\n').nth(line - 2).map_or(self.text.len(), |(at, _)| at + 1),
        };
        let mut column = column;
        for &at in self.without_value.iter().filter(|&&at| at >= start) {
            if start + column > at + NO_VALUE.len() {
                column -= NO_VALUE.len();
            }
        }
        column.max(1)
    }
}

fn strict_json(text: &str) -> Strict {
    let mut bytes = text.as_bytes().to_vec();
    let mut at = 0;
    // The last comma, as long as only blanks and comments follow it.
    let mut comma = None;
    // The end of the last string where it may be a key, as long as only blanks and comments follow it.
    let mut key = None;
    let (mut open, mut before_key, mut without_value) = (Vec::new(), false, Vec::new());
    while at < bytes.len() {
        match (bytes[at], bytes.get(at + 1)) {
            (b'"', _) => {
                at = end_of_string(&bytes, at);
                comma = None;
                key = before_key.then_some(at);
                before_key = false;
                continue;
            }
            (b'/', Some(b'*')) => {
                let end = find(&bytes[at + 2..], b"*/").map_or(bytes.len(), |length| at + length + 4);
                blank(&mut bytes[at..end]);
                at = end;
                continue;
            }
            (b'/', Some(b'/')) => {
                let end = find(&bytes[at..], b"\n").map_or(bytes.len(), |length| at + length);
                blank(&mut bytes[at..end]);
                at = end;
                continue;
            }
            (b',', _) => {
                without_value.extend(key.take());
                comma = Some(at);
                before_key = open.last() == Some(&b'{');
            }
            (b'}' | b']', _) => {
                without_value.extend(key.take());
                if let Some(comma) = comma.take() {
                    bytes[comma] = b' ';
                }
                open.pop();
                before_key = false;
            }
            (other, _) if !other.is_ascii_whitespace() => {
                (comma, key, before_key) = (None, None, other == b'{');
                if matches!(other, b'{' | b'[') {
                    open.push(other);
                }
            }
            _ => {}
        }
        at += 1;
    }
    let text = String::from_utf8(bytes).expect("only whole comments and commas were replaced, by blanks");
    Strict { text, without_value }
}

/// The position after the string that opens at `start`.
fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

fn blank(bytes: &mut [u8]) {
    bytes.iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_every_entry_in_order() {
        let node = Node::parse(r#"{"run": 1, "timer": {}, "run": 2,}"#).expect("valid");
        let keys: Vec<&str> = node.entries().iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, ["run", "timer", "run"]);
        assert_eq!(node.get("run"), Some(&Node::Integer(2)));
    }

    #[test]
    fn entries_may_have_no_value() {
        for (text, strict) in [
            (r#"{"a", "b": 1}"#, r#"{"a":null,"b":1}"#),
            (r#"{"b": 1, "a" /* c */ , }"#, r#"{"b":1,"a":null}"#),
            (r#"{"b": {"a"}, "c": ["a", "d"]}"#, r#"{"b":{"a":null},"c":["a","d"]}"#),
            (r#"{"b": "a", "c": "d"}"#, r#"{"b":"a","c":"d"}"#),
        ] {
            assert_eq!(strict_json(text).with_values().replace(' ', ""), strict, "{text}");
            assert!(Node::parse(text).is_ok(), "{text}");
        }
        assert_eq!(Node::parse(r#"{"a"}"#).expect("valid").get("a"), Some(&Node::Null));
        // Places are those of the file.
        for (text, place) in [
            ("{\"a\", \"b\": x}", "line 1, column 12"),
            ("{\"a\",\n \"b\", \"c\": x}", "line 2, column 12"),
            ("{\"a\" \"b\"}", "line 1, column 6"),
        ] {
            let error = Node::parse(text).expect_err(text);
            assert!(error.message.starts_with(place), "{text}: {error}");
        }
    }

    #[test]
    fn blanks_comments_and_trailing_commas_only() {
        for (text, strict) in [
            ("[1, /* µ */ 2]", "[1,2]"),
            ("[1, // x\n2]", "[1,\n2]"),
            (r#"["a//b", "/*", "\",]"]"#, r#"["a//b","/*","\",]"]"#),
            ("[1, /* c */ ]", "[1]"),
            ("{} /* open", "{}"),
            ("\"open", "\"open"),
        ] {
            let blanked = strict_json(text).with_values();
            assert_eq!(blanked.len(), text.len(), "{text}");
            assert_eq!(blanked.replace(' ', ""), strict);
        }
        assert!(Node::parse("[1,,]").is_err());
        assert!(Node::parse(&"[".repeat(100_000)).is_err());
        let error = Node::parse("{\n\"a\": /* x */ 1\n\"b\": 2}").expect_err("a comma is missing");
        assert!(error.message.starts_with("line 3, column 1"), "{}", error.message);
    }
}

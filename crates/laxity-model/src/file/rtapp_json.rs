//! JSON as rt-app and its front end accept it: with comments, commas before a closing bracket, and several
//! entries of the same name whose order matters (two `run` events in one phase).

use super::document::{json_message, json_place, printable};
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
        serde_json::from_str(&strict).map_err(|e| {
            let diagnostic = Diagnostic::usage(printable(&json_message(&e))).hint("the file must be JSON");
            match json_place(&e) {
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

/// The text with comments and trailing commas blanked out, every other byte where it was.
fn strict_json(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let mut at = 0;
    // The last comma, as long as only blanks and comments follow it.
    let mut comma = None;
    while at < bytes.len() {
        match (bytes[at], bytes.get(at + 1)) {
            (b'"', _) => {
                at = end_of_string(&bytes, at);
                comma = None;
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
            (b',', _) => comma = Some(at),
            (b'}' | b']', _) => {
                if let Some(comma) = comma.take() {
                    bytes[comma] = b' ';
                }
            }
            (other, _) if !other.is_ascii_whitespace() => comma = None,
            _ => {}
        }
        at += 1;
    }
    String::from_utf8(bytes).expect("only whole comments and commas were replaced, by blanks")
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
    fn blanks_comments_and_trailing_commas_only() {
        for (text, strict) in [
            ("[1, /* µ */ 2]", "[1,2]"),
            ("[1, // x\n2]", "[1,\n2]"),
            (r#"["a//b", "/*", "\",]"]"#, r#"["a//b","/*","\",]"]"#),
            ("[1, /* c */ ]", "[1]"),
            ("{} /* open", "{}"),
            ("\"open", "\"open"),
        ] {
            let blanked = strict_json(text);
            assert_eq!(blanked.len(), text.len(), "{text}");
            assert_eq!(blanked.replace(' ', ""), strict);
        }
        assert!(Node::parse("[1,,]").is_err());
        assert!(Node::parse(&"[".repeat(100_000)).is_err());
        let error = Node::parse("{\n\"a\": /* x */ 1\n\"b\": 2}").expect_err("a comma is missing");
        assert!(error.message.starts_with("line 3, column 1"), "{}", error.message);
    }
}

//! What readers of JSON and TOML say, in words of the one who wrote the file.

/// A message of `serde`, `serde_json` or `toml` in plain words: what is there, and what belongs there.
///
/// A message that is not known stays as it is.
pub fn in_plain_words(message: &str) -> String {
    let message = message.trim();
    for (start, end) in [
        ("missing field ", " is missing"),
        ("unknown field ", " is not known here"),
        ("unknown variant ", " is not known here"),
        ("duplicate field ", " is there twice"),
        ("duplicate key ", " is there twice"),
        ("duplicate key: ", " is there twice"),
    ] {
        if let Some(rest) = message.strip_prefix(start) {
            let name = rest.split(", ").next().unwrap_or(rest);
            return format!("{}{end}", quoted(name));
        }
    }
    let mut mistaken = ["invalid type: ", "invalid value: ", "invalid length "].into_iter();
    let rest = mistaken.find_map(|start| message.strip_prefix(start));
    if let Some((found, expected)) = rest.and_then(|rest| rest.split_once(", expected ")) {
        return match expected {
            "a boolean" => format!("{} is neither true nor false", what_is_there(found)),
            _ => format!("{} is not {}", what_is_there(found), what_belongs(expected)),
        };
    }
    if message.starts_with("data did not match any variant") {
        return "this is in none of the forms that it can have".to_owned();
    }
    let fixed = FIXED.iter().find(|(theirs, _)| message.starts_with(theirs));
    if let Some((_, ours)) = fixed {
        return (*ours).to_owned();
    }
    match message.split_once(", expected ") {
        Some((why, expected)) => format!("{} belongs here ({why})", what_belongs(expected)),
        None => message.to_owned(),
    }
}

/// The message of a JSON error without its place.
pub(super) fn json_message(error: &serde_json::Error) -> String {
    let message = error.to_string();
    match message.rfind(" at line ") {
        Some(end) if error.line() != 0 => message[..end].to_owned(),
        _ => message,
    }
}

/// Line and column of a JSON error, from 1.
pub(super) fn json_place(error: &serde_json::Error) -> Option<(usize, usize)> {
    (error.line() != 0).then(|| (error.line(), error.column().max(1)))
}

/// The same of an error in JSON, with its place.
pub fn json_in_plain_words(error: &serde_json::Error) -> String {
    let words = in_plain_words(&json_message(error));
    match json_place(error) {
        Some((line, column)) => format!("line {line}, column {column}: {words}"),
        None => words,
    }
}

/// Whole messages, by how they begin.
const FIXED: [(&str, &str); 17] = [
    ("key with no value", "`=` and a value belong behind this name"),
    ("wanted string or table", "this is neither a text in quotes nor a table"),
    ("wanted ", "this is of another kind than what belongs here"),
    ("EOF while parsing a value", "the text ends where a value belongs"),
    ("EOF while parsing a list", "the text ends within a list"),
    ("EOF while parsing an object", "the text ends within a table"),
    ("EOF while parsing a string", "the text ends within quotes"),
    ("expected value", "a value belongs here"),
    ("expected ident", "a value belongs here"),
    ("expected `:`", "`:` and a value belong behind this name"),
    ("expected `,` or `]`", "`,` or `]` belongs here"),
    ("expected `,` or `}`", "`,` or `}` belongs here"),
    ("trailing comma", "there is a comma and nothing behind it"),
    ("trailing characters", "there is more text behind the end"),
    ("key must be a string", "a name in double quotes belongs here"),
    ("control character", "a line break or another control character stands within quotes"),
    ("recursion limit exceeded", "lists and tables are too deep in each other"),
];

fn quoted(name: &str) -> String {
    if name.starts_with('`') { name.to_owned() } else { format!("`{name}`") }
}

/// The value that was found: ``integer `1` ``, `string "x"`, `map` or a number of entries.
fn what_is_there(found: &str) -> String {
    if found.parse::<u64>().is_ok() {
        return format!("a list of {found}");
    }
    let (kind, value) = found.split_once(' ').unwrap_or((found, ""));
    match kind {
        "sequence" => "a list".to_owned(),
        "map" => "a table".to_owned(),
        "null" | "unit" | "Option" => "`null`".to_owned(),
        "floating" => value.trim_start_matches("point ").to_owned(),
        "integer" | "boolean" | "character" | "string" => value.to_owned(),
        _ => found.to_owned(),
    }
}

/// What was to be there. Names of Rust's types become words.
fn what_belongs(expected: &str) -> String {
    let words = match expected {
        "a string" | "string" => "a text in quotes",
        "a sequence" => "a list",
        "a map" => "a table",
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number of at least 0",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        other if other.starts_with("struct ") || other.starts_with("internally tagged enum ") => "a table",
        other if other.starts_with("enum ") || other.starts_with("variant ") => {
            "one of the names that are known here"
        }
        other if other.starts_with("tuple ") || other.starts_with("an array ") => {
            "a list of as many values as belong here"
        }
        other => other,
    };
    words.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;
    use std::collections::BTreeMap;

    /// One of everything that files have.
    #[derive(Deserialize, Debug)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "it is read only")]
    struct All {
        number: u32,
        #[serde(default)]
        share: f64,
        #[serde(default)]
        text: String,
        #[serde(default)]
        flag: bool,
        #[serde(default)]
        list: Vec<u8>,
        #[serde(default)]
        pair: (u8, u8),
        #[serde(default)]
        table: BTreeMap<String, i8>,
        #[serde(default)]
        kind: Option<Kind>,
        #[serde(default)]
        either: Option<Either>,
        #[serde(default)]
        inner: Option<Inner>,
    }

    #[derive(Deserialize, Debug)]
    #[serde(rename_all = "kebab-case")]
    enum Kind {
        One,
        Other,
    }

    #[derive(Deserialize, Debug)]
    #[serde(untagged)]
    #[expect(dead_code, reason = "it is read only")]
    enum Either {
        Number(u8),
        Text(String),
    }

    #[derive(Deserialize, Debug)]
    #[expect(dead_code, reason = "it is read only")]
    struct Inner {
        a: u8,
    }

    /// Words of the libraries, and of Rust.
    const THEIRS: [&str; 17] = [
        "invalid type",
        "invalid value",
        "invalid length",
        "unknown field",
        "unknown variant",
        "missing field",
        "duplicate",
        "sequence",
        "struct",
        "enum",
        "u8",
        "u32",
        "f64",
        "boolean",
        "EOF",
        "map",
        "floating",
    ];

    fn check(theirs: &str) -> String {
        let ours = in_plain_words(theirs);
        let found = THEIRS.iter().find(|word| ours.contains(*word));
        assert!(found.is_none(), "{theirs:?} becomes {ours:?}");
        ours
    }

    #[test]
    fn nothing_of_the_libraries_words_is_left() {
        let values = [
            "-1",
            "1.5",
            "true",
            "\"x\"",
            "[]",
            "[1, 2, 3]",
            "[-1]",
            "{}",
            "{ \"a\" = 1 }",
            "5000000000",
            "nan",
            "",
        ];
        let names =
            ["number", "share", "text", "flag", "list", "pair", "table", "kind", "either", "inner", "other"];
        let mut wrong = 0;
        for (name, value) in names.iter().flat_map(|name| values.map(|value| (name, value))) {
            let first = if *name == "number" { "" } else { "number = 1\n" };
            for text in [
                format!("{first}{name} = {value}"),
                format!("{name} = {value}"),
                format!("{first}{name} {value}"),
            ] {
                if let Err(error) = toml::from_str::<All>(&text) {
                    wrong += 1;
                    check(error.message());
                }
            }
            let value = value.replace(" = ", ": ");
            for text in [
                format!("{{\"number\": 1, \"{name}\": {value}}}"),
                format!("{{\"number\": 1, \"{name}\": {value}"),
                format!("{{\"number\": 1, \"{name}\": {value},}}"),
                format!("{{\"{name}\": {value}}} x"),
                format!("[{value}]"),
            ] {
                if let Err(error) = serde_json::from_str::<All>(&text) {
                    wrong += 1;
                    check(&json_message(&error));
                }
            }
        }
        assert!(wrong > 400, "{wrong}");
    }

    #[test]
    fn sentences_read_well() {
        for (theirs, ours) in [
            ("invalid type: integer `1`, expected a string", "`1` is not a text in quotes"),
            (
                "invalid type: map, expected a list of at most 9 entries",
                "a table is not a list of at most 9 entries",
            ),
            ("invalid value: integer `-1`, expected u32", "`-1` is not a whole number of at least 0"),
            ("invalid length 0, expected struct Plan with 11 elements", "a list of 0 is not a table"),
            ("invalid type: string \"yes\", expected a boolean", "\"yes\" is neither true nor false"),
            ("missing field `wcet`", "`wcet` is missing"),
            ("unknown variant `rand`, expected `sequential` or `random`", "`rand` is not known here"),
            ("unclosed array table, expected `]]`", "`]]` belongs here (unclosed array table)"),
        ] {
            assert_eq!(in_plain_words(theirs), ours);
        }
    }
}

//! How text of unknown origin is shown: names in files, names of files, arguments, what the kernel says.
//!
//! 1. Control characters (C0, DEL, C1), line and paragraph separators, and marks, overrides and isolates of the
//!    writing direction are shown escaped as Rust and most readers write them: `\n`, `\t`, `\u{1b}`. A terminal would
//!    obey them, a page could say something else than it shows. So are U+FFFE and U+FFFF, which no XML may have.
//! 2. All else is shown as it is. A path is bytes: those that are no UTF-8 are shown as `\xff`.
//! 3. Laxity's own line ends and colours are added after that, so that none of them is anybody else's.
//! 4. What laxity itself gives out under a name (task sets, tasks, groups, platforms, titles and curves of studies) has
//!    none of these characters: [`crate::check_name`] refuses it. Names that laxity has to take as they are (of files, of
//!    threads, in results) are shown escaped.
//!
//! Media have rules of their own above that (elements of pages, Markdown, shells); they call this first.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// What stands before the further lines of a message.
const QUOTED: &str = "  | ";

/// Whether a character is shown escaped.
pub fn is_escaped(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        || matches!(c, '\u{fffe}' | '\u{ffff}')
}

/// A name, or other text of one line: nothing of it begins a line or a column.
pub fn shown(name: &str) -> Cow<'_, str> {
    escaped(name, is_escaped)
}

/// Text of several lines: its line ends and tabs stay.
pub fn shown_lines(text: &str) -> Cow<'_, str> {
    escaped(text, |c| is_escaped(c) && c != '\n' && c != '\t')
}

/// A message: its first line, and all others quoted with `  | `, so that no line of it passes for one of laxity's own.
pub fn shown_message(words: &str) -> Cow<'_, str> {
    match words.contains('\n') {
        false => shown(words),
        true => {
            let lines = words.trim_end().split('\n').enumerate().map(|(at, line)| {
                let quoted = at == 0 || line.starts_with(QUOTED);
                format!("{}{}", if quoted { "" } else { QUOTED }, shown(line))
            });
            Cow::Owned(lines.collect::<Vec<_>>().join("\n"))
        }
    }
}

/// JSON that says the same: what JSON itself lets stand in strings (DEL, C1, marks of the writing direction) is escaped in
/// its way.
pub fn shown_json(text: &str) -> Cow<'_, str> {
    let stands = |c: char| is_escaped(c) && !matches!(c, '\n' | '\r' | '\t');
    if !text.contains(stands) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match stands(c) {
            // All of them are in the first plane.
            true => _ = write!(out, "\\u{:04x}", u32::from(c)),
            false => out.push(c),
        }
    }
    Cow::Owned(out)
}

fn escaped(text: &str, is_escaped: impl Fn(char) -> bool + Copy) -> Cow<'_, str> {
    if !text.contains(is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match is_escaped(c) {
            // Rust's short forms; all others as `\u{1b}`.
            true if matches!(c, '\n' | '\r' | '\t') => out.extend(c.escape_default()),
            true => out.extend(c.escape_unicode()),
            false => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Paths as they are shown.
pub trait ShownPath {
    /// The path as [`shown`] shows text; each byte that is no UTF-8 as `\xff`.
    fn shown(&self) -> Shown<'_>;
}

impl<P: AsRef<Path> + ?Sized> ShownPath for P {
    fn shown(&self) -> Shown<'_> {
        Shown(self.as_ref())
    }
}

/// A path that can be written into a message.
#[derive(Debug, Clone, Copy)]
pub struct Shown<'a>(&'a Path);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.as_os_str().as_bytes().utf8_chunks() {
            f.write_str(&shown(chunk.valid()))?;
            chunk.invalid().iter().try_for_each(|byte| write!(f, "\\x{byte:02x}"))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;

    #[test]
    fn what_a_terminal_obeys_is_escaped_and_all_else_stays() {
        for (text, name, lines) in [
            ("plain µ – 中 \u{1f980}", "plain µ – 中 \u{1f980}", "plain µ – 中 \u{1f980}"),
            ("a\nb\tc\rd", r"a\nb\tc\rd", "a\nb\tc\\rd"),
            ("\u{1b}[31mred\u{7}", r"\u{1b}[31mred\u{7}", r"\u{1b}[31mred\u{7}"),
            ("\u{9b}31m\u{7f}\0", r"\u{9b}31m\u{7f}\u{0}", r"\u{9b}31m\u{7f}\u{0}"),
            (
                "a\u{202e}b\u{2069}\u{200f}\u{61c}",
                r"a\u{202e}b\u{2069}\u{200f}\u{61c}",
                r"a\u{202e}b\u{2069}\u{200f}\u{61c}",
            ),
            (
                "one\u{2028}two\u{2029}three\u{85}",
                r"one\u{2028}two\u{2029}three\u{85}",
                r"one\u{2028}two\u{2029}three\u{85}",
            ),
            (r"\u{1b}", r"\u{1b}", r"\u{1b}"),
        ] {
            assert_eq!(shown(text), name);
            assert_eq!(shown_lines(text), lines);
            assert_eq!(shown(&shown(text)), name, "what is shown is shown as it is");
        }
        assert!(matches!(shown("plain"), Cow::Borrowed(_)));
    }

    #[test]
    fn no_further_line_of_a_message_passes_for_one_of_laxitys_own() {
        let words = "died\n  | the console's\nerror: forged\u{1b}\r\n";
        assert_eq!(shown_message(words), "died\n  | the console's\n  | error: forged\\u{1b}");
        assert_eq!(shown_message("one\tline"), "one\\tline");
    }

    #[test]
    fn json_says_the_same_in_characters_that_are_shown() {
        let text = "{\n  \"a\\n\u{9b}\u{202e}\u{7f}\": \"µ\"\n}\n";
        let shown = shown_json(text);
        assert_eq!(shown, "{\n  \"a\\n\\u009b\\u202e\\u007f\": \"µ\"\n}\n");
        let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).expect("JSON");
        assert_eq!(read(&shown), read(text));
    }

    #[test]
    fn every_character_of_the_rule_is_escaped_and_its_neighbours_are_not() {
        let escaped: Vec<u32> = (0..=0x0010_ffff)
            .filter(|&code| char::from_u32(code).is_some_and(|c| shown(&c.to_string()) != c.to_string()))
            .collect();
        let expected: Vec<u32> = (0..0x20)
            .chain(0x7f..0xa0)
            .chain([0x61c, 0x200e, 0x200f])
            .chain(0x2028..=0x202e)
            .chain(0x2066..=0x2069)
            .chain(0xfffe..=0xffff)
            .collect();
        assert_eq!(escaped, expected);
    }

    #[test]
    fn bytes_of_a_path_that_are_no_text_are_told_apart() {
        let path = Path::new(OsStr::from_bytes(b"a\xff\xfe/\x1b[2J\xc2\x9b\xe2\x80\xaeb\nc\xc3"));
        assert_eq!(path.shown().to_string(), r"a\xff\xfe/\u{1b}[2J\u{9b}\u{202e}b\nc\xc3");
    }
}

//! Text in Markdown: names in it come from files, and make no element, no link and no block of their own.
//!
//! 1. Control characters first, as everywhere ([`crate::shown`]); so a text is one line.
//! 2. No raw HTML and no entity: `<` becomes `&lt;`, and `&` before what would be an entity `&amp;`.
//! 3. No link and no image: `]` before what would be a target gets a backslash, and so do the marks by which bare addresses
//!    become links.
//! 4. No code that does not end: a backtick without a partner, and three or more in a row, get backslashes. Paired ones are
//!    code, as in laxity's own words; whatever is between others is escaped by the rules above, whether it is code or not.
//! 5. No emphasis: `*` and `~` that have a partner get backslashes, and `_` outside a word.
//! 6. No block: what begins a heading, list, quotation or fence gets a backslash where text begins a line.

use crate::shown;

/// Within a line.
pub fn inline(text: &str) -> String {
    let text = shown(text);
    let code = text.matches('`').count() / 2 * 2;
    let has_partner = |mark: char| text.matches(mark).count() > 1;
    let (mut out, mut ticks) = (String::with_capacity(text.len() + 16), 0);
    for (at, c) in text.char_indices() {
        let rest = &text[at + c.len_utf8()..];
        let follows = |marks: &str| rest.starts_with(|next| marks.contains(next));
        let in_a_row = |mark: char| run_around(&text, at, mark) >= 3;
        match c {
            // Before a blank, as in `D < T`, it begins nothing.
            '<' if !rest.starts_with([' ', '=']) => out += "&lt;",
            '&' if rest.starts_with(|next: char| next == '#' || next.is_ascii_alphabetic()) => out += "&amp;",
            ']' if follows("([:") => out += "\\]",
            ':' if rest.starts_with("//") => out += "\\:",
            '.' if text[..at].to_ascii_lowercase().ends_with("www") => out += "\\.",
            '\\' => out += "\\\\",
            '*' | '~' if has_partner(c) => out.extend(['\\', c]),
            '_' if has_partner('_')
                && !(text[..at].ends_with(is_of_word) && rest.starts_with(is_of_word)) =>
            {
                out += "\\_";
            }
            '`' => {
                ticks += 1;
                out += if ticks > code || in_a_row('`') { "\\`" } else { "`" };
            }
            c => out.push(c),
        }
    }
    out
}

/// `snake_case` has no emphasis.
fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// In a cell of a table.
pub fn cell(text: &str) -> String {
    inline(text).replace('|', "\\|")
}

/// At the beginning of a line.
pub fn line(text: &str) -> String {
    let text = inline(text.trim_start());
    let number = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let begins_list = number.len() < text.len() && number.starts_with(['.', ')']);
    match (begins_list, text.starts_with(['#', '>', '-', '+', '*', '=', '|'])) {
        (true, _) => format!("{}\\{number}", &text[..text.len() - number.len()]),
        (false, true) => format!("\\{text}"),
        (false, false) => text,
    }
}

/// How many of a mark stand around a place without a gap.
fn run_around(text: &str, at: usize, mark: char) -> usize {
    let before = text[..at].chars().rev().take_while(|&c| c == mark).count();
    before + text[at..].chars().take_while(|&c| c == mark).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_text_and_nothing_else() {
        for (name, expected) in [
            ("g-edf, 2.5 ± 1 [ms] & more", "g-edf, 2.5 ± 1 [ms] & more"),
            ("task `a` misses", "task `a` misses"),
            ("<script>&lt;&#x202e;", "&lt;script>&amp;lt;&amp;#x202e;"),
            ("[a](http://b) ![c][d]", r"[a\](http\://b) ![c\][d]"),
            ("see WWW.evil.example", r"see WWW\.evil.example"),
            ("`a` and `", r"`a` and \`"),
            ("```sh", r"\`\`\`sh"),
            ("~~~", r"\~\~\~"),
            ("a\nb\u{1b}", r"a\\nb\\u{1b}"),
            (r"\<", r"\\&lt;"),
            ("*a* 2 ~b~ _c_ snake_case_name", r"\*a\* 2 \~b\~ \_c\_ snake_case_name"),
            ("2 * 3 ~4", "2 * 3 ~4"),
            ("D < T, U <= 1, a<b", "D < T, U <= 1, a&lt;b"),
        ] {
            assert_eq!(inline(name), expected);
        }
        assert_eq!(cell("a|b"), r"a\|b");
        for (name, expected) in [
            ("# no heading", r"\# no heading"),
            ("- a", r"\- a"),
            ("1. a", r"1\. a"),
            ("> a", r"\> a"),
            ("2 jobs", "2 jobs"),
        ] {
            assert_eq!(line(name), expected);
        }
    }
}

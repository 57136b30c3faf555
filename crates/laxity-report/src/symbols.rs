//! Which characters the reader's terminal shows: all of UTF-8, or ASCII where the locale is another one.

use std::borrow::Cow;
use std::ffi::OsString;

/// The variables that name the character set, as in POSIX (XBD 8.2): the first that is set and not empty counts.
const VARIABLES: [&str; 3] = ["LC_ALL", "LC_CTYPE", "LANG"];

/// Whether the environment's locale has UTF-8. Without any of its variables the locale is `C`, which has ASCII only.
pub fn locale_is_utf8() -> bool {
    is_utf8(|name| std::env::var_os(name))
}

fn is_utf8(variable: impl Fn(&str) -> Option<OsString>) -> bool {
    let locale = VARIABLES.iter().filter_map(|name| variable(name)).find(|value| !value.is_empty());
    let locale = locale.map(|value| value.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    locale.contains("utf-8") || locale.contains("utf8")
}

/// The text in ASCII: laxity's own symbols by what stands for them on a typewriter, all else as `?`.
pub fn ascii(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    for symbol in text.chars() {
        match symbol {
            symbol if symbol.is_ascii() => plain.push(symbol),
            '≤' => plain += "<=",
            '≥' => plain += ">=",
            '±' => plain += "+/-",
            'µ' | 'μ' => plain.push('u'),
            '×' | '✗' => plain.push('x'),
            '·' | '•' | '∙' => plain.push('.'),
            '…' => plain += "...",
            '—' => plain += "--",
            '–' | '‑' | '−' => plain.push('-'),
            '→' => plain += "->",
            '←' => plain += "<-",
            '↑' => plain.push('^'),
            '↓' => plain.push('v'),
            '†' => plain.push('+'),
            '‘' | '’' => plain.push('\''),
            '“' | '”' => plain.push('"'),
            '─' | '┄' | '╌' => plain.push('-'),
            '═' => plain.push('='),
            '│' | '┆' | '╎' | '║' => plain.push('|'),
            '\u{2500}'..='\u{257f}' => plain.push('+'),
            '\u{2580}'..='\u{259f}' => plain.push('#'),
            symbol if symbol.is_whitespace() => plain.push(' '),
            _ => plain.push('?'),
        }
    }
    Cow::Owned(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_variable_that_says_something_counts() {
        let with = |all: &str, ctype: &str, lang: &str| {
            let values =
                [("LC_ALL", all.to_owned()), ("LC_CTYPE", ctype.to_owned()), ("LANG", lang.to_owned())];
            is_utf8(move |name| {
                values.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone().into())
            })
        };
        assert!(with("", "", "C.UTF-8"));
        assert!(with("en_US.utf8", "", "C"));
        assert!(with("", "de_DE.UTF-8", "C"));
        assert!(!with("C", "C.UTF-8", "C.UTF-8"));
        assert!(!with("", "", "de_DE.ISO-8859-1"));
        assert!(!is_utf8(|_| None));
    }

    #[test]
    fn every_symbol_becomes_ascii_and_ascii_stays() {
        assert_eq!(ascii("R ≤ 2 µs, 0.7 ± 0.1 × 3 – é"), "R <= 2 us, 0.7 +/- 0.1 x 3 - ?");
        assert_eq!(ascii("╞═══╡│ a │"), "+===+| a |");
        assert!(matches!(ascii("plain"), Cow::Borrowed("plain")));
    }
}

//! Standard output: data for other programs, whole or not at all.

use crate::arguments::Said;
pub use laxity_model::cannot_write;
use laxity_model::{Diagnostic, Failure, Result};
use serde::Serialize;
use std::borrow::Cow;
use std::io::{ErrorKind, IsTerminal, Write};
use std::process::ExitCode;
use std::sync::OnceLock;

/// Exit code of a run whose schedule has misses, where the user asked for a verdict.
pub const MISSES: u8 = 1;
/// Exit code after Ctrl-C, as shells count it.
pub const INTERRUPTED: u8 = Failure::Interrupted.exit_code();

/// What `--quiet` and `--verbose` of the command line say; neither before [`set_verbosity`].
static SAID: OnceLock<Said> = OnceLock::new();

/// Keeps how much is said, for the whole program; once, before a command begins.
pub fn set_verbosity(said: Said) {
    // Only the first call counts, and `main` makes one.
    let _ = SAID.set(said);
}

/// `--quiet`: no progress, and no words on what was written.
pub fn quiet() -> bool {
    SAID.get().is_some_and(|said| said.quiet)
}

/// `--verbose`: evidence that a first reader can do without is shown, too.
pub fn verbose() -> bool {
    SAID.get().is_some_and(|said| said.verbose)
}

/// How to find out why nothing runs here, as a hint; root is not told to be root.
pub fn what_runs_here() -> &'static str {
    if rustix::process::geteuid().is_root() {
        "`laxity list` shows what this machine can run"
    } else {
        "real-time scheduling needs root; `laxity list` shows what this machine can run"
    }
}

/// Says what went well, such as where something was written, unless `--quiet` forbids it.
pub fn note(words: impl std::fmt::Display) {
    if !quiet() {
        say(words);
    }
}

/// Says something on standard error. A reader that left, or a full disk behind it, must not end a run.
pub fn say(words: impl std::fmt::Display) {
    let _ = writeln!(std::io::stderr(), "{}", shown(&words.to_string()));
}

/// Says what is wrong, and the way out; the first word in red on a terminal that wants colours.
pub fn say_error(error: &Diagnostic) {
    let words = error.to_string();
    match words.strip_prefix("error:").filter(|_| colors(&std::io::stderr())) {
        Some(rest) => say(format_args!("\u{1b}[1;31merror:\u{1b}[0m{rest}")),
        None => say(words),
    }
}

/// Whether colours belong into a stream: it is a terminal, and neither NO_COLOR nor a dumb terminal is against them.
pub fn colors(stream: &impl IsTerminal) -> bool {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    stream.is_terminal() && set("NO_COLOR").is_none() && set("TERM").is_none_or(|term| term != "dumb")
}

/// Whether words may have symbols beyond ASCII: as the locale says.
pub fn utf8() -> bool {
    static UTF8: OnceLock<bool> = OnceLock::new();
    *UTF8.get_or_init(laxity_report::locale_is_utf8)
}

/// Words as the locale can show them, and as no terminal obeys them: names of files and what is in them may be anybody's.
/// Laxity's own colours stay.
fn shown(words: &str) -> Cow<'_, str> {
    let words = harmless(words);
    if utf8() { words } else { Cow::Owned(laxity_report::ascii(&words).into_owned()) }
}

/// Every control character but line ends, tabs and colours (`ESC [ 1 ; 31 m`) becomes U+FFFD.
fn harmless(words: &str) -> Cow<'_, str> {
    let is_harmful = |c: char| c.is_control() && c != '\n' && c != '\t';
    if !words.contains(is_harmful) {
        return Cow::Borrowed(words);
    }
    let mut out = String::with_capacity(words.len());
    let mut rest = words;
    while let Some(at) = rest.find(is_harmful) {
        out += &rest[..at];
        let (kept, after) = colour(&rest[at..]).unwrap_or_else(|| {
            let next = rest[at..].chars().next().map_or(0, char::len_utf8);
            ("\u{fffd}", &rest[at + next..])
        });
        out += kept;
        rest = after;
    }
    Cow::Owned(out + rest)
}

/// A colour at the beginning, and what follows it.
fn colour(text: &str) -> Option<(&str, &str)> {
    let end = text.strip_prefix("\u{1b}[")?.find(|c: char| !c.is_ascii_digit() && c != ';')? + 2;
    text[end..].starts_with('m').then(|| text.split_at(end + 1))
}

/// Writes words and tables to standard output, in ASCII where the locale is not UTF-8.
pub fn print(text: &str) -> Result<()> {
    print_data(&shown(text))
}

/// Writes data for other programs to standard output, as it is. A reader that left (`| head`) is no error.
pub fn print_data(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Diagnostic::environment(format!("cannot write to standard output: {error}"))
                .hint("is the disk full?"))
        }
        _ => Ok(()),
    }
}

/// Columns of the terminal behind standard output, if it is one; else those that the variable `COLUMNS` says, if any.
pub fn columns() -> Option<u16> {
    let terminal = rustix::termios::tcgetwinsize(std::io::stdout()).ok().map(|size| size.ws_col);
    let said = || std::env::var("COLUMNS").ok()?.trim().parse().ok();
    terminal.filter(|&width| width > 0).or_else(said).filter(|&width| width > 0)
}

/// Writes one JSON document to standard output.
pub fn print_json(value: &impl Serialize) -> Result<()> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|error| Diagnostic::environment(format!("cannot write JSON: {error}")))?;
    print_data(&(text + "\n"))
}

/// Success, or the exit code for misses.
pub fn verdict(clean: bool) -> ExitCode {
    if clean { ExitCode::SUCCESS } else { ExitCode::from(MISSES) }
}

#[cfg(test)]
mod tests {
    use super::harmless;

    #[test]
    fn a_terminal_obeys_colours_and_nothing_else() {
        for (words, shown) in [
            ("plain\n\ttext", "plain\n\ttext"),
            ("\u{1b}[1;31merror:\u{1b}[0m no", "\u{1b}[1;31merror:\u{1b}[0m no"),
            ("a\u{1b}]0;owned\u{7}b", "a\u{fffd}]0;owned\u{fffd}b"),
            ("\u{1b}[2J\u{1b}[31", "\u{fffd}[2J\u{fffd}[31"),
            ("over\rwritten\u{8}\u{9b}31m", "over\u{fffd}written\u{fffd}\u{fffd}31m"),
            ("\u{1b}", "\u{fffd}"),
        ] {
            assert_eq!(harmless(words), shown, "{words:?}");
        }
    }
}

//! Standard output: data for other programs, whole or not at all.

use crate::tables::wrapped;
use crate::within;
use laxity_model::{Diagnostic, Failure, Result, ShownPath as _, shown_lines, shown_message};
use laxity_trace::VerdictState;
use serde::Serialize;
use std::borrow::Cow;
use std::io::{ErrorKind, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::OnceLock;
use unicode_width::UnicodeWidthStr as _;

/// Exit code of a run whose schedule has misses, where the user asked for a verdict.
pub const MISSES: u8 = 1;
/// Exit code of `verify` where nothing is violated and too much is excused: no verdict.
pub const EXCUSED: u8 = 4;
/// Exit code after Ctrl-C, as shells count it.
pub const INTERRUPTED: u8 = Failure::Interrupted.exit_code();

/// What `--quiet` and `--verbose` of the command line say; neither before [`set_verbosity`].
static SAID: OnceLock<(bool, bool)> = OnceLock::new();

/// Keeps how much is said, for the whole program; once, before a command begins.
pub fn set_verbosity(quiet: bool, verbose: bool) {
    // Only the first call counts, and `main` makes one.
    let _ = SAID.set((quiet, verbose));
}

/// `--quiet`: no progress, and no words on what was written.
pub fn quiet() -> bool {
    within::verbosity().or_else(|| SAID.get().copied()).is_some_and(|(quiet, _)| quiet)
}

/// `--verbose`: evidence that a first reader can do without is shown, too.
pub fn verbose() -> bool {
    within::verbosity().or_else(|| SAID.get().copied()).is_some_and(|(_, verbose)| verbose)
}

/// Whether a note on a placement is shown: how the integer program came to it is evidence.
pub fn shows(note: &str) -> bool {
    verbose() || !note.starts_with("ilp: ")
}

/// Says what went well, such as where something was written, unless `--quiet` forbids it.
pub fn note(words: impl std::fmt::Display) {
    if !quiet() && !within::takes_note(&words) {
        say(words);
    }
}

/// Says something on standard error: a line, or one with more lines quoted below it. A reader that left, or a full disk
/// behind it, must not end a run.
pub fn say(words: impl std::fmt::Display) {
    if !within::takes_warning(&words) {
        to_standard_error(&shown_message(&words.to_string()));
    }
}

/// Says several lines on standard error, each as it is.
pub fn say_lines(text: &str) {
    if !within::takes_warning(&text) {
        to_standard_error(&shown_lines(text));
    }
}

/// Says what is wrong, and the way out; the first word in red on a terminal that wants colours.
pub fn say_error(error: &Diagnostic) {
    let words = error.to_string();
    if within::takes_warning(&words) {
        return;
    }
    match words.strip_prefix("error:").filter(|_| colors(&std::io::stderr())) {
        Some(rest) => to_standard_error(&format!("\u{1b}[1;31merror:\u{1b}[0m{rest}")),
        None => to_standard_error(&words),
    }
}

/// Says an error that is a command's answer: where another program calls, it is part of the text.
pub fn answer_error(error: &Diagnostic) {
    if !within::takes_text(&format!("{error}\n")) {
        say_error(error);
    }
}

/// What is shown already, to standard error.
fn to_standard_error(shown: &str) {
    let _ = writeln!(std::io::stderr(), "{}", in_locale(shown));
}

/// Width of tables where there is no terminal.
const WIDTH: u16 = 100;
/// About what a context of zstd takes.
const ZSTD_CONTEXT_BYTES: usize = 1 << 20;

/// From now on the words of a panic are shown as all others: they may quote a name.
pub fn show_panics() {
    std::panic::set_hook(Box::new(|panic| {
        // The bindings of zstd panic where the C library has no memory for a context.
        if panic.payload_as_str().is_some_and(|words| words.starts_with("zstd returned null pointer")) {
            crate::memory::end(ZSTD_CONTEXT_BYTES);
        }
        let thread = std::thread::current();
        say(format_args!("thread '{}' {panic}", thread.name().unwrap_or("<unnamed>")));
        let trace = std::backtrace::Backtrace::capture();
        if trace.status() == std::backtrace::BacktraceStatus::Captured {
            say_lines(&trace.to_string());
        }
    }));
}

/// Whether colours belong into a stream: it is a terminal, and neither NO_COLOR nor a dumb terminal is against them.
pub fn colors(stream: &impl IsTerminal) -> bool {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    stream.is_terminal() && set("NO_COLOR").is_none() && set("TERM").is_none_or(|term| term != "dumb")
}

/// Whether words may have symbols beyond ASCII: as the locale says.
pub fn utf8() -> bool {
    if within::is_within() {
        return true;
    }
    static UTF8: OnceLock<bool> = OnceLock::new();
    *UTF8.get_or_init(laxity_report::locale_is_utf8)
}

/// Words as the locale can show them.
fn in_locale(words: &str) -> Cow<'_, str> {
    if utf8() { Cow::Borrowed(words) } else { laxity_report::ascii(words) }
}

/// What is shown of text with laxity's own colours (`ESC [ 1 ; 31 m`), which stay.
fn coloured(text: &str) -> Cow<'_, str> {
    if !text.contains('\u{1b}') {
        return shown_lines(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        out += &shown_lines(&rest[..at]);
        let (kept, after) = colour(&rest[at..]).unwrap_or_else(|| rest[at..].split_at(1));
        out += &if kept.len() > 1 { Cow::Borrowed(kept) } else { shown_lines(kept) };
        rest = after;
    }
    Cow::Owned(out + &shown_lines(rest))
}

/// A colour at the beginning, and what follows it.
fn colour(text: &str) -> Option<(&str, &str)> {
    let end = text.strip_prefix("\u{1b}[")?.find(|c: char| !c.is_ascii_digit() && c != ';')? + 2;
    text[end..].starts_with('m').then(|| text.split_at(end + 1))
}

/// Writes words and tables to standard output, in ASCII where the locale is not UTF-8.
///
/// Sentences are wrapped where the width is known; tables have it already.
pub fn print(text: &str) -> Result<()> {
    let text = match columns() {
        Some(width) => sentences_wrapped(text, usize::from(width)),
        None => text.to_owned(),
    };
    print_words(&in_locale(&shown_lines(&text)))
}

/// Breaks lines of prose that are too long between words. Rows of tables and what is aligned begin with a space or have two in a row.
fn sentences_wrapped(text: &str, width: usize) -> String {
    let line = |line: &str| match line.starts_with(' ') || line.contains("  ") || line.width() <= width {
        true => line.to_owned() + "\n",
        false => wrapped("", line, width),
    };
    let all: String = text.lines().map(line).collect();
    match text.ends_with('\n') {
        true => all,
        false => all.trim_end_matches('\n').to_owned(),
    }
}

/// The same for text that laxity has given colours: every name in it was escaped before them.
pub fn print_coloured(text: &str) -> Result<()> {
    print_words(&in_locale(&coloured(text)))
}

/// Writes words to standard output.
fn print_words(text: &str) -> Result<()> {
    if within::takes_text(text) { Ok(()) } else { print_data(text) }
}

/// Writes data for other programs to standard output, as it is. A reader that left (`| head`) is no error.
pub fn print_data(text: &str) -> Result<()> {
    if within::takes_data(text) {
        return Ok(());
    }
    let mut out = std::io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    written.map_err(|error| cannot_print(&error)).or_else(|why| why.map_or(Ok(()), Err))
}

/// Why standard output did not take something; nothing where its reader has left (`| head`), which is no error.
pub fn cannot_print(error: &std::io::Error) -> Option<Diagnostic> {
    (error.kind() != ErrorKind::BrokenPipe).then(|| {
        Diagnostic::environment(format!("cannot write to standard output: {error}")).hint("is the disk full?")
    })
}

/// Columns of the terminal behind standard output, if it is one; else those that the variable `COLUMNS` says, if any.
pub fn columns() -> Option<u16> {
    if within::is_within() {
        return None;
    }
    let terminal = rustix::termios::tcgetwinsize(std::io::stdout()).ok().map(|size| size.ws_col);
    let said = || std::env::var("COLUMNS").ok()?.trim().parse().ok();
    terminal.filter(|&width| width > 0).or_else(said).filter(|&width| width > 0)
}

/// The same, or what tables have where that is not known.
pub fn width() -> u16 {
    columns().unwrap_or(WIDTH)
}

/// Writes an answer to standard output: as JSON, or as text. Within another program, as both.
pub fn answer(json: bool, value: &impl Serialize, text: impl FnOnce() -> String) -> Result<()> {
    if json {
        print_json(value)?;
    }
    if wants_text(json) { print(&text()) } else { Ok(()) }
}

/// Whether an answer is wanted in words: not beside JSON, but within another program, which gets both.
pub fn wants_text(json: bool) -> bool {
    !json || within::is_within()
}

/// Writes one JSON document to standard output.
pub fn print_json(value: &impl Serialize) -> Result<()> {
    print_data(&laxity_lab::report::json_text(value)?)
}

/// Writes a JSON array to standard output, an element at a time: the text is that of [`print_json`], and nothing is kept.
#[derive(Default)]
pub struct JsonArray {
    elements: u64,
}

impl JsonArray {
    /// One more element.
    pub fn push(&mut self, element: &impl Serialize) -> Result<()> {
        let mut text = if self.elements == 0 { "[".to_owned() } else { ",".to_owned() };
        for line in laxity_lab::report::json_text(element)?.lines() {
            text += "\n  ";
            text += line;
        }
        self.elements += 1;
        print_data(&text)
    }

    /// The end.
    pub fn finish(self) -> Result<()> {
        print_data(if self.elements == 0 { "[]\n" } else { "\n]\n" })
    }
}

/// Why there is no JSON document.
pub fn no_json(error: &serde_json::Error) -> Diagnostic {
    Diagnostic::environment(format!("cannot write JSON: {error}"))
}

/// Says where a page is.
pub fn note_page(page: &Path) {
    note(format_args!("report: {}", page.canonicalize().as_deref().unwrap_or(page).shown()));
}

/// Says what there is although a signal has asked for the end. The exit code for that.
pub fn interrupted(words: impl std::fmt::Display) -> ExitCode {
    say(format_args!("interrupted{words}"));
    ExitCode::from(INTERRUPTED)
}

/// What the oracles say: success, the exit code for violations, or that of no verdict.
pub fn verified(state: VerdictState) -> ExitCode {
    match state {
        VerdictState::Clean => ExitCode::SUCCESS,
        VerdictState::Violated => ExitCode::from(MISSES),
        VerdictState::Excused => ExitCode::from(EXCUSED),
    }
}

/// Success, or the exit code for misses.
pub fn verdict(clean: bool) -> ExitCode {
    if clean { ExitCode::SUCCESS } else { ExitCode::from(MISSES) }
}

#[cfg(test)]
mod tests {
    use super::coloured;

    #[test]
    fn colours_stay_where_laxity_gives_them_and_nothing_else_does() {
        for (text, shown) in [
            ("plain\n\ttext", "plain\n\ttext"),
            ("\u{1b}[1;31merror:\u{1b}[0m no", "\u{1b}[1;31merror:\u{1b}[0m no"),
            ("a\u{1b}]0;owned\u{7}b", "a\\u{1b}]0;owned\\u{7}b"),
            ("\u{1b}[2J\u{1b}[31", "\\u{1b}[2J\\u{1b}[31"),
            ("over\rwritten\u{8}\u{9b}31m", "over\\rwritten\\u{8}\\u{9b}31m"),
            ("\u{1b}", "\\u{1b}"),
        ] {
            assert_eq!(coloured(text), shown, "{text:?}");
        }
    }
}

//! Text files: what is wrong with one is said with its name.

use super::document::printable;
use crate::{Diagnostic, Failure, Result, ShownPath as _};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// The largest file that is read: 64 MiB.
const FILE_BYTES_MAX: u64 = 64 << 20;
/// The path that stands for standard input where a file is read, and for standard output where one is written.
pub const STANDARD: &str = "-";
/// Standard input can be read once.
static STANDARD_IS_READ: AtomicBool = AtomicBool::new(false);

/// Reads a text file of at most 64 MiB, or standard input for `-`: UTF-8, with or without a byte order mark.
///
/// # Errors
///
/// No such file, or one that cannot be read; the errors of `parse`. All name the file, and no message quotes more of
/// it than a terminal can bear.
pub fn read_file<T>(path: &Path, parse: impl FnOnce(&str) -> Result<T>) -> Result<T> {
    let standard = path == Path::new(STANDARD);
    let shown = if standard { "standard input".into() } else { printable(&path.shown().to_string()) };
    let text = if standard { text_of_standard_input() } else { text_of(path) };
    let text = text.map_err(|e| e.context(&shown))?;
    parse(&text).map_err(|e| Diagnostic { message: printable(&e.message), ..e }.context(&shown))
}

fn text_of_standard_input() -> Result<String> {
    if STANDARD_IS_READ.swap(true, Ordering::SeqCst) {
        return Err(Diagnostic::usage("can be read once, and is asked for twice").hint("give `-` once"));
    }
    text_from(std::io::stdin().lock())
}

fn text_of(path: &Path) -> Result<String> {
    let is_yaml = |extension: &OsStr| ["yaml", "yml"].iter().any(|yaml| extension.eq_ignore_ascii_case(yaml));
    if path.extension().is_some_and(is_yaml) && path.exists() {
        return Err(Diagnostic::usage("is YAML, which laxity does not read")
            .hint("write it as TOML or JSON; `yq -o json FILE` makes JSON of YAML"));
    }
    let file = File::open(path).map_err(unreadable)?;
    if file.metadata().map_err(unreadable)?.is_dir() {
        return Err(Diagnostic::usage("is a directory, not a file").hint("name a file in it"));
    }
    text_from(file)
}

fn unreadable(error: std::io::Error) -> Diagnostic {
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => {
            Diagnostic::usage("no such file").hint("check the path")
        }
        ErrorKind::PermissionDenied => Diagnostic::usage("no permission to read it")
            .hint("check the owner and mode of the file and its folders"),
        _ => Diagnostic {
            failure: Failure::Environment,
            ..Diagnostic::usage(format!("cannot be read: {error}"))
        },
    }
}

fn text_from(source: impl Read) -> Result<String> {
    let mut bytes = Vec::new();
    source.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > FILE_BYTES_MAX) {
        return Err(Diagnostic::usage(format!("is larger than {} MiB, the limit", FILE_BYTES_MAX >> 20))
            .hint("split it, or leave out what is not needed"));
    }
    let text = String::from_utf8(bytes).map_err(|e| {
        Diagnostic::usage(format!("is not UTF-8 text (byte {})", e.utf8_error().valid_up_to()))
            .hint("save it as UTF-8; compressed files must be unpacked first")
    })?;
    Ok(match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    })
}

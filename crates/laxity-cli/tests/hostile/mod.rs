//! Hostile names, and the place in which laxity meets them. For binaries that have `host`.

#![allow(dead_code, reason = "each test binary uses a part")]

pub mod outputs;

use crate::host::laxity;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What does harm although it is shown: to shells, pages, Markdown, paths and spreadsheets.
const PRINTABLE: [&str; 26] = [
    "<script>alert(1)</script>",
    "<evil-element onload=x>",
    "\"'><evil-element>",
    "]]>",
    "-->",
    "</title></pre></svg><evil-element>",
    "&#x202e;&lt;evil-element>",
    "`",
    "``` ",
    "[a](http://evil.example) ![b](http://evil.example)",
    "[a]: http://evil.example",
    "# heading",
    "- item",
    "|",
    "\\",
    "www.evil.example",
    "$(touch PWNED)",
    "; touch PWNED #",
    "`touch PWNED`",
    "../../../evil",
    "%n%s{}{0}{{ 7*7 }}",
    "=1+1",
    "--force",
    "é中\u{1f980}",
    " ",
    "error: forged",
];
/// What a terminal would obey, or a reader would not see.
const CONTROLS: [&str; 18] = [
    "\u{1b}]0;owned\u{7}",
    "\u{1b}[2J",
    "\u{1b}[95mpink",
    "\u{1b}",
    "\u{9b}31m",
    "\u{9d}0;owned\u{9c}",
    "\r",
    "\u{8}",
    "\t",
    "\n",
    "\nerror: forged\n",
    "\u{7f}",
    "\u{85}",
    "\u{202e}",
    "\u{2066}",
    "\u{200f}\u{61c}",
    "\u{2028}",
    "\u{ffff}",
];
/// What is no text at all.
const NO_TEXT: [&[u8]; 3] = [b"\xff", b"\xc3", b"\xed\xa0\x80"];

/// Names from a seed: SplitMix64, by which each seed has its own.
pub struct Names {
    state: u64,
}

impl Names {
    pub fn of(seed: u64) -> Self {
        Names { state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, count: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(count).expect("small")).expect("small")
    }

    fn piece<'a, T: ?Sized>(&mut self, pieces: &[&'a T]) -> &'a T {
        pieces[self.below(pieces.len())]
    }

    /// A name that a document may have.
    pub fn printable(&mut self) -> String {
        let length = if self.below(8) == 0 { "long".repeat(400) } else { String::new() };
        let pieces: String = (0..=self.below(4)).map(|_| self.piece(&PRINTABLE)).collect();
        format!("n{pieces}{length}")
    }

    /// A name that none may have.
    pub fn control(&mut self) -> String {
        let (before, after) = (self.piece(&PRINTABLE), self.piece(&PRINTABLE));
        format!("n{before}{}{after}", self.piece(&CONTROLS))
    }

    /// An argument: any bytes but 0.
    pub fn argument(&mut self) -> OsString {
        let mut bytes = self.control().into_bytes();
        if self.below(3) == 0 {
            bytes.extend(self.piece(&NO_TEXT));
        }
        OsString::from_vec(bytes)
    }

    /// The name of a file that can be made.
    pub fn file(&mut self, ending: &str) -> OsString {
        let mut bytes = [self.argument().into_vec(), self.argument().into_vec()].concat();
        bytes.retain(|byte| *byte != b'/');
        bytes.truncate(200);
        bytes.extend(ending.as_bytes());
        OsString::from_vec(bytes)
    }
}

/// A directory with a directory deep in it for what is written.
pub struct Place {
    directory: tempfile::TempDir,
}

impl Place {
    pub fn new() -> Self {
        let place = Place { directory: tempfile::tempdir().expect("directory") };
        fs::create_dir_all(place.here()).expect("made");
        place
    }

    /// Where laxity is called.
    pub fn here(&self) -> PathBuf {
        self.directory.path().join("a/b/c")
    }

    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.here().join(name)
    }

    /// A call from there, with hostile variables that it looks at.
    pub fn laxity(&self, call: &[impl AsRef<OsStr>]) -> Command {
        let mut command = laxity();
        command.current_dir(self.here()).args(call);
        command.env("COLUMNS", "\u{1b}[2J").env("TERM", "\u{1b}[95m").env("NO_COLOR", "");
        command
    }

    pub fn write(&self, name: impl AsRef<Path>, text: &str) {
        fs::write(self.path(name), text).expect("written");
    }

    /// All files.
    pub fn files(&self) -> BTreeSet<PathBuf> {
        let mut open = vec![self.directory.path().to_owned()];
        let mut found = BTreeSet::new();
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(&folder).expect("readable").flatten() {
                match entry.file_type().expect("known").is_dir() {
                    true => open.push(entry.path()),
                    false => _ = found.insert(entry.path()),
                }
            }
        }
        found
    }

    /// What was not there before, but for what is under `out`.
    pub fn beside_out(&self, before: &BTreeSet<PathBuf>) -> Vec<PathBuf> {
        let out = self.path("out");
        self.files().into_iter().filter(|path| !before.contains(path) && !path.starts_with(&out)).collect()
    }
}

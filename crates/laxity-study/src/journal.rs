//! Points that are finished, on the disk: what is there is not judged again.
//!
//! `study.json` says whose they are, `points.jsonl` has a line for each. A line is written and synced at once when its point is
//! finished. A line that a crash has cut off is dropped when the journal is opened again, and its point is judged again; a line that is
//! not what was written, which its digest tells, is damage, and is refused. Two programs never write one journal: it is locked.

use crate::tally::Tally;
use laxity_model::{
    Diagnostic, Failure, OutputDirectory, Result, ShownPath as _, cannot_write, is_begun, shown,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, TryLockError};
use std::io::{Error, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// The file with the study that the points are of.
pub const DESCRIPTION_FILE: &str = "study.json";
/// The points.
pub const POINTS_FILE: &str = "points.jsonl";
/// The folder of the shards in a study's directory, which may be there first.
pub(crate) const SHARDS: &str = "shards";

/// Which point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Point {
    /// Which family of task sets, in the study's order.
    pub family: usize,
    /// Where on the axis, in its units.
    pub value: u64,
}

/// A line.
#[derive(Serialize, Deserialize)]
struct Line<T> {
    #[serde(flatten)]
    point: Point,
    #[serde(flatten)]
    tally: T,
}

/// What is known of points, by family and value.
pub type Points = BTreeMap<Point, Tally>;

/// The journal of a directory.
pub struct Journal {
    path: PathBuf,
    file: File,
}

/// Also where a process that was forked meanwhile has the file, too.
impl Drop for Journal {
    fn drop(&mut self) {
        // Without a lock there is nothing to give up.
        let _ = self.file.unlock();
    }
}

impl Journal {
    /// Opens the journal of a directory, which is made if it is not there, and gives the points that are in it. `description` is
    /// all that the points depend on: a directory that has another study's is refused. What it says of a point must be whole: of all
    /// sets, in the study's own shape.
    ///
    /// # Errors
    ///
    /// The directory of another study; a damaged journal; one that another program is writing; an error of the file
    /// system.
    pub fn open(
        directory: &Path,
        description: &Value,
        is_whole: impl Fn(Point, &Tally) -> bool,
    ) -> Result<(Journal, Points)> {
        let output = Journal::begin(directory, description)?;
        let path = directory.join(POINTS_FILE);
        let mut file = output.open_file(POINTS_FILE)?;
        lock(&file, directory)?;
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(|error| unreadable(&path, &error))?;
        let whole = whole_lines(&text).len();
        if whole < text.len() {
            file.set_len(whole as u64).map_err(|error| refused(&path, &error))?;
        }
        file.seek(SeekFrom::Start(whole as u64)).map_err(|error| refused(&path, &error))?;
        let points = points_of(&text[..whole], &path, is_whole)?;
        Ok((Journal { path, file }, points))
    }

    /// The points that a directory has, which another program may be writing to; none if it has no journal.
    ///
    /// # Errors
    ///
    /// As [`Journal::open`], but for the lock.
    pub fn points(
        directory: &Path,
        description: &Value,
        is_whole: impl Fn(Point, &Tally) -> bool,
    ) -> Result<Points> {
        let path = directory.join(POINTS_FILE);
        if let Some(known) = described(directory)? {
            agree(directory, &known, description)?;
        }
        match fs::read_to_string(&path) {
            Ok(text) => points_of(whole_lines(&text), &path, is_whole),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Points::new()),
            Err(error) => Err(unreadable(&path, &error)),
        }
    }

    /// Takes a directory for a study, before anything else is written there; what it has of this study stays.
    ///
    /// # Errors
    ///
    /// The directory of another study, or with files of something else; an error of the file system.
    pub fn begin(directory: &Path, description: &Value) -> Result<OutputDirectory> {
        if !has_shards_alone(directory) {
            is_begun(directory, DESCRIPTION_FILE, "study")?;
        }
        let output = OutputDirectory::create(directory)?;
        claim(&output, description)?;
        Ok(output)
    }

    /// Adds a point; when this returns it is on the disk.
    ///
    /// # Errors
    ///
    /// An error of the file system.
    pub fn add(&mut self, point: Point, tally: &Tally) -> Result<()> {
        let line = sealed(&serde_json::to_string(&Line { point, tally }).expect("serializes"));
        let written = self.file.write_all(line.as_bytes()).and_then(|()| self.file.sync_data());
        written.map_err(|error| refused(&self.path, &error))
    }
}

/// What the directory is of; nothing if it does not say.
///
/// # Errors
///
/// A damaged description; an error of the file system.
pub fn described(directory: &Path) -> Result<Option<Value>> {
    let path = directory.join(DESCRIPTION_FILE);
    match fs::read_to_string(&path) {
        Ok(text) => {
            let known = serde_json::from_str(&text).map_err(|error| damaged(&path, &error.to_string()))?;
            Ok(Some(known))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unreadable(&path, &error)),
    }
}

/// Whether nothing but shards is there: they may have been copied from the machines that have judged them.
fn has_shards_alone(directory: &Path) -> bool {
    let Ok(entries) = fs::read_dir(directory) else { return false };
    let mut names = entries.map(|entry| entry.map(|entry| entry.file_name()));
    names.next().is_some_and(|first| first.is_ok_and(|name| name == SHARDS)) && names.next().is_none()
}

/// What begins the digest at the end of a line, in place of its `}`.
const DIGEST: &str = ",\"digest\":\"";

/// A line with its digest: the first 8 bytes of SHA-256.
fn sealed(line: &str) -> String {
    let content = line.strip_suffix('}').expect("an object");
    format!("{content}{DIGEST}{}\"}}\n", digest(content))
}

fn digest(content: &str) -> String {
    sha256(content)[..16].to_owned()
}

/// The SHA-256 of a text, in hexadecimal digits.
pub(crate) fn sha256(text: &str) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A line as it was before it was sealed; nothing if it is not what was written.
fn opened(line: &str) -> Option<String> {
    let (content, end) = line.rsplit_once(DIGEST)?;
    (end.strip_suffix("\"}")? == digest(content)).then(|| format!("{content}}}"))
}

/// Without a last line that was cut off.
fn whole_lines(text: &str) -> &str {
    &text[..text.rfind('\n').map_or(0, |end| end + 1)]
}

fn points_of(text: &str, path: &Path, is_whole: impl Fn(Point, &Tally) -> bool) -> Result<Points> {
    let mut points = Points::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line =
            opened(line).ok_or_else(|| damaged(path, &format!("line {number} is not what was written")))?;
        let Line { point, tally } =
            serde_json::from_str(&line).map_err(|error| damaged(path, &format!("line {number}: {error}")))?;
        if !is_whole(point, &tally) {
            return Err(damaged(path, &format!("line {number} is of another study")));
        }
        if points.insert(point, tally).is_some() {
            return Err(damaged(path, &format!("line {number}: its point is there twice")));
        }
    }
    Ok(points)
}

fn unreadable(path: &Path, error: &Error) -> Diagnostic {
    match error.kind() {
        ErrorKind::InvalidData => damaged(path, "it is no text"),
        _ => refused(path, error),
    }
}

fn lock(file: &File, directory: &Path) -> Result<()> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => {
            Err(Diagnostic::usage(format!("{}: another laxity is at work there", directory.shown()))
                .hint("wait for it, or choose another directory"))
        }
        Err(TryLockError::Error(error)) => Err(refused(directory, &error)),
    }
}

/// Writes whose directory it is, or refuses another's.
fn claim(output: &OutputDirectory, description: &Value) -> Result<()> {
    match described(output.path())? {
        Some(known) => agree(output.path(), &known, description),
        None => {
            let text = serde_json::to_string_pretty(description).expect("serializes") + "\n";
            output.write(DESCRIPTION_FILE, text.as_bytes())
        }
    }
}

fn agree(directory: &Path, known: &Value, description: &Value) -> Result<()> {
    if known == description {
        return Ok(());
    }
    Err(Diagnostic::usage(format!(
        "{} has points of another study: {}",
        directory.shown(),
        differences(known, description)
    ))
    .hint("choose another directory with --out, or give what that one was made with, or remove it"))
}

/// What two descriptions do not agree on: `sets 5 there, 6 asked for; record true there, and not asked for; curves differ`.
fn differences(known: &Value, wanted: &Value) -> String {
    let (Some(known), Some(wanted)) = (known.as_object(), wanted.as_object()) else {
        return "descriptions differ".to_owned();
    };
    let short = |value: &Value| match value {
        Value::String(text) => Some(shown(text).to_string()),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    };
    let names = known.keys().chain(wanted.keys().filter(|name| !known.contains_key(*name)));
    let told = names.filter(|name| known.get(*name) != wanted.get(*name)).map(|name| {
        let words = shown(name).to_string().replace('_', " ");
        if name == OWN {
            return own_differences(
                known.get(OWN).unwrap_or(&Value::Null),
                wanted.get(OWN).unwrap_or(&Value::Null),
            );
        }
        match (known.get(name).and_then(short), wanted.get(name).and_then(short)) {
            (Some(there), Some(asked)) => format!("{words} {there} there, {asked} asked for"),
            (Some(there), None) if !wanted.contains_key(name) => {
                format!("{words} {there} there, and not asked for")
            }
            (None, Some(asked)) if !known.contains_key(name) => {
                format!("{words} {asked} asked for, and not there")
            }
            _ => format!("{words} differ"),
        }
    });
    told.collect::<Vec<_>>().join("; ")
}

/// What a description says of tests and prototypes of a user's own: their versions, by name.
pub(crate) const OWN: &str = "own";

/// Which of a user's own are not what they were.
fn own_differences(known: &Value, wanted: &Value) -> String {
    let names = |all: &Value| -> BTreeSet<String> {
        all.as_object().into_iter().flat_map(|all| all.keys().cloned()).collect()
    };
    let (known_names, wanted_names) = (names(known), names(wanted));
    let differ = known_names.union(&wanted_names).filter(|name| known.get(*name) != wanted.get(*name));
    let told = differ.map(|name| {
        let shown = shown(name);
        match (known.get(name), wanted.get(name)) {
            (Some(_), Some(_)) => format!("`{shown}` has other code there, or uses other values"),
            (Some(_), None) => format!("`{shown}` is one of the user's own there"),
            _ => format!("`{shown}` is not one of the user's own there"),
        }
    });
    told.collect::<Vec<_>>().join("; ")
}

fn damaged(path: &Path, why: &str) -> Diagnostic {
    let directory = path.parent().unwrap_or(Path::new(".")).shown();
    Diagnostic::usage(format!("{} is damaged: {why}", path.shown())).hint(format!(
        "remove {directory}, so that its points are judged again, or choose another directory with --out"
    ))
}

fn refused(path: &Path, error: &Error) -> Diagnostic {
    let refused = cannot_write(path, error);
    match refused.failure {
        Failure::Usage => refused.hint("choose another directory with --out"),
        _ => refused.hint("make room, or choose a directory that you may write to"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::Metric;
    use crate::proofs::METRICS_OF_SCHEDULABILITY;
    use crate::tally::{Gaps, SeriesResult, SetResult, Value};
    use serde_json::json;

    fn metrics() -> Vec<&'static Metric> {
        METRICS_OF_SCHEDULABILITY.iter().collect()
    }

    fn opened(line: &str) -> String {
        super::opened(line.trim_end()).expect("what was written")
    }

    fn tally(accepted: u64) -> Tally {
        let mut tally = Tally::of_none(1, &metrics());
        for index in 0..4 {
            let holds = [index < accepted, index >= accepted, false];
            let values = Some(holds.map(Value::Holds).to_vec());
            let series = vec![SeriesResult { values, gaps: Gaps::default() }];
            tally.add(0, &SetResult { tasks: 7, utilization_q32: 1 << 40, series });
        }
        tally
    }

    fn at(value: u64) -> Point {
        Point { family: 1, value }
    }

    fn is_whole(_: Point, tally: &Tally) -> bool {
        tally.is_whole(1, 4, &metrics())
    }

    fn open(directory: &Path) -> Result<(Journal, Points)> {
        Journal::open(directory, &json!({ "study": "one", "seed": 1 }), is_whole)
    }

    #[test]
    fn what_is_added_is_there_again_however_the_last_line_ends() {
        let directory = tempfile::tempdir().expect("a directory");
        let folder = directory.path().join("deep/down");
        let (mut journal, points) = open(&folder).expect("opens");
        assert!(points.is_empty());
        journal.add(at(3), &tally(2)).expect("writes");
        journal.add(at(1), &tally(0)).expect("writes");
        drop(journal);
        let text = fs::read_to_string(folder.join(POINTS_FILE)).expect("reads");
        let first = text.find('\n').expect("a line") + 1;
        for cut in 0..=text.len() {
            fs::write(folder.join(POINTS_FILE), &text[..cut]).expect("writes");
            let (mut journal, points) = open(&folder).expect("a line that is cut off is no damage");
            let whole = usize::from(cut >= first) + usize::from(cut == text.len());
            assert_eq!(points.len(), whole, "cut at {cut}");
            assert!(points.get(&at(3)).is_none_or(|found| *found == tally(2)));
            journal.add(at(9), &tally(4)).expect("writes");
            drop(journal);
            let (_, points) = open(&folder).expect("goes on behind the whole lines");
            assert_eq!((points.len(), points.get(&at(9))), (whole + 1, Some(&tally(4))), "cut at {cut}");
        }
        // What is cut off may be longer than what is written next.
        fs::write(folder.join(POINTS_FILE), format!("{text}{}", "{\"family\":1".repeat(200)))
            .expect("writes");
        let (mut journal, _) = open(&folder).expect("opens");
        journal.add(at(9), &tally(4)).expect("writes");
        drop(journal);
        assert_eq!(open(&folder).map(|(_, points)| points.len()), Ok(3));
    }

    #[test]
    fn another_study_is_refused_by_name() {
        let directory = tempfile::tempdir().expect("a directory");
        drop(open(directory.path()).expect("opens"));
        let other = json!({ "study": "one", "seed": 2, "sets": 7, "record": true });
        let error = Journal::open(directory.path(), &other, is_whole).err().expect("refused");
        let differs = "seed 1 there, 2 asked for; sets 7 asked for, and not there; record true asked for, and not there";
        assert!(error.message.ends_with(differs), "{error}");
        assert!(open(directory.path()).is_ok(), "the same study goes on");
    }

    #[test]
    fn damage_and_strangers_are_refused() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join(POINTS_FILE);
        let (mut journal, _) = open(directory.path()).expect("opens");
        let busy = open(directory.path()).err().expect("two at a time");
        assert!(busy.message.contains("another laxity"), "{busy}");
        journal.add(at(1), &tally(1)).expect("writes");
        drop(journal);
        let line = fs::read_to_string(&path).expect("reads");
        for (text, part) in [
            (format!("{line}{line}"), "line 2: its point is there twice"),
            (format!("nonsense\n{line}"), "line 1"),
            (line.replace("\"sets\":4", "\"sets\":5"), "line 1 is not what was written"),
            (line.replace("\"family\":1", "\"family\":2"), "line 1 is not what was written"),
            (sealed(&opened(&line).replace("\"sets\":4", "\"sets\":5")), "line 1 is of another study"),
            (sealed(&opened(&line).replace("\"sets\":1,", "\"sets\":40,")), "line 1 is of another study"),
            (sealed(&opened(&line).replace("\"placed\":4", "\"placed\":-4")), "line 1: "),
        ] {
            fs::write(&path, &text).expect("writes");
            let error = open(directory.path()).err().expect(part);
            assert!(error.message.contains(part) && error.message.contains("damaged"), "{error}");
            assert_eq!(fs::read_to_string(&path).expect("reads"), text, "what is refused stays as it is");
        }
        fs::write(&path, [0xff, 0xfe, b'\n']).expect("writes");
        assert!(open(directory.path()).is_err());
        let others = tempfile::tempdir().expect("a directory");
        fs::write(others.path().join("report.html"), "mine").expect("writes");
        let error = open(others.path()).err().expect("files of something else");
        assert!(error.message.contains("holds no study of laxity"), "{error}");
        assert_eq!(fs::read_dir(others.path()).expect("reads").count(), 1, "nothing came there");
        let file = directory.path().join("a-file");
        fs::write(&file, "").expect("writes");
        assert_eq!(open(&file).err().map(|error| error.failure.exit_code()), Some(2));
    }
}

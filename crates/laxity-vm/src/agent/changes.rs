//! What the command has made or changed.

use super::Port;
use crate::files::is_of_the_system;
use crate::protocol::{Frame, PAYLOAD_BYTES_MAX};
use laxity_model::ShownPath as _;
use std::collections::BTreeMap;
use std::fs::{self, File, Metadata};
use std::io::Read;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// What distinguishes a file from itself after a change. The change time cannot be set back by programs.
#[derive(PartialEq, Eq)]
struct Mark {
    inode: u64,
    bytes: u64,
    changed: (i64, i64),
}

/// All files at and below some paths.
pub struct Snapshot {
    marks: BTreeMap<PathBuf, Mark>,
}

impl Snapshot {
    /// As they are now.
    pub fn of(roots: &[PathBuf]) -> Self {
        let mut marks = BTreeMap::new();
        for root in roots {
            walk(root, &mut |path, found| {
                marks.insert(path.to_owned(), mark(found));
            });
        }
        Snapshot { marks }
    }
}

fn mark(found: &Metadata) -> Mark {
    Mark { inode: found.ino(), bytes: found.len(), changed: (found.ctime(), found.ctime_nsec()) }
}

/// Visits everything at and below a path, parents first, in alphabetical order, without entering other file systems
/// (such as /proc).
fn walk(root: &Path, visit: &mut impl FnMut(&Path, &Metadata)) {
    let Ok(top) = fs::symlink_metadata(root) else { return };
    let mut pending = vec![root.to_owned()];
    while let Some(path) = pending.pop() {
        let Ok(found) = fs::symlink_metadata(&path) else { continue };
        if found.dev() != top.dev() || is_of_the_system(&path) {
            continue;
        }
        visit(&path, &found);
        if found.is_dir() {
            let mut children: Vec<PathBuf> =
                fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
            children.sort();
            pending.extend(children.into_iter().rev());
        }
    }
}

/// Sends everything that is new or changed since `before`.
pub fn send(before: &Snapshot, roots: &[PathBuf], port: &Port) -> Result<(), String> {
    let mut changed: Vec<(PathBuf, Metadata)> = Vec::new();
    for root in roots {
        walk(root, &mut |path, found| {
            let known = before.marks.get(path);
            // A directory changes with what is in it.
            let same = known.is_some_and(|known| found.is_dir() || *known == mark(found));
            if !same {
                changed.push((path.to_owned(), found.clone()));
            }
        });
    }
    changed.iter().try_for_each(|(path, found)| send_one(path, found, port))
}

fn send_one(path: &Path, found: &Metadata, port: &Port) -> Result<(), String> {
    let permissions = found.permissions().mode() & 0o7777;
    let kind = found.file_type();
    if kind.is_dir() {
        return port.send(&Frame::Directory(path.to_owned(), permissions));
    }
    if kind.is_symlink() {
        let target = fs::read_link(path).map_err(|error| format!("{}: {error}", path.shown()))?;
        return port.send(&Frame::Link(path.to_owned(), target));
    }
    if kind.is_socket() || kind.is_fifo() || kind.is_char_device() || kind.is_block_device() {
        let words = format!("{} is neither a file nor a directory and stays in the machine", path.shown());
        return port.send(&Frame::Remark(words.into_bytes()));
    }
    let file = File::open(path).map_err(|error| format!("{}: {error}", path.shown()))?;
    port.send(&Frame::File(path.to_owned(), permissions))?;
    // Not more than it had: something may still be writing.
    let mut content = file.take(found.len());
    let mut bytes = vec![0; PAYLOAD_BYTES_MAX];
    loop {
        let length = content.read(&mut bytes).map_err(|error| format!("{}: {error}", path.shown()))?;
        if length == 0 {
            return Ok(());
        }
        port.send(&Frame::Part(bytes[..length].to_vec()))?;
    }
}

//! Archives in the format that the kernel unpacks into its first file system.
//!
//! Layout: Linux, Documentation/driver-api/early-userspace/buffer-format.rst ("newc"). Archives may follow each other;
//! later entries replace earlier ones. Not by the crate `cpio`, whose names are UTF-8: a directory that is copied in may
//! have files with others.

use laxity_model::ShownPath as _;
use std::collections::BTreeSet;
use std::io::{Result, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

const DIRECTORY: u32 = 0o040_000;
const FILE: u32 = 0o100_000;
const LINK: u32 = 0o120_000;
const CHARACTER_DEVICE: u32 = 0o020_000;

/// Writes one archive. All belongs to root.
pub struct Archive<W> {
    out: W,
    written: u64,
    entries: u32,
    directories: BTreeSet<PathBuf>,
}

struct Entry<'a> {
    path: &'a Path,
    mode: u32,
    /// Seconds since 1970.
    modified: u32,
    device: (u32, u32),
    content: &'a [u8],
}

impl<W: Write> Archive<W> {
    /// Begins an archive.
    pub fn new(out: W) -> Self {
        Archive { out, written: 0, entries: 0, directories: BTreeSet::new() }
    }

    /// Bytes so far.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// A directory with these permissions, and those it is in.
    pub fn directory(&mut self, path: &Path, permissions: u32) -> Result<()> {
        if let Some(parent) = path.parent().filter(|parent| parent.components().any(is_name)) {
            self.directory(parent, 0o755)?;
        }
        if path.components().any(is_name) && self.directories.insert(path.to_owned()) {
            self.entry(&Entry { mode: DIRECTORY | permissions, ..Entry::of(path) })?;
        }
        Ok(())
    }

    /// A file, and the directories it is in.
    pub fn file(&mut self, path: &Path, permissions: u32, modified: u32, content: &[u8]) -> Result<()> {
        self.parents(path)?;
        self.entry(&Entry { mode: FILE | permissions, modified, content, ..Entry::of(path) })
    }

    /// A symbolic link, and the directories it is in.
    pub fn link(&mut self, path: &Path, target: &Path) -> Result<()> {
        self.parents(path)?;
        self.entry(&Entry { mode: LINK | 0o777, content: target.as_os_str().as_bytes(), ..Entry::of(path) })
    }

    /// A symbolic link to a directory. What is packed below it later goes into that directory.
    pub fn link_to_directory(&mut self, path: &Path, target: &Path) -> Result<()> {
        self.link(path, target)?;
        // The kernel would replace the link by a directory of that name.
        self.directories.insert(path.to_owned());
        Ok(())
    }

    /// A character device.
    pub fn device(&mut self, path: &Path, permissions: u32, major: u32, minor: u32) -> Result<()> {
        self.parents(path)?;
        self.entry(&Entry { mode: CHARACTER_DEVICE | permissions, device: (major, minor), ..Entry::of(path) })
    }

    fn parents(&mut self, path: &Path) -> Result<()> {
        path.parent().map_or(Ok(()), |parent| self.directory(parent, 0o755))
    }

    /// Ends the archive; what it was written to.
    pub fn finish(mut self) -> Result<W> {
        self.entry(&Entry::of(Path::new("TRAILER!!!")))?;
        Ok(self.out)
    }

    fn entry(&mut self, entry: &Entry) -> Result<()> {
        let too_large = || std::io::Error::other(format!("{}: larger than 4 GiB", entry.path.shown()));
        let name = entry.path.strip_prefix("/").unwrap_or(entry.path).as_os_str().as_bytes();
        let size = u32::try_from(entry.content.len()).map_err(|_| too_large())?;
        let name_size = u32::try_from(name.len() + 1).map_err(|_| too_large())?;
        self.entries += 1;
        let (major, minor) = entry.device;
        // ino, mode, uid, gid, nlink, mtime, filesize, dev, rdev, namesize, check. Every entry has a number of its
        // own: equal ones with more than one link would be the same file.
        let fields =
            [self.entries, entry.mode, 0, 0, 1, entry.modified, size, 0, 0, major, minor, name_size, 0];
        let header: String = fields.iter().map(|field| format!("{field:08x}")).collect();
        self.put(b"070701")?;
        self.put(header.as_bytes())?;
        self.put(name)?;
        self.put(b"\0")?;
        self.align()?;
        self.put(entry.content)?;
        self.align()
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.written += bytes.len() as u64;
        self.out.write_all(bytes)
    }

    fn align(&mut self) -> Result<()> {
        let beyond = usize::try_from(self.written % 4).unwrap_or(0);
        self.put(&[0; 3][..(4 - beyond) % 4])
    }
}

impl<'a> Entry<'a> {
    fn of(path: &'a Path) -> Self {
        Entry { path, mode: 0, modified: 0, device: (0, 0), content: &[] }
    }
}

fn is_name(component: Component) -> bool {
    matches!(component, Component::Normal(_))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::find_program;
    use std::ffi::OsStr;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::process::{Command, Stdio};

    /// Unpacks with an independent implementation.
    fn unpack(archive: &[u8], command: &[&str]) -> tempfile::TempDir {
        let directory = tempfile::tempdir().expect("directory");
        let mut child = Command::new(command[0])
            .args(&command[1..])
            .current_dir(directory.path())
            .stdin(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        // It leaves at the first trailer, and may not take what follows.
        let _ = child.stdin.take().expect("a pipe").write_all(archive);
        assert!(child.wait().expect("it ends").success(), "{command:?}");
        directory
    }

    fn not_utf8() -> &'static OsStr {
        OsStr::from_bytes(b"/a/\xff")
    }

    fn sample() -> Vec<u8> {
        let mut archive = Archive::new(Vec::new());
        archive.directory(Path::new("/tmp"), 0o1777).expect("memory");
        archive.file(Path::new("/a/b/c"), 0o640, 1_000_000_000, b"12345").expect("memory");
        archive.file(Path::new("/a/b/empty"), 0o755, 0, b"").expect("memory");
        archive.link(Path::new("/bin/sh"), Path::new("busybox")).expect("memory");
        archive.file(Path::new(not_utf8()), 0o600, 0, b"6").expect("memory");
        let first = archive.finish().expect("memory");
        let mut second = Archive::new(first);
        second.file(Path::new("/a/b/empty"), 0o755, 0, &[b'x'; 70_000]).expect("memory");
        second.finish().expect("memory")
    }

    #[test]
    fn others_unpack_what_is_packed() {
        let implementations = [&["cpio", "-id", "--quiet"][..], &["busybox", "cpio", "-id"]];
        for command in implementations {
            if find_program(command[0]).is_none() {
                eprintln!("SKIPPED: {} is not here", command[0]);
                continue;
            }
            // Both stop at the first trailer: the kernel does not, which the machines show.
            let directory = unpack(&sample(), command);
            let at = |name: &str| directory.path().join(name);
            assert_eq!(fs::read(at("a/b/c")).expect("a file"), b"12345", "{command:?}");
            assert_eq!(fs::metadata(at("a/b/c")).expect("a file").permissions().mode() & 0o7777, 0o640);
            assert_eq!(fs::metadata(at("a/b/empty")).expect("a file").len(), 0);
            assert_eq!(fs::read_link(at("bin/sh")).expect("a link"), Path::new("busybox"));
            assert!(at("tmp").is_dir());
            let name = Path::new(not_utf8()).strip_prefix("/").expect("absolute");
            assert_eq!(fs::read(directory.path().join(name)).expect("a file"), b"6", "{command:?}");
        }
    }

    #[test]
    fn archives_are_aligned() {
        assert_eq!(sample().len() % 4, 0);
        for length in 0..9 {
            let mut archive = Archive::new(Vec::new());
            archive.file(Path::new("/f"), 0o600, 0, &vec![1; length]).expect("memory");
            let bytes = archive.finish().expect("memory");
            assert_eq!(bytes.len() % 4, 0, "{length}");
            assert_eq!(bytes.windows(6).filter(|window| window == b"070701").count(), 2);
        }
    }
}

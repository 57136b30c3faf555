//! The files by which a machine says what it is.

use laxity_model::CpuList;
use std::fs;
use std::path::Path;

/// The files of `/proc`, `/sys` and `/dev` under a root.
pub(crate) struct Files<'a> {
    pub(crate) root: &'a Path,
}

impl Files<'_> {
    /// All of a file, if it can be read.
    pub(crate) fn text(&self, path: &str) -> Option<String> {
        let bytes = fs::read(self.root.join(path)).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The trimmed content of a small file, if there is any. Device tree strings end in NUL.
    pub(crate) fn line(&self, path: &str) -> Option<String> {
        let text = self.text(path)?;
        let line = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
        (!line.is_empty()).then(|| line.to_owned())
    }

    /// A list of CPUs. An empty file is an empty list, and so is what a kernel says that has no such CPUs: `(null)`.
    pub(crate) fn cpus(&self, path: &str) -> Option<CpuList> {
        let text = self.text(path)?;
        if text.trim() == "(null)" { Some(CpuList::default()) } else { text.parse().ok() }
    }

    /// The names in a directory, sorted.
    pub(crate) fn names(&self, path: &str) -> Option<Vec<String>> {
        let entries = fs::read_dir(self.root.join(path)).ok()?;
        let mut names: Vec<String> =
            entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort_unstable();
        Some(names)
    }

    /// The numbers that follow a word in the names of a directory, in ascending order: of `cpu0`, `cpu1` and so on.
    pub(crate) fn numbered(&self, path: &str, word: &str) -> Vec<u32> {
        let number = |name: &String| name.strip_prefix(word)?.parse().ok();
        let mut numbers: Vec<u32> = self.names(path).iter().flatten().filter_map(number).collect();
        numbers.sort_unstable();
        numbers
    }
}

/// A machine of these files, for tests.
#[cfg(test)]
pub(crate) fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
    let root = tempfile::tempdir().expect("temporary directory");
    for (path, text) in files {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().expect("has a parent")).expect("creates");
        fs::write(path, text).expect("writes");
    }
    root
}

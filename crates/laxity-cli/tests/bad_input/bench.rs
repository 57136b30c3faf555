//! A directory for a wrong call, and what must be true after it.

use crate::host::{laxity, words};
use crate::patience::patiently;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

/// A directory for one wrong call, with the input files in it.
pub struct Bench {
    directory: tempfile::TempDir,
}

impl Bench {
    pub fn new(files: &[(&str, &str)]) -> Self {
        let bench = Bench { directory: tempfile::tempdir().expect("directory") };
        files.iter().for_each(|(name, text)| bench.write(name, text));
        bench
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("directory");
        fs::write(path, content).expect("write");
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub fn command(&self, call: &[&str]) -> Command {
        let mut command = laxity();
        command.current_dir(self.directory.path()).args(call);
        command
    }

    pub fn laxity(&self, call: &[&str]) -> Output {
        patiently(|| self.command(call))
    }

    /// Every file and directory with its content.
    pub fn contents(&self) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
        let mut found = BTreeMap::new();
        let mut open = vec![self.directory.path().to_owned()];
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(&folder).expect("readable").flatten() {
                let path = entry.path();
                if path.is_dir() {
                    open.push(path.clone());
                    found.insert(path, None);
                } else {
                    let content = fs::read(&path).expect("readable");
                    found.insert(path, Some(content));
                }
            }
        }
        found
    }

    /// Checks that a call is refused as bad input, for reasons in which all of `names` occur.
    pub fn refuses(&self, call: &[&str], names: &[&str]) {
        let before = self.contents();
        let refused = self.laxity(call);
        let said = words(&refused);
        let call = format!("laxity {}\n{said}", call.join(" "));
        assert_eq!(refused.status.code(), Some(2), "exit code of {call}");
        assert!(said.lines().any(|line| line.starts_with("error: ")), "no error line: {call}");
        let way_out = ["hint: ", "tip: ", "For more information, try '--help'"];
        assert!(way_out.iter().any(|word| said.contains(word)), "no way out: {call}");
        for name in names {
            assert!(said.contains(name), "`{name}` is not named: {call}");
        }
        assert!(!said.contains("panicked"), "{call}");
        assert!(refused.stdout.is_empty(), "data on standard output: {call}");
        assert_eq!(self.contents(), before, "something was written: {call}");
    }
}

/// A task set with these tasks.
pub fn set(tasks: &[&str]) -> String {
    let tasks: String = tasks.iter().map(|task| format!("[[tasks]]\n{task}\n")).collect();
    format!("version = 1\nname = \"s\"\n{tasks}")
}

pub fn task(name: &str, wcet: &str, period: &str, more: &str) -> String {
    format!("name = \"{name}\"\nwcet = \"{wcet}\"\nperiod = \"{period}\"\n{more}")
}

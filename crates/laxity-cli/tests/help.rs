//! The examples of `--help` that need neither root nor another program are run, in their order, where a reader would.

mod calls;
mod host;
mod patience;

use calls::{prints, utf8};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The helps whose examples run in seconds. The unit test `every_example_is_understood` parses all of them.
const HELPS: [&[&str]; 10] = [
    &["init"],
    &["check"],
    &["schema"],
    &["list"],
    &["generate"],
    &["place"],
    &["analyze"],
    &["simulate"],
    &["verify"],
    &["report"],
];

/// What an example may end with besides 0: `analyze` says 1 where something is not proven.
fn may_end(example: &str, code: Option<i32>) -> bool {
    code == Some(0) || example.contains("laxity analyze") && code == Some(1)
}

/// A directory with what examples name: a task set, more of them in `sets`, and the repository's own directories.
fn desk() -> tempfile::TempDir {
    let desk = tempfile::tempdir().expect("a directory");
    let repository =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("a repository");
    for folder in ["examples", "studies"] {
        symlink(repository.join(folder), desk.path().join(folder)).expect("a link");
    }
    std::fs::create_dir(desk.path().join("sets")).expect("a directory");
    for name in ["set.toml", "sets/a.toml", "sets/b.toml"] {
        prints(&["init", utf8(&desk.path().join(name))]);
    }
    desk
}

fn examples(help: &str) -> Vec<String> {
    let block = help.split("Examples:\n").nth(1).unwrap_or_default();
    let lines: Vec<&str> = block.lines().take_while(|line| !line.is_empty()).collect();
    let text = lines.join("\n").replace("\\\n", " ");
    text.lines().map(str::trim).filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
}

#[test]
fn examples_run() {
    let folder = PathBuf::from(env!("CARGO_BIN_EXE_laxity")).parent().expect("a directory").to_owned();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default());
    for help in HELPS {
        let text = prints(&[help, &["--help"]].concat());
        let examples = examples(&text);
        assert!(!examples.is_empty(), "{help:?}: {text}");
        let desk = desk();
        if help == ["init"] || help == ["check"] {
            std::fs::remove_file(desk.path().join("set.toml")).expect("was there");
        }
        for example in examples.iter().filter(|example| !example.contains("sudo ")) {
            let ended = Command::new("bash")
                .args(["-o", "pipefail", "-c", example])
                .current_dir(desk.path())
                .env("PATH", &path)
                .output()
                .expect("bash");
            assert!(
                may_end(example, ended.status.code()),
                "{help:?}: `{example}` in {} ended with {:?}\n{}",
                desk.path().display(),
                ended.status.code(),
                String::from_utf8_lossy(&ended.stderr)
            );
        }
    }
}

//! `laxity study FILE --on ENGINE`: the study on other machines, by the Python module, which knows how to talk to the engine.

use super::changes::ChangesArguments;
use crate::{output, shipped, within};
use laxity_model::{Diagnostic, Result, STANDARD, ShownPath as _, shown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// The Python that has the module, where it is not the one beside this program or the first on PATH.
const VARIABLE: &str = "LAXITY_PYTHON";

/// An engine and, behind a =, its address. The module says what is wrong with an address.
pub fn engine(text: &str) -> std::result::Result<String, String> {
    match text.split('=').next() {
        Some("dask") => Ok(text.to_owned()),
        _ => Err(format!(
            "`{}` is no engine\nhint: write dask, or dask=ADDRESS such as dask=tcp://head:8786; Slurm has --slurm",
            shown(text)
        )),
    }
}

/// Becomes the Python program that hands out the study's units.
pub fn study_on(
    engine: &str,
    (file, changes, directory): (&Path, &ChangesArguments, &Path),
    json: bool,
) -> Result<ExitCode> {
    if within::is_within() {
        return Err(
            Diagnostic::usage("--on: this is the engine's own side").hint("give laxity.study(on=...)")
        );
    }
    if file == Path::new(STANDARD) {
        return Err(Diagnostic::usage("a study from standard input cannot be read again by workers")
            .hint("write it to a file that all machines see, and name that"));
    }
    let python = python();
    let found = Command::new(&python)
        .args(["-c", "import laxity.engines"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if !found.is_ok_and(|status| status.success()) {
        return Err(Diagnostic::environment(format!(
            "--on {engine}: {} has no module laxity",
            python.shown()
        ))
        .hint(format!("pip install 'laxity[dask]', or say by {VARIABLE} which Python has it")));
    }
    let mut command = Command::new(&python);
    command.args(["-c", "from laxity.engines import main; main()", engine, shipped::VERSION]);
    command.arg(shipped::located(file).as_os_str()).arg(directory);
    let number = |number: Option<u64>| number.map_or_else(|| "-".to_owned(), |number| number.to_string());
    command.args([number(changes.sets), number(changes.seed)]);
    command.arg(if json { "json" } else { "text" }).arg(if output::quiet() { "quiet" } else { "told" });
    let error = command.exec();
    Err(Diagnostic::environment(format!("cannot start {}: {error}", python.shown())))
}

fn python() -> PathBuf {
    let named = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from);
    let beside = || {
        let beside = std::env::current_exe().ok()?.with_file_name("python3");
        beside.is_file().then_some(beside)
    };
    named.or_else(beside).unwrap_or_else(|| PathBuf::from("python3"))
}

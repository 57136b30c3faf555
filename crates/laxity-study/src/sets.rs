//! Task sets that no generator of laxity draws: from files, or from a command.
//!
//! A text says where they are, in which `{name}` stands for a parameter of the same name, for what varies, or for `{processors}`:
//!
//! 1. `files`: `directory` has a set in each file that ends in .toml or .json; set k of a point is file k by name.
//! 2. `command`: `run` prints a set; `{seed}` is a number that is another one for each set, `{index}` its number in the point. The words
//!    are separated by spaces, and no shell reads them.
//!
//! Sets have real-time tasks only: what else a machine does is for the study to say.

use crate::axis::Axis;
use laxity_generate::seed_of;
use laxity_model::{
    Diagnostic, Duration, Names, Result, ShownPath as _, Task, TaskKind, TaskSet, plural, read_task_set,
    shown, start_thread,
};
use rustix::process::{Pid, Signal, kill_process_group};
use std::collections::BTreeMap;
use std::io::Read;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Instant;

/// A command that takes longer for a set is ended.
const LONGEST: Duration = Duration::from_secs(60);
/// How often it is looked at.
const LOOK: std::time::Duration = std::time::Duration::from_millis(1);

laxity_model::listed_enum! {
    /// What gives sets.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum Given {
        /// A directory.
        Files,
        /// A command.
        Command,
    }
}

/// Where the sets of a point are.
#[derive(Debug)]
pub(crate) enum Source {
    /// A file each, ascending by name.
    Files(Vec<PathBuf>),
    /// Made by a command, for each set.
    Command(SetCommand),
}

/// A command that prints sets.
#[derive(Debug)]
pub(crate) struct SetCommand {
    /// Its words, in which `{seed}` and `{index}` stand for those of a set.
    words: Vec<String>,
    /// Where it runs.
    directory: PathBuf,
    seed: u64,
}

/// A point as sets are asked for.
pub(crate) struct Place<'a> {
    pub(crate) axis: &'a Axis,
    pub(crate) value: u64,
    pub(crate) processors: u32,
    /// Seed of everything random at this point.
    pub(crate) seed: u64,
    /// Sets that are needed.
    pub(crate) sets: u64,
    /// Where files are looked for.
    pub(crate) beside: &'a Path,
}

impl Given {
    /// The one of a name.
    pub(crate) fn named(name: &str) -> Option<Given> {
        Given::ALL.into_iter().find(|given| given.name() == name)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Given::Files => "files",
            Given::Command => "command",
        }
    }

    /// The parameter that says where sets are.
    fn key(self) -> &'static str {
        match self {
            Given::Files => "directory",
            Given::Command => "run",
        }
    }

    /// Refuses what would say nothing, or always the same.
    pub(crate) fn check(
        self,
        parameters: &BTreeMap<String, String>,
        axis: &str,
        changes: bool,
    ) -> Result<()> {
        let (name, key) = (self.name(), self.key());
        let text = parameters.get(key).ok_or_else(|| {
            Diagnostic::usage(format!("generator `{name}` has no `{key}`")).hint(match self {
                Given::Files => format!("say where the files are, as in `{key} = \"sets/{{{axis}}}\"`"),
                Given::Command => {
                    format!("say what prints a set, as in `{key} = \"./draw.py {{seed}} {{{axis}}}\"`")
                }
            })
        })?;
        let own: &[&str] = match self {
            Given::Files => &["processors"],
            Given::Command => &["processors", "seed", "index"],
        };
        let known: Vec<&str> = parameters
            .keys()
            .map(String::as_str)
            .filter(|name| *name != key)
            .chain([axis])
            .chain(own.iter().copied())
            .collect();
        let asked = placeholders(text);
        if let Some(unknown) = asked.iter().find(|name| !known.contains(name)) {
            return Err(Names::of("placeholder", &known)
                .unknown(unknown)
                .context(format!("generator: {key}")));
        }
        if let Some(idle) = parameters.keys().find(|name| *name != key && !asked.contains(&name.as_str())) {
            return Err(Diagnostic::usage(format!("generator `{name}`: `{idle}` stands nowhere in `{key}`"))
                .hint(format!("write {{{idle}}} there, or leave it out")));
        }
        if self == Given::Command && !asked.contains(&"seed") && !asked.contains(&"index") {
            return Err(Diagnostic::usage(format!(
                "generator `{name}`: `{key}` prints the same set every time"
            ))
            .hint("write {seed} where the command takes its seed"));
        }
        if changes && !asked.contains(&axis) {
            return Err(Diagnostic::usage(format!(
                "generator `{name}`: {axis} varies, and `{key}` gives the same sets at every point"
            ))
            .hint(format!("write {{{axis}}} in `{key}`, or let something else vary")));
        }
        Ok(())
    }

    /// Where the sets of a point are.
    pub(crate) fn source(self, parameters: &BTreeMap<String, String>, place: &Place<'_>) -> Result<Source> {
        let mut text = parameters[self.key()].clone();
        for (name, value) in parameters {
            text = text.replace(&format!("{{{name}}}"), value);
        }
        text = text.replace(&format!("{{{}}}", place.axis.variable.name()), &place.axis.text(place.value));
        text = text.replace("{processors}", &place.processors.to_string());
        match self {
            Given::Files => files(&place.beside.join(text), place.sets).map(Source::Files),
            Given::Command => Ok(Source::Command(SetCommand {
                words: text.split_whitespace().map(str::to_owned).collect(),
                directory: place.beside.to_owned(),
                seed: place.seed,
            })),
        }
    }
}

/// Names in braces.
fn placeholders(text: &str) -> Vec<&str> {
    text.split('{').skip(1).filter_map(|part| part.split_once('}')).map(|(name, _)| name).collect()
}

fn files(directory: &Path, needed: u64) -> Result<Vec<PathBuf>> {
    let cannot = |error: &std::io::Error| {
        Diagnostic::usage(format!("{}: cannot read this directory of task sets: {error}", directory.shown()))
            .hint("name one that has a task set in each .toml or .json file")
    };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(|error| cannot(&error))? {
        let path = entry.map_err(|error| cannot(&error))?.path();
        if path.extension().is_some_and(|ending| ending == "toml" || ending == "json") {
            files.push(path);
        }
    }
    files.sort_unstable();
    if (files.len() as u64) < needed {
        return Err(Diagnostic::usage(format!(
            "{} has {}, and the study asks for {needed} at every point",
            directory.shown(),
            plural(files.len(), "task set")
        ))
        .hint("lower `sets` (or --sets), or add files"));
    }
    Ok(files)
}

/// A number that is another one for files of other names or contents; nothing of a command, which is known by its words alone.
pub(crate) fn fingerprint(source: &Source) -> Result<Option<u64>> {
    let Source::Files(files) = source else { return Ok(None) };
    let mut words = Vec::new();
    for file in files {
        let text = std::fs::read(file).map_err(|error| {
            Diagnostic::usage(format!("{}: {error}", file.shown())).hint("name files that can be read")
        })?;
        let name = file.file_name().unwrap_or_default().as_encoded_bytes();
        words.push(seed_of(&name.iter().chain(&text).map(|&byte| u64::from(byte)).collect::<Vec<_>>()));
    }
    Ok(Some(seed_of(&words)))
}

impl Source {
    /// The tasks of set number `index`.
    ///
    /// # Errors
    ///
    /// There is no such set, or none that a study can take; it was stopped.
    pub(crate) fn tasks(&self, index: u64, stop: &AtomicBool) -> Result<Vec<Task>> {
        match self {
            Source::Files(files) => {
                let file =
                    usize::try_from(index).ok().and_then(|index| files.get(index)).ok_or_else(|| {
                        Diagnostic::usage(format!(
                            "there is no set {index} among {}",
                            plural(files.len(), "file")
                        ))
                        .hint("lower `sets` (or --sets), or add files")
                    })?;
                real_time_tasks(&read_task_set(file)?.set)
                    .map_err(|error| error.context(file.shown().to_string()))
            }
            Source::Command(command) => command
                .tasks(index, stop)
                .map_err(|error| error.context(format!("generator: {}", command.words(index).join(" ")))),
        }
    }
}

fn real_time_tasks(set: &TaskSet) -> Result<Vec<Task>> {
    match set.tasks().iter().find(|task| task.kind != TaskKind::RealTime) {
        None => Ok(set.tasks().to_vec()),
        Some(task) => Err(Diagnostic::usage(format!("task `{}` is no real-time task", shown(&task.name)))
            .hint("leave it out: sets of studies have real-time tasks only")),
    }
}

impl SetCommand {
    fn words(&self, index: u64) -> Vec<String> {
        let seed = seed_of(&[self.seed, index]).to_string();
        let word = |word: &String| word.replace("{seed}", &seed).replace("{index}", &index.to_string());
        self.words.iter().map(word).collect()
    }

    fn tasks(&self, index: u64, stop: &AtomicBool) -> Result<Vec<Task>> {
        let words = self.words(index);
        let Some((program, arguments)) = words.split_first() else {
            return Err(
                Diagnostic::usage("there is no command").hint("write such as `run = \"./draw.py {seed}\"`")
            );
        };
        // The empty path is no directory.
        let here = std::path::absolute(Path::new(".").join(&self.directory))
            .map_err(|error| Diagnostic::environment(format!("cannot find its directory: {error}")))?;
        // A path is one beside the study, a bare word a program of the search path.
        let program = if program.contains('/') { here.join(program) } else { PathBuf::from(program) };
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(here)
            .stdin(Stdio::null())
            .process_group(0)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let child = command.spawn().map_err(|error| {
            Diagnostic::usage(format!("cannot start: {error}")).hint("name a program that can be started")
        })?;
        let text = printed(child, stop)?;
        let set = match text.trim_start().starts_with('{') {
            true => TaskSet::from_json(&text, "set"),
            false => TaskSet::from_toml(&text, "set"),
        };
        real_time_tasks(&set.map_err(|error| error.context("what it prints"))?)
    }
}

/// What a process prints until it has ended well. What it has started itself and left behind ends with it.
fn printed(mut child: Child, stop: &AtomicBool) -> Result<String> {
    let [mut out, mut error] = [Vec::new(), Vec::new()];
    let (mut stdout, mut stderr) = (child.stdout.take(), child.stderr.take());
    let ended = std::thread::scope(|scope| {
        let read_out = start_thread(scope, || stdout.as_mut().map(|pipe| pipe.read_to_end(&mut out)))?;
        let read_error = start_thread(scope, || stderr.as_mut().map(|pipe| pipe.read_to_end(&mut error)))?;
        let ended = wait(&mut child, stop);
        // Readers end with the last process that can write.
        let _ = kill_process_group(Pid::from_child(&child), Signal::KILL);
        let _ = (read_out.join(), read_error.join());
        ended
    })?;
    if ended {
        return String::from_utf8(out).map_err(|_| {
            Diagnostic::usage("it prints no text").hint("let it print a task set as TOML or JSON")
        });
    }
    let error = String::from_utf8_lossy(&error);
    Err(Diagnostic::usage(format!("it ended with an error: {}", shown(cause(&error))))
        .hint("let it print a task set and end with exit code 0"))
}

/// The line of what it says that is likely to be the cause: the first that begins with `error`, or the last, as of a traceback.
fn cause(said: &str) -> &str {
    let mut lines = said.lines().filter(|line| !line.trim().is_empty());
    let error = lines.clone().find(|line| line.to_lowercase().starts_with("error"));
    error.or_else(|| lines.next_back()).unwrap_or("it says nothing")
}

/// Whether it ended well.
fn wait(child: &mut Child, stop: &AtomicBool) -> Result<bool> {
    let begun = Instant::now();
    let failed = |error: &std::io::Error| Diagnostic::environment(format!("cannot wait for it: {error}"));
    loop {
        if let Some(status) = child.try_wait().map_err(|error| failed(&error))? {
            return Ok(status.success());
        }
        let late = begun.elapsed() > std::time::Duration::from_nanos(LONGEST.as_ns());
        if late || stop.load(SeqCst) {
            let _ = (child.kill(), child.wait());
            return Err(match late {
                true => Diagnostic::usage(format!("it took longer than {LONGEST} for a set, and was ended"))
                    .hint("let it print one task set and end"),
                false => Diagnostic::interrupted("a set was not made"),
            });
        }
        std::thread::sleep(LOOK);
    }
}

//! Programs that must not outlive laxity.

use crate::Audience;
use laxity_model::{Diagnostic, Result};
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How often a waiting program looks for a wish to end.
pub const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Makes the kernel kill the program when this one ends, however it ends, and keeps Ctrl-C on the terminal from it.
/// It must be started by a thread that lives as long as it: the kernel watches that thread.
pub fn tied(command: &mut Command) -> &mut Command {
    let parent = std::process::id();
    let tie = move || {
        rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
        // The parent may have ended before that; its end would go unnoticed.
        let now = rustix::process::getppid().map_or(0, |pid| pid.as_raw_nonzero().get());
        match u32::try_from(now) == Ok(parent) {
            true => Ok(()),
            false => Err(std::io::Error::from(std::io::ErrorKind::BrokenPipe)),
        }
    };
    // SAFETY: between fork and exec only two system calls are made, and nothing is allocated.
    unsafe { command.process_group(0).pre_exec(tie) }
}

/// A program that is killed when its owner forgets it.
pub struct Tied {
    child: Child,
}

impl Tied {
    /// Starts it.
    pub fn spawn(command: &mut Command) -> std::io::Result<Self> {
        Ok(Tied { child: tied(command).spawn()? })
    }

    /// The process.
    pub fn child(&mut self) -> &mut Child {
        &mut self.child
    }
}

impl Drop for Tied {
    fn drop(&mut self) {
        // Errors mean that it is gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The error after Ctrl-C, for which the program has an exit code of its own.
pub fn interrupted() -> Diagnostic {
    Diagnostic::environment("interrupted")
}

/// Runs a program to its end, saying from time to time what `progress` finds. What it wrote to standard output.
///
/// # Errors
/// It cannot be started, fails, or `interrupt` became true.
pub fn finish(
    command: &mut Command,
    interrupt: &AtomicBool,
    audience: &mut dyn Audience,
    progress: impl Fn() -> Option<String>,
) -> Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut tied = Tied::spawn(command)
        .map_err(|error| Diagnostic::environment(format!("cannot start {name}: {error}")))?;
    let (out, err) = (tied.child().stdout.take(), tied.child().stderr.take());
    let collect = |stream: Option<Box<dyn Read + Send>>| {
        thread::spawn(move || {
            let mut bytes = Vec::new();
            // A stream that breaks ends with what came.
            let _ = stream.map(|mut stream| stream.read_to_end(&mut bytes));
            String::from_utf8_lossy(&bytes).into_owned()
        })
    };
    let out = collect(out.map(|stream| Box::new(stream) as _));
    let err = collect(err.map(|stream| Box::new(stream) as _));
    let status = watch(&mut tied, interrupt, audience, progress, &name)?;
    let (out, err) = (out.join().unwrap_or_default(), err.join().unwrap_or_default());
    if status.success() {
        return Ok(out);
    }
    let why = err.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it does not say why");
    Err(Diagnostic::environment(format!("{name} failed: {}", why.trim())))
}

fn watch(
    tied: &mut Tied,
    interrupt: &AtomicBool,
    audience: &mut dyn Audience,
    progress: impl Fn() -> Option<String>,
    name: &str,
) -> Result<std::process::ExitStatus> {
    let mut said = Instant::now();
    loop {
        let ended = tied.child().try_wait();
        match ended {
            Ok(Some(status)) => return Ok(status),
            Ok(None) if interrupt.load(Ordering::Relaxed) => return Err(interrupted()),
            Ok(None) => thread::sleep(LOOK_EVERY),
            Err(error) => return Err(Diagnostic::environment(format!("cannot wait for {name}: {error}"))),
        }
        if said.elapsed() > Duration::from_secs(3) {
            said = Instant::now();
            if let Some(words) = progress() {
                audience.words(&words);
            }
        }
    }
}

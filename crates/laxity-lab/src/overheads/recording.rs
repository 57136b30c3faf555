//! Recording beside a run.

use laxity_kernel::rings::Record;
use laxity_model::{Diagnostic, Names, Result};
use laxity_overheads::{Options, Recorded, Recorder, Selection, record};
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;

/// What is probed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Probes {
    /// The events of cerqueira2014, IV-A.
    Events,
    /// Also how long functions of scheduling classes take (lelli2012, Table 6), which makes the events around them longer.
    Functions,
}

impl FromStr for Probes {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "events" => Ok(Probes::Events),
            "functions" => Ok(Probes::Functions),
            _ => Err(Names::of("selection of overheads", &["events", "functions"]).unknown(text)),
        }
    }
}

impl Probes {
    /// As it is asked for.
    pub fn name(self) -> &'static str {
        match self {
            Probes::Events => "events",
            Probes::Functions => "functions",
        }
    }

    /// Attaches the probes.
    ///
    /// # Errors
    ///
    /// This kernel or this user's rights allow none of them.
    pub fn attach(self) -> Result<Recorder> {
        let functions = self == Probes::Functions;
        Recorder::attach(Selection { all_threads: false, functions, run_times: true })
    }
}

/// Ends the recording whatever becomes of the work.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Records while `work` goes on: what it gives, and the recording or why there is none. Every record is handed to `each` too.
pub fn record_during<T>(
    recorder: &mut Recorder,
    options: &Options,
    each: impl FnMut(&Record) + Send,
    work: impl FnOnce() -> T,
) -> (T, Result<Recorded>) {
    let stop = AtomicBool::new(false);
    let (begun, begins) = mpsc::channel();
    thread::scope(|scope| {
        let begin = move || _ = begun.send(());
        let recording = scope.spawn(|| record(options, recorder, &stop, begin, each));
        // It has begun, or cannot: then the sender is gone, and the work is done all the same.
        let _ = begins.recv();
        let done = {
            let _stop = Stop(&stop);
            work()
        };
        let recorded = recording.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        (done, recorded)
    })
}

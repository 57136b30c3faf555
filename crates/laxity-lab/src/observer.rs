//! Where notes and progress of long work go: the caller decides what becomes visible, and how.

use laxity_model::{Diagnostic, Duration, Result, start_thread};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// What the library tells while it works. Calls come from several threads.
pub trait Observer: Send + Sync {
    /// What went well, such as what is done next. A caller may leave it out.
    fn note(&self, words: &str);

    /// What a first reader can do without, such as what was set on the machine for a run. Nothing, unless a caller wants it.
    fn detail(&self, _words: &str) {}

    /// What a user has to know in any case, such as what was put back on the machine.
    fn warn(&self, words: &str);

    /// A step of long work begins, in words; it counts `unit`, such as jobs.
    fn begin(&self, what: &str, unit: &str) -> Box<dyn Step>;

    /// A simulation of so many jobs begins.
    fn simulation(&self, jobs: u64) -> Box<dyn Step>;
}

/// A step of long work.
pub trait Step {
    /// How far it is.
    fn show(&self, done: u64, total: u64, remark: &str);

    /// What is done now, where nothing is counted.
    fn phase(&self, what: &str);

    /// It is over; with an outcome, if that is to stay visible.
    fn end(self: Box<Self>, outcome: Option<&str>);
}

/// Keeps everything to itself.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Observer for Silent {
    fn note(&self, _: &str) {}

    fn warn(&self, _: &str) {}

    fn begin(&self, _: &str, _: &str) -> Box<dyn Step> {
        Box::new(Silent)
    }

    fn simulation(&self, _: u64) -> Box<dyn Step> {
        Box::new(Silent)
    }
}

impl Step for Silent {
    fn show(&self, _: u64, _: u64, _: &str) {}

    fn phase(&self, _: &str) {}

    fn end(self: Box<Self>, _: Option<&str>) {}
}

/// The program that calls: what it shows, and what results say of it.
#[derive(Clone)]
pub struct Caller {
    /// Where notes and progress go.
    pub observer: Arc<dyn Observer>,
    /// Its version, as manifests have it.
    pub version: String,
    /// The command line that led here, program first; empty where there is none.
    pub command: Vec<String>,
}

impl Caller {
    /// The same for parts of longer work, which has progress of its own: only warnings are told.
    #[must_use]
    pub fn without_progress(&self) -> Caller {
        let observer = Arc::new(WarningsOnly(Arc::clone(&self.observer)));
        Caller { observer, ..self.clone() }
    }
}

/// Leaves out notes and progress.
struct WarningsOnly(Arc<dyn Observer>);

impl Observer for WarningsOnly {
    fn note(&self, _: &str) {}

    fn detail(&self, words: &str) {
        self.0.detail(words);
    }

    fn warn(&self, words: &str) {
        self.0.warn(words);
    }

    fn begin(&self, _: &str, _: &str) -> Box<dyn Step> {
        Box::new(Silent)
    }

    fn simulation(&self, _: u64) -> Box<dyn Step> {
        Box::new(Silent)
    }
}

impl fmt::Debug for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Caller")
            .field("version", &self.version)
            .field("command", &self.command)
            .finish_non_exhaustive()
    }
}

/// Progress through a number of steps, each of which has progress of its own.
pub struct Steps<'a> {
    observer: &'a dyn Observer,
    total: usize,
    done: usize,
}

impl<'a> Steps<'a> {
    /// `total` steps.
    pub fn new(total: usize, observer: &'a dyn Observer) -> Self {
        Steps { observer, total, done: 0 }
    }

    /// Begins the next step, which counts jobs.
    pub fn begin(&mut self, what: &str) -> Box<dyn Step> {
        self.begin_counting(what, "jobs")
    }

    /// Begins the next step, which counts something.
    pub fn begin_counting(&mut self, what: &str, unit: &str) -> Box<dyn Step> {
        self.done += 1;
        self.observer.begin(&format!("[{}/{}] {what}", self.done, self.total), unit)
    }
}

/// An error if the caller has asked for the end, which says in words what there is, such as that nothing was run.
///
/// # Errors
///
/// The end was asked for.
pub fn check_interrupt(stop: &AtomicBool, what_there_is: &str) -> Result<()> {
    if stop.load(Ordering::SeqCst) { Err(Diagnostic::interrupted(what_there_is)) } else { Ok(()) }
}

/// Whether what began then has lasted for as long as it was to, or the caller has asked for the end.
pub fn is_over(begin: Instant, lasts: Option<Duration>, stop: &AtomicBool) -> bool {
    let passed = lasts.is_some_and(|time| begin.elapsed() >= std::time::Duration::from_nanos(time.as_ns()));
    passed || stop.load(Ordering::SeqCst)
}

/// Does `work` while another thread does `watch`, which ends soon after its flag is set and may park until then.
///
/// # Errors
///
/// Those of `work`; no thread can be started.
pub fn watched<T>(watch: impl FnOnce(&AtomicBool) + Send, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watcher = start_thread(scope, || watch(&over))?;
        let ending = Ending { over: &over, watcher: watcher.thread() };
        let result = work();
        drop(ending);
        result
    })
}

/// Ends the watcher, also when the work panics.
struct Ending<'a> {
    over: &'a AtomicBool,
    watcher: &'a std::thread::Thread,
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        self.watcher.unpark();
    }
}

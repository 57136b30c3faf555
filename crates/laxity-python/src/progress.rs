//! What a command tells while it works, kept until the thread of Python looks at it.

use laxity_lab::{Observer, Step};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

/// Something that is told.
pub enum Told {
    /// Words that a reader can do without.
    Note(String),
    /// Words that a reader has to know.
    Warning(String),
    /// A step has begun.
    Begun(Arc<StepState>),
}

/// How far a step is.
pub struct StepState {
    /// What is done.
    pub what: String,
    /// What it counts.
    pub unit: String,
    /// So many are done.
    pub done: AtomicU64,
    /// Of so many; 0 where that is not known.
    pub total: AtomicU64,
    /// 1: it is over.
    pub over: AtomicU64,
}

/// All that was told and not taken yet.
#[derive(Clone, Default)]
pub struct Relay(Arc<Mutex<Vec<Told>>>);

impl Relay {
    /// What was told since the last time.
    pub fn take(&self) -> Vec<Told> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn tell(&self, told: Told) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(told);
    }
}

impl Observer for Relay {
    fn note(&self, words: &str) {
        self.tell(Told::Note(words.to_owned()));
    }

    fn detail(&self, words: &str) {
        self.note(words);
    }

    fn warn(&self, words: &str) {
        self.tell(Told::Warning(words.to_owned()));
    }

    fn begin(&self, what: &str, unit: &str) -> Box<dyn Step> {
        let state = Arc::new(StepState {
            what: what.to_owned(),
            unit: unit.to_owned(),
            done: AtomicU64::new(0),
            total: AtomicU64::new(0),
            over: AtomicU64::new(0),
        });
        self.tell(Told::Begun(Arc::clone(&state)));
        Box::new(Shown(state))
    }

    fn simulation(&self, jobs: u64) -> Box<dyn Step> {
        let step = self.begin("simulating", "jobs");
        step.show(0, jobs, "");
        step
    }
}

/// A step whose state the thread of Python looks at.
struct Shown(Arc<StepState>);

impl Step for Shown {
    fn show(&self, done: u64, total: u64, _: &str) {
        self.0.total.store(total, Relaxed);
        self.0.done.store(done, Relaxed);
    }

    fn phase(&self, _: &str) {}

    fn end(self: Box<Self>, _: Option<&str>) {
        self.0.over.store(1, Relaxed);
    }
}

//! Progress of long work, on standard error: a bar on a terminal, a line per step elsewhere.

use crate::output;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::Duration;

/// Progress through a number of steps, each of which has progress of its own.
pub struct Steps {
    total: usize,
    done: usize,
    quiet: bool,
    terminal: bool,
}

impl Steps {
    /// `total` steps; `quiet` shows nothing.
    pub fn new(total: usize, quiet: bool) -> Self {
        Steps { total, done: 0, quiet, terminal: std::io::stderr().is_terminal() }
    }

    /// Begins the next step, which counts jobs.
    pub fn begin(&mut self, what: &str) -> Step {
        self.begin_counting(what, "jobs")
    }

    /// Begins the next step, which counts something.
    pub fn begin_counting(&mut self, what: &str, unit: &str) -> Step {
        self.done += 1;
        let label = format!("[{}/{}] {what}", self.done, self.total);
        let bar = ProgressBar::new(0);
        if self.quiet || !self.terminal {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        let template = format!("{{msg:32!}} {{bar:24}} {{pos}}/{{len}} {unit} {{elapsed}} {{prefix}}");
        bar.set_style(ProgressStyle::with_template(&template).expect("a valid template"));
        bar.set_message(label.clone());
        bar.enable_steady_tick(Duration::from_millis(200));
        Step { bar, label, quiet: self.quiet }
    }
}

/// One step.
pub struct Step {
    bar: ProgressBar,
    label: String,
    quiet: bool,
}

impl Step {
    /// Shows how far it is.
    pub fn show(&self, done: u64, total: u64, remark: &str) {
        self.bar.set_length(total);
        self.bar.set_position(done);
        self.bar.set_prefix(remark.to_owned());
    }

    /// Ends it without a trace.
    pub fn vanish(self) {
        self.bar.finish_and_clear();
    }

    /// Ends it with its outcome, which stays on the screen.
    pub fn end(self, outcome: &str) {
        self.bar.finish_and_clear();
        if !self.quiet {
            output::say(format_args!("{:<32} {outcome}", self.label));
        }
    }
}

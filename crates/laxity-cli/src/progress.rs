//! Progress of long work, on standard error: a bar on a terminal, a line per step elsewhere.

use crate::output;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use laxity_model::shown;
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
        let label = format!("[{}/{}] {}", self.done, self.total, shown(what));
        // How much there is to do is not known yet: a bar would be full.
        let bar = ProgressBar::no_length();
        if self.quiet || !self.terminal {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        bar.set_style(ProgressStyle::with_template("{msg:32!} {elapsed}").expect("a valid template"));
        bar.set_message(label.clone());
        bar.enable_steady_tick(Duration::from_millis(200));
        Step { bar, label, unit: unit.to_owned(), quiet: self.quiet }
    }
}

/// What is done with results, such as writing them, while a terminal would otherwise stand still.
pub struct Phase(ProgressBar);

impl Phase {
    /// Begins one; `quiet` shows nothing, and no terminal does not either.
    pub fn begin(what: &str, quiet: bool) -> Self {
        let bar = ProgressBar::new_spinner();
        if quiet || !std::io::stderr().is_terminal() {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        bar.set_style(ProgressStyle::with_template("{msg} {elapsed}").expect("a valid template"));
        bar.set_message(format!("{} ...", shown(what)));
        bar.enable_steady_tick(Duration::from_millis(200));
        Phase(bar)
    }

    /// Ends it without a trace.
    pub fn end(self) {
        self.0.finish_and_clear();
    }
}

/// One step.
pub struct Step {
    bar: ProgressBar,
    label: String,
    unit: String,
    quiet: bool,
}

impl Step {
    /// Shows how far it is.
    pub fn show(&self, done: u64, total: u64, remark: &str) {
        if total == 0 {
            return;
        }
        if self.bar.length().is_none() {
            let template =
                format!("{{msg:32!}} {{bar:24}} {{pos}}/{{len}} {} {{elapsed}} {{prefix}}", self.unit);
            self.bar.set_style(ProgressStyle::with_template(&template).expect("a valid template"));
        }
        self.bar.set_length(total);
        self.bar.set_position(done);
        self.bar.set_prefix(shown(remark).into_owned());
    }

    /// Shows what is done with what it made, which cannot be counted.
    pub fn phase(&self, what: &str) {
        self.bar.set_style(
            ProgressStyle::with_template("{msg:32!} {elapsed} {prefix}").expect("a valid template"),
        );
        self.bar.set_prefix(shown(what).into_owned());
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

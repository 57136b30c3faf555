//! What the library tells, on standard error: notes, and progress as a bar on a terminal or a line per step elsewhere.

use crate::output;
use crate::shipped;
use crate::within;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use laxity_lab::{Caller, Observer, Silent, Step};
use laxity_model::{plural, shown};
use std::cell::Cell;
use std::io::IsTerminal;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A simulation that is shorter shows no progress.
const SILENCE: Duration = Duration::from_millis(700);
/// How often a simulation has a line where there is no terminal.
const LINES: Duration = Duration::from_secs(10);

/// This program as the library sees it: with progress, unless `--quiet` forbids it. Within another program, that one.
pub fn caller() -> Caller {
    let (observer, command) = within::caller().unwrap_or_else(|| {
        let words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
        (Arc::new(Terminal { progress: !output::quiet() }), words.collect())
    });
    Caller { observer, version: shipped::VERSION.to_owned(), command }
}

/// Standard error.
pub struct Terminal {
    /// Steps are shown, and notes of what is done next.
    pub progress: bool,
}

impl Observer for Terminal {
    fn note(&self, words: &str) {
        if self.progress {
            output::note(words);
        }
    }

    fn detail(&self, words: &str) {
        if output::verbose() {
            output::note(words);
        }
    }

    fn warn(&self, words: &str) {
        output::say(words);
    }

    fn begin(&self, what: &str, unit: &str) -> Box<dyn Step> {
        if !self.progress {
            return Box::new(Silent);
        }
        let label = shown(what).into_owned();
        // How much there is to do is not known yet: a bar would be full.
        let bar = ProgressBar::no_length();
        if !std::io::stderr().is_terminal() {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        bar.set_style(ProgressStyle::with_template("{msg:32!} {elapsed}").expect("a valid template"));
        bar.set_message(label.clone());
        bar.enable_steady_tick(Duration::from_millis(200));
        Box::new(Counted { bar, label, unit: unit.to_owned() })
    }

    fn simulation(&self, jobs: u64) -> Box<dyn Step> {
        if !self.progress {
            return Box::new(Silent);
        }
        let bar = std::io::stderr().is_terminal().then(|| simulation_bar(jobs));
        Box::new(Simulated { bar, begun: Instant::now(), next_line: Cell::new(LINES) })
    }
}

/// A step that counts.
struct Counted {
    bar: ProgressBar,
    label: String,
    unit: String,
}

impl Step for Counted {
    fn show(&self, done: u64, total: u64, remark: &str) {
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

    fn phase(&self, what: &str) {
        let style = ProgressStyle::with_template("{msg:32!} {elapsed} {prefix}");
        self.bar.set_style(style.expect("a valid template"));
        self.bar.set_prefix(shown(what).into_owned());
    }

    fn end(self: Box<Self>, outcome: Option<&str>) {
        self.bar.finish_and_clear();
        if let Some(outcome) = outcome {
            output::say(format_args!("{:<32} {outcome}", self.label));
        }
    }
}

/// A simulation.
struct Simulated {
    /// Where there is a terminal.
    bar: Option<ProgressBar>,
    begun: Instant,
    next_line: Cell<Duration>,
}

impl Step for Simulated {
    fn show(&self, done: u64, total: u64, _: &str) {
        match &self.bar {
            Some(bar) if self.begun.elapsed() > SILENCE => {
                bar.set_draw_target(ProgressDrawTarget::stderr());
                bar.set_position(done);
            }
            None if self.begun.elapsed() > self.next_line.get() => {
                self.next_line.set(self.next_line.get() + LINES);
                let percent = u128::from(done) * 100 / u128::from(total.max(1));
                output::say(format_args!("simulated {percent} % of {}", plural(total, "job")));
            }
            _ => {}
        }
    }

    fn phase(&self, _: &str) {}

    fn end(self: Box<Self>, _: Option<&str>) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}

fn simulation_bar(jobs: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(jobs), ProgressDrawTarget::hidden());
    let style = ProgressStyle::with_template(
        "simulating {bar:32} {percent} % of {human_len} jobs, {elapsed}, {eta} left",
    );
    bar.set_style(style.expect("a valid template"));
    bar
}

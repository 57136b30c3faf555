//! Progress of simulations, and their interruption.

use super::Control;
use crate::output;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use laxity_model::{Result, start_thread};
use std::io::IsTerminal;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::{Duration, Instant};

/// How often the interruption is looked for and the bar drawn.
const LOOK: Duration = Duration::from_millis(50);
/// Shorter work shows no progress.
const SILENCE: Duration = Duration::from_millis(700);
/// How often there is a line where there is no terminal.
const LINES: Duration = Duration::from_secs(10);

/// Does `work` while another thread shows how many of the `expected` jobs are simulated, and passes an interruption on.
pub fn watching(
    control: &Control,
    interrupt: &AtomicBool,
    expected: u128,
    quiet: bool,
    work: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watcher = start_thread(scope, || watch(control, interrupt, expected, quiet, &over))?;
        let done = End { over: &over, watcher: watcher.thread() };
        let result = work();
        drop(done);
        result
    })
}

/// Ends the watcher, also when the work panics.
struct End<'a> {
    over: &'a AtomicBool,
    watcher: &'a std::thread::Thread,
}

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.over.store(true, SeqCst);
        self.watcher.unpark();
    }
}

fn watch(control: &Control, interrupt: &AtomicBool, expected: u128, quiet: bool, over: &AtomicBool) {
    let expected = u64::try_from(expected).unwrap_or(u64::MAX);
    let begun = Instant::now();
    let terminal = std::io::stderr().is_terminal();
    let bar = (!quiet && terminal).then(|| bar(expected));
    let mut next_line = LINES;
    while !over.load(SeqCst) {
        if interrupt.load(SeqCst) {
            control.stop.store(true, SeqCst);
        }
        match &bar {
            Some(bar) if begun.elapsed() > SILENCE => {
                bar.set_draw_target(ProgressDrawTarget::stderr());
                bar.set_position(control.jobs.load(Relaxed).min(expected));
            }
            None if !quiet && begun.elapsed() > next_line => {
                next_line += LINES;
                say(&control.jobs, expected);
            }
            _ => {}
        }
        std::thread::park_timeout(LOOK);
    }
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
}

fn bar(expected: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(expected), ProgressDrawTarget::hidden());
    let style = ProgressStyle::with_template(
        "simulating {bar:32} {percent} % of {human_len} jobs, {elapsed}, {eta} left",
    );
    bar.set_style(style.expect("a valid template"));
    bar
}

fn say(jobs: &AtomicU64, expected: u64) {
    let jobs = jobs.load(Relaxed).min(expected);
    let percent = u128::from(jobs) * 100 / u128::from(expected.max(1));
    output::say(format_args!("simulated {percent} % of {}", laxity_model::plural(expected, "job")));
}

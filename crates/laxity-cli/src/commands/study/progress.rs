//! Progress of a study that a file describes, with the time left.

use crate::{output, terminal, within};
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use laxity_lab::Observer;
use laxity_model::Result;
use laxity_study::Progress;
use std::io::IsTerminal;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::time::{Duration, Instant};

/// How often the bar is drawn.
const LOOK: Duration = Duration::from_millis(200);
/// Shorter work shows no progress.
const SILENCE: Duration = Duration::from_millis(700);
/// How often there is a line where there is no terminal.
const LINES: Duration = Duration::from_secs(30);

/// Does `work` while another thread shows how far it is.
pub fn watching<T>(progress: &Progress, quiet: bool, work: impl FnOnce() -> Result<T>) -> Result<T> {
    if quiet {
        return work();
    }
    let caller = within::is_within().then(terminal::caller);
    laxity_lab::watched(
        |over| match &caller {
            Some(caller) => relay(progress, over, &*caller.observer),
            None => watch(progress, over),
        },
        work,
    )
}

/// Tells another program how far the study is.
fn relay(progress: &Progress, over: &AtomicBool, observer: &dyn Observer) {
    let step = observer.begin("judging", "sets");
    while !over.load(SeqCst) {
        let state = State::of(progress, Instant::now());
        step.show(state.judged, state.planned, "");
        std::thread::park_timeout(LOOK);
    }
    step.end(None);
}

/// What is shown.
struct State {
    judged: u64,
    planned: u64,
    left: Option<Duration>,
}

impl State {
    /// Time left at the speed of this run so far. Points that refine the axis are not known beforehand, and not counted.
    fn of(progress: &Progress, begun: Instant) -> State {
        let planned = progress.planned.load(Relaxed);
        let judged = progress.judged.load(Relaxed).min(planned);
        State {
            judged,
            planned,
            left: time_left(judged, planned, progress.before.load(Relaxed), begun.elapsed()),
        }
    }

    fn words(&self) -> String {
        match self.left {
            Some(left) => format!("about {} left", HumanDuration(left)),
            None => String::new(),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn time_left(judged: u64, planned: u64, before: u64, elapsed: Duration) -> Option<Duration> {
    let own = judged.checked_sub(before).filter(|&own| own > 0)?;
    let factor = planned.saturating_sub(judged) as f64 / own as f64;
    Duration::try_from_secs_f64(elapsed.as_secs_f64() * factor).ok()
}

fn watch(progress: &Progress, over: &AtomicBool) {
    let begun = Instant::now();
    let bar = std::io::stderr().is_terminal().then(bar);
    let mut next_line = LINES;
    while !over.load(SeqCst) {
        let state = State::of(progress, begun);
        match &bar {
            Some(bar) if state.planned > 0 && begun.elapsed() > SILENCE => {
                bar.set_draw_target(ProgressDrawTarget::stderr());
                bar.set_length(state.planned);
                bar.set_position(state.judged);
                bar.set_message(state.words());
            }
            None if state.planned > 0 && begun.elapsed() > next_line => {
                next_line += LINES;
                output::say(format_args!("{} of {} sets, {}", state.judged, state.planned, state.words()));
            }
            _ => {}
        }
        std::thread::park_timeout(LOOK);
    }
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
}

fn bar() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(1), ProgressDrawTarget::hidden());
    let style = ProgressStyle::with_template("{bar:32} {human_pos} of {human_len} sets, {elapsed}, {msg}");
    bar.set_style(style.expect("a valid template"));
    bar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_left_is_by_what_this_run_has_done() {
        let minute = Duration::from_secs(60);
        assert_eq!(time_left(0, 100, 0, minute), None);
        assert_eq!(time_left(50, 50, 50, minute), None, "nothing done by this run");
        assert_eq!(time_left(25, 100, 0, minute), Some(3 * minute));
        assert_eq!(time_left(75, 100, 50, minute), Some(minute));
        assert_eq!(time_left(100, 100, 0, minute), Some(Duration::ZERO));
    }
}

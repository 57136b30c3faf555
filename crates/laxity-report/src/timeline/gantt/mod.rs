//! A Gantt chart for the terminal: a row per CPU that shows tasks, and on request a row per task that shows CPUs.
//!
//! ```text
//! t in [0, 20ms), one column is 500us
//!
//!       0         5ms       10ms      15ms
//!       |         |         |         |
//! cpu0  AAAABBBBBBAAAA......AAAABBBBBB..........  70 %
//! miss                !
//! A T1, B T2; # kernel, . idle
//! ```
//!
//! 1. A column is a round span of time. It shows the job that has the CPU for most of the time that any has it, however
//!    short; `#` if kernel work takes more than half of the column, `x` if something above the scheduler
//!    has the CPU; idle if nothing ran in it at all.
//! 2. In the row of a task, `^` is a release, `v` a deadline, both together `|`, and `!` a deadline missed. Below it, a
//!    digit is the CPU on which the task runs, and `-` a job that waits.

mod columns;
mod rows;

use super::exact;
use super::window::Window;
use columns::Columns;
use laxity_model::{Diagnostic, Result, TaskSet};
use laxity_trace::Event;
use rows::Chart;

/// Narrower than this, there is nothing to see.
const COLUMNS_LEAST: usize = 20;

/// More segments than this in a window are not for a terminal; the window is cut where they are reached.
const SEGMENTS_MOST: usize = 1_000_000;

/// What to draw and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GanttOptions {
    /// The window `[from, to)`, in ns since the synchronous release; see [`super::default_window`].
    pub window: (u64, u64),
    /// Until when the schedule is known, in ns, even if nothing happens from the last event on.
    pub known_until_ns: u64,
    /// CPUs `0..cpus` get a row each, even if nothing runs there. Others get one if something does.
    pub cpus: u32,
    /// Columns of the terminal.
    pub width: u16,
    /// A row per task, too.
    pub tasks: bool,
    /// Arrows and blocks, for terminals that have them; otherwise ASCII.
    pub unicode: bool,
    /// Colours, by escape sequences.
    pub color: bool,
}

/// Draws a window of a schedule. Reads the events up to its end.
///
/// Errors: an empty window; those of the events.
pub fn draw(
    set: &TaskSet,
    events: impl IntoIterator<Item = Result<Event>>,
    options: &GanttOptions,
) -> Result<String> {
    let (from_ns, to_ns) = options.window;
    if from_ns >= to_ns {
        let (from, to) = (exact(from_ns), exact(to_ns));
        return Err(Diagnostic::usage(format!("the window from {from} to {to} is empty"))
            .hint("let it end after it begins"));
    }
    let window = Window::collect(events, options.window, options.known_until_ns, SEGMENTS_MOST)?;
    if window.to_ns <= window.from_ns {
        return Err(Diagnostic::usage(format!(
            "the schedule ends at {}, before the window from {}",
            exact(window.last_ns.max(options.known_until_ns)),
            exact(from_ns)
        ))
        .hint("choose an earlier window"));
    }
    let chart = Chart::new(set, &window, options);
    let room = usize::from(options.width).saturating_sub(chart.margin()).max(COLUMNS_LEAST);
    Ok(chart.draw(Columns::fitting(window.from_ns, window.to_ns, room)))
}

#[cfg(test)]
mod tests;

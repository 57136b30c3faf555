//! The schedule to zoom in, for a browser: a canvas, a small script, and the data, with nothing loaded from elsewhere.
//!
//! A row per CPU and per task. Wheel, drag, touch and keys pan and zoom; a tooltip says what there is to know of a job;
//! buttons and `n`, `p` go from miss to miss. Links: `#from=12ms&to=40ms`, `#miss=3`, and before them `schedule=ID&` on a
//! page with several.
//!
//! 1. The page shows a window of the schedule: the one asked for, from its start to where it has
//!    [`HtmlOptions::segments_most`] intervals. The page says so where the window was cut, and how to get another.
//! 2. At most [`TASK_ROWS_MOST`] tasks get a row of their own; the page says so, too.

mod data;

use super::exact;
use super::window::Window;
use crate::number;
use data::Data;
use laxity_model::{Result, TaskSet, shown};
use laxity_trace::Event;

/// More rows are not for reading.
pub const TASK_ROWS_MOST: usize = 400;

/// A million events make fewer intervals than this.
const SEGMENTS_MOST: usize = 1_000_000;

/// The body of the function that every schedule of a page calls with the element around it.
const SCRIPT: &str = concat!(
    include_str!("script/data.js"),
    include_str!("script/words.js"),
    include_str!("script/view.js"),
    include_str!("script/draw.js"),
    include_str!("script/controls.js"),
);

/// What every key, wheel and pointer does.
const HELP: &str = "Drag to move; wheel (after a click, or with Ctrl) or pinch to zoom. Keys, once the schedule has the \
    focus: <kbd>←</kbd> <kbd>→</kbd> move, <kbd>+</kbd> <kbd>−</kbd> zoom, <kbd>0</kbd> all, <kbd>Home</kbd> \
    <kbd>End</kbd> start and end, <kbd>n</kbd> <kbd>p</kbd> next and previous miss, <kbd>↑</kbd> <kbd>↓</kbd> rows. CPU \
    rows show jobs, task.job counted from 0, with kernel work as a dark strip below; task rows show where they run (↑ \
    release, ↓ deadline, ✗ missed, grey waiting).";

/// What to show and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HtmlOptions {
    /// Identifies the schedule in links; letters, digits and `-`.
    pub id: String,
    /// What the schedule is of, to read: "g-edf, repetition 1".
    pub title: String,
    /// The window `[from, to)` in ns since the synchronous release.
    pub window: (u64, u64),
    /// Intervals at most.
    pub segments_most: usize,
    /// How many deadlines are missed in all of it, where that is known.
    pub missed: Option<usize>,
    /// How to get another window, as a sentence for those whose window was cut.
    pub another_window: Option<String>,
}

impl HtmlOptions {
    /// All of a schedule, up to 1,000,000 intervals.
    pub fn new(id: impl Into<String>, title: impl Into<String>) -> Self {
        HtmlOptions {
            id: id.into(),
            title: title.into(),
            window: (0, u64::MAX),
            segments_most: SEGMENTS_MOST,
            missed: None,
            another_window: None,
        }
    }
}

/// The schedule as a part of a page. Several of them can be on one page. Reads the events up to the end of the window.
///
/// Errors: those of the events.
pub fn fragment(
    set: &TaskSet,
    cpus: u32,
    events: impl IntoIterator<Item = Result<Event>>,
    options: &HtmlOptions,
) -> Result<String> {
    element(set, cpus, events, options, |title, words| format!("<strong>{title}</strong> {words}"))
}

/// The schedule, below what `said` makes of its title and of the words about its window.
fn element(
    set: &TaskSet,
    cpus: u32,
    events: impl IntoIterator<Item = Result<Event>>,
    options: &HtmlOptions,
    said: impl FnOnce(&str, &str) -> String,
) -> Result<String> {
    let window = Window::collect(events, options.window, 0, options.segments_most)?;
    let data = Data::of(set, cpus, &window);
    let id: String = options.id.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
    let title = escaped(&options.title);
    let said = said(&title, &escaped(&words(&window, &data, options)));
    Ok(format!(
        concat!(
            "<style>\n{style}</style>\n",
            "<div class=\"schedule\" id=\"schedule-{id}\" data-schedule=\"{id}\">\n",
            "<p class=\"schedule-words\">{said}</p>\n",
            "<div class=\"schedule-view\">",
            "<canvas class=\"schedule-axis\" aria-hidden=\"true\"></canvas>",
            "<div class=\"schedule-rows\"><div class=\"schedule-all\">",
            "<canvas class=\"schedule-canvas\" tabindex=\"0\" role=\"application\" ",
            "aria-roledescription=\"schedule\" aria-label=\"Schedule of {title}\" aria-describedby=\"schedule-{id}-help\">",
            "</canvas></div></div>",
            "<div class=\"schedule-tip\" hidden></div></div>\n",
            "<p class=\"schedule-help\" id=\"schedule-{id}-help\">{help}</p>\n",
            "<noscript><p>A script draws the schedule, which does not run here.</p></noscript>\n",
            "<script type=\"application/json\" class=\"schedule-data\">{data}</script>\n",
            "<script>\n\"use strict\";\n(function (root) {{\n{script}}})(document.currentScript.closest(\".schedule\"));\n</script>\n",
            "</div>\n"
        ),
        style = include_str!("schedule.css"),
        id = id,
        title = title,
        said = said,
        data = data.json(),
        script = SCRIPT,
        help = HELP,
    ))
}

/// A page with nothing but the schedule; light or dark, as the reader's system is.
///
/// Errors: those of the events.
pub fn page(
    set: &TaskSet,
    cpus: u32,
    events: impl IntoIterator<Item = Result<Event>>,
    options: &HtmlOptions,
) -> Result<String> {
    let schedule = element(set, cpus, events, options, |_, words| format!("The schedule {words}"))?;
    Ok(format!(
        concat!(
            "<!DOCTYPE html>\n<html lang=\"en\" class=\"schedule-page\">\n<head>\n<meta charset=\"utf-8\">\n",
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n",
            "<meta name=\"generator\" content=\"laxity {version}\">\n<title>{title}</title>\n</head>\n<body>\n",
            "<main>\n<h1>{title}</h1>\n{schedule}</main>\n</body>\n</html>\n"
        ),
        version = env!("CARGO_PKG_VERSION"),
        title = escaped(&options.title),
        schedule = schedule,
    ))
}

/// What the reader must know of the window.
fn words(window: &Window, data: &Data, options: &HtmlOptions) -> String {
    let (from, to) = (exact(window.from_ns), exact(window.to_ns));
    let misses = u64::try_from(data.misses).unwrap_or(u64::MAX);
    let in_all = options.missed.and_then(|all| u64::try_from(all).ok()).filter(|&all| all > misses);
    let missed = match (misses, in_all) {
        (0, None) => "no deadline missed".to_owned(),
        (misses, None) => format!("{} missed", number::counted(misses, "deadline")),
        (misses, Some(all)) => format!(
            "{} missed, of {} in the whole run",
            number::counted(misses, "deadline"),
            number::count(all)
        ),
    };
    let mut words = format!("from {from} to {to}, {missed}.");
    if window.cut {
        let most = u64::try_from(options.segments_most).unwrap_or(u64::MAX);
        words += &format!(
            " The schedule goes on: this is its part with the first {} intervals.",
            number::count(most)
        );
        if let Some(another) = &options.another_window {
            words += &format!(" {another}");
        }
    }
    if data.tasks_left_out > 0 {
        words += &format!(" Only {TASK_ROWS_MOST} tasks have a row of their own.");
    }
    if window.contradictions > 0 {
        words += &format!(" {}; the chart follows the later ones.", contradictions(window.contradictions));
    }
    words
}

/// How many events do not fit those before them.
pub(super) fn contradictions(events: u64) -> String {
    let verb = if events == 1 { "contradicts" } else { "contradict" };
    format!("{} {verb} those before", number::counted(events, "event"))
}

fn escaped(text: &str) -> String {
    minijinja::HtmlEscape(&shown(text)).to_string()
}

#[cfg(test)]
mod tests;

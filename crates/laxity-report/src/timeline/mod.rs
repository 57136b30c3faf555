//! Schedules to look at: as text, as a Gantt chart in the terminal, in Perfetto, and in the HTML report.
//!
//! All of them take a stream of events (`laxity_trace::EventsReader::events`, or any iterator of results) and the task
//! set for its names. The same events give the same bytes.
//!
//! Jobs are called `task.job` and counted from 0, as in the tables of results: `video.0` is the first job of `video`.

mod fates;
pub mod gantt;
pub mod html;
pub mod perfetto;
#[cfg(test)]
mod sample;
pub mod text;
mod window;

pub use fates::Fates;
pub use window::{FirstMiss, default_window};

use laxity_model::TaskSet;

/// The name of a task; an id that the set does not have goes by its number, from 1.
fn task_name(set: &TaskSet, task: u32) -> String {
    let known = usize::try_from(task).ok().and_then(|task| set.tasks().get(task));
    known.map_or_else(|| format!("T{}", u64::from(task) + 1), |task| task.name.clone())
}

/// The name of a job: its task's, and its number from 0.
fn job_name(set: &TaskSet, task: u32, job: u32) -> String {
    format!("{}.{job}", task_name(set, task))
}

/// An instant or a span, exact, in the largest unit that is not longer than it: `2.703979ms`.
fn exact(ns: u64) -> String {
    let units = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000), ("ns", 1)];
    let Some((unit, scale)) = units.into_iter().find(|(_, scale)| ns >= *scale) else {
        return "0".to_owned();
    };
    let (whole, rest) = (ns / scale, ns % scale);
    if rest == 0 {
        return format!("{whole}{unit}");
    }
    // As many digits as the unit has zeros: all of the rest.
    let digits = usize::try_from(u64::ilog10(scale)).unwrap_or(0);
    let fraction = format!("{rest:0digits$}");
    format!("{whole}.{}{unit}", fraction.trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use laxity_model::Duration;

    #[test]
    fn instants_are_exact() {
        for (ns, text) in [
            (0, "0"),
            (7, "7ns"),
            (2_500, "2.5us"),
            (2_703_979, "2.703979ms"),
            (1_000_000_001, "1.000000001s"),
        ] {
            assert_eq!(exact(ns), text);
        }
        for ns in [1, 999, 1_000, 123_456_789, u64::MAX] {
            assert_eq!(exact(ns).parse(), Ok(Duration::from_ns(ns)));
        }
    }
}

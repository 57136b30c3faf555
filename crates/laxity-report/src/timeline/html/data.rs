//! The data of a schedule for the script: names as JSON, numbers as variable-length integers in base 64.
//!
//! A number is its zigzag code in groups of 7 bits, the lowest first, all but the last with the high bit set. Streams,
//! in this order (the script reads them in the same):
//! - for each CPU, twice (tasks; kernel work): how many segments; for each the gap after the one before, the
//!   length, and what: twice the index of the task, plus 1 in the background, -1 where the CPU is taken, then the number of
//!   the job less the last one of that task; or the index of the kind of overhead;
//! - for each task: how many jobs (of a task without a row: those that missed); for each the number less the one before,
//!   flags (1 release, 2 deadline, 4 completion or abort, 8 missed, 16 aborted), and, as the flags say, the gap between its
//!   release and the one before less the gap before; deadline less release, less the same of the job before; completion less
//!   release. So what is periodic takes a byte.

use super::super::task_name;
use super::super::window::{JobSpan, Window};
use super::TASK_ROWS_MOST;
use laxity_model::{Duration, TaskSet, shown_json};
use laxity_trace::{Activity, EventKind, Segment};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Serialize)]
struct TaskData {
    name: String,
    /// C, T and D in words; nothing for a task that the set does not have.
    about: Option<String>,
    /// Whether it has a row of its own.
    row: bool,
}

/// What the script gets.
#[derive(Serialize)]
pub(super) struct Data {
    #[serde(rename = "from")]
    from_ns: u64,
    #[serde(rename = "to")]
    to_ns: u64,
    /// Instants before this are in the window.
    #[serde(rename = "until")]
    until_ns: u64,
    cpus: Vec<u32>,
    tasks: Vec<TaskData>,
    overheads: Vec<&'static str>,
    numbers: String,
    pub(super) misses: usize,
    #[serde(skip)]
    pub(super) tasks_left_out: usize,
}

impl Data {
    pub(super) fn of(set: &TaskSet, cpus: u32, window: &Window) -> Data {
        let cpus: BTreeSet<u32> =
            (0..cpus).chain(window.segments.iter().map(|segment| segment.cpu)).collect();
        let ran = window.segments.iter().filter_map(|segment| match segment.activity {
            Activity::Job { task, .. } => Some(task),
            Activity::Background { .. } | Activity::Taken | Activity::Kernel(_) => None,
        });
        let ids: BTreeSet<u32> = ran.chain(window.jobs.iter().map(|job| job.task)).collect();
        let places: BTreeMap<u32, usize> = ids.iter().enumerate().map(|(place, id)| (*id, place)).collect();
        let overheads: Vec<EventKind> =
            EventKind::ALL.into_iter().filter(|kind| kind.is_overhead()).collect();
        let mut numbers = Numbers::default();
        for cpu in &cpus {
            numbers.cpu(window, *cpu, &places, &overheads);
        }
        for (place, id) in ids.iter().enumerate() {
            // No miss is lost, even where there is no row for it.
            let shown = |job: &&JobSpan| place < TASK_ROWS_MOST || job.missed;
            numbers.jobs(window.jobs_of(*id).iter().filter(shown));
        }
        Data {
            from_ns: window.from_ns,
            to_ns: window.to_ns,
            until_ns: window.until_ns,
            cpus: cpus.into_iter().collect(),
            tasks: ids.iter().enumerate().map(|(place, id)| task(set, *id, place < TASK_ROWS_MOST)).collect(),
            overheads: overheads.into_iter().map(EventKind::name).collect(),
            numbers: base64(&numbers.bytes),
            misses: window.jobs.iter().filter(|job| job.missed && in_window(job, window)).count(),
            tasks_left_out: ids.len().saturating_sub(TASK_ROWS_MOST),
        }
    }

    /// As JSON that can stand inside a script element.
    pub(super) fn json(&self) -> String {
        let text = serde_json::to_string(self).expect("strings and numbers");
        shown_json(&text).replace('<', "\\u003c")
    }
}

/// Whether the deadline is where the window can show it.
fn in_window(job: &JobSpan, window: &Window) -> bool {
    job.deadline_ns.is_some_and(|ns| (window.from_ns..window.until_ns).contains(&ns))
}

fn task(set: &TaskSet, id: u32, row: bool) -> TaskData {
    let known = usize::try_from(id).ok().and_then(|id| set.tasks().get(id));
    let about = known.map(|task| {
        let period: Duration = task.period();
        format!("C = {}, {} {period}, D = {}", task.wcet, task.period_word(), task.deadline_rel)
    });
    TaskData { name: task_name(set, id), about, row }
}

#[derive(Default)]
struct Numbers {
    bytes: Vec<u8>,
}

impl Numbers {
    fn push(&mut self, number: i128) {
        // Differences of differences of u64 fit 67 bits.
        let mut code = if number < 0 { (number.unsigned_abs() << 1) - 1 } else { number.unsigned_abs() << 1 };
        loop {
            let low = u8::try_from(code & 0x7f).unwrap_or(0);
            code >>= 7;
            if code == 0 {
                self.bytes.push(low);
                return;
            }
            self.bytes.push(low | 0x80);
        }
    }

    fn count(&mut self, count: usize) {
        self.push(i128::try_from(count).unwrap_or(0));
    }

    fn cpu(&mut self, window: &Window, cpu: u32, places: &BTreeMap<u32, usize>, overheads: &[EventKind]) {
        let is_kernel = |segment: &&Segment| matches!(segment.activity, Activity::Kernel(_));
        for kernel in [false, true] {
            let from = window.segments.partition_point(|segment| segment.cpu < cpu);
            let to = window.segments.partition_point(|segment| segment.cpu <= cpu);
            let own = window.segments[from..to].iter();
            let own: Vec<&Segment> = own.filter(|segment| is_kernel(segment) == kernel).collect();
            self.count(own.len());
            let mut end_ns = window.from_ns;
            let mut jobs: BTreeMap<u32, u32> = BTreeMap::new();
            for segment in own {
                self.push(i128::from(segment.from_ns) - i128::from(end_ns));
                self.push(segment.length_ns().into());
                end_ns = segment.to_ns;
                let place = |task| places.get(&task).copied().unwrap_or(0);
                match segment.activity {
                    Activity::Job { task, job } => {
                        self.count(2 * place(task));
                        let before = jobs.insert(task, job).unwrap_or(0);
                        self.push(i128::from(job) - i128::from(before));
                    }
                    Activity::Background { task } => self.push(2 * i128::from(task) + 1),
                    Activity::Taken => self.push(-1),
                    Activity::Kernel(kind) => {
                        self.count(overheads.iter().position(|other| *other == kind).unwrap_or(0));
                    }
                }
            }
        }
    }

    fn jobs<'a>(&mut self, jobs: impl Iterator<Item = &'a JobSpan>) {
        let jobs: Vec<&JobSpan> = jobs.collect();
        self.count(jobs.len());
        let (mut number, mut release_ns, mut gap, mut relative) = (0, 0, 0, 0);
        for job in jobs {
            self.push(i128::from(job.job) - i128::from(number));
            let flags = i128::from(job.release_ns.is_some())
                | i128::from(job.deadline_ns.is_some()) << 1
                | i128::from(job.complete_ns.is_some()) << 2
                | i128::from(job.missed) << 3
                | i128::from(job.aborted) << 4;
            self.push(flags);
            let release = job.release_ns.unwrap_or(release_ns);
            if job.release_ns.is_some() {
                let before = std::mem::replace(&mut gap, i128::from(release) - i128::from(release_ns));
                self.push(gap - before);
            }
            if let Some(deadline) = job.deadline_ns {
                let before = std::mem::replace(&mut relative, i128::from(deadline) - i128::from(release));
                self.push(relative - before);
            }
            if let Some(complete) = job.complete_ns {
                self.push(i128::from(complete) - i128::from(release));
            }
            (number, release_ns) = (job.job, release);
        }
    }
}

/// RFC 4648, with padding.
fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let byte = |place: usize| u32::from(group.get(place).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4u32 {
            let index = usize::try_from(bits >> (18 - 6 * place) & 0x3f).unwrap_or(0);
            let filled = usize::try_from(place).unwrap_or(0) <= group.len();
            text.push(if filled { char::from(ALPHABET[index]) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_as_in_the_rfc() {
        let texts = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("foobar", "Zm9vYmFy"),
        ];
        for (plain, coded) in texts {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
    }

    #[test]
    fn numbers_are_zigzag_codes_in_groups_of_seven_bits() {
        let bytes = |number| {
            let mut numbers = Numbers::default();
            numbers.push(number);
            numbers.bytes
        };
        assert_eq!(bytes(0), [0]);
        assert_eq!(bytes(-1), [1]);
        assert_eq!(bytes(63), [126]);
        assert_eq!(bytes(64), [0x80, 1]);
        assert_eq!(bytes(-i128::from(u64::MAX)).len(), 10);
    }
}

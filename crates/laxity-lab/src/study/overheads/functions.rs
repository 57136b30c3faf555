//! The functions of the scheduling classes, where they were timed (lelli2012, Table 6).

use super::evaluation::{EQUAL_LEAST, Point};
use super::outputs::{StudyOutputs, float};
use laxity_overheads::SampleKind;
use laxity_report::{LinesFigure, PlainTable, count};

/// Those of the paper, in its order, with their names in the table and what figures say of them.
pub(super) const FUNCTIONS: &[(SampleKind, &str, &str)] = &[
    (SampleKind::Enqueue, "enqueue", "Enqueue: a thread is put into its scheduling class's queue"),
    (SampleKind::Dequeue, "dequeue", "Dequeue: a thread is taken out of its scheduling class's queue"),
    (SampleKind::Push, "push", "Push: waiting threads are sent to other CPUs"),
    (SampleKind::Pull, "pull", "Pull: waiting threads are fetched from other CPUs"),
];

/// What was timed, in words.
pub const METHOD: &str = "Functions of the scheduling classes are timed from entry to exit: enqueue_task, dequeue_task, push and \
                          pull of SCHED_DEADLINE and SCHED_FIFO. Of sched_ext, in which laxity's own policies run, they are \
                          enqueue_task_scx and dequeue_task_scx, which contain the policy's part, and for pull balance_scx, in \
                          which the kernel asks for the next thread (before Linux 6.19); there is no push. A job that ends by \
                          sched_yield leaves its thread in the class, so that those are enqueued and dequeued less often than \
                          jobs are released. What contains a timed function, scheduling decisions above all, is longer for it.";

impl StudyOutputs<'_> {
    /// What was timed with this number of CPUs, as figures against n.
    pub(super) fn function_figures(&self, cpus: u32) -> Vec<LinesFigure> {
        let measured = FUNCTIONS.iter().filter(|(kind, ..)| self.measured(cpus, *kind));
        measured.map(|(kind, _, title)| self.figure(cpus, *kind, title)).collect()
    }

    /// With the most tasks, a row per scheduler and function; nothing if functions were not timed.
    pub(super) fn function_table(&self, cpus: u32) -> Option<PlainTable> {
        if !FUNCTIONS.iter().any(|(kind, ..)| self.measured(cpus, *kind)) {
            return None;
        }
        let most = *self.sizes(cpus).last()?;
        let there = |at: &usize| self.was_measured(cpus, *at, most);
        let rows = (0..self.schedulers.len()).filter(there).flat_map(|at| {
            FUNCTIONS.iter().map(move |&(kind, function, _)| {
                let told = match self.point(cpus, at, most, kind) {
                    None => ["-"; 4].map(String::from),
                    Some(point) => self.function(point),
                };
                [self.schedulers[at].name.clone(), function.to_owned()].into_iter().chain(told).collect()
            })
        });
        Some(PlainTable {
            caption: format!(
                "Functions of the scheduling classes (lelli2012, Table 6), {most} tasks per CPU ({}; 99 % and maximum of equally \
                 many samples; *: fewer than {EQUAL_LEAST})",
                self.unit
            ),
            columns: ["scheduler", "function", "samples", "mean", "99 %", "maximum"].map(String::from).into(),
            words: 2,
            rows: rows.collect(),
        })
    }

    fn function(&self, Point { all, equal, .. }: &Point) -> [String; 4] {
        let few = if all.number < EQUAL_LEAST { "*" } else { "" };
        [
            format!("{}{few}", count(all.number)),
            self.unit.text(all.mean),
            self.unit.text(equal.p99.map(float)),
            self.unit.text(equal.max.map(float)),
        ]
    }
}

//! What an operation of a ready queue costs: the hold model of `bpf/hold.h`, in both builds, all queues in turn.
//!
//! 1. The number of waiting jobs stays the same. An operation pops the first one and inserts the next one of the task that
//!    has been without for the longest time.
//! 2. Periods are log-uniform in 10-100 ms and deadlines implicit. A job is popped [`SLACK_NS`] before its deadline.
//! 3. What is measured is the time of many operations in a row, with the queue in the cache: differences between queues are
//!    smaller in a scheduler that does other things in between.
//! 4. Times are of this machine in this minute: processor time of the thread, so that other processes do not count, and
//!    all queues and both builds in turn, so that what disturbs one disturbs all. Ratios are what to look at.

use crate::bpf::{Programs, TASKS_MAX};
use crate::queue::{Build, QUEUES, Queue};
use crate::scenario::stream;
use laxity_model::{BudgetMode, Policy};
use laxity_policy::{Config, TaskParameters};
use rand::RngExt;
use rand_pcg::Pcg64;
use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;
use std::collections::VecDeque;

/// How long before its deadline a job is popped, in ns.
pub const SLACK_NS: u64 = 5_000_000;

/// The policy that has queue `number` of [`Queue::new`] as its ready queue.
pub const POLICY_OF_QUEUE: [Policy; QUEUES] = [Policy::EdfBh, Policy::EdfRbt, Policy::GsnEdf, Policy::Fpp];

laxity_model::listed_enum! {
    /// Which tasks the jobs are of.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Workload {
        /// Every task waits, and has a deadline of its own: as many levels as jobs for fpp.
        ManyLevels,
        /// Of 4096 tasks with a deadline of their own, some wait at a time, as in a schedule without overload.
        FewWait,
        /// Every task waits; they share ten relative deadlines.
        TenLevels,
        /// As many levels as tasks, and every tenth task is tardy: its jobs are inserted up to half of (D - slack) late.
        Tardy,
    }
}

impl Workload {
    /// In words.
    pub fn description(self) -> &'static str {
        match self {
            Workload::ManyLevels => "a relative deadline per task",
            Workload::FewWait => "4096 tasks with a relative deadline each",
            Workload::TenLevels => "ten relative deadlines",
            Workload::Tardy => "a relative deadline per task, every tenth task tardy",
        }
    }
}

/// Median and quartiles of the time of one operation, in ns.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Spread {
    /// A quarter of the samples is below.
    pub quartile_low_ns: f64,
    /// The median.
    pub median_ns: f64,
    /// A quarter of the samples is above.
    pub quartile_high_ns: f64,
}

/// One queue at one size.
#[derive(Debug, Clone, Serialize)]
pub struct Cost {
    /// The policy whose ready queue it is.
    pub policy: &'static str,
    /// The native build.
    pub native: Spread,
    /// Median over that of edf-bh.
    pub native_ratio: f64,
    /// The BPF build, where there is one.
    pub bpf: Option<Spread>,
    /// Median over that of edf-bh.
    pub bpf_ratio: Option<f64>,
}

/// All queues at one size.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// The tasks.
    pub workload: Workload,
    /// How many jobs wait.
    pub jobs: u32,
    /// Share of fpp's inserts that take step 0 (`policy/queues/promotions.h`).
    pub late_share: f64,
    /// Every queue, in the order of [`POLICY_OF_QUEUE`].
    pub costs: Vec<Cost>,
}

/// How much to measure.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Effort {
    /// Samples per queue, build and size.
    pub samples: usize,
    /// Operations of one sample.
    pub operations: u32,
}

struct Task {
    deadline_rel_ns: u64,
    first_key: u64,
    lateness_ns: u64,
}

/// A number in [0, 1).
fn unit(random: &mut Pcg64) -> f64 {
    random.random_range(0.0..1.0)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "10 to 100 ms in ns")]
fn log_uniform_period(random: &mut Pcg64) -> u64 {
    (1e7 * 10_f64.powf(unit(random))) as u64
}

fn draw(workload: Workload, jobs: u32) -> Vec<Task> {
    let mut random = stream(jobs.into());
    let n = if workload == Workload::FewWait { TASKS_MAX } else { jobs as usize };
    let shared: Vec<u64> = (0..10).map(|_| log_uniform_period(&mut random)).collect();
    (0..n)
        .map(|id| {
            let deadline_rel_ns = match workload {
                Workload::TenLevels => shared[random.random_range(0..shared.len())],
                Workload::ManyLevels | Workload::FewWait | Workload::Tardy => log_uniform_period(&mut random),
            };
            let late = workload == Workload::Tardy && id % 10 == 9;
            let waits = id < jobs as usize;
            let lateness_ns_max = (deadline_rel_ns - SLACK_NS) / 2;
            Task {
                deadline_rel_ns,
                first_key: if waits { random.random_range(1..=deadline_rel_ns) } else { 0 },
                lateness_ns: if late { random.random_range(1..=lateness_ns_max) } else { 0 },
            }
        })
        .collect()
}

fn native_queue(number: usize, tasks: &[Task]) -> Queue {
    let n = u32::try_from(tasks.len()).expect("a few thousand");
    let mut queue = Queue::new(Build::Plain, number, n, false);
    for (id, task) in (0..n).zip(tasks) {
        queue.set_task(id, task.deadline_rel_ns, 0, task.first_key, task.lateness_ns);
    }
    queue.fill();
    queue
}

fn fill_bpf(programs: &Programs, tasks: &[Task]) -> Result<(), String> {
    let config = Config {
        cpus: 1,
        fixed_priorities: false,
        budget_mode: BudgetMode::Off,
        batching: false,
        dedicated_cpu: false,
        retries_max: 1,
    };
    let parameters: Vec<TaskParameters> = tasks
        .iter()
        .map(|t| TaskParameters {
            deadline_rel_ns: t.deadline_rel_ns,
            period_ns: t.first_key,
            budget_ns: t.lateness_ns,
            priority: 0,
            batching: true,
        })
        .collect();
    programs.set_up(&config, &parameters, &[0])?;
    programs.fill()
}

fn spread(mut samples: Vec<f64>) -> Spread {
    samples.sort_by(f64::total_cmp);
    let at = |quarter: usize| samples[(samples.len() - 1) * quarter / 4];
    Spread { quartile_low_ns: at(1), median_ns: at(2), quartile_high_ns: at(3) }
}

/// Time that this thread has had a processor, in ns.
fn processor_time() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    #[expect(clippy::cast_precision_loss, reason = "far below 2^52 ns")]
    let (seconds, nanoseconds) = (time.tv_sec as f64, time.tv_nsec as f64);
    seconds * 1e9 + nanoseconds
}

fn per_operation(start: f64, operations: u32) -> f64 {
    (processor_time() - start) / f64::from(operations)
}

/// Share of inserts of the hold model that take fpp's step 0. The rig does here what hold.h does, to look at the
/// queue in between.
fn late_share(tasks: &[Task], effort: Effort) -> f64 {
    let mut queue = native_queue(QUEUES - 1, tasks);
    let mut keys: Vec<u64> = tasks.iter().map(|t| t.first_key).collect();
    let mut idle: VecDeque<u32> =
        (0..).zip(tasks).filter(|(_, t)| t.first_key == 0).map(|(id, _)| id).collect();
    let settle = 4 * u32::try_from(tasks.len()).expect("a few thousand");
    let mut late = 0_u32;
    for operation in 0..settle + effort.operations {
        let top = queue.top().expect("the number of waiting jobs stays the same");
        queue.pop(top);
        idle.push_back(top);
        let task = idle.pop_front().expect("one has just been added");
        let t = &tasks[task as usize];
        let key = keys[top as usize] + t.deadline_rel_ns - t.lateness_ns - SLACK_NS;
        keys[task as usize] = key;
        queue.set_key(task, key);
        late += u32::from(operation >= settle && queue.is_late_for_promotions(task));
        queue.insert(task);
    }
    f64::from(late) / f64::from(effort.operations)
}

/// Measures all queues with `jobs` jobs, natively and, with their programs, as BPF.
///
/// # Errors
///
/// What the kernel says; or two builds or queues that popped different jobs.
pub fn measure(
    workload: Workload,
    jobs: u32,
    programs: Option<&[Programs]>,
    effort: Effort,
) -> Result<Row, String> {
    let tasks = draw(workload, jobs);
    let settle = u32::try_from(4 * tasks.len()).expect("a few thousand").max(1000);
    let mut queues: Vec<Queue> = (0..QUEUES).map(|number| native_queue(number, &tasks)).collect();
    for programs in programs.unwrap_or_default() {
        fill_bpf(programs, &tasks)?;
    }
    let mut native = vec![Vec::new(); QUEUES];
    let mut bpf = vec![Vec::new(); QUEUES];
    // The first round is for caches and for the queues to settle; it counts no samples.
    for round in 0..=effort.samples {
        let operations = if round == 0 { settle } else { effort.operations };
        let mut orders = Vec::new();
        for number in 0..QUEUES {
            let start = processor_time();
            orders.push(queues[number].hold(operations, SLACK_NS));
            native[number].push(per_operation(start, operations));
            if let Some(programs) = programs {
                let start = processor_time();
                programs[number].hold(operations, SLACK_NS)?;
                bpf[number].push(per_operation(start, operations));
                orders.push(programs[number].hold_order()?);
            }
        }
        if orders.iter().any(|order| *order != orders[0]) {
            return Err(format!("{jobs} jobs, round {round}: not all queues have popped the same jobs"));
        }
    }
    let counted = |mut samples: Vec<f64>| spread(samples.split_off(1));
    let native: Vec<Spread> = native.into_iter().map(counted).collect();
    let bpf: Option<Vec<Spread>> = programs.map(|_| bpf.into_iter().map(counted).collect());
    let costs = (0..QUEUES)
        .map(|number| Cost {
            policy: POLICY_OF_QUEUE[number].name(),
            native: native[number],
            native_ratio: native[number].median_ns / native[0].median_ns,
            bpf: bpf.as_ref().map(|b| b[number]),
            bpf_ratio: bpf.as_ref().map(|b| b[number].median_ns / b[0].median_ns),
        })
        .collect();
    Ok(Row { workload, jobs, late_share: late_share(&tasks, effort), costs })
}

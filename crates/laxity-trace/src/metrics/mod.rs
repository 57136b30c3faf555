//! The metrics, one implementation for every producer of jobs.
//!
//! Those of lelli2012, 5.5 and Table 2, as defined there, plus tardiness, deadline satisfaction (lindsay2012,
//! 6.2.3) and response-time percentiles. Values go from jobs to tasks, from tasks to a run of a set, and from
//! runs to a scheduler. With D the relative deadline, T the period and R = finish - nominal release:
//!
//! | metric | job | task | run of a set |
//! |---|---|---|---|
//! | `normalized_laxity` | (D - R)/T | mean over jobs | mean over tasks |
//! | `measured_utilization` | CPU time/T | mean over jobs | **sum** over tasks; `..._per_core`: over m, as in Table 4 |
//! | `execution_inflation` | CPU time / work | sum of CPU times / sum of work | the same over all jobs |
//! | `migration_rate` | | migrations | migrations / number of tasks |
//! | `context_switch_rate` | | context switches | context switches / number of tasks |
//! | `l1d_`, `l2_`, `llc_miss_rate_per_us` | misses / CPU time in µs | mean over jobs | mean over tasks |
//! | `tardiness_ns` | max(0, R - D) | mean, maximum over jobs | the same over all jobs; mean of the tasks' maxima |
//! | `relative_ipc`, `llc_miss_rate` | | | [`Efficiency`]: work / CPU time, misses / accesses, over all jobs |
//! | `ipc`, `llc_miss_rate` as counted | | | [`HardwareCounts`]: instructions / cycles, misses / accesses, over all jobs |
//! | `tardiness_histogram` | class of max(0, R - D) | | jobs by class ([`TardinessHistogram`]) |
//! | `deadline_satisfaction`, `miss_ratio` | met or missed | met / jobs, missed / jobs | the same over all jobs |
//! | `response_ns` | R | percentiles over jobs | percentiles over all jobs |
//!
//! 1. The tasks are the real-time tasks of the set. Jobs of background tasks have no deadlines and count
//!    nowhere, neither do their tasks.
//! 2. A job counts once its fate is known: it completed, or it did not although its deadline lies in
//!    `[0, horizon]`, the time that the run covered ([`crate::Run::horizon`]). The latter is a miss. A job that
//!    neither completed nor had to counts nowhere but in `undecided`.
//! 3. A job that completes exactly at its deadline meets it.
//! 4. Response time, laxity, tardiness, CPU time and cache misses exist for completed jobs only. A starved task is thus
//!    better than it looks in all of them; `misses`, `unfinished` and `aborted` tell, and a note names tasks of which no job
//!    completed. A job that is aborted at its deadline (lindsay2012, 3.1.3; [`laxity_model::OnMiss`]) is a miss whose response
//!    time is not known: its abort is no completion, and would make the response times of a task the better the more of its
//!    jobs are aborted. What it used and when it stopped is in the jobs. A skipped release is no job: its cause, the late
//!    job, is the miss. `skipped` has them.
//! 5. A metric of which the machine lacks the source is `None`, and `not_measured` says why. A total
//!    (migrations, context switches) is measured if it is known for every completed job; a mean is over the
//!    jobs for which it is known; a sum over tasks (`measured_utilization`) needs every task.
//! 6. Sums are exact integers. The order of the jobs never matters. Standard deviations are sample ones
//!    ([`Sample`]).
//! 7. Jobs are taken one at a time ([`Tallies`]) and need not be kept. Percentiles of very many response times
//!    are rounded up by at most 1/128, and say so ([`ResponseTimes::approximate`]); nothing else is approximate.
//! 8. `execution_inflation` is of completed jobs whose CPU time and work are known: their demand, or what that takes with warm caches on
//!    the CPUs where a simulation that follows caches had them ([`crate::Job::work_ns`]). Where a demand is work (`--demand-model
//!    work`: accesses that took that long alone, in a warm cache), it is what preemptions, migrations and shared caches cost, and
//!    1/inflation is the ratio of instructions per cycle to those alone (lindsay2012, 6.2.1): both runs have the same
//!    instructions. Where a demand is CPU time, it is 1 but for what a job needs to see that it is done.
//! 9. Tasks in the background of a simulation have metrics of their own ([`BackgroundSummary`]), and so have simulations that follow what
//!    caches hold ([`CacheSummary`]).

mod background;
mod classes;
mod digest;
mod efficiency;
mod followed_caches;
mod hardware;
mod laxity_cdf;
mod responses;
mod run;
mod run_summary;
mod scheduler;
mod statistics;
mod table;
mod tally;
mod tardiness_histogram;

pub use background::BackgroundSummary;
pub use digest::RunDigest;
pub use efficiency::Efficiency;
pub use followed_caches::CacheSummary;
pub use hardware::{HardwareCounts, relative_ipc};
pub use laxity_cdf::{CdfPoint, Laxities, TaskSelection, thin_cdf};
pub use responses::ResponseTimes;
pub use run_summary::{ExecutionTimes, MissRates, Rates, RunSummary, Tardiness, TaskSummary, TaskTardiness};
pub use scheduler::{SUMMARY_VERSION, SchedulerSummary, SchedulerTardiness, Summary, SummaryBuilder};
pub use statistics::{Moments, Sample, mean, nearest_rank};
pub use table::{METRICS_OF_EVERY_RUN, RunMetric};
pub(crate) use tally::of_another_set;
pub use tally::{Counts, Tallies, UnknownTask};
pub use tardiness_histogram::TardinessHistogram;

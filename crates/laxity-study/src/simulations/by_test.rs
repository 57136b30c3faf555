//! Places by the test: a task goes into a cell only if the scheduler's own schedulability test proves the cell with it, hard, as if
//! scheduling cost nothing.
//!
//! 1. A cell whose CPUs differ in speed is judged by no test, and takes no task.
//! 2. A set that is placed is proven; one that is not placed may have another placement: packing is a heuristic.

use laxity_analysis::scheduler::{Analysed, Asked, Placed};
use laxity_analysis::{AnalysedCell, Guarantee, SporadicTask};
use laxity_model::{DeferrableServer, Platform, ServerSize, TaskSet};
use laxity_place::{Acceptance, Bin};

/// The test of a scheduler, asked for tasks one by one.
pub(super) struct ByTest {
    scheduler: Analysed,
    bins: Vec<Judged>,
    /// The numbers of tasks among the real-time tasks, by id.
    numbers: Vec<usize>,
}

/// A cell as the test sees it.
struct Judged {
    processors: u32,
    /// The tasks as they are at its speed; nothing if its CPUs differ.
    tasks: Option<Vec<SporadicTask>>,
    server: DeferrableServer,
}

impl ByTest {
    /// For a set, on these bins.
    pub(super) fn of(
        scheduler: Analysed,
        set: &TaskSet,
        platform: &Platform,
        bins: &[Bin],
        server: Option<ServerSize>,
    ) -> Self {
        let tasks = SporadicTask::of_set(set);
        let mut numbers = vec![0; set.tasks().len()];
        set.real_time().enumerate().for_each(|(number, (id, _))| numbers[id] = number);
        let judged = |bin: &Bin| {
            let speed = platform.one_speed(bin.cpus());
            Judged {
                processors: u32::try_from(bin.cpus().len()).unwrap_or(u32::MAX),
                tasks: speed.map(|speed| tasks.iter().map(|task| task.at_speed(speed)).collect()),
                server: server
                    .zip(speed)
                    .map_or(DeferrableServer::NONE, |(size, speed)| size.on(platform, speed)),
            }
        };
        ByTest { scheduler, bins: bins.iter().map(judged).collect(), numbers }
    }
}

impl Acceptance for ByTest {
    fn name(&self) -> String {
        format!("the test of {}", self.scheduler)
    }

    fn accepts(&self, bin: usize, tasks: &[usize]) -> bool {
        let Judged { processors, tasks: Some(all), server } = &self.bins[bin] else { return false };
        let cell = AnalysedCell {
            processors: *processors,
            tasks: tasks.iter().map(|&id| self.numbers[id]).collect(),
        };
        let placed = Placed {
            tasks: all,
            working_sets: &[],
            given_priorities: &[],
            cells: &[],
            servers: &[],
            overheads: None,
        };
        self.scheduler.judge_cell(&placed, &cell, *server, Asked::of(Guarantee::Hard)).is_schedulable()
    }
}

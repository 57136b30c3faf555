//! Places by the test: a task goes into a cell only if the scheduler's own schedulability test proves the cell with it, hard, as if
//! scheduling cost nothing.
//!
//! A set that is placed is proven; one that is not placed may have another placement: packing is a heuristic.

use laxity_analysis::Guarantee;
use laxity_analysis::scheduler::{Analysed, Asked, EmptyCell, TestedCells};
use laxity_model::{DeferrableServer, Platform, ServerSize, TaskSet};
use laxity_place::{Acceptance, Bin, Refuses};

/// The test of a scheduler, asked for tasks one by one.
pub(super) struct ByTest(TestedCells);

impl ByTest {
    /// For a set, on these bins.
    pub(super) fn of(
        scheduler: Analysed,
        set: &TaskSet,
        platform: &Platform,
        bins: &[Bin],
        server: Option<ServerSize>,
    ) -> Self {
        let cell = |bin: &Bin| {
            let speed = platform.one_speed(bin.cpus());
            let sized = server.zip(speed).map(|(size, speed)| size.on(platform, speed));
            EmptyCell {
                processors: u32::try_from(bin.cpus().len()).unwrap_or(u32::MAX),
                speed,
                server: sized.unwrap_or(DeferrableServer::NONE),
            }
        };
        let cells = bins.iter().map(cell).collect();
        ByTest(TestedCells::of(scheduler, set, cells, Asked::of(Guarantee::Hard)))
    }
}

impl Acceptance for ByTest {
    fn name(&self) -> String {
        self.0.name()
    }

    fn accepts(&self, bin: usize, tasks: &[usize]) -> bool {
        self.0.accepts(bin, tasks)
    }

    fn refuses(&self, bin: usize, tasks: &[usize]) -> Option<Refuses<'_>> {
        let refuses = self.0.refuses(bin, tasks)?;
        Some(Refuses { above_q64: refuses.above_q64, task: refuses.task })
    }
}

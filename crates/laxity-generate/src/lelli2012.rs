//! The task sets of lelli2012's experiment (5.3): a grid over utilization, number of tasks and working set.
//!
//! Every cell is generated independently, as in the paper: its seed is a function of the grid's seed and the
//! cell's coordinates alone, so that a cell's sets do not depend on which other cells are asked for.

use crate::common::Common;
use crate::emberson::{Emberson, Rescale};
use crate::stream::seed_of;
use crate::{Decimal, Generator, Request};
use laxity_model::{AccessPattern, ByteSize, Diagnostic, Duration, Result, TaskSet};

/// Name of the grid, where generators are named.
pub const GRID: &str = "lelli2012";
/// What it is, in a line.
pub const GRID_SUMMARY: &str =
    "the task sets of lelli2012's experiment: U/m .6 .7 .8 x 2m 3m 4m tasks x working sets";

/// R = U/m.
pub const UTILIZATION_RATIOS: [Decimal; 3] =
    [Decimal::from_thousandths(600), Decimal::from_thousandths(700), Decimal::from_thousandths(800)];

/// x = n/m.
pub const TASKS_PER_CORE: [u32; 3] = [2, 3, 4];

/// w: 16 KiB and 256 KiB.
pub const WORKING_SETS: [ByteSize; 2] = [ByteSize(16 << 10), ByteSize(256 << 10)];

/// Sets per cell in the paper.
pub const SETS_PER_CELL: u64 = 3;

/// Cmin.
const WCET_MIN: Duration = Duration::from_us(50);

/// One point of the grid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GridPoint {
    /// R = U/m.
    pub utilization_ratio: Decimal,
    /// x = n/m.
    pub tasks_per_core: u32,
    /// Working set of every task.
    pub wss: ByteSize,
    /// What generates the cell's sets.
    pub request: Request,
}

impl GridPoint {
    fn new(cores: u32, ratio: Decimal, tasks_per_core: u32, wss: ByteSize, seed: u64) -> Result<Self> {
        let too_many = || Diagnostic::usage(format!("{cores} CPUs are too many")).hint("ask for fewer CPUs");
        let tasks = cores.checked_mul(tasks_per_core).ok_or_else(too_many)?;
        let utilization = ratio.checked_mul(cores).ok_or_else(too_many)?;
        let rescale = Some(Rescale { cores, wcet_min: WCET_MIN });
        let generator = Generator::from(Emberson { rescale, ..Emberson::new(tasks, utilization) });
        let common = Common { wss: vec![wss], access: AccessPattern::Sequential, ..Common::default() };
        let seed = seed_of(&[seed, u64::from(cores), ratio.billionths(), u64::from(tasks_per_core), wss.0]);
        Ok(GridPoint {
            utilization_ratio: ratio,
            tasks_per_core,
            wss,
            request: Request { generator, common, seed },
        })
    }

    /// The first `count` sets of the cell, named `R0.6-x2-16KiB-0` and on.
    pub fn sets(&self, count: u64) -> Result<Vec<TaskSet>> {
        let prepared = self.request.prepare()?;
        let name =
            |index| format!("R{}-x{}-{}-{index}", self.utilization_ratio, self.tasks_per_core, self.wss);
        (0..count).map(|index| Ok(prepared.generate(index)?.renamed(name(index)))).collect()
    }
}

/// All cells for a machine with `cores` CPUs, in the order R, x, working set.
pub fn grid(cores: u32, working_sets: &[ByteSize], seed: u64) -> Result<Vec<GridPoint>> {
    let mut cells = Vec::new();
    for ratio in UTILIZATION_RATIOS {
        for tasks_per_core in TASKS_PER_CORE {
            for &wss in working_sets {
                cells.push(GridPoint::new(cores, ratio, tasks_per_core, wss, seed)?);
            }
        }
    }
    Ok(cells)
}

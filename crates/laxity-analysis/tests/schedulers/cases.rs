//! Tiny sets with placements.

use laxity_analysis::overheads::Overheads;
use laxity_analysis::scheduler::{Analysed, Placed};
use laxity_analysis::{AnalysedCell, SporadicTask};
use laxity_model::{Policy, PolicyScheduler, PriorityRule, Scheduler, Scope};

/// SplitMix64.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }

    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }
}

/// Every scheduler that can be analysed.
pub fn all() -> Vec<Analysed> {
    use PriorityRule::{DeadlineMonotonic, EarliestDeadlineFirst, Given, RateMonotonic};
    let mut all = Analysed::WITHOUT_SCHEDULER.to_vec();
    all.extend(Scheduler::ALL.map(Analysed::from));
    for &policy in Policy::GENERAL {
        for scope in [Scope::Partitioned, Scope::Clustered, Scope::Global] {
            for rule in [EarliestDeadlineFirst, RateMonotonic, DeadlineMonotonic, Given] {
                all.push(PolicyScheduler { policy, scope, rule }.into());
            }
        }
    }
    all
}

/// A set and where its tasks are.
#[derive(Debug, Clone)]
pub struct Case {
    #[expect(dead_code, reason = "shown where something fails")]
    pub seed: u64,
    pub tasks: Vec<SporadicTask>,
    pub cells: Vec<AnalysedCell>,
}

/// Priorities as given to tasks by their numbers, some of them equal.
pub const GIVEN: [u32; 16] = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3];

impl Case {
    /// Cells as a scope has them, with one processor more where one is dedicated.
    pub fn of(seed: u64, scope: Scope, dedicates: bool) -> Case {
        let mut random = Random(seed);
        let processors = random.between(1, 4);
        let count = random.between(1, 2 + 2 * processors);
        let deadlines = random.below(4);
        let tasks: Vec<_> = (0..count).map(|_| task(&mut random, deadlines)).collect();
        let dedicated = u32::from(dedicates);
        let mut cells: Vec<AnalysedCell> = match scope {
            Scope::Global => vec![u32::try_from(processors).expect("small")],
            Scope::Partitioned => vec![1; usize::try_from(processors).expect("small")],
            Scope::Clustered => vec![2, 1],
        }
        .into_iter()
        .map(|processors: u32| AnalysedCell { processors: processors + dedicated, tasks: Vec::new() })
        .collect();
        for number in 0..tasks.len() {
            let cell = usize::try_from(random.below(cells.len() as u64)).expect("small");
            // In any order within a cell.
            let at = usize::try_from(random.below(cells[cell].tasks.len() as u64 + 1)).expect("small");
            cells[cell].tasks.insert(at, number);
        }
        Case { seed, tasks, cells }
    }

    pub fn placed<'a>(&'a self, overheads: Option<&'a Overheads>) -> Placed<'a> {
        Placed {
            tasks: &self.tasks,
            working_sets: &[],
            given_priorities: &GIVEN[..self.tasks.len()],
            cells: &self.cells,
            servers: &[],
            overheads,
        }
    }
}

fn task(random: &mut Random, deadlines: u64) -> SporadicTask {
    let period = random.between(1, 12);
    let deadline = match deadlines {
        0 => period,
        1 | 2 => random.between(1, period),
        _ => random.between(1, 2 * period),
    };
    let most = random.between(1, deadline.min(period));
    SporadicTask::constrained(random.between(1, most), deadline, period)
}

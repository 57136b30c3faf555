//! Which cells have one worker process between them, and how its threads get to theirs.
//!
//! The tasks of a group are threads of one process (lindsay2012, 3.1.6), wherever they are placed. Cells over which a group is
//! spread have one process therefore, and so have those that other groups connect with them. All other cells have one each.

use crate::cpuset::Home;
use crate::messages::{Entry, OrderedTask};
use crate::plan::Plan;
use laxity_model::CpuList;
use std::path::Path;

/// The cells of each process, in their order.
pub(super) fn crews(plan: &Plan) -> Vec<Vec<usize>> {
    let mut crew_of: Vec<usize> = (0..plan.cells.len()).collect();
    // Where the first member of each group was found.
    let mut first_in: Vec<Option<usize>> = vec![None; plan.regions.len()];
    for (number, cell) in plan.cells.iter().enumerate() {
        for part in cell.tasks.iter().filter_map(|&at| plan.tasks[at].shared) {
            let first = *first_in[part.region].get_or_insert(number);
            let (kept, other) = (crew_of[first], crew_of[number]);
            crew_of.iter_mut().filter(|crew| **crew == other).for_each(|crew| *crew = kept);
        }
    }
    let of = |crew: usize| (0..crew_of.len()).filter(|&cell| crew_of[cell] == crew).collect::<Vec<_>>();
    (0..crew_of.len()).map(of).filter(|cells| !cells.is_empty()).collect()
}

/// A process for each cell, whatever groups there are.
pub(super) fn one_each(plan: &Plan) -> Vec<Vec<usize>> {
    (0..plan.cells.len()).map(|cell| vec![cell]).collect()
}

/// Cells with one process.
pub(super) struct Crew {
    /// The cells, and their homes if they are cpusets.
    cells: Vec<(usize, Option<Home>)>,
}

/// Crews whose cells have these homes, cell by cell.
pub(super) fn with_homes(crews: &[Vec<usize>], homes: &[Home]) -> Vec<Crew> {
    let of = |crew: &Vec<usize>| crew.iter().map(|&cell| (cell, Some(homes[cell].clone()))).collect();
    crews.iter().map(|crew| Crew { cells: of(crew) }).collect()
}

/// Crews without cpusets.
pub(super) fn anywhere(crews: &[Vec<usize>]) -> Vec<Crew> {
    let of = |crew: &Vec<usize>| crew.iter().map(|&cell| (cell, None)).collect();
    crews.iter().map(|crew| Crew { cells: of(crew) }).collect()
}

impl Crew {
    /// The cgroup of its process, if it has one of its own.
    pub(super) fn process_home(&self) -> Option<&Path> {
        self.cells.first().and_then(|(_, home)| home.as_ref()).map(|home| home.of_process.as_path())
    }

    /// All its CPUs.
    pub(super) fn cpus(&self, plan: &Plan) -> CpuList {
        self.cells.iter().flat_map(|&(cell, _)| plan.cells[cell].cpus.iter()).collect()
    }

    /// Its tasks, and how their threads get to their cells.
    pub(super) fn tasks(&self, plan: &Plan) -> Vec<OrderedTask> {
        let mut tasks = Vec::new();
        for (number, home) in &self.cells {
            let cell = &plan.cells[*number];
            let entry = match home {
                Some(home) => home.of_thread.clone().map(Entry::Cgroup),
                None => (self.cells.len() > 1).then(|| Entry::Cpus(cell.cpus.clone())),
            };
            tasks.extend(cell.tasks.iter().map(|&position| OrderedTask {
                position,
                task: plan.tasks[position].clone(),
                entry: entry.clone(),
            }));
        }
        tasks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::KernelLimits;
    use crate::plan::{PlanOptions, plan};
    use crate::sharing::SharedPart;
    use laxity_model::{Cell, CpuList, Duration, OnMiss, Scheduler, Task, TaskSet};
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    /// A plan with a task per pair of cell and group, if it is in one.
    fn planned(cells: usize, regions: usize, tasks: &[(usize, Option<usize>)]) -> Plan {
        let task = |at: usize| Task::periodic(format!("t{at}"), Duration::from_us(1), Duration::from_ms(10));
        let set = TaskSet::new("set", (0..tasks.len()).map(task).collect()).expect("valid");
        let cell = |number: usize| {
            Cell::new(
                [u32::try_from(number).expect("few")].into_iter().collect(),
                (0..tasks.len()).filter(|&at| tasks[at].0 == number).collect(),
            )
        };
        let options = PlanOptions {
            duration: Duration::from_secs(1),
            grace: None,
            on_miss: OnMiss::Continue,
            busy: 0,
            budget_margin: "0%".parse().expect("a margin"),
            seed: 0,
        };
        let cells: Vec<Cell> = (0..cells).map(cell).collect();
        let scheduler: Scheduler = "p-rm".parse().expect("a scheduler");
        let machine = CpuList::first(64);
        let mut plan =
            plan(&set, scheduler, &cells, &machine, KernelLimits::default(), options).expect("a plan");
        plan.regions = vec![0; regions];
        for task in &mut plan.tasks {
            task.shared = tasks[task.id].1.map(|region| SharedPart { region, bytes: 0, link: 0, seed: 0 });
        }
        plan
    }

    /// Against a walk from cell to cell by way of groups.
    #[test]
    fn cells_have_one_process_if_groups_lead_from_one_to_the_other() {
        let mut joined = 0;
        for seed in 0..3_000 {
            let mut rng = Pcg64::seed_from_u64(seed);
            let (cells, regions) = (rng.random_range(1..7_usize), rng.random_range(0..5_usize));
            // Every cell has a task, so that each is in the plan.
            let tasks: Vec<(usize, Option<usize>)> = (0..cells + rng.random_range(0..6))
                .map(|at| {
                    let region = (regions > 0 && rng.random_bool(0.5)).then(|| rng.random_range(0..regions));
                    (if at < cells { at } else { rng.random_range(0..cells) }, region)
                })
                .collect();
            let neighbours = |a: usize, b: usize| {
                let in_cell =
                    |cell| tasks.iter().filter(move |task| task.0 == cell).filter_map(|task| task.1);
                in_cell(a).any(|region| in_cell(b).any(|other| other == region))
            };
            let crews = crews(&planned(cells, regions, &tasks));
            for start in 0..cells {
                let mut reached = vec![start];
                let mut at = 0;
                while at < reached.len() {
                    let from = reached[at];
                    reached.extend(
                        (0..cells)
                            .filter(|to| neighbours(from, *to))
                            .filter(|to| !reached.contains(to))
                            .collect::<Vec<_>>(),
                    );
                    at += 1;
                }
                reached.sort_unstable();
                let own: Vec<_> = crews.iter().filter(|crew| crew.contains(&start)).collect();
                assert_eq!(own, [&reached], "seed {seed}, cell {start}: {tasks:?}");
                joined += usize::from(reached.len() > 1);
            }
        }
        assert!(joined > 1_000, "{joined}");
    }

    #[test]
    fn without_groups_every_cell_has_its_own_and_no_thread_goes_anywhere() {
        let plan = planned(3, 0, &[(0, None), (1, None), (2, None), (1, None)]);
        assert_eq!(crews(&plan), one_each(&plan));
        for crew in anywhere(&crews(&plan)) {
            assert!(crew.process_home().is_none());
            assert!(crew.tasks(&plan).iter().all(|task| task.entry.is_none()));
        }
    }

    #[test]
    fn threads_of_a_process_with_several_cells_go_to_their_own() {
        let plan = planned(3, 1, &[(0, Some(0)), (1, None), (2, Some(0)), (2, None)]);
        assert_eq!(crews(&plan), [vec![0, 2], vec![1]]);
        let entries = |crew: &Crew| -> Vec<Option<Entry>> {
            crew.tasks(&plan).into_iter().map(|task| task.entry).collect()
        };
        let by_mask = anywhere(&crews(&plan));
        let mask = |cell: usize| Some(Entry::Cpus(plan.cells[cell].cpus.clone()));
        assert_eq!(
            by_mask.iter().map(entries).collect::<Vec<_>>(),
            [vec![mask(0), mask(2), mask(2)], vec![None]]
        );
        assert_eq!(by_mask[0].cpus(&plan), [0, 2].into_iter().collect());
        let home = |process: &str, file: Option<&str>| Home {
            of_process: process.into(),
            of_thread: file.map(std::path::PathBuf::from),
        };
        let homes = [home("/base", None), home("/base/1", None), home("/base", Some("/base/2/tasks"))];
        let by_cgroup = with_homes(&crews(&plan), &homes);
        let there = Some(Entry::Cgroup("/base/2/tasks".into()));
        assert_eq!(
            by_cgroup.iter().map(entries).collect::<Vec<_>>(),
            [vec![None, there.clone(), there], vec![None]]
        );
        let of_process: Vec<_> = by_cgroup.iter().filter_map(Crew::process_home).collect();
        assert_eq!(of_process, [Path::new("/base"), Path::new("/base/1")]);
    }
}

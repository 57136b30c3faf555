//! The trials of a study of kernels as studies that are run: one for each number of CPUs, whose curves are the schedulers and whose axis
//! is the number of tasks.
//!
//! 1. Sets are those of ackelman2018, 6.2 (after Brandenburg and Anderson): periods uniform in [10 ms, 100 ms], utilizations uniform
//!    in [0.001, 0.1], n tasks per CPU; no working sets.
//! 2. Where the total is above the cap, all WCETs are scaled down to it, so that every scheduler admits the set, one that
//!    dedicates a CPU among them. What scheduling costs depends on how many tasks there are and how often they come, not on how
//!    long they run.

use super::contender::Contender;
use super::real::{Runnable, Slot};
use super::sweep::{Kind, Sweep, Where};
use super::trial::{RunOfStudy, Trial, can_be_run};
use laxity_generate::Decimal;
use laxity_model::{Platform, Result};
use laxity_study::{Point, Study, WorkUnit};
use serde_json::json;
use std::path::{Path, PathBuf};

/// The file of a study of one number of CPUs.
pub(super) const STUDY_FILE: &str = "kernels.json";
/// The most tasks of a set.
const TASKS_MOST: u32 = 4_096;

/// The study of one number of CPUs.
#[derive(Debug)]
pub struct StudyOfCpus {
    /// m.
    pub cpus: u32,
    /// Its file.
    pub text: String,
    /// What is run.
    pub study: Study,
    /// Where its runs are kept.
    pub directory: PathBuf,
}

/// A study of kernels: the studies of its numbers of CPUs, and all trials in their order.
#[derive(Debug)]
pub struct Grid {
    /// Ascending by the number of CPUs; none for a number of which no scheduler can be run.
    pub studies: Vec<StudyOfCpus>,
    /// One scheduler after the other for each number of CPUs that was asked for.
    pub trials: Vec<Trial>,
}

impl Sweep {
    fn cpus(&self) -> Result<Vec<u32>> {
        Ok(match (&self.cpu_counts, self.place) {
            (Some(numbers), _) => numbers.clone(),
            (None, Where::Counted) if self.kind != Kind::Schedules => vec![1],
            (None, Where::Machines | Where::Counted) => vec![2],
            (None, Where::Here) => {
                vec![u32::try_from(Platform::this_machine()?.core_count()).unwrap_or(u32::MAX)]
            }
        })
    }

    /// The trials, and the studies that they are of.
    ///
    /// # Errors
    ///
    /// This machine cannot be read; a scheduler that no study takes.
    pub fn grid(&self) -> Result<Grid> {
        Grid::of(self, &self.cpus()?)
    }
}

impl Grid {
    /// Where no number of CPUs was asked for, a scheduler that dedicates one has two.
    ///
    /// # Errors
    ///
    /// A scheduler that no study takes; sets that cannot be drawn.
    fn of(sweep: &Sweep, cpu_counts: &[u32]) -> Result<Grid> {
        let default = sweep.cpu_counts.is_none();
        let mut wanted: Vec<(u32, &Contender)> = Vec::new();
        for &cpus in cpu_counts {
            let more = |scheduler: &Contender| default && !can_be_run(scheduler, cpus);
            wanted.extend(sweep.schedulers.iter().map(|one| (if more(one) { 2 } else { cpus }, one)));
        }
        let mut all_cpus: Vec<u32> = wanted.iter().map(|(cpus, _)| *cpus).collect();
        all_cpus.sort_unstable();
        all_cpus.dedup();
        let mut studies = Vec::new();
        for cpus in all_cpus {
            let of = wanted.iter().filter(|(own, one)| *own == cpus && can_be_run(one, cpus));
            let curves: Vec<&Contender> = of.map(|(_, one)| *one).collect();
            let sizes = sweep.tasks_per_cpu.iter().map(|n| n * cpus);
            let values: Vec<u32> = sizes.filter(|&tasks| tasks <= TASKS_MOST).collect();
            if !curves.is_empty() && !values.is_empty() {
                studies.push(StudyOfCpus::of(sweep, cpus, &curves, &values)?);
            }
        }
        let mut trials = Vec::new();
        for (cpus, scheduler) in wanted {
            let study = studies.iter().find(|study| study.cpus == cpus);
            for &tasks_per_cpu in &sweep.tasks_per_cpu {
                for set in 0..sweep.sets {
                    let run = study.and_then(|study| study.run(scheduler, tasks_per_cpu, set));
                    trials.push(Trial { scheduler: scheduler.clone(), cpus, tasks_per_cpu, set, run });
                }
            }
        }
        Ok(Grid { studies, trials })
    }

    /// The study of a trial.
    pub(super) fn study_of(&self, trial: &Trial) -> Option<&StudyOfCpus> {
        self.studies.iter().find(|study| study.cpus == trial.cpus)
    }
}

impl StudyOfCpus {
    fn of(sweep: &Sweep, cpus: u32, curves: &[&Contender], values: &[u32]) -> Result<StudyOfCpus> {
        // The same for all schedulers, so that all have the same sets.
        let usable = cpus.saturating_sub(1).max(1);
        let most = Decimal::from_thousandths(usable * sweep.cap.0);
        let name = format!("{}-m{cpus}", sweep.kind.name());
        let text = json!({
            "version": 1,
            "kind": "simulation",
            "name": name,
            "title": format!("laxity study {} with m = {cpus}", sweep.kind.name()),
            "seed": sweep.seed,
            "sets": sweep.sets,
            "duration": sweep.duration.to_string(),
            "platform": { "processors": cpus },
            "axis": { "of": "tasks", "values": values },
            "generator": {
                "name": "unc",
                "utilizations": "uni-light",
                "periods": "uni-moderate",
                "rescale-above": most.to_string(),
            },
            "curves": curves.iter().map(|one| one.curve()).collect::<Vec<_>>(),
        });
        let text = format!("{text:#}\n");
        let study = Study::from_text(&text, &name, Path::new(""))?.for_real(None, sweep.kind.recorded())?;
        Ok(StudyOfCpus { cpus, text, study, directory: sweep.directory.join(format!("m{cpus}")) })
    }

    /// What is run of it.
    pub fn runnable(&self) -> Runnable<'_> {
        Runnable::of(&self.study).expect("it is by simulation")
    }

    fn run(&self, scheduler: &Contender, tasks_per_cpu: u32, set: u32) -> Option<RunOfStudy> {
        let runnable = self.runnable();
        let curve = runnable.simulations.curves.iter().position(|curve| curve.name == scheduler.name)?;
        let point = Point { family: 0, value: (tasks_per_cpu * self.cpus).into() };
        if !runnable.outline.axis.is_on_grid(point.value) {
            return None;
        }
        let slot = Slot { point, index: set.into(), curve, repetition: 0 };
        Some(RunOfStudy {
            unit: WorkUnit { point, series: curve..curve + 1, sets: slot.index..slot.index + 1 },
            folder: runnable.run_directory(slot, &self.directory),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::{Batching, Cap, Machines, State};
    use laxity_model::{Duration, Task};
    use laxity_study::NEVER;
    use laxity_vm::KernelChoice;

    fn grid(names: &[&str], batching: Batching, cpu_counts: Option<&[u32]>) -> Grid {
        let schedulers: Vec<_> = names.iter().map(|name| name.parse().expect("a scheduler")).collect();
        let sweep = Sweep {
            schedulers: Contender::each(&schedulers, batching),
            batching,
            cpu_counts: cpu_counts.map(<[u32]>::to_vec),
            tasks_per_cpu: vec![2, 20],
            sets: 4,
            duration: Duration::from_ms(100),
            seed: u64::MAX,
            cap: Cap(300),
            kind: Kind::Schedules,
            place: Where::Here,
            quiet_machine: false,
            machines: Machines {
                program: "/nonexistent".into(),
                kernel: KernelChoice::File("/nonexistent".into()),
                memory_mib: 512,
                deterministic: false,
                quiet: true,
            },
            directory: "study".into(),
        };
        Grid::of(&sweep, cpu_counts.unwrap_or(&[1])).expect("a grid")
    }

    fn tasks(study: &StudyOfCpus, run: &RunOfStudy) -> Vec<Task> {
        let sampler = study.study.sampler(run.unit.point, &NEVER).expect("prepares");
        sampler.tasks(run.unit.sets.start).expect("a set")
    }

    #[test]
    fn sets_are_those_of_the_paper_up_to_the_cap_and_the_same_for_every_scheduler() {
        let grid = grid(&["edf-bh", "g-edf", "g-edf-mp"], Batching::Both, Some(&[1, 2, 4]));
        let ppm = |task: &Task| task.wcet.as_ns() * 1_000_000 / task.period().as_ns();
        let mut sets = std::collections::BTreeMap::new();
        for trial in &grid.trials {
            let Some(run) = &trial.run else {
                assert_eq!((trial.cpus, &trial.scheduler.name[..8]), (1, "g-edf-mp"));
                continue;
            };
            let set = tasks(grid.study_of(trial).expect("each has one"), run);
            assert_eq!(set.len(), usize::try_from(trial.tasks()).expect("few"));
            // One that dedicates a CPU has one less. WCETs that are kept from getting shorter than the least add a little.
            let most = u64::from(trial.cpus.saturating_sub(1).max(1)) * 300_000 + 20_000;
            let total: u64 = set.iter().map(ppm).sum();
            assert!(total <= most, "{trial} {total} ppm");
            for task in &set {
                let period = task.period();
                assert!(period >= Duration::from_ms(10) && period <= Duration::from_ms(100), "{period}");
                assert!(ppm(task) <= 100_000, "{}", ppm(task));
            }
            let same =
                sets.entry((trial.cpus, trial.tasks_per_cpu, trial.set)).or_insert_with(|| set.clone());
            assert!(*same == set, "{trial}");
        }
        let of_four: Vec<_> = sets.iter().filter(|((cpus, n, _), _)| (*cpus, *n) == (4, 20)).collect();
        assert!(of_four.windows(2).all(|two| two[0].1 != two[1].1), "sets of a size differ");
    }

    #[test]
    fn one_that_dedicates_a_cpu_has_two_where_none_was_asked_for() {
        let grid = grid(&["g-edf-mp", "fpp"], Batching::On, None);
        let cpus: Vec<u32> = grid.studies.iter().map(|study| study.cpus).collect();
        assert_eq!((cpus, grid.trials.len()), (vec![1, 2], 16));
        assert!(grid.trials.iter().all(|trial| trial.run.is_some()));
        let first = grid.trials[0].run.as_ref().expect("a run");
        assert_eq!(first.folder, Path::new("study/m2/runs/1-4-0/g-edf-mp-1"));
        let batching = grid.studies[0].study.description()["curves"][0]["batching"].clone();
        assert_eq!(batching, true);
    }

    #[test]
    fn what_is_more_than_a_set_takes_is_left_out_and_says_so() {
        let grid = grid(&["g-edf"], Batching::Off, Some(&[300]));
        let said = |trial: &Trial| match trial.state() {
            State::NotMeasured(why) => why,
            other => format!("{other:?}"),
        };
        let said: Vec<String> = grid.trials.iter().map(said).collect();
        assert!(said[..4].iter().all(|state| state == "Open"), "{said:?}");
        assert!(said[4..].iter().all(|why| why.contains("6000 tasks")), "{said:?}");
    }
}

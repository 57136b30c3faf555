//! What `analyze` says below servers, against the admission of the same CPUs.

use super::answer::{SchedulerAnswer, VerdictAnswer, VerdictName};
use super::{Settings, prove};
use crate::case::{CaseSettings, Cases, PlacementSettings, Purpose};
use crate::placing::{BelowServers, FitAnswer, SLOWEST_FIT};
use laxity_analysis::admission::{Admission, Entrant, judge_core};
use laxity_analysis::scheduler::Analysed;
use laxity_analysis::{Bounds, DoubleHit, SporadicTask, Work};
use laxity_model::{Core, Duration, Platform, Policy, ServerChoice, ServerSizes, Speed, Task, TaskSet};
use laxity_place::{Fitting, Overload};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

/// C, T and by how much D is shorter, in ns; cut to what a task can be.
type Drawn = (u64, u64, u64);

fn set_of(tasks: &[Drawn]) -> TaskSet {
    let ns = Duration::from_ns;
    let task = |(id, &(wcet, period, shorter)): (usize, &Drawn)| {
        let deadline = period.saturating_sub(shorter).max(1);
        let task = Task::periodic(id.to_string(), ns(wcet.min(deadline)), ns(period));
        Task { deadline_rel: ns(deadline), ..task }
    };
    TaskSet::new("drawn", tasks.iter().enumerate().map(task).collect()).expect("valid")
}

static NEVER: AtomicBool = AtomicBool::new(false);

fn analysed(set: &TaskSet, platform: &Platform, servers: &ServerSizes) -> SchedulerAnswer {
    let settings = CaseSettings::placed(PlacementSettings {
        fit: Fitting::Test,
        overload: Overload::LeastLoaded,
        below: BelowServers { servers: servers.clone(), ..BelowServers::default() },
        ..PlacementSettings::by_load(SLOWEST_FIT, platform.clone())
    });
    let scheduler = Analysed::from(Policy::SINGLE[0]);
    let (sets, schedulers) = (std::slice::from_ref(set), std::slice::from_ref(&scheduler));
    let cases = Cases::of(sets, schedulers, &settings, Purpose::Proof, &NEVER).expect("valid");
    prove(&cases, &Settings::default(), |_, _| ()).expect("threads").remove(0)
}

fn entrant(set: &TaskSet, id: usize) -> Entrant {
    let task = SporadicTask::from(&set.tasks()[id]);
    Entrant { id: id as u64, task, tardiness_max: None, affinity: None }
}

/// Where all tasks go one after the other, if they may.
fn entered(set: &TaskSet, mut admission: Admission) -> Option<BTreeMap<String, Vec<usize>>> {
    let mut cores: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for id in 0..set.tasks().len() {
        let cpu = admission.enter(entrant(set, id)).ok()?;
        cores.entry(cpu.to_string()).or_default().push(id);
    }
    Some(cores)
}

fn cells(answer: &SchedulerAnswer) -> BTreeMap<String, Vec<usize>> {
    let ids = |names: &Vec<String>| names.iter().map(|name| name.parse().expect("a number")).collect();
    answer.cells.iter().map(|cell| (cell.cpus.clone(), ids(&cell.tasks))).collect()
}

/// What admission proves of the cells of an answer, by the ids of tasks; nothing if it would refuse one.
fn admitted(
    set: &TaskSet,
    platform: &Platform,
    servers: &ServerSizes,
    answer: &SchedulerAnswer,
    double_hit: DoubleHit,
) -> Option<Vec<u64>> {
    let mut all = vec![0; set.tasks().len()];
    for core in platform.cores() {
        let server = servers.on(platform, core.cpu);
        let ids = cells(answer).remove(&core.cpu.to_string()).unwrap_or_default();
        let tasks: Vec<_> = ids.iter().map(|&id| entrant(set, id)).collect();
        match judge_core(core.speed, (server, Duration::ZERO), &tasks, double_hit, Work::default()).ok()? {
            Bounds::ResponseTimes(bounds) | Bounds::Tardiness(bounds) => {
                ids.into_iter().zip(bounds).for_each(|(id, bound)| all[id] = bound);
            }
            Bounds::None => {}
        }
    }
    Some(all)
}

fn bounds(verdict: &VerdictAnswer) -> Option<Vec<u64>> {
    let proven = verdict.verdict == VerdictName::Schedulable;
    proven.then(|| verdict.bounds.iter().flat_map(|all| all.tasks.iter().map(|bound| bound.ns)).collect())
}

/// Budget, period, whether it is of the slowest CPU's time, and which CPU it is for, if not for all.
fn choice((budget, period, scaled, only): (u64, u64, bool, Option<u32>), cores: usize) -> ServerChoice {
    let scale = if scaled { "@slowest" } else { "" };
    let only = only.filter(|&cpu| (cpu as usize) < cores).map_or(String::new(), |cpu| format!("{cpu}="));
    let text = format!("{only}{}ns{scale}/{period}ns", budget.min(period));
    text.parse().expect("a size")
}

laxity_seeds::properties! {
    #![cases(3000)]

    #[test]
    fn verdicts_and_places_are_those_of_admission(
        speeds in prop::collection::vec((1u32..5, 1u32..4), 1..4),
        mut sizes in prop::collection::vec((1u64..10, 2u64..30, any::<bool>(), prop::option::of(0u32..3)), 1..4),
        tasks in prop::collection::vec((1u64..14, 4u64..40, 0u64..6), 1..8),
    ) {
        let core = |(cpu, &(above, below)): (u32, &(u32, u32))| {
            Core { cpu, speed: Speed::new(above, below).expect("positive") }
        };
        let cores = (0..).zip(&speeds).map(core).collect();
        let platform = Platform::new("drawn", cores, vec![], vec![], None).expect("valid");
        // Every core has one: of others more is known than what Theorem 1 says.
        sizes[0].3 = None;
        let servers: ServerSizes = sizes.iter().map(|size| choice(*size, platform.core_count())).collect::<Vec<_>>().into();
        let set = set_of(&tasks);
        let answer = analysed(&set, &platform, &servers);
        let entered = |double_hit| entered(&set, Admission::new(&platform, |core| servers.on(&platform, core.cpu), double_hit));
        if answer.placement.is_none() {
            // No core is fast enough for some task.
            prop_assert_eq!((bounds(&answer.hard), bounds(&answer.soft)), (None, None));
            prop_assert_eq!(entered(DoubleHit::Ignored), None);
            return Ok(());
        }
        let of = |double_hit| admitted(&set, &platform, &servers, &answer, double_hit);
        let (hard, soft) = (of(DoubleHit::Counted), of(DoubleHit::Ignored));
        // In whatever places: the same verdict, and the same bounds.
        prop_assert_eq!(bounds(&answer.hard), hard.clone());
        prop_assert_eq!(answer.soft.verdict == VerdictName::Schedulable, soft.is_some());
        if let (None, Some(most), Some(said)) = (hard, soft, bounds(&answer.soft)) {
            // Theorem 1, but where no deadline of a core is missed.
            prop_assert!(said.iter().zip(&most).all(|(said, most)| said == most || *said == 0));
            prop_assert!(said.iter().any(|&said| said > 0));
        }
        // One cell has nothing to place. With more, the places are those of tasks that enter one after the other.
        if platform.core_count() > 1 {
            prop_assert_eq!(answer.fit, Some(FitAnswer::Admission));
            // Refused tasks are put somewhere, too: overload is asked for.
            let places = entered(DoubleHit::Ignored);
            prop_assert!(places.is_none_or(|places| places == cells(&answer)));
        }
    }
}

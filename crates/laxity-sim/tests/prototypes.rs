//! Prototypes: what one chooses is what runs, at the instants at which it was asked, and oracles judge it as they judge other policies.

mod common;

use common::{Case, GRACE_NS, definition_on, timeline};
use laxity_model::{
    BudgetMode, Cell, Core, Demand, Diagnostic, Duration, Interference, OnMiss, Platform, Policy,
    PolicyScheduler, PriorityRule, Result, Scope, TaskSet,
};
use laxity_oracle::{Oracle, TimelineBuilder, Verdict, first_difference, reference, verify};
use laxity_policy::{Choice, PendingJob, Prototype};
use laxity_sim::{Prototypes, Recording, Setup, simulate};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

/// Chooses by (now, jobs, how many CPUs, what is known besides).
type Choose = fn(u64, &[PendingJob], usize, &mut Known) -> Choice;

#[derive(Default)]
struct Known {
    wcets_ns: Vec<u64>,
    /// When the laxity of a job ran out, by task and release.
    promoted: BTreeMap<(u32, u64), u64>,
}

struct Function {
    choose: Choose,
    known: Known,
    asked_at: Arc<Mutex<Vec<u64>>>,
}

impl Prototype for Function {
    fn choose(&mut self, now: u64, jobs: &[PendingJob], cpus: &[u32]) -> Result<Choice> {
        self.asked_at.lock().expect("one thread").push(now);
        Ok((self.choose)(now, jobs, cpus.len(), &mut self.known))
    }
}

/// The prototypes of one function, and when they are asked.
fn prototypes(scheduler: PolicyScheduler, choose: Choose) -> (Prototypes, Arc<Mutex<Vec<u64>>>) {
    let asked_at = Arc::new(Mutex::new(Vec::new()));
    let mut all = Prototypes::default();
    let asked = Arc::clone(&asked_at);
    let begin = move |set: &TaskSet, cell: &Cell| {
        let wcets_ns = cell.tasks.iter().map(|&task| set.tasks()[task].wcet.as_ns()).collect();
        Ok(Box::new(Function {
            choose,
            known: Known { wcets_ns, ..Known::default() },
            asked_at: Arc::clone(&asked),
        }) as Box<dyn Prototype>)
    };
    all.add(scheduler.policy.prototype().expect("a prototype"), Arc::new(begin)).expect("the only one");
    (all, asked_at)
}

fn named(name: &str) -> PolicyScheduler {
    name.parse().expect("a name")
}

fn first_by(mut jobs: Vec<PendingJob>, cpus: usize, key: impl Fn(&PendingJob) -> (bool, u64)) -> Choice {
    jobs.sort_by_key(|job| (key(job), job.task));
    Choice { run: jobs.iter().take(cpus).map(|job| (job.task, None)).collect(), again_at_ns: None }
}

fn edf(_: u64, jobs: &[PendingJob], cpus: usize, _: &mut Known) -> Choice {
    first_by(jobs.to_vec(), cpus, |job| (false, job.deadline_abs_ns))
}

/// EDF that is asked every 700 ns besides.
fn restless(now: u64, jobs: &[PendingJob], cpus: usize, known: &mut Known) -> Choice {
    Choice { again_at_ns: (!jobs.is_empty()).then_some(now + 700), ..edf(now, jobs, cpus, known) }
}

/// EDF, but jobs without laxity go first.
fn zero_laxity(now: u64, jobs: &[PendingJob], cpus: usize, known: &mut Known) -> Choice {
    let wcets_ns = known.wcets_ns.clone();
    let runs_out_at = |job: &PendingJob| {
        let left = wcets_ns[job.task as usize].saturating_sub(job.used_ns);
        job.deadline_abs_ns.saturating_sub(left)
    };
    for job in jobs.iter().filter(|job| job.cpu.is_none() && runs_out_at(job) <= now) {
        known.promoted.entry((job.task, job.release_ns)).or_insert(runs_out_at(job));
    }
    let key = |job: &PendingJob| match known.promoted.get(&(job.task, job.release_ns)) {
        Some(&at) => (false, at),
        None => (true, job.deadline_abs_ns),
    };
    let choice = first_by(jobs.to_vec(), cpus, key);
    let waits = |job: &&PendingJob| choice.run.iter().all(|&(task, _)| task != job.task);
    let next = jobs.iter().filter(waits).map(runs_out_at).filter(|&at| at > now).min();
    Choice { again_at_ns: next, ..choice }
}

fn latest_first(_: u64, jobs: &[PendingJob], cpus: usize, _: &mut Known) -> Choice {
    first_by(jobs.to_vec(), cpus, |job| (false, u64::MAX - job.deadline_abs_ns))
}

fn lazy(now: u64, jobs: &[PendingJob], cpus: usize, known: &mut Known) -> Choice {
    edf(now, jobs, cpus.saturating_sub(1), known)
}

fn simulated(
    case: &Case,
    scheduler: PolicyScheduler,
    choose: Choose,
    (platform, interference): (&Platform, &[Interference]),
) -> (Recording, Verdict) {
    let (all, asked_at) = prototypes(scheduler, choose);
    let setup = Setup {
        duration: case.duration,
        grace: Duration::from_ns(GRACE_NS),
        seed: case.seed,
        demand: case.demand,
        on_miss: case.on_miss,
        batching: case.batching,
        prototypes: &all,
        interference,
        ..Setup::new(&case.set, platform, scheduler, case.cells(scheduler.scope, platform))
    };
    let mut recording = Recording::default();
    simulate(&setup, &mut recording, &AtomicBool::new(false)).expect("a valid setup");
    if scheduler.scope == Scope::Global {
        let asked = asked_at.lock().expect("one thread");
        // A job that aborts as soon as it begins ends in the same instant.
        let once = |one: &u64, next: &u64| one < next || case.on_miss == OnMiss::Abort && one == next;
        assert!(asked.is_sorted_by(once), "seed {}: once an instant: {asked:?}", case.seed);
    }
    let definition = definition_on(case, scheduler, platform).with_interference(interference.to_vec());
    let verdict = verify(&definition, &recording.events, case.duration.as_ns() + GRACE_NS);
    (recording, verdict)
}

fn symmetric(case: &Case) -> Platform {
    Platform::symmetric(case.cores).expect("CPUs")
}

#[test]
fn edf_as_a_prototype_is_edf() {
    for seed in laxity_seeds::seeds!(0..700) {
        let mut case = Case::random(seed);
        case.on_miss =
            [OnMiss::Continue, OnMiss::Skip, OnMiss::Abort][usize::try_from(seed % 3).expect("small")];
        for name in ["prototype:x:edf", "c-prototype:x:edf", "p-prototype:x:edf"] {
            let scheduler = named(name);
            let platform = symmetric(&case);
            for choose in [edf, restless] {
                let (recording, verdict) = simulated(&case, scheduler, choose, (&platform, &[]));
                assert!(verdict.clean, "seed {seed}, {name}: {verdict}\n{}", case.describe());
                let definition = definition_on(&case, scheduler, &platform);
                let horizon = case.duration.as_ns() + GRACE_NS;
                let expected = reference(&definition, &definition.jobs(), horizon).expect("a schedule");
                let found = TimelineBuilder::of(&recording.events, horizon).expect("well-formed");
                let difference = first_difference(&expected.timeline, &found);
                assert!(difference.is_none(), "seed {seed}, {name}: {difference:?}\n{}", case.describe());
            }
        }
    }
}

#[test]
fn what_jobs_have_used_is_known_to_the_ns() {
    let edzl = PolicyScheduler {
        policy: Policy::Edzl,
        scope: Scope::Global,
        rule: PriorityRule::EarliestDeadlineFirst,
    };
    let mut differs_from_edf = 0;
    for seed in laxity_seeds::seeds!(0..1000) {
        let mut case = Case::random(seed);
        case.demand = Demand::Wcet;
        let platform = symmetric(&case);
        let (ours, verdict) = simulated(&case, named("prototype:x"), zero_laxity, (&platform, &[]));
        assert!(verdict.clean, "seed {seed}: {verdict}\n{}", case.describe());
        let theirs = case.simulate(edzl, case.cores);
        assert_eq!(timeline(&ours.events), timeline(&theirs.events), "seed {seed}\n{}", case.describe());
        let edf = case.simulate(named("edf-bh"), case.cores);
        differs_from_edf += u32::from(timeline(&edf.events) != timeline(&ours.events));
    }
    assert!(differs_from_edf > 0 || !laxity_seeds::are_usual(), "laxities never mattered");
}

#[test]
fn also_where_cpus_are_slower_or_taken_away() {
    for seed in laxity_seeds::seeds!(0..400) {
        let case = Case::random(seed);
        let speeds = ["1", "1/2", "3/4", "2", "1/3", "1"];
        let cores = (0..case.cores).zip(speeds);
        let cores = cores.map(|(cpu, speed)| Core { cpu, speed: speed.parse().expect("a speed") });
        let mixed = Platform::new("mixed", cores.collect(), Vec::new(), Vec::new(), None).expect("valid");
        let at = Duration::from_ns(1000 + seed % 7 * 1000);
        let taken = Interference::new(0, at, Duration::from_ns(13_500), None).expect("valid");
        for platform in [&mixed, &symmetric(&case)] {
            for name in ["prototype:x:edf", "p-prototype:x"] {
                let (_, verdict) = simulated(&case, named(name), edf, (platform, &[taken]));
                assert!(verdict.clean, "seed {seed}, {name}: {verdict}\n{}", case.describe());
            }
        }
    }
}

#[test]
fn an_order_that_is_claimed_and_not_kept_is_found() {
    let mut found: BTreeMap<Oracle, u32> = BTreeMap::new();
    for seed in 0..60 {
        let mut case = Case::random(seed);
        case.cores = case.cores.min(3);
        for choose in [latest_first as Choose, lazy] {
            let platform = symmetric(&case);
            let (_, verdict) = simulated(&case, named("prototype:x:edf"), choose, (&platform, &[]));
            for violation in &verdict.violations {
                *found.entry(violation.oracle).or_default() += 1;
            }
            let (_, verdict) = simulated(&case, named("prototype:x"), choose, (&platform, &[]));
            assert!(verdict.clean, "seed {seed}, no order claimed: {verdict}\n{}", case.describe());
        }
    }
    assert!(found[&Oracle::GlobalInvariant] > 20 && found[&Oracle::WorkConservation] > 20, "{found:?}");
}

/// What is said of a choice that is none.
fn failure(choose: Choose) -> Diagnostic {
    let case = Case::plain();
    let platform = Platform::symmetric(2).expect("CPUs");
    let scheduler = named("prototype:x");
    let (all, _) = prototypes(scheduler, choose);
    let setup = Setup {
        prototypes: &all,
        ..Setup::new(&case.set, &platform, scheduler, case.cells(Scope::Global, &platform))
    };
    simulate(&setup, &mut Recording::default(), &AtomicBool::new(false)).expect_err("no choice")
}

#[test]
fn a_choice_that_is_none_ends_the_simulation() {
    let wrong: [(Choose, &str); 4] = [
        (|_, _, _, _| Choice { run: vec![(0, Some(7))], again_at_ns: None }, "task `T1` was put on CPU 7"),
        (
            |_, _, _, _| Choice { run: vec![(0, None), (0, None)], again_at_ns: None },
            "task `T1` was chosen twice",
        ),
        (|now, _, _, _| Choice { run: vec![], again_at_ns: Some(now) }, "to be asked again at 0 ns"),
        (
            |_, _, _, _| Choice { run: vec![(3, None)], again_at_ns: None },
            "task 3 was chosen, of which no job",
        ),
    ];
    for (choose, why) in wrong {
        let error = failure(choose);
        assert!(error.message.contains(why) && error.message.contains("at 0"), "{}", error.message);
    }
}

#[test]
fn what_is_not_simulated_is_refused() {
    let case = Case::plain();
    let platform = Platform::symmetric(1).expect("a CPU");
    let scheduler = named("prototype:x");
    let (all, _) = prototypes(scheduler, edf);
    let refused = |change: &dyn Fn(&mut Setup<'_>)| {
        let cells = case.cells(Scope::Global, &platform);
        let mut setup = Setup { prototypes: &all, ..Setup::new(&case.set, &platform, scheduler, cells) };
        setup.check().expect("nothing is wrong yet");
        change(&mut setup);
        setup.check().expect_err("refused").message
    };
    assert!(refused(&|setup| setup.budget_mode = BudgetMode::Throttle).contains("beside budgets"));
    assert!(refused(&|setup| setup.interleaving = Some(1)).contains("costs of the kernel"));
    assert!(refused(&|setup| setup.at_ticks = true).contains("ticks"));
    assert!(refused(&|setup| setup.scheduler = named("prototype:y")).contains('y'));
    let none = Prototypes::NONE;
    let nothing = Setup::new(&case.set, &platform, scheduler, case.cells(Scope::Global, &platform));
    let unknown = Setup { prototypes: &none, ..nothing }.check().expect_err("not known");
    assert!(unknown.message.contains("no prototype is known here"), "{}", unknown.message);
}

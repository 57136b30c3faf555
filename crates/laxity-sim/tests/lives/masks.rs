//! Several CPUs without admission, background tasks that may run on some of them only: they do, no CPU idles
//! while one waits that may run there, and the verifier sees a task that runs elsewhere.

use super::by_definition::with_reserve;
use super::world::{Own, World};
use laxity_oracle::Oracle;
use laxity_seeds::seeds;
use laxity_sim::{Recording, What};
use laxity_trace::{Event, EventKind};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// An affinity, for most.
pub fn some_cores(rng: &mut Pcg64, cores: usize) -> Option<Vec<u32>> {
    let chosen: Vec<u32> = (0..).take(cores).filter(|_| rng.random_range(0..2) == 0).collect();
    Some(chosen).filter(|chosen| !chosen.is_empty())
}

fn may_run(world: &World, task: u32, cpu: u32) -> bool {
    world.own(task as usize).cores.is_none_or(|cores| cores.contains(&cpu))
}

/// How often jobs of background tasks begin where they may not run.
pub fn strays(world: &World, events: &[Event]) -> usize {
    let begins = events.iter().filter(|event| event.kind == EventKind::BackgroundStart);
    let jobs = begins.filter_map(|event| Some((event.task?, event.cpu?)));
    jobs.filter(|&(task, cpu)| !may_run(world, task, cpu)).count()
}

fn world_of(rng: &mut Pcg64) -> World {
    let cores = rng.random_range(2..=4);
    let own: Vec<Own> = (0..rng.random_range(2..=8))
        .map(|_| Own {
            phase: [0, rng.random_range(0..20)][rng.random_range(0..2)],
            leave: None,
            cores: some_cores(rng, cores),
        })
        .collect();
    let core_of = |rng: &mut Pcg64, task: usize| match &own[task].cores {
        Some(own) => own[rng.random_range(0..own.len())],
        None => u32::try_from(rng.random_range(0..cores)).expect("few"),
    };
    let mut tasks = Vec::new();
    let mut changes = Vec::new();
    for task in 0..own.len() {
        let period = rng.random_range(3..=16);
        let core = core_of(rng, task);
        let first = [None, None, Some(core)][rng.random_range(0..3)];
        tasks.push((rng.random_range(1..=period), period, first));
        for _ in 0..rng.random_range(0..4) {
            let what = match rng.random_range(0..2) {
                0 => What::Demote { task },
                _ => What::Promote { task, cpu: Some(core_of(rng, task)) },
            };
            changes.push((rng.random_range(1..80), what));
        }
    }
    changes.sort_by_key(|&(at, _)| at);
    World {
        speeds: (0..cores).map(|_| (rng.random_range(1..=3), rng.random_range(1..=2))).collect(),
        servers: (0..cores).map(|_| [(0, 0), (1, 4)][rng.random_range(0..2)]).collect(),
        busy: rng.random_range(0..2),
        tasks,
        own,
        changes,
        length: 80,
        grace: 40,
        ..World::default()
    }
}

/// The instant at whose end a CPU idles although a waiting background job may run there, and that job's task; none
/// if there is none.
fn idles_beside(world: &World, recording: &Recording) -> Option<(u64, u32)> {
    use EventKind::*;
    let mut on_cpu = vec![None; world.speeds.len()];
    let mut ordinary: Vec<bool> = world.tasks.iter().map(|task| task.2.is_none()).collect();
    let mut events = recording.events.iter().peekable();
    while let Some(event) = events.next() {
        match (event.kind, event.cpu, event.task) {
            (Start | Resume | Migrate | BackgroundStart, Some(cpu), task) => {
                on_cpu[cpu as usize] = Some(task)
            }
            (Preempt | Complete | BackgroundStop, Some(cpu), _) => on_cpu[cpu as usize] = None,
            (Promote, _, Some(task)) => ordinary[task as usize] = false,
            (Demote, _, Some(task)) => ordinary[task as usize] = true,
            _ => {}
        }
        let now = event.time_ns;
        if events.peek().is_some_and(|next| next.time_ns == now) {
            continue;
        }
        let ready = |job: &&laxity_trace::Job| {
            job.release_ns <= now && job.finish_ns.is_none_or(|finish| finish > now)
        };
        for job in recording.jobs.iter().filter(|job| ordinary[job.task as usize]).filter(ready) {
            let waits = !on_cpu.contains(&Some(Some(job.task)));
            let mut idle = (0..).zip(&on_cpu).filter(|(_, on)| on.is_none());
            if waits && idle.any(|(cpu, _)| may_run(world, job.task, cpu)) {
                return Some((now, job.task));
            }
        }
    }
    None
}

#[test]
fn ordinary_tasks_stay_within_their_affinities() {
    let (mut elsewhere, mut matter) = (0, 0);
    for seed in seeds!(0..3000) {
        let again = format!("LAXITY_SEEDS={seed}..{}", seed + 1);
        let world = with_reserve(world_of(&mut Pcg64::seed_from_u64(seed)), seed);
        let seen = world.simulate();
        assert_eq!(strays(&world, &seen.recording.events), 0, "{again}: {world:?}");
        assert_eq!(idles_beside(&world, &seen.recording), None, "{again}: {world:?}");
        let verdict = world.verify(&seen.recording, 0);
        assert!(verdict.clean, "{again}: {world:?}\n{verdict}");
        // The same without affinities is wrong where one would have mattered, and nowhere else.
        let free = World {
            own: world.own.iter().map(|own| Own { cores: None, ..own.clone() }).collect(),
            ..world.clone()
        };
        let seen_free = free.simulate();
        let strays = strays(&world, &seen_free.recording.events);
        let verdict = world.verify(&seen_free.recording, 0);
        let found = verdict.findings.iter().find(|finding| finding.oracle == Oracle::Affinity);
        let found = found.map_or(0, |finding| finding.violations);
        assert_eq!(found, strays as u64, "{again}: {world:?}\n{verdict}");
        elsewhere += u32::from(strays > 0);
        matter += u32::from(World::finishes(&seen_free.recording) != World::finishes(&seen.recording));
    }
    println!("{elsewhere} worlds without affinities are wrong, {matter} are other ones");
    assert!(!laxity_seeds::are_usual() || (elsewhere > 1000 && matter > 1000));
}

use super::*;
use laxity_model::WorkingSet;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// A thread that does its jobs one after the other, each as long as drawn, and skips as it is told to, against the rule
/// taken literally.
#[test]
fn what_passes_while_a_job_is_late_is_skipped_and_nothing_else() {
    let mut skipped = 0;
    for seed in 0..2_000 {
        let mut rng = Pcg64::seed_from_u64(seed);
        let (period, deadline_rel) = (rng.random_range(1..20), rng.random_range(1..60));
        let shared = Shared::create(&[12], &[]).expect("memory");
        let slots = shared.jobs_of(0);
        for (slot, index) in slots.iter().zip(0_u64..) {
            slot.release_ns.store(index * period, Relaxed);
            slot.deadline_ns.store(index * period + deadline_rel, Relaxed);
        }
        let mut now = 0;
        for (index, slot) in slots.iter().enumerate() {
            if slot.end.load(Relaxed) == job_end::SKIPPED {
                continue;
            }
            now = slot.release_ns.load(Relaxed).max(now) + rng.random_range(1..40);
            slot.finish_ns.store(now, Relaxed);
            slot.end.store(job_end::COMPLETED, Relaxed);
            skip_after(OnMiss::Skip, slot, &slots[index + 1..]);
        }
        for (index, slot) in slots.iter().enumerate() {
            let release = slot.release_ns.load(Relaxed);
            let late = |earlier: &Slot| {
                earlier.end.load(Relaxed) == job_end::COMPLETED
                    && (earlier.deadline_ns.load(Relaxed)..earlier.finish_ns.load(Relaxed)).contains(&release)
            };
            let passed = slots[..index].iter().any(late);
            let is_skipped = slot.end.load(Relaxed) == job_end::SKIPPED;
            assert_eq!(is_skipped, passed, "seed {seed}, job {index}");
            skipped += u32::from(is_skipped);
        }
    }
    assert!(skipped > 1_000, "{skipped}");
}

/// Longer than a test may take.
const HOUR_NS: u64 = 3_600_000_000_000;

/// Memory of one task, whose jobs are released at once: (deadline, CPU time to use), in ns.
fn jobs(of: &[(u64, u64)]) -> Shared {
    let shared = Shared::create(&[of.len()], &[]).expect("memory");
    for (slot, &(deadline_ns, demand_ns)) in shared.jobs_of(0).iter().zip(of) {
        slot.release_ns.store(0, Relaxed);
        slot.deadline_ns.store(deadline_ns, Relaxed);
        slot.demand_ns.store(demand_ns, Relaxed);
    }
    shared
}

/// Has a thread execute the jobs, while `meanwhile` looks on.
fn executed(shared: &Shared, on_miss: OnMiss, meanwhile: impl FnOnce()) {
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let walk = Walk::new(&WorkingSet::default(), 0).expect("memory");
            let body = TaskBody::new(shared, 0, walk, Pacing::Sleep, on_miss);
            body.expect("a timer").run(monotonic_ns());
        });
        meanwhile();
    });
}

fn wait_until(condition: impl Fn() -> bool) {
    let give_up = monotonic_ns() + 60_000_000_000;
    while !condition() {
        assert!(monotonic_ns() < give_up, "not within a minute");
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

/// Any process with the memory can stop a job, long before its deadline: that one, and no other.
#[test]
fn a_job_that_is_told_to_stop_from_outside_is_aborted() {
    for on_miss in OnMiss::ALL {
        let shared = jobs(&[(HOUR_NS, HOUR_NS), (HOUR_NS, 0), (HOUR_NS, HOUR_NS)]);
        let theirs = Shared::open(shared.fd().try_clone_to_owned().expect("descriptor")).expect("mapping");
        let entry = &theirs.tasks()[0];
        executed(&shared, on_miss, || {
            wait_until(|| entry.started.load(Acquire) == 1);
            for other in [2, 3] {
                entry.abort.store(other, Relaxed);
                std::thread::sleep(std::time::Duration::from_millis(5));
                assert_eq!(entry.finished.load(Acquire), 0, "job {other} is not this one");
            }
            entry.abort.store(1, Relaxed);
            // The next job is done at once, and the last one does not take the word for its own.
            wait_until(|| entry.started.load(Acquire) == 3);
            std::thread::sleep(std::time::Duration::from_millis(5));
            assert_eq!(entry.finished.load(Acquire), 2);
            entry.abort.store(3, Relaxed);
        });
        let ends: Vec<u64> = theirs.jobs_of(0).iter().map(|slot| slot.end.load(Relaxed)).collect();
        assert_eq!(ends, [job_end::ABORTED, job_end::COMPLETED, job_end::ABORTED], "{on_miss}");
        assert!(theirs.jobs_of(0).iter().all(|slot| slot.finish_ns.load(Relaxed) < HOUR_NS));
        assert_eq!(entry.missed.load(Relaxed), 2, "a job that was aborted is a miss");
    }
}

/// Some jobs are endless, some are done in time; under other rules than abort a late one is done, too.
#[test]
fn what_is_not_done_at_its_deadline_is_aborted_and_nothing_else() {
    const GAP_NS: u64 = 2_000_000;
    let orders: Vec<(u64, u64)> =
        (1..30).map(|at| (at * GAP_NS, if at % 3 == 0 { 0 } else { HOUR_NS })).collect();
    let shared = jobs(&orders);
    executed(&shared, OnMiss::Abort, || {});
    for (slot, (deadline_ns, demand_ns)) in shared.jobs_of(0).iter().zip(&orders) {
        let (end, finish_ns) = (slot.end.load(Relaxed), slot.finish_ns.load(Relaxed));
        // On a host with much to do, one without work may come after its deadline, too.
        match end {
            job_end::COMPLETED => assert_eq!(*demand_ns, 0),
            _ => assert!(end == job_end::ABORTED && finish_ns >= *deadline_ns, "{end} {finish_ns}"),
        }
        assert!(slot.cpu_time_ns.load(Relaxed) <= finish_ns, "CPU time of this job alone");
    }
    let late = jobs(&[(1, GAP_NS)]);
    executed(&late, OnMiss::Continue, || {});
    let slot = &late.jobs_of(0)[0];
    assert_eq!(slot.end.load(Relaxed), job_end::COMPLETED);
    assert!(slot.cpu_time_ns.load(Relaxed) >= GAP_NS);
}

/// Its work is done before it comes to a safe point, and its deadline has passed before that.
#[test]
fn what_is_done_only_after_its_deadline_is_aborted_however_soon() {
    let shared = jobs(&[(1, 1); 50]);
    executed(&shared, OnMiss::Abort, || {});
    for slot in shared.jobs_of(0) {
        assert_eq!(slot.end.load(Relaxed), job_end::ABORTED);
    }
}

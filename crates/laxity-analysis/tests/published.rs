//! Examples that others have published, with what they say of them. Each names where it stands; none is laxity's own.
//!
//! - Prosa: classic/implementation/global/basic/bertogna_fp_example.v and bertogna_edf_example.v (PROSA-Project/prosa), where Coq
//!   computes the tests of Bertogna and Cirinei (RTSS 2007) and proves them.
//! - Linux: Documentation/scheduler/sched-deadline.rst, sections 3.1 to 3.3.
//! - SchedCAT's test-suite: tests/edf.py and tests/fp.py (brandenburg/schedcat).
//! - RealTimeScheduling.jl: docs/src/responsetime.md and test/responsetime.jl (Ratfink/RealTimeScheduling.jl).
//!
//! Of these no published example was at hand, and the papers' own could not be looked up: BAK (Baker 2003), BCL (Bertogna, Cirinei,
//! Lipari 2005), BCL-iterative (2009), FF-DBF (Baruah et al. 2010), LOAD (Baker, Baruah 2009), LA (Liu, Anderson 2013), G-FL (Erickson,
//! Anderson 2012), EDZL (Cirinei, Baker 2007), and overhead accounting (Brandenburg 2011). (`fp-rta`, `fp-tda` and `fp-tardiness` have
//! Lehoczky's of 1990 beside their code, PD2 has the windows of Anderson and Srinivasan in `pfair/`.)

use laxity_analysis::{Bounds, SporadicTask, Verdict, Work, catalogue};

/// The verdict on tasks (C, D, T).
fn judge(test: &str, tasks: &[(u64, u64, u64)], processors: u32) -> Verdict {
    let of = |&(wcet, deadline, period): &_| SporadicTask::constrained(wcet, deadline, period);
    let tasks: Vec<_> = tasks.iter().map(of).collect();
    let test = catalogue::test(test).unwrap_or_else(|| panic!("{test} is no test"));
    test.judge(&tasks, processors, &mut Work::default())
}

fn accepts(test: &str, tasks: &[(u64, u64, u64)], processors: u32) -> bool {
    judge(test, tasks, processors).is_schedulable()
}

fn responses(bounds: &[u64]) -> Verdict {
    Verdict::Schedulable(Bounds::ResponseTimes(bounds.to_vec()))
}

fn tardiness(bounds: &[u64]) -> Verdict {
    Verdict::Schedulable(Bounds::Tardiness(bounds.to_vec()))
}

fn implicit<const N: usize>(tasks: [(u64, u64); N]) -> [(u64, u64, u64); N] {
    tasks.map(|(wcet, period)| (wcet, period, period))
}

const GLOBAL_EDF: [&str; 10] =
    ["gfb", "bak", "bar", "bcl", "bcl-iterative", "rta", "ff-dbf", "load", "la", "gedf"];

/// Prosa: three tasks on two processors. Under rate-monotonic priorities the bounds are 2, 4 and 5; under EDF the test accepts.
#[test]
fn prosa_on_bertogna_and_cirinei() {
    let tasks = [(2, 3, 5), (4, 5, 6), (3, 11, 12)];
    assert_eq!(judge("gfp-rta", &tasks, 2), responses(&[2, 4, 5]));
    assert!(accepts("rta", &tasks, 2));
}

/// Linux, 3.2: EDF schedules two tasks on one processor whose densities are 50/50 + 10/100 = 1.1.
#[test]
fn linux_on_density() {
    let tasks = [(50, 50, 100), (10, 100, 100)];
    assert!(accepts("qpa", &tasks, 1));
    assert!(!accepts("density", &tasks, 1));
}

/// Linux, 3.3: Dhall's effect, with P = 100 and e = 1. The first task misses on any number of processors, so no test may accept.
#[test]
fn linux_on_dhalls_effect() {
    for processors in [2, 3, 4, 8] {
        let mut tasks = vec![(100, 100, 100)];
        tasks.resize(usize::try_from(processors).expect("small") + 1, (1, 99, 99));
        for test in GLOBAL_EDF {
            assert!(!accepts(test, &tasks, processors), "{test} on {processors}");
        }
        // EDZL sees that the heavy task has no laxity.
        assert!(accepts("edzl", &tasks, processors), "{processors}");
        // 3.1: U is far below M, so tardiness is bounded.
        assert!(accepts("devi-anderson", &tasks, processors), "{processors}");
    }
}

/// Linux, 3.1: tardiness is at most ((M - 1) C_max - C_min) / (M - (M - 2) U_max) + C_max. The bound of Devi and Anderson that
/// laxity computes is the finer one of the same paper.
#[test]
fn linux_on_tardiness() {
    let sets = [
        implicit([(80, 100), (33, 66), (7, 10)]),
        implicit([(2, 3), (2, 3), (2, 3)]),
        implicit([(9, 10), (5, 10), (1, 4)]),
        implicit([(100, 100), (1, 99), (1, 99)]),
    ];
    for tasks in sets {
        let Verdict::Schedulable(Bounds::Tardiness(bounds)) = judge("devi-anderson", &tasks, 2) else {
            panic!("{tasks:?} on 2")
        };
        // M = 2: the utilization falls out.
        let most = tasks.iter().map(|task| task.0).max().expect("tasks");
        let least = tasks.iter().map(|task| task.0).min().expect("tasks");
        let coarse = (most - least).div_ceil(2) + most;
        assert!(bounds.iter().all(|&bound| bound <= coarse), "{tasks:?}: {bounds:?}, {coarse}");
    }
}

/// SchedCAT, tests/edf.py, Test_QPA.
#[test]
fn schedcat_on_qpa() {
    let mut tasks = vec![
        (6000, 18000, 31000),
        (2000, 9000, 9800),
        (1000, 12000, 17000),
        (90, 3000, 4200),
        (8, 78, 96),
        (2, 16, 12),
        (10, 120, 280),
        (26, 160, 660),
    ];
    assert!(accepts("qpa", &tasks, 1));
    tasks.push((10, 15, 100));
    assert!(!accepts("qpa", &tasks, 1));
    assert!(!accepts("qpa", &[(331, 2688, 15000), (3654, 3849, 77000)], 1));
    let five = [
        (331, 2688, 15000),
        (413, 1061, 34000),
        (3654, 3849, 77000),
        (349, 20189, 70000),
        (1113, 10683, 83000),
    ];
    assert!(!accepts("qpa", &five, 1));
}

/// SchedCAT, tests/edf.py, Test_bar and DA.
#[test]
fn schedcat_on_bar_and_on_bounded_tardiness() {
    let mut tasks = vec![(10, 100, 100), (33, 200, 200), (10, 100, 300)];
    assert!(accepts("bar", &tasks, 1));
    tasks.push((27, 28, 28));
    assert!(!accepts("bar", &tasks, 1));
    assert!(accepts("bar", &tasks, 2));
    let heavy = implicit([(80, 100), (33, 66), (7, 10)]);
    assert!(accepts("devi-anderson", &heavy, 2));
    assert!(!accepts("devi-anderson", &heavy, 1));
}

/// SchedCAT, tests/fp.py, UniprocessorRTA and MultiprocessorRTA (Guan et al.).
#[test]
fn schedcat_on_fixed_priorities() {
    let one = implicit([(1, 4), (1, 5), (3, 9), (3, 18)]);
    assert_eq!(judge("fp-rta", &one, 1), responses(&[1, 2, 7, 18]));
    assert!(accepts("fp-tda", &one, 1));
    let several = implicit([(1, 4), (1, 5), (3, 9), (9, 18)]);
    assert_eq!(judge("gfp-guan", &several, 2), responses(&[1, 1, 4, 15]));
    assert_eq!(judge("gfp-guan", &several, 3), responses(&[1, 1, 3, 12]));
    assert!(!accepts("gfp-guan", &several, 1));
}

/// RealTimeScheduling.jl, Devi and Anderson 2008, and Erickson's compliant vectors.
#[test]
fn real_time_scheduling_jl_on_tardiness() {
    let thirds = implicit([(2, 3), (2, 3), (2, 3)]);
    let uneven = implicit([(2, 3), (2, 3), (4, 6)]);
    assert_eq!(judge("devi-anderson", &thirds, 2), tardiness(&[2, 2, 2]));
    assert_eq!(judge("devi-anderson", &uneven, 2), tardiness(&[3, 3, 5]));
    assert_eq!(judge("compliant-vector", &thirds, 2), tardiness(&[2, 2, 2]));
    assert_eq!(judge("compliant-vector", &uneven, 2), tardiness(&[3, 3, 4]));
    // On three: 2 2/3 and 4 2/3, rounded up to whole ns.
    assert_eq!(judge("devi-anderson", &uneven, 3), tardiness(&[3, 3, 5]));
    // They have 2 2/3, 2 2/3 and 4 there: laxity counts priority points from the least one, which takes from the bounds.
    assert_eq!(judge("compliant-vector", &uneven, 3), tardiness(&[2, 2, 3]));
}

use super::*;
use crate::{Taken, Verdict};
use laxity_model::Utilization;
use proptest::prelude::*;

const US: u64 = 1_000;

fn microseconds(us: u64) -> Monotone {
    Monotone::constant(us * US)
}

/// In us: tck 10 every 100, ev 4, rel 20, sch 3, cxs 2, ipi 4, req 7, dsp 9; D(64) = 8, D(32) = 6.
fn overheads() -> Overheads {
    [
        (Overhead::Tick, 10),
        (Overhead::ReleaseLatency, 4),
        (Overhead::Release, 20),
        (Overhead::Schedule, 3),
        (Overhead::ContextSwitch, 2),
        (Overhead::IpiLatency, 4),
        (Overhead::RequestLatency, 7),
        (Overhead::DspHandler, 9),
    ]
    .into_iter()
    .fold(Overheads::none(), |overheads, (kind, us)| overheads.with(kind, microseconds(us)))
    .with_cache(vec![Monotone::through([(32, 6 * US), (64, 8 * US)]).expect("valid")])
    .with_tick_period(100 * US)
}

/// C 40 and 60 us every 400 us, with working sets of 64 and 32 bytes: cpd is D(32) = 6 and D(64) = 8 us.
fn tasks() -> Vec<SporadicTask> {
    [40, 60].map(|wcet| SporadicTask::implicit(wcet * US, 400 * US)).into()
}

const WORKING_SETS: [u64; 2] = [64, 32];

fn wcets(inflated: &Inflated) -> Vec<u64> {
    inflated.tasks.iter().map(|task| task.wcet_ns).collect()
}

fn job_level(processors: u32, interrupts: Interrupts) -> Inflated {
    JobLevel { processors, interrupts }.inflate(&overheads(), &tasks(), &WORKING_SETS).expect("room")
}

#[test]
fn shared_interrupts_by_hand() {
    // u = 10/100 + 2 (20/400) = 0.2; s = 0.8; c_pre = (10 + 2 20 + 4 0.2)/0.8 = 63.5.
    // C' = (40 + 2 (3 + 2) + 6)/0.8 + 2 63.5 + 4 = 70 + 127 + 4 = 201; (60 + 10 + 8)/0.8 + 131 = 228.5.
    let inflated = job_level(4, Interrupts::Shared);
    assert_eq!(wcets(&inflated), [201_000, 228_500]);
    assert!(inflated.tasks.iter().all(|task| task.period_ns == 396_000 && task.deadline_rel_ns == 396_000));
    let eaten = |wcet| Eaten { wcet_ns: wcet, deadline_rel_ns: 4_000, period_ns: 4_000, jitter_ns: 0 };
    assert_eq!((inflated.eaten, inflated.interrupts), (vec![eaten(161_000), eaten(168_500)], 0));
    // One processor interrupts no other: 4 us less.
    assert_eq!(wcets(&job_level(1, Interrupts::Shared)), [197_000, 224_500]);
}

#[test]
fn dedicated_interrupts_by_hand() {
    // u = 10/100; s = 0.9; c_pre = (10 + 4 0.1)/0.9 = 11.55...; X = 4 + 20.
    // C' = 56/0.9 + 23.11... + 24 = 109.33...; 78/0.9 + 47.11... = 133.77..., rounded up to ns.
    let inflated = job_level(4, Interrupts::Dedicated);
    assert_eq!(wcets(&inflated), [109_334, 133_778]);
    assert_eq!(inflated.tasks[1].deadline_rel_ns, 396_000);
}

#[test]
fn message_passing_by_hand() {
    // cerqueira2014, Appendix B: (40 + 3 (3 + 2) + 6)/0.9 + 2 11.55... + 7 + 9 + 2 4 + 20 = 67.77... + 23.11... + 44
    // = 134.88...; (60 + 15 + 8)/0.9 + 67.11... = 159.33...
    let inflated = MessagePassing.inflate(&overheads(), &tasks(), &WORKING_SETS).expect("room");
    assert_eq!(wcets(&inflated), [134_889, 159_334]);
    assert!(inflated.tasks.iter().all(|task| task.period_ns == 396_000 && task.deadline_rel_ns == 396_000));
}

#[test]
fn kernel_threads_by_hand() {
    // 50 us of every 1000: u = 0.05, and two budgets in a row at each of two preemptions. C' = (40 + 2 2 50)/0.95 = 252.63... and
    // (60 + 200)/0.95 = 273.68..., rounded up to ns.
    let threads = Taken { runtime_ns: 50 * US, period_ns: 1_000 * US };
    let overheads = Overheads::none().with_kernel_threads(threads);
    for processors in [1, 4] {
        let level = JobLevel { processors, interrupts: Interrupts::Shared };
        let inflated = level.inflate(&overheads, &tasks(), &WORKING_SETS).expect("room");
        assert_eq!(wcets(&inflated), [252_632, 273_685]);
    }
    let messages = MessagePassing.inflate(&overheads, &tasks(), &WORKING_SETS).expect("room");
    assert_eq!(wcets(&messages), [252_632, 273_685]);
    // On one processor with fixed priorities they are a task above all, which can have two budgets in a row.
    let fixed = FixedPriority { interrupts: Interrupts::Shared };
    let inflated = fixed.inflate(&overheads, &tasks(), &WORKING_SETS).expect("room");
    let above = SporadicTask { jitter_ns: 950 * US, ..SporadicTask::implicit(50 * US, 1_000 * US) };
    assert_eq!((inflated.interrupts, inflated.tasks[0], &inflated.tasks[1..]), (1, above, &tasks()[..]));
    // With nothing else they have all of the processor, or nothing.
    let with = |runtime| {
        let overheads =
            Overheads::none().with_kernel_threads(Taken { runtime_ns: runtime, period_ns: 1_000 * US });
        JobLevel { processors: 4, interrupts: Interrupts::Shared }.inflate(
            &overheads,
            &tasks(),
            &WORKING_SETS,
        )
    };
    assert_eq!(with(0).expect("room").tasks, tasks());
    assert_eq!(with(1_000 * US), Err(Rejected::all(RejectedWhy::InterruptOverload)));
}

#[test]
fn displacements_by_hand() {
    // One displacement: 2 (3 + 2) + 6 + 4 = 20 and 10 + 8 + 4 = 22; m times that: 80 and 88 us.
    // EDF: one release of the other each, as floor(80/400) = 0. C' = 40 + 20 + 20 and 60 + 22 + 22.
    // By tasks: the second by floor((400 + 88)/400) + 1 = 2 of the first.
    let overheads = [(Overhead::Schedule, 3), (Overhead::ContextSwitch, 2), (Overhead::IpiLatency, 4)]
        .into_iter()
        .fold(Overheads::none(), |overheads, (kind, us)| overheads.with(kind, microseconds(us)))
        .with_cache(vec![Monotone::through([(32, 6 * US), (64, 8 * US)]).expect("valid")]);
    let deadlines = [400 * US; 2];
    let of = |order, displacements| {
        let overheads = overheads.clone().with_displacements(displacements);
        let accounting = PushPull { processors: 4, order, deadlines: &deadlines };
        wcets(&accounting.inflate(&overheads, &tasks(), &WORKING_SETS).expect("room"))
    };
    assert_eq!(of(Order::Deadlines, Displacements::Counted), [80_000, 104_000]);
    assert_eq!(of(Order::Tasks, Displacements::Counted), [60_000, 126_000]);
    assert_eq!(of(Order::Tasks, Displacements::Ignored), [60_000, 82_000]);
    // The second by one more from the deadline on at which 711 + 88 us reach from one arrival of the first to the next but one.
    let deadlines = [400 * US, 711 * US];
    let inflated = PushPull { processors: 4, order: Order::Deadlines, deadlines: &deadlines };
    let inflated = inflated.inflate(&overheads, &tasks(), &WORKING_SETS).expect("room");
    assert_eq!(wcets(&inflated), [60_000, 104_000], "floor(399/400) + 1 = 1; the first never by the second");
    let deadlines = [400 * US, 712 * US];
    let inflated = PushPull { processors: 4, order: Order::Deadlines, deadlines: &deadlines };
    let inflated = inflated.inflate(&overheads, &tasks(), &WORKING_SETS).expect("room");
    assert_eq!(wcets(&inflated), [60_000, 126_000], "floor(400/400) + 1 = 2");
}

#[test]
fn fixed_priorities_by_hand() {
    let accounting = |interrupts| FixedPriority { interrupts };
    let interrupt =
        |wcet, period| SporadicTask { jitter_ns: 4 * US, ..SporadicTask::implicit(wcet * US, period * US) };
    let task =
        |wcet, jitter| SporadicTask { jitter_ns: jitter * US, ..SporadicTask::implicit(wcet * US, 400 * US) };
    // C' = 40 + 10 + 6 and 60 + 10 + 8; J' = 4 + 20, and + 4 if a release is handled elsewhere.
    let shared = accounting(Interrupts::Shared).inflate(&overheads(), &tasks(), &WORKING_SETS).expect("room");
    let releases = [interrupt(20, 400), interrupt(20, 400)];
    assert_eq!(shared.tasks, [&[interrupt(10, 100)], &releases[..], &[task(56, 24), task(78, 24)]].concat());
    assert_eq!(shared.interrupts, 3);
    let eaten = Eaten { wcet_ns: 16_000, jitter_ns: 24_000, ..Eaten::default() };
    assert_eq!(shared.eaten[0], eaten);
    let dedicated =
        accounting(Interrupts::Dedicated).inflate(&overheads(), &tasks(), &WORKING_SETS).expect("room");
    assert_eq!(dedicated.tasks, [interrupt(10, 100), task(56, 28), task(78, 28)]);
    // Interrupts that cost nothing are no tasks.
    let free = accounting(Interrupts::Shared).inflate(&Overheads::none(), &tasks(), &WORKING_SETS);
    assert_eq!(free.map(|inflated| (inflated.interrupts, inflated.tasks)), Ok((0, tasks())));
}

#[test]
fn quanta_by_hand() {
    let accounting = |interrupts, aligned, staggered| QuantumBased { interrupts, aligned, staggered };
    let inflate = |accounting: QuantumBased| {
        accounting.inflate(&overheads(), &tasks(), &WORKING_SETS).map(|inflated| {
            let task =
                |task: &SporadicTask| [task.wcet_ns / US, task.deadline_rel_ns / US, task.period_ns / US];
            inflated.tasks.iter().map(task).collect::<Vec<_>>()
        })
    };
    use Interrupts::{Dedicated, Shared};
    // Q_eff = 100 - 4 - 10 - 3 - 2 - 8 - (2 - 1) 20 = 53: 40 fit one quantum, 60 need two.
    // 400 - (100 + 4 + 20) = 276, down to 200. The second then has a density of 1, which fits (not so in SchedCAT).
    assert_eq!(inflate(accounting(Shared, false, None)), Ok(vec![[100, 200, 200], [200, 200, 200]]));
    assert_eq!(inflate(accounting(Shared, true, None)), Ok(vec![[100, 400, 400], [200, 400, 400]]));
    // Q_eff = 73 if releases are handled elsewhere.
    assert_eq!(inflate(accounting(Dedicated, false, None)), Ok(vec![[100, 200, 200], [100, 200, 200]]));
    // Staggered on 4: 100 3/4 = 75 besides; 276 - 75 = 201, and 400 - 75 = 325. On 5: 276 - 80 = 196.
    assert_eq!(inflate(accounting(Dedicated, false, Some(4))), Ok(vec![[100, 200, 200]; 2]));
    assert_eq!(inflate(accounting(Dedicated, true, Some(4))), Ok(vec![[100, 300, 300]; 2]));
    assert_eq!(inflate(accounting(Dedicated, false, Some(5))), Ok(vec![[100, 100, 100]; 2]));
    let overrun = Rejected { task: Some(1), reason: RejectedWhy::QuantumOverrun };
    assert_eq!(inflate(accounting(Shared, false, Some(5))), Err(overrun));
}

#[test]
fn quanta_are_whole_where_nothing_costs_anything() {
    let inflate = |aligned, quantum, task| {
        let accounting = QuantumBased { interrupts: Interrupts::Shared, aligned, staggered: None };
        let inflated = accounting.inflate(&Overheads::none().with_tick_period(quantum), &[task], &[0])?;
        let task = inflated.tasks[0];
        Ok([task.wcet_ns, task.deadline_rel_ns, task.period_ns])
    };
    let (fifteen, late) = (SporadicTask::implicit(15, 30), SporadicTask::constrained(15, 25, 30));
    assert_eq!(
        [1, 10, 15].map(|q| inflate(true, q, fifteen)),
        [Ok([15, 30, 30]), Ok([20, 30, 30]), Ok([15, 30, 30])]
    );
    // A job that comes at any time waits for the next.
    assert_eq!(
        [1, 5, 15].map(|q| inflate(false, q, fifteen)),
        [Ok([15, 29, 29]), Ok([15, 25, 25]), Ok([15, 15, 15])]
    );
    assert_eq!(inflate(true, 10, late), Ok([20, 20, 30]));
    let rejected = |reason| Err(Rejected { task: Some(0), reason });
    assert_eq!(inflate(false, 10, late), rejected(RejectedWhy::QuantumOverrun));
    assert_eq!(inflate(false, 30, fifteen), rejected(RejectedWhy::QuantumWindow));
}

/// Staggering costs Q (m - 1)/m, at most a quantum, not m (Q - 1)/Q (SchedCAT calls its function with the two swapped,
/// which subtracts about m microseconds).
#[test]
fn staggering_costs_most_of_a_quantum() {
    let overheads = Overheads::none().with_tick_period(1_000 * US);
    let task = [SporadicTask::implicit(US, 5_000 * US)];
    let period = |staggered| {
        let accounting = QuantumBased { interrupts: Interrupts::Dedicated, aligned: true, staggered };
        accounting.inflate(&overheads, &task, &[0]).expect("room").tasks[0].period_ns / US
    };
    assert_eq!([None, Some(1), Some(2), Some(64)].map(period), [5_000, 5_000, 4_000, 4_000]);
    // A period of 5.5 ms has room for half a quantum, but not for 63/64 of one.
    let task = [SporadicTask::implicit(US, 5_500 * US)];
    let period = |processors| {
        let staggered = Some(processors);
        let accounting = QuantumBased { interrupts: Interrupts::Dedicated, aligned: true, staggered };
        accounting.inflate(&overheads, &task, &[0]).expect("room").tasks[0].period_ns / US
    };
    assert_eq!([2, 64].map(period), [5_000, 4_000]);
}

/// Overheads that depend on the number of tasks are taken at that number in every accounting (SchedCAT's for fixed
/// priorities and for quanta pass the tasks themselves, and fail).
#[test]
fn overheads_depend_on_the_number_of_tasks() {
    let schedule = Monotone::through([(1, 1_000), (3, 3_000)]).expect("valid");
    let overheads = Overheads::none().with(Overhead::Schedule, schedule);
    let inflate = |accounting: &dyn Accounting, tasks: usize| {
        let all = vec![SporadicTask::implicit(90_000, 1_000_000); tasks];
        accounting.inflate(&overheads, &all, &vec![0; tasks]).expect("room").eaten[0].wcet_ns
    };
    let job_level = JobLevel { processors: 1, interrupts: Interrupts::Shared };
    let fixed = FixedPriority { interrupts: Interrupts::Shared };
    assert_eq!([1, 2, 3].map(|n| inflate(&job_level, n)), [2_000, 4_000, 6_000]);
    assert_eq!([1, 2, 3].map(|n| inflate(&MessagePassing, n)), [3_000, 6_000, 9_000]);
    assert_eq!([1, 2, 3].map(|n| inflate(&fixed, n)), [2_000, 4_000, 6_000]);
    // Q_eff = 100 - 1, - 2, - 3 us: 98 us take one quantum, or two.
    let quantum = QuantumBased { interrupts: Interrupts::Shared, aligned: true, staggered: None };
    let wcet = |tasks: usize| {
        let all = vec![SporadicTask::implicit(98_000, 1_000_000); tasks];
        let overheads = overheads.clone().with_tick_period(100_000);
        quantum.inflate(&overheads, &all, &vec![0; tasks]).expect("room").tasks[0].wcet_ns
    };
    assert_eq!([1, 2, 3].map(wcet), [100_000, 100_000, 200_000]);
}

/// Delays are looked up at the size of a working set, not at a number of tasks (SchedCAT's semaphores); a task alone is
/// displaced by none.
#[test]
fn displaced_by_the_largest_of_the_others() {
    let delay = Monotone::through([(0, 0), (1_000, 1_000)]).expect("valid");
    let overheads = Overheads::none().with_cache(vec![delay]);
    let eaten = |working_sets: &[u64]| -> Vec<u64> {
        let all = vec![SporadicTask::implicit(1, 1_000_000); working_sets.len()];
        let job_level = JobLevel { processors: 2, interrupts: Interrupts::Shared };
        let inflated = job_level.inflate(&overheads, &all, working_sets).expect("room");
        inflated.eaten.iter().map(|eaten| eaten.wcet_ns).collect()
    };
    assert_eq!(eaten(&[100, 700, 300]), [700, 300, 700]);
    assert_eq!(eaten(&[700, 700, 300]), [700; 3]);
    assert_eq!((eaten(&[500]), eaten(&[])), (vec![0], vec![]));
}

#[test]
fn what_has_no_room_is_named() {
    let shared = JobLevel { processors: 2, interrupts: Interrupts::Shared };
    let reject = |overheads: &Overheads, tasks: &[SporadicTask]| {
        shared.inflate(overheads, tasks, &vec![0; tasks.len()]).expect_err("no room")
    };
    let with = |kind, ns| Overheads::none().with(kind, Monotone::constant(ns));
    let two = [SporadicTask::implicit(1, 100), SporadicTask::constrained(50, 60, 100)];
    let at = |task, reason| Rejected { task: Some(task), reason };
    let all = |reason| Rejected { task: None, reason };
    assert_eq!(reject(&with(Overhead::Schedule, 6), &two), at(1, RejectedWhy::Overrun));
    assert!(shared.inflate(&with(Overhead::Schedule, 5), &two, &[0, 0]).is_ok(), "C' = D'");
    assert_eq!(reject(&with(Overhead::ReleaseLatency, 60), &two), at(1, RejectedWhy::NoWindow));
    assert_eq!(reject(&with(Overhead::Tick, TICK_PERIOD_DEFAULT), &two), all(RejectedWhy::InterruptOverload));
    assert_eq!(
        reject(&with(Overhead::Release, 50), &two),
        all(RejectedWhy::InterruptOverload),
        "50/100 twice"
    );
    let none = Overheads::none();
    let too_long = SporadicTask::implicit(1, crate::TIME_MAX + 1);
    assert_eq!(reject(&none, &[two[0], too_long]), at(1, RejectedWhy::NoTask));
    let rejected = at(1, RejectedWhy::Overrun);
    assert_eq!(Verdict::from(rejected), Verdict::fails_at(1));
    assert!(rejected.to_string().starts_with("task 1 "), "{rejected}");
    let quantum = QuantumBased { interrupts: Interrupts::Shared, aligned: true, staggered: None };
    let full = with(Overhead::Schedule, TICK_PERIOD_DEFAULT);
    assert_eq!(quantum.inflate(&full, &two, &[0, 0]), Err(all(RejectedWhy::QuantumOverload)));
    let fixed = FixedPriority { interrupts: Interrupts::Shared };
    let jitter = with(Overhead::ReleaseLatency, 11);
    assert_eq!(fixed.inflate(&jitter, &two, &[0, 0]), Err(at(1, RejectedWhy::Overrun)), "J + C > D");
    let long = with(Overhead::Release, 101);
    assert_eq!(fixed.inflate(&long, &two, &[0, 0]), Err(all(RejectedWhy::InterruptOverload)));
}

#[test]
fn the_largest_overheads_do_not_overflow() {
    let most = Monotone::constant(u64::MAX);
    let overheads = Overhead::ALL.into_iter().fold(Overheads::none(), |o, kind| o.with(kind, most.clone()));
    let overheads = overheads.with_cache(vec![most]).with_tick_period(u64::MAX);
    let task = SporadicTask {
        jitter_ns: crate::TIME_MAX,
        ..SporadicTask::implicit(crate::TIME_MAX, crate::TIME_MAX)
    };
    for accounting in accountings() {
        assert!(accounting.inflate(&overheads, &vec![task; 1_000], &[u64::MAX; 1_000]).is_err());
    }
}

fn accountings() -> Vec<Box<dyn Accounting>> {
    let mut all: Vec<Box<dyn Accounting>> = vec![Box::new(MessagePassing)];
    const DEADLINES: &[u64] = &[1_000; 1_000];
    for order in [Order::Deadlines, Order::Tasks] {
        all.push(Box::new(PushPull { processors: 3, order, deadlines: DEADLINES }));
    }
    for interrupts in [Interrupts::Shared, Interrupts::Dedicated] {
        for processors in [1, 4] {
            all.push(Box::new(JobLevel { processors, interrupts }));
        }
        all.push(Box::new(FixedPriority { interrupts }));
        for (aligned, staggered) in [(false, None), (false, Some(3)), (true, None), (true, Some(4))] {
            all.push(Box::new(QuantumBased { interrupts, aligned, staggered }));
        }
    }
    all
}

/// Overheads in ns: a function of the number of tasks that rises to each of these at 8 tasks, cache delays included.
fn random_overheads(values: &[u64]) -> Overheads {
    let function = |ns: u64| Monotone::through([(0, ns / 3), (8, ns)]).expect("valid");
    let kinds = Overhead::ALL.into_iter().zip(values);
    let all = kinds.fold(Overheads::none(), |overheads, (kind, &ns)| overheads.with(kind, function(ns)));
    all.with_cache(vec![function(values[8])]).with_tick_period(5_000)
}

fn random_tasks() -> impl Strategy<Value = Vec<(SporadicTask, u64)>> {
    let task = (1u64..3_000, 1u64..60_000, 1u64..60_000, 0u64..9);
    let task = task.prop_map(|(wcet, deadline, period, bytes)| {
        (SporadicTask::constrained(wcet, deadline.max(wcet), period.max(wcet)), bytes)
    });
    proptest::collection::vec(task, 1..7)
}

/// Whether nothing about the second is easier than about the first.
fn harder(one: &Inflated, other: &Inflated) -> bool {
    let tasks = |inflated: &Inflated| inflated.tasks[inflated.interrupts..].to_vec();
    tasks(one).iter().zip(&tasks(other)).all(|(a, b)| {
        a.wcet_ns <= b.wcet_ns
            && a.deadline_rel_ns >= b.deadline_rel_ns
            && a.period_ns >= b.period_ns
            && a.jitter_ns <= b.jitter_ns
    })
}

laxity_seeds::properties! {
    #![cases(400)]

    #[test]
    fn more_overhead_never_makes_tasks_easier(
        tasks in random_tasks(),
        values in proptest::collection::vec(0u64..200, 9),
        grown in 0usize..9,
        by in 1u64..300,
    ) {
        let (tasks, working_sets): (Vec<_>, Vec<_>) = tasks.into_iter().unzip();
        let mut more = values.clone();
        more[grown] += by;
        for accounting in accountings() {
            let before = accounting.inflate(&random_overheads(&values), &tasks, &working_sets);
            let after = accounting.inflate(&random_overheads(&more), &tasks, &working_sets);
            match (before, after) {
                (Ok(before), Ok(after)) => prop_assert!(harder(&before, &after), "{before:?} {after:?}"),
                (Err(before), Ok(after)) => prop_assert!(false, "{before:?} {after:?}"),
                (_, Err(_)) => (),
            }
        }
    }

    /// The formula as it is written, in rationals.
    #[test]
    fn job_level_agrees_with_the_formula(
        tasks in random_tasks(),
        values in proptest::collection::vec(0u64..200, 9),
        processors in 1u32..3,
        dedicated in any::<bool>(),
    ) {
        let (tasks, working_sets): (Vec<_>, Vec<_>) = tasks.into_iter().unzip();
        let overheads = random_overheads(&values);
        let interrupts = if dedicated { Interrupts::Dedicated } else { Interrupts::Shared };
        let found = JobLevel { processors, interrupts }.inflate(&overheads, &tasks, &working_sets);
        let rational = |n: u64, d: u64| Utilization::ratio(n, d).as_rational().clone();
        let whole = |n: u64| rational(n, 1);
        let costs = overheads.at(tasks.len());
        let ticks = rational(costs.tick, 5_000);
        let (count, releases) = if dedicated { (0, whole(0)) } else {
            let sum = tasks.iter().map(|task| rational(costs.release, task.period_ns));
            (tasks.len() as u64, sum.fold(whole(0), |sum, one| sum + one))
        };
        let speed = whole(1) - &ticks - &releases;
        let latency = whole(costs.release_latency);
        let mut wanted = Vec::new();
        if speed > whole(0) {
            let delay = whole(costs.tick) + &latency * &ticks + whole(count * costs.release) + &latency * &releases;
            let distance = match (dedicated, processors) {
                (true, _) => costs.ipi + costs.release,
                (false, 1) => 0,
                (false, _) => costs.ipi,
            };
            for (place, task) in tasks.iter().enumerate() {
                let others = working_sets.iter().enumerate().filter(|&(other, _)| other != place);
                let displaced = others.map(|(_, &bytes)| overheads.cache_delay(bytes)).max().unwrap_or(0);
                let work = task.wcet_ns + 2 * (costs.schedule + costs.context_switch) + displaced;
                let wcet = whole(work) / &speed + whole(2) * &delay / &speed + whole(distance);
                wanted.push(Utilization::from(wcet.ceil()));
            }
        }
        match found {
            Ok(found) => {
                let wcets: Vec<_> = found.tasks.iter().map(|task| Utilization::whole(task.wcet_ns)).collect();
                prop_assert_eq!(wcets, wanted);
            }
            Err(Rejected { reason: RejectedWhy::InterruptOverload, .. }) => prop_assert!(wanted.is_empty()),
            Err(Rejected { task: Some(place), .. }) => {
                let window = tasks[place].density_window().saturating_sub(costs.release_latency);
                prop_assert!(window == 0 || wanted[place] > Utilization::whole(window));
            }
            Err(other) => prop_assert!(false, "{:?}", other),
        }
    }
}

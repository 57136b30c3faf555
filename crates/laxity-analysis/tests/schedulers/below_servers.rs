//! amp-rm with deferrable servers: by hand, and against the admission of the same CPUs.

use super::cases::Random;
use laxity_analysis::admission::{Admission, Entrant, judge_core};
use laxity_analysis::overheads::{Monotone, Overhead, Overheads};
use laxity_analysis::scheduler::{Analysed, Asked, Judgement, Placed};
use laxity_analysis::{AnalysedCell, Bounds, DoubleHit, Guarantee, SporadicTask, Verdict, Work, catalogue};
use laxity_model::{Core, DeferrableServer, Duration, Platform, ServerSize, Speed};
use laxity_seeds::seeds;

fn server(budget: u64, period: u64) -> DeferrableServer {
    DeferrableServer::new(Duration::from_ns(budget), Duration::from_ns(period)).expect("valid")
}

fn named(name: &str) -> Analysed {
    name.parse().expect("a scheduler")
}

/// Everything on one CPU.
fn on_one_core(tasks: &[SporadicTask], server: DeferrableServer, asked: Asked) -> Judgement {
    let cells = [AnalysedCell { processors: 1, tasks: (0..tasks.len()).rev().collect() }];
    let servers = [server];
    let placed = Placed {
        tasks,
        working_sets: &[],
        given_priorities: &[],
        cells: &cells,
        servers: &servers,
        overheads: None,
    };
    named("amp-rm").judge(&placed, asked)
}

fn by(guarantee: Guarantee, name: &str) -> Asked {
    Asked { test: catalogue::test(name), ..Asked::of(guarantee) }
}

#[test]
fn two_budgets_in_a_row() {
    use Guarantee::{Hard, Soft};
    // Rate-monotonic: the second first, below 2 of every 6. The budget has [0, 2) and, full again at 2, [2, 4); the second [4, 5) and
    // [5, 6), the first [6, 8).
    let tasks = [SporadicTask::implicit(2, 10), SporadicTask::implicit(1, 5)];
    let below = server(2, 6);
    let hard = on_one_core(&tasks, below, Asked::of(Hard));
    assert_eq!(hard.verdict, Verdict::Schedulable(Bounds::ResponseTimes(vec![8, 5])));
    assert_eq!(hard.proven_by, ["ds-rta"]);
    // Without: [1, 3) after [0, 1).
    let without = on_one_core(&tasks, DeferrableServer::NONE, Asked::of(Hard));
    assert_eq!(without.verdict, Verdict::Schedulable(Bounds::ResponseTimes(vec![3, 1])));
    assert_eq!(without.proven_by, ["fp-rta"]);
    // A deadline of 4 is too short. Theorem 1: 2 + (1 + 2) = 5 of 4, and 2 * 2 + 2 * 1 + (2 + 2) = 10 of 10.
    let tight = [tasks[0], SporadicTask::constrained(1, 4, 5)];
    assert_eq!(on_one_core(&tight, below, Asked::of(Hard)).verdict, Verdict::fails_at(1));
    let soft = on_one_core(&tight, below, Asked::of(Soft));
    assert_eq!(soft.verdict, Verdict::Schedulable(Bounds::Tardiness(vec![0, 1])));
    assert_eq!(soft.proven_by, ["ds-tardiness"]);
    // The server goes first also where its period is the longest.
    let long = on_one_core(&tasks[1..], server(4, 100), Asked::of(Soft));
    assert_eq!(long.verdict, Verdict::Schedulable(Bounds::Tardiness(vec![4])));
    assert_eq!(on_one_core(&tasks, server(6, 6), Asked::of(Soft)).verdict, Verdict::FAILS);
}

#[test]
fn other_tests_see_a_task_that_asks_for_as_much() {
    use Guarantee::{Hard, Soft};
    let tasks = [SporadicTask::implicit(2, 10), SporadicTask::implicit(1, 5)];
    let below = server(2, 6);
    for (name, bounds) in [("ds-rta", true), ("fp-rta", true), ("fp-tda", false)] {
        let judged = on_one_core(&tasks, below, by(Hard, name));
        let expected = if bounds { Bounds::ResponseTimes(vec![8, 5]) } else { Bounds::None };
        assert_eq!(judged.verdict, Verdict::Schedulable(expected), "{name}");
        let tight = [tasks[0], SporadicTask::constrained(1, 4, 5)];
        assert_eq!(on_one_core(&tight, below, by(Hard, name)).verdict, Verdict::fails_at(1), "{name}");
    }
    // The plain test refuses the first: 4 + 2 * 2 + 2 * 1 = 10 of 9.
    let late = [SporadicTask::constrained(4, 9, 10), SporadicTask::constrained(1, 4, 5)];
    assert_eq!(on_one_core(&late, below, Asked::of(Soft)).verdict, Verdict::fails_at(0));
    // Still its tardiness is bounded: 4 + 3 * 2 + 3 * 1 = 13, the budget full at 2, 8 and 14; its next job responds within 10.
    let exact = on_one_core(&late, below, by(Soft, "fp-tardiness"));
    assert_eq!(exact.verdict, Verdict::Schedulable(Bounds::Tardiness(vec![4, 1])));
}

#[test]
fn what_no_test_is_for() {
    let tasks = [SporadicTask::implicit(1, 10)];
    let servers = [server(1, 10)];
    let release = Overheads::none().with(Overhead::Release, Monotone::constant(1));
    let judge = |name: &str, processors: u32, overheads| {
        let cells = [AnalysedCell { processors, tasks: vec![0] }];
        let placed = Placed {
            tasks: &tasks,
            working_sets: &[],
            given_priorities: &[],
            cells: &cells,
            servers: &servers,
            overheads,
        };
        match named(name).judge(&placed, Asked::of(Guarantee::Hard)).verdict {
            Verdict::NotApplicable(why) => why.assumption.to_owned(),
            verdict => panic!("{name}: {verdict:?}"),
        }
    };
    assert!(judge("p-edf", 1, None).contains("fixed priorities"));
    assert!(judge("g-rm", 2, None).contains("of one CPU"));
    assert!(judge("amp-rm", 1, Some(&release)).contains("scheduling costs nothing"));
}

/// CPUs with servers, and tasks on them.
struct Drawn {
    platform: Platform,
    size: ServerSize,
    /// Each with its CPU.
    tasks: Vec<(SporadicTask, usize)>,
}

impl Drawn {
    fn of(random: &mut Random) -> Drawn {
        let small = |value: u64| u32::try_from(value).expect("small");
        let count = random.between(1, 4);
        let speed = |random: &mut Random| {
            Speed::new(small(random.between(1, 4)), small(random.between(1, 3))).expect("positive")
        };
        let cores = (0..count).map(|cpu| Core { cpu: small(cpu), speed: speed(random) }).collect();
        let platform = Platform::new("cores", cores, vec![], vec![], None).expect("valid");
        let period = random.between(2, 30);
        let server = server(random.between(1, period / 2), period);
        let scaled = random.below(2) == 0;
        let late = random.below(4) == 0;
        let task = |random: &mut Random| {
            let period = random.between(4, 40);
            let deadline = match random.below(4) {
                0 => random.between(3, period),
                1 if late => random.between(period, 2 * period),
                _ => period,
            };
            let wcet = random.between(1, period.min(deadline).div_ceil(3));
            let core = usize::try_from(random.below(count)).expect("small");
            (SporadicTask::constrained(wcet, deadline, period), core)
        };
        Drawn {
            platform,
            size: if scaled { ServerSize::SlowestCoreUnits(server) } else { ServerSize::Share(server) },
            tasks: (0..random.between(1, 2 * count + 2)).map(|_| task(random)).collect(),
        }
    }

    fn on(&self, core: usize) -> Vec<usize> {
        (0..self.tasks.len()).filter(|&number| self.tasks[number].1 == core).collect()
    }

    fn judge(&self, guarantee: Guarantee) -> Judgement {
        let cores = self.platform.cores();
        let slower = |&(task, core): &(SporadicTask, usize)| SporadicTask {
            wcet_ns: cores[core].speed.time_for(task.wcet_ns),
            ..task
        };
        let tasks: Vec<_> = self.tasks.iter().map(slower).collect();
        let cells: Vec<_> =
            (0..cores.len()).map(|core| AnalysedCell { processors: 1, tasks: self.on(core) }).collect();
        let servers: Vec<_> = self.size.on_cores(&self.platform).map(|(_, server)| server).collect();
        let placed = Placed {
            tasks: &tasks,
            working_sets: &[],
            given_priorities: &[],
            cells: &cells,
            servers: &servers,
            overheads: None,
        };
        let judgement = named("amp-rm").judge(&placed, Asked::of(guarantee));
        for (cell, &server) in cells.iter().zip(&servers) {
            let alone = named("amp-rm").judge_cell(&placed, cell, server, Asked::of(guarantee));
            assert!(alone.is_schedulable() || !judgement.verdict.is_schedulable());
        }
        judgement
    }

    fn entrant(&self, number: usize) -> Entrant {
        let (id, task) = (number as u64, self.tasks[number].0);
        Entrant { id, task, tardiness_max: None, affinity: None }
    }

    /// Whether all may enter the CPUs that they are on, one by one in any order.
    fn admitted(&self, double_hit: DoubleHit, random: &mut Random) -> bool {
        let mut admission =
            Admission::new(&self.platform, |core| self.size.on(&self.platform, core.speed), double_hit);
        let mut left: Vec<usize> = (0..self.tasks.len()).collect();
        while !left.is_empty() {
            let at = usize::try_from(random.below(left.len() as u64)).expect("small");
            let number = left.swap_remove(at);
            let cpu = self.platform.cores()[self.tasks[number].1].cpu;
            if admission.enter_core(cpu, self.entrant(number)).is_err() {
                return false;
            }
        }
        true
    }

    /// What admission says of a CPU, by the numbers of its tasks.
    fn bounds(&self, core: usize, double_hit: DoubleHit) -> Option<Vec<u64>> {
        let speed = self.platform.cores()[core].speed;
        let server = self.size.on(&self.platform, speed);
        let tasks: Vec<_> = self.on(core).into_iter().map(|number| self.entrant(number)).collect();
        match judge_core(speed, (server, Duration::ZERO), &tasks, double_hit, Work::default()).ok()? {
            Bounds::ResponseTimes(bounds) | Bounds::Tardiness(bounds) => Some(bounds),
            Bounds::None => Some(vec![]),
        }
    }

    /// The same of all cores: how late, where no deadline is missed not at all.
    fn tardiness(&self) -> Vec<u64> {
        let mut all = vec![0; self.tasks.len()];
        for core in 0..self.platform.core_count() {
            if self.bounds(core, DoubleHit::Counted).is_none() {
                let late = self.bounds(core, DoubleHit::Ignored).expect("admitted");
                self.on(core).into_iter().zip(late).for_each(|(number, late)| all[number] = late);
            }
        }
        all
    }

    fn response_times(&self) -> Vec<u64> {
        let mut all = vec![0; self.tasks.len()];
        for core in 0..self.platform.core_count() {
            let bounds = self.bounds(core, DoubleHit::Counted).expect("admitted");
            self.on(core).into_iter().zip(bounds).for_each(|(number, bound)| all[number] = bound);
        }
        all
    }
}

#[test]
fn the_verdict_is_that_of_the_admission_for_the_same_cores() {
    let (mut hard_count, mut late_count, mut refused) = (0, 0, 0);
    for seed in seeds!(0..6000) {
        let mut random = Random(seed);
        let drawn = Drawn::of(&mut random);
        let counted = drawn.admitted(DoubleHit::Counted, &mut random);
        let ignored = drawn.admitted(DoubleHit::Ignored, &mut random);
        let (hard, soft) = (drawn.judge(Guarantee::Hard), drawn.judge(Guarantee::Soft));
        let again = format!("LAXITY_SEEDS={seed}..{} cargo test --release --test schedulers", seed + 1);
        assert_eq!(hard.verdict.is_schedulable(), counted, "{hard:?}\n{again}");
        let constrained = drawn.tasks.iter().all(|(task, _)| task.deadline_rel_ns <= task.period_ns);
        if constrained {
            // The plain test asks for less.
            assert!(ignored || !counted, "{again}");
            assert_eq!(soft.verdict.is_schedulable(), ignored, "{soft:?}\n{again}");
        } else {
            assert!(soft.verdict.is_schedulable() || !(counted || ignored), "{soft:?}\n{again}");
        }
        if counted {
            let expected = Verdict::Schedulable(Bounds::ResponseTimes(drawn.response_times()));
            assert_eq!(hard.verdict, expected, "{again}");
        }
        if ignored {
            let late = drawn.tardiness();
            late_count += u32::from(late.iter().any(|&late| late > 0));
            assert_eq!(soft.verdict, Verdict::Schedulable(Bounds::Tardiness(late)), "{again}");
        }
        hard_count += u32::from(counted);
        refused += u32::from(!ignored);
    }
    println!("{hard_count} hard, {late_count} late, {refused} refused");
    let enough = hard_count > 0 && (hard_count < 500 || late_count.min(refused) > 500);
    assert!(!laxity_seeds::are_usual() || enough);
}

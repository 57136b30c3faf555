//! SCHED_DEADLINE with reclaiming, as the kernel computes it, beside EDF: what is proven of `:grub` holds, and what it needs is needed.
//! `LAXITY_SEEDS=1000..90000` looks at more.

use laxity_analysis::scheduler::{Analysed, Asked, Placed};
use laxity_analysis::{AnalysedCell, Guarantee, SporadicTask, Verdict};
use laxity_seeds::seeds;

#[path = "schedulers/cases.rs"]
#[expect(dead_code, reason = "its cases are of all schedulers")]
mod cases;

use cases::Random;

/// `BW_SHIFT` and `RATIO_SHIFT` of kernel/sched/sched.h.
const BW_SHIFT: u32 = 20;
const RATIO_SHIFT: u32 = 8;
/// Units of budget in a unit of time: as fine as the kernel's shares.
const UNIT: u64 = 1 << BW_SHIFT;
const END: u64 = 120;

fn to_ratio(period: u64, runtime: u64) -> u64 {
    (runtime << BW_SHIFT) / period
}

/// A server and the jobs of its thread.
struct Server {
    task: SporadicTask,
    /// Arrival and demand.
    jobs: Vec<(u64, u64)>,
    at: usize,
    left: u64,
    budget: u64,
    deadline: u64,
    /// Throttled until then.
    until: Option<u64>,
    is_ready: bool,
}

impl Server {
    fn of(task: SporadicTask, jobs: Vec<(u64, u64)>) -> Self {
        let left = jobs[0].1;
        Server { task, jobs, at: 0, left, budget: 0, deadline: 0, until: None, is_ready: false }
    }

    fn share(&self) -> u64 {
        to_ratio(self.task.period_ns, self.task.wcet_ns)
    }

    /// The thread wakes up, if its job has arrived: rules 1, 2 and 5 of `settings::Reservation`.
    fn wakes_up(&mut self, now: u64) {
        let arrived = self.jobs.get(self.at).is_some_and(|&(arrival, _)| arrival <= now);
        if self.is_ready || !arrived {
            return;
        }
        self.is_ready = true;
        let full = self.task.wcet_ns * UNIT;
        if self.deadline <= now {
            (self.budget, self.deadline, self.until) = (full, now + self.task.deadline_rel_ns, None);
        } else if self.budget * self.task.deadline_rel_ns > (self.deadline - now) * full {
            match self.task.deadline_rel_ns < self.task.period_ns {
                true => self.budget = (self.deadline - now) * full / self.task.deadline_rel_ns,
                false => (self.budget, self.deadline) = (full, now + self.task.deadline_rel_ns),
            }
        }
    }

    /// A new budget at the next period.
    fn is_replenished(&mut self, now: u64) {
        if self.until.is_some_and(|until| until <= now) {
            self.until = None;
            self.budget = self.task.wcet_ns * UNIT;
            self.deadline += self.task.period_ns;
        }
    }

    /// Runs for a unit of time in which it uses up `used` of its budget. The completion of a job: its number and the time.
    fn runs(&mut self, now: u64, used: u64) -> Option<(usize, u64)> {
        self.left -= 1;
        self.budget = self.budget.saturating_sub(used);
        let done = (self.left == 0).then_some((self.at, now + 1));
        if done.is_some() {
            self.at += 1;
            self.left = self.jobs.get(self.at).map_or(0, |job| job.1);
            self.is_ready = self.jobs.get(self.at).is_some_and(|&(arrival, _)| arrival <= now + 1);
        }
        if self.budget == 0 && (self.is_ready || done.is_none()) {
            self.until = Some(self.deadline - self.task.deadline_rel_ns + self.task.period_ns);
        }
        done
    }
}

/// `grub_reclaim` for a unit of time, on a runqueue with so much bandwidth of all and of active servers.
fn reclaimed(share: u64, this_bw: u64, running_bw: u64, max: (u64, u64)) -> u64 {
    let (max_bw, extra_bw) = (to_ratio(max.1, max.0), 0);
    let bw_ratio = to_ratio(max.0, max.1) >> (BW_SHIFT - RATIO_SHIFT);
    let inactive = this_bw - running_bw;
    let active = match inactive + extra_bw > max_bw.saturating_sub(share) {
        true => share,
        false => max_bw - inactive - extra_bw,
    };
    (UNIT * ((active * bw_ratio) >> RATIO_SHIFT)) >> BW_SHIFT
}

/// When each job completes under global EDF among servers, each with a budget of C. Which servers count as active while they
/// sleep is drawn: the kernel's 0-lag time is somewhere between.
fn completions(
    tasks: &[SporadicTask],
    jobs: &[Vec<(u64, u64)>],
    processors: usize,
    max: Option<(u64, u64)>,
    random: &mut Random,
) -> Vec<Vec<u64>> {
    let mut servers: Vec<Server> =
        tasks.iter().zip(jobs).map(|(task, jobs)| Server::of(*task, jobs.clone())).collect();
    let mut done: Vec<Vec<u64>> = vec![Vec::new(); tasks.len()];
    for now in 0..2 * END {
        servers.iter_mut().for_each(|server| {
            server.is_replenished(now);
            server.wakes_up(now);
        });
        let mut ready: Vec<usize> =
            (0..servers.len()).filter(|&at| servers[at].is_ready && servers[at].until.is_none()).collect();
        ready.sort_by_key(|&at| (servers[at].deadline, at));
        let this_bw = servers.iter().map(Server::share).sum();
        let asleep_active = random.below(2) == 0;
        let running_bw =
            servers.iter().filter(|server| server.is_ready || asleep_active).map(Server::share).sum();
        for &at in ready.iter().take(processors) {
            let used = max.map_or(UNIT, |max| reclaimed(servers[at].share(), this_bw, running_bw, max));
            if let Some((_, when)) = servers[at].runs(now, used) {
                done[at].push(when);
            }
        }
    }
    done
}

/// A set, and jobs of it that need up to C.
fn case(random: &mut Random, share: (u64, u64), latest: u64) -> (Vec<SporadicTask>, Vec<Vec<(u64, u64)>>) {
    let count = random.between(1, 5);
    let tasks: Vec<SporadicTask> = (0..count)
        .map(|_| {
            let period = random.between(2, 16);
            let deadline = random.between(1, period * latest);
            let most = (deadline.min(period) * share.0 / share.1).max(1);
            SporadicTask::constrained(random.between(1, most.min(period - 1)), deadline, period)
        })
        .collect();
    let jobs = tasks
        .iter()
        .map(|task| {
            let mut arrival = random.below(3) * random.below(4);
            let mut all = Vec::new();
            while arrival < END {
                let demand =
                    if random.below(2) == 0 { task.wcet_ns } else { random.between(1, task.wcet_ns) };
                all.push((arrival, demand));
                arrival += task.period_ns + if random.below(3) == 0 { random.below(4) } else { 0 };
            }
            all
        })
        .collect();
    (tasks, jobs)
}

fn judged(tasks: &[SporadicTask], processors: u32, guarantee: Guarantee) -> Verdict {
    let cells = [AnalysedCell { processors, tasks: (0..tasks.len()).collect() }];
    let placed = Placed {
        tasks,
        working_sets: &[],
        given_priorities: &[],
        cells: &cells,
        servers: &[],
        overheads: None,
    };
    let scheduler: Analysed =
        if processors == 1 { "p-edf:grub" } else { "g-edf:grub" }.parse().expect("a name");
    scheduler.judge(&placed, Asked::of(guarantee)).verdict
}

fn is_late(tasks: &[SporadicTask], jobs: &[Vec<(u64, u64)>], done: &[Vec<u64>]) -> bool {
    (0..tasks.len()).any(|at| {
        done[at].len() < jobs[at].len()
            || jobs[at].iter().zip(&done[at]).any(|(job, when)| *when > job.0 + tasks[at].deadline_rel_ns)
    })
}

const GRANTED: [(u64, u64); 3] = [(950_000, 1_000_000), (3, 4), (1, 1)];

#[test]
fn what_is_proven_of_reclaiming_holds_and_is_edf() {
    let mut proven = [0; 2];
    for seed in seeds!(0..6_000) {
        let random = &mut Random(seed);
        let share = GRANTED[usize::try_from(seed % 3).expect("small")];
        let (tasks, jobs) = case(random, share, 1);
        // The kernel grants no task more than its share.
        if tasks.iter().any(|task| task.wcet_ns * share.1 > share.0 * task.period_ns) {
            continue;
        }
        for processors in [1, 2] {
            let many = usize::try_from(processors).expect("small");
            if !judged(&tasks, processors, Guarantee::Hard).is_schedulable() {
                continue;
            }
            proven[many - 1] += 1;
            let plain = completions(&tasks, &jobs, many, None, random);
            let reclaiming = completions(&tasks, &jobs, many, Some(share), random);
            assert!(!is_late(&tasks, &jobs, &reclaiming), "LAXITY_SEEDS={seed}..{}: {tasks:?}", seed + 1);
            assert_eq!(plain, reclaiming, "LAXITY_SEEDS={seed}..{}: {tasks:?}", seed + 1);
        }
    }
    assert!(!laxity_seeds::are_usual() || proven.iter().all(|&count| count > 100), "{proven:?}");
}

/// A job that arrives just when the one before it completes goes on with what that left: what 1 ns more is for.
#[test]
fn a_thread_that_does_not_sleep_is_unlike_edf() {
    let tasks = [SporadicTask::constrained(1, 1, 2), SporadicTask::implicit(1, 2)];
    let jobs: [Vec<(u64, u64)>; 2] = [0, 0].map(|_| (0..9).map(|job| (2 * job, 1)).collect());
    let late = |max, seed| is_late(&tasks, &jobs, &completions(&tasks, &jobs, 1, max, &mut Random(seed)));
    assert!(!late(None, 0) && (0..100).any(|seed| late(Some((1, 1)), seed)));
    assert!(!judged(&tasks, 1, Guarantee::Hard).is_schedulable());
}

/// A job that waits for the one before it goes on with what that has left, under another deadline: it is no longer EDF.
#[test]
fn late_deadlines_make_reclaiming_unlike_edf() {
    let mut unlike = 0;
    for seed in seeds!(0..3_000) {
        let random = &mut Random(seed);
        let (tasks, jobs) = case(random, (1, 1), 2);
        let plain = completions(&tasks, &jobs, 1, None, random);
        unlike += u32::from(plain != completions(&tasks, &jobs, 1, Some((1, 1)), random));
        let needs = matches!(judged(&tasks, 1, Guarantee::Hard), Verdict::NotApplicable(_));
        assert_eq!(needs, tasks.iter().any(|task| task.deadline_rel_ns > task.period_ns), "{tasks:?}");
    }
    laxity_seeds::assert_together!(unlike > 10, "{unlike}");
}

/// Nothing is said of tardiness but that there is none.
#[test]
fn bounded_tardiness_is_proven_where_nothing_is_late() {
    let full = [SporadicTask::implicit(4, 10), SporadicTask::implicit(4, 10)];
    assert!(judged(&full, 1, Guarantee::Soft).is_schedulable());
    let three = [SporadicTask::implicit(6, 10); 3];
    assert!(!judged(&three, 2, Guarantee::Hard).is_schedulable());
    assert!(
        !judged(&three, 2, Guarantee::Soft).is_schedulable(),
        "g-edf has a bound, its servers here do not"
    );
}

//! Tasks below deferrable servers: the analyses against all schedules of tiny sets, and against each other.

mod exploration;

use exploration::{Server, TASKS_MAX, Task, longest_responses};
use laxity_analysis::{
    Bounds, DeferrableRta, DeferrableTardiness, DoubleHit, FixedPriorityTardiness, SporadicTask, Test,
    Verdict, Work, deferrable,
};
use laxity_model::{DeferrableServer, Duration};

fn server_of((budget, period): Server) -> DeferrableServer {
    DeferrableServer::new(Duration::from_ns(budget), Duration::from_ns(period)).expect("valid")
}

fn implicit(tasks: &[Task]) -> Vec<SporadicTask> {
    tasks.iter().map(|&(wcet, period)| SporadicTask::implicit(wcet, period)).collect()
}

/// All sets of one to three tasks with T <= 7, in rate-monotonic order and, of equal periods, in both.
fn all_sets() -> Vec<Vec<Task>> {
    let tasks: Vec<Task> = (1..=7).flat_map(|period| (1..=period).map(move |wcet| (wcet, period))).collect();
    let mut longest: Vec<Vec<Task>> = vec![Vec::new()];
    let mut all = Vec::new();
    for _ in 0..TASKS_MAX {
        let extended = |set: &Vec<Task>| {
            let (set, least) = (set.clone(), set.last().map_or(0, |task| task.1));
            tasks.iter().filter(move |task| task.1 >= least).map(move |&task| [&set[..], &[task]].concat())
        };
        longest = longest.iter().flat_map(extended).collect();
        all.extend_from_slice(&longest);
    }
    all
}

/// Nothing, and all with periods up to 6.
fn all_servers() -> Vec<Server> {
    let with = |period: u64| (1..=period).map(move |budget| (budget, period));
    [(0, 1)].into_iter().chain((1..=6).flat_map(with)).collect()
}

/// U <= 1 with the server.
fn fits(server: Server, tasks: &[Task]) -> bool {
    // 1 to 7 divide 420.
    tasks.iter().chain([&server]).map(|(work, period)| work * (420 / period)).sum::<u64>() <= 420
}

fn bounds(verdict: &Verdict) -> Option<&[u64]> {
    match verdict {
        Verdict::Schedulable(Bounds::ResponseTimes(bounds) | Bounds::Tardiness(bounds)) => Some(bounds),
        Verdict::Schedulable(Bounds::None) => Some(&[]),
        _ => None,
    }
}

/// How sets were judged.
#[derive(Debug, Default)]
struct Count {
    sets: u32,
    /// By the exact test, and by that which leaves the double hit out.
    hard: u32,
    plain: u32,
    /// Tasks that Theorem 1 says can be late; those that are, by as much.
    said_late: u32,
    as_late: u32,
}

impl Count {
    fn judge(&mut self, server: Server, tasks: &[Task]) {
        let seen = longest_responses(server, tasks).expect("U <= 1: backlogs end");
        let set = implicit(tasks);
        let context = || format!("{server:?} {tasks:?}: seen {seen:?}");
        self.sets += 1;
        // With deadlines that no job misses the response times are those of the worst schedule.
        let endless: Vec<_> =
            set.iter().map(|task| SporadicTask { deadline_rel_ns: 1000, ..*task }).collect();
        let server = server_of(server);
        let judged = deferrable::response_times(server, &endless, DoubleHit::Counted, &mut Work::default());
        assert_eq!(bounds(&judged), Some(&seen[..]), "{}", context());

        let hard = deferrable::response_times(server, &set, DoubleHit::Counted, &mut Work::default());
        let late = set.iter().zip(&seen).position(|(task, &seen)| seen > task.deadline_rel_ns);
        match late {
            None => assert_eq!(bounds(&hard), Some(&seen[..]), "{}", context()),
            Some(at) => assert_eq!(hard, Verdict::fails_at(at), "{}", context()),
        }
        self.hard += u32::from(late.is_none());
        self.judge_tardiness(server, &set, &seen, &context);
    }

    fn judge_tardiness(
        &mut self,
        server: DeferrableServer,
        set: &[SporadicTask],
        seen: &[u64],
        context: &dyn Fn() -> String,
    ) {
        let plain = deferrable::response_times(server, set, DoubleHit::Ignored, &mut Work::default());
        let soft = deferrable::tardiness(server, set, &mut Work::default());
        assert_eq!(plain.is_schedulable(), soft.is_schedulable(), "{}", context());
        let Some(bounds) = bounds(&soft) else { return };
        self.plain += 1;
        for ((task, &seen), &bound) in set.iter().zip(seen).zip(bounds) {
            let late = seen.saturating_sub(task.deadline_rel_ns);
            assert!(late <= bound, "{}, Theorem 1 {bounds:?}", context());
            self.said_late += u32::from(bound > 0);
            self.as_late += u32::from(bound > 0 && late == bound);
        }
    }
}

#[test]
fn response_times_are_those_of_the_worst_ordinary_load_and_theorem_1_holds() {
    let mut count = Count::default();
    for server in all_servers() {
        for tasks in all_sets().iter().filter(|tasks| fits(server, tasks)) {
            count.judge(server, tasks);
        }
    }
    println!("{count:?}");
    // The double hit matters, and neither answer is pessimism only.
    assert!(count.hard < count.plain && count.plain < count.sets, "{count:?}");
    assert!(count.as_late > 0 && count.as_late < count.said_late, "{count:?}");
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }
}

/// Up to ten tasks with unrelated periods in rate-monotonic order, and a server of up to two fifths.
fn large(seed: u64, constrained: bool) -> (DeferrableServer, Vec<SporadicTask>) {
    let mut random = Random(seed);
    let period = 50 + random.below(400);
    let server = server_of((random.below(period * 2 / 5 + 1), period));
    let count = 1 + random.below(10);
    let mut tasks: Vec<_> = (0..count)
        .map(|_| {
            let period = 100 + random.below(2000);
            let wcet = 1 + random.below(period * 2 / count.max(3));
            let shorter = if constrained { random.below((period - wcet).max(1)) / 2 } else { 0 };
            SporadicTask::constrained(wcet.min(period), period - shorter, period)
        })
        .collect();
    tasks.sort_by_key(|task| task.period_ns);
    (server, tasks)
}

/// The server as a task that can use up two budgets in a row, before the others.
fn with_jitter(server: DeferrableServer, tasks: &[SporadicTask]) -> Vec<SporadicTask> {
    let (wcet, period) = (server.budget().as_ns(), server.period().as_ns());
    let first =
        SporadicTask { wcet_ns: wcet, deadline_rel_ns: period, period_ns: period, jitter_ns: period - wcet };
    [first].into_iter().filter(|first| first.wcet_ns > 0).chain(tasks.iter().copied()).collect()
}

#[test]
fn theorem_1_is_never_below_what_is_exact() {
    let (mut judged, mut late, mut exact) = (0, 0, 0);
    for seed in laxity_seeds::seeds!(0..20_000) {
        let (server, tasks) = large(seed, seed % 2 == 1);
        let verdict = deferrable::tardiness(server, &tasks, &mut Work::default());
        let Some(bounds) = bounds(&verdict) else { continue };
        let all = with_jitter(server, &tasks);
        let Verdict::Schedulable(Bounds::Tardiness(known)) =
            FixedPriorityTardiness.judge(&all, 1, &mut Work::default())
        else {
            panic!("seed {seed}: a bound without a load that ends")
        };
        let known = &known[all.len() - tasks.len()..];
        assert!(
            known.iter().zip(bounds).all(|(known, bound)| known <= bound),
            "seed {seed}: {known:?} {bounds:?}"
        );
        judged += 1;
        late += bounds.iter().filter(|&&bound| bound > 0).count();
        exact += known.iter().zip(bounds).filter(|&(known, bound)| *bound > 0 && known == bound).count();
    }
    println!("{judged} sets, {late} tasks that may be late, {exact} bounds attained");
    laxity_seeds::assert_together!(judged > 3000 && late > 500 && exact > 20, "{judged} {late} {exact}");
}

#[test]
fn tests_by_name_are_the_functions() {
    let mut seen = [0; 4];
    for seed in laxity_seeds::seeds!(0..4000) {
        let (server, tasks) = large(seed, seed % 2 == 1);
        if server.is_none() {
            continue;
        }
        let first = SporadicTask::implicit(server.budget().as_ns(), server.period().as_ns());
        let all: Vec<_> = [first].into_iter().chain(tasks.iter().copied()).collect();
        let hard = deferrable::response_times(server, &tasks, DoubleHit::Counted, &mut Work::default());
        let named = DeferrableRta.judge(&all, 1, &mut Work::default());
        assert_eq!(bounds(&hard), bounds(&named).map(|all| &all[1..]), "seed {seed}");
        let soft = deferrable::tardiness(server, &tasks, &mut Work::default());
        let late = DeferrableTardiness.judge(&all, 1, &mut Work::default());
        assert_eq!(bounds(&soft), bounds(&late).map(|all| &all[1..]), "seed {seed}");
        seen[usize::from(hard.is_schedulable())] += 1;
        seen[2 + usize::from(soft.is_schedulable())] += 1;
    }
    laxity_seeds::assert_together!(seen.iter().all(|&count| count > 300), "{seen:?}");
}

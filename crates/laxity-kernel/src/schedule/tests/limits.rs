//! Hosts that are late, and say so themselves: their records excuse all of it, but not without limit. Times are in ns, of schedules
//! that last some milliseconds, as real ones do.

use super::*;
use laxity_oracle::{BudgetRule, ExcuseExtent, ExcuseLimits, Verdict, VerdictState};

const US: u64 = 1_000;
const MS: u64 = 1_000_000;
/// Where the schedules end.
const END: u64 = 100 * MS;
/// A release timer, an interrupt, a decision and a switch of a working kernel.
const WORKING: u64 = 8 * US;

/// What a CPU is at, one thing after the other.
struct Cpu {
    cpu: u32,
    records: Vec<Record>,
}

impl Cpu {
    fn new(cpu: u32) -> Self {
        Cpu { cpu, records: Vec::new() }
    }

    /// The release of a task's job at `due` is handled `late` ns after that; when it is over.
    fn releases(&mut self, due: u64, late: u64) -> u64 {
        self.records.push(work(due + late, EventKind::ReleaseOverhead, self.cpu, NONE, 2 * US, T0 + due));
        due + late + 2 * US
    }

    /// It was asked at `sent` to decide, and does so at `at`.
    fn is_asked(&mut self, sent: u64, at: u64) {
        self.records.push(work(at, EventKind::Ipi, self.cpu, NONE, 0, T0 + sent));
    }

    /// From `at` on it decides for a job, switches to it, and runs it for as long; when that is over.
    fn runs(&mut self, at: u64, (task, job): (u32, u32), length: u64) -> u64 {
        let (tid, begins) = (100 + task, at + 5 * US);
        self.records.extend([
            work(at, EventKind::SchedulingOverhead, self.cpu, task, 3 * US, 0),
            work(at + 3 * US, EventKind::SwitchOverhead, self.cpu, task, 2 * US, 0),
            Record { task, ..record(begins, EventKind::Resume, self.cpu, tid, job + 1, 0) },
        ]);
        begins + length
    }

    fn ends(&mut self, at: u64, (task, job): (u32, u32), kind: EventKind) {
        self.records.push(Record { task, ..record(at, kind, self.cpu, 100 + task, job + 1, 0) });
    }

    /// From `at` on it decides that there is nothing to run.
    fn idles(&mut self, at: u64) {
        self.records.push(work(at, EventKind::SchedulingOverhead, self.cpu, NONE, US, 0));
    }
}

/// The host makes known when the task's job is to be released, before its time.
fn release(task: u32, job: u32, at: u64, period: u64) -> Record {
    record(at, EventKind::Release, NONE, 100 + task, job + 1, T0 + at + period)
}

/// `(wcet, period)` of each task, on one CPU under EDF, as the kernel was told them.
fn verdict_on(tasks: &[(u64, u64)], budgets: BudgetRule, end: u64, mut records: Vec<Record>) -> Verdict {
    records.push(work(end + MS, EventKind::SchedulingOverhead, 0, NONE, 1, 0));
    let member = |(id, &(_, period)): (u32, &(u64, u64))| Member {
        tid: 100 + id,
        task: id,
        deadline_rel_ns: period,
        asked_deadline_ns: period,
    };
    let members = (0..).zip(tasks).map(member).collect();
    let origin = Origin { tasks: members, end_ns: Some(T0 + end), ..origin(2, 1) };
    let platform = Platform::symmetric(1).expect("valid");
    let rule = PriorityRule::EarliestDeadlineFirst;
    let definition = Definition::global(set_of(tasks), &platform, rule, Duration::from_ns(end));
    let definition = definition.expect("valid").with_budgets(budgets);
    verify(&definition, &converted(records, &origin))
}

/// One task whose jobs run alone, each released so late; the timers of those numbered `lost` and later never go off.
fn released_late(period: u64, late: u64, lost: u32) -> Verdict {
    verdict_on(&[(MS, period)], BudgetRule::OFF, END, released_late_records(period, late, lost))
}

fn released_late_records(period: u64, late: u64, lost: u32) -> Vec<Record> {
    let mut cpu = Cpu::new(0);
    for job in (0..).take_while(|&job| u64::from(job) * period < END) {
        let due = u64::from(job) * period;
        if job <= lost {
            cpu.records.push(release(0, job, due, period));
        }
        if job < lost {
            let at = cpu.releases(due, late);
            let end = cpu.runs(at, (0, job), MS);
            cpu.ends(end, (0, job), EventKind::Complete);
            cpu.idles(end);
        }
    }
    cpu.records
}

const NEVER: u32 = u32::MAX;

fn extent(verdict: &Verdict) -> &ExcuseExtent {
    verdict.extent.as_ref().expect("a real kernel's")
}

#[test]
fn a_release_timer_that_is_always_2_ms_late_is_no_clean_schedule() {
    let working = released_late(10 * MS, WORKING, NEVER);
    assert_eq!(working.state, VerdictState::Clean, "{working}");
    assert!(working.clean);
    assert_eq!((extent(&working).jobs, extent(&working).jobs_excused), (10, 10));
    assert_eq!(extent(&working).share_ppm, 10 * (WORKING + 7 * US) * 1_000_000 / END);
    let late = released_late(10 * MS, 2 * MS, NEVER);
    assert_eq!((late.violations_count(), late.state), (0, VerdictState::Excused), "{late}");
    assert!(!late.clean);
    let longest = extent(&late).longest.clone().expect("there are some");
    assert_eq!((longest.kind.as_str(), longest.ns), ("release-latency", 2 * MS));
    let text = late.to_string();
    assert!(text.starts_with("excused, no verdict: ") && text.contains("release latency for 2ms"), "{text}");
    // Who says that this machine is so slow gets what it was told.
    let slow = ExcuseLimits { longest_ns: 2 * MS, share_ppm: 250_000 };
    assert_eq!(late.clone().judged_by(&slow).state, VerdictState::Clean);
    let nearly = ExcuseLimits { longest_ns: 2 * MS - 1, ..slow };
    assert_eq!(late.judged_by(&nearly).state, VerdictState::Excused);
}

#[test]
fn what_is_always_a_little_late_is_too_much_in_all() {
    let late = released_late(2 * MS, 400 * US, NEVER);
    assert_eq!((late.violations_count(), late.state), (0, VerdictState::Excused), "{late}");
    assert!(extent(&late).longest.as_ref().is_some_and(|longest| longest.ns < 500 * US), "{late}");
    assert!(late.to_string().contains("% of the CPU time, of which 10.00 % may be excused"), "{late}");
    assert_eq!(released_late(10 * MS, 400 * US, NEVER).state, VerdictState::Clean);
}

/// `a` (1 ms of 10 ms) comes while `b` (12 ms of 20 ms) runs: its CPU is asked to decide at once, and does so `heard` ns later, or
/// when `b` is done.
fn kicked(heard: u64) -> Verdict {
    let mut cpu = Cpu::new(0);
    for round in 0..u32::try_from(END / (20 * MS)).expect("few") {
        let begin = u64::from(round) * 20 * MS;
        let (a, b, next) = ((0, 2 * round), (1, round), (0, 2 * round + 1));
        cpu.records.extend([
            release(0, a.1, begin, 10 * MS),
            release(1, b.1, begin, 20 * MS),
            release(0, next.1, begin + 10 * MS, 10 * MS),
        ]);
        let at = cpu.releases(begin, WORKING);
        let end = cpu.runs(at, a, MS);
        cpu.ends(end, a, EventKind::Complete);
        let done = cpu.runs(end, b, 12 * MS);
        let asked = cpu.releases(begin + 10 * MS, WORKING);
        let at = done.min(asked + heard);
        cpu.is_asked(asked, at);
        let kind = if at == done { EventKind::Complete } else { EventKind::Preempt };
        cpu.ends(at, b, kind);
        let end = cpu.runs(at, next, MS);
        cpu.ends(end, next, EventKind::Complete);
        if at < done {
            let end = cpu.runs(end, b, done - at);
            cpu.ends(end, b, EventKind::Complete);
            cpu.idles(end);
        } else {
            cpu.idles(end);
        }
    }
    verdict_on(&[(MS, 10 * MS), (12 * MS, 20 * MS)], BudgetRule::OFF, END, cpu.records)
}

#[test]
fn kicks_that_do_not_preempt_are_no_clean_schedule() {
    let working = kicked(5 * US);
    assert_eq!(working.state, VerdictState::Clean, "{working}");
    let broken = kicked(u64::MAX >> 1);
    assert_eq!((broken.violations_count(), broken.state), (0, VerdictState::Excused), "{broken}");
    let longest = extent(&broken).longest.clone().expect("there are some");
    assert!(longest.kind == "interrupt" && longest.ns > 2 * MS, "{longest:?}");
    // By the next tick of 1 ms.
    let ticks = kicked(MS);
    assert_eq!((ticks.violations_count(), ticks.state), (0, VerdictState::Excused), "{ticks}");
}

/// The only job of a task (1 ms of 10 ms) needs 5 ms. Its CPU is asked to end the budget in time, and hears of it so late.
fn budget_ended(heard: u64) -> Verdict {
    let (period, mut cpu) = (10 * MS, Cpu::new(0));
    cpu.records.push(release(0, 0, 0, period));
    let at = cpu.releases(0, 0);
    let used_up = cpu.runs(at, (0, 0), MS);
    cpu.is_asked(used_up, used_up + heard);
    cpu.ends(used_up + heard, (0, 0), EventKind::Throttle);
    cpu.idles(used_up + heard);
    cpu.ends(used_up + heard + US, (0, 0), EventKind::Preempt);
    verdict_on(&[(MS, period)], BudgetRule::THROTTLE, period - 1, cpu.records)
}

#[test]
fn a_budget_that_ends_late_needs_an_excuse_and_that_has_the_same_limits() {
    let working = budget_ended(5 * US);
    assert_eq!(working.state, VerdictState::Clean, "{working}");
    let broken = budget_ended(3 * MS);
    assert_eq!((broken.violations_count(), broken.state), (0, VerdictState::Excused), "{broken}");
    let longest = extent(&broken).longest.clone().expect("there are some");
    assert_eq!((longest.kind.as_str(), longest.ns), ("budget-overrun", 3 * MS));
}

/// A thread that is none of the tasks has the CPU from 20 ms on, for as long.
fn beside(why: u64, length: u64) -> Verdict {
    let (mut cpu, period) = (Cpu::new(0), 50 * MS);
    for job in 0..2 {
        let due = u64::from(job) * period;
        cpu.records.push(release(0, job, due, period));
        let at = cpu.releases(due, WORKING);
        let end = cpu.runs(at, (0, job), 30 * MS);
        if job == 0 {
            let at = 20 * MS;
            cpu.ends(at, (0, job), EventKind::Preempt);
            cpu.records.push(work(at, EventKind::BackgroundStart, 0, NONE, 7, why));
            cpu.records.push(work(at + length, EventKind::BackgroundStop, 0, NONE, 7, 0));
            let end = cpu.runs(at + length, (0, job), end - at);
            cpu.ends(end, (0, job), EventKind::Complete);
            cpu.idles(end);
        } else {
            cpu.ends(end, (0, job), EventKind::Complete);
            cpu.idles(end);
        }
    }
    verdict_on(&[(30 * MS, period)], BudgetRule::OFF, END, cpu.records)
}

#[test]
fn a_thread_that_goes_first_may_take_long_but_not_most_of_the_time() {
    // A kernel thread, a higher class.
    for why in [1, 2] {
        let some = beside(why, 5 * MS);
        assert_eq!(some.state, VerdictState::Clean, "{some}");
        assert!(extent(&some).longest.as_ref().is_some_and(|longest| longest.ns < 20 * US), "{some}");
        assert!(extent(&some).excused_ns >= 5 * MS, "{some}");
        let most = beside(why, 15 * MS);
        assert_eq!((most.violations_count(), most.state), (0, VerdictState::Excused), "{most}");
    }
}

#[test]
fn a_job_that_is_never_released_is_one_violation_and_says_why() {
    let lost = released_late(10 * MS, WORKING, 6);
    assert_eq!((lost.violations_count(), lost.state), (1, VerdictState::Violated), "{lost}");
    let violation = &lost.violations[0];
    assert_eq!(violation.oracle, Oracle::Periods, "{lost}");
    assert_eq!((violation.from_ns, violation.to_ns), (60 * MS, END));
    assert_eq!(violation.unexplained_ns, Some(40 * MS));
    assert!(violation.text.contains("t0.6") && violation.text.contains("was never released"), "{lost}");
    // It is not excused, however much may be.
    let all = ExcuseLimits { longest_ns: u64::MAX, share_ppm: 1_000_000 };
    assert_eq!(lost.judged_by(&all).state, VerdictState::Violated);
}

#[test]
fn a_timer_that_has_not_gone_off_a_period_later_is_lost_whatever_the_host_says_of_it() {
    // When the recording ends, the host says that its timer is overdue: since the release of this job.
    let overdue = |lost: u32| {
        let mut records = released_late_records(10 * MS, WORKING, lost);
        records.push(work(END, EventKind::ReleaseOverhead, 0, NONE, 0, T0 + u64::from(lost) * 10 * MS));
        verdict_on(&[(MS, 10 * MS)], BudgetRule::OFF, END, records)
    };
    let long = overdue(6);
    assert_eq!((long.violations_count(), long.state), (1, VerdictState::Violated), "{long}");
    assert_eq!(long.violations[0].unexplained_ns, Some(40 * MS), "{long}");
    assert!(long.violations[0].text.contains("t0.6 (deadline 70ms) was never released"), "{long}");
    assert!(
        extent(&long).longest.as_ref().is_some_and(|longest| longest.ns < 20 * US),
        "it excuses nothing: {long}"
    );
    // The last one may be late.
    let last = overdue(9);
    assert_eq!((last.violations_count(), last.state), (0, VerdictState::Excused), "{last}");
    assert_eq!(extent(&last).longest.as_ref().map(|longest| longest.ns), Some(10 * MS), "{last}");
}

/// `a` (5 ms of 50 ms) is not released at 50 ms, while `b` (2 ms of 5 ms), which goes before it, comes and goes; `handled` says
/// that a timer went off for `a`.
fn lost_beside_others(handled: bool) -> Verdict {
    let (mut cpu, end) = (Cpu::new(0), 90 * MS);
    cpu.records.extend([release(0, 0, 0, 50 * MS), release(0, 1, 50 * MS, 50 * MS)]);
    for job in 0..18 {
        let due = u64::from(job) * 5 * MS;
        cpu.records.push(release(1, job, due, 5 * MS));
        // The timer for `b` is another one, whose instant is not that of `a`.
        let at = if due == 50 * MS && !handled { due } else { cpu.releases(due, 0) };
        let mut end = cpu.runs(at, (1, job), 2 * MS);
        cpu.ends(end, (1, job), EventKind::Complete);
        if job == 0 {
            // Until the next job of `b` comes there are 3 ms.
            end = cpu.runs(end, (0, 0), 2 * MS);
            cpu.ends(end, (0, 0), EventKind::Complete);
        }
        cpu.idles(end);
    }
    verdict_on(&[(5 * MS, 50 * MS), (2 * MS, 5 * MS)], BudgetRule::OFF, end, cpu.records)
}

#[test]
fn a_job_that_never_begins_is_one_violation_however_often_others_go_before_it() {
    for (handled, words, oracle) in
        [(false, "was never released", Oracle::Periods), (true, "never began", Oracle::WorkConservation)]
    {
        let verdict = lost_beside_others(handled);
        let of_a: Vec<_> = verdict
            .violations
            .iter()
            .filter(|one| one.should_have_run.is_some_and(|job| job.task == 0))
            .collect();
        assert_eq!(of_a.len(), 1, "{verdict}");
        assert_eq!(of_a[0].oracle, oracle, "{verdict}");
        assert!(of_a[0].text.contains(words), "{verdict}");
        // Of every 5 ms, 3 are left by `b`.
        assert!(of_a[0].unexplained_ns.is_some_and(|ns| ns > 8 * 2 * MS), "{verdict}");
    }
}

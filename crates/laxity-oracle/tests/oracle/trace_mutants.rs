//! Right traces with one change each: the oracle that is meant to catch it does. And arbitrary ones: nothing panics.

use crate::random::{ANY, Case, Wish, case, rng};
use laxity_model::OnMiss;
use laxity_oracle::{BudgetRule, Oracle, reference, verify};
use laxity_trace::{Event, EventKind};
use rand::RngExt;

/// Changes a trace; false if it holds nothing to change.
type Change = fn(&mut Vec<Event>, &Case) -> bool;

/// The last event that `is` what is looked for, with its place.
fn find(events: &[Event], is: impl Fn(&Event) -> bool) -> Option<usize> {
    events.iter().rposition(is)
}

fn on_kind(events: &mut Vec<Event>, kind: EventKind, act: impl FnOnce(&mut Vec<Event>, usize)) -> bool {
    let place = find(events, |event| event.kind == kind);
    place.map(|place| act(events, place)).is_some()
}

fn remove(events: &mut Vec<Event>, place: usize) {
    events.remove(place);
}

fn in_order(events: &mut [Event]) {
    events.sort_by_key(|event| event.time_ns);
}

fn mutants() -> Vec<(&'static str, Change, Oracle)> {
    use EventKind::*;
    use Oracle::*;
    vec![
        ("a start comes late", |events, _| late_start(events), WorkConservation),
        ("a preemption is dropped", |events, _| on_kind(events, Preempt, remove), OneCpu),
        ("a job runs twice", |events, case| twice(events, case), OneCpu),
        ("a release is dropped", |events, _| on_kind(events, Release, remove), Periods),
        (
            "a release comes late",
            |events, _| {
                on_kind(events, Release, |events, place| {
                    events[place].time_ns += 1;
                    events[place].argument = events[place].argument.map(|deadline| deadline + 1);
                    in_order(events);
                })
            },
            Periods,
        ),
        (
            "a job that is not due is released",
            |events, _| {
                on_kind(events, Release, |events, place| {
                    let last = events[place];
                    events.insert(place + 1, Event { job: last.job.map(|job| job + 1), ..last });
                })
            },
            Periods,
        ),
        ("a job starts before its release", |events, _| early_start(events), Periods),
        (
            "a release has another deadline",
            |events, _| {
                on_kind(events, Release, |e, place| e[place].argument = e[place].argument.map(|d| d - 1))
            },
            Deadlines,
        ),
        (
            "a completion has another deadline",
            |events, _| {
                on_kind(events, Complete, |e, place| e[place].argument = e[place].argument.map(|d| d + 1))
            },
            Deadlines,
        ),
        (
            "a miss is not recorded",
            |events, case| {
                let known = |e: &Event| e.kind == DeadlineMiss && e.time_ns < case.end;
                find(events, known).map(|place| events.remove(place)).is_some()
            },
            Deadlines,
        ),
        (
            "a miss is recorded that was none",
            |events, _| {
                on_kind(events, Complete, |events, place| {
                    events.insert(place, Event { kind: DeadlineMiss, argument: None, ..events[place] });
                })
            },
            Deadlines,
        ),
        ("a completion comes early", |events, _| early_completion(events), Demand),
        (
            "a completion comes twice",
            |events, _| on_kind(events, Complete, |e, at| e.insert(at, e[at])),
            WellFormed,
        ),
        (
            "a resume is called a start",
            |events, _| on_kind(events, Resume, |events, place| events[place].kind = Start),
            WellFormed,
        ),
        (
            "a migration comes from elsewhere",
            |events, _| {
                on_kind(events, Migrate, |e, place| e[place].argument = e[place].argument.map(|cpu| cpu + 1))
            },
            WellFormed,
        ),
        (
            "two events are exchanged",
            |events, _| {
                let later = (1..events.len()).rfind(|&i| events[i - 1].time_ns < events[i].time_ns);
                later.map(|place| events.swap(place - 1, place)).is_some()
            },
            WellFormed,
        ),
        (
            "an event has no CPU",
            |events, _| on_kind(events, Start, |events, place| events[place].cpu = None),
            WellFormed,
        ),
        ("jobs change places", |events, _| renumbered(events), Sequence),
        ("a job runs outside its cluster", |events, case| elsewhere(events, case), Affinity),
        (
            "a replenishment has another deadline",
            |events, _| {
                on_kind(events, Replenish, |e, place| e[place].argument = e[place].argument.map(|d| d + 1))
            },
            Budgets,
        ),
        (
            "a replenishment is not recorded",
            |events, case| {
                let known = |e: &Event| e.kind == Replenish && e.time_ns < case.end;
                find(events, known).map(|place| events.remove(place)).is_some()
            },
            Budgets,
        ),
        ("a batch is torn apart", |events, _| torn_batch(events), Batching),
        (
            "every job has an interrupt",
            |events, _| {
                let interrupt = |e: &Event| Event { kind: ReleaseOverhead, argument: Some(0), ..*e };
                let released = |e: &Event| e.kind == Release;
                let interrupts: Vec<Event> = events.iter().filter(|e| released(e)).map(interrupt).collect();
                let batches: std::collections::BTreeSet<u64> = interrupts.iter().map(|e| e.time_ns).collect();
                events.extend(&interrupts);
                in_order(events);
                batches.len() < interrupts.len()
            },
            Batching,
        ),
    ]
}

fn late_start(events: &mut [Event]) -> bool {
    let next_on = |place: usize| {
        events[place + 1..].iter().find(|e| e.cpu == events[place].cpu).map_or(u64::MAX, |next| next.time_ns)
    };
    let start = (0..events.len())
        .rfind(|&place| events[place].kind == EventKind::Start && next_on(place) > events[place].time_ns + 1);
    let Some(place) = start else { return false };
    events[place].time_ns += 1;
    in_order(events);
    true
}

fn early_start(events: &mut Vec<Event>) -> bool {
    let Some(start) = find(events, |event| event.kind == EventKind::Start) else { return false };
    let of = |event: &Event| (event.task, event.job);
    let job = of(&events[start]);
    let released = find(events, |event| event.kind == EventKind::Release && of(event) == job);
    let Some(release) = released.filter(|&place| events[place].time_ns == events[start].time_ns) else {
        return false;
    };
    let release = events.remove(release);
    events.insert(start, release);
    true
}

fn early_completion(events: &mut [Event]) -> bool {
    let runs_before = |place: usize| {
        let begin = events[..place].iter().rfind(|e| e.cpu == events[place].cpu && e.kind.begins_running());
        begin.is_some_and(|begin| begin.time_ns + 2 < events[place].time_ns)
    };
    let complete = (0..events.len()).rfind(|&at| events[at].kind == EventKind::Complete && runs_before(at));
    let Some(place) = complete else { return false };
    events[place].time_ns -= 2;
    in_order(events);
    true
}

/// A copy of a start, on a CPU that is idle then.
fn twice(events: &mut Vec<Event>, case: &Case) -> bool {
    let Some(start) = find(events, |event| event.kind == EventKind::Start) else { return false };
    let cluster = events[start].task.and_then(|task| case.definition.cluster_of(task)).expect("it has one");
    let busy = |cpu: u32| {
        let last = events[..=start].iter().rfind(|event| event.cpu == Some(cpu));
        last.is_some_and(|event| event.kind.begins_running())
    };
    let cpus = case.definition.clusters()[cluster].task_cpus();
    let Some(free) = cpus.iter().find(|&cpu| !busy(cpu)) else { return false };
    events.insert(start + 1, Event { cpu: Some(free), ..events[start] });
    true
}

/// Jobs k and k + 1 of a task exchange their numbers, but for their releases.
fn renumbered(events: &mut [Event]) -> bool {
    let Some(last) = find(events, |e| e.kind.begins_running() && e.job > Some(0)) else { return false };
    let (task, number) = (events[last].task, events[last].job.expect("it has one"));
    for event in events.iter_mut().filter(|e| e.task == task && e.kind != EventKind::Release) {
        event.job = event.job.map(|job| match job {
            _ if job == number => number - 1,
            _ if job + 1 == number => number,
            _ => job,
        });
    }
    // Job k + 1 was released before job k began, or this is a job before its release.
    let of = |event: &&Event| event.task == task && event.job == Some(number);
    let released = events.iter().filter(of).find(|e| e.kind == EventKind::Release).map(|e| e.time_ns);
    let ran = events.iter().filter(of).find(|e| e.kind.begins_running()).map(|e| e.time_ns);
    released.is_some() && released <= ran
}

fn elsewhere(events: &mut [Event], case: &Case) -> bool {
    let all = case.definition.clusters();
    let Some(start) = find(events, |event| event.kind == EventKind::Start) else { return false };
    let cluster = events[start].task.and_then(|task| case.definition.cluster_of(task)).expect("it has one");
    let Some(other) = (0..all.len()).find(|&other| other != cluster) else { return false };
    let cpu = all[other].cpus.lowest();
    for event in &mut events[start..] {
        if event.cpu.is_some_and(|cpu| all[cluster].cpus.contains(cpu)) {
            event.cpu = cpu;
        }
    }
    true
}

/// A start of an instant comes before a release of it.
fn torn_batch(events: &mut Vec<Event>) -> bool {
    let is = |event: &Event, kind| event.kind == kind;
    for start in (0..events.len()).rev().filter(|&place| is(&events[place], EventKind::Start)) {
        let begun = events[start];
        // Jobs that arrive behind another one are released when that one completes.
        let behind = |release: &Event| {
            let before =
                |e: &Event| is(e, EventKind::Complete) && e.task == release.task && e.time_ns < begun.time_ns;
            release.job != Some(0)
                && !events.iter().any(|e| before(e) && e.job.map(|job| job + 1) == release.job)
        };
        let together = |e: &Event| is(e, EventKind::Release) && e.time_ns == begun.time_ns && !behind(e);
        let group: Vec<usize> = (0..start).filter(|&place| together(&events[place])).collect();
        let own = group
            .iter()
            .position(|&place| (events[place].task, events[place].job) == (begun.task, begun.job));
        let (Some(own), Some(&last)) = (own, group.last()) else { continue };
        if group[own] < last && events[..start].iter().all(|e| e.time_ns < begun.time_ns || e.cpu.is_none()) {
            events.remove(start);
            events.insert(last, begun);
            return true;
        }
    }
    false
}

#[test]
fn every_change_is_caught_by_its_oracle() {
    let mut escaped = Vec::new();
    for (name, change, oracle) in mutants() {
        let (mut applied, mut caught) = (0, 0);
        for seed in laxity_seeds::seeds!(0..200) {
            let throttle = (oracle == Oracle::Budgets).then_some(BudgetRule::THROTTLE);
            let wish = Wish { budget_mode: throttle, slower_cores: oracle != Oracle::Demand, ..ANY };
            let wish = Wish { clustered: oracle == Oracle::Affinity, ..wish };
            let case = case(seed, wish);
            let (definition, end) = (&case.definition, case.end);
            let mut events = reference(definition, &definition.jobs(), end).expect("possible").events;
            if oracle == Oracle::Batching && definition.clusters().len() > 1 {
                continue;
            }
            if !change(&mut events, &case) {
                continue;
            }
            let lowest = definition.clusters()[0].cpus.lowest();
            for event in events.iter_mut().filter(|event| event.kind.is_overhead()) {
                event.cpu = lowest;
            }
            applied += 1;
            let verdict = verify(definition, &events, end);
            assert!(!verdict.clean, "{name}, seed {seed}");
            caught += u32::from(verdict.count(oracle) > 0);
        }
        println!("{name:40} {:18} caught {caught} of {applied}", oracle.name());
        if laxity_seeds::are_usual() && (applied < 5 || caught * 10 < applied * 9) {
            escaped.push((name, caught, applied));
        }
    }
    assert!(escaped.is_empty(), "{escaped:?}");
}

#[test]
fn no_trace_makes_it_panic() {
    for seed in laxity_seeds::seeds!(0..4_000) {
        let case = case(seed % 400, ANY);
        let on_miss = OnMiss::ALL[usize::try_from(seed / 400 % 3).expect("small")];
        let (definition, end) = (&case.definition.with_on_miss(on_miss), case.end);
        let mut events = reference(definition, &definition.jobs(), end).expect("possible").events;
        let mut rng = rng(seed);
        for _ in 0..rng.random_range(1..40) {
            let (place, other) = (rng.random_range(0..events.len()), rng.random_range(0..events.len()));
            let extreme = [0, 1, 5, 1 << 32, u64::MAX - 1, u64::MAX][rng.random_range(0..6)];
            let small = u32::try_from(extreme).unwrap_or(u32::MAX);
            let event = &mut events[place];
            match rng.random_range(0..9) {
                0 => event.kind = EventKind::ALL[rng.random_range(0..EventKind::ALL.len())],
                1 => event.time_ns = extreme,
                2 => event.cpu = Some(small),
                3 => event.task = Some(small),
                4 => event.job = Some(small),
                5 => event.argument = Some(extreme),
                6 => event.argument = None,
                7 => events.swap(place, other),
                _ => events.insert(place, events[other]),
            }
        }
        let verdict = verify(definition, &events, end);
        assert_eq!(verdict.events, events.len() as u64);
    }
}

//! Tasks that enter and leave, are promoted and demoted, and servers that are resized, under amp-rm (calandrino2007, 4.1): by hand,
//! on one CPU against a second implementation, and on many under admission against what was promised.
//!
//! `LAXITY_SEEDS=4000..9000 cargo test --release -p laxity-sim --test lives` looks at other lives.

mod admitted;
mod by_definition;
mod masks;
mod world;

use laxity_sim::{ChangeOutcome, What};
use laxity_trace::EventKind;
use world::{Own, UNIT, World, server_of};

/// T1 = (2, 6), T2 = (3, 10) on one CPU with nothing else; T2 is in the background in [4, 13).
fn two_tasks() -> World {
    World {
        tasks: vec![(2, 6, Some(0)), (3, 10, Some(0))],
        servers: vec![(0, 0)],
        length: 30,
        changes: vec![(4, What::Demote { task: 1 }), (13, What::Promote { task: 1, cpu: Some(0) })],
        ..World::default()
    }
}

#[test]
fn a_job_goes_on_as_what_its_task_becomes() {
    // T2.0 has run in [2, 4), and goes on in the background in [4, 5). T2.1 arrives at 10 in the background, runs
    // in [10, 12), has to stop for T1.2 and is released again at 13: it ends at 15, and the next one comes a period
    // later.
    let world = two_tasks();
    let seen = world.simulate();
    let finishes = World::finishes(&seen.recording);
    assert_eq!(finishes[&(1, 0)], 5);
    assert_eq!(finishes[&(1, 1)], 15);
    assert_eq!(finishes[&(1, 2)], 28);
    let release =
        seen.recording.jobs.iter().find(|job| (job.task, job.index) == (1, 2)).expect("it ran").release_ns;
    assert_eq!(release, 23 * UNIT);
    assert_eq!(finishes[&(0, 2)], 14);
    let outcomes: Vec<&ChangeOutcome> = seen.changed.iter().map(|changed| &changed.outcome).collect();
    assert_eq!(outcomes, [&ChangeOutcome::Ordinary, &ChangeOutcome::RealTime { cpu: 0 }]);
    let verdict = world.verify(&seen.recording, 0);
    assert!(verdict.clean, "{verdict}");
}

#[test]
fn a_task_that_leaves_ends_its_job_and_releases_no_other() {
    let world =
        World { changes: vec![(1, What::Leave { task: 0 }), (12, What::Leave { task: 1 })], ..two_tasks() };
    let seen = world.simulate();
    let ended: Vec<(u32, u32)> = World::finishes(&seen.recording).into_keys().collect();
    assert_eq!(ended, [(0, 0), (1, 0), (1, 1)]);
    assert_eq!(seen.recording.jobs.len(), 3);
    assert!(world.verify(&seen.recording, 0).clean);
}

fn refusal(outcome: &ChangeOutcome) -> &str {
    match outcome {
        ChangeOutcome::Refused(why) => &why.message,
        other => panic!("{other:?} is no refusal"),
    }
}

#[test]
fn a_task_that_leaves_before_its_phase_never_enters() {
    for (at, jobs) in [(9, 0), (10, 0), (11, 1)] {
        let own = vec![Own { phase: 10, leave: Some(25), ..Own::default() }];
        let world = World { own, changes: vec![(at, What::Leave { task: 0 })], ..two_tasks() };
        let seen = world.simulate();
        assert_eq!(seen.recording.jobs.iter().filter(|job| job.task == 0).count(), jobs, "{at}");
        let of_task =
            seen.recording.events.iter().filter(|event| event.task == Some(0) && event.job.is_none());
        let kinds: Vec<(u64, EventKind)> = of_task.map(|event| (event.time_ns / UNIT, event.kind)).collect();
        let entered = [(10, EventKind::Enter)];
        assert_eq!(kinds, [&entered[..jobs], &[(at, EventKind::Leave)]].concat());
        let verdict = world.verify(&seen.recording, 0);
        assert!(verdict.clean, "{at}: {verdict}");
    }
}

#[test]
fn a_task_that_has_left_by_itself_cannot_change() {
    let own = vec![Own::default(), Own { leave: Some(15), ..Own::default() }];
    let promote = What::Promote { task: 1, cpu: Some(0) };
    // T2.1 has arrived at 10, and is not done at 15: in the background it waits for T1 in [12, 14).
    let changes = vec![(11, What::Demote { task: 1 }), (15, promote), (16, What::Leave { task: 1 })];
    let world = World { own, changes, tasks: vec![(2, 6, Some(0)), (4, 10, Some(0))], ..two_tasks() };
    let seen = world.simulate();
    assert_eq!(seen.changed[0].outcome, ChangeOutcome::Ordinary);
    for changed in &seen.changed[1..] {
        assert!(refusal(&changed.outcome).contains("`T2` has left"), "{:?}", changed.outcome);
    }
    assert_eq!(World::finishes(&seen.recording)[&(1, 1)], 16);
    assert_eq!(seen.recording.jobs.iter().filter(|job| job.task == 1).count(), 2);
    assert!(world.verify(&seen.recording, 0).clean);
    let late = World { changes: vec![(15, What::Enter { task: 1, cpu: Some(0) })], ..world };
    let late = World { tasks: vec![(2, 6, Some(0)), (3, 10, None)], ..late };
    let seen = late.simulate();
    assert!(refusal(&seen.changed[0].outcome).contains("`T2` has no more jobs"));
    assert!(seen.recording.jobs.iter().all(|job| job.task == 0));
    assert!(late.verify(&seen.recording, 0).clean);
}

#[test]
fn a_task_that_leaves_by_itself_makes_room_for_others() {
    let world = World {
        tasks: vec![(2, 10, Some(0)), (5, 10, Some(0)), (6, 10, None)],
        own: vec![Own::default(), Own { leave: Some(22), ..Own::default() }],
        servers: vec![(1, 10)],
        length: 60,
        changes: vec![(3, What::Enter { task: 2, cpu: None }), (22, What::Promote { task: 2, cpu: None })],
        promise: Some((false, None)),
        ..World::default()
    };
    let seen = world.simulate();
    assert!(refusal(&seen.changed[0].outcome).contains("`T3` cannot enter"));
    assert_eq!(seen.changed[1].outcome, ChangeOutcome::RealTime { cpu: 0 });
    // When T2.2, which T3 has been asked to enter before the end of, is done.
    assert_eq!(seen.changed[1].at_ns, 28 * UNIT);
    let verdict = world.verify(&seen.recording, 0);
    assert!(verdict.clean, "{verdict}");
}

#[test]
fn no_task_enters_when_no_more_jobs_are_released() {
    // T1 leaves at 30, and its job of 29 counts until it is done, at 42 or later: T2, whose job of 20 is not done then, has waited.
    let world = World {
        tasks: vec![(12, 14, Some(0)), (8, 20, None)],
        own: vec![Own { phase: 15, ..Own::default() }],
        servers: vec![(1, 10)],
        length: 31,
        grace: 60,
        changes: vec![(30, What::Leave { task: 0 }), (30, What::Promote { task: 1, cpu: None })],
        promise: Some((false, None)),
        ..World::default()
    };
    let seen = world.simulate();
    assert!(refusal(&seen.changed[1].outcome).contains("`T2` cannot enter"), "{:?}", seen.changed);
    assert!(World::finishes(&seen.recording)[&(1, 1)] > 42);
    let verdict = world.verify(&seen.recording, 0);
    assert!(verdict.clean, "{verdict}");
    let longer = World { length: 60, ..world };
    assert_eq!(longer.simulate().changed[1].outcome, ChangeOutcome::RealTime { cpu: 0 });
}

#[test]
fn a_size_comes_with_a_period_and_another_period_when_the_core_is_quiet() {
    let resize = |budget, period| What::Resize { cpu: 0, server: server_of(budget, period) };
    let world = World {
        tasks: vec![(4, 20, Some(0))],
        servers: vec![(2, 5)],
        busy: 1,
        changes: vec![(1, resize(1, 5)), (6, resize(3, 8))],
        length: 60,
        ..World::default()
    };
    let seen = world.simulate();
    let sizes: Vec<(u64, EventKind, u64)> = seen
        .recording
        .events
        .iter()
        .filter(|event| matches!(event.kind, EventKind::ServerPeriod | EventKind::ServerBudget))
        .map(|event| (event.time_ns / UNIT, event.kind, event.argument.unwrap_or(0) / UNIT))
        .collect();
    use EventKind::{ServerBudget, ServerPeriod};
    // The job has [2, 5), and [6, 7) after the budget of the second period.
    assert_eq!(
        sizes,
        [(5, ServerPeriod, 5), (5, ServerBudget, 1), (7, ServerPeriod, 8), (7, ServerBudget, 3)]
    );
    let from = |ns: u64| ChangeOutcome::Resized { from_ns: Some(ns * UNIT) };
    let outcomes = |seen: &world::Seen| -> Vec<ChangeOutcome> {
        seen.changed.iter().map(|changed| changed.outcome.clone()).collect()
    };
    assert_eq!(outcomes(&seen), [from(5), from(7)]);
    let verdict = world.verify(&seen.recording, 0);
    assert!(verdict.clean, "{verdict}");
    // Another size is asked for before, or the simulation ends before.
    let never = ChangeOutcome::Resized { from_ns: None };
    for (changes, length, expected) in [
        (vec![(1, resize(1, 5)), (2, resize(3, 5))], 60, vec![never.clone(), from(5)]),
        (vec![(1, resize(1, 8)), (2, resize(3, 5))], 60, vec![never.clone(), from(5)]),
        (vec![(1, resize(1, 8)), (2, resize(3, 9))], 60, vec![never.clone(), from(8)]),
        (vec![(3, resize(1, 5)), (3, resize(3, 8))], 4, vec![never.clone(), never.clone()]),
    ] {
        let world = World { changes: changes.clone(), length, ..world.clone() };
        assert_eq!(outcomes(&world.simulate()), expected, "{changes:?}");
    }
}

#[test]
fn a_refused_task_runs_in_the_background_and_is_asked_again() {
    // Together T2 and T3 do not fit; T2 leaves.
    let world = World {
        tasks: vec![(2, 10, Some(0)), (5, 10, Some(0)), (6, 10, None)],
        servers: vec![(1, 10)],
        length: 60,
        changes: vec![
            (3, What::Enter { task: 2, cpu: None }),
            (21, What::Demote { task: 1 }),
            (21, What::Promote { task: 2, cpu: None }),
            (40, What::Promote { task: 2, cpu: None }),
            (41, What::Resize { cpu: 0, server: server_of(5, 10) }),
        ],
        promise: Some((false, None)),
        ..World::default()
    };
    let seen = world.simulate();
    let text = |at: usize| match &seen.changed[at].outcome {
        ChangeOutcome::Refused(why) => why.message.clone(),
        other => format!("{other:?}"),
    };
    assert!(text(0).contains("`T3` cannot enter"), "{}", text(0));
    assert_eq!(seen.changed[1].outcome, ChangeOutcome::Ordinary);
    // Not at 21, when what T2 has begun is still counted, but when nothing is pending.
    assert_eq!(seen.changed[2].outcome, ChangeOutcome::RealTime { cpu: 0 });
    assert!(text(3).contains("is a real-time task already"), "{}", text(3));
    assert!(text(4).contains("cannot be"), "{}", text(4));
    let jobs = |task: u32| seen.recording.jobs.iter().filter(move |job| job.task == task);
    assert!(jobs(2).count() >= 4 && jobs(1).count() == 6);
    let verdict = world.verify(&seen.recording, 0);
    assert!(verdict.clean, "{verdict}");
}

#[test]
fn what_cannot_be_simulated_is_refused() {
    let refused = |changes: &[(u64, What)], scheduler: &str| {
        let world = World { changes: changes.to_vec(), ..two_tasks() };
        world.refused(scheduler.parse().expect("known"))
    };
    let (demote, enter) = (What::Demote { task: 1 }, What::Enter { task: 1, cpu: Some(0) });
    let confined = |cores: Vec<u32>| Own { cores: Some(cores), ..Own::default() };
    for (own, why) in [
        (
            vec![Own::default(), confined(vec![7])],
            "task `T2` may run on none of the CPUs 0 of platform `cores`",
        ),
        (vec![confined(vec![1])], "task `T1` may run on CPU 1 only"),
    ] {
        let tasks = vec![(2, 6, Some(0)), (3, 10, None)];
        let changes = vec![(1, What::Demote { task: 0 })];
        let text = World { own, tasks, changes, ..two_tasks() }.refused("amp-rm".parse().expect("known"));
        assert!(text.contains(why), "{text}");
    }
    let elsewhere = World {
        speeds: vec![(1, 1); 2],
        servers: vec![(0, 0); 2],
        own: vec![Own::default(), confined(vec![0])],
        changes: vec![(1, demote), (2, What::Promote { task: 1, cpu: Some(1) })],
        ..two_tasks()
    };
    let text = elsewhere.refused("amp-rm".parse().expect("known"));
    assert!(text.contains("change 2, at 2us: task `T2` may run on CPU 0 only, not on CPU 1"), "{text}");
    for (changes, scheduler, why) in [
        (vec![(1, demote)], "p-fpp:rm", "change 1, at 1us: only under amp-rm"),
        (vec![(2, demote), (1, demote)], "amp-rm", "after a later one"),
        (
            vec![(1, demote), (30, What::Leave { task: 0 })],
            "amp-rm",
            "change 2, at 30us: nothing changes from 30us on",
        ),
        (vec![(31, demote)], "amp-rm", "nothing changes"),
        (vec![(1, What::Demote { task: 7 })], "amp-rm", "no real-time task 7"),
        (vec![(1, What::Promote { task: 1, cpu: None })], "amp-rm", "onto which CPU"),
        (vec![(1, What::Promote { task: 1, cpu: Some(3) })], "amp-rm", "no CPU 3"),
        (
            vec![(1, demote), (2, enter)],
            "amp-rm",
            "change 2, at 2us: `change 1, at 1us` is for task `T2` before it enters",
        ),
        (
            vec![(1, enter), (2, enter)],
            "amp-rm",
            "change 2, at 2us: task `T2` has entered by `change 1, at 1us`",
        ),
    ] {
        let text = refused(&changes, scheduler);
        assert!(text.contains(why), "{text}");
    }
}

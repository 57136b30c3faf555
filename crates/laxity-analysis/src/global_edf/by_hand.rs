//! Small sets whose verdicts were computed with pencil and paper.

use super::{AnyGlobalEdf, Bak, Bar, Bcl, BclIterative, FfDbf, Gfb, La, Load, Rta};
use crate::{Bounds, SporadicTask, Test, Verdict, Work};

fn judge(test: &dyn Test, parameters: &[(u64, u64, u64)], processors: u32) -> Verdict {
    let task = |&(wcet, deadline, period): &_| SporadicTask::constrained(wcet, deadline, period);
    test.judge(&parameters.iter().map(task).collect::<Vec<_>>(), processors, &mut Work::default())
}

#[test]
fn bak_with_equality() {
    // k = 1: 0.4 + min(1, 0.8 + (8 - 4) / 10) = 1.4 <= 2 0.6 + 0.4. k = 2: 0.4 + 0.8 = 1.2 <= 2 0.2 + 0.8.
    assert_eq!(judge(&Bak, &[(4, 10, 10), (8, 10, 10)], 2), Verdict::SCHEDULABLE);
    // k = 2: 0.5 + 0.8 > 1.2.
    assert_eq!(judge(&Bak, &[(5, 10, 10), (8, 10, 10)], 2), Verdict::fails_at(1));
}

#[test]
fn bcl_with_equality() {
    // k = 1: x = 1, 1 + 1 = 2 x, and both fit. k = 2: x = 2, 2 + 1 < 4. k = 3: x = 5, 3 + 2 < 10.
    assert_eq!(judge(&Bcl, &[(1, 2, 2), (1, 3, 3), (1, 6, 6)], 2), Verdict::SCHEDULABLE);
    // k = 1: x = 1, min(2, 1) = x, but 2 > x.
    assert_eq!(judge(&Bcl, &[(1, 2, 2), (2, 4, 4)], 1), Verdict::fails_at(0));
}

#[test]
fn slack_makes_room() {
    // Without slack, k = 1 has x = 1 and interference min(2, 2) + min(2, 2) = 4 >= 2 (x + 1). The others have D_k = 10, x = 8, and
    // min(5, 9) + min(2, 9) = 7: a slack of 8 - floor(7 / 2) = 5, with which nothing of them interferes with k = 1.
    let tasks = [(1, 2, 2), (2, 10, 10), (2, 10, 10)];
    assert_eq!(judge(&Bcl, &tasks, 2), Verdict::fails_at(0));
    assert_eq!(judge(&BclIterative, &tasks, 2), Verdict::SCHEDULABLE);
}

#[test]
fn the_third_of_three_waits_for_one() {
    // R = 2 + floor(2 min(2, R - 1) / 2) = 4, and the third of them does finish at 4.
    let bounds = Bounds::ResponseTimes(vec![4, 4, 4]);
    assert_eq!(judge(&Rta, &[(2, 10, 10); 3], 2), Verdict::Schedulable(bounds));
}

#[test]
fn integer_time_matters_to_bar() {
    // k = 2, t = 10: x = 10 - 6 + 1, and task 1 fills it. With x = 10 - 6 and <= it would pass, min(5, 4) = 4, and so would k = 1 at
    // t = 10, min(6, 5) = 5: but 5 + 6 > 10.
    let overload = [(5, 5, 20), (6, 10, 20)];
    assert_eq!(judge(&Bar, &overload, 1), Verdict::fails_at(1));
    assert_eq!(judge(&La, &overload, 1), Verdict::fails_at(1));
    assert_eq!(judge(&Bar, &[(5, 5, 20), (5, 10, 20)], 1), Verdict::SCHEDULABLE);
}

#[test]
fn the_second_job_of_a_backlog_can_fail_where_the_first_does_not() {
    // Task 4, two jobs, t = 3 + 2: x = 5 - 2 + 1 = 4. Within it 1 of task 1, dbf(5) = 3 of task 2, and 4 that task 3 carries in:
    // 8 >= 2 4. One job, t = 3: x = 3, and 0 + 2 + 3 < 2 3; t = 5: x = 5, and 1 + 3 + 4 + 1 < 2 5.
    let tasks = [(1, 4, 8), (1, 1, 2), (4, 55, 16), (1, 3, 2)];
    assert_eq!(judge(&La, &tasks, 2), Verdict::fails_at(3));
    assert_eq!(judge(&La, &tasks[1..], 2), Verdict::SCHEDULABLE);
}

#[test]
fn a_task_does_not_carry_in_more_than_there_is_time_before_its_backlog() {
    // Task 1, t = D = 20: x = 20 - 8 + 1 = 13. The other 18 do 18 < 2 13. Task 1 carries in 2 8 - 8 = 8, for which there is no time
    // before its backlog: with them it would fail, 18 + 8 = 2 13.
    //
    // BAR cannot tell: where D <= T, floor(t / T) C + min(C - 1, t mod T) - C is at most t - D, and that below x.
    let mut tasks = vec![(8, 20, 10)];
    tasks.extend([(1, 20, 1_000); 18]);
    assert_eq!(judge(&La, &tasks, 2), Verdict::SCHEDULABLE);
    // 8 more leave it no time: 26 = 2 13.
    tasks.extend([(1, 20, 1_000); 8]);
    assert_eq!(judge(&La, &tasks, 2), Verdict::fails_at(0));
}

#[test]
fn load_with_equality() {
    // delta_max = 0.5, mu = 1.5, the bound is 1; dbf(4) = 4, dbf(8) = 8.
    assert_eq!(judge(&Load, &[(1, 2, 4), (1, 4, 4), (2, 4, 4)], 2), Verdict::SCHEDULABLE);
    // delta_max = 0.75, mu = 1.25, the bound is max(0.5, 1); dbf(4) = 5.
    assert_eq!(judge(&Load, &[(1, 2, 4), (1, 4, 4), (3, 4, 4)], 2), Verdict::FAILS);
}

#[test]
fn as_many_tasks_as_processors_never_wait() {
    // ff-dbf(1) = 2 > (2 - 1) 1 for sigma = 1, the least there is.
    assert_eq!(judge(&FfDbf, &[(1, 1, 10); 2], 2), Verdict::SCHEDULABLE);
    assert_eq!(judge(&FfDbf, &[(1, 1, 10); 3], 2), Verdict::FAILS);
}

#[test]
fn the_first_to_accept_says_so() {
    let first = |parameters: &[(u64, u64)]| {
        let tasks: Vec<_> =
            parameters.iter().map(|&(wcet, period)| SporadicTask::implicit(wcet, period)).collect();
        AnyGlobalEdf.first_to_accept(&tasks, 2, Work::default()).1.map(|info| info.name)
    };
    // Floats reject it: 0.4 + 0.8 = 2 - 0.8.
    assert_eq!(first(&[(4, 10), (8, 10)]), Some("gfb"));
    assert_eq!(first(&[(3, 10), (3, 10), (3, 20), (11, 20)]), Some("gfb"));
}

#[test]
fn work_that_runs_out_is_no_verdict() {
    let tasks = [SporadicTask::implicit(2, 10); 3];
    for test in [&Gfb as &dyn Test, &Bak, &Bar, &Bcl, &BclIterative, &Rta, &FfDbf, &Load, &La, &AnyGlobalEdf]
    {
        assert_eq!(test.judge(&tasks, 2, &mut Work::steps(1)), Verdict::OUT_OF_WORK, "{}", test.info().name);
    }
}

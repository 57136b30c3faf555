//! Response times below a server: those of the response-time analysis (`rta`), with the server as the first
//! task. The double hit is in section 4 of Strosnider, Lehoczky and Sha (1995), the same as release jitter in
//! Bernat and Burns (1999), which is in equations 5 and 6 of Audsley et al. (1993).
//!
//! Deadlines are arbitrary. With the double hit counted it is exact: a job exists that responds as late, if
//! background work arrives as the parent module assumes.

use super::{DoubleHit, FIRST_IS_SERVER, below, first_as_server};
use crate::uniprocessor::alone;
use crate::{
    Bounds, Citation, Exactness, FixedPriorityRta, Guarantee, Priorities, Source, SporadicTask, Test,
    TestInfo, Theorem, Verdict, Work, papers,
};
use laxity_model::DeferrableServer;

/// Judges the tasks below a server. Bounds and tasks are numbered without it.
pub fn response_times(
    server: DeferrableServer,
    tasks: &[SporadicTask],
    double_hit: DoubleHit,
    work: &mut Work,
) -> Verdict {
    if tasks.is_empty() {
        return Verdict::SCHEDULABLE;
    }
    let all = below(server, double_hit, tasks);
    without_server(FixedPriorityRta.judge(&all, 1, work), all.len() - tasks.len())
}

/// The verdict on the tasks after the first `servers`.
pub(super) fn without_server(verdict: Verdict, servers: usize) -> Verdict {
    match verdict {
        Verdict::Schedulable(Bounds::ResponseTimes(bounds)) => {
            Verdict::Schedulable(Bounds::ResponseTimes(bounds.into_iter().skip(servers).collect()))
        }
        other => other.with_numbers(|at| at.checked_sub(servers)),
    }
}

/// Whether tasks below a deferrable server, the first task, meet their deadlines; the double hit is counted.
#[derive(Debug, Clone, Copy, Default)]
pub struct DeferrableRta;

static INFO: TestInfo = TestInfo {
    name: "ds-rta",
    source: Source::Papers(&[
        Citation {
            paper: "Strosnider, Lehoczky, Sha: The deferrable server algorithm for enhanced aperiodic \
                responsiveness in hard real-time environments, IEEE Transactions on Computers 44(1), \
                1995",
            theorem: Theorem::Numbered("section 4 (double hit)"),
        },
        Citation {
            paper: "Bernat, Burns: New results on fixed priority aperiodic servers, RTSS 1999",
            theorem: Theorem::Unnumbered("e_s ceil((t + p_s - e_s) / p_s) for t > 0 (as release jitter)"),
        },
        Citation {
            paper: papers::AUDSLEY_1993,
            theorem: Theorem::Numbered("equations 5 and 6 (release jitter)"),
        },
    ]),
    priorities: Priorities::Fixed,
    guarantee: Guarantee::Hard,
    // Exact for servers; where the first task is one that runs periodically it knows less.
    exactness: Exactness::Sufficient,
    complexity: "pseudo-polynomial: n for every pass of every job of a busy period; O(n^2) and more",
    assumptions: &["m = 1", FIRST_IS_SERVER],
};

impl Test for DeferrableRta {
    fn info(&self) -> &'static TestInfo {
        &INFO
    }

    fn verdict(&self, tasks: &[SporadicTask], processors: u32, work: &mut Work) -> Result<Verdict, Verdict> {
        alone(processors)?;
        let Some((server, rest)) = first_as_server(tasks) else {
            return Ok(Verdict::needs(FIRST_IS_SERVER, Some(0)));
        };
        let all = below(server, DoubleHit::Counted, rest);
        let verdict = FixedPriorityRta.verdict(&all, processors, work)?;
        let Verdict::Schedulable(Bounds::ResponseTimes(mut bounds)) = verdict else { return Ok(verdict) };
        // Its budget is there from the beginning of its period, when that begins: the jitter is the analysis's.
        bounds[0] = server.budget().as_ns();
        Ok(Verdict::Schedulable(Bounds::ResponseTimes(bounds)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use laxity_model::Duration;

    fn server(budget: u64, period: u64) -> DeferrableServer {
        DeferrableServer::new(Duration::from_ns(budget), Duration::from_ns(period)).expect("valid")
    }

    fn responses(
        server: DeferrableServer,
        tasks: &[SporadicTask],
        double_hit: DoubleHit,
    ) -> Option<Vec<u64>> {
        match response_times(server, tasks, double_hit, &mut Work::default()) {
            Verdict::Schedulable(Bounds::ResponseTimes(bounds)) => Some(bounds),
            Verdict::NotProven(_) => None,
            verdict => panic!("{verdict:?}"),
        }
    }

    #[test]
    fn the_double_hit_is_the_second_budget_in_a_row() {
        // Budget [0, 2) and, full again at 2, [2, 4): the job has [4, 5).
        let tasks = [SporadicTask::implicit(1, 5), SporadicTask::implicit(1, 10)];
        assert_eq!(responses(server(2, 6), &tasks, DoubleHit::Counted), Some(vec![5, 7]));
        assert_eq!(responses(server(2, 6), &tasks, DoubleHit::Ignored), Some(vec![3, 4]));
        assert_eq!(responses(server(2, 6), &[SporadicTask::implicit(1, 4)], DoubleHit::Counted), None);
        assert_eq!(
            responses(server(2, 6), &[SporadicTask::implicit(1, 4)], DoubleHit::Ignored),
            Some(vec![3])
        );
    }

    #[test]
    fn a_server_of_everything_leaves_nothing_and_none_takes_nothing() {
        let tasks = [SporadicTask::implicit(1, 10)];
        for double_hit in [DoubleHit::Ignored, DoubleHit::Counted] {
            assert_eq!(responses(server(6, 6), &tasks, double_hit), None);
            assert_eq!(responses(DeferrableServer::NONE, &tasks, double_hit), Some(vec![1]));
            let all = response_times(server(6, 6), &[], double_hit, &mut Work::default());
            assert_eq!(all, Verdict::SCHEDULABLE);
        }
    }

    #[test]
    fn by_name_the_first_task_is_the_server() {
        let tasks = [SporadicTask::implicit(2, 6), SporadicTask::implicit(1, 5)];
        let judge = |tasks: &[SporadicTask]| DeferrableRta.judge(tasks, 1, &mut Work::default());
        assert_eq!(judge(&tasks), Verdict::Schedulable(Bounds::ResponseTimes(vec![2, 5])));
        let late = SporadicTask { jitter_ns: 1, ..tasks[0] };
        assert_eq!(judge(&[late, tasks[1]]), Verdict::needs(FIRST_IS_SERVER, Some(0)));
        assert_eq!(judge(&[tasks[0], SporadicTask::implicit(1, 4)]), Verdict::fails_at(1));
    }
}

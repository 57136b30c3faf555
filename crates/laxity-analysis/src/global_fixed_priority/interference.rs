//! What both bounds share: the assumption D <= T, work in windows that grow, and the search for the least window.
//!
//! The least x >= C with x >= C + floor(Omega(x) / m) is looked for, where Omega is a sum of terms that are capped at x - C + 1. The
//! plain iteration x <- C + floor(Omega(x) / m) advances by 1 ns where m terms are at their cap. So each term also says how far it
//! surely goes on to grow by 1 per ns, its run: Omega(x + d) >= Omega(x) + sum of min(d, run_i). No x + d is a solution for which
//!
//! ```text
//! f(d) = Omega(x) + sum of min(d, run_i) - m (x + d - C + 1) >= 0,
//! ```
//!
//! and the search goes on at the least d > 0 with f(d) < 0. With runs of 0 this is the plain iteration. The solution is the same.

use crate::{OutOfWork, SporadicTask, Verdict, Work};

/// What both begin with: no task has a deadline after the end of its period.
pub(super) fn constrained(tasks: &[SporadicTask]) -> Result<(), Verdict> {
    Verdict::unless("D <= T", tasks, |task| task.deadline_rel_ns <= task.period_ns)
}

/// The least x of a task, or nothing if it exceeds D - J. `omega` gives Omega for a window and a cap, and the runs of its terms, for
/// windows that grow; it is a sum of `terms`.
///
/// Each pass takes a step per term.
pub(super) fn least_window(
    task: &SporadicTask,
    terms: usize,
    processors: u32,
    work: &mut Work,
    mut omega: impl FnMut(u64, u64, &mut Runs) -> u64,
) -> Result<Option<u64>, OutOfWork> {
    let Some(limit) = task.deadline_rel_ns.checked_sub(task.jitter_ns) else { return Ok(None) };
    let mut window = task.wcet_ns;
    // The cap is 1 at first: fewer terms than processors do not sum to m.
    if terms < processors as usize {
        return Ok((window <= limit).then_some(window));
    }
    let mut runs = Runs(Vec::with_capacity(terms));
    // Sums stay below m 2^52, which fits for thousands of processors: what all terms and runs count is work of a y below 2^51 and
    // one job more of each task, and U <= m. A cap is at most D, and there are at least m terms.
    let processors = processors.into();
    while window <= limit {
        work.take(terms as u64)?;
        let most = window - task.wcet_ns + 1;
        runs.0.clear();
        let Some(ahead) = omega(window, most, &mut runs).checked_sub(processors * most) else {
            return Ok(Some(window));
        };
        window += runs.leave_behind(ahead, processors);
    }
    Ok(None)
}

/// For how long terms surely go on to grow by 1 per ns.
pub(super) struct Runs(Vec<u64>);

impl Runs {
    pub fn push(&mut self, run: u64) {
        if run > 0 {
            self.0.push(run);
        }
    }

    /// The least d > 0 with f(d) = ahead + sum of min(d, run_i) - m d < 0.
    ///
    /// f is concave, and f(0) >= 0. From a d with f(d) < 0 the line through it on the left leads to the next: it is not below f, so
    /// that f is negative there too. Where that is d again, f(d - 1) >= 0.
    fn leave_behind(&self, ahead: u64, processors: u64) -> u64 {
        let mut step = (ahead + self.0.iter().sum::<u64>()) / processors + 1;
        loop {
            let (mut ended, mut running) = (0, 0);
            for &run in &self.0 {
                if run < step {
                    ended += run;
                } else {
                    running += 1;
                }
            }
            // f(step) < 0, and so fewer run than there are processors.
            let shorter = (ahead + ended) / (processors - running) + 1;
            if shorter == step {
                return step;
            }
            step = shorter;
        }
    }
}

/// A term: work, its cap applied, and its run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Term {
    pub work_ns: u64,
    pub run: u64,
}

impl Term {
    /// Of work that goes on to grow for `growing` at least, with the cap `most`, which always grows.
    fn capped(work: u64, growing: u64, most: u64) -> Self {
        Term { work_ns: work.min(most), run: work.saturating_sub(most) + growing }
    }
}

/// y = floor(y / T) T + rest, for a y that grows with a window x and is `ahead` of it.
///
/// The floor is known again after one comparison unless another period has begun.
#[derive(Debug, Clone, Copy)]
pub(super) struct Periods {
    /// y - x.
    ahead: u64,
    period_ns: u64,
    wcet_ns: u64,
    /// floor(y / T) T of the window before.
    begun: u64,
    /// floor(y / T) C of the window before.
    full: u64,
}

impl Periods {
    pub fn new(task: &SporadicTask, ahead: u64) -> Self {
        Periods { ahead, period_ns: task.period_ns, wcet_ns: task.wcet_ns, begun: 0, full: 0 }
    }

    /// Goes back to where windows begin.
    pub fn restart(&mut self) {
        (self.begun, self.full) = (0, 0);
    }

    /// floor(y / T) C + min(C, rest): as much as jobs of C can execute in y, T apart and each as soon as it comes.
    pub fn workload(&mut self, window: u64, most: u64) -> Term {
        let (full, rest) = self.at(window);
        let begun = rest.min(self.wcet_ns);
        Term::capped(full + begun, self.wcet_ns - begun, most)
    }

    /// floor(y / T) C + (C if rest >= R, else min(C - 1, rest)): with a job that is carried in and has executed before.
    pub fn workload_carried_in(&mut self, window: u64, response_time: u64, most: u64) -> Term {
        let (full, rest) = self.at(window);
        if rest >= response_time {
            return Term::capped(full + self.wcet_ns, 0, most);
        }
        let begun = rest.min(self.wcet_ns - 1);
        Term::capped(full + begun, self.wcet_ns - 1 - begun, most)
    }

    fn at(&mut self, window: u64) -> (u64, u64) {
        let rest = window + self.ahead - self.begun;
        if rest < self.period_ns {
            return (self.full, rest);
        }
        let more = rest / self.period_ns;
        self.begun += more * self.period_ns;
        self.full += more * self.wcet_ns;
        (self.full, rest - more * self.period_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_behind_is_no_solution_and_what_comes_next_may_be() {
        let f = |runs: &[u64], ahead: u64, processors: u64, step: u64| {
            ahead + runs.iter().map(|&run| run.min(step)).sum::<u64>() < processors * step
        };
        for number in 0..5_u64.pow(4) {
            let runs: Vec<_> = (0..4).map(|at| number / 5_u64.pow(at) % 5).collect();
            for (ahead, processors) in
                (0..6).flat_map(|ahead| (1..5).map(move |processors| (ahead, processors)))
            {
                let expected = (1..).find(|&step| f(&runs, ahead, processors, step));
                let found = Runs(runs.clone()).leave_behind(ahead, processors);
                assert_eq!(Some(found), expected, "{runs:?} {ahead} {processors}");
            }
        }
    }

    #[test]
    fn terms_grow_for_as_long_as_their_runs() {
        for (wcet, period, ahead) in [(2, 5, 0), (3, 4, 2), (1, 7, 3), (4, 4, 4), (3, 8, 4)] {
            let task = SporadicTask::implicit(wcet, period);
            let at = |window: u64, most: u64| {
                let response_time = (ahead + wcet).min(period);
                let mut periods = Periods::new(&task, ahead);
                [periods.workload(window, most), periods.workload_carried_in(window, response_time, most)]
            };
            for (window, most) in (1..30).flat_map(|window| (1..=window).map(move |most| (window, most))) {
                for later in 0..10 {
                    for (now, then) in at(window, most).iter().zip(at(window + later, most + later)) {
                        assert!(
                            then.work_ns >= now.work_ns + later.min(now.run),
                            "{wcet} {period} {ahead} {window} {most}"
                        );
                    }
                }
            }
        }
    }
}

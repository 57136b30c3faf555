//! Whether a reservation that is granted serves a task: by all arrivals, all demands, and whenever the server may run.

use crate::server::Server;
use laxity_analysis::SporadicTask;
use laxity_analysis::settings::Reservation;
use std::collections::HashSet;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct State {
    server: Server,
    /// Pending jobs: their age, and what is left of them.
    jobs: Vec<(u64, u64)>,
    /// Since the last arrival, at most T.
    since: u64,
}

/// True if no job of the task can miss its deadline while the server has its budget by its deadline wherever a job is pending.
pub fn serves(reservation: Reservation, task: &SporadicTask) -> bool {
    let first = State { server: Server::new(reservation), jobs: Vec::new(), since: task.period_ns };
    let mut seen = HashSet::from([first.clone()]);
    let mut open = vec![first];
    while let Some(mut state) = open.pop() {
        state.server.timer();
        for demand in 0..=task.wcet_ns {
            let mut state = state.clone();
            if demand > 0 {
                if state.since < task.period_ns {
                    break;
                }
                state.since = 0;
                if state.jobs.is_empty() {
                    state.server.wake_up();
                }
                state.jobs.push((0, demand));
            }
            if state.jobs.first().is_some_and(|&(age, _)| age >= task.deadline_rel_ns) {
                return false;
            }
            let can = !state.jobs.is_empty() && state.server.has_budget();
            let must = can && state.server.runtime >= state.server.deadline;
            for runs in [false, true] {
                if (runs && !can) || (!runs && must) {
                    continue;
                }
                let next = stepped(state.clone(), runs, task);
                if seen.insert(next.clone()) {
                    open.push(next);
                }
            }
        }
    }
    true
}

fn stepped(mut state: State, runs: bool, task: &SporadicTask) -> State {
    if runs {
        state.server.run();
        state.jobs[0].1 -= 1;
        if state.jobs[0].1 == 0 {
            state.jobs.remove(0);
        }
    }
    state.server.step();
    state.jobs.iter_mut().for_each(|(age, _)| *age += 1);
    state.since = (state.since + 1).min(task.period_ns);
    state
}

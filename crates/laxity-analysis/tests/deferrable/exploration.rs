//! One CPU with a deferrable server, one unit of time after the other, and an adversary that decides in each
//! whether background work is pending: all schedules, from all offsets.
//!
//! A state is where every period is, what is left of the budget, and what is pending of every task. Jobs of a task run in order, so
//! that their number and the phase say when each was released.

use std::collections::HashSet;

/// C and T, the highest priority first.
pub type Task = (u64, u64);

/// Budget and period.
pub type Server = (u64, u64);

/// At most so many tasks.
pub const TASKS_MAX: usize = 3;

/// More jobs of a task at a time count as a backlog without end.
const JOBS_MAX: u64 = 12;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct State {
    /// Since the last release, of the server and of each task.
    server_phase: u64,
    phases: [u64; TASKS_MAX],
    budget: u64,
    /// Work of all jobs that have been released.
    pending: [u64; TASKS_MAX],
}

/// The longest response times that any background load brings about, from any offsets; nothing if some have no end.
pub fn longest_responses(server: Server, tasks: &[Task]) -> Option<Vec<u64>> {
    let mut longest = vec![0; tasks.len()];
    let mut next: Vec<State> = starts(server, tasks);
    let mut seen: HashSet<State> = next.iter().copied().collect();
    while let Some(state) = next.pop() {
        for ordinary in [false, true] {
            let after = step(state, ordinary, server, tasks, &mut longest)?;
            if seen.insert(after) {
                next.push(after);
            }
        }
    }
    Some(longest)
}

/// All offsets, with nothing pending.
fn starts(server: Server, tasks: &[Task]) -> Vec<State> {
    let mut all = Vec::new();
    let period = |at: usize| tasks.get(at).map_or(1, |task| task.1);
    for server_phase in 0..server.1 {
        for one in 0..period(0) {
            for two in 0..period(1) {
                for three in 0..period(2) {
                    let phases = [one, two, three];
                    all.push(State { server_phase, phases, budget: server.0, pending: [0; TASKS_MAX] });
                }
            }
        }
    }
    all
}

/// A unit of time: releases at its beginning, then the unit for what goes first. Nothing if a backlog grows too
/// long.
fn step(
    mut state: State,
    ordinary: bool,
    server: Server,
    tasks: &[Task],
    longest: &mut [u64],
) -> Option<State> {
    if state.server_phase == 0 {
        state.budget = server.0;
    }
    for (at, &(wcet, _)) in tasks.iter().enumerate().filter(|&(at, _)| state.phases[at] == 0) {
        state.pending[at] += wcet;
        if state.pending[at] > JOBS_MAX * wcet {
            return None;
        }
    }
    if ordinary && state.budget > 0 {
        state.budget -= 1;
    } else if let Some(at) = (0..tasks.len()).find(|&at| state.pending[at] > 0) {
        let (wcet, period) = tasks[at];
        let jobs = state.pending[at].div_ceil(wcet);
        state.pending[at] -= 1;
        if state.pending[at].is_multiple_of(wcet) {
            longest[at] = longest[at].max(state.phases[at] + (jobs - 1) * period + 1);
        }
    }
    state.server_phase = (state.server_phase + 1) % server.1;
    for (at, &(_, period)) in tasks.iter().enumerate() {
        state.phases[at] = (state.phases[at] + 1) % period;
    }
    Some(state)
}

//! One CPU: all schedules, from all offsets, whatever the adversary decides.

use crate::kernel::{Choice, Cpu, Kernel, Runs};
use std::collections::HashSet;

/// C and T, the highest priority first.
pub type Task = (u64, u64);

/// At most so many tasks.
pub const TASKS_MAX: usize = 2;

/// More jobs of a task at a time count as a backlog without end.
const JOBS_MAX: u64 = 6;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct State {
    cpu: Cpu,
    /// Since the last release.
    phases: [u64; TASKS_MAX],
    /// Work of all jobs that have been released.
    pending: [u64; TASKS_MAX],
}

/// The longest response times; nothing if some have no end.
pub fn longest_responses(kernel: &Kernel, tasks: &[Task]) -> Option<Vec<u64>> {
    let mut longest = vec![0; tasks.len()];
    let period = |at: usize| tasks.get(at).map_or(1, |task| task.1);
    let mut next = Vec::new();
    for cpu in Cpu::starts(kernel) {
        for one in 0..period(0) {
            for two in 0..period(1) {
                next.push(State { cpu, phases: [one, two], pending: [0; TASKS_MAX] });
            }
        }
    }
    let mut seen: HashSet<State> = next.iter().copied().collect();
    let choices = Choice::all(kernel);
    while let Some(state) = next.pop() {
        for &choice in &choices {
            let after = step(state, choice, kernel, tasks, &mut longest)?;
            if seen.insert(after) {
                next.push(after);
            }
        }
    }
    Some(longest)
}

fn step(
    mut state: State,
    choice: Choice,
    kernel: &Kernel,
    tasks: &[Task],
    longest: &mut [u64],
) -> Option<State> {
    for (at, &(wcet, _)) in tasks.iter().enumerate().filter(|&(at, _)| state.phases[at] == 0) {
        state.pending[at] += wcet;
        if state.pending[at] > JOBS_MAX * wcet {
            return None;
        }
    }
    state.cpu.begin(kernel, choice);
    let first = (0..tasks.len()).find(|&at| state.pending[at] > 0);
    let runs = match first {
        _ if state.cpu.serves(choice) => Runs::Server,
        Some(_) if state.cpu.may_run() => Runs::Fifo,
        None if state.cpu.may_run() && choice.hog => Runs::Fifo,
        _ => Runs::Rest,
    };
    if let (Runs::Fifo, Some(at)) = (runs, first) {
        let (wcet, period) = tasks[at];
        let jobs = state.pending[at].div_ceil(wcet);
        state.pending[at] -= 1;
        if state.pending[at].is_multiple_of(wcet) {
            longest[at] = longest[at].max(state.phases[at] + (jobs - 1) * period + 1);
        }
    }
    state.cpu.pass(kernel, choice, runs);
    for (at, &(_, period)) in tasks.iter().enumerate() {
        state.phases[at] = (state.phases[at] + 1) % period;
    }
    Some(state)
}

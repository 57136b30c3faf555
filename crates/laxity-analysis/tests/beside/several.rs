//! Several CPUs: schedules by chance. A thread that a server has stopped stays there as long as the adversary likes.

use crate::kernel::{Choice, Cpu, Kernel, Runs};
use crate::one::Task;

/// How schedules are drawn.
#[derive(Debug, Clone, Copy)]
pub struct Draw {
    pub seed: u64,
    pub units: u64,
}

/// SplitMix64.
pub struct Random(pub u64);

impl Random {
    /// A number below.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }

    pub fn index(&mut self, limit: usize) -> usize {
        usize::try_from(self.below(limit as u64)).expect("below a usize")
    }
}

struct Job {
    left: u64,
    released: u64,
    /// Where it ran last.
    cpu: Option<usize>,
}

/// The longest response times that were seen; jobs that have not ended count as far as they have come.
pub fn seen_responses(kernel: &Kernel, cpus: usize, tasks: &[Task], draw: Draw) -> Vec<u64> {
    let mut random = Random(draw.seed);
    let mut longest = vec![0; tasks.len()];
    let starts = Cpu::starts(kernel);
    let mut machine: Vec<Cpu> = (0..cpus).map(|_| starts[random.index(starts.len())]).collect();
    let mut next: Vec<u64> = tasks.iter().map(|task| random.below(task.1)).collect();
    let mut jobs: Vec<Vec<Job>> = tasks.iter().map(|_| Vec::new()).collect();
    // Other threads are ready for a while, and then not.
    let (mut ready, mut hog) = (vec![false; cpus], vec![false; cpus]);
    for now in 0..draw.units {
        for (at, &(wcet, period)) in tasks.iter().enumerate() {
            if next[at] > now {
                continue;
            }
            jobs[at].push(Job { left: wcet, released: now, cpu: None });
            next_release(&mut next[at], period, &mut random);
        }
        ready.iter_mut().for_each(|ready| *ready ^= random.below(8) == 0);
        hog.iter_mut().for_each(|hog| *hog ^= random.below(32) == 0);
        let choices: Vec<Choice> = ready
            .iter()
            .zip(&hog)
            .map(|(&ready, &hog)| Choice {
                ready,
                hog,
                ..Choice::of(u32::try_from(random.below(16)).expect("below 16"))
            })
            .collect();
        for (cpu, &choice) in machine.iter_mut().zip(&choices) {
            cpu.begin(kernel, choice);
        }
        let serves: Vec<bool> =
            machine.iter().zip(&choices).map(|(cpu, &choice)| cpu.serves(choice)).collect();
        let mut runs: Vec<Runs> =
            serves.iter().map(|&serves| if serves { Runs::Server } else { Runs::Rest }).collect();
        let may_run: Vec<bool> = machine.iter().map(Cpu::may_run).collect();
        let is_free = |cpu: usize, runs: &[Runs]| runs[cpu] == Runs::Rest && may_run[cpu];
        for (at, of_task) in jobs.iter_mut().enumerate() {
            let Some(job) = of_task.first_mut() else { continue };
            let is_stuck = job.cpu.is_some_and(|cpu| serves[cpu] || !may_run[cpu]) && random.below(8) > 0;
            let place = (0..cpus).find(|&cpu| is_free(cpu, &runs)).filter(|_| !is_stuck);
            let Some(cpu) = place else { continue };
            (runs[cpu], job.cpu) = (Runs::Fifo, Some(cpu));
            job.left -= 1;
            if job.left == 0 {
                longest[at] = longest[at].max(now + 1 - job.released);
                of_task.remove(0);
            }
        }
        for (cpu, state) in machine.iter_mut().enumerate() {
            if is_free(cpu, &runs) && choices[cpu].hog {
                runs[cpu] = Runs::Fifo;
            }
            state.pass(kernel, choices[cpu], runs[cpu]);
        }
    }
    for (at, of_task) in jobs.iter().enumerate() {
        let oldest = of_task.first().map_or(0, |job| draw.units - job.released);
        longest[at] = longest[at].max(oldest);
    }
    longest
}

/// Mostly as soon as it may be.
fn next_release(next: &mut u64, period: u64, random: &mut Random) {
    *next += period + if random.below(4) == 0 { random.below(period) } else { 0 };
}

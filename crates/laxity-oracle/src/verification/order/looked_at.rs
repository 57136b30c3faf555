//! Clusters that are looked at in every instant in which something changes there: ties are free, jobs may wait, or tasks may not run
//! everywhere (`order.rs`, assumptions 5 and 6).

use super::Order;
use crate::verdict::Report;
use crate::verification::rank::Rank;
use crate::verification::trace_state::TraceState;

impl Order {
    /// In those clusters that are looked at: which of equal jobs should run, and which may wait.
    #[inline(never)]
    pub(super) fn choose_who_waits(&mut self, trace: &TraceState) {
        self.touched_clusters.sort_unstable();
        let touched = std::mem::take(&mut self.touched_clusters);
        for &cluster in &touched {
            if self.clusters[cluster as usize].free_ties {
                self.let_equals_stand_in(trace, cluster as usize);
            }
        }
        for &cluster in &touched {
            let of = &self.clusters[cluster as usize];
            if of.may_wait > 0 || of.has_excused {
                self.excuse(trace, cluster as usize);
            }
        }
        self.touched_clusters = touched;
    }

    #[inline(never)]
    pub(super) fn close_clusters(&mut self, trace: &TraceState, now: u64, report: &mut Report) {
        let mut touched = std::mem::take(&mut self.touched_clusters);
        for cluster in touched.drain(..) {
            let of = &mut self.clusters[cluster as usize];
            of.touched = false;
            if of.restricted {
                self.close_restricted(trace, cluster, now, report);
            }
        }
        self.touched_clusters = touched;
    }

    /// Of jobs with equal keys those that run are the ones that should, as far as there are any (assumption 6).
    fn let_equals_stand_in(&mut self, trace: &TraceState, cluster: usize) {
        let of = &self.clusters[cluster];
        let (Some((key, _)), Some((next, _))) = (of.entitled.end(), of.waiting.end()) else { return };
        if key != next {
            return;
        }
        let runs = |rank: &Rank| trace.tasks[rank.1 as usize].running > 0;
        let idle = of.entitled.equals(key).into_iter().filter(|rank| !runs(rank));
        let running = of.waiting.equals(key).into_iter().filter(runs);
        for (waits, stands_in) in idle.zip(running) {
            let of = &mut self.clusters[cluster];
            of.entitled.remove(waits);
            of.waiting.remove(stands_in);
            of.entitled.insert(stands_in);
            of.waiting.insert(waits);
            for ((_, task), entitled) in [(waits, false), (stands_in, true)] {
                self.tasks[task as usize].entitled = entitled;
                self.touch(task);
            }
        }
    }

    /// As many of the jobs that should run, and do not, as may wait: those of highest priority.
    fn excuse(&mut self, trace: &TraceState, cluster: usize) {
        let of = &self.clusters[cluster];
        let mut left = of.may_wait;
        let mut changed = Vec::new();
        for (_, task) in of.entitled.iter().chain(of.waiting.iter()) {
            let order = &self.tasks[task as usize];
            let excused = left > 0 && order.entitled && trace.tasks[task as usize].running == 0;
            left -= usize::from(excused);
            if excused != order.excused {
                changed.push((task, excused));
            }
        }
        self.clusters[cluster].has_excused = left < self.clusters[cluster].may_wait;
        for (task, excused) in changed {
            self.tasks[task as usize].excused = excused;
            self.touch(task);
        }
    }

    fn close_restricted(&mut self, trace: &TraceState, cluster: u32, now: u64, report: &mut Report) {
        let mut left = self.clusters[cluster as usize].may_wait;
        for &task in &trace.definition.clusters()[cluster as usize].tasks {
            let order = &self.tasks[task as usize];
            let waits = order.ready && trace.tasks[task as usize].running == 0;
            let deviates = waits && self.yielding_cpu(trace, cluster, task).is_some();
            let excused = deviates && left > 0;
            left -= usize::from(excused);
            let deviates = deviates && !excused;
            self.set(trace, task, deviates, now, report);
        }
    }
}

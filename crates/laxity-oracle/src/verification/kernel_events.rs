//! Events of the kernel: its work, what is on its way, and what cold caches cost.

use super::Verification;
use super::pushes::Push;
use super::rank::Rank;
use laxity_trace::{Event, EventKind};

impl Verification<'_> {
    pub(super) fn cache_delay(&mut self, event: &Event) {
        let cpu = event.cpu.and_then(|cpu| self.trace.cpu_index(cpu));
        let Some((cpu, length)) = cpu.zip(event.argument) else {
            self.incomplete(event);
            return;
        };
        let occupant = self.trace.cpus[cpu].occupant.filter(|occupant| !occupant.stray);
        if let Some(task) = event.task.or(occupant.map(|occupant| occupant.task)) {
            if (task as usize) < self.trace.tasks.len() {
                let work = self.trace.cpus[cpu].rate.work(length);
                self.trace.task(task).work.cache_delay(work);
                self.budgets.cache_delay(task, work);
            } else {
                self.incomplete(event);
            }
        }
    }

    /// A push that is given up leaves behind what waits behind its job, too: all that waits in the cluster and goes after
    /// that is excused.
    pub(super) fn push_abandoned(&mut self, event: &Event) {
        self.with_task(event, |v, task| {
            let rank = v.order.rank(task);
            v.check_push(task, rank, event);
            let cluster = v.trace.tasks[task as usize].cluster as usize;
            for &other in &v.trace.definition.clusters()[cluster].tasks {
                if v.order.rank(other) >= rank {
                    v.order.abandoned(&v.trace, other);
                }
            }
        });
    }

    /// Whether a push that is given up has a reason.
    fn check_push(&mut self, task: u32, rank: Rank, event: &Event) {
        if self.pushes.is_none() {
            return;
        }
        let target = event.argument.and_then(|cpu| u32::try_from(cpu).ok());
        let ends = event.cpu.zip(target).zip(target.and_then(|cpu| self.trace.cpu_index(cpu)));
        let Some(((cpu, target), index)) = ends else {
            self.incomplete(event);
            return;
        };
        if self.trace.cpus[index].taken {
            // Nothing can be pushed there.
            return;
        }
        let runs = self.trace.cpus[index].occupant.map(|runs| {
            let rank = self.order.rank(runs.task);
            (rank, self.trace.name(runs.task, runs.job))
        });
        let job = self.trace.name(task, self.trace.tasks[task as usize].first);
        if let Some(pushes) = &mut self.pushes {
            let push = Push { cpu, target, index, rank, job };
            pushes.abandoned(push, runs, self.now_ns, &mut self.report);
        }
    }

    pub(super) fn kernel_work(&mut self, event: &Event) {
        let cpu = event.cpu.and_then(|cpu| self.trace.cpu_index(cpu));
        let Some((index, length)) = cpu.zip(event.argument) else {
            self.incomplete(event);
            return;
        };
        let of = &mut self.trace.cpus[index];
        let interval = of.kernel_work.add(self.now_ns, length);
        let (cpu, cluster) = (of.cpu, of.cluster);
        if let Some(pushes) = &mut self.pushes {
            pushes.section(index, interval);
        }
        if let Some(windows) = &mut self.order.windows {
            windows.section(index, event.kind, interval, self.now_ns);
        }
        if event.kind == EventKind::ReleaseOverhead {
            self.batching.interrupt(cluster, cpu, self.now_ns, &mut self.report);
            self.check_release_master(index);
        }
    }

    /// The timer of the task's job goes off.
    pub(super) fn timer(&mut self, cluster: u32, task: u32) {
        if let Some(windows) = &mut self.order.windows {
            windows.timer(cluster, task, self.now_ns);
        }
        if let Some(measured) = &mut self.order.measured {
            measured.becomes_ready(task, self.now_ns);
        }
    }

    /// The task's first job leaves a CPU: stopped, or for a reason of its own.
    pub(super) fn leaves(&mut self, (task, cpu): (u32, usize), stopped: bool) {
        if self.pushes.is_some() || self.order.windows.is_some() {
            self.leaves_for_news((task, cpu), stopped);
        }
        match &mut self.order.measured {
            Some(measured) if stopped => measured.stops(cpu),
            Some(measured) => measured.ends(cpu, self.now_ns),
            None => {}
        }
    }

    /// Others may wait for the news that the task's first job leaves a CPU.
    fn leaves_for_news(&mut self, (task, cpu): (u32, usize), stopped: bool) {
        // Its task's next job waits for the same news; where deadlines are postponed, it may go before this one.
        let of = &self.trace.tasks[task as usize];
        let next = of.pending.iter().skip(1).find(|next| !next.complete);
        let next = next.map_or_else(|| of.deadline(self.now_ns), |next| next.deadline_abs_ns);
        let first = (self.trace.key(task, next), task);
        let rank = self.order.rank(task).min(first);
        if let Some(pushes) = &mut self.pushes {
            pushes.leaves(cpu, rank, self.now_ns);
        }
        match &mut self.order.windows {
            Some(windows) if stopped => windows.stops(cpu, task, self.now_ns),
            Some(windows) => windows.ends(cpu, task, rank, self.now_ns),
            None => {}
        }
    }

    /// A waiting job has moved to another queue.
    pub(super) fn moved(&mut self, event: &Event) {
        let Some(windows) = &mut self.order.windows else { return };
        let other = event.argument.and_then(|cpu| u32::try_from(cpu).ok());
        let Some(task) = event.task.filter(|&task| (task as usize) < self.trace.tasks.len()) else { return };
        for cpu in [event.cpu, other].into_iter().flatten() {
            if let Some(cpu) = self.trace.cpu_index(cpu) {
                windows.moves(task, cpu);
            }
        }
    }

    /// A decision reaches a CPU, or is about to be another one.
    pub(super) fn decision_travels(&mut self, event: &Event) {
        let Some(cpu) = event.cpu.and_then(|cpu| self.trace.cpu_index(cpu)) else { return };
        if let Some(pushes) = &mut self.pushes
            && event.kind == EventKind::Ipi
        {
            pushes.interrupt(cpu, self.now_ns);
        }
        let Some(windows) = &mut self.order.windows else { return };
        match event.kind {
            EventKind::Ipi => windows.interrupt(cpu, self.now_ns),
            EventKind::DspMessage => windows.message(cpu, self.now_ns),
            _ => windows.swap(self.trace.cpus[cpu].cluster, self.now_ns),
        }
    }
}

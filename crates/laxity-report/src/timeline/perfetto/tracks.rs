//! Which track things are on. Tracks are made when something is on them first, but in their place.

use super::super::task_name;
use super::packets::{NewTrack, Packets};
use laxity_model::{Duration, TaskSet};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// What a track is for. CPUs and tasks are the groups that hold the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Cpu(u32),
    Kernel(u32),
    Task(u32, usize),
    Laxity(u32),
}

pub(super) struct Tracks<'a> {
    set: &'a TaskSet,
    cpus: u64,
    tasks: u64,
    known: BTreeMap<Key, u64>,
}

impl<'a> Tracks<'a> {
    pub(super) fn new(set: &'a TaskSet, cpus: u32, packets: &mut Packets<impl Write>) -> io::Result<Self> {
        let mut group = |name, rank| {
            packets.track(&NewTrack { name, parent: None, rank, counter: false, description: None })
        };
        let (cpu_group, task_group) = (group("CPUs", 0)?, group("Tasks", 1)?);
        let mut tracks = Tracks { set, cpus: cpu_group, tasks: task_group, known: BTreeMap::new() };
        for cpu in 0..cpus {
            tracks.cpu(cpu, packets)?;
        }
        Ok(tracks)
    }

    pub(super) fn task_name(&self, task: u32) -> String {
        task_name(self.set, task)
    }

    /// Jobs on a CPU.
    pub(super) fn cpu(&mut self, cpu: u32, packets: &mut Packets<impl Write>) -> io::Result<u64> {
        self.get(Key::Cpu(cpu), packets)
    }

    /// Kernel work on a CPU.
    pub(super) fn kernel(&mut self, cpu: u32, packets: &mut Packets<impl Write>) -> io::Result<u64> {
        self.get(Key::Kernel(cpu), packets)
    }

    /// Jobs of a task and their deadlines; jobs that overlap in lanes of their own.
    pub(super) fn task(
        &mut self,
        task: u32,
        lane: usize,
        packets: &mut Packets<impl Write>,
    ) -> io::Result<u64> {
        self.get(Key::Task(task, lane), packets)
    }

    /// The laxity of a task's jobs.
    pub(super) fn laxity(&mut self, task: u32, packets: &mut Packets<impl Write>) -> io::Result<u64> {
        self.get(Key::Laxity(task), packets)
    }

    fn get(&mut self, key: Key, packets: &mut Packets<impl Write>) -> io::Result<u64> {
        if let Some(uuid) = self.known.get(&key) {
            return Ok(*uuid);
        }
        let place = |index: u32, part: usize, parts: usize| {
            usize::try_from(index).unwrap_or(usize::MAX).saturating_mul(parts).saturating_add(part)
        };
        // A task's tracks: its jobs (in lanes of one name, which the interface shows as one), and their laxity.
        let (name, parent, rank) = match key {
            Key::Cpu(cpu) => (format!("CPU {cpu}"), self.cpus, place(cpu, 0, 2)),
            Key::Kernel(cpu) => (format!("CPU {cpu} kernel"), self.cpus, place(cpu, 1, 2)),
            Key::Task(task, _) => (self.task_name(task), self.tasks, place(task, 0, 2)),
            Key::Laxity(task) => (format!("{} laxity", self.task_name(task)), self.tasks, place(task, 1, 2)),
        };
        let description = match key {
            Key::Task(task, 0) => self.parameters(task),
            _ => None,
        };
        let counter = matches!(key, Key::Laxity(_));
        let track = NewTrack { name: &name, parent: Some(parent), rank, counter, description };
        let uuid = packets.track(&track)?;
        self.known.insert(key, uuid);
        Ok(uuid)
    }

    fn parameters(&self, task: u32) -> Option<String> {
        let task = self.set.tasks().get(usize::try_from(task).ok()?)?;
        let (wcet, period): (Duration, Duration) = (task.wcet, task.period());
        Some(format!("C = {wcet}, {} {period}, D = {}", task.period_word(), task.deadline_rel))
    }
}

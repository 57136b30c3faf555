//! Which track things are on. Tracks are made when something is on them first, but in their place.

use super::super::task_name;
use super::packets::{NewTrack, Packets};
use laxity_model::{Duration, TaskSet};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io::{self, Write};

/// What a track is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    Cpu(u32),
    Kernel(u32),
    Task(u32, usize),
    Laxity(u32),
}

/// CPUs are above the tasks; no machine has more of them.
const FIRST_TASK_RANK: i32 = 1 << 20;

pub(super) struct Tracks<'a> {
    set: &'a TaskSet,
    /// The group of all.
    root: u64,
    known: HashMap<Key, u64>,
    /// The ids of the tasks' names, as names and as what slices have in common.
    names: HashMap<u32, u64>,
    correlations: HashMap<u32, u64>,
}

impl<'a> Tracks<'a> {
    pub(super) fn new(set: &'a TaskSet, cpus: u32, packets: &mut Packets<impl Write>) -> io::Result<Self> {
        let root = packets.track(track(set.name().to_owned(), 0))?;
        let mut tracks =
            Tracks { set, root, known: HashMap::new(), names: HashMap::new(), correlations: HashMap::new() };
        for cpu in 0..cpus {
            tracks.cpu(cpu, packets)?;
        }
        Ok(tracks)
    }

    fn task_name(&self, task: u32) -> String {
        task_name(self.set, task)
    }

    /// The id of a task's name.
    pub(super) fn name(&mut self, task: u32, packets: &mut Packets<impl Write>) -> io::Result<u64> {
        let set = self.set;
        kept(&mut self.names, task, || packets.name(&task_name(set, task)))
    }

    /// The id of what the slices of a task have in common.
    pub(super) fn correlation(&mut self, task: u32, packets: &mut Packets<impl Write>) -> io::Result<u64> {
        let set = self.set;
        kept(&mut self.correlations, task, || packets.correlation(&task_name(set, task)))
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
        let parent = match key {
            Key::Cpu(_) | Key::Task(..) => self.root,
            Key::Kernel(cpu) => self.cpu(cpu, packets)?,
            Key::Laxity(task) => self.task(task, 0, packets)?,
        };
        let track = match key {
            Key::Cpu(cpu) => track(format!("CPU {cpu}"), rank(cpu).min(FIRST_TASK_RANK - 1)),
            Key::Task(task, lane) => NewTrack {
                // The lanes of a task are one row of the interface.
                key: Some(u64::from(task) + 1),
                description: if lane == 0 { self.parameters(task) } else { None },
                ..track(self.task_name(task), rank(task).saturating_add(FIRST_TASK_RANK))
            },
            Key::Kernel(cpu) => track(format!("CPU {cpu} kernel"), 0),
            Key::Laxity(task) => {
                NewTrack { counter: true, ..track(format!("{} laxity", self.task_name(task)), 0) }
            }
        };
        let uuid = packets.track(NewTrack { parent: Some(parent), ..track })?;
        self.known.insert(key, uuid);
        Ok(uuid)
    }

    fn parameters(&self, task: u32) -> Option<String> {
        let task = self.set.tasks().get(usize::try_from(task).ok()?)?;
        let (wcet, period): (Duration, Duration) = (task.wcet, task.period());
        Some(format!("C = {wcet}, {} {period}, D = {}", task.period_word(), task.deadline_rel))
    }
}

/// The id of a task among `ids`, made when it is first asked for.
fn kept(ids: &mut HashMap<u32, u64>, task: u32, make: impl FnOnce() -> io::Result<u64>) -> io::Result<u64> {
    match ids.entry(task) {
        Entry::Occupied(id) => Ok(*id.get()),
        Entry::Vacant(none) => Ok(*none.insert(make()?)),
    }
}

fn rank(index: u32) -> i32 {
    i32::try_from(index).unwrap_or(i32::MAX)
}

fn track(name: String, rank: i32) -> NewTrack {
    NewTrack { name, parent: None, key: None, rank, counter: false, description: None }
}

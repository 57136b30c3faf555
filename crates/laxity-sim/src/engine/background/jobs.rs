//! Tasks of the set in the background: when their jobs are among the background tasks (`engine/ordinary.rs` says what they do).

use super::{BackgroundWork, NEVER, NONE, State, index_u32};

impl BackgroundWork {
    /// Whether tasks of the set may run in the background.
    pub fn has_jobs(&self) -> bool {
        self.members.len() > self.background.tasks.len()
    }

    /// The task of the set that a member is, if it is one.
    pub(super) fn task_of(&self, id: u32) -> Option<usize> {
        (id as usize).checked_sub(self.background.tasks.len())
    }

    pub(super) fn id_of(&self, task: usize) -> u32 {
        index_u32(self.background.tasks.len() + task)
    }

    /// Whether a task of the set runs in the background.
    pub fn has_member(&self, task: usize) -> bool {
        let member = self.members.get(self.id_of(task) as usize);
        member.is_some_and(|member| !matches!(member.state, State::Absent | State::Exited))
    }

    /// The tasks of the set in the background whose next job is to arrive.
    pub fn awaiting(&self) -> Vec<usize> {
        let of_the_set = self.members[self.background.tasks.len()..].iter().enumerate();
        of_the_set.filter(|(_, member)| member.state == State::Blocked).map(|(task, _)| task).collect()
    }

    /// The task of the set that has the CPU with a job in the background.
    pub fn job_on(&self, core: usize) -> Option<usize> {
        let id = self.on_core[core];
        if id == NONE { None } else { self.task_of(id) }
    }

    /// For how long it has had the CPU since this was last asked.
    pub fn progresses(&mut self, core: usize, now: u64) -> u64 {
        now - std::mem::replace(&mut self.progressed[core], now)
    }

    /// A task of the set moves to the background; `arrived` says whether its present job has arrived.
    pub fn join(&mut self, task: usize, arrived: bool, now: u64) {
        let id = self.id_of(task);
        self.turn(id, State::Blocked, now);
        if arrived {
            self.arrives(task, now);
        }
    }

    /// The job of a task of the set in the background has arrived.
    pub fn arrives(&mut self, task: usize, now: u64) {
        let id = self.id_of(task);
        self.turn(id, State::Ready, now);
        self.arriving.push(id);
    }

    /// A task leaves the background. Returns its CPU and its number here if it ran.
    pub fn withdraw(&mut self, task: usize, now: u64) -> Option<(u32, u32)> {
        let id = self.id_of(task);
        let mut left = None;
        match self.members.get(id as usize)?.state {
            State::Running(core) => {
                self.stop(core, now);
                self.free.insert(core);
                left = Some((core, id));
            }
            State::Ready => {
                self.queues.remove(id);
                if self.members[id as usize].home != NONE {
                    self.look_at(self.members[id as usize].home);
                }
            }
            State::Absent | State::Blocked | State::Exited => {}
        }
        self.turn(id, State::Absent, now);
        self.members[id as usize].home = NONE;
        left
    }

    /// The job on the CPU is done, and leaves it. Returns its id here.
    pub fn leaves_core(&mut self, core: u32, now: u64) -> u32 {
        let id = self.on_core[core as usize];
        self.stop(core, now);
        self.free.insert(core);
        id
    }

    /// The member, which has left its CPU, has its next job from `release` on: if that has arrived, it is to be placed.
    pub fn awaits(&mut self, id: u32, release: u64, now: u64) {
        match release {
            NEVER => self.turn(id, State::Exited, now),
            release if release <= now => self.arriving.push(id),
            _ => self.turn(id, State::Blocked, now),
        }
    }
}

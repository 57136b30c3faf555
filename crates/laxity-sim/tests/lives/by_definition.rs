//! One CPU of speed 1, without admission: which task has it is said here a second time, unit by unit, by the
//! definition alone.

use super::world::{Own, World, server_of};
use laxity_seeds::seeds;
use laxity_sim::What;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::collections::{BTreeMap, VecDeque};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Absent,
    Background,
    RealTime,
}

struct Live {
    wcet: u64,
    period: u64,
    role: Role,
    /// It has left: it releases no more. By itself it does so then.
    left: bool,
    leave: u64,
    /// Number and arrival of the next job that has not arrived.
    next: (u32, u64),
    /// Number, arrival and work left of those that have, and are not done.
    pending: VecDeque<(u32, u64, u64)>,
}

impl Live {
    fn arrive(&mut self, now: u64) {
        while !self.left && self.role != Role::Absent && self.next.1 <= now {
            self.pending.push_back((self.next.0, self.next.1, self.wcet));
            self.next = (self.next.0 + 1, self.next.1 + self.period);
        }
    }

    /// A job that has arrived is released anew, with those behind it.
    fn turn_real_time(&mut self, now: u64) {
        self.role = Role::RealTime;
        let Some(&(_, arrival, _)) = self.pending.front() else {
            return self.next.1 = self.next.1.max(now);
        };
        let late = now - arrival;
        self.next.1 += late;
        while self.pending.len() > 1 {
            let (number, arrival, _) = self.pending.pop_back().expect("several");
            self.next = (number, arrival + late);
        }
        self.pending[0].1 = now;
    }
}

/// The server of the CPU.
struct Server {
    budget: u64,
    period: u64,
    start: u64,
    used: u64,
    /// From an instant on.
    comes: Option<(u64, u64)>,
    /// When the CPU is quiet.
    waits: Option<(u64, u64)>,
}

impl Server {
    fn resize(&mut self, budget: u64, period: u64, now: u64) {
        self.waits = None;
        if period != self.period {
            self.waits = Some((budget, period));
        } else if period > 0 {
            let past = (now - self.start) / self.period;
            self.comes = Some((self.start + (past + 1) * self.period, budget));
        }
    }

    fn advance(&mut self, now: u64) {
        if let Some((at, budget)) = self.comes.filter(|&(at, _)| at == now) {
            (self.budget, self.start, self.comes) = (budget, at, None);
        }
        if self.period > 0 && (now - self.start).is_multiple_of(self.period) {
            self.used = 0;
        }
    }

    /// At the end of an instant at which nothing of real time is pending.
    fn quiet(&mut self, now: u64) {
        if let Some((budget, period)) = self.waits.take() {
            (self.budget, self.period, self.start, self.used, self.comes) = (budget, period, now, 0, None);
        }
    }
}

/// Finishes, by job, in units.
fn by_definition(world: &World) -> BTreeMap<(u32, u32), u64> {
    let lets_enter = |id: usize| {
        let mut own = world.changes.iter().filter(|(_, what)| what.task() == Some(id));
        own.next().is_some_and(|(_, what)| matches!(what, What::Enter { .. }))
    };
    let role = |id: usize, core: Option<u32>| match core {
        Some(_) => Role::RealTime,
        None if lets_enter(id) => Role::Absent,
        None => Role::Background,
    };
    let live = |(id, &(wcet, period, core)): (usize, &(u64, u64, Option<u32>))| Live {
        wcet,
        period,
        role: role(id, core),
        left: false,
        leave: world.own(id).leave.unwrap_or(u64::MAX),
        next: (0, world.own(id).phase),
        pending: VecDeque::new(),
    };
    let mut tasks: Vec<Live> = world.tasks.iter().enumerate().map(live).collect();
    let (budget, period) = world.servers[0];
    let mut server = Server { budget, period, start: 0, used: 0, comes: None, waits: None };
    let (share, window) = world.reserve;
    let mut share_used = 0;
    let mut finishes = BTreeMap::new();
    for now in 0..world.length {
        server.advance(now);
        if window > 0 && now.is_multiple_of(window) {
            share_used = 0;
        }
        tasks.iter_mut().for_each(|task| task.left |= task.leave <= now);
        for &(_, what) in world.changes.iter().filter(|&&(at, _)| at == now) {
            match what {
                What::Enter { task, .. } if !tasks[task].left => {
                    tasks[task].next.1 = tasks[task].next.1.max(now);
                    tasks[task].role = Role::RealTime;
                }
                What::Promote { task, .. } if tasks[task].role == Role::Background && !tasks[task].left => {
                    tasks[task].turn_real_time(now);
                }
                What::Demote { task } if tasks[task].role == Role::RealTime && !tasks[task].left => {
                    tasks[task].role = Role::Background;
                }
                What::Leave { task } => tasks[task].left |= tasks[task].role != Role::Absent,
                What::Resize { server: size, .. } => {
                    server.resize(
                        size.budget().as_ns() / super::UNIT,
                        size.period().as_ns() / super::UNIT,
                        now,
                    );
                }
                What::Enter { .. } | What::Promote { .. } | What::Demote { .. } => {}
            }
        }
        tasks.iter_mut().for_each(|task| task.arrive(now));
        let ready = |id: &usize| !tasks[*id].pending.is_empty();
        let of = |role: Role| {
            (0..tasks.len()).filter(ready).filter(|&id| tasks[id].role == role).collect::<Vec<_>>()
        };
        let first = of(Role::RealTime).into_iter().min_by_key(|&id| (tasks[id].period, id));
        if first.is_none() {
            server.quiet(now);
        }
        // At most one task is in the background beside the busy one, and goes before it: see `world_of`.
        let ordinary = of(Role::Background).first().copied();
        let other = ordinary.is_some() || world.busy > 0;
        let by_server = server.period > 0 && server.used < server.budget;
        let goes_first = by_server || (window > 0 && share_used >= window - share);
        let runs = match first {
            Some(_) if other && goes_first => ordinary,
            Some(id) => Some(id),
            None => ordinary,
        };
        if other && (goes_first || first.is_none()) {
            server.used += 1;
        } else if first.is_some() {
            share_used += 1;
        }
        if let Some(id) = runs {
            let task = &mut tasks[id];
            task.pending[0].2 -= 1;
            if task.pending[0].2 == 0 {
                let (number, ..) = task.pending.pop_front().expect("it ran");
                finishes.insert((u32::try_from(id).expect("few"), number), now + 1);
            }
        }
    }
    finishes
}

/// One task of several has a life; the others are real-time tasks all the time. So never two wait for the same
/// background time, whose order no rule fixes.
fn world_of(rng: &mut Pcg64) -> World {
    let count = rng.random_range(1..=4);
    let first = [Some(0), Some(0), None][rng.random_range(0..3)];
    let tasks: Vec<(u64, u64, Option<u32>)> = (0..count)
        .map(|id| {
            let period = rng.random_range(3..=12);
            (rng.random_range(1..=period.min(4)), period, if id == 0 { first } else { Some(0) })
        })
        .collect();
    let own = (0..count).map(|_| own_of(rng)).collect();
    let size = |rng: &mut Pcg64| {
        let period = if rng.random_range(0..2) == 0 { 5 } else { rng.random_range(0..=8) };
        (rng.random_range(0..=period), period)
    };
    let server = size(rng);
    let mut at = 0;
    let mut changes = Vec::new();
    if first.is_none() && rng.random_range(0..2) == 0 {
        changes.push((rng.random_range(0..20), What::Enter { task: 0, cpu: Some(0) }));
        at = changes[0].0;
    }
    for _ in 0..rng.random_range(1..=10) {
        at += rng.random_range(0..=20);
        let (budget, period) = size(rng);
        let what = match rng.random_range(0..9) {
            0..=2 => What::Promote { task: 0, cpu: Some(0) },
            3..=5 => What::Demote { task: 0 },
            6 if at > 80 || rng.random_range(0..3) == 0 => What::Leave { task: rng.random_range(0..count) },
            _ => What::Resize { cpu: 0, server: server_of(budget, period) },
        };
        changes.push((at, what));
    }
    changes.retain(|&(at, _)| at < 160);
    World { tasks, own, servers: vec![server], changes, length: 160, ..World::default() }
}

/// Most are there from the beginning to the end.
pub fn own_of(rng: &mut Pcg64) -> Own {
    let phase = if rng.random_range(0..3) == 0 { rng.random_range(0..60) } else { 0 };
    let leave = (rng.random_range(0..4) == 0).then(|| phase + rng.random_range(1..120));
    Own { phase, leave, cores: None }
}

/// Every other world has a reserve.
pub fn with_reserve(world: World, seed: u64) -> World {
    let mut rng = Pcg64::seed_from_u64(seed ^ 0x7265_7365_7276_6500);
    let window = rng.random_range(2..=12);
    let reserve = if seed % 2 == 1 { (rng.random_range(1..=window), window) } else { (0, 0) };
    World { reserve, ..world }
}

#[test]
fn one_core_is_as_defined() {
    let (mut matter, mut jobs) = (0, 0);
    for seed in seeds!(0..4000) {
        let world = with_reserve(world_of(&mut Pcg64::seed_from_u64(seed)), seed);
        let seen = world.simulate();
        let finishes = World::finishes(&seen.recording);
        assert_eq!(finishes, by_definition(&world), "LAXITY_SEEDS={seed}..{}: {world:?}", seed + 1);
        let verdict = world.verify(&seen.recording, 0);
        assert!(verdict.clean, "LAXITY_SEEDS={seed}..{}: {world:?}\n{verdict}", seed + 1);
        jobs += finishes.len();
        let sizes_only = world.changes.iter().filter(|(_, what)| what.task().is_some()).copied().collect();
        matter += u32::from(
            World::finishes(&World { changes: sizes_only, ..world }.simulate().recording) != finishes,
        );
    }
    println!("{jobs} jobs, sizes matter in {matter} worlds");
    laxity_seeds::assert_together!(matter > 0);
}

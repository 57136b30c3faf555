//! Lines that jobs of a group take from each other while they run at the same time on different CPUs.
//!
//! 1. A job on a CPU is *useful* from when it has paid for cold caches until it has done its work or leaves. Then it walks its lines, one
//!    after the other, each found at home or in what another CPU has written: the slower, the more often others have come by
//!    ([`super::pace`]).
//! 2. Paces are constant as long as the same jobs are useful; between such times what each has done is summed up, exactly but for
//!    whole ps. So a job is useful for as long as its work takes at the paces that it really had.
//! 3. What is not at home when a job starts or goes on is [`super::CacheState::enter`]'s, and is not counted here: for as long as it takes
//!    to walk so many lines, the job loses nothing more, and others lose to it as to any job.
//! 4. A CPU's speed counts for the work between lines and for loading them from home. What a line takes longer that comes from memory or
//!    from another CPU's cache it takes at any speed, as in [`super::CacheState::enter`]: a slow CPU loses less, by its work.
//!
//! Against two to four walks line by line in time order (`tests/contended_lines.rs`), on CPUs with caches of their own, what groups lose in
//! total is right within 1 % where all write what they share, and 3 % where some only read it or write a part, or CPUs differ in speed;
//! 98 of 100 jobs take as long within 15 %, or 20 % on CPUs of different speeds. Where some of them share a cache
//! and others do not, totals are right within 10 %, and single jobs are not: a job that walks right behind another
//! in their common L2 keeps up with it and loses less, which depends on where their walks happen to lie.
//!
//! Source: lindsay2012, 4.1.2 and 6.2.1 (observations 3 and 5: tasks of a group that run at the same time on different CPUs maximise
//! invalidations). Complexity: O(n^2) for n useful jobs of a group whenever one begins or ends.

use super::pace::{AccessTime, Pace, Transfer, UNIT_PPB, Walker, paces};
use super::{quotient, quotient_up};
use std::collections::BTreeMap;

/// So many sets of present members are remembered for a group at most, with the paces of each.
const REMEMBERED: usize = 256;

/// The result of a job's stay on a CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rested {
    /// What is left of its work, in ns, rounded up.
    pub left_ns: u64,
    /// Lines that came from beyond all caches that the job shares with the CPUs that wrote them, rounded down.
    pub memory_lines: u64,
}

/// A job that is going to be useful.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Begins {
    /// On this CPU, an index into [`laxity_model::Platform::cores`].
    pub core: usize,
    /// Since when.
    pub since_ns: u64,
    /// How long its work takes there if no job takes lines from it, in ns.
    pub work_ns: u64,
    /// So many of its first lines it does not find at home whatever others do.
    pub cold_lines: u64,
}

/// A job that is useful, or will be.
#[derive(Debug, Clone, Copy)]
struct Stay {
    core: usize,
    since_ns: u64,
    /// Up to when it loses nothing.
    cold_until_ns: u64,
    /// What is left of its work, in ps.
    left_ps: u128,
    /// In 10^-6 lines.
    memory: u128,
}

/// Tasks that share lines with each other.
#[derive(Debug, Clone, Default)]
struct Group {
    members: Vec<usize>,
    /// Up to when it is known what they have done.
    at: u64,
    /// The tasks that are useful, and how fast.
    present: Vec<usize>,
    paces: Vec<Pace>,
    /// Until when those are the useful ones if no job begins or ends; 0 where that is not known.
    known_until_ns: u64,
    /// The CPU on which each member began last.
    cores: Vec<usize>,
    /// The paces of sets of members that were useful together on these CPUs: paces depend on nothing else, and the same
    /// tasks meet again and again. A set is a bit for each member; larger groups remember nothing.
    met: BTreeMap<u64, Vec<Pace>>,
}

/// Which tasks are useful where, and what each has done.
#[derive(Debug, Clone)]
pub(super) struct Contention {
    /// By CPU.
    accesses: Vec<AccessTime>,
    walkers: Vec<Walker>,
    groups: Vec<Group>,
    /// By task.
    group_of: Vec<Option<usize>>,
    stays: Vec<Option<Stay>>,
}

impl Contention {
    /// No task is useful yet. `accesses`: by CPU. `groups`: tasks that share lines, each in one group at most.
    pub fn new(accesses: Vec<AccessTime>, walkers: Vec<Walker>, groups: Vec<Vec<usize>>) -> Contention {
        let mut group_of = vec![None; walkers.len()];
        for (number, members) in groups.iter().enumerate() {
            members.iter().for_each(|&task| group_of[task] = Some(number));
        }
        let group =
            |members: Vec<usize>| Group { cores: vec![0; members.len()], members, ..Group::default() };
        let groups = groups.into_iter().map(group).collect();
        Contention { accesses, stays: vec![None; walkers.len()], walkers, groups, group_of }
    }

    /// A job of the task begins to be useful, at a time that is not past.
    pub fn begins(&mut self, task: usize, begins: Begins) {
        let Some(group) = self.group_of[task] else { return };
        let Begins { core, since_ns: since, work_ns, cold_lines } = begins;
        let group = &mut self.groups[group];
        group.known_until_ns = 0;
        if let Some(place) = group.members.iter().position(|&member| member == task)
            && group.cores[place] != core
        {
            group.cores[place] = core;
            group.met.clear();
        }
        let cold_ns = self.accesses[core].of_lines(cold_lines) / 1_000;
        self.stays[task] = Some(Stay {
            core,
            since_ns: since,
            cold_until_ns: since.saturating_add(u64::try_from(cold_ns).unwrap_or(u64::MAX)),
            left_ps: u128::from(work_ns) * 1_000,
            memory: 0,
        });
    }

    /// When a job of the task will have done its work, in ns, if the present tasks stay useful until then; nothing
    /// if it shares lines with no task. `transfer` is of a line of a task, from a CPU to its own.
    pub fn until(
        &mut self,
        task: usize,
        now: u64,
        transfer: impl Fn(usize, usize, usize) -> Transfer,
    ) -> Option<u64> {
        let group = self.group_of[task]?;
        self.advance(group, now, &transfer);
        self.meet(group, &transfer);
        let stay = self.stays[task]?;
        let start = stay.since_ns.max(now);
        let cold_ps = u128::from(stay.cold_until_ns.saturating_sub(start)) * 1_000;
        let cold_ps = cold_ps.min(stay.left_ps);
        let Group { present, paces, .. } = &self.groups[group];
        let pace = present.iter().position(|&other| other == task).map_or(Pace::ALONE, |place| paces[place]);
        let slowed_ps = quotient_up((stay.left_ps - cold_ps) * u128::from(pace.ppb), UNIT_PPB.into());
        let lasts = u64::try_from(quotient_up(cold_ps + slowed_ps, 1_000)).unwrap_or(u64::MAX);
        Some(start.saturating_add(lasts))
    }

    /// A job of the task is useful no longer. Returns what is left of its work and what it lost; nothing if it
    /// shares lines with no task.
    pub fn ends(
        &mut self,
        task: usize,
        now: u64,
        transfer: impl Fn(usize, usize, usize) -> Transfer,
    ) -> Option<Rested> {
        let group = self.group_of[task]?;
        self.stays[task]?;
        self.advance(group, now, &transfer);
        let stay = self.stays[task].take()?;
        self.groups[group].known_until_ns = 0;
        Some(Rested {
            left_ns: u64::try_from(quotient_up(stay.left_ps, 1_000)).unwrap_or(u64::MAX),
            // What was rounded down on the way is made up for.
            memory_lines: u64::try_from(quotient(stay.memory + 1_000, 1_000_000)).unwrap_or(u64::MAX),
        })
    }

    /// The other tasks of the group that are useful, or will be.
    pub fn others(&self, task: usize) -> impl Iterator<Item = usize> {
        let members = self.group_of[task].map_or(&[][..], |group| &self.groups[group].members);
        members.iter().copied().filter(move |&other| other != task && self.stays[other].is_some())
    }

    /// Sums up what the members of a group have done until `now`.
    fn advance(&mut self, group: usize, now: u64, transfer: &impl Fn(usize, usize, usize) -> Transfer) {
        while self.groups[group].at < now {
            self.meet(group, transfer);
            let at = self.groups[group].at;
            let stays = self.groups[group].members.iter().filter_map(|&task| self.stays[task]);
            let changes = stays.flat_map(|stay| [stay.since_ns, stay.cold_until_ns]);
            let next = changes.filter(|&change| change > at).fold(now, u64::min);
            let Group { present, paces, .. } = &self.groups[group];
            for (&task, pace) in present.iter().zip(paces) {
                let Some(stay) = &mut self.stays[task] else { continue };
                let pace = if at < stay.cold_until_ns { Pace::ALONE } else { *pace };
                let ps = u128::from(next - at) * 1_000;
                let done = if pace.ppb == UNIT_PPB {
                    ps
                } else {
                    quotient_up(ps * u128::from(UNIT_PPB), pace.ppb.into())
                };
                let done = done.min(stay.left_ps);
                stay.left_ps -= done;
                if pace.memory_ppm > 0 {
                    stay.memory += self.accesses[stay.core].lines_in(done, pace.memory_ppm);
                }
            }
            self.groups[group].at = next;
        }
    }

    /// Finds the tasks of a group that are useful at the instant it has come to, and their paces.
    #[inline]
    fn meet(&mut self, group: usize, transfer: &impl Fn(usize, usize, usize) -> Transfer) {
        let &Group { at, known_until_ns, .. } = &self.groups[group];
        if at >= known_until_ns {
            self.meet_anew(group, transfer);
        }
    }

    fn meet_anew(&mut self, group: usize, transfer: &impl Fn(usize, usize, usize) -> Transfer) {
        let Group { members, at, present, paces: known, known_until_ns, met, .. } = &mut self.groups[group];
        *known_until_ns = u64::MAX;
        present.clear();
        let mut bits = 0u64;
        for (place, &task) in members.iter().enumerate() {
            let Some(stay) = &self.stays[task] else { continue };
            if stay.since_ns > *at {
                *known_until_ns = stay.since_ns.min(*known_until_ns);
                continue;
            }
            present.push(task);
            bits |= u32::try_from(place).ok().and_then(|place| 1u64.checked_shl(place)).unwrap_or(0);
        }
        known.clear();
        if present.len() < 2 {
            known.resize(present.len(), Pace::ALONE);
            return;
        }
        let may_remember = members.len() <= 64;
        if may_remember && let Some(paces) = met.get(&bits) {
            known.extend_from_slice(paces);
            return;
        }
        let stays = &self.stays;
        let core = |task: usize| stays[task].map_or(0, |stay| stay.core);
        let access = |task: usize| self.accesses[core(task)];
        *known = paces(&self.walkers, present, access, |task, other| transfer(task, core(other), core(task)));
        if may_remember {
            if met.len() >= REMEMBERED {
                met.clear();
            }
            met.insert(bits, known.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::pace::Exposed;
    use super::*;
    use laxity_model::Speed;

    const US: u64 = 1_000;

    /// So many CPUs of speed 1, where an access takes 10 ns.
    fn cores(count: usize) -> Vec<AccessTime> {
        vec![AccessTime::at(Speed::UNIT, 10_000); count]
    }

    /// Tasks that all walk the same 100 lines and write them, 10 ns each.
    fn all_with_all(tasks: usize) -> Contention {
        let others = |task: usize| (0..tasks).filter(|&other| other != task).collect();
        let walker =
            |task| Walker { lines: 100, exposed: vec![Exposed { ppm: 1_000_000, writers: others(task) }] };
        Contention::new(cores(tasks + 1), (0..tasks).map(walker).collect(), vec![(0..tasks).collect()])
    }

    /// Work of 10 ms with warm caches.
    fn on(core: usize, since_ms: u64) -> Begins {
        Begins { core, since_ns: since_ms * 1_000 * US, work_ns: 10_000 * US, cold_lines: 0 }
    }

    /// A line that another CPU has written takes 20 ns more: twice an access.
    fn twice(_: usize, from: usize, to: usize) -> Transfer {
        assert_ne!(from, to);
        Transfer { ps: 20_000, from_memory: true }
    }

    /// When each has done its work, in us, and how many lines it had from memory.
    fn ends(mut contention: Contention, begins: &[Begins]) -> Vec<(u64, u64)> {
        let mut ends = vec![(0, 0); begins.len()];
        for (task, &begins) in begins.iter().enumerate() {
            contention.begins(task, begins);
        }
        let (mut left, mut now): (Vec<usize>, u64) = ((0..begins.len()).collect(), 0);
        while !left.is_empty() {
            let until = |task: &usize| (contention.until(*task, now, twice).expect("it is there"), *task);
            let (until, task) = left.iter().map(until).min().expect("some are left");
            if until == now {
                let rested = contention.ends(task, now, twice).expect("it is there");
                assert_eq!(rested.left_ns, 0);
                ends[task] = (now / US, rested.memory_lines);
                left.retain(|&other| other != task);
            }
            now = until;
        }
        ends
    }

    #[test]
    fn ends_are_those_of_jobs_that_are_slowed_down() {
        let times = |begins: &[u64]| -> Vec<u64> {
            let begins: Vec<Begins> = begins.iter().enumerate().map(|(core, &ms)| on(core, ms)).collect();
            ends(all_with_all(begins.len()), &begins).into_iter().map(|(end, _)| end).collect()
        };
        // Three times as long while both work.
        assert_eq!(times(&[0]), [10_000]);
        assert_eq!(times(&[0, 0]), [30_000, 30_000]);
        // 5 ms alone, then 5 ms of work in 15; the other is alone for its last 5 ms.
        assert_eq!(times(&[0, 5]), [20_000, 25_000]);
        assert_eq!(times(&[0, 10]), [10_000, 20_000]);
        // A third one makes no line staler than it is.
        assert_eq!(times(&[0, 0, 0]), [30_000; 3]);
        // The last has done 10/3 ms when the first ends, 25/3 ms when the second does.
        assert_eq!(times(&[0, 5, 10]), [20_000, 35_000, 36_666]);
    }

    #[test]
    fn lines_that_are_cold_anyway_are_not_lost_to_others() {
        // 300000 lines of 10 ns are 3 ms; the other 7 ms take 21. The other one, warm, has done 8 ms then, and is alone.
        let begins = [Begins { cold_lines: 300_000, ..on(0, 0) }, on(1, 0)];
        let found = ends(all_with_all(2), &begins);
        assert_eq!(found, [(24_000, 700_000), (26_000, 800_000)]);
    }

    #[test]
    fn a_slow_core_has_fewer_accesses_in_a_time() {
        // At half the speed, 5 ms of work take 10, which 500000 accesses of 20 ns are. Each takes 20 ns longer.
        let mut contention = all_with_all(2);
        contention.accesses = vec![AccessTime::at(Speed::new(1, 2).expect("a fraction"), 10_000); 2];
        let cold = Begins { cold_lines: 100_000, ..on(1, 0) };
        assert_eq!(ends(contention.clone(), &[on(0, 0), on(1, 0)]), [(20_000, 500_000); 2]);
        // 100000 of them take 2 ms; then the other 8 take 16. The first has done 9 ms then, and is alone.
        assert_eq!(ends(contention, &[on(0, 0), cold]), [(19_000, 450_000), (18_000, 400_000)]);
    }

    #[test]
    fn a_job_that_leaves_has_done_what_it_could() {
        let mut contention = all_with_all(2);
        contention.begins(0, on(0, 0));
        contention.begins(1, on(1, 0));
        let rested = contention.ends(0, 6_000 * US, twice).expect("it was there");
        assert_eq!((rested.left_ns, rested.memory_lines), (8_000 * US, 200_000));
        assert_eq!(contention.ends(0, 7_000 * US, twice), None, "it is said once");
        // The other is alone now: 2 ms done, 8 left.
        assert_eq!(contention.until(1, 6_000 * US, twice), Some(14_000 * US));
        // On another core, for what is left.
        contention.begins(0, Begins { core: 2, since_ns: 8_000 * US, work_ns: 8_000 * US, cold_lines: 0 });
        assert_eq!(contention.until(1, 8_000 * US, twice), Some(26_000 * US));
        assert_eq!(contention.others(0).collect::<Vec<_>>(), [1]);
        let rested = contention.ends(1, 14_000 * US, twice).expect("it was there");
        assert_eq!(rested.left_ns, 4_000 * US);
    }

    #[test]
    fn strangers_are_not_followed() {
        let walkers = vec![Walker { lines: 100, exposed: vec![] }];
        let mut contention = Contention::new(cores(1), walkers, vec![]);
        contention.begins(0, on(0, 0));
        assert_eq!((contention.until(0, 0, twice), contention.ends(0, 1, twice)), (None, None));
    }
}

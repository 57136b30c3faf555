//! The ready queues against a sorted list, in the build that tests every assertion of `policy/`.

use laxity_conformance::queue::{Build, QUEUES, Queue, seed_set};
use rand::RngExt;
use rand_pcg::Pcg64;
use std::collections::BTreeSet;

/// Where a task is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Nowhere,
    Waiting,
    InGroup,
}

/// How keys come about.
#[derive(Clone, Copy)]
enum Keys {
    /// From a small range: equal keys everywhere.
    Any,
    /// Arrival + D, as the jobs of tasks that are never late have them.
    Arrivals,
    /// The same with late jobs, and with deadlines that were postponed.
    Tardy,
}

/// One queue and the list that it is compared with.
struct Pair {
    queue: Queue,
    sorted: BTreeSet<(u64, u32)>,
    keys: Vec<u64>,
    places: Vec<Place>,
    deadlines_rel: Vec<u64>,
    priorities: Vec<u32>,
    group: Vec<u32>,
    fixed: bool,
}

/// The queue's release group in these tests.
const GROUP: u32 = 0;

impl Pair {
    fn new(number: usize, random: &mut Pcg64) -> Pair {
        let n_max = match random.random_range(0..40_u32) {
            0 => 5000,
            1..8 => 300,
            _ => 20,
        };
        let n = random.random_range(1..=n_max);
        let fixed = random.random_bool(0.2);
        let mut queue = Queue::new(Build::Checked, number, n, fixed);
        let deadline_max = random.random_range(1..=2 * u64::from(n));
        let deadlines_rel: Vec<u64> = (0..n).map(|_| random.random_range(1..=deadline_max)).collect();
        let priorities: Vec<u32> = (0..n).map(|_| random.random_range(0..=n / 2)).collect();
        for task in 0..n {
            queue.set_task(task, deadlines_rel[task as usize], priorities[task as usize], 0, 0);
        }
        queue.init();
        queue.clear_group(GROUP);
        Pair {
            queue,
            sorted: BTreeSet::new(),
            keys: vec![0; n as usize],
            places: vec![Place::Nowhere; n as usize],
            deadlines_rel,
            priorities,
            group: Vec::new(),
            fixed,
        }
    }

    fn set_key(&mut self, task: u32, key: u64) {
        self.keys[task as usize] = key;
        self.queue.set_key(task, key);
    }

    fn wait(&mut self, task: u32) {
        self.places[task as usize] = Place::Waiting;
        assert!(self.sorted.insert((self.keys[task as usize], task)));
    }

    fn leave(&mut self, task: u32) {
        self.places[task as usize] = Place::Nowhere;
        assert!(self.sorted.remove(&(self.keys[task as usize], task)));
    }

    /// A key that a job may have at `now`.
    fn draw_key(&self, task: u32, now: u64, keys: Keys, random: &mut Pcg64) -> u64 {
        if self.fixed {
            return self.priorities[task as usize].into();
        }
        let deadline = now + self.deadlines_rel[task as usize];
        match keys {
            Keys::Any => random.random_range(0..50),
            Keys::Arrivals => deadline,
            Keys::Tardy => match random.random_range(0..10_u32) {
                0 => deadline.saturating_sub(random.random_range(0..60)),
                1 => deadline + random.random_range(0..60),
                _ => deadline,
            },
        }
    }

    /// One random operation on both.
    fn operate(&mut self, now: u64, keys: Keys, random: &mut Pcg64) {
        let task = random.random_range(0..u32::try_from(self.keys.len()).expect("few"));
        let first = self.sorted.first().copied();
        match (self.places[task as usize], random.random_range(0..12_u32)) {
            (_, 0) => self.group_release(),
            (_, 1..4) => {
                if let Some((_, top)) = first {
                    self.queue.pop(top);
                    self.leave(top);
                }
            }
            (Place::Waiting, _) => {
                self.queue.remove(task);
                self.leave(task);
            }
            (Place::InGroup, _) => {}
            (Place::Nowhere, 4) => self.insert_first(task, first),
            (Place::Nowhere, 11) => self.admit(task, random),
            (Place::Nowhere, 5..8) => {
                let key = self.draw_key(task, now, keys, random);
                self.set_key(task, key);
                self.places[task as usize] = Place::InGroup;
                self.group.push(task);
                self.queue.group_add(GROUP, task);
            }
            (Place::Nowhere, _) => {
                let key = self.draw_key(task, now, keys, random);
                self.set_key(task, key);
                self.wait(task);
                self.queue.insert(task);
            }
        }
    }

    /// Another task takes the place of one that has no job.
    fn admit(&mut self, task: u32, random: &mut Pcg64) {
        let n = u32::try_from(self.keys.len()).expect("few");
        let deadline_rel = random.random_range(1..=2 * u64::from(n));
        let priority = random.random_range(0..=n / 2);
        self.deadlines_rel[task as usize] = deadline_rel;
        self.priorities[task as usize] = priority;
        self.queue.set_task(task, deadline_rel, priority, 0, 0);
        // O(n log n): seldom where there are many tasks.
        let now = random.random_range(0..=n / 64) == 0;
        if now && self.queue.name() == "promotions" {
            self.queue.admit_for_promotions();
        }
    }

    /// Inserts a task as preempted: with a key before all others, equal to the first one's where that may be.
    fn insert_first(&mut self, task: u32, first: Option<(u64, u32)>) {
        let key = match first {
            Some((key, other)) if task < other => key,
            Some((0, _)) => return,
            Some((key, _)) => key - 1,
            None => 17,
        };
        self.set_key(task, key);
        self.wait(task);
        self.queue.insert_first(task);
    }

    fn group_release(&mut self) {
        self.queue.group_release(GROUP);
        for task in std::mem::take(&mut self.group) {
            self.wait(task);
        }
    }

    /// Everything that can be seen.
    fn check(&mut self, context: &str) {
        let name = self.queue.name();
        match self.queue.check() {
            Ok(jobs) => assert_eq!(jobs as usize, self.sorted.len(), "{name}, {context}: jobs in the queue"),
            Err(wrong) => panic!("{name}, {context}: {wrong}"),
        }
        match self.queue.check_group(GROUP) {
            Ok(None) => {}
            Ok(Some(jobs)) => {
                assert_eq!(jobs as usize, self.group.len(), "{name}, {context}: jobs in the group")
            }
            Err(wrong) => panic!("{name}, {context}, group: {wrong}"),
        }
        let first = self.sorted.first().map(|&(_, task)| task);
        assert_eq!(self.queue.top(), first, "{name}, {context}: top");
    }

    /// Takes all out, in order.
    fn drain(&mut self, context: &str) {
        let name = self.queue.name();
        while let Some(&(_, task)) = self.sorted.first() {
            assert_eq!(self.queue.top(), Some(task), "{name}, {context}: while it is emptied");
            self.queue.pop(task);
            self.leave(task);
        }
        assert_eq!(self.queue.top(), None, "{name}, {context}: emptied");
    }
}

fn stream(seed: u64) -> Pcg64 {
    Pcg64::new(seed.into(), 0xa02b_dbf7_bb3c_0a7a_c28f_a16a_64ab_f96b)
}

/// Every queue is compared with the same sorted list over the same operations, so all of them give the same pops.
fn every_queue_for(seed: u64, operations: u32) {
    for number in 0..QUEUES {
        seed_set(seed);
        let mut random = stream(seed);
        let keys = [Keys::Any, Keys::Arrivals, Keys::Tardy][random.random_range(0..3_usize)];
        let mut pair = Pair::new(number, &mut random);
        // A check looks at everything: with many tasks it is done now and then.
        let every = u32::try_from(pair.keys.len()).expect("few") / 64 + 1;
        let mut now = 0;
        for operation in 0..operations {
            now += random.random_range(0..4);
            pair.operate(now, keys, &mut random);
            if operation % every == 0 {
                pair.check(&format!("seed {seed}, operation {operation}"));
            }
        }
        pair.group_release();
        pair.check(&format!("seed {seed}, at the end"));
        pair.drain(&format!("seed {seed}"));
    }
}

#[test]
fn queues_are_sorted_lists() {
    for seed in laxity_seeds::seeds!(0..4000) {
        every_queue_for(seed, 300);
    }
}

#[test]
fn queues_are_sorted_lists_when_long() {
    for seed in laxity_seeds::seeds!(0..30) {
        every_queue_for(1 << 32 | seed, 12_000);
    }
}

/// The checks see what is wrong: a key that changes while its task waits breaks every queue's order.
#[test]
fn a_broken_queue_is_noticed() {
    for number in 0..QUEUES {
        let mut queue = Queue::new(Build::Checked, number, 8, false);
        queue.init();
        for task in 0..8 {
            queue.set_key(task, 10 * u64::from(task));
            queue.insert(task);
        }
        assert_eq!(queue.check(), Ok(8), "{}", queue.name());
        queue.set_key(5, 1);
        assert!(queue.check().is_err(), "{} with a wrong key", queue.name());
    }
}

/// The lists of fpp follow the paper: without ties, no job that is inserted at its arrival needs the step 0 of our own.
#[test]
fn punctual_jobs_need_no_step_of_ours() {
    let promotions = QUEUES - 1;
    for seed in laxity_seeds::seeds!(0..300) {
        let mut random = stream(seed);
        let n = random.random_range(1..200_u32);
        let mut queue = Queue::new(Build::Checked, promotions, n, false);
        assert_eq!(queue.name(), "promotions");
        // Deadlines are multiples of n and arrivals leave the task's number as rest: no two keys are equal.
        let deadlines: Vec<u64> = (0..n).map(|_| u64::from(n) * random.random_range(1..100_u64)).collect();
        for task in 0..n {
            queue.set_task(task, deadlines[task as usize], 0, 0, 0);
        }
        queue.init();
        let mut waiting = BTreeSet::new();
        let mut now = 0;
        for _ in 0..1000 {
            now += random.random_range(1..20);
            let task = u32::try_from(now % u64::from(n)).expect("below n");
            if waiting.insert(task) {
                queue.set_key(task, now + deadlines[task as usize]);
                assert!(!queue.is_late_for_promotions(task), "seed {seed}, now {now}, task {task}");
                queue.insert(task);
            } else if let Some(top) = queue.top() {
                queue.pop(top);
                waiting.remove(&top);
            }
        }
    }
}

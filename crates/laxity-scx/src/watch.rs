//! What has to hold whenever nothing is under way, and over time.

use crate::parts::{Class, Instance, SCHED_EXT, SLICE_INF, TICK_NS};
use crate::raw::{CpuView, InstanceView, SlotView};
use crate::thread::Task;
use crate::world::{World, world};

/// The kernel throws a scheduler out whose task can run and does not for so long, in ns.
pub(crate) const WATCHDOG_NS: u64 = 30_000_000_000;
/// The window in which bound kernel threads go first for a bounded time, in ns.
pub(crate) const BOUND_PERIOD_NS: u64 = 10_000_000;
/// What a timer, a kick and a switch may take until they give way, in ns.
const BOUND_SLACK_NS: u64 = 200_000;
/// A bound kernel thread that has had its time has the CPU again with the next window, which a tick finds: within this, in ns.
const BOUND_WAIT_NS: u64 = BOUND_PERIOD_NS + 2 * TICK_NS + BOUND_SLACK_NS;
/// A bound kernel thread has its CPU again within this, in ns: others of its kind and SCHED_FIFO may go before it, which has a CPU for
/// four times 700 ms at most.
const BOUND_PATIENCE_NS: u64 = 3_500_000_000;
const NONE: u32 = u32::MAX;
/// `enum lx_standing`.
const PRESENT: u32 = 2;
const LEFT_BEHIND: u32 = 5;

/// Called while nothing is under way on any CPU.
pub(crate) fn when_quiet() {
    let instances = world(|w| w.instances.clone());
    for (number, instance) in instances.iter().enumerate() {
        let found = Looks::of(number, instance);
        world(|w| {
            if let Some(why) = found.is_wrong(w, instance) {
                w.fail(format!("instance {number}: {why}"));
            }
            for (index, &cpu) in instance.cpus.iter().enumerate() {
                let keeps = found.is_kept_by_bound(w, index, cpu);
                watch_the_bound(w, cpu, keeps);
                watch_the_waiting(w, cpu);
            }
        });
    }
    world(watch_the_dog);
}

/// Bound kernel threads keep jobs from a CPU for no longer than they may in a window. `keeps`: one does so from now on.
fn watch_the_bound(w: &mut World, cpu: usize, keeps: bool) {
    let now = w.now;
    let window = now / BOUND_PERIOD_NS;
    let c = &mut w.cpus[cpu];
    let since = std::mem::replace(&mut c.kept_since_at, keeps.then_some(now));
    if c.kept.0 != window {
        c.kept = (window, 0);
    }
    if let Some(since) = since {
        // What came behind it until now is no fault of its own.
        let until = if c.bound_left_at > since { c.bound_left_at } else { now };
        c.kept.1 += until.saturating_sub(since.max(window * BOUND_PERIOD_NS));
    }
    let kept_ns = c.kept.1;
    if let Some(bound_ns) = w.bound_ns
        && kept_ns > bound_ns + BOUND_SLACK_NS
    {
        w.fail(format!(
            "kernel threads have kept a job from CPU {cpu} for {kept_ns} ns of a window, and may for {bound_ns}"
        ));
    }
}

/// A bound kernel thread goes before jobs and background work again when its next window has begun.
fn watch_the_waiting(w: &mut World, cpu: usize) {
    let now = w.now;
    let current = &w.tasks[w.cpus[cpu].current];
    let is_behind = current.class >= Class::Ext && !current.is_bound();
    let waiting = w.tasks.iter().find(|t| {
        is_behind && t.class == Class::Ext && t.is_bound() && t.cpu == cpu && t.runnable_at.is_some()
    });
    let Some(waiting) = waiting else {
        w.cpus[cpu].bound_waits_since_at = None;
        return;
    };
    let (name, behind) = (waiting.name.clone(), current.name.clone());
    let since = *w.cpus[cpu].bound_waits_since_at.get_or_insert(now);
    if w.bound_ns.is_some() && now - since > BOUND_WAIT_NS {
        w.fail(format!(
            "{name} waits behind {behind} on CPU {cpu} for {} ns, and its window has begun",
            now - since
        ));
    }
}

/// No task that can run waits as long as the kernel's watchdog waits.
fn watch_the_dog(w: &mut World) {
    let now = w.now;
    let stuck = w
        .tasks
        .iter()
        .find(|t| t.class == Class::Ext && t.runnable_at.is_some_and(|at| now - at > WATCHDOG_NS));
    if let Some(task) = stuck {
        let why = format!(
            "{} can run and has not for 30 s (custody {:?}, queue {:?})",
            task.name, task.custody, task.queue
        );
        w.fail(why);
    }
    let bound =
        w.tasks.iter().find(|t| t.is_bound() && t.runnable_at.is_some_and(|at| now - at > BOUND_PATIENCE_NS));
    if let Some(task) = bound
        && task.class == Class::Ext
    {
        let why = format!("{} can run and has not for {BOUND_PATIENCE_NS} ns", task.name);
        w.fail(why);
    }
    let patience_ns = w.patience_ns;
    let waits = w.tasks.iter().find(|t| {
        t.raw.policy == SCHED_EXT
            && t.class == Class::Ext
            && t.runnable_at.is_some_and(|at| now - at > patience_ns)
    });
    if let Some(task) = waits {
        let why =
            format!("{} waits for {} ms although there is a CPU for it", task.name, patience_ns / 1_000_000);
        w.fail(why);
    }
}

/// What the host says of an instance at one moment.
struct Looks {
    cpus: Vec<CpuView>,
    /// By CPU: the task that is linked there.
    linked: Vec<Option<SlotView>>,
    /// By CPU: the number of the task that runs there, if it is a member.
    runs: Vec<u32>,
    runs_slot: Vec<Option<SlotView>>,
    sums: InstanceView,
    members: u32,
}

impl Looks {
    fn of(number: usize, instance: &Instance) -> Looks {
        let (table, currents, all) = world(|w| {
            let currents: Vec<_> = instance.cpus.iter().map(|&cpu| w.cpus[cpu].current).collect();
            let all: Vec<_> = (0..w.tasks.len()).filter(|&t| !w.tasks[t].storage.is_empty()).collect();
            (w.host.table(), currents, all)
        });
        let member = |task| {
            let raw = world(|w| w.raw(task));
            (table.member_of)(raw)
        };
        let instance_number = u32::try_from(number).expect("few");
        let slot = |index: u32| {
            let mut view = SlotView::default();
            (table.look_at_slot)(instance_number, index, &raw mut view);
            view
        };
        let mut looks = Looks {
            cpus: Vec::new(),
            linked: Vec::new(),
            runs: Vec::new(),
            runs_slot: Vec::new(),
            sums: InstanceView::default(),
            members: 0,
        };
        for (index, &current) in currents.iter().enumerate() {
            let mut view = CpuView::default();
            (table.look_at_cpu)(instance_number, u32::try_from(index).expect("few"), &raw mut view);
            let runs = member(current);
            looks.linked.push((view.linked != NONE).then(|| slot(view.linked)));
            looks.cpus.push(view);
            looks.runs.push(runs);
            looks.runs_slot.push((runs != NONE).then(|| slot(runs)));
        }
        (table.look_at_instance)(instance_number, &raw mut looks.sums);
        for task in all {
            let is_member = member(task) != NONE;
            looks.members +=
                u32::from(is_member && (table.instance_of)(world(|w| w.raw(task))) == instance_number);
        }
        looks
    }

    fn is_wrong(&self, w: &World, instance: &Instance) -> Option<String> {
        for (index, &cpu) in instance.cpus.iter().enumerate() {
            if Some(index) == instance.dedicated {
                continue;
            }
            if let Some(why) = self.cpu_is_wrong(w, index, cpu) {
                return Some(format!(
                    "CPU {cpu} runs {}: {why}: {:?}, {}",
                    w.tasks[w.cpus[cpu].current].name,
                    self.cpus[index],
                    self.linked[index].map_or(String::new(), |slot| described(w, slot))
                ));
            }
        }
        let sums = &self.sums;
        if sums.members != self.members {
            return Some(format!("{} tasks are members, {} are counted", self.members, sums.members));
        }
        if sums.bandwidth != sums.admitted {
            return Some(format!(
                "members have a bandwidth of {}, and {} is counted",
                sums.bandwidth, sums.admitted
            ));
        }
        if sums.slots_used + sums.free != instance.tasks {
            return Some(format!(
                "of {} numbers {} are used and {} free",
                instance.tasks, sums.slots_used, sums.free
            ));
        }
        None
    }

    /// A bound kernel thread has the CPU, and a job could.
    fn is_kept_by_bound(&self, w: &World, index: usize, cpu: usize) -> bool {
        let current = &w.tasks[w.cpus[cpu].current];
        current.class == Class::Ext
            && current.is_bound()
            && self.linked[index].is_some_and(|linked| can_run(w, linked))
    }

    /// The CPU runs what is linked to it, if that can run; and no member that is not.
    fn cpu_is_wrong(&self, w: &World, index: usize, cpu: usize) -> Option<&'static str> {
        let current = &w.tasks[w.cpus[cpu].current];
        let view = &self.cpus[index];
        if current.class == Class::RealTime && (view.withdrawn == 0 || view.linked != NONE) {
            return Some("a class above has it, and the policy has not been told");
        }
        if current.class < Class::Ext || current.is_bound() || current.raw.migration_disabled > 0 {
            return None;
        }
        if view.kicked != 0 || view.withdrawn != 0 {
            return Some("it owes a decision, and no kick is on its way");
        }
        // The reserve, a server, or a member that has to run here for a moment.
        if view.gave_way != 0 || (self.runs[index] != NONE && has_a_moment(current)) {
            return None;
        }
        if let Some(linked) = self.linked[index]
            && view.linked != self.runs[index]
            && can_run(w, linked)
        {
            return Some("another task is linked there, and can run");
        }
        if let Some(slot) = self.runs_slot[index]
            && current.raw.policy == SCHED_EXT
            && slot.standing == PRESENT
            && slot.yielded == 0
            && !has_a_moment(current)
            && view.linked != self.runs[index]
        {
            return Some("it is a member, and not linked there");
        }
        None
    }
}

/// The task of a number, in words.
fn described(w: &World, slot: SlotView) -> String {
    let task = w.tasks.iter().rev().find(|t| t.raw.pid.unsigned_abs() == slot.pid && !t.is_freed);
    task.map_or(format!("{slot:?}"), |t| {
        format!(
            "linked is {} on CPU {}, where {} runs: {slot:?}, {:?}, queue {:?}, on a CPU {}",
            t.name, t.cpu, w.tasks[w.cpus[t.cpu].current].name, t.custody, t.queue, t.raw.on_cpu
        )
    })
}

/// It runs where it is for as long as it may not migrate, and a moment longer.
fn has_a_moment(task: &Task) -> bool {
    // No slice that ends is as long as half of one that does not.
    task.raw.on_cpu != 0 && task.raw.scx.slice < SLICE_INF / 2
}

fn can_run(w: &World, slot: SlotView) -> bool {
    let task = w.tasks.iter().rev().find(|t| t.raw.pid.unsigned_abs() == slot.pid && !t.is_freed);
    slot.standing == PRESENT
        && slot.yielded == 0
        && task.is_some_and(|t| {
            t.on_rq
                && t.class == Class::Ext
                && t.raw.policy == SCHED_EXT
                && t.raw.migration_disabled == 0
                && !has_a_moment(t)
                // No other CPU can have it before that one is free (`schedule.rs`).
                && !t.is_behind_risen
        })
}

/// At the end, when all threads are gone: nothing of them is left.
pub(crate) fn at_the_end() {
    let instances = world(|w| w.instances.clone());
    for (number, instance) in instances.iter().enumerate() {
        let sums = Looks::of(number, instance).sums;
        let is_left = sums.members != 0
            || sums.admitted != 0
            || sums.free + departed(number, instance) != instance.tasks;
        if is_left {
            world(|w| w.fail(format!("all threads are gone, and instance {number} has {sums:?}")));
        }
    }
}

/// Numbers whose tasks have left, and whose turn has yet to come.
fn departed(number: usize, instance: &Instance) -> u32 {
    let look = world(|w| w.host.table().look_at_slot);
    let number = u32::try_from(number).expect("few");
    let count = (0..instance.tasks).filter(|&index| {
        let mut view = SlotView::default();
        look(number, index, &raw mut view);
        view.standing == LEFT_BEHIND
    });
    u32::try_from(count.count()).expect("few")
}

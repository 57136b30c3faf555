//! Takes what the host has written into the rings of its trace, as user space does, and notes beside it what no record says: what members
//! were admitted with, where threads had to stay for a moment, when classes above had CPUs.

use crate::parts::{Class, QUEUE_LOCAL, QUEUE_LOCAL_ON, SLICE_INF, TaskId};
use crate::raw::{MapDeclaration, Parameters};
use crate::records::{Above, Moment, Note, Noted, Request, Written};
use crate::world::{World, world};
use laxity_kernel::rings::{RECORDS, Ring};

/// `LX_MOMENT` of bpf/host, in ns.
const MOMENT_NS: u64 = 1_000_000;

/// Takes out what has been written.
pub(crate) fn drain(w: &mut World) {
    for by in 0..w.cpus.len() {
        let Some(at) = w.maps.ring(by) else { continue };
        // SAFETY: a ring of the host's, which stays where it is, and nothing else reads it.
        let ring = unsafe { Ring::at(at, RECORDS) };
        let called_at = w.cpus[by].called_at;
        ring.drain(|record| w.recorder.written.push(Written { by, called_at, record: *record }));
    }
}

/// The host is called on this CPU: what it has written before is taken out.
pub(crate) fn is_called(w: &mut World) {
    drain(w);
    let (here, now) = (w.here, w.now);
    w.cpus[here].called_at = now;
}

/// A request to the host begins on that CPU.
pub(crate) fn is_asked(w: &mut World, cpu: usize) {
    drain(w);
    (w.cpus[cpu].asked_at, w.cpus[cpu].asked_before) = (w.now, w.recorder.written.len());
}

/// The host is about to look up a value: what was written before is taken out, so that it stays in the order of writing.
pub(crate) fn before_look_up(w: &mut World, map: &MapDeclaration, key: *const u8) {
    let (rings, alone) = (w.maps.trace_rings, w.host.table().released_alone);
    if map.declared == rings {
        drain(w);
    } else if map.declared == alone {
        // SAFETY: the key of such a map is the number of a thread.
        let pid = unsafe { key.cast::<u32>().read_unaligned() };
        note(w, pid, Note::Admits);
    }
}

/// The host is about to change a value.
pub(crate) fn before_update(map: &MapDeclaration, key: *const u8, value: *const u8) {
    world(|w| {
        if map.declared == w.host.table().roster {
            // SAFETY: that map has the parameters of threads by their numbers.
            let (pid, parameters) =
                unsafe { (key.cast::<u32>().read_unaligned(), value.cast::<Parameters>().read_unaligned()) };
            let c = &w.cpus[w.here];
            let (since_ns, before) = (c.asked_at, c.asked_before);
            let request = Request { since_ns, before, granted_at: w.now };
            note(w, pid, Note::Granted(parameters, request));
        }
    });
}

/// The host sends a thread to a queue for so many ns.
pub(crate) fn is_sent(w: &mut World, task: TaskId, queue: u64, slice_ns: u64) {
    let cpu = match queue {
        _ if slice_ns >= SLICE_INF / 2 => return,
        // One that others have kept from every CPU for too long.
        QUEUE_LOCAL if slice_ns == MOMENT_NS => w.here,
        _ if queue & QUEUE_LOCAL_ON == QUEUE_LOCAL_ON => w.tasks[task].cpu,
        _ => return,
    };
    let (from_ns, pid) = (w.now, w.tasks[task].raw.pid.unsigned_abs());
    let moment = w.recorder.moments.len();
    w.recorder.moments.push(Moment { task, cpu, from_ns, to_ns: None });
    note(w, pid, Note::Moment(moment));
}

/// A system call has the thread in its hands: no CPU that should run it finds it until it is put back. That moment, by its number.
pub(crate) fn is_handled(w: &mut World, task: TaskId) -> usize {
    moment_begins(w, task)
}

/// It comes out of a CPU's own queue, where it was left behind a thread that had risen to a class above (`schedule.rs`): it runs there
/// until the CPU decides, whatever the host has decided for since.
pub(crate) fn runs_unasked(w: &mut World, task: TaskId) {
    moment_begins(w, task);
}

fn moment_begins(w: &mut World, task: TaskId) -> usize {
    let (cpu, from_ns, pid) = (w.tasks[task].cpu, w.now, w.tasks[task].raw.pid.unsigned_abs());
    let moment = w.recorder.moments.len();
    w.recorder.moments.push(Moment { task, cpu, from_ns, to_ns: None });
    note(w, pid, Note::Moment(moment));
    moment
}

/// The call has put it back: that moment is over, and no other. The host may have sent it for one meanwhile.
pub(crate) fn is_put_back(w: &mut World, moment: usize) {
    let now = w.now;
    w.recorder.moments[moment].to_ns.get_or_insert(now);
}

/// The thread has left a CPU, or may stay there: its moment is over.
pub(crate) fn moment_ends(w: &mut World, task: TaskId) {
    let now = w.now;
    for moment in w.recorder.moments.iter_mut().rev().filter(|moment| moment.task == task) {
        if moment.to_ns.is_some() {
            break;
        }
        moment.to_ns = Some(now);
    }
}

/// A CPU switches to a thread, by its class.
pub(crate) fn switches(w: &mut World, cpu: usize, class: Class) {
    let now = w.now;
    let open = w.recorder.above.iter_mut().rev().find(|above| above.cpu == cpu && above.to_ns.is_none());
    let is_stop = class == Class::Stop;
    if let Some(above) = open {
        if class < Class::Ext && above.is_stop == is_stop {
            return;
        }
        above.to_ns = Some(now);
    }
    if class < Class::Ext {
        w.recorder.above.push(Above { cpu, from_ns: now, to_ns: None, is_stop });
    }
}

/// While nothing is under way: moments that are over because their threads may stay.
pub(crate) fn look_at_moments(w: &mut World) {
    for cpu in 0..w.cpus.len() {
        let current = w.cpus[cpu].current;
        if w.tasks[current].class == Class::Ext && w.tasks[current].raw.scx.slice >= SLICE_INF / 2 {
            moment_ends(w, current);
        }
    }
}

fn note(w: &mut World, pid: u32, note: Note) {
    drain(w);
    let (before, by) = (w.recorder.written.len(), w.here);
    w.recorder.notes.push(Noted { before, by, pid, note });
}

/// When nothing is under way: why not all that was written could be read, if so.
pub(crate) fn is_incomplete(w: &mut World) -> Option<String> {
    drain(w);
    for by in 0..w.cpus.len() {
        let Some(at) = w.maps.ring(by) else { continue };
        // SAFETY: as above.
        let ring = unsafe { Ring::at(at, RECORDS) };
        if ring.lost() > 0 {
            return Some(format!("{} records of CPU {by} found no place", ring.lost()));
        }
        if ring.waiting() > 0 {
            return Some(format!("{} records of CPU {by} are begun and not written", ring.waiting()));
        }
    }
    None
}

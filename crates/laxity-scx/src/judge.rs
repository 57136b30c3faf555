//! What the oracles say of a run: the host's records go through what reads them in production (laxity_kernel::schedule), and the schedule
//! that they make is judged as `laxity verify` judges one of a real kernel.
//!
//! 1. Each instance is judged by itself, from the attachment on. A membership is a task, with what it was admitted with; its first job
//!    is released when it says. Where a thread that wakes up begins another job, with a new server period, that is the first of another
//!    task.
//! 2. Parameters of a member that change are in no record. From its next job on it is another task, if no budget of it has ended and that
//!    job is not late; else the instance is judged until the change. They are set before the call has its answer: a job or a budget that
//!    comes in between may have either, and the record of a release the deadline of the other; then, too, it is judged until there.
//! 3. What the host counts has as many records.

use crate::instance_schedule::InstanceSchedule;
use crate::memberships::Memberships;
use crate::raw::Counts;
use crate::recorder::is_incomplete;
use crate::records::Recorder;
use crate::terms::Terms;
use crate::world::{World, world};
use laxity_kernel::rings::{Kind, Record};
use laxity_kernel::schedule::{Schedule, verify};
use laxity_oracle::{ExcuseLimits, Verdict};
use laxity_trace::EventKind;
use std::fmt::Write;

/// What may be excused: in the model an interrupt takes a microsecond, and a CPU goes on as chance has it. Threads of classes above and
/// bound kernel threads may have a machine for as long as they want.
const LIMITS: ExcuseLimits = ExcuseLimits { longest_ns: 500_000, share_ppm: 1_000_000 };
/// Where some timers are not started: up to the ticks that do their work.
const LIMITS_WITHOUT_TIMERS: ExcuseLimits = ExcuseLimits { longest_ns: 20_000_000, ..LIMITS };
/// Violations in words.
const WORDS_MOST: usize = 5;

/// At the end, when nothing is under way: how many jobs were judged.
pub(crate) fn judge(terms: &Terms) -> u64 {
    if let Some(why) = world(is_incomplete) {
        world(|w| w.fail(why));
        return 0;
    }
    let (recorder, instances, end_ns) =
        world(|w| (std::mem::take(&mut w.recorder), w.instances.clone(), w.now));
    if let Some(why) = is_unreadable(&recorder).or_else(|| is_miscounted(&recorder)) {
        world(|w| w.fail(why));
        return 0;
    }
    let memberships = Memberships::of(&recorder);
    world(|w| say_records(w, &recorder, &memberships));
    let mut jobs = 0;
    for (number, instance) in (0..).zip(&instances) {
        let found = InstanceSchedule::of(terms, &recorder, &memberships, (number, instance), end_ns);
        let Some(found) = found else { continue };
        if let Err(why) = found.and_then(|of| judge_one(terms, number, &of).map(|own| jobs += own)) {
            world(|w| w.fail(format!("instance {number}: the oracles say: {why}")));
        }
    }
    jobs
}

/// How many jobs of the instance were judged, or what is wrong.
fn judge_one(terms: &Terms, number: u32, of: &InstanceSchedule) -> Result<u64, String> {
    let limits = if terms.settings.timers_refused == 0 { LIMITS } else { LIMITS_WITHOUT_TIMERS };
    let verdict = of.without_excused(verify(&of.definition, &of.schedule)).judged_by(&limits);
    world(|w| say_all(w, number, &of.schedule, &verdict));
    let strange = of.schedule.notes.iter().find(|note| !note.ends_with("has no job"));
    if verdict.clean && strange.is_none() {
        return Ok(verdict.jobs_completed);
    }
    Err(in_words(&verdict, strange))
}

fn is_unreadable(recorder: &Recorder) -> Option<String> {
    let unknown = recorder.written.iter().find(|written| Kind::of(written.record.kind).is_none());
    unknown.map(|written| format!("CPU {} has written {:?}", written.by, written.record))
}

/// What the host has counted, of which there is a record each.
fn is_miscounted(recorder: &Recorder) -> Option<String> {
    let mut found = Counts::default();
    for record in recorder.written.iter().map(|written| &written.record) {
        match Kind::of(record.kind) {
            Some(Kind::Event(EventKind::Complete)) => found.completions += 1,
            Some(Kind::Event(EventKind::Throttle | EventKind::Postpone)) => found.exhaustions += 1,
            Some(Kind::Event(EventKind::SchedulingOverhead)) if record.argument2 == 0 => found.decisions += 1,
            Some(Kind::Event(EventKind::Leave)) => found.departed += 1,
            _ => {}
        }
    }
    let (look, cpus) = world(|w| (w.host.table().look_at_counters, w.cpus.len()));
    let mut counted = Counts::default();
    for cpu in 0..cpus {
        let here = world(|w| std::mem::replace(&mut w.here, cpu));
        let mut own = Counts::default();
        look(&raw mut own);
        world(|w| w.here = here);
        counted.completions += own.completions;
        counted.exhaustions += own.exhaustions;
        counted.decisions += own.decisions;
        counted.departed += own.departed;
    }
    (found != counted)
        .then(|| format!("the host has counted {counted:?}, and there are records of {found:?}"))
}

fn in_words(verdict: &Verdict, strange: Option<&String>) -> String {
    let mut words = strange.map_or(String::new(), |note| format!("{note}; "));
    for violation in verdict.violations.iter().take(WORDS_MOST) {
        let _ = write!(words, "{violation}; ");
    }
    let summary = Verdict { violations: Vec::new(), ..verdict.clone() }.to_string();
    words + summary.lines().last().unwrap_or_default()
}

fn say_records(w: &World, recorder: &Recorder, memberships: &Memberships) {
    if !w.speaks {
        return;
    }
    for (written, of) in recorder.written.iter().zip(&memberships.of) {
        let Record { time_ns, argument, argument2, kind, cpu, pid, task, job, .. } = written.record;
        let kind = match Kind::of(kind) {
            Some(Kind::Event(kind)) => kind.name(),
            Some(Kind::Sample(_)) | None => "sample",
        };
        let [cpu, task, job] = [cpu, task, job].map(u32::cast_signed);
        let of = of.map_or(String::new(), |of| format!(", membership {of}"));
        println!(
            "{time_ns:>12} record by {}: {kind} cpu {cpu} pid {pid} task {task} job {job} {argument} {argument2}{of}",
            written.by
        );
    }
}

fn say_all(w: &World, number: u32, schedule: &Schedule, verdict: &Verdict) {
    if !w.speaks {
        return;
    }
    for event in &schedule.events {
        println!("instance {number}: {event:?}");
    }
    for activity in &schedule.activities {
        println!("instance {number}: {activity:?}");
    }
    for note in &schedule.notes {
        println!("instance {number}: {note}");
    }
    println!("instance {number}: {verdict}");
}

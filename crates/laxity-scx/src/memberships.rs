//! Memberships: whose record is which. Numbers of threads and numbers in an instance are used again and again, and `execve` gives a thread
//! another one; to an oracle each membership, from its ENTER to its LEAVE, is a task.

use crate::raw::Parameters;
use crate::records::{Note, Recorder, Request, Written};
use crate::world::world;
use laxity_kernel::rings::{Kind, NONE, Record};
use laxity_trace::EventKind;
use std::collections::BTreeMap;

#[derive(Debug, Clone)]
pub(crate) struct Membership {
    pub instance: u32,
    /// Its number there.
    pub index: u32,
    /// Its thread's number, the latest one.
    pub pid: u32,
    /// `None`: the run has ended before it was known.
    pub parameters: Option<Parameters>,
    pub left: bool,
    left_at: Option<u64>,
    /// Its first job's number, and the last that has ended.
    pub first_job: u32,
    completed: Option<u32>,
    completed_at: u64,
    /// It has run since its latest job was released, and since its latest budget has ended: when that was.
    has_begun: bool,
    told_at: Option<u64>,
    /// The place of the record that says so.
    told_place: usize,
    /// It has used up a budget.
    exhausted: bool,
    /// It has asked for others, from its next job on.
    wanted: Option<Wanted>,
    /// When a job of another one of these began in its place.
    pub ended_at: Option<u64>,
    pub first_release_at: Option<u64>,
    last_release_at: Option<u64>,
}

/// Other parameters than a member has.
#[derive(Debug, Clone, Copy)]
struct Wanted {
    parameters: Parameters,
    /// Until when what it does is known all the same, should it not be clear what follows.
    clear_until_at: u64,
    granted_at: u64,
}

/// A membership, and its place among all. Its place in a list of these is its id as a task.
pub(crate) type Placed<'a> = (usize, &'a Membership);

/// What the records of a run are about.
#[derive(Debug, Default)]
pub(crate) struct Memberships {
    pub all: Vec<Membership>,
    /// By record: the membership that it is about.
    pub of: Vec<Option<usize>>,
    /// By instance: from when on it is not clear what a member may, after its parameters have changed in the midst of a server period.
    pub changed_at: BTreeMap<u32, u64>,
    /// Moments of the recorder, and the memberships that they are of.
    pub moments: Vec<(usize, usize)>,
    /// Changes of threads that have got another number by `execve`, which no record has had yet.
    renumbered: BTreeMap<u32, (Parameters, Request)>,
}

type Place = (u32, u32);

/// What is about to happen before a record is written.
enum Turn {
    /// The host is about to give its number to that membership: records of it may come before its ENTER.
    Begins(usize),
    /// A member has other parameters, by a request.
    Changes(u32, Parameters, Request),
    /// A member is sent to its own CPU for a moment.
    Moment(u32, usize),
}

fn kind_of(record: &Record) -> Option<EventKind> {
    match Kind::of(record.kind) {
        Some(Kind::Event(kind)) => Some(kind),
        Some(Kind::Sample(_)) | None => None,
    }
}

/// The instance and the number there, if it is about a task.
fn place_of(record: &Record) -> Option<Place> {
    use EventKind::*;
    let kind = kind_of(record)?;
    let is_of_task = matches!(
        kind,
        Release
            | Preempt
            | Resume
            | Block
            | Wake
            | Complete
            | Throttle
            | Replenish
            | Postpone
            | Enter
            | Leave
    );
    (is_of_task && record.task != NONE)
        .then(|| (u32::try_from(record.argument2).unwrap_or(NONE), record.task))
}

impl Memberships {
    pub(crate) fn of(recorder: &Recorder) -> Memberships {
        let mut found = Memberships::default();
        let turns = found.enter(recorder);
        found.assign(&recorder.written, &turns);
        found
    }

    /// All memberships, with what they were admitted with; what happens before which record.
    fn enter(&mut self, recorder: &Recorder) -> Vec<(usize, Turn)> {
        let mut turns = Vec::new();
        // By CPU and thread: where an admission has begun, and what has entered and has no parameters yet.
        let mut begun: BTreeMap<(usize, u32), usize> = BTreeMap::new();
        let mut awaits: BTreeMap<(usize, u32), usize> = BTreeMap::new();
        let mut notes = recorder.notes.iter().peekable();
        for at in 0..=recorder.written.len() {
            while let Some(noted) = notes.next_if(|noted| noted.before <= at) {
                let asked = (noted.by, noted.pid);
                match noted.note {
                    Note::Moment(moment) => turns.push((at, Turn::Moment(noted.pid, moment))),
                    Note::Admits => drop(begun.insert(asked, at)),
                    Note::Granted(parameters, request) => match awaits.remove(&asked) {
                        Some(member) => self.all[member].parameters = Some(parameters),
                        None => turns.push((at, Turn::Changes(noted.pid, parameters, request))),
                    },
                }
            }
            let Some(Written { by, record, .. }) = recorder.written.get(at) else { continue };
            if kind_of(record) != Some(EventKind::Enter) {
                continue;
            }
            let Some((instance, index)) = place_of(record) else { continue };
            let asked = (*by, record.pid);
            awaits.insert(asked, self.all.len());
            turns.push((begun.remove(&asked).unwrap_or(at), Turn::Begins(self.all.len())));
            self.all.push(Membership {
                instance,
                index,
                pid: record.pid,
                parameters: None,
                left: false,
                left_at: None,
                first_job: 0,
                completed: None,
                completed_at: 0,
                has_begun: false,
                told_at: None,
                told_place: 0,
                exhausted: false,
                wanted: None,
                ended_at: None,
                first_release_at: None,
                last_release_at: None,
            });
        }
        turns.sort_by_key(|&(at, _)| at);
        turns
    }

    fn assign(&mut self, written: &[Written], turns: &[(usize, Turn)]) {
        let mut turns = turns.iter().peekable();
        let mut present: BTreeMap<Place, usize> = BTreeMap::new();
        let mut coming: BTreeMap<Place, usize> = BTreeMap::new();
        for (at, written @ Written { record, .. }) in written.iter().enumerate() {
            while let Some((_, turn)) = turns.next_if(|&&(before, _)| before <= at) {
                match *turn {
                    Turn::Begins(member) => {
                        let Membership { instance, index, .. } = self.all[member];
                        coming.insert((instance, index), member);
                    }
                    Turn::Moment(pid, moment) => {
                        let of = present.values().find(|&&member| self.is_of(member, pid));
                        self.moments.extend(of.map(|&member| (moment, member)));
                    }
                    Turn::Changes(pid, parameters, request) => {
                        self.changes(&present, pid, parameters, request);
                    }
                }
            }
            let member = place_of(record).and_then(|place| {
                let is_there = present.get(&place).is_some_and(|&member| !self.all[member].left);
                let next = coming.get(&place).copied();
                let is_next = |next: usize| self.all[next].pid == record.pid;
                if !is_there && let Some(next) = next.filter(|&next| is_next(next)) {
                    present.insert(place, next);
                    coming.remove(&place);
                }
                present.get(&place).copied()
            });
            let member = match (member, place_of(record)) {
                (Some(member), Some(place)) => {
                    let member = self.or_another(member, written);
                    present.insert(place, member);
                    Some(member)
                }
                _ => member,
            };
            self.of.push(member);
            if let Some(member) = member {
                self.happens(member, at, record);
            }
        }
    }

    /// The task, to the oracles, that the record is about: another one where a job begins with a new server period and other releases
    /// behind it. Its thread has woken up, in the place of a job that has not ended; or its parameters are others from this job on.
    fn or_another(&mut self, member: usize, written: &Written) -> usize {
        let of = &self.all[member];
        let record = &written.record;
        let kind = kind_of(record);
        if of.left || (kind != Some(EventKind::Release) && of.wanted.is_none()) {
            return member;
        }
        let follows = record.job == of.first_job || of.completed.is_some_and(|job| job + 1 == record.job);
        // What the host was at when they were set, it may have done by either.
        let is_either = of.wanted.is_some_and(|wanted| written.called_at <= wanted.granted_at);
        match kind {
            Some(EventKind::Release | EventKind::Throttle | EventKind::Postpone) if is_either => {
                self.is_unclear_before(member, record.time_ns);
                member
            }
            Some(EventKind::Release) if !follows => self.begins_anew(member, record, record.time_ns),
            Some(EventKind::Release) if of.wanted.is_some() => {
                // Its server period ends with the old period, or with the new one where its budgets have ended.
                if of.exhausted || of.completed.is_none() || of.completed_at > record.time_ns {
                    // Released before, recorded after the change: with the deadline that was found then.
                    self.is_unclear_before(member, record.time_ns);
                    return member;
                }
                self.begins_anew(member, record, of.completed_at)
            }
            Some(EventKind::Throttle | EventKind::Postpone) => {
                self.is_unclear(member);
                member
            }
            _ => member,
        }
    }

    fn begins_anew(&mut self, member: usize, record: &Record, ended_at: u64) -> usize {
        let of = &mut self.all[member];
        (of.left, of.ended_at) = (true, Some(ended_at));
        let wanted = of.wanted.take();
        let anew = Membership {
            parameters: wanted.map(|wanted| wanted.parameters).or(of.parameters),
            first_job: record.job,
            completed: None,
            exhausted: false,
            ended_at: None,
            left: false,
            first_release_at: None,
            ..of.clone()
        };
        self.all.push(anew);
        self.all.len() - 1
    }

    /// What the member's parameters come to is not known any more.
    fn is_unclear(&mut self, member: usize) {
        let of = &mut self.all[member];
        if let Some(wanted) = of.wanted.take() {
            let at = self.changed_at.entry(of.instance).or_insert(u64::MAX);
            *at = wanted.clear_until_at.min(*at);
        }
    }

    /// The same, already before that instant.
    fn is_unclear_before(&mut self, member: usize, at_ns: u64) {
        if let Some(wanted) = &mut self.all[member].wanted {
            wanted.clear_until_at = wanted.clear_until_at.min(at_ns.saturating_sub(1));
        }
        self.is_unclear(member);
    }

    fn happens(&mut self, member: usize, place: usize, record: &Record) {
        let of = &mut self.all[member];
        if of.left {
            return;
        }
        // Where its number was free already, the record has none.
        if record.pid != 0 && of.pid != record.pid {
            of.pid = record.pid;
            if let Some((parameters, request)) = self.renumbered.remove(&record.pid) {
                self.change(member, parameters, request);
            }
        }
        let of = &mut self.all[member];
        match kind_of(record) {
            Some(EventKind::Release) => {
                of.first_release_at.get_or_insert(record.time_ns);
                of.last_release_at = Some(record.time_ns);
                (of.told_at, of.told_place, of.has_begun) = (Some(record.time_ns), place, false);
            }
            Some(EventKind::Complete) => {
                (of.completed, of.completed_at) = (Some(record.job), record.time_ns);
            }
            Some(EventKind::Throttle | EventKind::Postpone) => {
                of.exhausted = true;
                (of.told_at, of.told_place, of.has_begun) = (Some(record.time_ns), place, false);
            }
            Some(EventKind::Resume) => of.has_begun = true,
            Some(EventKind::Leave) => {
                (of.left, of.left_at) = (true, Some(record.time_ns));
                // What was to come does not.
                of.first_release_at = of.first_release_at.filter(|&at| at <= record.time_ns);
            }
            _ => {}
        }
    }

    /// Whether the record is about something that was to come, and its member has left before.
    pub(crate) fn is_over(&self, member: usize, record: &Record) -> bool {
        let is_to_come = matches!(kind_of(record), Some(EventKind::Release | EventKind::Replenish));
        is_to_come && self.all[member].left_at.is_some_and(|at| at < record.time_ns)
    }

    fn is_of(&self, member: usize, pid: u32) -> bool {
        !self.all[member].left && self.all[member].pid == pid
    }

    /// A thread gets parameters that may be others than it has. `execve` gives it its own again, under another number.
    fn changes(
        &mut self,
        present: &BTreeMap<Place, usize>,
        pid: u32,
        parameters: Parameters,
        request: Request,
    ) {
        match present.values().find(|&&member| self.is_of(member, pid)) {
            Some(&member) => self.change(member, parameters, request),
            None => drop(self.renumbered.insert(pid, (parameters, request))),
        }
    }

    fn change(&mut self, member: usize, parameters: Parameters, request: Request) {
        let Request { since_ns, before, granted_at } = request;
        let has_messages = world(|w| w.host.has_steps());
        let of = &mut self.all[member];
        let present = of.wanted.map(|wanted| wanted.parameters).or(of.parameters);
        if present != Some(parameters) {
            // The next release is reckoned when its predecessor ends, however late that is, by what is asked for then.
            let period_ns = of.parameters.map_or(0, |asked| asked.period_ns).min(parameters.period_ns);
            let next_at = of.last_release_at.map_or(u64::MAX, |at| at + period_ns);
            let before_at = of.wanted.map_or(u64::MAX, |wanted| wanted.clear_until_at);
            let clear_until_at = since_ns.min(next_at).min(before_at);
            of.wanted = Some(Wanted { parameters, clear_until_at, granted_at });
            // Where a policy hears of a job, or of the end of a budget, by a message, it may do so after the change; the record of a
            // release, too, has the deadline that it finds then, while that of a postponement has the one of before.
            let is_on_its_way = has_messages && !of.has_begun;
            // They are set before that is known: a job, or a budget, that has come since they were asked for may have either.
            let is_either = of.told_at.is_some() && of.told_place >= before;
            if is_on_its_way || is_either {
                let told_at = of.told_at.unwrap_or(since_ns);
                self.is_unclear_before(member, told_at);
            }
        }
    }
}

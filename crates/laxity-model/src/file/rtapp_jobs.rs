//! The jobs of a thread of an rt-app file: its events, cut where it waits for time to pass.
//!
//! 1. A thread with a `timer` (under SCHED_DEADLINE also with a `yield`) is cut there: the next job comes a timer's period after
//!    the one before, however long that took. Sleeps are then parts of jobs.
//! 2. Another is cut where it sleeps. A sleep begins when the job ends: the next job comes no sooner than work and sleep take
//!    together, and later where others delay the work.
//! 3. A thread that waits for other threads and for no timer has no pace of its own, and no jobs.
//!
//! What comes before the first work only delays it. What nothing cuts off in the end is a job, too.

use super::rtapp_thread::{Event, NoTask, Thread};

/// The work between two cuts, and how long after its arrival the next job comes, in us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Job {
    pub work: u64,
    pub period: u64,
}

/// What cuts a thread's events into jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pace {
    Timers,
    Sleeps,
    /// It works without a pause.
    None,
}

/// What the second round does, all later ones do; the third shows the end of a job that sleeps in the second.
const ROUNDS: u64 = 3;

/// All that a thread does.
pub(super) struct Jobs {
    pub pace: Pace,
    /// Every kind of job that occurs, in the order in which they first do; none if there is no work.
    pub kinds: Vec<Job>,
    /// How long after the thread the first job begins, in us.
    pub first: u64,
    /// How long after the thread has begun no job comes any more, in us; none given: there is no end.
    pub end: Option<u64>,
}

impl Thread {
    /// The jobs, by the rules above.
    pub fn jobs(&self) -> Result<Jobs, NoTask> {
        let pace = self.pace();
        if pace != Pace::Timers
            && let Some(name) = self.waits()
        {
            return Err(NoTask::Cannot(format!(
                "waits for other threads (`{name}`) and has no timer, so it has no period"
            )));
        }
        let length = self.length(pace)?;
        let mut walk = Walk { thread: self, pace, jobs: Vec::new(), work: 0, pause: 0 };
        let passes = if pace == Pace::None { 1 } else { ROUNDS };
        for _ in 0..self.repeats.unwrap_or(passes).min(passes) {
            if !walk.pass()? {
                break;
            }
        }
        let (mut kinds, last) = walk.finish(length.is_some())?;
        let shortest = kinds.iter().map(|job| job.period).min();
        let idle = kinds.iter().take_while(|job| job.work == 0).count();
        kinds.drain(..idle);
        let first = self.before_work(pace)?;
        // No job comes after it: any distance would do.
        let last = last.map(|work| Job { work, period: shortest.map_or(work, |period| period.max(work)) });
        kinds.extend(last);
        let end = match (length, last, pace) {
            (Some(length), Some(job), Pace::Timers) => Some(self.sum(length, Some(job.period))?),
            (length, ..) => length,
        };
        Ok(Jobs { pace, kinds, first, end })
    }

    fn pace(&self) -> Pace {
        if self.events().any(|event| self.timer(event).is_some()) {
            Pace::Timers
        } else if self.events().any(|event| matches!(event, Event::Sleep(1..))) {
            Pace::Sleeps
        } else {
            Pace::None
        }
    }

    /// The period of the timer that the event is, if it ends a job.
    fn timer(&self, event: &Event) -> Option<u64> {
        match (event, &self.reservation) {
            (Event::Timer { period, .. }, _) => Some(*period),
            (Event::Yield, Some(reservation)) => Some(reservation.period),
            _ => None,
        }
    }

    /// How long the thread waits before it works for the first time.
    fn before_work(&self, pace: Pace) -> Result<u64, NoTask> {
        let mut before = 0;
        for phase in &self.phases {
            let works = phase.works();
            let loops = if works { Some(1) } else { phase.repeats };
            for event in phase.events.iter().take_while(|event| !matches!(event, Event::Work(1..))) {
                let waits = self.cut(pace, event).unwrap_or(0);
                before = self.sum(before, waits.checked_mul(loops.unwrap_or(0)))?;
            }
            if works || loops.is_none() {
                break;
            }
        }
        Ok(before)
    }

    /// The time for which the event waits, if it ends a job.
    fn cut(&self, pace: Pace, event: &Event) -> Option<u64> {
        match (pace, event) {
            (Pace::Timers, event) => self.timer(event),
            (Pace::Sleeps, Event::Sleep(us @ 1..)) => Some(*us),
            _ => None,
        }
    }

    /// How long all of it lasts: its timers, or its work and its sleeps; nothing if there is no end.
    fn length(&self, pace: Pace) -> Result<Option<u64>, NoTask> {
        let Some(repeats) = self.repeats else { return Ok(None) };
        let mut once = 0;
        for phase in &self.phases {
            let Some(loops) = phase.repeats else { return Ok(None) };
            for event in &phase.events {
                let time = match (pace, event) {
                    (Pace::Timers, event) => self.timer(event).unwrap_or(0),
                    (_, Event::Work(us) | Event::Sleep(us)) => *us,
                    _ => 0,
                };
                once = self.sum(once, time.checked_mul(loops))?;
            }
        }
        self.sum(0, u64::checked_mul(once, repeats)).map(Some)
    }

    fn sum(&self, a: u64, b: Option<u64>) -> Result<u64, NoTask> {
        b.and_then(|b| a.checked_add(b)).ok_or_else(|| self.too_long())
    }
}

/// Walks the events as the thread would, until every kind of job has occurred once.
struct Walk<'a> {
    thread: &'a Thread,
    pace: Pace,
    jobs: Vec<Job>,
    work: u64,
    /// The sleeps since the last work.
    pause: u64,
}

impl Walk<'_> {
    /// All phases once; false if one of them has no end.
    fn pass(&mut self) -> Result<bool, NoTask> {
        for phase in &self.thread.phases {
            let cuts = phase.events.iter().any(|event| self.thread.cut(self.pace, event).is_some());
            // A phase that only works, or only sleeps, adds to a job.
            let adds = !cuts || (self.pace == Pace::Sleeps && !phase.works());
            let (rounds, times) = match (adds, phase.repeats) {
                (false, repeats) => (repeats.unwrap_or(ROUNDS).min(ROUNDS), 1),
                (true, Some(repeats)) => (1, repeats),
                (true, None) if self.pace == Pace::None || !phase.works() => (1, 1),
                (true, None) => return Err(self.thread.endless()),
            };
            for event in (0..rounds).flat_map(|_| &phase.events) {
                self.step(event, times)?;
            }
            if phase.repeats.is_none() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn step(&mut self, event: &Event, times: u64) -> Result<(), NoTask> {
        match (self.thread.cut(self.pace, event), event) {
            (Some(period), _) if self.pace == Pace::Timers => {
                self.jobs.push(Job { work: std::mem::take(&mut self.work), period });
            }
            // Several sleeps are one.
            (Some(us), _) => self.pause = self.thread.sum(self.pause, us.checked_mul(times))?,
            (None, Event::Work(us)) => {
                self.end_pause()?;
                self.work = self.thread.sum(self.work, us.checked_mul(times))?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Where a thread that has slept goes on, the job before has ended.
    fn end_pause(&mut self) -> Result<(), NoTask> {
        if self.pause > 0 {
            let work = std::mem::take(&mut self.work);
            let period = self.thread.sum(work, Some(std::mem::take(&mut self.pause)))?;
            self.jobs.push(Job { work, period });
        }
        Ok(())
    }

    /// The jobs, and the work of one that nothing ends any more. Without an end, what is left has been seen with what follows it.
    fn finish(mut self, is_finite: bool) -> Result<(Vec<Job>, Option<u64>), NoTask> {
        if is_finite {
            self.end_pause()?;
        }
        let is_left = is_finite || self.pace == Pace::None;
        let last = Some(self.work).filter(|&work| work > 0 && is_left);
        Ok((self.jobs, last))
    }
}

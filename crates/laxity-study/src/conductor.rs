//! Work of a study handed out to judges that are somewhere else, and what they come to added up.
//!
//! 1. Units are handed out in the order of the points; one that is lost is given back, and handed out again.
//! 2. What a unit comes to is taken once: a judge that was given up for lost and answers all the same adds nothing.
//! 3. A point is kept in the journal as soon as all of its sets are judged, so that what is stopped or killed goes on from there.
//! 4. What is remembered is the points that are begun and the units that are out, however many units there are.

use crate::journal::{Journal, Point, Points};
use crate::study::{Study, WorkUnit};
use crate::tally::Tally;
use laxity_model::{Diagnostic, Result};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::path::Path;
use std::sync::Arc;

/// Hands out the work of a study.
pub struct Conductor {
    study: Arc<Study>,
    journal: Journal,
    points: Points,
    /// Points of which sets are not handed out yet; of the first, those from number `at` on.
    waiting: VecDeque<Point>,
    at: u64,
    /// Points that are begun, each with how many of its sets are judged.
    begun: BTreeMap<Point, (u64, Tally)>,
    /// Units that are out, by number.
    out: HashMap<u64, WorkUnit>,
    /// Units that came back without a tally.
    lost: VecDeque<WorkUnit>,
    /// Units that are given up.
    given_up: Vec<WorkUnit>,
    next: u64,
    /// Sets that are judged, and of finished points.
    judged: u64,
}

impl Conductor {
    /// Opens the directory of a study, or goes on with what is there.
    ///
    /// # Errors
    ///
    /// The directory of another study, or one that another program is writing; an error of the file system.
    pub fn open(study: Arc<Study>, directory: &Path) -> Result<Conductor> {
        let whole = |_, tally: &Tally| study.is_whole(tally);
        let (journal, points) = Journal::open(directory, &study.description(), whole)?;
        let judged = points.len() as u64 * study.outline.sets;
        let mut conductor = Conductor {
            study,
            journal,
            points,
            waiting: VecDeque::new(),
            at: 0,
            begun: BTreeMap::new(),
            out: HashMap::new(),
            lost: VecDeque::new(),
            given_up: Vec::new(),
            next: 0,
            judged,
        };
        (0..conductor.study.outline.families.len()).for_each(|family| conductor.begin_round(family));
        Ok(conductor)
    }

    /// The points of a family that follow from those that are known, once all others of it are finished. Families do not wait for each
    /// other: the last units of one are no reason for judges to have nothing to do.
    fn begin_round(&mut self, family: usize) {
        let own = |point: &Point| point.family == family;
        if self.begun.keys().any(own) || self.waiting.iter().any(own) {
            return;
        }
        let values = self.study.next_values(|value| self.points.get(&Point { family, value }));
        self.waiting.extend(values.into_iter().map(|value| Point { family, value }));
    }

    /// At most so many sets of a point under all series, with the number by which they are called; nothing while all is out, or at the end.
    pub fn next(&mut self, sets: u64) -> Option<(u64, WorkUnit)> {
        let unit = self.lost.pop_front().or_else(|| self.cut(sets.max(1)))?;
        let number = self.next;
        self.next += 1;
        self.out.insert(number, unit.clone());
        Some((number, unit))
    }

    fn cut(&mut self, sets: u64) -> Option<WorkUnit> {
        let (&point, all) = (self.waiting.front()?, self.study.outline.sets);
        let end = self.at.saturating_add(sets).min(all);
        let unit = WorkUnit { point, series: 0..self.study.series(), sets: self.at..end };
        self.begun.entry(point).or_insert_with(|| (0, self.study.tally_of_none()));
        self.at = end;
        if end == all {
            self.waiting.pop_front();
            self.at = 0;
        }
        Some(unit)
    }

    /// Adds what a unit has come to. False if that is known already, or the unit was given back.
    ///
    /// # Errors
    ///
    /// It is not of this unit; the journal cannot be written.
    pub fn take(&mut self, number: u64, tally: &Tally) -> Result<bool> {
        let Some(unit) = self.out.get(&number) else { return Ok(false) };
        let (point, sets) = (unit.point, unit.sets.end - unit.sets.start);
        if !self.study.is_of(tally, sets) {
            let place = format!("sets {:?} at {} of family {}", unit.sets, point.value, point.family);
            return Err(Diagnostic::environment(format!("what came back is not the sums of {place}"))
                .hint("is it the same study and the same laxity that judged them?"));
        }
        self.out.remove(&number);
        self.judged += sets;
        let (known, sums) = self.begun.get_mut(&point).expect("its sets were handed out");
        *known += sets;
        sums.merge(tally);
        if *known == self.study.outline.sets {
            let (_, sums) = self.begun.remove(&point).expect("it is there");
            self.journal.add(point, &sums)?;
            self.points.insert(point, sums);
            self.begin_round(point.family);
        }
        Ok(true)
    }

    /// A unit was lost: it is handed out again. Nothing if it has come back already.
    pub fn give_back(&mut self, number: u64) {
        self.lost.extend(self.out.remove(&number));
    }

    /// A unit cannot be judged, and is not tried again: its point stays unfinished, and the rest goes on.
    pub fn give_up(&mut self, number: u64) {
        self.given_up.extend(self.out.remove(&number));
    }

    /// The unit of this number, while it is out.
    pub fn unit(&self, number: u64) -> Option<&WorkUnit> {
        self.out.get(&number)
    }

    /// Whether all points of the study are finished.
    pub fn is_complete(&self) -> bool {
        self.waiting.is_empty() && self.begun.is_empty()
    }

    /// Whether nothing is out, and nothing can be handed out: it is complete, or what lacks was given up.
    pub fn is_over(&self) -> bool {
        self.out.is_empty() && self.lost.is_empty() && self.waiting.is_empty()
    }

    /// Sets that are judged, and sets that are to be judged as far as that is known.
    pub fn progress(&self) -> (u64, u64) {
        let points = self.points.len() + self.begun.len() + self.waiting.len();
        // The first that waits may have begun.
        let twice = self.waiting.front().is_some_and(|first| self.begun.contains_key(first));
        (self.judged, (points as u64 - u64::from(twice)) * self.study.outline.sets)
    }

    /// How many units are out.
    pub fn out(&self) -> usize {
        self.out.len()
    }

    /// The study.
    pub fn study(&self) -> &Arc<Study> {
        &self.study
    }
}

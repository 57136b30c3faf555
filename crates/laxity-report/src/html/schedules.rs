//! The section "Schedules": what ran where and when, of the runs whose events were kept.

use crate::study::Study;
use crate::timeline::Fates;
use crate::timeline::html::{HtmlOptions, fragment};
use laxity_model::Result;
use laxity_trace::{Kept, Run, runs_with_events};
use std::path::Path;

/// Schedules of more runs than this are left to Perfetto and `events/`.
const SCHEDULES_MOST: usize = 8;

/// All schedules of a page together have at most so many intervals, so that the page
/// opens: their numbers take some ten bytes each, and are decoded when the schedule is looked at.
const SEGMENTS_MOST: usize = 1_000_000;

/// Schedules, ready to stand on a page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Schedules {
    /// One after the other.
    pub(crate) html: String,
    /// Runs with events that are not shown.
    pub(crate) left_out: usize,
}

impl Schedules {
    /// Of the runs whose events are in a results directory.
    ///
    /// Errors: an events file that cannot be read or is damaged.
    pub(crate) fn of(study: &Study<'_>, directory: &Path) -> Result<Schedules> {
        let kept = Kept::of(directory)?;
        let with_events = runs_with_events(directory)?;
        let runs: Vec<&Run> = study.results.runs.iter().filter(|run| with_events.contains(&run.id)).collect();
        let shown = runs.len().min(SCHEDULES_MOST);
        let mut html = String::new();
        for run in &runs[..shown] {
            let set = usize::try_from(run.set).ok().and_then(|set| study.sets.get(set));
            let (Some(set), Some(reader)) = (set, kept.open_events(run.id)?) else { continue };
            let several = if study.sets.len() > 1 { format!(" on {}", set.name()) } else { String::new() };
            let title = format!("{}{several}, repetition {}:", run.scheduler, run.repetition + 1);
            let fates = Fates::of(run);
            let options = HtmlOptions {
                missed: fates.as_ref().map(Fates::missed),
                segments_most: SEGMENTS_MOST / shown,
                another_window: Some("All of it is in the run's events, which Perfetto shows.".to_owned()),
                ..HtmlOptions::new(format!("run-{}", run.id), title)
            };
            html += &fragment(set, cpus(study), Fates::agree(fates.as_ref(), reader.events()), &options)?;
        }
        Ok(Schedules { html, left_out: runs.len() - shown })
    }
}

/// How many CPUs there are from 0 on; none if the machine's are others, so that only those used have a row.
fn cpus(study: &Study<'_>) -> u32 {
    let numbers = study.results.machine.cpus.iter();
    let from_0 = { numbers }.zip(0..).all(|(cpu, place)| cpu == place);
    if from_0 { u32::try_from(study.cores()).unwrap_or(0) } else { 0 }
}

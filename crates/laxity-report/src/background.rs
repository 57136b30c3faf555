//! How tasks in the background of simulations fared (calandrino2007, 5.1).

use crate::number::{self, NOT_AVAILABLE};
use crate::study::Study;
use crate::table::{Column, Field, Table, Tone};
use laxity_trace::BackgroundSummary;

/// One row per scheduler; nothing where there were no background tasks.
pub(crate) fn table(study: &Study<'_>) -> Option<Table> {
    let all = &study.summary.background;
    if all.is_empty() {
        return None;
    }
    Some(Table {
        caption: "Tasks in the background, on the time that real-time tasks leave".to_owned(),
        columns: vec![
            Column::text("Scheduler"),
            Column::number("Runs"),
            Column::number("Entered"),
            Column::number("Exited"),
            Column::number("Ran"),
            Column::number("Waited"),
            Column::number("Ran of ready"),
            Column::number("Ran of capacity"),
        ],
        rows: all.iter().map(|one| row(study, one)).collect(),
        notes: vec![
            "Ran of ready: the time that they ran, of the time that they were ready (calandrino2007, %NRT-RT). Ran of \
             capacity: the same time, of the time of all CPUs."
                .to_owned(),
        ],
    })
}

fn row(study: &Study<'_>, one: &BackgroundSummary) -> Vec<Field> {
    let known = study.summary.schedulers.iter();
    let own = { known }.find(|scheduler| scheduler.scheduler == one.scheduler && scheduler.host == one.host);
    let label = own.map_or_else(|| one.scheduler.clone(), |scheduler| study.label_of(scheduler));
    let share = |share: Option<f64>| match share {
        Some(share) => format!("{} %", number::significant(share * 100.0)).into(),
        None => Field::toned(NOT_AVAILABLE, Tone::Faint),
    };
    vec![
        label.into(),
        number::count(one.runs).into(),
        number::count(one.entered).into(),
        number::count(one.exited).into(),
        number::span_ns(one.run_ns).into(),
        number::span_ns(one.ready_ns).into(),
        share(one.run_share),
        share(one.capacity_share),
    ]
}

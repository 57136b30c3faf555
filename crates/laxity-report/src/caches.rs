//! What followed caches did to the jobs of simulations (lindsay2012, 6.2).

use crate::number::{self, NOT_AVAILABLE};
use crate::study::Study;
use crate::table::{Column, Field, Table, Tone};
use laxity_trace::CacheSummary;

/// One row per scheduler; nothing where caches were not followed. No IPC where the costs do not say that with warm caches.
pub(crate) fn table(study: &Study<'_>) -> Option<Table> {
    let all = &study.summary.caches;
    if all.is_empty() {
        return None;
    }
    let has_ipc = all.iter().any(|one| one.ipc.is_some());
    let mut columns = vec![Column::text("Scheduler"), Column::number("Execution-time inflation")];
    columns.extend(has_ipc.then(|| Column::number("IPC")));
    columns.push(Column::number("LLC misses / µs"));
    let row = |one: &CacheSummary| {
        let known = study.summary.schedulers.iter();
        let own =
            { known }.find(|scheduler| scheduler.scheduler == one.scheduler && scheduler.host == one.host);
        let label = own.map_or_else(|| one.scheduler.clone(), |scheduler| study.label_of(scheduler));
        let value = |value: Option<f64>| match value {
            Some(value) => Field::from(number::significant(value)),
            None => Field::toned(NOT_AVAILABLE, Tone::Faint),
        };
        let mut row = vec![label.into(), value(one.execution_inflation)];
        row.extend(has_ipc.then(|| value(one.ipc)));
        row.push(value(one.llc_miss_rate_per_us));
        row
    };
    Some(Table {
        caption: "What caches did, simulated".to_owned(),
        columns,
        rows: all.iter().map(row).collect(),
        notes: vec![
            "Inflation: CPU time by the time that the same work takes with warm caches; means over runs. IPC: that with warm \
             caches (`ipc` of the costs) by the inflation. LLC misses: lines from beyond the CPU's last cache, by its CPU time."
                .to_owned(),
        ],
    })
}

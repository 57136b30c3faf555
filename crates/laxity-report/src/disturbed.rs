//! What else the CPUs of the runs did, and what each configuration missed in a run: how much of it is noise.

use crate::misses::MissesPerRun;
use crate::number::{self, NOT_AVAILABLE};
use crate::study::{Configuration, Study};
use crate::table::{Column, Field, Table, Tone};
use laxity_trace::Disturbance;
use std::cmp::Ordering;

/// Marks what was disturbed in spite of repetitions.
const MARK: &str = "‡";

/// One row per measured configuration; nothing where nothing is known of any run.
pub(crate) fn table(study: &Study<'_>, misses: &[MissesPerRun]) -> Option<Table> {
    let of = |one: &Configuration| -> Vec<Disturbance> { of_runs(study, one) };
    let measured: Vec<(&Configuration, Vec<Disturbance>)> =
        study.configurations.iter().map(|one| (one, of(one))).filter(|(_, of)| !of.is_empty()).collect();
    if measured.is_empty() {
        return None;
    }
    let mut notes = vec![
        "Missed per run: the mean, and its 95 % confidence interval where repetitions tell how much runs differ. Others: \
         CPU time of threads that are not the run's and of interrupts, as a share of the CPUs' time; hypervisor: what \
         it gave to others; of all runs, and in the worst. Load: the load average before a run, the highest. Again: how \
         many runs were made again, because others had more than 5 %."
            .to_owned(),
    ];
    if measured.iter().flat_map(|(_, of)| of).any(Disturbance::is_disturbed) {
        notes.push(format!("{MARK} The worst run is a disturbed one: others had more than 5 % of its CPUs."));
    }
    Some(Table {
        caption: "Noise: misses per run, and what else the CPUs did".to_owned(),
        columns: vec![
            Column::text("Scheduler"),
            Column::number("Runs"),
            Column::number("Missed per run"),
            Column::number("Others"),
            Column::number("Worst"),
            Column::number("Hypervisor"),
            Column::number("Load"),
            Column::number("Again"),
        ],
        rows: measured.iter().map(|(one, of)| row(one, of, misses)).collect(),
        notes,
    })
}

/// That runs were disturbed, in a sentence, if any of a configuration's was.
pub(crate) fn caveat(study: &Study<'_>, configuration: &Configuration) -> Option<String> {
    let all = of_runs(study, configuration);
    let disturbed = all.iter().filter(|of| of.is_disturbed());
    let worst = disturbed.clone().max_by(|a, b| by_share(a, b))?;
    let which = match (disturbed.count(), all.len()) {
        (_, 1) => "Its only run was".to_owned(),
        (1, all) => format!("1 of its {all} runs was"),
        (some, all) => format!("{some} of its {all} runs were"),
    };
    Some(format!(
        "{which} disturbed: other threads, interrupts and the hypervisor had up to {} of the CPUs. Runs on a quieter \
         machine say more.",
        shown(worst)
    ))
}

fn of_runs(study: &Study<'_>, configuration: &Configuration) -> Vec<Disturbance> {
    study
        .runs(&study.all_sets(), configuration)
        .iter()
        .filter_map(|measured| measured.run.disturbance)
        .collect()
}

/// Runs of which nothing is known come before all others.
fn by_share(a: &Disturbance, b: &Disturbance) -> Ordering {
    a.share().partial_cmp(&b.share()).unwrap_or(Ordering::Equal)
}

fn shown(of: &Disturbance) -> String {
    number::percent(of.taken_ns(), of.capacity_ns)
}

fn row(one: &Configuration, of: &[Disturbance], misses: &[MissesPerRun]) -> Vec<Field> {
    let sum = |what: fn(&Disturbance) -> u64| of.iter().map(what).fold(0, u64::saturating_add);
    let capacity = sum(|of| of.capacity_ns);
    let missed = misses.iter().find(|group| group.labels.contains(&one.label));
    let worst = of.iter().max_by(|a, b| by_share(a, b));
    let worst = worst.map_or_else(Field::default, |of| match of.is_disturbed() {
        true => Field::toned(format!("{} {MARK}", shown(of)), Tone::Bad),
        false => shown(of).into(),
    });
    let load = of.iter().map(|of| of.load_average).fold(0.0, f64::max);
    let again = of.iter().filter(|of| of.attempts > 1).count();
    vec![
        one.label.clone().into(),
        of.len().to_string().into(),
        missed.map_or_else(
            || Field::toned(NOT_AVAILABLE, Tone::Faint),
            |missed| match missed.interval {
                Some([low, high]) => {
                    format!("{} ({} to {})", number::jobs(missed.mean), number::jobs(low), number::jobs(high))
                        .into()
                }
                None => number::jobs(missed.mean).into(),
            },
        ),
        number::percent(sum(|of| of.others_ns), capacity).into(),
        worst,
        number::percent(sum(|of| of.stolen_ns), capacity).into(),
        format!("{load:.2}").into(),
        again.to_string().into(),
    ]
}

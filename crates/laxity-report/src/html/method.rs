//! Machine, method, notes and the words that explain the metrics.

use super::Fact;
use crate::grid::Layout;
use crate::number;
use crate::study::{Study, shown};
use laxity_model::shell_word;
use laxity_trace::{Host, RunStatus, RunSummary};
use std::collections::BTreeMap;

fn fact(name: &str, text: impl Into<String>) -> Fact {
    Fact { name: name.to_owned(), text: text.into() }
}

pub(super) fn subtitle(study: &Study<'_>) -> String {
    let machine = &study.results.machine;
    // Simulations beside measurements are told apart.
    let beside = |run: &&RunSummary| !study.simulated.is_empty() && run.host == Host::Simulator;
    let made = || study.summary.runs.iter().filter(|run| !matches!(run.status, RunStatus::NotRun { .. }));
    let jobs: u64 = made().filter(|run| !beside(run)).map(|run| run.counts.jobs).sum();
    let simulated = match made().filter(beside).count() {
        0 => String::new(),
        runs => format!(" and {runs} simulated"),
    };
    let made = made().filter(|run| !beside(run)).count();
    let longest = study.results.runs.iter().map(|run| run.duration).max().unwrap_or_default();
    let place = if machine.is_simulated() {
        format!("Simulated: {}", machine.host_name)
    } else {
        format!(
            "{} on {}, Linux {}",
            machine.host_name,
            number::counted(u64::try_from(study.cores()).unwrap_or(0), "CPU"),
            machine.kernel
        )
    };
    format!(
        "{place}; {} of up to {}{simulated}, {}; {}",
        number::counted(u64::try_from(made).unwrap_or(0), "run"),
        shown(longest),
        number::counted(jobs, "job"),
        study.results.created
    )
}

/// The command as it can be pasted into a shell.
pub(super) fn shell_command(words: &[String]) -> String {
    words.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ")
}

pub(super) fn table_4_words(layout: &Layout) -> &'static str {
    if layout.grid {
        "As Table 4 of lelli2012: mean ± standard deviation over the sets and repetitions of a row. Exp. U is \
         divided by the number of CPUs."
    } else {
        "In the shape of Table 4 of lelli2012: mean ± standard deviation over repetitions, where there are \
         several. Exp. U is divided by the number of CPUs."
    }
}

pub(super) fn facts(study: &Study<'_>) -> Vec<Fact> {
    let results = study.results;
    let machine = &results.machine;
    let clusters: Vec<String> = machine.clusters.iter().map(ToString::to_string).collect();
    let mut facts = vec![
        fact("Machine", &machine.host_name),
        fact("CPU", &machine.cpu_model),
        fact("CPUs used", machine.cpus.to_string()),
        fact("Clusters", clusters.join(" | ")),
        fact("Caches", machine.caches.join("; ")),
        fact("Memory", machine.memory_bytes.map(number::bytes).unwrap_or_default()),
        fact("Kernel", &machine.kernel),
    ];
    facts
        .extend(machine.facts.iter().chain(&results.options).map(|(name, text)| fact(&title_of(name), text)));
    facts.push(fact("Seed", results.seed.to_string()));
    facts.push(fact("Started", &results.created));
    facts.push(fact("laxity", &results.laxity_version));
    facts.retain(|fact| !fact.text.is_empty());
    facts
}

/// `clock_source` as `Clock source`.
fn title_of(name: &str) -> String {
    let words = name.replace(['_', '-'], " ");
    let mut letters = words.chars();
    letters
        .next()
        .map(|first| first.to_uppercase().collect::<String>() + letters.as_str())
        .unwrap_or_default()
}

/// The notes of all schedulers; a note that several share is written once.
pub(super) fn notes(study: &Study<'_>) -> Vec<String> {
    let mut by_note: Vec<(&str, Vec<String>)> = Vec::new();
    for summary in &study.summary.schedulers {
        for note in &summary.notes {
            match by_note.iter_mut().find(|(known, _)| known == note) {
                Some((_, labels)) => labels.push(study.label_of(summary)),
                None => by_note.push((note, vec![study.label_of(summary)])),
            }
        }
    }
    by_note.into_iter().map(|(note, labels)| format!("{}: {note}", labels.join(", "))).collect()
}

/// What was not measured under which schedulers, and why.
pub(super) fn not_measured(study: &Study<'_>) -> Vec<String> {
    let mut by_reason: BTreeMap<&str, BTreeMap<&str, Vec<String>>> = BTreeMap::new();
    // Why a scheduler did not run at all is said where it is missing.
    for summary in study.summary.schedulers.iter().filter(|summary| summary.runs > 0) {
        for (metric, reason) in &summary.not_measured {
            let metrics = by_reason.entry(reason).or_default();
            metrics.entry(metric).or_default().push(study.label_of(summary));
        }
    }
    let mut lines = Vec::new();
    for (reason, metrics) in by_reason {
        // Metrics that the same schedulers lack for the same reason stand together.
        let mut by_labels: BTreeMap<Vec<String>, Vec<String>> = BTreeMap::new();
        for (metric, labels) in metrics {
            by_labels.entry(labels).or_default().push(format!("`{metric}`"));
        }
        lines.extend(
            by_labels
                .into_iter()
                .map(|(labels, metrics)| format!("{} ({}): {reason}", metrics.join(", "), labels.join(", "))),
        );
    }
    lines
}

pub(super) fn glossary() -> Vec<Fact> {
    vec![
        fact(
            "Normalized laxity",
            "(D − R)/T: time left at the end of a job, in periods; negative if it missed. Mean over the jobs of a task, then over tasks.",
        ),
        fact(
            "Closest call",
            "The least normalized laxity of any job that completed, in percent of its period.",
        ),
        fact("Tardiness", "max(0, R − D): how late a job ended."),
        fact("Exp. U", "Measured utilization: CPU time of a job / T, mean over jobs, summed over tasks."),
        fact(
            "Cont. switch and migr. rate",
            "Context switches and migrations during a run, divided by the number of tasks.",
        ),
        fact(
            "Missed",
            "Jobs that ended after their deadline or had not ended when it passed. R is counted from the nominal release.",
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_survives_the_shell() {
        let words = ["laxity", "compare", "my set.toml", "--demand=0.8", "it's"].map(str::to_owned);
        assert_eq!(shell_command(&words), r"laxity compare 'my set.toml' --demand=0.8 'it'\''s'");
    }
}

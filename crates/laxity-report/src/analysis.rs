//! What is proven of the sets, in a word beside what was seen of them.

use crate::study::{Study, by_reason};
use crate::table::{Field, Tone};
use laxity_model::AnyScheduler;
use laxity_trace::{AnalysisRecord, NOT_ANALYSED, ProofVerdict};

/// Head of the column.
pub(crate) const COLUMN: &str = "Analysis";

/// What the column means.
pub(crate) const NOTE: &str = "Analysis: what tests prove for any arrivals: hard, no deadline is missed; soft, tardiness is \
     bounded (the test); not hard, for some arrivals the task named misses a deadline.";

/// Whether anything was analysed.
pub(crate) fn present(study: &Study<'_>) -> bool {
    !study.results.analysis.is_empty()
}

/// What is assumed of the kernel and what is proven only without what it takes, each once with its schedulers.
pub(crate) fn beside_kernel(study: &Study<'_>, sets: &[usize]) -> Vec<String> {
    let mut lines: Vec<(String, Vec<&str>)> = Vec::new();
    let mut say = |line: String, scheduler| match lines.iter_mut().find(|(other, _)| *other == line) {
        Some((_, schedulers)) if schedulers.contains(&scheduler) => {}
        Some((_, schedulers)) => schedulers.push(scheduler),
        None => lines.push((line, vec![scheduler])),
    };
    let of_sets = |record: &&AnalysisRecord| usize::try_from(record.set).is_ok_and(|set| sets.contains(&set));
    for record in study.results.analysis.iter().filter(of_sets) {
        if let Some(what) = &record.hard.proven_without {
            say(format!("hard only without {what}"), &record.scheduler);
        }
    }
    for record in study.results.analysis.iter().filter(of_sets) {
        record.assumptions.iter().for_each(|one| say(format!("assumed that {one}"), &record.scheduler));
    }
    lines.iter().map(|(line, schedulers)| format!("Analysis ({}): {line}.", schedulers.join(", "))).collect()
}

/// Why the analysis of some sets is left out, if it is.
pub(crate) fn left_out<'a>(study: &'a Study<'_>) -> Option<&'a str> {
    study.results.options.get(NOT_ANALYSED).map(String::as_str)
}

/// Which schedulers no test is about, and why.
pub(crate) fn nothing_proven(study: &Study<'_>) -> Vec<String> {
    let mut whys: Vec<(String, String)> = Vec::new();
    for record in &study.results.analysis {
        let Some(why) = why_nothing_is_proven(&record.scheduler) else { continue };
        let one = (record.scheduler.clone(), why.to_owned());
        if !whys.contains(&one) {
            whys.push(one);
        }
    }
    by_reason(whys).into_iter().map(|(schedulers, why)| format!("{schedulers}: {why}.")).collect()
}

/// Why no test is about a scheduler; nothing where there are some.
pub(crate) fn why_nothing_is_proven(scheduler: &str) -> Option<&'static str> {
    match scheduler.parse() {
        Ok(AnyScheduler::Linux(linux)) => linux.nothing_proven(),
        Ok(AnyScheduler::Policy(_)) | Err(_) => None,
    }
}

/// What is proven of some sets under a scheduler.
pub(crate) fn field(study: &Study<'_>, sets: &[usize], scheduler: &str) -> Field {
    words(&records(study, sets, scheduler))
}

/// What is proven of all of some sets, the strongest last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Guarantee {
    /// Nothing.
    Nothing,
    /// Tardiness is bounded.
    Soft,
    /// No deadline is missed.
    Hard,
}

/// What is proven for all of some sets; nothing if they were not all analysed.
pub(crate) fn guarantee(study: &Study<'_>, sets: &[usize], scheduler: &str) -> Option<Guarantee> {
    let records = records(study, sets, scheduler);
    let of_set = |record: &&AnalysisRecord| match (record.hard.verdict, record.soft.verdict) {
        (ProofVerdict::Schedulable, _) => Guarantee::Hard,
        (_, ProofVerdict::Schedulable) => Guarantee::Soft,
        _ => Guarantee::Nothing,
    };
    if records.len() == sets.len() { records.iter().map(of_set).min() } else { None }
}

/// Of some sets, those that are shown to miss deadlines for some arrivals under a scheduler.
pub(crate) fn refuted<'a>(study: &'a Study<'_>, sets: &[usize], scheduler: &str) -> Vec<&'a AnalysisRecord> {
    let mut records = records(study, sets, scheduler);
    records.retain(|record| record.hard.refuted);
    records
}

fn records<'a>(study: &'a Study<'_>, sets: &[usize], scheduler: &str) -> Vec<&'a AnalysisRecord> {
    let of_sets = |record: &&AnalysisRecord| {
        record.scheduler == scheduler && usize::try_from(record.set).is_ok_and(|set| sets.contains(&set))
    };
    study.results.analysis.iter().filter(of_sets).collect()
}

fn words(records: &[&AnalysisRecord]) -> Field {
    match records {
        [] => Field::toned("–", Tone::Faint),
        [one] => of_set(one),
        several if several.iter().any(|record| record.hard.refuted) => {
            let count = several.iter().filter(|record| record.hard.refuted).count();
            Field::toned(format!("not hard: {count} of {}", several.len()), Tone::Bad)
        }
        several => {
            let count = |wanted: &str| {
                several.iter().filter(|it| it.proven().is_some_and(|(name, _)| name == wanted)).count()
            };
            let (hard, soft, all) = (count("hard"), count("soft"), several.len());
            match (hard, soft) {
                (0, 0) => "not proven".into(),
                (hard, 0) if hard == all => Field::toned("hard", Tone::Good),
                (hard, 0) => format!("hard {hard} of {all}").into(),
                (0, soft) => format!("soft {soft} of {all}").into(),
                (hard, soft) => format!("hard {hard}, soft {soft} of {all}").into(),
            }
        }
    }
}

/// What is proven of one set. A weaker guarantee does not hide that the stronger one is refuted.
fn of_set(record: &AnalysisRecord) -> Field {
    let proven = record.proven().map(|(guarantee, proof)| {
        (guarantee, format!("{guarantee} ({})", proof.test.as_deref().unwrap_or("–")))
    });
    if record.hard.refuted {
        let task = record.hard.task.as_ref().map_or(String::new(), |task| format!(": {task}"));
        let soft = if proven.is_some() { "; soft" } else { "" };
        return Field::toned(format!("not hard{task}{soft}"), Tone::Bad);
    }
    match proven {
        Some(("hard", words)) => Field::toned(words, Tone::Good),
        Some((_, words)) => words.into(),
        None if record.hard.verdict == ProofVerdict::NotApplicable => {
            Field::toned("not applicable", Tone::Faint)
        }
        None => "not proven".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use laxity_trace::ProofRecord;

    fn proof(verdict: ProofVerdict) -> ProofRecord {
        let test = (verdict == ProofVerdict::Schedulable).then(|| "qpa".to_owned());
        ProofRecord { verdict, test, task: None, refuted: false, reason: None, proven_without: None }
    }

    fn record(hard: ProofVerdict, soft: ProofVerdict) -> AnalysisRecord {
        let (hard, soft) = (proof(hard), proof(soft));
        AnalysisRecord { set: 0, scheduler: "p-edf".into(), hard, soft, assumptions: Vec::new() }
    }

    #[test]
    fn the_stronger_guarantee_and_its_test() {
        use ProofVerdict::{NotApplicable, NotProven, Schedulable};
        let (hard, soft) = (record(Schedulable, Schedulable), record(NotProven, Schedulable));
        let (none, foreign) = (record(NotProven, NotProven), record(NotApplicable, NotApplicable));
        let said = |records: &[&AnalysisRecord]| words(records).text;
        assert_eq!(said(&[&hard]), "hard (qpa)");
        assert_eq!(said(&[&soft]), "soft (qpa)");
        assert_eq!(
            (said(&[&none]), said(&[&foreign]), said(&[])),
            ("not proven".into(), "not applicable".into(), "–".into())
        );
        assert_eq!(said(&[&hard, &hard]), "hard");
        assert_eq!(said(&[&hard, &none]), "hard 1 of 2");
        assert_eq!(said(&[&soft, &none, &soft]), "soft 2 of 3");
        assert_eq!(said(&[&hard, &soft, &none]), "hard 1, soft 1 of 3");
        assert_eq!(said(&[&none, &foreign]), "not proven");
        let refuted = |soft| {
            let mut record = record(NotProven, soft);
            (record.hard.refuted, record.hard.task) = (true, Some("stop".into()));
            record
        };
        let (soft, none) = (refuted(Schedulable), refuted(NotProven));
        assert_eq!(words(&[&soft]), Field::toned("not hard: stop; soft", Tone::Bad));
        assert_eq!(said(&[&none]), "not hard: stop");
        assert_eq!(said(&[&hard, &soft, &none]), "not hard: 2 of 3");
    }
}

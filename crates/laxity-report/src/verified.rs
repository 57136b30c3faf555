//! The verdicts of the oracles on the schedules that real kernels made (`laxity_trace::ScheduleRecord`), scheduler by scheduler.

use crate::number;
use crate::study::{Study, by_reason, reasons_of_runs};
use crate::table::{Column, Field, Table, Tone};
use laxity_trace::{
    ExcuseExtent, ExcuseLimits, NOT_VERIFIED, Run, ScheduleRecord, SchedulerSummary, SpanRecord,
    VerdictState, percent_of_ppm,
};
use std::collections::BTreeMap;

/// Violations in words, in all.
const WORDS_MOST: usize = 12;

/// What the oracles say of several schedules, taken together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verified {
    /// Schedules.
    pub runs: u64,
    /// Instants at which it was checked that the right jobs run.
    pub instants: u64,
    /// Decisions of CPUs that were seen.
    pub decisions: u64,
    /// Deviations that something measured in the same run explains.
    pub excused: SpanRecord,
    /// By cause: what it explains of them.
    pub causes: BTreeMap<String, SpanRecord>,
    /// What nothing explains, by rule.
    pub violated: BTreeMap<String, SpanRecord>,
    /// How much is excused, in the schedules that say so.
    pub extent: Option<ExcuseExtent>,
    /// Schedules without a verdict: nothing is violated, and too much is excused.
    pub excused_runs: u64,
    /// Records that found no place: a schedule ends before the first loss.
    pub lost: u64,
}

fn join(into: &mut SpanRecord, other: SpanRecord) {
    into.count += other.count;
    into.longest_ns = into.longest_ns.max(other.longest_ns);
    into.total_ns = into.total_ns.saturating_add(other.total_ns);
}

impl Verified {
    /// What the cells of [`Verified::row`] are.
    pub const COLUMNS: [&'static str; 9] = [
        "Instants checked",
        "Decisions",
        "Excused",
        "Excused time",
        "Excused jobs",
        "Longest excuse",
        "Violations",
        "Worst violation",
        "Without a verdict",
    ];

    /// One more schedule, in which so much may be excused.
    pub fn add(&mut self, schedule: &ScheduleRecord, limits: &ExcuseLimits) {
        let verification = &schedule.verification;
        self.runs += 1;
        self.instants += verification.instants;
        self.decisions += schedule.decisions;
        self.lost += schedule.lost;
        join(&mut self.excused, verification.excused);
        if let Some(extent) = &verification.extent {
            self.extent = Some(self.extent.as_ref().map_or_else(|| extent.clone(), |sum| sum.with(extent)));
        }
        self.excused_runs += u64::from(verification.state_under(limits) == Some(VerdictState::Excused));
        for (cause, span) in &verification.causes {
            join(self.causes.entry(cause.clone()).or_default(), *span);
        }
        for rule in &verification.violated {
            join(self.violated.entry(rule.rule.clone()).or_default(), rule.violations);
        }
    }

    /// Violations of all rules.
    pub fn violations(&self) -> u64 {
        self.violated.values().map(|span| span.count).sum()
    }

    /// The violations in words, rule by rule: `3 x global invariant (up to 8.18 ms)`; empty if there are none.
    pub fn violations_text(&self) -> String {
        listed(&self.violated)
    }

    /// The excuses in words, cause by cause.
    pub fn causes_text(&self) -> String {
        listed(&self.causes)
    }

    /// A table's row: a text for each of [`Verified::COLUMNS`].
    pub fn row(&self) -> Vec<String> {
        self.fields().into_iter().map(|field| field.text).collect()
    }

    fn fields(&self) -> Vec<Field> {
        let longest = self.causes.iter().max_by_key(|(_, span)| span.longest_ns);
        let cause = longest.map_or_else(
            || Field::toned("–", Tone::Faint),
            |(cause, span)| {
                format!("{} {}", cause.replace('-', " "), number::span_ns(span.longest_ns)).into()
            },
        );
        let share = |of: fn(&ExcuseExtent) -> u64| {
            let known = self.extent.as_ref().map(|extent| percent_of_ppm(of(extent)).into());
            known.unwrap_or_else(|| Field::toned("–", Tone::Faint))
        };
        let tone = if self.violations() == 0 { Tone::Good } else { Tone::Bad };
        let worst = self.violated.iter().max_by_key(|(_, span)| span.longest_ns);
        let worst = worst.map_or_else(
            || Field::toned("–", Tone::Faint),
            |(rule, span)| named_span(rule, span.longest_ns).into(),
        );
        vec![
            number::count(self.instants).into(),
            number::count(self.decisions).into(),
            number::count(self.excused.count).into(),
            share(|extent| extent.share_ppm),
            share(|extent| extent.jobs_share_ppm),
            cause,
            Field::toned(number::count(self.violations()), tone),
            worst,
            Field::toned(
                number::count(self.excused_runs),
                if self.excused_runs == 0 { Tone::Plain } else { Tone::Bad },
            ),
        ]
    }
}

/// `interrupt 8.18 ms`; an instant has no length.
fn named_span(name: &str, ns: u64) -> String {
    if ns == 0 { name.to_owned() } else { format!("{name} {}", number::span_ns(ns)) }
}

/// All of a kind: `3 x global invariant (up to 8.18 ms)`.
fn listed(spans: &BTreeMap<String, SpanRecord>) -> String {
    let one = |(name, span): (&String, &SpanRecord)| {
        let most = match span.longest_ns {
            0 => String::new(),
            ns => format!(" (up to {})", number::span_ns(ns)),
        };
        format!("{} x {}{most}", number::count(span.count), name.replace('-', " "))
    };
    spans.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// One row per scheduler; nothing where no schedule was recorded.
pub(crate) fn table(study: &Study<'_>) -> Option<Table> {
    let mut rows = Vec::new();
    let (mut sums, mut words) = (Vec::new(), Vec::new());
    for scheduler in &study.summary.schedulers {
        let mut together = Verified::default();
        for (run, schedule) in recorded(study, scheduler) {
            together.add(schedule, &ExcuseLimits::DEFAULT);
            words.extend(
                schedule.verification.violations.iter().map(|text| format!("run {}: {text}", run.id)),
            );
        }
        if together.runs > 0 {
            let label = study.label_of(scheduler);
            if together.lost > 0 {
                let lost = number::counted(together.lost, "record");
                words.push(format!(
                    "{label}: {lost} lost for want of room; a schedule ends before the first loss."
                ));
            }
            for (what, spans) in
                [("violated", together.violations_text()), ("excused by", together.causes_text())]
            {
                if !spans.is_empty() {
                    sums.push(format!("{label} {what}: {spans}."));
                }
            }
            rows.push([label.into()].into_iter().chain(together.fields()).collect());
        }
    }
    if rows.is_empty() {
        return None;
    }
    Some(Table {
        caption: "Schedules of the kernel against their schedulers' definitions".to_owned(),
        columns: [Column::text("Scheduler")]
            .into_iter()
            .chain(Verified::COLUMNS.map(Column::number))
            .collect(),
        rows,
        notes: notes(study, sums, words),
    })
}

fn recorded<'s>(
    study: &'s Study<'_>,
    scheduler: &'s SchedulerSummary,
) -> impl Iterator<Item = (&'s Run, &'s ScheduleRecord)> {
    let own = |run: &&Run| run.scheduler == scheduler.scheduler && run.host == scheduler.host;
    study.results.runs.iter().filter(own).filter_map(|run| Some((run, run.schedule.as_ref()?)))
}

/// What the oracles say of all recorded schedules, in a sentence; nothing where no schedule was recorded.
pub(crate) fn sentence(study: &Study<'_>) -> Option<String> {
    let mut all = Verified::default();
    let mut violated = Vec::new();
    for scheduler in &study.summary.schedulers {
        let mut own = Verified::default();
        recorded(study, scheduler).for_each(|(_, schedule)| {
            own.add(schedule, &ExcuseLimits::DEFAULT);
            all.add(schedule, &ExcuseLimits::DEFAULT);
        });
        if own.violations() > 0 {
            violated.push(format!("{}: {}", study.label_of(scheduler), own.violations_text()));
        }
    }
    if all.runs == 0 {
        return None;
    }
    let what = format!(
        "{} recorded and checked at {}",
        number::counted(all.runs, "schedule"),
        number::counted(all.instants, "instant")
    );
    let found = match (violated.is_empty(), all.excused_runs) {
        (true, 0) => "all are as their schedulers define them".to_owned(),
        (true, _) => "none is violated".to_owned(),
        (false, _) => format!(
            "what their schedulers' definitions forbid: {}. `laxity verify DIR` says where",
            violated.join("; ")
        ),
    };
    Some(format!("Verification: {what}; {found}.{}", without_verdict(&all)))
}

/// Of how many schedules too much is excused, and what limits that.
fn without_verdict(all: &Verified) -> String {
    let (Some(extent), 1..) = (&all.extent, all.excused_runs) else { return String::new() };
    let longest = extent.longest.as_ref().map_or_else(String::new, |longest| {
        format!(", {} for {} at most", longest.kind.replace('-', " "), number::span_ns(longest.ns))
    });
    let limits = ExcuseLimits::DEFAULT;
    format!(
        " {} without a verdict, because too much is excused: {} of the CPU time{longest}; {} and {} are allowed. `laxity verify \
         DIR --excuse-limit TIME` judges by another limit.",
        number::counted(all.excused_runs, "schedule"),
        percent_of_ppm(extent.share_ppm),
        percent_of_ppm(limits.share_ppm),
        number::span_ns(limits.longest_ns),
    )
}

fn notes(study: &Study<'_>, sums: Vec<String>, words: Vec<String>) -> Vec<String> {
    let mut notes = vec![
        "Excused: the right jobs did not run for a while, and something that was measured in this very run explains all \
         of it (a kernel thread, an interrupt on its way, a decision under way ...). A violation is explained by nothing."
            .to_owned(),
        format!(
            "Without a verdict: nothing is violated, but what is excused is more than {} of the CPU time, or the scheduler was late \
             with something for more than {} at once, so that a schedule which is wrong would look the same.",
            percent_of_ppm(ExcuseLimits::DEFAULT.share_ppm),
            number::span_ns(ExcuseLimits::DEFAULT.longest_ns),
        ),
    ];
    notes.extend(sums);
    let left_out = words.len().saturating_sub(WORDS_MOST);
    notes.extend(words.into_iter().take(WORDS_MOST));
    if left_out > 0 {
        notes.push(format!("{} more; `laxity verify DIR` says all", number::count(left_out as u64)));
    }
    let said = study.results.runs.iter().filter_map(|run| Some((run, run.schedule.as_ref()?)));
    let said = said.flat_map(|(run, schedule)| {
        schedule.notes.iter().map(move |note| (format!("{} (run {})", run.scheduler, run.id), note.as_str()))
    });
    notes.extend(alike(said));
    let missing = study.results.runs.iter().filter_map(|run| {
        let why = run.not_measured.get("schedule")?;
        Some((run.scheduler.clone(), why.clone()))
    });
    notes.extend(
        by_reason(missing)
            .into_iter()
            .map(|(schedulers, why)| format!("Not recorded: {schedulers} ({why}).")),
    );
    notes.extend(not_verified(study));
    notes
}

/// Which recorded schedules have no verdict, and why.
fn not_verified(study: &Study<'_>) -> Vec<String> {
    let reasons = reasons_of_runs(study, NOT_VERIFIED).into_iter();
    reasons.map(|(schedulers, why)| format!("Recorded, not verified: {schedulers} ({why}).")).collect()
}

/// Each note once, with the runs that it is about. Notes that differ in their first number only are one, with a number for
/// each run: `records missing ...: 3 in g-edf (run 14), 8 in c-rm (run 17).`
fn alike<'n>(said: impl Iterator<Item = (String, &'n str)>) -> Vec<String> {
    let mut together: Vec<(&str, Vec<String>)> = Vec::new();
    for (run, note) in said {
        let (number, rest) = note.split_once(' ').unwrap_or(("", note));
        let counted = number.replace(',', "").parse::<u64>().is_ok();
        // Singular and plural of the thing counted are alike.
        let rest = if counted {
            rest.strip_prefix("record ").or(rest.strip_prefix("records ")).unwrap_or(rest)
        } else {
            note
        };
        let place = if counted { format!("{number} in {run}") } else { run };
        match together.iter_mut().find(|(known, _)| *known == rest) {
            Some((_, runs)) => runs.push(place),
            None => together.push((rest, vec![place])),
        }
    }
    let sentence = |(note, runs): (&str, Vec<String>)| match runs[0].contains(" in ") {
        true => format!("Records {note}: {}.", runs.join(", ")),
        false => format!("{}: {note}.", runs.join(", ")),
    };
    together.into_iter().map(sentence).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use laxity_trace::{RuleRecord, VerificationRecord};

    fn span(count: u64, longest_ns: u64) -> SpanRecord {
        SpanRecord { count, longest_ns, total_ns: longest_ns }
    }

    fn schedule(longest_ns: u64, violated: Vec<RuleRecord>) -> ScheduleRecord {
        let causes =
            [("kernel-thread".to_owned(), span(2, 9_000)), ("switch".to_owned(), span(5, 4_000))].into();
        let (excused, violations) = (span(6, 9_000), vec![]);
        ScheduleRecord {
            end_ns: 1_000,
            records: 10,
            lost: 0,
            recorder_cpu_ns: 1,
            decisions: 7,
            task_set: serde_json::Value::Null,
            free_arrivals: vec![],
            budgets: "off".into(),
            batching: false,
            longest_way_ns: 0,
            windows: BTreeMap::new(),
            verification: VerificationRecord {
                instants: 40,
                excused,
                causes,
                overruns: None,
                state: None,
                extent: Some(ExcuseExtent::new((longest_ns, 1_000_000), (1, 4), None)),
                violated,
                violations,
            },
            notes: vec![],
            causes: false,
            budgets_used_up: vec![],
        }
    }

    #[test]
    fn notes_that_differ_in_a_number_only_are_one() {
        let said = [
            ("a (run 1)", "3 records missing (x)"),
            ("b (run 2)", "1 record missing (x)"),
            ("a (run 3)", "odd"),
        ];
        assert_eq!(
            alike(said.into_iter().map(|(run, note)| (run.to_owned(), note))),
            ["Records missing (x): 3 in a (run 1), 1 in b (run 2).", "a (run 3): odd."]
        );
    }

    #[test]
    fn schedules_of_one_scheduler_add_up() {
        let mut together = Verified::default();
        together.add(&schedule(100_001, vec![]), &ExcuseLimits::DEFAULT);
        assert_eq!(
            together.row(),
            ["40", "7", "6", "10.01 %", "25.00 %", "kernel thread 9.00 µs", "0", "–", "1"]
        );
        let rule = |rule: &str, violations| RuleRecord { rule: rule.into(), violations };
        let violated = vec![rule("budgets", span(3, 0)), rule("global invariant", span(2, 70_000))];
        together.add(&schedule(99_999, violated), &ExcuseLimits::DEFAULT);
        assert_eq!(
            together.row(),
            [
                "80",
                "14",
                "12",
                "10.00 %",
                "25.00 %",
                "kernel thread 9.00 µs",
                "5",
                "global invariant 70.0 µs",
                "1"
            ]
        );
        assert_eq!(together.violations_text(), "3 x budgets, 2 x global invariant (up to 70.0 µs)");
    }
}

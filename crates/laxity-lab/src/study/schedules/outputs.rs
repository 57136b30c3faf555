//! What a study of schedules leaves: a table of everything as CSV, and a page.

use super::evaluation::{Evaluation, JobMetrics, Measured};
use crate::study::contender::on_or_off;
use crate::study::page::{cpus_in_words, not_measured, numbers_of_cpus, refusals, sizes, write_page};
use crate::study::{Place, Trial};
use laxity_model::{OutputDirectory, Result, plural};
use laxity_report::{PageSection, PlainTable, StudyPage, Verified, count, percent, significant, span_ns};
use laxity_trace::{ExcuseLimits, ScheduleRecord, VerdictState};
use std::fmt::Write;
use std::path::Path;

/// All numbers.
pub const TABLE_FILE: &str = "schedules.csv";
/// Violations in words on a page, for each number of CPUs; trials have all.
const WORDS_MOST: usize = 30;

/// A study that was evaluated, and what is to be said of it.
pub struct StudyOutputs<'a> {
    /// Names of the schedulers, in the order of the study.
    pub schedulers: &'a [String],
    /// What was measured.
    pub evaluation: &'a Evaluation,
    /// How it was measured, in words.
    pub method: Vec<String>,
    /// What may be excused in a schedule.
    pub limits: ExcuseLimits,
}

impl StudyOutputs<'_> {
    /// Writes everything into the study's directory.
    ///
    /// # Errors
    ///
    /// What the file system refuses.
    pub fn write(&self, directory: &Path) -> Result<()> {
        let directory = OutputDirectory::create(directory)?;
        directory.write(TABLE_FILE, self.csv().as_bytes())?;
        write_page(&directory, &self.page())
    }

    /// A row per trial that was measured.
    fn csv(&self) -> String {
        let mut text = String::from(
            "cpus,tasks_per_cpu,tasks,set,scheduler,jobs,completed,misses,tardy,tardiness_ns_mean,tardiness_ns_max,\
             normalized_laxity_mean,laxity_ns_min,migrations,context_switches,measured_utilization,instants,decisions,\
             excused,excused_ns_max,excused_ns_total,violations,violation_ns_max,violation_ns_total,records_lost,schedule_end_ns,\
             excused_share_ppm,excused_jobs,verdict,batching\n",
        );
        for (trial, measured) in self.evaluation.measured() {
            let JobMetrics { counts, tardiness_ns, .. } = &measured.jobs;
            let _ = write!(
                text,
                "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}",
                trial.cpus,
                trial.tasks_per_cpu,
                trial.tasks(),
                trial.set,
                trial.scheduler.name,
                counts.jobs,
                counts.completed,
                counts.misses,
                measured.jobs.tardy,
                float(tardiness_ns.map(|tardiness| tardiness.mean), 1),
                whole(tardiness_ns.map(|tardiness| tardiness.max)),
                float(measured.jobs.normalized_laxity.map(|laxity| laxity.mean), 4),
                whole(measured.jobs.laxity_ns_min),
                whole(measured.jobs.migrations),
                whole(measured.jobs.context_switches),
                float(measured.jobs.measured_utilization, 4),
            );
            text +=
                &measured.schedule.as_ref().map_or_else(|_| ",".repeat(13), |one| checked(one, &self.limits));
            let _ = writeln!(text, ",{}", on_or_off(trial.scheduler.batches));
        }
        text
    }

    pub(super) fn cpus(&self) -> Vec<u32> {
        numbers_of_cpus(self.evaluation.places(self.schedulers).iter())
    }

    pub(super) fn sizes(&self, cpus: u32) -> Vec<u32> {
        let places: Vec<Place> = self.evaluation.places(self.schedulers);
        sizes(places.iter(), cpus)
    }

    /// All of it as a page.
    fn page(&self) -> StudyPage {
        let cpus = self.cpus();
        let mut sections: Vec<PageSection> = cpus.iter().map(|&cpus| self.section(cpus)).collect();
        sections.push(PageSection {
            heading: "How it was measured".to_owned(),
            paragraphs: self.method.clone(),
            tables: not_measured(refusals(&self.evaluation.refused())).into_iter().collect(),
            figures: Vec::new(),
            histograms: Vec::new(),
        });
        let mut kernels: Vec<&str> =
            self.evaluation.measured().map(|(_, measured)| measured.kernel.as_str()).collect();
        kernels.sort_unstable();
        kernels.dedup();
        StudyPage {
            title: "Schedules of real kernels against their definitions".to_owned(),
            subtitle: format!("Linux {}; {}", kernels.join(", "), plural(self.schedulers.len(), "scheduler")),
            notes: Vec::new(),
            findings: cpus.iter().flat_map(|&cpus| self.findings(cpus)).collect(),
            sections,
        }
    }

    /// What was checked and what was violated, and whose jobs were late.
    fn findings(&self, cpus: u32) -> Vec<String> {
        let verified = self.evaluation.verified(cpus, &self.limits);
        let known = self.schedulers.iter().filter_map(|name| Some((name, verified.get(name)?)));
        let violated: Vec<String> = known
            .filter(|(_, verified)| verified.violations() > 0)
            .map(|(name, verified)| format!("{name} {}", verified.violations_text()))
            .collect();
        let sum = |of: fn(&Verified) -> u64| count(verified.values().map(of).sum());
        let words = cpus_in_words(cpus);
        let checked = format!(
            "{words}: {} schedules, {} instants and {} decisions checked; {}{}.",
            sum(|one| one.runs),
            sum(|one| one.instants),
            sum(|one| one.decisions),
            match violated.is_empty() {
                true => "no violation".to_owned(),
                false => format!("violations: {}", violated.join("; ")),
            },
            match verified.values().map(|one| one.excused_runs).sum() {
                0 => String::new(),
                excused => format!("; no verdict on {}: too much is excused", plural(excused, "schedule")),
            }
        );
        let late = |name: &String| {
            let of = self.evaluation.measured();
            let of = of.filter(|(trial, _)| trial.cpus == cpus && trial.scheduler.name == *name);
            let (jobs, misses, made) = of.fold((0, 0, false), |(jobs, misses, _), (_, measured)| {
                (jobs + measured.jobs.counts.jobs, misses + measured.jobs.counts.misses, true)
            });
            made.then(|| format!("{name} {} of {}", percent(misses, jobs), count(jobs)))
        };
        let missed: Vec<String> = self.schedulers.iter().filter_map(late).collect();
        vec![checked, format!("{words}: jobs that missed their deadlines: {}.", missed.join(", "))]
    }

    fn section(&self, cpus: u32) -> PageSection {
        PageSection {
            heading: cpus_in_words(cpus),
            paragraphs: Vec::new(),
            tables: [
                Some(self.verified(cpus)),
                self.violations(cpus),
                self.causes(cpus),
                self.windows(cpus),
                Some(self.jobs(cpus)),
            ]
            .into_iter()
            .flatten()
            .collect(),
            figures: self.figures(cpus),
            histograms: Vec::new(),
        }
    }

    /// A row per scheduler: all its schedules.
    fn verified(&self, cpus: u32) -> PlainTable {
        let verified = self.evaluation.verified(cpus, &self.limits);
        let row = |name: &String| {
            let of = verified.get(name)?;
            let first = [name.clone(), of.runs.to_string()];
            Some(first.into_iter().chain(of.row()).chain([count(of.lost)]).collect())
        };
        PlainTable {
            caption: "Schedules against their schedulers' definitions. Excused: the right jobs did not run for a while, and \
                      something that was measured in the same run explains all of it; a violation is explained by nothing"
                .to_owned(),
            columns: ["scheduler", "runs"]
                .into_iter()
                .chain(Verified::COLUMNS)
                .chain(["Records lost"])
                .map(String::from)
                .collect(),
            words: 1,
            rows: self.schedulers.iter().filter_map(row).collect(),
        }
    }

    /// The first violations, in words.
    fn violations(&self, cpus: u32) -> Option<PlainTable> {
        let mut rows: Vec<Vec<String>> = Vec::new();
        let mut left_out = 0;
        for (trial, schedule) in self.evaluation.schedules(cpus) {
            for text in &schedule.verification.violations {
                match rows.len() < WORDS_MOST {
                    true => {
                        rows.push(vec![
                            trial.scheduler.name.clone(),
                            trial.tasks_per_cpu.to_string(),
                            text.clone(),
                        ]);
                    }
                    false => left_out += 1,
                }
            }
        }
        let more = match left_out {
            0 => String::new(),
            more => format!("; {more} more are in the manifests of the runs"),
        };
        (!rows.is_empty()).then(|| PlainTable {
            caption: format!("Violations{more}"),
            columns: ["scheduler", "tasks per CPU", "what"].map(String::from).into(),
            words: 3,
            rows,
        })
    }

    /// What excused deviations, by scheduler.
    fn causes(&self, cpus: u32) -> Option<PlainTable> {
        let verified = self.evaluation.verified(cpus, &self.limits);
        let row = |name: &String| Some(vec![name.clone(), verified.get(name)?.causes_text()]);
        let rows: Vec<Vec<String>> =
            self.schedulers.iter().filter_map(row).filter(|row| !row[1].is_empty()).collect();
        (!rows.is_empty()).then(|| PlainTable {
            caption: "What explains the excused deviations; a deviation may have several causes, one after the other"
                .to_owned(),
            columns: ["scheduler", "causes"].map(String::from).into(),
            words: 2,
            rows,
        })
    }

    /// The windows: what was measured of each way by which decisions travel.
    fn windows(&self, cpus: u32) -> Option<PlainTable> {
        let windows = self.evaluation.windows(cpus);
        let mut names: Vec<&str> = windows.keys().map(|(_, name)| name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        let verified = self.evaluation.verified(cpus, &self.limits);
        let shown: Vec<&String> =
            self.schedulers.iter().filter(|name| verified.contains_key(*name)).collect();
        let row = |name: &&str| {
            let trial = |scheduler: &&String| match windows.get(&((*scheduler).clone(), (*name).to_owned())) {
                None => "-".to_owned(),
                Some(span) => {
                    let mean = span.total_ns.checked_div(span.count).unwrap_or(0);
                    format!("{}: {}, {}", count(span.count), span_ns(mean), span_ns(span.longest_ns))
                }
            };
            [name.replace('-', " ")].into_iter().chain(shown.iter().map(trial)).collect::<Vec<String>>()
        };
        (!names.is_empty()).then(|| PlainTable {
            caption: "Measured in the runs: how many, mean, longest".to_owned(),
            columns: ["window".to_owned()].into_iter().chain(shown.iter().map(|s| (*s).clone())).collect(),
            words: 1,
            rows: names.iter().map(row).collect(),
        })
    }

    /// A row per trial: how its jobs ended.
    fn jobs(&self, cpus: u32) -> PlainTable {
        let number = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), significant);
        let row = |(trial, Measured { jobs, schedule, .. }): (&Trial, &Measured)| {
            let checked = schedule.as_ref().map_or_else(
                |_| ["-".to_owned(), "-".to_owned()],
                |s| [count(s.verification.instants), count(s.verification.violations_count())],
            );
            let mut row = vec![
                trial.scheduler.name.clone(),
                trial.tasks_per_cpu.to_string(),
                count(jobs.counts.jobs),
                count(jobs.counts.misses),
                count(jobs.tardy),
                jobs.tardiness_ns.map_or_else(|| "-".to_owned(), |tardiness| span_ns(tardiness.max)),
                number(jobs.normalized_laxity.map(|laxity| laxity.mean)),
                number(jobs.normalized_laxity_min),
                number(jobs.measured_utilization),
                number(jobs.per_job(jobs.migrations)),
                number(jobs.per_job(jobs.context_switches)),
            ];
            row.extend(checked);
            row
        };
        let of = self.evaluation.measured().filter(|(trial, _)| trial.cpus == cpus);
        PlainTable {
            caption: "How the jobs ended. Laxity is normalized: (D - R)/T".to_owned(),
            columns: [
                "scheduler",
                "tasks per CPU",
                "jobs",
                "misses",
                "tardy",
                "max. tardiness",
                "mean laxity",
                "least laxity",
                "utilization",
                "migrations per job",
                "switches per job",
                "instants checked",
                "violations",
            ]
            .map(String::from)
            .into(),
            words: 1,
            rows: of.map(row).collect(),
        }
    }
}

/// The columns of a schedule, each with a comma before it.
fn checked(schedule: &ScheduleRecord, limits: &ExcuseLimits) -> String {
    let verification = &schedule.verification;
    let violations = verification.violated.iter().map(|rule| rule.violations);
    let longest = violations.clone().map(|span| span.longest_ns).max().unwrap_or(0);
    let total = violations.fold(0u64, |sum, span| sum.saturating_add(span.total_ns));
    let numbers = [
        verification.instants,
        schedule.decisions,
        verification.excused.count,
        verification.excused.longest_ns,
        verification.excused.total_ns,
        verification.violations_count(),
        longest,
        total,
        schedule.lost,
        schedule.end_ns,
    ];
    let numbers: String = numbers.iter().map(|number| format!(",{number}")).collect();
    let extent = verification.extent.as_ref();
    let state = verification.state_under(limits).map_or("", VerdictState::name);
    let (share, jobs) = (extent.map(|one| one.share_ppm), extent.map(|one| one.jobs_excused));
    format!("{numbers},{},{},{state}", whole(share), whole(jobs))
}

fn whole<T: std::fmt::Display>(number: Option<T>) -> String {
    number.map_or_else(String::new, |number| number.to_string())
}

fn float(number: Option<f64>, decimals: usize) -> String {
    number.map_or_else(String::new, |number| format!("{number:.decimals$}"))
}

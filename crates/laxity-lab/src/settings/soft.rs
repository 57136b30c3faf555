//! Tasks that may miss a deadline now and then: how often, how long their jobs run, and the reservations that keep to it.

use super::measured::Measured;
use laxity_analysis::SporadicTask;
use laxity_analysis::settings::{
    CERTAIN, DemandLaw, KernelRules, NotMeasured, Reservation, SoftReservation, SoftTask,
};
use laxity_model::{Demand, Diagnostic, Duration, Names, Result, Task, TaskSet, plural};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// All measured laws together are wrong with at most this probability.
pub const ERROR: f64 = 0.05;

/// A probability with which a job may miss its deadline: above 0 and below 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tolerated {
    /// As it was written.
    text: String,
    /// In units of 2^-62, rounded down.
    probability: u64,
}

/// `P` for all tasks, or `TASK=P` for one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedSoft {
    task: Option<String>,
    tolerated: Tolerated,
}

impl FromStr for AskedSoft {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self> {
        let (task, probability) = match text.rsplit_once('=') {
            Some((task, probability)) => (Some(task.trim().to_owned()), probability),
            None => (None, text),
        };
        let probability = probability.trim();
        let tolerated = tolerated(probability).ok_or_else(|| {
            Diagnostic::usage(format!("`{probability}` is not a probability above 0 and below 1"))
                .hint("write P for all tasks or TASK=P for one, such as 0.01, 1% or camera=1e-4")
        })?;
        Ok(AskedSoft { task, tolerated })
    }
}

/// Digits, one point, and a percent sign or an exponent of ten from -15 on.
fn tolerated(text: &str) -> Option<Tolerated> {
    let (number, exponent) = match text.strip_suffix('%') {
        Some(number) => (number.trim_end(), 2),
        None => match text.split_once(['e', 'E']) {
            Some((number, exponent)) => (number, exponent.strip_prefix('-')?.parse::<usize>().ok()?),
            None => (text, 0),
        },
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = format!("{whole}{fraction}");
    let decimals = fraction.len().checked_add(exponent)?;
    if digits.is_empty()
        || digits.len() > 18
        || decimals > 18
        || !digits.bytes().all(|it| it.is_ascii_digit())
    {
        return None;
    }
    let (value, scale) = (digits.parse::<u128>().ok()?, 10u128.pow(u32::try_from(decimals).ok()?));
    let probability = u64::try_from((value << 62) / scale).ok()?;
    (value > 0 && value < scale && probability > 0).then(|| Tolerated { text: text.to_owned(), probability })
}

impl fmt::Display for Tolerated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

/// A probability in units of 2^-62, rounded up to two digits, such as 0.0097 or 1.3e-5.
pub fn probability(units: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "shown with two digits, rounded up")]
    let share = units as f64 / CERTAIN as f64;
    if share <= 0.0 {
        return 0.0;
    }
    let mut scale = 10.0;
    while share * scale < 10.0 {
        scale *= 10.0;
    }
    (libm::ceil(share * scale) / scale).min(1.0)
}

/// What is asked of a soft task, and what keeps to it.
pub struct Soft {
    /// The probability of a miss that is tolerated.
    pub tolerated: Tolerated,
    /// The longest that a job asks for, in ns.
    pub most: u64,
    /// From what its distribution of demand is known.
    pub source: String,
    /// The least bandwidth first.
    pub reservations: Vec<SoftReservation>,
    /// What a reader should know.
    pub note: Option<String>,
}

impl Soft {
    /// An upper bound on the probability of a miss with one of the reservations, in units of 2^-62.
    pub fn miss(&self, one: &Reservation) -> u64 {
        self.reservations.iter().find(|it| it.reservation == *one).map_or(CERTAIN, |it| it.miss)
    }
}

/// The soft tasks of a set, by id.
pub type SoftTasks = BTreeMap<usize, Soft>;

/// The soft tasks that were asked for: a later option replaces an earlier one, and one for a task goes before one for all.
///
/// # Errors
///
/// There is no such task, or what was measured does not say how long its jobs run.
pub fn soft_tasks(
    set: &TaskSet,
    asked: &[AskedSoft],
    measured: Option<&Measured>,
    rules: KernelRules,
) -> Result<SoftTasks> {
    let names: Vec<&str> = set.real_time().map(|(_, task)| task.name.as_str()).collect();
    for name in asked.iter().filter_map(|one| one.task.as_deref()) {
        if !names.contains(&name) {
            return Err(Names::of("task", &names).unknown(name));
        }
    }
    let of =
        |name: Option<&str>| asked.iter().rfind(|one| one.task.as_deref() == name).map(|one| &one.tolerated);
    // Where all jobs run for the WCET, less than that serves none: what is said of all tasks leaves these hard.
    let varies = |task: &Task| measured.is_some() || demand(task) != Demand::Wcet;
    let tolerated = |task: &Task| of(Some(&task.name)).or_else(|| of(None).filter(|_| varies(task)));
    let all: Vec<_> = set.real_time().filter_map(|(id, task)| Some((id, task, tolerated(task)?))).collect();
    if let (true, Some((_, task))) = (all.is_empty() && !asked.is_empty(), set.real_time().next()) {
        return Err(unknown_demand(&task.name));
    }
    let count = all.len();
    let sporadic = SporadicTask::of_set(set);
    let numbers: BTreeMap<usize, usize> = set.real_time().enumerate().map(|(at, (id, _))| (id, at)).collect();
    all.into_iter()
        .map(|(id, task, tolerated)| {
            let (law, source) = law(task, measured, count)?;
            let note = measured.and_then(|measured| too_few(task, tolerated, measured, count));
            let soft = SoftTask { task: sporadic[numbers[&id]], law };
            let reservations = soft.candidates(tolerated.probability, rules);
            let most = soft.law.most();
            Ok((id, Soft { tolerated: tolerated.clone(), most, source, reservations, note }))
        })
        .collect()
}

/// How long the jobs of a task run, one of so many soft tasks.
fn law(task: &Task, measured: Option<&Measured>, count: usize) -> Result<(DemandLaw, String)> {
    let Some(measured) = measured else {
        let demand = demand(task);
        if demand == Demand::Wcet {
            return Err(unknown_demand(&task.name));
        }
        return Ok((DemandLaw::of_shares(task.wcet.as_ns(), demand), format!("demand {demand}")));
    };
    let times = measured.times.get(&task.name).cloned().unwrap_or_default();
    let (jobs, error) = (plural(times.len(), "job"), ERROR / share(count));
    let law = DemandLaw::measured(times, task.wcet.as_ns(), error).map_err(|why| match why {
        NotMeasured::TooFew(_) => {
            let has = if measured.times.contains_key(&task.name) { jobs.clone() } else { "no job".into() };
            Diagnostic::usage(format!("{} has {has} of task `{}`", measured.shown, task.name)).hint(format!(
                "a distribution takes {} or more; name the soft tasks, such as --soft TASK=P, or measure longer",
                laxity_analysis::settings::LEAST_SAMPLES
            ))
        }
        NotMeasured::AboveWcet(above, most) => Diagnostic::usage(format!(
            "task `{}`: {} of {jobs} ran longer than its WCET of {}, the longest {}",
            task.name,
            plural(above, "job"),
            task.wcet,
            Duration::from_ns(most)
        ))
        .hint("give the task a WCET that no job exceeds"),
    })?;
    Ok((law, format!("{jobs} in {}", measured.shown)))
}

fn demand(task: &Task) -> Demand {
    task.demand.unwrap_or(Demand::Wcet)
}

fn unknown_demand(task: &str) -> Diagnostic {
    Diagnostic::usage(format!(
        "task `{task}` may miss deadlines, but it is not known how long its jobs run: all as long as the WCET"
    ))
    .hint("give its `demand`, such as demand = \"normal:0.6,0.1\", or --measured with execution times")
}

/// That more jobs would allow for less bandwidth: what may be longer than all that was measured counts as WCET.
fn too_few(task: &Task, tolerated: &Tolerated, measured: &Measured, count: usize) -> Option<String> {
    #[expect(clippy::cast_precision_loss, reason = "for a number of jobs in a note")]
    let probability = tolerated.probability as f64 / CERTAIN as f64;
    let needed = DemandLaw::samples_for(probability, ERROR / share(count));
    let jobs = measured.times.get(&task.name)?.len() as u64;
    (jobs < needed).then(|| {
        format!(
            "{} of `{}` cannot tell whether fewer than one in {} are longer than all of them: about {} can",
            plural(jobs, "measured job"),
            task.name,
            plural(CERTAIN / tolerated.probability, "job"),
            laxity_model::with_commas(needed)
        )
    })
}

fn share(count: usize) -> f64 {
    f64::from(u32::try_from(count.max(1)).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_in_all_forms() {
        let all: [(&str, (u128, u128)); 5] = [
            ("0.01", (1, 100)),
            ("1%", (1, 100)),
            ("2.5e-4", (25, 100_000)),
            ("0.5", (1, 2)),
            (".125", (1, 8)),
        ];
        for (text, (number, scale)) in all {
            let read: AskedSoft = text.parse().expect(text);
            assert_eq!(
                read.tolerated.probability,
                u64::try_from((number << 62) / scale).expect("below 1"),
                "{text}"
            );
            assert_eq!(read.tolerated.to_string(), text);
        }
        let one: AskedSoft = "a=b=1e-3".parse().expect("a task with an odd name");
        assert_eq!(one.task.as_deref(), Some("a=b"));
        for text in ["", "0", "1", "1.0", "100%", "-0.1", "1e3", "0.1.1", "p", "1e-19", "=", "a=", "0.1ms"] {
            assert!(text.parse::<AskedSoft>().is_err(), "{text}");
        }
    }

    #[test]
    fn shown_probabilities_are_rounded_up() {
        let of = |parts: u64, all: u64| probability(CERTAIN / all * parts);
        assert_eq!([of(961, 100_000), of(1_234, 100_000_000)], [0.009_7, 0.000_013]);
        assert_eq!([of(1, 4), of(1, 1)], [0.25, 1.0]);
        assert_eq!(probability(0), 0.0);
    }
}

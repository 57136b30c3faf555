//! Curves of a study by simulation: how sets are placed, what schedules them, and what that costs.

use crate::file::{AdmissionWord, CurveFile};
use crate::outline::check_curve;
use laxity_model::{AnyScheduler, Diagnostic, Duration, PolicyScheduler, Result, Scope};
use laxity_place::{Fitting, Method, Overload};
use laxity_sim::costs::{Costs, read_costs};
use serde_json::{Value, json};
use std::path::Path;

/// A way to place and schedule sets.
#[derive(Debug, Clone, PartialEq)]
pub struct SimulatedCurve {
    /// What it is called.
    pub name: String,
    /// The scheduler.
    pub scheduler: PolicyScheduler,
    /// Its name, as the study has it.
    pub scheduler_name: String,
    /// How tasks are placed, unless they share all CPUs.
    pub placement: Method,
    /// How tasks are admitted one by one instead.
    pub admission: Option<AdmissionWord>,
    /// The most tardiness that Theorem 1 may allow then; None: any.
    pub tardiness_bound: Option<Duration>,
    /// What may be placed together.
    pub fit: Fitting,
    /// The rule for a task that fits nowhere.
    pub overload: Overload,
    /// Whether jobs of one instant are released together; nothing: as it is without being asked for.
    pub batching: Option<bool>,
    /// What everything costs.
    pub costs: Costs,
    /// The costs file, as the study names it.
    pub costs_file: Option<String>,
    /// What a reader must know of it.
    pub note: Option<String>,
}

impl SimulatedCurve {
    /// What it is, in a line.
    pub(crate) fn words(&self) -> String {
        let costs = match &self.costs_file {
            None => "; nothing costs anything".to_owned(),
            Some(file) => format!("; costs {file}"),
        };
        self.words_of_places("simulated") + &costs + "."
    }

    /// What schedules, and how tasks are placed; sets are `what`, such as simulated.
    pub(crate) fn words_of_places(&self, what: &str) -> String {
        let mut words = format!("{}: {}", self.name, self.scheduler_name);
        if let Some(admission) = self.admission {
            words += ", each task on the slowest CPU that can take it, ";
            words += match admission {
                AdmissionWord::IgnoresDoubleHit => "the servers' double hit ignored",
                AdmissionWord::CountsDoubleHit => "the servers' double hit counted",
            };
            if let Some(bound) = self.tardiness_bound {
                words += &format!(", no task late by more than {bound}");
            }
        } else if self.scheduler.scope != Scope::Global {
            words += &format!(", placed by {}", self.placement);
            if self.fit.is_test() {
                words += " as its schedulability test proves";
            }
            match self.overload {
                Overload::Refuse => words += &format!("; a set that does not fit is not {what}"),
                Overload::LeastLoaded => words += "; a task that fits nowhere goes where the load is least",
            }
        }
        match self.batching {
            Some(true) => words += "; jobs of one instant are released together",
            Some(false) => words += "; jobs of one instant are released one by one",
            None => {}
        }
        words
    }

    /// All that results depend on.
    pub(crate) fn description(&self) -> Value {
        let mut description = json!({
            "name": self.name,
            "scheduler": self.scheduler.to_string(),
            "placement": self.placement.to_string(),
            "admission": self.admission,
            "tardiness_bound_ns": self.tardiness_bound.map(Duration::as_ns),
            // As studies before there was a choice had it.
            "fit": (self.fit != Fitting::Load(None)).then(|| self.fit.to_string()),
            "overload": self.overload.to_string(),
            // Of what the files say, not of their names.
            "costs": self.costs.to_toml(),
        });
        // As studies before there was a choice had it.
        if let Some(batching) = self.batching {
            description["batching"] = json!(batching);
        }
        description
    }
}

/// The curves. `costs` is the study's costs file.
pub(crate) fn curves(
    files: &[CurveFile],
    costs: Option<&String>,
    beside: &Path,
) -> Result<Vec<SimulatedCurve>> {
    let mut curves: Vec<SimulatedCurve> = Vec::new();
    for file in files {
        let curve = curve(file, costs, beside)?;
        if curves.iter().any(|other| other.name == curve.name) {
            return Err(Diagnostic::usage(format!("curve `{}` is there twice", curve.name))
                .hint("give one of them another `name`"));
        }
        curves.push(curve);
    }
    Ok(curves)
}

fn curve(file: &CurveFile, costs: Option<&String>, beside: &Path) -> Result<SimulatedCurve> {
    let shown = file.name.as_ref().or(file.placement.as_ref()).unwrap_or(&file.scheduler);
    check_curve(shown, file.note.as_deref())?;
    let here = |error: Diagnostic| error.context(format!("curve `{shown}`"));
    let scheduler: PolicyScheduler = file.scheduler.parse().map_err(here)?;
    let placement: Method = file.placement.as_deref().unwrap_or("ffd").parse().map_err(here)?;
    if placement.may_solve() {
        return Err(here(
            Diagnostic::usage(format!(
                "placement `{placement}` can search for seconds, and a study has thousands of sets"
            ))
            .hint("choose a heuristic such as ffd or wfd (see `laxity list`)"),
        ));
    }
    let is_placed = scheduler.scope != Scope::Global;
    if !is_placed && (file.placement.is_some() || file.overload.is_some() || file.fit.is_some()) {
        return Err(here(
            Diagnostic::usage(format!("{} is global: nothing is placed", file.scheduler)).hint(
                "leave `placement`, `fit` and `overload` out, or choose a partitioned or clustered scheduler",
            ),
        ));
    }
    let is_placed_otherwise = file.placement.is_some() || file.overload.is_some() || file.fit.is_some();
    if file.admission.is_some() && (scheduler.scope != Scope::Partitioned || is_placed_otherwise) {
        return Err(here(Diagnostic::usage("`admission` places tasks itself, and on single CPUs").hint(
            "leave `placement`, `fit` and `overload` out, and choose amp-rm or another scheduler per CPU",
        )));
    }
    let fit = file.fit.as_deref().map_or(Ok(Fitting::Load(None)), str::parse).map_err(here)?;
    let overload = file.overload.as_deref().map_or(Ok(Overload::Refuse), str::parse).map_err(here)?;
    if fit.is_test() && overload == Overload::LeastLoaded {
        return Err(here(
            Diagnostic::usage(
                "fit `test` places only what is proven, and overload `least-loaded` everything",
            )
            .hint("leave one of the two out"),
        ));
    }
    if file.tardiness_bound.is_some() && file.admission != Some(AdmissionWord::IgnoresDoubleHit) {
        return Err(here(
            Diagnostic::usage("`tardiness-bound` is of tasks that are admitted with the double hit ignored")
                .hint("write `admission = \"ignores-double-hit\"`; with it counted no task is late"),
        ));
    }
    if file.batching.is_some() && is_of_linux(&file.scheduler) {
        return Err(here(
            Diagnostic::usage(format!("{} is Linux's own: it releases jobs one by one", file.scheduler))
                .hint("leave `batching` out, or choose one of laxity's own policies, such as push-pull"),
        ));
    }
    let name = match &file.name {
        Some(name) => name.clone(),
        None if is_placed => placement.to_string(),
        None => file.scheduler.clone(),
    };
    let costs_file = file.costs.as_ref().or(costs).cloned();
    Ok(SimulatedCurve {
        name,
        scheduler,
        scheduler_name: file.scheduler.trim().to_ascii_lowercase(),
        placement,
        admission: file.admission,
        tardiness_bound: file.tardiness_bound.as_deref().map(str::parse).transpose().map_err(here)?,
        fit,
        overload,
        batching: file.batching,
        costs: match &costs_file {
            Some(name) => read_costs(&beside.join(name)).map_err(here)?,
            None => Costs::default(),
        },
        costs_file,
        note: file.note.clone(),
    })
}

fn is_of_linux(scheduler: &str) -> bool {
    scheduler.parse::<AnyScheduler>().is_ok_and(|scheduler| scheduler.linux().is_some())
}

//! The curves of a study's file.

use super::contradictions;
use super::curve::named;
use super::{Costing, Curve, OwnTests, Series};
use crate::file::{CurveFile, DisplacementsWord, WrittenGuarantee};
use crate::outline::check_curve;
use crate::profiles::read_overheads;
use laxity_analysis::overheads::{CacheDelays, Displacements, Overheads};
use laxity_analysis::scheduler::Analysed;
use laxity_analysis::{Guarantee, Priorities, Test, catalogue};
use laxity_model::{Diagnostic, Duration, Result, read_file};
use laxity_place::{Fitting, Method};
use std::path::Path;

/// The curves, and their series in the order of guarantees. `clusters` says whether a clustered scheduler has several.
pub(crate) fn curves(
    files: &[CurveFile],
    guarantees: &[Guarantee],
    clusters: bool,
    (beside, own_tests): (&Path, OwnTests<'_>),
) -> Result<(Vec<Curve>, Vec<Series>)> {
    let curves: Vec<Curve> = files.iter().map(curve).collect::<Result<_>>()?;
    for (at, curve) in curves.iter().enumerate() {
        if curves[..at].iter().any(|other| other.name == curve.name) {
            return Err(Diagnostic::usage(format!("curve `{}` is there twice", curve.name))
                .hint("give one of them another `name`"));
        }
    }
    let mut series = Vec::new();
    for &guarantee in guarantees {
        for (at, file) in files.iter().enumerate() {
            let one = series_of((at, &curves[at]), file, guarantee, beside, own_tests);
            series.extend(one.map_err(|error| error.context(format!("curve `{}`", curves[at].name)))?);
        }
    }
    let used = |at: usize| series.iter().any(|series: &Series| series.curve == at);
    if let Some(unused) = (0..curves.len()).find(|&at| !used(at)) {
        return Err(Diagnostic::usage(format!(
            "curve `{}` is for none of the study's guarantees",
            curves[unused].name
        ))
        .hint("leave its `guarantees` out, or add one of them to the study's"));
    }
    for (curve, file) in curves.iter().zip(files) {
        contradictions::check(curve, file, guarantees, clusters, own_tests)
            .map_err(|error| error.context(format!("curve `{}`", curve.name)))?;
    }
    Ok((curves, series))
}

fn curve(file: &CurveFile) -> Result<Curve> {
    let name = file.name.clone().unwrap_or_else(|| file.scheduler.clone());
    check_curve(&name, file.note.as_deref())?;
    let here = |error: Diagnostic| error.context(format!("curve `{name}`"));
    let placement: Method = file.placement.as_deref().unwrap_or("ffd").parse().map_err(here)?;
    if placement.may_solve() {
        return Err(here(
            Diagnostic::usage(format!(
                "placement `{placement}` can search for seconds, and a study has thousands of sets"
            ))
            .hint("choose a heuristic such as ffd or wfd (see `laxity list`)"),
        ));
    }
    let fit = file.fit.as_deref().map_or(Ok(Fitting::Test), str::parse).map_err(here)?;
    let scheduler: Analysed = file.scheduler.parse().map_err(here)?;
    if let Some(needed) = scheduler.unproven() {
        return Err(here(
            Diagnostic::usage(format!("`{scheduler}`: a test needs that {needed}"))
                .hint("choose a scheduler that goes by priorities (`laxity list schedulers`)"),
        ));
    }
    Ok(Curve { scheduler, placement, fit, note: file.note.clone(), name })
}

fn series_of(
    (at, curve): (usize, &Curve),
    file: &CurveFile,
    guarantee: Guarantee,
    beside: &Path,
    own_tests: OwnTests<'_>,
) -> Result<Option<Series>> {
    let wanted = |written: &WrittenGuarantee| Guarantee::from(*written) == guarantee;
    if file.guarantees.as_ref().is_some_and(|only| !only.iter().any(wanted)) {
        return Ok(None);
    }
    let mut tests: Vec<&'static dyn Test> = Vec::new();
    for name in &file.tests {
        let test = test(curve, name, own_tests)?;
        if test.info().guarantee == guarantee {
            tests.push(test);
        }
    }
    let own = match guarantee {
        Guarantee::Hard => &file.overheads_hard,
        Guarantee::Soft => &file.overheads_soft,
    };
    let overheads = costing(curve.scheduler, own.as_ref().or(file.overheads.as_ref()), file, beside)?;
    Ok(Some(Series { curve: at, guarantee, tests, overheads }))
}

fn test(curve: &Curve, name: &str, own_tests: OwnTests<'_>) -> Result<&'static dyn Test> {
    let Some(test) = named(name, own_tests) else {
        let known: Vec<&str> =
            catalogue::tests().iter().chain(own_tests).map(|test| test.info().name).collect();
        return Err(Diagnostic::usage(format!("test `{name}` is not known"))
            .hint(format!("choose from {}", known.join(", "))));
    };
    // A cell of one processor and one of several can have different priorities under G-FL: either is good.
    let priorities: [Priorities; 2] = [1, 2].map(|processors| curve.scheduler.priorities(processors));
    if priorities.contains(&test.info().priorities) {
        return Ok(test);
    }
    Err(Diagnostic::usage(format!("test `{name}` is not for the priorities of {}", curve.scheduler))
        .hint("choose a test for them, or leave `tests` out"))
}

fn costing(
    scheduler: Analysed,
    overheads: Option<&String>,
    file: &CurveFile,
    beside: &Path,
) -> Result<Option<Costing>> {
    let mut texts = Vec::new();
    let mut costs = Overheads::none();
    if let Some(name) = overheads {
        let (text, read) = read_overheads(&beside.join(name), name)?;
        texts.push(text);
        costs = read;
    }
    if let Some(name) = &file.cache_delays {
        let (text, read) =
            read_file(&beside.join(name), |text| Ok((text.to_owned(), CacheDelays::from_csv(text)?)))?;
        texts.push(text);
        costs = costs.with_cache(read.within(file.shared_cache));
    } else if file.shared_cache.is_some() {
        return Err(Diagnostic::usage("`shared_cache` is given without `cache_delays`")
            .hint("name the file of delays, or leave it out"));
    }
    if let Some(text) = &file.tick_period {
        let period: Duration = text.parse().map_err(|error: Diagnostic| error.context("tick_period"))?;
        if period.is_zero() {
            return Err(
                Diagnostic::usage("tick_period is 0").hint("give the time between ticks, such as \"1ms\"")
            );
        }
        costs = costs.with_tick_period(period.as_ns());
    }
    if file.displacements == Some(DisplacementsWord::Ignored) {
        costs = costs.with_displacements(Displacements::Ignored);
    }
    let quanta = matches!(scheduler, Analysed::Pfair(_));
    if texts.is_empty() && !quanta {
        return match &file.tick_period {
            None => Ok(None),
            Some(_) => Err(Diagnostic::usage("`tick_period` is given without `overheads`")
                .hint("name the file of overheads, or leave it out; only pfair has quanta without them")),
        };
    }
    Ok(Some(Costing { file: overheads.cloned().unwrap_or_default(), overheads: costs, texts, quanta }))
}

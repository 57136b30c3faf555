//! What a curve asks for and would not get: a line that is drawn must be what its file says.
//!
//! 1. Nothing is placed where all processors are one cell: neither `placement` nor `fit` means anything there.
//! 2. A curve with tests is judged by these and by nothing else, for each guarantee that it is drawn for.
//! 3. What is given for one guarantee is of a curve that is drawn for it.
//! 4. Displacements are of schedulers that push jobs, and cost something.

use super::curve::{OwnTests, named};
use super::{Curve, guarantee_name};
use crate::file::CurveFile;
use laxity_analysis::Guarantee;
use laxity_model::{Diagnostic, Result, Scope, Structure};

/// Refuses what contradicts itself. `study` has the study's guarantees.
pub(super) fn check(
    curve: &Curve,
    file: &CurveFile,
    study: &[Guarantee],
    clusters: bool,
    own_tests: OwnTests<'_>,
) -> Result<()> {
    check_places(curve, file, clusters)?;
    let own: Vec<Guarantee> = match &file.guarantees {
        None => study.to_vec(),
        Some(written) => written.iter().map(|&written| Guarantee::from(written)).collect(),
    };
    if let Some(more) = own.iter().find(|guarantee| !study.contains(guarantee)) {
        let name = guarantee_name(*more);
        return Err(Diagnostic::usage(format!(
            "it is for {name} guarantees, too, which the study does not ask for"
        ))
        .hint(format!("add \"{name}\" to the study's `guarantees`, or leave it out here")));
    }
    check_tests(file, &own, own_tests)?;
    check_displacements(curve, file)?;
    check_overheads(file, &own)
}

fn check_places(curve: &Curve, file: &CurveFile, clusters: bool) -> Result<()> {
    if file.placement.is_none() && file.fit.is_none() {
        return Ok(());
    }
    let scheduler = curve.scheduler;
    match scheduler.scope() {
        Scope::Global => Err(Diagnostic::usage(format!("{scheduler} is global: nothing is placed"))
            .hint("leave `placement` and `fit` out, or choose a partitioned or clustered scheduler")),
        Scope::Clustered if !clusters => Err(Diagnostic::usage(format!(
            "{scheduler} has all CPUs in one cluster: nothing is placed"
        ))
        .hint(
            "say how many CPUs a cluster has ([platform] and `cluster`), or leave `placement` and `fit` out",
        )),
        Scope::Clustered | Scope::Partitioned => Ok(()),
    }
}

fn check_tests(file: &CurveFile, own: &[Guarantee], own_tests: OwnTests<'_>) -> Result<()> {
    let tests: Vec<_> = file.tests.iter().filter_map(|name| named(name, own_tests)).collect();
    if let Some(test) = tests.iter().find(|test| !own.contains(&test.info().guarantee)) {
        let (name, proves) = (test.info().name, guarantee_name(test.info().guarantee));
        return Err(Diagnostic::usage(format!(
            "test `{name}` proves {proves} guarantees, for which the curve is not drawn"
        ))
        .hint(format!("leave it out, or let study and curve have \"{proves}\" among their `guarantees`")));
    }
    let without = |guarantee: &&Guarantee| tests.iter().all(|test| test.info().guarantee != **guarantee);
    match own.iter().find(without).filter(|_| !tests.is_empty()) {
        None => Ok(()),
        Some(&guarantee) => {
            let (name, other) = (guarantee_name(guarantee), guarantee_name(other(guarantee)));
            Err(Diagnostic::usage(format!(
                "none of its tests proves {name} guarantees, for which the curve is drawn, too"
            ))
            .hint(format!(
                "write `guarantees = [\"{other}\"]` in the curve, or add a test that proves them (`laxity list tests`)"
            )))
        }
    }
}

fn check_displacements(curve: &Curve, file: &CurveFile) -> Result<()> {
    let scheduler = curve.scheduler;
    let costly =
        [&file.overheads, &file.overheads_hard, &file.overheads_soft].iter().any(|given| given.is_some());
    match file.displacements {
        Some(_) if scheduler.structure() != Structure::Queues => {
            Err(Diagnostic::usage(format!("{scheduler} pushes no jobs: it has no `displacements`"))
                .hint("leave it out; it is for SCHED_DEADLINE, SCHED_FIFO and push-pull"))
        }
        Some(_) if !costly => Err(Diagnostic::usage("`displacements` is given without `overheads`")
            .hint("name the file of overheads, or leave it out")),
        _ => Ok(()),
    }
}

fn check_overheads(file: &CurveFile, own: &[Guarantee]) -> Result<()> {
    let given = [
        ("overheads_hard", &file.overheads_hard, Guarantee::Hard),
        ("overheads_soft", &file.overheads_soft, Guarantee::Soft),
    ];
    match given.iter().find(|(_, written, guarantee)| written.is_some() && !own.contains(guarantee)) {
        None => Ok(()),
        Some((key, _, guarantee)) => {
            let name = guarantee_name(*guarantee);
            Err(Diagnostic::usage(format!(
                "`{key}` is for {name} guarantees, for which the curve is not drawn"
            ))
            .hint(format!("leave it out, or let study and curve have \"{name}\" among their `guarantees`")))
        }
    }
}

fn other(guarantee: Guarantee) -> Guarantee {
    match guarantee {
        Guarantee::Hard => Guarantee::Soft,
        Guarantee::Soft => Guarantee::Hard,
    }
}

//! `laxity place`.

use super::read_set;
use crate::arguments::PlaceArguments;
use crate::{experiment, interrupt, output};
use laxity_model::{Result, TaskSet, Utilization};
use laxity_place::{Bin, Fit, Placement, Request};
use serde::Serialize;
use std::ops::ControlFlow;
use std::process::ExitCode;
use std::sync::atomic::Ordering::SeqCst;

#[derive(Serialize)]
struct Answer {
    version: u32,
    task_set: String,
    method: String,
    fit: String,
    max_load: f64,
    lower_bound: Option<f64>,
    gap: Option<f64>,
    optimal: Option<bool>,
    bins: Vec<BinAnswer>,
    overloaded: Vec<String>,
    notes: Vec<String>,
}

#[derive(Serialize)]
struct BinAnswer {
    cpus: String,
    capacity: f64,
    load: f64,
    tasks: Vec<String>,
}

pub fn place(arguments: &PlaceArguments) -> Result<ExitCode> {
    let set = read_set(&arguments.set)?;
    experiment::check_real_time(&set)?;
    let platform = arguments.platform.resolve()?;
    let bins = Bin::of_platform(&platform, arguments.onto)?;
    let (numerator, denominator) = arguments.limit;
    let request = Request::new(&set, bins)?
        .with_fit(arguments.fit.unwrap_or_else(|| Fit::default_for(&set)))?
        .with_capacity_limit(Utilization::ratio(numerator, denominator))?
        .with_overload(arguments.placement.overload)
        .with_ilp_time_limit(arguments.placement.ilp_time_limit);
    let interrupt = interrupt::flag()?;
    // Ctrl-C ends the search, not the program: the best placement found so far is the answer.
    let placement = request.place_watched(arguments.placement.placement, &mut |_| {
        if interrupt.load(SeqCst) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    let answer = answer(&set, &placement);
    if arguments.json {
        output::print_json(&answer)?
    } else {
        output::print(&table(&answer))?
    }
    Ok(ExitCode::SUCCESS)
}

fn answer(set: &TaskSet, placement: &Placement) -> Answer {
    let name = |&id: &usize| set.tasks()[id].name.clone();
    let bin = |bin: usize| BinAnswer {
        cpus: placement.bins[bin].cpus().to_string(),
        capacity: placement.bins[bin].capacity().to_f64(),
        load: placement.load(bin).to_f64(),
        tasks: placement.tasks_of(bin).iter().map(name).collect(),
    };
    let optimality = placement.optimality.as_ref();
    Answer {
        version: 1,
        task_set: set.name().to_owned(),
        method: placement.method.to_string(),
        fit: placement.fit.to_string(),
        max_load: placement.max_load().to_f64(),
        lower_bound: optimality.map(|o| o.lower_bound.to_f64()),
        gap: optimality.map(|o| o.gap),
        optimal: optimality.map(|o| o.optimal),
        bins: (0..placement.bins.len()).map(bin).collect(),
        overloaded: placement.overloaded.iter().map(name).collect(),
        notes: placement.notes.clone(),
    }
}

fn table(answer: &Answer) -> String {
    let mut table = comfy_table::Table::new();
    table.load_style(comfy_table::presets::UTF8_HORIZONTAL_ONLY);
    table.set_content_arrangement(comfy_table::ContentArrangement::Dynamic);
    table.set_header(["CPUs", "load", "capacity", "tasks"]);
    for bin in &answer.bins {
        table.add_row([
            bin.cpus.clone(),
            format!("{:.4}", bin.load),
            format!("{:.4}", bin.capacity),
            bin.tasks.join(" "),
        ]);
    }
    let mut text =
        format!("{table}\nmaximum load {:.4}, by {} ({})\n", answer.max_load, answer.method, answer.fit);
    for note in &answer.notes {
        text += &format!("note: {note}\n");
    }
    text
}

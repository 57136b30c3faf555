//! `laxity place`.

use super::read_set;
use crate::arguments::PlaceArguments;
use crate::{experiment, interrupt, output};
use laxity_model::{ByteSize, Result, Sharing, TaskSet, Utilization};
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
    /// Groups of several placed tasks; nothing if what they share is contradictory, which a note then says.
    groups: Option<Vec<GroupAnswer>>,
    overloaded: Vec<String>,
    notes: Vec<String>,
}

#[derive(Serialize)]
struct BinAnswer {
    cpus: String,
    capacity: f64,
    load: f64,
    /// What its tasks walk together: memory that they share counts once.
    working_set_bytes: Option<u64>,
    tasks: Vec<String>,
}

/// Tasks that share memory, and where they are.
#[derive(Serialize)]
struct GroupAnswer {
    name: String,
    tasks: Vec<String>,
    /// The cores or clusters that its tasks are on; one if they are together.
    cpus: Vec<String>,
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
    let sharing = Sharing::of(set);
    let known = sharing.as_ref().ok();
    let bin = |bin: usize| BinAnswer {
        cpus: placement.bins[bin].cpus().to_string(),
        capacity: placement.bins[bin].capacity().to_f64(),
        load: placement.load(bin).to_f64(),
        working_set_bytes: known.map(|sharing| sharing.footprint(placement.tasks_of(bin))),
        tasks: placement.tasks_of(bin).iter().map(name).collect(),
    };
    let optimality = placement.optimality.as_ref();
    let mut notes = placement.notes.clone();
    notes.extend(sharing.as_ref().err().map(|error| format!("shared memory: {}", error.message)));
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
        groups: known.map(|sharing| groups(set, placement, sharing)),
        overloaded: placement.overloaded.iter().map(name).collect(),
        notes,
    }
}

fn groups(set: &TaskSet, placement: &Placement, sharing: &Sharing) -> Vec<GroupAnswer> {
    let mut groups = Vec::new();
    for group in sharing.groups() {
        let placed = |task: &usize| placement.assignment[*task].is_some();
        let members: Vec<usize> = group.members.iter().copied().filter(placed).collect();
        if members.len() > 1 {
            let cpus =
                placement.bins_of(&members).into_iter().map(|bin| placement.bins[bin].cpus().to_string());
            groups.push(GroupAnswer {
                name: group.name.clone(),
                tasks: members.iter().map(|&id| set.tasks()[id].name.clone()).collect(),
                cpus: cpus.collect(),
            });
        }
    }
    groups
}

/// Memory is shown where there is some; KiB, rounded up.
fn table(answer: &Answer) -> String {
    let memory = answer.bins.iter().any(|bin| bin.working_set_bytes.is_some_and(|bytes| bytes > 0));
    let mut table = comfy_table::Table::new();
    table.load_style(comfy_table::presets::UTF8_HORIZONTAL_ONLY);
    table.set_content_arrangement(comfy_table::ContentArrangement::Dynamic);
    let mut header = vec!["CPUs", "load", "capacity", "tasks"];
    if memory {
        header.insert(3, "working sets");
    }
    table.set_header(header);
    for bin in &answer.bins {
        let mut row = vec![
            bin.cpus.clone(),
            format!("{:.4}", bin.load),
            format!("{:.4}", bin.capacity),
            bin.tasks.join(" "),
        ];
        if memory {
            let kib = bin.working_set_bytes.unwrap_or_default().div_ceil(1 << 10) << 10;
            row.insert(3, ByteSize(kib).to_string());
        }
        table.add_row(row);
    }
    let mut text =
        format!("{table}\nmaximum load {:.4}, by {} ({})\n", answer.max_load, answer.method, answer.fit);
    for group in answer.groups.iter().flatten().filter(|group| group.cpus.len() > 1) {
        let cpus = group.cpus.join("; ");
        text += &format!("group {} is split over CPUs {cpus}\n", group.name);
    }
    for note in &answer.notes {
        text += &format!("note: {note}\n");
    }
    text
}

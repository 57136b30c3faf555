//! `laxity place`.

use crate::arguments::PlaceArguments;
use crate::{interrupt, output};
use laxity_lab::analysis::written::in_places;
use laxity_lab::case::{CaseSettings, PlacementSettings};
use laxity_lab::charges::Charges;
use laxity_lab::place::{self, Answer, Settings};
use laxity_lab::placing::BelowServers;
use laxity_model::{ByteSize, Diagnostic, Duration, Result, Utilization, cpus_named};
use laxity_place::Fitting;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;

/// What there is before there is a placement.
const NOTHING: &str = "nothing was placed";

pub fn place(arguments: &PlaceArguments) -> Result<ExitCode> {
    let interrupt = interrupt::flag()?;
    let set = arguments.import.read_set(&arguments.set)?;
    laxity_lab::check_interrupt(interrupt, NOTHING)?;
    let settings = settings(arguments, interrupt)?;
    let (answer, interrupted) = place::place(&set, &settings)?;
    arguments.written.answer(arguments.json, &answer, || table(&answer))?;
    let places = answer.bins.iter().map(|bin| (bin.cpus.as_str(), &bin.tasks[..]));
    arguments.written.write(|| in_places(&set, places))?;
    if interrupted {
        return Ok(output::interrupted(": this is the best placement that was found until then"));
    }
    if interrupt.load(SeqCst) {
        return Ok(output::interrupted(": the placement was complete"));
    }
    Ok(ExitCode::SUCCESS)
}

fn settings(arguments: &PlaceArguments, interrupt: &'static AtomicBool) -> Result<Settings> {
    let machine = arguments.platform.choice();
    let platform = machine.resolve_simulated()?;
    arguments.written.check(arguments.json)?;
    arguments.placement.only_choice("place")?;
    if arguments.scheduler.is_none() && arguments.placement.fit == Some(Fitting::Test) {
        return Err(Diagnostic::usage("--fit test: the test of which scheduler?")
            .hint("name it, such as --scheduler p-rm; or place by load: --fit load"));
    }
    let (numerator, denominator) = arguments.limit;
    let charges = Charges::default().beside_kernel(machine.kernel_of(&platform, false));
    let placement = PlacementSettings {
        below: arguments.below.below(),
        limit: Some(Utilization::ratio(numerator, denominator)),
        ..arguments.placement.settings(platform, BelowServers::default())?
    };
    Ok(Settings {
        scheduler: arguments.scheduler.clone(),
        onto: arguments.onto,
        of_case: CaseSettings { charges, ..CaseSettings::placed(placement) },
        interrupt,
    })
}

/// The largest bound of a CPU's tasks.
fn at_most(bounds: &[u64]) -> String {
    bounds.iter().max().map_or_else(String::new, |&bound| Duration::from_ns(bound).to_string())
}

/// Memory is shown where there is some; KiB, rounded up.
fn table(answer: &Answer) -> String {
    let memory = answer.bins.iter().any(|bin| bin.working_set_bytes > 0);
    let mut table = crate::tables::table(output::columns());
    let mut header = vec!["CPUs", "load", "capacity", "tasks"];
    if memory {
        header.insert(3, "working sets");
    }
    let servers = answer.bins.iter().any(|bin| bin.below.is_some());
    if servers {
        header.extend(["server", "late by at most", "responds within"]);
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
            let kib = bin.working_set_bytes.div_ceil(1 << 10) << 10;
            row.insert(3, ByteSize(kib).to_string());
        }
        if let Some(below) = &bin.below {
            let bounds = [&below.tardiness_ns, &below.response_times_ns];
            row.push(below.server.clone());
            row.extend(bounds.map(|bounds| at_most(bounds.as_deref().unwrap_or_default())));
        }
        table.add_row(row);
    }
    let mut text = format!(
        "{}maximum load {:.4}, by {} ({}{}){}\n",
        crate::tables::fitted(table),
        answer.max_load,
        answer.method,
        answer.fit.replace("-test", " test"),
        answer.scheduler.as_ref().map_or(String::new(), |name| format!(", for {name}")),
        distance(answer)
    );
    for group in answer.groups.iter().filter(|group| group.cpus.len() > 1) {
        let cpus = group.cpus.join("; ");
        text += &format!("group {} is split over {}\n", group.name, cpus_named(cpus));
    }
    for note in answer.notes.iter().filter(|note| output::shows(note)) {
        text += &format!("note: {note}\n");
    }
    text
}

/// How far a placement can be from the best one, where that is known.
fn distance(answer: &Answer) -> String {
    match (answer.optimal, answer.gap) {
        (Some(true), _) => ": no placement has a smaller one".into(),
        (_, Some(gap)) => format!(": at most {:.3} % above the smallest possible", gap * 100.0),
        _ => String::new(),
    }
}

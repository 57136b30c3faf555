//! `laxity place`.

use super::read_set;
use crate::arguments::PlaceArguments;
use crate::{interrupt, output};
use laxity_analysis::Bounds;
use laxity_lab::analysis::written::in_places;
use laxity_lab::case::{self, PlacementSettings};
use laxity_lab::charges::Charges;
use laxity_lab::places::Wanted;
use laxity_lab::placing::{BelowServers, SLOWEST_FIT, Served, named_load};
use laxity_lab::schedulers::{Configuration, Scheduled as _};
use laxity_model::{
    ByteSize, Diagnostic, Duration, Platform, Result, Scope, Sharing, TaskSet, Utilization, cpus_named,
    scheduler_of,
};
use laxity_place::{Bin, Fit, Fitting, Placement, Request};
use schemars::JsonSchema;
use serde::Serialize;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;

/// Version of the format.
const VERSION: u32 = 1;

/// The answer of `laxity place`.
#[derive(Serialize, JsonSchema)]
struct Answer {
    /// Version of this format.
    version: u32,
    /// Name of the set.
    task_set: String,
    /// The scheduler that they are placed for; null where loads decide.
    scheduler: Option<String>,
    /// How they were placed.
    method: String,
    /// What had to hold of the tasks of a bin: a limit on a load, or a test.
    fit: String,
    /// The largest load of a bin, relative to its capacity.
    max_load: f64,
    /// No placement has a smaller `max_load`; of an ILP.
    lower_bound: Option<f64>,
    /// By what share of `max_load` it can be larger than the least, 0 to 1; of an ILP.
    gap: Option<f64>,
    /// Whether no placement has a smaller `max_load`; of an ILP.
    optimal: Option<bool>,
    /// The CPUs or clusters.
    bins: Vec<BinAnswer>,
    /// Groups of several placed tasks.
    groups: Vec<GroupAnswer>,
    /// Names of the tasks that did not fit, where they were placed nevertheless.
    overloaded: Vec<String>,
    /// What a reader should know.
    notes: Vec<String>,
}

/// A CPU or a cluster, and its tasks.
#[derive(Serialize, JsonSchema)]
struct BinAnswer {
    /// Its CPUs.
    cpus: String,
    /// What it can take, in CPUs of speed 1.
    capacity: f64,
    /// What its tasks take, in the same unit.
    load: f64,
    /// What its tasks walk together: memory that they share counts once.
    working_set_bytes: u64,
    /// Names of its tasks.
    tasks: Vec<String>,
    /// What goes before them, where tasks are placed below servers.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    below: Option<BelowAnswer>,
}

/// A CPU's server, and what is proven of the tasks below it, in their order; one of the two, if they fit.
#[derive(Serialize, JsonSchema)]
struct BelowAnswer {
    /// Budget and period on this CPU.
    server: String,
    /// Bounds on response times in ns.
    response_times_ns: Option<Vec<u64>>,
    /// Bounds on tardiness in ns.
    tardiness_ns: Option<Vec<u64>>,
}

/// Tasks that share memory, and where they are.
#[derive(Serialize, JsonSchema)]
struct GroupAnswer {
    /// Of the memory that they share.
    name: String,
    /// Names of the tasks.
    tasks: Vec<String>,
    /// The CPUs or clusters that its tasks are on; one if they are together.
    cpus: Vec<String>,
}

/// The JSON Schema of [`Answer`]; published as `schemas/placement.schema.json`.
pub fn schema() -> serde_json::Value {
    laxity_model::written_schema::<Answer>("placement", "laxity placement", VERSION)
}

/// What there is before there is a placement.
const NOTHING: &str = "nothing was placed";

pub fn place(arguments: &PlaceArguments) -> Result<ExitCode> {
    let interrupt = interrupt::flag()?;
    let set = read_set(&arguments.set, arguments.import)?;
    laxity_lab::check_interrupt(interrupt, NOTHING)?;
    case::check_real_time(&set)?;
    let platform = arguments.platform.resolve_simulated()?;
    platform.check_affinities(&set)?;
    arguments.written.check(arguments.json)?;
    let scope = scope(arguments)?;
    let by_test = arguments.scheduler.as_ref().filter(|one| !one.has_servers());
    let answer = match by_test {
        Some(scheduler) => for_scheduler(arguments, scheduler, (&set, &platform), interrupt)?,
        None => by_load_or_servers(arguments, scope, (&set, &platform), interrupt)?,
    };
    let (mut answer, interrupted) = answer;
    let (numerator, denominator) = arguments.limit;
    if numerator != denominator {
        let share = Utilization::ratio(numerator, denominator);
        answer
            .notes
            .push(format!("each CPU is filled up to {share:.4} of its capacity at the most (--limit)"));
    }
    if arguments.json {
        output::print_json(&answer)?
    } else if !arguments.written.to_standard_output() {
        output::print(&table(&answer))?
    }
    let places = answer.bins.iter().map(|bin| (bin.cpus.as_str(), &bin.tasks[..]));
    arguments.written.write(|| in_places(&set, places))?;
    if interrupted {
        output::say("interrupted: this is the best placement that was found until then");
        return Ok(ExitCode::from(output::INTERRUPTED));
    }
    if interrupt.load(SeqCst) {
        output::say("interrupted: the placement was complete");
        return Ok(ExitCode::from(output::INTERRUPTED));
    }
    Ok(ExitCode::SUCCESS)
}

/// What tasks are placed onto.
fn scope(arguments: &PlaceArguments) -> Result<Scope> {
    let Some(scheduler) = &arguments.scheduler else {
        return match arguments.placement.fit {
            Some(Fitting::Test) => Err(Diagnostic::usage("--fit test: the test of which scheduler?")
                .hint("name it, such as --scheduler p-rm; or place by load: --fit load")),
            _ => Ok(arguments.onto.unwrap_or(Scope::Partitioned)),
        };
    };
    let scope = scheduler.scope();
    match arguments.onto {
        _ if scope == Scope::Global => {
            Err(Diagnostic::usage(format!("--scheduler {scheduler}: it is global: nothing is placed"))
                .hint("name a partitioned or clustered one, such as p-rm or c-edf"))
        }
        Some(onto) if onto != scope => Err(Diagnostic::usage(format!(
            "--onto {}: under {scheduler} tasks go onto {}",
            bins(onto),
            bins(scope)
        ))
        .hint("leave out --onto")),
        _ => Ok(scope),
    }
}

fn bins(scope: Scope) -> &'static str {
    match scope {
        Scope::Partitioned => "CPUs",
        Scope::Clustered => "clusters",
        Scope::Global => "the machine",
    }
}

/// Where `run`, `simulate` and `analyze` put them, up to the kernel's own admission.
fn for_scheduler(
    arguments: &PlaceArguments,
    scheduler: &Configuration,
    (set, platform): (&TaskSet, &Platform),
    interrupt: &'static AtomicBool,
) -> Result<(Answer, bool)> {
    if arguments.below.below().any() {
        return Err(Diagnostic::usage(format!(
            "{}: {scheduler} has no deferrable servers",
            arguments.below.below().words()
        ))
        .hint("they are amp-rm's: --scheduler amp-rm"));
    }
    arguments.placement.only_choice("place")?;
    let (numerator, denominator) = arguments.limit;
    let free = Charges::default().beside_kernel(arguments.platform.kernel_of(platform, false));
    let settings = PlacementSettings {
        limit: Some(Utilization::ratio(numerator, denominator)),
        ..arguments.placement.settings(platform.clone(), BelowServers::default())?
    };
    let finder = settings.finder(scheduler, &free, interrupt);
    let wanted = Wanted::of(set, scheduler, scheduler_of(&scheduler.name).0);
    let placed = finder.find(wanted, finder.by_load(set, wanted.scope, wanted.dedicated))?;
    let placement = placed.placement.as_ref().expect("tasks of cells are placed");
    let own = answer(set, placement, &Sharing::of(set)?, None);
    let fit = placed.fit.map_or(own.fit, |fit| fit.name().to_owned());
    let scheduler = Some(wanted.name.to_owned());
    let record = &placed.record;
    let (method, notes) = (record.method.clone(), record.notes.clone());
    Ok((Answer { scheduler, method, fit, notes, ..own }, placement.interrupted))
}

fn by_load_or_servers(
    arguments: &PlaceArguments,
    scope: Scope,
    (set, platform): (&TaskSet, &Platform),
    interrupt: &AtomicBool,
) -> Result<(Answer, bool)> {
    let bins = Bin::of_platform(platform, scope)?;
    let (numerator, denominator) = arguments.limit;
    let below = arguments.below.below();
    let (choice, fit) = (arguments.placement.only_choice("place")?, named_load(arguments.placement.fit()));
    let method = match choice.named() {
        None if below.any() || arguments.scheduler.is_some() => SLOWEST_FIT,
        _ => choice.method_by(arguments.placement.fit()),
    };
    let served = Served::of((method, fit, &below), set, platform, &bins)?;
    let request = Request::new(set, bins)?
        .with_fit(fit.unwrap_or_else(|| Fit::default_for(set)))?
        .with_capacity_limit(Utilization::ratio(numerator, denominator))?
        .with_overload(arguments.placement.overload)
        .with_ilp_time_limit(arguments.placement.ilp_time_limit)
        .with_interrupt(interrupt);
    let request = match &served {
        Some(served) => request.with_acceptance(served),
        None => request,
    };
    let placement = request.place(method)?;
    let scheduler = arguments.scheduler.as_ref().map(|one| scheduler_of(&one.name).0.to_owned());
    let answer = answer(set, &placement, &Sharing::of(set)?, served.as_ref());
    Ok((Answer { scheduler, ..answer }, placement.interrupted))
}

fn answer(set: &TaskSet, placement: &Placement, sharing: &Sharing, served: Option<&Served>) -> Answer {
    let name = |&id: &usize| set.tasks()[id].name.clone();
    let bin = |(bin, tasks): (usize, Vec<usize>)| BinAnswer {
        cpus: placement.bins[bin].cpus().to_string(),
        capacity: placement.bins[bin].capacity().to_f64(),
        load: placement.loads[bin].nearest_f64(),
        working_set_bytes: sharing.footprint(tasks.iter().copied()),
        tasks: tasks.iter().map(name).collect(),
        below: served.map(|served| below(served, bin, &tasks)),
    };
    let optimality = placement.optimality.as_ref();
    Answer {
        version: VERSION,
        task_set: set.name().to_owned(),
        scheduler: None,
        method: placement.method.to_string(),
        fit: served.map_or_else(|| placement.fit.to_string(), |served| served.test().to_owned()),
        max_load: placement.max_load().to_f64(),
        lower_bound: optimality.map(|o| o.lower_bound.to_f64()),
        gap: optimality.map(|o| o.gap),
        optimal: optimality.map(|o| o.optimal),
        bins: placement.tasks_by_bin().into_iter().enumerate().map(bin).collect(),
        groups: groups(set, placement, sharing),
        overloaded: placement.overloaded.iter().map(name).collect(),
        notes: placement.notes.clone(),
    }
}

fn below(served: &Served, bin: usize, tasks: &[usize]) -> BelowAnswer {
    let server = served.server(bin).to_string();
    let (response_times_ns, tardiness_ns) = match served.bounds(bin, tasks) {
        Some(Bounds::ResponseTimes(bounds)) => (Some(bounds), None),
        Some(Bounds::Tardiness(bounds)) => (None, Some(bounds)),
        Some(Bounds::None) | None => (None, None),
    };
    BelowAnswer { server, response_times_ns, tardiness_ns }
}

/// The largest bound of a CPU's tasks.
fn at_most(bounds: &[u64]) -> String {
    bounds.iter().max().map_or_else(String::new, |&bound| Duration::from_ns(bound).to_string())
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
    // How the integer program came to its placement is evidence; what it came to is said above.
    let shown = |note: &&String| output::verbose() || !note.starts_with("ilp: ");
    for note in answer.notes.iter().filter(shown) {
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

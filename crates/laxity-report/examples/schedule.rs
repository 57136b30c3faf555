//! Writes a schedule in every form, to look at: `schedule DIRECTORY [SECONDS] [overload]`.

#[path = "../../laxity-trace/tests/schedule/mod.rs"]
mod schedule;

use laxity_model::{Existing, Result};
use laxity_report::timeline::gantt::{GanttOptions, draw};
use laxity_report::timeline::html::{HtmlOptions, page};
use laxity_report::timeline::text::{TextOptions, lines};
use laxity_report::timeline::{FirstMiss, default_window, perfetto};
use laxity_trace::{EVENTS_DIRECTORY, Event, EventsFile};
use schedule::{Imperfections, MS, global_edf, set_of};
use std::fs;
use std::path::PathBuf;

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let directory = PathBuf::from(arguments.next().unwrap_or_else(|| "schedule".to_owned()));
    let seconds: u64 = arguments.next().map_or(1, |seconds| seconds.parse().expect("a number of seconds"));
    // All jobs take their WCET: U = 2.08 on two CPUs.
    let overload = arguments.next().is_some();
    fs::create_dir_all(directory.join(EVENTS_DIRECTORY)).expect("creates the directory");
    let rows = [(4, 10), (9, 15), (7, 20), (12, 30), (9, 40)].map(|(wcet, period)| (wcet * MS, period * MS));
    let set = set_of(&rows);
    let imperfections = Imperfections { seed: (!overload).then_some(4), switch_ns: 100_000 };
    let trace = global_edf(&set, 2, seconds * 1000 * MS, imperfections);
    let events = || trace.iter().copied().map(Ok::<Event, laxity_model::Diagnostic>);
    let mut file = EventsFile::create(directory.join(EVENTS_DIRECTORY).join("run-0.parquet"), 0)?;
    trace.iter().try_for_each(|event| file.write(event))?;
    file.finish()?;
    let window = default_window(&set, FirstMiss::find(events())?);
    for (unicode, tasks) in [(false, false), (true, true)] {
        let options =
            GanttOptions { window, known_until_ns: 0, cpus: 2, width: 110, tasks, unicode, color: unicode };
        println!("{}", draw(&set, events(), &options)?);
    }
    let text: Result<Vec<String>> = lines(&set, events(), TextOptions::default()).collect();
    fs::write(directory.join("schedule.txt"), text?.join("\n") + "\n").expect("writes");
    let options = HtmlOptions::new("g-edf", "g-edf on 2 CPUs");
    fs::write(directory.join("schedule.html"), page(&set, 2, events(), &options)?).expect("writes");
    let perfetto_file = directory.join("schedule.perfetto-trace");
    perfetto::write_file(&set, 2, events(), &perfetto_file, Existing::Replace)?;
    println!("{} events; {}", trace.len(), directory.display());
    Ok(())
}

//! Records until a file appears: `record OUT STOP_FILE CLASS TASKS`. For tries in a virtual machine.

use laxity_model::OutputDirectory;
use laxity_overheads::{Class, Options, Recorder, Row, SamplesFile, Selection, Which, overheads_csv, record};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

fn main() -> Result<(), String> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [out, stop_file, class, tasks] = &arguments[..] else {
        return Err("usage: record OUT STOP_FILE CLASS TASKS".to_owned());
    };
    let class = Class::named(class).ok_or_else(|| format!("no class {class}"))?;
    let tasks = tasks.parse().map_err(|_| format!("{tasks} is not a number"))?;
    let (out, stop_file) = (PathBuf::from(out), PathBuf::from(stop_file));
    let directory = OutputDirectory::create(&out).map_err(|diagnostic| diagnostic.to_string())?;
    let samples = SamplesFile { directory, name: "samples.parquet".to_owned() };
    let options = Options { samples: Some(samples), ..Options::default() };
    let selection = Selection { all_threads: false, functions: true, run_times: true };
    let mut recorder = Recorder::attach(selection).map_err(|diagnostic| diagnostic.to_string())?;
    static STOP: AtomicBool = AtomicBool::new(false);
    let wait = move || {
        println!("recording");
        thread::spawn(move || {
            while !stop_file.exists() {
                thread::sleep(Duration::from_millis(50));
            }
            STOP.store(true, Ordering::Release);
        });
    };
    let recorded =
        record(&options, &mut recorder, &STOP, wait, |_| ()).map_err(|diagnostic| diagnostic.to_string())?;
    println!("{}", serde_json::to_string_pretty(&recorded.summary).expect("serializes"));
    let row = Row::of(tasks, &recorded.groups, class);
    print!("{}", overheads_csv(&[row], Which::Max, |kind| recorded.summary.absent(kind)));
    Ok(())
}

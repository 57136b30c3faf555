//! When every job of a task set ends, for comparison with other simulators (`tests/peers`): the set periodic as its file
//! says, all demands the WCETs, no costs.
//!
//! ```text
//! peer_jobs (SCHEDULER CORES DURATION_NS GRACE_NS FILE)...
//! ```
//!
//! Prints a JSON array with an object per simulation: for each task, the release, deadline and finish of every job in ns
//! (no finish: it had not ended by DURATION + GRACE).

use laxity_model::{Duration, Platform, read_task_set};
use laxity_sim::{Setup, global_cell, simulate};
use laxity_trace::Job;
use serde_json::{Value, json};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.is_empty() || !words.len().is_multiple_of(5) {
        eprintln!("usage: peer_jobs (SCHEDULER CORES DURATION_NS GRACE_NS FILE)...");
        return ExitCode::from(2);
    }
    let mut answers = Vec::new();
    for words in words.chunks(5) {
        match jobs(words) {
            Ok(answer) => answers.push(answer),
            Err(words) => {
                eprintln!("error: {words}");
                return ExitCode::from(2);
            }
        }
    }
    println!("{}", Value::from(answers));
    ExitCode::SUCCESS
}

fn jobs(words: &[String]) -> Result<Value, String> {
    let [scheduler, cores, duration, grace, file] = words else { unreachable!("chunks of five") };
    let number = |word: &String| word.parse::<u64>().map_err(|error| format!("`{word}`: {error}"));
    let cores = cores.parse().map_err(|error| format!("`{cores}`: {error}"))?;
    let words_of = |error: laxity_model::Diagnostic| error.to_string();
    let set = read_task_set(Path::new(file)).map_err(words_of)?.set;
    let platform = Platform::symmetric(cores).map_err(words_of)?;
    let policy = scheduler.parse().map_err(words_of)?;
    let cells = vec![global_cell(&set, &platform)];
    let setup = Setup {
        duration: Duration::from_ns(number(duration)?),
        grace: Duration::from_ns(number(grace)?),
        ..Setup::new(&set, &platform, policy, cells)
    };
    let mut jobs: Vec<Job> = Vec::new();
    simulate(&setup, &mut jobs, &AtomicBool::new(false)).map_err(words_of)?;
    let mut tasks: Vec<Vec<Value>> = vec![Vec::new(); set.tasks().len()];
    for job in &jobs {
        tasks[job.task as usize].push(json!([job.release_ns, job.deadline_ns, job.finish_ns]));
    }
    Ok(json!({ "scheduler": scheduler, "cores": cores, "set": set.name(), "tasks": tasks }))
}

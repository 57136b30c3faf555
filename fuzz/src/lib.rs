//! The properties that hold for any text: a reader does not panic, a refusal says what to do about it, and
//! whatever is accepted survives being written and read again.

use laxity_deploy::{DeployPlan, Observed, differences};
use laxity_model::{Platform, Result, TaskSet};
use laxity_sim::costs::{COST_MAX, Costs};
use laxity_study::{Judging, Study};
use laxity_trace::{Event, EventsReader, EventsWriter};
use rand::SeedableRng;
use rand_pcg::Pcg64;
use std::fmt::{Debug, Display};
use std::path::Path;
use std::str::FromStr;

/// Checks a refusal or hands on what was accepted.
pub fn accepted<T>(result: Result<T>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(error) => {
            assert!(!error.message.is_empty() && error.hint.is_some(), "a bare error: {error}");
            None
        }
    }
}

/// A task set that was accepted survives TOML, JSON and (by count) CSV.
pub fn set_survives(set: &TaskSet) {
    assert_eq!(TaskSet::from_toml(&set.to_toml(), "x").as_ref(), Ok(set));
    assert_eq!(TaskSet::from_json(&set.to_json(), "x").as_ref(), Ok(set));
    let csv = TaskSet::from_csv(&set.to_csv().text, set.name());
    assert_eq!(csv.map(|read| read.set.tasks().len()), Ok(set.tasks().len()));
}

/// A platform that was accepted survives TOML and JSON.
pub fn platform_survives(platform: &Platform) {
    assert_eq!(Platform::from_toml(&platform.to_toml(), "x").as_ref(), Ok(platform));
    assert_eq!(Platform::from_json(&platform.to_json(), "x").as_ref(), Ok(platform));
}

/// A value that was accepted survives being shown.
pub fn value_survives<T>(text: &str)
where
    T: FromStr<Err = laxity_model::Diagnostic> + Display + Debug + PartialEq,
{
    if let Some(value) = accepted(text.parse::<T>()) {
        assert_eq!(value.to_string().parse::<T>().as_ref(), Ok(&value));
    }
}

/// Costs that were accepted can be drawn from, say what migrations cost, and survive TOML.
pub fn costs_survive(costs: &Costs) {
    let mut rng = Pcg64::seed_from_u64(1);
    let all =
        [&costs.release, &costs.scheduling, &costs.context_switch, &costs.ipi, &costs.tick, &costs.step];
    for cost in all {
        for tasks in [0, 1, 7, 1000, u32::MAX] {
            assert!(cost.prepare(tasks).draw(&mut rng) <= COST_MAX.as_ns(), "{cost:?} at {tasks} tasks");
        }
    }
    let platform = Platform::from_toml("version = 1\ncores = 2", "x").expect("a platform");
    let _ = costs.cache_delay(&platform);
    assert_eq!(Costs::from_toml(&costs.to_toml(), Path::new("")).as_ref(), Ok(costs));
}

/// A study that was accepted has points, metrics, and a line for each of its series.
pub fn study_survives(study: &Study) {
    let (first, axis) = (study.next_values(|_| None), &study.outline.axis);
    assert!(!first.is_empty() && first.iter().all(|&value| axis.is_on_grid(value)), "{first:?}");
    let words = match &study.judging {
        Judging::Proofs(proofs) => proofs.series_in_words(axis),
        Judging::Simulations(simulations) => simulations.curves_in_words(),
    };
    assert_eq!(words.len(), study.series());
    assert!(!study.metrics().is_empty() && study.description().is_object());
}

/// A plan of what to set that was accepted survives JSON, has its table, and compares with a machine.
pub fn plan_survives(plan: &DeployPlan) {
    assert_eq!(DeployPlan::from_json(&plan.to_json()).as_ref(), Ok(plan));
    assert_eq!(plan.rows().len(), plan.threads.len());
    let found = Observed {
        policy: 1,
        flags: 0,
        nice: 0,
        priority: 1,
        runtime_ns: 0,
        deadline_ns: 0,
        period_ns: 0,
        cpus: plan.machine_cpus.clone(),
        cpuset: None,
    };
    for thread in &plan.threads {
        let _ = (differences(plan, thread, &found), plan.cgroup_of(thread));
    }
    let _ = (plan.linger(), plan.other_cpus());
}

/// Events that were accepted survive being written and read again.
pub fn events_survive(events: &[Event], run: u32) {
    let mut writer = EventsWriter::new(Vec::new(), run).expect("starts");
    events.iter().for_each(|event| writer.write(event).expect("was read, so it fits"));
    let bytes = writer.finish().expect("finishes");
    let reader = EventsReader::new(bytes::Bytes::from(bytes), "events").expect("opens");
    let read: Result<Vec<Event>> = reader.events().collect();
    assert_eq!(read.as_deref(), Ok(events));
}

/// The Parquet library panics on some damaged files, which the readers catch: the fuzzer must not end with it. Other
/// panics are shown, and end it unless they are caught.
pub fn let_readers_panic() {
    std::panic::set_hook(Box::new(|panic| {
        if !panic.location().is_some_and(|place| place.file().contains("/parquet-")) {
            eprintln!("{panic}");
        }
    }));
}

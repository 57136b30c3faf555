//! `laxity settings --soft`: budgets for tasks that may miss deadlines, from a given and from a measured demand.

mod calls;
mod host;
mod patience;

use calls::{json, text};
use host::{laxity, words};
use patience::patiently;
use serde_json::Value;
use std::fs;
use std::process::Output;

const SET: &str = r#"
version = 1
[[tasks]]
name = "camera"
wcet = "20ms"
period = "40ms"
demand = "normal:0.5,0.1"
[[tasks]]
name = "control"
wcet = "2ms"
deadline = "5ms"
period = "10ms"
[[tasks]]
name = "lidar"
wcet = "40ms"
period = "100ms"
demand = "bimodal:0.25,1,0.02"
"#;

struct Desk(tempfile::TempDir);

impl Desk {
    fn new() -> Self {
        let desk = Desk(tempfile::tempdir().expect("directory"));
        desk.write("set.toml", SET);
        desk
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.0.path().join(name), text).expect("write");
    }

    fn call(&self, call: &[&str]) -> Output {
        patiently(|| {
            let mut program = laxity();
            program.current_dir(self.0.path()).args(["settings", "set.toml", "--json"]).args(call);
            program
        })
    }

    fn answer(&self, call: &[&str]) -> Value {
        let ended = self.call(call);
        assert!(ended.status.code().is_some_and(|code| code <= 1), "{call:?}\n{}", words(&ended));
        json(&text(&ended.stdout))
    }

    fn refusal(&self, call: &[&str]) -> String {
        let ended = self.call(call);
        assert_eq!(ended.status.code(), Some(2), "{call:?}\n{}", words(&ended));
        text(&ended.stderr).to_owned()
    }
}

fn task<'a>(answer: &'a Value, name: &str) -> &'a Value {
    let tasks = answer["settings"]["tasks"].as_array().unwrap_or_else(|| panic!("{answer:#}"));
    tasks.iter().find(|task| task["task"] == name).expect("the task")
}

fn runtime_ms(answer: &Value, name: &str) -> f64 {
    task(answer, name)["runtime_ns"].as_f64().expect("a budget") / 1e6
}

#[test]
fn a_soft_task_takes_less_and_a_hard_one_is_proven_beside_it() {
    let desk = Desk::new();
    let call = ["--cpus", "2", "--scheduler", "p-edf"];
    let hard = desk.answer(&call);
    assert_eq!(runtime_ms(&hard, "camera"), 20.0);
    let soft = desk.answer(&[&call[..], &["--soft", "camera=1%", "--soft", "lidar=0.05"]].concat());
    // One job in 100 needs more than 10 ms + 2.33 * 2 ms; with a budget of that, little is left over.
    let camera = runtime_ms(&soft, "camera");
    assert!((14.65..14.9).contains(&camera), "{camera}");
    // Jobs of 40 ms are 2 %, and each takes the time of some after it.
    let lidar = runtime_ms(&soft, "lidar");
    assert!((10.0..40.0).contains(&lidar), "{lidar}");
    for (name, tolerated) in [("camera", 0.01), ("lidar", 0.05)] {
        let task = task(&soft, name);
        let miss = task["miss_probability"].as_f64().expect("a probability");
        assert!(miss > tolerated / 4.0 && miss <= tolerated, "{task:#}");
        assert!(task["response_ns"].is_null(), "{task:#}");
    }
    let control = task(&soft, "control");
    assert_eq!((&control["miss_probability"], &control["response_ns"]), (&0.0.into(), &2_000_001.into()));
    assert!(soft["settings"]["assumptions"].to_string().contains("independent"), "{soft:#}");
    let all = desk.answer(&[&call[..], &["--soft", "0.05", "--soft", "camera=1%"]].concat());
    assert_eq!(all["settings"]["tasks"], soft["settings"]["tasks"], "the jobs of `control` are all alike");
}

#[test]
fn where_no_job_may_be_late_the_hard_settings_are_kept() {
    let desk = Desk::new();
    let call = ["--cpus", "2", "--scheduler", "p-edf"];
    let [hard, seldom] =
        [&[][..], &["--soft", "lidar=1e-12"]].map(|soft| desk.answer(&[&call, soft].concat()));
    assert_eq!(task(&hard, "lidar")["runtime_ns"], task(&seldom, "lidar")["runtime_ns"]);
    assert_eq!(task(&seldom, "lidar")["miss_probability"], 0.0);
}

#[test]
fn measured_times_are_taken_with_confidence() {
    let desk = Desk::new();
    // 2 to 11 ms, each as often, of so many jobs.
    let times = |jobs: u64| -> String {
        let line = |job| format!("camera,{}ms\n", 2 + job % 10);
        ["task,cpu_time\n".to_owned()].into_iter().chain((0..jobs).map(line)).collect()
    };
    let call = ["--cpus", "2", "--scheduler", "p-edf", "--soft", "camera=0.13", "--measured", "times.csv"];
    let mut budgets = Vec::new();
    for jobs in [40, 1_000, 20_000] {
        desk.write("times.csv", &times(jobs));
        let answer = desk.answer(&call);
        let notes = answer["settings"]["notes"].to_string();
        assert_eq!(notes.contains("40 measured jobs"), jobs == 40, "{notes}");
        budgets.push(runtime_ms(&answer, "camera"));
    }
    // With few jobs the WCET, with more the longest of 11 ms, with many the next: one job in ten is as long as that.
    assert_eq!(budgets[0], 20.0);
    assert!(budgets[1] > 10.9 && budgets[1] < 11.2 && budgets[2] >= 10.0 && budgets[2] < 10.8, "{budgets:?}");
    desk.write("times.csv", &(times(100) + "camera,21ms\n"));
    let refusal = desk.refusal(&call);
    assert!(refusal.contains("`camera`: 1 job of 101 jobs ran longer than its WCET of 20ms"), "{refusal}");
    desk.write("times.csv", "task,cpu_time\ncamera,9ms\n");
    assert!(desk.refusal(&call).contains("has 1 job of task `camera`"));
}

#[test]
fn a_run_on_this_machine_says_how_long_jobs_run() {
    let _machine = host::machine();
    let desk = Desk::new();
    desk.write(
        "short.toml",
        "version = 1\n[[tasks]]\nname = \"camera\"\nwcet = \"20ms\"\nperiod = \"20ms\"\ndemand = \"uniform:0.01,0.02\"\n",
    );
    let ended = patiently(|| {
        let mut program = laxity();
        program.current_dir(desk.0.path()).args(["run", "short.toml", "--scheduler", "other"]);
        program.args(["--duration", "2s", "--repeat", "1", "--out", "results"]);
        program
    });
    assert!(ended.status.success(), "{}", words(&ended));
    let answer = desk.answer(&[
        "--cpus",
        "2",
        "--scheduler",
        "p-edf",
        "--soft",
        "camera=0.3",
        "--measured",
        "results",
    ]);
    let camera = runtime_ms(&answer, "camera");
    assert!(camera < 15.0, "{camera}: most jobs are much shorter than 20 ms");
    assert!(answer["settings"]["assumptions"].to_string().contains("in results"), "{answer:#}");
}

#[test]
fn what_cannot_be_is_refused() {
    let desk = Desk::new();
    for (call, said) in [
        (&["--soft", "camera=1.5"][..], "`1.5` is not a probability"),
        (&["--soft", "camra=0.1"], "did you mean `camera`?"),
        (
            &["--soft", "control=0.1"],
            "task `control` may miss deadlines, but it is not known how long its jobs run",
        ),
        (&["--soft", "camera=0.1", "--scheduler", "p-fp"], "--soft takes p-edf, c-edf or g-edf"),
        (&["--measured", "times.csv"], "--soft"),
        (&["--soft", "camera=0.1", "--measured", "nowhere"], "nowhere"),
    ] {
        let refusal = desk.refusal(call);
        assert!(refusal.contains(said), "{call:?}: {refusal}");
    }
}

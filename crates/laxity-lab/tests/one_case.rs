//! The example of one case in all back ends: outcomes of one kind, which agree with each other.

use laxity_lab::outcome::{BackEnd, METRICS_OF_PROOFS};
use laxity_trace::METRICS_OF_EVERY_RUN;

#[allow(dead_code)]
#[path = "../examples/one_case.rs"]
mod one_case;

#[test]
fn what_is_proven_and_what_is_simulated_have_one_form_and_agree() {
    let [proven, simulated] = one_case::proven_and_simulated().expect("no error");
    assert_eq!((proven.len(), simulated.len()), (2, 2));
    for (proof, run) in proven.iter().zip(&simulated) {
        assert_eq!((proof.by, run.by), (BackEnd::Proof, BackEnd::Simulation));
        assert_eq!((&proof.task_set, &proof.scheduler), (&run.task_set, &run.scheduler));
        let names: Vec<&str> = proof.metrics.keys().chain(proof.not_had.keys()).map(String::as_str).collect();
        assert!(
            names.iter().all(|name| METRICS_OF_PROOFS.iter().any(|(known, _)| known == name)),
            "{names:?}"
        );
        for metric in METRICS_OF_EVERY_RUN.iter().filter(|metric| metric.name != "tardiness_histogram") {
            let inner = format!("{}.", metric.name);
            let there = run.metrics.keys().any(|name| name == metric.name || name.starts_with(&inner));
            assert!(there != run.not_had.contains_key(metric.name), "{} of {}", metric.name, run.scheduler);
        }
        if proof.metrics["proven_hard"].as_u64() == Some(1) {
            assert_eq!(run.metrics["deadline_satisfaction"].as_f64(), Some(1.0), "{}", run.scheduler);
        }
        for (bound, seen) in proof.tasks.iter().zip(&run.tasks) {
            assert_eq!(bound.task, seen.task);
            let most = seen.metrics["response_ns.max"].as_u64().expect("it ran");
            if let Some(limit) = bound.metrics.get("response_bound_ns") {
                assert!(most <= limit.as_u64().expect("ns"), "{} takes {most}", seen.task);
            }
        }
    }
    let hard = |scheduler: &str| {
        let outcome = proven.iter().find(|outcome| outcome.scheduler == scheduler).expect("asked");
        outcome.metrics["proven_hard"].as_u64()
    };
    assert_eq!(hard("p-edf"), Some(1), "U = 0.6 + 0.08 and 0.55 in cells of one CPU");
}

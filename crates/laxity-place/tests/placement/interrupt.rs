//! Whatever a placement is doing, an interruption ends it. Where a test would hang, it was not looked at.

use crate::oracle::{cores, implicit};
use laxity_model::{Duration, Failure, Task, TaskSet};
use laxity_place::{Acceptance, Fallback, Fit, Method, Overload, Packing, Placement, Request};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;

/// Every method there is, and LWFG with fallbacks.
fn methods() -> Vec<Method> {
    let fallbacks = Packing::all().into_iter().map(Fallback::Pack).chain([Fallback::Ilp]);
    let lwfg = fallbacks.map(Some).chain([None]).map(Method::Lwfg);
    Packing::all().into_iter().map(Method::Pack).chain(lwfg).chain([Method::Ilp]).collect()
}

#[test]
fn what_is_interrupted_already_places_nothing() {
    let set = implicit(&[(1, 10), (3, 10), (9, 10), (9, 10)]);
    let stop = AtomicBool::new(true);
    for overload in [Overload::Refuse, Overload::LeastLoaded] {
        // On one core it does not fit, and has no advice for it either.
        for count in [1, 4] {
            let request = Request::new(&set, cores(count)).expect("valid").with_overload(overload);
            let request = request.with_interrupt(&stop);
            for method in methods() {
                let error = request.place(method).expect_err("interrupted");
                assert_eq!(error.failure, Failure::Interrupted, "{method}: {error}");
                assert_eq!(
                    error.to_string(),
                    format!("interrupted: no placement was found until then (by {method})")
                );
                assert!(request.find(method).is_none(), "{method}");
            }
        }
    }
}

/// Sets the flag when it is asked for the last time; what it accepts is spread over the bins.
struct Last<'a> {
    left: AtomicUsize,
    stop: &'a AtomicBool,
    asked_after: AtomicUsize,
}

impl Acceptance for Last<'_> {
    fn name(&self) -> String {
        "a slow test".into()
    }

    fn accepts(&self, _bin: usize, tasks: &[usize]) -> bool {
        match self.left.load(SeqCst) {
            0 => {
                self.asked_after.fetch_add(1, SeqCst);
            }
            1 => {
                self.left.store(0, SeqCst);
                self.stop.store(true, SeqCst);
            }
            left => self.left.store(left - 1, SeqCst),
        }
        tasks.len() <= 2
    }
}

#[test]
fn no_test_is_asked_after_an_interruption() {
    let set = implicit(&[(1, 10); 12]);
    for method in methods().into_iter().filter(|method| !method.may_solve()) {
        for overload in [Overload::Refuse, Overload::LeastLoaded] {
            for (questions, count) in (1..12).flat_map(|questions| [(questions, 6), (questions, 3)]) {
                let stop = AtomicBool::new(false);
                let last = Last { left: questions.into(), stop: &stop, asked_after: 0.into() };
                let request = Request::new(&set, cores(count)).expect("valid").with_acceptance(&last);
                let request = request.with_overload(overload).with_interrupt(&stop);
                let error = request.place(method).expect_err("interrupted before all are placed");
                assert_eq!(error.failure, Failure::Interrupted, "{method}: {error}");
                assert_eq!(last.asked_after.load(SeqCst), 0, "{method} after {questions}");
            }
        }
    }
}

/// Places while another thread interrupts it after some time.
fn interrupted_after(ms: u64, request: &Request, method: Method) -> laxity_model::Result<Placement> {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(std::time::Duration::from_millis(ms));
            stop.store(true, SeqCst);
        });
        request.clone().with_interrupt(&stop).place(method)
    })
}

/// The demand bound of so many tasks with deadlines of their own takes hours on one CPU, and seconds in the best order.
#[test]
fn heuristics_stop_within_a_test() {
    let ns = Duration::from_ns;
    let task = |id: u64| {
        let mut task = Task::periodic(format!("t{id}"), ns(1_000), ns(1_000_000_000 + id));
        task.deadline_rel = ns(900_000_000 - 7 * ((id * 7_919) % 20_011));
        task
    };
    let set = TaskSet::new("large", (0..20_000).map(task).collect()).expect("valid");
    let request = Request::new(&set, cores(1)).expect("valid").with_fit(Fit::DemandBound).expect("one CPU");
    let heuristics = Packing::all().into_iter().map(Method::Pack).chain([Method::Lwfg(None)]);
    for method in heuristics {
        let error = interrupted_after(5, &request, method).expect_err("interrupted");
        assert_eq!(error.failure, Failure::Interrupted, "{method}: {error}");
    }
}

#[test]
fn the_ilp_keeps_the_best_it_has() {
    let task = |id: u64| {
        let period = 10_000_019 + 7_907 * ((id * 7_919) % 9_973);
        let wcet = (period / 1_000) * (1 + (id * 104_729) % 360);
        Task::periodic(format!("t{id}"), Duration::from_ns(wcet), Duration::from_ns(period))
    };
    let set = TaskSet::new("large", (0..192).map(task).collect()).expect("valid");
    let request = Request::new(&set, cores(48)).expect("valid").with_overload(Overload::LeastLoaded);
    let request = request.with_ilp_time_limit(Duration::from_ms(3_600_000));
    for ms in (0..).map(|doublings| 1 << doublings) {
        match interrupted_after(ms, &request, Method::Ilp) {
            Ok(placement) => {
                assert!(placement.interrupted && placement.assignment.iter().all(Option::is_some));
                let notes = &placement.notes;
                assert!(notes.iter().any(|note| note.starts_with("ilp: interrupted")), "{notes:?}");
                assert!(!placement.optimality.as_ref().expect("the ILP reports").optimal, "{notes:?}");
                return;
            }
            // Before a heuristic had come to its end.
            Err(error) => assert_eq!(error.failure, Failure::Interrupted, "{error}"),
        }
    }
}

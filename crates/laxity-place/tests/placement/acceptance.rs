//! A test from outside decides what fits.

use crate::oracle::{cores, implicit, set};
use laxity_model::{CpuList, Diagnostic, Platform, Scope, TaskKind, TaskSet, Utilization};
use laxity_place::{Acceptance, Bin, Fit, Fitting, Method, Others, Overload, Packing, Placement, Request};
use proptest::prelude::*;
use std::cell::RefCell;

/// Takes note of what it is asked.
struct Noting<F: Fn(usize, &[usize]) -> bool>(F, RefCell<Vec<(usize, Vec<usize>)>>);

impl<F: Fn(usize, &[usize]) -> bool> Noting<F> {
    fn new(accepts: F) -> Self {
        Noting(accepts, RefCell::default())
    }
}

impl<F: Fn(usize, &[usize]) -> bool> Acceptance for Noting<F> {
    fn name(&self) -> String {
        "the test of a test".into()
    }

    fn accepts(&self, bin: usize, tasks: &[usize]) -> bool {
        self.1.borrow_mut().push((bin, tasks.to_vec()));
        (self.0)(bin, tasks)
    }
}

fn packed(request: &Request, method: &str) -> Option<Placement> {
    request.find(method.parse().expect("a method"))
}

fn bins(placement: &Placement) -> Vec<Vec<usize>> {
    (0..placement.bins.len()).map(|bin| placement.tasks_of(bin)).collect()
}

#[test]
fn the_test_is_asked_for_each_task_with_those_that_are_there() {
    let set = implicit(&[(1, 10), (3, 10), (2, 10)]);
    let pairs = Noting::new(|_, tasks| tasks.len() <= 2);
    let request = Request::new(&set, cores(2)).expect("valid").with_acceptance(&pairs);
    let placement = packed(&request, "ffd").expect("fits");
    assert_eq!(bins(&placement), [[1, 2].as_slice(), &[0]]);
    // By decreasing utilization: 1, 2, 0. The one that comes is the last.
    let asked = [(0, vec![1]), (0, vec![1, 2]), (0, vec![1, 2, 0]), (1, vec![0])];
    assert_eq!(*pairs.1.borrow(), asked);
    let alone = Noting::new(|_, tasks| tasks.len() <= 1);
    let request = Request::new(&set, cores(2)).expect("valid").with_acceptance(&alone);
    assert!(packed(&request, "ffd").is_none());
    for rule in ["bfd", "wfd", "nfd"] {
        let request = Request::new(&set, cores(3)).expect("valid").with_acceptance(&alone);
        let placement = packed(&request, rule).expect("one each");
        assert!(bins(&placement).iter().all(|tasks| tasks.len() == 1), "{rule}");
    }
}

#[test]
fn where_the_load_is_too_much_no_test_is_asked() {
    let set = implicit(&[(6, 10), (6, 10)]);
    let any = Noting::new(|_, _| true);
    let request = Request::new(&set, cores(1)).expect("valid").with_acceptance(&any);
    assert!(packed(&request, "ff").is_none());
    assert_eq!(*any.1.borrow(), [(0, vec![0])]);
}

/// Densities of 3/4 and 2/3 are above 1 together: utilizations are not, and that is all that counts before the test. Affinities count
/// as ever.
#[test]
fn deadlines_are_for_the_test_to_judge() {
    let mut set = set(&[(3, 4, 10), (2, 3, 10), (8, 8, 20)]);
    let any = Noting::new(|_, _| true);
    let by_density = Request::new(&set, cores(2)).expect("valid");
    assert_eq!(by_density.fit(), Fit::Density);
    assert!(packed(&by_density, "ff").is_none());
    let request = by_density.with_acceptance(&any);
    assert_eq!(bins(&packed(&request, "ff").expect("U = 0.9")), [[0, 1, 2].as_slice(), &[]]);
    let mut tasks = set.tasks().to_vec();
    tasks[1].affinity = Some("1".parse().expect("a list"));
    set = laxity_model::TaskSet::new("pinned", tasks).expect("valid");
    let request = Request::new(&set, cores(2)).expect("valid").with_acceptance(&any);
    assert_eq!(bins(&packed(&request, "ff").expect("fits")), [[0, 2].as_slice(), &[1]]);
}

#[test]
fn cells_are_told_apart_by_their_numbers() {
    let platform = Platform::symmetric(4).expect("valid");
    let clusters: Vec<CpuList> = ["0-1", "2-3"].map(|list| list.parse().expect("a list")).to_vec();
    let platform = platform.with_clusters(clusters).expect("valid");
    let bins_of = Bin::of_platform(&platform, Scope::Clustered).expect("valid");
    let set = implicit(&[(1, 10), (1, 10)]);
    let second = Noting::new(|bin, _| bin == 1);
    let request = Request::new(&set, bins_of).expect("valid").with_acceptance(&second);
    assert_eq!(bins(&packed(&request, "wfd").expect("fits")), [[].as_slice(), &[0, 1]]);
}

/// A group goes as a whole where the test accepts all of it; else it shrinks.
#[test]
fn groups_are_accepted_as_a_whole() {
    let mut tasks = implicit(&[(1, 10), (1, 10), (1, 10), (1, 10)]).tasks().to_vec();
    for task in &mut tasks[..3] {
        task.group = Some(laxity_model::Group { name: "g".into(), shared_bytes: 64 << 10 });
        task.working_set.size_bytes = 64 << 10;
    }
    let set = laxity_model::TaskSet::new("group", tasks).expect("valid");
    let three = Noting::new(|_, tasks| tasks.len() <= 3);
    let request = Request::new(&set, cores(2)).expect("valid").with_acceptance(&three);
    assert_eq!(bins(&packed(&request, "lwfg").expect("fits")), [[0, 1, 2].as_slice(), &[3]]);
    assert!(three.1.borrow().contains(&(0, vec![0, 1, 2])));
    let pairs = Noting::new(|_, tasks| tasks.len() <= 2);
    let request = Request::new(&set, cores(2)).expect("valid").with_acceptance(&pairs);
    assert_eq!(bins(&packed(&request, "lwfg").expect("fits")), [[0, 1].as_slice(), &[2, 3]]);
}

#[test]
fn refusals_say_whose_test_it_is() {
    let set = implicit(&[(1, 10), (3, 10), (2, 10)]);
    let pairs = Noting::new(|_, tasks| tasks.len() <= 2);
    let request = Request::new(&set, cores(1)).expect("valid").with_acceptance(&pairs);
    let refused = request.place("ffd".parse().expect("a method")).expect_err("three tasks");
    assert!(refused.message.contains("`t0`") && refused.message.contains("the test of a test"), "{refused}");
    let forced = request.clone().with_overload(Overload::LeastLoaded);
    let placement = forced.place("ffd".parse().expect("a method")).expect("all the same");
    assert_eq!(placement.overloaded, [0]);
    let refused = request.place(Method::Ilp).expect_err("the ILP knows loads");
    assert!(refused.message.contains("the test of a test"), "{refused}");
    assert!(refused.hint.is_some_and(|hint| hint.contains("ffd")));
}

#[test]
fn what_fits_has_a_name() {
    assert_eq!("Test".parse(), Ok(Fitting::Test));
    for fit in Fit::ALL {
        assert_eq!(fit.name().parse(), Ok(Fitting::Load(Some(fit))));
        assert_eq!(Fitting::Load(Some(fit)).to_string(), fit.name());
    }
    assert_eq!((Fitting::default(), Fitting::Test.to_string().as_str()), (Fitting::Test, "test"));
    let refused = "tset".parse::<Fitting>().expect_err("a slip");
    assert!(refused.hint.expect("a hint").contains("did you mean `test`"));
    for fitting in [Fitting::Test, Fitting::Load(None), Fitting::Load(Some(Fit::Density))] {
        assert_eq!(fitting.to_string().parse(), Ok(fitting));
    }
}

/// Takes one task per bin, and says which task is in which bin when another comes.
struct WithReason;

impl Acceptance for WithReason {
    fn name(&self) -> String {
        "one task each".into()
    }

    fn accepts(&self, _: usize, tasks: &[usize]) -> bool {
        tasks.len() <= 1
    }

    fn refusal(&self, task: usize, others: &Others<'_>) -> Option<Diagnostic> {
        let placed: Vec<_> = (0..2).map(others.tasks_in).collect();
        let all = if others.refused_by_all { " of all" } else { "" };
        (task != 3).then(|| Diagnostic::usage(format!("{task}{all}: {placed:?}")).hint("be alone"))
    }
}

#[test]
fn a_test_that_says_why_is_heard() {
    let refused = |tasks: &[(u64, u64)], method: &str| {
        let set = implicit(tasks);
        let request = Request::new(&set, cores(2)).expect("valid").with_acceptance(&WithReason);
        let error = request.place(method.parse().expect("a method")).expect_err("too many");
        (error.message, error.hint.expect("a hint"))
    };
    let (message, hint) = refused(&[(1, 10), (2, 10), (3, 10)], "ff:given:up");
    assert_eq!(message, "2: [[0], [1]]");
    assert!(hint.starts_with("be alone; no heuristic tried fits either; "), "{hint}");
    assert_eq!(refused(&[(1, 10), (2, 10), (3, 10)], "ffd").0, "0: [[2], [1]]");
    // Nothing to say: what the loads leave.
    let (message, _) = refused(&[(4, 10), (3, 10), (1, 10), (2, 10)], "ffd");
    assert!(message.contains("one task each does not accept it"), "{message}");
}

/// Onto so many CPUs, each filled to this limit.
fn onto<'a>(set: &'a TaskSet, (bins, limit): (u32, &Utilization), test: &'a dyn Acceptance) -> Request<'a> {
    let request = Request::new(set, cores(bins)).expect("valid").with_acceptance(test);
    request.with_capacity_limit(limit.clone()).expect("valid")
}

laxity_seeds::properties! {
    /// A request that leaves out what fits nowhere does what placing again and again without the task in question comes to.
    #[test]
    fn leaving_out_is_placing_again_without_them(
        parameters in prop::collection::vec((1u64..9, 10u64..20), 1..12), bins in 1u32..4, whole in any::<bool>(), salt in 0u64..64,
    ) {
        let set = implicit(&parameters);
        let most = |bin: usize, tasks: &[usize]| {
            let sum: usize = tasks.iter().sum();
            !(sum as u64 + bin as u64 + salt).is_multiple_of(3)
        };
        let test = Noting::new(most);
        let limit = if whole { Utilization::whole(1) } else { Utilization::ratio(7, 10) };
        for packing in Packing::all() {
            let at_once = onto(&set, (bins, &limit), &test).leaving_out().place(Method::Pack(packing)).expect("all or some");
            let mut left = set.clone();
            for (id, why) in &at_once.left_out {
                let mut tasks = left.tasks().to_vec();
                let refused = onto(&left, (bins, &limit), &test).place(Method::Pack(packing)).expect_err("one too many");
                prop_assert_eq!(&refused.message, &why.message);
                tasks[*id].kind = TaskKind::BestEffort;
                left = TaskSet::new("left", tasks).expect("valid");
            }
            let again = onto(&left, (bins, &limit), &test).place(Method::Pack(packing)).expect("the others fit");
            prop_assert_eq!(again.assignment, at_once.assignment);
            prop_assert!(at_once.overloaded.is_empty());
        }
    }
}

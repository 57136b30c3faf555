//! Curves of partitioned and clustered schedulers: what the test accepts is placed together, and nothing else.

use laxity_analysis::overheads::Overheads;
use laxity_analysis::scheduler::{Analysed, Asked, Placed};
use laxity_analysis::{AnalysedCell, Guarantee, SporadicTask, Work};
use laxity_model::{DeferrableServer, Duration, Platform, Task, TaskSet};
use laxity_place::{Acceptance, Bin, Method, Request};
use laxity_study::{NEVER, Point, ProofSampler, Proofs, SetOutcome, Study};

/// n = 20 on m = 4, as the studies of partitioned scheduling have them.
const RANDOM: &str = r#"
version = 1
title = "placement"
seed = 5
sets = 60
guarantees = ["hard", "soft"]
[platform]
processors = 4
cluster = 2
[axis]
of = "utilization"
from = 1
to = 4
step = "0.25"
[generator]
name = "emberson"
tasks = 20
periods = "log-uniform:1ms,100ms"
"#;

const MICROSECOND: &str = "TASK-COUNT, SCHEDULE\n1, 1\n";

/// A study with curves, and overheads in `costs.csv`.
fn study(head: &str, curves: &str, costs: &str) -> Study {
    let directory = tempfile::tempdir().expect("a directory");
    std::fs::write(directory.path().join("costs.csv"), costs).expect("writes");
    Study::from_text(&format!("{head}{curves}"), "test", directory.path()).expect("a study")
}

fn curve(name: &str, scheduler: &str, more: &str) -> String {
    format!("[[curves]]\nname = \"{name}\"\nscheduler = \"{scheduler}\"\noverheads = \"costs.csv\"\n{more}\n")
}

fn proofs(study: &Study) -> &Proofs {
    study.proofs().expect("a schedulability study")
}

fn sampler(study: &Study, point: Point) -> ProofSampler<'_> {
    ProofSampler::new((&study.outline, proofs(study)), point, &NEVER).expect("prepares")
}

fn outcomes_of(study: &Study, sampler: &ProofSampler<'_>, tasks: Vec<Task>) -> Vec<SetOutcome> {
    sampler.outcomes(tasks, &proofs(study).series).expect("judges")
}

/// How many of the first `sets` sets each series accepts at U.
fn accepted(study: &Study, utilization: &str, sets: u64) -> Vec<u64> {
    let value =
        study.outline.axis.grid().into_iter().find(|&value| study.outline.axis.text(value) == utilization);
    let point = Point { family: 0, value: value.expect("a point of the axis") };
    let sampler = sampler(study, point);
    let mut accepted = vec![0; study.series()];
    for index in 0..sets {
        let outcomes = outcomes_of(study, &sampler, sampler.tasks(index).expect("a set"));
        for (count, outcome) in accepted.iter_mut().zip(outcomes) {
            *count += u64::from(outcome == SetOutcome::Accepted);
        }
    }
    accepted
}

fn outcomes(study: &Study, tasks: &[(u64, u64)]) -> Vec<SetOutcome> {
    let point = Point { family: 0, value: study.outline.axis.grid()[0] };
    let task = |(at, &(wcet, period)): (usize, &(u64, u64))| {
        Task::periodic(format!("t{at}"), Duration::from_us(wcet), Duration::from_us(period))
    };
    let tasks = tasks.iter().enumerate().map(task).collect();
    outcomes_of(study, &sampler(study, point), tasks)
}

const TWO: &str = r#"
version = 1
title = "by hand"
sets = 1
[platform]
processors = 2
[axis]
of = "tasks"
from = 1
to = 1
step = 1
[generator]
name = "unc"
"#;

/// Lehoczky's pair has U = 26/70 + 62/100 = 0.991 and fits one processor by load; under rate-monotonic priorities the second task
/// responds within 118 of 100. With a processor for each, both meet their deadlines.
#[test]
fn a_pair_that_the_load_lets_together_and_the_test_does_not() {
    let curves = curve("load", "p-rm", "fit = \"utilization\"") + &curve("test", "p-rm", "");
    let free = study(TWO, &curves, "TASK-COUNT, SCHEDULE\n1, 0\n");
    use SetOutcome::{Accepted, Rejected};
    assert_eq!(outcomes(&free, &[(26, 70), (62, 100)]), [Rejected, Accepted]);
    // 10/70 goes beside 62/100: R = 62 + 2 * 10 = 82 of 100.
    assert_eq!(outcomes(&free, &[(26, 70), (62, 100), (10, 70)]), [Rejected, Accepted]);
    // 62 twice, and 26/70 fits beside none of them.
    assert_eq!(outcomes(&free, &[(26, 70), (62, 100), (62, 100)]), [Rejected, Rejected]);
}

/// sch is 0, 10 and 20 us for one, two and three tasks: C' = 30, 50 and 70 of 100. Two fill a processor.
#[test]
fn overheads_are_those_of_as_many_tasks_as_the_processor_then_has() {
    for scheduler in ["p-rm", "p-edf"] {
        let curves = curve("load", scheduler, "fit = \"utilization\"") + &curve("test", scheduler, "");
        let study = study(TWO, &curves, "TASK-COUNT, SCHEDULE\n1, 0\n2, 10\n3, 20\n");
        use SetOutcome::{Accepted, Rejected};
        let of = |count| outcomes(&study, &vec![(30, 100); count]);
        assert_eq!(of(2), [Accepted, Accepted], "{scheduler}");
        // By load three go onto the first.
        assert_eq!(of(3), [Rejected, Accepted], "{scheduler}");
        assert_eq!(of(4), [Rejected, Accepted], "{scheduler}");
        assert_eq!(of(5), [Rejected, Rejected], "{scheduler}");
    }
}

/// A curve that rises with the load measures the packing: first-fit by load fills processors to the brim, and what is left for
/// priorities and overheads is nothing, at any U.
#[test]
fn less_load_is_accepted_no_less() {
    let names = ["p-rm", "p-edf", "p-fpp:dm"];
    let curves: String = names.iter().map(|name| curve(name, name, "")).collect();
    let study = study(RANDOM, &curves, MICROSECOND);
    let [quarter, half, three] = ["1", "2", "3"].map(|utilization| accepted(&study, utilization, 60));
    for series in 0..study.series() {
        let name = &proofs(&study).curves[proofs(&study).series[series].curve].name;
        let (light, medium, heavy) = (quarter[series], half[series], three[series]);
        assert!(light >= medium && medium >= heavy, "{name}: {light}, {medium}, {heavy}");
        assert_eq!(light, 60, "{name}: all that fill a quarter");
    }
}

#[test]
fn the_test_accepts_no_less_than_the_load_judged_afterwards() {
    let mut strictly = 0;
    for scheduler in ["p-rm", "p-edf"] {
        let both = |name: &str, placement: &str| {
            let placement = format!("placement = \"{placement}\"");
            curve(&format!("{name} by test"), scheduler, &placement)
                + &curve(
                    &format!("{name} by load"),
                    scheduler,
                    &format!("{placement}\nfit = \"utilization\""),
                )
        };
        let study = study(RANDOM, &(both("ffd", "ffd") + &both("wfd", "wfd")), MICROSECOND);
        let mut sums = vec![0; study.series()];
        for utilization in ["1", "2", "3", "3.5"] {
            let found = accepted(&study, utilization, 40);
            sums.iter_mut().zip(found).for_each(|(sum, count)| *sum += count);
        }
        for pair in sums.chunks(2) {
            assert!(pair[0] >= pair[1], "{scheduler}: {sums:?}");
            strictly += u64::from(pair[0] > pair[1]);
        }
    }
    assert!(strictly >= 4, "first-fit by load is worse: {strictly}");
}

/// The same test, asked by a placement of its own.
struct Alone<'a> {
    scheduler: Analysed,
    tasks: &'a [SporadicTask],
    overheads: &'a Overheads,
    asked: Asked,
    processors: u32,
}

impl Alone<'_> {
    fn placed<'a>(&'a self, cells: &'a [AnalysedCell]) -> Placed<'a> {
        Placed {
            tasks: self.tasks,
            working_sets: &[],
            given_priorities: &[],
            cells,
            servers: &[],
            overheads: Some(self.overheads),
        }
    }
}

impl Acceptance for Alone<'_> {
    fn name(&self) -> String {
        "the same test".into()
    }

    fn accepts(&self, _: usize, tasks: &[usize]) -> bool {
        let cell = AnalysedCell { processors: self.processors, tasks: tasks.to_vec() };
        let placed = self.placed(&[]);
        self.scheduler.judge_cell(&placed, &cell, DeferrableServer::NONE, self.asked).is_schedulable()
    }
}

/// What a curve accepts is a placement, and that placement is accepted when all of it is judged at once.
#[test]
fn what_is_placed_is_accepted_as_a_whole() {
    let names = ["p-rm", "p-edf", "c-edf", "c-rm", "c-edf-bh", "p-fpp:dm"];
    let curves: String = names.iter().map(|name| curve(name, name, "placement = \"ffd\"")).collect();
    let study = study(RANDOM, &curves, MICROSECOND);
    let overheads = Overheads::from_csv(MICROSECOND).expect("reads");
    let ffd: Method = "ffd".parse().expect("a method");
    let (mut placed, mut refused) = (0, 0);
    for value in study.outline.axis.grid() {
        let sampler = sampler(&study, Point { family: 0, value });
        for index in 0..4 {
            let tasks = sampler.tasks(index).expect("a set");
            let set = TaskSet::new("set", tasks.clone()).expect("a set");
            let sporadic = SporadicTask::of_set(&set);
            for (series, outcome) in proofs(&study).series.iter().zip(outcomes_of(&study, &sampler, tasks)) {
                let scheduler = proofs(&study).curves[series.curve].scheduler;
                let name = scheduler.to_string();
                let processors = if name.starts_with('p') { 1 } else { 2 };
                let alone = Alone {
                    scheduler,
                    tasks: &sporadic,
                    overheads: &overheads,
                    asked: Asked { work: Work::steps(proofs(&study).steps), ..Asked::of(series.guarantee) },
                    processors,
                };
                let platform = Platform::symmetric(4).expect("a platform");
                let cpus = |cell: u32| (cell * processors..(cell + 1) * processors).collect();
                let bins = (0..4 / processors).map(|cell| Bin::new(&platform, cpus(cell)).expect("a bin"));
                let request = Request::new(&set, bins.collect()).expect("bins").with_acceptance(&alone);
                let placement = request.find(ffd);
                let at =
                    format!("{name} {:?}, {}, set {index}", series.guarantee, study.outline.axis.text(value));
                assert_eq!(placement.is_some(), outcome == SetOutcome::Accepted, "{at}");
                let Some(placement) = placement else {
                    refused += 1;
                    continue;
                };
                let cell = |bin| AnalysedCell { processors, tasks: placement.tasks_of(bin) };
                let cells: Vec<AnalysedCell> = (0..placement.bins.len()).map(cell).collect();
                let whole = scheduler.judge(&alone.placed(&cells), alone.asked);
                assert!(whole.verdict.is_schedulable(), "{at}: {:?}", whole.verdict);
                placed += 1;
            }
        }
    }
    assert!(placed > 100 && refused > 20, "{placed} placed, {refused} refused");
}

#[test]
fn why_a_set_is_not_placed() {
    let few = RANDOM.replace("seed = 5", "seed = 5\nsteps = 1");
    let curves = curve("p-edf", "p-edf", "") + &curve("p-fpp:fp", "p-fpp:fp", "");
    let study = study(&few, &curves, MICROSECOND);
    let sampler = sampler(&study, Point { family: 0, value: study.outline.axis.grid()[0] });
    let found = outcomes_of(&study, &sampler, sampler.tasks(0).expect("a set"));
    let of = |curve: &str| {
        let curve = proofs(&study).curves.iter().position(|known| known.name == curve).expect("a curve");
        found[proofs(&study).series_of(curve, Guarantee::Hard).expect("a series")]
    };
    assert_eq!(of("p-edf"), SetOutcome::OutOfWork, "a test has one step");
    assert_eq!(of("p-fpp:fp"), SetOutcome::NotApplicable, "priorities are not given");
}

//! Multi-threaded tasks: the ranges and distributions of lindsay2012, Table 6.1, and what its text says of them.

use laxity_generate::{
    Common, Decimal, DrawnFor, Generator, Mtt, MttDistribution, MttWorkingSet, Parameters, Request, generate,
};
use laxity_model::{AccessPattern, ByteSize, Sharing, Task, TaskSet, Utilization};

fn row(name: &str) -> MttDistribution {
    name.parse().expect("a distribution")
}

fn request(options: Mtt, seed: u64) -> Request {
    Request { generator: Generator::from(options), common: Common::default(), seed }
}

fn set(name: &str, cap: &str, seed: u64) -> TaskSet {
    let options = Mtt::new(row(name), cap.parse().expect("decimal"));
    generate(&request(options, seed), 0).unwrap_or_else(|error| panic!("{name} {cap} seed {seed}: {error}"))
}

/// The tasks by MTT: those with one number before the dot.
fn mtts(set: &TaskSet) -> Vec<Vec<Task>> {
    let mut mtts: Vec<Vec<Task>> = Vec::new();
    for task in set.tasks() {
        let number = |task: &Task| task.name.split('.').next().expect("a number").to_owned();
        match mtts.last_mut().filter(|last| number(&last[0]) == number(task)) {
            Some(last) => last.push(task.clone()),
            None => mtts.push(vec![task.clone()]),
        }
    }
    mtts
}

/// Some thousand MTTs of a distribution, from sets so large that the last, dropped MTT of each means nothing. They are one sample of
/// the distribution, always the same: five standard errors are too few for thousands of others.
fn many(name: &str) -> Vec<Vec<Task>> {
    let cap = if name == "mlu" { "190" } else { "850" };
    (0..8).flat_map(|seed| mtts(&set(name, cap, seed))).collect()
}

fn utilization(task: &Task) -> f64 {
    task.wcet.as_ns() as f64 / task.period().as_ns() as f64
}

/// Mean and variance of a uniform distribution, within five standard errors.
fn check_uniform(what: &str, drawn: &[f64], mean: f64, variance: f64) {
    let count = drawn.len() as f64;
    let found = drawn.iter().sum::<f64>() / count;
    assert!((found - mean).abs() < 5.0 * (variance / count).sqrt(), "{what}: mean {found} is not {mean}");
    let spread = drawn.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count;
    // The fourth central moment of a uniform distribution is 9/5 of its squared variance.
    assert!((spread - variance).abs() < 5.0 * variance * (0.8 / count).sqrt(), "{what}: variance {spread}");
}

fn discrete(low: u64, high: u64) -> (f64, f64) {
    let count = (high - low + 1) as f64;
    ((low + high) as f64 / 2.0, (count * count - 1.0) / 12.0)
}

/// Table 6.1 copied once more: tasks, utilization in %, drawn for, period in ms, drawn for, working set in kB.
type PaperRow = (&'static str, [u64; 2], [u32; 2], DrawnFor, [u64; 2], DrawnFor, Option<[u64; 2]>);

const TABLE_6_1: [PaperRow; 8] = [
    ("mlu", [1, 4], [1, 10], DrawnFor::Mtt, [24, 240], DrawnFor::Mtt, None),
    ("mmu", [1, 4], [10, 40], DrawnFor::Mtt, [24, 240], DrawnFor::Mtt, None),
    ("mwl", [1, 8], [10, 40], DrawnFor::Mtt, [10, 250], DrawnFor::Mtt, Some([64, 512])),
    ("mwh", [1, 8], [10, 40], DrawnFor::Mtt, [10, 250], DrawnFor::Mtt, Some([4096, 8192])),
    ("mwlp", [1, 8], [10, 40], DrawnFor::Task, [10, 250], DrawnFor::Mtt, Some([64, 512])),
    ("mwhp", [1, 8], [10, 40], DrawnFor::Task, [10, 250], DrawnFor::Mtt, Some([4096, 8192])),
    ("mwlu", [1, 8], [10, 40], DrawnFor::Mtt, [10, 250], DrawnFor::Task, Some([64, 512])),
    ("mwhu", [1, 8], [10, 40], DrawnFor::Mtt, [10, 250], DrawnFor::Task, Some([4096, 8192])),
];

#[test]
fn the_eight_distributions_have_the_tables_ranges_and_moments() {
    assert_eq!(MttDistribution::ALL.map(|row| row.name), TABLE_6_1.map(|row| row.0));
    for (name, tasks, percent, utilization_for, periods, period_for, kib) in TABLE_6_1 {
        let mtts = many(name);
        assert!(mtts.len() > 4_000, "{name}: {} MTTs", mtts.len());
        let counts: Vec<f64> = mtts.iter().map(|mtt| mtt.len() as f64).collect();
        let (mean, variance) = discrete(tasks[0], tasks[1]);
        check_uniform(&format!("{name} tasks"), &counts, mean, variance);
        assert!(counts.iter().all(|&n| (tasks[0] as f64..=tasks[1] as f64).contains(&n)), "{name}");

        // What is drawn once for an MTT is one draw, not several.
        let of = |drawn_for: DrawnFor, value: &dyn Fn(&Task) -> f64| -> Vec<f64> {
            let some =
                |mtt: &Vec<Task>| if drawn_for == DrawnFor::Mtt { mtt[..1].to_vec() } else { mtt.clone() };
            mtts.iter().flat_map(some).map(|task| value(&task)).collect()
        };
        let [low, high] = percent.map(|percent| f64::from(percent) / 100.0);
        let utilizations = of(utilization_for, &utilization);
        check_uniform(
            &format!("{name} utilization"),
            &utilizations,
            (low + high) / 2.0,
            (high - low).powi(2) / 12.0,
        );
        // Rounding C down takes up to 1 ns of 10 ms off.
        assert!(utilizations.iter().all(|&u| u > low - 1e-6 && u <= high), "{name}");
        let in_ms = of(period_for, &|task| task.period().as_ns() as f64 / 1e6);
        let (mean, variance) = discrete(periods[0], periods[1]);
        check_uniform(&format!("{name} period"), &in_ms, mean, variance);
        let bounds = periods[0] as f64..=periods[1] as f64;
        assert!(in_ms.iter().all(|ms| ms.fract() == 0.0 && bounds.contains(ms)), "{name}");
        if let Some([low, high]) = kib {
            let sizes = of(DrawnFor::Mtt, &|task| task.working_set.size_bytes as f64 / 1024.0);
            let (mean, variance) = discrete(low, high);
            check_uniform(&format!("{name} working set"), &sizes, mean, variance);
            assert!(sizes.iter().all(|kib| kib.fract() == 0.0 && (low as f64..=high as f64).contains(kib)));
        }
    }
}

#[test]
fn tasks_of_an_mtt_have_in_common_what_the_table_says() {
    for (name, _, _, utilization_for, _, period_for, _) in TABLE_6_1 {
        let (mut same_u, mut same_t, mut several) = (0usize, 0usize, 0usize);
        for mtt in many(name).iter().filter(|mtt| mtt.len() > 1) {
            let one = &mtt[0];
            assert!(
                mtt.iter().all(|task| task.working_set == one.working_set && task.group == one.group),
                "{name}"
            );
            assert_eq!(one.group.as_ref().map(|group| group.shared_bytes), Some(one.working_set.size_bytes));
            let near = |task: &Task| (utilization(task) - utilization(one)).abs() < 1e-6;
            several += 1;
            same_u += usize::from(mtt.iter().all(near));
            same_t += usize::from(mtt.iter().all(|task| task.period() == one.period()));
        }
        assert!(several > 2_000, "{name}");
        assert_eq!(same_u == several, utilization_for == DrawnFor::Mtt, "{name}: {same_u} of {several}");
        assert_eq!(same_t == several, period_for == DrawnFor::Mtt, "{name}: {same_t} of {several}");
        // Two of 241 periods are rarely the same.
        assert!(same_t == several || same_t * 50 < several, "{name}: {same_t} of {several}");
    }
}

#[test]
fn working_sets_grow_with_execution_time_where_the_table_says() {
    for name in ["mlu", "mmu"] {
        assert_eq!(row(name).working_set, MttWorkingSet::OfExecutionTime);
        for task in many(name).concat() {
            // e / 3 ms * 128 KiB, to the line below
            let bytes = task.wcet.as_ns() as f64 / 3e6 * 131_072.0;
            let found = task.working_set.size_bytes;
            assert!(
                found % 64 == 0 && (found as f64) <= bytes + 1.0 && bytes - 65.0 < found as f64,
                "{task:?}"
            );
        }
    }
}

#[test]
fn the_cap_is_a_close_upper_bound() {
    for (name, tasks, percent, ..) in TABLE_6_1 {
        let heaviest = tasks[1] * u64::from(percent[1]);
        for cap in [6u32, 12, 18, 24, 30, 36, 42, 48] {
            for seed in laxity_seeds::seeds!(0..4) {
                let set = set(name, &cap.to_string(), seed);
                let total = set.utilization();
                assert!(total <= Utilization::whole(cap.into()), "{name} {cap} seed {seed}: {total}");
                // One more MTT would have exceeded it.
                let missing = Utilization::ratio(heaviest, 100).plus(&total);
                assert!(missing > Utilization::whole(cap.into()), "{name} {cap} seed {seed}: {total}");
            }
        }
    }
}

#[test]
fn a_larger_cap_begins_with_the_same_tasks() {
    for seed in laxity_seeds::seeds!(11..12) {
        for name in MttDistribution::ALL.map(|row| row.name) {
            let (small, large) = (set(name, "6", seed), set(name, "48", seed));
            let count = small.tasks().len();
            assert_eq!(small.tasks(), &large.tasks()[..count], "{name}");
            assert!(large.tasks().len() > count);
        }
    }
}

#[test]
fn every_set_is_consistent_and_an_mtt_of_one_is_no_group() {
    let names = MttDistribution::ALL.map(|row| row.name);
    for seed in laxity_seeds::seeds!(0..40) {
        let name = names[usize::try_from(seed).expect("small") % names.len()];
        for shared in ["1", "0.5", "0.001"] {
            let options =
                Mtt { shared: shared.parse().expect("decimal"), ..Mtt::new(row(name), Decimal::whole(12)) };
            let set = generate(&request(options, seed), 3).expect("set");
            let sharing =
                Sharing::of(&set).unwrap_or_else(|error| panic!("{name} {shared} seed {seed}: {error}"));
            for mtt in mtts(&set) {
                assert_eq!(mtt[0].group.is_some(), mtt.len() > 1, "{name} seed {seed}");
            }
            for group in sharing.groups() {
                let [a, b] = [group.members[0], group.members[1]];
                let (size, both) = (set.tasks()[a].working_set.size_bytes, sharing.between(a, b));
                let exact = size as f64 * shared.parse::<f64>().expect("a number");
                assert!(
                    both > 0 && (both == 64 || both as f64 <= exact) && both as f64 > exact - 64.0,
                    "{both} of {size}"
                );
            }
        }
    }
}

#[test]
fn the_options_of_all_generators_apply_but_for_working_sets() {
    let request = |pairs: &[(&str, &str)]| {
        let own = [("distribution", "mwl"), ("utilization", "6")];
        let all: Parameters =
            own.iter().chain(pairs).map(|&(name, value)| (name.into(), value.into())).collect();
        Request::from_parameters("mtt", 5, &all).expect("reads")
    };
    let pairs = [("read-write", "1:1"), ("access", "random"), ("phases", "uniform")];
    let set = generate(&request(&pairs), 0).expect("set");
    let random =
        |task: &Task| (task.working_set.reads, task.working_set.pattern) == (1, AccessPattern::Random);
    assert!(set.tasks().iter().all(random) && set.tasks().iter().any(|task| !task.phase.is_zero()));
    let error = generate(&request(&[("wss", "16KiB")]), 0).expect_err("refused");
    assert!(error.message.contains("`wss` cannot be given") && error.hint.is_some());
    let common = Common { wss: vec![ByteSize(0)], ..Common::default() };
    assert_eq!(common, Common::default(), "what is refused is only what is given");
}

#[test]
fn bad_options_are_explained() {
    let message = |options: Mtt| generate(&request(options, 0), 0).expect_err("refused").message;
    let mwl = || Mtt::new(row("mwl"), Decimal::whole(6));
    assert!(message(Mtt { utilization: Decimal::ZERO, ..mwl() }).contains("utilization 0"));
    assert!(message(Mtt { shared: Decimal::ZERO, ..mwl() }).contains("shared part 0"));
    assert!(message(Mtt { shared: Decimal::from_thousandths(1_001), ..mwl() }).contains("shared part 1.001"));
    assert!(
        message(Mtt { granularity: laxity_model::Duration::from_ms(7), ..mwl() }).contains("granularity 7ms")
    );
    assert!(
        message(Mtt { utilization: Decimal::from_thousandths(50), ..mwl() }).contains("the set is empty")
    );
    assert!(message(Mtt { utilization: Decimal::whole(60_000), ..mwl() }).contains("more than 100000 tasks"));
    let error = "mwx".parse::<MttDistribution>().expect_err("unknown");
    assert!(error.message.contains("`mwx`") && error.hint.expect("a hint").contains("mlu, mmu, mwl"));
    assert_eq!("MWLP".parse::<MttDistribution>().expect("known").to_string(), "mwlp");
}

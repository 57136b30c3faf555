//! `unc`: sets of n tasks, and sets up to a total utilization.

use laxity_generate::{Decimal, Generator, LastTask, Periods, Request, Unc, UncSize, Utilizations, generate};
use laxity_model::{Duration, TaskSet, Utilization};
use proptest::prelude::*;

fn request(size: UncSize, utilizations: &str, periods: &str, seed: u64) -> Request {
    let options =
        Unc::new(size, utilizations.parse().expect("utilizations"), periods.parse().expect("periods"));
    Request { generator: Generator::from(options), common: Default::default(), seed }
}

fn capped(cap: Decimal, last: LastTask, seed: u64) -> Request {
    request(UncSize::Cap { utilization: cap, last }, "bimo-medium", "uni-moderate", seed)
}

fn exactly(cap: Decimal) -> Utilization {
    Utilization::ratio(cap.billionths(), 1_000_000_000)
}

laxity_seeds::properties! {
    /// The next task drawn would have gone over the cap; squeezed, it fills the set to within 1 ns / T.
    #[test]
    fn caps_are_kept_and_filled(seed: u64, tenths in 10u32..200) {
        let cap = Decimal::from_thousandths(tenths * 100);
        let dropped = generate(&capped(cap, LastTask::Drop, seed), 0).expect("set");
        let squeezed = generate(&capped(cap, LastTask::Squeeze, seed), 0).expect("set");
        let n = dropped.tasks().len();
        prop_assert!(dropped.utilization() <= exactly(cap));
        prop_assert!(squeezed.utilization() <= exactly(cap));
        prop_assert_eq!(&squeezed.tasks()[..n], dropped.tasks());
        let one_more = UncSize::Tasks(u32::try_from(n).expect("small") + 1);
        let more = generate(&request(one_more, "bimo-medium", "uni-moderate", seed), 0).expect("set");
        prop_assert!(more.utilization() > exactly(cap));
        prop_assert_eq!(&more.tasks()[..n], dropped.tasks());
        if let Some(last) = squeezed.tasks().get(n) {
            let one_ns_more = squeezed.utilization().plus(&Utilization::of(Duration::from_ns(1), last.period()));
            prop_assert!(one_ns_more > exactly(cap));
            prop_assert!(last.wcet <= more.tasks()[n].wcet);
        }
    }
}

/// All 9 x 6 combinations of the named distributions, and cerqueira2014's ranges.
#[test]
fn every_named_combination_stays_in_its_ranges() {
    let cerqueira = ["uniform:1ms,1000ms", "log-uniform:10ms,1000ms", "uniform:200ms,1000ms"];
    let periods_all = Periods::NAMED.iter().map(|(name, _)| *name).chain(cerqueira);
    for periods in periods_all {
        let Periods { min, max, .. } = periods.parse().expect("periods");
        let names = Utilizations::NAMED.iter().map(|(name, _)| *name).chain(["uniform:0.1,0.2"]);
        for utilizations in names {
            let set = generate(&request(UncSize::Tasks(200), utilizations, periods, 5), 1).expect("set");
            assert_eq!(set.tasks().len(), 200);
            for task in set.tasks() {
                assert!((min..=max).contains(&task.period()), "{periods}: {}", task.period());
                assert_eq!(task.period().as_ns() % 1_000_000, 0);
                if let Utilizations::Uniform { low, high } = utilizations.parse().expect("named") {
                    let u = task.utilization().to_f64();
                    assert!(u <= high.to_f64() && u > low.to_f64() - 1e-5, "{utilizations}: {u}");
                }
            }
        }
    }
}

#[test]
fn impossible_requests_are_explained() {
    let message = |request: Request| -> String {
        let result: laxity_model::Result<TaskSet> = generate(&request, 7);
        result.expect_err("must be refused").message
    };
    let cap = |cap: Decimal, utilizations| {
        request(UncSize::Cap { utilization: cap, last: LastTask::Drop }, utilizations, "uni-short", 3)
    };
    let small = cap(Decimal::from_thousandths(300), "uni-heavy");
    assert!(message(small).contains("set 7 of seed 3: the first task alone exceeds utilization 0.3"));
    assert!(message(cap(Decimal::whole(10_000), "uni-light")).contains("more than 100000 tasks"));
    assert!(message(cap(Decimal::ZERO, "uni-light")).contains("not positive"));
    assert!(message(request(UncSize::Tasks(0), "uni-light", "uni-short", 1)).contains("tasks 0"));
}

#[test]
fn tasks_alone_are_those_of_the_set_or_none() {
    for seed in laxity_seeds::seeds!(0..20) {
        let wide = capped(Decimal::whole(2), LastTask::Drop, seed).prepare().expect("prepares");
        assert_eq!(wide.tasks(4).expect("tasks"), wide.generate(4).expect("a set").tasks());
        let size = UncSize::Cap { utilization: Decimal::from_thousandths(700), last: LastTask::Drop };
        let narrow = request(size, "uni-heavy", "uni-short", seed).prepare().expect("prepares");
        let tasks = narrow.tasks(4).expect("tasks");
        assert_eq!(tasks.is_empty(), narrow.generate(4).is_err(), "seed {seed}");
        assert!(tasks.len() <= 1, "no two tasks of .5 to .9 fit into .7");
    }
}

/// The workload of studies of kernels: as drawn up to a total, and above it scaled down to that.
#[test]
fn sets_above_a_total_are_scaled_down_to_it() {
    let drawn = |tasks: u32, rescale_above: Option<&str>, index| {
        let plain = Unc::new(
            UncSize::Tasks(tasks),
            "uni-light".parse().expect("named"),
            "uni-moderate".parse().expect("named"),
        );
        let most = rescale_above.map(|most| most.parse().expect("a number"));
        let generator = Generator::from(Unc { rescale_above: most, ..plain });
        generate(&Request { generator, common: Default::default(), seed: 7 }, index).expect("set")
    };
    let least = Duration::from_us(5);
    let mut scaled = 0;
    for (tasks, most) in [(8, "0.9"), (80, "0.9"), (20, "0.3"), (40, "0.01")] {
        // The set's number is the seed.
        for index in laxity_seeds::seeds!(0..20) {
            let (plain, set) = (drawn(tasks, None, index), drawn(tasks, Some(most), index));
            let limit = exactly(most.parse().expect("a number"));
            assert!(set.tasks().iter().all(|task| task.wcet >= least));
            // WCETs that are kept from getting shorter than the least add to it.
            let kept = set.tasks().iter().filter(|task| task.wcet == least);
            let more = kept.map(|task| Utilization::of(task.wcet, task.period()));
            let limit_with_kept = more.fold(limit.clone(), |sum, share| sum.plus(&share));
            assert!(set.utilization() <= limit_with_kept, "{tasks} tasks, {most}, set {index}");
            if plain.utilization() <= limit {
                assert!(plain.tasks() == set.tasks(), "nothing is changed");
                continue;
            }
            scaled += 1;
            let alike = set.tasks().iter().zip(plain.tasks());
            assert!(
                alike
                    .clone()
                    .all(|(own, drawn)| own.period() == drawn.period() && own.wcet <= drawn.wcet.max(least))
            );
            // No more is taken away than that: a part in a million and a ns of each task.
            let lost = alike.map(|(own, _)| Utilization::of(Duration::from_ns(1), own.period()));
            let slack = lost.fold(Utilization::ratio(1, 1_000_000), |sum, share| sum.plus(&share));
            assert!(set.utilization().plus(&slack) >= limit, "{tasks} tasks, {most}, set {index}");
        }
    }
    laxity_seeds::assert_together!(scaled > 40, "{scaled} of 80 were scaled down");
}

#[test]
fn a_total_of_nothing_is_refused() {
    let parameters = [("tasks", "4"), ("rescale-above", "0")];
    let parameters = parameters.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    let request = Request::from_parameters("unc", 1, &parameters).expect("reads");
    assert!(generate(&request, 0).expect_err("refused").message.contains("rescale-above 0"));
}

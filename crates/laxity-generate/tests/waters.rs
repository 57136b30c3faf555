//! `waters` against the published table.

use laxity_generate::{
    Decimal, Generator, RUNNABLE_CLASSES, Request, Runnable, Waters, WatersDemand, generate,
};
use laxity_model::{Demand, Duration, Utilization};

const RUNNABLES: u32 = 1_000_000;

fn mean_and_error(sample: &[f64]) -> (f64, f64) {
    let mean = sample.iter().sum::<f64>() / sample.len() as f64;
    let variance = sample.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / sample.len() as f64;
    (mean, (variance / sample.len() as f64).sqrt())
}

/// A uniform sample on [low, high]: all inside, mean in the middle, the whole width used.
fn assert_uniform(sample: &[f64], [low, high]: [f64; 2], what: &str) {
    let (mean, error) = mean_and_error(sample);
    assert!((mean - (low + high) / 2.0).abs() < 5.0 * error, "{what}: mean {mean} in [{low}, {high}]");
    // 12 times the variance of a uniform distribution is its width squared
    let width = error * (12.0 * sample.len() as f64).sqrt();
    assert!((width / (high - low) - 1.0).abs() < 0.05, "{what}: width {width} of [{low}, {high}]");
    assert!(sample.iter().all(|&x| x > low * 0.98 && x < high * 1.02), "{what}: outside [{low}, {high}]");
}

#[test]
fn shares_times_and_factors_are_the_tables() {
    // One sample, always the same: of thousands, some are further from the mean than five standard errors.
    let drawn = Waters::new(RUNNABLES).runnables(2015, 0).expect("runnables");
    for (class, row) in RUNNABLE_CLASSES.iter().enumerate() {
        let of_class: Vec<&Runnable> = drawn.iter().filter(|runnable| runnable.class == class).collect();
        let what = |quantity: &str| format!("{} ms: {quantity}", row.period_ms);
        let p = f64::from(row.share_percent) / 85.0;
        let sigma = (f64::from(RUNNABLES) * p * (1.0 - p)).sqrt();
        let seen = of_class.len() as f64;
        assert!((seen - f64::from(RUNNABLES) * p).abs() < 5.0 * sigma, "{} {seen}", what("share"));
        let [min, mean, max] = row.acet_us;
        let acets: Vec<f64> = of_class.iter().map(|runnable| runnable.acet.as_ns() as f64 / 1e3).collect();
        let (drawn_mean, error) = mean_and_error(&acets);
        assert!((drawn_mean - mean).abs() < 5.0 * error, "{} {drawn_mean} is not {mean}", what("ACET"));
        assert!(acets.iter().all(|&acet| acet >= min && acet <= max), "{}", what("ACET range"));
        let greatest = acets.iter().copied().fold(0.0, f64::max);
        assert!(greatest > 0.8 * max, "{} {greatest} of {max}", what("greatest ACET"));
        // rounding to ns is coarse where a runnable takes a few hundred: look at those above 1 us
        let long = |ratio: fn(&Runnable) -> f64| -> Vec<f64> {
            of_class
                .iter()
                .filter(|runnable| mean < 1.0 || runnable.acet.as_ns() > 1_000)
                .map(|r| ratio(r))
                .collect()
        };
        let bcet = long(|r| r.bcet.as_ns() as f64 / r.acet.as_ns() as f64);
        let wcet = long(|r| r.wcet.as_ns() as f64 / r.acet.as_ns() as f64);
        assert_uniform(&bcet, row.bcet_factor, &what("BCET factor"));
        assert_uniform(&wcet, row.wcet_factor, &what("WCET factor"));
    }
}

#[test]
fn the_table_is_the_published_one() {
    let shares: u32 = RUNNABLE_CLASSES.iter().map(|row| row.share_percent).sum();
    assert_eq!(shares, 85, "100 % less 15 % angle-synchronous");
    assert!(
        RUNNABLE_CLASSES.iter().all(|row| row.acet_us[0] < row.acet_us[1] && row.acet_us[1] < row.acet_us[2])
    );
    assert!(RUNNABLE_CLASSES.windows(2).all(|rows| rows[0].period_ms < rows[1].period_ms));
}

fn request(options: Waters, seed: u64) -> Request {
    Request { generator: Generator::from(options), common: Default::default(), seed }
}

#[test]
fn unscaled_tasks_are_the_sums_of_their_runnables() {
    for seed in laxity_seeds::seeds!(0..50) {
        let options = Waters::new(100);
        let runnables = options.runnables(seed, 4).expect("runnables");
        let set = generate(&request(options, seed), 4).expect("set");
        for (class, row) in RUNNABLE_CLASSES.iter().enumerate() {
            let period = Duration::from_ms(row.period_ms);
            let of_tasks: Duration =
                set.tasks().iter().filter(|t| t.period() == period).map(|t| t.wcet).sum();
            let of_runnables: Duration = runnables.iter().filter(|r| r.class == class).map(|r| r.wcet).sum();
            assert_eq!(of_tasks, of_runnables, "seed {seed}, {period}");
        }
    }
}

#[test]
fn a_target_utilization_is_met_and_tasks_are_split() {
    let total: Decimal = "3.2".parse().expect("decimal");
    let split = Waters {
        utilization: Some(total),
        task_utilization_max: "0.4".parse().expect("decimal"),
        demand: WatersDemand::Acet,
        ..Waters::new(1_000)
    };
    for seed in laxity_seeds::seeds!(0..20) {
        let set = generate(&request(split.clone(), seed), 0).expect("set");
        let (drawn, target) = (set.utilization(), Utilization::ratio(32, 10));
        assert!(drawn <= target && drawn.to_f64() > 3.2 - 1e-4, "seed {seed}: {drawn:.9}");
        assert!(
            set.tasks().iter().all(|task| task.utilization() <= Utilization::ratio(4, 10)),
            "seed {seed}"
        );
        assert!(
            set.tasks().len() > 8,
            "seed {seed}: {} tasks cannot hold 3.2 with 0.4 each",
            set.tasks().len()
        );
        for task in set.tasks() {
            assert!(matches!(task.demand, Some(Demand::Fraction(share)) if (1..1_000_000).contains(&share)));
        }
    }
}

#[test]
fn a_runnable_that_no_core_can_hold_is_explained() {
    let options = Waters { utilization: Some(Decimal::whole(5)), ..Waters::new(2) };
    let message = generate(&request(options, 1), 0).expect_err("5 CPUs for 2 runnables").message;
    assert!(message.contains("set 0 of seed 1") && message.contains("above its period"), "{message}");
    let refused = |options: Waters| generate(&request(options, 1), 0).expect_err("must be refused").message;
    assert!(refused(Waters::new(0)).contains("runnables 0"));
    assert!(refused(Waters { task_utilization_max: Decimal::ZERO, ..Waters::new(9) }).contains("limit 0"));
    assert!(refused(Waters { utilization: Some(Decimal::ZERO), ..Waters::new(9) }).contains("not positive"));
}

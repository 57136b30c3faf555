//! `emberson`: totals, rounding, lelli2012's rescaling, and parameters that no set can have.

use laxity_generate::{Decimal, Emberson, Generator, Periods, Request, Rescale, generate, lelli2012};
use laxity_model::{ByteSize, Duration, TaskSet, Utilization};
use proptest::prelude::*;

fn decimal(text: &str) -> Decimal {
    text.parse().expect("decimal")
}

fn exactly(decimal: Decimal) -> Utilization {
    Utilization::ratio(decimal.billionths(), 1_000_000_000)
}

fn request(options: Emberson, seed: u64) -> Request {
    Request { generator: Generator::from(options), common: Default::default(), seed }
}

/// The sum of 1 ns / T: how much rounding down can take from the total.
fn rounding(set: &TaskSet) -> Utilization {
    set.tasks().iter().fold(Utilization::zero(), |sum, task| {
        sum.plus(&Utilization::of(Duration::from_ns(1), task.period()))
    })
}

fn assert_total(set: &TaskSet, total: Decimal) {
    let (drawn, total) = (set.utilization(), exactly(total));
    assert!(drawn <= total, "{drawn:.12} exceeds {total:.12}");
    // a double's last bit a task on top of the rounding
    let slack = rounding(set).plus(&Utilization::ratio(set.tasks().len() as u64, 1_000_000_000_000));
    assert!(drawn.plus(&slack) >= total, "{drawn:.12} falls short of {total:.12}");
}

laxity_seeds::properties! {
    #[test]
    fn totals_are_exact_within_rounding(seed: u64, tasks in 1u32..80, share in 1u32..=1000) {
        let total = Decimal::from_thousandths(share).checked_mul(tasks).expect("small");
        let set = generate(&request(Emberson::new(tasks, total), seed), 0).expect("feasible");
        prop_assert_eq!(set.tasks().len(), tasks as usize);
        assert_total(&set, total);
        for task in set.tasks() {
            prop_assert!(task.wcet <= task.period() && task.period().as_ns() % 1_000_000 == 0);
            prop_assert!((10..=100).contains(&(task.period().as_ns() / 1_000_000)));
        }
    }

    /// lelli2012, 5.3: C >= Cmin, utilization <= U/m, total U.
    #[test]
    fn rescaled_sets_meet_the_papers_three_requirements(
        seed: u64, cores in 1u32..=16, tasks_per_core in 1u32..=6, ratio in 300u32..=1000,
    ) {
        let total = Decimal::from_thousandths(ratio).checked_mul(cores).expect("small");
        let wcet_min = Duration::from_us(50);
        let rescale = Some(Rescale { cores, wcet_min });
        let tasks = cores * tasks_per_core;
        let options = Emberson { rescale, ..Emberson::new(tasks, total) };
        let set = generate(&request(options, seed), 3).expect("feasible");
        assert_total(&set, total);
        let cap = exactly(Decimal::from_thousandths(ratio));
        for task in set.tasks() {
            prop_assert!(task.wcet >= wcet_min, "{} below Cmin", task.wcet);
            prop_assert!(task.utilization() <= cap, "{:.12} above {:.12}", task.utilization(), cap);
        }
    }
}

#[test]
fn a_set_of_full_tasks_fills_its_cores_exactly() {
    let set = generate(&request(Emberson::new(4, Decimal::whole(4)), 1), 0).expect("feasible");
    assert_eq!(set.utilization(), Utilization::whole(4));
    assert!(set.tasks().iter().all(|task| task.wcet == task.period()));
}

#[test]
fn a_set_does_not_depend_on_the_sets_before_it() {
    let request = request(Emberson::new(8, decimal("3.2")), 9);
    let prepared = request.prepare().expect("feasible");
    let forwards: Vec<_> = (0..6).map(|index| prepared.generate(index).expect("set")).collect();
    let mut backwards: Vec<_> = (0..6).rev().map(|index| prepared.generate(index).expect("set")).collect();
    backwards.reverse();
    assert_eq!(forwards, backwards);
    assert_eq!(forwards[5], generate(&request, 5).expect("set"));
    let wcets = |set: &TaskSet| set.tasks().iter().map(|task| task.wcet).collect::<Vec<_>>();
    assert!((1..6).all(|k| wcets(&forwards[k]) != wcets(&forwards[k - 1])));
}

/// Other periods leave the utilizations as they were, and the other way round.
#[test]
fn utilizations_and_periods_are_independent_streams() {
    let drawn = |options: Emberson| generate(&request(options, 4), 0).expect("set");
    let options = Emberson::new(6, decimal("2.5"));
    let reference = drawn(options.clone());
    let heavier = drawn(Emberson { utilization: decimal("3.5"), ..options.clone() });
    let longer = drawn(Emberson { periods: "uniform:1s,2s".parse().expect("periods"), ..options });
    for id in 0..6 {
        assert_eq!(reference.tasks()[id].period(), heavier.tasks()[id].period());
        let [a, b] = [&reference, &longer].map(|set| set.tasks()[id].utilization().to_f64());
        assert!((a - b).abs() < 1e-6);
    }
}

#[test]
fn infeasible_parameters_are_explained() {
    let refused = |options: Emberson| {
        let error = generate(&request(options, 0), 0).expect_err("must be refused");
        assert_eq!(error.failure.exit_code(), 2);
        assert!(error.hint.is_some());
        error.message
    };
    let options = Emberson::new(4, decimal("2"));
    assert!(
        refused(Emberson::new(4, decimal("4.1"))).contains("4 tasks cannot have the total utilization 4.1")
    );
    assert!(refused(Emberson::new(4, Decimal::ZERO)).contains("not positive"));
    assert!(refused(Emberson::new(0, decimal("2"))).contains("tasks 0 is not within 1 to 100000"));
    assert!(refused(Emberson::new(100_001, decimal("2"))).contains("tasks 100001 is not within"));
    let coarse = Emberson { granularity: Duration::from_ms(3), ..options.clone() };
    assert!(refused(coarse).contains("not both multiples"));
    let rescaled =
        |cores, wcet_min| Emberson { rescale: Some(Rescale { cores, wcet_min }), ..options.clone() };
    assert!(refused(rescaled(5, Duration::from_us(50))).contains("cores 5 is not within 1 to 4"));
    assert!(refused(rescaled(1, Duration::from_us(50))).contains("exceeds the 1 CPUs"));
    assert!(refused(rescaled(2, Duration::from_ms(5))).contains("may need more than utilization 2"));
    let backwards = Periods { min: Duration::from_ms(100), max: Duration::from_ms(10), ..Periods::default() };
    assert!(refused(Emberson { periods: backwards, ..options.clone() }).contains("not within"));
}

#[test]
fn lelli2012s_grid_is_complete_and_its_cells_are_independent() {
    let cells = lelli2012::grid(4, &lelli2012::WORKING_SETS, 1).expect("grid");
    assert_eq!(cells.len(), 3 * 3 * 2);
    let mut wcets = Vec::new();
    for cell in &cells {
        let sets = cell.sets(lelli2012::SETS_PER_CELL).expect("sets");
        assert_eq!(sets.len(), 3);
        for set in sets {
            assert_eq!(set.tasks().len(), 4 * cell.tasks_per_core as usize);
            assert_total(&set, cell.utilization_ratio.checked_mul(4).expect("small"));
            assert!(set.tasks().iter().all(|task| task.working_set.size_bytes == cell.wss.0));
            wcets.push(set.tasks()[0].wcet);
        }
    }
    wcets.sort();
    wcets.dedup();
    assert_eq!(wcets.len(), 54, "two cells or sets are the same");
    let alone = lelli2012::grid(4, &[ByteSize(256 << 10)], 1).expect("grid");
    assert_eq!(alone[0], cells[1]);
    let named = cells[0].sets(1).expect("sets").remove(0);
    assert_eq!(named.name(), "R0.6-x2-16KiB-0");
    let again = laxity_generate::regenerate(named.provenance().expect("generated")).expect("regenerated");
    assert_eq!(again.tasks(), named.tasks());
}

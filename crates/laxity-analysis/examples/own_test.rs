//! A schedulability test of your own: the hyperbolic bound of rate-monotonic scheduling, held against an exact test.
//!
//! Bini, Buttazzo, Buttazzo: Rate monotonic analysis: the hyperbolic bound, IEEE Transactions on Computers 52(7), 2003: tasks with
//! D = T on one processor meet all deadlines if the product of U_i + 1 is at most 2.
//!
//! `cargo run --release -p laxity-analysis --example own_test`

use laxity_analysis::scheduler::{Analysed, Asked, Placed};
use laxity_analysis::{
    AnalysedCell, Citation, Exactness, Guarantee, Priorities, Source, SporadicTask, Test, TestInfo, Theorem,
    Verdict, Work,
};
use laxity_generate::{Emberson, Request};

/// The bound.
pub struct Hyperbolic;

static INFO: TestInfo = TestInfo {
    name: "hyperbolic",
    source: Source::Papers(&[Citation {
        paper: "Bini, Buttazzo, Buttazzo: Rate monotonic analysis: the hyperbolic bound, IEEE TC 52(7), 2003",
        theorem: Theorem::Numbered("Theorem 1"),
    }]),
    priorities: Priorities::Fixed,
    guarantee: Guarantee::Hard,
    exactness: Exactness::Sufficient,
    complexity: "O(n)",
    assumptions: &["m = 1", "D = T", "priorities are rate-monotonic", "J = 0"],
};

/// 1 in the fixed point of the product.
const ONE: u128 = 1 << 60;

impl Test for Hyperbolic {
    fn info(&self) -> &'static TestInfo {
        &INFO
    }

    fn verdict(&self, tasks: &[SporadicTask], processors: u32, work: &mut Work) -> Result<Verdict, Verdict> {
        let in_order = tasks.windows(2).all(|pair| pair[0].period_ns <= pair[1].period_ns);
        if processors != 1 || !in_order {
            return Ok(Verdict::needs(
                if in_order { "m = 1" } else { "priorities are rate-monotonic" },
                None,
            ));
        }
        if let Some(task) =
            tasks.iter().position(|task| task.deadline_rel_ns != task.period_ns || task.jitter_ns > 0)
        {
            return Ok(Verdict::needs("D = T, and no jitter", Some(task)));
        }
        work.take(tasks.len() as u64)?;
        // Rounded up: what is accepted is so exactly. As U <= 1 holds by now, the product is below e.
        let product = tasks.iter().fold(ONE, |product, task| {
            product + (product * u128::from(task.wcet_ns)).div_ceil(u128::from(task.period_ns))
        });
        Ok(if product <= 2 * ONE { Verdict::SCHEDULABLE } else { Verdict::FAILS })
    }
}

/// Of random sets at each utilization: how many each test accepts. The exact one accepts all that the bound does.
pub fn main() {
    let scheduler: Analysed = "p-rm".parse().expect("a scheduler");
    println!("U     hyperbolic  exact  of 200");
    for percent in (60..=100).step_by(5) {
        let emberson =
            Emberson::new(6, format!("0.{percent:02}").replace("0.100", "1").parse().expect("decimal"));
        let request = Request { generator: emberson.into(), common: Default::default(), seed: 7 };
        let prepared = request.prepare().expect("a generator");
        let (mut bound, mut exact) = (0, 0);
        for index in 0..200 {
            let set = prepared.generate(index).expect("a set");
            let tasks = SporadicTask::of_set(&set);
            let cells = [AnalysedCell { processors: 1, tasks: (0..tasks.len()).collect() }];
            let placed = Placed {
                tasks: &tasks,
                working_sets: &[],
                given_priorities: &[],
                cells: &cells,
                servers: &[],
                overheads: None,
            };
            let accepts = |test: Option<&'static dyn Test>| {
                scheduler
                    .judge(&placed, Asked { test, ..Asked::of(Guarantee::Hard) })
                    .verdict
                    .is_schedulable()
            };
            let (by_bound, by_exact) = (accepts(Some(&Hyperbolic)), accepts(None));
            assert!(by_exact || !by_bound, "set {index} at {percent} %: {tasks:?}");
            (bound, exact) = (bound + u32::from(by_bound), exact + u32::from(by_exact));
        }
        println!("{:<4}  {bound:>10}  {exact:>5}", f64::from(percent) / 100.0);
    }
}

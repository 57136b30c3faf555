//! Deadlines, phases, arrivals and memory, which every generator has.

use laxity_generate::{Arrivals, Common, Deadlines, Decimal, Emberson, Generator, Phases, Request, generate};
use laxity_model::{AccessPattern, Arrival, ByteSize, Task};

fn tasks(common: Common, count: u32) -> Vec<Task> {
    let generator = Generator::from(Emberson::new(
        count,
        Decimal::from_thousandths(400).checked_mul(count).expect("small"),
    ));
    generate(&Request { generator, common, seed: 6 }, 0).expect("set").tasks().to_vec()
}

fn with_deadlines(text: &str) -> Vec<Task> {
    tasks(Common { deadlines: text.parse().expect("deadlines"), ..Common::default() }, 2_000)
}

/// The mean of (D - low) / (high - low) with its bounds per task, for deadlines uniform in [low, high].
fn mean_place(tasks: &[Task], low: impl Fn(f64, f64) -> f64, high: impl Fn(f64) -> f64) -> f64 {
    let place = |task: &Task| {
        let [c, t, d] = [task.wcet, task.period(), task.deadline_rel].map(|time| time.as_ns() as f64);
        let place = (d - low(c, t)) / (high(t) - low(c, t));
        assert!((-1e-6..=1.0 + 1e-6).contains(&place), "C {c} T {t} D {d}");
        place
    };
    tasks.iter().map(place).sum::<f64>() / tasks.len() as f64
}

#[test]
fn deadlines_follow_their_rule() {
    // 2000 uniform numbers: the mean's standard error is 0.0065
    assert!(with_deadlines("implicit").iter().all(|task| task.deadline_rel == task.period()));
    let constrained = with_deadlines("constrained:0.5");
    assert!((mean_place(&constrained, |c, t| c + 0.5 * (t - c), |t| t) - 0.5).abs() < 0.033);
    let loosest = with_deadlines("constrained:1");
    assert!(loosest.iter().all(|task| task.deadline_rel == task.period()));
    let arbitrary = with_deadlines("arbitrary:3");
    assert!((mean_place(&arbitrary, |c, _| c, |t| 3.0 * t) - 0.5).abs() < 0.033);
    for task in with_deadlines("factor:0.25") {
        assert_eq!(task.deadline_rel.as_ns(), (task.period().as_ns() / 4).max(task.wcet.as_ns()));
    }
    for task in with_deadlines("factor:2") {
        assert_eq!(task.deadline_rel.as_ns(), 2 * task.period().as_ns());
    }
}

#[test]
fn deadlines_out_of_range_are_refused() {
    for text in ["constrained:1.1", "factor:0", "factor:101", "arbitrary:0.9", "arbitrary:101"] {
        let common = Common { deadlines: text.parse().expect("reads"), ..Common::default() };
        let generator = Generator::from(Emberson::new(2, Decimal::ONE));
        let error = generate(&Request { generator, common, seed: 6 }, 0).expect_err(text);
        assert!(error.message.contains(text), "{}", error.message);
    }
    for text in ["", "implicit:1", "constrained", "constrained:x", "loose:1"] {
        assert!(text.parse::<Deadlines>().is_err(), "{text}");
    }
}

#[test]
fn phases_are_uniform_below_the_period() {
    assert!(tasks(Common::default(), 100).iter().all(|task| task.phase.is_zero()));
    let phased = tasks(Common { phases: Phases::Uniform, ..Common::default() }, 2_000);
    let share = |task: &Task| task.phase.as_ns() as f64 / task.period().as_ns() as f64;
    assert!(phased.iter().all(|task| task.phase < task.period()));
    let mean = phased.iter().map(share).sum::<f64>() / 2_000.0;
    assert!((mean - 0.5).abs() < 0.033, "{mean}");
}

#[test]
fn working_sets_are_drawn_from_the_list() {
    let wss = vec![ByteSize(16 << 10), ByteSize(256 << 10)];
    let common = Common { wss, read_write: (3, 2), access: AccessPattern::Random, ..Common::default() };
    let drawn = tasks(common, 2_000);
    let small = drawn.iter().filter(|task| task.working_set.size_bytes == 16 << 10).count();
    // binomial(2000, 1/2): sd 22.4
    assert!(small.abs_diff(1_000) < 112, "{small}");
    for task in &drawn {
        let memory = task.working_set;
        assert!([16 << 10, 256 << 10].contains(&memory.size_bytes));
        assert_eq!((memory.reads, memory.writes, memory.pattern), (3, 2, AccessPattern::Random));
    }
    for common in
        [Common { wss: vec![], ..Common::default() }, Common { read_write: (0, 0), ..Common::default() }]
    {
        let generator = Generator::from(Emberson::new(2, Decimal::ONE));
        assert!(generate(&Request { generator, common, seed: 6 }, 0).is_err());
    }
}

/// No option changes what another option draws.
#[test]
fn options_do_not_disturb_each_other() {
    let plain = tasks(Common::default(), 50);
    let all = Common {
        deadlines: "constrained:0.2".parse().expect("deadlines"),
        phases: Phases::Uniform,
        arrivals: Arrivals::Sporadic,
        wss: vec![ByteSize(1), ByteSize(2)],
        ..Common::default()
    };
    let full = tasks(all.clone(), 50);
    let only_phases = tasks(Common { phases: Phases::Uniform, ..Common::default() }, 50);
    for id in 0..50 {
        assert_eq!((plain[id].wcet, plain[id].period()), (full[id].wcet, full[id].period()));
        assert_eq!(only_phases[id].phase, full[id].phase);
        assert!(matches!(full[id].arrival, Arrival::Sporadic { .. }));
        assert!(matches!(plain[id].arrival, Arrival::Periodic { .. }));
    }
}

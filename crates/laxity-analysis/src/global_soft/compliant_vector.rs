//! Tardiness bounds by compliant vectors, for global EDF and global fair lateness (G-FL): Algorithm 1 of
//! Erickson, Guan and Baruah (2010); constraint sets 3.1 to 3.5 of Erickson's thesis (2014) for what Erickson
//! and Anderson (2012) show.
//!
//! 1. A job's priority is a point in time, Y_i after its arrival; the earliest goes first. EDF: Y_i = D_i. G-FL:
//!    Y_i = D_i - C_i (m - 1)/m. Taking the same from all Y changes no decision, so the least is taken as 0. D is arbitrary.
//! 2. S_i = C_i max(0, 1 - Y_i/T_i) and S is their sum; G(x) is the sum of the ceil(U) - 1 largest x_i u_i + C_i - S_i.
//! 3. A vector x >= 0 is compliant if m x_i >= G(x) + S - C_i for all i. Then a job of task i has completed
//!    Y_i + x_i + C_i after its arrival (Erickson and Anderson). Parts of x are not taken below 0, as SchedCAT does where
//!    C_i > m s: its bounds are lower there.
//! 4. x_i = max(0, s - C_i/m) is compliant if M(s) = G(x) + S - m s <= 0. M is convex and piecewise linear, and falls at
//!    least with slope -1: its slope is the sum of at most m - 1 utilizations, less m. So every U <= m has a bound.
//! 5. m s is rounded up to the least whole number of ns with M(s) <= 0: since m Y_i is whole as well, the bounds are those of
//!    the least s, rounded up to whole ns.
//! 6. With D = T and U <= 1, nothing is late under EDF (see Devi and Anderson).
//!
//! Nothing overflows: sum of C_i <= m max T_i <= m 2^50 as U <= m, so m s <= m M(0) <= m^2 2^50, and no product exceeds
//! C (m s + m T) < 2^126 for m <= 2^12.
//!
//! s is found from below by tangents, whose zeros do not exceed that of a convex function; then it is exact: M is evaluated
//! with integer quotients and a sum of remainders ([`LoadSum`]).

use super::{ASSUMPTIONS, covered, utilization_ceiling};
use crate::{
    Bounds, Citation, Exactness, Guarantee, OutOfWork, Priorities, Source, SporadicTask, Test, TestInfo,
    Theorem, Verdict, Work,
};
use laxity_model::LoadSum;
use std::cmp::Ordering;

/// Where the priority points of jobs are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PriorityPoints {
    /// At the deadline: global EDF.
    Deadline,
    /// C (m - 1)/m before the deadline: global fair lateness.
    FairLateness,
}

/// The tardiness bounds of the least compliant vector.
#[derive(Debug, Clone, Copy)]
pub struct CompliantVector {
    /// Of which scheduler.
    pub priority_points: PriorityPoints,
}

/// The bounds of schedulers like EDF, by where their priority points are: the thesis numbers the conditions.
const BY_PRIORITY_POINTS: Citation = Citation {
    paper: "Erickson, Anderson: Fair lateness scheduling: reducing maximum lateness in G-EDF-like \
        scheduling, ECRTS 2012, and Erickson: Managing tardiness bounds and overload in soft real-time \
        systems, PhD thesis, University of North Carolina at Chapel Hill, 2014",
    theorem: Theorem::Numbered("chapter 3, constraint sets 3.1 to 3.5"),
};

static G_EDF: TestInfo = TestInfo {
    name: "compliant-vector",
    source: Source::Papers(&[
        Citation {
            paper: "Erickson, Guan, Baruah: Tardiness bounds for global EDF with deadlines different \
                from periods, OPODIS 2010",
            theorem: Theorem::Numbered("Algorithm 1"),
        },
        BY_PRIORITY_POINTS,
    ]),
    priorities: Priorities::EarliestDeadlineFirst,
    guarantee: Guarantee::Soft,
    exactness: Exactness::Exact,
    complexity: "O(n) a step of Newton's method",
    assumptions: ASSUMPTIONS,
};

static G_FL: TestInfo = TestInfo {
    name: "compliant-vector-g-fl",
    source: Source::Papers(&[BY_PRIORITY_POINTS]),
    priorities: Priorities::FairLateness,
    ..G_EDF
};

impl Test for CompliantVector {
    fn info(&self) -> &'static TestInfo {
        match self.priority_points {
            PriorityPoints::Deadline => &G_EDF,
            PriorityPoints::FairLateness => &G_FL,
        }
    }

    fn verdict(&self, tasks: &[SporadicTask], processors: u32, work: &mut Work) -> Result<Verdict, Verdict> {
        covered(tasks, processors)?;
        work.take(tasks.len() as u64)?;
        let ceiling = utilization_ceiling(tasks, processors);
        let edf = self.priority_points == PriorityPoints::Deadline;
        if edf && ceiling <= 1 && tasks.iter().all(|task| task.deadline_rel_ns == task.period_ns) {
            return Ok(Verdict::Schedulable(Bounds::Tardiness(vec![0; tasks.len()])));
        }
        let points = self.points(tasks, processors);
        let mut excess = Excess::new(tasks, &points, processors, ceiling as usize - 1);
        let scaled_s = excess.least_compliant(work)?;
        let late = |(task, &point)| excess.tardiness(task, point, scaled_s);
        Ok(Verdict::Schedulable(Bounds::Tardiness(tasks.iter().zip(&points).map(late).collect())))
    }
}

impl CompliantVector {
    /// m Y_i, the least of which is 0.
    fn points(&self, tasks: &[SporadicTask], processors: u32) -> Vec<i128> {
        let m = i128::from(processors);
        let before_deadline = match self.priority_points {
            PriorityPoints::Deadline => 0,
            PriorityPoints::FairLateness => m - 1,
        };
        let point = |task: &SporadicTask| {
            m * i128::from(task.deadline_rel_ns) - before_deadline * i128::from(task.wcet_ns)
        };
        let least = tasks.iter().map(point).min().unwrap_or(0);
        tasks.iter().map(|task| point(task) - least).collect()
    }
}

/// A task's part of M.
struct Line {
    wcet_ns: u64,
    period_ns: u64,
    /// m T_i
    scaled_period_ns: u64,
    /// m max(0, T_i - Y_i): S_i is C_i / (m T_i) times that.
    shortage: i128,
}

/// C_i - S_i + x_i u_i for some s, as a whole number and a proper fraction of m T_i.
#[derive(Clone, Copy)]
struct Value {
    line: usize,
    whole: i128,
    part: u64,
}

/// M, and where it has been evaluated.
struct Excess {
    m: i128,
    largest: usize,
    lines: Vec<Line>,
    /// Whole numbers in S.
    shortage: i128,
    /// The proper fractions of S, and of G(x) while M is compared with 0.
    parts: LoadSum,
    /// Those of S in 2^-64 ns, rounded down.
    parts_q64: u128,
    values: Vec<Value>,
}

/// What M is at some s.
enum Sign {
    NotPositive,
    /// M in 2^-52, rounded down, and the slope with which it falls in 2^-52, rounded up.
    Positive {
        value_q52: u128,
        fall_q52: u128,
    },
}

impl Line {
    /// C k / (m T), rounded down, and the remainder over m T.
    fn share(&self, k: i128) -> (i128, u64) {
        let (product, divisor) = (i128::from(self.wcet_ns) * k, i128::from(self.scaled_period_ns));
        let whole = product.div_euclid(divisor);
        (whole, u64::try_from(product - whole * divisor).expect("below m T"))
    }
}

/// A proper fraction in 2^-64, rounded down.
fn q64(numerator: u64, denominator: u64) -> u128 {
    (u128::from(numerator) << 64) / u128::from(denominator)
}

impl Excess {
    fn new(tasks: &[SporadicTask], points: &[i128], processors: u32, largest: usize) -> Self {
        let m = i128::from(processors);
        let line = |(task, &point): (&SporadicTask, &i128)| Line {
            wcet_ns: task.wcet_ns,
            period_ns: task.period_ns,
            scaled_period_ns: u64::from(processors) * task.period_ns,
            shortage: (m * i128::from(task.period_ns) - point).max(0),
        };
        let lines: Vec<Line> = tasks.iter().zip(points).map(line).collect();
        let (mut shortage, mut parts, mut parts_q64) = (0, LoadSum::new(), 0);
        for line in &lines {
            let (whole, part) = line.share(line.shortage);
            shortage += whole;
            parts.add_ratio(part, line.scaled_period_ns);
            parts_q64 += q64(part, line.scaled_period_ns);
        }
        Excess { m, largest, lines, shortage, parts, parts_q64, values: Vec::new() }
    }

    /// The least whole m s with M(s) <= 0. A step of work is the evaluation of a line.
    fn least_compliant(&mut self, work: &mut Work) -> Result<i128, OutOfWork> {
        let mut scaled_s = 0;
        loop {
            work.take(self.lines.len() as u64)?;
            let Sign::Positive { value_q52, fall_q52 } = self.sign(scaled_s) else { return Ok(scaled_s) };
            // The tangent's zero is not beyond that of M. The next whole number is not either, as m s itself is before it.
            // 62 + 52 + 12 bits
            let step = value_q52 * self.m.unsigned_abs() / fall_q52;
            scaled_s += i128::try_from(step).expect("74 bits").max(1);
        }
    }

    /// Evaluates M(s) as far as is needed.
    fn sign(&mut self, scaled_s: i128) -> Sign {
        self.evaluate(scaled_s);
        let top = &self.values[..self.largest];
        let (mut parts_q64, mut fall_q64) = (self.parts_q64, u128::try_from(self.m).expect("m > 0") << 64);
        for value in top {
            let line = &self.lines[value.line];
            self.parts.add_ratio(value.part, line.scaled_period_ns);
            parts_q64 += q64(value.part, line.scaled_period_ns);
            if scaled_s > i128::from(line.wcet_ns) {
                fall_q64 -= q64(line.wcet_ns, line.period_ns);
            }
        }
        // M(s) <= 0 if the fractions do not exceed what the whole numbers leave.
        let left = scaled_s - self.shortage - top.iter().map(|value| value.whole).sum::<i128>();
        let compliant = u64::try_from(left).is_ok_and(|left| self.parts.cmp_ratio(left, 1).is_le());
        top.iter().for_each(|_| self.parts.pop());
        if compliant {
            return Sign::NotPositive;
        }
        let value_q64 = i128::try_from(parts_q64).expect("of thousands of fractions") - (left << 64);
        let value_q52 = u128::try_from(value_q64 >> 12).unwrap_or(0);
        Sign::Positive { value_q52, fall_q52: fall_q64.div_ceil(1 << 12) }
    }

    /// The values at m s, those of G(x) first.
    fn evaluate(&mut self, scaled_s: i128) {
        let lines = &self.lines;
        let value = |(place, line): (usize, &Line)| {
            let beyond = (scaled_s - i128::from(line.wcet_ns)).max(0);
            let (whole, part) = line.share(beyond - line.shortage);
            Value { line: place, whole: whole + i128::from(line.wcet_ns), part }
        };
        self.values.clear();
        self.values.extend(lines.iter().enumerate().map(value));
        let larger = |a: &Value, b: &Value| -> Ordering {
            let cross =
                |a: &Value, b: &Value| u128::from(a.part) * u128::from(lines[b.line].scaled_period_ns);
            b.whole.cmp(&a.whole).then_with(|| cross(b, a).cmp(&cross(a, b)))
        };
        if self.largest > 0 && self.largest < lines.len() {
            self.values.select_nth_unstable_by(self.largest, larger);
        }
    }

    /// Y_i + x_i + C_i - D_i, rounded up, at least 0.
    fn tardiness(&self, task: &SporadicTask, point: i128, scaled_s: i128) -> u64 {
        let wcet = i128::from(task.wcet_ns);
        let response = point + (scaled_s - wcet).max(0) + self.m * wcet;
        let late = (response - self.m * i128::from(task.deadline_rel_ns)).max(0);
        // s is below 2^63, C and Y below 2^50.
        u64::try_from(late / self.m + i128::from(late % self.m > 0)).expect("64 bits")
    }
}

//! Partitions and clusters: each is judged by itself, and what is said of them becomes one verdict.
//!
//! Assumptions beyond those of the tests:
//! 1. A task runs only on the processors of its cell: a partition if it is one, a cluster if there are more.
//! 2. Cells share nothing. Each task is in exactly one.
//!
//! The verdict is as exact as the tests are: of the placement, not of partitioned scheduling as such. Another placement may be
//! schedulable.

use crate::{Bounds, SporadicTask, Test, Verdict, Work};

/// Processors and the tasks placed on them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AnalysedCell {
    /// How many there are.
    pub processors: u32,
    /// The tasks, by their indices in the set, in any order: priorities remain those of the set.
    pub tasks: Vec<usize>,
}

/// Judges a placement: each cell by the test that `test_of` gives for it.
///
/// The bounds of all tasks if every cell is schedulable with bounds of one kind; no bounds if a test gives none or
/// another kind. Otherwise the verdict on the first cell that is not schedulable. Tasks have their numbers in the
/// whole set. A placement in which a task is in no cell or in several is not judged.
pub fn judge_cells<'t>(
    tasks: &[SporadicTask],
    cells: &[AnalysedCell],
    test_of: impl Fn(&AnalysedCell) -> &'t dyn Test,
    work: &mut Work,
) -> Verdict {
    if let Err(task) = each_in_one_cell(tasks.len(), cells) {
        return Verdict::needs("each task is in exactly one cell", task);
    }
    let mut bounds = Gathered { values: vec![0; tasks.len()], kind: None };
    for cell in cells.iter().filter(|cell| !cell.tasks.is_empty()) {
        let mut numbers = cell.tasks.clone();
        numbers.sort_unstable();
        let inside: Vec<_> = numbers.iter().map(|&number| tasks[number]).collect();
        match test_of(cell).judge(&inside, cell.processors, work) {
            Verdict::Schedulable(found) => bounds.add(&found, &numbers),
            refused => return refused.with_numbers(|at| Some(numbers[at])),
        }
    }
    Verdict::Schedulable(bounds.whole())
}

/// Otherwise the first task that is not, or nothing for a number that no task has.
pub(crate) fn each_in_one_cell(count: usize, cells: &[AnalysedCell]) -> Result<(), Option<usize>> {
    let mut placed = vec![0_u32; count];
    for &number in cells.iter().flat_map(|cell| &cell.tasks) {
        *placed.get_mut(number).ok_or(None)? += 1;
    }
    placed.iter().position(|&times| times != 1).map_or(Ok(()), |at| Err(Some(at)))
}

/// What bounds say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    ResponseTimes,
    Tardiness,
    Nothing,
}

/// The bounds of some cells, in the order of the set.
struct Gathered {
    values: Vec<u64>,
    kind: Option<Kind>,
}

impl Gathered {
    fn add(&mut self, bounds: &Bounds, numbers: &[usize]) {
        let (kind, values): (_, &[u64]) = match bounds {
            Bounds::ResponseTimes(values) => (Kind::ResponseTimes, values),
            Bounds::Tardiness(values) => (Kind::Tardiness, values),
            Bounds::None => (Kind::Nothing, &[]),
        };
        let agrees = self.kind.is_none_or(|before| before == kind);
        self.kind = Some(if agrees { kind } else { Kind::Nothing });
        for (&number, &value) in numbers.iter().zip(values) {
            self.values[number] = value;
        }
    }

    fn whole(self) -> Bounds {
        match self.kind {
            Some(Kind::ResponseTimes) => Bounds::ResponseTimes(self.values),
            Some(Kind::Tardiness) => Bounds::Tardiness(self.values),
            Some(Kind::Nothing) | None => Bounds::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FixedPriorityRta, Gfb, GlobalFixedPriorityGuan, Qpa};

    fn on(processors: u32, tasks: &[usize]) -> AnalysedCell {
        AnalysedCell { processors, tasks: tasks.to_vec() }
    }

    fn tasks() -> Vec<SporadicTask> {
        [(1, 4), (2, 5), (2, 6), (3, 9)].map(|(wcet, period)| SporadicTask::implicit(wcet, period)).to_vec()
    }

    fn by_rta(tasks: &[SporadicTask], cells: &[AnalysedCell]) -> Verdict {
        judge_cells(tasks, cells, |_| &FixedPriorityRta, &mut Work::default())
    }

    #[test]
    fn bounds_are_in_the_order_of_the_set_and_so_are_priorities() {
        let expected = Verdict::Schedulable(Bounds::ResponseTimes(vec![1, 2, 3, 5]));
        assert_eq!(by_rta(&tasks(), &[on(1, &[2, 0]), on(1, &[3, 1])]), expected);
        assert_eq!(by_rta(&tasks(), &[on(1, &[3, 1]), on(1, &[]), on(1, &[0, 2])]), expected);
    }

    #[test]
    fn the_witness_has_its_number_in_the_set() {
        let mut tasks = tasks();
        tasks[3] = SporadicTask::constrained(3, 4, 9);
        assert_eq!(by_rta(&tasks, &[on(1, &[0, 2]), on(1, &[1, 3])]), Verdict::fails_at(3));
        tasks[3].wcet_ns = 5;
        assert_eq!(by_rta(&tasks, &[on(1, &[0, 2]), on(1, &[1, 3])]), Verdict::fails_at(3));
    }

    #[test]
    fn assumptions_that_fail_have_the_number_in_the_set_too() {
        let mut tasks = tasks();
        tasks[2].deadline_rel_ns = 7;
        let clusters = [on(2, &[3, 1]), on(2, &[0, 2])];
        let verdict = judge_cells(&tasks, &clusters, |_| &GlobalFixedPriorityGuan, &mut Work::default());
        assert_eq!(verdict, Verdict::needs("D <= T", Some(2)));
        assert_eq!(by_rta(&tasks, &clusters), Verdict::needs("m = 1", None));
    }

    #[test]
    fn each_cell_has_its_test_and_steps_are_shared() {
        let cells = [on(1, &[0, 2]), on(2, &[1, 3])];
        let test_of = |cell: &AnalysedCell| -> &dyn Test { if cell.processors == 1 { &Qpa } else { &Gfb } };
        assert_eq!(judge_cells(&tasks(), &cells, test_of, &mut Work::default()), Verdict::SCHEDULABLE);
        assert_eq!(judge_cells(&tasks(), &cells, test_of, &mut Work::steps(3)), Verdict::OUT_OF_WORK);
        assert_eq!(judge_cells(&tasks(), &cells, test_of, &mut Work::steps(4)), Verdict::SCHEDULABLE);
    }

    #[test]
    fn bounds_of_some_tasks_are_none() {
        let cells = [on(1, &[0, 2]), on(2, &[1, 3])];
        let test_of = |cell: &AnalysedCell| -> &dyn Test {
            if cell.processors == 1 { &FixedPriorityRta } else { &Gfb }
        };
        assert_eq!(judge_cells(&tasks(), &cells, test_of, &mut Work::default()), Verdict::SCHEDULABLE);
    }

    #[test]
    fn each_task_is_in_one_cell() {
        let refused = |task| Verdict::needs("each task is in exactly one cell", task);
        assert_eq!(by_rta(&tasks(), &[on(1, &[0, 2]), on(1, &[1])]), refused(Some(3)));
        assert_eq!(by_rta(&tasks(), &[on(1, &[0, 1, 2]), on(1, &[1, 3])]), refused(Some(1)));
        assert_eq!(by_rta(&tasks(), &[on(1, &[0, 1]), on(1, &[2, 3, 4])]), refused(None));
        assert_eq!(by_rta(&[], &[on(1, &[])]), Verdict::SCHEDULABLE);
    }
}

//! A search among all orders of priorities, for tests under which Audsley's assignment is not optimal: those that ask for the response
//! times of the tasks of higher priority (Davis, Burns 2011, 6, which prune such a search as well).

/// The result of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Searched {
    /// An order that is accepted, the highest priority first.
    Found(Vec<usize>),
    /// No order is.
    None,
    /// None was found within the questions that were allowed.
    OutOfTrials,
}

/// Looks for an order of these tasks, which are tried as they come: `accepts` says whether tasks in this order, the highest priority
/// first, are schedulable, whatever is below them.
pub fn search_orders(tasks: &[usize], trials: u64, mut accepts: impl FnMut(&[usize]) -> bool) -> Searched {
    let mut search = Search { tasks, trials, order: Vec::new(), accepts: &mut accepts };
    match search.go_on() {
        Some(true) => Searched::Found(search.order),
        Some(false) => Searched::None,
        None => Searched::OutOfTrials,
    }
}

struct Search<'a> {
    tasks: &'a [usize],
    trials: u64,
    order: Vec<usize>,
    accepts: &'a mut dyn FnMut(&[usize]) -> bool,
}

impl Search<'_> {
    /// Whether the order so far can be completed; nothing if that was not found out.
    fn go_on(&mut self) -> Option<bool> {
        if self.order.len() == self.tasks.len() {
            return Some(true);
        }
        for &task in self.tasks {
            if self.order.contains(&task) {
                continue;
            }
            self.trials = self.trials.checked_sub(1)?;
            self.order.push(task);
            if (self.accepts)(&self.order) && self.go_on()? {
                return Some(true);
            }
            self.order.pop();
        }
        Some(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_only_order_and_says_when_there_is_none() {
        let only = [2, 0, 3, 1];
        let found = search_orders(&[0, 1, 2, 3], 1_000, |order| only.starts_with(order));
        assert_eq!(found, Searched::Found(only.to_vec()));
        assert_eq!(search_orders(&[0, 1, 2, 3], 1_000, |order| order.len() < 4), Searched::None);
        assert_eq!(search_orders(&[0, 1, 2, 3], 10, |order| order.len() < 4), Searched::OutOfTrials);
    }
}

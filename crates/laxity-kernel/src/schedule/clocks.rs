//! The clock of the kernel's deadlines and CLOCK_MONOTONIC.

use super::ThreadJobs;
use crate::rings::Record;
use laxity_trace::EventKind;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Wake-ups that agree on the clocks differ by less, in ns.
const CLOCKS_AGREE_NS: i128 = 20_000;

/// By how much CLOCK_MONOTONIC is ahead of the kernel's clock of deadlines. A thread that wakes up when its deadline is over
/// has a new one, D after that instant. One that still has its old deadline seems to have woken up too late, or, where it has
/// used budgets of later periods, too early: so it is what most wake-ups say.
pub(super) fn clock_ahead(of_thread: &BTreeMap<u32, Vec<Record>>, threads: &[ThreadJobs]) -> i128 {
    let mut said: Vec<i128> = Vec::new();
    for thread in threads {
        let (Some(deadline_rel_ns), Some(own)) = (thread.deadline_rel_ns, of_thread.get(&thread.tid)) else {
            continue;
        };
        let wakes = own.iter().filter(|one| one.event_kind() == Some(EventKind::Wake) && one.argument2 != 0);
        said.extend(wakes.map(|wake| {
            let woken_ns = i128::from(wake.argument2) - i128::from(deadline_rel_ns);
            i128::from(wake.time_ns) - woken_ns
        }));
    }
    said.sort_unstable();
    let agree = |from: usize| said.partition_point(|&one| one < said[from] + CLOCKS_AGREE_NS) - from;
    // The first of those that most agree with.
    (0..said.len()).max_by_key(|&from| (agree(from), Reverse(from))).map_or(0, |from| said[from])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rings::Kind;

    #[test]
    fn most_wake_ups_agree() {
        let wake = |time_ns: u64, deadline_ns: u64| Record {
            time_ns,
            kind: Kind::Event(EventKind::Wake).code(),
            argument2: deadline_ns,
            ..Record::default()
        };
        let ms = 1_000_000;
        let ahead = 70 * ms;
        let of_thread = BTreeMap::from([(
            7,
            vec![
                wake(100 * ms, 100 * ms - ahead + 10 * ms - 300),
                // The deadline is an old one; it is that of a budget two periods later.
                wake(105 * ms, 100 * ms - ahead + 10 * ms),
                wake(110 * ms, 110 * ms - ahead + 30 * ms),
                wake(115 * ms, 115 * ms - ahead + 30 * ms),
                wake(120 * ms, 120 * ms - ahead + 10 * ms - 900),
                wake(130 * ms, 130 * ms - ahead + 10 * ms - 500),
            ],
        )]);
        let threads = [ThreadJobs { tid: 7, deadline_rel_ns: Some(10 * ms), jobs: Vec::new() }];
        assert_eq!(clock_ahead(&of_thread, &threads), i128::from(ahead + 300));
        assert_eq!(clock_ahead(&BTreeMap::new(), &threads), 0);
    }
}

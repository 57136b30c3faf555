//! What SCHED_DEADLINE charged threads for, by its own accounts: what was left of a thread's budget when it came onto a CPU less
//! what was left when it gave way.
//!
//! A budget that was replenished in between tells nothing; that shows in the deadline, which is another one then.

use super::Recorded;
use crate::rings::{NONE, Record};
use laxity_trace::EventKind;
use std::collections::BTreeMap;

/// A charge that is longer than the time on the CPU by more than this is none: clocks are read one after the other.
const CLOCKS_DIFFER_NS: u64 = 5_000;

/// While a thread had a CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Charge {
    from_ns: u64,
    to_ns: u64,
    charged_ns: u64,
}

/// The charges of a run. Instants are ns of CLOCK_MONOTONIC.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Charges {
    /// By thread, ascending.
    of: BTreeMap<u32, Vec<Charge>>,
}

impl Charges {
    /// From the records of the kernel's own classes.
    pub fn of(recorded: &Recorded) -> Self {
        let mut on: BTreeMap<u32, &Record> = BTreeMap::new();
        let mut of: BTreeMap<u32, Vec<Charge>> = BTreeMap::new();
        let mut records: Vec<&Record> = recorded.records.iter().filter(|record| record.cpu != NONE).collect();
        records.sort_by_key(|record| record.time_ns);
        for record in records {
            match record.event_kind() {
                Some(EventKind::Resume) => drop(on.insert(record.pid, record)),
                Some(EventKind::Preempt | EventKind::Throttle) => {
                    let charge = on.remove(&record.pid).and_then(|came| charge(came, record));
                    charge.into_iter().for_each(|charge| of.entry(record.pid).or_default().push(charge));
                }
                _ => {}
            }
        }
        Charges { of }
    }

    /// What the thread of this id was charged for between two instants, during which it had a CPU: a part of what it was
    /// charged for while it had it. Nothing where that is not known.
    pub fn within(&self, tid: u32, (from_ns, to_ns): (u64, u64)) -> Option<u64> {
        let own = self.of.get(&tid)?;
        let charge = own.get(own.partition_point(|charge| charge.to_ns < to_ns))?;
        if charge.from_ns > from_ns || from_ns >= to_ns {
            return None;
        }
        let part = u128::from(charge.charged_ns) * u128::from(to_ns - from_ns);
        u64::try_from(part.div_ceil(u128::from(charge.to_ns - charge.from_ns))).ok()
    }
}

fn charge(came: &Record, left: &Record) -> Option<Charge> {
    let is_known = came.argument2 != 0 && came.argument2 == left.argument2;
    let (from_ns, to_ns) = (came.time_ns, left.time_ns);
    // The kernel's numbers are signed.
    let charged = came.argument.wrapping_sub(left.argument).cast_signed();
    let charged_ns = u64::try_from(charged).ok()?;
    let possible = from_ns < to_ns && charged_ns <= to_ns - from_ns + CLOCKS_DIFFER_NS;
    (is_known && possible).then_some(Charge { from_ns, to_ns, charged_ns })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rings::Kind;

    fn record(time_ns: u64, kind: EventKind, left: i64, deadline_ns: u64) -> Record {
        let kind = Kind::Event(kind).code();
        let argument = left.cast_unsigned();
        Record { time_ns, kind, cpu: 0, pid: 7, argument, argument2: deadline_ns, ..Record::default() }
    }

    #[test]
    fn what_was_charged_is_the_difference_of_what_was_left() {
        use EventKind::{Preempt, Resume, Throttle};
        let records = vec![
            record(100, Resume, 80, 900),
            record(150, Preempt, 40, 900),
            record(200, Resume, 40, 900),
            // A hypervisor had the CPU for most of the time: that is charged, too, or not.
            record(400, Throttle, -20, 900),
            record(900, Resume, 60, 1_900),
            // It was replenished meanwhile.
            record(990, Preempt, 70, 2_900),
            record(1_000, Resume, 70, 2_900),
            record(1_001, Preempt, -9_000, 2_900),
        ];
        let charges = Charges::of(&Recorded { records, ..Recorded::default() });
        assert_eq!(charges.within(7, (100, 150)), Some(40));
        assert_eq!(charges.within(7, (100, 125)), Some(20), "half of it");
        assert_eq!(charges.within(7, (200, 400)), Some(60));
        assert_eq!(charges.within(7, (900, 990)), None, "the deadline is another one");
        assert_eq!(charges.within(7, (1_000, 1_001)), None, "more than there was time");
        assert_eq!(charges.within(7, (140, 210)), None, "it was off its CPU");
        assert_eq!(charges.within(8, (100, 150)), None);
    }
}

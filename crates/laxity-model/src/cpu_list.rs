//! Sets of CPUs in the kernel's list format: `0-3,8`.

use crate::{Diagnostic, Result};
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

/// The largest CPU number laxity accepts, plus one (Linux's own NR_CPUS limit on x86-64).
pub(crate) const CPUS_MAX: u32 = 8192;

/// A set of CPU numbers, read and written in the kernel's list format (`0-3,8`).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct CpuList(BTreeSet<u32>);

impl CpuList {
    /// CPUs `0 .. count`.
    pub fn first(count: u32) -> Self {
        CpuList((0..count).collect())
    }

    /// The number of CPUs.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True if no CPU is in the set.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// True if `cpu` is in the set.
    pub fn contains(&self, cpu: u32) -> bool {
        self.0.contains(&cpu)
    }

    /// CPU numbers in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().copied()
    }

    /// The lowest CPU number.
    pub fn lowest(&self) -> Option<u32> {
        self.0.first().copied()
    }

    /// True if every CPU here is in `other`.
    pub fn is_subset(&self, other: &CpuList) -> bool {
        self.0.is_subset(&other.0)
    }

    /// The CPUs in both sets.
    #[must_use]
    pub fn intersection(&self, other: &CpuList) -> CpuList {
        CpuList(self.0.intersection(&other.0).copied().collect())
    }

    /// The CPUs of a mask as the kernel writes it, such as `ff,00000003`: groups of 32, the highest first. Nothing for another text.
    pub fn of_mask(text: &str) -> Option<Self> {
        let groups: Option<Vec<u32>> =
            text.trim().split(',').map(|group| u32::from_str_radix(group, 16).ok()).collect();
        let groups = groups.filter(|groups| groups.len() <= (CPUS_MAX / 32) as usize)?;
        let of_group = |(first, group): (u32, &u32)| {
            let group = *group;
            (0..32).filter(move |bit| group >> bit & 1 == 1).map(move |bit| first + bit)
        };
        Some((0..CPUS_MAX).step_by(32).zip(groups.iter().rev()).flat_map(of_group).collect())
    }

    /// The mask of these CPUs, as the kernel writes it.
    pub fn mask(&self) -> String {
        let highest = self.0.last().copied().unwrap_or(0) / 32;
        let group = |at: u32| {
            (0..32).filter(|bit| self.contains(at * 32 + bit)).fold(0_u32, |sum, bit| sum | 1 << bit)
        };
        let mut text = format!("{:x}", group(highest));
        (0..highest).rev().for_each(|at| text += &format!(",{:08x}", group(at)));
        text
    }

    /// The CPUs here that are not in `other`.
    #[must_use]
    pub fn difference(&self, other: &CpuList) -> CpuList {
        CpuList(self.0.difference(&other.0).copied().collect())
    }
}

impl FromIterator<u32> for CpuList {
    fn from_iter<I: IntoIterator<Item = u32>>(cpus: I) -> Self {
        CpuList(cpus.into_iter().collect())
    }
}

impl FromStr for CpuList {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self> {
        let bad = |part: &str| {
            Diagnostic::usage(format!("CPU list `{text}`: `{part}` is not a CPU number or a range"))
                .hint(format!("write CPUs as in \"0-3,8\", each below {CPUS_MAX}"))
        };
        let number =
            |part: &str| part.trim().parse::<u32>().ok().filter(|&n| n < CPUS_MAX).ok_or_else(|| bad(part));
        let mut cpus = BTreeSet::new();
        // Every CPU needs to be named only once; without this rule a short text could ask for endless work.
        let mut left = CPUS_MAX;
        let mut count = |named: u32| -> Result<()> {
            left = left.checked_sub(named).ok_or_else(|| {
                Diagnostic::usage(format!("a CPU list names more than {CPUS_MAX} CPUs"))
                    .hint("name every CPU once, as in \"0-3,8\"")
            })?;
            Ok(())
        };
        for part in text.trim().split(',').filter(|part| !part.trim().is_empty()) {
            match part.split_once('-') {
                Some((low, high)) => {
                    let (low, high) = (number(low)?, number(high)?);
                    if low > high {
                        return Err(bad(part));
                    }
                    count(high - low + 1)?;
                    cpus.extend(low..=high);
                }
                None => {
                    count(1)?;
                    cpus.insert(number(part)?);
                }
            }
        }
        Ok(CpuList(cpus))
    }
}

impl fmt::Display for CpuList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts: Vec<(u32, u32)> = Vec::new();
        for cpu in self.iter() {
            match parts.last_mut() {
                Some((_, high)) if *high + 1 == cpu => *high = cpu,
                _ => parts.push((cpu, cpu)),
            }
        }
        let text: Vec<String> = parts
            .iter()
            .map(|(low, high)| if low == high { low.to_string() } else { format!("{low}-{high}") })
            .collect();
        f.pad(&text.join(","))
    }
}

crate::text_form::serde_as_text!(CpuList);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_the_kernels_format() {
        let cpus: CpuList = "0-2,5\n".parse().expect("valid list");
        assert_eq!(cpus.iter().collect::<Vec<_>>(), [0, 1, 2, 5]);
        assert_eq!(cpus.to_string(), "0-2,5");
        assert_eq!("".parse::<CpuList>(), Ok(CpuList::default()));
    }

    #[test]
    fn refuses_nonsense() {
        let endless = "0-8191,".repeat(1000);
        for text in [endless.as_str(), "a", "3-1", "1-", "99999", "0-4294967295", "-1"] {
            assert!(text.parse::<CpuList>().is_err(), "{text}");
        }
    }

    #[test]
    fn masks_are_read_and_written() {
        for (text, cpus) in [("3", "0-1"), ("ff,00000001", "0,32-39"), ("0", ""), ("80000000,00000000", "63")]
        {
            let read = CpuList::of_mask(text).expect("a mask");
            assert_eq!((read.to_string().as_str(), read.mask().as_str()), (cpus, text));
        }
        let endless = "0,".repeat(300) + "0";
        for text in ["x", "", "1ffffffff", endless.as_str()] {
            assert_eq!(CpuList::of_mask(text), None, "{text}");
        }
    }

    laxity_seeds::properties! {
        #[test]
        fn what_is_written_reads_back(cpus in proptest::collection::btree_set(0u32..200, 0..40)) {
            let cpus: CpuList = cpus.into_iter().collect();
            prop_assert_eq!(cpus.to_string().parse(), Ok(cpus));
        }
    }
}

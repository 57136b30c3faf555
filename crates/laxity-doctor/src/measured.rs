//! What was measured, as the cost of findings and by itself.

use crate::evidence::Evidence;
use crate::host::Host;
use crate::wakeups;
use laxity_model::CpuList;

impl Host {
    /// `in 1 s`: for how long counters were watched.
    pub(crate) fn in_time(&self) -> String {
        let ms = self.length().as_millis();
        match ms % 1000 {
            0 => format!("in {} s", ms / 1000),
            _ => format!("in {ms} ms"),
        }
    }

    /// How late threads of SCHED_FIFO woke on the real-time CPUs.
    pub(crate) fn wakeups(&self) -> Option<String> {
        wakeups::evidence(&self.probes.wakeups)
            .map(|evidence| format!("{}: {}", evidence.file, evidence.value))
    }

    /// How often these events of /proc/vmstat happened, each with words for it.
    pub(crate) fn memory_events(&self, events: &[(&str, &str)]) -> Option<String> {
        let counted: Vec<String> = events
            .iter()
            .filter_map(|(name, words)| {
                let (watched, all) = self.memory_event(name)?;
                Some(format!("{watched} {words} {}, {all} since the machine was booted", self.in_time()))
            })
            .collect();
        (!counted.is_empty()).then(|| counted.join("; "))
    }

    /// How often the timer interrupted the real-time CPU that it interrupted most.
    pub(crate) fn timer_interrupts(&self) -> Option<String> {
        let (before, after) = self.interrupts().ok()?;
        let all = self.cpus().iter().filter_map(|cpu| Some((after.timer_since(before, cpu)?, cpu)));
        let (most, cpu) = all.max()?;
        Some(format!("up to {most} timer interrupts {}, on CPU {cpu}", self.in_time()))
    }

    /// How often the real-time CPU that ran RCU's softirq most did so.
    pub(crate) fn rcu_softirqs(&self) -> Option<String> {
        let (cpu, most) = self.rcu_runs().into_iter().max_by_key(|(_, runs)| *runs)?;
        Some(format!("up to {most} runs of RCU's softirq {}, on CPU {cpu}", self.in_time()))
    }

    /// How much of the real-time CPUs' time was used.
    pub(crate) fn use_of_cpus(&self) -> Option<String> {
        let (before, after) = self.cpu_times().ok()?;
        let (used, all) = (
            after.busy_ticks.saturating_sub(before.busy_ticks),
            after.all_ticks.saturating_sub(before.all_ticks),
        );
        Some(format!("{} of the real-time CPUs' time was used {}", percent(used, all)?, self.in_time()))
    }

    /// How long one reading of the clock takes.
    pub(crate) fn clock_reading(&self) -> Option<String> {
        self.probes.clock_reading_ns.map(|ns| format!("a reading of the clock takes {ns} ns (mean of 2000)"))
    }

    /// All that was measured, whatever the checks say of it.
    pub(crate) fn measurements(&self) -> Vec<Evidence> {
        let interrupts = self.interrupts().ok().map(|(before, after)| {
            let of = |cpu| after.since(before, cpu).iter().map(|(_, _, count)| count).sum::<u64>();
            most_interrupts(self.cpus().iter().map(|cpu| (of(cpu), cpu)), &self.in_time())
        });
        let stolen = self.cpu_times().ok().and_then(|(before, after)| {
            let (stolen, all) = (
                after.stolen_ticks.saturating_sub(before.stolen_ticks),
                after.all_ticks.saturating_sub(before.all_ticks),
            );
            Some(format!("{} of the CPU time {}", percent(stolen, all)?, self.in_time()))
        });
        let named = [
            ("interrupts of devices", interrupts),
            ("timer interrupts", self.timer_interrupts()),
            ("RCU", self.rcu_softirqs()),
            ("use", self.use_of_cpus()),
            ("steal", stolen),
            ("clock", self.clock_reading()),
        ];
        let named = named.into_iter().filter_map(|(name, text)| Some(Evidence::new(name, text?)));
        wakeups::evidence(&self.probes.wakeups)
            .map(|one| Evidence::new("wakeups", format!("{}: {}", one.file, one.value)))
            .into_iter()
            .chain(named)
            .collect()
    }
}

/// The real-time CPU to which most interrupts of devices came.
pub(crate) fn most_interrupts(counts: impl Iterator<Item = (u64, u32)>, in_time: &str) -> String {
    match counts.max() {
        None | Some((0, _)) => format!("no interrupt of a device came to a real-time CPU {in_time}"),
        Some((most, cpu)) => format!("up to {most} interrupts of devices {in_time}, on CPU {cpu}"),
    }
}

/// A share in percent with two decimals, rounded down, but never to 0; `None` of nothing.
pub(crate) fn percent(part: u64, all: u64) -> Option<String> {
    let hundredths = part.saturating_mul(10_000).checked_div(all)?;
    Some(match hundredths {
        0 if part > 0 => "less than 0.01 %".to_owned(),
        _ => format!("{}.{:02} %", hundredths / 100, hundredths % 100),
    })
}

/// The share of each of some CPUs that a budget in a period takes: the largest.
pub(crate) fn share_lost(part: u64, all: u64, cpus: &CpuList, from: &str) -> Option<String> {
    let of = if cpus.len() == 1 { format!("CPU {cpus}") } else { format!("each of CPUs {cpus}") };
    percent(part, all).map(|share| format!("up to {share} of {of}, taken from {from} (by these settings)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_never_shown_as_none_where_there_is_some() {
        for (part, all, shown) in
            [(0, 200, "0.00 %"), (1, 200, "0.50 %"), (1, 100_000, "less than 0.01 %"), (50, 1000, "5.00 %")]
        {
            assert_eq!(percent(part, all).as_deref(), Some(shown));
        }
        assert_eq!(percent(1, 0), None);
        let cpus: CpuList = "2-3".parse().expect("a list");
        let lost = share_lost(50, 1000, &cpus, "SCHED_FIFO tasks").expect("a share");
        assert_eq!(lost, "up to 5.00 % of each of CPUs 2-3, taken from SCHED_FIFO tasks (by these settings)");
    }

    #[test]
    fn the_cpu_with_most_interrupts_is_named() {
        let most = |counts: &[(u64, u32)]| most_interrupts(counts.iter().copied(), "in 1 s");
        assert_eq!(most(&[(3, 2), (9, 3)]), "up to 9 interrupts of devices in 1 s, on CPU 3");
        assert_eq!(most(&[(0, 2), (0, 3)]), "no interrupt of a device came to a real-time CPU in 1 s");
    }
}

//! What the kernel counts per CPU: interrupts and CPU time.

use crate::evidence::{Unseen, unseen};
use laxity_model::CpuList;
use std::collections::BTreeMap;

/// Interrupts of devices by number: how often each came to each CPU. Interrupts that every CPU has for itself (timers,
/// performance counters) are left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Interrupts {
    lines: BTreeMap<u32, Line>,
    /// The local timer's, by CPU (x86).
    timer: BTreeMap<u32, u64>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Line {
    counts: BTreeMap<u32, u64>,
    device: String,
}

impl Interrupts {
    /// Reads /proc/interrupts.
    pub fn parse(text: &str) -> Result<Self, Unseen> {
        let mut lines = text.lines();
        let cpus: Vec<u32> = lines
            .next()
            .unwrap_or_default()
            .split_whitespace()
            .filter_map(|word| word.strip_prefix("CPU")?.parse().ok())
            .collect();
        if cpus.is_empty() {
            return unseen("/proc/interrupts names no CPU");
        }
        let mut all = Interrupts::default();
        for line in lines {
            if let Some(counts) = line.trim_start().strip_prefix("LOC:") {
                all.timer = by_cpu(counts, &cpus);
            }
            all.lines.extend(device_line(line, &cpus));
        }
        Ok(all)
    }

    /// How often the local timer interrupted a CPU since `before`; `None` where this is not counted.
    pub fn timer_since(&self, before: &Interrupts, cpu: u32) -> Option<u64> {
        Some(self.timer.get(&cpu)?.saturating_sub(*before.timer.get(&cpu)?))
    }

    /// Whether this is the number of a device's interrupt.
    pub fn is_device(&self, number: u32) -> bool {
        self.lines.contains_key(&number)
    }

    /// What came to a CPU since `before`, by device; only what did come.
    pub fn since(&self, before: &Interrupts, cpu: u32) -> Vec<(u32, &str, u64)> {
        let came = |(&number, line): (&u32, &Line)| {
            let now = line.counts.get(&cpu).copied().unwrap_or(0);
            let then = before.lines.get(&number).and_then(|line| line.counts.get(&cpu)).copied().unwrap_or(0);
            now.saturating_sub(then)
        };
        let each = self.lines.iter().map(|entry| (*entry.0, entry.1.device.as_str(), came(entry)));
        each.filter(|(_, _, count)| *count > 0).collect()
    }
}

/// `24: 1 0 IO-APIC 5-edge ACPI:Ged`
fn device_line(line: &str, cpus: &[u32]) -> Option<(u32, Line)> {
    let (number, rest) = line.split_once(':')?;
    let number: u32 = number.trim().parse().ok()?;
    let words: Vec<&str> = rest.split_whitespace().collect();
    let counts: Option<BTreeMap<u32, u64>> =
        cpus.iter().zip(&words).map(|(&cpu, word)| Some((cpu, word.parse().ok()?))).collect();
    let described = words.get(cpus.len()..)?;
    if is_per_cpu(described) {
        return None;
    }
    let device = described.last().copied().unwrap_or_default().to_owned();
    Some((number, Line { counts: counts?, device }))
}

/// GIC's private peripheral interrupts are 16 to 31 (software's are below); RISC-V's own controller has only such.
fn is_per_cpu(described: &[&str]) -> bool {
    match described {
        [chip, number, ..] if chip.starts_with("GIC") => {
            number.parse::<u32>().is_ok_and(|number| number < 32)
        }
        [chip, controller, ..] => *chip == "RISC-V" && *controller == "INTC",
        _ => false,
    }
}

/// The numbers of a line, by CPU.
fn by_cpu(counts: &str, cpus: &[u32]) -> BTreeMap<u32, u64> {
    cpus.iter().copied().zip(counts.split_whitespace().map_while(|word| word.parse().ok())).collect()
}

/// How often each CPU has run a softirq, such as `RCU`: a line of /proc/softirqs.
pub(crate) fn softirqs(text: &str, name: &str) -> BTreeMap<u32, u64> {
    let mut lines = text.lines();
    let head = lines.next().unwrap_or_default();
    let cpus: Vec<u32> =
        head.split_whitespace().filter_map(|word| word.strip_prefix("CPU")?.parse().ok()).collect();
    let counts = lines.find_map(|line| line.trim_start().strip_prefix(name)?.strip_prefix(':'));
    counts.map(|counts| by_cpu(counts, &cpus)).unwrap_or_default()
}

/// The events of memory management that /proc/vmstat counts, by name.
pub(crate) fn memory_events(text: &str) -> BTreeMap<String, u64> {
    let pair = |line: &str| {
        let (name, count) = line.split_once(' ')?;
        Some((name.to_owned(), count.trim().parse().ok()?))
    };
    text.lines().filter_map(pair).collect()
}

/// CPU time in clock ticks (10 ms): what a hypervisor gave to others, what was used here, and all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct CpuTime {
    /// Of these, what the hypervisor gave to others.
    pub stolen_ticks: u64,
    /// Of these, neither stolen nor idle.
    pub busy_ticks: u64,
    /// All of it.
    pub all_ticks: u64,
}

/// Reads the lines `cpu0 ...` of /proc/stat, and adds up those of these CPUs.
pub(crate) fn cpu_time(stat: &str, cpus: &CpuList) -> Result<CpuTime, Unseen> {
    let mut sum = CpuTime::default();
    let mut seen = 0;
    for line in stat.lines() {
        let mut words = line.split_whitespace();
        let number = words.next().and_then(|name| name.strip_prefix("cpu")?.parse::<u32>().ok());
        if !number.is_some_and(|number| cpus.contains(number)) {
            continue;
        }
        // user nice system idle iowait irq softirq steal; guests' time is in user and nice already.
        let ticks: Vec<u64> = words.take(8).map_while(|word| word.parse().ok()).collect();
        let [.., stolen] = ticks[..] else { continue };
        if ticks.len() == 8 {
            seen += 1;
            sum.stolen_ticks = sum.stolen_ticks.saturating_add(stolen);
            let all = ticks.iter().fold(0_u64, |all, &one| all.saturating_add(one));
            let busy = all.saturating_sub(stolen).saturating_sub(ticks[3]).saturating_sub(ticks[4]);
            sum.all_ticks = sum.all_ticks.saturating_add(all);
            sum.busy_ticks = sum.busy_ticks.saturating_add(busy);
        }
    }
    if seen == cpus.len() { Ok(sum) } else { unseen("/proc/stat does not have the steal time of every CPU") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interrupts_of_devices_are_told_from_those_of_every_cpu() {
        let x86 = "           CPU0       CPU2\n 24:          1          5  IO-APIC   5-edge      ACPI:Ged\nLOC: 9 9 Local\nERR: 0\n";
        let arm = "     CPU0  CPU1\n 11:  500  600  GICv3  30 Level     arch_timer\n 40:  3  0  GICv3  67 Level  eth0\n";
        let riscv = "     CPU0\n  5:  500  RISC-V INTC   5 Edge      riscv-timer\n";
        let before = Interrupts::default();
        let seen = |text: &str, cpu| {
            let all = Interrupts::parse(text).expect("interrupts");
            let came = all.since(&before, cpu);
            came.into_iter().map(|(number, name, count)| (number, name.to_owned(), count)).collect::<Vec<_>>()
        };
        assert_eq!(seen(x86, 2), [(24, "ACPI:Ged".to_owned(), 5)]);
        assert_eq!(seen(arm, 0), [(40, "eth0".to_owned(), 3)]);
        assert_eq!(seen(arm, 1), []);
        assert_eq!(seen(riscv, 0), []);
        assert!(Interrupts::parse("nonsense").is_err());
    }

    #[test]
    fn cpu_time_is_that_of_these_cpus() {
        let stat =
            "cpu  1 1 1 1 1 1 1 1 0 0\ncpu0 10 0 0 80 0 0 0 10 5 0\ncpu1 0 0 0 99 0 0 0 1 0 0\nintr 1\n";
        let both = CpuList::first(2);
        assert_eq!(cpu_time(stat, &both), Ok(CpuTime { stolen_ticks: 11, busy_ticks: 10, all_ticks: 200 }));
        assert_eq!(
            cpu_time(stat, &[1].into_iter().collect()),
            Ok(CpuTime { stolen_ticks: 1, busy_ticks: 0, all_ticks: 100 })
        );
        assert!(cpu_time(stat, &CpuList::first(3)).is_err(), "CPU 2 is not there");
        assert!(cpu_time("cpu0 1 2 3\n", &CpuList::first(1)).is_err());
    }

    #[test]
    fn what_a_cpu_does_beside_devices_is_counted() {
        let text = "   CPU0 CPU2\n RCU-x: 9 9\n  RCU:  5   7\n";
        assert_eq!(softirqs(text, "RCU"), BTreeMap::from([(0, 5), (2, 7)]));
        assert_eq!(softirqs("", "RCU"), BTreeMap::new());
        let interrupts = |text| Interrupts::parse(text).expect("interrupts");
        let (before, after) = (interrupts("  CPU0\nLOC: 9 Local\n"), interrupts("  CPU0\nLOC: 30 Local\n"));
        assert_eq!((after.timer_since(&before, 0), after.timer_since(&before, 1)), (Some(21), None));
        let events = memory_events("pswpin 4\nnonsense\npswpout x\n");
        assert_eq!(events, BTreeMap::from([("pswpin".to_owned(), 4)]));
    }
}

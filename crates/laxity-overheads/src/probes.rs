//! What `bpf/overheads.bpf.c` attaches to, and which quantities are lost where that is not there.

use laxity_kernel::rings::SampleKind;
use std::collections::BTreeMap;
use std::fs;

/// Programs that measure something together: all of them, or none.
pub(crate) struct Probe {
    /// What they need, as the user should read it.
    pub(crate) what: &'static str,
    /// Their names in `bpf/overheads.bpf.c`.
    pub(crate) programs: &'static [&'static str],
    /// The kernel's function, if it is one (the other probes are tracepoints).
    pub(crate) function: Option<&'static str>,
    /// What cannot be measured without them.
    pub(crate) kinds: &'static [SampleKind],
}

/// A probe on the entry and the exit of a function.
macro_rules! function {
    ($name:literal, $($kind:ident),+) => {
        Probe {
            what: concat!("the function ", $name),
            programs: &[concat!("enter_", $name), concat!("exit_", $name)],
            function: Some($name),
            kinds: &[$(SampleKind::$kind),+],
        }
    };
}

/// A probe on tracepoints.
macro_rules! tracepoint {
    ($what:literal, [$($program:literal),+], [$($kind:ident),*]) => {
        Probe { what: $what, programs: &[$($program),+], function: None, kinds: &[$(SampleKind::$kind),*] }
    };
}

/// All probes. The tracepoints of the scheduler are there since Linux 6.16.
static PROBES: &[Probe] = &[
    tracepoint!("the tracepoint sched_entry_tp", ["sched_entry"], [Schedule, ScheduleKept]),
    tracepoint!("the tracepoint sched_switch", ["sched_switch"], [Schedule, ContextSwitch, Schedule2]),
    Probe {
        what: "the function finish_task_switch; without it, a context switch lasts until the scheduler is left",
        programs: &["finish_task_switch"],
        function: None,
        kinds: &[SampleKind::Schedule2],
    },
    tracepoint!("the tracepoint sched_exit_tp", ["sched_exit"], [Schedule2, ScheduleKept]),
    tracepoint!("the tracepoint ipi_send_cpu", ["ipi_send_cpu"], [IpiLatency]),
    tracepoint!("the tracepoint reschedule_entry", ["reschedule_entry"], [IpiLatency]),
    tracepoint!("the tracepoint local_timer_entry", ["local_timer_entry"], []),
    tracepoint!("the tracepoint call_function_entry", ["call_function_entry"], []),
    tracepoint!("the tracepoint call_function_single_entry", ["call_function_single_entry"], []),
    tracepoint!("the tracepoint irq_work_entry", ["irq_work_entry"], []),
    tracepoint!("the tracepoint irq_handler_entry", ["irq_handler_entry"], []),
    tracepoint!("the tracepoint softirq_entry", ["softirq_entry"], []),
    tracepoint!("the tracepoint nmi_handler", ["nmi_handler"], []),
    tracepoint!(
        "the tracepoints of timers",
        ["hrtimer_expire_entry", "hrtimer_expire_exit"],
        [ReleaseLatency, Release, Replenish, Tick]
    ),
    function!("sched_tick", SchedulerTick),
    function!("enqueue_task_dl", Enqueue),
    function!("enqueue_task_rt", Enqueue),
    function!("enqueue_task_scx", Enqueue),
    function!("dequeue_task_dl", Dequeue),
    function!("dequeue_task_rt", Dequeue),
    function!("dequeue_task_scx", Dequeue),
    function!("select_task_rq_dl", SelectCpu),
    function!("select_task_rq_rt", SelectCpu),
    function!("select_task_rq_scx", SelectCpu),
    function!("pick_task_dl", Pick),
    function!("pick_task_rt", Pick),
    function!("pick_task_scx", Pick),
    function!("push_dl_tasks", Push),
    function!("push_rt_tasks", Push),
    function!("pull_dl_task", Pull),
    function!("pull_rt_task", Pull),
    // Before 6.19; afterwards sched_ext fetches in pick_task_scx.
    function!("balance_scx", Pull),
    function!("kick_cpus_irq_workfn", Kick),
];

/// The probe that measures tracing itself.
pub(crate) const EMPTY: Probe = function!("bpf_fentry_test1", Empty);

impl Probe {
    /// It times a function inside of what other probes time: those then contain its cost.
    pub(crate) fn is_nested(&self) -> bool {
        self.function.is_some_and(|function| Some(function) != EMPTY.function)
    }
}

/// All probes, that on tracing itself last.
pub(crate) fn all() -> impl Iterator<Item = &'static Probe> {
    static LAST: Probe = EMPTY;
    PROBES.iter().chain([&LAST])
}

/// The names of the kernel's functions.
pub(crate) struct Symbols(BTreeMap<String, u64>);

impl Symbols {
    /// Of the running kernel; nothing if it does not tell.
    pub(crate) fn read() -> Option<Symbols> {
        fs::read_to_string("/proc/kallsyms").ok().map(|text| Symbols::of(&text))
    }

    /// From the text of `/proc/kallsyms`. Modules have no probes.
    fn of(text: &str) -> Symbols {
        let function = |line: &str| {
            let mut words = line.split_whitespace();
            let (address, kind, name) = (words.next()?, words.next()?, words.next()?);
            let address = u64::from_str_radix(address, 16).ok()?;
            (kind.eq_ignore_ascii_case("t") && words.next().is_none()).then(|| (name.to_owned(), address))
        };
        Symbols(text.lines().filter_map(function).collect())
    }

    /// There is a function with exactly this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Where the function is; nothing if the kernel hides it (`kernel.kptr_restrict`).
    pub(crate) fn address(&self, name: &str) -> Option<u64> {
        self.0.get(name).copied().filter(|&address| address != 0)
    }

    /// What the compiler has made of a function: itself or a variant such as `NAME.isra.0`, not its unlikely part.
    pub(crate) fn variant_of(&self, name: &str) -> Option<&str> {
        let dotted = format!("{name}.");
        let variant = |s: &&String| *s == name || s.starts_with(&dotted) && !s.contains(".cold");
        let from_it_on = self.0.range(name.to_owned()..).map(|(found, _)| found);
        from_it_on.take_while(|s| s.starts_with(name)).find(variant).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KALLSYMS: &str = "\
0000000000000000 t finish_task_switch.cold
0000000000000000 t finish_task_switch.isra.0
0000000000000000 t finish_task_switcher
ffffffff81000010 T sched_tick
0000000000000000 d data
0000000000000000 t hrtimer_wakeup	[module]
";

    #[test]
    fn finds_functions_and_their_variants() {
        let symbols = Symbols::of(KALLSYMS);
        assert_eq!(symbols.variant_of("finish_task_switch"), Some("finish_task_switch.isra.0"));
        assert_eq!(symbols.variant_of("sched_tick"), Some("sched_tick"));
        assert_eq!(symbols.variant_of("sched"), None);
        assert_eq!(
            ["sched_tick", "data", "hrtimer_wakeup"].map(|name| symbols.has(name)),
            [true, false, false]
        );
        assert_eq!(symbols.address("sched_tick"), Some(0xffff_ffff_8100_0010));
        assert_eq!(symbols.address("finish_task_switch.isra.0"), None, "the kernel hides it");
    }

    #[test]
    fn every_program_is_in_one_probe() {
        let source = [
            include_str!("../../../bpf/overheads.bpf.c"),
            include_str!("../../../bpf/overheads/switches.h"),
            include_str!("../../../bpf/overheads/interrupts.h"),
            include_str!("../../../bpf/overheads/releases.h"),
            include_str!("../../../bpf/overheads/functions.h"),
        ]
        .concat();
        let mut programs: Vec<&str> = all().flat_map(|probe| probe.programs).copied().collect();
        programs.sort_unstable();
        assert!(programs.windows(2).all(|pair| pair[0] != pair[1]), "{programs:?}");
        for program in programs {
            let name = program.strip_prefix("enter_").or(program.strip_prefix("exit_")).unwrap_or(program);
            assert!(source.contains(name), "{name}");
        }
    }
}

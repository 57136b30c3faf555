//! Changes of the tuned machine that provoke each check, and what is found then.

use super::{CONFIG, Change, INTERRUPTS, IRQ_THREAD, LIMITS, STAT, gone, says};

/// What is found (first the check that is provoked), and by which changes.
pub type Provocation = (&'static [&'static str], Vec<Change>);

fn cpu(file: &str, text: &str) -> Change {
    says(&format!("/sys/devices/system/cpu/cpu3/{file}"), text)
}

fn config(from: &str, to: &str) -> Change {
    assert!(CONFIG.contains(from), "{from}");
    says("/boot/config-6.18.1-rt", &CONFIG.replace(from, to))
}

fn limits(from: &str, to: &str) -> Change {
    assert!(LIMITS.contains(from), "{from}");
    says("/proc/self/limits", &LIMITS.replace(from, to))
}

/// The same machine with another kernel.
fn kernel(release: &str) -> Vec<Change> {
    vec![says("/proc/sys/kernel/osrelease", release), says(&format!("/boot/config-{release}"), CONFIG)]
}

fn attached() -> Vec<Change> {
    vec![says("/sys/kernel/sched_ext/state", "enabled\n"), says("/sys/kernel/sched_ext/root/ops", "flash\n")]
}

fn both(mut some: Vec<Change>, more: Vec<Change>) -> Vec<Change> {
    some.extend(more);
    some
}

fn v1(group: &str) -> Vec<Change> {
    vec![
        says(
            "/proc/self/mounts",
            "cgroup /sys/fs/cgroup/cpuset cgroup rw,cpuset 0 0\ncgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\n",
        ),
        says("/proc/self/cgroup", &format!("2:cpu:{group}\n1:cpuset:/\n")),
        says("/sys/fs/cgroup/cpuset/cpuset.effective_cpus", "0-3\n"),
        says("/sys/fs/cgroup/cpuset/cpuset.sched_load_balance", "1\n"),
        says("/sys/fs/cgroup/cpu/cpu.rt_runtime_us", "950000\n"),
    ]
}

fn not_rt(model: &str) -> Vec<Change> {
    vec![
        gone("/sys/kernel/realtime"),
        says("/proc/sys/kernel/version", "#1 SMP PREEMPT_DYNAMIC Mon Jan 1\n"),
        says("/sys/kernel/debug/sched/preempt", model),
    ]
}

/// All of them.
pub fn provocations() -> Vec<Provocation> {
    [
        limit(),
        scheduler(),
        permission(),
        kernels(),
        clock(),
        power(),
        isolation(),
        interrupt(),
        memory(),
        virtual_machine(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn limit() -> Vec<Provocation> {
    vec![
        (&["rt-throttling"], kernel("6.11.2")),
        (
            &["rt-throttling", "rt-group-sched"],
            vec![config("# CONFIG_RT_GROUP_SCHED is not set", "CONFIG_RT_GROUP_SCHED=y")],
        ),
        (
            &["rt-group-sched"],
            vec![
                config("# CONFIG_RT_GROUP_SCHED is not set", "CONFIG_RT_GROUP_SCHED=y"),
                says("/proc/sys/kernel/sched_rt_runtime_us", "1000000\n"),
            ],
        ),
        (&["fair-server"], vec![says("/sys/kernel/debug/sched/fair_server/cpu3/runtime", "50000000\n")]),
        (
            &["ext-server", "sched-ext-attached"],
            both(
                both(kernel("7.1.0"), attached()),
                vec![
                    says("/sys/kernel/debug/sched/ext_server/cpu2/runtime", "50000000\n"),
                    says("/sys/kernel/debug/sched/ext_server/cpu2/period", "1000000000\n"),
                    says("/sys/kernel/debug/sched/ext_server/cpu3/runtime", "0\n"),
                    says("/sys/kernel/debug/sched/ext_server/cpu3/period", "1000000000\n"),
                ],
            ),
        ),
        (&["deadline-admission"], vec![says("/proc/sys/kernel/sched_rt_runtime_us", "-1\n")]),
        (&["deadline-periods"], vec![says("/proc/sys/kernel/sched_deadline_period_min_us", "1000\n")]),
        (&["deadline-periods"], vec![says("/proc/sys/kernel/sched_deadline_period_max_us", "1000000\n")]),
        (
            &["cgroup-rt-budget"],
            both(v1("/a/b"), vec![says("/sys/fs/cgroup/cpu/a/b/cpu.rt_runtime_us", "0\n")]),
        ),
    ]
}

fn scheduler() -> Vec<Provocation> {
    vec![
        (&["sched-ext-attached", "sched-ext-fifo"], attached()),
        (&["sched-ext-fifo", "sched-ext-attached"], attached()),
        (
            &["sched-ext-clocks", "sched-ext-attached"],
            both(
                both(kernel("7.2.5"), attached()),
                vec![
                    says("/sys/kernel/debug/sched/ext_server/cpu2/runtime", "0\n"),
                    says("/sys/kernel/debug/sched/ext_server/cpu2/period", "1000000000\n"),
                    says("/sys/kernel/debug/sched/ext_server/cpu3/runtime", "0\n"),
                    says("/sys/kernel/debug/sched/ext_server/cpu3/period", "1000000000\n"),
                ],
            ),
        ),
        (
            &["sched-ext-build"],
            vec![Change::Probed(|probes| {
                probes.policies = Some(Some(laxity_doctor::Unloadable {
                    which: "laxity's own policies".into(),
                    reason: "the BTF marks nothing".into(),
                    hint: "boot another kernel".into(),
                }));
            })],
        ),
        (&["bpf-lsm"], vec![says("/sys/kernel/security/lsm", "capability,landlock,yama\n")]),
        (&["autogroup"], vec![says("/proc/sys/kernel/sched_autogroup_enabled", "1\n")]),
    ]
}

fn permission() -> Vec<Provocation> {
    vec![
        (&["rtprio-limit"], vec![limits("priority     98  ", "priority     0  ")]),
        (&["rttime-limit"], vec![limits("timeout      unlimited", "timeout      200000   ")]),
        (&["nice-limit"], vec![limits("nice priority         40", "nice priority         0")]),
        (&["memlock-limit"], vec![limits("memory         unlimited", "memory         8388608  ")]),
    ]
}

fn kernels() -> Vec<Provocation> {
    vec![
        (&["preemption", "preempt-rt"], not_rt("none (voluntary) full lazy\n")),
        (&["preempt-rt"], not_rt("none voluntary (full) lazy\n")),
        (&["preempt-rt"], not_rt("full (lazy)\n")),
        (
            &["preemption", "preempt-rt"],
            both(not_rt("(none)"), vec![says("/proc/cmdline", "preempt=none rcu_nocbs=2-3")]),
        ),
        (&["lock-debugging"], vec![config("# CONFIG_PROVE_LOCKING is not set", "CONFIG_PROVE_LOCKING=y")]),
        (
            &["memory-debugging"],
            vec![config("# CONFIG_KASAN is not set", "CONFIG_KASAN=y\nCONFIG_KASAN_GENERIC=y")],
        ),
        (&["tracer"], vec![says("/sys/kernel/tracing/current_tracer", "function\n")]),
        (&["kernel-broken"], vec![says("/proc/sys/kernel/tainted", "128\n")]),
        (&["rcu-expedited"], vec![says("/sys/kernel/rcu_expedited", "1\n")]),
        (
            &["budget-accounting", "interrupt-affinity"],
            vec![
                config("CONFIG_IRQ_TIME_ACCOUNTING=y\n", ""),
                says("/proc/irq/24/effective_affinity_list", "3\n"),
            ],
        ),
    ]
}

fn clock() -> Vec<Provocation> {
    let source = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    vec![
        (
            &["high-resolution-timers"],
            vec![Change::Probed(|probes| probes.timer_resolution_ns = Some(4_000_000))],
        ),
        (&["clocksource"], vec![says(source, "hpet\n")]),
        (&["clock-unstable"], vec![says("/sys/kernel/debug/sched/debug", "sched_clock_stable()  : 0\n")]),
        (&["tick-rate"], vec![config("CONFIG_HZ=1000", "CONFIG_HZ=100")]),
        (
            &["deadline-hrtick"],
            vec![says("/sys/kernel/debug/sched/features", "PLACE_LAG NO_HRTICK NO_HRTICK_DL\n")],
        ),
        (&["timer-migration"], vec![says("/proc/sys/kernel/timer_migration", "1\n")]),
    ]
}

fn power() -> Vec<Provocation> {
    let latency = |us: i32| Change::Says("/dev/cpu_dma_latency".to_owned(), us.to_ne_bytes().to_vec());
    vec![
        (&["cpufreq-governor"], vec![cpu("cpufreq/scaling_governor", "schedutil\n")]),
        (&["energy-preference"], vec![cpu("cpufreq/energy_performance_preference", "balance_performance\n")]),
        (&["turbo"], vec![says("/sys/devices/system/cpu/intel_pstate/no_turbo", "0\n")]),
        (&["turbo"], vec![says("/sys/devices/system/cpu/cpufreq/boost", "1\n")]),
        (&["idle-states"], vec![cpu("cpuidle/state2/disable", "0\n")]),
        (&["idle-states"], vec![cpu("cpuidle/state2/disable", "0\n"), latency(2_000_000_000)]),
        (&["thermal-throttling"], vec![cpu("thermal_throttle/core_throttle_count", "12\n")]),
        (&["smt-siblings"], vec![cpu("topology/thread_siblings_list", "1,3\n")]),
        (
            &["cpus-offline"],
            vec![
                says("/sys/devices/system/cpu/present", "0-5\n"),
                says("/sys/devices/system/cpu/smt/control", "notsupported\n"),
            ],
        ),
    ]
}

fn isolation() -> Vec<Provocation> {
    let cpu_file = |file: &str| format!("/sys/devices/system/cpu/{file}");
    vec![
        (&["isolated-cpus"], vec![says(&cpu_file("isolated"), "2\n"), Change::Cpus("2-3")]),
        (&["nohz-full"], vec![says(&cpu_file("nohz_full"), "(null)\n")]),
        (
            &["rcu-callbacks", "nohz-full"],
            vec![says(&cpu_file("nohz_full"), "(null)\n"), says("/proc/cmdline", "quiet")],
        ),
        (&["cpuset-cpus"], vec![says("/sys/fs/cgroup/work/cpuset.cpus.effective", "0-1\n")]),
        (&["cpuset-cpus"], both(v1("/"), vec![says("/sys/fs/cgroup/cpuset/cpuset.effective_cpus", "0-2\n")])),
        (
            &["cpuset-load-balance"],
            both(v1("/"), vec![says("/sys/fs/cgroup/cpuset/cpuset.sched_load_balance", "0\n")]),
        ),
        (&["cpuset-affinity", "rt-throttling"], kernel("6.1.5")),
        (&["workqueues"], vec![says("/sys/devices/virtual/workqueue/cpumask", "f\n")]),
        (&["writeback"], vec![says("/sys/devices/virtual/workqueue/writeback/cpumask", "f\n")]),
    ]
}

fn interrupt() -> Vec<Provocation> {
    let balances = || vec![says("/proc/9/comm", "irqbalance\n")];
    let environment = |text: &str| says("/proc/9/environ", text);
    vec![
        (
            &["interrupts"],
            vec![Change::Later("/proc/interrupts".to_owned(), INTERRUPTS.replace("0     7", "0     9"))],
        ),
        (&["interrupt-affinity"], vec![says("/proc/irq/24/effective_affinity_list", "3\n")]),
        (&["interrupt-affinity"], vec![gone("/proc/irq/24/effective_affinity_list")]),
        (&["interrupt-default"], vec![says("/proc/irq/default_smp_affinity", "f\n")]),
        (&["irqbalance"], both(balances(), vec![environment("IRQBALANCE_BANNED_CPULIST=3\0HOME=/\0")])),
        (
            &["irqbalance", "isolated-cpus", "nohz-full"],
            both(
                balances(),
                vec![
                    environment("HOME=/\0"),
                    says("/sys/devices/system/cpu/isolated", "\n"),
                    says("/sys/devices/system/cpu/nohz_full", "2\n"),
                    says("/proc/cmdline", "rcu_nocbs=all"),
                    Change::Cpus("2-3"),
                ],
            ),
        ),
        (&["interrupt-threads"], vec![says("/proc/7/stat", &IRQ_THREAD.replace(" 1 50 1 ", " 1 90 1 "))]),
        (&["soft-watchdog"], vec![says("/proc/sys/kernel/watchdog_cpumask", "0-3\n")]),
        (&["nmi-watchdog"], vec![says("/proc/sys/kernel/nmi_watchdog", "1\n")]),
    ]
}

fn memory() -> Vec<Provocation> {
    let huge = |file: &str, text: &str| says(&format!("/sys/kernel/mm/transparent_hugepage/{file}"), text);
    let swap = |name: &str| {
        says("/proc/swaps", &format!("Filename\tType\tSize\tUsed\tPriority\n{name} partition 8 0 -2\n"))
    };
    vec![
        (&["swap"], vec![swap("/dev/sda2"), says("/proc/sys/vm/swappiness", "10\n")]),
        (&["swappiness"], vec![swap("/dev/zram0")]),
        (&["huge-pages"], vec![huge("enabled", "[always] madvise never\n")]),
        (&["huge-page-defrag"], vec![huge("defrag", "[always] defer defer+madvise madvise never\n")]),
        (&["ksm"], vec![says("/sys/kernel/mm/ksm/run", "1\n")]),
        (
            &["numa-balancing"],
            vec![
                says("/sys/devices/system/node/online", "0-1\n"),
                says("/proc/sys/kernel/numa_balancing", "1\n"),
            ],
        ),
        (&["locked-compaction"], vec![says("/proc/sys/vm/compact_unevictable_allowed", "1\n")]),
        (&["proactive-compaction"], vec![says("/proc/sys/vm/compaction_proactiveness", "20\n")]),
        (&["zone-reclaim"], vec![says("/proc/sys/vm/zone_reclaim_mode", "1\n")]),
    ]
}

fn virtual_machine() -> Vec<Provocation> {
    let cpuinfo =
        |model: &str| says("/proc/cpuinfo", &format!("model name\t: {model}\nflags\t\t: fpu hypervisor\n"));
    vec![
        (
            &["hypervisor-steal"],
            vec![Change::Later(
                "/proc/stat".to_owned(),
                STAT.replace("cpu3 100 0 0 1000 0 0 0 0", "cpu3 100 0 0 1000 0 0 0 3"),
            )],
        ),
        (
            &["hypervisor-steal"],
            vec![says("/proc/stat", &STAT.replace("cpu3 100 0 0 1000 0 0 0 0", "cpu3 100 0 0 1000 0 0 0 9"))],
        ),
        (&["emulation"], vec![cpuinfo("QEMU TCG CPU version 2.5+")]),
        (
            &["budget-accounting", "hypervisor-steal"],
            vec![
                cpuinfo("A Processor"),
                config("CONFIG_PARAVIRT_TIME_ACCOUNTING=y\n", ""),
                says("/proc/stat", &STAT.replace("cpu3 100 0 0 1000 0 0 0 0", "cpu3 100 0 0 1000 0 0 0 9")),
            ],
        ),
    ]
}

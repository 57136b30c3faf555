//! A machine made of files: four CPUs, of which 2 and 3 are for real-time tasks, tuned so that nothing is to be said of it.

mod provoked;

pub use provoked::provocations;

use laxity_doctor::Probes;
use laxity_model::CpuList;
use std::fs;
use std::path::Path;

/// Files of the tuned machine that are there once.
pub const MACHINE: &[(&str, &str)] = &[
    ("/proc/sys/kernel/osrelease", "6.18.1-rt\n"),
    ("/proc/sys/kernel/hostname", "fake\n"),
    ("/proc/sys/kernel/version", "#1 SMP PREEMPT_RT Mon Jan 1\n"),
    ("/sys/kernel/realtime", "1\n"),
    ("/proc/cpuinfo", "processor\t: 0\nmodel name\t: A Processor\nflags\t\t: fpu tsc\n"),
    ("/proc/cmdline", "quiet isolcpus=domain,managed_irq,2-3 nohz_full=2-3 rcu_nocbs=2-3\n"),
    ("/boot/config-6.18.1-rt", CONFIG),
    // limits
    ("/proc/sys/kernel/sched_rt_runtime_us", "950000\n"),
    ("/proc/sys/kernel/sched_rt_period_us", "1000000\n"),
    ("/proc/sys/kernel/sched_deadline_period_min_us", "100\n"),
    ("/proc/sys/kernel/sched_deadline_period_max_us", "4194304\n"),
    ("/sys/kernel/debug/sched/fair_server/cpu2/runtime", "0\n"),
    ("/sys/kernel/debug/sched/fair_server/cpu2/period", "1000000000\n"),
    ("/sys/kernel/debug/sched/fair_server/cpu3/runtime", "0\n"),
    ("/sys/kernel/debug/sched/fair_server/cpu3/period", "1000000000\n"),
    ("/proc/self/mounts", "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n"),
    ("/proc/self/cgroup", "0::/work\n"),
    ("/sys/fs/cgroup/cgroup.controllers", "cpuset cpu\n"),
    ("/sys/fs/cgroup/cpuset.cpus.effective", "0-3\n"),
    ("/sys/fs/cgroup/cpuset.cpus.isolated", "\n"),
    ("/sys/fs/cgroup/work/cgroup.controllers", "\n"),
    // schedulers
    ("/sys/kernel/sched_ext/state", "disabled\n"),
    ("/sys/kernel/security/lsm", "capability,yama,bpf\n"),
    ("/proc/sys/kernel/sched_autogroup_enabled", "0\n"),
    // permissions
    ("/proc/self/limits", LIMITS),
    // kernel
    ("/sys/kernel/tracing/current_tracer", "nop\n"),
    ("/proc/sys/kernel/tainted", "0\n"),
    ("/sys/kernel/rcu_expedited", "0\n"),
    // clocks
    ("/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n"),
    ("/sys/devices/system/clocksource/clocksource0/available_clocksource", "tsc hpet acpi_pm\n"),
    ("/sys/kernel/debug/sched/debug", "Sched Debug Version: v0.11\nsched_clock_stable()  : 1\n"),
    ("/sys/kernel/debug/sched/features", "PLACE_LAG NO_HRTICK HRTICK_DL\n"),
    ("/proc/sys/kernel/timer_migration", "0\n"),
    // power
    ("/sys/devices/system/cpu/online", "0-3\n"),
    ("/sys/devices/system/cpu/present", "0-3\n"),
    ("/sys/devices/system/cpu/isolated", "2-3\n"),
    ("/sys/devices/system/cpu/nohz_full", "2-3\n"),
    ("/sys/devices/system/cpu/smt/control", "off\n"),
    ("/sys/devices/system/cpu/intel_pstate/no_turbo", "1\n"),
    // interrupts
    ("/proc/irq/default_smp_affinity", "3\n"),
    ("/proc/irq/24/smp_affinity_list", "0-3\n"),
    ("/proc/irq/24/effective_affinity_list", "1\n"),
    ("/proc/irq/24/nvme/.keep", ""),
    ("/proc/irq/25/smp_affinity_list", "0-3\n"),
    ("/proc/irq/25/effective_affinity_list", "2\n"),
    ("/proc/sys/kernel/soft_watchdog", "1\n"),
    ("/proc/sys/kernel/watchdog_cpumask", "0-1\n"),
    ("/proc/sys/kernel/nmi_watchdog", "0\n"),
    ("/sys/devices/virtual/workqueue/cpumask", "3\n"),
    ("/sys/devices/virtual/workqueue/writeback/cpumask", "00000003\n"),
    ("/proc/7/comm", "irq/24-nvme\n"),
    ("/proc/7/stat", IRQ_THREAD),
    ("/proc/interrupts", INTERRUPTS),
    ("/proc/stat", STAT),
    ("/proc/softirqs", SOFTIRQS),
    ("/proc/vmstat", "pswpin 0\npswpout 0\npgmigrate_success 100\n"),
    // memory
    ("/proc/swaps", "Filename\tType\tSize\tUsed\tPriority\n"),
    ("/proc/sys/vm/swappiness", "60\n"),
    ("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"),
    ("/sys/kernel/mm/transparent_hugepage/defrag", "always defer defer+madvise [madvise] never\n"),
    ("/sys/kernel/mm/ksm/run", "0\n"),
    ("/sys/devices/system/node/online", "0\n"),
    ("/proc/sys/kernel/numa_balancing", "0\n"),
    ("/proc/sys/vm/compact_unevictable_allowed", "0\n"),
    ("/proc/sys/vm/compaction_proactiveness", "0\n"),
    ("/proc/sys/vm/zone_reclaim_mode", "0\n"),
];

/// Files of each CPU; `N` is its number.
const OF_CPU: &[(&str, &str)] = &[
    ("cpufreq/scaling_governor", "performance\n"),
    ("cpufreq/energy_performance_preference", "performance\n"),
    ("cpuidle/state0/name", "POLL\n"),
    ("cpuidle/state0/latency", "0\n"),
    ("cpuidle/state0/disable", "0\n"),
    ("cpuidle/state1/name", "C1\n"),
    ("cpuidle/state1/latency", "2\n"),
    ("cpuidle/state1/disable", "0\n"),
    ("cpuidle/state2/name", "C6\n"),
    ("cpuidle/state2/latency", "133\n"),
    ("cpuidle/state2/disable", "1\n"),
    ("power/pm_qos_resume_latency_us", "0\n"),
    ("thermal_throttle/core_throttle_count", "0\n"),
    ("topology/thread_siblings_list", "N\n"),
];

pub const CONFIG: &str = "# CONFIG_RT_GROUP_SCHED is not set\nCONFIG_HZ=1000\nCONFIG_PREEMPT_RT=y\nCONFIG_NO_HZ_FULL=y\n\
    CONFIG_RCU_NOCB_CPU=y\n# CONFIG_PROVE_LOCKING is not set\n# CONFIG_KASAN is not set\nCONFIG_IRQ_TIME_ACCOUNTING=y\n\
    CONFIG_PARAVIRT=y\nCONFIG_PARAVIRT_TIME_ACCOUNTING=y\n";

pub const LIMITS: &str = "Limit                     Soft Limit           Hard Limit           Units     \n\
    Max locked memory         unlimited            unlimited            bytes     \n\
    Max nice priority         40                   40                   \n\
    Max realtime priority     98                   98                   \n\
    Max realtime timeout      unlimited            unlimited            us        \n";

pub const IRQ_THREAD: &str = "7 (irq/24-nvme) S 2 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 -51 0 1 0 100 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 50 1 0 0 0\n";

pub const INTERRUPTS: &str = "      CPU0   CPU1   CPU2   CPU3\n 24:    10     20     0     7   IO-APIC   5-edge   nvme\n \
    25:    10     20     0     7   IO-APIC   6-edge   none\nLOC:   1000   1000   1000   1000   Local timer interrupts\n";

pub const SOFTIRQS: &str = "      CPU0   CPU1   CPU2   CPU3\n     RCU:   9    9    4    2\n";

pub const STAT: &str = "cpu  400 0 0 4000 0 0 0 0 0 0\ncpu0 100 0 0 1000 0 0 0 0 0 0\ncpu1 100 0 0 1000 0 0 0 0 0 0\n\
    cpu2 100 0 0 1000 0 0 0 0 0 0\ncpu3 100 0 0 1000 0 0 0 0 0 0\n";

/// A change of the tuned machine.
#[derive(Debug, Clone)]
pub enum Change {
    /// A file says something else.
    Says(String, Vec<u8>),
    /// A file is not there.
    Gone(String),
    /// A file says something else after the second in which counters are watched.
    Later(String, String),
    /// The CPUs that are judged.
    Cpus(&'static str),
    /// What no file says.
    Probed(fn(&mut Probes)),
    /// System calls tell nothing.
    NoProbes,
}

pub fn says(file: &str, text: &str) -> Change {
    Change::Says(file.to_owned(), text.as_bytes().to_vec())
}

pub fn gone(file: &str) -> Change {
    Change::Gone(file.to_owned())
}

/// A machine in a temporary directory.
pub struct Made {
    root: tempfile::TempDir,
    changes: Vec<Change>,
}

/// The tuned machine's files, with those of each CPU.
pub fn tuned() -> Vec<(String, String)> {
    let once = MACHINE.iter().map(|(file, text)| ((*file).to_owned(), (*text).to_owned()));
    let of_cpus = (0..4).flat_map(|cpu| {
        OF_CPU.iter().map(move |(file, text)| {
            (format!("/sys/devices/system/cpu/cpu{cpu}/{file}"), text.replace('N', &cpu.to_string()))
        })
    });
    once.chain(of_cpus).collect()
}

/// Their names.
pub fn files() -> Vec<String> {
    tuned().into_iter().map(|(file, _)| file).collect()
}

impl Made {
    pub fn with(changes: &[Change]) -> Made {
        let made = Made { root: tempfile::tempdir().expect("a directory"), changes: changes.to_vec() };
        tuned().into_iter().for_each(|(file, text)| made.write(&file, text.as_bytes()));
        for change in changes {
            match change {
                Change::Says(file, text) => made.write(file, text),
                Change::Gone(file) => fs::remove_file(made.place(file)).expect("it was there"),
                _ => {}
            }
        }
        // Directories that hold nothing any more were not there either.
        for _ in 0..12 {
            remove_empty(made.root.path());
        }
        made
    }

    pub fn root(&self) -> &Path {
        self.root.path()
    }

    pub fn cpus(&self) -> Option<CpuList> {
        self.changes.iter().find_map(|change| match change {
            Change::Cpus(list) => list.parse().ok(),
            _ => None,
        })
    }

    pub fn probes(&self) -> Probes {
        let mut probes = Probes {
            timer_resolution_ns: Some(1),
            sys_nice: Some(false),
            ipc_lock: Some(false),
            policies: Some(None),
            clock_reading_ns: Some(25),
            wakeups: Vec::new(),
        };
        for change in &self.changes {
            match change {
                Change::Probed(other) => other(&mut probes),
                Change::NoProbes => probes = Probes::default(),
                _ => {}
            }
        }
        probes
    }

    /// What happens in the second in which counters are watched.
    pub fn time_passes(&self) {
        for change in &self.changes {
            if let Change::Later(file, text) = change {
                self.write(file, text.as_bytes());
            }
        }
    }

    pub fn remove(&self, file: &str) {
        fs::remove_file(self.place(file)).expect("it was there");
    }

    fn place(&self, file: &str) -> std::path::PathBuf {
        self.root.path().join(file.trim_start_matches('/'))
    }

    pub fn write(&self, file: &str, text: &[u8]) {
        let place = self.place(file);
        fs::create_dir_all(place.parent().expect("in a directory")).expect("a directory");
        fs::write(place, text).expect("written");
    }
}

fn remove_empty(folder: &Path) {
    for entry in fs::read_dir(folder).expect("a directory").flatten() {
        let path = entry.path();
        if path.is_dir() {
            remove_empty(&path);
            // One that is not empty stays.
            let _ = fs::remove_dir(&path);
        }
    }
}

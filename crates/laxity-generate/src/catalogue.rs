//! The generators and their parameters by name: what the command line, `laxity list` and a set's provenance
//! speak. Defaults stand here and nowhere else.

/// A parameter of a generator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter {
    /// Name, as in `--NAME` and in a set's provenance.
    pub name: &'static str,
    /// What holds if it is not given.
    pub fallback: Fallback,
    /// What it means and how it is written.
    pub help: &'static str,
}

/// What holds if a parameter is not given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fallback {
    /// It must be given.
    Required,
    /// It is left out; `help` says what that means.
    Absent,
    /// This value.
    Value(&'static str),
}

/// A generator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Description {
    /// Name on the command line.
    pub name: &'static str,
    /// What its sets are like.
    pub summary: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// Its own parameters; it has those of [`COMMON_PARAMETERS`] too.
    pub parameters: &'static [Parameter],
}

const fn required(name: &'static str, help: &'static str) -> Parameter {
    Parameter { name, fallback: Fallback::Required, help }
}

const fn absent(name: &'static str, help: &'static str) -> Parameter {
    Parameter { name, fallback: Fallback::Absent, help }
}

const fn defaults(name: &'static str, value: &'static str, help: &'static str) -> Parameter {
    Parameter { name, fallback: Fallback::Value(value), help }
}

const TASKS: Parameter = required("tasks", "number of tasks n, up to 4096");
const UTILIZATION: Parameter =
    required("utilization", "total utilization U of the set, above 0 and at most n");
const PERIODS_HELP: &str = "distribution of periods: uniform:MIN,MAX | log-uniform:MIN,MAX | uni-short (3-33ms) | uni-moderate (10-100ms) | uni-long (50-250ms) | logunif-short | logunif-moderate | logunif-long";
const PERIODS: Parameter = defaults("periods", "log-uniform:10ms,100ms", PERIODS_HELP);
const GRANULARITY: Parameter =
    defaults("granularity", "1ms", "periods are multiples of this; it must divide both ends of the range");

/// All generators.
pub static GENERATORS: [Description; 6] = [
    Description {
        name: "emberson",
        summary: "n tasks of total utilization U, uniform over all such sets (RandFixedSum)",
        source: "Emberson, Stafford and Davis, WATERS 2010; rescaling: lelli2012, 5.3",
        parameters: &[
            TASKS,
            UTILIZATION,
            PERIODS,
            GRANULARITY,
            absent(
                "rescale-cores",
                "rescale for m CPUs as in lelli2012: no task above U/m, every C at least rescale-wcet-min",
            ),
            absent("rescale-wcet-min", "least C of a rescaled set; 50us unless given"),
        ],
    },
    Description {
        name: "uunifast",
        summary: "n tasks of total utilization U by UUniFast, discarding sets with a task above 1",
        source: "Bini and Buttazzo 2005; Davis and Burns 2011",
        parameters: &[TASKS, UTILIZATION, PERIODS, GRANULARITY],
    },
    Description {
        name: "unc",
        summary: "independently drawn utilizations and periods, n tasks or up to a total utilization",
        source: "ackelman2018, 4.2; cerqueira2014, V-A; SchedCAT",
        parameters: &[
            absent("tasks", "number of tasks n, up to 4096; give either this or utilization"),
            absent("utilization", "draw tasks until their total exceeds this"),
            defaults("last", "drop", "with utilization: drop | squeeze the task that exceeds it"),
            defaults(
                "utilizations",
                "uni-medium",
                "distribution of a task's utilization: uni-light (.001-.1) | uni-medium (.1-.4) | uni-heavy (.5-.9) | bimo-light (8:1) | bimo-medium (6:3) | bimo-heavy (4:5) | exp-light (.10) | exp-medium (.25) | exp-heavy (.50) | uniform:LOW,HIGH | bimodal:LIGHT,HEAVY | exponential:MEAN",
            ),
            defaults("periods", "uni-moderate", PERIODS_HELP),
            GRANULARITY,
        ],
    },
    Description {
        name: "waters",
        summary: "automotive runnables with measured execution times, summed into tasks by period",
        source: "Kramer, Ziegenbein and Hamann, WATERS 2015",
        parameters: &[
            defaults("runnables", "100", "number of runnables; about 100 load one CPU at their WCETs"),
            absent("utilization", "scale all WCETs to this total; left as drawn unless given"),
            defaults(
                "task-utilization-max",
                "1",
                "runnables of one period share a task up to this utilization",
            ),
            defaults(
                "demand",
                "run",
                "demand of jobs: run (as the run says) | acet (average execution time)",
            ),
        ],
    },
    Description {
        name: "mtt",
        summary: "multi-threaded tasks whose members share a working set, up to a total utilization",
        source: "lindsay2012, 6.1.3 and Table 6.1 (whose tasks increment, which writes every line: --read-write 0:1)",
        parameters: &[
            required(
                "distribution",
                "tasks per MTT, their utilization and period, and the MTT's working set: mlu (1-4, .01-.1, 24-240ms, 128KiB per 3ms) | mmu (1-4, .1-.4, 24-240ms, 128KiB per 3ms) | mwl (1-8, .1-.4, 10-250ms, 64-512KiB) | mwh (the same, 4-8MiB) | mwlp mwhp (utilization drawn for each task) | mwlu mwhu (period drawn for each task)",
            ),
            required(
                "utilization",
                "draw MTTs until their total exceeds this; the last is dropped (6 ... 48 in the paper)",
            ),
            GRANULARITY,
            defaults(
                "shared",
                "1",
                "share of its working set that each task shares with its MTT, above 0 and at most 1; the rest is its own",
            ),
        ],
    },
    Description {
        name: "calandrino2007",
        summary: "tasks that enter 2 to 100 ms after one another, for fast and slow CPUs; periods of 2 to 80 ms",
        source: "calandrino2007, 5.1",
        parameters: &[
            defaults("tasks", "100", "number of tasks n, up to 4096"),
            defaults(
                "requirement",
                "2",
                "the most that a job takes on the slowest CPU, in periods; whole ms, uniform from 1 ms on (2 and 0.5 in the paper)",
            ),
            defaults("slowest", "0.5", "speed of the slowest CPU; WCETs refer to speed 1"),
        ],
    },
];

/// The parameters that every generator has.
pub const COMMON_PARAMETERS: [Parameter; 6] = [
    defaults(
        "deadlines",
        "implicit",
        "relative deadlines: implicit | constrained:X (uniform in [C + X(T-C), T]) | factor:F (F times T) | arbitrary:F (uniform in [C, F times T])",
    ),
    defaults("phases", "none", "first releases: none (synchronous) | uniform (in [0, T))"),
    defaults("arrivals", "periodic", "releases of jobs: periodic | sporadic"),
    defaults("wss", "0B", "working set sizes, as in 16KiB,256KiB; each task draws one"),
    defaults("read-write", "4:1", "reads to writes of a job in its working set"),
    defaults("access", "sequential", "how a job walks its working set: sequential | random"),
];

/// The generator with this name, if there is one.
pub fn description(name: &str) -> Option<&'static Description> {
    GENERATORS.iter().find(|generator| generator.name == name)
}

//! Parameters of generators by name, with their defaults.

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

pub(crate) const fn required(name: &'static str, help: &'static str) -> Parameter {
    Parameter { name, fallback: Fallback::Required, help }
}

pub(crate) const fn absent(name: &'static str, help: &'static str) -> Parameter {
    Parameter { name, fallback: Fallback::Absent, help }
}

pub(crate) const fn defaults(name: &'static str, value: &'static str, help: &'static str) -> Parameter {
    Parameter { name, fallback: Fallback::Value(value), help }
}

pub(crate) const TASKS: Parameter = required("tasks", "number of tasks n, up to 100000");
pub(crate) const UTILIZATION: Parameter =
    required("utilization", "total utilization U of the set, above 0 and at most n");
pub(crate) const PERIODS_HELP: &str = "distribution of periods: uniform:MIN,MAX | log-uniform:MIN,MAX | uni-short (3-33ms) | uni-moderate (10-100ms) | uni-long (50-250ms) | logunif-short | logunif-moderate | logunif-long";
pub(crate) const PERIODS: Parameter = defaults("periods", "log-uniform:10ms,100ms", PERIODS_HELP);
pub(crate) const GRANULARITY: Parameter =
    defaults("granularity", "1ms", "periods are multiples of this; it must divide both ends of the range");

/// The parameters that every generator has.
pub const COMMON_PARAMETERS: &[Parameter] = &[
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

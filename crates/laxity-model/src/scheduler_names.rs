//! What people type instead of the names of schedulers.

use crate::Names;

/// Names of schedulers, with what people type instead of them.
pub(crate) fn scheduler_names<'a>(known: &'a [&'a str]) -> Names<'a> {
    Names { what: "scheduler", known, aliases: OTHER_NAMES, listed_by: Some("laxity list schedulers") }
}

/// Names from papers, the kernel and other tools.
const OTHER_NAMES: &[(&str, &str)] = &[
    ("edf", "`p-edf`, `c-edf` or `g-edf` (each CPU, each cluster, or all CPUs)"),
    ("deadline", "`g-edf` (SCHED_DEADLINE as it is), `p-edf` or `c-edf`"),
    ("sched_deadline", "`g-edf` (SCHED_DEADLINE as it is), `p-edf` or `c-edf`"),
    ("rm", "`p-rm`, `c-rm` or `g-rm` (each CPU, each cluster, or all CPUs)"),
    ("rms", "`p-rm`, `c-rm` or `g-rm`"),
    ("fifo", FIFO),
    ("sched_fifo", FIFO),
    ("rt", FIFO),
    ("rr", ROUND_ROBIN),
    ("sched_rr", ROUND_ROBIN),
    ("dm", "`p-dm`, `c-dm` or `g-dm` (deadline-monotonic priorities on each CPU, each cluster, or all CPUs)"),
    ("fp", "`p-fp`, `c-fp` or `g-fp` (the `priority` of each task, on each CPU, each cluster, or all CPUs)"),
    ("amp", "`amp-rm`"),
    ("pd2", "`pfair` (laxity analyze)"),
    ("cfs", FAIR),
    ("eevdf", FAIR),
    ("fair", FAIR),
    ("sched_other", FAIR),
    ("grub", "`p-edf:grub`, `c-edf:grub` or `g-edf:grub` (SCHED_DEADLINE with reclaiming)"),
    ("ext", EXT),
    ("scx", EXT),
];

const FIFO: &str = "`p-rm`, `p-dm` or `p-fp` (SCHED_FIFO with rate-monotonic, deadline-monotonic or given priorities), `c-` or \
    `g-` before it for each cluster or all CPUs";

const ROUND_ROBIN: &str =
    "`p-rr`, `c-rr` or `g-rr` (equal tasks take turns on each CPU, in each cluster, or on all CPUs)";
const FAIR: &str = "`other` (SCHED_OTHER, which promises no deadline)";
const EXT: &str = "`edf-bh` or another of laxity's own policies, or `scx:PROGRAM` (sched_ext)";

//! What scheduling costs in the running kernel, measured alike for every scheduler.
//!
//! 1. The probes of `bpf/overheads.bpf.c` are on functions and tracepoints that the kernel has for all scheduling classes,
//!    so that SCHED_DEADLINE, SCHED_FIFO and the policies under sched_ext have the same quantities (cerqueira2014, IV-A:
//!    Feather-Trace was ported to SCHED_DEADLINE for that). What a kernel does not offer is left out and said.
//! 2. Records are written per CPU without shared buffers (`bpf/trace/`), with the number of interrupts meanwhile.
//!    Disturbed samples are counted and set apart (ackelman2018, 6.2).
//! 3. Overheads of a policy's own, which only its host can see (requests to the dedicated scheduling processor and their
//!    handling), are written by the host into rings of the same kind and become samples by the same [`Sampler`].
//! 4. What tracing itself costs is measured in the same recording and stated, not subtracted.
//!
//! [`record`] does all of it; [`Recorder`] gives the records themselves.

#![warn(clippy::print_stdout, clippy::print_stderr, clippy::disallowed_methods)]

mod cost;
/// Types of `bpf/` in Rust, made by bindgen (`make bless`); `crates/laxity-conformance/tests/bindings.rs` compares them.
#[allow(non_camel_case_types, missing_docs, clippy::all, clippy::undocumented_unsafe_blocks)]
#[rustfmt::skip]
mod ffi;
mod probes;
mod record;
mod recorder;
mod sample;
mod samples_file;
mod statistics;
mod summary;
mod table_csv;

pub use laxity_kernel::rings::SampleKind;
pub use record::{Options, Recorded, SamplesFile, record};
pub use recorder::{Missing, POLICY_SAMPLES, Recorder, Recording, Selection};
pub use sample::{Class, Sample, Sampler};
pub use samples_file::{OVERHEADS_VERSION, SamplesWriter, read_samples};
pub use statistics::{Group, Groups, KEPT_MOST, Statistics, equal_counts, statistics_of_some};
pub use summary::{OVERHEADS_SUMMARY_VERSION, Overhead, Summary, TracingCost, overheads_schema};
pub use table_csv::{Row, Which, kinds_of, overheads_csv};

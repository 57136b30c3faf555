//! Task sets, platforms, exact time and exact utilization: the types that every other laxity crate uses.
//!
//! Nothing here schedules, measures or draws. Times are integer nanoseconds ([`Duration`]), utilizations are
//! exact rationals ([`Utilization`]), and an error in an input is a [`Diagnostic`] that names the
//! value, the rule and the fix.

#![warn(clippy::print_stdout, clippy::print_stderr, clippy::disallowed_methods)]

mod any_scheduler;
mod budget;
mod byte_size;
mod cache;
mod cell;
mod configuration;
mod cpu_list;
mod demand;
mod diagnostic;
mod divisor;
mod fifo;
mod file;
mod interference;
mod line_number;
mod linux;
mod listed_enum;
pub mod markdown;
mod names;
mod on_miss;
pub mod overheads;
mod platform;
mod policy;
mod prototype;
mod reserve;
mod scheduler;
mod scheduler_names;
mod server;
mod server_sizes;
mod sharing;
mod shell;
mod shipped;
mod shown;
mod sysfs;
mod task;
mod task_set;
mod text_form;
mod thread;
mod time;
mod utilization;
mod words;

pub use any_scheduler::AnyScheduler;
pub use budget::BudgetMode;
pub use byte_size::ByteSize;
pub use cache::{Cache, CacheKind};
pub use cell::Cell;
pub use configuration::{configuration_of, scheduler_of};
pub use cpu_list::CpuList;
pub use demand::Demand;
pub use diagnostic::{Diagnostic, Failure, Result};
pub use divisor::gcd;
pub use fifo::FIFO_LEVELS;
pub use file::{
    DirectoryLock, DocumentEntries, DocumentKind, Draft, Existing, Exported, Imported, Incomplete,
    OutputDirectory, OutputFile, STANDARD, TaskRow, WalkKind, WalkRates, cannot_write, check_writable,
    is_begun, json_in_plain_words, name_of, platform_schema, read_file, read_platform, read_schema,
    read_task_set, read_task_set_as, remove_at, task_set_schema, write_file, written_schema,
};
pub use interference::Interference;
pub use linux::{FOREIGN_LISTED, Fair, ForeignProgram, LinuxScheduler, Slice};
pub use names::{Names, check_name, closest};
pub use on_miss::OnMiss;
pub use platform::{Core, NumaNode, Platform, Speed};
pub use policy::{Policy, PolicyScheduler, Structure};
pub use prototype::{Prototype, check_own_name};
pub use reserve::Reserve;
pub use scheduler::{PriorityRule, Scheduler, Scope};
pub use server::{DeferrableServer, ServerSize};
pub use server_sizes::{ServerChoice, ServerSizes};
pub use sharing::{MemoryGroup, Sharing};
pub use shell::shell_word;
pub use shipped::ShippedPlatform;
pub use shown::{Shown, ShownPath, is_escaped, shown, shown_json, shown_lines, shown_message};
pub use task::{AccessPattern, Arrival, Group, Task, TaskKind, WorkingSet};
pub use task_set::{Provenance, TASKS_MAX, TaskSet};
pub use thread::start_thread;
pub use time::Duration;
pub use utilization::{LoadSum, Utilization};
pub use words::{cpus_named, listed, one_of, plural, with_commas};

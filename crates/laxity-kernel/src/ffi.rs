//! Made from bpf/policy.bpf.c by bindgen: `make bless` rewrites it.

pub const LX_HOST_TASKS: u32 = 2048;
pub const LX_HOST_CPUS: u32 = 256;
pub const LX_HOST_SOCKETS: u32 = 8;
pub const LX_HOST_PERIOD_MAX: u32 = 4194304000;
pub const LX_RING_RECORDS: u32 = 16384;
pub type __s32 = ::core::ffi::c_int;
pub type __u32 = ::core::ffi::c_uint;
pub type __s64 = ::core::ffi::c_longlong;
pub type __u64 = ::core::ffi::c_ulonglong;
pub type s32 = __s32;
pub type u32_ = __u32;
pub type s64 = __s64;
pub type u64_ = __u64;
#[repr(C)]
#[derive(
    Debug,
    Copy,
    Clone,
    zerocopy::FromBytes,
    zerocopy::IntoBytes,
    zerocopy::Immutable
)]
pub struct lx_exit {
    pub kind: ::core::ffi::c_int,
    pub cpu: s32,
    pub code: s64,
    pub reason: [::core::ffi::c_char; 128usize],
    pub message: [::core::ffi::c_char; 1024usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of lx_exit"][::core::mem::size_of::<lx_exit>() - 1168usize];
    ["Alignment of lx_exit"][::core::mem::align_of::<lx_exit>() - 8usize];
    ["Offset of field: lx_exit::kind"][::core::mem::offset_of!(lx_exit, kind) - 0usize];
    ["Offset of field: lx_exit::cpu"][::core::mem::offset_of!(lx_exit, cpu) - 4usize];
    ["Offset of field: lx_exit::code"][::core::mem::offset_of!(lx_exit, code) - 8usize];
    [
        "Offset of field: lx_exit::reason",
    ][::core::mem::offset_of!(lx_exit, reason) - 16usize];
    [
        "Offset of field: lx_exit::message",
    ][::core::mem::offset_of!(lx_exit, message) - 144usize];
};
impl Default for lx_exit {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[repr(C)]
#[derive(
    Debug,
    Default,
    Copy,
    Clone,
    zerocopy::FromBytes,
    zerocopy::IntoBytes,
    zerocopy::Immutable
)]
pub struct lx_config {
    pub tasks: u32_,
    pub cpus: u32_,
    pub rule: u32_,
    pub budget_mode: u32_,
    pub batching: u32_,
    pub dedicated_cpu: u32_,
    pub retries_max: u32_,
    pub sockets: u32_,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of lx_config"][::core::mem::size_of::<lx_config>() - 32usize];
    ["Alignment of lx_config"][::core::mem::align_of::<lx_config>() - 4usize];
    [
        "Offset of field: lx_config::tasks",
    ][::core::mem::offset_of!(lx_config, tasks) - 0usize];
    [
        "Offset of field: lx_config::cpus",
    ][::core::mem::offset_of!(lx_config, cpus) - 4usize];
    [
        "Offset of field: lx_config::rule",
    ][::core::mem::offset_of!(lx_config, rule) - 8usize];
    [
        "Offset of field: lx_config::budget_mode",
    ][::core::mem::offset_of!(lx_config, budget_mode) - 12usize];
    [
        "Offset of field: lx_config::batching",
    ][::core::mem::offset_of!(lx_config, batching) - 16usize];
    [
        "Offset of field: lx_config::dedicated_cpu",
    ][::core::mem::offset_of!(lx_config, dedicated_cpu) - 20usize];
    [
        "Offset of field: lx_config::retries_max",
    ][::core::mem::offset_of!(lx_config, retries_max) - 24usize];
    [
        "Offset of field: lx_config::sockets",
    ][::core::mem::offset_of!(lx_config, sockets) - 28usize];
};
#[repr(C)]
#[derive(
    Debug,
    Copy,
    Clone,
    zerocopy::FromBytes,
    zerocopy::IntoBytes,
    zerocopy::Immutable
)]
pub struct lx_host_setup {
    pub instance: u32_,
    pub reserved: u32_,
    pub config: lx_config,
    pub share_ppm: u64_,
    pub reserve_period_ns: u64_,
    pub reserve_runtime_ns: u64_,
    pub cpu: [u32_; 256usize],
    pub socket: [u32_; 256usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of lx_host_setup"][::core::mem::size_of::<lx_host_setup>() - 2112usize];
    ["Alignment of lx_host_setup"][::core::mem::align_of::<lx_host_setup>() - 8usize];
    [
        "Offset of field: lx_host_setup::instance",
    ][::core::mem::offset_of!(lx_host_setup, instance) - 0usize];
    [
        "Offset of field: lx_host_setup::reserved",
    ][::core::mem::offset_of!(lx_host_setup, reserved) - 4usize];
    [
        "Offset of field: lx_host_setup::config",
    ][::core::mem::offset_of!(lx_host_setup, config) - 8usize];
    [
        "Offset of field: lx_host_setup::share_ppm",
    ][::core::mem::offset_of!(lx_host_setup, share_ppm) - 40usize];
    [
        "Offset of field: lx_host_setup::reserve_period_ns",
    ][::core::mem::offset_of!(lx_host_setup, reserve_period_ns) - 48usize];
    [
        "Offset of field: lx_host_setup::reserve_runtime_ns",
    ][::core::mem::offset_of!(lx_host_setup, reserve_runtime_ns) - 56usize];
    [
        "Offset of field: lx_host_setup::cpu",
    ][::core::mem::offset_of!(lx_host_setup, cpu) - 64usize];
    [
        "Offset of field: lx_host_setup::socket",
    ][::core::mem::offset_of!(lx_host_setup, socket) - 1088usize];
};
impl Default for lx_host_setup {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[repr(C)]
#[derive(
    Debug,
    Default,
    Copy,
    Clone,
    zerocopy::FromBytes,
    zerocopy::IntoBytes,
    zerocopy::Immutable
)]
pub struct lx_parameters {
    pub runtime_ns: u64_,
    pub deadline_rel_ns: u64_,
    pub period_ns: u64_,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of lx_parameters"][::core::mem::size_of::<lx_parameters>() - 24usize];
    ["Alignment of lx_parameters"][::core::mem::align_of::<lx_parameters>() - 8usize];
    [
        "Offset of field: lx_parameters::runtime_ns",
    ][::core::mem::offset_of!(lx_parameters, runtime_ns) - 0usize];
    [
        "Offset of field: lx_parameters::deadline_rel_ns",
    ][::core::mem::offset_of!(lx_parameters, deadline_rel_ns) - 8usize];
    [
        "Offset of field: lx_parameters::period_ns",
    ][::core::mem::offset_of!(lx_parameters, period_ns) - 16usize];
};
#[repr(C)]
#[derive(
    Debug,
    Default,
    Copy,
    Clone,
    zerocopy::FromBytes,
    zerocopy::IntoBytes,
    zerocopy::Immutable
)]
pub struct lx_host_core {
    pub cpu: u32_,
    pub speed: u32_,
    pub budget_ns: u64_,
    pub period_ns: u64_,
    pub share_ppm: u64_,
    pub closed: u64_,
    pub from_at: u64_,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of lx_host_core"][::core::mem::size_of::<lx_host_core>() - 48usize];
    ["Alignment of lx_host_core"][::core::mem::align_of::<lx_host_core>() - 8usize];
    [
        "Offset of field: lx_host_core::cpu",
    ][::core::mem::offset_of!(lx_host_core, cpu) - 0usize];
    [
        "Offset of field: lx_host_core::speed",
    ][::core::mem::offset_of!(lx_host_core, speed) - 4usize];
    [
        "Offset of field: lx_host_core::budget_ns",
    ][::core::mem::offset_of!(lx_host_core, budget_ns) - 8usize];
    [
        "Offset of field: lx_host_core::period_ns",
    ][::core::mem::offset_of!(lx_host_core, period_ns) - 16usize];
    [
        "Offset of field: lx_host_core::share_ppm",
    ][::core::mem::offset_of!(lx_host_core, share_ppm) - 24usize];
    [
        "Offset of field: lx_host_core::closed",
    ][::core::mem::offset_of!(lx_host_core, closed) - 32usize];
    [
        "Offset of field: lx_host_core::from_at",
    ][::core::mem::offset_of!(lx_host_core, from_at) - 40usize];
};
#[repr(C)]
#[derive(
    Debug,
    Default,
    Copy,
    Clone,
    zerocopy::FromBytes,
    zerocopy::IntoBytes,
    zerocopy::Immutable
)]
pub struct lx_background_times {
    pub server_ns: u64_,
    pub reserve_ns: u64_,
    pub background_ns: u64_,
    pub quiet_at: u64_,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of lx_background_times",
    ][::core::mem::size_of::<lx_background_times>() - 32usize];
    [
        "Alignment of lx_background_times",
    ][::core::mem::align_of::<lx_background_times>() - 8usize];
    [
        "Offset of field: lx_background_times::server_ns",
    ][::core::mem::offset_of!(lx_background_times, server_ns) - 0usize];
    [
        "Offset of field: lx_background_times::reserve_ns",
    ][::core::mem::offset_of!(lx_background_times, reserve_ns) - 8usize];
    [
        "Offset of field: lx_background_times::background_ns",
    ][::core::mem::offset_of!(lx_background_times, background_ns) - 16usize];
    [
        "Offset of field: lx_background_times::quiet_at",
    ][::core::mem::offset_of!(lx_background_times, quiet_at) - 24usize];
};
#[repr(C)]
#[derive(
    Debug,
    Default,
    Copy,
    Clone,
    zerocopy::FromBytes,
    zerocopy::IntoBytes,
    zerocopy::Immutable
)]
pub struct lx_counters {
    pub releases: u64_,
    pub completions: u64_,
    pub exhaustions: u64_,
    pub kicks: u64_,
    pub decisions: u64_,
    pub dispatches: u64_,
    pub retries: u64_,
    pub reserved: u64_,
    pub background: u64_,
    pub admitted: u64_,
    pub refused: u64_,
    pub departed: u64_,
    pub instance_locks: u64_,
    pub served: u64_,
    pub timer_failures: u64_,
    pub rescued: u64_,
    pub withdrawals: u64_,
    pub bounded: u64_,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of lx_counters"][::core::mem::size_of::<lx_counters>() - 144usize];
    ["Alignment of lx_counters"][::core::mem::align_of::<lx_counters>() - 8usize];
    [
        "Offset of field: lx_counters::releases",
    ][::core::mem::offset_of!(lx_counters, releases) - 0usize];
    [
        "Offset of field: lx_counters::completions",
    ][::core::mem::offset_of!(lx_counters, completions) - 8usize];
    [
        "Offset of field: lx_counters::exhaustions",
    ][::core::mem::offset_of!(lx_counters, exhaustions) - 16usize];
    [
        "Offset of field: lx_counters::kicks",
    ][::core::mem::offset_of!(lx_counters, kicks) - 24usize];
    [
        "Offset of field: lx_counters::decisions",
    ][::core::mem::offset_of!(lx_counters, decisions) - 32usize];
    [
        "Offset of field: lx_counters::dispatches",
    ][::core::mem::offset_of!(lx_counters, dispatches) - 40usize];
    [
        "Offset of field: lx_counters::retries",
    ][::core::mem::offset_of!(lx_counters, retries) - 48usize];
    [
        "Offset of field: lx_counters::reserved",
    ][::core::mem::offset_of!(lx_counters, reserved) - 56usize];
    [
        "Offset of field: lx_counters::background",
    ][::core::mem::offset_of!(lx_counters, background) - 64usize];
    [
        "Offset of field: lx_counters::admitted",
    ][::core::mem::offset_of!(lx_counters, admitted) - 72usize];
    [
        "Offset of field: lx_counters::refused",
    ][::core::mem::offset_of!(lx_counters, refused) - 80usize];
    [
        "Offset of field: lx_counters::departed",
    ][::core::mem::offset_of!(lx_counters, departed) - 88usize];
    [
        "Offset of field: lx_counters::instance_locks",
    ][::core::mem::offset_of!(lx_counters, instance_locks) - 96usize];
    [
        "Offset of field: lx_counters::served",
    ][::core::mem::offset_of!(lx_counters, served) - 104usize];
    [
        "Offset of field: lx_counters::timer_failures",
    ][::core::mem::offset_of!(lx_counters, timer_failures) - 112usize];
    [
        "Offset of field: lx_counters::rescued",
    ][::core::mem::offset_of!(lx_counters, rescued) - 120usize];
    [
        "Offset of field: lx_counters::withdrawals",
    ][::core::mem::offset_of!(lx_counters, withdrawals) - 128usize];
    [
        "Offset of field: lx_counters::bounded",
    ][::core::mem::offset_of!(lx_counters, bounded) - 136usize];
};
#[repr(C)]
#[derive(
    Debug,
    Default,
    Copy,
    Clone,
    zerocopy::FromBytes,
    zerocopy::IntoBytes,
    zerocopy::Immutable
)]
pub struct lx_record {
    pub time_ns: u64_,
    pub argument: u64_,
    pub argument2: u64_,
    pub kind: u32_,
    pub cpu: u32_,
    pub pid: u32_,
    pub task: u32_,
    pub job: u32_,
    pub policy: u32_,
    pub interrupts: u32_,
    pub disturbing: u32_,
    pub sequence: u64_,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of lx_record"][::core::mem::size_of::<lx_record>() - 64usize];
    ["Alignment of lx_record"][::core::mem::align_of::<lx_record>() - 8usize];
    [
        "Offset of field: lx_record::time_ns",
    ][::core::mem::offset_of!(lx_record, time_ns) - 0usize];
    [
        "Offset of field: lx_record::argument",
    ][::core::mem::offset_of!(lx_record, argument) - 8usize];
    [
        "Offset of field: lx_record::argument2",
    ][::core::mem::offset_of!(lx_record, argument2) - 16usize];
    [
        "Offset of field: lx_record::kind",
    ][::core::mem::offset_of!(lx_record, kind) - 24usize];
    [
        "Offset of field: lx_record::cpu",
    ][::core::mem::offset_of!(lx_record, cpu) - 28usize];
    [
        "Offset of field: lx_record::pid",
    ][::core::mem::offset_of!(lx_record, pid) - 32usize];
    [
        "Offset of field: lx_record::task",
    ][::core::mem::offset_of!(lx_record, task) - 36usize];
    [
        "Offset of field: lx_record::job",
    ][::core::mem::offset_of!(lx_record, job) - 40usize];
    [
        "Offset of field: lx_record::policy",
    ][::core::mem::offset_of!(lx_record, policy) - 44usize];
    [
        "Offset of field: lx_record::interrupts",
    ][::core::mem::offset_of!(lx_record, interrupts) - 48usize];
    [
        "Offset of field: lx_record::disturbing",
    ][::core::mem::offset_of!(lx_record, disturbing) - 52usize];
    [
        "Offset of field: lx_record::sequence",
    ][::core::mem::offset_of!(lx_record, sequence) - 56usize];
};
#[repr(C)]
#[derive(
    Debug,
    Copy,
    Clone,
    zerocopy::FromBytes,
    zerocopy::IntoBytes,
    zerocopy::Immutable
)]
pub struct lx_ring {
    pub head: u64_,
    pub lost: u64_,
    pub interrupts: u32_,
    pub wanted: u32_,
    pub away: [u64_; 5usize],
    pub tail: u64_,
    pub away2: [u64_; 7usize],
    pub away3: [u64_; 496usize],
    pub records: [lx_record; 16384usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of lx_ring"][::core::mem::size_of::<lx_ring>() - 1052672usize];
    ["Alignment of lx_ring"][::core::mem::align_of::<lx_ring>() - 8usize];
    ["Offset of field: lx_ring::head"][::core::mem::offset_of!(lx_ring, head) - 0usize];
    ["Offset of field: lx_ring::lost"][::core::mem::offset_of!(lx_ring, lost) - 8usize];
    [
        "Offset of field: lx_ring::interrupts",
    ][::core::mem::offset_of!(lx_ring, interrupts) - 16usize];
    [
        "Offset of field: lx_ring::wanted",
    ][::core::mem::offset_of!(lx_ring, wanted) - 20usize];
    ["Offset of field: lx_ring::away"][::core::mem::offset_of!(lx_ring, away) - 24usize];
    ["Offset of field: lx_ring::tail"][::core::mem::offset_of!(lx_ring, tail) - 64usize];
    [
        "Offset of field: lx_ring::away2",
    ][::core::mem::offset_of!(lx_ring, away2) - 72usize];
    [
        "Offset of field: lx_ring::away3",
    ][::core::mem::offset_of!(lx_ring, away3) - 128usize];
    [
        "Offset of field: lx_ring::records",
    ][::core::mem::offset_of!(lx_ring, records) - 4096usize];
};
impl Default for lx_ring {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}

//! Made from bpf/host/setup.h by bindgen: `make bless` rewrites it.

pub const LX_HOST_TASKS: u32 = 2048;
pub const LX_HOST_CPUS: u32 = 256;
pub const LX_HOST_SOCKETS: u32 = 8;
pub const LX_HOST_PERIOD_MAX: u32 = 4194304000;
pub type u32_ = u32;
pub type u64_ = u64;
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
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
#[derive(Debug, Copy, Clone)]
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
#[derive(Debug, Default, Copy, Clone)]
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
#[derive(Debug, Default, Copy, Clone)]
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
#[derive(Debug, Default, Copy, Clone)]
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
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of lx_counters"][::core::mem::size_of::<lx_counters>() - 136usize];
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
};

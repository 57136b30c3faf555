//! Made from bpf/overheads.bpf.c by bindgen: `make bless` rewrites it.

pub type __u32 = ::core::ffi::c_uint;
pub type __u64 = ::core::ffi::c_ulonglong;
pub type u32_ = __u32;
pub type u64_ = __u64;
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
pub struct lx_options {
    pub all: u32_,
    pub unused: u32_,
    pub hrtimer_wakeup: u64_,
    pub dl_task_timer: u64_,
    pub tick: u64_,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of lx_options"][::core::mem::size_of::<lx_options>() - 32usize];
    ["Alignment of lx_options"][::core::mem::align_of::<lx_options>() - 8usize];
    [
        "Offset of field: lx_options::all",
    ][::core::mem::offset_of!(lx_options, all) - 0usize];
    [
        "Offset of field: lx_options::unused",
    ][::core::mem::offset_of!(lx_options, unused) - 4usize];
    [
        "Offset of field: lx_options::hrtimer_wakeup",
    ][::core::mem::offset_of!(lx_options, hrtimer_wakeup) - 8usize];
    [
        "Offset of field: lx_options::dl_task_timer",
    ][::core::mem::offset_of!(lx_options, dl_task_timer) - 16usize];
    [
        "Offset of field: lx_options::tick",
    ][::core::mem::offset_of!(lx_options, tick) - 24usize];
};

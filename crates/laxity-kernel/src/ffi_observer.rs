//! Made from bpf/schedule.bpf.c by bindgen: `make bless` rewrites it.

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
pub struct lx_watched {
    pub number: u32_,
    pub unused: u32_,
    pub waking_at: u64_,
    pub due_at: u64_,
    pub woken_at: u64_,
    pub awake: u64_,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of lx_watched"][::core::mem::size_of::<lx_watched>() - 40usize];
    ["Alignment of lx_watched"][::core::mem::align_of::<lx_watched>() - 8usize];
    [
        "Offset of field: lx_watched::number",
    ][::core::mem::offset_of!(lx_watched, number) - 0usize];
    [
        "Offset of field: lx_watched::unused",
    ][::core::mem::offset_of!(lx_watched, unused) - 4usize];
    [
        "Offset of field: lx_watched::waking_at",
    ][::core::mem::offset_of!(lx_watched, waking_at) - 8usize];
    [
        "Offset of field: lx_watched::due_at",
    ][::core::mem::offset_of!(lx_watched, due_at) - 16usize];
    [
        "Offset of field: lx_watched::woken_at",
    ][::core::mem::offset_of!(lx_watched, woken_at) - 24usize];
    [
        "Offset of field: lx_watched::awake",
    ][::core::mem::offset_of!(lx_watched, awake) - 32usize];
};

//! Made from policy/native.h by bindgen: `make bless` rewrites it.

pub type u32_ = u32;
pub type u64_ = u64;
pub const lx_admission_result_LX_ADMITTED: lx_admission_result = 0;
pub const lx_admission_result_LX_REFUSED_PARAMETERS: lx_admission_result = 22;
pub const lx_admission_result_LX_REFUSED_BANDWIDTH: lx_admission_result = 16;
pub type lx_admission_result = ::core::ffi::c_uint;
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct lx_admission {
    pub limit: u64_,
    pub total: u64_,
    pub cpus: u32_,
    pub reserved: u32_,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of lx_admission"][::core::mem::size_of::<lx_admission>() - 24usize];
    ["Alignment of lx_admission"][::core::mem::align_of::<lx_admission>() - 8usize];
    [
        "Offset of field: lx_admission::limit",
    ][::core::mem::offset_of!(lx_admission, limit) - 0usize];
    [
        "Offset of field: lx_admission::total",
    ][::core::mem::offset_of!(lx_admission, total) - 8usize];
    [
        "Offset of field: lx_admission::cpus",
    ][::core::mem::offset_of!(lx_admission, cpus) - 16usize];
    [
        "Offset of field: lx_admission::reserved",
    ][::core::mem::offset_of!(lx_admission, reserved) - 20usize];
};
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct lx_load {
    pub speed: u32_,
    pub tasks: u32_,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of lx_load"][::core::mem::size_of::<lx_load>() - 8usize];
    ["Alignment of lx_load"][::core::mem::align_of::<lx_load>() - 4usize];
    [
        "Offset of field: lx_load::speed",
    ][::core::mem::offset_of!(lx_load, speed) - 0usize];
    [
        "Offset of field: lx_load::tasks",
    ][::core::mem::offset_of!(lx_load, tasks) - 4usize];
};
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct lx_spot {
    pub cpu: u32_,
    pub load: lx_load,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of lx_spot"][::core::mem::size_of::<lx_spot>() - 12usize];
    ["Alignment of lx_spot"][::core::mem::align_of::<lx_spot>() - 4usize];
    ["Offset of field: lx_spot::cpu"][::core::mem::offset_of!(lx_spot, cpu) - 0usize];
    ["Offset of field: lx_spot::load"][::core::mem::offset_of!(lx_spot, load) - 4usize];
};
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct lx_reserve {
    pub period_start_at: u64_,
    pub used_ns: u64_,
    pub period_ns: u64_,
    pub runtime_ns: u64_,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of lx_reserve"][::core::mem::size_of::<lx_reserve>() - 32usize];
    ["Alignment of lx_reserve"][::core::mem::align_of::<lx_reserve>() - 8usize];
    [
        "Offset of field: lx_reserve::period_start_at",
    ][::core::mem::offset_of!(lx_reserve, period_start_at) - 0usize];
    [
        "Offset of field: lx_reserve::used_ns",
    ][::core::mem::offset_of!(lx_reserve, used_ns) - 8usize];
    [
        "Offset of field: lx_reserve::period_ns",
    ][::core::mem::offset_of!(lx_reserve, period_ns) - 16usize];
    [
        "Offset of field: lx_reserve::runtime_ns",
    ][::core::mem::offset_of!(lx_reserve, runtime_ns) - 24usize];
};
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct lx_server {
    pub share: lx_reserve,
    pub resized_at: u64_,
    pub next_budget_ns: u64_,
    pub next_period_ns: u64_,
    pub quiet_budget_ns: u64_,
    pub quiet_period_ns: u64_,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of lx_server"][::core::mem::size_of::<lx_server>() - 72usize];
    ["Alignment of lx_server"][::core::mem::align_of::<lx_server>() - 8usize];
    [
        "Offset of field: lx_server::share",
    ][::core::mem::offset_of!(lx_server, share) - 0usize];
    [
        "Offset of field: lx_server::resized_at",
    ][::core::mem::offset_of!(lx_server, resized_at) - 32usize];
    [
        "Offset of field: lx_server::next_budget_ns",
    ][::core::mem::offset_of!(lx_server, next_budget_ns) - 40usize];
    [
        "Offset of field: lx_server::next_period_ns",
    ][::core::mem::offset_of!(lx_server, next_period_ns) - 48usize];
    [
        "Offset of field: lx_server::quiet_budget_ns",
    ][::core::mem::offset_of!(lx_server, quiet_budget_ns) - 56usize];
    [
        "Offset of field: lx_server::quiet_period_ns",
    ][::core::mem::offset_of!(lx_server, quiet_period_ns) - 64usize];
};
pub const lx_claim_LX_CLAIM_REAL_TIME: lx_claim = 0;
pub const lx_claim_LX_CLAIM_SERVER: lx_claim = 1;
pub const lx_claim_LX_CLAIM_RESERVE: lx_claim = 2;
pub type lx_claim = ::core::ffi::c_uint;
pub const lx_standing_LX_FREE: lx_standing = 0;
pub const lx_standing_LX_ENTERED: lx_standing = 1;
pub const lx_standing_LX_PRESENT: lx_standing = 2;
pub const lx_standing_LX_BLOCKED: lx_standing = 3;
pub const lx_standing_LX_ABSENT: lx_standing = 4;
pub const lx_standing_LX_DEPARTED: lx_standing = 5;
pub const lx_standing_LX_DROPPING: lx_standing = 6;
pub const lx_standing_LX_RETURNING: lx_standing = 7;
pub type lx_standing = ::core::ffi::c_uint;
pub const lx_standing_event_LX_STANDING_TAKE: lx_standing_event = 0;
pub const lx_standing_event_LX_STANDING_COME: lx_standing_event = 1;
pub const lx_standing_event_LX_STANDING_GO: lx_standing_event = 2;
pub const lx_standing_event_LX_STANDING_TURN: lx_standing_event = 3;
pub const lx_standing_event_LX_STANDING_TOLD: lx_standing_event = 4;
pub const lx_standing_event_LX_STANDING_LEAVE: lx_standing_event = 5;
pub type lx_standing_event = ::core::ffi::c_uint;
pub const lx_standing_then_LX_THEN_NOTHING: lx_standing_then = 0;
pub const lx_standing_then_LX_THEN_ARRIVE: lx_standing_then = 1;
pub const lx_standing_then_LX_THEN_WAKE: lx_standing_then = 2;
pub const lx_standing_then_LX_THEN_SUSPEND: lx_standing_then = 3;
pub const lx_standing_then_LX_THEN_FREE: lx_standing_then = 4;
pub type lx_standing_then = ::core::ffi::c_uint;
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct lx_standing_change {
    pub standing: u32_,
    pub then: u32_,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of lx_standing_change",
    ][::core::mem::size_of::<lx_standing_change>() - 8usize];
    [
        "Alignment of lx_standing_change",
    ][::core::mem::align_of::<lx_standing_change>() - 4usize];
    [
        "Offset of field: lx_standing_change::standing",
    ][::core::mem::offset_of!(lx_standing_change, standing) - 0usize];
    [
        "Offset of field: lx_standing_change::then",
    ][::core::mem::offset_of!(lx_standing_change, then) - 4usize];
};
pub const lx_rule_LX_RULE_EDF: lx_rule = 0;
pub const lx_rule_LX_RULE_FIXED: lx_rule = 1;
pub type lx_rule = ::core::ffi::c_uint;
pub const lx_budget_mode_LX_BUDGET_OFF: lx_budget_mode = 0;
pub const lx_budget_mode_LX_BUDGET_THROTTLE: lx_budget_mode = 1;
pub const lx_budget_mode_LX_BUDGET_POSTPONE: lx_budget_mode = 2;
pub type lx_budget_mode = ::core::ffi::c_uint;
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
pub const lx_action_kind_LX_KICK: lx_action_kind = 1;
pub const lx_action_kind_LX_ARM: lx_action_kind = 2;
pub const lx_action_kind_LX_NOTIFY: lx_action_kind = 3;
pub const lx_action_kind_LX_STEP: lx_action_kind = 4;
pub const lx_action_kind_LX_NOTE: lx_action_kind = 5;
pub type lx_action_kind = ::core::ffi::c_uint;
pub const lx_event_LX_EVENT_RELEASE: lx_event = 0;
pub const lx_event_LX_EVENT_COMPLETE: lx_event = 1;
pub const lx_event_LX_EVENT_RESCHEDULE: lx_event = 2;
pub const lx_event_LX_EVENT_EXHAUST: lx_event = 3;
pub const lx_event_LX_EVENT_MESSAGE: lx_event = 4;
pub type lx_event = ::core::ffi::c_uint;
pub const lx_note_kind_LX_NOTE_LINK_SWAP: lx_note_kind = 1;
pub const lx_note_kind_LX_NOTE_STALE_MESSAGE: lx_note_kind = 2;
pub const lx_note_kind_LX_NOTE_PUSH_FAILED: lx_note_kind = 3;
pub const lx_note_kind_LX_NOTE_PUSH_ABANDONED: lx_note_kind = 4;
pub const lx_note_kind_LX_NOTE_PUSH: lx_note_kind = 5;
pub const lx_note_kind_LX_NOTE_PULL: lx_note_kind = 6;
pub const lx_note_kind_LX_NOTE_PULL_FAILED: lx_note_kind = 7;
pub const lx_note_kind_LX_NOTE_STALE_JOB: lx_note_kind = 8;
pub const lx_note_kind_LX_NOTE_PUSH_OVERTAKEN: lx_note_kind = 9;
pub type lx_note_kind = ::core::ffi::c_uint;
#[repr(C)]
#[derive(Copy, Clone)]
pub struct lx_action {
    pub kind: u32_,
    pub cpu: u32_,
    pub __bindgen_anon_1: lx_action__bindgen_ty_1,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub union lx_action__bindgen_ty_1 {
    pub due_at: u64_,
    pub locks: u32_,
    pub note: lx_action__bindgen_ty_1__bindgen_ty_1,
}
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct lx_action__bindgen_ty_1__bindgen_ty_1 {
    pub kind: u32_,
    pub other: u32_,
    pub task: u32_,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of lx_action__bindgen_ty_1__bindgen_ty_1",
    ][::core::mem::size_of::<lx_action__bindgen_ty_1__bindgen_ty_1>() - 12usize];
    [
        "Alignment of lx_action__bindgen_ty_1__bindgen_ty_1",
    ][::core::mem::align_of::<lx_action__bindgen_ty_1__bindgen_ty_1>() - 4usize];
    [
        "Offset of field: lx_action__bindgen_ty_1__bindgen_ty_1::kind",
    ][::core::mem::offset_of!(lx_action__bindgen_ty_1__bindgen_ty_1, kind) - 0usize];
    [
        "Offset of field: lx_action__bindgen_ty_1__bindgen_ty_1::other",
    ][::core::mem::offset_of!(lx_action__bindgen_ty_1__bindgen_ty_1, other) - 4usize];
    [
        "Offset of field: lx_action__bindgen_ty_1__bindgen_ty_1::task",
    ][::core::mem::offset_of!(lx_action__bindgen_ty_1__bindgen_ty_1, task) - 8usize];
};
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of lx_action__bindgen_ty_1",
    ][::core::mem::size_of::<lx_action__bindgen_ty_1>() - 16usize];
    [
        "Alignment of lx_action__bindgen_ty_1",
    ][::core::mem::align_of::<lx_action__bindgen_ty_1>() - 8usize];
    [
        "Offset of field: lx_action__bindgen_ty_1::due_at",
    ][::core::mem::offset_of!(lx_action__bindgen_ty_1, due_at) - 0usize];
    [
        "Offset of field: lx_action__bindgen_ty_1::locks",
    ][::core::mem::offset_of!(lx_action__bindgen_ty_1, locks) - 0usize];
    [
        "Offset of field: lx_action__bindgen_ty_1::note",
    ][::core::mem::offset_of!(lx_action__bindgen_ty_1, note) - 0usize];
};
impl Default for lx_action__bindgen_ty_1 {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of lx_action"][::core::mem::size_of::<lx_action>() - 24usize];
    ["Alignment of lx_action"][::core::mem::align_of::<lx_action>() - 8usize];
    [
        "Offset of field: lx_action::kind",
    ][::core::mem::offset_of!(lx_action, kind) - 0usize];
    [
        "Offset of field: lx_action::cpu",
    ][::core::mem::offset_of!(lx_action, cpu) - 4usize];
};
impl Default for lx_action {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct lx_list {
    pub actions: u32_,
    pub forget: u32_,
    pub reserved: [u32_; 6usize],
    pub action: [lx_action; 4usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of lx_list"][::core::mem::size_of::<lx_list>() - 128usize];
    ["Alignment of lx_list"][::core::mem::align_of::<lx_list>() - 8usize];
    [
        "Offset of field: lx_list::actions",
    ][::core::mem::offset_of!(lx_list, actions) - 0usize];
    [
        "Offset of field: lx_list::forget",
    ][::core::mem::offset_of!(lx_list, forget) - 4usize];
    [
        "Offset of field: lx_list::reserved",
    ][::core::mem::offset_of!(lx_list, reserved) - 8usize];
    [
        "Offset of field: lx_list::action",
    ][::core::mem::offset_of!(lx_list, action) - 32usize];
};
impl Default for lx_list {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
pub const lx_place_LX_PLACE_NOWHERE: lx_place = 0;
pub const lx_place_LX_PLACE_READY: lx_place = 1;
pub const lx_place_LX_PLACE_RELEASE: lx_place = 2;
pub type lx_place = ::core::ffi::c_uint;
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct lx_task {
    pub key: u64_,
    pub release_at: u64_,
    pub deadline_abs_ns: u64_,
    pub deadline_rel_ns: u64_,
    pub period_ns: u64_,
    pub budget_ns: u64_,
    pub budget_left_ns: u64_,
    pub replenished_at: u64_,
    pub priority: u32_,
    pub level: u32_,
    pub linked_on: u32_,
    pub last_cpu: u32_,
    pub place: u32_,
    pub right: u32_,
    pub position: u32_,
    pub alone: u32_,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of lx_task"][::core::mem::size_of::<lx_task>() - 96usize];
    ["Alignment of lx_task"][::core::mem::align_of::<lx_task>() - 8usize];
    ["Offset of field: lx_task::key"][::core::mem::offset_of!(lx_task, key) - 0usize];
    [
        "Offset of field: lx_task::release_at",
    ][::core::mem::offset_of!(lx_task, release_at) - 8usize];
    [
        "Offset of field: lx_task::deadline_abs_ns",
    ][::core::mem::offset_of!(lx_task, deadline_abs_ns) - 16usize];
    [
        "Offset of field: lx_task::deadline_rel_ns",
    ][::core::mem::offset_of!(lx_task, deadline_rel_ns) - 24usize];
    [
        "Offset of field: lx_task::period_ns",
    ][::core::mem::offset_of!(lx_task, period_ns) - 32usize];
    [
        "Offset of field: lx_task::budget_ns",
    ][::core::mem::offset_of!(lx_task, budget_ns) - 40usize];
    [
        "Offset of field: lx_task::budget_left_ns",
    ][::core::mem::offset_of!(lx_task, budget_left_ns) - 48usize];
    [
        "Offset of field: lx_task::replenished_at",
    ][::core::mem::offset_of!(lx_task, replenished_at) - 56usize];
    [
        "Offset of field: lx_task::priority",
    ][::core::mem::offset_of!(lx_task, priority) - 64usize];
    [
        "Offset of field: lx_task::level",
    ][::core::mem::offset_of!(lx_task, level) - 68usize];
    [
        "Offset of field: lx_task::linked_on",
    ][::core::mem::offset_of!(lx_task, linked_on) - 72usize];
    [
        "Offset of field: lx_task::last_cpu",
    ][::core::mem::offset_of!(lx_task, last_cpu) - 76usize];
    [
        "Offset of field: lx_task::place",
    ][::core::mem::offset_of!(lx_task, place) - 80usize];
    [
        "Offset of field: lx_task::right",
    ][::core::mem::offset_of!(lx_task, right) - 84usize];
    [
        "Offset of field: lx_task::position",
    ][::core::mem::offset_of!(lx_task, position) - 88usize];
    [
        "Offset of field: lx_task::alone",
    ][::core::mem::offset_of!(lx_task, alone) - 92usize];
};
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct lx_cpu {
    pub linked: u32_,
    pub scheduled: u32_,
    pub kicked: u32_,
    pub socket: u32_,
    pub withdrawn: u32_,
    pub absent: u32_,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of lx_cpu"][::core::mem::size_of::<lx_cpu>() - 24usize];
    ["Alignment of lx_cpu"][::core::mem::align_of::<lx_cpu>() - 4usize];
    [
        "Offset of field: lx_cpu::linked",
    ][::core::mem::offset_of!(lx_cpu, linked) - 0usize];
    [
        "Offset of field: lx_cpu::scheduled",
    ][::core::mem::offset_of!(lx_cpu, scheduled) - 4usize];
    [
        "Offset of field: lx_cpu::kicked",
    ][::core::mem::offset_of!(lx_cpu, kicked) - 8usize];
    [
        "Offset of field: lx_cpu::socket",
    ][::core::mem::offset_of!(lx_cpu, socket) - 12usize];
    [
        "Offset of field: lx_cpu::withdrawn",
    ][::core::mem::offset_of!(lx_cpu, withdrawn) - 16usize];
    [
        "Offset of field: lx_cpu::absent",
    ][::core::mem::offset_of!(lx_cpu, absent) - 20usize];
};
pub const lx_withdrawal_LX_WITHDRAWN: lx_withdrawal = 1;
pub const lx_withdrawal_LX_GAVE_UP: lx_withdrawal = 2;
pub type lx_withdrawal = ::core::ffi::c_uint;
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct lx_cpu_entry {
    pub key: u64_,
    pub tie: u64_,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of lx_cpu_entry"][::core::mem::size_of::<lx_cpu_entry>() - 16usize];
    ["Alignment of lx_cpu_entry"][::core::mem::align_of::<lx_cpu_entry>() - 8usize];
    [
        "Offset of field: lx_cpu_entry::key",
    ][::core::mem::offset_of!(lx_cpu_entry, key) - 0usize];
    [
        "Offset of field: lx_cpu_entry::tie",
    ][::core::mem::offset_of!(lx_cpu_entry, tie) - 8usize];
};
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct lx_entry {
    pub key: u64_,
    pub index: u32_,
    pub reserved: u32_,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of lx_entry"][::core::mem::size_of::<lx_entry>() - 16usize];
    ["Alignment of lx_entry"][::core::mem::align_of::<lx_entry>() - 8usize];
    ["Offset of field: lx_entry::key"][::core::mem::offset_of!(lx_entry, key) - 0usize];
    [
        "Offset of field: lx_entry::index",
    ][::core::mem::offset_of!(lx_entry, index) - 8usize];
    [
        "Offset of field: lx_entry::reserved",
    ][::core::mem::offset_of!(lx_entry, reserved) - 12usize];
};
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct lx_node {
    pub key: u64_,
    pub parent: u32_,
    pub child: [u32_; 2usize],
    pub rank: u32_,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of lx_node"][::core::mem::size_of::<lx_node>() - 24usize];
    ["Alignment of lx_node"][::core::mem::align_of::<lx_node>() - 8usize];
    ["Offset of field: lx_node::key"][::core::mem::offset_of!(lx_node, key) - 0usize];
    [
        "Offset of field: lx_node::parent",
    ][::core::mem::offset_of!(lx_node, parent) - 8usize];
    [
        "Offset of field: lx_node::child",
    ][::core::mem::offset_of!(lx_node, child) - 12usize];
    ["Offset of field: lx_node::rank"][::core::mem::offset_of!(lx_node, rank) - 20usize];
};
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct lx_tree {
    pub root: u32_,
    pub first: u32_,
    pub forget: u32_,
    pub reserved: u32_,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of lx_tree"][::core::mem::size_of::<lx_tree>() - 16usize];
    ["Alignment of lx_tree"][::core::mem::align_of::<lx_tree>() - 4usize];
    ["Offset of field: lx_tree::root"][::core::mem::offset_of!(lx_tree, root) - 0usize];
    [
        "Offset of field: lx_tree::first",
    ][::core::mem::offset_of!(lx_tree, first) - 4usize];
    [
        "Offset of field: lx_tree::forget",
    ][::core::mem::offset_of!(lx_tree, forget) - 8usize];
    [
        "Offset of field: lx_tree::reserved",
    ][::core::mem::offset_of!(lx_tree, reserved) - 12usize];
};
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct lx_run_queue {
    pub first_key: u64_,
    pub next_key: u64_,
    pub first: u32_,
    pub next: u32_,
    pub current: u32_,
    pub reserved: u32_,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of lx_run_queue"][::core::mem::size_of::<lx_run_queue>() - 32usize];
    ["Alignment of lx_run_queue"][::core::mem::align_of::<lx_run_queue>() - 8usize];
    [
        "Offset of field: lx_run_queue::first_key",
    ][::core::mem::offset_of!(lx_run_queue, first_key) - 0usize];
    [
        "Offset of field: lx_run_queue::next_key",
    ][::core::mem::offset_of!(lx_run_queue, next_key) - 8usize];
    [
        "Offset of field: lx_run_queue::first",
    ][::core::mem::offset_of!(lx_run_queue, first) - 16usize];
    [
        "Offset of field: lx_run_queue::next",
    ][::core::mem::offset_of!(lx_run_queue, next) - 20usize];
    [
        "Offset of field: lx_run_queue::current",
    ][::core::mem::offset_of!(lx_run_queue, current) - 24usize];
    [
        "Offset of field: lx_run_queue::reserved",
    ][::core::mem::offset_of!(lx_run_queue, reserved) - 28usize];
};
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct lx_operation {
    pub phase: u32_,
    pub task: u32_,
    pub source: u32_,
    pub target: u32_,
    pub failures: u32_,
    pub rest: u32_,
    pub forget: u32_,
    pub reserved: u32_,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of lx_operation"][::core::mem::size_of::<lx_operation>() - 32usize];
    ["Alignment of lx_operation"][::core::mem::align_of::<lx_operation>() - 4usize];
    [
        "Offset of field: lx_operation::phase",
    ][::core::mem::offset_of!(lx_operation, phase) - 0usize];
    [
        "Offset of field: lx_operation::task",
    ][::core::mem::offset_of!(lx_operation, task) - 4usize];
    [
        "Offset of field: lx_operation::source",
    ][::core::mem::offset_of!(lx_operation, source) - 8usize];
    [
        "Offset of field: lx_operation::target",
    ][::core::mem::offset_of!(lx_operation, target) - 12usize];
    [
        "Offset of field: lx_operation::failures",
    ][::core::mem::offset_of!(lx_operation, failures) - 16usize];
    [
        "Offset of field: lx_operation::rest",
    ][::core::mem::offset_of!(lx_operation, rest) - 20usize];
    [
        "Offset of field: lx_operation::forget",
    ][::core::mem::offset_of!(lx_operation, forget) - 24usize];
    [
        "Offset of field: lx_operation::reserved",
    ][::core::mem::offset_of!(lx_operation, reserved) - 28usize];
};
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct lx_flight {
    pub ended: u32_,
    pub early: u32_,
    pub release_at: u64_,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of lx_flight"][::core::mem::size_of::<lx_flight>() - 16usize];
    ["Alignment of lx_flight"][::core::mem::align_of::<lx_flight>() - 8usize];
    [
        "Offset of field: lx_flight::ended",
    ][::core::mem::offset_of!(lx_flight, ended) - 0usize];
    [
        "Offset of field: lx_flight::early",
    ][::core::mem::offset_of!(lx_flight, early) - 4usize];
    [
        "Offset of field: lx_flight::release_at",
    ][::core::mem::offset_of!(lx_flight, release_at) - 8usize];
};
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct lx_message {
    pub release_at: u64_,
    pub sent_at: u64_,
    pub kind: u32_,
    pub sender: u32_,
    pub task: u32_,
    pub reserved: u32_,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of lx_message"][::core::mem::size_of::<lx_message>() - 32usize];
    ["Alignment of lx_message"][::core::mem::align_of::<lx_message>() - 8usize];
    [
        "Offset of field: lx_message::release_at",
    ][::core::mem::offset_of!(lx_message, release_at) - 0usize];
    [
        "Offset of field: lx_message::sent_at",
    ][::core::mem::offset_of!(lx_message, sent_at) - 8usize];
    [
        "Offset of field: lx_message::kind",
    ][::core::mem::offset_of!(lx_message, kind) - 16usize];
    [
        "Offset of field: lx_message::sender",
    ][::core::mem::offset_of!(lx_message, sender) - 20usize];
    [
        "Offset of field: lx_message::task",
    ][::core::mem::offset_of!(lx_message, task) - 24usize];
    [
        "Offset of field: lx_message::reserved",
    ][::core::mem::offset_of!(lx_message, reserved) - 28usize];
};
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct lx_mailbox {
    pub written: u32_,
    pub read: u32_,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of lx_mailbox"][::core::mem::size_of::<lx_mailbox>() - 8usize];
    ["Alignment of lx_mailbox"][::core::mem::align_of::<lx_mailbox>() - 4usize];
    [
        "Offset of field: lx_mailbox::written",
    ][::core::mem::offset_of!(lx_mailbox, written) - 0usize];
    [
        "Offset of field: lx_mailbox::read",
    ][::core::mem::offset_of!(lx_mailbox, read) - 4usize];
};
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct lx_link {
    pub key: u64_,
    pub previous: u32_,
    pub next: u32_,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of lx_link"][::core::mem::size_of::<lx_link>() - 16usize];
    ["Alignment of lx_link"][::core::mem::align_of::<lx_link>() - 8usize];
    ["Offset of field: lx_link::key"][::core::mem::offset_of!(lx_link, key) - 0usize];
    [
        "Offset of field: lx_link::previous",
    ][::core::mem::offset_of!(lx_link, previous) - 8usize];
    ["Offset of field: lx_link::next"][::core::mem::offset_of!(lx_link, next) - 12usize];
};
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct lx_group {
    pub release_at: u64_,
    pub head: u32_,
    pub count: u32_,
    pub cpu: u32_,
    pub next: u32_,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of lx_group"][::core::mem::size_of::<lx_group>() - 24usize];
    ["Alignment of lx_group"][::core::mem::align_of::<lx_group>() - 8usize];
    [
        "Offset of field: lx_group::release_at",
    ][::core::mem::offset_of!(lx_group, release_at) - 0usize];
    [
        "Offset of field: lx_group::head",
    ][::core::mem::offset_of!(lx_group, head) - 8usize];
    [
        "Offset of field: lx_group::count",
    ][::core::mem::offset_of!(lx_group, count) - 12usize];
    ["Offset of field: lx_group::cpu"][::core::mem::offset_of!(lx_group, cpu) - 16usize];
    [
        "Offset of field: lx_group::next",
    ][::core::mem::offset_of!(lx_group, next) - 20usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct lx_state {
    pub config: lx_config,
    pub next_due_at: u64_,
    pub actions: u32_,
    pub forget: u32_,
    pub ready_count: u32_,
    pub due_count: u32_,
    pub cpus_linkable: u32_,
    pub cpu_leaves: u32_,
    pub bucket_mask: u32_,
    pub heap: u32_,
    pub heap_first: u32_,
    pub map_levels: u32_,
    pub map_offset: [u32_; 4usize],
    pub message_mask: u32_,
    pub mailbox_next: u32_,
    pub message_sent_at: u64_,
    pub withdrawals: u32_,
    pub withdrawals_seen: u32_,
    pub next_timer_at: u64_,
    pub timer_cpu: u32_,
    pub laxity_count: u32_,
    pub task: *mut lx_task,
    pub cpu: *mut lx_cpu,
    pub cpu_heap: *mut lx_cpu_entry,
    pub ready: *mut lx_entry,
    pub laxity: *mut lx_entry,
    pub node: *mut lx_node,
    pub link: *mut lx_link,
    pub map: *mut u64_,
    pub tree: *mut lx_tree,
    pub due: *mut lx_entry,
    pub group: *mut lx_group,
    pub bucket: *mut u32_,
    pub run_queue: *mut lx_run_queue,
    pub operation: *mut lx_operation,
    pub flight: *mut lx_flight,
    pub mailbox: *mut lx_mailbox,
    pub message: *mut lx_message,
    pub list: *mut lx_list,
    pub action: *mut lx_action,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of lx_state"][::core::mem::size_of::<lx_state>() - 288usize];
    ["Alignment of lx_state"][::core::mem::align_of::<lx_state>() - 8usize];
    [
        "Offset of field: lx_state::config",
    ][::core::mem::offset_of!(lx_state, config) - 0usize];
    [
        "Offset of field: lx_state::next_due_at",
    ][::core::mem::offset_of!(lx_state, next_due_at) - 32usize];
    [
        "Offset of field: lx_state::actions",
    ][::core::mem::offset_of!(lx_state, actions) - 40usize];
    [
        "Offset of field: lx_state::forget",
    ][::core::mem::offset_of!(lx_state, forget) - 44usize];
    [
        "Offset of field: lx_state::ready_count",
    ][::core::mem::offset_of!(lx_state, ready_count) - 48usize];
    [
        "Offset of field: lx_state::due_count",
    ][::core::mem::offset_of!(lx_state, due_count) - 52usize];
    [
        "Offset of field: lx_state::cpus_linkable",
    ][::core::mem::offset_of!(lx_state, cpus_linkable) - 56usize];
    [
        "Offset of field: lx_state::cpu_leaves",
    ][::core::mem::offset_of!(lx_state, cpu_leaves) - 60usize];
    [
        "Offset of field: lx_state::bucket_mask",
    ][::core::mem::offset_of!(lx_state, bucket_mask) - 64usize];
    [
        "Offset of field: lx_state::heap",
    ][::core::mem::offset_of!(lx_state, heap) - 68usize];
    [
        "Offset of field: lx_state::heap_first",
    ][::core::mem::offset_of!(lx_state, heap_first) - 72usize];
    [
        "Offset of field: lx_state::map_levels",
    ][::core::mem::offset_of!(lx_state, map_levels) - 76usize];
    [
        "Offset of field: lx_state::map_offset",
    ][::core::mem::offset_of!(lx_state, map_offset) - 80usize];
    [
        "Offset of field: lx_state::message_mask",
    ][::core::mem::offset_of!(lx_state, message_mask) - 96usize];
    [
        "Offset of field: lx_state::mailbox_next",
    ][::core::mem::offset_of!(lx_state, mailbox_next) - 100usize];
    [
        "Offset of field: lx_state::message_sent_at",
    ][::core::mem::offset_of!(lx_state, message_sent_at) - 104usize];
    [
        "Offset of field: lx_state::withdrawals",
    ][::core::mem::offset_of!(lx_state, withdrawals) - 112usize];
    [
        "Offset of field: lx_state::withdrawals_seen",
    ][::core::mem::offset_of!(lx_state, withdrawals_seen) - 116usize];
    [
        "Offset of field: lx_state::next_timer_at",
    ][::core::mem::offset_of!(lx_state, next_timer_at) - 120usize];
    [
        "Offset of field: lx_state::timer_cpu",
    ][::core::mem::offset_of!(lx_state, timer_cpu) - 128usize];
    [
        "Offset of field: lx_state::laxity_count",
    ][::core::mem::offset_of!(lx_state, laxity_count) - 132usize];
    [
        "Offset of field: lx_state::task",
    ][::core::mem::offset_of!(lx_state, task) - 136usize];
    [
        "Offset of field: lx_state::cpu",
    ][::core::mem::offset_of!(lx_state, cpu) - 144usize];
    [
        "Offset of field: lx_state::cpu_heap",
    ][::core::mem::offset_of!(lx_state, cpu_heap) - 152usize];
    [
        "Offset of field: lx_state::ready",
    ][::core::mem::offset_of!(lx_state, ready) - 160usize];
    [
        "Offset of field: lx_state::laxity",
    ][::core::mem::offset_of!(lx_state, laxity) - 168usize];
    [
        "Offset of field: lx_state::node",
    ][::core::mem::offset_of!(lx_state, node) - 176usize];
    [
        "Offset of field: lx_state::link",
    ][::core::mem::offset_of!(lx_state, link) - 184usize];
    [
        "Offset of field: lx_state::map",
    ][::core::mem::offset_of!(lx_state, map) - 192usize];
    [
        "Offset of field: lx_state::tree",
    ][::core::mem::offset_of!(lx_state, tree) - 200usize];
    [
        "Offset of field: lx_state::due",
    ][::core::mem::offset_of!(lx_state, due) - 208usize];
    [
        "Offset of field: lx_state::group",
    ][::core::mem::offset_of!(lx_state, group) - 216usize];
    [
        "Offset of field: lx_state::bucket",
    ][::core::mem::offset_of!(lx_state, bucket) - 224usize];
    [
        "Offset of field: lx_state::run_queue",
    ][::core::mem::offset_of!(lx_state, run_queue) - 232usize];
    [
        "Offset of field: lx_state::operation",
    ][::core::mem::offset_of!(lx_state, operation) - 240usize];
    [
        "Offset of field: lx_state::flight",
    ][::core::mem::offset_of!(lx_state, flight) - 248usize];
    [
        "Offset of field: lx_state::mailbox",
    ][::core::mem::offset_of!(lx_state, mailbox) - 256usize];
    [
        "Offset of field: lx_state::message",
    ][::core::mem::offset_of!(lx_state, message) - 264usize];
    [
        "Offset of field: lx_state::list",
    ][::core::mem::offset_of!(lx_state, list) - 272usize];
    [
        "Offset of field: lx_state::action",
    ][::core::mem::offset_of!(lx_state, action) - 280usize];
};
impl Default for lx_state {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct lx_policy {
    pub name: *const ::core::ffi::c_char,
    pub counts_use: u32_,
    pub init: ::core::option::Option<unsafe extern "C" fn(s: *mut lx_state)>,
    pub enter: ::core::option::Option<
        unsafe extern "C" fn(s: *mut lx_state, task: u32_),
    >,
    pub arrive: ::core::option::Option<
        unsafe extern "C" fn(
            s: *mut lx_state,
            task: u32_,
            release_at: u64_,
            cpu: u32_,
            now: u64_,
        ),
    >,
    pub take_due: ::core::option::Option<
        unsafe extern "C" fn(s: *mut lx_state, now: u64_) -> u32_,
    >,
    pub release_group: ::core::option::Option<
        unsafe extern "C" fn(s: *mut lx_state, group: u32_, now: u64_),
    >,
    pub timer: ::core::option::Option<
        unsafe extern "C" fn(s: *mut lx_state, cpu: u32_, now: u64_),
    >,
    pub complete: ::core::option::Option<
        unsafe extern "C" fn(
            s: *mut lx_state,
            cpu: u32_,
            next_release_at: u64_,
            now: u64_,
        ),
    >,
    pub reschedule: ::core::option::Option<
        unsafe extern "C" fn(s: *mut lx_state, cpu: u32_, now: u64_) -> u32_,
    >,
    pub finish: ::core::option::Option<
        unsafe extern "C" fn(
            s: *mut lx_state,
            cpu: u32_,
            next_release_at: u64_,
            now: u64_,
        ) -> u32_,
    >,
    pub consume: ::core::option::Option<
        unsafe extern "C" fn(s: *mut lx_state, task: u32_, used_ns: u64_),
    >,
    pub exhaust: ::core::option::Option<
        unsafe extern "C" fn(s: *mut lx_state, cpu: u32_, now: u64_),
    >,
    pub step: ::core::option::Option<
        unsafe extern "C" fn(s: *mut lx_state, cpu: u32_, now: u64_),
    >,
    pub message: ::core::option::Option<
        unsafe extern "C" fn(s: *mut lx_state, cpu: u32_, now: u64_) -> u32_,
    >,
    pub suspend: ::core::option::Option<
        unsafe extern "C" fn(s: *mut lx_state, cpu: u32_, now: u64_),
    >,
    pub resume: ::core::option::Option<
        unsafe extern "C" fn(s: *mut lx_state, task: u32_, cpu: u32_, now: u64_),
    >,
    pub withdraw: ::core::option::Option<
        unsafe extern "C" fn(s: *mut lx_state, cpu: u32_, by: u32_, now: u64_),
    >,
    pub restore: ::core::option::Option<
        unsafe extern "C" fn(s: *mut lx_state, cpu: u32_, now: u64_),
    >,
    pub complete_here: ::core::option::Option<
        unsafe extern "C" fn(
            s: *mut lx_state,
            cpu: u32_,
            next_release_at: u64_,
            now: u64_,
        ) -> u64_,
    >,
    pub exhaust_here: ::core::option::Option<
        unsafe extern "C" fn(s: *mut lx_state, cpu: u32_, now: u64_) -> u64_,
    >,
    pub await_: ::core::option::Option<
        unsafe extern "C" fn(s: *mut lx_state, task: u32_, release_at: u64_, cpu: u32_),
    >,
    pub lock_of: ::core::option::Option<
        unsafe extern "C" fn(s: *const lx_state, event: u32_, cpu: u32_) -> u32_,
    >,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of lx_policy"][::core::mem::size_of::<lx_policy>() - 184usize];
    ["Alignment of lx_policy"][::core::mem::align_of::<lx_policy>() - 8usize];
    [
        "Offset of field: lx_policy::name",
    ][::core::mem::offset_of!(lx_policy, name) - 0usize];
    [
        "Offset of field: lx_policy::counts_use",
    ][::core::mem::offset_of!(lx_policy, counts_use) - 8usize];
    [
        "Offset of field: lx_policy::init",
    ][::core::mem::offset_of!(lx_policy, init) - 16usize];
    [
        "Offset of field: lx_policy::enter",
    ][::core::mem::offset_of!(lx_policy, enter) - 24usize];
    [
        "Offset of field: lx_policy::arrive",
    ][::core::mem::offset_of!(lx_policy, arrive) - 32usize];
    [
        "Offset of field: lx_policy::take_due",
    ][::core::mem::offset_of!(lx_policy, take_due) - 40usize];
    [
        "Offset of field: lx_policy::release_group",
    ][::core::mem::offset_of!(lx_policy, release_group) - 48usize];
    [
        "Offset of field: lx_policy::timer",
    ][::core::mem::offset_of!(lx_policy, timer) - 56usize];
    [
        "Offset of field: lx_policy::complete",
    ][::core::mem::offset_of!(lx_policy, complete) - 64usize];
    [
        "Offset of field: lx_policy::reschedule",
    ][::core::mem::offset_of!(lx_policy, reschedule) - 72usize];
    [
        "Offset of field: lx_policy::finish",
    ][::core::mem::offset_of!(lx_policy, finish) - 80usize];
    [
        "Offset of field: lx_policy::consume",
    ][::core::mem::offset_of!(lx_policy, consume) - 88usize];
    [
        "Offset of field: lx_policy::exhaust",
    ][::core::mem::offset_of!(lx_policy, exhaust) - 96usize];
    [
        "Offset of field: lx_policy::step",
    ][::core::mem::offset_of!(lx_policy, step) - 104usize];
    [
        "Offset of field: lx_policy::message",
    ][::core::mem::offset_of!(lx_policy, message) - 112usize];
    [
        "Offset of field: lx_policy::suspend",
    ][::core::mem::offset_of!(lx_policy, suspend) - 120usize];
    [
        "Offset of field: lx_policy::resume",
    ][::core::mem::offset_of!(lx_policy, resume) - 128usize];
    [
        "Offset of field: lx_policy::withdraw",
    ][::core::mem::offset_of!(lx_policy, withdraw) - 136usize];
    [
        "Offset of field: lx_policy::restore",
    ][::core::mem::offset_of!(lx_policy, restore) - 144usize];
    [
        "Offset of field: lx_policy::complete_here",
    ][::core::mem::offset_of!(lx_policy, complete_here) - 152usize];
    [
        "Offset of field: lx_policy::exhaust_here",
    ][::core::mem::offset_of!(lx_policy, exhaust_here) - 160usize];
    [
        "Offset of field: lx_policy::await_",
    ][::core::mem::offset_of!(lx_policy, await_) - 168usize];
    [
        "Offset of field: lx_policy::lock_of",
    ][::core::mem::offset_of!(lx_policy, lock_of) - 176usize];
};
impl Default for lx_policy {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
unsafe extern "C" {
    pub fn lx_policy_size(config: *const lx_config) -> usize;
}
unsafe extern "C" {
    pub fn lx_policy_lay_out(
        memory: *mut ::core::ffi::c_void,
        config: *const lx_config,
    ) -> *mut lx_state;
}
unsafe extern "C" {
    pub fn lx_policy_next_replenishment(
        s: *mut lx_state,
        task: u32_,
        deadline_abs_ns: *mut u64_,
    ) -> u64_;
}
unsafe extern "C" {
    pub fn lx_policy_wake_up(s: *mut lx_state, task: u32_, now: u64_) -> u64_;
}
unsafe extern "C" {
    pub fn lx_policy_take_due(s: *mut lx_state, now: u64_) -> u32_;
}
unsafe extern "C" {
    pub fn lx_policy_bandwidth(runtime_ns: u64_, period_ns: u64_) -> u64_;
}
unsafe extern "C" {
    pub fn lx_policy_admits(
        a: *const lx_admission,
        before: u64_,
        runtime_ns: u64_,
        deadline_rel_ns: u64_,
        period_ns: u64_,
    ) -> u32_;
}
unsafe extern "C" {
    pub fn lx_policy_admission_replace(a: *mut lx_admission, before: u64_, after: u64_);
}
unsafe extern "C" {
    pub fn lx_policy_reserve_charge(r: *mut lx_reserve, used_ns: u64_, now: u64_);
}
unsafe extern "C" {
    pub fn lx_policy_reserve_admits(r: *const lx_reserve, now: u64_) -> u32_;
}
unsafe extern "C" {
    pub fn lx_policy_reserve_left(r: *const lx_reserve, now: u64_) -> u64_;
}
unsafe extern "C" {
    pub fn lx_policy_reserve_next(r: *const lx_reserve, now: u64_) -> u64_;
}
unsafe extern "C" {
    pub fn lx_policy_server_init(
        v: *mut lx_server,
        start_at: u64_,
        budget_ns: u64_,
        period_ns: u64_,
    );
}
unsafe extern "C" {
    pub fn lx_policy_server_resize(
        v: *mut lx_server,
        budget_ns: u64_,
        period_ns: u64_,
        now: u64_,
    ) -> u64_;
}
unsafe extern "C" {
    pub fn lx_policy_server_wants(
        v: *mut lx_server,
        budget_ns: u64_,
        period_ns: u64_,
        quiet: u32_,
        now: u64_,
    ) -> u64_;
}
unsafe extern "C" {
    pub fn lx_policy_server_quiet(v: *mut lx_server, now: u64_) -> u32_;
}
unsafe extern "C" {
    pub fn lx_policy_server_advance(v: *mut lx_server, now: u64_);
}
unsafe extern "C" {
    pub fn lx_policy_server_charge(v: *mut lx_server, used_ns: u64_, now: u64_);
}
unsafe extern "C" {
    pub fn lx_policy_server_goes_first(v: *mut lx_server, now: u64_) -> u32_;
}
unsafe extern "C" {
    pub fn lx_policy_server_left(v: *mut lx_server, now: u64_) -> u64_;
}
unsafe extern "C" {
    pub fn lx_policy_server_next(v: *mut lx_server, now: u64_) -> u64_;
}
unsafe extern "C" {
    pub fn lx_policy_standing_after(standing: u32_, event: u32_) -> lx_standing_change;
}
unsafe extern "C" {
    pub fn lx_policy_standing_is_apart(standing: u32_) -> u32_;
}
unsafe extern "C" {
    pub fn lx_policy_claim_first(
        v: *mut lx_server,
        r: *const lx_reserve,
        now: u64_,
    ) -> u32_;
}
unsafe extern "C" {
    pub fn lx_policy_claim_ends(
        v: *mut lx_server,
        r: *const lx_reserve,
        claim: u32_,
        now: u64_,
    ) -> u64_;
}
unsafe extern "C" {
    pub fn lx_policy_balance_is_better(core: lx_load, best: lx_load) -> u32_;
}
unsafe extern "C" {
    pub fn lx_policy_balance_is_busier(from: lx_load, best: lx_load) -> u32_;
}
unsafe extern "C" {
    pub fn lx_policy_balance_moves(from: lx_load, to: lx_load) -> u32_;
}
unsafe extern "C" {
    pub fn lx_policy_spot_for_one_more(best: lx_spot, other: lx_spot) -> lx_spot;
}
unsafe extern "C" {
    pub fn lx_policy_background_is_better_off(here: lx_spot, best: lx_spot) -> u32_;
}
unsafe extern "C" {
    pub fn lx_policy_background_gives(
        from: lx_load,
        waiting: u32_,
        runs: u32_,
        to: lx_load,
    ) -> u32_;
}
unsafe extern "C" {
    pub fn lx_policy_spot_to_pull_from(busiest: lx_spot, other: lx_spot) -> lx_spot;
}
unsafe extern "C" {
    pub fn lx_policy_virtual_before(a: u64_, b: u64_) -> u32_;
}
unsafe extern "C" {
    pub fn lx_policy_virtual_after(vtime: u64_, had_ns: u64_, weight: u32_) -> u64_;
}
unsafe extern "C" {
    pub fn lx_policy_virtual_moved(
        vtime: u64_,
        from_vtime: u64_,
        to_vtime: u64_,
    ) -> u64_;
}
unsafe extern "C" {
    pub fn lx_policy_virtual_waits(
        vtime: u64_,
        clock_vtime: u64_,
        slice_ns: u64_,
    ) -> u64_;
}
unsafe extern "C" {
    pub fn lx_policy_virtual_begins(vtime: u64_, clock_vtime: u64_) -> u64_;
}
unsafe extern "C" {
    pub fn lx_policy_virtual_leads(vtime: u64_, clock_vtime: u64_) -> u64_;
}
unsafe extern "C" {
    pub fn lx_policy_virtual_passes(clock_vtime: u64_, passed_ns: u64_) -> u64_;
}
unsafe extern "C" {
    pub fn lx_policy_virtual_slice(slice_ns: u64_, waiting: u32_) -> u64_;
}
unsafe extern "C" {
    pub fn lx_policy_waits_too_long(since_at: u64_, now: u64_) -> u32_;
}
unsafe extern "C" {
    pub fn lx_policy_kernel_thread_is_bound(of_kernel: u32_, cpus: u32_) -> u32_;
}
unsafe extern "C" {
    pub fn lx_policy_kernel_thread_left(first: *const lx_reserve, now: u64_) -> u64_;
}
unsafe extern "C" {
    pub fn lx_policy_kernel_thread_charge(
        first: *mut lx_reserve,
        background: *mut lx_reserve,
        used_ns: u64_,
        now: u64_,
    );
}
unsafe extern "C" {
    pub fn lx_policy_kernel_thread_has_turn(bound: u32_) -> u32_;
}

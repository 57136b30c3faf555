//! What the loader and the programs of `bpf/` have in common, by name and type. If C calls it otherwise, or gives it another size,
//! this does not compile.

use crate::ffi;
use crate::ffi_observer::lx_watched;
use crate::maps::MapOf;
use crate::object::{Variable, in_c};

/// One text in C becomes all policies; this one has servers, too.
const POLICY: &str = "amp_rm";
/// What watches the kernel's own classes.
const OBSERVER: &str = "schedule";

// Programs that the loader runs.
pub(crate) const SET_UP: &str = in_c(POLICY, "set_up", None);
pub(crate) const NOTE_PENDING: &str = in_c(POLICY, "note_pending", None);
pub(crate) const RELEASE_DUE: &str = in_c(POLICY, "release_due", None);
pub(crate) const SIZE_CORE: &str = in_c(POLICY, "size_core", None);

// Constants that the loader sets before it loads a policy.
pub(crate) const ONLINE_CPUS: Variable<u32> = Variable::new(POLICY, "online_cpus");
pub(crate) const INSTANCE_COUNT: Variable<u32> = Variable::new(POLICY, "instance_count");
pub(crate) const BY_DEADLINE: Variable<bool> = Variable::new(POLICY, "by_deadline");
pub(crate) const HAS_TIMERS: Variable<bool> = Variable::new(POLICY, "has_timers");
pub(crate) const BOUND_PERIOD_NS: Variable<u64> = Variable::new(POLICY, "bound_period_ns");
pub(crate) const BOUND_RUNTIME_NS: Variable<u64> = Variable::new(POLICY, "bound_runtime_ns");
pub(crate) const KICKS_FORGOTTEN: Variable<u32> = Variable::new(POLICY, "kicks_forgotten");
pub(crate) const TIMERS_REFUSED: Variable<u32> = Variable::new(POLICY, "timers_refused");
pub(crate) const BUDGETS_LATE_NS: Variable<u64> = Variable::new(POLICY, "budgets_late_ns");

// Those of the observer.
pub(crate) const LOWEST_PRIO: Variable<i32> = Variable::new(OBSERVER, "lowest_prio");
pub(crate) const HRTIMER_WAKEUP: Variable<u64> = Variable::new(OBSERVER, "hrtimer_wakeup_address");
pub(crate) const DL_TASK_TIMER: Variable<u64> = Variable::new(OBSERVER, "dl_task_timer_address");

/// Why the scheduler has ended.
pub(crate) const ENDED: Variable<ffi::lx_exit> = Variable::new(POLICY, "ended");

// Variables with a section of their own, and maps. Keys are thread ids; those of variables and of what there is once are 0.
pub(crate) const SETUP: MapOf<u32, ffi::lx_host_setup> = MapOf::section(POLICY, ".data.setup", "setup_data");
pub(crate) const NEXT_RELEASE_AT: MapOf<u32, u64> =
    MapOf::section(POLICY, ".data.release", "next_release_at");
pub(crate) const CORE: MapOf<u32, ffi::lx_host_core> = MapOf::section(POLICY, ".data.core", "core_data");
pub(crate) const COUNTERS: MapOf<u32, ffi::lx_counters> = MapOf::new(POLICY, "counters");
pub(crate) const FIRST_RELEASES: MapOf<u32, u64> = MapOf::new(POLICY, "first_releases");
pub(crate) const RELEASED_ALONE: MapOf<u32, u32> = MapOf::new(POLICY, "released_alone");
pub(crate) const ROSTER: MapOf<i32, ffi::lx_parameters> = MapOf::new(POLICY, "roster");
pub(crate) const BORN: MapOf<i32, i32> = MapOf::new(POLICY, "born");
pub(crate) const BACKGROUND_TIMES: MapOf<u32, ffi::lx_background_times> =
    MapOf::new(POLICY, "background_times");
pub(crate) const WATCHED: MapOf<u32, lx_watched> = MapOf::new(OBSERVER, "members");

// Maps that get their size before they are loaded.
pub(crate) const INSTANCES: &str = in_c(POLICY, "instances", None);
pub(crate) const HOST_CPUS: &str = in_c(POLICY, "host_cpus", None);
pub(crate) const SAMPLE_RINGS: &str = in_c(POLICY, "lx_sample_rings", None);
pub(crate) const TRACE_RINGS: &str = in_c(POLICY, "lx_trace_rings", None);
/// The map of the variable that turns records on and off.
pub(crate) const TRACE_SWITCH: &str = ".data.lx_trace";
const _: &str = in_c(POLICY, "lx_trace_switch", Some(size_of::<u32>()));
/// The scheduler: its map, and its name in the kernel.
pub(crate) const SCHEDULER: &str = in_c(POLICY, "laxity", None);

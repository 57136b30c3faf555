//! What to set on a machine so that tasks run as they were planned: one table ([`DeployPlan`]) and its forms as files.
//!
//! Nothing here touches a machine. A plan comes from what was run or proven. [`files`] makes of it a script, systemd units, source
//! code for the threads of one program, and settings of containers, ROS 2 and the kernel; [`differences`] compares it with what a
//! machine says of its threads.

mod forms;
mod names;
mod plan;
mod read_back;

pub use forms::{DeployFile, ENDINGS, FOLDERS, files, service_names};
pub use names::{file_name, file_names};
pub use plan::{
    CellPlan, CgroupVersion, Confinement, DeployPlan, Flag, INTERRUPT_PRIORITY, PLAN_FILE, Reservation, Row,
    Scheduling, ThreadPlan, VERSION, VOID_CGROUP_LIMITS, comms,
};
pub use read_back::{Difference, Observed, differences};

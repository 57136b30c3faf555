//! What to set on a machine so that tasks run as they were planned: one table ([`DeployPlan`]) and its forms as files.
//!
//! Nothing here touches a machine. A plan comes from what was run or proven; of it are made a script, systemd
//! units, source code for the threads of one program, and settings of containers, ROS 2 and the kernel;
//! it with what a machine says of its threads.

mod plan;

pub use plan::{
    CellPlan, CgroupVersion, Confinement, DeployPlan, Flag, INTERRUPT_PRIORITY, PLAN_FILE, Reservation, Row,
    Scheduling, ThreadPlan, VERSION, comms,
};

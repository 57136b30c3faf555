//! From tasks to parameters that Linux takes: reservations for SCHED_DEADLINE, orders of priorities for SCHED_FIFO, and CPUs.
//!
//! Nothing here is a proof of a set: what is found is handed to a judge that the caller brings, and is taken only if that accepts it.
//! What is proven here is of one task alone: that a reservation serves it ([`Reservation::serves`]), or how often it misses ([`SoftTask`]).

mod audsley;
mod candidates;
mod choice;
mod da_lc;
mod granted;
mod orders;
mod partition;
mod reservation;
mod soft;

pub use audsley::{NoLowest, audsley, levels};
pub use candidates::candidates;
use candidates::{SHORT, least_first};
pub use choice::choose;
pub use da_lc::da_lc_accepts;
pub use granted::{Granted, are_granted};
pub use orders::{Searched, search_orders};
pub use partition::{Partition, partition};
pub use reservation::{KernelRules, Reservation};
pub use soft::{CERTAIN, DemandLaw, LEAST_SAMPLES, NotMeasured, SoftReservation, SoftTask, Waiting};

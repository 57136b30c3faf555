//! From tasks to parameters that Linux takes: reservations for SCHED_DEADLINE, orders of priorities for SCHED_FIFO, and cores.
//!
//! Nothing here is a proof of a set: what is found is handed to a judge that the caller brings, and is taken only if that accepts it.
//! What is proven here is of one task alone: that a reservation serves it ([`Reservation::serves`]).

mod audsley;
mod candidates;
mod choice;
mod da_lc;
mod orders;
mod partition;
mod reservation;

pub use audsley::{NoLowest, audsley, levels};
pub use candidates::candidates;
pub use choice::choose;
pub use da_lc::da_lc_accepts;
pub use orders::{Searched, search_orders};
pub use partition::{Partition, partition};
pub use reservation::{KernelRules, Reservation};

//! Reservations for tasks that may miss a deadline now and then: the least bandwidth for a given probability of a miss.
//!
//! A task has jobs that arrive T or more apart and ask for independent times with one distribution ([`DemandLaw`]). It is served by a
//! constant bandwidth server with a budget of Q every P and d = P, which Linux stops when the budget is used up. Let s be when the
//! server last had its deadline and its budget anew while no job was pending (`Reservation::serves` has the rules). The budgets from
//! then on follow each other without a gap until an arrival finds s + (work since s) P/Q in the past, which begins anew. So with W_n for
//! the work of the first n jobs since s, the n-th has completed by s + g(W_n), where
//!
//! ```text
//! g(w) = b P - (b Q - w),   b = ceil(w/Q):
//! ```
//!
//! budgets come by the ends of their periods, and what a job leaves of the last one comes off. The n-th arrives at s + (n - 1) T or
//! later. Two bounds follow, both with the backlog V_n = max(0, V_(n-1) - drift) + U_n, which is at least W_n - (n - 1) drift:
//!
//! 1. In phase, with k = floor(T/P) >= 1 and a drift of k Q (Abeni, Buttazzo: QoS guarantee using probabilistic deadlines, ECRTS 1999):
//!    the response time is at most g(V_n). It is at most D while V_n <= m Q + max(0, D - m P - (P - Q)), with m = floor(D/P).
//! 2. As a fluid, for any P, with a drift of T Q/P: g(w) <= w P/Q + P - Q, and so the response time is at most V_n P/Q + P - Q. It is at
//!    most D while V_n <= (D - P + Q) Q/P.
//!
//! The probability of a miss is that of V being above this, at most that of the stationary V, for which [`Waiting`] has an upper bound.
//! Demand is counted in granules, rounded up; drifts and thresholds are rounded down (Palopoli, Fontanelli, Abeni, Villalba Frias: An
//! analytical solution for probabilistic guarantees of reservation based soft real-time systems, IEEE TPDS 27(3), 2016, do the same).
//!
//! Reservations with d < P are left out: after a budget that was used up, a wake-up that is a little late finds no budget until the next
//! period, and so does every later job of a strictly periodic task.

mod law;
mod measured;
mod search;
mod waiting;

pub use law::DemandLaw;
pub use measured::{LEAST_SAMPLES, NotMeasured};
pub use search::{SoftReservation, SoftTask};
pub use waiting::Waiting;

/// Probabilities are in units of 2^-62; this is 1.
pub const CERTAIN: u64 = 1 << 62;

//! The discrete-event simulator: the schedulers of `policy/` on any platform, with modelled costs.

pub mod costs;

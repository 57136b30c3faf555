//! Reports and recommendations from whole results.

mod analysis;
mod beside;
mod causes;
mod difference;
mod page;
mod recommendation;
mod schedules;
mod synthetic;

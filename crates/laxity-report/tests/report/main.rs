//! Reports and recommendations from whole results.

mod page;
mod recommendation;
mod schedules;
mod synthetic;

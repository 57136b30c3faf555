//! Reports and recommendations from whole results.

mod beside;
mod page;
mod recommendation;
mod schedules;
mod synthetic;

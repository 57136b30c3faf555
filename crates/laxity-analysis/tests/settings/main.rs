//! Parameters for Linux, held against brute force and against schedules.

mod bandwidth;
mod game;
mod priorities;
mod random;
mod server;
mod simulated;
mod soft;

//! Placements against hand-made examples and a brute-force oracle.

mod acceptance;
mod heuristics;
mod ilp;
mod lwfg;
mod oracle;

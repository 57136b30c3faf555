//! Placements against hand-made examples and a brute-force oracle.

mod heuristics;
mod ilp;
mod lwfg;
mod oracle;

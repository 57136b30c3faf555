//! Placements against hand-made examples and a brute-force oracle.

mod acceptance;
mod heuristics;
mod ilp;
mod ilp_oracle;
mod lwfg;
mod oracle;

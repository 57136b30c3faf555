//! Placements against hand-made examples and a brute-force oracle.

mod acceptance;
mod heuristics;
mod ilp;
mod ilp_oracle;
mod interrupt;
mod lwfg;
mod oracle;
mod plain_scan;

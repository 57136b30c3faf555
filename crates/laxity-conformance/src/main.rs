//! `laxity-conformance`.
fn main() {}

//! SchedCAT's speed: one thread of a 2 GHz Xeon, on sets with D = T and n = 5 m.

/// Sets per second at m = 8, U = .4 m; m = 8, U = .6 m; then m = 24 and m = 64.
const RATES: [(&str, [f64; 6]); 9] = [
    ("gfb", [33_700.0, 39_000.0, 12_000.0, 12_000.0, 4_400.0, 4_300.0]),
    ("bak", [3_400.0, 13_000.0, 1_300.0, 3_100.0, 460.0, 1_800.0]),
    ("bcl", [12_400.0, 25_600.0, 4_400.0, 6_300.0, 1_600.0, 2_900.0]),
    ("bcl-iterative", [10_400.0, 3_600.0, 1_000.0, 361.0, 142.0, 56.0]),
    ("rta", [192.0, 57.0, 16.0, 8.0, 3.1, 1.0]),
    ("bar", [1_200.0, 599.0, 110.0, 448.0, 18.0, 57.0]),
    // None in 9 s at m = 64, U = .4 m.
    ("ff-dbf", [20.0, 206.0, 1.0, 9_800.0, 0.11, 2_600.0]),
    ("la", [52.0, 43.0, 4.2, 20.0, 0.6, 5.1]),
    ("gedf", [3_000.0, 40.0, 158.0, 4.8, 10.0, 0.6]),
];

/// ns per set in the `column`th of these columns; nothing if it was not measured.
pub fn ns_per_set(test: &str, column: usize) -> Option<f64> {
    let (_, rates) = RATES.iter().find(|(name, _)| *name == test)?;
    rates.get(column).map(|rate| 1e9 / rate)
}

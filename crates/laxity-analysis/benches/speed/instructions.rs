//! Instructions per set against n: this program, judging the sets of a file, counted by valgrind, less what reading them takes.

use super::sets::{self, COUNTS, Kind};
use laxity_analysis::Test;
use std::path::Path;
use std::process::Command;

/// Rounds of judging that are counted.
const ROUNDS: u32 = 2;

/// Instructions of judging the sets of a file in so many rounds.
fn counted(file: &Path, test: &str, rounds: u32) -> f64 {
    let this = std::env::current_exe().expect("this program has a path");
    let run = Command::new("valgrind")
        .args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"])
        .arg(this)
        .arg("--judge")
        .arg(file)
        .args([test, &rounds.to_string()])
        .output()
        .expect("valgrind is installed");
    let words = String::from_utf8_lossy(&run.stderr);
    let line =
        words.lines().find_map(|line| line.split_once("refs:")).map(|(_, count)| count.replace(',', ""));
    let count = line.and_then(|count| count.trim().parse().ok());
    count.unwrap_or_else(|| panic!("valgrind counted nothing:\n{words}"))
}

/// Instructions per set of each test.
fn of_kind(tests: &[&dyn Test], kind: Kind, count: u64, file: &Path) -> Vec<f64> {
    sets::write(file, kind, count);
    let reading = counted(file, tests[0].info().name, 0);
    let sets = u32::try_from(count).expect("few sets") * ROUNDS;
    let judging = |test: &&dyn Test| (counted(file, test.info().name, ROUNDS) - reading) / f64::from(sets);
    tests.iter().map(judging).collect()
}

/// A row per test, deadlines and U; a column per n.
pub fn table(tests: &[&dyn Test], count: u64) {
    let file = std::env::temp_dir().join(format!("laxity-speed-{}.sets", std::process::id()));
    println!("| deadlines | U/m | test | {} |", COUNTS.map(|tasks| format!("n = {tasks}")).join(" | "));
    println!("| --- | ---: | --- | {} |", COUNTS.map(|_| "---:").join(" | "));
    for (tenths, implicit) in [(4, true), (6, true), (4, false), (6, false)] {
        let kinds: Vec<Kind> = sets::against_n(tenths, implicit).collect();
        let columns: Vec<Vec<f64>> = kinds.iter().map(|kind| of_kind(tests, *kind, count, &file)).collect();
        for (at, test) in tests.iter().enumerate() {
            let missing = COUNTS.iter().take(COUNTS.len() - columns.len()).map(|_| String::new());
            let cells: Vec<String> =
                missing.chain(columns.iter().map(|column| format!("{:.0}", column[at]))).collect();
            let name = test.info().name;
            println!("| {} | 0.{tenths} | {name} | {} |", kinds[0].deadlines(), cells.join(" | "));
        }
    }
    // A file that stays behind does no harm.
    std::fs::remove_file(&file).ok();
}

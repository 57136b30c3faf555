//! The example of a study with a test of one's own.

use std::fs;

#[allow(dead_code)]
#[path = "../examples/own_study.rs"]
mod own_study;

#[test]
fn a_study_judges_by_a_test_of_ones_own_and_shows_it() {
    let directory = tempfile::tempdir().expect("a directory");
    own_study::study(directory.path()).expect("no error");
    let points = fs::read_to_string(directory.path().join("points.csv")).expect("points");
    let mut accepted = [0, 0];
    let head: Vec<&str> = points.lines().next().expect("a head").split(',').collect();
    let column = |name: &str| head.iter().position(|column| *column == name).expect(name);
    let (curve, count) = (column("curve"), column("accepted"));
    for line in points.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let series = usize::from(fields[curve] == "exact");
        accepted[series] += fields[count].parse::<u32>().expect("a number");
    }
    assert!(0 < accepted[0] && accepted[0] < accepted[1], "the bound is sufficient only: {accepted:?}");
    let page = fs::read_to_string(directory.path().join("report.html")).expect("a page");
    assert!(page.contains("hyperbolic"));
}

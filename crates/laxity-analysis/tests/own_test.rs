//! The example of a test of one's own works: it asserts that the exact test accepts all that the bound accepts.

#[path = "../examples/own_test.rs"]
mod own_test;

#[test]
fn a_test_of_ones_own_is_judged_like_all() {
    own_test::main();
}

//! Compiles the writing side of the trace rings natively, for the tests.

fn main() {
    for watched in ["../../bpf/trace", "tests/ring.c"] {
        println!("cargo::rerun-if-changed={watched}");
    }
    let mut build = cc::Build::new();
    if let Some(clang) = laxity_build::native_compiler() {
        build.compiler(clang);
    }
    build
        .file("tests/ring.c")
        .include("../../bpf")
        .define("LX_RING_RECORDS", "256u")
        .std("c11")
        .warnings(true)
        .warnings_into_errors(true)
        .compile("laxity_ring_writer");
}

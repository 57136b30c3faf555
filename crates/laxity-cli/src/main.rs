//! laxity: the real-time scheduling laboratory for Linux.

use laxity_program::OrEnd;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: OrEnd = OrEnd;

fn main() -> ExitCode {
    laxity_program::main()
}

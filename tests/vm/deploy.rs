//! A program with a thread for each of its arguments, which is the name of a thread of the plan.

mod laxity_apply;

fn main() {
    for name in std::env::args().skip(1) {
        std::thread::spawn(move || {
            match laxity_apply::apply(&name) {
                Ok(()) => println!("done"),
                Err(error) => println!("failed: {error}"),
            }
            loop {
                std::thread::park();
            }
        });
    }
    loop {
        std::thread::park();
    }
}

//! A program that loads a scheduler by sched_ext and goes on until SIGTERM, as those of the sched_ext project do:
//! `scx_fifo OBJECT`. To laxity it is a foreign one (`laxity run --scheduler scx:PROGRAM`, `tests/vm/scx`).

use libbpf_rs::{MapCore, MapType, ObjectBuilder};

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let file = std::env::args_os().nth(1).ok_or("scx_fifo OBJECT")?;
    let mut object = ObjectBuilder::default().open_file(file)?.load()?;
    let mut links = Vec::new();
    for mut map in object.maps_mut().filter(|map| map.map_type() == MapType::StructOps) {
        links.push(map.attach_struct_ops()?);
    }
    println!("{} attached", links.len());
    loop {
        std::thread::park();
    }
}

//! Trace records from the kernel, as `bpf/trace/` writes them: a ring per CPU in memory shared with the kernel.
//!
//! 1. [`Rings::prepare`] gives an object that includes `bpf/trace/rings.bpf.h` a ring per possible CPU before it is
//!    loaded, or the rings of another object ([`Rings::share`]). [`Rings::of`] maps them, [`Switch::of`] the switch that
//!    turns families of records on and off while the programs run.
//! 2. [`Rings::drain`] takes every record that is published, CPU by CPU in the order of their writing. What found no
//!    place is counted, per CPU ([`Rings::lost`]). A ring has room for [`RECORDS`]: a reader that drains it every few
//!    milliseconds loses none at a million records per second and CPU.
//! 3. [`Merger`] puts records of all CPUs into the order of time.

mod host_samples;
mod kinds;
mod mapping;
mod merge;
mod ring;

pub use host_samples::HostSamples;
pub use kinds::{Kind, SampleKind};
pub use merge::Merger;
pub use ring::{NONE, OVERDUE, RECORD_BYTES, RECORDS, RING_BYTES, Record, Ring, UNSEEN};

use crate::skeleton::{TRACE_RINGS, TRACE_SWITCH};
use laxity_model::{Diagnostic, Result};
use libbpf_rs::{MapCore, MapHandle, Object, OpenObject, num_possible_cpus};
use mapping::Mapping;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU32, Ordering};

/// The rings of all CPUs.
pub struct Rings {
    map: MapHandle,
    mapping: Mapping,
    cpus: u32,
}

impl Rings {
    /// Gives an object that is about to be loaded one ring per possible CPU.
    ///
    /// # Errors
    ///
    /// It has no rings.
    pub fn prepare(object: &mut OpenObject) -> Result<()> {
        let cpus = num_possible_cpus().map_err(|e| failed("counting the possible CPUs", &e))?;
        let cpus = u32::try_from(cpus).expect("few CPUs");
        rings_of(object)?.set_max_entries(cpus).map_err(|e| failed("sizing the trace rings", &e))
    }

    /// Lets an object that is about to be loaded write into these rings.
    ///
    /// # Errors
    ///
    /// It has no rings, or other ones.
    pub fn share(&self, object: &mut OpenObject) -> Result<()> {
        rings_of(object)?.reuse_fd(self.map.as_fd()).map_err(|e| failed("sharing the trace rings", &e))
    }

    /// The rings of a loaded object.
    ///
    /// # Errors
    ///
    /// It has none, or they cannot be mapped.
    pub fn of(object: &Object) -> Result<Rings> {
        let found = object.maps().find(|map| map.name() == TRACE_RINGS).ok_or_else(|| no_map(TRACE_RINGS))?;
        Rings::of_map(MapHandle::try_from(&found).map_err(|e| failed("taking the trace rings", &e))?)
    }

    fn of_map(found: MapHandle) -> Result<Rings> {
        let (cpus, size) = (found.max_entries(), found.value_size() as usize);
        if size != RING_BYTES {
            return Err(Diagnostic::environment(format!(
                "a trace ring has {size} bytes instead of {RING_BYTES}"
            ))
            .hint("programs and reader are of different versions: build laxity anew"));
        }
        let mapping = Mapping::new(found.as_fd(), cpus as usize * RING_BYTES)?;
        Ok(Rings { map: found, mapping, cpus })
    }

    /// How many there are: one per possible CPU.
    pub fn count(&self) -> u32 {
        self.cpus
    }

    /// The ring of a CPU.
    pub fn ring(&self, cpu: u32) -> Ring<'_> {
        assert!(cpu < self.cpus, "ring {cpu} of {}", self.cpus);
        // SAFETY: the mapping has `cpus` rings one after the other, and stays for as long as this borrow.
        unsafe { Ring::at(self.mapping.start().add(cpu as usize * RING_BYTES), RECORDS) }
    }

    /// Takes every published record: for each CPU those in the order of their writing. Returns their number.
    ///
    /// Exclusive, because a ring has one reader.
    pub fn drain(&mut self, mut each: impl FnMut(&Record)) -> usize {
        (0..self.cpus).map(|cpu| self.ring(cpu).drain(&mut each)).sum()
    }

    /// How many records wait in the ring that has the most.
    pub fn fullest(&self) -> u64 {
        (0..self.cpus).map(|cpu| self.ring(cpu).waiting()).max().unwrap_or(0)
    }

    /// How many records of each CPU found no place since the rings were made.
    pub fn lost(&self) -> Vec<u64> {
        (0..self.cpus).map(|cpu| self.ring(cpu).lost()).collect()
    }

    /// How many interrupts of each CPU have been counted (0 where nothing counts them).
    pub fn interrupts(&self) -> Vec<u32> {
        (0..self.cpus).map(|cpu| self.ring(cpu).interrupts()).collect()
    }
}

/// Which families of records a loaded object writes.
pub struct Switch {
    mapping: Mapping,
}

impl Switch {
    /// Schedule events.
    pub const EVENTS: u32 = 1;
    /// Samples of overheads.
    pub const SAMPLES: u32 = 2;

    /// The switch of a loaded object.
    ///
    /// # Errors
    ///
    /// It has none, or it cannot be mapped.
    pub fn of(object: &Object) -> Result<Switch> {
        let found =
            object.maps().find(|map| map.name() == TRACE_SWITCH).ok_or_else(|| no_map(TRACE_SWITCH))?;
        Ok(Switch { mapping: Mapping::new(found.as_fd(), size_of::<u32>())? })
    }

    /// Turns the families of this set on and all others off.
    pub fn set(&self, families: u32) {
        // SAFETY: the word at the start of a page-aligned mapping that lives as long as `self`; the kernel only reads it.
        let word = unsafe { AtomicU32::from_ptr(self.mapping.start().cast()) };
        word.store(families, Ordering::SeqCst);
    }
}

fn rings_of(object: &mut OpenObject) -> Result<libbpf_rs::OpenMapMut<'_>> {
    object.maps_mut().find(|map| map.name() == TRACE_RINGS).ok_or_else(|| no_map(TRACE_RINGS))
}

fn no_map(name: &str) -> Diagnostic {
    Diagnostic::environment(format!("the BPF object has no map {name}"))
        .hint("a program that traces includes bpf/trace/rings.bpf.h")
}

fn failed(what: &str, error: &libbpf_rs::Error) -> Diagnostic {
    Diagnostic::environment(format!("{what}: {error}")).hint("tracing needs root and a kernel with BTF")
}

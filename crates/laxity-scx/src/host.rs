//! The host with each policy, as the build has compiled it.

use crate::raw::{HostTable, Setup, TaskStruct};
use std::ffi::{CStr, c_void};
use std::sync::{Mutex, OnceLock};

include!(concat!(env!("OUT_DIR"), "/tables.rs"));

/// The host with one policy.
#[derive(Clone, Copy)]
pub struct Host(&'static HostTable);

impl std::fmt::Debug for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl Host {
    /// The host with each policy of `policy/policies.h`.
    pub fn all() -> impl Iterator<Item = Host> {
        tables().into_iter().map(|(_, table)| Host::at(table))
    }

    /// The host with the policy of that name in C, such as `edf_bh`.
    pub fn named(name: &str) -> Option<Host> {
        Host::all().find(|host| host.name() == name)
    }

    fn at(table: *const c_void) -> Host {
        // SAFETY: native/host.c has a constant `struct lx_scx_host` there, of which HostTable is the copy.
        let table = unsafe { &*table.cast::<HostTable>() };
        assert_eq!(
            table.task_size as usize,
            size_of::<TaskStruct>(),
            "task_struct of raw.rs is that of types.h"
        );
        assert_eq!(table.setup_size as usize, size_of::<Setup>(), "Setup of raw.rs is lx_host_setup");
        Host(table)
    }

    /// The policy's name in C.
    #[must_use]
    pub fn name(&self) -> &'static str {
        // SAFETY: a constant string of the C object.
        unsafe { CStr::from_ptr(self.0.name) }.to_str().expect("a name in ASCII")
    }

    /// Whether the policy has several locks, and the host takes its steps.
    #[must_use]
    pub fn has_steps(&self) -> bool {
        self.0.has_steps != 0
    }

    /// Whether its cores can have servers for background work.
    #[must_use]
    pub fn has_servers(&self) -> bool {
        self.0.has_servers != 0
    }

    pub(crate) fn table(&self) -> &'static HostTable {
        self.0
    }

    /// Puts all variables of the host back to what they are when it is loaded.
    pub(crate) fn load_afresh(&self) {
        /// Where the variables of an object begin, and what they are when it is loaded.
        type Loaded = Vec<(usize, Vec<u8>)>;
        static LOADED: OnceLock<Mutex<Loaded>> = OnceLock::new();
        let (begin, end) = (self.0.memory, self.0.memory_end);
        let length = end as usize - begin as usize;
        let mut loaded = LOADED.get_or_init(Mutex::default).lock().expect("no run has panicked in here");
        let known = loaded.iter().find(|(at, _)| *at == begin as usize).map(|(_, bytes)| bytes.clone());
        match known {
            // SAFETY: the section of this object's variables (build.rs); one run at a time uses it (world.rs).
            Some(bytes) => unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), begin, length) },
            None => {
                // SAFETY: as above.
                let bytes = unsafe { std::slice::from_raw_parts(begin, length) }.to_vec();
                loaded.push((begin as usize, bytes));
            }
        }
    }
}

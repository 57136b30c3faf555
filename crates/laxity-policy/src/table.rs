//! Which C functions a policy is.

use crate::ffi;
use crate::prototype::ENTRIES;
use laxity_model::Policy;

/// The entry points of one policy.
#[derive(Clone, Copy)]
pub struct Table(&'static ffi::lx_policy);

include!(concat!(env!("OUT_DIR"), "/tables.rs"));

impl Table {
    /// The table of a policy; all prototypes have one ([`crate::Instance::of_prototype`]).
    ///
    /// # Panics
    ///
    /// `policy/policies.h` does not list it.
    pub fn of(policy: Policy) -> Table {
        if policy.prototype().is_some() {
            return Table::prototypes();
        }
        Table::all()
            .find(|table| table.name() == policy.source_name())
            .unwrap_or_else(|| panic!("policy/policies.h does not list {policy}"))
    }

    /// The tables of all policies in `policy/policies.h`.
    pub fn all() -> impl Iterator<Item = Table> {
        // SAFETY: constant tables of the C library, never written.
        tables().into_iter().map(|(_, table)| unsafe { Table::from_raw(table) })
    }

    /// The table of all prototypes.
    pub(crate) fn prototypes() -> Table {
        Table(&ENTRIES.0)
    }

    /// The policy's name in C.
    ///
    /// # Panics
    ///
    /// It is not UTF-8.
    pub fn name(self) -> &'static str {
        // SAFETY: a string literal of C.
        let name = unsafe { core::ffi::CStr::from_ptr(self.0.name) };
        name.to_str().expect("a name in C")
    }

    /// A table from elsewhere: another build of the same sources, such as one that a test has broken on purpose.
    ///
    /// # Safety
    ///
    /// `table` points to a `struct lx_policy` of the same version of `policy/native.h`, which stays valid for ever.
    pub unsafe fn from_raw(table: *const core::ffi::c_void) -> Table {
        // SAFETY: the caller's promise.
        Table(unsafe { &*table.cast::<ffi::lx_policy>() })
    }

    /// Whether operations of the policy may take several steps, under locks of their own, or messages.
    pub fn has_steps(self) -> bool {
        self.0.step.is_some()
    }

    /// Whether the policy looks at what is left of budgets although they are not enforced ([`crate::Instance::consume`]).
    pub fn counts_use(self) -> bool {
        self.0.counts_use != 0
    }

    pub(crate) fn entries(self) -> &'static ffi::lx_policy {
        self.0
    }
}

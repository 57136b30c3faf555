//! Which C functions a policy is.

use crate::ffi;
use laxity_model::Policy;

/// The entry points of one policy.
#[derive(Clone, Copy)]
pub struct Table(&'static ffi::lx_policy);

impl Table {
    /// The table of a policy.
    pub fn of(policy: Policy) -> Table {
        // SAFETY: constant tables of the C library, never written.
        let table = unsafe {
            match policy {
                Policy::EdfBh => &ffi::lx_policy_edf_bh,
                Policy::EdfRbt => &ffi::lx_policy_edf_rbt,
                Policy::Fpp => &ffi::lx_policy_fpp,
                Policy::GsnEdf | Policy::GsnEdfDi => &ffi::lx_policy_gsn_edf,
                Policy::PushPull => &ffi::lx_policy_push_pull,
                Policy::GEdfMp => &ffi::lx_policy_g_edf_mp,
                Policy::AmpRm => &ffi::lx_policy_amp_rm,
            }
        };
        Table(table)
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

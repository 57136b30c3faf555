//! Locks of a policy that has several: `lx_locks` of policy/core.h.

/// At most two of an instance's locks, numbered as its CPUs, in the order in which they are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Locks(u32);

impl Locks {
    /// No lock.
    pub const NONE: Locks = Locks(u32::MAX);
    /// The one lock of an instance that has only one.
    pub(crate) const ONLY: Locks = Locks(0xffff_0000);

    /// The locks.
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = u32> {
        [self.0 & 0xffff, self.0 >> 16].into_iter().filter(|&lock| lock != 0xffff)
    }
}

impl From<u32> for Locks {
    /// As `lx_locks` in `policy/core.h` writes them.
    fn from(encoded: u32) -> Self {
        Locks(encoded)
    }
}

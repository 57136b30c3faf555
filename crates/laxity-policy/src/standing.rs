//! Where a task stands between what the host sees of it and what the policy knows of it (`policy/standing.h`).

use crate::ffi;

laxity_model::listed_enum! {
    /// The standing of a number of an instance, numbered as in `policy/standing.h`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Standing {
        /// No task has it.
        Free,
        /// Its task's first job has yet to arrive.
        Entered,
        /// The policy has a job of it.
        Present,
        /// It sleeps; the policy knows.
        Blocked,
        /// It sleeps; the policy has its job still.
        Absent,
        /// It has left; the policy has its job still.
        Departed,
        /// It sleeps, and the policy is being told.
        Dropping,
        /// The policy is being told that it sleeps; it does not any more.
        Returning,
    }
}

laxity_model::listed_enum! {
    /// What happens to a task, as the host sees it, numbered as in `policy/standing.h`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum StandingEvent {
        /// It gets the number.
        Take,
        /// It is runnable.
        Come,
        /// It sleeps.
        Go,
        /// The CPU decides that has it scheduled.
        Turn,
        /// The policy has been told to suspend it.
        Told,
        /// It is no task of the instance any more.
        Leave,
    }
}

laxity_model::listed_enum! {
    /// What the host does after that, numbered as in `policy/standing.h`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Then {
        /// Nothing.
        Nothing,
        /// Its first job arrives.
        Arrive,
        /// It wakes up.
        Wake,
        /// Its job goes: suspend.
        Suspend,
        /// The number is given back.
        Free,
    }
}

impl Standing {
    /// Where the task stands after the event, and what the host does then.
    #[must_use]
    pub fn after(self, event: StandingEvent) -> (Standing, Then) {
        // SAFETY: arithmetic on values.
        let change = unsafe { ffi::lx_policy_standing_after(self as u32, event as u32) };
        (Standing::ALL[change.standing as usize], Then::ALL[change.then as usize])
    }

    /// Whether the policy has to be told at the task's turn that it sleeps or has left.
    pub fn is_apart(self) -> bool {
        // SAFETY: arithmetic on a value.
        unsafe { ffi::lx_policy_standing_is_apart(self as u32) != 0 }
    }
}

//! The reading side of `bpf/trace/ring.h`.

use super::Kind;
use crate::ffi::{self, lx_record, lx_ring};
use laxity_trace::EventKind;
use std::marker::PhantomData;
use std::mem::offset_of;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use zerocopy::{FromBytes, Immutable, IntoBytes};

/// Records of a ring.
#[allow(clippy::unnecessary_cast, reason = "bindgen chooses the type")]
pub const RECORDS: u64 = ffi::LX_RING_RECORDS as u64;

/// Bytes of a ring.
pub const RING_BYTES: usize = size_of::<lx_ring>();

/// No task, no job (`LX_NONE`).
pub const NONE: u32 = u32::MAX;

/// Argument of the IPI that is a CPU's budget timer, which has not gone off (`LX_OVERDUE`).
pub const OVERDUE: u64 = 0xffff_fffd;

/// Argument of the IPI of a CPU that was not seen answering it (`LX_UNSEEN`).
pub const UNSEEN: u64 = 0xffff_fffe;

const HEAD_AT: usize = offset_of!(lx_ring, head);
const LOST_AT: usize = offset_of!(lx_ring, lost);
const INTERRUPTS_AT: usize = offset_of!(lx_ring, interrupts);
const WANTED_AT: usize = offset_of!(lx_ring, wanted);
const TAIL_AT: usize = offset_of!(lx_ring, tail);
const RECORDS_AT: usize = offset_of!(lx_ring, records);

/// One record (`struct lx_record`). Times are CLOCK_MONOTONIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub struct Record {
    /// When, in ns; of a sample: when what it measures began.
    pub time_ns: u64,
    /// Of an event what its kind says; of a sample its length in ns.
    pub argument: u64,
    /// What its kind says.
    pub argument2: u64,
    /// What it is: see [`super::Kind::of`].
    pub kind: u32,
    /// On which CPU.
    pub cpu: u32,
    /// The thread's id in the kernel.
    pub pid: u32,
    /// Index in the task set, or [`NONE`].
    pub task: u32,
    /// Number of the job in its task, or [`NONE`].
    pub job: u32,
    /// The thread's scheduling policy (`SCHED_*`), 0 where it has no meaning.
    pub policy: u32,
    /// Interrupts of this CPU so far.
    pub interrupts: u32,
    /// How many of them came while what it measures went on.
    pub disturbing: u32,
    /// Its number in its ring, from 1.
    pub sequence: u64,
}

/// Bytes of a record.
pub const RECORD_BYTES: usize = size_of::<Record>();

impl Record {
    /// The record as it lies in memory, for files of this machine.
    pub fn to_bytes(self) -> [u8; RECORD_BYTES] {
        zerocopy::transmute!(self)
    }

    /// The record that [`Record::to_bytes`] has written.
    pub fn from_bytes(bytes: [u8; RECORD_BYTES]) -> Record {
        zerocopy::transmute!(bytes)
    }

    /// The event that it is about, if it is one.
    pub(crate) fn event_kind(&self) -> Option<EventKind> {
        match Kind::of(self.kind) {
            Some(Kind::Event(kind)) => Some(kind),
            Some(Kind::Sample(_)) | None => None,
        }
    }
}

const SEQUENCE_AT: usize = offset_of!(Record, sequence);

/// Its fields lie where those of C do.
macro_rules! as_in_c {
    ($($field:ident),*) => {
        const _: () = {
            assert!(size_of::<Record>() == size_of::<lx_record>());
            $(assert!(offset_of!(Record, $field) == offset_of!(lx_record, $field));)*
        };
    };
}
as_in_c!(time_ns, argument, argument2, kind, cpu, pid, task, job, policy, interrupts, disturbing, sequence);

/// One ring in shared memory.
pub struct Ring<'a> {
    start: *mut u8,
    records: u64,
    memory: PhantomData<&'a ()>,
}

impl Ring<'_> {
    /// The ring at an address.
    ///
    /// # Safety
    ///
    /// There is a `struct lx_ring` of `records` records (a power of two), aligned to 8 bytes, for as long as `'a`, and
    /// it has no other reader meanwhile.
    pub unsafe fn at(start: *mut u8, records: u64) -> Self {
        assert!(records.is_power_of_two(), "{records} records");
        Ring { start, records, memory: PhantomData }
    }

    fn word(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: callers give offsets of 8-byte words of `struct lx_ring`, which `at` promises to be there.
        unsafe { AtomicU64::from_ptr(self.start.add(offset).cast()) }
    }

    fn slot(&self, position: u64) -> usize {
        let slot = usize::try_from(position & (self.records - 1)).expect("few records");
        RECORDS_AT + slot * size_of::<Record>()
    }

    /// Takes every record up to the first that is not published yet. Returns their number.
    pub fn drain(&self, mut each: impl FnMut(&Record)) -> usize {
        let first = self.word(TAIL_AT).load(Ordering::Relaxed);
        let mut tail = first;
        loop {
            let slot = self.slot(tail);
            // Pairs with lx_ring_publish: a reader that sees the sequence sees the whole record.
            if self.word(slot + SEQUENCE_AT).load(Ordering::Acquire) != tail + 1 {
                break;
            }
            // SAFETY: a whole record lies there, and the kernel does not write it again before `tail` is past it.
            let record = unsafe { self.start.add(slot).cast::<Record>().read_volatile() };
            each(&record);
            tail += 1;
            // After the copy: from here on the kernel may use the slot.
            self.word(TAIL_AT).store(tail, Ordering::Release);
        }
        usize::try_from(tail - first).expect("64-bit addresses")
    }

    /// Records that are claimed and not taken yet, published or not.
    pub fn waiting(&self) -> u64 {
        self.word(HEAD_AT).load(Ordering::Acquire) - self.word(TAIL_AT).load(Ordering::Relaxed)
    }

    /// How many records found no place.
    pub fn lost(&self) -> u64 {
        self.word(LOST_AT).load(Ordering::Relaxed)
    }

    /// How many interrupts have been counted.
    pub fn interrupts(&self) -> u32 {
        self.half_word(INTERRUPTS_AT).load(Ordering::Relaxed)
    }

    /// Claims the ring for a reader, by its process id: from then on writers that look at that
    /// (`bpf/host/samples.h`) write. Returns false if another process that is alive has the ring.
    pub fn claim(&self, reader: u32, is_alive: impl Fn(u32) -> bool) -> bool {
        let word = self.half_word(WANTED_AT);
        let mut holder = word.load(Ordering::SeqCst);
        while holder == 0 || !is_alive(holder) {
            match word.compare_exchange(holder, reader, Ordering::SeqCst, Ordering::SeqCst) {
                Ok(_) => return true,
                Err(now) => holder = now,
            }
        }
        false
    }

    /// Gives back what a reader has claimed.
    pub fn give_back(&self, reader: u32) {
        // Another reader's claim stays.
        let _ = self.half_word(WANTED_AT).compare_exchange(reader, 0, Ordering::SeqCst, Ordering::SeqCst);
    }

    fn half_word(&self, offset: usize) -> &AtomicU32 {
        // SAFETY: callers give offsets of 4-byte words of `struct lx_ring`, which `at` promises to be there.
        unsafe { AtomicU32::from_ptr(self.start.add(offset).cast()) }
    }
}

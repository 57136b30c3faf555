//! The trace rings of `bpf/trace/ring.h`, compiled natively, against their reader.

use laxity_kernel::rings::{Record, Ring};
// Brings the writing side with it (build.rs).
use laxity_overheads as _;
use proptest::prelude::*;
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::collections::VecDeque;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};
use std::thread;

/// `LX_RING_RECORDS` in build.rs.
const RECORDS: u64 = 256;

unsafe extern "C" {
    fn laxity_ring_write(ring: *mut u8, value: u64);
    fn laxity_ring_claim(ring: *mut u8, sequence: *mut u64) -> *mut u8;
    fn laxity_ring_publish(slot: *mut u8, value: u64, sequence: u64);
    fn laxity_ring_bytes() -> u64;
}

/// A ring of its own.
struct Memory {
    start: *mut u8,
    layout: Layout,
}

// SAFETY: writers and the reader are what may share a ring.
unsafe impl Sync for Memory {}

impl Memory {
    fn new() -> Memory {
        // SAFETY: a function without conditions.
        let bytes = usize::try_from(unsafe { laxity_ring_bytes() }).expect("small");
        assert_eq!(bytes, 4_096 + 64 * 256);
        let layout = Layout::from_size_align(bytes, 4_096).expect("valid");
        // SAFETY: the layout is not empty.
        Memory { start: unsafe { alloc_zeroed(layout) }, layout }
    }

    fn ring(&self) -> Ring<'_> {
        // SAFETY: a ring of RECORDS records; each test reads in one thread.
        unsafe { Ring::at(self.start, RECORDS) }
    }

    fn write(&self, value: u64) {
        // SAFETY: a ring.
        unsafe { laxity_ring_write(self.start, value) }
    }

    fn drain(&self) -> Vec<Record> {
        let mut records = Vec::new();
        self.ring().drain(|record| records.push(*record));
        records
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: from `new`.
        unsafe { dealloc(self.start, self.layout) }
    }
}

/// The value that a record was made of; a record of parts of two is noticed.
fn value_of(record: &Record) -> u64 {
    let value = record.time_ns;
    let low = |add: u64| {
        u32::try_from((value & 0xffff_ffff) + add).expect("values are below 2^32 - 6 in their low half")
    };
    let whole = Record {
        time_ns: value,
        argument: value.wrapping_mul(3),
        argument2: !value,
        kind: low(0),
        cpu: u32::try_from(value >> 32).expect("half"),
        pid: low(1),
        task: low(2),
        job: low(3),
        policy: low(4),
        interrupts: low(5),
        disturbing: low(6),
        sequence: record.sequence,
    };
    assert_eq!(*record, whole, "a torn record");
    value
}

#[test]
fn what_finds_no_place_is_counted_and_nothing_is_overwritten() {
    let memory = Memory::new();
    (0..RECORDS + 44).for_each(|value| memory.write(value));
    assert_eq!((memory.ring().lost(), memory.ring().waiting()), (44, RECORDS));
    let read: Vec<u64> = memory.drain().iter().map(value_of).collect();
    assert_eq!(read, (0..RECORDS).collect::<Vec<_>>());
    memory.write(999);
    assert_eq!(memory.drain().iter().map(value_of).collect::<Vec<_>>(), [999]);
    assert_eq!((memory.ring().lost(), memory.ring().waiting()), (44, 0));
}

#[test]
fn the_reader_waits_at_what_is_claimed_and_not_published() {
    let memory = Memory::new();
    memory.write(1);
    let mut sequence = 0;
    // SAFETY: a ring.
    let slot = unsafe { laxity_ring_claim(memory.start, &raw mut sequence) };
    memory.write(3);
    assert_eq!(memory.drain().iter().map(value_of).collect::<Vec<_>>(), [1]);
    assert!(memory.drain().is_empty());
    // SAFETY: the slot that was claimed.
    unsafe { laxity_ring_publish(slot, 2, sequence) };
    assert_eq!(memory.drain().iter().map(|record| record.time_ns).collect::<Vec<_>>(), [2, 3]);
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Write,
    Claim,
    Publish,
    Drain,
}

laxity_seeds::properties! {
    /// Any order of nested writers (the last to claim publishes first, as interrupts do) and of the reader.
    #[test]
    fn agrees_with_a_queue(steps in proptest::collection::vec(0u32..600, 1..1_500)) {
        let memory = Memory::new();
        let (mut queue, mut open, mut lost) = (VecDeque::new(), Vec::new(), 0);
        for (value, step) in (1u64..).zip(steps) {
            // Mostly writes, so that it fills up; up to four nested writers.
            let step = match step {
                0..500 => Step::Write,
                500..570 if open.len() < 4 => Step::Claim,
                500..597 => Step::Publish,
                _ => Step::Drain,
            };
            match step {
                Step::Write if queue.len() as u64 == RECORDS => {
                    memory.write(value);
                    lost += 1;
                }
                Step::Write => {
                    memory.write(value);
                    queue.push_back((value, true));
                }
                Step::Claim => {
                    let mut sequence = 0;
                    // SAFETY: a ring.
                    let slot = unsafe { laxity_ring_claim(memory.start, &raw mut sequence) };
                    prop_assert_eq!(slot.is_null(), queue.len() as u64 == RECORDS);
                    if slot.is_null() {
                        lost += 1;
                    } else {
                        queue.push_back((value, false));
                        open.push((slot, value, sequence));
                    }
                }
                Step::Publish => {
                    let Some((slot, value, sequence)) = open.pop() else { continue };
                    // SAFETY: a slot that was claimed, once.
                    unsafe { laxity_ring_publish(slot, value, sequence) };
                    queue.iter_mut().find(|entry| entry.0 == value).expect("is queued").1 = true;
                }
                Step::Drain => {
                    let whole = queue.iter().take_while(|(_, published)| *published).count();
                    let expected: Vec<u64> = queue.drain(..whole).map(|(value, _)| value).collect();
                    let read: Vec<u64> = memory.drain().iter().map(|record| record.time_ns).collect();
                    prop_assert_eq!(read, expected);
                }
            }
            prop_assert_eq!(memory.ring().lost(), lost);
            prop_assert_eq!(memory.ring().waiting(), queue.len() as u64);
        }
    }
}

/// Threads claim at the same time: harsher than interrupts on one CPU, which nest.
#[test]
fn threads_lose_nothing_uncounted() {
    const WRITERS: u64 = 3;
    const EACH: u64 = 200_000;
    let memory = Memory::new();
    let running = AtomicU64::new(WRITERS);
    let mut last = [None; 3];
    assert_eq!(last.len() as u64, WRITERS);
    let mut read = 0;
    let mut take = |record: &Record| {
        let value = value_of(record);
        let (writer, number) = (usize::try_from(value >> 32).expect("small"), value & 0xffff_ffff);
        assert!(last[writer].is_none_or(|last| last < number), "writer {writer}: {number} after {last:?}");
        last[writer] = Some(number);
        read += 1;
        assert_eq!(record.sequence, read, "records are numbered without gaps");
    };
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (memory, running) = (&memory, &running);
            scope.spawn(move || {
                (0..EACH).for_each(|number| memory.write(writer << 32 | number));
                running.fetch_sub(1, Ordering::Release);
            });
        }
        while running.load(Ordering::Acquire) > 0 {
            memory.ring().drain(&mut take);
        }
    });
    memory.ring().drain(&mut take);
    assert_eq!(read + memory.ring().lost(), WRITERS * EACH, "read {read}");
    assert_eq!(memory.ring().waiting(), 0);
}

static RING: AtomicPtr<u8> = AtomicPtr::new(ptr::null_mut());
static FROM_HANDLER: AtomicU64 = AtomicU64::new(0);

extern "C" fn interrupt(_: libc::c_int) {
    let number = FROM_HANDLER.load(Ordering::Relaxed);
    // SAFETY: a ring; writing takes no lock and allocates nothing.
    unsafe { laxity_ring_write(RING.load(Ordering::Relaxed), 1 << 32 | number) };
    FROM_HANDLER.fetch_add(1, Ordering::Release);
}

/// Signals interrupt a writer as interrupts do in the kernel: anywhere, also between claim and publish.
#[test]
fn a_writer_that_is_interrupted_publishes_whole_records() {
    const SIGNALS: u64 = 300;
    let memory = Memory::new();
    RING.store(memory.start, Ordering::Relaxed);
    // SAFETY: the handler is async-signal-safe; nothing else in this program uses SIGUSR1.
    unsafe { libc::signal(libc::SIGUSR1, interrupt as *const () as libc::sighandler_t) };
    let (own, reading) = (AtomicU64::new(0), AtomicBool::new(true));
    let mut read = [0u64; 2];
    let mut take = |record: &Record| read[usize::try_from(value_of(record) >> 32).expect("0 or 1")] += 1;
    thread::scope(|scope| {
        let (memory_of_writer, own, reading) = (&memory, &own, &reading);
        let (to, from) = std::sync::mpsc::channel();
        scope.spawn(move || {
            // SAFETY: this thread's own id.
            to.send(unsafe { libc::pthread_self() }).expect("is received");
            while reading.load(Ordering::Acquire) {
                memory_of_writer.write(own.fetch_add(1, Ordering::Relaxed));
            }
        });
        let writer = from.recv().expect("is sent");
        let mut sent = 0;
        while sent < SIGNALS {
            // One at a time: a signal that is pending already would not come again.
            if FROM_HANDLER.load(Ordering::Acquire) == sent {
                // SAFETY: the thread runs until `reading` ends.
                unsafe { libc::pthread_kill(writer, libc::SIGUSR1) };
                sent += 1;
            }
            memory.ring().drain(&mut take);
        }
        while FROM_HANDLER.load(Ordering::Acquire) < SIGNALS {
            memory.ring().drain(&mut take);
        }
        reading.store(false, Ordering::Release);
    });
    memory.ring().drain(&mut take);
    let written = own.load(Ordering::Relaxed) + SIGNALS;
    assert_eq!(read[0] + read[1] + memory.ring().lost(), written);
    assert!(read[1] > SIGNALS / 10, "{read:?} of {SIGNALS} signals and {written} records");
}

#[test]
fn a_ring_has_one_reader_which_may_die() {
    let memory = Memory::new();
    let ring = memory.ring();
    let (first, second) = (4_711, 4_712);
    assert!(ring.claim(first, |_| true));
    assert!(!ring.claim(second, |holder| holder == first), "it is the first one's");
    ring.give_back(second);
    assert!(!ring.claim(second, |_| true), "only the holder gives a ring back");
    assert!(ring.claim(second, |_| false), "the first one is dead");
    ring.give_back(first);
    assert!(!ring.claim(first, |_| true));
    ring.give_back(second);
    assert!(ring.claim(first, |_| panic!("no reader has it")));
}

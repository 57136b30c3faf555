//! The maps of the host: what its loader would have made of their declarations.

use crate::raw::MapDeclaration;
use std::collections::BTreeMap;

const ARRAY: u32 = 2;
const PERCPU_ARRAY: u32 = 6;
/// The loader makes maps with one entry as declared as long as the machine needs; none is longer than this.
const ENTRIES_MAX: u32 = 256;
/// Of `struct lx_ring`: each CPU has one for the trace, and none for samples of overheads.
const RING_BYTES: u32 = 4096 + 64 * 16384;

type Key = (usize, usize, u64);

/// The values of all maps. A value stays where it is, also after it has been deleted: others may be looking at it.
#[derive(Default)]
pub(crate) struct Maps {
    values: BTreeMap<Key, Box<[u64]>>,
    /// The declaration of the trace's rings.
    pub trace_rings: usize,
    deleted: Vec<Box<[u64]>>,
}

impl Maps {
    pub(crate) fn new(trace_rings: usize) -> Maps {
        Maps { trace_rings, ..Maps::default() }
    }

    fn key(map: &MapDeclaration, key: *const u8, cpu: usize) -> Key {
        assert_eq!(map.key_size, 4, "all maps of the host have keys of 4 bytes");
        // SAFETY: the host passes a key of that size.
        let number = u64::from(unsafe { key.cast::<u32>().read_unaligned() });
        (map.declared, if map.kind == PERCPU_ARRAY { cpu } else { 0 }, number)
    }

    /// Where the value is, or null.
    pub(crate) fn look_up(&mut self, map: &MapDeclaration, key: *const u8, cpu: usize) -> *mut u8 {
        let key = Maps::key(map, key, cpu);
        if map.kind == ARRAY || map.kind == PERCPU_ARRAY {
            let entries = if map.entries == 1 { ENTRIES_MAX } else { map.entries };
            let is_for_samples = map.value_size == RING_BYTES && map.declared != self.trace_rings;
            if key.2 >= u64::from(entries) || is_for_samples {
                return std::ptr::null_mut();
            }
            let words = (map.value_size as usize).div_ceil(8);
            let value = self.values.entry(key).or_insert_with(|| vec![0; words].into_boxed_slice());
            return value.as_mut_ptr().cast();
        }
        self.values.get_mut(&key).map_or(std::ptr::null_mut(), |value| value.as_mut_ptr().cast())
    }

    /// The ring of the trace of a CPU, if that has written in it.
    pub(crate) fn ring(&mut self, cpu: usize) -> Option<*mut u8> {
        let key = (self.trace_rings, 0, cpu as u64);
        self.values.get_mut(&key).map(|ring| ring.as_mut_ptr().cast())
    }

    pub(crate) fn update(&mut self, map: &MapDeclaration, key: *const u8, value: *const u8, cpu: usize) {
        let key = Maps::key(map, key, cpu);
        let mut words = vec![0; (map.value_size as usize).div_ceil(8)].into_boxed_slice();
        // SAFETY: the host passes a value of that size.
        unsafe { std::ptr::copy_nonoverlapping(value, words.as_mut_ptr().cast(), map.value_size as usize) };
        self.deleted.extend(self.values.insert(key, words));
    }

    /// Whether there was one.
    pub(crate) fn delete(&mut self, map: &MapDeclaration, key: *const u8, cpu: usize) -> bool {
        let value = self.values.remove(&Maps::key(map, key, cpu));
        let was = value.is_some();
        self.deleted.extend(value);
        was
    }

    /// The element of a map that the address is in: its key, and where its value begins.
    pub(crate) fn element_at(&self, map: usize, address: usize) -> Option<(u32, usize)> {
        self.values.range((map, 0, 0)..=(map, usize::MAX, u64::MAX)).find_map(|(key, value)| {
            let begin = value.as_ptr() as usize;
            let number = u32::try_from(key.2).expect("keys have 4 bytes");
            (begin..begin + value.len() * 8).contains(&address).then_some((number, begin))
        })
    }
}

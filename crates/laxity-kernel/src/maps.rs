//! Maps of an object by the types of their keys and values, which are those of C (`ffi.rs`).

use crate::object::in_c;
use libbpf_rs::{MapCore, MapFlags, MapHandle, Object};
use std::marker::PhantomData;
use zerocopy::{FromBytes, Immutable, IntoBytes};

/// Any bytes of its length are one.
pub(crate) trait Plain: FromBytes + IntoBytes + Immutable {}
impl<T: FromBytes + IntoBytes + Immutable> Plain for T {}

/// A map by its name in C, with the types of its keys and values.
pub(crate) struct MapOf<K, V> {
    name: &'static str,
    types: PhantomData<(K, V)>,
}

impl<K: Plain, V: Plain> MapOf<K, V> {
    /// A map that the object has.
    pub(crate) const fn new(object: &str, name: &'static str) -> Self {
        MapOf { name: in_c(object, name, None), types: PhantomData }
    }

    /// The map in an object that has been loaded.
    ///
    /// # Errors
    ///
    /// There is none, or it has keys or values of another size.
    pub(crate) fn of<'o>(&self, object: &'o Object) -> Result<Typed<libbpf_rs::Map<'o>, K, V>, String> {
        let name = self.name;
        let map = object.maps().find(|map| map.name() == name);
        let map = map.ok_or_else(|| format!("the object has no {name}"))?;
        let (key, value) = (map.key_size() as usize, map.value_size() as usize);
        if (key, value) != (size_of::<K>(), size_of::<V>()) {
            return Err(format!("{name} has keys of {key} bytes and values of {value}: build laxity anew"));
        }
        Ok(Typed { name, map, types: PhantomData })
    }
}

impl<V: Plain> MapOf<u32, V> {
    /// What the kernel keeps a variable of the object in that has a section of its own.
    pub(crate) const fn section(object: &str, section: &'static str, variable: &'static str) -> Self {
        in_c(object, variable, Some(size_of::<V>()));
        MapOf { name: section, types: PhantomData }
    }
}

/// A map of the kernel.
pub(crate) struct Typed<M, K, V> {
    name: &'static str,
    map: M,
    types: PhantomData<(K, V)>,
}

impl<K, V> Typed<libbpf_rs::Map<'_>, K, V> {
    /// The same, for as long as it is wanted.
    pub(crate) fn owned(self) -> Result<Typed<MapHandle, K, V>, String> {
        let map = MapHandle::try_from(&self.map).map_err(|error| format!("{}: {error}", self.name))?;
        Ok(Typed { name: self.name, map, types: PhantomData })
    }
}

impl<M: MapCore, K: Plain, V: Plain> Typed<M, K, V> {
    /// The value of a key, if there is one.
    pub(crate) fn get(&self, key: &K) -> Option<V> {
        V::read_from_bytes(&self.map.lookup(key.as_bytes(), MapFlags::ANY).ok()??).ok()
    }

    pub(crate) fn put(&self, key: &K, value: &V) -> Result<(), String> {
        let done = self.map.update(key.as_bytes(), value.as_bytes(), MapFlags::ANY);
        done.map_err(|error| format!("{}: {error}", self.name))
    }

    pub(crate) fn remove(&self, key: &K) -> Result<(), String> {
        self.map.delete(key.as_bytes()).map_err(|error| format!("{}: {error}", self.name))
    }

    /// All keys with their values. What is removed meanwhile may be missing.
    pub(crate) fn all(&self) -> Vec<(K, V)> {
        let with_value = |key: Vec<u8>| {
            let key = K::read_from_bytes(&key).ok()?;
            self.get(&key).map(|value| (key, value))
        };
        self.map.keys().filter_map(with_value).collect()
    }

    /// The values of a map that has one for each CPU.
    pub(crate) fn of_cpus(&self, key: &K) -> Result<Vec<V>, String> {
        let values = self.map.lookup_percpu(key.as_bytes(), MapFlags::ANY);
        let values = values.map_err(|error| format!("{} cannot be read: {error}", self.name))?;
        Ok(values.unwrap_or_default().iter().filter_map(|value| V::read_from_bytes(value).ok()).collect())
    }
}

//! The object files of `bpf/`: what they have by which name, and the constants in them that the loader sets.

use libbpf_rs::btf::Btf;
use libbpf_rs::btf::types::{DataSec, Enum, Enum64, Var};
use libbpf_rs::{AsRawLibbpf as _, ObjectBuilder, OpenObject};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::marker::PhantomData;
use zerocopy::{Immutable, IntoBytes};

include!(concat!(env!("OUT_DIR"), "/objects.rs"));

const fn same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

/// A name that an object has, of a variable of so many bytes if it is one's. If it has none, a constant of this does not compile.
pub(crate) const fn in_c(object: &str, name: &'static str, bytes: Option<usize>) -> &'static str {
    let mut at = 0;
    while at < SYMBOLS.len() {
        let (of, symbol, size) = SYMBOLS[at];
        if same(of, object) && same(symbol, name) {
            assert!(
                bytes.is_none() || matches!(bytes, Some(bytes) if bytes == size),
                "it has another size in C"
            );
            return name;
        }
        at += 1;
    }
    // Built without clang: there is nothing to load, either.
    assert!(SYMBOLS.is_empty(), "nothing has this name in C");
    name
}

/// A variable of C, with its type here.
pub(crate) struct Variable<T> {
    name: &'static str,
    of: PhantomData<T>,
}

impl<T> Variable<T> {
    /// One that the object has.
    pub(crate) const fn new(object: &str, name: &'static str) -> Self {
        Variable { name: in_c(object, name, Some(size_of::<T>())), of: PhantomData }
    }
}

/// Where the variables of a section are: name, offset, size. That differs between objects: the compiler puts constants of its own
/// among them.
fn variables(name: &str, object: &OpenObject, section: &str) -> Result<Vec<(String, usize, usize)>, String> {
    // SAFETY: the object lives as long as the types that are read here, and is not changed meanwhile.
    let object = unsafe { object.as_libbpf_object().as_ref() };
    let btf = Btf::from_bpf_object(object)
        .map_err(|error| format!("{name}: {error}"))?
        .ok_or_else(|| format!("{name} was built without types"))?;
    let section: DataSec<'_> =
        btf.type_by_name(section).ok_or_else(|| format!("{name} has no section {section}"))?;
    let mut found = Vec::new();
    for variable in section.iter() {
        let of_type: Var<'_> = btf.type_by_id(variable.ty).ok_or("a constant without a type")?;
        if let Some(name) = of_type.name() {
            let offset = variable.offset as usize;
            found.push((name.to_string_lossy().into_owned(), offset, variable.size));
        }
    }
    Ok(found)
}

/// The values of all `SCX_` constants of this kernel, which differ between versions.
pub(crate) fn kernel_constants() -> Result<HashMap<String, u64>, String> {
    let btf = Btf::from_vmlinux().map_err(|error| format!("the kernel's types cannot be read: {error}"))?;
    let mut values = HashMap::new();
    let mut keep = |name: Option<&OsStr>, value: i128| {
        if let Some(name) = name.and_then(OsStr::to_str).filter(|name| name.starts_with("SCX_")) {
            // Negative constants are not used here.
            values.insert(name.to_owned(), u64::try_from(value).unwrap_or(0));
        }
    };
    for of_type in btf.type_by_kind::<Enum<'_>>() {
        of_type.iter().for_each(|member| keep(member.name, member.value.into()));
    }
    for of_type in btf.type_by_kind::<Enum64<'_>>() {
        of_type.iter().for_each(|member| keep(member.name, member.value));
    }
    Ok(values)
}

/// `LAXITY_FAULT=verifier@load`: the object with programs that read beyond the stack instead of ending, which no verifier
/// lets pass, for the test of what is said then.
fn broken_on_request(bytes: &[u8]) -> Option<Vec<u8>> {
    const EXIT: [u8; 8] = [0x95, 0, 0, 0, 0, 0, 0, 0];
    /// r0 = *(u64 *)(r10 + 8), above the stack
    const BEYOND: [u8; 8] = [0x79, 0xa0, 8, 0, 0, 0, 0, 0];
    /// How the types begin, which come after the programs.
    const TYPES: [u8; 4] = [0x9f, 0xeb, 1, 0];
    if !crate::fault::is("verifier", "load") {
        return None;
    }
    let programs = bytes.windows(TYPES.len()).position(|window| window == TYPES).unwrap_or(bytes.len());
    let mut broken = bytes.to_vec();
    for instruction in broken[..programs].chunks_exact_mut(8).filter(|instruction| *instruction == EXIT) {
        instruction.copy_from_slice(&BEYOND);
    }
    Some(broken)
}

fn place<T>(variables: &[(String, usize, usize)], wanted: &Variable<T>) -> Result<usize, String> {
    let found = variables.iter().find(|(name, _, size)| name == wanted.name && *size == size_of::<T>());
    found.map(|(_, offset, _)| *offset).ok_or_else(|| format!("the object has no {}", wanted.name))
}

/// An object opened, not loaded yet.
pub(crate) struct Opened {
    pub(crate) object: OpenObject,
    constants: Vec<(String, usize, usize)>,
}

impl Opened {
    pub(crate) fn new(name: &str) -> Result<Opened, String> {
        let broken = broken_on_request(object(name)?);
        let bytes = broken.as_deref().map_or(object(name), Ok)?;
        let object =
            ObjectBuilder::default().open_memory(bytes).map_err(|error| format!("{name}: {error}"))?;
        let constants = variables(name, &object, ".rodata")?;
        let mut opened = Opened { object, constants };
        opened.fill_kernel_constants()?;
        Ok(opened)
    }

    /// `__SCX_X` becomes what this kernel's SCX_X is; 0 if it has none.
    fn fill_kernel_constants(&mut self) -> Result<(), String> {
        let values = kernel_constants()?;
        for (name, offset, size) in self.constants.clone() {
            if let Some(kernels) = name.strip_prefix("__")
                && kernels.starts_with("SCX_")
                && size == 8
            {
                self.write(offset, &values.get(kernels).copied().unwrap_or(0).to_ne_bytes())?;
            }
        }
        Ok(())
    }

    /// Where a variable of `.data` is.
    pub(crate) fn place_in_data<T>(&self, variable: &Variable<T>) -> Result<usize, String> {
        place(&variables("the object", &self.object, ".data")?, variable)
    }

    /// Sets a constant of the object.
    pub(crate) fn set<T: IntoBytes + Immutable>(
        &mut self,
        constant: &Variable<T>,
        value: T,
    ) -> Result<(), String> {
        let offset = place(&self.constants, constant)?;
        self.write(offset, value.as_bytes())
    }

    fn write(&mut self, offset: usize, value: &[u8]) -> Result<(), String> {
        let mut map = self
            .object
            .maps_mut()
            .find(|map| map.name().to_string_lossy().ends_with(".rodata"))
            .ok_or("there is no .rodata")?;
        let bytes = map.initial_value_mut().ok_or(".rodata has no value")?;
        bytes[offset..offset + value.len()].copy_from_slice(value);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{object, same};
    use laxity_model::Policy;

    #[test]
    fn names_are_the_same_as_a_whole() {
        assert!(same("roster", "roster") && same("", ""));
        let others = [("roster", "rosters"), ("rosters", "roster"), ("born", "torn"), ("", "a")];
        assert!(others.iter().all(|(one, other)| !same(one, other)));
    }

    #[test]
    fn every_policy_has_an_object() {
        let Err(why_none) = object("no such object") else { panic!("there is one") };
        for policy in Policy::all() {
            match object(policy.source_name()) {
                Ok(bytes) => assert!(bytes.starts_with(b"\x7fELF"), "{}", policy.name()),
                // Built without clang: the same reason for all.
                Err(why) => assert_eq!(why, why_none, "{}", policy.name()),
            }
        }
    }
}

//! The policies in a stock kernel.

pub mod rings;

#[repr(align(16))]
struct Aligned<T: ?Sized>(T);

macro_rules! aligned {
    ($path:literal) => {{
        static ALIGNED: &Aligned<[u8]> = &Aligned(*include_bytes!($path));
        &ALIGNED.0
    }};
}

include!(concat!(env!("OUT_DIR"), "/objects.rs"));

/// The object file of `bpf/NAME.bpf.c`.
///
/// # Errors
///
/// Why this program was built without it.
pub fn object(name: &str) -> Result<&'static [u8], String> {
    let objects = COMPILED.map_err(String::from)?;
    let found = objects.iter().find(|(n, _)| *n == name);
    found.map(|(_, bytes)| *bytes).ok_or_else(|| format!("there is no bpf/{name}.bpf.c"))
}

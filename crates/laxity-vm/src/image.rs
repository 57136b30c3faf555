//! Kernel images: a bzImage's header, and the kernel compressed inside.
//!
//! Layout: Linux, Documentation/arch/x86/boot.rst ("The Real-Mode Kernel Header").

use crate::elf::Elf;
use laxity_model::{Diagnostic, Result, ShownPath as _};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

/// No kernel is larger, unpacked.
const UNPACKED_BYTES_MAX: u64 = 1 << 30;
/// What every uncompressed kernel contains, followed by its release.
const BANNER: &[u8] = b"Linux version ";
/// Beginnings of what the kernel's build can compress with, and the program that unpacks it.
const COMPRESSORS: [(&[u8], &str); 6] = [
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"\x1f\x8b", "gzip"),
    (b"\xfd7zXZ\0", "xz"),
    (b"BZh", "bzip2"),
    (b"\x5d\0\0", "lzma"),
    (b"\x02\x21\x4c\x18", "lz4"),
];

/// A kernel that QEMU can boot.
pub struct Image {
    /// Its release, as `uname -r` will print it.
    pub release: String,
    content: Content,
}

enum Content {
    /// An uncompressed kernel.
    Vmlinux(Vec<u8>),
    /// A bzImage's compressed kernel.
    Payload(Vec<u8>),
}

impl Image {
    /// Reads a kernel image: a bzImage (`vmlinuz`) or an uncompressed `vmlinux`.
    ///
    /// # Errors
    /// The file cannot be read, or is no kernel for x86-64.
    pub fn read(path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path).map_err(|error| {
            Diagnostic::usage(format!("cannot read the kernel {}: {error}", path.shown())).hint(
                "name a kernel image such as /boot/vmlinuz-6.18, or leave --kernel out to have one fetched",
            )
        })?;
        Self::parse(bytes).map_err(|why| {
            Diagnostic::usage(format!("{} is not a kernel for this machine: {why}", path.shown()))
                .hint("a bzImage for x86-64 is needed, such as Debian's /boot/vmlinuz-*")
        })
    }

    fn parse(bytes: Vec<u8>) -> std::result::Result<Self, String> {
        if bytes.starts_with(b"\x7fELF") {
            return Self::of_vmlinux(bytes);
        }
        if bytes.get(0x38..0x3c) == Some(b"ARM\x64") {
            return Err("it is for arm64".into());
        }
        if bytes.get(0x202..0x206) != Some(b"HdrS") || bytes.get(0x1fe..0x200) != Some(b"\x55\xaa") {
            return Err("it does not have the header of a Linux bzImage".into());
        }
        // xloadflags, XLF_KERNEL_64: has a 64-bit entry point.
        if bytes.get(0x236).is_none_or(|flags| flags & 1 == 0) {
            return Err("it is a 32-bit kernel".into());
        }
        let release = release_of(&bytes).ok_or("its header has no version")?;
        let payload = payload_of(&bytes).ok_or("it is cut off, or its header is damaged")?.to_vec();
        Ok(Image { release, content: Content::Payload(payload) })
    }

    fn of_vmlinux(bytes: Vec<u8>) -> std::result::Result<Self, String> {
        Elf::new(&bytes).ok_or("it is not for x86-64")?;
        let at = find(&bytes, BANNER).ok_or("it is a program, or a kernel that is not Linux")?;
        let release = first_word(&bytes[at + BANNER.len()..]).ok_or("its banner has no version")?;
        Ok(Image { release, content: Content::Vmlinux(bytes) })
    }

    /// The uncompressed kernel.
    ///
    /// # Errors
    /// Why it cannot be unpacked here: damaged, or its unpacker is missing.
    pub fn unpacked(&self) -> std::result::Result<Vec<u8>, String> {
        match &self.content {
            Content::Vmlinux(bytes) => Ok(bytes.clone()),
            Content::Payload(payload) => unpack(payload),
        }
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

fn first_word(bytes: &[u8]) -> Option<String> {
    let end = bytes.iter().take(200).position(|byte| byte.is_ascii_whitespace() || *byte == 0)?;
    let word = std::str::from_utf8(&bytes[..end]).ok()?;
    (!word.is_empty()).then(|| word.to_owned())
}

/// The first word of the version that the header points to.
fn release_of(bytes: &[u8]) -> Option<String> {
    let offset = u16::from_le_bytes(bytes.get(0x20e..0x210)?.try_into().ok()?);
    first_word(bytes.get(0x200 + usize::from(offset)..)?)
}

/// The compressed kernel, which lies behind the real-mode code.
fn payload_of(bytes: &[u8]) -> Option<&[u8]> {
    let sectors = match *bytes.get(0x1f1)? {
        0 => 4,
        sectors => usize::from(sectors),
    };
    let protected_mode = (sectors + 1) * 512;
    let field = |at: usize| {
        let number = u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?);
        usize::try_from(number).ok()
    };
    let begin = protected_mode.checked_add(field(0x248)?)?;
    bytes.get(begin..begin.checked_add(field(0x24c)?)?).filter(|payload| !payload.is_empty())
}

fn unpack(payload: &[u8]) -> std::result::Result<Vec<u8>, String> {
    let known = COMPRESSORS.iter().find(|(magic, _)| payload.starts_with(magic));
    match known {
        Some((_, "zstd")) => {
            unpack_zstd(payload).map_err(|error| format!("its zstd data is damaged: {error}"))
        }
        Some((_, program)) => unpack_with(program, payload),
        None if payload.starts_with(b"\x7fELF") => Ok(payload.to_vec()),
        None => Err("its compression is unknown".into()),
    }
}

fn unpack_zstd(payload: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut decoder = zstd::stream::read::Decoder::with_buffer(payload)?;
    // Kernels are compressed with windows of up to 128 MiB.
    decoder.window_log_max(27)?;
    let mut unpacked = Vec::new();
    // The unpacked size stands behind the data, as if it were another frame.
    decoder.single_frame().take(UNPACKED_BYTES_MAX).read_to_end(&mut unpacked)?;
    Ok(unpacked)
}

/// Has a program unpack, which says nothing of use about what stands behind the data.
fn unpack_with(program: &str, payload: &[u8]) -> std::result::Result<Vec<u8>, String> {
    let mut child = Command::new(program)
        .arg("-dc")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|_| format!("it is compressed with {program}, and the program {program} is not here"))?;
    let mut input = child.stdin.take().ok_or("no pipe")?;
    let mut unpacked = Vec::new();
    let read = std::thread::scope(|scope| {
        // Ends early when the program has all it wants.
        scope.spawn(move || input.write_all(payload));
        child.stdout.take().map(|output| output.take(UNPACKED_BYTES_MAX).read_to_end(&mut unpacked))
    });
    let _ = child.kill();
    let _ = child.wait();
    match read {
        Some(Ok(_)) if unpacked.starts_with(b"\x7fELF") => Ok(unpacked),
        _ => Err(format!("{program} cannot unpack it")),
    }
}

/// Images for tests.
#[cfg(test)]
pub mod forge {
    /// An ELF file for x86-64 with the given sections.
    pub fn vmlinux(sections: &[(&str, &[u8])]) -> Vec<u8> {
        let mut names = vec![0];
        let mut content = Vec::new();
        let mut table = vec![[0u8; 64]];
        let mut add = |name: &str, names: &mut Vec<u8>, bytes: &[u8]| {
            let mut entry = [0u8; 64];
            entry[0..4].copy_from_slice(&u32::try_from(names.len()).expect("short").to_le_bytes());
            entry[4] = 1;
            entry[24..32].copy_from_slice(&(64 + content.len() as u64).to_le_bytes());
            entry[32..40].copy_from_slice(&(bytes.len() as u64).to_le_bytes());
            content.extend(bytes);
            table.push(entry);
            names.extend(name.as_bytes());
            names.push(0);
        };
        for (name, bytes) in sections {
            add(name, &mut names, bytes);
        }
        let all = [names.as_slice(), b".names\0"].concat();
        add(".names", &mut names, &all);
        let mut header = vec![0u8; 64];
        header[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
        header[18] = 62;
        header[40..48].copy_from_slice(&(64 + content.len() as u64).to_le_bytes());
        header[58] = 64;
        header[60] = u8::try_from(table.len()).expect("few");
        header[62] = u8::try_from(table.len() - 1).expect("few");
        [header, content, table.concat()].concat()
    }

    /// A bzImage of this release around a compressed kernel.
    pub fn bz_image(release: &str, payload: &[u8]) -> Vec<u8> {
        let mut image = vec![0u8; 1024];
        image[0x1f1] = 1;
        image[0x1fe..0x200].copy_from_slice(b"\x55\xaa");
        image[0x202..0x206].copy_from_slice(b"HdrS");
        image[0x20e..0x210].copy_from_slice(&0x100u16.to_le_bytes());
        image[0x236] = 1;
        image[0x24c..0x250].copy_from_slice(&u32::try_from(payload.len() + 4).expect("short").to_le_bytes());
        image[0x300..0x300 + release.len()].copy_from_slice(release.as_bytes());
        image.extend(payload);
        // The unpacked size, which is not used here.
        image.extend([0x28, 0, 0, 0]);
        image
    }

    /// The same, with the kernel compressed as Debian does.
    pub fn zstd_image(release: &str, vmlinux: &[u8]) -> Vec<u8> {
        bz_image(release, &zstd::encode_all(vmlinux, 1).expect("compresses"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RELEASE: &str = "6.18.15+deb13-cloud-amd64 (debian-kernel@lists.debian.org) #1 SMP";

    #[test]
    fn a_bz_image_gives_its_release_and_its_kernel() {
        let vmlinux = forge::vmlinux(&[(".BTF", b"types")]);
        let image = Image::parse(forge::zstd_image(RELEASE, &vmlinux)).expect("a kernel");
        assert_eq!(image.release, "6.18.15+deb13-cloud-amd64");
        assert_eq!(image.unpacked().expect("zstd"), vmlinux);
        assert_eq!(Elf::new(&vmlinux).and_then(|elf| elf.section(".BTF")), Some(&b"types"[..]));
    }

    #[test]
    fn other_compressions_are_left_to_their_programs() {
        let vmlinux = forge::vmlinux(&[(".BTF", &[7; 5000])]);
        let directory = tempfile::tempdir().expect("directory");
        let plain = directory.path().join("plain");
        std::fs::write(&plain, &vmlinux).expect("write");
        for program in ["xz", "gzip"] {
            let packed = Command::new(program).arg("-c").arg(&plain).output();
            let Ok(packed) = packed else {
                eprintln!("SKIPPED: {program} is not here");
                continue;
            };
            let image = Image::parse(forge::bz_image(RELEASE, &packed.stdout)).expect("a kernel");
            assert_eq!(image.unpacked(), Ok(vmlinux.clone()), "{program}");
        }
        let unknown = Image::parse(forge::bz_image(RELEASE, b"what is this?")).expect("a kernel");
        assert!(unknown.unpacked().is_err_and(|why| why.contains("unknown")));
    }

    #[test]
    fn a_vmlinux_is_a_kernel_and_a_program_is_not() {
        let vmlinux = forge::vmlinux(&[(".rodata", b"Linux version 7.3.0-mine (me@here) #1")]);
        assert_eq!(Image::parse(vmlinux).map(|image| image.release), Ok("7.3.0-mine".into()));
        let refused = Image::parse(forge::vmlinux(&[(".rodata", b"hello")])).err();
        assert!(refused.is_some_and(|why| why.contains("program")));
    }

    #[test]
    fn what_is_no_kernel_is_named() {
        let refused = |bytes: Vec<u8>| Image::parse(bytes).err().expect("refused");
        assert!(refused(b"#!/bin/sh\n".to_vec()).contains("header"));
        assert!(refused(Vec::new()).contains("header"));
        let mut old = forge::bz_image(RELEASE, b"payload");
        old[0x236] = 0;
        assert!(refused(old).contains("32-bit"));
        let mut cut = forge::bz_image(RELEASE, b"payload");
        cut.truncate(1026);
        assert!(refused(cut).contains("cut off"));
        let mut arm = vec![0; 2000];
        arm[0x38..0x3c].copy_from_slice(b"ARM\x64");
        assert!(refused(arm).contains("arm64"));
        let damaged = Image::parse(forge::bz_image(RELEASE, b"\x28\xb5\x2f\xfdnonsense")).expect("a kernel");
        assert!(damaged.unpacked().is_err_and(|why| why.contains("damaged")));
    }

    laxity_seeds::properties! {
        #[test]
        fn broken_images_are_survived(at in 0x1f0usize..0x310, value: u8, length in 0usize..1200) {
            let mut image = forge::zstd_image(RELEASE, &forge::vmlinux(&[(".BTF", b"types")]));
            image[at] = value;
            image.truncate(length.max(0x200));
            if let Ok(image) = Image::parse(image) {
                let _ = image.unpacked();
            }
        }
    }
}

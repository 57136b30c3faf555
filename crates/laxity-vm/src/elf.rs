//! As much of ELF as it takes to copy a program into a machine and to look into a kernel: 64 bits, little endian.
//!
//! Nothing here trusts its input: a field that points outside the file makes the answer `None`.

const HEADER_LENGTH: usize = 64;
const EM_X86_64: u16 = 62;
const PT_LOAD: u32 = 1;
const PT_INTERP: u32 = 3;
const SHT_NOBITS: u32 = 8;
const PHYS32_ENTRY: u32 = 18;

/// An ELF file for x86-64, in memory.
#[derive(Clone, Copy)]
pub struct Elf<'a> {
    bytes: &'a [u8],
}

/// One entry of the program header table.
struct Segment {
    kind: u32,
    offset: usize,
    length: usize,
}

impl<'a> Elf<'a> {
    /// The file, if it is one for x86-64.
    pub fn new(bytes: &'a [u8]) -> Option<Self> {
        let header = bytes.get(..HEADER_LENGTH)?;
        let is_ours = header.starts_with(b"\x7fELF\x02\x01") && u16_at(bytes, 18)? == EM_X86_64;
        is_ours.then_some(Elf { bytes })
    }

    fn segments(&self) -> Option<Vec<Segment>> {
        let table = usize_at(self.bytes, 32)?;
        let (length, count) = (usize::from(u16_at(self.bytes, 54)?), u16_at(self.bytes, 56)?);
        let entry = |index: u16| {
            let at = table.checked_add(length.checked_mul(usize::from(index))?)?;
            let entry = self.bytes.get(at..)?;
            Some(Segment {
                kind: u32_at(entry, 0)?,
                offset: usize_at(entry, 8)?,
                length: usize_at(entry, 32)?,
            })
        };
        (0..count).map(entry).collect()
    }

    /// The program that loads this one, for programs with shared libraries.
    pub fn interpreter(&self) -> Option<&'a str> {
        let segment = self.segments()?.into_iter().find(|segment| segment.kind == PT_INTERP)?;
        let text = self.bytes.get(segment.offset..segment.offset.checked_add(segment.length)?)?;
        std::str::from_utf8(text.strip_suffix(b"\0").unwrap_or(text)).ok()
    }

    /// The content of the section with this name.
    pub fn section(&self, name: &str) -> Option<&'a [u8]> {
        let (count, names) = (u16_at(self.bytes, 60)?, u16_at(self.bytes, 62)?);
        let names = self.section_at(names)?.1;
        (0..count).find_map(|index| {
            let (name_at, content) = self.section_at(index)?;
            let found = names.get(name_at..)?;
            let end = found.iter().position(|&byte| byte == 0)?;
            (&found[..end] == name.as_bytes()).then_some(content)
        })
    }

    /// Where a section's name is among the names, and its content.
    fn section_at(&self, index: u16) -> Option<(usize, &'a [u8])> {
        let table = usize_at(self.bytes, 40)?;
        let length = usize::from(u16_at(self.bytes, 58)?);
        let entry = self.bytes.get(table.checked_add(length.checked_mul(usize::from(index))?)?..)?;
        let name_at = usize::try_from(u32_at(entry, 0)?).ok()?;
        let (offset, length) = (usize_at(entry, 24)?, usize_at(entry, 32)?);
        if u32_at(entry, 4)? == SHT_NOBITS {
            return Some((name_at, &[]));
        }
        Some((name_at, self.bytes.get(offset..offset.checked_add(length)?)?))
    }

    /// Whether it is a kernel with a 32-bit entry point for virtual machines (PVH), which boots without being unpacked
    /// in the machine. Xen, public/elfnote.h: XEN_ELFNOTE_PHYS32_ENTRY.
    pub fn boots_as_it_is(&self) -> bool {
        let mut notes = self.section(".notes").unwrap_or_default();
        while let Some((note, rest)) = split_note(notes) {
            if note.name == b"Xen\0" && note.kind == PHYS32_ENTRY {
                return true;
            }
            notes = rest;
        }
        false
    }

    /// The file without what is not loaded (debugging information, symbols): what `strip` would leave, without
    /// needing it. A third of a program's size is a third of the time it takes to boot with it.
    pub fn trimmed(&self) -> Option<Vec<u8>> {
        let segments = self.segments()?;
        let loaded = segments.iter().filter(|segment| segment.kind == PT_LOAD);
        let ends: Option<Vec<usize>> =
            loaded.map(|segment| segment.offset.checked_add(segment.length)).collect();
        let end = ends?.into_iter().max()?;
        let mut kept = self.bytes.get(..end.max(HEADER_LENGTH))?.to_vec();
        // No section header table: its offset, and its number and index of names.
        kept.get_mut(40..48)?.fill(0);
        kept.get_mut(60..64)?.fill(0);
        Some(kept)
    }
}

/// A remark in an ELF file.
struct Note<'a> {
    name: &'a [u8],
    kind: u32,
}

/// The first note, and what follows it. Each part is padded to four bytes.
fn split_note(notes: &[u8]) -> Option<(Note<'_>, &[u8])> {
    let length = |at| usize::try_from(u32_at(notes, at)?).ok();
    let padded = |length: usize| length.checked_next_multiple_of(4);
    let (name, description) = (length(0)?, length(4)?);
    let rest = 12usize.checked_add(padded(name)?)?.checked_add(padded(description)?)?;
    let note = Note { name: notes.get(12..12usize.checked_add(name)?)?, kind: u32_at(notes, 8)? };
    Some((note, notes.get(rest..)?))
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at.checked_add(2)?)?.try_into().ok()?))
}

/// The 32-bit number at an offset, little endian.
pub fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

fn usize_at(bytes: &[u8], at: usize) -> Option<usize> {
    let number = u64::from_le_bytes(bytes.get(at..at.checked_add(8)?)?.try_into().ok()?);
    usize::try_from(number).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn this_program() -> Vec<u8> {
        std::fs::read(std::env::current_exe().expect("a path")).expect("readable")
    }

    #[test]
    fn a_program_names_its_loader() {
        let program = this_program();
        let elf = Elf::new(&program).expect("this test is an x86-64 program");
        assert!(elf.interpreter().is_some_and(|path| path.starts_with("/lib")), "{:?}", elf.interpreter());
        assert!(elf.section(".text").is_some_and(|text| text.len() > 1000));
        assert!(elf.section(".nonsense").is_none());
    }

    #[test]
    fn a_trimmed_program_still_runs() {
        let program = this_program();
        let trimmed = Elf::new(&program).expect("ELF").trimmed().expect("segments");
        assert!(trimmed.len() < program.len());
        let directory = tempfile::tempdir().expect("directory");
        std::fs::write(directory.path().join("trimmed"), &trimmed).expect("write");
        // Another process writes what is started: a child of another test that starts meanwhile inherits what this one has open for
        // writing, and a program that is open for writing cannot be started (ETXTBSY).
        let mut install = std::process::Command::new("install");
        install.args(["-m", "755", "trimmed", "program"]).current_dir(directory.path());
        assert!(install.status().is_ok_and(|status| status.success()), "install copies");
        let path = directory.path().join("program");
        let ended = std::process::Command::new(&path).arg("--list").output().expect("it starts");
        let said = String::from_utf8_lossy(&ended.stdout).into_owned();
        assert!(said.contains("a_trimmed_program_still_runs"), "{said}");
    }

    #[test]
    fn the_entry_for_virtual_machines_is_found_among_notes() {
        let note = |name: &[u8], kind: u32| {
            let length = u32::try_from(name.len()).expect("short").to_le_bytes();
            let padding = vec![0; name.len().next_multiple_of(4) - name.len()];
            [&length[..], &4u32.to_le_bytes(), &kind.to_le_bytes(), name, &padding, &[1, 2, 3, 4]].concat()
        };
        let boots = |notes: &[u8]| {
            let vmlinux = crate::image::forge::vmlinux(&[(".notes", notes)]);
            Elf::new(&vmlinux).expect("ELF").boots_as_it_is()
        };
        assert!(boots(&[note(b"GNU\0", 18), note(b"Linux\0", 257), note(b"Xen\0", 18)].concat()));
        assert!(!boots(&[note(b"GNU\0", 18), note(b"Xen\0", 6)].concat()));
        assert!(!boots(&note(b"Xen\0", 18)[..14]) && !boots(&[0xff; 40]) && !boots(&[]));
    }

    laxity_seeds::properties! {
        #[test]
        fn broken_files_are_survived(at in 16usize..64, value: [u8; 8], length in 64usize..4096) {
            static PROGRAM: std::sync::LazyLock<Vec<u8>> = std::sync::LazyLock::new(this_program);
            let mut program = PROGRAM[..length].to_vec();
            program[at - 8..at].copy_from_slice(&value);
            if let Some(elf) = Elf::new(&program) {
                let _ = (elf.interpreter(), elf.section(".BTF"), elf.trimmed());
            }
        }
    }
}

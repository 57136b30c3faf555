//! What of ELF files matters here: to copy a program into a machine, and to look into a kernel. Read by the crate `object`.
//!
//! Nothing here trusts its input: a field that points outside the file makes the answer `None`.

use object::LittleEndian as Little;
use object::elf::{EM_X86_64, FileHeader64, NoteType, PT_LOAD, SHN_UNDEF};
use object::pod::from_bytes_mut;
use object::read::elf::{FileHeader as _, NoteIterator, ProgramHeader as _, SectionHeader as _};

/// Xen, public/elfnote.h.
const XEN_ELFNOTE_PHYS32_ENTRY: NoteType = NoteType(18);

/// An ELF file for x86-64, in memory.
#[derive(Clone, Copy)]
pub struct Elf<'a> {
    bytes: &'a [u8],
    header: &'a FileHeader64<Little>,
}

impl<'a> Elf<'a> {
    /// The file, if it is one for x86-64.
    pub fn new(bytes: &'a [u8]) -> Option<Self> {
        let header = FileHeader64::<Little>::parse(bytes).ok()?;
        let is_ours = header.is_little_endian() && header.e_machine(Little) == EM_X86_64;
        is_ours.then_some(Elf { bytes, header })
    }

    /// The program that loads this one, for programs with shared libraries.
    pub fn interpreter(&self) -> Option<&'a str> {
        let segments = self.header.program_headers(Little, self.bytes).ok()?;
        let path = segments.iter().find_map(|one| one.interpreter(Little, self.bytes).ok().flatten())?;
        std::str::from_utf8(path).ok()
    }

    /// The content of the section with this name.
    pub fn section(&self, name: &str) -> Option<&'a [u8]> {
        let sections = self.header.sections(Little, self.bytes).ok()?;
        let (_, section) = sections.section_by_name(Little, name.as_bytes())?;
        section.data(Little, self.bytes).ok()
    }

    /// Whether it is a kernel with a 32-bit entry point for virtual machines (PVH), which boots without being unpacked
    /// in the machine.
    pub fn boots_as_it_is(&self) -> bool {
        let notes = self.section(".notes").unwrap_or_default();
        NoteIterator::<FileHeader64<Little>>::new(Little, 4, notes).is_ok_and(|notes| {
            notes
                .flatten()
                .any(|note| note.name() == b"Xen" && note.n_type(Little) == XEN_ELFNOTE_PHYS32_ENTRY)
        })
    }

    /// The file without what is not loaded (debugging information, symbols): what `strip` would leave, without
    /// needing it. A third of a program's size is a third of the time it takes to boot with it.
    pub fn trimmed(&self) -> Option<Vec<u8>> {
        let segments = self.header.program_headers(Little, self.bytes).ok()?;
        let loaded = segments.iter().filter(|segment| segment.p_type(Little) == PT_LOAD);
        let ends: Option<Vec<u64>> = loaded
            .map(|segment| segment.file_range(Little))
            .map(|(offset, length)| offset.checked_add(length))
            .collect();
        let end = usize::try_from(ends?.into_iter().max()?).ok()?;
        let mut kept = self.bytes.get(..end.max(size_of::<FileHeader64<Little>>()))?.to_vec();
        let (header, _) = from_bytes_mut::<FileHeader64<Little>>(&mut kept).ok()?;
        header.e_shoff.set(Little, 0);
        header.e_shnum.set(Little, 0);
        header.e_shstrndx.set(Little, SHN_UNDEF);
        Some(kept)
    }
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

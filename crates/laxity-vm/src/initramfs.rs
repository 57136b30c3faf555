//! The machine's file system: laxity, busybox, the libraries they need, and what the command works on.
//!
//! It is made anew for every machine, in memory, and not compressed: that takes a tenth of a second, and an emulated
//! processor would take longer than that to decompress it.

use crate::agent::{AGENT_FILE, Errand, ORDERS_FILE};
use crate::archive::find_program;
use crate::cpio::Archive;
use crate::elf::Elf;
use crate::files::{HOME, ItemKind, SCRATCH, Travel, items, unreadable};
use laxity_model::{Diagnostic, Result, ShownPath as _};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Programs of the machine are all in one directory.
const SAME_AS_BIN: [&str; 3] = ["/sbin", "/usr/bin", "/usr/sbin"];
const DIRECTORIES: [&str; 7] = ["/bin", "/dev", "/proc", "/sys", SCRATCH, HOME, "/var"];
const LOADER_CACHE: &str = "/etc/ld.so.cache";
/// Where laxity is, in the machine.
pub const LAXITY: &str = "/bin/laxity";

/// What an initramfs is made of.
pub struct Contents<'a> {
    /// The program that becomes the machine's first process, and `laxity` in it.
    pub agent: &'a Path,
    /// What it is to do.
    pub errand: &'a Errand,
    /// Files of the command.
    pub travel: &'a Travel,
    /// The most bytes it may have.
    pub bytes_max: u64,
}

/// Writes an initramfs into a file in memory.
///
/// # Errors
/// A file cannot be read, a program of the command is not found, or all is larger than `bytes_max`.
pub fn build(contents: &Contents) -> Result<File> {
    let memory = rustix::fs::memfd_create("initramfs", rustix::fs::MemfdFlags::CLOEXEC)
        .map_err(|error| no_memory(&error.into()))?;
    let writer = BufWriter::with_capacity(1 << 20, File::from(memory));
    let mut root = Root {
        archive: Archive::new(writer),
        packed: BTreeSet::new(),
        applets: BTreeSet::new(),
        bytes_max: contents.bytes_max,
    };
    root.base(contents.agent)?;
    root.travel(contents.travel, &contents.errand.cwd)?;
    let program = &contents.errand.argv[0];
    if program != LAXITY {
        root.command(program, &contents.errand.cwd)?;
    }
    let orders = serde_json::to_vec(contents.errand)
        .map_err(|error| Diagnostic::environment(format!("cannot write JSON: {error}")))?;
    root.archive.file(Path::new(ORDERS_FILE), 0o600, 0, &orders).map_err(|error| no_memory(&error))?;
    let mut writer = root.archive.finish().map_err(|error| no_memory(&error))?;
    writer.flush().map_err(|error| no_memory(&error))?;
    writer.into_inner().map_err(|error| no_memory(error.error()))
}

fn no_memory(error: &std::io::Error) -> Diagnostic {
    Diagnostic::environment(format!("cannot make the machine's file system in memory: {error}"))
}

struct Root {
    archive: Archive<BufWriter<File>>,
    /// Paths that are in it already.
    packed: BTreeSet<PathBuf>,
    applets: BTreeSet<String>,
    bytes_max: u64,
}

impl Root {
    fn base(&mut self, agent: &Path) -> Result<()> {
        self.skeleton().map_err(|error| no_memory(&error))?;
        self.program(agent, Path::new(LAXITY))?;
        self.archive.link(Path::new(AGENT_FILE), Path::new(LAXITY)).map_err(|error| no_memory(&error))?;
        match find_program("busybox") {
            Some(busybox) => self.busybox(&busybox),
            None => Ok(()),
        }
    }

    fn skeleton(&mut self) -> std::io::Result<()> {
        for directory in DIRECTORIES {
            self.archive.directory(Path::new(directory), 0o755)?;
        }
        self.archive.directory(Path::new("/tmp"), 0o1777)?;
        for directory in SAME_AS_BIN {
            self.archive.link_to_directory(Path::new(directory), Path::new("/bin"))?;
        }
        // The kernel opens it for the first process, before there are devices.
        self.archive.device(Path::new("/dev/console"), 0o600, 5, 1)?;
        self.archive.file(Path::new("/etc/passwd"), 0o644, 0, b"root:x:0:0:root:/run/home:/bin/sh\n")?;
        // Where the host's libraries are, for its programs.
        if let Ok(cache) = fs::read(LOADER_CACHE) {
            self.archive.file(Path::new(LOADER_CACHE), 0o644, 0, &cache)?;
        }
        self.archive.file(Path::new("/etc/group"), 0o644, 0, b"root:x:0:\n")?;
        self.archive.file(Path::new("/etc/hosts"), 0o644, 0, b"127.0.0.1 localhost\n")
    }

    fn busybox(&mut self, busybox: &Path) -> Result<()> {
        self.program(busybox, Path::new("/bin/busybox"))?;
        let listed = Command::new(busybox).arg("--list").output();
        let listed =
            listed.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
        for applet in listed.lines().filter(|name| *name != "busybox" && !name.contains('/')) {
            let path = Path::new("/bin").join(applet);
            self.archive.link(&path, Path::new("busybox")).map_err(|error| no_memory(&error))?;
            self.applets.insert(applet.to_owned());
        }
        Ok(())
    }

    /// Files of the command, under their own paths, with what it takes to run those that are programs.
    fn travel(&mut self, travel: &Travel, cwd: &Path) -> Result<()> {
        self.archive.directory(cwd, 0o755).map_err(|error| no_memory(&error))?;
        for path in &travel.watched {
            // Where the host has a directory to write to, so has the machine.
            let there = path.ancestors().skip(1).find(|parent| parent.is_dir()).unwrap_or(Path::new("/"));
            self.archive.directory(there, 0o755).map_err(|error| no_memory(&error))?;
        }
        let mut largest = (0, PathBuf::new());
        for path in &travel.inward {
            for item in items(path)? {
                if let ItemKind::File(bytes) = item.kind {
                    largest = largest.max((bytes, item.path.clone()));
                    if self.archive.written().saturating_add(bytes) > self.bytes_max {
                        return Err(too_large(self.bytes_max, &largest.1));
                    }
                }
                self.item(&item)?;
            }
        }
        Ok(())
    }

    fn item(&mut self, item: &crate::files::Item) -> Result<()> {
        let memory = |error: std::io::Error| no_memory(&error);
        match &item.kind {
            ItemKind::Directory => self.archive.directory(&item.path, item.permissions).map_err(memory),
            ItemKind::Link(target) => self.archive.link(&item.path, target).map_err(memory),
            ItemKind::File(_) => {
                if !self.packed.insert(item.path.clone()) {
                    return Ok(());
                }
                let content = fs::read(&item.path).map_err(|error| unreadable(&item.path, &error))?;
                if item.permissions & 0o111 != 0 {
                    self.needs(&item.path, &content)?;
                }
                self.archive.file(&item.path, item.permissions, item.modified, &content).map_err(memory)
            }
        }
    }

    /// A program that the command line names by its name alone, or by a path.
    fn command(&mut self, name: &str, cwd: &Path) -> Result<()> {
        if name.contains('/') {
            let path = crate::files::resolve(cwd, Path::new(name));
            let in_machine = path.strip_prefix("/bin").or_else(|_| path.strip_prefix("/usr/bin"));
            let is_applet = in_machine.is_ok_and(|name| self.applets.contains(&*name.to_string_lossy()));
            // An existing file was among the arguments.
            return if path.is_file() || is_applet { Ok(()) } else { Err(not_found(name)) };
        }
        if name == "laxity" || self.applets.contains(name) {
            return Ok(());
        }
        let found = find_program(name).ok_or_else(|| not_found(name))?;
        self.program(&found, &Path::new("/bin").join(name))
    }

    /// A program of the host with its libraries, under another path.
    fn program(&mut self, from: &Path, to: &Path) -> Result<()> {
        if !self.packed.insert(to.to_owned()) {
            return Ok(());
        }
        let content = fs::read(from).map_err(|error| unreadable(from, &error))?;
        self.needs(from, &content)?;
        let trimmed = Elf::new(&content).and_then(|elf| elf.trimmed());
        self.archive
            .file(to, 0o755, 0, trimmed.as_deref().unwrap_or(&content))
            .map_err(|error| no_memory(&error))
    }

    /// What a program needs beside itself: libraries, or the interpreter of a script.
    fn needs(&mut self, path: &Path, content: &[u8]) -> Result<()> {
        if let Some(interpreter) = Elf::new(content).and_then(|elf| elf.interpreter().map(str::to_owned)) {
            for library in libraries(path, &interpreter)? {
                self.library(&library)?;
            }
            return Ok(());
        }
        match script_interpreters(content) {
            Some(programs) => programs.iter().try_for_each(|program| self.interpreter(program)),
            None => Ok(()),
        }
    }

    fn library(&mut self, path: &Path) -> Result<()> {
        if !self.packed.insert(path.to_owned()) {
            return Ok(());
        }
        let content = fs::read(path).map_err(|error| unreadable(path, &error))?;
        let permissions = fs::metadata(path).map_or(0o755, |found| found.permissions().mode() & 0o777);
        self.archive.file(path, permissions, 0, &content).map_err(|error| no_memory(&error))
    }

    /// The interpreter of a script; busybox's if it has one of that name, since that is in the machine anyway.
    fn interpreter(&mut self, program: &str) -> Result<()> {
        let name = Path::new(program).file_name().map(|name| name.to_string_lossy().into_owned());
        match name {
            Some(name) if !self.applets.contains(&name) => match find_program(&name) {
                Some(found) => self.program(&found, &Path::new("/bin").join(name)),
                // A file that only looks like a script must not keep the command from running.
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }
}

fn not_found(name: &str) -> Diagnostic {
    let hint = match find_program("busybox") {
        Some(_) => "the machine has busybox's commands, laxity, and programs of this host that are in PATH",
        None => "shells and common commands come from busybox: apt-get install busybox-static",
    };
    Diagnostic::usage(format!("there is no program `{name}` for the machine")).hint(hint)
}

fn too_large(bytes_max: u64, largest: &Path) -> Diagnostic {
    Diagnostic::usage(format!(
        "what the arguments name does not fit into the machine's memory: it is more than {} MiB (largest: {})",
        bytes_max >> 20,
        largest.shown()
    ))
    .hint("everything that an argument names is copied in, directories with all that is in them; name less of it, or raise --memory")
}

/// The shared libraries of a program, and what loads them, as the loader itself finds them.
fn libraries(program: &Path, interpreter: &str) -> Result<Vec<PathBuf>> {
    let listed = Command::new(interpreter).arg("--list").arg(program).output().map_err(|error| {
        Diagnostic::environment(format!("cannot list the libraries of {}: {error}", program.shown()))
    })?;
    let listed_text = String::from_utf8_lossy(&listed.stdout);
    if !listed.status.success() || listed_text.contains("not found") {
        let missing =
            listed_text.lines().find(|line| line.contains("not found")).unwrap_or("its loader fails");
        return Err(Diagnostic::environment(format!(
            "{} does not run here: {}",
            program.shown(),
            missing.trim()
        )));
    }
    let mut libraries = vec![PathBuf::from(interpreter)];
    for line in listed_text.lines() {
        // `libc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x...)`, or the loader alone.
        let path = line.split("=>").last().unwrap_or(line).trim();
        let path = path.rsplit_once(" (").map_or(path, |(path, _)| path);
        if path.starts_with('/') {
            libraries.push(path.into());
        }
    }
    Ok(libraries)
}

/// What runs a script, by its first line: `#!/bin/bash`, or both of `#!/usr/bin/env bash`.
fn script_interpreters(content: &[u8]) -> Option<Vec<String>> {
    let line = content.strip_prefix(b"#!")?.split(|&byte| byte == b'\n').next()?;
    let line = std::str::from_utf8(line).ok()?;
    let mut words = line.split_whitespace();
    let first = words.next()?;
    let mut programs = vec![first.to_owned()];
    if first.ends_with("/env") {
        programs.extend(words.find(|word| !word.starts_with('-') && !word.contains('=')).map(str::to_owned));
    }
    Some(programs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Seek};
    use std::process::Stdio;

    fn errand(argv: &[&str], cwd: &Path) -> Errand {
        Errand {
            argv: argv.iter().map(|&word| word.to_owned()).collect(),
            cwd: cwd.to_owned(),
            environment: Vec::new(),
            watched: Vec::new(),
            examine: false,
        }
    }

    /// The names and sizes in an initramfs for this command, as another implementation reads it.
    fn listing(argv: &[&str], cwd: &Path, bytes_max: u64) -> Result<Option<String>> {
        let arguments: Vec<String> = argv.iter().map(|&word| word.to_owned()).collect();
        let travel = Travel::of(cwd, &arguments, &[])?;
        let agent = std::env::current_exe().expect("a path");
        let errand = errand(argv, cwd);
        let mut file = build(&Contents { agent: &agent, errand: &errand, travel: &travel, bytes_max })?;
        if find_program("cpio").is_none() {
            eprintln!("SKIPPED: cpio is not here");
            return Ok(None);
        }
        let mut bytes = Vec::new();
        file.rewind().and_then(|()| file.read_to_end(&mut bytes)).expect("readable");
        let mut child = Command::new("cpio")
            .args(["-t", "--quiet"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("cpio");
        let mut input = child.stdin.take().expect("a pipe");
        std::thread::spawn(move || input.write_all(&bytes));
        let listed = child.wait_with_output().expect("cpio");
        Ok(Some(String::from_utf8_lossy(&listed.stdout).into_owned()))
    }

    fn has(listing: &str, path: &Path) -> bool {
        let wanted = path.strip_prefix("/").unwrap_or(path).to_string_lossy().into_owned();
        listing.lines().any(|line| line == wanted)
    }

    #[test]
    fn it_has_the_programs_their_libraries_and_the_files() {
        let here = tempfile::tempdir().expect("directory");
        fs::write(here.path().join("set.toml"), "x").expect("write");
        let Some(listed) = listing(&["laxity", "run", "set.toml"], here.path(), 1 << 30).expect("built")
        else {
            return;
        };
        for path in
            ["init", "bin/laxity", "dev/console", "tmp", "lib64/ld-linux-x86-64.so.2", "laxity-errand.json"]
        {
            assert!(has(&listed, Path::new(path)), "{path} in {listed}");
        }
        assert!(listed.contains("libc.so.6"), "{listed}");
        assert!(has(&listed, &here.path().join("set.toml")), "{listed}");
    }

    #[test]
    fn a_program_of_the_host_and_a_scripts_interpreter_go_in() {
        let here = tempfile::tempdir().expect("directory");
        let script = here.path().join("script");
        fs::write(&script, "#!/usr/bin/env -S perl -w\n").expect("write");
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("mode");
        if find_program("perl").is_none()
            || find_program("ldconfig").is_none() && find_program("ls").is_none()
        {
            eprintln!("SKIPPED: perl is not here");
            return;
        }
        let Some(listed) = listing(&["./script"], here.path(), 1 << 30).expect("built") else { return };
        assert!(has(&listed, Path::new("bin/perl")) && has(&listed, &script), "{listed}");
        let missing = listing(&["no-such-program"], here.path(), 1 << 30).expect_err("missing");
        assert!(missing.message.contains("no-such-program"), "{missing}");
    }

    #[test]
    fn what_does_not_fit_is_refused_with_its_largest_part() {
        let here = tempfile::tempdir().expect("directory");
        fs::create_dir(here.path().join("d")).expect("made");
        fs::write(here.path().join("d/small"), vec![0; 10]).expect("write");
        File::create(here.path().join("d/large")).and_then(|file| file.set_len(1 << 40)).expect("sparse");
        let refused = listing(&["laxity", "d"], here.path(), 1 << 30).expect_err("too large");
        assert_eq!(refused.failure.exit_code(), 2);
        assert!(refused.message.contains("d/large") && refused.message.contains("1024 MiB"), "{refused}");
    }

    #[test]
    fn scripts_name_their_interpreters() {
        let of = |text: &str| script_interpreters(text.as_bytes());
        assert_eq!(of("#!/bin/sh -e\nfoo"), Some(vec!["/bin/sh".into()]));
        assert_eq!(
            of("#! /usr/bin/env -S A=1 python3 -u\n"),
            Some(vec!["/usr/bin/env".into(), "python3".into()])
        );
        assert_eq!(of("echo"), None);
        assert_eq!(of("#!\n"), None);
    }
}

//! The files that come with laxity (`examples/`, `studies/`, `schemas/`): where they are, and how they are named here.
//!
//! They are looked for in `$LAXITY_DATA_DIR`; in `../share/laxity` from the program (`make install`, the Debian package,
//! the wheel, the tarball); in the checkout in which the program lies or was built; in `/usr/local/share/laxity` and
//! `/usr/share/laxity`. Platforms and overheads are in the program, too, by name (`laxity list`).

use crate::output;
use laxity_model::{Result, ShownPath as _};
use laxity_sim::costs::{Costs, read_costs};
use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, OnceLock};

/// Version, commit and date of this program.
pub const VERSION: &str = env!("LAXITY_VERSION");
/// The date of the commit, or of SOURCE_DATE_EPOCH; empty where neither was known.
pub const DATE: &str = env!("LAXITY_DATE");

/// The directory that goes before all others, if it is set.
const VARIABLE: &str = "LAXITY_DATA_DIR";
/// The directories of shipped files.
const KINDS: &[&str] = &["examples", "studies", "schemas"];
/// Where the published schemas are.
const SCHEMAS_PUBLISHED: &str = "https://laxity-rt.github.io/schemas/";

static ROOTS: LazyLock<Vec<PathBuf>> = LazyLock::new(|| {
    // Within another program, that one is where the program would be.
    let program = PREFIX.get().map(|prefix| prefix.join("bin/laxity"));
    roots(std::env::var_os(VARIABLE).as_deref(), program.or_else(|| std::env::current_exe().ok()).as_deref())
});

/// Where another program says that laxity is installed.
static PREFIX: OnceLock<PathBuf> = OnceLock::new();

/// Says below which directory laxity is installed, as `bin/laxity` and `share/laxity`: where another program calls it. Only the first
/// call counts, before any file is looked for.
pub fn installed_below(prefix: PathBuf) {
    let _ = PREFIX.set(prefix);
}

/// The path itself, or that of the shipped file of this name if there is no such file here; standard error says which.
pub fn located(path: &Path) -> Cow<'_, Path> {
    /// What was said already.
    static SAID: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
    let Some(file) = substitute(path, &ROOTS) else { return Cow::Borrowed(path) };
    let mut said = SAID.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if !said.contains(&file) {
        output::note(format_args!("{}: taken from {}", path.shown(), file.shown()));
        said.push(file.clone());
    }
    Cow::Owned(file)
}

/// The costs of a file; none without one.
pub fn costs(file: Option<&Path>) -> Result<Costs> {
    file.map_or_else(|| Ok(Costs::default()), |file| read_costs(&located(file)))
}

/// Words in which shipped files are named as they are found from here.
pub fn in_words(text: &str) -> String {
    reworded(text, &ROOTS)
}

fn roots(variable: Option<&OsStr>, program: Option<&Path>) -> Vec<PathBuf> {
    let mut roots: Vec<PathBuf> =
        variable.filter(|path| !path.is_empty()).map(PathBuf::from).into_iter().collect();
    if let Some(program) =
        program.map(|program| program.canonicalize().unwrap_or_else(|_| program.to_owned()))
    {
        let beside = program.parent().and_then(Path::parent);
        roots.extend(beside.map(|prefix| prefix.join("share/laxity")));
        // The checkout in whose target directory the program lies.
        roots.extend(
            program.ancestors().find(|above| above.join("crates/laxity-cli").is_dir()).map(Path::to_owned),
        );
    }
    let built_in = env!("LAXITY_CHECKOUT");
    roots.extend(Some(built_in).filter(|path| !path.is_empty()).map(PathBuf::from));
    roots.extend(["/usr/local/share/laxity", "/usr/share/laxity"].map(PathBuf::from));
    roots
}

/// The shipped file that a path names, unless there is a file with that path.
fn substitute(path: &Path, roots: &[PathBuf]) -> Option<PathBuf> {
    let kind = path.components().next()?.as_os_str();
    if !KINDS.iter().any(|known| kind == *known) || path.exists() {
        return None;
    }
    roots.iter().map(|root| root.join(path)).find(|file| file.is_file())
}

fn reworded(text: &str, roots: &[PathBuf]) -> String {
    let in_a_path = |letter: char| letter.is_ascii_alphanumeric() || "/._-".contains(letter);
    let mut words = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(begin) = rest.find(in_a_path) {
        words.push_str(&rest[..begin]);
        let end = rest[begin..].find(|letter| !in_a_path(letter)).map_or(rest.len(), |length| begin + length);
        // A full stop behind a name is the sentence's.
        let name = rest[begin..end].trim_end_matches('.');
        words.push_str(&named(name, roots));
        words.push_str(&rest[begin + name.len()..end]);
        rest = &rest[end..];
    }
    words + rest
}

fn named<'a>(name: &'a str, roots: &[PathBuf]) -> Cow<'a, str> {
    let path = Path::new(name);
    if path.exists() || path.extension().is_none() {
        return Cow::Borrowed(name);
    }
    match (substitute(path, roots), name.strip_prefix("schemas/")) {
        (Some(file), _) => Cow::Owned(file.to_string_lossy().into_owned()),
        (None, Some(schema)) => Cow::Owned(format!("{SCHEMAS_PUBLISHED}{schema}")),
        (None, None) => Cow::Borrowed(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_shipped_file_stands_in_for_one_that_is_not_here_and_for_nothing_else() {
        let share = tempfile::tempdir().expect("a directory");
        fs::create_dir(share.path().join("studies")).expect("made");
        fs::create_dir(share.path().join("other")).expect("made");
        for name in ["studies/only-there.toml", "other/file.toml"] {
            fs::write(share.path().join(name), "").expect("written");
        }
        let roots = [PathBuf::from("/nowhere"), share.path().to_owned()];
        let found = |name: &str| substitute(Path::new(name), &roots);
        assert_eq!(found("studies/only-there.toml"), Some(share.path().join("studies/only-there.toml")));
        for name in [
            "studies",
            "studies/missing.toml",
            "other/file.toml",
            "./studies/only-there.toml",
            "/etc/passwd",
            "",
        ] {
            assert_eq!(found(name), None, "{name}");
        }
        let there = share.path().join("studies/only-there.toml");
        assert_eq!(
            reworded("run studies/only-there.toml, as in studies/only-there.toml.", &roots),
            format!("run {there}, as in {there}.", there = there.shown()),
        );
        for unchanged in ["studies/missing.toml", "see `other/file.toml`", "", "a/b c. d"] {
            assert_eq!(reworded(unchanged, &roots), unchanged);
        }
        assert_eq!(
            reworded("see schemas/x.schema.json", &roots),
            format!("see {SCHEMAS_PUBLISHED}x.schema.json")
        );
    }

    #[test]
    fn the_variable_goes_first_and_the_prefix_of_the_program_second() {
        let prefix = tempfile::tempdir().expect("a directory");
        let prefix = prefix.path().canonicalize().expect("there");
        fs::create_dir(prefix.join("bin")).expect("made");
        let program = prefix.join("bin/laxity");
        fs::write(&program, "").expect("written");
        let all = roots(Some(OsStr::new("/chosen")), Some(&program));
        assert_eq!(all[..2], [PathBuf::from("/chosen"), prefix.join("share/laxity")]);
        assert_eq!(roots(Some(OsStr::new("")), None).last(), Some(&PathBuf::from("/usr/share/laxity")));
    }
}

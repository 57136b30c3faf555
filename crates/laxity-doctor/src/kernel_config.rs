//! How the running kernel was built, and with which words it was booted.

use crate::evidence::{Evidence, Unseen, unseen};
use std::fs::File;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The kernel's build options.
#[derive(Debug, Clone)]
pub(crate) struct KernelConfig {
    /// Where they stand.
    file: String,
    /// `CONFIG_NAME=value` and `# CONFIG_NAME is not set`, by lines.
    text: String,
}

impl KernelConfig {
    /// Of the running kernel of this release: where distributions put the file, else what the kernel itself keeps. `text` reads a
    /// file, if it is there; `path` is where the kernel's own is.
    pub fn read(
        release: &str,
        text: impl Fn(&str) -> Option<String>,
        path: impl Fn(&str) -> PathBuf,
    ) -> Result<Self, Unseen> {
        let places = [format!("/boot/config-{release}"), format!("/lib/modules/{release}/config")];
        let kept = || {
            let file = "/proc/config.gz".to_owned();
            let packed = File::open(path(&file)).ok()?;
            let unpacked =
                Command::new("gzip").arg("-dc").stdin(packed).stderr(Stdio::null()).output().ok()?;
            unpacked.status.success().then(|| (file, String::from_utf8_lossy(&unpacked.stdout).into_owned()))
        };
        let found = places.into_iter().find_map(|file| text(&file).map(|text| (file, text)));
        match found.or_else(kept).filter(|(_, text)| text.contains("CONFIG_")) {
            Some((file, text)) => Ok(KernelConfig { file, text }),
            None => unseen(format!(
                "the kernel's configuration is neither in /boot/config-{release}, /lib/modules/{release}/config nor \
                 /proc/config.gz"
            )),
        }
    }

    /// The value of an option (without `CONFIG_`); `n` where it is not set or not there.
    pub fn value(&self, option: &str) -> &str {
        let found = self.text.lines().find_map(|line| {
            line.strip_prefix("CONFIG_")?.strip_prefix(option)?.strip_prefix('=').map(str::trim)
        });
        found.unwrap_or("n")
    }

    /// Whether an option is built in.
    pub fn has(&self, option: &str) -> bool {
        self.value(option) == "y"
    }

    /// Whether this kernel has such an option, built in or not.
    pub fn names(&self, option: &str) -> bool {
        let words = self.text.split(|c: char| c.is_whitespace() || c == '=');
        words.filter_map(|word| word.strip_prefix("CONFIG_")).any(|name| name == option)
    }

    /// An option as evidence.
    pub fn evidence(&self, option: &str) -> Evidence {
        Evidence::new(self.file.clone(), format!("CONFIG_{option}={}", self.value(option)))
    }
}

/// The value of a word of the kernel's command line, as in `nohz_full=1-3`; empty for a word without `=`. The last one counts.
pub(crate) fn parameter<'a>(command_line: &'a str, name: &str) -> Option<&'a str> {
    command_line.split_whitespace().rev().find_map(|word| match word.split_once('=') {
        Some((key, value)) => (key == name).then_some(value),
        None => (word == name).then_some(""),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_told_from_those_whose_names_begin_alike() {
        let text =
            "CONFIG_KASAN_INLINE=y\n# CONFIG_KASAN is not set\nCONFIG_HZ=250\nCONFIG_HZ_250=y\n".to_owned();
        let config = KernelConfig { file: String::new(), text };
        assert!(!config.has("KASAN") && config.has("KASAN_INLINE"));
        assert_eq!((config.value("HZ"), config.value("NOTHING")), ("250", "n"));
        assert!(config.names("KASAN") && config.names("HZ") && !config.names("HZ_1000"));
    }

    #[test]
    fn the_last_word_of_the_command_line_counts() {
        let line = "quiet isolcpus=1 nohz_full=2-3 isolcpus=domain,2-3 threadirqs";
        assert_eq!(parameter(line, "isolcpus"), Some("domain,2-3"));
        assert_eq!((parameter(line, "threadirqs"), parameter(line, "nohz")), (Some(""), None));
    }
}

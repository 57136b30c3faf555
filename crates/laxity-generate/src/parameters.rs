//! Parameters as text, by name, to options and back.

use crate::common::Common;
use crate::parameter::{COMMON_PARAMETERS, Fallback, Parameter};
use laxity_model::{AccessPattern, ByteSize, Diagnostic, Names, Result};
use std::collections::BTreeMap;
use std::str::FromStr;

/// Parameters by name.
pub type Parameters = BTreeMap<String, String>;

/// Parameters of one generator, all of them known to it.
pub(crate) struct Reader<'a> {
    /// Its name.
    generator: &'static str,
    own: &'static [Parameter],
    given: &'a Parameters,
}

impl<'a> Reader<'a> {
    /// An unknown name is an error.
    pub(crate) fn new(
        generator: &'static str,
        own: &'static [Parameter],
        given: &'a Parameters,
    ) -> Result<Self> {
        let reader = Reader { generator, own, given };
        match given.keys().find(|name| reader.default_of(name).is_none()) {
            None => Ok(reader),
            Some(unknown) => {
                let known: Vec<&str> =
                    own.iter().chain(COMMON_PARAMETERS).map(|parameter| parameter.name).collect();
                Err(Diagnostic::usage(format!("generator `{}` has no parameter `{unknown}`", generator))
                    .hint(Names::of("parameter", &known).hint(unknown)))
            }
        }
    }

    fn default_of(&self, name: &str) -> Option<Fallback> {
        let mut all = self.own.iter().chain(COMMON_PARAMETERS);
        all.find(|parameter| parameter.name == name).map(|parameter| parameter.fallback)
    }

    /// The text given, or the default's.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        match (self.given.get(name), self.default_of(name)) {
            (Some(given), _) => Some(given),
            (None, Some(Fallback::Value(value))) => Some(value),
            (None, _) => None,
        }
    }

    pub(crate) fn read_with<T>(&self, name: &str, read: impl Fn(&str) -> Result<T>) -> Result<Option<T>> {
        self.text(name)
            .map(|text| read(text).map_err(|e| e.context(format!("parameter `{name}`"))))
            .transpose()
    }

    pub(crate) fn optional<T: FromStr<Err = Diagnostic>>(&self, name: &str) -> Result<Option<T>> {
        self.read_with(name, str::parse)
    }

    pub(crate) fn needed<T>(&self, name: &str, value: Option<T>) -> Result<T> {
        value.ok_or_else(|| {
            Diagnostic::usage(format!("generator `{}` needs the parameter `{name}`", self.generator))
                .hint(format!("give `{name}` a value"))
        })
    }

    pub(crate) fn value<T: FromStr<Err = Diagnostic>>(&self, name: &str) -> Result<T> {
        self.needed(name, self.optional(name)?)
    }

    pub(crate) fn optional_count(&self, name: &str) -> Result<Option<u32>> {
        self.read_with(name, count)
    }

    pub(crate) fn count(&self, name: &str) -> Result<u32> {
        self.needed(name, self.optional_count(name)?)
    }

    pub(crate) fn with<T>(&self, name: &str, read: impl Fn(&str) -> Result<T>) -> Result<T> {
        self.needed(name, self.read_with(name, read)?)
    }
}

fn count(text: &str) -> Result<u32> {
    text.trim().parse().map_err(|_| {
        Diagnostic::usage(format!("`{text}` is not a whole number below 2^32"))
            .hint("write a number such as 20")
    })
}

fn sizes(text: &str) -> Result<Vec<ByteSize>> {
    text.split(',').map(str::parse).collect()
}

fn ratio(text: &str) -> Result<(u32, u32)> {
    let bad = || {
        Diagnostic::usage(format!("`{text}` is not a read:write ratio")).hint("write the ratio as in \"4:1\"")
    };
    let (reads, writes) = text.split_once(':').ok_or_else(bad)?;
    Ok((count(reads).map_err(|_| bad())?, count(writes).map_err(|_| bad())?))
}

const ACCESS: [(&str, AccessPattern); 2] =
    [("sequential", AccessPattern::Sequential), ("random", AccessPattern::Random)];

fn access(text: &str) -> Result<AccessPattern> {
    let found = ACCESS.into_iter().find(|(word, _)| *word == text.trim());
    found
        .map(|(_, pattern)| pattern)
        .ok_or_else(|| Names::of("access", &ACCESS.map(|(word, _)| word)).unknown(text))
}

/// Options that read themselves from parameters and write themselves back: `read(written) == self`.
pub(crate) trait Parametric: Sized {
    /// Reads the options; parameters left out have their defaults.
    fn read(reader: &Reader<'_>) -> Result<Self>;
    /// Every parameter that matters, defaults too.
    fn written(&self) -> Vec<(&'static str, String)>;
}

impl Parametric for Common {
    fn read(reader: &Reader<'_>) -> Result<Self> {
        Ok(Common {
            deadlines: reader.value("deadlines")?,
            phases: reader.value("phases")?,
            arrivals: reader.value("arrivals")?,
            wss: reader.with("wss", sizes)?,
            read_write: reader.with("read-write", ratio)?,
            access: reader.with("access", access)?,
        })
    }

    fn written(&self) -> Vec<(&'static str, String)> {
        let wss: Vec<String> = self.wss.iter().map(ByteSize::to_string).collect();
        let (reads, writes) = self.read_write;
        let access: String =
            ACCESS.into_iter().filter(|&(_, pattern)| pattern == self.access).map(|(word, _)| word).collect();
        vec![
            ("deadlines", self.deadlines.to_string()),
            ("phases", self.phases.to_string()),
            ("arrivals", self.arrivals.to_string()),
            ("wss", wss.join(",")),
            ("read-write", format!("{reads}:{writes}")),
            ("access", access),
        ]
    }
}

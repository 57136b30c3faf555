//! Parameters as text, by name, to options and back.

use crate::calandrino2007::Calandrino2007;
use crate::catalogue::{COMMON_PARAMETERS, Description, Fallback};
use crate::common::Common;
use crate::emberson::{Emberson, Rescale};
use crate::mtt::Mtt;
use crate::unc::{Unc, UncSize};
use crate::uunifast::UUniFast;
use crate::waters::Waters;
use laxity_model::{AccessPattern, ByteSize, Diagnostic, Duration, Names, Result};
use std::collections::BTreeMap;
use std::str::FromStr;

/// Parameters by name.
pub type Parameters = BTreeMap<String, String>;

/// Cmin of lelli2012, 5.3.
const RESCALE_WCET_MIN: Duration = Duration::from_us(50);

/// Parameters of one generator, all of them known to it.
pub(crate) struct Reader<'a> {
    generator: &'static Description,
    given: &'a Parameters,
}

impl<'a> Reader<'a> {
    /// An unknown name is an error.
    pub(crate) fn new(generator: &'static Description, given: &'a Parameters) -> Result<Self> {
        let reader = Reader { generator, given };
        match given.keys().find(|name| reader.default_of(name).is_none()) {
            None => Ok(reader),
            Some(unknown) => {
                let known: Vec<&str> = generator
                    .parameters
                    .iter()
                    .chain(&COMMON_PARAMETERS)
                    .map(|parameter| parameter.name)
                    .collect();
                Err(Diagnostic::usage(format!("generator `{}` has no parameter `{unknown}`", generator.name))
                    .hint(Names::of("parameter", &known).hint(unknown)))
            }
        }
    }

    fn default_of(&self, name: &str) -> Option<Fallback> {
        let mut all = self.generator.parameters.iter().chain(&COMMON_PARAMETERS);
        all.find(|parameter| parameter.name == name).map(|parameter| parameter.fallback)
    }

    /// The text given, or the default's.
    fn text(&self, name: &str) -> Option<&str> {
        match (self.given.get(name), self.default_of(name)) {
            (Some(given), _) => Some(given),
            (None, Some(Fallback::Value(value))) => Some(value),
            (None, _) => None,
        }
    }

    fn read_with<T>(&self, name: &str, read: impl Fn(&str) -> Result<T>) -> Result<Option<T>> {
        self.text(name)
            .map(|text| read(text).map_err(|e| e.context(format!("parameter `{name}`"))))
            .transpose()
    }

    fn optional<T: FromStr<Err = Diagnostic>>(&self, name: &str) -> Result<Option<T>> {
        self.read_with(name, str::parse)
    }

    fn needed<T>(&self, name: &str, value: Option<T>) -> Result<T> {
        value.ok_or_else(|| {
            Diagnostic::usage(format!("generator `{}` needs the parameter `{name}`", self.generator.name))
                .hint(format!("give `{name}` a value"))
        })
    }

    fn value<T: FromStr<Err = Diagnostic>>(&self, name: &str) -> Result<T> {
        self.needed(name, self.optional(name)?)
    }

    fn optional_count(&self, name: &str) -> Result<Option<u32>> {
        self.read_with(name, count)
    }

    fn count(&self, name: &str) -> Result<u32> {
        self.needed(name, self.optional_count(name)?)
    }

    fn with<T>(&self, name: &str, read: impl Fn(&str) -> Result<T>) -> Result<T> {
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

impl Parametric for Emberson {
    fn read(reader: &Reader<'_>) -> Result<Self> {
        let wcet_min = reader.optional("rescale-wcet-min")?;
        let rescale = match (reader.optional_count("rescale-cores")?, wcet_min) {
            (Some(cores), wcet_min) => {
                Some(Rescale { cores, wcet_min: wcet_min.unwrap_or(RESCALE_WCET_MIN) })
            }
            (None, None) => None,
            (None, Some(_)) => {
                return Err(Diagnostic::usage("`rescale-wcet-min` is given without `rescale-cores`")
                    .hint("give the number of CPUs to rescale for"));
            }
        };
        Ok(Emberson {
            tasks: reader.count("tasks")?,
            utilization: reader.value("utilization")?,
            periods: reader.value("periods")?,
            granularity: reader.value("granularity")?,
            rescale,
        })
    }

    fn written(&self) -> Vec<(&'static str, String)> {
        let mut all = vec![
            ("tasks", self.tasks.to_string()),
            ("utilization", self.utilization.to_string()),
            ("periods", self.periods.to_string()),
            ("granularity", self.granularity.to_string()),
        ];
        if let Some(Rescale { cores, wcet_min }) = self.rescale {
            all.push(("rescale-cores", cores.to_string()));
            all.push(("rescale-wcet-min", wcet_min.to_string()));
        }
        all
    }
}

impl Parametric for UUniFast {
    fn read(reader: &Reader<'_>) -> Result<Self> {
        Ok(UUniFast {
            tasks: reader.count("tasks")?,
            utilization: reader.value("utilization")?,
            periods: reader.value("periods")?,
            granularity: reader.value("granularity")?,
        })
    }

    fn written(&self) -> Vec<(&'static str, String)> {
        vec![
            ("tasks", self.tasks.to_string()),
            ("utilization", self.utilization.to_string()),
            ("periods", self.periods.to_string()),
            ("granularity", self.granularity.to_string()),
        ]
    }
}

impl Parametric for Unc {
    fn read(reader: &Reader<'_>) -> Result<Self> {
        let size = match (reader.optional_count("tasks")?, reader.optional("utilization")?) {
            (Some(tasks), None) => UncSize::Tasks(tasks),
            (None, Some(utilization)) => UncSize::Cap { utilization, last: reader.value("last")? },
            (None, None) | (Some(_), Some(_)) => {
                return Err(Diagnostic::usage("generator `unc` needs either `tasks` or `utilization`")
                    .hint("give the number of tasks, or the total utilization at which to stop"));
            }
        };
        Ok(Unc {
            size,
            utilizations: reader.value("utilizations")?,
            periods: reader.value("periods")?,
            granularity: reader.value("granularity")?,
        })
    }

    fn written(&self) -> Vec<(&'static str, String)> {
        let mut all = vec![
            ("utilizations", self.utilizations.to_string()),
            ("periods", self.periods.to_string()),
            ("granularity", self.granularity.to_string()),
        ];
        match self.size {
            UncSize::Tasks(tasks) => all.push(("tasks", tasks.to_string())),
            UncSize::Cap { utilization, last } => {
                all.push(("utilization", utilization.to_string()));
                all.push(("last", last.to_string()));
            }
        }
        all
    }
}

impl Parametric for Waters {
    fn read(reader: &Reader<'_>) -> Result<Self> {
        Ok(Waters {
            runnables: reader.count("runnables")?,
            utilization: reader.optional("utilization")?,
            task_utilization_max: reader.value("task-utilization-max")?,
            demand: reader.value("demand")?,
        })
    }

    fn written(&self) -> Vec<(&'static str, String)> {
        let mut all = vec![
            ("runnables", self.runnables.to_string()),
            ("task-utilization-max", self.task_utilization_max.to_string()),
            ("demand", self.demand.to_string()),
        ];
        all.extend(self.utilization.map(|utilization| ("utilization", utilization.to_string())));
        all
    }
}

impl Parametric for Calandrino2007 {
    fn read(reader: &Reader<'_>) -> Result<Self> {
        Ok(Calandrino2007 {
            tasks: reader.count("tasks")?,
            requirement: reader.value("requirement")?,
            slowest: reader.value("slowest")?,
        })
    }

    fn written(&self) -> Vec<(&'static str, String)> {
        vec![
            ("tasks", self.tasks.to_string()),
            ("requirement", self.requirement.to_string()),
            ("slowest", self.slowest.to_string()),
        ]
    }
}

impl Parametric for Mtt {
    fn read(reader: &Reader<'_>) -> Result<Self> {
        Ok(Mtt {
            distribution: reader.value("distribution")?,
            utilization: reader.value("utilization")?,
            granularity: reader.value("granularity")?,
            shared: reader.value("shared")?,
        })
    }

    fn written(&self) -> Vec<(&'static str, String)> {
        vec![
            ("distribution", self.distribution.to_string()),
            ("utilization", self.utilization.to_string()),
            ("granularity", self.granularity.to_string()),
            ("shared", self.shared.to_string()),
        ]
    }
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

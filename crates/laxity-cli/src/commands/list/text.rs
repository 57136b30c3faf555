//! What `laxity list` prints: an overview, or a part in full. Columns keep to the terminal's width.

use crate::tables::{longest_word, wrapped};
use comfy_table::{ColumnConstraint, ContentArrangement, Table, Width, presets};
use laxity_lab::catalogue::{Answer, Named, Part, PolicyAnswer, TestAnswer};
use laxity_model::cpus_named;

/// Names have a column of at least this width, and of at most twice it.
const NAMES_WIDTH: usize = 22;

/// What the letters of assumptions and complexities are.
const LEGEND: &str = "C: WCET, D: relative deadline, T: period, J: release jitter, U: utilization of the set, m: CPUs, n: tasks";

/// The answer in words.
pub struct Text<'a> {
    pub answer: &'a Answer,
    /// Columns of the terminal; nothing elsewhere, where lines are as long as they are.
    pub width: Option<u16>,
}

impl Text<'_> {
    /// What can run here, and the names of everything else.
    pub fn overview(&self) -> String {
        let machine = &self.answer.machine;
        let mut text = String::from("WHAT CAN RUN HERE\n");
        let processor = format!("{}, {}, {}", machine.cpu_model, cpus_named(&machine.cpus), machine.kernel);
        let mut rows = vec![("this machine".to_owned(), processor)];
        rows.extend(self.runs());
        rows.push((
            "simulated, analysed".to_owned(),
            "all but :grub, -rr, other and scx, on any number of CPUs (laxity simulate, laxity analyze)"
                .to_owned(),
        ));
        text += &self.table(&rows);
        text += "\nMORE OF EACH\n";
        let rows: Vec<_> = Part::ALL.into_iter().map(|part| self.line(part)).collect();
        text + &self.table(&rows)
    }

    /// Which schedulers run for real, and why the others do not.
    fn runs(&self) -> Vec<(String, String)> {
        let linux = self.answer.schedulers.iter().map(|one| (one.name.as_str(), &one.why_not));
        let own = self.answer.policies.iter().map(|one| (one.name, &one.why_not));
        let mut runs: Vec<&str> = Vec::new();
        let mut refused: Vec<(&str, Vec<&str>)> = Vec::new();
        for (name, why_not) in linux.chain(own) {
            let Some(why) = why_not else {
                runs.push(name);
                continue;
            };
            match refused.iter_mut().find(|(reason, _)| reason == why) {
                Some((_, names)) => names.push(name),
                None => refused.push((why, vec![name])),
            }
        }
        let runs = if runs.is_empty() { "nothing".to_owned() } else { runs.join(", ") };
        let mut rows = vec![("runs".to_owned(), runs)];
        rows.extend(
            refused
                .into_iter()
                .map(|(why, names)| ("does not run".to_owned(), format!("{}: {why}", names.join(", ")))),
        );
        rows
    }

    /// The command that says more, and names.
    fn line(&self, part: Part) -> (String, String) {
        let answer = self.answer;
        let of = |all: &[Named]| all.iter().map(|one| one.name.clone()).collect::<Vec<_>>().join(", ");
        let names = match part {
            Part::Machine => "processor, caches, kernel, and what it allows".to_owned(),
            Part::Schedulers => {
                let linux: Vec<&str> = answer.schedulers.iter().map(|one| one.name.as_str()).collect();
                let own: Vec<&str> = answer.policies.iter().map(|one| one.name).collect();
                format!(
                    "Linux: {}; laxity: {}; analysed only: {}",
                    linux.join(", "),
                    own.join(", "),
                    of(&answer.analysed)
                )
            }
            Part::Tests => answer.tests.iter().map(|test| test.name).collect::<Vec<_>>().join(", "),
            Part::Generators => of(&answer.generators),
            Part::Placements => of(&answer.placements),
            Part::Platforms => of(&answer.platforms),
            Part::Overheads => directories(&answer.overheads),
            Part::Metrics => of(&answer.metrics),
        };
        (format!("laxity list {}", part.name()), names)
    }

    /// A part in full.
    pub fn part(&self, part: Part) -> String {
        let answer = self.answer;
        let named = |title: &str, all: &[Named]| format!("{title}\n{}", self.table(&rows(all)));
        match part {
            Part::Schedulers => self.schedulers(),
            Part::Tests => self.tests(&answer.tests),
            Part::Generators => named("GENERATORS (laxity generate)", &answer.generators),
            Part::Placements => named("PLACEMENTS (--placement)", &answer.placements),
            Part::Platforms => named("PLATFORMS (--platform; or a file)", &answer.platforms),
            Part::Overheads => named(
                "OVERHEADS (laxity analyze --overheads, and curves of studies; or a file)",
                &answer.overheads,
            ),
            Part::Metrics => [
                named(
                    "METRICS OF RUNS (tables, summary.json); of a job: D its deadline, T its task's period, R its response time",
                    &answer.metrics_of_runs,
                ),
                named("METRICS OF STUDIES BY SIMULATION (laxity study FILE)", &answer.metrics),
                named(
                    "METRICS OF STUDIES WITH --real, in their place or beside them",
                    &answer.metrics_of_studies_run,
                ),
            ]
            .join("\n"),
            Part::Machine => self.machine(),
        }
    }

    fn schedulers(&self) -> String {
        let mut text = String::from("SCHEDULERS OF LINUX (laxity run, laxity compare)\n");
        let mut linux = Vec::new();
        for scheduler in &self.answer.schedulers {
            linux.push((scheduler.name.clone(), scheduler.description.clone()));
            linux.extend(scheduler.why_not.iter().map(|why| (String::new(), format!("not here: {why}"))));
        }
        text += &self.table(&linux);
        text += "\nPOLICIES OF LAXITY'S OWN (laxity simulate; laxity run and compare where the kernel has sched_ext)\n";
        text += &self.table(&policies(&self.answer.policies));
        text += "\nANALYSED ONLY (laxity analyze, laxity study FILE)\n";
        text + &self.table(&rows(&self.answer.analysed))
    }

    /// Each test with what it needs, its source and its complexity.
    fn tests(&self, tests: &[TestAnswer]) -> String {
        let mut rows = Vec::new();
        for test in tests {
            let needs = match test.assumptions {
                [] => String::new(),
                some => format!("; needs {}", numbered(some)),
            };
            rows.push((test.name.to_owned(), format!("{}{needs}", test.description)));
            rows.push((String::new(), test.source.clone()));
            rows.push((String::new(), test.complexity.to_owned()));
        }
        format!("TESTS (laxity analyze --test)\n{LEGEND}\n{}", self.table(&rows))
    }

    fn machine(&self) -> String {
        let machine = &self.answer.machine;
        let clusters: Vec<String> = machine.clusters.iter().map(ToString::to_string).collect();
        let mut rows = vec![
            ("processor".to_owned(), format!("{}, {}", machine.cpu_model, cpus_named(&machine.cpus))),
            ("clusters".to_owned(), clusters.join("; ")),
        ];
        rows.extend(machine.caches.iter().map(|cache| ("cache".to_owned(), cache.to_string())));
        rows.push(("kernel".to_owned(), machine.kernel.clone()));
        rows.extend(machine.facts.iter().map(|(name, fact)| (name.clone(), fact.to_string())));
        let mut can: Vec<_> =
            self.answer.can.iter().map(|(what, verdict)| ((*what).to_owned(), verdict.clone())).collect();
        can.extend(
            self.answer
                .not_measured
                .iter()
                .map(|(column, why)| (column.replace('_', " "), format!("not measured: {why}"))),
        );
        format!("WHAT IT CAN DO\n{}\nTHIS MACHINE\n{}", self.table(&can), self.table(&rows))
    }

    /// Two columns, the second wrapped where there is a width.
    fn table(&self, rows: &[(String, String)]) -> String {
        let longest = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        let names = longest.clamp(NAMES_WIDTH, 2 * NAMES_WIDTH);
        let Some(width) = self.width else {
            return rows.iter().map(|(name, words)| format!("  {name:<names$}  {words}\n")).collect();
        };
        // Neither names nor words are broken.
        let word = rows.iter().map(|(_, words)| longest_word(words)).max().unwrap_or(0);
        if longest > usize::from(width) / 2 || names + 6 + word > usize::from(width) {
            return rows.iter().map(|(name, words)| wrapped(&head(name), words, width.into())).collect();
        }
        let mut table = Table::new();
        table.load_style(presets::NOTHING);
        table.set_content_arrangement(ContentArrangement::Dynamic);
        table.set_width(width);
        for (name, words) in rows {
            table.add_row([name, words]);
        }
        if let Some(column) = table.column_mut(0) {
            let least = u16::try_from(names).unwrap_or(0) + 3;
            column.set_padding((2, 1));
            column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(least)));
        }
        if let Some(column) = table.column_mut(1) {
            column.set_padding((0, 0));
        }
        table.trim_fmt() + "\n"
    }
}

/// What begins a row where names leave too little room for a second column.
fn head(name: &str) -> String {
    if name.is_empty() { "    ".to_owned() } else { format!("  {name}: ") }
}

fn rows(all: &[Named]) -> Vec<(String, String)> {
    all.iter().map(|one| (one.name.clone(), one.description.clone())).collect()
}

/// `1. J = 0, 2. D <= T`
fn numbered(assumptions: &[&str]) -> String {
    let number = |(at, text): (usize, &&str)| format!("{}. {text}", at + 1);
    assumptions.iter().enumerate().map(number).collect::<Vec<_>>().join(", ")
}

/// The directories of names such as `cerqueira2014-text/gsn-edf-max`, each with how many names it has.
fn directories(names: &[Named]) -> String {
    let mut all: Vec<(&str, usize)> = Vec::new();
    for named in names {
        let directory = named.name.split('/').next().unwrap_or(&named.name);
        match all.iter_mut().find(|(known, _)| *known == directory) {
            Some((_, count)) => *count += 1,
            None => all.push((directory, 1)),
        }
    }
    all.iter().map(|(name, count)| format!("{name}/ ({count})")).collect::<Vec<_>>().join(", ")
}

/// The policies: what each is, then what makes a name.
fn policies(policies: &[PolicyAnswer]) -> Vec<(String, String)> {
    let some_run = policies.iter().any(|policy| policy.runs_here);
    let mut rows = Vec::new();
    for policy in policies {
        rows.push((policy.name.to_owned(), policy.description.to_owned()));
        let why = policy.why_not.as_ref().filter(|_| some_run);
        rows.extend(why.map(|why| (String::new(), format!("not in the kernel: {why}"))));
    }
    if let Some(why) = policies.first().and_then(|policy| policy.why_not.as_ref()).filter(|_| !some_run) {
        rows.push((String::new(), format!("in the kernel, none of them here: {why}")));
    }
    let own = |name: &str, words: &str| (name.to_owned(), words.to_owned());
    let in_all_scopes = |policy: &PolicyAnswer| policy.scopes.len() > 1;
    let without = but_for(policies, in_all_scopes);
    rows.push(own(
        "c-NAME, p-NAME",
        &format!("clustered, partitioned; without, one queue for all CPUs{without}"),
    ));
    for rule in policies.first().into_iter().flat_map(|policy| &policy.rules) {
        let has = |policy: &PolicyAnswer| {
            policy.rules.iter().any(|own| own.name == rule.name && own.description == rule.description)
        };
        let without = but_for(policies, has);
        rows.push((format!("NAME{}", rule.name), format!("{}{without}", rule.description)));
    }
    rows.push(own(
        "g-edf, p-rm ...",
        "Linux's, but for :grub, -rr, other and scx, can be simulated, too: push-pull shows how Linux does it",
    ));
    rows
}

/// The policies of which something does not hold, as an exception.
fn but_for(policies: &[PolicyAnswer], holds: impl Fn(&PolicyAnswer) -> bool) -> String {
    let others: Vec<&str> = policies.iter().filter(|one| !holds(one)).map(|one| one.name).collect();
    if others.is_empty() { String::new() } else { format!("; not of {}", others.join(" and ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_keeps_to_the_width_and_loses_no_word() {
        let platform = laxity_model::Platform::this_machine().expect("a machine");
        let answer = super::super::answer(&platform);
        let words = |text: &str| -> Vec<String> {
            text.split_whitespace().map(|word| word.trim_end_matches(':').to_owned()).collect()
        };
        for width in [60, 80, 100] {
            for part in Part::ALL {
                let narrow = Text { answer: &answer, width: Some(width) }.part(part);
                let title_and_rows = narrow.lines().filter(|line| line.starts_with(' '));
                for line in title_and_rows {
                    assert!(line.chars().count() <= usize::from(width), "{width}: {line}");
                }
                let wide = Text { answer: &answer, width: None }.part(part);
                let (mut narrow, mut wide) = (words(&narrow), words(&wide));
                narrow.sort();
                wide.sort();
                assert_eq!(narrow, wide, "{} at {width} columns", part.name());
            }
        }
    }

    #[test]
    fn the_overview_begins_with_what_runs_here() {
        let platform = laxity_model::Platform::this_machine().expect("a machine");
        let answer = super::super::answer(&platform);
        let text = Text { answer: &answer, width: Some(80) }.overview();
        assert!(text.starts_with("WHAT CAN RUN HERE\n"), "{text}");
        for part in Part::ALL {
            assert!(text.contains(&format!("laxity list {}", part.name())), "{text}");
        }
        assert!(text.lines().count() < 60, "it is short: {text}");
    }
}

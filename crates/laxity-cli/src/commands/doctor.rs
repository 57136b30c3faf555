//! `laxity doctor`: whether this machine is fit for real-time work.

use crate::arguments::value;
use crate::output;
use crate::tables::{wrapped, wrapped_at};
use clap::Args;
use laxity_doctor::{
    ALL, Check, Diagnosis, Evidence, Finding, Host, Kind, Probes, Severity, Unmade, examine, named,
};
use laxity_lab::platforms::restrict;
use laxity_model::{CpuList, Diagnostic, Duration, Platform, Result, plural};
use serde::Serialize;
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

/// Columns before the text of a row.
const INDENT: usize = 12;
/// Where there is no terminal, lines are this wide.
const WIDTH: usize = 110;

/// What `--duration` may be.
const DURATION_MIN: Duration = Duration::from_ms(1);
const DURATION_MAX: Duration = Duration::from_secs(3600);

/// `laxity doctor`.
#[derive(Args)]
#[command(after_long_help = "\
It reads files of /proc and /sys, watches interrupts, steal and the like for a second, and changes nothing. Then, as far as \
that is allowed, a thread of the lowest SCHED_FIFO priority on each real-time CPU wakes once a millisecond for a quarter of that \
time, and its lateness is measured. Each finding has its evidence, the reason why it matters, its cost where that was measured, a \
fix and what takes the fix back. What only root can see is listed as unseen: a check that cannot be made is neither passed nor a \
finding.

Examples:
  # is this machine fit?
  sudo laxity doctor
  # CPUs 2 and 3 are for real-time tasks, the others for all else
  sudo laxity doctor --cpus 2-3
  # all checks with their rules
  laxity doctor --list
  # some checks only, with what passed
  laxity doctor -v fair-server idle-states
  # in CI: what is known of this machine does not count
  sudo laxity doctor --accept emulation,preempt-rt
  # rare interrupts and long delays show in a longer time
  sudo laxity doctor --duration 1m

Exit codes: 0 no finding; 1 findings; 2 usage; 3 the machine does not say which CPUs it has.")]
pub struct DoctorArguments {
    /// The checks to make; without any, all
    #[arg(value_name = "CHECK")]
    pub checks: Vec<String>,
    /// The CPUs for real-time tasks: a number of them, or a list such as 2-3; default: the isolated ones, else all online
    ///
    /// As for all commands, `--cpus 2` is the first two CPUs. CPU 2 alone is `--cpus 2-2`.
    #[arg(long, value_name = "N|LIST")]
    pub cpus: Option<String>,
    /// Findings of these checks are shown and do not count
    #[arg(long, value_name = "CHECK", value_delimiter = ',')]
    pub accept: Vec<String>,
    /// How long counters are watched, 1ms to 1h; wakeups are measured for a quarter of it
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = value::<Duration>)]
    pub duration: Duration,
    /// Only read and watch: start no thread that measures wakeups
    #[arg(long)]
    pub passive: bool,
    /// List the checks with their rules instead
    #[arg(long)]
    pub list: bool,
    /// Print JSON instead
    #[arg(long)]
    pub json: bool,
}

/// What `laxity doctor --list --json` prints of a check.
#[derive(Serialize)]
struct Listed {
    name: &'static str,
    severity: Severity,
    rule: &'static str,
    why: &'static str,
}

pub fn doctor(arguments: &DoctorArguments) -> Result<ExitCode> {
    let checks = |names: &[String]| -> Result<Vec<&'static Check>> {
        super::unique(names).into_iter().map(|name| named(name)).collect()
    };
    let (wanted, accepted) = (checks(&arguments.checks)?, checks(&arguments.accept)?);
    if arguments.list {
        list(&wanted, arguments.json)?;
        return Ok(ExitCode::SUCCESS);
    }
    if !(DURATION_MIN..=DURATION_MAX).contains(&arguments.duration) {
        return Err(Diagnostic::usage(format!("--duration {}: not from 1ms to 1h", arguments.duration))
            .hint("the default, 1s, shows what happens often"));
    }
    let length = std::time::Duration::from_nanos(arguments.duration.as_ns());
    let cpus = arguments.cpus.as_deref().map(cpus).transpose()?;
    let mut host = Host::look(Path::new("/"), cpus, Probes::here())?;
    host.watch(length, || std::thread::sleep(length));
    if !arguments.passive {
        host.measure_wakeups();
    }
    let diagnosis = examine(&host, &wanted, &accepted);
    output::answer(arguments.json, &diagnosis, || text(&diagnosis, output::verbose(), width()))?;
    Ok(output::verdict(diagnosis.findings.is_empty()))
}

/// The CPUs that are meant, of those that are online: also of such that this process may not use.
fn cpus(text: &str) -> Result<CpuList> {
    restrict(Platform::from_sysfs(Path::new("/sys"))?, text).map(|platform| platform.cpus())
}

fn width() -> usize {
    output::columns().map_or(WIDTH, |columns| usize::from(columns).clamp(60, WIDTH))
}

fn list(wanted: &[&'static Check], json: bool) -> Result<()> {
    let all = || ALL.iter().flat_map(|group| group.iter());
    let checks: Vec<&Check> = if wanted.is_empty() { all().collect() } else { wanted.to_vec() };
    if json {
        let listed = |check: &&Check| Listed {
            name: check.name,
            severity: check.severity,
            rule: check.rule,
            why: check.why,
        };
        return output::print_json(&checks.iter().map(listed).collect::<Vec<_>>());
    }
    let mut text = format!("CHECKS ({}): the rules say what is a finding\n", checks.len());
    for check in checks {
        let _ = writeln!(text, "\n{} ({})", check.name, check.severity.name());
        row(&mut text, "rule", &format!("{}.", check.rule), width());
        row(&mut text, "why", &format!("{}.", check.why), width());
    }
    output::print(&text)
}

/// The answer first, then each finding, then what was not seen; with `verbose` all else.
fn text(diagnosis: &Diagnosis, verbose: bool, width: usize) -> String {
    let mut text = wrapped("", &headline(diagnosis), width);
    for finding in &diagnosis.findings {
        show(&mut text, finding, width);
    }
    measured(&mut text, diagnosis, width);
    let mut section = |title: &str, rows: Vec<(&str, String)>| {
        if !rows.is_empty() {
            let _ = writeln!(text, "\n{title}");
            for (name, words) in rows {
                let _ = writeln!(text, "  {name}");
                row(&mut text, "", &words, width);
            }
        }
    };
    let accepted = diagnosis.accepted.iter().map(|one| (one.check.as_str(), format!("{}.", one.what)));
    section("ACCEPTED (found, and does not count)", accepted.collect());
    section("UNSEEN (neither passed nor a finding)", unmade(&diagnosis.unseen));
    if verbose {
        let all = |one: &laxity_doctor::Passed| one.evidence.iter().map(said).collect::<Vec<_>>().join("; ");
        let passed = diagnosis.passed.iter().map(|one| (one.check.as_str(), all(one)));
        section("PASSED", passed.collect());
        section("DOES NOT APPLY", unmade(&diagnosis.not_applicable));
    }
    text
}

fn unmade(checks: &[Unmade]) -> Vec<(&str, String)> {
    checks.iter().map(|one| (one.check.as_str(), one.reason.clone())).collect()
}

fn headline(diagnosis: &Diagnosis) -> String {
    let findings = match diagnosis.findings.len() {
        0 => "No finding".to_owned(),
        some => plural(some, "finding"),
    };
    let grave = Severity::ALL.map(|severity| (diagnosis.count(severity), severity.name()));
    let grave: Vec<String> =
        grave.iter().filter(|(count, _)| *count > 0).map(|(count, name)| format!("{count} {name}")).collect();
    let grave = if grave.is_empty() { String::new() } else { format!(" ({})", grave.join(", ")) };
    let accepted = match diagnosis.accepted.len() {
        0 => String::new(),
        many => format!("{many} accepted, "),
    };
    let all = if diagnosis.cpus == diagnosis.online { " (all that are online)" } else { "" };
    format!(
        "{findings}{grave}; {accepted}{} passed, {} unseen, {} do not apply. Real-time CPUs: {}{all}\n",
        diagnosis.passed.len(),
        diagnosis.unseen.len(),
        diagnosis.not_applicable.len(),
        diagnosis.cpus
    )
}

fn show(text: &mut String, finding: &Finding, width: usize) {
    let _ = writeln!(text, "\n{} {}", finding.severity.name().to_uppercase(), finding.check);
    row(text, "found", &format!("{}.", finding.what), width);
    for (at, evidence) in finding.evidence.iter().enumerate() {
        row(text, if at == 0 { "evidence" } else { "" }, &said(evidence), width);
    }
    row(text, "why", &format!("{}.", finding.why), width);
    let cost = finding.measured.as_ref().map_or("not measured".to_owned(), |measured| format!("{measured}."));
    row(text, "cost", &cost, width);
    let (fix, undo) = match finding.remedy.kind {
        Kind::KernelParameter => ("boot with: ", "boot without: "),
        Kind::Command | Kind::Other => ("", ""),
    };
    for (name, before, lines) in [("fix", fix, &finding.remedy.fix), ("undo", undo, &finding.remedy.undo)] {
        for (at, line) in lines.iter().enumerate() {
            let name = if at == 0 { name } else { "" };
            match finding.remedy.kind {
                Kind::Other => row(text, name, line, width),
                // What is copied stays on one line.
                Kind::Command | Kind::KernelParameter => _ = writeln!(text, "  {name:<9} {before}{line}"),
            }
        }
    }
}

/// A file and what it says.
fn said(evidence: &Evidence) -> String {
    match evidence.value.as_str() {
        "" => format!("{} is empty", evidence.file),
        value => format!("{} = {value}", evidence.file),
    }
}

/// What was measured, whatever the checks say of it.
fn measured(text: &mut String, diagnosis: &Diagnosis, width: usize) {
    if diagnosis.measured.is_empty() {
        return;
    }
    let _ = writeln!(text, "\nMEASURED");
    for one in &diagnosis.measured {
        row(text, "", &format!("{}: {}.", one.file, one.value), width);
    }
}

/// A row: its name, and words that are wrapped.
fn row(text: &mut String, name: &str, words: &str, width: usize) {
    *text += &wrapped_at(INDENT, &format!("  {name:<9} "), words, width);
}

#[cfg(test)]
mod tests {
    use super::*;
    use laxity_doctor::Remedy;

    fn diagnosis() -> Diagnosis {
        Diagnosis {
            version: 1,
            cpus: "2-3".into(),
            online: "0-3".into(),
            watched_ms: 1000,
            accepted: Vec::new(),
            measured: vec![Evidence::new("steal", "0.00 % of the CPU time in 1 s")],
            findings: vec![Finding {
                check: "swap".into(),
                severity: Severity::Moderate,
                what: "memory can be swapped out".into(),
                evidence: vec![Evidence::new("/proc/swaps", "/dev/sda2")],
                why: "a page fault takes milliseconds, and there are many more words here than one line of this width takes".into(),
                measured: None,
                remedy: Remedy::command("sudo swapoff --all", "sudo swapon --all"),
            }],
            unseen: vec![Unmade { check: "fair-server".into(), reason: "it is for root only".into() }],
            not_applicable: Vec::new(),
            passed: Vec::new(),
        }
    }

    #[test]
    fn the_answer_comes_first_and_what_passed_only_when_asked() {
        let told = text(&diagnosis(), false, 80);
        let first = "1 finding (1 moderate); 0 passed, 1 unseen, 0 do not apply. Real-time CPUs: 2-3\n";
        assert!(told.starts_with(first), "{told}");
        for line in [
            "MODERATE swap",
            "  found     memory can be swapped out.",
            "  evidence  /proc/swaps = /dev/sda2",
            "  cost      not measured",
            "  fix       sudo swapoff --all",
            "  undo      sudo swapon --all",
            "MEASURED",
            "            steal: 0.00 % of the CPU time in 1 s.",
            "UNSEEN (neither passed nor a finding)",
        ] {
            assert!(told.lines().any(|one| one == line), "`{line}` is not in:\n{told}");
        }
        assert!(told.lines().all(|line| line.chars().count() <= 80), "{told}");
    }
}

//! The schedule of a run to look at: as text, as a Gantt chart, in Perfetto, in a browser.

use crate::arguments::ViewArguments;
use crate::output;
use laxity_model::{
    CpuList, Diagnostic, Duration, Existing, Result, ShownPath as _, TaskSet, check_writable, shown,
    write_file,
};
use laxity_report::timeline::{Fates, FirstMiss, default_window, gantt, html, perfetto, text};
use laxity_trace::{Event, EventsReader, Run};
use std::fs::File;
use std::io::IsTerminal;
use std::path::Path;

/// Text is handed on in pieces of about this size.
const PIECE: usize = 1 << 16;

/// What to show of every run.
pub struct Views<'a> {
    /// As it is asked for.
    pub asked: &'a ViewArguments,
    /// Whether files that are there already are replaced.
    pub existing: Existing,
}

/// A run to show.
pub struct Shown<'a> {
    /// What it is called where several are shown.
    pub heading: Option<String>,
    /// What the page is called: its scheduler.
    pub title: &'a str,
    /// Its tasks.
    pub set: &'a TaskSet,
    /// CPUs `0..cpus` have a row each.
    pub cpus: u32,
    /// Until when its schedule is known, in ns.
    pub known_until_ns: u64,
    /// Its events.
    pub events: &'a EventsReader,
    /// Which of its jobs missed, where its table of jobs says so.
    pub fates: Option<Fates>,
}

impl Shown<'_> {
    fn all_events(&self) -> impl Iterator<Item = Result<Event>> {
        Fates::agree(self.fates.as_ref(), self.events.events())
    }
}

impl Views<'_> {
    /// Whether there is anything to show.
    pub fn any(&self) -> bool {
        self.asked.text || self.asked.gantt || self.files().next().is_some()
    }

    /// The files, each of which has one schedule, and their options.
    fn files(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        let both = [("--perfetto", &self.asked.perfetto), ("--html", &self.asked.html)];
        both.into_iter().filter_map(|(option, file)| Some((option, file.as_deref()?)))
    }

    /// Refuses a window that is none, and one file for several runs.
    pub fn check(&self, runs: usize) -> Result<()> {
        if let (Some(from), Some(to)) = (self.asked.from, self.asked.to)
            && from >= to
        {
            return Err(Diagnostic::usage(format!("--from {from} --to {to}: the window is empty"))
                .hint("let it end after it begins"));
        }
        let windowed = self.asked.gantt || self.asked.text || self.asked.html.is_some();
        if (self.asked.from.is_some() || self.asked.to.is_some()) && !windowed {
            return Err(Diagnostic::usage(
                "--from and --to say which part of --gantt, --text or --html is shown",
            )
            .hint("add --gantt, --text or --html FILE"));
        }
        for (option, file) in self.files() {
            check_writable(file, self.existing)?;
            if runs != 1 {
                return Err(Diagnostic::usage(format!(
                    "{option} {}: it has one run, but there are {runs}",
                    file.shown()
                ))
                .hint(format!(
                    "choose one set, one scheduler and no --repeat; or keep them all (--events --out DIR), then \
                     `laxity report DIR --run N {option} FILE`"
                )));
            }
        }
        Ok(())
    }

    /// Shows a run: text and chart on standard output.
    pub fn show(&self, shown: &Shown<'_>) -> Result<()> {
        if let Some(heading) = shown.heading.as_ref().filter(|_| self.asked.text || self.asked.gantt) {
            output::print(&format!("{heading}\n"))?;
        }
        if self.asked.gantt {
            output::print_coloured(&self.chart(shown)?)?;
        }
        if self.asked.text {
            self.lines(shown)?;
        }
        if let Some(path) = &self.asked.perfetto {
            perfetto::write_file(shown.set, shown.cpus, shown.all_events(), path, self.existing)?;
            output::note(format_args!("perfetto: {} (open it in https://ui.perfetto.dev)", path.shown()));
        }
        if let Some(path) = &self.asked.html {
            let options = html::HtmlOptions {
                window: self.window(),
                missed: shown.fates.as_ref().map(Fates::missed),
                another_window: Some("Another with --from and --to.".to_owned()),
                ..html::HtmlOptions::new("schedule", shown.title)
            };
            let page = html::page(shown.set, shown.cpus, shown.all_events(), &options)?;
            write_file(path, page.as_bytes(), self.existing)?;
            output::note(format_args!("schedule: {}", path.shown()));
        }
        Ok(())
    }

    /// From `--from` to `--to`, or to where the schedule ends.
    fn window(&self) -> (u64, u64) {
        (self.asked.from.map_or(0, Duration::as_ns), self.asked.to.map_or(u64::MAX, Duration::as_ns))
    }

    fn chart(&self, shown: &Shown<'_>) -> Result<String> {
        let (from, to) = match (self.asked.from, self.asked.to) {
            (Some(from), Some(to)) => (from.as_ns(), to.as_ns()),
            (from, to) => {
                let (begin, end) = default_window(shown.set, FirstMiss::find(shown.all_events())?);
                let from_ns = from.map_or(begin, Duration::as_ns);
                let length = end.saturating_sub(begin);
                match to.map(Duration::as_ns) {
                    Some(to_ns) if from.is_none() => (from_ns.min(to_ns.saturating_sub(length)), to_ns),
                    Some(to_ns) => (from_ns, to_ns),
                    None => (from_ns, from_ns.saturating_add(length)),
                }
            }
        };
        let terminal = std::io::stdout().is_terminal();
        let options = gantt::GanttOptions {
            window: (from, to),
            known_until_ns: shown.known_until_ns,
            cpus: shown.cpus,
            width: output::width(),
            tasks: true,
            unicode: terminal,
            color: output::colors(&std::io::stdout()),
        };
        gantt::draw(shown.set, shown.all_events(), &options)
    }

    fn lines(&self, shown: &Shown<'_>) -> Result<()> {
        let window = self.window();
        let options =
            text::TextOptions { from_ns: window.0, to_ns: window.1, ..text::TextOptions::default() };
        let mut piece = String::new();
        let events = Fates::agree(shown.fates.as_ref(), shown.events.between(window.0, window.1));
        for line in text::lines(shown.set, events, options) {
            piece += &line?;
            piece.push('\n');
            if piece.len() > PIECE {
                output::print(&piece)?;
                piece.clear();
            }
        }
        output::print(&piece)
    }
}

/// Opens an events file by its path.
pub fn open(path: &Path) -> Result<EventsReader> {
    let file = File::open(path).map_err(|error| {
        Diagnostic::environment(format!("cannot read {}: {error}", path.shown()))
            .hint("the file was there a moment ago: did something remove it?")
    })?;
    EventsReader::new(file, path.shown().to_string())
}

/// CPUs below this number have a row each, where that is not too many.
pub fn rows(cpus: &CpuList) -> u32 {
    const ROWS_MOST: u32 = 64;
    cpus.iter().last().map_or(0, |last| last + 1).min(ROWS_MOST)
}

/// What a run is called where several are shown.
pub fn heading_of(run: &Run, set: &TaskSet) -> String {
    heading(run.id, set.name(), &run.scheduler, run.repetition)
}

/// The same, by its number, its set and scheduler, and its repetition, from 0.
pub fn heading(id: u32, set: &str, scheduler: &str, repetition: u32) -> String {
    let repetition = if repetition > 0 { format!(", repetition {repetition}") } else { String::new() };
    format!("# run {id}: {set} under {}{repetition}", shown(scheduler))
}

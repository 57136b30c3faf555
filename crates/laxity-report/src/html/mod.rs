//! One self-contained HTML page: no font, no image, nothing loaded from anywhere, and no script but that of schedules.

mod heat;
mod method;
mod schedules;
mod sections;

pub(crate) use schedules::Schedules;

use crate::number;
use crate::plot::Plot;
use crate::recommend::Strength;
use crate::table::Table;
use crate::{DeployText, Report, evidence_tables};
use laxity_model::{Diagnostic, Result, shown_lines};
use minijinja::Environment;
use sections::{SetPage, set_pages};
use serde::Serialize;

/// Images beyond this many bytes are left to their files, so that a page of hundreds of runs still opens.
const EMBEDDED_BYTES_MOST: usize = 4_000_000;

/// Reasons and caveats beside the answer have room for so many letters each, before they are folded.
const FIRST_CHARS_MOST: usize = 260;

/// The sections of more sets than this are closed at first.
const SETS_OPEN_MOST: usize = 3;

/// A table with the headings over its columns.
#[derive(Serialize)]
struct TableView {
    table: Table,
    groups: Vec<GroupView>,
}

#[derive(Serialize)]
struct GroupView {
    label: String,
    span: usize,
}

impl TableView {
    fn of(table: Table) -> TableView {
        let grouped = table.columns.iter().any(|column| !column.group.is_empty());
        let groups =
            table.groups().into_iter().map(|(label, span)| GroupView { label: label.to_owned(), span });
        let groups = if grouped { groups.collect() } else { vec![] };
        TableView { groups, table }
    }
}

/// A plot, with its image if that still fits the page.
#[derive(Serialize)]
struct PlotView {
    stem: String,
    title: String,
    caption: String,
    svg: Option<String>,
}

/// Hands out the bytes that images may take.
struct Budget(usize);

impl Budget {
    fn views<'p>(&mut self, plots: impl IntoIterator<Item = &'p Plot>) -> Vec<PlotView> {
        let view = |plot: &Plot| {
            let fits = plot.svg.len() <= self.0;
            if fits {
                self.0 -= plot.svg.len();
            }
            PlotView {
                stem: plot.stem.clone(),
                title: plot.title.clone(),
                caption: plot.caption.clone(),
                svg: fits.then(|| plot.svg.clone()),
            }
        };
        plots.into_iter().map(view).collect()
    }
}

#[derive(Serialize)]
struct Answer {
    kind: &'static str,
    eyebrow: &'static str,
    headline: String,
    runner_up: Option<String>,
    reasons: Items,
    caveats: Items,
}

/// Sentences, as many as the first screen has room for, and the others.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Items {
    first: Vec<String>,
    rest: Vec<String>,
}

impl Items {
    fn of(items: &[String]) -> Items {
        let mut room = FIRST_CHARS_MOST;
        let fits = |item: &&String| {
            let length = item.chars().count();
            let fits = length <= room;
            room = room.saturating_sub(length);
            fits
        };
        let first = items.iter().take_while(fits).count().max(1).min(items.len());
        let (first, rest) = items.split_at(first);
        // One sentence that is folded takes as much room as if it were not.
        match rest {
            [last] if last.chars().count() < FIRST_CHARS_MOST / 3 => {
                Items { first: items.to_vec(), rest: vec![] }
            }
            _ => Items { first: first.to_vec(), rest: rest.to_vec() },
        }
    }
}

/// A name and what it is.
#[derive(Serialize)]
struct Fact {
    name: String,
    text: String,
}

#[derive(Serialize)]
struct Anchor {
    anchor: &'static str,
    label: &'static str,
}

#[derive(Serialize)]
struct Page<'r> {
    title: String,
    subtitle: String,
    version: &'r str,
    created: &'r str,
    seed: u64,
    command: String,
    style: &'static str,
    nav: Vec<Anchor>,
    answer: Answer,
    reading: Vec<Block>,
    to_set: Vec<TableView>,
    heat: Option<heat::HeatView>,
    glance: TableView,
    worst: Option<TableView>,
    no_misses: &'static str,
    causes: Option<TableView>,
    beside: Option<TableView>,
    caches: Option<TableView>,
    background: Option<TableView>,
    noise: Option<TableView>,
    verified: Option<TableView>,
    per_cell: Option<TableView>,
    deploy: &'r [DeployText],
    table_4_words: &'static str,
    table_4: Vec<TableView>,
    alone_grid: Option<TableView>,
    overview_plots: Vec<PlotView>,
    sets_heading: &'static str,
    sets: Vec<SetPage>,
    schedules: Option<&'r str>,
    schedules_left_out: usize,
    schedules_measured: bool,
    collapsed: bool,
    open: bool,
    method: Vec<Fact>,
    notes: Vec<String>,
    not_measured: Vec<String>,
    glossary: Vec<Fact>,
}

/// The plots of a report by the place at which the page shows them.
pub(crate) struct PlacedPlots {
    /// Of cells of several sets.
    pub(crate) overview: Vec<Plot>,
    /// Of each set.
    pub(crate) sets: Vec<Vec<Plot>>,
}

/// The page.
///
/// Errors: the template does not render, which would be a defect of laxity.
pub(crate) fn page(report: &Report<'_>, plots: &PlacedPlots) -> Result<String> {
    let study = &report.study;
    let all = study.all_sets();
    let mut budget = Budget(EMBEDDED_BYTES_MOST);
    let overview_plots = budget.views(&plots.overview);
    let several = study.sets.len() > 1;
    let worst =
        evidence_tables::worst_tasks(study, &all, evidence_tables::WORST_TASKS_MOST).map(TableView::of);
    let page = Page {
        title: title(report),
        subtitle: method::subtitle(study),
        version: &study.results.laxity_version,
        created: &study.results.created,
        seed: study.results.seed,
        command: method::shell_command(&study.results.command),
        style: include_str!("style.css"),
        nav: nav(report),
        answer: answer(report),
        reading: report.reading.as_deref().map(blocks).unwrap_or_default(),
        to_set: crate::what_to_set::tables_on_page(&report.to_set).into_iter().map(TableView::of).collect(),
        heat: match study.sets.len() {
            1 => heat::of_tasks(study, 0, &report.recommendation),
            _ => heat::of_sets(study, &report.recommendation),
        },
        glance: TableView::of(evidence_tables::glance(study, &all, &report.recommendation)),
        worst,
        no_misses: evidence_tables::no_misses(study),
        causes: crate::causes::table(study, &report.causes).map(TableView::of),
        beside: crate::beside::table(study, &report.beside).map(TableView::of),
        caches: crate::caches::table(study).map(TableView::of),
        background: crate::background::table(study).map(TableView::of),
        noise: crate::disturbed::table(study, &report.recommendation.misses_per_run).map(TableView::of),
        verified: crate::verified::table(study).map(TableView::of),
        per_cell: several.then(|| TableView::of(sections::per_cell_table(report))),
        deploy: &report.deploy,
        table_4_words: method::table_4_words(&report.layout),
        table_4: evidence_tables::table_4_on_page(study, &report.layout)
            .into_iter()
            .map(TableView::of)
            .collect(),
        alone_grid: evidence_tables::alone_grid(study, &report.layout).map(TableView::of),
        overview_plots,
        sets_heading: if several { "Task sets" } else { "Task set" },
        sets: set_pages(report, &plots.sets, &mut budget),
        schedules: Some(report.schedules.html.as_str()).filter(|html| !html.is_empty()),
        schedules_left_out: report.schedules.left_out,
        schedules_measured: study.results.runs.iter().any(|run| run.schedule.is_some()),
        collapsed: several,
        open: study.sets.len() <= SETS_OPEN_MOST,
        method: method::facts(study),
        notes: method::notes(study),
        not_measured: method::not_measured(study),
        glossary: method::glossary(),
    };
    let mut environment = Environment::new();
    environment.add_filter("words", words);
    // The ending of the name turns on HTML escaping for everything that is not marked safe.
    let defect =
        |e: minijinja::Error| Diagnostic::environment(format!("the report's template is broken: {e:#}"));
    environment.add_template("page.html", include_str!("page.html")).map_err(defect)?;
    environment
        .get_template("page.html")
        .and_then(|template| template.render(minijinja::value::Serde(&page)))
        .map(|page| shown_lines(&page).into_owned())
        .map_err(defect)
}

fn title(report: &Report<'_>) -> String {
    match report.study.sets.as_slice() {
        [] => "Schedulers compared".to_owned(),
        [set] => format!("Schedulers compared on {}", set.name()),
        sets => format!(
            "Schedulers compared on {}",
            number::counted(u64::try_from(sets.len()).unwrap_or(0), "task set")
        ),
    }
}

fn nav(report: &Report<'_>) -> Vec<Anchor> {
    let entries = [
        ("what-to-set", "What to set", !report.to_set.is_empty() || !report.deploy.is_empty()),
        ("reading", "Reading", report.reading.is_some()),
        ("evidence", "Evidence", true),
        ("noise", "Noise", report.study.results.runs.iter().any(|run| run.disturbance.is_some())),
        ("verified", "Verification", report.study.results.runs.iter().any(|run| run.schedule.is_some())),
        ("beside", "Simulated", !report.beside.is_empty()),
        ("caches", "Caches", !report.study.summary.caches.is_empty()),
        ("background", "Background", !report.study.summary.background.is_empty()),
        ("table-4", "Table 4", true),
        ("plots", "Distributions", report.layout.grid),
        ("sets", "Task sets", true),
        ("schedules", "Schedules", !report.schedules.html.is_empty()),
        ("method", "Machine and method", true),
        ("reproduce", "Reproduce", true),
    ];
    let present = entries.into_iter().filter(|(_, _, present)| *present);
    present.map(|(anchor, label, _)| Anchor { anchor, label }).collect()
}

fn answer(report: &Report<'_>) -> Answer {
    let recommendation = &report.recommendation;
    let over_all = match report.study.sets.len() {
        0 | 1 => String::new(),
        sets => format!(" (over all {sets} task sets)"),
    };
    let (kind, eyebrow) = match recommendation.strength() {
        Strength::Clean => ("clean", "Recommendation"),
        Strength::CleanSimulated => ("clean", "Simulated, not measured"),
        Strength::WithinNoise => ("clean", "Recommendation"),
        Strength::LeastBad => ("least-bad", "Recommendation, with misses"),
        Strength::NothingCompared => ("none", "One configuration"),
        Strength::Nothing => ("none", "No recommendation"),
    };
    let headline = match recommendation.strength() {
        Strength::Nothing if !report.study.anything_was_run() => "Nothing was run".to_owned(),
        Strength::Nothing => "No configuration ran to its end".to_owned(),
        _ => format!("{}{over_all}", recommendation.headline(str::to_owned)),
    };
    let runner_up =
        recommendation.runner_up.as_ref().map(|_| format!("Ranking: {}", recommendation.ranking.join(", ")));
    Answer {
        kind,
        eyebrow,
        headline,
        runner_up,
        reasons: Items::of(&recommendation.reasons),
        caveats: Items::of(&recommendation.caveats),
    }
}

/// Text, with what stands between backticks as code.
fn words(text: &str) -> minijinja::Value {
    let escaped = |part: &str| minijinja::HtmlEscape(part).to_string();
    let parts: Vec<&str> = text.split('`').collect();
    let mut html = String::new();
    for (place, part) in parts.iter().enumerate() {
        // A last, unpaired backtick opens nothing.
        let code = place % 2 == 1 && place + 1 < parts.len();
        let tick = if place % 2 == 1 && !code { "`" } else { "" };
        html += &if code {
            format!("<code>{}</code>", escaped(part))
        } else {
            format!("{tick}{}", escaped(part))
        };
    }
    minijinja::Value::from_safe_string(html)
}

/// A paragraph, heading or list of the reading.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Block {
    kind: &'static str,
    text: String,
    items: Vec<String>,
}

/// Headings (`#`), lists (`-` or `*`) and paragraphs; everything else is text.
fn blocks(markdown: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut open = false;
    for line in markdown.lines().map(str::trim) {
        let block = |kind, text: &str| Block { kind, text: text.to_owned(), items: vec![] };
        if line.is_empty() {
            open = false;
        } else if line.starts_with('#') {
            blocks.push(block("heading", line.trim_start_matches('#').trim()));
            open = false;
        } else if let Some(item) = line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")) {
            match blocks.last_mut().filter(|last| open && last.kind == "list") {
                Some(list) => list.items.push(item.to_owned()),
                None => blocks.push(Block { items: vec![item.to_owned()], ..block("list", "") }),
            }
            open = true;
        } else {
            match blocks.last_mut().filter(|_| open) {
                Some(Block { kind: "list", items, .. }) => {
                    if let Some(item) = items.last_mut() {
                        *item += &format!(" {line}");
                    }
                }
                Some(paragraph) => paragraph.text += &format!(" {line}"),
                None => blocks.push(block("paragraph", line)),
            }
            open = true;
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paired_backticks_make_code() {
        let html = |text| words(text).to_string();
        assert_eq!(html("task `<a>` & b"), "task <code>&lt;a&gt;</code> &amp; b");
        assert_eq!(html("one ` alone"), "one ` alone");
    }

    #[test]
    fn long_reasons_are_folded_and_none_is_lost() {
        let items = |lengths: &[usize]| {
            let all: Vec<String> = lengths.iter().map(|&length| "x".repeat(length)).collect();
            let Items { first, rest } = Items::of(&all);
            assert_eq!([first.clone(), rest.clone()].concat(), all);
            (first.len(), rest.len())
        };
        assert_eq!(items(&[]), (0, 0));
        assert_eq!(items(&[900]), (1, 0));
        assert_eq!(items(&[100, 150, 30]), (3, 0), "a short last one is not worth a fold");
        assert_eq!(items(&[100, 150, 30, 40]), (2, 2));
        assert_eq!(items(&[900, 1, 1]), (1, 2));
    }

    #[test]
    fn reads_paragraphs_headings_and_lists() {
        let read = blocks("# What shows\n\nOne\ntwo.\n\n- a\n  b\n- c\n\nEnd");
        let words: Vec<(&str, &str, usize)> =
            read.iter().map(|block| (block.kind, block.text.as_str(), block.items.len())).collect();
        assert_eq!(
            words,
            [
                ("heading", "What shows", 0),
                ("paragraph", "One two.", 0),
                ("list", "", 2),
                ("paragraph", "End", 0)
            ]
        );
        assert_eq!(read[2].items, ["a b", "c"]);
    }
}

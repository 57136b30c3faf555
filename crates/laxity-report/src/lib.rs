//! Reports from results: terminal text, plots, one self-contained HTML page, a Markdown summary, and the
//! answer they all lead with: which configuration to deploy and why.
//!
//! Nothing is measured here. Every number is a metric of `laxity-trace` (lelli2012, Table 2), or a mean and
//! standard deviation of such over runs. The same results give the same bytes.
//!
//! ```no_run
//! # fn main() -> laxity_model::Result<()> {
//! # let results = laxity_trace::load(std::path::Path::new("results"))?;
//! let report = laxity_report::Report::of(&results)?;
//! println!("{}", report.text(laxity_report::TextStyle::default()));
//! report.write(&laxity_model::OutputDirectory::open(std::path::Path::new("results"))?)?;
//! # Ok(())
//! # }
//! ```

#![warn(clippy::print_stdout, clippy::print_stderr, clippy::disallowed_methods)]

mod analysis;
mod background;
mod beside;
mod caches;
mod causes;
mod difference_text;
mod disturbed;
mod evidence_tables;
mod grid;
mod html;
mod inflation;
mod markdown;
mod misses;
mod noise;
mod number;
mod pages;
mod plot;
mod recommend;
mod study;
mod symbols;
mod table;
mod terminal;
pub mod timeline;
mod verified;
mod what_to_set;

pub use beside::{Beside, Later, Pair, TaskCount};
pub use causes::{CauseCount, MissCauses, TaskCauses};
pub use number::{count, percent, significant, span_ns};
pub use pages::{PageSection, PlainTable, StudyPage};
pub use plot::{BarsFigure, LinesFigure, LinesPanel, LinesScale, Plot};
pub use recommend::{
    ConfigurationDifference, DIFFERENCE_VERSION, Difference, DifferenceVerdict, Metric, MetricDifference,
    Objection, Recommendation,
};
pub use study::Configuration;
pub use symbols::{ascii, locale_is_utf8};
pub use terminal::TextStyle;
pub use verified::Verified;

use grid::{Layout, point_of_set};
use html::{PlacedPlots, Schedules};
use laxity_deploy::DeployPlan;
use laxity_model::{OutputDirectory, Result};
use laxity_trace::{Results, RunDigest, Summary};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;
use study::{Source, Study};

/// Name of the page that [`Report::write`] writes.
pub const HTML_FILE: &str = "report.html";
/// Name of the summary that [`Report::write`] writes.
pub const MARKDOWN_FILE: &str = "summary.md";
/// Name of the directory of plots that [`Report::write`] writes.
pub const PLOTS_DIRECTORY: &str = "plots";

/// How to deploy a configuration: commands or a unit file, as text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DeployText {
    /// Name of the scheduler that it deploys.
    pub scheduler: String,
    /// What the text is: "systemd unit", "commands".
    pub title: String,
    /// The text, shown as it is.
    pub text: String,
}

/// Results, evaluated and ready to be written in any form.
pub struct Report<'a> {
    study: Study<'a>,
    layout: Layout,
    recommendation: Recommendation,
    set_recommendations: Vec<Recommendation>,
    cell_recommendations: Vec<Recommendation>,
    beside: Vec<Beside>,
    causes: Vec<MissCauses>,
    deploy: Vec<DeployText>,
    to_set: Vec<DeployPlan>,
    reading: Option<String>,
    schedules: Schedules,
}

impl<'a> Report<'a> {
    /// Evaluates `results`.
    ///
    /// Errors: a task set of the manifest is not valid, or a run or job refers to something that is not there.
    pub fn of(results: &'a Results) -> Result<Report<'a>> {
        Self::of_digests(results, BTreeMap::new())
    }

    /// The same where some runs have not kept their jobs: `digests` has what was gathered of them, by number of the run.
    ///
    /// Errors: as [`Report::of`].
    pub fn of_digests(results: &'a Results, digests: BTreeMap<u32, RunDigest>) -> Result<Report<'a>> {
        Self::of_study(Study::of(results, Source::Digests(digests))?)
    }

    /// Evaluates results whose runs have not kept their jobs, from their summary. There is nothing to plot.
    ///
    /// Errors: a task set of the manifest is not valid.
    pub fn of_summary(results: &'a Results, summary: Summary) -> Result<Report<'a>> {
        Self::of_study(Study::of(results, Source::Summary(summary))?)
    }

    fn of_study(study: Study<'a>) -> Result<Report<'a>> {
        let layout = Layout::of(&study);
        let set_recommendations: Vec<Recommendation> =
            study.all_sets().into_iter().map(|set| recommend::recommend(&study, &[set])).collect();
        let mut recommendation = recommend::recommend(&study, &study.all_sets());
        recommendation.count_sets(&set_recommendations);
        let cell_recommendations =
            layout.points.iter().map(|cell| recommend::recommend(&study, &cell.sets)).collect();
        Ok(Report {
            beside: beside::beside(&study),
            causes: causes::causes(&study, &study.all_sets()),
            study,
            layout,
            recommendation,
            set_recommendations,
            cell_recommendations,
            deploy: vec![],
            to_set: vec![],
            reading: None,
            schedules: Schedules::default(),
        })
    }

    /// Adds how to deploy what was recommended.
    #[must_use]
    pub fn with_deploy(mut self, deploy: Vec<DeployText>) -> Self {
        self.deploy = deploy;
        self
    }

    /// Adds what to set for the threads of each set under what was recommended.
    #[must_use]
    pub fn with_plans(mut self, plans: Vec<DeployPlan>) -> Self {
        self.to_set = plans;
        self
    }

    /// Adds the section "Reading": what a person makes of the results. Paragraphs, `#` headings and `-` lists.
    #[must_use]
    pub fn with_reading(mut self, reading: impl Into<String>) -> Self {
        self.reading = Some(reading.into()).filter(|text| !text.trim().is_empty());
        self
    }

    /// Adds schedules to zoom in to the page, of the runs whose events are in a results directory: of the first 8, and
    /// 1,000,000 intervals in all.
    ///
    /// Errors: an events file that cannot be read or is damaged.
    pub fn with_schedules(mut self, directory: &Path) -> Result<Self> {
        self.schedules = Schedules::of(&self.study, directory)?;
        Ok(self)
    }

    /// The metrics that the report shows.
    pub fn summary(&self) -> &Summary {
        &self.study.summary
    }

    /// The schedulers compared, in the order of the tables.
    pub fn configurations(&self) -> &[Configuration] {
        &self.study.configurations
    }

    /// The runs.
    pub fn runs(&self) -> &[laxity_trace::Run] {
        &self.study.results.runs
    }

    /// What is proven of each set under each scheduler.
    pub fn analysis(&self) -> &[laxity_trace::AnalysisRecord] {
        &self.study.results.analysis
    }

    /// What to deploy, over all sets.
    pub fn recommendation(&self) -> &Recommendation {
        &self.recommendation
    }

    /// The scheduler whose settings are worth writing down: the recommended one, or the only one there is.
    pub fn deployable(&self) -> Option<&str> {
        let sole = || match &self.study.configurations[..] {
            [one] if !self.recommendation.ranking.is_empty() => Some(one.scheduler.as_str()),
            _ => None,
        };
        self.recommendation.scheduler.as_deref().or_else(sole)
    }

    /// What to set for the threads of each set, if that is known.
    pub fn plans(&self) -> &[DeployPlan] {
        &self.to_set
    }

    /// What to deploy for each set alone, in the order of the manifest.
    pub fn set_recommendations(&self) -> &[Recommendation] {
        &self.set_recommendations
    }

    /// What was simulated beside what was measured, scheduler by scheduler.
    pub fn beside(&self) -> &[Beside] {
        &self.beside
    }

    /// Why deadlines were missed, configuration by configuration of those that were measured and missed.
    pub fn causes(&self) -> &[MissCauses] {
        &self.causes
    }

    /// The report as text: tables and the recommendation.
    pub fn text(&self, style: TextStyle) -> String {
        terminal::text(self, style)
    }

    /// The recommendation alone as text.
    pub fn recommendation_text(&self, style: TextStyle) -> String {
        terminal::recommendation(&self.recommendation, style)
    }

    /// A short summary in Markdown: the answer and small tables.
    pub fn markdown(&self) -> String {
        markdown::summary(self)
    }

    /// Every plot.
    ///
    /// Errors: the plotting library could not draw.
    pub fn plots(&self) -> Result<Vec<Plot>> {
        let placed = self.placed_plots()?;
        Ok(placed.overview.into_iter().chain(placed.sets.into_iter().flatten()).collect())
    }

    /// The page: everything, with nothing loaded from elsewhere. Plots beyond 4 MB are links into
    /// [`PLOTS_DIRECTORY`].
    ///
    /// Errors: the plotting library could not draw.
    pub fn html(&self) -> Result<String> {
        html::page(self, &self.placed_plots()?)
    }

    /// Writes [`HTML_FILE`], [`MARKDOWN_FILE`] and [`PLOTS_DIRECTORY`] into a directory.
    ///
    /// Errors: a file cannot be written.
    pub fn write(&self, directory: &OutputDirectory) -> Result<()> {
        let placed = self.placed_plots()?;
        let all = placed.overview.iter().chain(placed.sets.iter().flatten());
        let plots = all.map(|plot| (plot.stem.as_str(), plot.svg.as_str()));
        directory.fill_subdirectory(PLOTS_DIRECTORY, "svg", plots)?;
        directory.write(MARKDOWN_FILE, self.markdown().as_bytes())?;
        directory.write(HTML_FILE, html::page(self, &placed)?.as_bytes())
    }

    fn placed_plots(&self) -> Result<PlacedPlots> {
        let study = &self.study;
        let mut overview = Vec::new();
        if self.layout.grid {
            for cell in &self.layout.points {
                overview.extend(plot::laxity_plots(study, cell)?);
            }
        }
        overview.extend(plot::working_set_plots(study, &self.layout)?);
        let mut sets = Vec::new();
        for set in study.all_sets() {
            sets.push(plot::set_plots(study, set, &point_of_set(study, set), self.layout.grid)?);
        }
        Ok(PlacedPlots { overview, sets })
    }
}

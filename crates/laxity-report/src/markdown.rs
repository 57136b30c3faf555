//! A short summary for a README next to the results.

use crate::evidence_tables;
use crate::{Recommendation, Report};
use laxity_model::markdown::{inline, line};

/// The answer, the glance, misses by task, Table 4.
pub(crate) fn summary(report: &Report<'_>) -> String {
    let study = &report.study;
    let all = study.all_sets();
    let mut out = format!("## Answer\n\n{}\n", answer(&report.recommendation));
    for to_set in crate::what_to_set::tables(&report.to_set) {
        out += &format!("## {}\n\n{}\n", inline(&to_set.caption), to_set.markdown());
    }
    out += &format!(
        "## Schedulers\n\n{}\n",
        evidence_tables::glance(study, &all, &report.recommendation).markdown()
    );
    if let Some(worst) = evidence_tables::worst_tasks(study, &all, evidence_tables::WORST_TASKS_MOST) {
        out += &format!("## {}\n\n{}\n", inline(&worst.caption), worst.markdown());
    }
    if let Some(causes) = crate::causes::table(study, report.causes()) {
        out += &format!("## {}\n\n{}\n", inline(&causes.caption), causes.markdown());
    }
    if let Some(noise) = crate::disturbed::table(study, &report.recommendation.misses_per_run) {
        out += &format!("## {}\n\n{}\n", inline(&noise.caption), noise.markdown());
    }
    if let Some(verified) = crate::verified::table(study) {
        out += &format!("## {}\n\n{}\n", inline(&verified.caption), verified.markdown());
    }
    if let Some(beside) = crate::beside::table(study, report.beside()) {
        out += &format!("## {}\n\n{}\n", inline(&beside.caption), beside.markdown());
    }
    if let Some(caches) = crate::caches::table(study) {
        out += &format!("## {}\n\n{}\n", inline(&caches.caption), caches.markdown());
    }
    if let Some(background) = crate::background::table(study) {
        out += &format!("## {}\n\n{}\n", inline(&background.caption), background.markdown());
    }
    for table in evidence_tables::table_4_on_page(study, &report.layout) {
        out += &format!("### {}\n\n{}\n", inline(&table.caption), table.markdown());
    }
    out
}

fn answer(recommendation: &Recommendation) -> String {
    let headline = format!("**{}.**", recommendation.headline(inline));
    let items = |items: &[String]| items.iter().map(|item| format!("- {}\n", line(item))).collect::<String>();
    let mut out = format!("{headline}\n\n{}", items(&recommendation.reasons));
    if !recommendation.caveats.is_empty() {
        out += &format!("\nBefore you rely on it:\n\n{}", items(&recommendation.caveats));
    }
    out
}

//! The answer in tables and words.

use crate::output;
use crate::tables::{fitted, table};
use laxity_lab::settings::answer::{Answer, CellSettings, SettingsAnswer, TaskSettings};
use laxity_model::{Duration, Utilization, cpus_named};

/// Everything.
pub fn text(answer: &Answer) -> String {
    let mut text = String::new();
    match &answer.settings {
        None => {
            text += &format!("{}: nothing is proven on platform `{}`\n", answer.task_set, answer.platform)
        }
        Some(settings) => text += &of_settings(answer, settings, output::width()),
    }
    for not in &answer.not_proven {
        let task = not.task.as_ref().map_or(String::new(), |task| format!("task `{task}`: "));
        text += &format!("{}: {task}{}\n", not.scheduler, not.reason);
    }
    text
}

fn of_settings(answer: &Answer, settings: &SettingsAnswer, width: u16) -> String {
    let mut text = format!(
        "{} on platform `{}`: {}, {}\nWhat to set\n",
        answer.task_set,
        answer.platform,
        settings.scheduler,
        settings.hard.words()
    );
    text += &tasks(settings, width);
    for cell in &settings.cells {
        text += &of_cell(answer, settings, cell);
    }
    text += &format!("placement: {}\n", settings.placement);
    settings.assumptions.iter().for_each(|one| text += &format!("assumed: {one}\n"));
    settings.notes.iter().for_each(|one| text += &format!("note: {one}\n"));
    text
}

fn tasks(settings: &SettingsAnswer, width: u16) -> String {
    let mut table = table(Some(width));
    let deadline = settings.tasks.iter().any(|task| task.runtime_ns.is_some());
    let time = |ns: Option<u64>| ns.map_or(String::new(), |ns| Duration::from_ns(ns).to_string());
    let soft = settings.tasks.iter().any(|task| task.miss_probability > 0.0);
    let parameters: &[&str] = if deadline { &["Runtime", "Deadline", "Period"] } else { &["Priority"] };
    let misses: &[&str] = if soft { &["P(miss) ≤"] } else { &[] };
    table.set_header([&["Thread", "Policy"], parameters, &["CPUs", "R ≤"], misses].concat());
    for one in &settings.tasks {
        let TaskSettings { task, policy, priority, runtime_ns, deadline_ns, period_ns, .. } = one;
        let mut row = vec![task.clone(), policy.clone()];
        match priority {
            Some(priority) => row.push(priority.to_string()),
            None => row.extend([*runtime_ns, *deadline_ns, *period_ns].map(time)),
        }
        row.extend([one.cpus.clone(), time(one.response_ns)]);
        if soft {
            row.push(one.miss_probability.to_string());
        }
        table.add_row(row);
    }
    fitted(table)
}

fn of_cell(answer: &Answer, settings: &SettingsAnswer, cell: &CellSettings) -> String {
    let share = |q20: u64| Utilization::ratio(q20, 1 << 20);
    let what = match &cell.priorities {
        Some(order) => format!("priorities {order}; utilization"),
        None => "admitted bandwidth".to_owned(),
    };
    let rule = if settings.tasks.iter().any(|task| task.runtime_ns.is_some()) {
        format!("{}: sched_rt_runtime_us less the servers", answer.kernel.whose)
    } else {
        format!("{}: SCHED_FIFO", answer.kernel.whose)
    };
    format!(
        "{}: {what} {:.4} of {:.4} ({rule})\n",
        cpus_named(&cell.cpus),
        share(cell.bandwidth_q20),
        share(cell.limit_q20)
    )
}

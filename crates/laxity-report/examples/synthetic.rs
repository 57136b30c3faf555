//! Writes the reports of the synthetic results of the tests, to look at: `synthetic DIRECTORY`.

#[path = "../tests/report/synthetic.rs"]
#[allow(dead_code, reason = "the tests use the rest")]
mod synthetic;

use laxity_model::OutputDirectory;
use laxity_report::{DeployText, Report, TextStyle};
use std::path::PathBuf;

fn main() -> laxity_model::Result<()> {
    let directory = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "synthetic-report".to_owned()));
    let rover = synthetic::rover();
    let grid = synthetic::grid(3, laxity_model::Duration::from_secs(5));
    for (name, results) in [("rover", &rover), ("grid", &grid)] {
        let deploy = DeployText {
            scheduler: "p-edf".into(),
            title: "systemd unit".into(),
            text: "[Service]\nAllowedCPUs=1\nCPUSchedulingPolicy=fifo".into(),
        };
        let report = Report::of(results)?
            .with_deploy(vec![deploy])
            .with_reading("# What to see\n\nMigrations cost little here.\n\n- first point\n- second point");
        report.write(&OutputDirectory::create(&directory.join(name))?)?;
        println!(
            "{}",
            report.text(TextStyle {
                width: Some(110),
                borders: true,
                color: false,
                verbose: true,
                ..TextStyle::default()
            })
        );
    }
    Ok(())
}

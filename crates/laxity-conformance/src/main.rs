//! `laxity-conformance report`: what the verifier has to look at, whether both builds decide the same, and what queue
//! operations cost.

use clap::{Args, Parser, Subcommand};
use laxity_conformance::hold::Effort;
use laxity_conformance::report;
use std::process::ExitCode;

#[derive(Parser)]
#[command(about = "Checks and measures policy/ natively and as BPF")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Measures everything and prints it.
    Report(ReportArguments),
}

#[derive(Args)]
struct ReportArguments {
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Samples per queue, build and size.
    #[arg(long, default_value_t = 21, value_parser = clap::value_parser!(u16).range(1..))]
    samples: u16,
    /// Operations of one sample.
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    operations: u32,
    /// Sizes of the queues, in jobs.
    #[arg(
        long,
        value_delimiter = ',',
        default_values_t = [8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096],
        value_parser = clap::value_parser!(u32).range(1..=4096)
    )]
    jobs: Vec<u32>,
}

fn main() -> ExitCode {
    let Command::Report(arguments) = Arguments::parse().command;
    let effort = Effort { samples: arguments.samples.into(), operations: arguments.operations };
    match report::make(&arguments.jobs, effort, |what| eprintln!("{what}")) {
        Ok(report) if arguments.json => {
            println!("{}", serde_json::to_string_pretty(&report).expect("it is made of numbers and words"));
            ExitCode::SUCCESS
        }
        Ok(report) => {
            print!("{}", report.text());
            ExitCode::SUCCESS
        }
        Err(wrong) => {
            eprintln!("error: {wrong}");
            ExitCode::FAILURE
        }
    }
}

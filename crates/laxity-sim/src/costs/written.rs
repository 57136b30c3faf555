//! Costs as a costs file that needs no other: what results keep, so that they say what was simulated.

use super::cache_costs::{CacheCosts, LineLatencies, MeasuredDelays, Reload};
use super::{COSTS_VERSION, Cost, Costs, PiecewiseLinear};
use laxity_model::Duration;
use std::fmt::Write;

impl Costs {
    /// The costs as TOML, which [`Costs::from_toml`] reads as the same costs, whatever files they came from.
    pub fn to_toml(&self) -> String {
        let mut text = format!("version = {COSTS_VERSION}\n");
        for (name, cost) in self.named() {
            if *cost != Cost::Zero {
                text += &format!("{name} = {}\n", cost_text(cost));
            }
        }
        text += &format!("tick_period = \"{}\"\n", self.tick_period);
        if let Some(cache) = &self.cache {
            text += "[cache]\n";
            text += &cache_text(cache);
        }
        text
    }
}

fn cost_text(cost: &Cost) -> String {
    match cost {
        Cost::Zero => "\"0ns\"".to_owned(),
        Cost::Constant(time) => format!("\"{time}\""),
        Cost::PiecewiseLinear(function) => function_text(function),
        Cost::Distribution(distribution) => match distribution.written() {
            Ok(text) => format!("\"{text}\""),
            Err(samples) => {
                let times: Vec<String> =
                    samples.iter().map(|&ns| format!("\"{}\"", Duration::from_ns(ns))).collect();
                format!("{{ samples = [{}] }}", times.join(", "))
            }
        },
    }
}

fn function_text(function: &PiecewiseLinear) -> String {
    let point = |&(x, ns): &(u64, u64)| format!("[{x}, \"{}\"]", Duration::from_ns(ns));
    format!("[{}]", function.samples().iter().map(point).collect::<Vec<_>>().join(", "))
}

fn cache_text(cache: &CacheCosts) -> String {
    let (whole, parts) = (cache.evicted_ppm / 1_000_000, cache.evicted_ppm % 1_000_000);
    let mut text = match cache.tracked {
        true => "tracked = true\n".to_owned(),
        false => format!("evicted = \"{whole}.{parts:06}\"\n"),
    };
    text += &match &cache.reload {
        Reload::Measured(delays) => delays_text(delays),
        Reload::Lines(latencies) => latencies_text(latencies),
    };
    text
}

fn delays_text(delays: &MeasuredDelays) -> String {
    let mut text = format!("cpmd = {{ memory = {}", function_text(&delays.memory));
    for (level, function) in &delays.levels {
        let _ = write!(text, ", l{level} = {}", function_text(function));
    }
    text + " }\n"
}

fn latencies_text(latencies: &LineLatencies) -> String {
    let mut text = format!("line = \"{}B\"\n", latencies.line_bytes);
    for (level, ps) in &latencies.levels_ps {
        let _ = writeln!(text, "l{level} = \"{ps}ps\"");
    }
    let _ = writeln!(text, "memory = \"{}ps\"", latencies.memory_ps);
    if let Some(ps) = latencies.remote_memory_ps {
        let _ = writeln!(text, "remote_memory = \"{ps}ps\"");
    }
    text
}

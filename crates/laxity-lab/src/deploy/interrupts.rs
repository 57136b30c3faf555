//! Interrupts of devices that reach CPUs of a plan.

use laxity_model::CpuList;
use schemars::JsonSchema;
use serde::Serialize;
use std::fs;
use std::path::Path;

/// An interrupt that may reach a real-time CPU.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Interrupt {
    /// Its number.
    pub irq: u32,
    /// The devices behind it.
    pub devices: Vec<String>,
    /// The CPUs that it is sent to.
    pub cpus: String,
}

/// The interrupts with a device behind them that are sent to one of `cpus`, of the machine whose `/proc` is under `root`.
///
/// # Errors
///
/// The machine does not say which interrupts it has.
pub fn on(root: &Path, cpus: &CpuList) -> std::io::Result<Vec<Interrupt>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(root.join("proc/irq"))? {
        let path = entry?.path();
        let Some(irq) = path.file_name().and_then(|name| name.to_str()?.parse().ok()) else { continue };
        let below = fs::read_dir(&path)?.flatten().filter(|entry| entry.path().is_dir());
        let mut devices: Vec<String> =
            below.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        devices.sort();
        let list = |file: &str| fs::read_to_string(path.join(file)).ok()?.trim().parse::<CpuList>().ok();
        // Where the kernel has it, what is in force.
        let sent = list("effective_affinity_list")
            .filter(|cpus| !cpus.is_empty())
            .or_else(|| list("smp_affinity_list"));
        let Some(sent) = sent.filter(|_| !devices.is_empty()) else { continue };
        if !sent.intersection(cpus).is_empty() {
            found.push(Interrupt { irq, devices, cpus: sent.to_string() });
        }
    }
    found.sort_by_key(|interrupt| interrupt.irq);
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_of_devices_on_the_cpus_are_found() {
        let root = tempfile::tempdir().expect("a directory");
        let irq = |number: u32, device: Option<&str>, file: &str, cpus: &str| {
            let folder = root.path().join(format!("proc/irq/{number}"));
            fs::create_dir_all(device.map_or(folder.clone(), |device| folder.join(device))).expect("made");
            fs::write(folder.join(file), format!("{cpus}\n")).expect("written");
        };
        irq(9, Some("acpi"), "smp_affinity_list", "0-3");
        irq(24, Some("eth0"), "effective_affinity_list", "2");
        irq(25, Some("nvme"), "effective_affinity_list", "0");
        irq(26, None, "effective_affinity_list", "2");
        fs::write(root.path().join("proc/irq/default_smp_affinity"), "f").expect("written");
        let found = on(root.path(), &"2-3".parse().expect("CPUs")).expect("readable");
        let brief: Vec<(u32, &str, &str)> =
            found.iter().map(|one| (one.irq, one.devices[0].as_str(), one.cpus.as_str())).collect();
        assert_eq!(brief, [(9, "acpi", "0-3"), (24, "eth0", "2")]);
    }
}

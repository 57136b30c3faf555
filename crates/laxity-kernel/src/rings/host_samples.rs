//! Samples of overheads that only a policy's host can see (`bpf/host/samples.h`), found in the running kernel: they
//! can be measured by another process than the one that has attached the policy, and measuring may begin and end
//! while the policy schedules.

use super::{Record, Rings};
use crate::skeleton::SAMPLE_RINGS;
use libbpf_rs::MapHandle;
use libbpf_rs::query::MapInfoIter;
use std::path::Path;
use std::process;
use std::time::{Duration, Instant};

/// How often it is looked for hosts.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The sample rings of all hosts in the kernel. Samples are written while this exists. A ring has one reader: what another
/// process reads is left to it.
pub struct HostSamples {
    found: Vec<(u32, Rings)>,
    /// Maps that another process reads.
    others: Vec<u32>,
    looked: Option<Instant>,
}

impl HostSamples {
    /// Looks for hosts now, and again whenever it is drained: a policy may be attached later.
    pub fn find() -> HostSamples {
        let mut samples = HostSamples { found: Vec::new(), others: Vec::new(), looked: None };
        samples.look();
        samples
    }

    /// Takes every published sample. Returns their number.
    pub fn drain(&mut self, mut each: impl FnMut(&Record)) -> usize {
        self.look();
        self.found.iter_mut().map(|(_, rings)| rings.drain(&mut each)).sum()
    }

    /// How many hosts have been found.
    pub fn hosts(&self) -> usize {
        self.found.len()
    }

    /// The number of hosts whose samples another process reads.
    pub fn read_by_others(&self) -> usize {
        self.others.len()
    }

    /// How many samples found no place, by CPU.
    pub fn lost(&self) -> Vec<u64> {
        let all: Vec<Vec<u64>> = self.found.iter().map(|(_, rings)| rings.lost()).collect();
        let cpus = all.iter().map(Vec::len).max().unwrap_or(0);
        (0..cpus).map(|cpu| all.iter().filter_map(|lost| lost.get(cpu)).sum()).collect()
    }

    fn look(&mut self) {
        if self.looked.is_some_and(|looked| looked.elapsed() < LOOK_EVERY) {
            return;
        }
        self.looked = Some(Instant::now());
        for info in MapInfoIter::default().filter(|info| info.name.to_str() == Some(SAMPLE_RINGS)) {
            if self.found.iter().any(|(id, _)| *id == info.id) || self.others.contains(&info.id) {
                continue;
            }
            // It may have gone since, and then there is nothing to be had of it.
            let Ok(map) = MapHandle::from_map_id(info.id) else { continue };
            let Ok(mut rings) = Rings::of_map(map) else { continue };
            if !(0..rings.count()).all(|cpu| rings.ring(cpu).claim(process::id(), is_alive)) {
                give_back(&rings);
                self.others.push(info.id);
                continue;
            }
            rings.drain(|_| ());
            self.found.push((info.id, rings));
        }
    }
}

/// A reader that was killed has given nothing back.
fn is_alive(process: u32) -> bool {
    process != process::id() && Path::new("/proc").join(process.to_string()).exists()
}

impl Drop for HostSamples {
    fn drop(&mut self) {
        self.found.iter().for_each(|(_, rings)| give_back(rings));
    }
}

fn give_back(rings: &Rings) {
    (0..rings.count()).for_each(|cpu| rings.ring(cpu).give_back(process::id()));
}

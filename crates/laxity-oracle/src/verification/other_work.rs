//! Other work than jobs, which has CPUs by a server (`servers.rs`) or by the reserve (`reserve.rs`).

use super::Verification;
use super::reserve::Reserves;
use super::servers::{Change, Servers};
use laxity_trace::{Event, EventKind};

impl Verification<'_> {
    /// When the right of other work to a CPU comes or goes by itself.
    pub(super) fn next_change_of_other_work(&self) -> Option<u64> {
        let server = self.servers.as_ref().and_then(Servers::next_change);
        let reserve = self.reserves.as_ref().and_then(Reserves::next_change);
        [server, reserve].into_iter().flatten().min()
    }

    /// Other work gets a CPU or loses it.
    pub(super) fn other_work(&mut self, event: &Event) {
        self.ordinary_job(event);
        self.other_work_waits(event);
        let (Some(cpu), Some(servers)) = (event.cpu, &mut self.servers) else { return };
        let runs = event.kind == EventKind::BackgroundStart;
        if let Some(change) = servers.other_work(cpu, runs, self.now_ns) {
            self.right_of_other_work(change);
        }
    }

    /// Other work begins to wait, or no longer does.
    pub(super) fn other_work_waits(&mut self, event: &Event) {
        if let Some(reserves) = &mut self.reserves {
            reserves.other_work(&self.trace, event);
        }
    }

    pub(super) fn right_of_other_work(&mut self, change: Change) {
        match change {
            Change::Withdrawn(cluster) => self.order.withdraw(cluster),
            Change::GivenBack(cluster) => self.order.give_back(cluster),
        }
    }
}

//! The overheads that tests, simulations and measurements have in common, each a column of the field's CSV files.

crate::listed_enum! {
    /// The overheads that depend on the number of tasks, in the order of their columns in files.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Overhead {
        /// ipi: from the sending of a reschedule interrupt to its handler.
        IpiLatency,
        /// sch: to pick the next task.
        Schedule,
        /// rel: the handler of a release interrupt.
        Release,
        /// cxs: to switch between tasks.
        ContextSwitch,
        /// tck: the handler of the timer tick.
        Tick,
        /// ev: from a job's arrival to the beginning of the release interrupt's handler.
        ReleaseLatency,
        /// req: from a client's request to the scheduling processor that reads it (G-EDF-MP).
        RequestLatency,
        /// dsp: the scheduling processor's handling of one request (G-EDF-MP).
        DspHandler,
    }
}

impl Overhead {
    /// Its column in CSV files.
    pub const fn column(self) -> &'static str {
        match self {
            Overhead::IpiLatency => "IPI-LATENCY",
            Overhead::Schedule => "SCHEDULE",
            Overhead::Release => "RELEASE",
            Overhead::ContextSwitch => "CXS",
            Overhead::Tick => "TICK",
            Overhead::ReleaseLatency => "RELEASE-LATENCY",
            Overhead::RequestLatency => "MAILBOX",
            Overhead::DspHandler => "DSP",
        }
    }

    /// Whether only schedulers have it whose clients send messages to a scheduling processor.
    pub fn is_of_messages(self) -> bool {
        match self {
            Overhead::RequestLatency | Overhead::DspHandler => true,
            Overhead::IpiLatency
            | Overhead::Schedule
            | Overhead::Release
            | Overhead::ContextSwitch
            | Overhead::Tick
            | Overhead::ReleaseLatency => false,
        }
    }
}

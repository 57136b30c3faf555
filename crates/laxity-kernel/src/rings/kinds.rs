//! What a record is (`bpf/trace/kinds.h`).

use laxity_trace::EventKind;

/// A record's kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A schedule event.
    Event(EventKind),
    /// A sample of an overhead.
    Sample(SampleKind),
}

/// Declares the kinds of samples once, each with its code and its name in results.
macro_rules! sample_kinds {
    ($($(#[$documentation:meta])* $kind:ident = $code:literal $name:literal,)*) => {
        /// What a sample measures. Names in results are in kebab case; definitions are those of cerqueira2014, IV-A,
        /// unless said.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum SampleKind {
            $($(#[$documentation])* $kind = $code,)*
        }

        impl SampleKind {
            /// All kinds, by ascending code.
            pub const ALL: [SampleKind; [$($name),*].len()] = [$(SampleKind::$kind),*];

            /// The name in results.
            pub fn name(self) -> &'static str {
                match self {
                    $(SampleKind::$kind => $name,)*
                }
            }
        }
    };
}

sample_kinds! {
    /// From the nominal release until the handler that releases runs.
    ReleaseLatency = 64 "release-latency",
    /// That handler, until the job is queued and preemptions are asked for.
    Release = 65 "release",
    /// From sending a reschedule interrupt until its handler runs.
    IpiLatency = 66 "ipi-latency",
    /// Scheduling before a switch: from the scheduler's entry until the next thread is chosen.
    Schedule = 67 "schedule-before",
    /// Scheduling after a switch, until the scheduler is left; argument2: the part before it, in ns.
    Schedule2 = 68 "schedule-after",
    /// Between the two.
    ContextSwitch = 69 "context-switch",
    /// The handler of a timer tick.
    Tick = 70 "tick",
    /// From sending a message to the dedicated scheduling processor until it takes it.
    RequestLatency = 71 "request-latency",
    /// The dedicated scheduling processor's handling of a message.
    DspHandler = 72 "dsp-handler",
    /// A scheduler's run that keeps the running thread, from entry to exit.
    ScheduleKept = 73 "schedule-kept",
    /// The scheduler's part of a tick.
    SchedulerTick = 74 "scheduler-tick",
    /// A throttled thread's budget is replenished.
    Replenish = 75 "replenish",
    /// Both parts of a scheduling around a switch: made by the reader, never written in the kernel.
    ScheduleBoth = 76 "schedule",
    /// A thread is put into a scheduling class's queue (lelli2012, 6.4, as the next four).
    Enqueue = 80 "enqueue",
    /// It is taken out.
    Dequeue = 81 "dequeue",
    /// A class chooses the next thread.
    Pick = 82 "pick",
    /// Waiting threads are sent to other CPUs.
    Push = 83 "push",
    /// Waiting threads are fetched from other CPUs.
    Pull = 84 "pull",
    /// The CPU of a waking thread is chosen.
    SelectCpu = 85 "select-cpu",
    /// Other CPUs are asked to reschedule, under sched_ext.
    Kick = 86 "kick",
    /// A function that does next to nothing: what tracing itself adds to a sample.
    Empty = 127 "empty",
}

impl SampleKind {
    /// The code in records.
    pub fn code(self) -> u32 {
        u32::from(self as u8)
    }

    /// The kind with this name.
    pub fn named(name: &str) -> Option<SampleKind> {
        SampleKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl Kind {
    /// The kind with this code in a record; nothing if there is none.
    pub fn of(code: u32) -> Option<Kind> {
        let event = |code: u32| EventKind::ALL.get(code as usize).copied().map(Kind::Event);
        match code {
            0 => None,
            1..64 => event(code - 1),
            _ => SampleKind::ALL.into_iter().find(|kind| kind.code() == code).map(Kind::Sample),
        }
    }

    /// The code in a record.
    pub fn code(self) -> u32 {
        match self {
            Kind::Event(kind) => u32::from(kind.code()) + 1,
            Kind::Sample(kind) => kind.code(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = include_str!("../../../../bpf/trace/kinds.h");

    /// The constants of one enum of the header: names without their prefix, and values.
    fn constants(name: &str, prefix: &str) -> Vec<(String, u32)> {
        let body = HEADER.split_once(&format!("enum {name} {{")).expect(name).1;
        let body = body.split_once('}').expect("ends").0;
        let mut next = 0;
        let mut found = Vec::new();
        for line in body.lines().map(str::trim).filter(|line| line.starts_with(prefix)) {
            let text = line.strip_prefix(prefix).expect("filtered").trim_end_matches(',');
            let (constant, value) = match text.split_once(" = ") {
                Some((constant, value)) => (constant, value.parse().expect("a number")),
                None => (text, next),
            };
            found.push((constant.to_owned(), value));
            next = value + 1;
        }
        found
    }

    #[test]
    fn events_have_the_headers_codes() {
        let ours: Vec<(String, u32)> = EventKind::ALL
            .into_iter()
            .map(|kind| (kind.name().replace('-', "_").to_uppercase(), Kind::Event(kind).code()))
            .collect();
        assert_eq!(ours, constants("lx_trace_kind", "LX_TRACE_"));
        assert!(ours.iter().all(|&(_, code)| code < 64));
    }

    #[test]
    fn samples_have_the_headers_codes() {
        let ours: Vec<(String, u32)> =
            SampleKind::ALL.into_iter().map(|kind| (format!("{kind:?}"), kind.code())).collect();
        let camel = |name: String| -> String {
            name.split('_').map(|w| format!("{}{}", &w[..1], w[1..].to_lowercase())).collect()
        };
        let theirs: Vec<(String, u32)> =
            constants("lx_sample", "LX_SAMPLE_").into_iter().map(|(n, c)| (camel(n), c)).collect();
        assert_eq!(ours, theirs);
    }

    #[test]
    fn codes_lead_back_to_kinds() {
        let events = EventKind::ALL.into_iter().map(Kind::Event);
        for kind in events.chain(SampleKind::ALL.into_iter().map(Kind::Sample)) {
            assert_eq!(Kind::of(kind.code()), Some(kind));
        }
        let known = EventKind::ALL.len() + SampleKind::ALL.len();
        assert_eq!((0..1_000).filter(|&code| Kind::of(code).is_some()).count(), known);
        assert!(SampleKind::ALL.into_iter().all(|kind| SampleKind::named(kind.name()) == Some(kind)));
    }
}

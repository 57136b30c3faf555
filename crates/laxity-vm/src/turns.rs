//! The processors of a counted machine work one after the other: how long a turn takes, and that each gets its turns.
//!
//! QEMU lets a processor of such a machine go on until the machine's next timer is due, and Linux sets timers rarely: with two
//! processors that compute, one of them stands still for 2 to 40 ms. A timer that is always due soon makes turns short. The network
//! filter `filter-buffer` has one, since it holds packets back for a time; it needs neither packets nor anything of the guest.
//!
//! Before 8.1 QEMU runs the timers that are due when the next processor's turn comes, and that processor loses the turn. With two
//! processors it is the same one every time, for as long as the other computes: it stood still for 0.9 s. So between two processors
//! stands a spare one, which the guest does not start (`nr_cpus`): it loses turns that it has no use for. Since 8.1 QEMU divides
//! the time to the next timer by the number of processors, and each gets its part.

use crate::qemu_version::Version;

/// In so much time each processor has had a turn; turns of two take 30 us, of four 15 us. One that loses a turn now and then stands still
/// for less than two rounds.
const ROUND_US: u32 = 60;
/// Of many processors each has so long a turn: shorter ones would take the host longer than what is done in them.
const TURN_US_MIN: u32 = 10;
/// QEMU's PC has no more processors.
const CPUS_MAX: u32 = 255;
/// The first QEMU that divides the time to the next timer.
const DIVIDES_TIME: Version = Version(8, 1);

/// The processors of a counted machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turns {
    cpus: u32,
    /// So many of the first processors are followed by a spare one.
    spares: u32,
    /// How often the filter's timer is due.
    interval_us: u32,
}

impl Turns {
    /// Those of `cpus` processors, emulated by this version of QEMU.
    pub fn of(cpus: u32, qemu: Option<Version>) -> Turns {
        if qemu >= Some(DIVIDES_TIME) {
            return Turns { cpus, spares: 0, interval_us: ROUND_US.max(TURN_US_MIN * cpus) };
        }
        let turn_us = TURN_US_MIN.max(ROUND_US / cpus);
        Turns { cpus, spares: (cpus - 1).min(CPUS_MAX - cpus), interval_us: turn_us }
    }

    /// For QEMU's command line.
    pub fn arguments(&self) -> Vec<String> {
        let mut words = self.processors();
        // A processor by itself needs no turns.
        if self.cpus > 1 {
            let filter = format!("filter-buffer,id=timer,netdev=turns,interval={}", self.interval_us);
            words.extend(["-netdev", "hubport,id=turns,hubid=0", "-object", &filter].map(str::to_owned));
        }
        words
    }

    /// For the command line of the guest's kernel: it starts the first `cpus` and no spare one.
    pub fn kernel_option(&self) -> Option<String> {
        (self.spares > 0).then(|| format!("nr_cpus={}", self.cpus))
    }

    /// QEMU gives turns in the order in which processors are made. The guest counts them by their numbers as cores, so spare ones
    /// have the last numbers.
    fn processors(&self) -> Vec<String> {
        let Turns { cpus, spares, .. } = *self;
        if spares == 0 {
            return vec!["-smp".to_owned(), cpus.to_string()];
        }
        let all = cpus + spares;
        let mut words = vec!["-smp".to_owned(), format!("1,maxcpus={all},sockets=1,cores={all},threads=1")];
        for cpu in 1..cpus {
            let spare = cpus + cpu - 1;
            for core in [spare, cpu].into_iter().filter(|&core| core < all) {
                let device = format!("max-x86_64-cpu,socket-id=0,die-id=0,core-id={core},thread-id=0");
                words.extend(["-device".to_owned(), device]);
            }
        }
        words
    }
}

/// Whether this line of QEMU's is about the filter's network, which is connected to nothing.
pub fn warns_of_filter(line: &str) -> bool {
    line.ends_with("turns has no peer")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spare_one_follows_each_but_the_last() {
        let words = Turns::of(3, Some(Version(7, 2))).arguments().join(" ");
        let cores: Vec<&str> = words.split("core-id=").skip(1).map(|rest| &rest[..1]).collect();
        assert_eq!(cores, ["3", "1", "4", "2"], "{words}");
        assert!(words.starts_with("-smp 1,maxcpus=5,sockets=1,cores=5,threads=1 "), "{words}");
        assert!(words.ends_with("filter-buffer,id=timer,netdev=turns,interval=20"), "{words}");
        assert_eq!(Turns::of(3, None).kernel_option().as_deref(), Some("nr_cpus=3"));
    }

    #[test]
    fn a_qemu_that_divides_time_needs_none() {
        let turns = Turns::of(4, Some(Version(8, 1)));
        let words = turns.arguments().join(" ");
        assert!(words.starts_with("-smp 4 -netdev") && words.ends_with("interval=60"), "{words}");
        assert_eq!(turns.kernel_option(), None);
    }

    #[test]
    fn one_processor_has_no_turns_and_many_are_as_many_as_there_can_be() {
        assert_eq!(Turns::of(1, None).arguments(), ["-smp", "1"]);
        assert_eq!(Turns::of(1, None).kernel_option(), None);
        let words = Turns::of(250, None).arguments().join(" ");
        assert!(words.contains("maxcpus=255") && words.matches("core-id").count() == 254, "{words}");
        assert!(Turns::of(255, None).arguments().join(" ").starts_with("-smp 255 -netdev"));
    }

    #[test]
    fn a_warning_about_the_filter_is_known() {
        assert!(warns_of_filter("qemu-system-x86_64: warning: hub port turns has no peer"));
        assert!(!warns_of_filter("qemu-system-x86_64: cannot set up guest memory"));
    }
}

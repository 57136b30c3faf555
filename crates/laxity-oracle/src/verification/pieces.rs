//! Pieces of time that may explain why a job waits, and how much of its waiting they leave unexplained.

use super::rank::Rank;

/// A set of CPUs, by their indices in a trace's state.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct CpuSet(Vec<u64>);

impl CpuSet {
    pub fn insert(&mut self, cpu: u32) {
        let word = cpu as usize / 64;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (cpu % 64);
    }

    pub fn contains(&self, cpu: u32) -> bool {
        self.0.get(cpu as usize / 64).is_some_and(|word| word >> (cpu % 64) & 1 == 1)
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }
}

/// Which jobs' waiting a piece of time explains, besides those whose timer its CPU handles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    /// None.
    Timer,
    /// The CPU reschedules, or has been asked to. The rank of what ran when that began (`None`: idle). Excuses no job of lower priority.
    Reschedules(Option<Rank>),
    /// The dedicated CPU hears of endings, the first in priority of which is this one. Excuses no job of higher priority.
    News(Rank),
    /// All jobs.
    Any,
}

/// `[from, to)` on one CPU, or on the way to it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece {
    pub from_ns: u64,
    pub to_ns: u64,
    /// When this was recorded: not before `from_ns`.
    pub recorded_ns: u64,
    /// Since when the CPU has worked without a pause; `u64::MAX` for what is on the way.
    pub busy_since_ns: u64,
    pub cpu: u32,
    pub why: Why,
}

/// A job that waits.
#[derive(Debug, Clone, Default)]
pub(super) struct Waiting {
    pub rank: Rank,
    /// Any job of equal key may stand for another.
    pub has_free_ties: bool,
    /// When the timer went off that made it ready, and the latest instant at which its interrupt arrives.
    pub timer: Option<(u64, u64)>,
    /// The CPUs whose timer that may have been.
    pub timer_cpus: CpuSet,
    /// The CPUs whose queues it has been in since it ran or was released, as far as that is known and means something.
    pub queues: Option<CpuSet>,
}

impl Waiting {
    fn ties_with(&self, other: Rank) -> bool {
        self.has_free_ties && self.rank.0 == other.0
    }

    fn is_explained_by(&self, piece: &Piece) -> bool {
        let by_timer =
            |(_, latest): (u64, u64)| piece.busy_since_ns <= latest && self.timer_cpus.contains(piece.cpu);
        let by_news = match piece.why {
            // Whose timer it is: of any of the equals.
            Why::Timer => self.has_free_ties,
            Why::Reschedules(ran) => {
                ran.is_none_or(|ran| self.rank < ran || self.ties_with(ran))
                    || self.queues.as_ref().is_none_or(|queues| queues.contains(piece.cpu))
            }
            Why::News(ended) => ended <= self.rank || self.ties_with(ended),
            Why::Any => true,
        };
        by_news || self.timer.is_some_and(by_timer)
    }
}

/// The pieces of a cluster.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    /// In the order in which they were recorded.
    pieces: Vec<Piece>,
    /// How long after its record a piece ends at most.
    longest: u64,
    /// At how many pieces it is worth forgetting some.
    limit: usize,
    explained: Vec<(u64, u64)>,
}

/// Fewer are not worth forgetting.
const PIECES_MIN: usize = 256;

impl Pieces {
    pub fn push(&mut self, piece: Piece) {
        if piece.from_ns < piece.to_ns {
            self.longest = self.longest.max(piece.to_ns.saturating_sub(piece.recorded_ns));
            self.pieces.push(piece);
        }
    }

    pub fn are_many(&self) -> bool {
        self.pieces.len() > self.limit.max(PIECES_MIN)
    }

    /// Forgets what ends before `oldest`.
    pub fn forget(&mut self, oldest: u64) {
        self.pieces.retain(|piece| piece.to_ns > oldest);
        self.limit = 2 * self.pieces.len();
    }

    /// How much of `[from, to)` nothing explains to the job.
    pub fn unexplained(&mut self, waiting: &Waiting, from: u64, to: u64) -> u64 {
        let explained = &mut self.explained;
        explained.clear();
        explained.extend(waiting.timer);
        let longest = self.longest;
        let near =
            self.pieces.iter().rev().take_while(|piece| piece.recorded_ns.saturating_add(longest) > from);
        let overlapping = near.filter(|piece| piece.from_ns < to && piece.to_ns > from);
        explained.extend(
            overlapping.filter(|&piece| waiting.is_explained_by(piece)).map(|p| (p.from_ns, p.to_ns)),
        );
        explained.sort_unstable();
        let (mut unexplained, mut reached) = (0, from);
        for &(start, end) in explained.iter() {
            unexplained += start.min(to).saturating_sub(reached);
            reached = reached.max(end);
        }
        unexplained + to.saturating_sub(reached)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(from: u64, to: u64, why: Why) -> Piece {
        Piece { from_ns: from, to_ns: to, recorded_ns: from, busy_since_ns: from, cpu: 3, why }
    }

    #[test]
    fn sets_of_cpus() {
        let mut set = CpuSet::default();
        [0, 63, 64, 200].into_iter().for_each(|cpu| set.insert(cpu));
        let members: Vec<u32> = (0..300).filter(|&cpu| set.contains(cpu)).collect();
        assert_eq!(members, [0, 63, 64, 200]);
        set.clear();
        assert!(!set.contains(63));
    }

    #[test]
    fn a_piece_explains_what_it_may() {
        let known = Some(CpuSet::default());
        let job = Waiting { rank: (10, 1), queues: known.clone(), ..Waiting::default() };
        for (why, explains) in [
            (Why::Timer, false),
            (Why::Any, true),
            (Why::Reschedules(None), true),
            (Why::Reschedules(Some((10, 2))), true),
            (Why::Reschedules(Some((10, 0))), false),
            (Why::News((10, 1)), true),
            (Why::News((10, 2)), false),
        ] {
            assert_eq!(job.is_explained_by(&piece(0, 5, why)), explains, "{why:?}");
        }
        let free = Waiting { has_free_ties: true, ..job.clone() };
        for why in [Why::Timer, Why::Reschedules(Some((10, 0))), Why::News((10, 2))] {
            assert!(free.is_explained_by(&piece(0, 5, why)), "{why:?}");
        }
        for why in [Why::Reschedules(Some((9, 0))), Why::News((11, 0))] {
            assert!(!free.is_explained_by(&piece(0, 5, why)), "{why:?}");
        }
        let mut here = CpuSet::default();
        here.insert(3);
        let timed = Waiting { timer: Some((2, 4)), timer_cpus: here.clone(), ..job.clone() };
        assert!(
            timed.is_explained_by(&piece(4, 9, Why::Timer)),
            "busy when the interrupt comes at the latest"
        );
        assert!(!timed.is_explained_by(&piece(5, 9, Why::Timer)), "busy later");
        let before = Why::Reschedules(Some((10, 0)));
        for queues in [None, Some(here)] {
            assert!(Waiting { queues, ..job.clone() }.is_explained_by(&piece(0, 5, before)));
        }
    }

    #[test]
    fn what_overlaps_counts_once_and_gaps_add_up() {
        let mut pieces = Pieces::default();
        for (from, to) in [(10, 14), (12, 13), (12, 20), (25, 30), (29, 40)] {
            pieces.push(piece(from, to, Why::Any));
        }
        let job = Waiting { timer: Some((22, 23)), ..Waiting::default() };
        assert_eq!(pieces.unexplained(&job, 10, 40), 4);
        assert_eq!(pieces.unexplained(&job, 5, 50), 19);
        assert_eq!(pieces.unexplained(&job, 20, 22), 2);
        assert_eq!(pieces.unexplained(&job, 22, 23), 0);
        pieces.forget(30);
        assert_eq!(pieces.unexplained(&job, 25, 40), 4, "only what ends by then is forgotten");
    }
}

//! The packing heuristics and LWFG by a plain scan of all bins for every task, in rationals: what the crate finds faster has to be
//! the same. Nothing is taken from the crate but its words.

use laxity_model::{
    Core, CpuList, Duration, Group, Platform, Scope, Sharing, Speed, Task, TaskSet, Utilization,
};
use laxity_place::{Acceptance, Bin, Direction, Fit, Key, Method, Order, Overload, Packing, Request, Rule};
use proptest::prelude::*;
use std::cmp::Ordering;

/// A test that knows more than loads, and is not monotonic.
struct Picky(usize);

impl Acceptance for Picky {
    fn name(&self) -> String {
        "a picky test".into()
    }

    fn accepts(&self, bin: usize, tasks: &[usize]) -> bool {
        !(tasks.iter().sum::<usize>() + 2 * bin + tasks.len()).is_multiple_of(self.0)
    }
}

/// What is to be placed, and by which rules.
struct Plain<'a> {
    set: &'a TaskSet,
    bins: &'a [Bin],
    fit: Fit,
    test: Option<&'a Picky>,
    overload: Overload,
}

/// Tasks by bin, and those that fitted nowhere; nothing where one is refused.
type Placed = Option<(Vec<Vec<usize>>, Vec<usize>)>;

impl Plain<'_> {
    fn task(&self, id: usize) -> &Task {
        &self.set.tasks()[id]
    }

    fn load(&self, tasks: &[usize]) -> Utilization {
        let load = |id: &usize| match self.fit {
            Fit::Density => self.task(*id).density(),
            Fit::Utilization | Fit::DemandBound => self.task(*id).utilization(),
        };
        tasks.iter().fold(Utilization::zero(), |sum, id| sum.plus(&load(id)))
    }

    fn is_fast_enough(&self, id: usize, bin: usize) -> bool {
        let (task, speed) = (self.task(id), self.bins[bin].fastest());
        // Deadlines are for a test from outside to judge.
        let needed = if self.test.is_some() { task.utilization() } else { task.density() };
        needed <= Utilization::ratio(speed.numerator().into(), speed.denominator().into())
    }

    fn is_within_affinity(&self, id: usize, bin: usize) -> bool {
        self.task(id).affinity.as_ref().is_none_or(|cpus| self.bins[bin].cpus().is_subset(cpus))
    }

    /// Whether tasks may go into a bin and fit beside those that are there, which may be too many already.
    fn fit(&self, there: &[usize], more: &[usize], bin: usize) -> bool {
        let together = [there, more].concat();
        let may_go = |&id: &usize| self.is_fast_enough(id, bin) && self.is_within_affinity(id, bin);
        more.iter().all(may_go)
            && self.load(&together) <= *self.bins[bin].capacity()
            && (self.fit != Fit::DemandBound || self.within_demand(&together, bin))
            && self.test.is_none_or(|test| test.accepts(bin, &together))
    }

    /// DBF* by its definition, at every deadline.
    fn within_demand(&self, together: &[usize], bin: usize) -> bool {
        let deadline = |&id: &usize| self.task(id).deadline_rel;
        together.iter().map(deadline).all(|t| {
            let demand = |id: &usize| match t.checked_sub(deadline(id)) {
                None => Utilization::zero(),
                Some(past) => Utilization::whole(self.task(*id).wcet.as_ns())
                    .plus(&self.task(*id).utilization().times(&Utilization::whole(past.as_ns()))),
            };
            let demand = together.iter().fold(Utilization::zero(), |sum, id| sum.plus(&demand(id)));
            demand <= Utilization::whole(t.as_ns()).times(self.bins[bin].capacity())
        })
    }

    /// In the order of a key, ties by id.
    fn ordered(&self, order: Order) -> Vec<usize> {
        let key = |id: usize| -> Utilization {
            let (task, whole) = (self.task(id), |ns: u64| Utilization::whole(ns));
            match order.key {
                Key::Given => whole(id as u64),
                Key::Utilization => task.utilization(),
                Key::Density => task.density(),
                Key::Deadline => whole(task.deadline_rel.as_ns()),
                Key::Period => whole(task.period().as_ns()),
                Key::WorkingSet => whole(task.working_set.size_bytes),
            }
        };
        let mut ids: Vec<usize> = (0..self.set.tasks().len()).collect();
        ids.sort_by(|&a, &b| {
            let by_key = key(a).cmp(&key(b));
            if order.direction == Direction::Down { by_key.reverse() } else { by_key }.then(a.cmp(&b))
        });
        ids
    }

    /// The least loaded of the bins that a task may go into; of those within its affinity if none is fast enough.
    fn least_loaded(&self, placed: &[Vec<usize>], id: usize) -> usize {
        let within = (0..self.bins.len()).filter(|&bin| self.is_within_affinity(id, bin));
        let mut among: Vec<usize> = within.clone().filter(|&bin| self.is_fast_enough(id, bin)).collect();
        if among.is_empty() {
            among = within.collect();
        }
        let relative = |bin: usize| self.load(&placed[bin]).over(self.bins[bin].capacity());
        among
            .into_iter()
            .reduce(|best, bin| if relative(bin) < relative(best) { bin } else { best })
            .expect("a bin")
    }

    fn pack(&self, packing: Packing) -> Placed {
        let bins = self.bins.len();
        let mut placed = vec![Vec::new(); bins];
        let mut overloaded = Vec::new();
        let (mut last, mut left) = (None, 0);
        for id in self.ordered(packing.order) {
            let fits = |bin: &usize| self.fit(&placed[*bin], &[id], *bin);
            let room = |bin: usize| {
                Utilization::from(
                    self.bins[bin].capacity().as_rational() - self.load(&placed[bin]).as_rational(),
                )
            };
            let fullest = |better: Ordering| {
                (0..bins)
                    .filter(fits)
                    .reduce(|best, bin| if room(bin).cmp(&room(best)) == better { bin } else { best })
            };
            let fitting = match packing.rule {
                Rule::FirstFit => (0..bins).find(fits),
                Rule::NextFit => (left..bins).find(fits),
                Rule::CyclicFit => {
                    let next = last.map_or(0, |last: usize| last + 1);
                    (0..bins).map(|step| (next + step) % bins).find(fits)
                }
                Rule::BestFit => fullest(Ordering::Less),
                Rule::WorstFit => fullest(Ordering::Greater),
                Rule::SlowestFit => {
                    let mut slowest: Vec<usize> = (0..bins).collect();
                    slowest.sort_by_key(|&bin| self.bins[bin].fastest());
                    slowest.into_iter().find(fits)
                }
            };
            left = fitting.unwrap_or(left);
            let bin = match (fitting, self.overload) {
                (Some(bin), _) => bin,
                (None, Overload::Refuse) => return None,
                (None, Overload::LeastLoaded) => {
                    overloaded.push(id);
                    self.least_loaded(&placed, id)
                }
            };
            placed[bin].push(id);
            last = Some(bin);
        }
        overloaded.sort_unstable();
        Some((placed, overloaded))
    }

    /// The first bin around the circle for the group, less its last members if need be.
    fn shrink_until_placed(
        &self,
        placed: &[Vec<usize>],
        group: &mut Vec<usize>,
        next: usize,
    ) -> Option<usize> {
        let (mut chosen, mut fitting) = (None, 0);
        for bin in (0..self.bins.len()).map(|step| (next + step) % self.bins.len()) {
            while fitting < group.len() && self.fit(&placed[bin], &group[..=fitting], bin) {
                (chosen, fitting) = (Some(bin), fitting + 1);
            }
        }
        group.truncate(fitting.max(1));
        chosen
    }

    /// Listing 1 of lindsay2012, 5.3.
    fn lwfg(&self) -> Placed {
        let sharing = Sharing::of(self.set).expect("valid");
        let bins = self.bins.len();
        let mut placed = vec![Vec::new(); bins];
        let (mut overloaded, mut last) = (Vec::new(), None);
        let mut waiting = self.ordered(Order { key: Key::WorkingSet, direction: Direction::Down });
        while let Some(&head) = waiting.first() {
            let related = |id: &usize| {
                *id != head
                    && sharing.group_of(head).is_some()
                    && sharing.group_of(head) == sharing.group_of(*id)
            };
            let mut group: Vec<usize> = waiting.iter().copied().filter(related).collect();
            group.sort_by_key(|&id| std::cmp::Reverse(sharing.between(head, id)));
            group.insert(0, head);
            let next = last.map_or(0, |last: usize| last + 1);
            let bin = match self.shrink_until_placed(&placed, &mut group, next) {
                Some(bin) => bin,
                None if self.overload == Overload::Refuse => return None,
                None => {
                    overloaded.push(head);
                    self.least_loaded(&placed, head)
                }
            };
            waiting.retain(|id| !group.contains(id));
            placed[bin].extend(group);
            last = Some(bin);
        }
        overloaded.sort_unstable();
        Some((placed, overloaded))
    }
}

/// Few different loads, so that there are ties everywhere; some deadlines are short, some tasks have an affinity, some share memory.
fn some_set() -> impl Strategy<Value = TaskSet> {
    let task = (1u64..=9, prop::sample::select(vec![12u64, 15, 20, 30]), 0u64..12, 0u32..12, 0u64..4);
    prop::collection::vec(task, 1..=14).prop_map(|rows| {
        let ms = Duration::from_ms;
        let task = |(id, &(wcet, period, cut, affinity, memory)): (usize, &(u64, u64, u64, u32, u64))| {
            let mut task = Task::periodic(format!("t{id}"), ms(wcet), ms(period));
            task.deadline_rel = ms(if cut < 4 { (period - cut).max(wcet) } else { period });
            task.affinity = match affinity {
                0 => Some(CpuList::first(2)),
                1 => Some("1-5".parse().expect("valid list")),
                _ => None,
            };
            task.working_set.size_bytes = memory << 10;
            // A group has at least two tasks.
            let several = rows.iter().filter(|row| row.4 == memory).count() > 1;
            let group = || Group { name: format!("g{memory}"), shared_bytes: (memory - 1) << 10 };
            task.group = (memory > 1 && several).then(group);
            task
        };
        TaskSet::new("set", rows.iter().enumerate().map(task).collect()).expect("valid")
    })
}

/// CPUs of few speeds, alone or in clusters.
fn some_bins() -> impl Strategy<Value = Vec<Bin>> {
    let speeds = prop::sample::select(vec!["1", "1", "1/2", "3/4", "2/3"]);
    (prop::collection::vec(speeds, 2..=6), any::<bool>(), any::<bool>()).prop_map(
        |(speeds, same, clustered)| {
            let speed = |text: &str| if same { Speed::UNIT } else { text.parse().expect("a speed") };
            let cores = (0..).zip(&speeds).map(|(cpu, text)| Core { cpu, speed: speed(text) }).collect();
            let platform = Platform::new("p", cores, vec![], vec![], None).expect("valid");
            if !clustered {
                return Bin::of_platform(&platform, Scope::Partitioned).expect("valid");
            }
            let last = speeds.len() - 1;
            let lists =
                if last > 1 { vec!["0-1".to_owned(), format!("2-{last}")] } else { vec!["0-1".to_owned()] };
            let clusters = lists.iter().map(|list| list.parse().expect("valid list")).collect();
            let platform = platform.with_clusters(clusters).expect("valid");
            Bin::of_platform(&platform, Scope::Clustered).expect("valid")
        },
    )
}

laxity_seeds::properties! {
    #![cases(2_000)]

    #[test]
    fn every_method_places_as_a_plain_scan_does(
        set in some_set(), bins in some_bins(),
        fit in prop::sample::select(Fit::ALL.to_vec()), refuses in any::<bool>(), picky in 0usize..8,
    ) {
        let fit = if bins.iter().any(|bin| bin.cpus().len() > 1) && fit == Fit::DemandBound { Fit::Density } else { fit };
        let overload = if refuses { Overload::Refuse } else { Overload::LeastLoaded };
        let picky = Picky(picky);
        let test = (picky.0 > 2).then_some(&picky);
        let homeless = |task: &Task| {
            task.affinity.as_ref().is_some_and(|cpus| !bins.iter().any(|bin| bin.cpus().is_subset(cpus)))
        };
        prop_assume!(!set.tasks().iter().any(homeless));
        let request = Request::new(&set, bins.clone()).expect("valid").with_overload(overload);
        let request = match test {
            None => request.with_fit(fit).expect("single CPUs"),
            Some(test) => request.with_acceptance(test),
        };
        let fit = if test.is_some() { Fit::Utilization } else { fit };
        let plain = Plain { set: &set, bins: &bins, fit, test, overload };
        for method in Packing::all().into_iter().map(Method::Pack).chain([Method::Lwfg(None)]) {
            let found = request.find(method).map(|placement| {
                // In the order in which they came.
                let tasks = |bin: usize| placement.tasks_of(bin);
                ((0..bins.len()).map(tasks).collect::<Vec<_>>(), placement.overloaded.clone())
            });
            let scanned = match method {
                Method::Pack(packing) => plain.pack(packing),
                Method::Lwfg(_) | Method::Ilp => plain.lwfg(),
            };
            let scanned = scanned.map(|(mut placed, overloaded)| {
                placed.iter_mut().for_each(|tasks| tasks.sort_unstable());
                (placed, overloaded)
            });
            prop_assert_eq!(found, scanned, "{} by {:?}", method, fit);
        }
    }
}

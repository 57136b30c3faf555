//! LWFG against hand-made examples, Listing 1 of lindsay2012 written down once more, and brute force.

use crate::oracle::{assignments, bin_holds, cores, feasible};
use laxity_model::{
    CpuList, Duration, Failure, Group, Platform, Scope, Speed, Task, TaskKind, TaskSet, Utilization,
};
use laxity_place::{Bin, Fit, Method, Overload, Placement, Request};

/// A task by wcet (of 100 ms), working set, group and shared part; group "" is none.
type Row<'a> = (u64, u64, &'a str, u64);

fn set(rows: &[Row]) -> TaskSet {
    let task = |(id, &(wcet, size, group, shared_bytes)): (usize, &Row)| {
        let mut task = Task::periodic(format!("t{id}"), Duration::from_ms(wcet), Duration::from_ms(100));
        task.working_set.size_bytes = size;
        task.group = (!group.is_empty()).then(|| Group { name: group.into(), shared_bytes });
        task
    };
    TaskSet::new("set", rows.iter().enumerate().map(task).collect()).expect("valid")
}

fn method(name: &str) -> Method {
    name.parse().expect("a method")
}

fn request(set: &TaskSet, bins: Vec<Bin>) -> Request<'_> {
    Request::new(set, bins).expect("valid request")
}

fn assigned(placement: &Placement) -> Vec<usize> {
    placement.assignment.iter().map(|bin| bin.expect("placed")).collect()
}

fn placed(set: &TaskSet, bins: Vec<Bin>, name: &str) -> Vec<usize> {
    assigned(&request(set, bins).place(method(name)).unwrap_or_else(|error| panic!("{name}: {error}")))
}

/// The walk through Figure 5.6, whose numbers are only drawn: four groups on four processors, the second too dense for one.
fn figure_5_6() -> TaskSet {
    set(&[
        (30, 900, "green", 900),
        (40, 700, "red", 700),
        (30, 800, "blue", 800),
        (30, 600, "yellow", 600),
        (30, 900, "green", 900),
        (30, 800, "blue", 800),
        (30, 800, "blue", 800),
        (40, 700, "red", 700),
        (30, 900, "green", 900),
        (30, 800, "blue", 800),
        (30, 600, "yellow", 600),
    ])
}

#[test]
fn one_of_four_groups_is_split_because_it_is_too_dense() {
    // green .9 on 0; blue 1.2: without its last .9 on 1; the last blue .3 on 2; red .8 on 3;
    // yellow .6: no room on 0 and 1, with .3 on 2
    let set = figure_5_6();
    let placement = request(&set, cores(4)).place(method("lwfg")).expect("fits");
    assert_eq!(assigned(&placement), [0, 3, 1, 2, 0, 1, 1, 3, 0, 2, 2]);
    assert_eq!(placement.notes, ["3 of 4 groups that share memory are together; split: blue"]);
    // without groups, the same tasks one by one, largest working set first, around the circle
    assert_eq!(placed(&set, cores(4), "lwf"), [0, 3, 3, 1, 1, 0, 1, 0, 2, 2, 2]);
}

#[test]
fn who_shares_least_with_the_task_in_turn_leaves_first() {
    // t0 in turn; t1 shares 70 with it, t2 only 50, although its working set is larger
    let rows = [(40, 100, "g", 80), (30, 85, "g", 70), (40, 90, "g", 50), (10, 10, "", 0), (5, 80, "g", 80)];
    assert_eq!(placed(&set(&rows), cores(2), "lwfg"), [0, 0, 1, 0, 0]);
    // all share equally: the last to be considered leaves
    let rows = [(40, 80, "g", 80), (40, 80, "g", 80), (40, 80, "g", 80)];
    assert_eq!(placed(&set(&rows), cores(2), "lwfg"), [0, 0, 1]);
    let rows = [(40, 80, "g", 60), (40, 90, "g", 60), (40, 100, "g", 60)];
    assert_eq!(placed(&set(&rows), cores(2), "lwfg"), [1, 0, 0]);
}

#[test]
fn those_who_have_left_are_a_group_again() {
    // .4 each: two at a time on cores 0, 1, 2
    let rows = [(40, 80, "g", 80); 6];
    assert_eq!(placed(&set(&rows), cores(3), "lwfg"), [0, 0, 1, 1, 2, 2]);
}

#[test]
fn a_core_is_filled_exactly() {
    let rows = [(50, 80, "g", 80), (30, 80, "g", 80), (20, 80, "g", 80)];
    assert_eq!(placed(&set(&rows), cores(2), "lwfg"), [0, 0, 0]);
    let rows = [(50, 80, "g", 80), (30, 80, "g", 80), (21, 80, "g", 80)];
    assert_eq!(placed(&set(&rows), cores(2), "lwfg"), [0, 0, 1]);
}

#[test]
fn a_cluster_holds_a_group_that_no_core_holds() {
    let platform = Platform::symmetric(4).expect("valid");
    let clusters = ["0-1", "2-3"].map(|list| list.parse().expect("valid list")).to_vec();
    let platform = platform.with_clusters(clusters).expect("valid");
    let bins = Bin::of_platform(&platform, Scope::Clustered).expect("valid");
    let rows =
        [(60, 90, "a", 90), (50, 70, "b", 70), (60, 90, "a", 90), (70, 90, "a", 90), (60, 70, "b", 70)];
    assert_eq!(placed(&set(&rows), bins, "lwfg"), [0, 1, 0, 0, 1]);
    let error = request(&set(&rows), cores(4)).place(method("lwfg")).expect_err("five above .5 on four CPUs");
    assert!(error.message.contains("fits on no CPU or cluster under lwfg"), "{error}");
}

#[test]
fn affinities_part_a_group() {
    let mut tasks = set(&[(10, 90, "g", 90), (10, 80, "g", 80), (10, 70, "g", 70)]).tasks().to_vec();
    tasks[1].affinity = Some("1".parse().expect("valid list"));
    let set = TaskSet::new("set", tasks.clone()).expect("valid");
    // all may go to CPU 1, and only there together
    assert_eq!(placed(&set, cores(2), "lwfg"), [1, 1, 1]);
    tasks[0].affinity = Some("0".parse().expect("valid list"));
    let set = TaskSet::new("set", tasks.clone()).expect("valid");
    // t2 shares least and leaves first, then t1; t1 is next in turn and takes t2 with it
    assert_eq!(placed(&set, cores(2), "lwfg"), [0, 1, 1]);
    tasks[1].kind = TaskKind::BestEffort;
    let set = TaskSet::new("set", tasks).expect("valid");
    let placement = request(&set, cores(2)).place(method("lwfg")).expect("fits");
    assert_eq!(placement.assignment, [Some(0), None, Some(0)]);
}

/// Fits by wfd as .4+.3+.3 twice; lwfg (and lwf) go around: .3+.3+.4, then .3+.4 on CPU 1 and .3 nowhere but on it.
fn awkward() -> TaskSet {
    set(&[(60, 90, "", 0), (60, 80, "", 0), (30, 70, "g", 70), (30, 60, "g", 60), (20, 10, "", 0)])
}

#[test]
fn a_fallback_places_what_lwfg_cannot() {
    // .6 | .6 | g (.6) fits nowhere whole: .3 on 0, .3 on 1 | .2 fits nowhere: .9 and .9
    let awkward = awkward();
    let request = request(&awkward, cores(2));
    let error = request.place(method("lwfg")).expect_err("lwfg fails");
    assert_eq!(
        error.message,
        "task `t4` (utilization 0.2000) fits on no CPU or cluster under lwfg: CPU 0 has 0.1000, CPU 1 has 0.1000 left"
    );
    // 0.6 + 0.6 + 0.3 + 0.3 + 0.2 = 2.0, and no two subsets of 1.0 without a .6 with a .2 and a .2
    assert!(error.hint.expect("a hint").contains("no heuristic tried fits either"));
    let placement = request.clone().with_overload(Overload::LeastLoaded).place(method("lwfg-else:wfd"));
    let placement = placement.expect("overload is allowed");
    assert_eq!((assigned(&placement), placement.overloaded.clone()), (vec![0, 1, 0, 1, 0], vec![4]));
    assert_eq!(placement.notes[1], "0 of 1 groups that share memory are together; split: g");
    let error = request.place(method("lwfg-else:wfd")).expect_err("both fail");
    assert!(
        error
            .message
            .starts_with("neither lwfg (at task `t4`) nor its fallback: task `t4` (utilization 0.2000)"),
        "{error}"
    );

    // .5 | .6 | .4 on 0? no: next is 0: .5+.4 | .4 on 1: .6+.4 | .1 on 0; but with .2 for .1 only ffd works
    let rows = [(50, 90, "", 0), (60, 80, "", 0), (35, 70, "", 0), (30, 60, "", 0), (20, 50, "", 0)];
    let set = set(&rows);
    // lwf: .5 | .6 | .5+.35 | .6+.3 | .2 nowhere. ffd: .6+.35 | .5+.3+.2
    let request = Request::new(&set, cores(2)).expect("valid");
    let error = request.place(method("lwfg")).expect_err("lwfg fails");
    assert!(error.hint.expect("a hint").starts_with("--placement lwfg-else:ffd does fit"));
    let placement = request.place(method("lwfg-else:ffd")).expect("ffd fits");
    assert_eq!(assigned(&placement), assigned(&request.place(method("ffd")).expect("fits")));
    assert_eq!(placement.method, method("lwfg-else:ffd"));
    assert_eq!(placement.notes, ["lwfg finds no place for task `t4`: placed by ffd"]);
    assert_eq!(placed(&set, cores(2), "lwfg-else:ilp"), assigned(&request.place(Method::Ilp).expect("fits")));
}

#[test]
fn a_fallback_that_is_not_needed_changes_nothing() {
    let set = figure_5_6();
    let alone = request(&set, cores(4)).place(method("lwfg")).expect("fits");
    let with = request(&set, cores(4)).place(method("lwfg-else:wfd")).expect("fits");
    assert_eq!((alone.assignment, alone.notes), (with.assignment, with.notes));
}

#[test]
fn overload_puts_a_task_where_the_load_is_least() {
    // .6 | .6 | .5: no room: core 0 | .5: core 1; the group goes on from there
    let rows = [(60, 90, "", 0), (60, 80, "", 0), (50, 70, "g", 70), (45, 60, "g", 60)];
    let set = set(&rows);
    let request = request(&set, cores(2)).with_overload(Overload::LeastLoaded);
    let placement = request.place(method("lwfg")).expect("overload is allowed");
    assert_eq!((assigned(&placement), placement.overloaded), (vec![0, 1, 0, 1], vec![2, 3]));
}

#[test]
fn contradictory_sharing_is_refused_before_anything_is_placed() {
    let refused = |rows: &[Row]| {
        let set = set(rows);
        let error = request(&set, cores(2)).place(method("lwfg-else:ffd")).expect_err("inconsistent");
        assert_eq!(error.failure, Failure::Usage);
        error.message
    };
    assert!(
        refused(&[(10, 90, "g", 50), (10, 90, "g", 40)])
            .contains("shares 50B of its working set with group `g`")
    );
    assert!(refused(&[(10, 90, "g", 0), (10, 90, "g", 40)]).contains("shares no memory with it"));
}

#[test]
fn the_ilp_is_no_fallback_where_sums_do_not_decide() {
    let set = figure_5_6();
    let request = request(&set, cores(4)).with_fit(Fit::DemandBound).expect("single CPUs");
    assert!(request.place(method("lwfg-else:ilp")).expect_err("dbf").message.contains("fallback"));
    assert!(request.place(method("lwfg-else:bf-deadline")).is_ok());
}

/// Numbers from a seed.
struct Draw(u64);

impl Draw {
    fn below(&mut self, count: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % count
    }
}

/// Up to eight tasks in up to three groups, with ties everywhere; some bound to CPU 0, some not real-time.
fn small_set(seed: u64) -> TaskSet {
    let mut draw = Draw(seed);
    let whole = draw.below(2) == 0;
    let parts: Vec<u64> = (0..3).map(|_| 1 + draw.below(3)).collect();
    let task = |id: u64, draw: &mut Draw| {
        let period = [6, 8, 12][usize::try_from(draw.below(3)).expect("small")];
        let wcet = 1 + draw.below(5);
        let mut task = Task::periodic(format!("t{id}"), Duration::from_ms(wcet), Duration::from_ms(period));
        task.deadline_rel = Duration::from_ms((period - draw.below(2)).max(wcet));
        let group = draw.below(4);
        task.working_set.size_bytes = 1 + draw.below(4);
        if group < 3 {
            // Members share all they have, or parts no larger than the group's, which two of them reach.
            let part = parts[usize::try_from(group).expect("small")];
            let shared = if whole { task.working_set.size_bytes } else { part - draw.below(part) };
            task.working_set.size_bytes = task.working_set.size_bytes.max(shared);
            task.group = Some(Group { name: format!("g{group}"), shared_bytes: shared });
        }
        task.affinity = (draw.below(10) == 0).then(|| CpuList::first(1));
        if draw.below(12) == 0 {
            task.kind = TaskKind::BestEffort;
        }
        task
    };
    let count = 1 + draw.below(8);
    let mut tasks: Vec<Task> = (0..count).map(|id| task(id, &mut draw)).collect();
    // The largest part of each group is shared at least twice.
    for group in ["g0", "g1", "g2"] {
        let parts = |tasks: &[Task]| -> Vec<(usize, u64)> {
            let of = |(id, task): (usize, &Task)| {
                let group = task.group.as_ref().filter(|mine| mine.name == group)?;
                Some((id, group.shared_bytes))
            };
            tasks.iter().enumerate().filter_map(of).collect()
        };
        let mut by_part = parts(&tasks);
        by_part.sort_by_key(|&(_, part)| part);
        let next = by_part.len().checked_sub(2).map_or(0, |at| by_part[at].1);
        if let Some(&(id, part)) =
            by_part.last().filter(|&&(id, part)| part > next && tasks[id].working_set.size_bytes > part)
        {
            tasks[id].working_set.size_bytes = part;
        }
    }
    TaskSet::new("set", tasks).expect("valid")
}

fn some_bins(seed: u64) -> Vec<Bin> {
    let speed = |cpu| if cpu == 0 { Speed::new(1, 2).expect("valid") } else { Speed::UNIT };
    let slow = (0..3).map(|cpu| laxity_model::Core { cpu, speed: speed(cpu) }).collect();
    let clusters = ["0", "1-2"].map(|list| list.parse().expect("valid list")).to_vec();
    let slow = Platform::new("big.LITTLE", slow, vec![], vec![], Some(clusters)).expect("valid");
    match seed % 5 {
        0 => cores(1),
        1 => cores(2),
        2 => cores(3),
        3 => Bin::of_platform(&slow, Scope::Partitioned).expect("valid"),
        _ => Bin::of_platform(&slow, Scope::Clustered).expect("valid"),
    }
}

fn fits_for(bins: &[Bin]) -> &'static [Fit] {
    if bins.iter().any(|bin| bin.cpus().len() > 1) { &[Fit::Utilization, Fit::Density] } else { &Fit::ALL }
}

fn shared(a: &Task, b: &Task) -> u64 {
    match (&a.group, &b.group) {
        (Some(a), Some(b)) if a.name == b.name => a.shared_bytes.min(b.shared_bytes),
        _ => 0,
    }
}

/// Listing 1, line by line, with the readings that the crate documents; `Err` is the task at which it fails.
fn listing_1(set: &TaskSet, bins: &[Bin], fit: Fit) -> Result<Vec<Option<usize>>, usize> {
    let tasks = set.tasks();
    let mut taskset: Vec<usize> =
        (0..tasks.len()).filter(|&id| tasks[id].kind == TaskKind::RealTime).collect();
    taskset.sort_by_key(|&id| (std::cmp::Reverse(tasks[id].working_set.size_bytes), id));
    let mut partition: Vec<Vec<&Task>> = vec![Vec::new(); bins.len()];
    let mut assignment = vec![None; tasks.len()];
    let mut last = bins.len() - 1;
    while let Some(&task) = taskset.first() {
        let mut group: Vec<usize> = taskset.clone();
        group.retain(|&other| other == task || shared(&tasks[task], &tasks[other]) > 0);
        let cpu = loop {
            let together: Vec<&Task> = group.iter().map(|&id| &tasks[id]).collect();
            let after_last = (last + 1..bins.len()).chain(0..=last);
            let found = after_last
                .into_iter()
                .find(|&cpu| bin_holds(&[partition[cpu].as_slice(), &together].concat(), &bins[cpu], fit));
            if let Some(cpu) = found {
                break cpu;
            }
            // Of those that share least, the last in `taskset`'s order.
            let mut least = None;
            for &other in group.iter().filter(|&&other| other != task) {
                let less =
                    |least: usize| shared(&tasks[task], &tasks[other]) <= shared(&tasks[task], &tasks[least]);
                if least.is_none_or(less) {
                    least = Some(other);
                }
            }
            match least {
                Some(least) => group.retain(|&other| other != least),
                None => return Err(task),
            }
        };
        for &id in &group {
            partition[cpu].push(&tasks[id]);
            assignment[id] = Some(cpu);
        }
        last = cpu;
        taskset.retain(|id| !group.contains(id));
    }
    Ok(assignment)
}

#[test]
fn agrees_with_the_listing_written_down_once_more() {
    let (mut placed, mut failed) = (0u32, 0u32);
    for seed in laxity_seeds::seeds!(0..4_000) {
        let (set, bins) = (small_set(seed), some_bins(seed));
        for &fit in fits_for(&bins) {
            let request = request(&set, bins.clone()).with_fit(fit).expect("single CPUs");
            match (request.place(Method::Lwfg(None)), listing_1(&set, &bins, fit)) {
                (Ok(placement), Ok(expected)) => {
                    assert_eq!(placement.assignment, expected, "seed {seed}, {fit}");
                    placed += 1;
                }
                (Err(error), Err(task)) => {
                    let name = &set.tasks()[task].name;
                    assert!(error.message.contains(&format!("`{name}`")), "seed {seed}, {fit}: {error}");
                    failed += 1;
                }
                (found, expected) => panic!("seed {seed}, {fit}: {found:?} instead of {expected:?}"),
            }
        }
    }
    laxity_seeds::assert_together!(
        placed > 2_000 && failed > 500,
        "{placed} placed, {failed} not: both must occur"
    );
}

#[test]
fn what_is_placed_fits_and_the_first_group_is_whole_where_any_bin_holds_it() {
    let (mut whole, mut split) = (0u32, 0u32);
    for seed in laxity_seeds::seeds!(0..2_000) {
        let (set, bins) = (small_set(seed), some_bins(seed));
        let fit = Fit::default_for(&set);
        let Ok(placement) = request(&set, bins.clone()).place(Method::Lwfg(None)) else {
            continue;
        };
        let real_time: Vec<Task> = set.real_time().map(|(_, task)| task.clone()).collect();
        if real_time.is_empty() {
            continue;
        }
        let assignment: Vec<usize> = placement.assignment.iter().filter_map(|bin| *bin).collect();
        let placed = TaskSet::new("placed", real_time.clone()).expect("valid");
        assert!(feasible(&placed, &bins, fit, &assignment), "seed {seed}: {assignment:?}");
        // By definition alone: at first all bins are empty.
        let head = (0..real_time.len())
            .min_by_key(|&id| (std::cmp::Reverse(real_time[id].working_set.size_bytes), id));
        let head = &real_time[head.expect("a task")];
        let group: Vec<usize> = (0..real_time.len()).filter(|&id| shared(head, &real_time[id]) > 0).collect();
        let together: Vec<&Task> = group.iter().map(|&id| &real_time[id]).collect();
        let holds = bins.iter().any(|bin| bin_holds(&together, bin, fit));
        let same = group.windows(2).all(|pair| assignment[pair[0]] == assignment[pair[1]]);
        // One that no bin holds cannot be in one bin.
        assert_eq!(same, holds || group.len() < 2, "seed {seed}: {assignment:?}");
        whole += u32::from(holds && group.len() > 1);
        split += u32::from(!holds && group.len() > 1);
    }
    laxity_seeds::assert_together!(
        whole > 100 && split > 50,
        "{whole} whole, {split} split: both must occur"
    );
}

#[test]
fn a_fallback_fits_wherever_either_fits() {
    let mut rescued = 0u32;
    for seed in laxity_seeds::seeds!(0..1_500) {
        let (set, bins) = (small_set(seed), some_bins(seed));
        let request = request(&set, bins.clone());
        let fits = |name: &str| request.place(method(name)).is_ok();
        let (lwfg, ffd) = (fits("lwfg"), fits("ffd"));
        assert_eq!(fits("lwfg-else:ffd"), lwfg || ffd, "seed {seed}");
        rescued += u32::from(!lwfg && ffd);
        if seed % 8 == 0 && !lwfg && set.real_time().count() == set.tasks().len() {
            let anything = assignments(&set, &bins).iter().any(|a| feasible(&set, &bins, request.fit(), a));
            let solved = request.clone().place(method("lwfg-else:ilp"));
            assert_eq!(solved.is_ok(), anything, "seed {seed}: {solved:?}");
        }
    }
    laxity_seeds::assert_together!(rescued > 10, "{rescued} sets that only ffd places");
}

#[test]
fn without_groups_it_is_largest_working_set_first() {
    for seed in laxity_seeds::seeds!(0..1_000) {
        let mut tasks = small_set(seed).tasks().to_vec();
        tasks.iter_mut().for_each(|task| task.group = None);
        let set = TaskSet::new("set", tasks).expect("valid");
        let request = request(&set, some_bins(seed)).with_overload(Overload::LeastLoaded);
        let of = |name: &str| {
            request.place(method(name)).map(|placement| (placement.assignment, placement.overloaded))
        };
        assert_eq!(of("lwfg"), of("lwf"), "seed {seed}");
    }
}

/// lindsay2012, 5.3: "each CPU has a task with one of the m largest working set sizes ... before adding a second".
#[test]
fn the_largest_working_sets_go_to_different_cores() {
    for seed in laxity_seeds::seeds!(0..200) {
        let mut draw = Draw(seed);
        let rows: Vec<Row> =
            (0..12).map(|id| (1 + draw.below(8), 100 * (1 + draw.below(50)) + id, "", 0)).collect();
        let set = set(&rows);
        let assignment = placed(&set, cores(4), "lwfg");
        let mut by_size: Vec<usize> = (0..rows.len()).collect();
        by_size.sort_by_key(|&id| std::cmp::Reverse(rows[id].1));
        let order: Vec<usize> = by_size.iter().map(|&id| assignment[id]).collect();
        assert_eq!(order, [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3], "seed {seed}");
    }
}

/// With different working sets the order of the file means nothing.
#[test]
fn the_order_of_the_file_does_not_matter() {
    for seed in laxity_seeds::seeds!(0..1_000) {
        let mut draw = Draw(seed);
        let mut tasks = small_set(seed).tasks().to_vec();
        for (id, task) in (1u64..).zip(&mut tasks) {
            // Larger, all different, and what a group shares is what it shared.
            task.working_set.size_bytes = task.working_set.size_bytes * 1_000 + id;
            if let Some(group) = &mut task.group {
                group.shared_bytes = 7;
            }
        }
        tasks.retain(|task| task.group.as_ref().is_none_or(|group| group.name != "g2"));
        for name in ["g0", "g1"] {
            let member = |task: &&mut Task| task.group.as_ref().is_some_and(|group| group.name == name);
            if tasks.iter_mut().filter(member).count() == 1 {
                tasks.iter_mut().filter(member).for_each(|task| task.group = None);
            }
        }
        if tasks.is_empty() {
            continue;
        }
        let by_name = |tasks: Vec<Task>| {
            let set = TaskSet::new("set", tasks).expect("valid");
            let request = request(&set, some_bins(seed)).with_overload(Overload::LeastLoaded);
            let placement = request.place(Method::Lwfg(None)).expect("overload is allowed");
            let names = set.tasks().iter().map(|task| task.name.clone());
            let mut rows: Vec<_> = names.zip(placement.assignment).collect();
            rows.sort();
            rows
        };
        let before = by_name(tasks.clone());
        for last in (1..tasks.len()).rev() {
            let chosen = usize::try_from(draw.below(last as u64 + 1)).expect("small");
            tasks.swap(last, chosen);
        }
        assert_eq!(before, by_name(tasks), "seed {seed}");
    }
}

/// Denser than its CPU by less than a float tells.
#[test]
fn a_group_is_compared_exactly() {
    let ns = Duration::from_ns;
    let third = |id: u64, wcet| {
        let mut task = Task::periodic(format!("t{id}"), ns(wcet), ns(3_000_000_000_000_000));
        task.working_set.size_bytes = 64;
        task.group = Some(Group { name: "g".into(), shared_bytes: 64 });
        task
    };
    let exact = 1_000_000_000_000_000;
    let place = |extra| {
        let tasks = vec![third(0, exact), third(1, exact), third(2, exact + extra)];
        placed(&TaskSet::new("set", tasks).expect("valid"), cores(2), "lwfg")
    };
    assert_eq!((place(0), place(1)), (vec![0, 0, 0], vec![0, 0, 1]));
    let set = figure_5_6();
    let limited = request(&set, cores(6)).with_capacity_limit(Utilization::ratio(89, 100)).expect("valid");
    let placement = limited.place(method("lwfg")).expect("fits");
    // green keeps two of three below .89
    assert_eq!([0, 4, 8].map(|id| placement.assignment[id]), [Some(0), Some(0), Some(1)]);
}

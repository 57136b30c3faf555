//! The loader's side: which threads are promoted, where, and how large the servers are.
//! `laxity_analysis::admission` says what is admitted.

mod lives;
mod refusals;

use super::messages::{Order, OrderOutcome, Proven};
use crate::observer::Observer;
use laxity_analysis::admission::{Admission, Entrant};
use laxity_analysis::{DoubleHit, SporadicTask};
use laxity_kernel::{Capability, Core, Enrolled, Privileges, Scheduler, monotonic_ns};
use laxity_model::{
    CpuList, DeferrableServer, Diagnostic, Duration, Platform, Result, ServerSize, ShownPath as _, Speed,
};
use laxity_run::{Channel, Keeper, Policy, RememberedThread, state_directory};
use laxity_sys::policy;
use refusals::{Bound, beside_guests, check_times, no_thread, not_capable, share_of, words};
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration as Span, Instant};

/// How long a client may take to say what it wants: the other clients wait meanwhile.
const PATIENCE: Span = Span::from_millis(500);
/// How long a CPU is waited for to have no real-time job pending, if what has left is in the way.
const QUIET_WITHIN: Span = Span::from_millis(200);

/// A promoted thread.
struct Promoted {
    remembered: RememberedThread,
    cpu: u32,
    /// Its number in the admission, which no thread has had before.
    id: u64,
    task: Enrolled,
}

impl Promoted {
    fn tid(&self) -> i32 {
        self.remembered.tid()
    }
}

/// What real-time tasks may have beside servers, in millionths of a CPU.
#[derive(Debug, Clone, Copy)]
pub struct Reserved {
    /// What the reserve leaves.
    pub share_ppm: u64,
}

/// Decides on promotions, demotions and the sizes of servers.
pub struct Authority {
    listener: UnixListener,
    path: PathBuf,
    keeper: Keeper,
    admission: Admission,
    cores: BTreeMap<u32, Core>,
    platform: Platform,
    reserved: Reserved,
    promoted: Vec<Promoted>,
    /// CPUs where something counts that is no longer there, and since when, in ns of CLOCK_MONOTONIC.
    unsettled: BTreeMap<u32, u64>,
    next_id: u64,
    observer: Arc<dyn Observer>,
}

impl Authority {
    /// Listens. `platform` has the CPUs of the policy with their speeds, `cores` all of the machine's.
    ///
    /// # Errors
    ///
    /// The directory for run-time state cannot be used.
    pub fn open(
        platform: &Platform,
        cores: &[Core],
        reserved: Reserved,
        double_hit: DoubleHit,
        observer: Arc<dyn Observer>,
    ) -> Result<Self> {
        let keeper = Keeper::start()?;
        let path = state_directory()?.path().join(super::SOCKET);
        let listener = listen(&path).map_err(|error| {
            Diagnostic::environment(format!("{} cannot be listened at: {error}", path.shown()))
                .hint("promote, demote and resize need it: make the directory writable")
        })?;
        // The kernel's side orders them by the numbers that were free, and anew when it starts anew.
        let known = platform.cpus();
        let cores: BTreeMap<u32, Core> =
            cores.iter().filter(|core| known.contains(core.cpu)).map(|core| (core.cpu, *core)).collect();
        let server =
            |core: &laxity_model::Core| cores.get(&core.cpu).map_or(DeferrableServer::NONE, Core::server);
        let admission = Admission::new(platform, server, double_hit).with_free_ties();
        let (promoted, unsettled) = (Vec::new(), BTreeMap::new());
        Ok(Authority {
            listener,
            path,
            keeper,
            admission,
            cores,
            platform: platform.clone(),
            reserved,
            promoted,
            unsettled,
            next_id: 0,
            observer,
        })
    }

    /// Serves the clients that ask within this time.
    pub fn serve(&mut self, scheduler: &Scheduler, span: Span) {
        let end = Instant::now() + span;
        self.settle(scheduler);
        self.look_after(scheduler);
        loop {
            let left = end.saturating_duration_since(Instant::now());
            match laxity_run::readable_within(&self.listener, left) {
                Ok(true) => {}
                // A signal: the loader looks whether it is to end.
                _ => return,
            }
            if let Ok((stream, _)) = self.listener.accept()
                && let Err(error) = self.answer(scheduler, stream)
            {
                self.observer.warn(&format!("amp-rm: a request was not answered: {error}"));
            }
        }
    }

    fn answer(&mut self, scheduler: &Scheduler, stream: UnixStream) -> std::io::Result<()> {
        stream.set_nonblocking(false)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let capable = Privileges::of_peer(&stream).is_ok_and(|client| client.has(Capability::SysNice));
        let mut client = Channel::over(stream);
        let Some(order) = client.receive()? else { return Ok(()) };
        self.look_after(scheduler);
        let done = if capable { self.carry_out(scheduler, &order) } else { Err(not_capable()) };
        let outcome = done.unwrap_or_else(OrderOutcome::from);
        self.observer.warn(&format!("amp-rm: {}", words(&outcome)));
        client.send(&outcome)
    }

    fn carry_out(&mut self, scheduler: &Scheduler, order: &Order) -> Result<OrderOutcome> {
        match order {
            Order::Promote { pid, runtime, period, tardiness_bound } => {
                self.promote(scheduler, *pid, (*runtime, *period), *tardiness_bound)
            }
            Order::Demote { pid } => self.demote(scheduler, *pid),
            Order::Resize { cpu, server } => self.resize(scheduler, *cpu, *server),
        }
    }

    fn promote(
        &mut self,
        scheduler: &Scheduler,
        pid: i32,
        (runtime, period): (Duration, Duration),
        tardiness_max: Option<Duration>,
    ) -> Result<OrderOutcome> {
        let remembered = self.candidate(pid)?;
        check_times(runtime, period)?;
        let task = SporadicTask::implicit(runtime.as_ns(), period.as_ns());
        let id = self.next_id;
        self.next_id += 1;
        let (free, guests) = self.without_guests(scheduler)?;
        let affinity = remembered.cpus().intersection(&free);
        if affinity.is_empty() && self.cores.keys().any(|&cpu| remembered.cpus().contains(cpu)) {
            return Ok(OrderOutcome::refused(beside_guests(&guests)));
        }
        let entrant = Entrant { id, task, tardiness_max, affinity: Some(affinity) };
        let mut entered = self.admission.enter(entrant.clone());
        if entered.as_ref().is_err_and(|refused| refused.unsettled) && self.wait_until_settled(scheduler) {
            entered = self.admission.enter(entrant);
        }
        let cpu = match entered {
            Ok(cpu) => cpu,
            Err(refused) => {
                let mut why = refused.diagnostic(|of| self.name(of, (id, pid)));
                if !guests.is_empty() {
                    why.message = format!("{}; {}", why.message, beside_guests(&guests).message);
                }
                return Ok(OrderOutcome::refused(why));
            }
        };
        let on_core = Duration::from_ns(self.speed_of(cpu).unwrap_or(Speed::UNIT).time_for(runtime.as_ns()));
        let (runtime_ns, period_ns) = (on_core.as_ns(), period.as_ns());
        let task = Enrolled { tid: pid, runtime_ns, deadline_ns: period_ns, period_ns };
        if let Err(error) =
            self.close(scheduler, cpu).and_then(|()| self.keep_and_bind(&remembered, cpu, task))
        {
            self.admission.leave(id);
            self.admission_left(scheduler, cpu);
            return match error {
                Bound::Failed(why) => Err(why),
                Bound::Refused(why) => Ok(OrderOutcome::refused(why)),
            };
        }
        self.promoted.push(Promoted { remembered, cpu, id, task });
        let (own, others): (Vec<_>, Vec<_>) = self.proven(cpu)?.into_iter().partition(|one| one.pid == pid);
        let tardiness_ns = own.first().map_or(0, |own| own.tardiness_ns);
        Ok(OrderOutcome::Promoted { pid, cpu, runtime: on_core, period, tardiness_ns, others })
    }

    /// How late the promoted threads of a CPU can be.
    fn proven(&self, cpu: u32) -> Result<Vec<Proven>> {
        let late = self.admission.tardiness_of(cpu).map_err(|why| {
            let why = why.text(&|id| format!("thread {id}"));
            Diagnostic::environment(format!("CPU {cpu}: what is proven there cannot be said: {why}"))
        })?;
        let of = |(id, late): (u64, Duration)| {
            let promoted = self.promoted.iter().find(|promoted| promoted.id == id)?;
            Some(Proven { pid: promoted.tid(), tardiness_ns: late.as_ns() })
        };
        Ok(late.into_iter().filter_map(of).collect())
    }

    /// The thread, as it is, if it is one that may be promoted.
    fn candidate(&self, pid: i32) -> Result<RememberedThread> {
        let remembered = RememberedThread::of(pid).map_err(|error| no_thread(pid, &error))?;
        if laxity_run::is_kernel_thread(pid) {
            return Err(Diagnostic::usage(format!("thread {pid} is one of the kernel's own"))
                .hint("promote a thread of a program"));
        }
        if let Some(promoted) = self.promoted.iter().find(|promoted| promoted.tid() == pid) {
            return Err(Diagnostic::usage(format!(
                "thread {pid} is promoted already, with {}/{} on CPU {}",
                Duration::from_ns(promoted.task.runtime_ns),
                Duration::from_ns(promoted.task.period_ns),
                promoted.cpu
            ))
            .hint(format!("laxity demote {pid} first")));
        }
        if remembered.policy() == policy::DEADLINE {
            return Err(Diagnostic::usage(format!("thread {pid} is under SCHED_DEADLINE"))
                .hint("the kernel schedules it before amp-rm does; give it SCHED_OTHER first"));
        }
        Ok(remembered)
    }

    /// The CPUs without guests, and the guests with their CPUs. A guest is a thread that has become a
    /// real-time task without being promoted: nothing is proven of it, and nothing of the tasks beside it.
    fn without_guests(&self, scheduler: &Scheduler) -> Result<(CpuList, Vec<(i32, CpuList)>)> {
        let is_promoted = |tid: i32| self.promoted.iter().any(|promoted| promoted.tid() == tid);
        let others = scheduler.roster()?.into_iter().map(|task| task.tid).filter(|&tid| !is_promoted(tid));
        // One that ends just now is nowhere.
        let guests: Vec<(i32, CpuList)> =
            others.filter_map(|tid| Some((tid, RememberedThread::of(tid).ok()?.cpus().clone()))).collect();
        let is_free = |cpu: &u32| !guests.iter().any(|(_, cpus)| cpus.contains(*cpu));
        Ok((self.cores.keys().copied().filter(is_free).collect(), guests))
    }

    /// What is proven of the CPU's tasks shall stay true: no thread enters there by itself.
    fn close(&mut self, scheduler: &Scheduler, cpu: u32) -> std::result::Result<(), Bound> {
        let Some(core) = self.cores.get_mut(&cpu) else { return Ok(()) };
        core.closed = true;
        scheduler.size(core).map_err(Bound::Failed)?;
        let (free, guests) = self.without_guests(scheduler).map_err(Bound::Failed)?;
        // A thread may have entered before the core was closed.
        if free.contains(cpu) { Ok(()) } else { Err(Bound::Refused(beside_guests(&guests))) }
    }

    /// From here on the thread is put back whatever happens to this process.
    fn keep_and_bind(
        &mut self,
        remembered: &RememberedThread,
        cpu: u32,
        task: Enrolled,
    ) -> std::result::Result<(), Bound> {
        let pid = remembered.tid();
        self.keeper.keep(remembered.clone()).map_err(Bound::Failed)?;
        let bound = bind(remembered, cpu, task);
        let Err(error) = bound else { return Ok(()) };
        // Its own error counts more than one of putting back what has not changed.
        let _ = self.keeper.restore(pid);
        Err(match error.raw_os_error() {
            Some(libc::EBUSY) => Bound::Refused(
                Diagnostic::usage(format!(
                    "thread {pid} cannot enter: CPU {cpu}: real-time tasks may have no more than {} % of it, what its server and \
                     the reserve leave",
                    share_of(&self.cores, cpu) / 10_000
                ))
                .hint("demote another one, or make the server or the reserve smaller"),
            ),
            Some(libc::ESRCH) => Bound::Failed(no_thread(pid, &error)),
            _ => Bound::Failed(Diagnostic::environment(format!("thread {pid} cannot be promoted: {error}"))),
        })
    }

    fn demote(&mut self, scheduler: &Scheduler, pid: i32) -> Result<OrderOutcome> {
        let Some(promoted) = self.promoted.iter().find(|promoted| promoted.tid() == pid) else {
            let gone = RememberedThread::of(pid).err().map(|error| no_thread(pid, &error));
            return Err(gone.unwrap_or_else(|| {
                Diagnostic::usage(format!("thread {pid} is not promoted"))
                    .hint("laxity promote makes it a real-time task")
            }));
        };
        let (cpu, cpus) = (promoted.cpu, promoted.remembered.cpus().clone());
        let put_back = self.keeper.restore(pid);
        self.look_after_children(scheduler);
        self.leaves(scheduler, pid);
        put_back?;
        Ok(OrderOutcome::Demoted { pid, cpu, cpus })
    }

    fn speed_of(&self, cpu: u32) -> Option<Speed> {
        self.platform.core(cpu).map(|core| core.speed)
    }

    fn resize(&mut self, scheduler: &Scheduler, cpu: u32, size: ServerSize) -> Result<OrderOutcome> {
        let (Some(core), Some(speed)) = (self.cores.get(&cpu).copied(), self.speed_of(cpu)) else {
            return Err(Diagnostic::usage(format!("CPU {cpu}: no real-time tasks run there"))
                .hint("name one of the policy's CPUs"));
        };
        let server = laxity_kernel::checked_server(size.on(&self.platform, speed))?;
        let before = self.admission.clone();
        let mut resized = self.admission.resize(cpu, server);
        if resized.as_ref().is_err_and(|refused| refused.unsettled) && self.wait_until_settled(scheduler) {
            resized = self.admission.resize(cpu, server);
        }
        if let Err(refused) = resized {
            let why = refused.diagnostic(|id| self.name(id, (u64::MAX, 0)));
            return Ok(OrderOutcome::refused(why));
        }
        let wanted = core.with_server(server, self.reserved.share_ppm);
        // What the kernel does not know of has not happened.
        let from = scheduler.size(&wanted).inspect_err(|_| self.admission = before)?;
        self.cores.insert(cpu, wanted);
        self.unsettled.insert(cpu, if from == u64::MAX { monotonic_ns() } else { from.max(monotonic_ns()) });
        let after = (from != u64::MAX).then(|| Duration::from_ns(from.saturating_sub(monotonic_ns())));
        let tasks = self.proven(cpu)?;
        Ok(OrderOutcome::Resized { cpu, budget: server.budget(), period: server.period(), after, tasks })
    }

    /// What has left counts until the CPU has been quiet. It is asked to look whether it is.
    fn admission_left(&mut self, scheduler: &Scheduler, cpu: u32) {
        self.unsettled.insert(cpu, monotonic_ns());
        let closed = self.promoted.iter().any(|promoted| promoted.cpu == cpu);
        if let Some(core) = self.cores.get_mut(&cpu) {
            core.closed = closed;
            // It says nothing new; an error would come with whatever is asked next.
            let _ = scheduler.size(core);
        }
    }

    fn settle(&mut self, scheduler: &Scheduler) {
        if self.unsettled.is_empty() {
            return;
        }
        let Ok(times) = scheduler.background_times() else { return };
        let quiet = |cpu: u32| times.get(cpu as usize).map_or(0, |times| times.quiet_ns);
        let settled: Vec<u32> =
            self.unsettled.iter().filter(|&(&cpu, &since)| quiet(cpu) > since).map(|(&cpu, _)| cpu).collect();
        for cpu in settled {
            self.unsettled.remove(&cpu);
            self.admission.settle(cpu);
        }
    }

    /// Whether any CPU has settled meanwhile.
    fn wait_until_settled(&mut self, scheduler: &Scheduler) -> bool {
        let (before, end) = (self.unsettled.len(), Instant::now() + QUIET_WITHIN);
        while !self.unsettled.is_empty() && Instant::now() < end {
            std::thread::sleep(Span::from_millis(5));
            self.settle(scheduler);
        }
        self.unsettled.len() < before
    }

    /// A task as messages have it; `(id, pid)` is one that is not promoted yet.
    fn name(&self, id: u64, (new, pid): (u64, i32)) -> String {
        let known = self.promoted.iter().find(|promoted| promoted.id == id);
        match known {
            Some(promoted) => promoted.tid().to_string(),
            None if id == new => pid.to_string(),
            None => "one that has left".into(),
        }
    }
}

impl Drop for Authority {
    fn drop(&mut self) {
        // Another loader that listens there now has made it anew.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// The kernel's side takes a thread for the CPU that is all it may use. From then on it runs there, whatever else it may use: so it
/// may use again what it could before, and so may its children, which are as free as it is.
fn bind(remembered: &RememberedThread, cpu: u32, task: Enrolled) -> std::io::Result<()> {
    let (runtime, period) = (Duration::from_ns(task.runtime_ns), Duration::from_ns(task.period_ns));
    laxity_run::set_affinity(task.tid, &CpuList::from_iter([cpu]))?;
    laxity_run::set_policy(task.tid, Policy::Ext { runtime, deadline: period, period })?;
    laxity_run::set_affinity(task.tid, remembered.cpus())
}

fn listen(path: &std::path::Path) -> std::io::Result<UnixListener> {
    // Of a loader that was killed: there can be one at a time, and this is it.
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    // No other user may connect, not even before the mode is set.
    let before = rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o177));
    let listener = UnixListener::bind(path);
    rustix::process::umask(before);
    let listener = listener?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

#[cfg(test)]
mod tests {
    use super::listen;
    use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};

    /// Neither a group nor others connect; nor does what was there before stay.
    #[test]
    fn the_socket_is_its_users_alone() {
        let directory = tempfile::tempdir().expect("directory");
        let path = directory.path().join("socket");
        std::fs::write(&path, "of a loader that was killed").expect("written");
        let _listener = listen(&path).expect("listens");
        let found = std::fs::metadata(&path).expect("there");
        assert!(found.file_type().is_socket());
        assert_eq!(found.permissions().mode() & 0o777, 0o600);
    }
}

//! Units for systemd.

use super::{Place, can_deploy, lock, machine_cpus, text};
use crate::host::machine;
use crate::plans;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// A user's manager of systemd, in namespaces of its own: it starts the target, `laxity deployed` reads it back, and one service that
/// ends takes the others with it. It needs no systemd as the machine's first process.
const UNITS: &str = r#"
# Waits for at most half a minute until the command succeeds.
until_it_does() {
    tries=0
    until "$@"; do
        [ $tries -lt 300 ] || return 1
        tries=$((tries + 1))
        sleep 0.1
    done
}
is_up() { systemctl --user is-system-running >/dev/null 2>&1; }
is_down() { ! systemctl --user is-active laxity-robot.target >/dev/null; }
plan=$1/plan.json laxity=$3 threads=$4
mount -t tmpfs none /run && mkdir -p /run/systemd/system /run/user/0 "$HOME/.config/systemd/user" || exit 90
sed 's,/path/to/[^ ]*,/bin/sleep 600,' -i "$1"/systemd/*.service
cp "$1"/systemd/* "$HOME/.config/systemd/user"
export XDG_RUNTIME_DIR=/run/user/0
"$2" --user >"$HOME/manager" 2>&1 &
until_it_does is_up || { echo "no manager: $(cat "$HOME/manager")"; exit 90; }
systemctl --user start laxity-robot.target || {
    systemctl --user --no-pager status 'laxity*' | grep -A8 '^[^a-z ]' ; cat "$HOME/manager"
    exit 91
}
has_all() { "$laxity" deployed "$plan" --json >"$HOME/read"; }
has_none() { "$laxity" deployed "$plan" | grep "^0 of $threads threads" >/dev/null; }
until_it_does has_all || { cat "$HOME/read"; systemctl --user status 'laxity*'; exit 92; }
[ "$(grep -c '"by": "unit"' "$HOME/read")" = "$threads" ] || { cat "$HOME/read"; exit 93; }
systemctl --user stop laxity-robot.target
until_it_does has_none || { "$laxity" deployed "$plan"; exit 94; }
systemctl --user start laxity-robot.target || { systemctl --user --no-pager status 'laxity*'; exit 95; }
systemctl --user kill -s KILL "$5"
until_it_does is_down || { systemctl --user --no-pager status 'laxity*'; exit 96; }
until_it_does has_none || { "$laxity" deployed "$plan"; exit 97; }
"#;

#[test]
fn systemd_starts_the_target() {
    if !can_deploy() {
        return;
    }
    let manager = ["/lib/systemd/systemd", "/usr/lib/systemd/systemd"]
        .into_iter()
        .find(|path| Path::new(path).exists());
    let Some(manager) = manager else {
        eprintln!("SKIPPED: there is no systemd");
        return;
    };
    let _machine = machine();
    let Some(_lock) = lock() else { return };
    let mut plan = plans::mixed(&machine_cpus().to_string());
    if Path::new("/sys/fs/cgroup/cpu/cpu.rt_runtime_us").exists() {
        // CONFIG_RT_GROUP_SCHED: cgroups of the manager's services have no bandwidth for SCHED_FIFO and SCHED_RR.
        eprintln!(
            "SKIPPED: units of SCHED_FIFO and SCHED_RR: this kernel gives cgroups no real-time bandwidth"
        );
        plan.threads.retain(|thread| thread.scheduling.priority().is_none());
    }
    let place = Place::of(plan);
    let services = laxity_deploy::service_names(&place.plan);
    let mut command = Command::new("unshare");
    command.args([
        "--mount",
        "--propagation",
        "private",
        "--pid",
        "--fork",
        "--kill-child",
        "--mount-proc",
        "sh",
        "-c",
        UNITS,
        "sh",
    ]);
    command.arg(place.directory.path()).arg(manager).arg(env!("CARGO_BIN_EXE_laxity"));
    command
        .arg(services.len().to_string())
        .arg(&services[1])
        .env("HOME", place.path("home"))
        .stdin(Stdio::null());
    fs::create_dir(place.path("home")).expect("made");
    let ended = place.ended(command);
    match ended.status.code() {
        Some(0) => {}
        Some(90) => eprintln!("SKIPPED: systemd's manager does not run here: {}", text(&ended)),
        other => panic!("{other:?}: {}", text(&ended)),
    }
}

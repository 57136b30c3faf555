"""Starts a container for each task of a plan, from its part of config.json, and ends them.

containers.py RUNTIME start|stop PLAN: RUNTIME is crun or runc, PLAN a directory as `laxity settings --deploy` writes it. `start` prints
TASK=PID, a line each.
"""

import json
import subprocess
import sys
from pathlib import Path

BUNDLES = Path("/laxity/bundles")


def merged(whole: dict, part: dict) -> dict:
    """`part` laid over `whole`, as a user would merge it."""
    for key, value in part.items():
        whole[key] = merged(whole.get(key, {}), value) if isinstance(value, dict) else value
    return whole


def bundle(runtime: str, number: int, part: dict) -> Path:
    """A bundle whose program sleeps; its programs are those of the machine."""
    directory = BUNDLES / str(number)
    root = directory / "rootfs"
    for name in ("usr", "proc", "dev", "sys", "tmp"):
        (root / name).mkdir(parents=True, exist_ok=True)
    for name in ("bin", "lib", "lib64"):
        link = root / name
        if not link.is_symlink():
            link.symlink_to(f"usr/{name}")
    config = directory / "config.json"
    config.unlink(missing_ok=True)
    subprocess.run([runtime, "spec"], cwd=directory, check=True)
    whole = json.loads(config.read_text())
    whole["process"]["args"] = ["/usr/bin/sleep", "infinity"]
    whole["process"]["terminal"] = False
    whole["mounts"].append({"destination": "/usr", "type": "none", "source": "/usr", "options": ["rbind", "ro"]})
    config.write_text(json.dumps(merged(whole, part)))
    return directory


def main() -> None:
    runtime, what, plan = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    tasks = [thread["task"] for thread in json.loads((plan / "plan.json").read_text())["threads"]]
    for number, task in enumerate(tasks):
        name = f"laxity-{number}"
        if what == "stop":
            subprocess.run([runtime, "delete", "--force", name], check=True)
            continue
        directory = bundle(runtime, number, json.loads((plan / "oci" / f"{task}.json").read_text()))
        subprocess.run([runtime, "run", "--no-pivot", "--detach", "--bundle", str(directory), name], check=True, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL)
        state = subprocess.run([runtime, "state", name], check=True, capture_output=True, text=True)
        print(f"{task}={json.loads(state.stdout)['pid']}", flush=True)


try:
    main()
except subprocess.CalledProcessError as error:
    sys.exit(f"{' '.join(error.cmd)}: exit code {error.returncode}")

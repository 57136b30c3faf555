"""In a room, with the wheels installed and nothing else: what a user of the Python module would try first."""

import time

import laxity

tasks = laxity.TaskSet([laxity.Task("camera", "6ms", "10ms"), laxity.Task("lidar", "11ms", "20ms")])
proof = laxity.analyze(tasks, scheduler="p-edf", cpus=2)
print(proof)
assert proof.proven
with open("/srv/began", encoding="ascii") as began:
    print(f"first proof from Python {time.time() - float(began.read()):.1f} s after the install began")

made = laxity.generate("emberson", n=6, utilization=1.2, seed=3)[0]
simulation = laxity.simulate(made, scheduler="g-edf", cpus=2, duration="1s", verify=True)
print(simulation)
assert simulation["schedulers"][0]["completed"] == len(simulation.jobs)
assert "svg" in simulation.schedule().html or "canvas" in simulation.schedule().html
assert laxity.place("examples/avionics.toml", platform="four-cores").task_set
study = laxity.study("studies/calandrino2007-fig3-small.toml", sets=1, out="/tmp/study")
assert study.figures and len(study.points)
assert laxity.program() == "/opt/env/bin/laxity", laxity.program()
print("ok: the Python module")

"""Writes the notebook of docs/images/notebook.png (scripts/docs-picture-python): notebook.py FILE."""

import sys

import nbformat
import nbformat.v4 as notebook

CELLS = [
    """import laxity

tasks = laxity.TaskSet(
    [
        laxity.Task("motor-control", "1ms", "5ms"),
        laxity.Task("joint-position", "2ms", "10ms", "8ms"),
        laxity.Task("camera", "8ms", "20ms"),
        laxity.Task("path-planning", "20ms", "40ms"),
    ],
    name="robot",
)
tasks""",
    """simulation = laxity.simulate(tasks, scheduler="g-edf", cpus=2, duration="2s", demand="uniform:0.6,1")
simulation.schedule(to="60ms")""",
    """laxity.study("studies/cerqueira2014-fig8a.toml", sets=20, out="fig8a")""",
]

made = notebook.new_notebook(cells=[notebook.new_code_cell(cell) for cell in CELLS])
made.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
with open(sys.argv[1], "w", encoding="utf-8") as file:
    nbformat.write(made, file)

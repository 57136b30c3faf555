"""Runs the Python blocks of a page one after another with the same names, as a notebook does.

A line of JSON for each block comes in: {"code", "where"}. A line goes out: {"output", "fault"}.
"""

import contextlib
import io
import json
import os
import sys
import traceback

# What a block starts shall read nothing of what comes next.
blocks = os.fdopen(os.dup(0))
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
names = {"__name__": "__main__"}
for line in blocks:
    block = json.loads(line)
    output, fault = io.StringIO(), None
    try:
        with contextlib.redirect_stdout(output):
            exec(compile(block["code"], block["where"], "exec"), names)
    except BaseException:
        fault = traceback.format_exc()
    print(json.dumps({"output": output.getvalue(), "fault": fault}), flush=True)

"""A program with a thread for each of its arguments, which is the name of a thread of the plan."""

import sys
import threading

import laxity_apply


def thread(name):
    """Sets itself and stays."""
    try:
        laxity_apply.apply(name)
        print("done", flush=True)
    except (KeyError, OSError) as error:
        print("failed:", error, flush=True)
    threading.Event().wait()


for word in sys.argv[1:]:
    threading.Thread(target=thread, args=(word,)).start()

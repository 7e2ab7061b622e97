"""A training that is saved and stopped when the process that started it ends.

That process holds the standard input of this one open, so that its end is noticed.
"""

import runpy

from nt2vr.models.spawn import stop_at_end_of_input

if __name__ == "__main__":
    stop_at_end_of_input()
    runpy.run_module("trainer", run_name="__main__", alter_sys=True)

"""A training that is stopped, and saved, when the process that started it ends: that held its standard input open."""

import runpy

from nt2vr.models.spawn import stop_at_end_of_input

if __name__ == "__main__":
    stop_at_end_of_input()
    runpy.run_module("trainer", run_name="__main__", alter_sys=True)

"""Subcommands of `nt2vr`. Each module has `add_arguments` and `run`, which returns the exit status."""

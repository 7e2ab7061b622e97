"""Subcommands of `nt2vr`. Each module has `add_arguments` and `run`."""

"""The commands of `nt2vr`, one module each: `add_arguments(parser)` and `run(options)`, which returns the status."""

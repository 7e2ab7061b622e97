"""The commands of `nt2vr`, one module each."""

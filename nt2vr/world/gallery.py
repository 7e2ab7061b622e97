"""The former name of `python -m benchmarks.gallery`, which rebuilds the gallery in a checkout."""

import runpy

if __name__ == "__main__":
    runpy.run_module("benchmarks.gallery", run_name="__main__")

"""Measure the numbers in docs/benchmarks.md and docs/results.md; each module can be run."""

"""The built-in world: everyday things and deeds in time, their captions and their truth."""

WORLD = "world"  # as configurations and benchmarks call it
NAME = "built-in world"

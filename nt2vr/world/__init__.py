"""The built-in world: everyday things and actions in time, their captions and their truth."""

# As configurations and benchmarks call it.
WORLD = "world"
NAME = "built-in world"

"""Where tests find things."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
# Beside a checkout of the project, not part of it: tests that use it skip without it.
SHARED = ROOT.parent / "shared"

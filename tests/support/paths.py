"""Where tests find things."""

from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[2]
# Beside a checkout of the project, not part of it: tests that use it skip without it.
SHARED = ROOT.parent / "shared"

# Gradio is found, not imported, which takes 2 s.
_GRADIO = find_spec("gradio")
assert _GRADIO is not None and _GRADIO.origin is not None
# Real pictures and videos inside Gradio's wheel.
GRADIO_MEDIA = Path(_GRADIO.origin).parent / "media_assets"

"""nT2VR: text-to-video retrieval that understands negation.

The names below are imported with their first use, so that `import nt2vr` stays quick and loads no
torch.
"""

# ruff: noqa: F403

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nt2vr.api import *

    __version__: str

# what nt2vr.api has; extensions add more
CORE = [
    "Answer",
    "Capabilities",
    "Card",
    "Comparison",
    "Data",
    "Difference",
    "Encoder",
    "Evaluation",
]
CORE += ["GallerySearcher", "Match", "Model", "Parts", "Query", "Reference", "System", "Training"]
CORE += ["__version__", "add_model", "evaluate", "load_model", "load_report", "open_searcher"]
CORE += ["register_dataset", "register_loss", "register_strategy", "teach", "train", "understand"]


def __getattr__(name: str) -> Any:
    # What `from nt2vr import *` imports.
    if name == "__all__":
        return __dir__()
    if name == "__version__":
        from nt2vr.settings import project_version  # noqa: PLC0415

        return project_version()
    if name in CORE:
        from nt2vr import api  # noqa: PLC0415

        return getattr(api, name)
    references = _of_extensions()
    if name in references:
        from nt2vr.extension import load  # noqa: PLC0415

        return load(references[name])
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*CORE, *_of_extensions()])


def _of_extensions() -> dict[str, str]:
    """Return a reference to each name that extensions add."""
    from nt2vr.extension import combined  # noqa: PLC0415

    return combined(lambda extension: extension.api)

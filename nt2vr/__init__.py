"""nT2VR: text-to-video retrieval that understands negation.

The names below are imported with their first use, so that `import nt2vr` stays quick and loads no torch.
"""

# ruff: noqa: F403, F405

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nt2vr.api import *

    __version__: str

__all__ = ["Answer", "Capabilities", "Card", "Comparison", "CovrData", "Data", "Difference", "Encoder", "Evaluation"]
__all__ += ["GallerySearcher", "Match", "Model", "Parts", "Query", "Reference", "System", "Training"]
__all__ += ["__version__", "add_model", "evaluate", "evaluate_covr", "load_model", "load_report", "open_searcher"]
__all__ += ["register_dataset", "register_loss", "register_strategy", "submit_covr", "teach", "train", "understand"]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from nt2vr.settings import project_version  # noqa: PLC0415

        return project_version()
    if name in __all__:
        from nt2vr import api  # noqa: PLC0415

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__

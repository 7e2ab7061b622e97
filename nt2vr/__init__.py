"""nT2VR: text-to-video retrieval that understands negation.

The names below are imported with their first use, so that `import nt2vr` stays quick and loads no torch.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nt2vr.api import (
        evaluate,
        evaluate_covr,
        load_model,
        open_searcher,
        register_strategy,
        submit_covr,
        understand,
    )
    from nt2vr.evaluation.covr import CovrData
    from nt2vr.evaluation.sources import Data
    from nt2vr.models.card import Card
    from nt2vr.models.encoder import Encoder
    from nt2vr.negation.parse.query import Query
    from nt2vr.python.evaluation import Evaluation
    from nt2vr.python.model import Model
    from nt2vr.python.searcher import GallerySearcher
    from nt2vr.search.answers import Answer
    from nt2vr.search.match import Match
    from nt2vr.search.references import Reference
    from nt2vr.search.strategies import Parts
    from nt2vr.search.systems import System

    __version__: str

__all__ = [
    "Answer",
    "Card",
    "CovrData",
    "Data",
    "Encoder",
    "Evaluation",
    "GallerySearcher",
    "Match",
    "Model",
    "Parts",
    "Query",
    "Reference",
    "System",
    "__version__",
    "evaluate",
    "evaluate_covr",
    "load_model",
    "open_searcher",
    "register_strategy",
    "submit_covr",
    "understand",
]


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

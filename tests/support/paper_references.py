"""Reference numbers that the papers' own code computes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.support.paths import ROOT


def papers_reference(*prefixes: str) -> dict[str, NDArray[Any]]:
    """Return the arrays whose names begin with one of the prefixes."""
    with np.load(ROOT / "tests" / "data" / "papers_reference.npz") as stored:
        return {name: stored[name] for name in stored.files if name.startswith(prefixes)}

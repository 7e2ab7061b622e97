"""Reference numbers of the papers' code, which lie beside a checkout of the project."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.paths import SHARED


def papers_reference(*prefixes: str) -> dict[str, NDArray[Any]]:
    """Return the arrays whose names begin with one of the prefixes; the test is skipped where there are none."""
    path = SHARED / "data" / "papers_reference.npz"
    if not path.is_file():
        pytest.skip("there is no shared/ next to the checkout")
    with np.load(path) as stored:
        return {name: stored[name] for name in stored.files if name.startswith(prefixes)}

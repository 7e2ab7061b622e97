"""How results show themselves in notebooks, as HTML and as pandas tables."""

from collections.abc import Sequence
from typing import Any


def data_frame(rows: list[Any], columns: Sequence[str]) -> Any:
    """Return rows, mappings or tuples, as a `pandas.DataFrame` with these columns even if there are no rows."""
    import pandas  # noqa: PLC0415  slow

    return pandas.DataFrame(rows, columns=columns)

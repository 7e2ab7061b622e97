"""Results as pandas tables. pandas is optional, though Gradio brings it."""

from collections.abc import Mapping, Sequence
from typing import Any

from nt2vr.errors import ConfigError


def data_frame(rows: Sequence[Mapping[str, Any]], columns: Sequence[str] | None = None) -> Any:
    """Return rows as a `pandas.DataFrame`, with these columns even if there are no rows."""
    try:
        import pandas  # noqa: PLC0415  optional, and slow to import
    except ImportError:
        raise ConfigError("to_pandas needs a package that is not installed: pip install pandas.") from None
    return pandas.DataFrame(list(rows), columns=columns)

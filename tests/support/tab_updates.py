"""What an event of a tab returns, by component."""

from collections.abc import Mapping
from typing import Any


def one_of(updates: Mapping[Any, Any], kind: type) -> Any:
    """Return the one update of a component of a kind."""
    (update,) = [update for component, update in updates.items() if isinstance(component, kind)]
    return update

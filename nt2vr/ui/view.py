"""What templates are filled with."""

from typing import Any

# Plain data by name, see `theme.template`.
View = dict[str, Any]

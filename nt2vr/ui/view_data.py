"""What templates are given."""

from typing import Any

# Plain data, as JSON has it.
ViewData = dict[str, Any]

"""Names of the plain data that the page is made of."""

from collections.abc import Callable, Mapping
from typing import Any

# What a template is filled with, by name, see `theme.template`.
View = dict[str, Any]
# The entries of a list in a template, one view each.
Views = list[View]
# Of a component or an event.
Options = dict[str, Any]
# Of a menu: the label and the value of each choice.
Choices = list[tuple[str, str]]
# The parameters of an address, by name.
Link = Mapping[str, str]
# Words a message for a visitor, who may not learn every path.
Redact = Callable[[str], str]

"""The ways in which a caption may get another verb."""

from typing import Literal, get_args

Rule = Literal["rules", "antonym", "random"]
RULES: tuple[Rule, ...] = get_args(Rule)

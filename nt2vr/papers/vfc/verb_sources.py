"""Where the verbs of changed captions may come from. Imports nothing that parses captions."""

from typing import Literal, get_args

# rules: verbs that other captions have with the same noun; antonym and random are controls.
VerbSource = Literal["rules", "antonym", "random"]
VERB_SOURCES: tuple[VerbSource, ...] = get_args(VerbSource)

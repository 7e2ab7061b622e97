"""The settings of a training as fields of the form, derived from TrainConfig."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trainer.config import CHOICES, FIELDS

# The settings of a config, or of a loss, by key.
FieldValues = Mapping[str, Any]


@dataclass(frozen=True)
class Field:
    """A setting of a training.

    Attributes:
        key: its name in a config.
        default: of the type that values must have.
        help: what it is, in a sentence or more.
        choices: allowed values; empty if they cannot be listed.
    """

    key: str
    default: Any
    help: str
    choices: tuple[str, ...] = ()

    @property
    def info(self) -> str:
        """The help's first clause, then as Markdown's strong text all of it, which style.css shows at use."""
        text = in_words(self.help)
        first = re.split("[.;,] ", text, maxsplit=1)[0]
        if first == text:
            return text
        return f"{first} **{text}**"


def config_fields() -> list[Field]:
    """Return the settings of a config by flat key, section by section."""
    return [
        Field(key, info.default, info.description or "", CHOICES.get(key, ()))
        for key, info in FIELDS.items()
    ]


def in_words(sentence: str) -> str:
    """Write the keys of a config in a sentence as the form labels them: num_clips is “Number of clips”."""
    return re.sub(
        r"\b\w+_\w+\b",
        lambda key: f"“{label_of(key[0])}”" if key[0] in FIELDS else key[0],
        sentence,
    )


def label_of(key: str) -> str:
    return key.replace("num_", "number_of_").replace("_", " ").capitalize()

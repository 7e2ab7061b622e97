"""Settings of a training with VFC's loss. Imports no torch."""

from typing import Any, Self

from pydantic import Field, model_validator

from nt2vr.errors import ConfigError, quoted
from nt2vr.papers.vfc.verb_sources import VERB_SOURCES
from nt2vr.sections import Section, Whole, absolute
from nt2vr.settings import resolve_path


class VerbSettings(Section):
    """How captions get another verb, for the loss vfc."""

    verb_changes: str = Field(
        default="rules",
        description="where captions get another verb from, for vfc: rules; as controls, antonym or random; or a file "
        "in the form that `nt2vr queries verbs` writes",
    )
    verb_negatives: Whole = Field(
        default=5,
        description="changed captions per caption and step, of up to 10 with another verb",
    )
    calibrate: bool = Field(
        default=True,
        description="balance verbs in changed captions; keep one only while each of its verb phrases has been kept "
        "less often than it occurs in captions",
    )

    @model_validator(mode="after")
    def _check_verb_changes(self) -> Self:
        if not self.verb_changes.strip():
            raise ConfigError("verb_changes is empty. Enter rules, antonym, random, or a file.")
        return self

    @property
    def names_files(self) -> bool:
        return self.verb_changes not in VERB_SOURCES

    def absolute_paths(self) -> dict[str, Any]:
        if self.names_files:
            return {"verb_changes": absolute(self.verb_changes)}
        return {}

    def check_files(self) -> None:
        """Raise a ConfigError if a file of changed captions is missing, or cannot be read."""
        from nt2vr.papers.vfc.verb_file import read_verbs  # noqa: PLC0415  parses captions, which settings do not

        if not self.names_files:
            return
        path = resolve_path(self.verb_changes)
        if not path.is_file():
            raise ConfigError(
                f"{quoted(self.verb_changes)} is not there. Set verb_changes to {', '.join(VERB_SOURCES)} or a file."
            )
        read_verbs(path)

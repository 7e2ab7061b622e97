"""Settings of a text side that reads words, as in W2VV++ and SEA. Imports no torch."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

from trainer.options import Count, option, read_settings

Spaces = Literal["one", "each"]


@dataclass(frozen=True)
class WordSettings:
    """The settings `words` of a config; the defaults are the papers'."""

    spaces: Spaces = option("one", "one space for all three encoders (W2VV++), or one for each (SEA)")
    size: Count = option(2048, "length of an embedding in a space")
    states: Count = option(1024, "width of the GRU")
    least: Count = option(5, "how often captions must have a word for the bag of words and the GRU to know it")
    vectors: str = option(
        "", "a BigFile folder, or a word2vec file (.bin or text); empty for PPMI of the captions by SVD"
    )
    vector_size: Count = option(500, "length of word vectors made of the captions")

    @classmethod
    def of(cls, words: Mapping[str, Any]) -> "WordSettings | None":
        """Read the settings; None if there are none. A ConfigError refuses what cannot be used."""
        return read_settings(cls, "words", words, [field.name for field in fields(cls)]) if words else None

    @property
    def number(self) -> int:
        """Number of spaces."""
        return 1 if self.spaces == "one" else 3

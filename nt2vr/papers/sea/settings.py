"""Settings of a training with a text side that reads words, perhaps on features. Imports no torch."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from nt2vr.errors import ConfigError
from nt2vr.sections import Count, Section, absolute, read_settings
from nt2vr.settings import resolve_path


class WordSettings(Section):
    """Settings of a text side that reads words, as in W2VV++ and SEA; the defaults are the papers'."""

    spaces: Literal["one", "each"] = Field(
        default="one",
        description="one space for all three encoders (W2VV++), or one for each (SEA)",
    )
    size: Count = Field(default=2048, description="length of an embedding in a space")
    states: Count = Field(default=1024, description="width of the GRU")
    least: Count = Field(
        default=5,
        description="how often captions must have a word for the bag of words and the GRU to know it",
    )
    vectors: str = Field(
        default="",
        description="a BigFile folder, or a word2vec file (.bin or text); empty for PPMI of the captions",
    )
    vector_size: Count = Field(
        default=500, description="length of word vectors made of the captions"
    )

    @property
    def number(self) -> int:
        return 1 if self.spaces == "one" else 3


class TextSideSettings(Section):
    """A text side that reads words."""

    words: Mapping[str, Any] = Field(
        default={},
        description="settings of a text side that replaces the text tower and reads words as W2VV++ and SEA do, by a "
        "bag of words, word vectors and a GRU: spaces (one, or each), size (of a space), states (of the GRU), least "
        "(occurrences of a word), and vectors (a BigFile folder or a word2vec file; if empty, vectors of vector_size "
        "numbers are made from the captions). It needs train head, and the pooling projected or unit_projected, "
        "which takes normalised frames",
    )

    @model_validator(mode="after")
    def _check_words(self) -> Self:
        _ = self.word_settings
        return self

    @cached_property
    def word_settings(self) -> WordSettings | None:
        """Settings of a text side that reads words; None for the text tower."""
        if not self.words:
            return None
        return read_settings(WordSettings, self.words, " of words")

    @property
    def names_files(self) -> bool:
        return bool(self.words.get("vectors"))

    def absolute_paths(self) -> dict[str, Any]:
        if "vectors" not in self.words:
            return {}
        return {"words": {**self.words, "vectors": absolute(self.words["vectors"])}}

    def check_config(self, config: Any) -> None:
        """Refuse words and the poolings that project videos into their spaces without each other."""
        has_words = bool(self.words)
        pools_words = config.frames.pooling in ("projected", "unit_projected")
        if has_words != pools_words or (has_words and config.encoder.train != "head"):
            raise ConfigError(
                "words needs train head and the pooling projected or unit_projected, and these poolings need words. "
                "Set all of them, or none."
            )

    def check_files(self) -> None:
        """Raise a ConfigError if a file of word vectors is missing."""
        if not self.names_files:
            return
        path = resolve_path(self.words["vectors"])
        if not path.exists():
            raise ConfigError(
                f"{path} is not there. Name word vectors, or leave words.vectors empty."
            )


class VideoInputSettings(Section):
    """What is read of videos instead of frames."""

    features: str = Field(
        default="",
        description="BigFile folder to read instead of frames, by its name in the dataset's folder; needs words",
    )

    def check_config(self, config: Any) -> None:
        """Refuse features without words, or with the built-in world, which has none."""
        has_words = bool(config.section(TextSideSettings).words)
        if self.features and (not has_words or config.dataset.is_world):
            raise ConfigError(
                "features needs words, and as data a dataset that has them. See the presets paper-w2vvpp and "
                "paper-sea."
            )

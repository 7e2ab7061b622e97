"""A fake encoder that knows a few words, for scores that can be computed by hand."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import ConfigError
from nt2vr.evaluation.embed_media import EmbeddedVideos
from nt2vr.evaluation.protocol import evaluate
from nt2vr.evaluation.queries import JudgedQuery, row_array
from nt2vr.evaluation.report import Report
from nt2vr.evaluation.text_benchmark import TextBenchmark
from nt2vr.models.card import Card
from nt2vr.search.strategies import System
from tests.support.text_encoder import TextEncoder

WORDS = ("sings", "dancing", "dog", "cat", "not")


def embedded(*texts: str) -> NDArray[np.float32]:
    """Return one row per text: which of WORDS it has."""
    rows = np.zeros((len(texts), len(WORDS)), np.float32)
    for row, text in enumerate(texts):
        words = text.split()
        rows[row] = [word in words for word in WORDS]
    return rows


class WordEncoder(TextEncoder):
    """Encodes texts as bags of WORDS."""

    embed_dim = len(WORDS)

    def __init__(self, name: str = "words") -> None:
        self.card = Card(name, frames=1, visual_fingerprint="v")
        self.encoded: list[str] = []

    def encode_text(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.encoded += texts
        return embedded(*texts)


def _cards() -> dict[str, Card]:
    base = Card("words", visual_fingerprint="v", text_fingerprint="t")
    tuned = Card("words-bnl", base="words", visual_fingerprint="v", text_fingerprint="t2")
    return {"words": base, "words-bnl": tuned}


@dataclass
class WordModels:
    """A catalog of bag-of-words models."""

    cards: dict[str, Card] = field(default_factory=_cards)
    loaded: list[str] = field(default_factory=list)

    def names(self) -> list[str]:
        return list(self.cards)

    def card(self, name: str) -> Card:
        return self.cards[name]

    def load(self, name: str) -> Any:
        if name not in self.cards:
            raise ConfigError(name)
        self.loaded.append(name)
        return WordEncoder(name)


VIDEOS = ("a man sings", "a man sings dancing", "a dog", "a man dancing")
QUERIES = (
    JudgedQuery("original", "a man sings", row_array([0])),
    JudgedQuery("original", "a dog", row_array([2])),
    JudgedQuery(
        "negated",
        "a man not sings",
        row_array([0]),
        wanted="a man",
        unwanted=("sings",),
        original=0,
        cue="not",
    ),
    JudgedQuery(
        "composed",
        "sings and not dancing",
        row_array([0]),
        row_array([1]),
        row_array([1, 3]),
        "sings",
        ("dancing",),
        cue="not",
    ),
    JudgedQuery(
        "not",
        "not dancing",
        row_array([0, 2]),
        row_array([1, 3]),
        row_array([1, 3]),
        "",
        ("dancing",),
        cue="not",
    ),
)


def word_benchmark(queries: Sequence[JudgedQuery] = QUERIES, **changed: Any) -> TextBenchmark:
    """Four videos that show what their names say."""
    values: dict[str, Any] = {"name": "words", "source": {"seed": 1}, **changed}
    return TextBenchmark(
        video_ids=VIDEOS,
        queries=tuple(queries),
        embed=lambda *_: EmbeddedVideos(embedded(*VIDEOS)),
        **values,
    )


FIRST = "words"
SECOND = "words boolean α 1"
SYSTEMS = (
    System("words"),
    System("words", "drop"),
    System("words", "boolean", 1),
    System("words-bnl"),
)


def report_of(*systems: System, **changed: Any) -> Report:
    """Evaluate systems on the four videos."""
    models: Any = WordModels()
    return evaluate(word_benchmark(**changed), systems, models)

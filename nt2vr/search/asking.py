"""What is asked of systems, and a query as their models read it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from nt2vr.language.query import Query
from nt2vr.models.encoder import Encoder
from nt2vr.search.embed_query import texts_of
from nt2vr.search.live import LoadedModel
from nt2vr.search.reading import Reading
from nt2vr.search.references import Reference
from nt2vr.search.strategies import Vector
from nt2vr.search.systems import System

NO_TEXT = Query("")
Known = Mapping[str, Mapping[str, Vector]]  # embeddings of texts, by model and text
NOTHING_KNOWN: Known = MappingProxyType({})


@dataclass(frozen=True)
class Asking:
    """What systems are asked: all of a search but its query."""

    systems: tuple[System, ...]
    loaded: Mapping[str, LoadedModel]
    k: int | None
    references: Sequence[Reference]
    strengths: Mapping[str, float]
    literal: Collection[str]

    @property
    def encoders(self) -> dict[str, Encoder]:
        """The models by name."""
        return {name: model.encoder for name, model in self.loaded.items()}


@dataclass(frozen=True)
class Read:
    """A query as asked, its reading by model, and its texts by model and whether they are reworded.

    Attributes:
        vector: searched as it is, instead of a text.
    """

    asked: Query
    readings: Mapping[str, Reading]
    queries: Mapping[tuple[str, bool], Query]
    vector: Vector | None = None

    def texts(self, model: str) -> list[str]:
        several = (self.queries[model, anew] for anew in (False, True) if (model, anew) in self.queries)
        return [text for each in several for text in texts_of(each)]

    @classmethod
    def of_vector(cls, vector: Vector, asking: Asking) -> "Read":
        """Return a query vector as read."""
        return cls(NO_TEXT, dict.fromkeys(asking.loaded, Reading(NO_TEXT, {}, ())), {}, vector)

"""What a search needs besides its query: systems, their models, and the gallery as these embed it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from nt2vr.models.encoder import Encoder
from nt2vr.negation.parse.query import Query
from nt2vr.search.embed_query import Synonyms, substitutes
from nt2vr.search.embedded_gallery import EmbeddedGallery
from nt2vr.search.live import GalleryEmbedder, LoadedModel
from nt2vr.search.references import Reference
from nt2vr.search.strategies import ChosenStrengths, System

DEFAULT_SYSTEMS = ("CLIP", "CLIP-bnl", "CLIP-neg")
DEFAULT_K = 8
# Searches that the app answers at a time.
CONCURRENT = 8
MAX_K = 100
MAX_SYSTEMS = 8


@dataclass(frozen=True)
class SearchPlan:
    """Everything that a search needs besides its query.

    Attributes:
        searcher: embeds the gallery that is searched.
        loaded: the systems' models, by name.
        synonyms: what to read in place of a word that a model does not know.
        k: number of hits; None ranks the whole gallery.
        strengths: by strategy, for systems that fix none.
        literal: words that are not replaced, even if a model does not know them.
    """

    searcher: GalleryEmbedder
    systems: tuple[System, ...]
    loaded: Mapping[str, LoadedModel]
    synonyms: Synonyms
    k: int | None
    references: Sequence[Reference]
    strengths: ChosenStrengths
    literal: Collection[str]

    @property
    def encoders(self) -> dict[str, Encoder]:
        return {name: model.encoder for name, model in self.loaded.items()}

    def gallery_of(self, model: str) -> EmbeddedGallery:
        """Return the gallery as a model embeds it."""
        return self.loaded[model].gallery_of(self.searcher)

    def reads_parts(self, model: str) -> bool:
        """Whether a system of a model reads more than the sentence as typed."""
        strategies = {system.strategy for system in self.systems if system.model == model}
        return bool(self.references) or strategies != {"plain"}

    def replacements_by_model(self, query: Query) -> dict[str, dict[str, str]]:
        """Return the words of a query that each model does not know, and what it gets instead."""
        return substitutes(query, self.encoders, self.synonyms, self.literal)

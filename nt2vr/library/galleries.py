"""All galleries: the built-in one and the user's libraries, with one set of loaded models."""

from collections.abc import Sequence
from functools import partial
from threading import Lock

from nt2vr.library.libraries import BUILT_IN, Libraries
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Gallery
from nt2vr.media.store import Cache
from nt2vr.models.catalog import Catalog
from nt2vr.negation.parse.query import Query
from nt2vr.search.answers import Judge
from nt2vr.search.caption_judge import judge_by_captions
from nt2vr.search.embed_clips import tower_folder
from nt2vr.search.embed_query import Synonyms
from nt2vr.search.index import Milvus
from nt2vr.search.live import LiveModels
from nt2vr.search.searcher import DEFAULT_SYSTEMS, Searcher

BEST = "CLIP-neg"  # of the models that ship
EXCLUDING = "rectified"  # the strategy with the best first clips, see docs/results.md
MAX_OPEN = 4  # libraries; the least recently used is closed first


class Galleries:
    """Searchers by gallery key, "" or a library's id, with one set of loaded models; arguments as for `Searcher`."""

    def __init__(
        self,
        models: Catalog,
        built_in: Gallery,
        decoder: Decoder,
        cache: Cache,
        judge: Judge,
        synonyms: Synonyms,
        shelf: Libraries,
        index: str | Milvus = "",
    ) -> None:
        self.shelf, self._cache = shelf, cache
        self.live = LiveModels(models)
        self._open_searcher = partial(
            Searcher,
            models,
            decoder=decoder,
            cache=cache,
            synonyms=synonyms,
            live=self.live,
            index=index,
        )
        self.built_in = self._open_searcher(built_in, judge=judge)
        self._open: dict[
            str, tuple[tuple[object, ...], Searcher]
        ] = {}  # with stamps; least recently used first
        self._opening = Lock()

    def key(self, name: str) -> str:
        """Return the key of a gallery given by name or key."""
        return "" if not name or name == BUILT_IN else self.shelf.find(name).id

    def searcher(self, name: str) -> Searcher:
        """Return the searcher of a gallery given by name or key, reopened if its library has changed."""
        if not name or name == BUILT_IN:
            return self.built_in
        key = name if name in self._open else self.shelf.find(name).id
        with self._opening:
            stamp = self.shelf.stamp(key)
            known, searcher = self._open.pop(key, (None, None))
            if searcher is None or known != stamp:
                gallery = self.shelf.gallery(self.shelf.find(key).id)
                searcher = self._open_searcher(gallery, judge=judge_by_captions, library_id=key)
            self._open[key] = stamp, searcher
            while len(self._open) > MAX_OPEN:
                del self._open[next(iter(self._open))]
        return searcher

    def default_model(self, key: str) -> str:
        """Return the model that is used where none is named: the one that has indexed a library, if any has.

        Otherwise it is one that knows real videos, but no training run, and in the built-in gallery
        the best one.
        """
        models = self.built_in.models
        if self.searcher(key).is_library:
            if indexed := [name for name in models.library_models() if self.is_indexed(key, name)]:
                knows_more = not models.knows_only_drawings(indexed[0])
                return indexed[0] if knows_more or BEST not in indexed else BEST
            if real := models.real_models():
                return real[0]
        names = models.names()
        return BEST if BEST in names else names[0]

    def is_indexed(self, key: str, model: str) -> bool:
        """Whether a model, or another one with its visual tower, has indexed clips of a library."""
        return tower_folder(
            self.searcher(key).gallery, self.built_in.models.card(model), self._cache
        ).is_dir()

    def default_systems(self, key: str) -> Sequence[str]:
        """Return what the page compares unless it is told."""
        return systems_of(self.default_model(key)) if key else DEFAULT_SYSTEMS

    def answering(self, key: str, query: Query) -> list[str]:
        """Return the system that answers a program which names none; it excludes what the query denies."""
        model = self.default_model(key)
        capabilities = self.built_in.models.card(model).capabilities
        if query.unwanted and not capabilities.given_queries_only:
            return [f"{model} {EXCLUDING}"]
        return [model]

    def forget(self, key: str) -> None:
        """Close a library whose clips or embeddings have changed; its next search opens it again."""
        with self._opening:
            self._open.pop(key, None)


def systems_of(model: str) -> Sequence[str]:
    """Return the systems of one model to compare at first: the sentence as typed, and without what is unwanted."""
    return model, f"{model} {EXCLUDING}"

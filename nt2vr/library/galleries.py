"""All galleries: the built-in one and the user's libraries, with one set of loaded models."""

from collections import OrderedDict
from collections.abc import Sequence
from functools import partial
from threading import Lock
from typing import NamedTuple

from nt2vr.library.libraries import BUILT_IN, Libraries
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Gallery
from nt2vr.media.store import Cache
from nt2vr.models.catalog import Catalog
from nt2vr.negation.parse.query import Query
from nt2vr.search.caption_judge import judge_by_captions
from nt2vr.search.embed_clips import tower_folder
from nt2vr.search.embed_query import Synonyms
from nt2vr.search.index import Milvus
from nt2vr.search.judge import Judge
from nt2vr.search.live import LiveModels
from nt2vr.search.plan import DEFAULT_SYSTEMS
from nt2vr.search.searcher import Searcher

# The best of the models that ship.
BEST = "CLIP-neg"
# The strategy with the best first clips, see docs/lab/results.md.
EXCLUDING = "rectified"
# Number of open libraries; the least recently used one is closed first.
MAX_OPEN = 4


class OpenSearcher(NamedTuple):
    """A library's searcher, and the stamp of the library when it was opened."""

    stamp: tuple[object, ...]
    searcher: Searcher


class Galleries:
    """Searchers by gallery key: "" or a library's id. They share one set of loaded models.

    The arguments are as for `Searcher`.
    """

    def __init__(
        self,
        models: Catalog,
        built_in: Gallery,
        decoder: Decoder,
        cache: Cache,
        judge: Judge,
        synonyms: Synonyms,
        libraries: Libraries,
        index: str | Milvus = "",
    ) -> None:
        self.libraries = libraries
        self.live = LiveModels(models)
        self._cache = cache
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
        # By library id, the least recently used one first.
        self._open = OrderedDict[str, OpenSearcher]()
        self._opening = Lock()

    def key(self, name: str) -> str:
        """Return the key of a gallery given by name or key."""
        if not name or name == BUILT_IN:
            return ""
        return self.libraries.find(name).id

    def searcher(self, name: str) -> Searcher:
        """Return a gallery's searcher by name or key, reopened if its library changed."""
        key = name if name in self._open else self.key(name)
        if not key:
            return self.built_in

        with self._opening:
            stamp = self.libraries.stamp(key)
            opened = self._open.pop(key, None)
            if opened is None or opened.stamp != stamp:
                gallery = self.libraries.gallery(self.libraries.find(key).id)
                searcher = self._open_searcher(gallery, judge=judge_by_captions, library_id=key)
                opened = OpenSearcher(stamp, searcher)
            self._open[key] = opened

            while len(self._open) > MAX_OPEN:
                self._open.popitem(last=False)
        return opened.searcher

    def default_model(self, key: str) -> str:
        """Return the model that is used unless one is named.

        For a library, it is a model that has indexed it, if any has, and otherwise one that knows
        real videos, but not a training run. In the built-in gallery it is the best one.
        """
        models = self.built_in.models
        if self.searcher(key).is_library:
            indexed = [name for name in models.library_models() if self.is_indexed(key, name)]
            if indexed:
                if BEST in indexed and models.knows_only_drawings(indexed[0]):
                    return BEST
                return indexed[0]
            real_models = models.real_models()
            if real_models:
                return real_models[0]

        names = models.names()
        return BEST if BEST in names else names[0]

    def is_indexed(self, key: str, model: str) -> bool:
        """Whether a model, or another one with its visual tower, has indexed clips of a library."""
        gallery = self.searcher(key).gallery
        card = self.built_in.models.card(model)
        return tower_folder(gallery, card, self._cache).is_dir()

    def default_systems(self, key: str) -> Sequence[str]:
        """Return the systems that the page compares at first."""
        if key:
            return systems_of(self.default_model(key))
        return DEFAULT_SYSTEMS

    def answering(self, key: str, query: Query) -> list[str]:
        """Return the system for a program that names none; it excludes what is unwanted."""
        model = self.default_model(key)
        capabilities = self.built_in.models.card(model).capabilities
        if query.unwanted and not capabilities.given_queries_only:
            return [f"{model} {EXCLUDING}"]
        return [model]

    def forget(self, key: str) -> None:
        """Close a library whose clips or embeddings have changed, until its next search."""
        with self._opening:
            self._open.pop(key, None)


def systems_of(model: str) -> Sequence[str]:
    """Return the systems of a model to compare at first: plain and excluding."""
    return model, f"{model} {EXCLUDING}"

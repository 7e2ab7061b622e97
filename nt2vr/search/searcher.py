"""Search over one gallery: query and systems in, ranked clips out, with verdicts where the truth is known."""

import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import MappingProxyType
from weakref import WeakValueDictionary

import numpy as np

from nt2vr.errors import ConfigError, NotIndexedError, Nt2vrError, QueryError, counted, quoted
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Gallery, Video
from nt2vr.media.store import Cache
from nt2vr.models.catalog import Catalog, CatalogEntry
from nt2vr.models.encoder import Encoder
from nt2vr.negation.parse.query import Query, check_query, understand
from nt2vr.negation.parse.tagger import load_tagger
from nt2vr.registry import pick
from nt2vr.search.answers import Answer, Hit, Judge, Ranking, judge_beside, merge_windows, moments_of, no_verdict
from nt2vr.search.by_captions import judge_by_captions
from nt2vr.search.embed_clips import embed_gallery, open_indexed, prefetch_frames
from nt2vr.search.embed_query import embed_query
from nt2vr.search.embedded import EmbeddedGallery
from nt2vr.search.index import INDEXES, Milvus
from nt2vr.search.live import LiveModels, LoadedModel
from nt2vr.search.reading import NOTHING_KNOWN, Asking, Known, Read, Synonyms, read_query
from nt2vr.search.references import Reference, check_number
from nt2vr.search.rewording import REWORDED, reworded
from nt2vr.search.shared import InFlight, TextBatches
from nt2vr.search.strategies import COSINE, STRATEGIES, STRENGTHS, Parts, Vector, searched
from nt2vr.search.systems import System, check_strategy

DEFAULT_SYSTEMS = ("CLIP", "CLIP-bnl", "CLIP-neg")
DEFAULT_K = 8
CONCURRENT = 8  # searches that the app answers at a time
MAX_K = 100
MAX_SYSTEMS = 8
RANKED = 1000  # ranks known per system, beyond the hits
OFFERED = ("boolean", "boolean α 1", "rectified", "reworded", "anchored", "spherical", "drop")  # besides plain
LOW_SCORE = "validation/low_score"  # metric in a card: 99 % of captions that fit a clip have a higher best score


class Searcher:
    """Answers queries over one gallery with any model; models with equal video embeddings share them.

    Attributes:
        live: loaded models, which the searchers of several galleries may share.
        key: id of the library; empty for the built-in gallery.
        is_library: libraries are searched as far as they are indexed; other galleries are embedded on first search.
        status: progress of the start-up, for the page.
        is_ready: whether the start-up has finished.

    Args:
        index: name in `INDEXES`, or Milvus for libraries; default: exact, and approximate for a large gallery.
    """

    def __init__(
        self,
        models: Catalog,
        gallery: Gallery,
        decoder: Decoder,
        cache: Cache,
        judge: Judge = no_verdict,
        synonyms: Synonyms = MappingProxyType({}),
        live: LiveModels | None = None,
        library_id: str = "",
        index: str | Milvus = "",
    ) -> None:
        """Load nothing yet; `synonyms` stand in for words that a model does not know."""
        self._milvus = index if isinstance(index, Milvus) else None
        self._index = pick("index", index, INDEXES) if isinstance(index, str) and index else None
        self.models, self.gallery, self.judge = models, gallery, judge
        self._decoder, self._cache, self._synonyms = decoder, cache, synonyms
        self._videos = {video.video_id: video for video in gallery.videos}
        self._embedded: WeakValueDictionary[str, EmbeddedGallery] = WeakValueDictionary()  # owned by the models
        self._embedding = threading.Lock()
        self._prefetching: threading.Thread | None = None
        self._in_flight: InFlight[Answer] = InFlight()
        self._batches = TextBatches()
        self.key, self.is_library = library_id, bool(library_id)
        self.live = live or LiveModels(models)
        self.status = "starting"
        self.is_ready = False

    def system_names(self, also: Sequence[str] = ()) -> list[str]:
        """List every model with every strategy, but single epochs of a run only plain, to keep the list short.

        Names from a link or a report, such as "CLIP anchored λ 1.9", are appended if they are of known models.
        """
        entries = self.models.entries().items()
        offered = [name for model, entry in entries for name in (model, *(f"{model} {s}" for s in _offered(entry)))]
        others = [name for name in also[:MAX_SYSTEMS] if name not in offered and self._is_system(name)]
        return [*offered, *dict.fromkeys(others)]

    def _is_system(self, name: str) -> bool:
        try:
            return System.named(name, self.models.names()).name == name
        except ConfigError:
            return False

    def understand(self, text: str, editing: bool = False) -> Query:
        """Split a sentence into its wanted and unwanted parts; `editing` if it is next to a reference picture."""
        return understand(text, load_tagger(), editing)

    def video(self, video_id: str) -> Video:
        if (video := self._videos.get(video_id)) is None:
            raise ConfigError(f"Unknown clip {quoted(video_id)}: it is not in this gallery.")
        return video

    def embedded(self, encoder: Encoder) -> EmbeddedGallery:
        """Return the gallery embedded by a model, once per `Card.video_key` in use; concurrent callers wait."""
        key = encoder.card.video_key
        if (embedded := self._embedded.get(key)) is not None:
            return embedded
        with self._embedding:
            if self._prefetching is not None:
                self._prefetching.join()
            if (embedded := self._embedded.get(key)) is None:
                embedded = self._embed(encoder)
                self._embedded[key] = embedded
        return embedded

    def _embed(self, encoder: Encoder) -> EmbeddedGallery:
        if self.is_library:
            embedded = open_indexed(self.gallery, encoder, self._cache, self._milvus)
        else:
            embedded = embed_gallery(self.gallery, encoder, self._decoder, self._cache, self._report)
        return embedded if self._index is None else embedded.indexed_by(self._index)

    def _report(self, done: int, total: int, doing: str) -> None:
        if not self.is_ready:  # afterwards, galleries are embedded in the background
            self.status = f"{doing}, {done} of {total}"

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Swap in newer checkpoints from a background thread."""
        stop = threading.Event()
        thread = threading.Thread(target=self.live.watch, args=(stop,), name="checkpoints", daemon=True)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()

    def warm_up(self, model: str) -> None:
        """Load everything that the first search needs; that search will raise any error again."""
        self.status = f"loading {model}"
        try:
            card = self.models.card(model)
            arguments = (self.gallery, card, self._decoder, self._cache)
            prefetching = threading.Thread(target=prefetch_frames, args=arguments, daemon=True)
            prefetching.start()  # decodes in child processes while this one imports torch
            self._prefetching = prefetching
            self.understand("a dog and not a cat")
            view = self.live.get(model, self).view(self)
        except Nt2vrError as error:
            self.status = str(error)
        else:
            self.status = counted(len(view.gallery.videos), "clip")
        self.is_ready = True

    def search(
        self,
        query: str | Query,
        systems: Sequence[str] = DEFAULT_SYSTEMS,
        k: int | None = DEFAULT_K,
        references: Sequence[Reference] = (),
        strengths: Mapping[str, float] | None = None,
        literal: Collection[str] = (),
    ) -> Answer:
        """Rank the gallery's clips for a query: the one entry for the page, the HTTP routes and Python alike.

        Args:
            query: a sentence, or its parts as corrected by a person.
            systems: 1 to 8 names, such as "CLIP boolean α 0.5".
            k: hits per system, 1 to 100; None is all.
            references: up to 4 pictures, videos and clips, wanted or not. They join the query as a weighted mean of
                unit vectors, or as the strategies slerp, parts and fusion compose them; their clips are not ranked.
            strengths: strength per strategy, for systems that fix none; default: the model's.
            literal: words to ask for as typed, even of models that do not know them.

        Raises:
            QueryError, ConfigError: if there is nothing to search for, or an argument is invalid.
            NotIndexedError: if the gallery is a library that is not indexed by one of the models.
        """
        query, asking = self.checked(query, references), self.asking(systems, k, references, strengths, literal)

        def answer() -> Answer:
            read = self.read(query, asking)
            for name, encoder in asking.encoders.items():
                if hasattr(encoder, "cached_texts"):  # a model from outside may not remember, and not be hashable
                    self._batches.encode(encoder, read.texts(name))
            return self.answer(read, asking)

        if references:
            return answer()
        settings = (frozenset(literal), *sorted(asking.strengths.items()))
        key = (query, *asking.systems, k, *settings, *map(id, asking.loaded.values()))
        return self._in_flight.get(key, answer)

    def checked(self, query: str | Query, references: Sequence[Reference] = ()) -> Query:
        """Return a query that can be searched, or raise a QueryError."""
        query = self.understand(query, bool(references)) if isinstance(query, str) else query
        check_query(query)
        check_number(len(references))
        if not query.text.strip() and not references:
            raise QueryError("Type what the clip should show, and what it should not, or give a reference picture.")
        return query

    def asking(
        self,
        systems: Sequence[str],
        k: int | None = DEFAULT_K,
        references: Sequence[Reference] = (),
        strengths: Mapping[str, float] | None = None,
        literal: Collection[str] = (),
    ) -> Asking:
        """Check what is asked of systems, and load their models."""
        if k is not None and not 1 <= k <= MAX_K:
            raise ConfigError(f"Cannot show {quoted(k)} results: choose 1 to {MAX_K}.")
        if not 1 <= len(systems) <= MAX_SYSTEMS:
            raise ConfigError(f"Cannot compare {len(systems)} systems: choose 1 to {MAX_SYSTEMS}.")
        names = self.models.names()
        chosen = [System.named(name, names) for name in systems]
        for strategy, strength in (strengths or {}).items():
            pick("strategy with a number", strategy, STRENGTHS).check(strength)
        loaded = self._load(dict.fromkeys(system.model for system in chosen))
        for system in chosen:
            check_strategy(system, loaded[system.model].encoder.card)
        return Asking(tuple(chosen), loaded, k, references, strengths or {}, literal)

    def read(self, query: Query, asking: Asking) -> Read:
        """Return a query as each model is asked it."""
        readings = read_query(query, asking.encoders, self._synonyms, asking.literal)
        asked = [(system, readings[system.model].query) for system in asking.systems]
        queries = [(system.model, reworded(each) if system.strategy == REWORDED else each) for system, each in asked]
        return Read(query, readings, queries)

    def parts(self, read: Read, asking: Asking, known: Known = NOTHING_KNOWN) -> list[Parts]:
        """Embed a query for each system; `known` has embeddings of texts by model."""
        if read.vector is not None:
            return [_alone(read.vector, system, asking.encoders[system.model]) for system in asking.systems]
        parts = {}
        for name, query in dict.fromkeys(read.queries):  # once for all systems that ask the same
            model, texts = asking.loaded[name], known.get(name, {})
            parts[name, query] = embed_query(model.encoder, query, asking.references, model.view(self), texts)
        return [
            replace(parts[asked], strength=system.strength_for(asking.encoders[system.model].card, asking.strengths))
            for asked, system in zip(read.queries, asking.systems, strict=True)
        ]

    def answer(self, read: Read, asking: Asking, known: Known = NOTHING_KNOWN) -> Answer:
        """Rank the clips with each system; `known` as for `parts`."""
        parts = self.parts(read, asking, known)
        ranked = (self._rank(read, system, asking, each) for system, each in zip(asking.systems, parts, strict=True))
        judged_by = "captions" if self.judge is judge_by_captions else ""
        return Answer(read.asked, tuple(ranked), judged_by, self.key)

    def _load(self, models: Iterable[str]) -> dict[str, LoadedModel]:
        """Return models with their views of the gallery; a single error names all that it is not indexed by."""
        loaded: dict[str, LoadedModel] = {}
        refused: dict[str, NotIndexedError] = {}  # by tower
        for model in models:
            try:
                loaded[model] = self.live.get(model, self)
                loaded[model].view(self)
            except NotIndexedError as error:
                refused.setdefault(error.tower, error)
        if refused:
            names = [name for error in refused.values() for name in error.models]
            raise NotIndexedError(" ".join(map(str, refused.values())), *names)
        return loaded

    def _rank(self, read: Read, system: System, asking: Asking, parts: Parts) -> Ranking:
        reading, model, references = read.readings[system.model], asking.loaded[system.model], asking.references
        judged = read.asked if self.is_library else reading.query  # captions may have words that the model lacks
        query, encoder, embedded = reading.query, model.encoder, model.view(self)
        vector, exclusion = searched(system.strategy, parts, embedded.embeddings)
        nothing = Ranking(
            system,
            (),
            reading.unseen,
            reading.read_as,
            reading.reads if system.strategy == "plain" else "",
            strength=parts.strength,
            epoch=model.epoch,
            notice=model.notice,
            gallery=embedded,
            missing=len(embedded.skipped) if self.is_library else 0,
        )
        if vector is None:
            return nothing
        own = self.judge if read.vector is None else no_verdict
        judge, left_out = judge_beside(own, references, self.video), {each.video_id for each in references}
        k = len(embedded.gallery.videos) if asking.k is None else asking.k
        scores, rows = embedded.search(vector, max(k + len(left_out), RANKED), exclusion)
        found = [(embedded.gallery.videos[row], float(score)) for row, score in zip(rows, scores, strict=True)]
        found = [(video, score) for video, score in found if video.video_id not in left_out]
        groups = merge_windows(found, k)
        hits = tuple(
            Hit(video.video_id, rank, round(score, 4), judge(judged, video), video.film, moments_of(group))
            for rank, group in enumerate(groups, 1)
            for video, score in group[:1]
        )
        ranks = {video.video_id: rank for rank, group in enumerate(groups, 1) for video, _ in group}
        others = (video.video_id for video, _ in found if video.video_id not in ranks)
        ranks |= {video_id: rank for rank, video_id in enumerate([*others], len(groups) + 1)}
        floor = encoder.card.metrics.get(LOW_SCORE, -1.0)
        plain = parts.combined is None and parts.away is None and read.vector is None
        comparable = plain and not query.unwanted and system.strategy in COSINE
        low = comparable and bool(hits) and hits[0].score < floor
        notice = nothing.notice or embedded.notice
        return replace(nothing, notice=notice, hits=hits, low=low, vector=vector, exclusion=exclusion, ranks=ranks)


def _alone(vector: Vector, system: System, encoder: Encoder) -> Parts:
    """Return a query vector as the parts that `plain` searches for."""
    if system.strategy != "plain":
        raise ConfigError(f"A query vector has no parts: search with {system.model}, not with {system.name}.")
    if len(vector) != encoder.embed_dim:
        raise QueryError(f"The vector has {len(vector):,} numbers, but {system.model} has {encoder.embed_dim:,}.")
    return Parts(vector, None, np.zeros((0, encoder.embed_dim), np.float32), 0.0)


def _offered(entry: CatalogEntry) -> Sequence[str]:
    """List the strategies to offer for a model, besides plain."""
    if entry.kind in ("epoch", "embeddings"):
        return ()
    return (*OFFERED, *(["fusion"] if entry.has_fusion else []), *STRATEGIES.added)

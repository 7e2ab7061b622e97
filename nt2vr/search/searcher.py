"""Search over one gallery: query and systems in, ranked clips out, with verdicts where the truth is known."""

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any, TypeVar
from weakref import WeakValueDictionary

import numpy as np

from nt2vr.errors import ConfigError, NotIndexedError, Nt2vrError, QueryError, counted, quoted
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Gallery, Video
from nt2vr.media.store import Cache
from nt2vr.models.catalog import Catalog
from nt2vr.models.encoder import Encoder
from nt2vr.negation.parse.query import Query, check_query, understand
from nt2vr.negation.parse.tagger import load_tagger
from nt2vr.registry import pick
from nt2vr.search.answers import (
    Answer,
    Judge,
    Match,
    Ranking,
    Scored,
    Verdict,
    hits_of,
    judge_beside,
    merge_windows,
    ranks_of,
)
from nt2vr.search.caption_judge import judge_by_captions
from nt2vr.search.embed_clips import embed_gallery, open_indexed
from nt2vr.search.embed_query import (
    embed_query,
    embed_reference,
    substitutes,
    texts_of,
    unseen_words,
    with_words,
)
from nt2vr.search.embedded_gallery import EmbeddedGallery
from nt2vr.search.exclusion import scores_of
from nt2vr.search.index import INDEXES, Milvus
from nt2vr.search.live import LiveModels, LoadedModel
from nt2vr.search.references import Reference, check_number
from nt2vr.search.strategies import (
    STRATEGIES,
    STRENGTHS,
    Parts,
    System,
    Vector,
    check_strategy,
    searched,
)

DEFAULT_SYSTEMS = ("CLIP", "CLIP-bnl", "CLIP-neg")
DEFAULT_K = 8
CONCURRENT = 8  # searches that the app answers at a time
MAX_K = 100
MAX_SYSTEMS = 8
MIN_LINES, MAX_LINES = 2, 8  # to choose among
RANKED = 1000  # ranks known per system, beyond the hits
BLOCK = 256  # queries whose texts are encoded together
LOW_SCORE = "validation/low_score"  # metric in a card: 99 % of captions that fit a clip have a higher best score
T = TypeVar("T")
Asked = Query | Vector  # a vector is searched for as it is
Queries = Sequence[str | Asked | Nt2vrError]


@dataclass(frozen=True)
class Panel:
    """Systems with their loaded models, and all of a search but its query."""

    systems: tuple[System, ...]
    loaded: Mapping[str, LoadedModel]
    k: int | None
    references: Sequence[Reference]
    strengths: Mapping[str, float]
    literal: Collection[str]

    @property
    def encoders(self) -> dict[str, Encoder]:
        return {name: model.encoder for name, model in self.loaded.items()}

    def asked(
        self, query: Query, synonyms: Mapping[str, str]
    ) -> dict[str, tuple[Query, dict[str, str]]]:
        """Return by model the query as it is asked, and the words that this replaces."""
        read_as = substitutes(query, self.encoders, synonyms, self.literal)
        return {
            name: (with_words(query, words) if words else query, words)
            for name, words in read_as.items()
        }


class Searcher:
    """Answers queries over one gallery with any model; models with equal video embeddings share them.

    Libraries are searched as far as they are indexed; other galleries are embedded on first search.

    Args:
        live: loaded models, which the searchers of several galleries may share.
        index: name in `INDEXES`, or Milvus for libraries; default: exact, and approximate for a
            large gallery.
    """

    def __init__(
        self,
        models: Catalog,
        gallery: Gallery,
        decoder: Decoder,
        cache: Cache,
        judge: Judge = lambda *_: None,
        synonyms: Mapping[str, str] = MappingProxyType({}),
        live: LiveModels | None = None,
        library_id: str = "",
        index: str | Milvus = "",
    ) -> None:
        self._milvus = index if isinstance(index, Milvus) else None
        self._index = pick("index", index, INDEXES) if isinstance(index, str) and index else None
        self.models, self.gallery, self.judge = models, gallery, judge
        self._decoder, self._cache, self._synonyms = decoder, cache, synonyms
        self._videos = {video.video_id: video for video in gallery.videos}
        self._embedded: WeakValueDictionary[str, EmbeddedGallery] = (
            WeakValueDictionary()
        )  # owned by the models
        self._embedding = threading.Lock()
        self.key, self.is_library = library_id, bool(library_id)
        self.live = live or LiveModels(models)
        self.status, self.is_ready = "starting", False  # of the start-up, for the page

    def system_names(self, also: Sequence[str] = (), folds: bool = False) -> list[str]:
        """List every model with every strategy, but single epochs of a run only plain, to keep the list short.

        Names from a link or a report, such as "CLIP anchored λ 1.9", are appended if they are of
        known models. If the list `folds`, runs come first, and each is one name, unless `also` has
        one of its.
        """
        offered = list[str]()
        entries = list(self.models.entries().items())
        if folds:
            entries.sort(key=lambda item: item[1].kind not in ("run", "epoch"))
        for model, entry in entries:
            run = model.partition(" · ")[0] if entry.kind in ("run", "epoch") else ""
            is_folded = (
                folds and run and not any(name.startswith(run) for name in also[:MAX_SYSTEMS])
            )
            if is_folded and entry.kind == "epoch":
                continue
            offered.append(model)
            if entry.kind not in ("epoch", "embeddings") and not is_folded:
                offered += [
                    System(model, name, strength).name
                    for name, strategy in STRATEGIES.items()
                    if strategy.composer in ("", *entry.composers)
                    for strength in strategy.offered
                ]
        for name in dict.fromkeys(also[:MAX_SYSTEMS]):
            with suppress(ConfigError):
                if name not in offered and System.named(name, self.models.names()).name == name:
                    offered.append(name)
        return offered

    def understand(self, text: str, editing: bool = False) -> Query:
        """Split a sentence into its wanted and unwanted parts; `editing` if it is next to a reference picture."""
        return understand(text, load_tagger(), editing)

    def video(self, video_id: str) -> Video:
        if (video := self._videos.get(video_id)) is None:
            raise ConfigError(f"Unknown clip {quoted(video_id)}: it is not in this gallery.")
        return video

    def embedded(self, encoder: Encoder) -> EmbeddedGallery:
        """Return the gallery embedded by a model, once per `Card.visual_key` in use; concurrent callers wait."""
        key = encoder.card.visual_key
        if (embedded := self._embedded.get(key)) is not None:
            return embedded
        with self._embedding:
            if (embedded := self._embedded.get(key)) is None:
                if self.is_library:
                    embedded = open_indexed(self.gallery, encoder, self._cache, self._milvus)
                else:
                    embedded = embed_gallery(
                        self.gallery, encoder, self._decoder, self._cache, self._report
                    )
                if self._index is not None:
                    index = self._index(encoder.embed_dim)
                    index.add(np.arange(len(embedded.embeddings)), embedded.embeddings)
                    embedded = replace(embedded, index=index, contents=None)
                self._embedded[key] = embedded
        return embedded

    def _report(self, done: int, total: int, doing: str) -> None:
        if not self.is_ready:  # afterwards, galleries are embedded in the background
            self.status = f"{doing}, {done} of {total}"

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Swap in newer checkpoints from a background thread."""
        stop = threading.Event()
        thread = threading.Thread(
            target=self.live.watch, args=(stop,), name="checkpoints", daemon=True
        )
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
        """Rank the gallery's clips for a query; arguments and errors are as of `nt2vr.api.GallerySearcher.search`.

        Args:
            query: a sentence, or its parts as corrected by a person.
            references: up to 4 pictures, videos and clips, wanted or not. They join the query as a
                weighted mean of unit vectors, or as the strategies for pictures compose them;
                their clips are not ranked.
            strengths: strength per strategy, for systems that fix none; default: the model's.
        """
        return self.answer(
            self.checked(query, references), self.panel(systems, k, references, strengths, literal)
        )

    def score_all(
        self, queries: Queries, panel: Panel
    ) -> tuple[dict[str, Vector], list[Nt2vrError | None]]:
        """Return the scores of all clips by system, (Q, V) in the order of the gallery, and the errors of queries."""
        # NaN is the score of a clip that a model has not indexed, and of all for an error, or
        # nothing to search for.
        row_of = {video.video_id: row for row, video in enumerate(self.gallery.videos)}
        views = {name: model.view(self) for name, model in panel.loaded.items()}
        rows = {
            name: [row_of[video.video_id] for video in view.gallery.videos]
            for name, view in views.items()
        }

        scores = {
            each.name: np.full((len(queries), len(row_of)), np.nan, np.float32)
            for each in panel.systems
        }

        def scored(query: Asked) -> dict[str, Vector]:
            found = {}
            for system, parts in zip(panel.systems, self.parts(query, panel), strict=True):
                vector, exclusion = searched(system.strategy, parts, views[system.model].embeddings)
                if vector is not None:
                    found[system.name] = scores_of(
                        views[system.model].clips(exclusion), vector, exclusion
                    )
            return found

        results = self.each(queries, panel, scored)
        for row, result in enumerate(results):
            for system in panel.systems:
                if not isinstance(result, Nt2vrError) and system.name in result:
                    scores[system.name][row, rows[system.model]] = result[system.name]
        return scores, [result if isinstance(result, Nt2vrError) else None for result in results]

    def match(
        self,
        shown: Reference,
        lines: Sequence[str],
        systems: Sequence[str],
        strengths: Mapping[str, float] | None = None,
        literal: Collection[str] = (),
    ) -> Match:
        """Score 2 to 8 lines for a clip of the gallery, or for a picture, as `search` for each would score it."""
        if not MIN_LINES <= len(lines) <= MAX_LINES:
            raise ConfigError(
                f"Give {MIN_LINES} to {MAX_LINES} captions to choose among, not {len(lines):,}."
            )
        video = self.video(shown.video_id) if shown.video_id else None
        panel = self.panel(systems, strengths=strengths, literal=literal)
        views = {name: model.view(self) for name, model in panel.loaded.items()}
        clips = {
            name: embed_reference(encoder, shown, views[name])
            for name, encoder in panel.encoders.items()
        }

        def scored(query: Asked) -> tuple[Query, list[float | None]]:
            assert isinstance(query, Query), "lines are texts"
            scores: list[float | None] = []
            for system, parts in zip(panel.systems, self.parts(query, panel), strict=True):
                gallery, clip = views[system.model], clips[system.model]
                vector, exclusion = searched(system.strategy, parts, gallery.embeddings)
                if exclusion and exclusion.focus is not None and video:
                    clip = gallery.clips(exclusion, [gallery.row_of[video.video_id]])[0]
                scores.append(
                    None if vector is None else round(float(scores_of(clip, vector, exclusion)), 4)
                )
            return query, scores

        found = []
        for number, each in enumerate(self.each(lines, panel, scored), 1):
            if isinstance(each, Nt2vrError):
                raise type(each)(f"Line {number}: {each}")
            found.append(each)
        queries = tuple(query for query, _ in found)
        verdicts = tuple(self.judge(query, video) if video else None for query in queries)
        by_system = zip(
            panel.systems, zip(*(scores for _, scores in found), strict=True), strict=True
        )
        judged_by = "captions" if any(verdicts) and self.judge is judge_by_captions else ""
        return Match(
            queries,
            verdicts,
            tuple(Scored(system, scores) for system, scores in by_system),
            judged_by,
        )

    def each(
        self, queries: Queries, panel: Panel, work: Callable[[Asked], T]
    ) -> list[T | Nt2vrError]:
        """Do some work on each query, after encoding the texts of many together; a bad query is its error."""

        def attempt(act: Callable[..., Any], asked: Any) -> Any:
            try:
                return asked if isinstance(asked, Nt2vrError) else act(asked)
            except Nt2vrError as error:
                return error

        found: list[T | Nt2vrError] = []
        for start in range(0, len(queries), BLOCK):
            check = partial(self.checked, references=panel.references)
            block = [attempt(check, query) for query in queries[start : start + BLOCK]]
            asked = [
                panel.asked(query, self._synonyms) for query in block if isinstance(query, Query)
            ]
            for name, encoder in panel.encoders.items():
                texts = [text for each in asked for text in texts_of(each[name][0])]
                if texts:
                    encoder.prepare_texts(texts)
            found += [attempt(work, query) for query in block]
        return found

    def checked(self, query: str | Asked, references: Sequence[Reference] = ()) -> Asked:
        """Return a query that can be searched, or raise a QueryError."""
        if not isinstance(query, str | Query):
            return query
        query = self.understand(query, bool(references)) if isinstance(query, str) else query
        check_query(query)
        check_number(len(references))
        if not query.text.strip() and not references:
            raise QueryError(
                "Type what the clip should show, and what it should not, or give a reference picture."
            )
        return query

    def panel(
        self,
        systems: Sequence[str],
        k: int | None = DEFAULT_K,
        references: Sequence[Reference] = (),
        strengths: Mapping[str, float] | None = None,
        literal: Collection[str] = (),
    ) -> Panel:
        """Check all of a search but its query, and load the systems' models."""
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
        return Panel(tuple(chosen), loaded, k, references, strengths or {}, literal)

    def parts(self, query: Asked, panel: Panel) -> list[Parts]:
        """Embed a query for each system."""
        if not isinstance(query, Query):
            for system in panel.systems:
                dim = panel.encoders[system.model].embed_dim
                if system.strategy != "plain":
                    with_model = f"search with {system.model}, not with {system.name}."
                    raise ConfigError(f"A query vector has no parts: {with_model}")
                if len(query) != dim:
                    raise QueryError(
                        f"The vector has {len(query):,} numbers, but {system.model} has {dim:,}."
                    )
            return [Parts(query, None, np.zeros((0, len(query)), np.float32), 0.0)] * len(
                panel.systems
            )
        parts = {}
        for name, (asked, read_as) in panel.asked(
            query, self._synonyms
        ).items():  # once for all systems of a model
            model = panel.loaded[name]
            embedded = embed_query(model.encoder, asked, panel.references, model.view(self))
            parts[name] = replace(embedded, query=asked, read_as=read_as)
        return [
            replace(
                parts[each.model],
                strength=each.strength_for(panel.encoders[each.model].card, panel.strengths),
            )
            for each in panel.systems
        ]

    def answer(self, query: Asked, panel: Panel) -> Answer:
        """Rank the clips with each system."""
        all_parts = self.parts(query, panel)
        unseen: dict[str, tuple[str, ...]] = {}
        if isinstance(query, Query):
            unseen = {
                name: unseen_words(query, encoder) for name, encoder in panel.encoders.items()
            }
        rankings = []
        for system, parts in zip(panel.systems, all_parts, strict=True):
            rankings.append(self._rank(query, system, panel, parts, unseen.get(system.model, ())))
        judged_by = "captions" if self.judge is judge_by_captions else ""
        return Answer(
            query if isinstance(query, Query) else Query(""), tuple(rankings), judged_by, self.key
        )

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

    def _rank(
        self, typed: Asked, system: System, panel: Panel, parts: Parts, unseen: Collection[str]
    ) -> Ranking:
        """Rank the clips with one system; `unseen` are the words of the query that its model has never seen."""
        model = panel.loaded[system.model]
        gallery = model.view(self)
        vector, exclusion = searched(system.strategy, parts, gallery.embeddings)
        ranking = Ranking(
            system,
            hits=(),
            unseen=tuple(word for word in unseen if word not in parts.read_as),
            read_as=parts.read_as,
            reads=_words_read(model.encoder, system, parts.query),
            strength=parts.strength,
            gallery=gallery,
            epoch=model.epoch,
            notice=model.notice,
            missing=len(gallery.skipped) if self.is_library else 0,
        )
        if vector is None:
            return ranking

        left_out = {reference.video_id for reference in panel.references}
        k = len(gallery.gallery.videos) if panel.k is None else panel.k
        scores, rows = gallery.search(vector, max(k + len(left_out), RANKED), exclusion)
        videos = gallery.gallery.videos
        ranked = [
            (videos[row], score) for row, score in zip(rows.tolist(), scores.tolist(), strict=True)
        ]
        if left_out:
            ranked = [(video, score) for video, score in ranked if video.video_id not in left_out]
        groups = merge_windows(ranked, k)

        hits = hits_of(groups, self._judge_of(typed, panel, parts))
        is_low = bool(hits) and hits[0].score < _low_score(system, model.encoder, parts)
        return replace(
            ranking,
            hits=hits,
            low=is_low,
            notice=ranking.notice or gallery.notice,
            vector=vector,
            exclusion=exclusion,
            ranks=ranks_of(groups, ranked),
        )

    def _judge_of(
        self, typed: Asked, panel: Panel, parts: Parts
    ) -> Callable[[Video], Verdict | None]:
        """Return what gives clips their verdicts, for a query by text."""
        # by the query as typed, since captions and the world may have words that the model lacks
        query = typed if isinstance(typed, Query) else parts.query
        if not (query and parts.query):
            return lambda _: None
        return judge_beside(self.judge, query, panel.references, self.video)


def _words_read(encoder: Encoder, system: System, query: Query | None) -> str:
    """Return the words that a model reads of a query, where it does not read all."""
    if system.strategy != "plain" or query is None:
        return ""
    return encoder.words_read(query.text)


def _low_score(system: System, encoder: Encoder, parts: Parts) -> float:
    """Return the score below which a best clip does not fit; -1 where scores are no cosines with a text alone."""
    query = parts.query
    if query is None or query.unwanted or parts.combined is not None or parts.away is not None:
        return -1.0
    return (
        encoder.card.metrics.get(LOW_SCORE, -1.0) if STRATEGIES[system.strategy].is_cosine else -1.0
    )

"""Search over one gallery: ranks its clips for a query, and gives verdicts where it can."""

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache, partial
from types import MappingProxyType
from typing import Any, TypeVar
from weakref import WeakValueDictionary

import numpy as np

from nt2vr.errors import ConfigError, Nt2vrError, QueryError, counted, quoted
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Gallery, Video
from nt2vr.media.store import Cache
from nt2vr.models.catalog import Catalog
from nt2vr.models.encoder import Encoder
from nt2vr.negation.parse.query import Query, check_query, understand
from nt2vr.registry import pick
from nt2vr.search.answers import Answer, LineScores, Match
from nt2vr.search.caption_judge import judge_by_captions
from nt2vr.search.embed_clips import embed_gallery, open_indexed
from nt2vr.search.embed_query import embed_reference
from nt2vr.search.embedded_gallery import EmbeddedGallery
from nt2vr.search.exclusion import scores_of
from nt2vr.search.index import INDEXES, Milvus
from nt2vr.search.judge import ClipJudge, Judge, Verdict, judge_beside
from nt2vr.search.live import LiveModels
from nt2vr.search.plan import DEFAULT_K, DEFAULT_SYSTEMS, MAX_K, MAX_SYSTEMS, SearchPlan
from nt2vr.search.rank import rank
from nt2vr.search.references import Reference, check_number
from nt2vr.search.strategies import STRENGTHS, ChosenStrengths, System, Vector, check_strategy
from nt2vr.search.system_names import system_names
from nt2vr.search.system_search import QueryOrVector, prepare_texts, system_searches

# Captions that `Searcher.match` chooses among.
MIN_LINES = 2
MAX_LINES = 8
# Queries whose texts are encoded together.
QUERY_BATCH = 256
# Sentences whose parts are kept: many queries lead to the same suggestions.
MAX_UNDERSTOOD = 2048

T = TypeVar("T")
# A query, or what is wrong with it.
QueryOrError = str | QueryOrVector | Nt2vrError
Queries = Sequence[QueryOrError]


class Searcher:
    """Answers queries over one gallery with any model.

    Models with equal video embeddings share them.
    Libraries are searched as far as they are indexed; other galleries are embedded on first search.

    Args:
        live: loaded models, which the searchers of several galleries may share.
        index: name in `INDEXES`, or Milvus for libraries; default: exact, and approximate for a
            large gallery.

    Attributes:
        key: id of the library; "" for the built-in gallery.
        status: what the start-up is doing, for the page.
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
        self.models = models
        self.gallery = gallery
        self.judge = judge
        self.live = live or LiveModels(models)
        self.key = library_id
        self.is_library = bool(library_id)
        self.status = "starting"
        self.is_ready = False

        self._decoder = decoder
        self._cache = cache
        self._synonyms = synonyms
        self._milvus = index if isinstance(index, Milvus) else None
        self._index = pick("index", index, INDEXES) if isinstance(index, str) and index else None
        self._videos = {video.video_id: video for video in gallery.videos}
        # By `Card.visual_key`; the loaded models own the embeddings.
        self._embedded: WeakValueDictionary[str, EmbeddedGallery] = WeakValueDictionary()
        self._embedding = threading.Lock()

    def system_names(self, also: Sequence[str] = (), folds: bool = False) -> list[str]:
        """List every model with every strategy, see `system_names.system_names`."""
        return system_names(self.models, also, folds)

    def understand(self, text: str, editing: bool = False) -> Query:
        """Split a sentence into its wanted and unwanted parts.

        Args:
            editing: whether it stands next to a reference picture.
        """
        return _understand(text, editing)

    def video(self, video_id: str) -> Video:
        video = self._videos.get(video_id)
        if video is None:
            raise ConfigError(f"Unknown clip {quoted(video_id)}: it is not in this gallery.")
        return video

    def embedded(self, encoder: Encoder) -> EmbeddedGallery:
        """Return the gallery embedded by a model, once per `Card.visual_key` in use.

        Concurrent callers wait.
        """
        key = encoder.card.visual_key
        embedded = self._embedded.get(key)
        if embedded is not None:
            return embedded
        with self._embedding:
            embedded = self._embedded.get(key)
            if embedded is None:
                embedded = self._embed(encoder)
                self._embedded[key] = embedded
        return embedded

    def _embed(self, encoder: Encoder) -> EmbeddedGallery:
        if self.is_library:
            embedded = open_indexed(
                self.gallery, encoder=encoder, cache=self._cache, milvus=self._milvus
            )
        else:
            embedded = embed_gallery(
                self.gallery,
                encoder=encoder,
                decoder=self._decoder,
                cache=self._cache,
                progress=self._report,
            )
        if self._index is None:
            return embedded
        index = self._index(encoder.embed_dim)
        index.add(np.arange(len(embedded.embeddings)), embedded.embeddings)
        return replace(embedded, index=index, contents=None)

    def _report(self, done: int, total: int, doing: str) -> None:
        # After the start-up, galleries are embedded in the background.
        if not self.is_ready:
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
        """Load everything that the first search needs; that search raises any error again."""
        self.status = f"loading {model}"
        try:
            self.understand("a dog and not a cat")
            embedded = self.live.get(model, self).gallery_of(self)
        except Nt2vrError as error:
            self.status = str(error)
        else:
            self.status = counted(len(embedded.gallery.videos), "clip")
        self.is_ready = True

    def search(
        self,
        query: str | Query,
        systems: Sequence[str] = DEFAULT_SYSTEMS,
        k: int | None = DEFAULT_K,
        references: Sequence[Reference] = (),
        strengths: ChosenStrengths | None = None,
        literal: Collection[str] = (),
    ) -> Answer:
        """Rank the gallery's clips for a query.

        See `nt2vr.api.GallerySearcher.search` for further arguments and errors.

        Args:
            query: a sentence, or its parts as corrected by a person.
            references: up to 4 pictures, videos and clips, wanted or not. They join the query as a
                weighted mean of unit vectors, or as the strategies for pictures compose them;
                their clips are not ranked.
            strengths: strength per strategy, for systems that fix none; default: the model's.
        """
        checked = self.checked(query, references)
        plan = self.plan(systems, k=k, references=references, strengths=strengths, literal=literal)
        return self.answer(checked, plan)

    def score_all(
        self, queries: Queries, plan: SearchPlan
    ) -> tuple[dict[str, Vector], list[Nt2vrError | None]]:
        """Return the scores of all clips by system, (Q, V), and the error of each bad query.

        The columns are in the order of the gallery. NaN is the score of a clip that a model has not
        indexed, and of all clips for a query that is bad or leaves nothing to search for.
        """
        columns_by_system = self._columns_by_system(plan)
        shape = (len(queries), len(self.gallery.videos))
        scores = {name: np.full(shape, np.nan, np.float32) for name in columns_by_system}

        errors: list[Nt2vrError | None] = []
        outcomes = self.map_queries(queries, plan, partial(_clip_scores, plan=plan))
        for row, clip_scores in enumerate(outcomes):
            if isinstance(clip_scores, Nt2vrError):
                errors.append(clip_scores)
                continue
            errors.append(None)
            for name, scores_of_system in clip_scores.items():
                scores[name][row, columns_by_system[name]] = scores_of_system
        return scores, errors

    def _columns_by_system(self, plan: SearchPlan) -> dict[str, list[int]]:
        """Return, per system, the numbers in the gallery of the clips that its model has indexed."""
        column_of = {video.video_id: column for column, video in enumerate(self.gallery.videos)}
        columns = {}
        for system in plan.systems:
            indexed = plan.gallery_of(system.model).gallery.videos
            columns[system.name] = [column_of[clip.video_id] for clip in indexed]
        return columns

    def match(
        self,
        reference: Reference,
        lines: Sequence[str],
        systems: Sequence[str],
        strengths: ChosenStrengths | None = None,
        literal: Collection[str] = (),
    ) -> Match:
        """Score 2 to 8 lines for a clip of the gallery, or a picture, as `search` scores each."""
        if not MIN_LINES <= len(lines) <= MAX_LINES:
            raise ConfigError(
                f"Give {MIN_LINES} to {MAX_LINES} captions to choose among, not {len(lines):,}."
            )
        video = self.video(reference.video_id) if reference.video_id else None
        plan = self.plan(systems, strengths=strengths, literal=literal)
        queries, scores_by_system = self._score_lines(lines, plan, reference)
        verdicts: list[Verdict | None] = [None] * len(queries)
        if video is not None:
            verdicts = [self.judge(query, video) for query in queries]
        return Match(
            queries=tuple(queries),
            verdicts=tuple(verdicts),
            systems=tuple(map(LineScores, plan.systems, scores_by_system)),
            judged_by=self._judged_by if any(verdicts) else "",
        )

    def _score_lines(
        self, lines: Sequence[str], plan: SearchPlan, reference: Reference
    ) -> tuple[list[Query], Iterable[tuple[float | None, ...]]]:
        """Return the lines as understood, and the scores of all lines by system."""
        clips = {
            name: embed_reference(encoder, reference, plan.gallery_of(name))
            for name, encoder in plan.encoders.items()
        }
        score = partial(_line_scores, plan=plan, clips=clips, video_id=reference.video_id)

        queries = []
        scores_by_line = []
        for number, outcome in enumerate(self.map_queries(lines, plan, score), 1):
            if isinstance(outcome, Nt2vrError):
                raise type(outcome)(f"Line {number}: {outcome}")
            query, scores = outcome
            queries.append(query)
            scores_by_line.append(scores)
        return queries, zip(*scores_by_line, strict=True)

    def map_queries(
        self, queries: Queries, plan: SearchPlan, function: Callable[[QueryOrVector], T]
    ) -> list[T | Nt2vrError]:
        """Apply a function to each query, after encoding the texts of many together.

        For a bad query, its error is in the list.
        """
        check = partial(self.checked, references=plan.references)
        outcomes = []
        for start in range(0, len(queries), QUERY_BATCH):
            batch = queries[start : start + QUERY_BATCH]
            checked = [_result_or_error(check, query) for query in batch]
            prepare_texts([query for query in checked if isinstance(query, Query)], plan)
            outcomes += [_result_or_error(function, query) for query in checked]
        return outcomes

    def checked(
        self, query: str | QueryOrVector, references: Sequence[Reference] = ()
    ) -> QueryOrVector:
        """Return a query that can be searched, or raise a QueryError."""
        if isinstance(query, str):
            query = self.understand(query, editing=bool(references))
        if not isinstance(query, Query):
            return query
        check_query(query)
        check_number(len(references))
        if not query.text.strip() and not references:
            raise QueryError(
                "Type what the clip should show, and what it should not, "
                "or give a reference picture."
            )
        return query

    def plan(
        self,
        systems: Sequence[str],
        k: int | None = DEFAULT_K,
        references: Sequence[Reference] = (),
        strengths: ChosenStrengths | None = None,
        literal: Collection[str] = (),
    ) -> SearchPlan:
        """Check everything that a search needs besides its query, and load the systems' models."""
        if k is not None and not 1 <= k <= MAX_K:
            raise ConfigError(f"Cannot show {quoted(k)} results: choose 1 to {MAX_K}.")
        if not 1 <= len(systems) <= MAX_SYSTEMS:
            raise ConfigError(f"Cannot compare {len(systems)} systems: choose 1 to {MAX_SYSTEMS}.")
        names = self.models.names()
        chosen = tuple(System.named(name, names) for name in systems)
        strengths = strengths or {}
        for strategy, strength in strengths.items():
            pick("strategy with a number", strategy, STRENGTHS).check(strength)

        models = dict.fromkeys(system.model for system in chosen)
        loaded = self.live.load_for(self, models)
        for system in chosen:
            check_strategy(system, loaded[system.model].encoder.card)
        return SearchPlan(
            searcher=self,
            systems=chosen,
            loaded=loaded,
            synonyms=self._synonyms,
            k=k,
            references=references,
            strengths=strengths,
            literal=literal,
        )

    def answer(self, query: QueryOrVector, plan: SearchPlan) -> Answer:
        """Rank the clips with each system."""
        searches = list(system_searches(query, plan))
        judge = self._judge_of(query, plan.references)
        return Answer(
            query=query if isinstance(query, Query) else Query(""),
            rankings=tuple(rank(search, query, plan, judge) for search in searches),
            judged_by=self._judged_by,
            gallery=self.key,
        )

    @property
    def _judged_by(self) -> str:
        return "captions" if self.judge is judge_by_captions else ""

    def _judge_of(self, query: QueryOrVector, references: Sequence[Reference]) -> ClipJudge:
        """Return a judge of clips for this query; it has no verdicts for a vector."""
        if not isinstance(query, Query):
            return lambda _: None
        # The query is judged as typed: captions and the world may have words that a model lacks.
        return judge_beside(self.judge, query, references, video_of=self.video)


def _result_or_error(function: Callable[[Any], T], query: object) -> T | Nt2vrError:
    """Return what a function makes of a query, or the error that it raises; a query that is an error stays one."""
    if isinstance(query, Nt2vrError):
        return query
    try:
        return function(query)
    except Nt2vrError as error:
        return error


@lru_cache(MAX_UNDERSTOOD)
def _understand(text: str, editing: bool) -> Query:
    return understand(text, editing)


def _clip_scores(query: QueryOrVector, plan: SearchPlan) -> dict[str, Vector]:
    """Score all clips with each system; one with nothing to search for is left out."""
    scores_by_system = {}
    for search in system_searches(query, plan):
        if search.vector is not None:
            clips = search.gallery.clips(search.exclusion)
            scores = scores_of(clips, search.vector, search.exclusion)
            scores_by_system[search.system.name] = scores
    return scores_by_system


def _line_scores(
    query: QueryOrVector, plan: SearchPlan, clips: Mapping[str, Vector], video_id: str
) -> tuple[Query, list[float | None]]:
    """Return a line as understood, and what each system scores it for a clip.

    Args:
        clips: the clip (D,) as each model embeds it.
        video_id: empty for a picture.
    """
    assert isinstance(query, Query), "lines are texts"
    scores = [
        search.score(clips[search.system.model], video_id)
        for search in system_searches(query, plan)
    ]
    return query, scores

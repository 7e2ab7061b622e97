"""Search over one gallery: ranks its clips for a query, and gives verdicts where it can."""

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple, TypeVar
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
from nt2vr.search.answers import (
    Answer,
    Judge,
    Match,
    Ranking,
    Scored,
    ScoredClip,
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
from nt2vr.search.exclusion import Exclusion, scores_of
from nt2vr.search.index import INDEXES, Milvus
from nt2vr.search.live import LiveModels, LoadedModel
from nt2vr.search.references import Reference, check_number
from nt2vr.search.strategies import (
    STRATEGIES,
    STRENGTHS,
    EmbeddedParts,
    System,
    Vector,
    check_strategy,
    vector_and_exclusion,
)

DEFAULT_SYSTEMS = ("CLIP", "CLIP-bnl", "CLIP-neg")
DEFAULT_K = 8
# Searches that the app answers at a time.
CONCURRENT = 8
MAX_K = 100
MAX_SYSTEMS = 8
# Captions that `Searcher.match` chooses among.
MIN_LINES = 2
MAX_LINES = 8
# Clips ranked per search, even if fewer are shown.
MIN_RANKED = 1000
# Queries whose texts are encoded together.
QUERY_BATCH = 256
# Sentences whose parts are kept: what may be suggested is much the same for many queries.
MAX_UNDERSTOOD = 2048
# Metric in a card: 99 % of captions that fit a clip have a higher best score.
LOW_SCORE = "validation/low_score"

T = TypeVar("T")
# A vector is searched for as it is.
QueryOrVector = Query | Vector
Queries = Sequence[str | QueryOrVector | Nt2vrError]


class ModelQuery(NamedTuple):
    """A query as one model gets it.

    Attributes:
        query: the query with unknown words replaced.
        replacements: the unknown words, and what replaces them.
    """

    query: Query
    replacements: dict[str, str]


@dataclass(frozen=True)
class SearchPlan:
    """Everything that a search needs besides its query.

    Attributes:
        loaded: the systems' models, by name.
        k: number of hits; None ranks the whole gallery.
        strengths: by strategy, for systems that fix none.
        literal: words that are not replaced, even if a model does not know them.
    """

    systems: tuple[System, ...]
    loaded: Mapping[str, LoadedModel]
    k: int | None
    references: Sequence[Reference]
    strengths: Mapping[str, float]
    literal: Collection[str]

    @property
    def encoders(self) -> dict[str, Encoder]:
        return {name: model.encoder for name, model in self.loaded.items()}

    def reads_parts(self, model: str) -> bool:
        """Whether a system of a model reads more than the sentence as typed."""
        strategies = {system.strategy for system in self.systems if system.model == model}
        return bool(self.references) or strategies != {"plain"}

    def queries_by_model(self, query: Query, synonyms: Mapping[str, str]) -> dict[str, ModelQuery]:
        """Return, per model, the query with unknown words replaced, and the replacements."""
        queries = {}
        for name, words in substitutes(
            query, models=self.encoders, synonyms=synonyms, literal=self.literal
        ).items():
            model_query = with_words(query, words) if words else query
            queries[name] = ModelQuery(model_query, words)
        return queries


class _SystemSearch(NamedTuple):
    """What one system searches for, and where.

    Attributes:
        vector: (D,); None if the strategy leaves nothing to search for.
    """

    system: System
    parts: EmbeddedParts
    gallery: EmbeddedGallery
    vector: Vector | None
    exclusion: Exclusion | None


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
        """List every model with every strategy, and single epochs of a run without strategies.

        With `folds`, list the runs first, and each once, unless `also` names one of its epochs.
        Names from a link or a report, such as "CLIP anchored λ 1.9", are appended if they are of
        known models.
        """
        also = also[:MAX_SYSTEMS]
        entries = self.models.entries()
        models = list(entries)
        if folds:
            models.sort(key=lambda model: not _is_of_run(entries[model]))

        names: list[str] = []
        for model in models:
            entry = entries[model]
            run = model.partition(" · ")[0]
            is_listed_run = any(name.startswith(run) for name in also)
            is_folded = folds and _is_of_run(entry) and not is_listed_run
            if is_folded and entry.kind == "epoch":
                continue
            names.append(model)
            has_strategies = entry.kind not in ("epoch", "embeddings")
            if has_strategies and not is_folded:
                names += _names_with_strategies(model, entry)

        for name in dict.fromkeys(also):
            with suppress(ConfigError):
                system = System.named(name, self.models.names())
                if name not in names and system.name == name:
                    names.append(name)
        return names

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
            embedded = open_indexed(self.gallery, encoder, self._cache, self._milvus)
        else:
            embedded = embed_gallery(
                self.gallery, encoder, self._decoder, self._cache, progress=self._report
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
            embedded = self.live.get(model, self).view(self)
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
        strengths: Mapping[str, float] | None = None,
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
        plan = self.plan(systems, k, references, strengths, literal)
        return self.answer(checked, plan)

    def score_all(
        self, queries: Queries, plan: SearchPlan
    ) -> tuple[dict[str, Vector], list[Nt2vrError | None]]:
        """Return the scores of all clips by system, (Q, V), and the error of each bad query.

        The columns are in the order of the gallery. NaN is the score of a clip that a model has not
        indexed, and of all clips for a query that is bad or leaves nothing to search for.
        """
        columns_of_model = self._columns_of_models(plan)

        def score(query: QueryOrVector) -> dict[str, Vector]:
            scores_by_system = {}
            for search in self._searches(query, plan):
                if search.vector is not None:
                    clips = search.gallery.clips(search.exclusion)
                    clip_scores = scores_of(clips, search.vector, search.exclusion)
                    scores_by_system[search.system.name] = clip_scores
            return scores_by_system

        shape = (len(queries), len(self.gallery.videos))
        scores = {}
        for system in plan.systems:
            scores[system.name] = np.full(shape, np.nan, np.float32)
        errors: list[Nt2vrError | None] = []
        for row, query_scores in enumerate(self.map_queries(queries, plan, score)):
            if isinstance(query_scores, Nt2vrError):
                errors.append(query_scores)
                continue
            errors.append(None)
            for system in plan.systems:
                if system.name in query_scores:
                    columns = columns_of_model[system.model]
                    scores[system.name][row, columns] = query_scores[system.name]
        return scores, errors

    def _columns_of_models(self, plan: SearchPlan) -> dict[str, list[int]]:
        """Return, per model, the numbers in the gallery of the clips that it has indexed."""
        column_of = {video.video_id: column for column, video in enumerate(self.gallery.videos)}
        columns = {}
        for name, model in plan.loaded.items():
            clips = model.view(self).gallery.videos
            columns[name] = [column_of[clip.video_id] for clip in clips]
        return columns

    def match(
        self,
        reference: Reference,
        lines: Sequence[str],
        systems: Sequence[str],
        strengths: Mapping[str, float] | None = None,
        literal: Collection[str] = (),
    ) -> Match:
        """Score 2 to 8 lines for a clip of the gallery, or a picture, as `search` scores each."""
        if not MIN_LINES <= len(lines) <= MAX_LINES:
            raise ConfigError(
                f"Give {MIN_LINES} to {MAX_LINES} captions to choose among, not {len(lines):,}."
            )
        video = self.video(reference.video_id) if reference.video_id else None
        plan = self.plan(systems, strengths=strengths, literal=literal)
        queries, line_scores = self._score_lines(lines, plan, reference)

        scored = []
        for system, scores in zip(plan.systems, zip(*line_scores, strict=True), strict=True):
            scored.append(Scored(system, scores))
        verdicts: list[Verdict | None] = [None] * len(queries)
        if video is not None:
            verdicts = [self.judge(query, video) for query in queries]
        is_judged_by_captions = any(verdicts) and self.judge is judge_by_captions
        return Match(
            queries=tuple(queries),
            verdicts=tuple(verdicts),
            systems=tuple(scored),
            judged_by="captions" if is_judged_by_captions else "",
        )

    def _score_lines(
        self, lines: Sequence[str], plan: SearchPlan, reference: Reference
    ) -> tuple[list[Query], list[list[float | None]]]:
        """Return the lines as understood, and the scores of each per system."""
        clips = {}
        for name, model in plan.loaded.items():
            clips[name] = embed_reference(model.encoder, reference, model.view(self))

        def score(query: QueryOrVector) -> tuple[Query, list[float | None]]:
            assert isinstance(query, Query), "lines are texts"
            scores = []
            for search in self._searches(query, plan):
                clip = clips[search.system.model]
                scores.append(_score_clip(search, clip, reference.video_id))
            return query, scores

        queries = []
        line_scores = []
        for number, scored_line in enumerate(self.map_queries(lines, plan, score), 1):
            if isinstance(scored_line, Nt2vrError):
                raise type(scored_line)(f"Line {number}: {scored_line}")
            query, scores = scored_line
            queries.append(query)
            line_scores.append(scores)
        return queries, line_scores

    def map_queries(
        self, queries: Queries, plan: SearchPlan, function: Callable[[QueryOrVector], T]
    ) -> list[T | Nt2vrError]:
        """Apply a function to each query, after encoding the texts of many together.

        An error takes the place of what a bad query would give.
        """
        outcomes: list[T | Nt2vrError] = []
        for start in range(0, len(queries), QUERY_BATCH):
            checked = []
            for query in queries[start : start + QUERY_BATCH]:
                checked.append(self._checked_or_error(query, plan.references))
            self._prepare_texts([query for query in checked if isinstance(query, Query)], plan)

            for query in checked:
                if isinstance(query, Nt2vrError):
                    outcomes.append(query)
                    continue
                try:
                    outcomes.append(function(query))
                except Nt2vrError as error:
                    outcomes.append(error)
        return outcomes

    def _prepare_texts(self, queries: Sequence[Query], plan: SearchPlan) -> None:
        """Let each model encode the texts of all queries together."""
        queries_by_model = [plan.queries_by_model(query, self._synonyms) for query in queries]
        for name, encoder in plan.encoders.items():
            texts: list[str] = []
            for model_queries in queries_by_model:
                texts += texts_of(model_queries[name].query)
            if texts:
                encoder.prepare_texts(texts)

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

    def _checked_or_error(
        self, query: str | QueryOrVector | Nt2vrError, references: Sequence[Reference]
    ) -> QueryOrVector | Nt2vrError:
        if isinstance(query, Nt2vrError):
            return query
        try:
            return self.checked(query, references)
        except Nt2vrError as error:
            return error

    def plan(
        self,
        systems: Sequence[str],
        k: int | None = DEFAULT_K,
        references: Sequence[Reference] = (),
        strengths: Mapping[str, float] | None = None,
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

        loaded = self._load(dict.fromkeys(system.model for system in chosen))
        for system in chosen:
            check_strategy(system, loaded[system.model].encoder.card)
        return SearchPlan(
            systems=chosen,
            loaded=loaded,
            k=k,
            references=references,
            strengths=strengths,
            literal=literal,
        )

    def embed_for_systems(self, query: QueryOrVector, plan: SearchPlan) -> list[EmbeddedParts]:
        """Embed a query for each system."""
        if not isinstance(query, Query):
            _check_vector(query, plan)
            no_unwanted = np.zeros((0, len(query)), np.float32)
            vector_parts = EmbeddedParts(query, wanted=None, unwanted=no_unwanted, strength=0.0)
            return [vector_parts] * len(plan.systems)

        # All systems of a model share the embeddings.
        parts_by_model = {}
        for name, (model_query, words) in plan.queries_by_model(query, self._synonyms).items():
            model = plan.loaded[name]
            read_query = model_query
            if not plan.reads_parts(name):
                read_query = replace(model_query, wanted=(), unwanted=())
            parts = embed_query(
                model.encoder,
                query=read_query,
                references=plan.references,
                gallery=model.view(self),
            )
            parts_by_model[name] = replace(parts, query=model_query, replacements=words)

        system_parts = []
        for system in plan.systems:
            card = plan.loaded[system.model].encoder.card
            strength = system.strength_for(card, plan.strengths)
            system_parts.append(replace(parts_by_model[system.model], strength=strength))
        return system_parts

    def _searches(self, query: QueryOrVector, plan: SearchPlan) -> Iterator[_SystemSearch]:
        """Yield what each system searches for."""
        for system, parts in zip(plan.systems, self.embed_for_systems(query, plan), strict=True):
            gallery = plan.loaded[system.model].view(self)
            vector, exclusion = vector_and_exclusion(system.strategy, parts, gallery.embeddings)
            yield _SystemSearch(system, parts, gallery, vector, exclusion)

    def answer(self, query: QueryOrVector, plan: SearchPlan) -> Answer:
        """Rank the clips with each system."""
        unseen: dict[str, tuple[str, ...]] = {}
        if isinstance(query, Query):
            for name, encoder in plan.encoders.items():
                unseen[name] = unseen_words(query, encoder)
        rankings = []
        for search in self._searches(query, plan):
            words = unseen.get(search.system.model, ())
            rankings.append(self._rank(query, search, plan, unseen=words))
        return Answer(
            query=query if isinstance(query, Query) else Query(""),
            rankings=tuple(rankings),
            judged_by="captions" if self.judge is judge_by_captions else "",
            gallery=self.key,
        )

    def _load(self, models: Iterable[str]) -> dict[str, LoadedModel]:
        """Load models with their embeddings of the gallery.

        One NotIndexedError names all models that have not indexed it.
        """
        loaded: dict[str, LoadedModel] = {}
        error_of_tower: dict[str, NotIndexedError] = {}
        for model in models:
            try:
                loaded[model] = self.live.get(model, self)
                loaded[model].view(self)
            except NotIndexedError as error:
                error_of_tower.setdefault(error.tower, error)
        if not error_of_tower:
            return loaded

        names: list[str] = []
        for refusal in error_of_tower.values():
            names += refusal.models
        raise NotIndexedError(" ".join(map(str, error_of_tower.values())), *names)

    def _rank(
        self,
        query: QueryOrVector,
        search: _SystemSearch,
        plan: SearchPlan,
        unseen: Collection[str],
    ) -> Ranking:
        """Rank the clips with one system.

        Args:
            unseen: words of the query that never occurred in the model's training.
        """
        system, parts, gallery, vector, exclusion = search
        model = plan.loaded[system.model]
        ranking = Ranking(
            system,
            hits=(),
            unseen=tuple(word for word in unseen if word not in parts.replacements),
            read_as=parts.replacements,
            reads=_words_read(model.encoder, search),
            strength=parts.strength,
            gallery=gallery,
            epoch=model.epoch,
            notice=model.notice,
            missing=len(gallery.skipped) if self.is_library else 0,
            summary=model.encoder.card.summary,
            explained_in=model.encoder.card.explained_in,
        )
        if vector is None:
            return ranking

        k = len(gallery.gallery.videos) if plan.k is None else plan.k
        reference_ids = {reference.video_id for reference in plan.references}
        best = _best_clips(search, vector, k, reference_ids)
        groups = merge_windows(best, k)
        hits = hits_of(groups, self._judge_of(query, plan.references))
        is_low = bool(hits) and hits[0].score < _low_score(search, model.encoder)
        return replace(
            ranking,
            hits=hits,
            low=is_low,
            notice=ranking.notice or gallery.notice,
            vector=vector,
            exclusion=exclusion,
            ranks=ranks_of(groups, best),
        )

    def _judge_of(
        self, query: QueryOrVector, references: Sequence[Reference]
    ) -> Callable[[Video], Verdict | None]:
        """Return a judge of clips for this query; it has no verdicts for a vector."""
        # The query is judged as typed: captions and the world may have words that a model lacks.
        if not isinstance(query, Query):
            return lambda _: None
        return judge_beside(self.judge, query, references, video_of=self.video)


@lru_cache(MAX_UNDERSTOOD)
def _understand(text: str, editing: bool) -> Query:
    return understand(text, load_tagger(), editing)


def _is_of_run(entry: CatalogEntry) -> bool:
    return entry.kind in ("run", "epoch")


def _names_with_strategies(model: str, entry: CatalogEntry) -> list[str]:
    """List a model's systems that have a strategy."""
    names = []
    for name, strategy in STRATEGIES.items():
        if strategy.composer in ("", *entry.composers):
            for strength in strategy.offered:
                names.append(System(model, name, strength).name)
    return names


def _check_vector(query: Vector, plan: SearchPlan) -> None:
    """Raise an error unless every system can search for a vector."""
    for system in plan.systems:
        if system.strategy != "plain":
            raise ConfigError(
                f"A query vector has no parts: search with {system.model}, not with {system.name}."
            )
        dim = plan.loaded[system.model].encoder.embed_dim
        if len(query) != dim:
            raise QueryError(
                f"The vector has {len(query):,} numbers, but {system.model} has {dim:,}."
            )


def _score_clip(search: _SystemSearch, clip: Vector, video_id: str) -> float | None:
    """Score a clip (D,) under a system, or a picture, which has no id."""
    if search.vector is None:
        return None
    exclusion = search.exclusion
    # A query that weighs frames pools those of the clip in its own way.
    if video_id and exclusion is not None and exclusion.focus is not None:
        row = search.gallery.row_of[video_id]
        clip = search.gallery.clips(exclusion, [row])[0]
    return round(float(scores_of(clip, search.vector, exclusion)), 4)


def _best_clips(
    search: _SystemSearch, vector: Vector, k: int, reference_ids: Collection[str]
) -> list[ScoredClip]:
    """Return the best clips and their scores, at least k of them; references are left out."""
    num_ranked = max(k + len(reference_ids), MIN_RANKED)
    scores, rows = search.gallery.search(vector, num_ranked, search.exclusion)
    videos = search.gallery.gallery.videos
    best = list(zip([videos[row] for row in rows.tolist()], scores.tolist(), strict=True))
    if not reference_ids:
        return best
    return [clip for clip in best if clip[0].video_id not in reference_ids]


def _words_read(encoder: Encoder, search: _SystemSearch) -> str:
    """Return the words that a model reads of a sentence, where it does not read all."""
    query = search.parts.query
    if search.system.strategy != "plain" or query is None:
        return ""
    return encoder.words_read(query.text)


def _low_score(search: _SystemSearch, encoder: Encoder) -> float:
    """Return the score below which a best clip does not fit.

    It is -1 where scores are not cosines with a text alone.
    """
    parts = search.parts
    if not STRATEGIES[search.system.strategy].is_cosine:
        return -1.0
    if parts.query is None or parts.query.unwanted:
        return -1.0
    if parts.combined is not None or parts.away is not None:
        return -1.0
    return encoder.card.metrics.get(LOW_SCORE, -1.0)

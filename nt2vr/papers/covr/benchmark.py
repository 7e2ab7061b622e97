"""Retrieval by a picture plus a text (covr): a reference, and a text that says what should be different.

Measures each composition, its controls (the picture alone, the text alone) and the target's full
caption, by kind of change. Violations, the share of the first five that show what was to be
removed, are won by ignoring the picture: never read them without R@1. In datasets a reference is
embedded like a clip, all of its frames pooled.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from nt2vr.errors import DatasetError
from nt2vr.evaluation.benchmark_kinds import ModelBenchmark
from nt2vr.evaluation.report import Report, Result
from nt2vr.files import hash_text
from nt2vr.models.encoder import Encoder
from nt2vr.papers.covr.compositions import COMPOSITIONS, PARTS
from nt2vr.papers.covr.embedded_queries import EmbeddedQueries, embed_queries, vectors_for
from nt2vr.papers.covr.measures import measure, summarise
from nt2vr.papers.covr.presentation import COVR, FULL_CAPTION, PICTURE_PLUS_TEXT, covr_result
from nt2vr.papers.covr.queries import CovrQueries, EmbeddedMedia
from nt2vr.progress import Progress, silent
from nt2vr.search.strategies import System

# The only system of embeddings from elsewhere.
GIVEN = "as given"


@dataclass(frozen=True, eq=False)
class CovrBenchmark(ModelBenchmark[EmbeddedMedia]):
    """Queries of a picture plus a text; a report identifies clips by their rows."""

    presentation = COVR

    queries: CovrQueries
    # Of the clips of a dataset.
    clip_ids: Sequence[str] = ()

    @property
    def title(self) -> str:
        return f"{self.name}, {PICTURE_PLUS_TEXT}"

    @property
    def digest(self) -> str:
        truth = []
        for query in self.queries:
            truth.append((query.kind, query.text, tuple(query.relevant.tolist())))
        identity = (self.name, sorted(self.source.items()), truth)
        return hash_text(repr(identity))

    def systems_of(self, encoder: Encoder) -> list[System]:
        """Return every composition that a model has, its controls, and the full caption where it is known."""
        if encoder.capabilities.given_queries_only:
            return [System(encoder.name, GIVEN)]
        strategies = [*COMPOSITIONS, PARTS, *encoder.composers]
        if any(query.caption.strip() for query in self.queries):
            strategies.append(FULL_CAPTION)
        return [System(encoder.name, strategy) for strategy in strategies]

    def measure(
        self,
        encoder: Encoder,
        systems: Sequence[System],
        media: EmbeddedMedia | None = None,
        progress: Progress = silent,
    ) -> list[Result]:
        """Measure compositions of one model; a DatasetError says if no targets are published."""
        if not any(len(query.relevant) for query in self.queries):
            raise DatasetError(
                f"The targets of {self.name} are not published, so it cannot be measured here. Choose another split, "
                "such as val, or write what its test server takes: nt2vr covr --submit FILE."
            )
        embedded = self.embedded_queries(encoder, progress, media=media)
        card = encoder.card
        results = []
        for system in systems:
            outcome = measure(vectors_for(embedded, system.strategy, encoder), embedded)
            table = summarise(self.queries, outcome)
            results.append(
                covr_result(
                    card.name,
                    system=system.strategy,
                    ranks=outcome.ranks,
                    table=table,
                    spec=card.fingerprints,
                )
            )
        return results

    def embedded_queries(
        self,
        encoder: Encoder,
        progress: Progress = silent,
        deep: bool = False,
        media: EmbeddedMedia | None = None,
    ) -> EmbeddedQueries:
        """Embed the queries, see `embed_queries`; `media` are as of `embed`, and embedded if None."""
        if media is None:
            media = self.embed(encoder, progress)
        return embed_queries(self.queries, media, encoder, deep=deep)

    def report(
        self, results: Sequence[Result], notes: Sequence[str] = (), named: Sequence[str] = ()
    ) -> Report:
        # A dataset's ids are for its test server; reports name a query by its reference and its
        # text.
        queries = tuple(replace(query, query_id="") for query in self.queries)
        return replace(super().report(results, notes, named), queries=queries)

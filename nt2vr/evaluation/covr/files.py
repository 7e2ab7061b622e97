"""Covr datasets as benchmarks. A reference is embedded like a clip, with all of its frames pooled."""

from nt2vr.datasets.covr import CovrSet
from nt2vr.evaluation.covr.protocol import CovrBenchmark, CovrQuery, Embedded
from nt2vr.evaluation.media import embed_files
from nt2vr.media.cache import Cache
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Video
from nt2vr.models.encoder import Encoder
from nt2vr.progress import Progress, ShouldStop


def covr_files(dataset: CovrSet, decoder: Decoder, cache: Cache) -> CovrBenchmark:
    """Build a benchmark; the reference of a query is not ranked for it."""
    rows = {media_id: row for row, media_id in enumerate(dataset.media)}
    embed_videos = embed_files([Video(name, path) for name, path in dataset.media.items()], decoder, cache)

    def embed(encoder: Encoder, progress: Progress, should_stop: ShouldStop) -> Embedded:
        embeddings = embed_videos(encoder, progress, should_stop)
        return Embedded(embeddings, embeddings)

    queries = tuple(
        CovrQuery(
            kind=sample.kind,
            text=sample.text,
            reference=rows[sample.reference],
            right=tuple(rows[target] for target in sample.targets if target in rows),
            caption=sample.caption,
            left_out=(rows[sample.reference],),
            subset=tuple(rows[each] for each in sample.subset if each in rows),
        )
        for sample in dataset.samples
    )
    source = {"data": dataset.name, "files": len(rows)}
    references = [{"path": str(path)} for path in dataset.media.values()]
    return CovrBenchmark(dataset.name, queries, embed, source, references)

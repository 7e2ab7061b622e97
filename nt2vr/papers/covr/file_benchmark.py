"""Queries of a dataset, whose clips and references are files or have embeddings from elsewhere."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

from nt2vr.evaluation.embed_media import embed_files
from nt2vr.evaluation.queries import cue_of, row_array, row_numbers
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Video
from nt2vr.media.store import Cache
from nt2vr.models.encoder import Encoder
from nt2vr.papers.covr.benchmark import CovrBenchmark
from nt2vr.papers.covr.datasets import CovrSet
from nt2vr.papers.covr.queries import CovrQuery, EmbeddedMedia
from nt2vr.progress import Progress
from nt2vr.search.exclusion import averaged


class GalleryRows:
    """The clips of a dataset's galleries, which stand one after another, by id.

    Attributes:
        ids: of all clips.
        spans: rows of each gallery.
    """

    def __init__(self, galleries: Mapping[str, Sequence[str]]) -> None:
        self.ids: list[str] = []
        self.spans: dict[str, slice] = {}
        self._rows: dict[tuple[str, str], list[int]] = defaultdict(list)
        for name, ids in galleries.items():
            start = len(self.ids)
            self.spans[name] = slice(start, start + len(ids))
            for media_id in ids:
                self._rows[name, media_id].append(len(self.ids))
                self.ids.append(media_id)

    def of(self, gallery: str, media_ids: Iterable[str]) -> tuple[int, ...]:
        """Return the rows of those ids that a gallery ranks."""
        rows: list[int] = []
        for media_id in media_ids:
            rows += self._rows.get((gallery, media_id), ())
        return tuple(rows)


def covr_files(dataset: CovrSet, decoder: Decoder, cache: Cache) -> CovrBenchmark:
    """Build a benchmark; a query ranks its own of the galleries, without its own reference."""
    clips = GalleryRows(dataset.galleries)
    media_rows = row_numbers(dataset.media)
    clip_rows = [media_rows[media_id] for media_id in clips.ids]
    return CovrBenchmark(
        name=dataset.name,
        video_ids=tuple(map(str, range(len(clips.ids)))),
        queries=tuple(_queries_of(dataset, clips, media_rows)),
        embed=_embedder(dataset, clip_rows, decoder=decoder, cache=cache),
        source={
            "data": dataset.name,
            "files": len(dataset.media),
            "galleries": {name or "all": len(ids) for name, ids in dataset.galleries.items()},
            "reference": "not ranked",
            "remarks": list(dataset.remarks),
        },
        clip_ids=clips.ids,
    )


def _queries_of(
    dataset: CovrSet, clips: GalleryRows, media_rows: Mapping[str, int]
) -> Iterator[CovrQuery]:
    for sample in dataset.samples:
        rows_of = partial(clips.of, sample.gallery)
        yield CovrQuery(
            kind=sample.kind,
            text=sample.text,
            relevant=row_array(rows_of(sample.answers)),
            cue=cue_of(sample.text),
            caption=sample.caption,
            left_out=rows_of([sample.reference]),
            subset=rows_of(sample.subset),
            labels=sample.labels,
            matches=rows_of(sample.targets),
            ranked=clips.spans[sample.gallery] if len(clips.spans) > 1 else None,
            query_id=sample.query_id,
            reference=media_rows[sample.reference],
            picture={"path": str(dataset.media[sample.reference])},
        )


def _embedder(
    dataset: CovrSet, clip_rows: Sequence[int], decoder: Decoder, cache: Cache
) -> Callable[[Encoder, Progress], EmbeddedMedia]:
    """Return a function that embeds a dataset's references and clips."""
    videos = videos_of(dataset)
    embed_videos = embed_files(videos, decoder, cache)
    embed_frames = embed_files(videos, decoder, cache, of_frames=True)

    def embed(encoder: Encoder, progress: Progress) -> EmbeddedMedia:
        vectors = embed_videos(encoder, progress).vectors
        return EmbeddedMedia(
            references=averaged(vectors),
            clips=vectors[clip_rows],
            frames=lambda: embed_frames(encoder, progress).vectors,
        )

    return embed


def videos_of(dataset: CovrSet) -> list[Video]:
    """Return the media of a dataset as videos."""
    return [Video(media_id, path) for media_id, path in dataset.media.items()]

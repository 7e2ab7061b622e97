"""The data that covr is evaluated on, by name: the built-in world, or a folder."""

from dataclasses import dataclass, replace

from nt2vr.errors import ConfigError, DatasetError
from nt2vr.evaluation.benchmark_kinds import ModelData, Places
from nt2vr.evaluation.embed_media import embed_files, unreadable_remark
from nt2vr.files import expanded
from nt2vr.models.encoder import Encoder
from nt2vr.papers.covr.benchmark import CovrBenchmark
from nt2vr.papers.covr.datasets import CovrSet, load_covr
from nt2vr.papers.covr.file_benchmark import covr_files, videos_of
from nt2vr.papers.covr.presentation import PICTURE_PLUS_TEXT
from nt2vr.papers.covr.world_benchmark import PER_KIND, covr_world
from nt2vr.progress import Progress
from nt2vr.world import WORLD


@dataclass(frozen=True)
class CovrData(ModelData):
    """Selection of evaluation data; a ConfigError refuses splits and numbers that the built-in world does not have.

    Attributes:
        name: the built-in world, or the folder of a dataset: WebVid-CoVR, CIRR, FashionIQ or CIRCO.
        split: "test" or "validation" scenes, or a dataset's split.
        per_kind: queries per kind of change in the built-in world; 0 for its default.
    """

    name: str = WORLD
    split: str = "test"
    per_kind: int = 0

    def __post_init__(self) -> None:
        if self.name == WORLD and self.split not in PER_KIND:
            raise ConfigError(f"The built-in world has the splits {' and '.join(PER_KIND)}.")
        if self.name == WORLD and not 0 <= self.per_kind <= PER_KIND["test"]:
            raise ConfigError(
                f"{self.per_kind} queries per kind of change: choose 1 to {PER_KIND['test']}."
            )

    @property
    def title(self) -> str:
        return f"{self.name}, {self.split}, {PICTURE_PLUS_TEXT}"

    @property
    def is_path(self) -> bool:
        return self.name != WORLD

    def load(self, encoder: Encoder, places: Places, progress: Progress) -> CovrBenchmark:
        """Load the benchmark for a model that sees frames, or has embeddings from elsewhere, which need no files.

        Files that cannot be read are left out, and named in the remarks. A DatasetError refuses
        what `load_covr` does, and data of which nothing can be asked.
        """
        encoder.card.check_frames()
        if self.name == WORLD:
            return covr_world(places.folder, self.split, self.per_kind)  # type: ignore[arg-type]  # checked
        embedded_ids = None
        if encoder.given_videos is not None:
            embedded_ids = encoder.given_videos.keys()
        split = "val" if self.split == "validation" else self.split
        dataset = load_covr(expanded(self.name), split, embedded_ids)
        if embedded_ids is None:
            dataset = _readable(dataset, encoder, places, progress=progress)
        return covr_files(dataset, places.decoder, places.cache)


def _readable(dataset: CovrSet, encoder: Encoder, places: Places, progress: Progress) -> CovrSet:
    """Leave out the files that cannot be read, and name them in the remarks."""
    embed = embed_files(videos_of(dataset), places.decoder, places.cache)
    unreadable = embed(encoder, progress).unreadable
    if not unreadable:
        return dataset
    readable = dataset.without(unreadable)
    num_queries = len(dataset.samples)
    num_lost = num_queries - len(readable.samples)
    remark = unreadable_remark(
        unreadable, num_videos=len(dataset.media), num_lost=num_lost, num_queries=num_queries
    )
    if not readable.samples:
        raise DatasetError(f"{dataset.name} has no query left: {remark}")
    return replace(readable, remarks=(*dataset.remarks, remark))

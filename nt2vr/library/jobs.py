"""Background updates of libraries: one at a time, in order."""

from collections.abc import Callable
from concurrent.futures import Future

from nt2vr.library.libraries import Libraries
from nt2vr.library.update import Updated, update_library
from nt2vr.media.cache import Cache
from nt2vr.media.decode import Decoder
from nt2vr.models.encoder import Encoder
from nt2vr.progress import Job, Progress, Runner
from nt2vr.search.index import Milvus

IndexJob = Job[Updated]


class IndexJobs:
    """Runs updates of libraries; `load` returns an encoder by the name of its model."""

    def __init__(
        self,
        libraries: Libraries,
        load: Callable[[str], Encoder],
        decoder: Decoder,
        cache: Cache,
        milvus: Milvus | None = None,
    ) -> None:
        self._libraries, self._load, self._decoder, self._cache, self._milvus = libraries, load, decoder, cache, milvus
        self._runner = Runner[Updated]("update", queues=True)

    @property
    def by_library(self) -> dict[str, IndexJob]:
        """The update of each library that is under way, running before waiting ones, or ended last."""
        jobs = self._runner.jobs
        ended = {job.key: job for job in jobs if not job.is_under_way}
        return ended | {job.key: job for job in reversed(jobs) if job.is_under_way}

    def start(
        self, library_id: str, model: str, prepare: Callable[[Progress], object] | None = None
    ) -> Future[IndexJob]:
        """Queue an update of a library under a model ("": no embeddings); a waiting equal one is returned instead.

        Args:
            prepare: called before the model is loaded, to download it.

        Raises:
            ConfigError: if there is no such library.
        """
        info = self._libraries.find(library_id)

        def work(progress: Progress) -> Updated:
            if prepare is not None:
                prepare(progress)
            progress(0, 0, "loading the model")
            encoder = self._load(model) if model else None
            tools = self._decoder, self._cache, progress
            return update_library(self._libraries, info.id, encoder, *tools, milvus=self._milvus)

        return self._runner.run(work, info.name, filter(None, [model]), info.id)

    def cancel(self, number: int) -> None:
        """Stop an update soon, or take it from the queue; what is indexed stays."""
        self._runner.cancel(number)

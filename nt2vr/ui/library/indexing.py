"""Background updates and moves of libraries, which Search and Library start."""

from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path

from nt2vr.errors import ConfigError, Nt2vrError
from nt2vr.library.move import Moved, move_library
from nt2vr.library.source import LibraryInfo
from nt2vr.library.update import IndexJob, Updated, update_library
from nt2vr.models.catalog import Catalog
from nt2vr.progress import Progress, Runner, Work
from nt2vr.search.embed_clips import cost_text
from nt2vr.search.strategies import System
from nt2vr.services import Services
from nt2vr.ui.library.drawings import PER_CLIPS, better_model, drawings_view
from nt2vr.ui.view import View
from nt2vr.ui.web.permissions import Permissions, Visitor, session_of


class Indexing:
    """Updates and moves of libraries, one at a time and in order.

    After each, searches see what is new.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        self.galleries = services.galleries
        self._runner = Runner[Updated | Moved]("update", queues=True)

    @property
    def models(self) -> Catalog:
        return self.galleries.built_in.models

    @property
    def by_library(self) -> dict[str, IndexJob]:
        """The update of each library: one that runs, otherwise one that waits, or the last."""
        jobs = self._runner.jobs
        ended = {job.key: job for job in jobs if not job.is_under_way}
        # The one that runs comes before those that wait.
        under_way = {job.key: job for job in reversed(jobs) if job.is_under_way}
        return ended | under_way

    def under_way(self, library_id: str) -> IndexJob | None:
        """Return the update of a library that runs, or otherwise waits, if any."""
        job = self.by_library.get(library_id)
        if job is not None and job.is_under_way:
            return job
        return None

    def cost(self, model: str, num_clips: int) -> str:
        """Say how long a slow model takes to index clips, measured on one; "" for other models.

        `num_clips` is 0 if their number is not known yet.
        """
        models = self.models
        if model not in models.names() or not models.card(model).capabilities.is_slow:
            return ""
        try:
            encoder = self.galleries.live.encoder(model)
            text = cost_text(encoder, num_clips or PER_CLIPS)
        except Nt2vrError as error:
            return str(error)
        if num_clips:
            return f"{text}."
        return f"Each {text}."

    def drawings(
        self,
        key: str,
        systems: Sequence[str],
        permissions: Permissions,
        visitor: Visitor,
        is_indexed: bool,
    ) -> View:
        """Return the `drawings_view` of the systems that search a library; empty if key is ""."""
        if not key:
            return {}
        names = self.models.names()
        models = [System.named(system, names).model for system in systems]
        num_clips = len(self.galleries.searcher(key).gallery.videos)
        return drawings_view(
            self.models,
            names=models,
            num_clips=num_clips,
            permissions=permissions,
            visitor=visitor,
            is_indexed=is_indexed,
        )

    def start(self, library_id: str, model: str, session: str = "") -> Future[IndexJob]:
        """Queue an update of a library under a model.

        If an equal one waits, it is returned instead.
        """
        self.models.find(model)
        name = self.models.named(model) or model
        return self._start(library_id, name, session)

    def get(self, library_id: str, permissions: Permissions, visitor: Visitor) -> Future[IndexJob]:
        """Queue an update under a model that knows more than drawings.

        It is downloaded first if there is none here.
        """
        self.check_get(permissions, visitor)
        model = better_model(self.models)
        is_missing = model not in self.models.names()
        return self._start(library_id, model, session_of(visitor), downloads=is_missing)

    def check_get(self, permissions: Permissions, visitor: Visitor) -> None:
        """Raise an AccessError if a visitor may not `get` the `better_model`."""
        permissions.check("import", visitor)
        if better_model(self.models) not in self.models.names():
            permissions.check("download", visitor)

    def _download(self, model: str, progress: Progress) -> None:
        progress(0, 0, f"asking for {model}")

        def report(done_bytes: int, total_bytes: int, doing: str) -> None:
            step = f"{doing}, in MB" if total_bytes else doing
            progress(done_bytes >> 20, total_bytes >> 20, step)

        self.models.add(model, progress=report)

    def _start(
        self, library_id: str, model: str, session: str, downloads: bool = False
    ) -> Future[IndexJob]:
        """Queue an update, which may have to download its model first."""
        services = self._services
        info = services.libraries.find(library_id)

        def update(progress: Progress) -> Updated:
            if downloads:
                self._download(model, progress)
            progress(0, 0, "loading the model")
            return update_library(
                services.libraries,
                info.id,
                self.galleries.live.encoder(model),
                services.decoder,
                services.cache,
                progress=progress,
                milvus=services.milvus,
            )

        return self._queue(update, info, models=[model], session=session)

    def move(
        self, library_id: str, path: str, roots: Sequence[Path], session: str = ""
    ) -> Future[IndexJob]:
        """Queue the move of a library to a path in one of `roots`.

        A ConfigError says that its update is under way, or that the path cannot be used.
        """
        libraries = self._services.libraries
        info = libraries.find(library_id)
        if self.under_way(info.id):
            raise ConfigError(
                f"{info.name} is being updated. Cancel the update, or wait for it, then move the "
                "library."
            )
        # This refuses a path that cannot be used before the move is queued.
        libraries.moved_to(info.id, path, roots)

        def move(progress: Progress) -> Moved:
            return move_library(
                libraries,
                library_id=info.id,
                path=path,
                cache=self._services.cache,
                progress=progress,
                roots=roots,
            )

        return self._queue(move, info, models=[], session=session)

    def _queue(
        self, work: Work[Updated | Moved], info: LibraryInfo, models: Sequence[str], session: str
    ) -> Future[IndexJob]:
        """Queue work on a library, which searches open again afterwards."""
        end = self._runner.run(work, info.name, models, key=info.id, session=session)
        end.add_done_callback(lambda _: self.galleries.forget(info.id))
        return end

    def cancel(self, number: int) -> None:
        """Stop an update soon, or take it from the queue; what is indexed stays."""
        self._runner.cancel(number)

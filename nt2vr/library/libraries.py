"""Settings, contents and updates of all libraries of a data folder, one subfolder each."""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import starmap
from pathlib import Path
from uuid import uuid4

from filelock import FileLock, Timeout
from pydantic import TypeAdapter

from nt2vr.datasets.base import Split
from nt2vr.errors import (
    ConfigError,
    GalleryError,
    Nt2vrError,
    did_you_mean,
    quoted,
    reason_of,
    warn_once,
)
from nt2vr.files import (
    AnyPath,
    check_free,
    check_writable,
    read_with_schema,
    stamp,
    with_schema,
    write_json,
)
from nt2vr.library.changes import Changes, changes_of, compare_files
from nt2vr.library.inventory import Inventory
from nt2vr.library.listing import is_available, list_files
from nt2vr.library.named_paths import Roots, loader_and_path, resolve_allowed, with_path
from nt2vr.library.previews import Previews
from nt2vr.library.source import WINDOW_S, Kind, LibraryInfo, Skipped, Source
from nt2vr.library.upload_names import create_file
from nt2vr.library.windows import clips_of
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Gallery
from nt2vr.progress import Progress, silent
from nt2vr.search.index import Milvus

SETTINGS = "library.json"
INVENTORY = "files.db"
UPLOADS = "uploads"
PREVIEWS = "previews"
LOCK = "update.lock"
# A folder next to that of the libraries.
EMBEDDINGS = "embeddings"
# The name of the gallery that is not a library, on the command line and in the APIs.
BUILT_IN = "built-in"
# Characters of a library's name.
MAX_NAME = 80
# Seconds between two looks at whether to stop waiting for another update.
WAIT_S = 0.5
SOURCE = TypeAdapter(Source)


class Libraries:
    """The libraries in a folder.

    Other processes change them, too, so nothing is held in memory.
    """

    def __init__(self, folder: Path, milvus: Milvus | None = None) -> None:
        self.folder = folder
        self._milvus = milvus
        self._embeddings = folder.with_name(EMBEDDINGS)

    def infos(self) -> list[LibraryInfo]:
        """List all libraries by name; folders without readable settings are left out."""
        infos = [self._info(source) for source in self._sources()]
        return sorted(infos, key=lambda info: info.name.casefold())

    def find(self, name: str) -> LibraryInfo:
        return self._info(self._source(name))

    def stamp(self, library_id: str) -> tuple[object, ...]:
        """Return a value that changes with a library's clips or name, without opening a file."""
        folder = self.folder / library_id
        return stamp(folder / SETTINGS, folder / INVENTORY)

    def add(
        self,
        name: str,
        kind: Kind = "folder",
        path: AnyPath = "",
        split: Split = "all",
        window_s: float | None = None,
        roots: Roots = None,
        uploads: Sequence[tuple[str, Path]] = (),
    ) -> LibraryInfo:
        """Add a library; nothing is read from its files before `update_library`.

        Args:
            path: a folder, a manifest, or a dataset as `load_dataset` takes it; nothing for
                uploads.
            window_s: seconds per window of long videos; 0 keeps them whole, as manifests and
                datasets are by default.
            roots: folders that the path must lie in, otherwise an AccessError is raised; None
                allows any.
            uploads: the first files, as `upload` takes them; if one cannot be stored, no library is
                added.
        """
        name = self._free_name(name)
        if window_s is None:
            window_s = WINDOW_S if kind in ("folder", "uploads") else 0.0
        library_id = uuid4().hex[:12]
        folder = self.folder / library_id
        uploads_folder = folder / UPLOADS
        source = Source(
            id=library_id,
            name=name,
            kind=kind,
            path=uploads_folder.resolve(),
            split=split,
            window_s=window_s,
        )
        if kind != "uploads":
            source = with_path(source, *loader_and_path(path, kind), roots)

        with _disk_errors(f"{name} cannot be added"):
            new_folder = uploads_folder if kind == "uploads" else folder
            new_folder.mkdir(parents=True)
        self._write(source)
        try:
            if uploads:
                self.upload(library_id, uploads)
        except BaseException:
            # Otherwise the name would be taken.
            self.remove(library_id)
            raise
        return self._info(source)

    def rename(self, library_id: str, name: str) -> None:
        """Give a library another name; its id stays."""
        source = self._source(library_id)
        self._write(replace(source, name=self._free_name(name, library_id)))

    def moved_to(self, library_id: str, path: AnyPath, roots: Roots) -> Source:
        """Return a library's settings with another path, as `add` takes it; nothing is written.

        A manifest, or a dataset that is a file, is also found by its name in the folder that it has
        been moved to.
        """
        source = self._source(library_id)
        loader, path = loader_and_path(path, source.kind)
        if source.kind == "uploads":
            advice = "To move them, move the data folder (NT2VR_DATA)."
            raise ConfigError(
                f"{source.name} has uploaded files, which lie in the data folder. {advice}"
            )

        folder, _ = resolve_allowed(path, roots)
        file = folder / source.path.name
        if folder.is_dir() and source.kind == "manifest" and not file.is_file():
            raise ConfigError(f"{folder} has no {source.path.name}. Name the captions file.")
        if folder.is_dir() and source.kind != "folder" and file.is_file():
            path = file

        moved = with_path(source, loader or source.loader, path, roots)
        if moved.path == source.path:
            raise ConfigError(
                f"{source.name} is in {source.path} already. Name another folder, or update it."
            )
        return moved

    def store_move(self, moved: Source) -> None:
        """Store where a library lies now, as `moved_to` returned it."""
        source = self._source(moved.id)
        self._write(replace(source, path=moved.path, within=moved.within, loader=moved.loader))

    def remove(self, library_id: str) -> None:
        """Delete a library with embeddings, previews and uploads; files of other folders stay."""
        source = self._source(library_id)
        folder = self.folder / source.id
        # A hidden folder is not listed, even if deleting its files fails.
        hidden_folder = self.folder / f".{source.id}.removed"
        try:
            with (
                _disk_errors(f"{source.name} cannot be removed"),
                FileLock(folder / LOCK, timeout=0),
            ):
                folder.rename(hidden_folder)
        except Timeout:
            raise ConfigError(
                f"{source.name} is being updated. Cancel the update, then remove it."
            ) from None

        shutil.rmtree(hidden_folder, ignore_errors=True)
        shutil.rmtree(self._embeddings / source.key, ignore_errors=True)
        if self._milvus is not None:
            # The error is logged; no search returns the rows that stay.
            with suppress(ConnectionError):
                self._milvus.forget(source.key)

    def upload(self, library_id: str, files: Sequence[tuple[str, Path]]) -> None:
        """Copy files, each with a visitor's name for it, into a library of uploads."""
        source = self._source(library_id)
        if source.kind != "uploads":
            raise ConfigError(
                f"{source.name} is not a library of uploads. Copy the files into {source.path}."
            )
        num_bytes = sum(path.stat().st_size for _, path in files)
        check_free(source.path, num_bytes, "Storing the uploads")

        for name, path in files:
            # A scan leaves hidden files out.
            partial_copy = source.path / f".{uuid4().hex}.partial"
            with _disk_errors(f"{name} cannot be stored"):
                try:
                    shutil.copyfile(path, partial_copy)
                    partial_copy.replace(create_file(source.path, name))
                finally:
                    partial_copy.unlink(missing_ok=True)

    def gallery(self, library_id: str) -> Gallery:
        """Return the clips that the last update could use; no file is opened."""
        source = self._source(library_id)
        inventory = self.inventory(source)
        skipped = inventory.skipped_clips()
        clips = []
        for file in inventory.files().values():
            for clip in clips_of(file, source):
                if clip.video_id not in skipped:
                    clips.append(clip)
        return Gallery(source.name, tuple(clips), source.key)

    def skipped(self, library_id: str) -> list[Skipped]:
        """List the files and clips that are not in the gallery, with reasons; duplicates last."""
        source = self._source(library_id)
        inventory = self.inventory(source)
        files = inventory.files().values()
        skipped = [Skipped(file.id, file.reason) for file in files if file.state == "skipped"]
        skipped += starmap(Skipped, inventory.skipped_clips().items())
        for file in files:
            if file.duplicate_of:
                reason = f"It is a copy of {file.duplicate_of}."
                skipped.append(Skipped(file.id, reason, file.duplicate_of))
        return skipped

    def retry(self, library_id: str) -> None:
        """Have the next update read skipped files and windows again."""
        self.inventory(self._source(library_id)).retry()

    def previews(self, library_id: str, decoder: Decoder) -> Previews:
        return Previews(self.folder / self._source(library_id).id / PREVIEWS, decoder)

    def check(self, library_id: str) -> Changes:
        """Compare the files with the inventory by path, size and time; nothing is read."""
        source = self._source(library_id)
        stored = self.inventory(source).files()
        pending, _, gone = compare_files(stored, list(list_files(source)))
        return changes_of(stored, pending, gone, mark=lambda file: (file.size, file.mtime_ns))

    def inventory(self, source: Source) -> Inventory:
        """Return the table of a library's files."""
        return Inventory(self.folder / source.id / INVENTORY, source.base)

    @contextmanager
    def updating(self, library_id: str, progress: Progress = silent) -> Iterator[Source]:
        """Hold a library for one update at a time, also across processes.

        An InterruptedError of `progress` ends the wait for another update.
        """
        source = self._source(library_id)
        folder = self.folder / source.id
        lock = FileLock(folder / LOCK)
        while True:
            try:
                check_writable(folder)
                lock.acquire(timeout=WAIT_S)
                break
            except Timeout:
                progress(0, 0, "waiting for another update of this library")
            except (OSError, ConfigError) as error:
                problem = f"{source.name} cannot be updated: {folder} cannot be written to."
                raise GalleryError(f"{problem} What is indexed stays searchable.") from error
        try:
            yield self._source(source.id)
        finally:
            lock.release()

    def _sources(self) -> list[Source]:
        sources = []
        for folder in self.folder.glob("[!.]*/"):
            try:
                sources.append(_read_source(folder))
            except FileNotFoundError:
                continue
            except (OSError, ValueError, TypeError, AttributeError, Nt2vrError) as error:
                warn_once(f"The library in {folder} cannot be read ({reason_of(error)}).")
        return sources

    def _write(self, source: Source) -> None:
        settings = SOURCE.dump_python(source, mode="json")
        with _disk_errors(f"{source.name} cannot be saved"):
            write_json(self.folder / source.id / SETTINGS, with_schema(settings))

    def _source(self, name: str) -> Source:
        """Return the settings of a library by its id or name."""
        sources = self._sources()
        for source in sources:
            if source.id == name:
                return source
        for source in sources:
            if source.name.casefold() == name.strip().casefold():
                return source

        names = sorted(source.name for source in sources)
        choices = ", ".join(names) or "none yet"
        raise ConfigError(
            f"There is no library {quoted(name)}.{did_you_mean(name, names)} There: {choices}."
        )

    def _info(self, source: Source) -> LibraryInfo:
        try:
            counts = self.inventory(source).counts()
        except GalleryError as error:
            warn_once(f"{source.name}: {error}")
            counts = {}
        return LibraryInfo(source, available=is_available(source), **counts)

    def _free_name(self, name: str, library_id: str = "") -> str:
        """Strip a name; refuse one that is empty, too long, unprintable or taken."""
        name = name.strip()
        if not name or len(name) > MAX_NAME or not name.isprintable():
            choices = f"1 to {MAX_NAME} printable characters"
            raise ConfigError(f"{quoted(name)} cannot be a library's name. Choose {choices}.")

        used_names = {BUILT_IN}
        for source in self._sources():
            if source.id != library_id:
                used_names.update((source.name.casefold(), source.id))
        if name.casefold() in used_names:
            raise ConfigError(f"There is a library {quoted(name)} already. Choose another name.")
        return name


def _read_source(folder: Path) -> Source:
    """Read the settings of the library in a folder."""
    path = folder / SETTINGS
    settings = read_with_schema(path)
    if settings.get("kind") == "uploads":
        # The data folder may have moved.
        settings["path"] = (folder / UPLOADS).resolve()
    return SOURCE.validate_python({**settings, "id": folder.name})


@contextmanager
def _disk_errors(problem: str) -> Iterator[None]:
    """Turn an error of a full or read-only disk into a GalleryError that names the problem."""
    try:
        yield
    except Timeout:
        # The timeout of a lock is an OSError, too, but not one of the disk.
        raise
    except OSError as error:
        advice = "Free some space, or make the data folder writable."
        raise GalleryError(f"{problem} ({error.strerror}). {advice}") from error
